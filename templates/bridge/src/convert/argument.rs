//! The types that stubs accept: the schema's type, and types that callers naturally use instead: a number of another
//! type, a `&str` for a `String`, an array for a `Vec`, a value for an `Option`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt::Display;
use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Extra;
use super::number::{Readable, readable};
use super::sent::{Purpose, hold, stand_in, unfit};

/// A value that can be passed for a required `T`.
#[diagnostic::on_unimplemented(
    message = "the argument must be a `{T}`, but this is a `{Self}`",
    label = "expected `{T}`"
)]
pub trait Argument<T> {
    /// Converts to a `T`. If the value does not fit, the call that it is passed to records this and is not sent.
    fn into_argument(self) -> T;

    /// Whether the value is JSON's null, which leaves an optional argument without a value, like `None`.
    fn is_null(&self) -> bool {
        false
    }
}

/// A value that can be passed for an optional `T`: a `T` or an `Option` of one.
///
/// `Form` distinguishes the two and is always inferred.
#[diagnostic::on_unimplemented(
    message = "the argument must be a `{T}` or an `Option<{T}>`, but this is a `{Self}`",
    label = "expected `{T}` or `Option<{T}>`"
)]
pub trait OptionalArgument<T, Form> {
    /// Converts to an `Option<T>`.
    fn into_optional(self) -> Option<T>;
}

/// The form of an optional argument passed directly.
#[derive(Debug)]
pub enum Plain {}

/// The form of an optional argument passed as an `Option`.
#[derive(Debug)]
pub enum Wrapped {}

/// The form of an optional argument passed as a reference to an `Option`.
#[derive(Debug)]
pub enum Referenced {}

impl<T, A: Argument<T>> OptionalArgument<T, Plain> for A {
    fn into_optional(self) -> Option<T> {
        (!self.is_null()).then(|| self.into_argument())
    }
}

impl<T, A: Argument<T>> OptionalArgument<T, Wrapped> for Option<A> {
    fn into_optional(self) -> Option<T> {
        self.map(Argument::into_argument)
    }
}

macro_rules! plain {
    ($target:ty: $($source:ty),+ => $convert:expr) => {
        $(impl Argument<$target> for $source {
            fn into_argument(self) -> $target {
                let convert: fn($source) -> $target = $convert;
                convert(self)
            }
        })+
    };
}

