//! Sizes in bytes as users write them: `512MiB`, `1 GB`, `1048576`.

/// The units that sizes are printed in, largest first.
const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// A text that is not a size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a size: write a whole number with KiB, MiB, GiB, kB, MB or GB, such as 512MiB")]
pub struct InvalidSize {
    text: String,
}

/// Parses a size to bytes.
///
/// # Errors
/// If the text is not a size, or the size does not fit.
pub fn parse(text: &str) -> Result<u64, InvalidSize> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let invalid = || InvalidSize { text: text.to_owned() };
    let number: u64 = digits.parse().map_err(|_| invalid())?;
    let factor: u64 = match unit.trim() {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        unit => match UNITS.iter().find(|(name, _)| *name == unit) {
            Some((_, factor)) => *factor,
            None => return Err(invalid()),
        },
    };
    number.checked_mul(factor).ok_or_else(invalid)
}

/// The size in the largest unit that it is a multiple of.
pub(crate) fn written(bytes: u64) -> String {
    let unit = UNITS.iter().find(|(_, factor)| bytes >= *factor && bytes.is_multiple_of(*factor));
    unit.map_or_else(|| bytes.to_string(), |(name, factor)| format!("{}{name}", bytes / factor))
}

#[cfg(test)]
mod tests {
    use super::{parse, written};

    #[test]
    fn sizes() {
        assert_eq!(parse("512MiB"), Ok(536_870_912));
        assert_eq!(parse("1 GB"), Ok(1_000_000_000));
        assert_eq!(parse("7"), Ok(7));
        for text in ["512MiB", "5GiB", "48KiB", "1536KiB", "1000", "0"] {
            assert_eq!(written(parse(text).unwrap()), text);
        }
        for wrong in ["", "MiB", "1.5GiB", "-1", "12 apples", "99999999999999999999GiB"] {
            assert!(parse(wrong).unwrap_err().to_string().contains("512MiB"), "{wrong}");
        }
    }
}
