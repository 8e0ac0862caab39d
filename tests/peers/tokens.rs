//! Compares a model's tokens for reading two hundred files: with one snippet, and with direct tool calls.
//!
//! Both go through one `toolsmith serve` in front of the reference file server, with a client of an official SDK.
//! The count covers what passes through the model's context: the calls it writes and the text it receives.

use std::{fmt::Write as _, path::Path};

use serde_json::{Value, json};

use crate::{
    clients::{self, Serving},
    product::{Checked, Product},
    servers::{FILESYSTEM, Installed, filesystem_entry, write},
    table::Row,
};

/// The name that selects this part.
pub(crate) const PART: &str = "tokens";

/// Number of files.
const FILES: usize = 200;
/// The same server, for snippets and for direct calls.
const FOR_SNIPPETS: &str = "files";
const DIRECT: &str = "plain";
/// The tools of code mode; all others are direct.
const CODE_MODE: [&str; 3] = ["execute_code", "search_tools", "describe_tools"];

/// Token counts of texts, by two rules.
#[derive(Debug, Clone, Copy, Default)]
struct Tokens {
    o200k: usize,
    quarters: usize,
}

impl Tokens {
    /// Counts by the estimate for `o200k_base`, and as characters / 4.
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let (mut o200k, mut characters) = (0, 0);
        for text in texts {
            o200k += codegen::tokens(text);
            characters += text.chars().count();
        }
        Tokens { o200k, quarters: characters / 4 }
    }
}

/// An order, with the fields that matter.
struct Order {
    text: String,
    late_cents: u64,
}

/// The row, and the figures as text.
pub(crate) async fn run(installed: &Installed, product: &Product) -> Checked<(Row, String)> {
    let compared = compare(installed, product).await;
    let (figures, failure) = match compared {
        Ok(figures) => (figures, None),
        Err(error) => (String::new(), Some(error)),
    };
    let row = Row {
        peer: format!("{PART}: {FILES} files of {FILESYSTEM}"),
        version: installed.version(FILESYSTEM)?,
        transport: "stdio",
        protocol: "2025-11-25".to_owned(),
        tools: "-".to_owned(),
        failure,
    };
    Ok((row, figures))
}

async fn compare(installed: &Installed, product: &Product) -> Checked<String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let files = folder.path().join("orders");
    let orders: Vec<Order> = (0..FILES).map(order).collect();
    for (number, order) in orders.iter().enumerate() {
        write(&file(&files, number), &order.text)?;
    }
    let late: u64 = orders.iter().map(|order| order.late_cents).sum();
    let entry = |is_direct: bool| {
        let mut entry = filesystem_entry(installed, &files);
        entry["trust"] = json!(true);
        entry["codeMode"] = json!(!is_direct);
        entry
    };
    let config = json!({ "mcpServers": { FOR_SNIPPETS: entry(false), DIRECT: entry(true) } });
    let serving = Serving::of(product, folder.path(), &config)?;

    let mut plan = vec![json!({ "tool": "execute_code", "arguments": { "code": snippet(&files) } })];
    plan.extend(
        (0..FILES)
            .map(|number| json!({ "tool": "read_text_file", "arguments": { "path": file(&files, number) } })),
    );
    let (client, seen) = clients::carry_out(installed, &serving, &Value::from(plan.clone())).await?;
    let answers = answers(&seen, plan.len())?;
    let (by_snippet, direct) = answers.split_at(1);
    right(&seen, by_snippet, direct, late)?;

    let written: Vec<String> = plan.iter().map(Value::to_string).collect();
    let (snippet_written, direct_written) = written.split_at(1);
    let one = Tokens::of(snippet_written.iter().map(String::as_str).chain(by_snippet.iter().copied()));
    let all = Tokens::of(direct_written.iter().map(String::as_str).chain(direct.iter().copied()));
    if one.o200k >= all.o200k || one.quarters >= all.quarters {
        return Err(format!("the snippet takes {one:?}, and the calls {all:?}"));
    }
    let (code_mode, tools) = definitions(&seen)?;
    summary(client, [one, all, code_mode, tools]).map_err(|error| error.to_string())
}

