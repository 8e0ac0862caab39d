//! Whether JSON of a program is what any reader can take. A `RawValue` only means that brackets and quotes match: it
//! may nest without end, hold half of a surrogate pair or a number out of range.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// How deep a value may nest. Common parsers give up at 128 levels, of which a message around it takes a few.
pub(crate) const DEPTH_LIMIT: usize = 100;

/// Checks that `value` is an object, and can be read as a whole. Keeps nothing of it in memory.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn check_object(value: &RawValue) -> Result<(), String> {
    if !value.get().starts_with('{') {
        return Err("it is no object".to_owned());
    }
    let mut reader = serde_json::Deserializer::from_str(value.get());
    Readable { levels: DEPTH_LIMIT }.deserialize(&mut reader).map_err(|error| error.to_string())
}

/// A value that nests at most that many levels.
#[derive(Clone, Copy)]
struct Readable {
    levels: usize,
}

impl Readable {
    fn inner<E: Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1);
        let levels = levels.ok_or_else(|| E::custom(format!("it nests deeper than {DEPTH_LIMIT} levels")))?;
        Ok(Readable { levels })
    }
}

impl<'de> DeserializeSeed<'de> for Readable {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Readable {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let inner = self.inner()?;
        while items.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let inner = self.inner()?;
        while members.next_key_seed(inner)?.is_some() {
            members.next_value_seed(inner)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), String> {
        check_object(&RawValue::from_string(text.to_owned()).unwrap())
    }

    fn nested(levels: usize) -> String {
        format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels))
    }

    #[test]
    fn what_any_reader_takes_passes() {
        for text in [
            "{}",
            r#"{"a":[null,true,-1,18446744073709551615,1e300,123456789012345678901234567890,"\ud83d\ude00 ä"]}"#,
            "{ \"\" :\n[{}, []] }",
            &nested(DEPTH_LIMIT),
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_some_reader_refuses_does_not() {
        for (text, says) in [
            ("[]", "no object"),
            ("\"{}\"", "no object"),
            (r#"{"a":"\ud800"}"#, "hex escape"),
            (r#"{"\udc00":1}"#, "hex escape"),
            (r#"{"a":1e999}"#, "out of range"),
            (&nested(DEPTH_LIMIT + 1), "deeper than 100"),
            (&nested(1_000_000), "deeper than 100"),
            (&format!("{{\"a\":{}{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000)), "deeper than 100"),
        ] {
            let reason = check(text).unwrap_err();
            assert!(reason.contains(says), "{says}: {reason}");
        }
    }
}
