//! `--diff OLD NEW`: lists the tools that were added, removed and changed between two saved lists or lock files.

use std::path::Path;

use codegen::{Server, Tool, ToolsDiff};
use gateway::failure::Failure;
use mcp::Lock;
use serde_json::json;

use super::source::{self, read};

/// The difference, as text or as JSON.
pub(super) fn difference(old: &Path, new: &Path, as_json: bool) -> Result<String, Failure> {
    let (old, new) = (tools(old)?, tools(new)?);
    let diff = codegen::diff(&old, &new);
    if as_json {
        let changed: Vec<_> = diff
            .changed
            .iter()
            .map(|changed| {
                let lines: Vec<&str> = changed.changes.iter().map(|change| change.line.as_str()).collect();
                json!({ "name": changed.name, "changes": lines })
            })
            .collect();
        return Ok(json!({ "added": diff.added, "removed": diff.removed, "changed": changed }).to_string());
    }
    Ok(text(&diff))
}

fn text(diff: &ToolsDiff) -> String {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(diff.added.iter().map(|name| format!("+ {name}")));
    lines.extend(diff.removed.iter().map(|name| format!("- {name}")));
    for changed in &diff.changed {
        lines.push(format!("~ {}", changed.name));
        lines.extend(changed.changes.iter().map(|change| format!("    {}", change.line)));
    }
    if lines.is_empty() { "no difference".to_owned() } else { lines.join("\n") }
}

/// Reads the tools of a lock file or a saved list. For a lock file, names have the server's name as a prefix.
fn tools(file: &Path) -> Result<Vec<Tool>, Failure> {
    let text = read(file)?;
    let lock = Lock::from_text(&text, file)?;
    let Some(lock) = lock else { return source::tools_in(&text, file) };
    let named = |server: Server| {
        let name = move |tool: Tool| Tool { name: format!("{}.{}", server.name, tool.name), ..tool };
        server.tools.into_iter().map(name).collect::<Vec<_>>()
    };
    Ok(source::servers(&lock).into_iter().flat_map(named).collect())
}
