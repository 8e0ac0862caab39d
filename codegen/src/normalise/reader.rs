//! The state of reading a document: definitions, warnings, counts, and the remaining budget.

use serde_json::Value;

use super::count::Counts;
use super::keywords::description;
use super::place::Place;
use super::pointers::Pointers;
use crate::form::{Body, Definition, Form, Struct};

/// Maximum number of definitions of one tool. Further ones become `Any`.
const MAX_DEFINITIONS: usize = 400;

/// The state that the readers of input and output share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) definitions: Vec<Definition>,
    pub(super) warnings: Vec<(String, String)>,
    pub(super) counts: Counts,
    pub(super) deepest: usize,
    pub(super) steps: usize,
}

impl Shared {
    pub(super) fn body(&self, index: usize) -> Option<&Body> {
        self.definitions.get(index).map(|definition| &definition.body)
    }

    pub(super) fn whole(&mut self) -> usize {
        self.definitions.push(Definition::new("Input", Body::Whole));
        self.definitions.len() - 1
    }
}

/// Reads one document.
pub(super) struct Reader<'a> {
    pub(super) root: &'a Value,
    pub(super) shared: &'a mut Shared,
    pub(super) pointers: Pointers,
}

impl Reader<'_> {
    pub(super) fn warn(&mut self, place: &Place, reason: impl Into<String>) {
        self.shared.warnings.push((place.path.clone(), reason.into()));
    }

    /// Any value instead of a type, with a warning.
    pub(super) fn give_up(&mut self, place: &Place, reason: impl Into<String>) -> Form {
        let reason = reason.into();
        self.warn(place, reason.as_str());
        self.lose(reason)
    }

    /// Any value instead of a type, without a warning: Rust has no better type.
    pub(super) fn lose(&mut self, reason: impl Into<String>) -> Form {
        self.shared.counts.lose(reason.into())
    }

    /// Spends steps. Returns false if the budget is used up.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.shared.steps = self.shared.steps.saturating_sub(steps);
        self.shared.steps > 0
    }

    pub(super) fn count(&mut self, place: &Place, form: &Form) {
        self.shared.counts.count(&place.path, form);
    }

    /// Adds a definition with a known body.
    pub(super) fn define(&mut self, place: &Place, body: Body) -> Form {
        self.define_with(place, |_| body)
    }

    /// Adds a definition to the list before those that its body adds.
    pub(super) fn define_with(&mut self, place: &Place, body: impl FnOnce(&mut Self) -> Body) -> Form {
        let index = self.shared.definitions.len();
        if self.is_full() {
            return self.give_up(place, "the tool has too many types");
        }
        let body_later = Body::Struct(Struct::default());
        let mut definition = Definition::new(&place.leaf, body_later);
        definition.own.extend(place.own.then(|| place.leaf.clone()));
        definition.within.clone_from(&place.within);
        self.shared.definitions.push(definition);
        let body = body(self);
        if let Some(definition) = self.shared.definitions.get_mut(index) {
            definition.body = body;
        }
        Form::Named(index)
    }

    /// Whether the limit of definitions is reached.
    pub(super) fn is_full(&self) -> bool {
        self.shared.definitions.len() >= MAX_DEFINITIONS
    }

    /// Sets the description of the schema's type, if the type has none.
    pub(super) fn describe(&mut self, form: &Form, schema: &Value) {
        let (Form::Named(index), Some(description)) = (form, description(schema)) else { return };
        if let Some(definition) = self.shared.definitions.get_mut(*index) {
            definition.description.get_or_insert(description);
        }
    }
}
