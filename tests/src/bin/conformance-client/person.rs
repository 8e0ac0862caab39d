//! A user who agrees to everything and fills in forms with their defaults.

use futures::{FutureExt, future::BoxFuture};
use mcp::{Host, QuestionError};
use serde_json::{Map, Value, json};

/// Accepts every form.
pub(crate) struct Person;

impl Host for Person {
    fn elicits(&self) -> bool {
        true
    }

    fn elicit<'a>(
        &'a self,
        _server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        let content = filled(&parameters["requestedSchema"]["properties"]);
        std::future::ready(Ok(json!({ "action": "accept", "content": content }))).boxed()
    }
}

/// The default of each field, or `true` for a boolean without one.
fn filled(properties: &Value) -> Map<String, Value> {
    let fields = properties.as_object().into_iter().flatten();
    let value = |schema: &Value| match (&schema["default"], schema["type"].as_str()) {
        (Value::Null, Some("boolean")) => json!(true),
        (default, _) => default.clone(),
    };
    let filled = fields.map(|(name, schema)| (name.clone(), value(schema)));
    filled.filter(|(_, value)| !value.is_null()).collect()
}
