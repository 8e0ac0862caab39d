//! The command line of `stats`.

use std::time::SystemTime;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use config::InvalidValue;
use system::calendar;

use super::conversation::age;

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    /// Only calls since the start of a day (UTC). Give the day as a date such as 2026-11-01, or as an age in h, d (days)
    /// or w (weeks), such as 7d.
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<SystemTime>,
    /// Only this server.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: Option<String>,
    /// Print what code mode saved, by day: the tokens of snippets and their answers, and those of the same calls made
    /// directly. Needs the history.
    #[arg(long, conflicts_with = "reset")]
    pub(crate) saved: bool,
    /// Print everything as one JSON array.
    #[arg(long, conflicts_with = "reset")]
    pub(crate) json: bool,
    /// Delete the statistics, or those of --server, after a question.
    #[arg(long, conflicts_with = "since")]
    pub(crate) reset: bool,
    /// Delete without a question.
    #[arg(long, requires = "reset")]
    pub(crate) yes: bool,
}

pub(super) fn since(text: &str) -> Result<SystemTime, InvalidValue> {
    if let Some(day) = calendar::start_of_day(text) {
        return Ok(day);
    }
    let age = age(text).map_err(|_| {
        InvalidValue(format!(
            "{text:?} is not a time; write a date such as 2026-11-01, or a number with h, d or w, such as 7d"
        ))
    })?;
    Ok(SystemTime::now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_time_is_a_date_or_an_age() {
        assert_eq!(since("1970-01-02"), Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(86_400)));
        let week = since("7d").unwrap().elapsed().unwrap();
        assert!(
            week >= Duration::from_secs(7 * 86_400) && week < Duration::from_secs(8 * 86_400),
            "{week:?}"
        );
        for wrong in ["", "yesterday", "2026-13-01", "2026-11-01T00:00", "7"] {
            assert!(since(wrong).unwrap_err().0.contains("such as 7d"), "{wrong}");
        }
    }
}
