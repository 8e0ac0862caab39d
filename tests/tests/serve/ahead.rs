//! `toolsmith serve` compiles bindings in advance, with lower priority than snippets.

use std::fs;
use std::path::Path;

use end_to_end::cache::with_the_layer_of_the_shared;
use end_to_end::harness::{Run, unique};
use end_to_end::serving::{Serve, Server, execute, outcome_of};
use serde_json::json;
use tempfile::TempDir;

/// More tools than are compiled together for a snippet that names one of them.
const TOOLS: u32 = 25;
/// So many that their compiler is still running when a snippet arrives.
const MANY_TOOLS: u32 = 200;

/// A cache with only the crate layer compiled.
fn cache() -> TempDir {
    let cache = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(cache.path());
    cache
}

fn config(tools: u32) -> String {
    let program = env!("CARGO_BIN_EXE_catalog-server");
    format!("mcpServers:\n  catalog: {{ command: {program:?}, args: [--tools, \"{tools}\"], trust: true }}\n")
}

fn serving(cache: &Path, config: &str) -> Server {
    let folder = cache.to_str().unwrap();
    let serve = Serve::new(config).variable("TOOLSMITH_CACHE_DIR", folder);
    let mut server = serve.variable("TOOLSMITH_MCP_DEBUG", "1").start();
    server.shake_hands();
    server
}

/// A snippet that is not in the cache.
fn snippet() -> String {
    format!("// {}\ncatalog::calendar_get_event(\"event-7\").await?.id", unique())
}

/// The compiled bindings of a cache.
fn bindings(cache: &Path) -> Vec<String> {
    let entries = fs::read_dir(cache.join("bindings-v1")).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[track_caller]
fn assert_runs(server: &mut Server) {
    let answer = server.ask(7, "tools/call", &execute(&snippet()));
    let outcome = outcome_of(&answer);
    assert_eq!((&outcome["result"], &outcome["cached"]), (&json!("event-7"), &json!(false)), "{answer:#}");
}

fn is_compiling(server: &Server) -> bool {
    server.has_started("--crate-name catalog")
}

#[test]
fn the_first_snippet_finds_compiled_bindings() {
    let cache = cache();
    let mut server = serving(cache.path(), &config(TOOLS));
    server.wait_for_log("bindings are compiled ahead");
    let ahead = bindings(cache.path());
    assert_eq!(ahead.len(), 1, "{ahead:?}");
    assert_runs(&mut server);
    assert_eq!(bindings(cache.path()), ahead, "the snippet compiled bindings again");
}

#[test]
fn a_single_run_compiles_only_the_named_tools() {
    let cache = cache();
    let run = Run::new(cache.path()).arguments(&["run", "--json", "-"]).config_alone(&config(TOOLS));
    assert_eq!(run.input(snippet()).result(), "event-7");
    assert_eq!(bindings(cache.path()).len(), 1);
    // If the run had compiled all tools, the server would have nothing to compile.
    let server = serving(cache.path(), &config(TOOLS));
    server.wait_for_log("bindings are compiled ahead");
    assert_eq!(bindings(cache.path()).len(), 2);
}

#[test]
fn a_snippet_interrupts_compilation_in_advance() {
    let cache = cache();
    let mut server = serving(cache.path(), &config(MANY_TOOLS));
    server.wait_until("a compiler", || is_compiling(&server));
    assert_runs(&mut server);
    server.wait_for_log("bindings are compiled ahead");
    assert!(server.stderr().contains("gave_way=1"), "{}", server.stderr());
    assert_eq!(bindings(cache.path()).len(), 2, "expected the snippet's bindings and those of all tools");
}

#[test]
fn compilation_in_advance_ends_with_the_server() {
    let cache = cache();
    let mut server = serving(cache.path(), &config(MANY_TOOLS));
    server.wait_until("a compiler", || is_compiling(&server));
    server.close_input();
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
    assert_eq!(bindings(cache.path()), [""; 0], "the server waited for the compiler");
    let left: Vec<_> = fs::read_dir(cache.path().join("temporary-v1")).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn new_tools_are_compiled_when_they_appear() {
    let cache = cache();
    let server = serving(cache.path(), &config(TOOLS));
    server.wait_for_log("bindings are compiled ahead");
    let more = config(TOOLS).replace("  catalog:", "  shelf:");
    let more = more.trim_start_matches("mcpServers:\n");
    server.configure(&format!("{}{more}", config(TOOLS)));
    server.wait_for_log("compiled=\"shelf\"");
    assert_eq!(bindings(cache.path()).len(), 2);
}

#[test]
fn very_large_servers_are_not_compiled_in_advance() {
    let cache = cache();
    let program = env!("CARGO_BIN_EXE_catalog-server");
    let shelf = format!("  shelf: {{ command: {program:?}, args: [--tools, \"500\"], trust: true }}\n");
    let server = serving(cache.path(), &format!("{}{shelf}", config(TOOLS)));
    server.wait_for_log("left=\"shelf\"");
    assert_eq!(bindings(cache.path()).len(), 1);
}
