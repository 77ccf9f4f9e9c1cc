//! Arrays of numbers in JSON, which are nearly all that requests consist of.
//!
//! A general reader of JSON looks at each value several times and rounds decimals by an algorithm for any of them. Most are
//! short: their digits and their power of ten are exact in f64, so one division rounds correctly.

/// Dimensions of a tensor.
pub(crate) const MOST_DIMENSIONS: usize = 8;

/// Numbers in arrays of arrays.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Numbers {
    /// The values in their order.
    pub(crate) values: Vec<f64>,
    /// The length of the arrays at each depth.
    pub(crate) sides: [Option<usize>; MOST_DIMENSIONS],
    /// How many arrays the values are in.
    pub(crate) depth: usize,
}

/// Powers of ten that are exact in f64.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

impl Numbers {
    /// Arrays, equally deep and long, of finite numbers and nothing else; none for any other text, which a general reader
    /// takes or refuses in words.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let mut found = Numbers { values: Vec::with_capacity(text.len() / 8), ..Numbers::default() };
        let mut counts = [0; MOST_DIMENSIONS];
        let (mut depth, mut at) = (0, 0);
        loop {
            // A value or an array begins here.
            at = blanks(text, at);
            if text.get(at) == Some(&b'[') {
                *counts.get_mut(depth)? = 0;
                depth += 1;
                at += 1;
                continue;
            }
            if found.values.is_empty() {
                found.depth = depth;
            }
            if depth == 0 || depth != found.depth {
                return None;
            }
            let (value, end) = number(text, at)?;
            found.values.push(value);
            at = end;
            // Arrays end here, or the next value follows.
            loop {
                at = blanks(text, at);
                counts[depth - 1] += 1;
                match text.get(at)? {
                    b',' => break,
                    b']' => {}
                    _ => return None,
                }
                at += 1;
                depth -= 1;
                let length = counts[depth];
                if *found.sides[depth].get_or_insert(length) != length {
                    return None;
                }
                if depth == 0 {
                    return (blanks(text, at) == text.len()).then_some(found);
                }
            }
            at += 1;
        }
    }
}

fn blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

