//! Descriptions of the tools for a model.

use std::collections::BTreeMap;
use std::sync::Arc;

use gateway::discovery::Discovery;
use gateway::pins::Known;
use gateway::reference::{DESCRIPTION_TOKENS, Reference, found_by_default};
use serde_json::{Map, Value, json};

use crate::host::QuietHost;
use crate::{Error, Toolsmith};

/// The definition of a tool for a model's interface.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Definition {
    /// Its name: `execute_code`, `search_tools` or `describe_tools`.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// The hints for clients: MCP's `ToolAnnotations`.
    pub annotations: Value,
}

impl Definition {
    /// The tool as in `tools/list` (MCP).
    #[must_use]
    pub fn listed(&self) -> Value {
        let Definition { name, description, input_schema, annotations } = self;
        json!({ "name": name, "description": description, "inputSchema": input_schema, "annotations": annotations })
    }
}

#[cfg(feature = "agent")]
impl From<Definition> for genai::chat::Tool {
    /// The tool for a request with the crate genai. [`Toolsmith::answer`] answers its calls.
    fn from(definition: Definition) -> Self {
        genai::chat::Tool::new(definition.name)
            .with_description(definition.description)
            .with_schema(definition.input_schema)
    }
}

/// Removes the argument that no execution of this library has.
fn without_execution(mut schema: Map<String, Value>) -> Value {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove("execution");
    }
    Value::Object(schema)
}

impl Toolsmith {
    /// Returns the tools to offer to a model: `execute_code`, and those that search if the description does not have all
    /// tools. Pass the model's calls to [`answer`](Toolsmith::answer).
    ///
    /// # Errors
    /// If no server answers, or the cache can't be used.
    pub async fn definitions(&self) -> Result<Vec<Definition>, Error> {
        let definitions = self.reference().await?.definitions(DESCRIPTION_TOKENS);
        Ok(definitions
            .into_iter()
            .map(|definition| Definition {
                annotations: definition.annotations(),
                name: definition.name.to_owned(),
                description: definition.description,
                input_schema: without_execution(definition.input_schema),
            })
            .collect())
    }

    /// Searches the tools by words; no words are all tools. Returns the signatures as a model reads them.
    ///
    /// # Errors
    /// As [`Toolsmith::definitions`].
    pub async fn search(&self, query: &str) -> Result<String, Error> {
        Ok(self.reference().await?.search_text(query, None, found_by_default(query)))
    }

    /// Describes tools with their types, as a model reads them. Names are such as `shop::get_order`.
    ///
    /// # Errors
    /// As [`Toolsmith::definitions`].
    pub async fn describe(&self, tools: &[&str]) -> Result<String, Error> {
        let names: Vec<String> = tools.iter().map(|&name| name.to_owned()).collect();
        Ok(self.reference().await?.describe_text(&names, |_, _| None))
    }

    pub(crate) async fn reference(&self) -> Result<Reference, Error> {
        let inner = &*self.inner;
        let known = Known::of(&inner.config)?;
        let mut discovery =
            Discovery::new(&inner.config, Arc::new(QuietHost::new(Vec::new())), inner.cache.clone(), known);
        discovery.discover().await?;
        let (catalog, missing) = (Arc::new(discovery.catalog()), discovery.missing());
        discovery.sessions.close().await;
        Ok(Reference::new(catalog, &BTreeMap::new())?.with_missing(missing))
    }
}
