//! The reductions that clients apply to an answer of `execute_code` before a model sees it, and the parts that must
//! remain.
//!
//! The table shows each kind of outcome, as `toolsmith serve` returns it, under each reduction. Every cell must be
//! empty.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// The member of a result's `_meta` with the outcome.
pub const OUTCOME: &str = "io.toolsmith/outcome";

/// The configuration for the snippets: a small budget, so that short output is already cut.
pub const CONFIG: &str = "\
mcpServers:
  demo: { command: toolsmith, args: [demo-server], trust: true }
  locked: { command: toolsmith, args: [demo-server], permission: deny }
serve: { output: 4KiB }
";

/// A client's reduction of a result before it passes the result to its model.
#[derive(Debug, Clone, Copy)]
pub struct Reduction {
    /// Its name in the table.
    pub name: &'static str,
    /// Whether images and audio reach the model.
    has_media: bool,
    /// Returns the content blocks that remain of a `CallToolResult`.
    apply: fn(&Value) -> Vec<Value>,
}

/// The reductions of known clients.
pub const REDUCTIONS: [Reduction; 5] = [
    // Claude Code, Codex, opencode.
    Reduction { name: "structured content wins", has_media: true, apply: structured_wins },
    Reduction { name: "content wins", has_media: true, apply: blocks },
    Reduction { name: "text blocks joined", has_media: false, apply: texts_joined },
    Reduction {
        name: "images dropped",
        has_media: false,
        apply: |result| without(result, &["image", "audio"]),
    },
    Reduction {
        name: "resource links not followed",
        has_media: true,
        apply: |result| without(result, &["resource_link"]),
    },
];

fn blocks(result: &Value) -> Vec<Value> {
    result["content"].as_array().cloned().unwrap_or_default()
}

fn structured_wins(result: &Value) -> Vec<Value> {
    match result.get("structuredContent") {
        Some(structured) if !structured.is_null() => vec![text_block(&structured.to_string())],
        _ => blocks(result),
    }
}

fn texts_joined(result: &Value) -> Vec<Value> {
    vec![text_block(&text(&blocks(result)))]
}

fn without(result: &Value, kinds: &[&str]) -> Vec<Value> {
    blocks(result).into_iter().filter(|block| !kinds.iter().any(|kind| block["type"] == *kind)).collect()
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// The texts of blocks.
fn text(blocks: &[Value]) -> String {
    blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// A kind of outcome.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Its name in the table.
    pub name: &'static str,
    /// A snippet with this outcome.
    code: &'static str,
    /// Its time limit in seconds, if not the default.
    timeout: Option<u32>,
    /// Texts that must reach the model.
    needs: &'static [&'static str],
    /// The type of a block that must reach the model if the client passes media.
    media: Option<&'static str>,
}

const fn kind(name: &'static str, code: &'static str, needs: &'static [&'static str]) -> Kind {
    Kind { name, code, timeout: None, needs, media: None }
}

/// The kinds of outcomes.
pub const KINDS: [Kind; 11] = [
    kind(
        "value",
        "let page = demo::list_orders().limit(2).await?;\nserde_json::json!({ \"orders\": page.orders.len(), \"city\": \"Oslo\" })",
        &["\"orders\":2", "\"city\":\"Oslo\""],
    ),
    kind(
        "text",
        "println!(\"printed\");\neprintln!(\"warned\");\n\"result text\"",
        &["printed", "result: result text", "stderr:\nwarned"],
    ),
    Kind {
        media: Some("image/png"),
        ..kind(
            "emitted image and text",
            "emit(\"hello-text\");\nemit(Content::image(\"iVBORw0KGgo=\", \"image/png\"));\nprintln!(\"printed\");\n42",
            &["printed", "result: 42", "hello-text", "emitted: image image/png, 8 bytes"],
        )
    },
    kind(
        "error",
        "println!(\"before\");\ndemo::echo(\"a\").await?;\nanyhow::bail!(\"no order 17\");",
        &["before", "the snippet failed: no order 17", "1 tool call was made"],
    ),
    kind(
        "compile error",
        "let page = demo::list_orders().await?;\npage.order.len()",
        &[
            "no field `order`",
            " --> 2:6",
            "help: `ListOrdersOutput` has no field `order`; did you mean `orders`?",
        ],
    ),
    kind(
        "cut output",
        "for n in 0..5000 { println!(\"line {n}\"); }\n\"the end\"",
        &[
            "line 0\n",
            "line 4999\n",
            "are left out here; the whole is the resource toolsmith://executions/",
            "result: the end",
        ],
    ),
    kind("denied", "locked::echo(\"a\").await?", &["denied: the configuration denies locked.echo"]),
    Kind {
        timeout: Some(3),
        ..kind(
            "timeout",
            "println!(\"before\");\ntokio::time::sleep(Duration::from_secs(600)).await;\n1",
            &["before", "time limit: it was stopped after 3 s, while running", "codeMode.maxTimeout"],
        )
    },
    kind("empty", "String::new()", &["result: \"\""]),
    kind("null", "None::<u32>", &["null"]),
    kind("no result", "demo::echo(\"a\").await?;", &["no result: the snippet ends with `;`"]),
];

impl Kind {
    /// The arguments of the calls; the answer to the last one counts. With a short time limit, an earlier call compiles
    /// the snippet.
    #[must_use]
    pub fn calls(&self) -> Vec<Value> {
        let mut calls = vec![json!({ "code": self.code })];
        if let Some(seconds) = self.timeout {
            calls.insert(0, json!({ "code": self.code, "check_only": true }));
            calls[1]["timeout"] = json!(seconds);
        }
        calls
    }

    /// Lists the parts of `result`, the answer to [`Kind::calls`], that a model lacks under this reduction.
    #[must_use]
    pub fn lacks(&self, reduction: &Reduction, result: &Value) -> Vec<&'static str> {
        let shown = (reduction.apply)(result);
        let text = text(&shown);
        let is_shown =
            |mime: &str| !reduction.has_media || shown.iter().any(|block| block["mimeType"] == mime);
        let texts = self.needs.iter().copied().filter(|need| !text.contains(need));
        texts.chain(self.media.filter(|mime| !is_shown(mime))).collect()
    }
}

/// The table of `results`, the answers to all [`KINDS`], and whether nothing is missing. `tokens` counts the tokens of
/// a text.
#[must_use]
pub fn table(results: &[Value], tokens: impl Fn(&str) -> usize) -> (String, bool) {
    let mut table = format!("{:24}{:>8}{:>9}", "outcome", "tokens", "in _meta");
    for reduction in &REDUCTIONS {
        let _ = write!(table, "  {}", reduction.name);
    }
    table.push('\n');
    let mut is_complete = results.len() == KINDS.len();
    for (kind, result) in KINDS.iter().zip(results) {
        let (text_tokens, outcome) =
            (tokens(&text(&blocks(result))), tokens(&result["_meta"][OUTCOME].to_string()));
        let _ = write!(table, "{:24}{text_tokens:>8}{outcome:>9}", kind.name);
        for reduction in &REDUCTIONS {
            let lacks = kind.lacks(reduction, result);
            is_complete &= lacks.is_empty();
            let cell = if lacks.is_empty() { "ok".to_owned() } else { format!("lacks {lacks:?}") };
            let _ = write!(table, "  {cell:width$}", width = reduction.name.len());
        }
        table.truncate(table.trim_end().len());
        table.push('\n');
    }
    (table, is_complete)
}
