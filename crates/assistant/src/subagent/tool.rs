//! The definition and the arguments of the one tool.

use agent::FinalAnswer;
use report::{Kind, Report};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The arguments of the tool.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The task, with all necessary context: the subagent does not see the caller's conversation.
    pub(super) prompt: String,
    /// Files for the task: text, images, audio, PDF. Paths are absolute, or relative to the subagent's working folder.
    #[serde(default)]
    pub(super) inputs: Vec<String>,
}

impl Arguments {
    /// # Errors
    /// Returns the error, for a model.
    pub(super) fn read(tool: &str, arguments: Value) -> Result<Self, Report> {
        let arguments: Arguments = serde_json::from_value(arguments).map_err(|error| {
            Report::new(Kind::CommandLine, format!("invalid arguments of {tool}: {error}"))
                .caused_by(error)
                .hint(r#"{ "prompt": "…", "inputs"?: ["path", …] }"#)
        })?;
        if arguments.prompt.trim().is_empty() {
            let message = format!("the prompt of {tool} is empty; describe the task");
            return Err(Report::new(Kind::CommandLine, message));
        }
        Ok(arguments)
    }
}

/// The tool as clients list it; `final_answer` has the schema of its answers.
pub(super) fn definition(subagent: &config::Subagent, final_answer: Option<&FinalAnswer>) -> Value {
    let mut tool = Map::from_iter([
        ("name".to_owned(), json!(subagent.name)),
        ("description".to_owned(), json!(subagent.description)),
        ("inputSchema".to_owned(), input_schema()),
        // The effects of its tools are unknown, so the hints state MCP's defaults.
        ("annotations".to_owned(), json!({ "readOnlyHint": false, "openWorldHint": true })),
    ]);
    if let Some(final_answer) = final_answer {
        tool.insert("outputSchema".to_owned(), final_answer.schema().clone());
    }
    Value::Object(tool)
}

fn input_schema() -> Value {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator()
        .into_root_schema_for::<Arguments>()
        .to_value();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("title");
        schema.remove("description");
        if let Some(inputs) = schema.get_mut("properties").and_then(|properties| properties.get_mut("inputs"))
        {
            inputs.as_object_mut().map(|inputs| inputs.remove("default"));
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_takes_only_a_prompt_and_files() {
        let schema = input_schema();
        assert_eq!(schema["required"], json!(["prompt"]));
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["properties"]["prompt"]["type"], "string");
        assert_eq!(schema["properties"]["inputs"]["type"], "array");
        assert_eq!(schema["properties"]["inputs"]["items"], json!({ "type": "string" }));
        assert_eq!(schema["properties"].as_object().unwrap().len(), 2);
    }

    #[test]
    fn invalid_arguments_are_reported_to_the_model() {
        let read = |arguments: Value| Arguments::read("review", arguments);
        let arguments = read(json!({ "prompt": "do", "inputs": ["a"] })).unwrap();
        assert_eq!((arguments.prompt.as_str(), arguments.inputs.len()), ("do", 1));
        for (wrong, why) in [
            (json!({}), "prompt"),
            (json!({ "prompt": 7 }), "string"),
            (json!({ "prompt": "x", "input": [] }), "unknown field"),
            (json!({ "prompt": "x", "inputs": "a" }), "sequence"),
            (json!({ "prompt": " " }), "empty"),
        ] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains("review") && error.contains(why), "{error}");
        }
    }
}