/// A snippet that a model would write for the task.
fn snippet(files: &Path) -> String {
    format!(
        "let mut late = 0;\nfor n in 0..{FILES} {{\n    \
         let text = {FOR_SNIPPETS}::read_text_file(format!(\"{}/order-{{n:03}}.json\")).await?.content;\n    \
         let order: Value = serde_json::from_str(&text)?;\n    \
         if order[\"status\"] == \"late\" {{\n        \
         late += order[\"total_cents\"].as_u64().unwrap_or(0);\n    }}\n}}\nlate",
        files.display()
    )
}

fn file(folder: &Path, number: usize) -> std::path::PathBuf {
    folder.join(format!("order-{number:03}.json"))
}

/// A shop's order; the same number always makes the same order.
fn order(number: usize) -> Order {
    let status = ["paid", "shipped", "late", "returned"][number % 4];
    let lines: Vec<(u64, u64)> = (0..2 + number % 3)
        .map(|line| (1 + (number + line) as u64 % 5, 250 + 17 * (number * 7 + line) as u64))
        .collect();
    let total: u64 = lines.iter().map(|(quantity, price)| quantity * price).sum();
    let lines: Vec<Value> = lines
        .iter()
        .enumerate()
        .map(|(line, (quantity, price))| {
            json!({ "article": format!("A-{}", 1_000 + number * 3 + line), "quantity": quantity, "price_cents": price })
        })
        .collect();
    let order = json!({
        "id": format!("order-{number:03}"), "customer": format!("customer-{}", number % 37), "status": status,
        "lines": lines, "total_cents": total,
    });
    Order { text: order.to_string(), late_cents: if status == "late" { total } else { 0 } }
}

/// The text of each answer.
fn answers(seen: &Value, count: usize) -> Checked<Vec<&str>> {
    let calls = seen["calls"].as_array().filter(|calls| calls.len() == count);
    let calls = calls.ok_or_else(|| format!("expected {count} calls: {}", seen["calls"]))?;
    calls
        .iter()
        .map(|call| match (call["isError"].as_bool(), call["text"].as_str()) {
            (Some(false), Some(text)) => Ok(text),
            _ => Err(format!("a call has failed: {call}")),
        })
        .collect()
}

/// Checks that the snippet and the direct calls both give the expected result.
fn right(seen: &Value, by_snippet: &[&str], direct: &[&str], late: u64) -> Checked<()> {
    let result = &seen["calls"][0]["outcome"]["result"];
    if *result != late || !by_snippet.iter().any(|text| text.contains(&late.to_string())) {
        return Err(format!("expected {late} from the snippet: {result}, {by_snippet:?}"));
    }
    let mut sum = 0;
    for text in direct {
        let order: Value = serde_json::from_str(text).map_err(|error| format!("{error}: {text}"))?;
        if order["status"] == "late" {
            sum += order["total_cents"].as_u64().ok_or_else(|| format!("no total: {text}"))?;
        }
    }
    if sum == late { Ok(()) } else { Err(format!("the calls come to {sum}, expected {late}")) }
}

/// The cost of the tool definitions: of code mode, and of the server's own tools.
fn definitions(seen: &Value) -> Checked<(Tokens, Tokens)> {
    let all = seen["definitions"].as_array().ok_or("no definitions in the report")?;
    let part = |of_code_mode: bool| {
        let is_part = |tool: &&Value| CODE_MODE.iter().any(|name| tool["name"] == *name) == of_code_mode;
        let read = |tool: &Value| {
            json!({
                "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"],
            })
        };
        let text = Value::Array(all.iter().filter(is_part).map(read).collect()).to_string();
        Tokens::of(std::iter::once(text.as_str()))
    };
    Ok((part(true), part(false)))
}

fn summary(client: &str, [one, all, code_mode, tools]: [Tokens; 4]) -> Result<String, std::fmt::Error> {
    let mut text = format!("\ntokens that a model reads and writes, with a client of {client}:\n");
    for (rule, tokens) in [
        ("o200k_base", (|tokens| tokens.o200k) as fn(Tokens) -> usize),
        ("characters / 4", |tokens| tokens.quarters),
    ] {
        let (n, m) = (tokens(one), tokens(all));
        writeln!(
            text,
            "{FILES} files by a snippet: {n} tokens; by {FILES} direct calls: {m} tokens ({} times), as {rule}",
            m / n.max(1)
        )?;
        let (of_code_mode, of_tools) = (tokens(code_mode), tokens(tools));
        writeln!(
            text,
            "definitions of code mode: {of_code_mode} tokens; of the server's tools: {of_tools} tokens, as {rule}"
        )?;
    }
    Ok(text)
}
