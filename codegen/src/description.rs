//! The description of the tool that runs snippets.

use crate::Bindings;

/// The introduction, about 250 words.
const INTRODUCTION: &str = "\
Runs a Rust snippet that calls tools, and returns what it prints and its result. Write plain statements with `?` and \
`.await`, no `main`; the last expression, without `;`, is the result: any value that serde can serialize.

Each server is a module below, each tool a function in it:
let page = files::list(\"/data\").limit(50).await?;
Required arguments are parameters. `name?: T` is optional: set it with `.name(value)`. Arguments are lenient: `&str` for \
String, any integer type, arrays for Vec, a value or an Option for what is optional. Prefer `ThingInput { … }.call()` \
where it is shown: give every field, optional ones as `Some(…)` or `None`. The line below it is the short form, whose \
optional fields are setters. Calls do nothing until awaited. Types are next to their tool: `files::ListOutput`.

A call returns the typed output, or a ToolResult: `.text()`, `.json::<T>()?`, `.content`, `.structured` \
(Option<Value>). A failure is `Err(ToolError)`, with `.kind` (ToolErrorKind::{Failed, InvalidParams, \
Rejected, Timeout, Unavailable, Mismatch, Protocol, Denied}), `.message`, `.content` and `.raw`; `?` passes it on.

A `Scalar` is a string, number or boolean: `==`, `.as_str()`, `.as_i64()`, `.as_f64()`, `.as_bool()`.

In scope: std collections, Duration, Instant, Value, json!, Serialize, Deserialize, Result (anyhow), anyhow!, bail!, \
ensure!, .context(…).
- concurrently(limit, items, |item| async move { … }).await? runs calls in parallel and keeps the order; the first \
Err ends it.
- emit(text or content) adds a part to the answer: emit(Content::image(base64, mime_type)).
- progress(done, total, message) reports progress.
Crates: anyhow, chrono, futures, itertools, regex, serde, serde_json, tokio. No others, no files, no network, \
no processes, no variables of earlier runs: only the tools. Filter, join and count in the snippet, and return only \
what you need.";

/// The instructions for writing a snippet, and the signatures of all tools by module.
///
/// Each tool adds about 100 tokens.
#[must_use]
pub fn description(servers: &[Bindings]) -> String {
    let mut text = INTRODUCTION.to_owned();
    for server in servers {
        let signatures: Vec<&str> = server.tools.iter().map(|tool| tool.signature.as_str()).collect();
        for part in ["\n\nmod ", &server.module, " {\n", &signatures.join("\n\n"), "\n}"] {
            text.push_str(part);
        }
    }
    text
}
