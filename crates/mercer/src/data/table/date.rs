//! Dates and times as files write them, and the calendar parts that numbers are made of.
//!
//! Dates count by the Gregorian calendar in seconds from 1970-01-01; a zone at the end (`Z`, `+02:00`) is read over, so
//! that the hour is the one on the clock of whoever wrote it.

use serde::{Deserialize, Serialize};

/// Seconds of a day.
pub(in crate::data) const DAY: f64 = 86_400.0;

/// How dates are written. The time may follow after a blank or a `T`, as `12:30`, `12:30:15`, `12:30:15.25` or `5:30 PM`. In
/// every format dates that can be read in one way only are read too: `2024-12-31`, `31 Dec 2024`, `December 31, 2024`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::data) enum Format {
    /// `2024-12-31`, `2024/12/31`.
    YearFirst,
    /// `31.12.2024`, `31/12/2024`, `31-12-2024`, `31.12.24`, `31/12/24`.
    DayFirst,
    /// `12/31/2024`, `12-31-2024`, `12/31/24`.
    MonthFirst,
    /// `12:30` alone.
    Time,
}

impl Format {
    /// All formats; of two that read a column equally well, the first is taken.
    const ALL: [Format; 4] = [Format::YearFirst, Format::MonthFirst, Format::DayFirst, Format::Time];

    /// The format that reads most of the texts, given with how often each occurs, and how many rows it reads.
    pub(in crate::data) fn of<'a>(texts: impl Iterator<Item = (&'a str, usize)>) -> Option<(Self, usize)> {
        let mut read = [0; Format::ALL.len()];
        for (text, count) in texts {
            for (rows, format) in read.iter_mut().zip(Format::ALL) {
                *rows += if format.parse(text).is_some() { count } else { 0 };
            }
        }
        let best = *read.iter().max()?;
        let at = read.iter().position(|&rows| rows == best && rows > 0)?;
        Some((Format::ALL[at], best))
    }

    /// Seconds from 1970-01-01, or from midnight for times alone.
    pub(in crate::data) fn parse(self, text: &str) -> Option<f64> {
        if self == Format::Time {
            return clock(text);
        }
        let text = text.trim();
        if text.bytes().any(|b| b.is_ascii_alphabetic())
            && let Some(seconds) = by_name(text)
        {
            return Some(seconds);
        }
        let (date, time) = match text.find([' ', 'T']) {
            Some(at) => (text[..at].trim_end_matches(','), clock(without_zone(&text[at + 1..]))?),
            None => (text, 0.0),
        };
        let separator = date.chars().find(|c| !c.is_ascii_digit())?;
        let mut parts = date.split(separator);
        let (a, b, c) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        let year_first = a.len() == 4;
        let allowed: &[char] = match self {
            _ if year_first => &['-', '/', '.'],
            Format::YearFirst => return None,
            Format::MonthFirst => &['-', '/'],
            _ => &['.', '/', '-'],
        };
        let (year, month, day) = match self {
            _ if year_first => (a, b, c),
            Format::MonthFirst => (c, a, b),
            _ => (c, b, a),
        };
        // Two digits are a year only where no hyphen makes it a day of another order.
        let century = if year.len() == 2 && separator != '-' { CENTURY } else { 0 };
        if !allowed.contains(&separator) || year.len() != 4 && century == 0 {
            return None;
        }
        let (year, month, day) = (digits(year, 4)?, digits(month, 2)?, digits(day, 2)?);
        let days = days_from_civil(i64::from(full_year(year, century)), month, day)?;
        Some(days as f64 * DAY + time)
    }
}

/// The year that 0 stands for in years of two digits; those from 70 on are of the century before.
const CENTURY: u32 = 2000;

fn full_year(year: u32, century: u32) -> u32 {
    match century {
        0 => year,
        _ if year >= 70 => century - 100 + year,
        _ => century + year,
    }
}

