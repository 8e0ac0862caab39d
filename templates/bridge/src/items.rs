//! The values in an answer: its structured content, or what its text blocks say.
//!
//! SDKs without structured content send a list as one text block for each item. One block may also be a whole list, and
//! no block an empty one, so a list is read from any number of blocks.

use serde::de::{DeserializeOwned, Deserializer, Error as _, IgnoredAny, Visitor};
use serde_json::{Error, Value};

use crate::content::Content;
use crate::convert::{Readable, Unheld, readable, too_large, warn_of_rounded};
use crate::python;

/// The values in an answer, in order.
#[derive(Debug)]
pub(crate) struct Items {
    values: Vec<Value>,
    /// The texts of the values; empty for structured content.
    texts: Vec<String>,
    /// The reason why the only value, which is its text, is only an item of a list.
    plain: Option<String>,
}

/// A value that text says, and what a `Value` can't hold of it.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) value: Value,
    pub(crate) unheld: Unheld,
    /// The first number that is rounded when read.
    pub(crate) rounded: Option<String>,
}

/// Reads a text as JSON or as a Python literal, perhaps behind a byte order mark.
pub(crate) fn said(text: &str) -> Result<Said, Error> {
    let text = text.trim_start_matches('\u{feff}');
    let literal;
    let mut json = text;
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        literal = python::to_json(text).ok_or(error)?;
        json = &literal;
    }
    let Readable { text, unheld, rounded } = readable(json);
    Ok(Said { value: serde_json::from_str(&text)?, unheld, rounded: rounded.map(ToOwned::to_owned) })
}

/// The texts of content blocks.
pub(crate) fn texts(content: &[Content]) -> Vec<&str> {
    content.iter().filter_map(Content::as_text).collect()
}

impl Items {
    /// Structured content.
    pub(crate) fn of(structured: Value) -> Self {
        Items { values: vec![structured], texts: Vec::new(), plain: None }
    }

    /// A text that is no value, as the only item of a list; `reason` says why it is nothing else.
    pub(crate) fn of_plain(text: String, reason: String) -> Self {
        Items { values: vec![Value::String(text)], texts: Vec::new(), plain: Some(reason) }
    }

    /// Returns the items in texts; `None` if they are neither JSON nor plain items of a list.
    ///
    /// # Errors
    /// If a number in it can't be held.
    pub(crate) fn of_texts(texts: &[&str], whose: &str) -> crate::Result<Option<Self>> {
        let said: Vec<Option<Said>> = texts.iter().map(|text| self::said(text).ok()).collect();
        if let [None] = said.as_slice() {
            return Ok(None);
        }
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        if said.iter().all(Option::is_some) {
            let values = said.into_iter().flatten().map(|said| said.exact(whose));
            return Ok(Some(Items { values: values.collect::<crate::Result<_>>()?, texts, plain: None }));
        }
        let is_container = |said: &Said| said.value.is_object() || said.value.is_array();
        let plain = !said.iter().flatten().any(is_container);
        let values = texts.iter().cloned().map(Value::String).collect();
        Ok(plain.then_some(Items { values, texts, plain: None }))
    }

    /// The values as a `T`.
    ///
    /// # Errors
    /// If they are not a `T`.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T, Error> {
        let Items { values, texts, plain } = self;
        let scalars = !values.iter().any(|value| value.is_object() || value.is_array());
        match T::deserialize(List { values, are_items: plain.is_some() }) {
            // Items that are strings look like numbers if all of them consist of digits.
            Err(error) if !texts.is_empty() && scalars => {
                let values = texts.into_iter().map(Value::String).collect();
                T::deserialize(List { values, are_items: true }).map_err(|_| error)
            }
            Err(error) => Err(plain.map_or(error, Error::custom)),
            read => read,
        }
    }

    /// All values, as a list.
    pub(crate) fn list(self) -> Value {
        Value::Array(self.values)
    }
}

impl Said {
    /// The value.
    ///
    /// # Errors
    /// If a number in it can't be held.
    pub(crate) fn exact(self, whose: &str) -> crate::Result<Value> {
        let Said { value, unheld, rounded } = self;
        if let Some(number) = unheld.find(&value) {
            anyhow::bail!("the answer has {}; `.text()` returns it unchanged", too_large(number));
        }
        warn_of_rounded(whose, rounded.as_deref());
        Ok(value)
    }
}

