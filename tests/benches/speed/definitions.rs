//! Measures the tool definitions of `tools/list`, which a client's model reads before it does anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use codegen::Server;
use gateway::reference::{DESCRIPTION_TOKENS, Reference, definition_tokens};
use runner::{Cache, Catalog, ServerTools};
use serde::Serialize;

/// The numbers of tools to measure.
const TOOLS: [usize; 3] = [9, 250, 1_000];
/// Maximum number of tools of one server; more tools get more servers.
const TOOLS_OF_A_SERVER: usize = 25;
/// The instructions of each server.
const ABOUT: &str = "A small shop with orders, customers, products and notes";

/// The estimated number of tokens in the definitions.
#[derive(Debug, Serialize)]
pub(super) struct Definitions {
    pub(super) tools: usize,
    /// Estimated for the tokeniser `o200k_base`.
    pub(super) o200k: usize,
    /// Estimated as a quarter of the characters.
    pub(super) characters: usize,
}

/// Counts the tokens for each number of tools; repeats the `known` tools under further names.
pub(super) fn measure(known: &[codegen::Tool]) -> Vec<Definitions> {
    // A separate cache, because nothing else uses what is generated here.
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), runner::DEFAULT_SIZE).unwrap();
    TOOLS.iter().map(|count| definitions(known, *count, &cache)).collect()
}

fn definitions(known: &[codegen::Tool], count: usize, cache: &Cache) -> Definitions {
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
    let servers: Vec<Server> = tools
        .chunks(TOOLS_OF_A_SERVER)
        .enumerate()
        .map(|(number, tools)| Server { name: format!("server_{number}"), tools: tools.to_vec() })
        .collect();
    let about: BTreeMap<String, String> =
        servers.iter().map(|server| (server.name.clone(), ABOUT.to_owned())).collect();
    let generatable = servers.iter().map(|Server { name, tools }| ServerTools {
        name,
        digest: format!("{} {name}", tools.len()),
        tools: Box::new(|| tools.clone()),
        source: None,
    });
    let style = codegen::Style::default();
    let catalog = Catalog::generate(cache, generatable.collect(), [], &style, |_, _| false);
    let reference = Reference::new(Arc::new(catalog), &about).unwrap();
    let (o200k, characters) = definition_tokens(&reference.definitions(DESCRIPTION_TOKENS));
    Definitions { tools: count, o200k, characters }
}