/// A date whose month is a name, in English: `31 Dec 2024`, `31-Dec-24`, `Dec 31, 2024 17:30`, `Tue, 31 December 2024`.
fn by_name(text: &str) -> Option<f64> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let named = |list: &[&str], word: &str| {
        let word = word.trim_end_matches('.').to_ascii_lowercase();
        let sept = if word == "sept" { "sep" } else { &word };
        list.iter()
            .position(|name| sept.len() >= 3 && name.starts_with(sept) && (sept.len() == 3 || *name == sept))
    };
    let mut words = text.split([' ', ',', '-', '/', '\u{a0}']).filter(|w| !w.is_empty()).peekable();
    words.next_if(|word| named(&DAYS, word).is_some());
    let (first, second, year) = (words.next()?, words.next()?, words.next()?);
    let (month, day) = match (named(&MONTHS, first), named(&MONTHS, second)) {
        (Some(month), None) => (month, second),
        (None, Some(month)) => (month, first),
        _ => return None,
    };
    let day = ["st", "nd", "rd", "th", "."].iter().find_map(|end| day.strip_suffix(end)).unwrap_or(day);
    // `2024 Dec 31`
    let (day, year) = if day.len() == 4 { (year, day) } else { (day, year) };
    let century = if year.len() == 2 { CENTURY } else { 0 };
    if year.len() != 4 && century == 0 {
        return None;
    }
    let year = full_year(digits(year, 4)?, century);
    let days = days_from_civil(i64::from(year), month as u32 + 1, digits(day, 2)?)?;
    let rest: Vec<&str> = words.filter(|word| *word != "at").collect();
    let time = if rest.is_empty() { 0.0 } else { clock(without_zone(&rest.join(" ")))? };
    Some(days as f64 * DAY + time)
}

/// The hour from 0 to below 24, with minutes as fractions.
pub(in crate::data) fn hour(seconds: f64) -> f64 {
    seconds.rem_euclid(DAY) / 3600.0
}

/// The weekday: 0 is Monday.
pub(in crate::data) fn weekday(seconds: f64) -> f64 {
    // 1970-01-01 was a Thursday.
    ((seconds / DAY).floor() + 3.0).rem_euclid(7.0)
}

/// The month, 0 to 11.
pub(in crate::data) fn month(seconds: f64) -> f64 {
    f64::from(month_of((seconds / DAY).floor() as i64)) - 1.0
}

fn digits(text: &str, most: usize) -> Option<u32> {
    let fine = !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
    fine.then(|| text.parse().ok()).flatten()
}

/// `12:30`, `12:30:15`, `12:30:15.25`, `5:30 PM` in seconds.
fn clock(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(at) = text.len().checked_sub(2).filter(|&at| text.is_char_boundary(at)) {
        let noon = match text[at..].to_ascii_lowercase().as_str() {
            "am" => Some(0.0),
            "pm" => Some(DAY / 2.0),
            _ => None,
        };
        if let Some(noon) = noon {
            let seconds = clock(&text[..at]).filter(|s| (3600.0..13.0 * 3600.0).contains(s))?;
            return Some(seconds % (DAY / 2.0) + noon);
        }
    }
    let mut parts = text.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next());
    let (hour, minute) = (digits(hour, 2)?, digits(minute, 2)?);
    let second = match second {
        Some(text) => {
            let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
            let fine = part.len() <= 9 && !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            fine.then(|| Some(f64::from(digits(whole, 2)?) + format!("0.{part}").parse::<f64>().ok()?))
                .flatten()?
        }
        None => 0.0,
    };
    let fine = parts.next().is_none() && hour < 24 && minute < 60 && second < 61.0;
    fine.then(|| f64::from(hour) * 3600.0 + f64::from(minute) * 60.0 + second)
}

fn without_zone(time: &str) -> &str {
    let time = time.strip_suffix('Z').or(time.strip_suffix(" UTC")).unwrap_or(time);
    match time.rfind(['+', '-']) {
        Some(at) if at >= 5 && time[at + 1..].bytes().all(|b| b.is_ascii_digit() || b == b':') => {
            time[..at].trim_end()
        }
        _ => time,
    }
}

