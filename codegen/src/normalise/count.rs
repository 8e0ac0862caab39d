//! Counts the places of a schema that need a type, and records those that have none.
//!
//! Places are each property, the items of an array, each item of a tuple, the values of a map, and an output
//! that is not an object. Schemas below a place without a type are not read.

use super::pointers::Pointers;
use crate::form::Form;

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) places: usize,
    /// The places without a type, with the reason.
    pub(super) lost: Vec<(String, String)>,
    /// The reasons that [`Form::Lost`] refers to.
    reasons: Vec<String>,
    /// Places whose type is a reference to a schema that is still being read: their index in `lost` and the
    /// pointer.
    pending: Vec<(usize, usize)>,
}

impl Counts {
    /// A form for a type that could not be determined.
    pub(super) fn lose(&mut self, reason: String) -> Form {
        self.reasons.push(reason);
        Form::Lost(self.reasons.len() - 1)
    }

    /// Counts a place that became `form`.
    pub(super) fn count(&mut self, path: &str, form: &Form) {
        self.places += 1;
        match innermost(form) {
            Form::Lost(reason) => {
                let reason = self.reason(*reason);
                self.lost.push((path.to_owned(), reason));
            }
            Form::Pending(pointer) => {
                self.pending.push((self.lost.len(), *pointer));
                self.lost.push((path.to_owned(), String::new()));
            }
            _ => {}
        }
    }

    /// Decides the places that were pending until the end of the document.
    pub(super) fn settle(&mut self, pointers: &Pointers, warnings: &mut Vec<(String, String)>) {
        let pending = std::mem::take(&mut self.pending);
        for (index, pointer) in pending {
            let reason = match pointers.settle(pointer) {
                Ok(Form::Lost(reason)) => self.reason(reason),
                Ok(_) => String::new(),
                Err(error) => {
                    let reason = error.to_string();
                    warnings.extend(self.lost.get(index).map(|(path, _)| (path.clone(), reason.clone())));
                    reason
                }
            };
            if let Some((_, waiting)) = self.lost.get_mut(index) {
                *waiting = reason;
            }
        }
        // An empty reason means that the place has a type.
        self.lost.retain(|(_, reason)| !reason.is_empty());
    }

    fn reason(&self, index: usize) -> String {
        self.reasons.get(index).cloned().unwrap_or_default()
    }
}

/// The form without null.
fn innermost(form: &Form) -> &Form {
    match form {
        Form::Nullable(inner) => innermost(inner),
        other => other,
    }
}
