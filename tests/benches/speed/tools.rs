//! Measures generating and compiling the code of a tool.

use std::time::Instant;

use gateway::tool_list::for_snippets;
use mcp::{Listing, ServerConfig, Session};
use runner::{Catalog, Engine, NoSink, ServerTools};

use super::figures::median;
use super::options::Options;

/// Number of tools compiled as one library: enough to make the fixed cost of a library negligible.
const TOOLS: usize = 100;
/// Ticks of CPU time in /proc are hundredths of a second on every architecture (`proc_pid_stat(5)`, USER_HZ).
const TICK_MS: f64 = 10.0;

/// The measured times, in milliseconds.
pub(super) struct Tools {
    pub(super) count: usize,
    /// Generating the code of one schema.
    pub(super) generate: f64,
    /// CPU time of compiling one tool.
    pub(super) compile: f64,
}

/// The tools of saved lists, or the demo server's.
pub(super) async fn known(options: &Options) -> Vec<codegen::Tool> {
    let mut tools = Vec::new();
    for file in &options.tools {
        tools.extend(Listing::from_saved(&std::fs::read_to_string(file).unwrap()).unwrap().tools);
    }
    if tools.is_empty() {
        let demo = ServerConfig::stdio("demo", options.binary.to_string_lossy(), ["demo-server"]);
        let session = Session::connect(&demo).await.unwrap();
        tools = session.list_tools().await.unwrap().tools;
        session.close().await;
    }
    tools.iter().filter_map(|tool| for_snippets(&tool.definition())).collect()
}

/// Measures with these tools.
pub(super) async fn measure(engine: &Engine, known: &[codegen::Tool], rounds: u32) -> Tools {
    // Repeat the known tools under distinct names.
    let tools: Vec<codegen::Tool> = known
        .iter()
        .cycle()
        .take(TOOLS)
        .enumerate()
        .map(|(number, tool)| codegen::Tool { name: format!("{}_{number}", tool.name), ..tool.clone() })
        .collect();
    let schemas = tools.iter().map(|tool| 1 + usize::from(tool.output_schema.is_some())).sum::<usize>();
    let server = codegen::Server { name: "bench".to_owned(), tools };
    let mut best = f64::INFINITY;
    for _ in 0..rounds.min(9) {
        let started = Instant::now();
        std::hint::black_box(codegen::generate(&server, "bench"));
        best = best.min(started.elapsed().as_secs_f64() * 1e3);
    }
    let mut compile = Vec::new();
    for round in 0..rounds.min(5) {
        compile.push(compile_cpu(engine, &server, round).await);
    }
    let count = server.tools.len();
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    Tools { count, generate: best / schemas as f64, compile: median(&compile) / count as f64 }
}

/// Measures the CPU time of compiling the bindings of a server, under a new name so that they are not in the cache.
async fn compile_cpu(engine: &Engine, server: &codegen::Server, round: u32) -> f64 {
    let name = format!("bench_{}_{round}", std::process::id());
    let tools = ServerTools {
        name: &name,
        digest: name.clone(),
        tools: Box::new(|| server.tools.clone()),
        source: None,
    };
    let catalog =
        Catalog::generate(engine.cache(), vec![tools], [], &codegen::Style::default(), |_, _| false);
    let before = children_ms();
    engine.warm(&catalog, &NoSink).await.unwrap();
    children_ms() - before
}

/// CPU time of all children that have exited and been waited for, in milliseconds.
fn children_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name may contain anything, so fields are counted after it: state is field 3, cutime and cstime are 16 and 17.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields.split_whitespace()).into_iter().flatten();
    let ticks: f64 = fields.skip(13).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks * TICK_MS
}
