//! Sizes in bytes as people write them: `512MiB`, `1 GB`, `1048576`.

/// The bytes that `text` names.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: u64 = digits.parse().map_err(|_| wrong(text))?;
    let factor: u64 = match unit.trim() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return Err(wrong(text)),
    };
    number.checked_mul(factor).ok_or_else(|| wrong(text))
}

fn wrong(text: &str) -> String {
    format!("{text:?} is not a size: write a whole number with KiB, MiB, GiB, kB, MB or GB, such as 512MiB")
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes() {
        assert_eq!(parse("512MiB"), Ok(536_870_912));
        assert_eq!(parse("1 GB"), Ok(1_000_000_000));
        assert_eq!(parse("7"), Ok(7));
        for wrong in ["", "MiB", "1.5GiB", "-1", "12 apples", "99999999999999999999GiB"] {
            assert!(parse(wrong).unwrap_err().contains("512MiB"), "{wrong}");
        }
    }
}
