//! The texts for models about writing snippets. Every conversation includes them, so each word must help.

/// The purpose of the tool, in front because some clients show a model no more.
pub(super) const PURPOSE: &str =
    "Does a whole task in one call: runs one Rust snippet over all MCP servers; returns output and result.";

/// Instructions for writing a snippet; a sentence about files follows.
pub(super) const HOW: &str = "\
Use it from the start for whatever needs several calls (all pages, search then act, loops, joins). \
Write statements with ?, .await, fn, struct, impl; no main; a last expression without `;` is the result. For a server shop:
let page = shop::list_orders().limit(50).await?;
let all = concurrently(8, &page.orders, |o| async move { shop::get_customer(&o.customer).await }).await?;
all.iter().filter(|c| c.vip).count()
A server is a module, a tool an async function: required arguments in order, optional as setters; structs may be json!({…}). A tool returns its typed output (other members in .extra) or, as any call with .raw(), ToolResult \
(.text(), .image(); .json::<T>()? parses JSON or Python repr; .content: Vec<Content>, .kind() text, image, audio…). \
Err (also a refusal) is ToolError (.message, .kind: \
ToolErrorKind::Failed, InvalidParams, Denied, Timeout…). concurrently returns Result<Vec<T>, E> in order; \
an Err ends it (to keep Errs: Ok(call.await)); a dropped call is cancelled. In scope: serde, serde_json::Value, \
anyhow, Regex, Itertools, chrono, futures, tokio; emit(result) for images, progress(done, total, text), \
args.get(key): Option<&str>. ";

/// About resources, if any server has them.
pub(super) const RESOURCES: &str = "\
\nmcp_resources_list().await? (Vec: .server, .uri, .name), mcp_resource_read(uri).await?.text().";

/// The introduction to complete signatures.
pub(super) const INLINED: &str = "\
Signatures follow. `name?: T` is a setter, `.name(value)`. No `->`: a ToolResult. `-> { … }`: struct ToolNameOutput. Prefer \
`ThingInput { … }.call()` where shown: every field, exactly typed, optional as `Some(…)` or `None`; the line below is its \
function form, with optional fields as setters. Functions and setters are lenient: `&str` for String and enums, any integer, \
arrays for Vec, a value or Option. Types are in the server's module: `shop::Order`. Scalar: a string, number or boolean: \
`==`, `.as_str()`, `.as_i64()`.";

/// The introduction to calls without types.
pub(super) const CALLS_ONLY: &str = "\
Signatures follow; call describe_tools for types. `name?: T` is a setter, `.name(value)`. No `->`: a ToolResult. Prefer \
`ThingInput { … }.call()` where shown: give every field, exactly typed, optional as `Some(…)` or `None`. Functions \
and setters are lenient: `&str` for String and enums, any integer, arrays for Vec. Types are in the server's module: \
`shop::Order`; describe tools first. In snippets too: `search_tools(\"orders\").await?` returns a Vec (`.module`, \
`.function`, `.signature`), `describe_tools([\"shop::list_orders\"]).await?` a String.";

/// The introduction to a list of servers without signatures.
pub(super) const DISCOVERED: &str = "\
Look tools up first: search_tools, describe_tools (also in snippets). Servers (tools):";

/// The introduction to saved programs.
pub(super) const PROGRAMS: &str = "Saved programs, to call in a snippet:";

/// While no server has tools.
pub(super) const NO_TOOLS: &str = "No server has tools for snippets now.";

/// While some servers have not answered.
pub(super) const MORE_TO_COME: &str =
    "Servers are still starting: search_tools finds their tools once they are ready.";

/// The description of `search_tools`.
pub(super) const SEARCH: &str = "Finds tools for execute_code by words; returns signatures.";

/// Added to the description of `search_tools` if any server has skills.
pub(super) const SKILLS: &str =
    " Also finds servers' skills, which are instructions for tasks; describe_tools reads them.";

/// The description of `describe_tools`.
pub(super) const DESCRIBE: &str = "Returns types and documentation of tools.";
