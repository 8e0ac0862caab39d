//! `()` for null, where a schema allows nothing else.

use serde_json::Value;

use super::sent::unfit;
use super::{Argument, FromJson, Reader, ToJson};

impl ToJson for () {
    fn to_json(&self) -> Value {
        Value::Null
    }
}

impl FromJson for () {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        if !value.is_null() {
            reader.mismatch("null", &value);
        }
    }
}

impl Argument<()> for () {
    fn into_argument(self) {}
}

impl Argument<()> for Value {
    fn into_argument(self) {
        if !self.is_null() {
            unfit(format!("{self}, where only null is allowed"));
        }
    }
}
