//! What the tools cost a client's model before it does anything: the definitions that `tools/list` gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use runner::{Cache, Catalog, ServerTools};
use serde::Serialize;

use gateway::failure::Failure;
use gateway::reference::{DESCRIPTION_TOKENS, Reference, definition_tokens};

/// Numbers of tools.
const TOOLS: [usize; 3] = [9, 250, 1_000];
/// Most tools of one server; there are as many servers as it takes.
const TOOLS_OF_A_SERVER: usize = 25;
/// What is known about each server.
const ABOUT: &str = "A small shop with orders, customers, products and notes";

/// About how many tokens the definitions have.
#[derive(Debug, Serialize)]
pub(super) struct Definitions {
    pub(super) tools: usize,
    /// For the tokeniser `o200k_base`.
    pub(super) o200k: usize,
    /// A quarter of the characters.
    pub(super) characters: usize,
}

/// Counts with `known` tools, each under as many names as needed.
pub(super) fn measure(known: &[codegen::Tool]) -> Result<Vec<Definitions>, Failure> {
    // Of its own: what is generated here is of no use to anybody else.
    let folder = tempfile::tempdir().map_err(Failure::host)?;
    let cache = Cache::open(folder.path(), runner::DEFAULT_SIZE).map_err(Failure::host)?;
    TOOLS.iter().map(|count| definitions(known, *count, &cache)).collect()
}

fn definitions(known: &[codegen::Tool], count: usize, cache: &Cache) -> Result<Definitions, Failure> {
    let tools: Vec<codegen::Tool> = known
        .iter()
        .cycle()
        .take(count)
        .enumerate()
        .map(|(number, tool)| match number / known.len() {
            0 => tool.clone(),
            round => codegen::Tool { name: format!("{}_{round}", tool.name), ..tool.clone() },
        })
        .collect();
    let servers: Vec<(String, &[codegen::Tool])> = tools
        .chunks(TOOLS_OF_A_SERVER)
        .enumerate()
        .map(|(number, tools)| (format!("server_{number}"), tools))
        .collect();
    let generatable = servers.iter().map(|(name, tools)| ServerTools {
        name,
        digest: format!("{count} {name}"),
        tools: Box::new(|| tools.to_vec()),
        source: None,
    });
    let catalog =
        Catalog::generate(cache, generatable.collect(), [], &codegen::Style::default(), |_, _| false);
    let about: BTreeMap<String, String> =
        servers.iter().map(|(name, _)| (name.clone(), ABOUT.to_owned())).collect();
    let reference = Reference::new(Arc::new(catalog), &about).map_err(Failure::host)?;
    let (o200k, characters) = definition_tokens(&reference.definitions(DESCRIPTION_TOKENS));
    Ok(Definitions { tools: count, o200k, characters })
}
