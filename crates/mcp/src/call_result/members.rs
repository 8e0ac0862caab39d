//! A JSON object whose values stay text.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
    ser::{Serialize, Serializer},
};
use serde_json::value::RawValue;

/// The members of an object, in order.
#[derive(Default)]
pub(super) struct Members<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Members<'a> {
    /// The members of a value; `None` if it is no object.
    pub(super) fn of(raw: &'a RawValue) -> Option<Self> {
        let is_object = raw.get().starts_with('{');
        is_object.then(|| serde_json::from_str(raw.get()).ok()).flatten()
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;

        impl<'de> Visitor<'de> for Visit {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Name(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Visit)
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

pub(super) fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

/// The text of a JSON string; `None` for any other value.
pub(super) fn unquoted(raw: &RawValue) -> Option<Cow<'_, str>> {
    let is_string = raw.get().starts_with('"');
    let text: Option<Name<'_>> = is_string.then(|| serde_json::from_str(raw.get()).ok()).flatten();
    text.map(|Name(text)| text)
}
