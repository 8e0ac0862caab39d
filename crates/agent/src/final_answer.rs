//! Structured answers: a tool whose arguments are the answer, and whose call ends the run.

use serde_json::Value;

use crate::toolset::ToolDefinition;

/// The name of the tool that ends a run.
pub const FINAL_ANSWER: &str = "final_answer";

/// Limit on the faults of an answer that are reported at once.
const MAX_FAULTS: usize = 8;

/// An error in the schema of an answer.
#[derive(Debug, thiserror::Error)]
pub enum AnswerSchemaError {
    /// Answers would not be objects.
    #[error("its `type` is not \"object\"; wrap the answer in an object")]
    NotAnObject,
    /// The schema is invalid, and where.
    #[error("it is not a valid JSON Schema: {0}")]
    Invalid(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The faults of an answer, by place.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub(crate) struct InvalidAnswer(Vec<String>);

/// The schema of an answer.
#[derive(Debug, Clone)]
pub struct FinalAnswer {
    schema: Value,
    validator: jsonschema::Validator,
}

impl FinalAnswer {
    /// Defines answers by a JSON Schema, whose type must be `object`, since they become a tool's arguments.
    ///
    /// # Errors
    /// Returns an error if the schema is invalid.
    pub fn new(schema: Value) -> Result<Self, AnswerSchemaError> {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(AnswerSchemaError::NotAnObject);
        }
        let validator =
            jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex()).build(&schema);
        let validator = validator.map_err(|error| AnswerSchemaError::Invalid(error.to_owned().into()))?;
        Ok(FinalAnswer { schema, validator })
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    pub(crate) fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: FINAL_ANSWER.to_owned(),
            description: "Ends the task. The arguments are the answer; call it once, without other \
                          tools, when everything is done."
                .to_owned(),
            input_schema: self.schema.clone(),
        }
    }

    /// Checks an answer.
    pub(crate) fn check(&self, answer: &Value) -> Result<(), InvalidAnswer> {
        let faults = self.validator.iter_errors(answer).take(MAX_FAULTS).map(|fault| {
            let place = fault.instance_path().to_string();
            let place = if place.is_empty() { "the answer".to_owned() } else { place };
            format!("{place}: {fault}")
        });
        let faults: Vec<_> = faults.collect();
        if faults.is_empty() { Ok(()) } else { Err(InvalidAnswer(faults)) }
    }
}
