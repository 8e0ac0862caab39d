//! Documentation of what snippets have in scope besides tools: models ask `describe_tools` for these names as well.

/// Each name with its documentation.
const KNOWN: [(&str, &str); 13] = [
    (
        "ToolResult",
        "/// The result of a tool without an output schema, and of any call by `.raw().await?`.\n\
         struct ToolResult { content: Vec<Content>, structured: Option<Value> }\n\
         impl ToolResult {\n    /// The text blocks, joined by newlines.\n    fn text(&self) -> String;\n    /// The \
             structured content, or else the text parsed as JSON or as a Python literal; a list\n    /// also from a block for each item.\n    fn json<T: DeserializeOwned>(&self) -> Result<T>;\n    \
         /// The first image.\n    fn image(&self) -> Option<&Content>;\n    /// The tool's view with this answer, to \
             `emit`.\n    fn view(&self) -> Content;\n}",
    ),
    (
        "ToolError",
        "/// A call that failed.\n\
         struct ToolError { kind: ToolErrorKind, server: String, tool: String, message: String, content: Vec<Content>, \
         raw: Option<Box<Value>> }",
    ),
    (
        "ToolErrorKind",
        "enum ToolErrorKind {\n    /// The tool's own failure, such as a missing file.\n    Failed,\n    \
         InvalidParams,\n    /// The server rejected the request.\n    Rejected,\n    Timeout,\n    Unavailable,\n    /// The \
         result does not fit the output schema; `raw` has it.\n    Mismatch,\n    Protocol,\n    Denied,\n    /// \
         After answers that may not go into this call.\n    Flow,\n}",
    ),
    (
        "Content",
        "/// A block of content.\n\
         impl Content {\n    fn text(text: impl Into<String>) -> Content;\n    /// `data` in base64.\n    fn image(data: impl \
         Into<String>, mime_type: impl Into<String>) -> Content;\n    fn audio(data: impl Into<String>, mime_type: impl \
         Into<String>) -> Content;\n    /// text, image, audio, resource or resource_link.\n    fn kind(&self) -> &str;\n    \
         fn as_text(&self) -> Option<&str>;\n    fn data(&self) -> Option<&str>;\n    fn mime_type(&self) -> \
         Option<&str>;\n    fn as_json(&self) -> &Value;\n}",
    ),
    (
        "Scalar",
        "/// A string, a number or a boolean; compare with `==`, create with `.into()`.\n\
         impl Scalar {\n    fn as_str(&self) -> Option<&str>;\n    fn as_i64(&self) -> Option<i64>;\n    fn as_f64(&self) \
         -> Option<f64>;\n    fn as_bool(&self) -> Option<bool>;\n}",
    ),
    (
        "concurrently",
        "/// Runs `work` over `items`, at most `limit` at a time; results in the order of the items. The first Err ends \
         it;\n/// to keep the others, return `Ok(call.await)`.\n\
         async fn concurrently<T, E>(limit: usize, items: impl IntoIterator, work: impl FnMut(Item) -> Future<Output = \
         Result<T, E>>) -> Result<Vec<T>, E>",
    ),
    (
        "emit",
        "/// Adds content to the answer: a text, a Content, a ToolResult (all its blocks), typed output that is content blocks, a \
         Value, or a list or reference; not async. Any other value is added as its JSON.\n\
         fn emit(content: impl Emittable)\n\
         // emit(shop::get_picture(id).await?);",
    ),
    (
        "progress",
        "/// Reports progress, as numbers of any type; not async.\n\
         fn progress(done: impl Amount, total: impl Amount, message: impl Into<String>)",
    ),
    (
        "args",
        "/// The `args` of the call.\n\
         impl Args {\n    fn get(&self, key: &str) -> Option<&str>;\n    fn require(&self, key: &str) -> Result<&str>;\n    \
         fn iter(&self) -> impl Iterator<Item = (&str, &str)>;\n}",
    ),
    (
        "search_tools",
        "/// Finds tools by what they do; setters `.server(name)`, `.limit(most)`.\n\
         async fn search_tools(query: impl Into<String>) -> Result<Vec<FoundTool>, ToolError>\n\
         struct FoundTool { server: String, module: String, tool: String, function: String, signature: String }",
    ),
    (
        "describe_tools",
        "/// Returns the full documentation of tools, each named `module::function`.\n\
         async fn describe_tools(tools: Vec<String>) -> Result<String, ToolError>",
    ),
    (
        "mcp_resources_list",
        "/// The resources of the servers; setters `.server(name)`, `.query(words)`.\n\
         async fn mcp_resources_list() -> Result<Vec<FoundResource>, ToolError>\n\
         struct FoundResource { server: String, uri: String, name: String, title: Option<String>, description: \
         Option<String>, mime_type: Option<String>, size: Option<u64>, is_template: bool }",
    ),
    (
        "mcp_resource_read",
        "/// Reads a resource; setter `.server(name)`.\n\
         async fn mcp_resource_read(uri: impl Into<String>) -> Result<Resource, ToolError>\n\
         impl Resource {\n    fn text(&self) -> String;\n    fn bytes(&self) -> Vec<u8>;\n}",
    ),
];

/// The documentation of a name, if it is in scope.
pub(super) fn documentation(name: &str) -> Option<&'static str> {
    let name = name.trim().trim_end_matches("()").trim_end_matches('!');
    KNOWN.iter().find(|(known, _)| *known == name).map(|(_, documentation)| *documentation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_names_are_in_scope() {
        let prelude = include_str!("../../../../templates/bridge/src/prelude.rs");
        for (name, documentation) in KNOWN {
            assert!(name == "args" || prelude.contains(name), "{name}");
            assert!(documentation.contains(if name == "args" { "Args" } else { name }), "{documentation}");
        }
    }

    #[test]
    fn names_are_found_with_parentheses_and_spaces() {
        assert!(documentation("emit()").is_some_and(|documentation| documentation.contains("fn emit")));
        assert!(documentation(" ToolResult ").is_some());
        assert_eq!(documentation("demo::emit"), None);
    }
}
