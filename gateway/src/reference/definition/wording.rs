//! What a model is told of writing snippets. It is shown in every conversation: a word that does not help goes.

/// How a snippet is written.
pub(super) const HOW: &str = "\
Does a whole task in one call: use it, not single calls, for whatever needs two or more (all pages, search then act, \
loops, filters, joins), also as the first step. Runs a Rust snippet; returns its output and result. Write \
statements with ? and .await, also fn, struct, impl; no main; the last expression without `;` is the result:
let page = shop::list_orders().limit(50).await?;
let all = concurrently(8, &page.orders, |o| async move { shop::get_customer(&o.customer).await }).await?;
all.iter().filter(|c| c.vip).count()
A server is a module, a tool an async function: required arguments in order, optional as setters; json!({…}) for any \
struct. It returns its typed output or ToolResult (.text(), .image(), .json::<T>()? of JSON or Python literals, .content: \
Vec<Content>, .kind() text, image, audio, resource…). Err, refusals too, is ToolError (.message, .kind: \
ToolErrorKind::Failed, InvalidParams, Denied, Timeout…). concurrently gives Result<Vec<T>, E> in order; the first Err ends \
it, Ok(call.await) keeps all; a dropped call is cancelled. In scope: serde, serde_json::Value, anyhow, Regex, Itertools, chrono, futures, tokio; emit(result) \
for images, progress(done, total, text), args.get(key): Option<&str>. No files, network or state.";

/// The same of resources, where a server has any.
pub(super) const RESOURCES: &str = "\
\nmcp_resources_list().await? (Vec: .server, .uri, .name), mcp_resource_read(uri).await?.text().";

/// What else there is to say where signatures stand below.
pub(super) const INLINED: &str = "\
The tools follow. `name?: T` is a setter, `.name(value)`. Where `ThingInput { … }.call()` stands first, prefer it: it has \
all fields, optional ones as `Some(…)` or `None`; the line below it is the short form, whose setters are the Option \
fields. Arguments are lenient: `&str` for String and enums, any integer, arrays for Vec, a value or an Option where it is \
optional. Types are in the module: `shop::Order`. A Scalar is a text, number or flag: `==`, `.as_str()`, `.as_i64()`.";

/// The same, where only calls stand below.
pub(super) const CALLS_ONLY: &str = "\
The tools follow, without their types, which describe_tools tells. `name?: T` is a setter, `.name(value)`. Where \
`ThingInput { … }.call()` stands first, prefer it: it has all fields, optional ones as `Some(…)` or `None`. Arguments \
are lenient: `&str` for String and enums, any integer, arrays for Vec. Types are in the module: `shop::Order`; describe \
what you call before you write. In snippets too: `search_tools(\"orders\").await?` gives a Vec (`.module`, `.function`, \
`.signature`), `describe_tools([\"shop::list_orders\"]).await?` a String.";

/// What else there is to say where no signatures stand below.
pub(super) const DISCOVERED: &str = "\
Look tools up first: search_tools, describe_tools (also in snippets). Servers (tools):";

/// What is said while not every server has answered.
pub(super) const MORE_TO_COME: &str =
    "Servers are still starting: search_tools finds their tools as they come.";

/// The description of `search_tools`.
pub(super) const SEARCH: &str = "Finds tools for execute_code by what they do; returns signatures.";

/// The description of `describe_tools`.
pub(super) const DESCRIBE: &str = "Tells parameters, types and documentation of tools.";
