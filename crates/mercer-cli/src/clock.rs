//! Time and command line for pages. The library and the reports never read the clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Date and time in UTC, as `2024-02-29 13:05 UTC`. `SOURCE_DATE_EPOCH` (seconds since 1970) takes the clock's place, so
/// that the same run can give the same bytes.
pub(crate) fn now() -> String {
    let asked = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.trim().parse().ok());
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    written(asked.unwrap_or_else(clock))
}

/// The command as it was called, arguments with spaces in quotes.
pub(crate) fn command_line() -> String {
    let quoted = |text: String| {
        let plain =
            !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "'\"$`\\*?()<>|&;".contains(c));
        if plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
    };
    let arguments = std::env::args_os().skip(1).map(|a| quoted(a.to_string_lossy().into_owned()));
    std::iter::once("mercer".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Seconds since 1970 as a date of the Gregorian calendar: days are counted in eras of 400 years from 1 March.
fn written(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let in_month = in_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + 400 * era + carry;
    format!("{year:04}-{month:02}-{in_month:02} {:02}:{:02} UTC", rest / 3600, rest % 3600 / 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_the_calendar() {
        for (seconds, want) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_709_211_900, "2024-02-29 13:05 UTC"),
            (1_735_689_599, "2024-12-31 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(written(seconds), want);
        }
    }
}
