//! Catalogs for tests, with bindings in memory.

use std::collections::BTreeMap;

use codegen::{Bindings, ToolBinding};
use serde_json::Value;

use crate::catalog::{Catalog, ServerModule, Tool};

/// Servers with their bindings.
#[derive(Debug, Default)]
pub(crate) struct Servers(Vec<Server>);

#[derive(Debug)]
struct Server(Bindings);

impl Servers {
    /// The demo server alone.
    pub(crate) fn demo() -> Self {
        const TOOLS: &str = include_str!("../../../codegen/tests/fixtures/schemas/demo.json");
        let tools: Vec<Value> = serde_json::from_str(TOOLS).unwrap();
        let tools = tools.iter().map(|tool| codegen::Tool {
            name: tool["name"].as_str().unwrap().to_owned(),
            description: tool["description"].as_str().map(ToOwned::to_owned),
            input_schema: tool["inputSchema"].clone(),
            output_schema: tool.get("outputSchema").cloned(),
            answers: codegen::Answers::default(),
        });
        let server = codegen::Server { name: "demo".to_owned(), tools: tools.collect() };
        Servers(vec![Server(codegen::generate(&server, "demo"))])
    }
}

impl Catalog for Servers {
    fn modules(&self) -> Vec<&dyn ServerModule> {
        self.0.iter().map(|server| server as &dyn ServerModule).collect()
    }

    fn absent_servers(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn absent_server(&self, _: &str) -> Option<String> {
        None
    }

    fn absent_tool(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

impl ServerModule for Server {
    fn name(&self) -> &str {
        &self.0.module
    }

    fn server(&self) -> &str {
        &self.0.server
    }

    fn tools(&self) -> Box<dyn Iterator<Item = Tool<'_>> + '_> {
        Box::new(self.0.tools.iter().enumerate().map(named))
    }

    fn users(&self, name: &str) -> Box<dyn Iterator<Item = Tool<'_>> + '_> {
        let index = self.0.types.iter().position(|found| found.name == name);
        let uses = move |tool: &ToolBinding| index.is_some_and(|index| tool.types.contains(&index));
        Box::new(self.0.tools.iter().enumerate().filter(move |(_, tool)| uses(tool)).map(named))
    }

    fn signature(&self, tool: Tool<'_>) -> String {
        self.0.tools[tool.index].signature.clone()
    }

    fn definition(&self, name: &str) -> Option<String> {
        Some(self.0.types.iter().find(|found| found.name == name)?.source.clone())
    }
}

fn named((index, tool): (usize, &ToolBinding)) -> Tool<'_> {
    Tool { name: &tool.name, function: &tool.function, prefix: &tool.prefix, index }
}