/// Days from 1970-01-01, after Hinnant's public algorithm: years begin in March, so that leap days come last.
fn days_from_civil(year: i64, month: u32, day: u32) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if day == 0 || day > longest {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = i64::from((month + 9) % 12);
    let of_year = (153 * from_march + 2) / 5 + i64::from(day) - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// The month of a day counted from 1970-01-01.
fn month_of(days: i64) -> u32 {
    let of_era = (days + 719_468).rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    ((from_march + 2) % 12 + 1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        let mut days = 0;
        for year in 1970..2101 {
            for month in 1..=12 {
                for day in 1..=31 {
                    let Some(got) = days_from_civil(year, month, day) else { continue };
                    assert_eq!((got, month_of(got)), (days, month), "{year}-{month}-{day}");
                    days += 1;
                }
            }
        }
        // 131 years, 32 of them leap years: 2100 is none.
        assert_eq!(days, 131 * 365 + 32);
        assert_eq!(days_from_civil(1969, 12, 31), Some(-1));
        assert_eq!(month(-1.0), 11.0);
    }

    #[test]
    fn every_form_is_read_and_nothing_else() {
        for (format, text, wanted) in [
            (Format::YearFirst, "1970-01-02", Some(DAY)),
            (Format::YearFirst, "1970/01/02 06:00", Some(DAY * 1.25)),
            (Format::YearFirst, "1970-01-01T00:00:01.5Z", Some(1.5)),
            (Format::YearFirst, "1970-01-01T12:00:00+02:00", Some(DAY / 2.0)),
            (Format::YearFirst, "1970-01-01 12:00-0530", Some(DAY / 2.0)),
            (Format::DayFirst, "02.01.1970", Some(DAY)),
            (Format::DayFirst, "2/1/1970", Some(DAY)),
            (Format::MonthFirst, "1/2/1970", Some(DAY)),
            (Format::Time, "06:30", Some(23_400.0)),
            (Format::MonthFirst, "1/2/1970 5:30 PM", Some(DAY + 17.5 * 3600.0)),
            (Format::MonthFirst, "1/2/1970, 12:15:00 am", Some(DAY + 900.0)),
            (Format::MonthFirst, "1/2/70", Some(DAY)),
            (Format::DayFirst, "02.01.70", Some(DAY)),
            (Format::DayFirst, "1/1/00", Some(10_957.0 * DAY)),
            (Format::DayFirst, "1970-01-02", Some(DAY)),
            (Format::MonthFirst, "1970.01.02", Some(DAY)),
            (Format::YearFirst, "2 Jan 1970", Some(DAY)),
            (Format::DayFirst, "02-Jan-70", Some(DAY)),
            (Format::YearFirst, "January 2, 1970 06:00", Some(DAY * 1.25)),
            (Format::YearFirst, "Jan 2nd 1970 at 6:00 PM", Some(DAY * 1.75)),
            (Format::YearFirst, "Fri, 02 Jan 1970 06:00:00 +0000", Some(DAY * 1.25)),
            (Format::YearFirst, "2 Janitor 1970", None),
            (Format::YearFirst, "May the 4th", None),
            (Format::YearFirst, "1/2/1970", None),
            (Format::DayFirst, "70-01-02", None),
            (Format::MonthFirst, "1/2/1970 13:30 PM", None),
            (Format::MonthFirst, "1/2/170", None),
            (Format::YearFirst, "2023-02-29", None),
            (Format::YearFirst, "2024-13-01", None),
            (Format::YearFirst, "2024-1", None),
            (Format::YearFirst, "2024-01-01 25:00", None),
            (Format::YearFirst, "20240101", None),
            (Format::DayFirst, "1.2.3.1970", None),
            (Format::MonthFirst, "13/1/1970", None),
            (Format::Time, "6", None),
            (Format::Time, "6:5:", None),
        ] {
            assert_eq!(format.parse(text), wanted, "{format:?} {text}");
        }
        let wednesday = Format::YearFirst.parse("2026-11-18 18:30").expect("a date");
        assert_eq!((weekday(wednesday), hour(wednesday), month(wednesday)), (2.0, 18.5, 10.0));
    }

    #[test]
    fn the_column_decides_between_day_and_month() {
        let of = |texts: &[&str]| Format::of(texts.iter().map(|t| (*t, 1))).map(|(f, _)| f);
        assert_eq!(of(&["1/2/2020", "31/1/2020"]), Some(Format::DayFirst));
        assert_eq!(of(&["1/2/2020", "1/31/2020"]), Some(Format::MonthFirst));
        assert_eq!(of(&["1/2/2020"]), Some(Format::MonthFirst));
        assert_eq!(of(&["1.2.2020"]), Some(Format::DayFirst));
        assert_eq!(of(&["2020-01-02"]), Some(Format::YearFirst));
        assert_eq!(of(&["2020-01-02", "31.1.2020", "5 May 2020"]), Some(Format::DayFirst));
        assert_eq!(of(&["x"]), None);
    }
}
