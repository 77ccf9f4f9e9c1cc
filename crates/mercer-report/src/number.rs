//! Numbers as people like to read them.

/// Four significant digits, no trailing zeros, powers of ten only where the plain form would be long.
///
/// ```
/// use mercer_report::number;
/// assert_eq!(number(0.00781251), "0.007813");
/// assert_eq!(number(1680.0), "1680");
/// assert_eq!(number(-1.5), "-1.5");
/// assert_eq!(number(2.5e-9), "2.5e-9");
/// ```
pub fn number(x: f64) -> String {
    if x.is_nan() {
        return "not a number".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "infinity" } else { "-infinity" }.into();
    }
    let size = x.abs();
    if size == 0.0 {
        return "0".into();
    }
    if size.fract() == 0.0 && size < 1e7 {
        return format!("{x}");
    }
    // Rounded first: 9999.6 has five digits before the point afterwards.
    let rounded: f64 = format!("{x:.3e}").parse().unwrap_or(x);
    if (1e-4..1e7).contains(&size) {
        return format!("{rounded}");
    }
    format!("{rounded:e}")
}

/// A whole number with its thousands apart.
///
/// ```
/// assert_eq!(mercer_report::count(60000), "60,000");
/// ```
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A size in memory.
///
/// ```
/// assert_eq!(mercer_report::bytes(4800), "4.7 KiB");
/// ```
pub fn bytes(n: usize) -> String {
    let mut size = n as f64;
    let mut units = ["bytes", "KiB", "MiB", "GiB", "TiB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for next in units {
        // 1023.96 would print as 1024.0.
        if size < 1023.95 {
            break;
        }
        (size, unit) = (size / 1024.0, next);
    }
    if unit == "bytes" { format!("{n} bytes") } else { format!("{size:.1} {unit}") }
}

/// A share as a percentage, never rounded to 0 or 100 unless it is that.
///
/// ```
/// use mercer_report::percent;
/// assert_eq!(percent(0.3333), "33.3 %");
/// assert_eq!(percent(1e-9), "< 0.1 %");
/// assert_eq!(percent(1.0), "100 %");
/// ```
pub fn percent(share: f64) -> String {
    let p = 100.0 * share;
    if p == 0.0 || p == 100.0 {
        format!("{p} %")
    } else if p < 0.1 {
        "< 0.1 %".into()
    } else if p > 99.9 && p < 100.0 {
        "> 99.9 %".into()
    } else {
        format!("{p:.1} %")
    }
}

/// A time.
///
/// ```
/// use mercer_report::seconds;
/// assert_eq!(seconds(0.00123), "1.2 ms");
/// assert_eq!(seconds(12.34), "12.3 s");
/// assert_eq!(seconds(185.0), "3 min 5 s");
/// ```
pub fn seconds(s: f64) -> String {
    if s < 0.9995 {
        format!("{:.1} ms", 1000.0 * s)
    } else if s < 59.95 {
        format!("{s:.1} s")
    } else {
        let whole = s.round() as u64;
        format!("{} min {} s", whole / 60, whole % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_to_four_digits_on_both_sides_of_one() {
        for (x, wanted) in [
            (9999.6, "10000"),
            (123_456.7, "123500"),
            (0.000_099_99, "9.999e-5"),
            (0.1 + 0.2, "0.3"),
            (-0.0, "0"),
            (12_345_678.0, "1.235e7"),
            (f64::NAN, "not a number"),
            (f64::NEG_INFINITY, "-infinity"),
        ] {
            assert_eq!(number(x), wanted, "{x}");
        }
    }

    #[test]
    fn sizes_change_unit_where_they_should() {
        for (n, wanted) in [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1 << 30, "1.0 GiB")] {
            assert_eq!(bytes(n), wanted);
        }
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
    }
}
