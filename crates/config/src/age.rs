//! Ages as users write them: `30d`, `12h`.

use std::time::Duration;

/// The units, the largest first, in seconds.
const UNITS: [(&str, u64); 5] = [("w", 7 * 86_400), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

/// Maximum age, in seconds: a thousand years.
const MAX_AGE: u64 = 1_000 * 366 * 86_400;

/// A text that is not an age.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a time; write a number with s, m, h, d or w, such as 30d")]
pub struct InvalidAge {
    text: String,
}

/// Parses an age.
///
/// # Errors
/// If the text is not an age, or the age is more than a thousand years.
pub fn parse(text: &str) -> Result<Duration, InvalidAge> {
    let invalid = || InvalidAge { text: text.to_owned() };
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit = text.get(digits.len()..).unwrap_or_default();
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(invalid)?;
    let number: u64 = digits.parse().map_err(|_| invalid())?;
    let seconds = number.checked_mul(*unit).filter(|seconds| *seconds <= MAX_AGE).ok_or_else(invalid)?;
    Ok(Duration::from_secs(seconds))
}

/// The age in days if they are whole, otherwise in the largest unit that it is a multiple of.
pub(crate) fn written(age: Duration) -> String {
    let seconds = age.as_secs();
    let unit = UNITS.iter().skip(1).find(|(_, unit)| seconds >= *unit && seconds.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{seconds}s"), |(name, unit)| format!("{}{name}", seconds / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_numbers_with_units() {
        assert_eq!(parse("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(parse("0s"), Ok(Duration::ZERO));
        assert_eq!(parse("2w"), Ok(Duration::from_secs(14 * 86_400)));
        for wrong in ["", "30", "d", "-1d", "1.5d", "30 d", "9999999999999999999w", "400000d", "3dé", "30D"]
        {
            assert!(parse(wrong).unwrap_err().to_string().contains("such as 30d"), "{wrong}");
        }
        for text in ["30d", "14d", "36h", "90m", "61s", "0s"] {
            assert_eq!(written(parse(text).unwrap()), text);
        }
    }
}