/// The number that begins at a place, correctly rounded, and where it ends.
fn number(text: &[u8], begin: usize) -> Option<(f64, usize)> {
    let negative = text.get(begin) == Some(&b'-');
    let first = begin + usize::from(negative);
    let (mut mantissa, mut at) = (0u64, first);
    let digits = |mut at: usize, mantissa: &mut u64| {
        while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
            *mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        at
    };
    at = digits(at, &mut mantissa);
    let whole = at - first;
    if whole == 0 || whole > 1 && text[first] == b'0' {
        return None;
    }
    let mut decimals = 0;
    if text.get(at) == Some(&b'.') {
        let end = digits(at + 1, &mut mantissa);
        decimals = end - at - 1;
        if decimals == 0 {
            return None;
        }
        at = end;
    }
    let mut power = -i64::try_from(decimals).ok()?;
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let down = text.get(at + 1) == Some(&b'-');
        let start = at + 1 + usize::from(down || text.get(at + 1) == Some(&b'+'));
        let mut exponent = 0;
        let end = digits(start, &mut exponent);
        power = match end - start {
            0 => return None,
            1..=9 if down => power - exponent as i64,
            1..=9 => power + exponent as i64,
            // Not a power that anything is exact under.
            _ => i64::MAX,
        };
        at = end;
    }
    let by = POWERS.get(power.unsigned_abs() as usize);
    let value = match by {
        Some(by) if whole + decimals <= 19 && mantissa <= 1 << 53 => {
            let value = if power < 0 { mantissa as f64 / by } else { mantissa as f64 * by };
            if negative { -value } else { value }
        }
        _ => std::str::from_utf8(&text[begin..at]).ok()?.parse().ok()?,
    };
    value.is_finite().then_some((value, at))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// The same by a general reader of JSON.
    fn by_value(text: &str) -> Option<Numbers> {
        fn walk(value: &Value, depth: usize, found: &mut Numbers) -> Option<()> {
            match value {
                Value::Number(number) => {
                    if found.values.is_empty() {
                        found.depth = depth;
                    }
                    found.values.push(number.as_f64().filter(|_| depth == found.depth && depth > 0)?);
                }
                Value::Array(all) if depth < MOST_DIMENSIONS && !all.is_empty() => {
                    all.iter().try_for_each(|one| walk(one, depth + 1, found))?;
                    let side = *found.sides[depth].get_or_insert(all.len());
                    (side == all.len()).then_some(())?;
                }
                _ => return None,
            }
            Some(())
        }
        let mut found = Numbers::default();
        walk(&serde_json::from_str(text).ok()?, 0, &mut found)?;
        Some(found)
    }

    fn same(text: &str) -> bool {
        let (got, want) = (Numbers::read(text.as_bytes()), by_value(text));
        let bits = |n: &Option<Numbers>| {
            n.as_ref().map(|n| n.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>())
        };
        assert_eq!(bits(&got), bits(&want), "{text}");
        assert_eq!(got, want, "{text}");
        got.is_some()
    }

    #[test]
    fn arrays_of_numbers_are_those_of_a_general_reader() {
        for text in [
            "[1]",
            "[ -0 ]",
            "[0.5,-1.25e3, 1E-7,2e+5]",
            "[[1,2],[3,4]]",
            " [ [ 1 , 2 ] ,\n[ 3\t, 4 ] ] ",
            "[[[1],[2]],[[3],[4]]]",
            "[9007199254740993,9007199254740992,18446744073709551615]",
            "[5e-324,1.7976931348623157e308]",
            "[0.1234567890123456789,12345678901234567890123]",
            "[0.30000000000000004,1e22,1e23,123e-25]",
            "[1e-400]",
        ] {
            assert!(same(text), "{text}");
        }
        for text in [
            "",
            "[",
            "]",
            "1",
            "[]",
            "[[]]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[01]",
            "[-]",
            "[+1]",
            "[.5]",
            "[1.]",
            "[1e]",
            "[1e+]",
            "[1e400]",
            "[NaN]",
            "[null]",
            "[true]",
            "[\"1\"]",
            "[1,[2]]",
            "[[1],2]",
            "[[1,2],[3]]",
            "[[1],[2,3]]",
            "[1]]",
            "[1] x",
            "[[[[[[[[[1]]]]]]]]]",
            "[0x1]",
            "[1e99999999999]",
            "[--1]",
            "[1_0]",
            "{\"a\":1}",
        ] {
            assert!(!same(text), "{text}");
        }
    }

    #[test]
    fn changed_arrays_are_those_of_a_general_reader() {
        let mut state = 1u64;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        let mut good = 0;
        for turn in 0..20_000 {
            let wide = 1 + below(4);
            let one = |below: &mut dyn FnMut(usize) -> usize| match below(4) {
                0 => f64::from_bits((below(1 << 30) as u64) << 33 | below(1 << 30) as u64).to_string(),
                1 => format!("{}.{}e{}", below(100), below(1_000_000), below(40) as i64 - 20),
                2 => format!("-{}", below(1000) as f64 / 1000.0),
                _ => below(1 << 31).to_string(),
            };
            let rows: Vec<String> = (0..=below(3))
                .map(|_| format!("[{}]", (0..wide).map(|_| one(&mut below)).collect::<Vec<_>>().join(",")))
                .collect();
            let mut text = format!("[{}]", rows.join(", ")).into_bytes();
            if turn % 2 == 0 {
                let at = below(text.len());
                match below(3) {
                    0 => text[at] = b"[],.-+eE019 n"[below(13)],
                    1 => drop(text.remove(at)),
                    _ => text.insert(at, b"[],.-+eE019 n"[below(13)]),
                }
            }
            good += usize::from(same(std::str::from_utf8(&text).expect("ASCII")));
        }
        assert!(good > 8000, "{good} of 20000 are arrays of numbers");
    }
}
