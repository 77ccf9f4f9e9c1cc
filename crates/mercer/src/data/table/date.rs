//! Dates and times as files write them, and the calendar parts that numbers are made of.
//!
//! Dates count by the Gregorian calendar in seconds from 1970-01-01; a zone at the end (`Z`, `+02:00`, `CET`) is ignored, so
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
    /// Hours beyond 24, or minutes and seconds: `26:15:00`, `1:23.456`, `2 days 04:00:00`.
    Duration,
}

impl Format {
    /// All formats; of two that read a column equally well, the first is taken.
    const ALL: [Format; 5] =
        [Format::YearFirst, Format::MonthFirst, Format::DayFirst, Format::Time, Format::Duration];

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

    /// Whether it tells a day, and not only a time or how long something took.
    pub(in crate::data) fn has_day(self) -> bool {
        !matches!(self, Format::Time | Format::Duration)
    }

    /// Seconds from 1970-01-01, or from midnight for times alone.
    pub(in crate::data) fn parse(self, text: &str) -> Option<f64> {
        match self {
            Format::Time => return clock(without_zone(text.trim())),
            Format::Duration => return duration(text),
            _ => {}
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
        let Some(separator) = date.chars().find(|c| !c.is_ascii_digit()) else {
            // `20241231T1730`; alone, such digits are a number.
            let fine = date.len() == 8 && text.len() > 8;
            let days = fine.then(|| {
                let (year, month, day) =
                    (digits(&date[..4], 4)?, digits(&date[4..6], 2)?, digits(&date[6..], 2)?);
                days_from_civil(i64::from(year), month, day)
            });
            return Some(days.flatten()? as f64 * DAY + time);
        };
        let mut parts = date.split(separator);
        let (a, b, c) = (parts.next()?, parts.next()?, parts.next());
        let Some(c) = c else {
            // `2024-12` and `12/2024` are the first day of a month.
            let (year, month) = if a.len() == 4 { (a, b) } else { (b, a) };
            let fine = year.len() == 4
                && text.len() == date.len()
                && if a.len() == 4 {
                    month.len() == 2 && matches!(separator, '-' | '/')
                } else {
                    separator == '/'
                }
                && (a.len() == 4 || self != Format::YearFirst);
            let days = fine.then(|| days_from_civil(i64::from(digits(year, 4)?), digits(month, 2)?, 1));
            return Some(days.flatten()? as f64 * DAY);
        };
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

/// Names of months in English, German, French, Spanish, Italian, Portuguese and Dutch, from January on.
const MONTHS: [&[&str]; 12] = [
    &["january", "januar", "jänner", "janvier", "enero", "gennaio", "janeiro", "januari"],
    &["february", "februar", "février", "fevrier", "febrero", "febbraio", "fevereiro", "februari"],
    &["march", "märz", "maerz", "mars", "marzo", "março", "maart", "mrt"],
    &["april", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio", "maio", "mei"],
    &["june", "juni", "juin", "junio", "giugno", "junho"],
    &["july", "juli", "juillet", "julio", "luglio", "julho"],
    &["august", "août", "aout", "agosto", "augustus"],
    &["september", "septembre", "septiembre", "setiembre", "settembre", "setembro"],
    &["october", "oktober", "octobre", "octubre", "ottobre", "outubro"],
    &["november", "novembre", "noviembre", "novembro"],
    &["december", "dezember", "décembre", "decembre", "diciembre", "dicembre", "dezembro"],
];
/// Beginnings of the names of weekdays in the same languages, of at least two letters where a point may follow.
const DAYS: [&str; 34] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonnabend",
    "sonntag",
    "lundi",
    "mardi",
    "mercredi",
    "jeudi",
    "vendredi",
    "samedi",
    "dimanche",
    "lunes",
    "martes",
    "miércoles",
    "jueves",
    "viernes",
    "sábado",
    "domingo",
    "lunedì",
    "martedì",
    "mercoledì",
    "giovedì",
    "venerdì",
];

/// The month, from 0, whose name a word is or begins, with at least three letters that no other month's name begins with.
fn month_named(word: &str) -> Option<usize> {
    let word = word.trim_end_matches('.').to_lowercase();
    let word = if word == "sept" { "sep" } else { &word };
    if word.chars().count() < 3 {
        return None;
    }
    let mut found = (0..12).filter(|&m| MONTHS[m].iter().any(|name| name.starts_with(word)));
    found.next().filter(|_| found.next().is_none())
}

/// Whether a word is the name of a weekday, or its first letters.
fn is_weekday(word: &str) -> bool {
    let word = word.trim_end_matches('.').to_lowercase();
    let short = word.chars().count();
    DAYS.iter().any(|day| *day == word || (2..=4).contains(&short) && day.starts_with(&word))
}

/// A date whose month is a name: `31 Dec 2024`, `31-Dec-24`, `Dec 31, 2024 17:30`, `Tue, 31 December 2024`, `3. März 2024`,
/// `3 de marzo de 2024`; without a day, `Dec 2024`, `Dec-24` or `Dec '24`, the first of the month.
fn by_name(text: &str) -> Option<f64> {
    let mut words = text
        .split([' ', ',', '-', '/', '\'', '\u{a0}'])
        .filter(|w| !w.is_empty() && !matches!(*w, "de" | "del" | "of"))
        .peekable();
    words.next_if(|word| month_named(word).is_none() && is_weekday(word));
    let (first, second) = (words.next()?, words.next()?);
    let (month, day) = match (month_named(first), month_named(second)) {
        (Some(month), None) => (month, second),
        (None, Some(month)) => (month, first),
        _ => return None,
    };
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    // A month and a year alone.
    if words.peek().is_none() {
        // `Dec 24` is rather a day.
        let short = || digits(day, 2).filter(|_| day.len() == 2 && text.contains(['-', '\'']));
        let year = if day.len() == 4 { digits(day, 4)? } else { full_year(short()?, CENTURY) };
        return Some(days_from_civil(i64::from(year), month as u32 + 1, 1)? as f64 * DAY);
    }
    let year = words.next()?;
    let day = ["st", "nd", "rd", "th", "er", "."].iter().find_map(|end| day.strip_suffix(end)).unwrap_or(day);
    // `2024 Dec 31`
    let (day, year) = if day.len() == 4 && number(day) { (year, day) } else { (day, year) };
    let century = if year.len() == 2 { CENTURY } else { 0 };
    if year.len() != 4 && century == 0 {
        return None;
    }
    let year = full_year(digits(year, 4)?, century);
    let days = days_from_civil(i64::from(year), month as u32 + 1, digits(day, 2)?)?;
    let rest: Vec<&str> = words.filter(|word| !matches!(*word, "at" | "um" | "à")).collect();
    let time = if rest.is_empty() { 0.0 } else { clock(without_zone(&rest.join(" ")))? };
    Some(days as f64 * DAY + time)
}

/// `26:15:00`, `75:30`, `1:23.456`, `2 days 04:00:00` in seconds: hours, minutes and seconds, or the last two where the last has a
/// fraction; of two whole numbers hours and minutes.
fn duration(text: &str) -> Option<f64> {
    let text = text.trim();
    let (minus, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let (days, text) = match text.split_once(" day") {
        Some((days, rest)) => (
            f64::from(digits(days, 5)?),
            rest.strip_prefix('s').unwrap_or(rest).trim_start_matches([',', ' ']),
        ),
        None => (0.0, text),
    };
    if text.is_empty() && days > 0.0 {
        return Some(minus * days * DAY);
    }
    let parts: Vec<&str> = text.split(':').collect();
    let (last, before) = parts.split_last()?;
    let seconds = |text: &str| {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let fine = part.len() <= 9 && !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        fine.then(|| Some(f64::from(digits(whole, 2)?) + format!("0.{part}").parse::<f64>().ok()?)).flatten()
    };
    let below = |value: f64| (value < 60.0).then_some(value);
    let whole = match *before {
        [hours, minutes] => {
            f64::from(digits(hours, 5)?) * 3600.0
                + below(f64::from(digits(minutes, 2)?))? * 60.0
                + below(seconds(last)?)?
        }
        [minutes] if last.contains('.') => f64::from(digits(minutes, 5)?) * 60.0 + below(seconds(last)?)?,
        [hours] => f64::from(digits(hours, 5)?) * 3600.0 + below(f64::from(digits(last, 2)?))? * 60.0,
        _ => return None,
    };
    Some(minus * (days * DAY + whole))
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
    // `1730` and `173000`, as in `20241231T1730`: only behind a date, since alone they are numbers.
    if matches!(text.len(), 4 | 6) && text.bytes().all(|b| b.is_ascii_digit()) {
        let part = |at: usize| digits(text.get(at..at + 2).unwrap_or("0"), 2);
        let (hour, minute, second) = (part(0)?, part(2)?, part(4)?);
        let fine = hour < 24 && minute < 60 && second < 61;
        return fine.then(|| f64::from(hour * 3600 + minute * 60 + second));
    }
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

/// A time without the zone behind it: `Z`, `UTC`, `CET`, `+02:00`, `GMT+2`, `+01:00[Europe/Berlin]`.
fn without_zone(time: &str) -> &str {
    let time = match time.strip_suffix(']').and_then(|t| t.rsplit_once('[')) {
        Some((time, _)) => time,
        None => time,
    };
    let time = match time.rfind(['+', '-', '−']) {
        Some(at) if at >= 5 => {
            let offset = time[at..].trim_start_matches(['+', '-', '−']);
            let fine = !offset.is_empty() && offset.bytes().all(|b| b.is_ascii_digit() || b == b':');
            if fine { time[..at].trim_end() } else { time }
        }
        _ => time,
    };
    let word = time.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let zone = &time[word.len()..];
    if ZONES.contains(&zone) && word.len() >= 4 { word.trim_end() } else { time }
}

/// Names of time zones.
const ZONES: [&str; 33] = [
    "Z", "UTC", "GMT", "UT", "WET", "WEST", "BST", "IST", "CET", "CEST", "MEZ", "MESZ", "EET", "EEST", "MSK",
    "SAST", "SGT", "HKT", "JST", "KST", "AWST", "ACST", "AEST", "AEDT", "NZST", "NZDT", "EST", "EDT", "CST",
    "CDT", "MST", "PST", "PDT",
];

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
            (Format::YearFirst, "1970/01/02 6:00:00 AM GMT+2", Some(DAY * 1.25)),
            (Format::YearFirst, "1970/01/02 6:00:00 PM MEZ", Some(DAY * 1.75)),
            (Format::YearFirst, "1970-01-02 06:00 CET", Some(DAY * 1.25)),
            (Format::YearFirst, "1970-01-02T06:00:00+01:00[Europe/Berlin]", Some(DAY * 1.25)),
            (Format::YearFirst, "1970-01-02 06:00 XYZ", None),
            (Format::Time, "06:30 UTC", Some(23_400.0)),
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
            (Format::YearFirst, "1970-02", Some(31.0 * DAY)),
            (Format::MonthFirst, "2/1970", Some(31.0 * DAY)),
            (Format::YearFirst, "2/1970", None),
            (Format::YearFirst, "2024-13", None),
            (Format::YearFirst, "2024-01 12:00", None),
            (Format::YearFirst, "Feb 1970", Some(31.0 * DAY)),
            (Format::YearFirst, "Feb-70", Some(31.0 * DAY)),
            (Format::YearFirst, "Feb '70", Some(31.0 * DAY)),
            (Format::YearFirst, "Feb 70", None),
            (Format::YearFirst, "19700102T060000", Some(DAY * 1.25)),
            (Format::YearFirst, "19700102T0600Z", Some(DAY * 1.25)),
            (Format::YearFirst, "19701302T0600", None),
            (Format::DayFirst, "1. Februar 1970", Some(31.0 * DAY)),
            (Format::DayFirst, "1er février 1970", Some(31.0 * DAY)),
            (Format::DayFirst, "dimanche 1 févr. 1970", Some(31.0 * DAY)),
            (Format::DayFirst, "1 de febrero de 1970", Some(31.0 * DAY)),
            (Format::DayFirst, "Mo, 2. März 1970 06:00", Some(60.25 * DAY)),
            (Format::DayFirst, "1 jui 1970", None),
            (Format::DayFirst, "1 ma 1970", None),
            (Format::Duration, "26:15:00", Some(26.25 * 3600.0)),
            (Format::Duration, "1:23.5", Some(83.5)),
            (Format::Duration, "75:30", Some(75.5 * 3600.0)),
            (Format::Duration, "2 days 04:00:00", Some(52.0 * 3600.0)),
            (Format::Duration, "1 day, 0:00:30", Some(DAY + 30.0)),
            (Format::Duration, "-0:30:00", Some(-1800.0)),
            (Format::Duration, "12:75:00", None),
            (Format::Duration, "1:2:3:4", None),
            (Format::Duration, "12", None),
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
        assert_eq!(of(&["08:15", "17:30"]), Some(Format::Time));
        assert_eq!(of(&["08:15:00", "31:30:00"]), Some(Format::Duration));
        assert_eq!(of(&["x"]), None);
    }
}
