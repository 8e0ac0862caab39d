//! Conversions to a generated type from another type of the same shape, and from JSON.
//!
//! The generator numbers each type by its server and its structure in terms of JSON names. Two types with the same
//! number have the same JSON, so one is converted to the other through it.

use std::any::Any;

use indexmap::IndexMap;
use serde_json::Value;

use super::sent::{checked, unfit};
use super::{Argument, FromJson, ToJson, read};

/// The shape of a type, by number.
#[derive(Debug)]
pub enum Shape<const NUMBER: u64> {}

/// A generated type.
pub trait Generated: Clone + ToJson + FromJson + 'static {
    /// Its [`Shape`].
    type Shape;
}

/// A generated type, or a reference to one.
pub trait Referred {}

/// A value of shape `S` that converts to a `T` of that shape.
pub trait Fits<T, S> {
    /// Converts the value to a `T`.
    fn fit(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T: Generated, A: Referred + Fits<T, T::Shape>> Argument<T> for A {
    fn into_argument(self) -> T {
        self.fit()
    }
}

/// Converts a value to another type of its shape.
pub fn same_shape<T: FromJson + 'static, S: ToJson + 'static>(value: S) -> T {
    let mut place = Some(value);
    if let Some(same) = (&mut place as &mut dyn Any).downcast_mut::<Option<T>>()
        && let Some(same) = same.take()
    {
        return same;
    }
    made(&checked(|| place.to_json()).unwrap_or_default())
}

/// Reads a value from JSON; if that fails, the call that it is for is not sent.
fn made<T: FromJson>(json: &Value) -> T {
    match read(json.clone()) {
        Ok(value) => value,
        Err(mismatch) => {
            refuse(&mismatch.to_string());
            // Never sent; a stopped reader always finishes.
            T::from_json(Value::Null, &mut super::Reader::stopped())
        }
    }
}

/// Reads a value from JSON, provided that nothing is lost.
fn given<T: FromJson + ToJson>(json: &Value) -> T {
    let made: T = made(json);
    if let Ok(kept) = checked(|| made.to_json())
        && let Some(lost) = lost(json, &kept, "")
    {
        refuse(&lost);
    }
    made
}

/// Records why the call that an argument is for is not sent.
fn refuse(what: &str) {
    unfit(format!("not valid for the tool: {what}"));
}

/// The first member of `json` that `kept`, the value converted back, does not have.
fn lost(json: &Value, kept: &Value, path: &str) -> Option<String> {
    match (json, kept) {
        (Value::Object(given), Value::Object(kept)) => given.iter().find_map(|(key, value)| {
            let path = format!("{path}.{key}");
            match kept.get(key) {
                Some(kept) => lost(value, kept, &path),
                None if value.is_null() => None,
                None => Some(format!("it has no {path}")),
            }
        }),
        (Value::Array(given), Value::Array(kept)) => {
            let mut pairs = given.iter().zip(kept).enumerate();
            pairs.find_map(|(index, (value, kept))| lost(value, kept, &format!("{path}[{index}]")))
        }
        (Value::Number(given), Value::Number(kept)) if given.as_f64() == kept.as_f64() => None,
        (given, kept) if given == kept => None,
        (given, kept) => Some(format!("at {path}: expected {kept}, got {given}")),
    }
}

macro_rules! as_json {
    ($([$($bound:path)?] $target:ty),+) => {
        $(
            impl $(<T: $bound>)? Argument<$target> for Value {
                fn into_argument(self) -> $target {
                    given(&self)
                }

                fn is_null(&self) -> bool {
                    self.is_null()
                }
            }

            impl $(<T: $bound>)? Argument<$target> for &Value {
                fn into_argument(self) -> $target {
                    given(self)
                }

                fn is_null(&self) -> bool {
                    (**self).is_null()
                }
            }
        )+
    };
}

/// A type that is read from JSON and written to it.
pub trait Both: FromJson + ToJson {}

impl<T: FromJson + ToJson> Both for T {}

as_json!([Generated] T, [Both] Vec<T>, [Both] IndexMap<String, T>, [] String, [] bool, [] i64, [] u64, [] f64);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::lost;

    #[test]
    fn members_lost_in_conversion_are_reported_with_their_path() {
        let kept = json!({ "a": [{ "b": 1 }], "c": "x" });
        assert_eq!(lost(&json!({ "a": [{ "b": 1.0 }], "d": null }), &kept, ""), None);
        let found = |given| lost(&given, &kept, "").unwrap_or_default();
        assert_eq!(found(json!({ "a": [{ "b": 1, "e": 2 }] })), "it has no .a[0].e");
        assert_eq!(found(json!({ "c": "y" })), "at .c: expected \"x\", got \"y\"");
    }
}
