//! How many places of a schema want a type, and which of them have none.
//!
//! A place is each property, the items of an array, each place of a tuple, the values of a map, and an output that
//! is no object. What lies below a place without a type is not looked at.

use super::pointers::Pointers;
use crate::form::Form;

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) places: usize,
    /// The places without a type, with the reason.
    pub(super) lost: Vec<(String, String)>,
    /// What [`Form::Lost`] means.
    reasons: Vec<String>,
    /// Places whose type is a reference to what is still being read, by their index in `lost`.
    pending: Vec<(usize, usize)>,
}

impl Counts {
    /// A form for a type that could not be had.
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

    /// Decides the places that waited for the end of the document.
    pub(super) fn settle(&mut self, pointers: &Pointers, warnings: &mut Vec<(String, String)>) {
        let pending = std::mem::take(&mut self.pending);
        for (index, pointer) in pending {
            let reason = match pointers.settle(pointer) {
                Ok(Form::Lost(reason)) => self.reason(reason),
                Ok(_) => String::new(),
                Err(name) => {
                    let reason = format!("{name} refers to itself without an object between");
                    warnings.extend(self.lost.get(index).map(|(path, _)| (path.clone(), reason.clone())));
                    reason
                }
            };
            if let Some((_, waiting)) = self.lost.get_mut(index) {
                *waiting = reason;
            }
        }
        // Those that turned out to have a type.
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
