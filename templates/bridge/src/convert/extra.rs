//! The members of an object that its type does not declare.

use std::fmt;
use std::ops::{Deref, DerefMut};

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::written::Written;
use super::{FromJson, Reader, ToJson};

/// The undeclared members of a received object, in the server's order: an [`IndexMap`].
///
/// It also knows how the object was written, so that it is serialized as it came: the order of all members, and which
/// optional ones were null.
#[derive(Clone)]
pub struct Extra<T = Value> {
    members: IndexMap<String, T>,
    /// `None` for an object that its type writes in the same way.
    written: Option<Box<Written>>,
}

/// Members for the rest of an object.
pub trait Members: ToJson {
    /// Returns the form in which the whole object was written.
    fn written(&self) -> Option<&Written>;
}

impl Extra {
    /// Keeps the rest of an object, whatever it is.
    pub fn kept(rest: Value, reader: &mut Reader) -> Self {
        let written = reader.take_written();
        let members = match reader.held(rest) {
            Value::Object(members) => members.into_iter().collect(),
            _ => IndexMap::new(),
        };
        Extra { members, written }
    }
}

impl<T: ToJson> Members for Extra<T> {
    fn written(&self) -> Option<&Written> {
        self.written.as_deref()
    }
}

impl<T: ToJson> Members for IndexMap<String, T> {
    fn written(&self) -> Option<&Written> {
        None
    }
}

impl<T: ToJson> ToJson for Extra<T> {
    fn to_json(&self) -> Value {
        self.members.to_json()
    }
}

impl<T: FromJson> FromJson for Extra<T> {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        let written = reader.take_written();
        Extra { members: IndexMap::from_json(value, reader), written }
    }
}

impl<T> Default for Extra<T> {
    fn default() -> Self {
        Extra { members: IndexMap::new(), written: None }
    }
}

impl<T: fmt::Debug> fmt::Debug for Extra<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.members.fmt(formatter)
    }
}

/// Compares the members; how an object was written does not matter.
impl<T: PartialEq> PartialEq for Extra<T> {
    fn eq(&self, other: &Self) -> bool {
        self.members == other.members
    }
}

impl<T> Deref for Extra<T> {
    type Target = IndexMap<String, T>;

    fn deref(&self) -> &Self::Target {
        &self.members
    }
}

impl<T> DerefMut for Extra<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.members
    }
}

impl<T> IntoIterator for Extra<T> {
    type Item = (String, T);
    type IntoIter = indexmap::map::IntoIter<String, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Extra<T> {
    type Item = (&'a String, &'a T);
    type IntoIter = indexmap::map::Iter<'a, String, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.iter()
    }
}

impl<T> FromIterator<(String, T)> for Extra<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(members: I) -> Self {
        Extra { members: members.into_iter().collect(), written: None }
    }
}

impl<T> From<IndexMap<String, T>> for Extra<T> {
    fn from(members: IndexMap<String, T>) -> Self {
        Extra { members, written: None }
    }
}

impl<T> From<Extra<T>> for IndexMap<String, T> {
    fn from(extra: Extra<T>) -> Self {
        extra.members
    }
}

impl<T: Serialize> Serialize for Extra<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Extra<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(IndexMap::deserialize(deserializer)?.into())
    }
}

/// Formats a struct, with its undeclared members if it has any.
pub fn debug(
    formatter: &mut fmt::Formatter<'_>,
    name: &str,
    fields: &[(&str, &dyn fmt::Debug)],
    extra: &dyn Shown,
) -> fmt::Result {
    let mut shown = formatter.debug_struct(name);
    for (name, field) in fields {
        shown.field(name, field);
    }
    extra.show(&mut shown);
    shown.finish()
}

/// Undeclared members that are shown in a struct.
pub trait Shown {
    /// Adds them as a field, if there are any.
    fn show(&self, shown: &mut fmt::DebugStruct<'_, '_>);
}

impl<T: fmt::Debug> Shown for Extra<T> {
    fn show(&self, shown: &mut fmt::DebugStruct<'_, '_>) {
        if !self.members.is_empty() {
            shown.field("extra", &self.members);
        }
    }
}
