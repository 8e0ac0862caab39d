//! A program as a separate crate, written by `toolsmith codegen --out` and read by `toolsmith run --crate`.

use std::path::Path;
use std::sync::Arc;

use config::LOCK;
use mcp::Lock;

use crate::failure::Failure;
use crate::observed::ObservedOutputs;
use crate::tool_list::ToolList;

/// The remedy for a crate whose bindings are not those of the current tools.
pub(crate) const OUTDATED: &str = "write the crate again with `toolsmith codegen --out`";

/// A crate's program, and the tools that it was written for.
#[derive(Debug)]
pub struct ProgramCrate {
    /// The program's text.
    pub code: String,
    /// Servers, their tools and their bindings.
    pub(crate) servers: Vec<(String, Arc<ToolList>, String)>,
    /// Inferred output schemas.
    pub(crate) observed: ObservedOutputs,
}

impl ProgramCrate {
    /// Reads the crate in `folder`; `read_snippet` reads its program within the limits of snippets.
    pub fn read(
        folder: &Path,
        read_snippet: impl FnOnce(&Path) -> Result<String, Failure>,
    ) -> Result<Self, Failure> {
        let path = folder.join(LOCK);
        let lock = Lock::read(&path)?.ok_or_else(|| {
            let shown = folder.display();
            Failure::command_line(format!(
                "{shown} is not a crate written by `codegen --out`: it has no {LOCK}"
            ))
            .hint(format!("write one with `toolsmith codegen --out {shown}`"))
        })?;
        let modules = codegen::module_names(lock.servers.keys().map(String::as_str));
        let mut servers = Vec::new();
        for (name, server) in &lock.servers {
            let module = modules.get(name).map(String::as_str).unwrap_or_default();
            let file = folder.join(runner::module_file(module));
            let source = read(&file).map_err(|error| {
                Failure::command_line(format!("the bindings of {name} can't be read: {error}"))
                    .caused_by(error)
                    .hint(OUTDATED)
            })?;
            let tools: Vec<_> = server.tools.values().map(|tool| tool.tool.clone()).collect();
            servers.push((name.clone(), Arc::new(ToolList::new(&tools)), source));
        }
        let code = read_snippet(&folder.join(runner::SNIPPET))?;
        Ok(ProgramCrate { code, servers, observed: ObservedOutputs::of(&lock) })
    }
}

/// Maximum length of a server's bindings, in bytes (64 MiB): a thousand tools have about 10 MiB.
const BINDINGS: u64 = 64 << 20;

/// The text of a file of the crate.
fn read(file: &Path) -> std::io::Result<String> {
    let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
    let bytes = system::file::read(file, BINDINGS)?.ok_or_else(missing)?;
    String::from_utf8(bytes).map_err(std::io::Error::other)
}