plain!(bool: bool => |value| value);
plain!(bool: &bool => |value| *value);
plain!(String: String => |value| value);
plain!(String: &String, &str, char, Box<str>, Cow<'_, str>, &mut str => |value| value.into());
plain!(String: &&str, &&String, &char, &Box<str>, &Cow<'_, str>, Arc<str>, Rc<str> => |value| value.to_string());
plain!(f64: f64 => |value| value);
plain!(f64: f32, i8, i16, i32, u8, u16, u32 => |value| value.into());
plain!(f64: u64, usize => |value| hold((false, value as u128)));
plain!(f64: &u64, &usize => |value| hold((false, *value as u128)));
plain!(f64: i64, isize => |value| hold((value < 0, value.unsigned_abs() as u128)));
plain!(f64: &i64, &isize => |value| hold((*value < 0, value.unsigned_abs() as u128)));
plain!(f64: u128 => |value| hold((false, value)));
plain!(f64: i128 => |value| hold((value < 0, value.unsigned_abs())));
plain!(f64: &f64 => |value| *value);
plain!(f64: &i8, &i16, &i32, &u8, &u16, &u32, &f32 => |value| (*value).into());

macro_rules! integer {
    ($target:ty: $($source:ty),+) => {
        $(impl Argument<$target> for $source {
            fn into_argument(self) -> $target {
                match <$target>::try_from(self) {
                    Ok(integer) => integer,
                    Err(_) => {
                        out_of_range(&self);
                        0
                    }
                }
            }
        }

        impl Argument<$target> for &$source {
            fn into_argument(self) -> $target {
                (*self).into_argument()
            }
        })+
    };
}

integer!(i64: i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);
integer!(u64: i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

fn out_of_range(integer: &dyn Display) {
    unfit(format!("{integer}, which is out of the tool's range"));
}

impl<T, A: Argument<T>> Argument<Vec<T>> for Vec<A> {
    fn into_argument(self) -> Vec<T> {
        list(self)
    }
}

impl<T, A: Argument<T>, const N: usize> Argument<Vec<T>> for [A; N] {
    fn into_argument(self) -> Vec<T> {
        list(self)
    }
}

macro_rules! list {
    ($($source:ty $(where $length:ident)?),+) => {
        $(impl<T, A: Argument<T> + Clone $(, const $length: usize)?> Argument<Vec<T>> for $source {
            fn into_argument(self) -> Vec<T> {
                list(self.iter().cloned())
            }
        })+
    };
}

list!(&[A], &Vec<A>, &[A; N] where N, BTreeSet<A>, &BTreeSet<A>, VecDeque<A>, &VecDeque<A>, Box<[A]>);

impl<T, A: Argument<T> + Clone, S: BuildHasher> Argument<Vec<T>> for HashSet<A, S> {
    fn into_argument(self) -> Vec<T> {
        list(self)
    }
}

impl<T, A: Argument<T> + Clone, S: BuildHasher> Argument<Vec<T>> for &HashSet<A, S> {
    fn into_argument(self) -> Vec<T> {
        list(self.iter().cloned())
    }
}

fn list<T, A: Argument<T>>(items: impl IntoIterator<Item = A>) -> Vec<T> {
    items.into_iter().map(Argument::into_argument).collect()
}

/// An item that may be null.
impl<T, A: Argument<T>> Argument<Option<T>> for Option<A> {
    fn into_argument(self) -> Option<T> {
        self.map(Argument::into_argument)
    }
}

/// A reference to an `Option`, as in `&order.note`.
impl<T, A: Clone + Argument<T>> OptionalArgument<T, Referenced> for &Option<A> {
    fn into_optional(self) -> Option<T> {
        self.clone().map(Argument::into_argument)
    }
}

macro_rules! map {
    ($([$($parameter:tt)*] $source:ty),+) => {
        $(impl<T, K: Into<String> + Clone, A: Argument<T> + Clone, $($parameter)*>
            Argument<IndexMap<String, T>> for $source
        {
            fn into_argument(self) -> IndexMap<String, T> {
                map(self.iter().map(|(key, value)| (key.clone(), value.clone())))
            }
        })+
    };
}

map!([] BTreeMap<K, A>, [] &BTreeMap<K, A>, [S: BuildHasher] HashMap<K, A, S>);
map!([S: BuildHasher] &HashMap<K, A, S>, [S: BuildHasher] IndexMap<K, A, S>, [S: BuildHasher] &IndexMap<K, A, S>);

macro_rules! extra {
    ($($source:ty),+) => {
        $(impl<T, A: Argument<T> + Clone> Argument<IndexMap<String, T>> for $source {
            fn into_argument(self) -> IndexMap<String, T> {
                map(self.iter().map(|(key, value)| (key.clone(), value.clone())))
            }
        })+
    };
}

extra!(Extra<A>, &Extra<A>);

impl<T, A: Argument<IndexMap<String, T>>> Argument<Extra<T>> for A {
    fn into_argument(self) -> Extra<T> {
        self.into_argument().into()
    }
}

impl<T, K: Into<String>, A: Argument<T>> Argument<IndexMap<String, T>> for Vec<(K, A)> {
    fn into_argument(self) -> IndexMap<String, T> {
        map(self)
    }
}

impl<T, K: Into<String>, A: Argument<T>, const N: usize> Argument<IndexMap<String, T>> for [(K, A); N] {
    fn into_argument(self) -> IndexMap<String, T> {
        map(self)
    }
}

impl Argument<IndexMap<String, Value>> for Map<String, Value> {
    fn into_argument(self) -> IndexMap<String, Value> {
        self.into_iter().collect()
    }
}

fn map<T, K: Into<String>, A: Argument<T>>(entries: impl IntoIterator<Item = (K, A)>) -> IndexMap<String, T> {
    entries.into_iter().map(|(key, value)| (key.into(), value.into_argument())).collect()
}

macro_rules! tuple {
    ($($target:ident $source:ident $index:tt),+) => {
        impl<$($target, $source: Argument<$target>),+> Argument<($($target,)+)> for ($($source,)+) {
            fn into_argument(self) -> ($($target,)+) {
                ($(self.$index.into_argument(),)+)
            }
        }
    };
}

tuple!(T0 A0 0);
tuple!(T0 A0 0, T1 A1 1);
tuple!(T0 A0 0, T1 A1 1, T2 A2 2);
tuple!(T0 A0 0, T1 A1 1, T2 A2 2, T3 A3 3);

/// If the schema allows anything, any serializable value is accepted.
impl<S: Serialize> Argument<Value> for S {
    fn into_argument(self) -> Value {
        value(&self)
    }
}

/// Serializes any value to JSON. If JSON does not support it, like NaN or a map whose keys are not strings, the call is
/// not sent, and its error says why.
pub fn value(argument: &dyn erased::Serialize) -> Value {
    let raw = match Purpose::Argument.during(|| argument.to_raw()) {
        Ok(raw) => raw,
        Err(error) => return stand_in(format!("not serializable to JSON: {error}")),
    };
    let Readable { text, unheld, .. } = readable(raw.get());
    match serde_json::from_str(&text) {
        Ok(value) => match unheld.find(&value) {
            Some(number) => stand_in(format!("{number}, which fits neither 64 bits nor a double")),
            None => value,
        },
        Err(error) => stand_in(format!("not serializable to JSON: {error}")),
    }
}

/// Like [`value`], for an optional argument: null, and so `None`, omits it.
pub fn optional_value(argument: &dyn erased::Serialize) -> Option<Value> {
    let value = value(argument);
    (!value.is_null()).then_some(value)
}

/// An object-safe version of serde's trait.
mod erased {
    use serde_json::value::RawValue;

    use crate::written;

    /// A type that serde can serialize to JSON.
    pub trait Serialize {
        /// Serializes the value to JSON.
        fn to_raw(&self) -> serde_json::Result<Box<RawValue>>;
    }

    impl<S: serde::Serialize> Serialize for S {
        fn to_raw(&self) -> serde_json::Result<Box<RawValue>> {
            written::to_raw(self)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::convert::{named, taken_unfit};

    fn required<T>(argument: impl Argument<T>) -> T {
        argument.into_argument()
    }

    fn optional<T, Form>(argument: impl OptionalArgument<T, Form>) -> Option<T> {
        argument.into_optional()
    }

    #[test]
    fn arguments_keep_their_value() {
        assert_eq!(required::<i64>(7_u8) + required::<i64>(&7_usize) + required::<i64>(-7), 7);
        assert_eq!(required::<u64>(u64::MAX), u64::MAX);
        assert_eq!(required::<f64>(2) + required::<f64>(0.5_f32) + required::<f64>(&3_usize), 5.5);
        assert_eq!(required::<String>('a') + &required::<String>(&"b") + &required::<String>("c"), "abc");
        assert_eq!(required::<Vec<String>>(["a", "b"]), ["a", "b"]);
        assert_eq!(required::<Vec<String>>(&["a".to_owned()]), ["a"]);
        assert_eq!(required::<Vec<Vec<f64>>>(vec![[1, 2], [3, 4]]), [[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(required::<Vec<Option<i64>>>([Some(1), None]), [Some(1), None]);
        assert_eq!(required::<(String, f64)>(("a", 1)), ("a".to_owned(), 1.0));
        let map = IndexMap::from([("a".to_owned(), 1_i64)]);
        assert_eq!(required::<IndexMap<String, i64>>([("a", 1_u8)]), map);
        assert_eq!(required::<IndexMap<String, i64>>(&HashMap::from([("a", 1_u8)])), map);
        assert_eq!(required::<Vec<Value>>([json!(1), json!("a")]), [json!(1), json!("a")]);
    }

    #[test]
    fn optional_arguments_are_plain_or_wrapped() {
        assert_eq!(optional::<String, _>("a"), Some("a".to_owned()));
        assert_eq!(optional::<String, _>(Some("a")), Some("a".to_owned()));
        assert_eq!(optional::<String, _>(None::<String>), None);
        assert_eq!(optional::<Vec<f64>, _>(Some([1])), Some(vec![1.0]));
        assert_eq!(optional_value(&None::<i32>), None);
        assert_eq!(optional_value(&Some(["a"])), Some(json!(["a"])));
    }

    #[test]
    fn integers_never_change() {
        required::<i64>(u64::MAX);
        let refused = taken_unfit().unwrap().message();
        assert_eq!(refused, "the argument is 18446744073709551615, which is out of the tool's range");
    }

    #[test]
    fn the_first_unfit_argument_is_reported_by_name() {
        named("fits", required::<i64>(7));
        named("count", required::<Vec<u64>>([1, -1]));
        named("other", required::<u64>(-2));
        let refused = taken_unfit().unwrap().message();
        assert_eq!(refused, "the argument `count` is -1, which is out of the tool's range");
        assert!(taken_unfit().is_none());
    }
}
