//! Generated bindings, remembered: generating costs about half a millisecond a tool, reading them nothing.
//!
//! | input of the key | why |
//! | --- | --- |
//! | version of codegen | what it generates |
//! | server, module name | names in the code |
//! | tools, with descriptions and schemas | the code and its signatures |

use serde::{Deserialize, Serialize};

use crate::cache::{Bucket, Cache, Key};

/// Bindings as they are kept.
#[derive(Serialize, Deserialize)]
struct Record {
    source: String,
    /// Name, function, identity and signature of each tool.
    tools: Vec<(String, String, String, String)>,
    /// Tool, path and reason of each warning.
    warnings: Vec<(String, String, String)>,
}

/// The bindings of `server` as the module `module`.
pub(crate) fn bindings(cache: &Cache, server: &codegen::Server, module: &str) -> codegen::Bindings {
    let key = key(server, module);
    let kept = cache.read(Bucket::Generated, &key);
    if let Some(record) = kept.and_then(|text| serde_json::from_slice(&text).ok()) {
        return restore(record, module);
    }
    let bindings = codegen::generate(server, module);
    // Without the record they are generated again; a full disk is reported where it matters.
    if let Ok(text) = serde_json::to_vec(&record(&bindings)) {
        let _ = cache.write(Bucket::Generated, &key, &text);
    }
    bindings
}

fn key(server: &codegen::Server, module: &str) -> String {
    let key = Key::new("generated 1").part(codegen::VERSION.to_le_bytes()).part(&server.name).part(module);
    let tool = |key: Key, tool: &codegen::Tool| {
        let schema = |schema: &Option<serde_json::Value>| {
            schema.as_ref().map_or_else(String::new, ToString::to_string)
        };
        key.part(&tool.name)
            .part(tool.description.as_deref().unwrap_or(""))
            .part(tool.input_schema.to_string())
            .part(schema(&tool.output_schema))
    };
    server.tools.iter().fold(key, tool).finish()
}

fn record(bindings: &codegen::Bindings) -> Record {
    let tools = bindings.tools.iter().cloned();
    let warnings = bindings.warnings.iter().cloned();
    Record {
        source: bindings.source.clone(),
        tools: tools.map(|tool| (tool.name, tool.function, tool.id, tool.signature)).collect(),
        warnings: warnings.map(|warning| (warning.tool, warning.path, warning.reason)).collect(),
    }
}

fn restore(record: Record, module: &str) -> codegen::Bindings {
    let tool = |(name, function, id, signature)| codegen::ToolBinding { name, function, id, signature };
    let warning = |(tool, path, reason)| codegen::Warning { tool, path, reason };
    codegen::Bindings {
        module: module.to_owned(),
        source: record.source,
        tools: record.tools.into_iter().map(tool).collect(),
        warnings: record.warnings.into_iter().map(warning).collect(),
    }
}
