//! From the schemas of a tool to unnamed types, and then to names.

use std::collections::BTreeSet;

use super::tool::Output;
use crate::form::{Body, Definition, Field, Form, Note, Struct};
use crate::ground::ground;
use crate::normalise::{DEEPEST, Normalised, normalise};
use crate::report::Fallback;
use crate::share::share;
use crate::typing::{FieldType, TypingError};
use crate::{Tool, Warning};

/// The source of the types of members: [`crate::typing::types`].
pub(super) type Typing<'a> = &'a dyn Fn(&[Definition]) -> Result<Vec<Vec<FieldType>>, TypingError>;

/// A tool whose types have no names yet.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) normalised: Normalised,
    pub(super) types: Vec<Vec<FieldType>>,
    pub(super) output: Output,
    /// The definition of the output, if it has one.
    pub(super) output_type: Option<usize>,
    /// Number of places in the schemas that need a type.
    pub(super) places: usize,
    /// The places that became plain JSON values.
    pub(super) fallbacks: Vec<Fallback>,
    /// Whether answers that do not fit are accepted.
    pub(super) unchecked: bool,
}

impl Draft {
    /// Reads the schemas. If they cannot be typed, reads them again with all fields as plain values.
    pub(super) fn new(tool: &Tool, types: Typing<'_>, warnings: &mut Vec<Warning>) -> Self {
        let mut warn = |path: String, reason: String| {
            warnings.push(Warning { tool: tool.name.clone(), path, reason });
        };
        let full = normalise(tool, DEEPEST);
        let reason = match Draft::typed(full, types) {
            Ok(mut draft) => {
                draft.unchecked = tool.answers.unchecked;
                draft.accept_any();
                let found = std::mem::take(&mut draft.normalised.warnings);
                found.into_iter().for_each(|(path, reason)| warn(path, reason));
                return draft;
            }
            Err(error) => format!("all fields are plain values: {error}"),
        };
        warn(String::new(), reason.clone());
        let mut plain = normalise(tool, 0);
        plain.lost.iter_mut().for_each(|(_, why)| why.clone_from(&reason));
        Draft::typed(plain, types).unwrap_or_else(|error| {
            let reason = format!("the whole tool takes a plain value: {error}");
            warn(String::new(), reason.clone());
            Draft::whole(tool.output_schema.is_some(), &reason)
        })
    }

    fn typed(mut normalised: Normalised, types: Typing<'_>) -> Result<Self, TypingError> {
        share(&mut normalised);
        let mut definitions = normalised.definitions.clone();
        let output_type = match normalised.output {
            Some(Form::Named(index)) => Some(index),
            _ => None,
        };
        let alias = normalised.output.clone().filter(|_| output_type.is_none());
        definitions.extend(alias.map(wrapper));
        let mut types = types(&definitions)?;
        let alias = match types.len() > normalised.definitions.len() {
            true => types.pop().and_then(|mut members| members.pop()),
            false => None,
        };
        let root = output_type.map(FieldType::Named).or_else(|| alias.clone());
        let input = FieldType::Named(normalised.input);
        let roots = [Some((&input, "input")), root.as_ref().map(|root| (root, "output"))];
        let roots: Vec<_> = roots.into_iter().flatten().collect();
        for place in ground(&normalised.definitions, &mut types, &roots) {
            let reason = "the schema contains itself endlessly, so no value fits it".to_owned();
            normalised.warnings.push((place.clone(), reason.clone()));
            normalised.lost.push((place, reason));
        }
        let output = match (alias, output_type) {
            (Some(field_type), _) => Output::Alias(field_type),
            (None, Some(index)) => Output::Type(index),
            (None, None) => Output::Untyped,
        };
        let fallbacks = std::mem::take(&mut normalised.lost)
            .into_iter()
            .map(|(path, reason)| Fallback { path, reason })
            .collect();
        let places = normalised.places;
        Ok(Draft { normalised, types, output, output_type, places, fallbacks, unchecked: false })
    }

    /// A tool whose input and output are plain values, one place each.
    fn whole(has_output: bool, reason: &str) -> Self {
        let definition = Definition::new("Input", Body::Whole);
        let output = if has_output { Output::Alias(FieldType::Value) } else { Output::Untyped };
        let sides: &[&str] = if has_output { &["input", "output"] } else { &["input"] };
        let normalised = Normalised {
            definitions: vec![definition],
            input: 0,
            output: None,
            warnings: Vec::new(),
            places: sides.len(),
            lost: Vec::new(),
        };
        Draft {
            normalised,
            types: vec![vec![FieldType::Value]],
            output,
            output_type: None,
            places: sides.len(),
            fallbacks: sides
                .iter()
                .map(|path| Fallback { path: (*path).to_owned(), reason: reason.to_owned() })
                .collect(),
            unchecked: false,
        }
    }

