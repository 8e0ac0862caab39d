//! Numbers of the arguments as they were written: a parsed value has only the nearest double of some of them, and
//! messages must not show another number than the one that was sent.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

/// Maximum count of numbers to keep.
const KEPT: usize = 1_000;

/// Maximum number of characters of a number to show.
const SHOWN: usize = 60;

/// The numbers that a parsed value shows differently, by the bits of their doubles; `None` if several have one double.
#[derive(Debug, Default)]
pub(super) struct Written(BTreeMap<u64, Option<String>>);

impl Written {
    /// Reads the numbers of a JSON text.
    pub(super) fn read(json: &str) -> Self {
        let mut written = Written::default();
        let bytes = json.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let end = match byte {
                b'"' => behind_text(bytes, at),
                b'-' | b'0'..=b'9' => {
                    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
                    let length = bytes.iter().skip(at).take_while(|byte| is_part(byte)).count();
                    written.add(json.get(at..at + length).unwrap_or_default());
                    at + length
                }
                _ => at + 1,
            };
            at = end;
        }
        written
    }

    fn add(&mut self, text: &str) {
        let Ok(Value::Number(number)) = serde_json::from_str(text) else { return };
        let Some(double) = number.as_f64().filter(|_| number.is_f64()) else { return };
        if self.0.len() == KEPT && !self.0.contains_key(&double.to_bits()) {
            return;
        }
        let known = self.0.entry(double.to_bits()).or_insert_with(|| Some(text.to_owned()));
        if known.as_deref() != Some(text) {
            *known = None;
        }
    }

    /// The number as it was written.
    pub(super) fn text(&self, number: &Number) -> String {
        let double = number.as_f64().filter(|_| number.is_f64());
        let text = double.and_then(|double| self.0.get(&double.to_bits()));
        match text {
            Some(Some(text)) if text.len() > SHOWN => {
                let start = text.get(..SHOWN).unwrap_or_default();
                format!("{start}… ({} characters)", text.len())
            }
            Some(Some(text)) => text.clone(),
            _ => number.to_string(),
        }
    }
}

/// The offset after the quoted text that starts at `start`.
fn behind_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::Written;

    #[test]
    fn a_number_is_shown_as_it_was_written() {
        for (json, shown) in [
            ("123456789012345678901", "123456789012345678901"),
            ("100.00000000000000001", "100.00000000000000001"),
            ("-0", "-0"),
            ("1.50", "1.50"),
            ("1E2", "1E2"),
            ("9007199254740993", "9007199254740993"),
            ("-9223372036854775809", "-9223372036854775809"),
        ] {
            let text = format!("{{\"a \\\" 1e9\":[{json}]}}");
            let value: Value = serde_json::from_str(&text).unwrap();
            let Some(Value::Number(number)) = value.pointer("/a \" 1e9/0") else { panic!("{value}") };
            assert_eq!(Written::read(&text).text(number), shown);
        }
        // Which of the two is meant is not known.
        let text = "[1.50, 1.5]";
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(Written::read(text).text(value[0].as_number().unwrap()), "1.5");
    }
}
