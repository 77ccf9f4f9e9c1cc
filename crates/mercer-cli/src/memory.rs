//! Sizes of memory as people write them.

/// Bytes from `64M`, `2G`, `1.5GiB` or a plain number of bytes; K, M, G, T are powers of 1024.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let wrong = || "expected a size such as 64M, 2G or 1.5G".to_owned();
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let unit = unit.trim().to_ascii_lowercase();
    let power = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(wrong()),
    };
    let bytes = number * 1024f64.powi(power);
    // A budget below a mebibyte holds no row of any real Gram matrix and is surely a slip.
    if (1_048_576.0..9e18).contains(&bytes) { Ok(bytes as u64) } else { Err("must be at least 1M".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_parse_as_people_write_them() {
        for (text, bytes) in [
            ("64M", 64 << 20),
            ("2g", 2 << 30),
            ("1.5GiB", 3 << 29),
            ("4096kb", 4 << 20),
            ("2097152", 2 << 20),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "5X", "-1G", "1..5G", "nan", "100", "1e9", "99999999999T"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
