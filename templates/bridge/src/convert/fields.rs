//! Fields that are read with more than the conversion of their type.

use super::mismatch::quote;
use super::{FromJson, Reader, ToJson};

impl Reader {
    /// Reads a field of the object at `level`. One that does not fit is `None` and belongs to the rest.
    pub fn fitting<T: FromJson>(&mut self, level: usize, key: &'static str) -> Option<T> {
        let value = self.take(level, key);
        if value.is_null() || self.stopped {
            return None;
        }
        let kept = value.clone();
        let read = T::from_json(value, self);
        if self.stopped {
            self.keep_misfit(level, key, kept);
            return None;
        }
        Some(read)
    }

    /// Takes a field whose value the schema fixes; any other value is a mismatch.
    pub fn constant(&mut self, level: usize, key: &'static str, fixed: &dyn ToJson) {
        let value = self.take(level, key);
        let fixed = fixed.to_json();
        let same = value == fixed || value.is_number() && value.as_f64() == fixed.as_f64();
        if !same && !self.is_missing() {
            self.mismatch(&quote(&fixed), &value);
        }
    }
}
