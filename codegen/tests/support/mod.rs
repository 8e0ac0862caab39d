//! Shared by the tests: the fixtures, which are servers' tools as in `tools/list`.

#![allow(clippy::unwrap_used, reason = "part of tests: an unexpected fixture is a failure")]

use std::path::{Path, PathBuf};

use codegen::{Server, Tool};
use serde_json::Value;

pub(crate) fn folder(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

/// The servers of all fixtures, by name.
pub(crate) fn servers() -> Vec<Server> {
    read(&folder("tests/fixtures/schemas"))
}

/// The servers of all fixtures, and of the tool lists in the folder named by `MORE_SCHEMAS`.
#[allow(dead_code, reason = "not every test uses it")]
pub(crate) fn more_servers() -> Vec<Server> {
    let mut servers = servers();
    servers.extend(std::env::var_os("MORE_SCHEMAS").into_iter().flat_map(|folder| read(Path::new(&folder))));
    servers
}

fn read(folder: &Path) -> Vec<Server> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.iter().map(|path| server(path)).collect()
}

fn server(path: &Path) -> Server {
    let tools: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let tool = |tool: &Value| Tool {
        name: tool["name"].as_str().unwrap().to_owned(),
        description: tool["description"].as_str().map(ToOwned::to_owned),
        input_schema: tool["inputSchema"].clone(),
        output_schema: tool.get("outputSchema").cloned(),
        answers: codegen::Answers::default(),
    };
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    Server { name, tools: tools.iter().map(tool).collect() }
}
