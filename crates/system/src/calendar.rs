//! Formats timestamps (RFC 3339, in UTC).

use std::time::{Duration, SystemTime};

use chrono::{DateTime, NaiveDate, NaiveTime, SecondsFormat};

/// With milliseconds: 2026-11-22T08:49:37.007Z.
#[must_use]
pub fn timestamp(time: SystemTime) -> String {
    of_milliseconds(milliseconds(time))
}

/// Like [`timestamp`], from milliseconds since 1970; empty if out of range.
#[must_use]
pub fn of_milliseconds(at: i64) -> String {
    DateTime::from_timestamp_millis(at)
        .map_or_else(String::new, |time| time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// Milliseconds since 1970, to the minute: 2026-11-22 08:49Z.
#[must_use]
pub fn minute(at: i64) -> String {
    formatted(at, "%Y-%m-%d %H:%MZ")
}

/// The day: 2026-11-22.
#[must_use]
pub fn day(time: SystemTime) -> String {
    day_of(milliseconds(time))
}

/// The day of a time in milliseconds since 1970: 2026-11-22.
#[must_use]
pub fn day_of(at: i64) -> String {
    formatted(at, "%Y-%m-%d")
}

/// The start of a day in UTC, from a date such as 2026-11-22; `None` for another text or a date before 1970.
#[must_use]
pub fn start_of_day(date: &str) -> Option<SystemTime> {
    let start = NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?.and_time(NaiveTime::MIN).and_utc();
    let seconds = u64::try_from(start.timestamp()).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

fn formatted(at: i64, form: &str) -> String {
    DateTime::from_timestamp_millis(at).map_or_else(String::new, |time| time.format(form).to_string())
}

fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_follow_rfc_3339() {
        let at = |seconds: u64| timestamp(SystemTime::UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 7));
        assert_eq!(at(0), "1970-01-01T00:00:00.007Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59.007Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.007Z");
        assert_eq!(at(1_735_689_599), "2024-12-31T23:59:59.007Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.007Z");
        assert_eq!(at(32_503_680_000), "3000-01-01T00:00:00.007Z");
    }

    #[test]
    fn a_date_starts_at_midnight() {
        let read = |date: &str| start_of_day(date).map(timestamp);
        assert_eq!(read("2000-02-29").as_deref(), Some("2000-02-29T00:00:00.000Z"));
        for wrong in ["2001-02-29", "1969-12-31", "2000-02-29 10:00", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn milliseconds_are_formatted_and_out_of_range_is_empty() {
        assert_eq!(of_milliseconds(1_500), "1970-01-01T00:00:01.500Z");
        assert_eq!(of_milliseconds(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(minute(1_735_689_599_999), "2024-12-31 23:59Z");
        assert_eq!((of_milliseconds(i64::MAX), minute(i64::MIN)), (String::new(), String::new()));
        assert_eq!(day(SystemTime::UNIX_EPOCH + Duration::from_secs(951_782_400)), "2000-02-29");
    }
}