/// Values that are read as a list, or as the only one of them.
struct List {
    values: Vec<Value>,
    /// Whether they are only the items of a list.
    are_items: bool,
}

impl List {
    fn list(mut self) -> Value {
        let list = match self.values.as_mut_slice() {
            [only @ Value::Array(_)] => only.take(),
            // SDKs wrap a list as `result`.
            [Value::Object(fields)] if fields.len() == 1 => match fields.get_mut("result") {
                Some(list @ Value::Array(_)) => list.take(),
                _ => Value::Null,
            },
            _ => Value::Null,
        };
        if list.is_array() { list } else { Value::Array(self.values) }
    }

    fn only(mut self) -> Result<Value, Error> {
        match self.values.len() {
            0 => Err(Error::custom("the answer has no text")),
            1 if self.are_items => Err(Error::custom("the answer is a text")),
            1 => Ok(self.values.swap_remove(0)),
            _ => Ok(Value::Array(self.values)),
        }
    }
}

macro_rules! only {
    ($($method:ident ($($argument:ident: $type:ty),*)),+ $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, Error> {
            self.only()?.$method($($argument,)* visitor)
        })+
    };
}

impl<'de> Deserializer<'de> for List {
    type Error = Error;

    only! {
        deserialize_any(), deserialize_bool(), deserialize_i8(), deserialize_i16(), deserialize_i32(),
        deserialize_i64(), deserialize_i128(), deserialize_u8(), deserialize_u16(), deserialize_u32(),
        deserialize_u64(), deserialize_u128(), deserialize_f32(), deserialize_f64(), deserialize_char(),
        deserialize_str(), deserialize_string(), deserialize_bytes(), deserialize_byte_buf(), deserialize_unit(),
        deserialize_map(), deserialize_identifier(), deserialize_ignored_any(),
        deserialize_unit_struct(name: &'static str),
        deserialize_struct(name: &'static str, fields: &'static [&'static str]),
        deserialize_enum(name: &'static str, variants: &'static [&'static str]),
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.list().deserialize_seq(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Error> {
        self.list().deserialize_tuple(length, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.list().deserialize_tuple_struct(name, length, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.values.as_slice() {
            [] | [Value::Null] => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        // The name by which serde_json knows its `RawValue`.
        match name.starts_with('$') {
            true => self.only()?.deserialize_newtype_struct(name, visitor),
            false => visitor.visit_newtype_struct(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read<T: DeserializeOwned>(texts: &[&str]) -> Option<T> {
        Items::of_texts(texts, "an answer").ok()??.read().ok()
    }

    #[test]
    fn a_list_is_read_from_any_number_of_texts() {
        let list = |texts: &[&str]| read::<Vec<Value>>(texts);
        assert_eq!(list(&[]), Some(vec![]));
        assert_eq!(list(&["{\"a\":1}"]), Some(vec![json!({ "a": 1 })]));
        assert_eq!(list(&["{\"a\":1}", "{'a': None}"]), Some(vec![json!({ "a": 1 }), json!({ "a": null })]));
        assert_eq!(list(&["[1,2]"]), Some(vec![json!(1), json!(2)]));
        assert_eq!(list(&["[1]", "[2]"]), Some(vec![json!([1]), json!([2])]));
        assert_eq!(list(&["{\"result\":[1]}"]), Some(vec![json!(1)]));
        assert_eq!(read::<Option<Vec<i64>>>(&["1", "2"]), Some(Some(vec![1, 2])));
        assert_eq!(read::<Vec<String>>(&["a", "12"]), Some(vec!["a".to_owned(), "12".to_owned()]));
        assert_eq!(read::<Vec<String>>(&["11", "12"]), Some(vec!["11".to_owned(), "12".to_owned()]));
        assert_eq!(list(&["2 items:", "{\"a\":1}"]), None);
    }

    #[test]
    fn other_types_are_read_from_the_only_text() {
        assert_eq!(read::<Value>(&["{\"a\":1}"]), Some(json!({ "a": 1 })));
        assert_eq!(read::<Value>(&["1", "2"]), Some(json!([1, 2])));
        assert_eq!(read::<Value>(&[]), None);
        assert_eq!(read::<Option<i64>>(&[]), Some(None));
        assert_eq!(read::<i64>(&["5"]), Some(5));
        assert_eq!(read::<i64>(&["5", "6"]), None);
    }
}
