//! Formats sizes for messages, and limits the length of messages.

/// Maximum length of the message of an error or panic, in bytes (64 KiB).
pub const MESSAGE_LIMIT: usize = 64 << 10;

/// A size in the largest unit of which there is at least one: `312 bytes`, `5.3 KiB`, `8 MiB`.
#[must_use]
pub fn size(bytes: usize) -> String {
    const UNITS: [(&str, usize); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let Some((unit, one)) = UNITS.iter().find(|(_, one)| bytes >= *one) else {
        return format!("{bytes} bytes");
    };
    // In tenths, rounded up: a size over a limit must look larger than the limit.
    let tenths = bytes / one * 10 + (bytes % one * 10).div_ceil(*one);
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} {unit}"),
        (whole, tenth) => format!("{whole}.{tenth} {unit}"),
    }
}

/// Truncates a message to [`MESSAGE_LIMIT`] bytes.
pub(crate) fn shortened(mut message: String) -> String {
    if message.len() > MESSAGE_LIMIT {
        let whole = message.len();
        message.truncate(message.floor_char_boundary(MESSAGE_LIMIT));
        message.push_str(&format!("… ({whole} bytes in all)"));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_use_the_largest_unit_that_fits() {
        for (bytes, shown) in [
            (0, "0 bytes"),
            (1_023, "1023 bytes"),
            (1 << 10, "1 KiB"),
            (5_400, "5.3 KiB"),
            (8 << 20, "8 MiB"),
            ((8 << 20) + 1, "8.1 MiB"),
            (3 << 29, "1.5 GiB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}
