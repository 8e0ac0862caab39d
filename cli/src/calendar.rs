//! Points of time as people and machines read them (RFC 3339, in UTC).

use std::time::SystemTime;

/// RFC 3339 in UTC, with milliseconds.
pub(crate) fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (seconds, milliseconds) = (since.as_secs(), since.subsec_millis());
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// The day, in UTC, as 2026-11-22.
pub(crate) fn day(time: SystemTime) -> String {
    timestamp(time).split('T').next().unwrap_or_default().to_owned()
}

/// The date so many days after 1970-01-01, in the Gregorian calendar.
fn date(mut days: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    // 400 years have the same number of days wherever they begin.
    let mut year = 1970 + days / 146_097 * 400;
    days %= 146_097;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_as_rfc_3339_has_them() {
        let at = |seconds: u64| timestamp(SystemTime::UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 7));
        assert_eq!(at(0), "1970-01-01T00:00:00.007Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59.007Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.007Z");
        assert_eq!(at(1_735_689_599), "2024-12-31T23:59:59.007Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.007Z");
        assert_eq!(at(32_503_680_000), "3000-01-01T00:00:00.007Z");
    }
}