    /// If answers are not checked, an output that is not a struct may be anything.
    fn accept_any(&mut self) {
        let keeps_all = match self.output {
            Output::Untyped => true,
            Output::Type(_) | Output::Alias(_) => self.output_type.is_some_and(|index| {
                self.normalised
                    .definitions
                    .get(index)
                    .is_some_and(|found| matches!(found.body, Body::Struct(_)))
            }),
        };
        if self.unchecked && !keeps_all {
            (self.output, self.output_type) = (Output::Alias(FieldType::Value), None);
        }
    }

    /// The index of the input's definition.
    pub(super) fn input(&self) -> usize {
        self.normalised.input
    }

    /// The definitions that the input is and contains, and those of the output.
    pub(super) fn reached(&self) -> (BTreeSet<usize>, BTreeSet<usize>) {
        let mut sent = BTreeSet::new();
        self.reach(self.normalised.input, &mut sent);
        let mut received = BTreeSet::new();
        match (&self.output, self.output_type) {
            (_, Some(index)) => self.reach(index, &mut received),
            (Output::Alias(alias), _) => {
                let mut start = Vec::new();
                named(alias, &mut start);
                start.into_iter().for_each(|index| self.reach(index, &mut received));
            }
            _ => {}
        }
        (sent, received)
    }

    /// Adds a definition and those reachable from it.
    fn reach(&self, index: usize, reached: &mut BTreeSet<usize>) {
        let mut open = vec![index];
        while let Some(index) = open.pop() {
            if reached.insert(index) {
                for member in self.types.get(index).into_iter().flatten() {
                    named(member, &mut open);
                }
            }
        }
    }
}

/// The definitions that a type refers to.
pub(super) fn named(field_type: &FieldType, found: &mut Vec<usize>) {
    match field_type {
        FieldType::Named(index) => found.push(*index),
        FieldType::Vec(inner) | FieldType::Map(inner) | FieldType::Option(inner) | FieldType::Box(inner) => {
            named(inner, found);
        }
        FieldType::Tuple(items) => items.iter().for_each(|item| named(item, found)),
        _ => {}
    }
}

/// A struct around one form, so that it can be typed as a definition.
fn wrapper(form: Form) -> Definition {
    let field =
        Field { key: "value".to_owned(), form, required: true, nullable: false, note: Note::default() };
    let body = Body::Struct(Struct { fields: vec![field], ..Struct::default() });
    Definition::new("Alias", body)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::typing::types;

    /// The result of reading a tool.
    #[derive(Debug, PartialEq)]
    struct Degraded {
        warnings: Vec<String>,
        /// The type of each field of the input.
        input: Vec<FieldType>,
        places: usize,
        fallbacks: Vec<Fallback>,
    }

    /// The result of reading a tool if typing fails above a number of definitions.
    fn degraded(most: usize) -> Degraded {
        let inner = json!({ "type": "object", "properties": { "b": { "type": "string" } } });
        let tool = Tool {
            name: "tool".to_owned(),
            description: None,
            input_schema: json!({ "type": "object", "properties": { "a": inner }, "required": ["a"] }),
            output_schema: Some(inner),
            answers: crate::Answers::default(),
        };
        let typing = |definitions: &[Definition]| match definitions.len() {
            count if count > most => Err(TypingError::Panic),
            _ => types(definitions),
        };
        let mut warnings = Vec::new();
        let draft = Draft::new(&tool, &typing, &mut warnings);
        let input = draft.types.get(draft.normalised.input).cloned().unwrap();
        let warnings = warnings.into_iter().map(|warning| warning.reason).collect();
        Degraded { warnings, input, places: draft.places, fallbacks: draft.fallbacks }
    }

    #[test]
    fn untypable_schemas_degrade_to_values_step_by_step() {
        let whole = Degraded {
            warnings: Vec::new(),
            input: vec![FieldType::Named(1)],
            places: 3,
            fallbacks: Vec::new(),
        };
        assert_eq!(degraded(3), whole);
        let check = |most: usize, warnings: &[&str], paths: [&str; 2]| {
            let reason = warnings.last().copied().unwrap_or_default().to_owned();
            let expected = Degraded {
                warnings: warnings.iter().copied().map(ToOwned::to_owned).collect(),
                input: vec![FieldType::Value],
                places: 2,
                fallbacks: paths
                    .map(|path| Fallback { path: path.to_owned(), reason: reason.clone() })
                    .into(),
            };
            assert_eq!(degraded(most), expected);
        };
        let fields = "all fields are plain values: typify panicked";
        check(2, &[fields], ["input.a", "output.b"]);
        check(0, &[fields, "the whole tool takes a plain value: typify panicked"], ["input", "output"]);
    }
}
