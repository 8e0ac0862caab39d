//! `--format report`: reports how much of the schemas became types, and how many tokens their signatures have.

use std::fmt::Write as _;

use codegen::{Bindings, Fidelity, ToolBinding, Warning};
use serde::Serialize;

#[derive(Serialize)]
struct Report<'a> {
    tools: Vec<ToolReport<'a>>,
    /// Other losses than places without a type, such as values or a whole tool.
    warnings: Vec<WarningReport<'a>>,
    totals: Totals,
}

#[derive(Serialize)]
struct ToolReport<'a> {
    server: &'a str,
    name: &'a str,
    properties: usize,
    typed: usize,
    fallbacks: Vec<FallbackReport<'a>>,
    tokens: Tokens,
    /// Lines of generated code, which determine the cost of compiling a tool.
    lines: usize,
}

#[derive(Serialize)]
struct FallbackReport<'a> {
    path: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct WarningReport<'a> {
    server: &'a str,
    name: &'a str,
    path: &'a str,
    reason: &'a str,
}

#[derive(Serialize, Default, Clone, Copy)]
struct Tokens {
    schema: usize,
    signature: usize,
}

#[derive(Serialize, Default)]
struct Totals {
    tools: usize,
    properties: usize,
    typed: usize,
    fallbacks: usize,
    tokens: Tokens,
    lines: usize,
}

/// The report, as a table or as JSON.
pub(super) fn report(bindings: &[Bindings], as_json: bool) -> Result<String, serde_json::Error> {
    let tools = bindings.iter().flat_map(|server| server.tools.iter().map(|tool| one(&server.server, tool)));
    let tools: Vec<ToolReport<'_>> = tools.collect();
    let totals = tools.iter().fold(Totals::default(), add);
    let report = Report { tools, warnings: bindings.iter().flat_map(warnings).collect(), totals };
    if as_json { serde_json::to_string(&report) } else { Ok(table(&report)) }
}

fn one<'a>(server: &'a str, tool: &'a ToolBinding) -> ToolReport<'a> {
    let Fidelity { properties, typed, fallbacks, schema_tokens, signature_tokens, lines } = &tool.fidelity;
    let fallback =
        |fallback: &'a codegen::Fallback| FallbackReport { path: &fallback.path, reason: &fallback.reason };
    ToolReport {
        server,
        name: &tool.name,
        properties: *properties,
        typed: *typed,
        fallbacks: fallbacks.iter().map(fallback).collect(),
        tokens: Tokens { schema: *schema_tokens, signature: *signature_tokens },
        lines: *lines,
    }
}

/// The warnings that are not reported as fallbacks.
fn warnings(server: &Bindings) -> impl Iterator<Item = WarningReport<'_>> {
    let is_fallback = |warning: &Warning| {
        let mut tools = server.tools.iter().filter(|tool| tool.name == warning.tool);
        tools.any(|tool| tool.fidelity.fallbacks.iter().any(|fallback| fallback.path == warning.path))
    };
    let others = server.warnings.iter().filter(move |warning| !is_fallback(warning));
    others.map(|warning| WarningReport {
        server: &server.server,
        name: &warning.tool,
        path: &warning.path,
        reason: &warning.reason,
    })
}

fn add(mut totals: Totals, tool: &ToolReport<'_>) -> Totals {
    totals.tools += 1;
    totals.properties += tool.properties;
    totals.typed += tool.typed;
    totals.fallbacks += tool.fallbacks.len();
    totals.tokens.schema += tool.tokens.schema;
    totals.tokens.signature += tool.tokens.signature;
    totals.lines += tool.lines;
    totals
}

fn table(report: &Report<'_>) -> String {
    let mut text = String::new();
    let mut row = |name: &str, typed: usize, properties: usize, tokens: Tokens, lines: usize| {
        let Tokens { schema, signature } = tokens;
        let share = format!("{typed} of {properties}");
        // Writing to a string does not fail.
        let _ = writeln!(text, "{share:>12}  {schema:>7}  {signature:>9}  {lines:>6}  {name}");
    };
    for tool in &report.tools {
        let name = format!("{}.{}", tool.server, tool.name);
        row(&name, tool.typed, tool.properties, tool.tokens, tool.lines);
    }
    let Totals { tools, typed, properties, tokens, lines, .. } = report.totals;
    row(&format!("all {}", report::count(tools, "tool")), typed, properties, tokens, lines);
    let mut head = format!("{:>12}  {:>7}  {:>9}  {:>6}\n", "typed", "schema", "signature", "lines");
    head.push_str(&format!("{:>12}  {:>7}  {:>9}  {:>6}\n", "properties", "tokens", "tokens", "of Rust"));
    let fallbacks =
        report.tools.iter().flat_map(|tool| tool.fallbacks.iter().map(move |fallback| (tool, fallback)));
    for (tool, fallback) in fallbacks {
        let _ = writeln!(text, "{}.{}: {}: {}", tool.server, tool.name, fallback.path, fallback.reason);
    }
    for WarningReport { server, name, path, reason } in &report.warnings {
        let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let _ = writeln!(text, "{server}.{name}: {place}{reason}");
    }
    head + &text
}
