//! Serializes values to JSON: NaN and infinity are `null` with a warning, and errors in arguments.
//!
//! It wraps serde_json's serializer, which handles everything except floats.

use std::fmt::Display;

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::value::RawValue;

use crate::convert::{Purpose, no_number, warn_of_null};

/// Serializes a value to JSON.
///
/// # Errors
/// If JSON does not support it: a map whose keys are not strings, in arguments NaN or infinity, or an error of the type
/// itself.
pub(crate) fn to_raw<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Box<RawValue>> {
    let mut text = Vec::with_capacity(128);
    value.serialize(Checked(&mut serde_json::Serializer::new(&mut text)))?;
    raw(text)
}

fn raw(text: Vec<u8>) -> serde_json::Result<Box<RawValue>> {
    RawValue::from_string(String::from_utf8(text).map_err(serde_json::Error::custom)?)
}

/// A serializer, or its compound state, with floats checked.
struct Checked<S>(S);

/// A value to pass to the inner serializer.
struct Value<'a, T: ?Sized>(&'a T);

impl<T: Serialize + ?Sized> Serialize for Value<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Checked(serializer))
    }
}

macro_rules! as_they_are {
    ($($method:ident: $type:ty),+) => {
        $(fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
            self.0.$method(value)
        })+
    };
}

impl<S: Serializer> Checked<S> {
    fn no_number(self, double: f64) -> Result<S::Ok, S::Error> {
        if Purpose::current() == Purpose::Argument {
            return Err(S::Error::custom(no_number(double)));
        }
        warn_of_null(double);
        self.0.serialize_none()
    }
}

impl<S: Serializer> Serializer for Checked<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Checked<S::SerializeSeq>;
    type SerializeTuple = Checked<S::SerializeTuple>;
    type SerializeTupleStruct = Checked<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Checked<S::SerializeTupleVariant>;
    type SerializeMap = Checked<S::SerializeMap>;
    type SerializeStruct = Checked<S::SerializeStruct>;
    type SerializeStructVariant = Checked<S::SerializeStructVariant>;

    as_they_are! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_unit_struct: &'static str
    }

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        match value.is_finite() {
            true => self.0.serialize_f32(value),
            false => self.no_number(value.into()),
        }
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        match value.is_finite() {
            true => self.0.serialize_f64(value),
            false => self.no_number(value),
        }
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Value(value))
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &Value(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, index, variant, &Value(value))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(length).map(Checked)
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.0.serialize_tuple(length).map(Checked)
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.0.serialize_tuple_struct(name, length).map(Checked)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        self.0.serialize_tuple_variant(name, index, variant, length).map(Checked)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.0.serialize_map(length).map(Checked)
    }

    fn serialize_struct(self, name: &'static str, length: usize) -> Result<Self::SerializeStruct, S::Error> {
        self.0.serialize_struct(name, length).map(Checked)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        self.0.serialize_struct_variant(name, index, variant, length).map(Checked)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }
}

macro_rules! items {
    ($($trait:ident $method:ident),+) => {
        $(impl<S: $trait> $trait for Checked<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
                self.0.$method(&Value(value))
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        })+
    };
}

items! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
}

macro_rules! fields {
    ($($trait:ident),+) => {
        $(impl<S: $trait> $trait for Checked<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), S::Error> {
                self.0.serialize_field(name, &Value(value))
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        })+
    };
}

fields!(SerializeStruct, SerializeStructVariant);

impl<S: SerializeMap> SerializeMap for Checked<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        // serde_json itself refuses NaN and infinity as keys.
        self.0.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        self.0.serialize_value(&Value(value))
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}
