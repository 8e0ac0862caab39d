//! Servers' resources as models get at them: under which names, which of them fit a question, and which may be meant.

use runner::nearest;
use serde_json::Value;

use config::{Config, Permission};

/// What lists resources, in snippets and for agents. Permissions name it as if it were a tool of each server.
pub const LIST: &str = "mcp_resources_list";

/// What reads one, likewise.
pub const READ: &str = "mcp_resource_read";

/// The longest address that is looked for, in bytes.
pub(crate) const LONGEST_ADDRESS: usize = 8 << 10;

/// Whether permissions mean resources by this name, and not a tool.
pub(crate) fn is_name(tool: &str) -> bool {
    tool == LIST || tool == READ
}

/// Whether agents and programs may see which resources a server has.
pub fn may_be_listed(config: &Config, server: &str) -> bool {
    !config.denies(server, LIST) && config.permission(server, LIST) != Permission::Deny
}

/// Whether each word of `query` stands somewhere in what is said of a resource (MCP's `Resource` or
/// `ResourceTemplate`), whatever its case.
pub fn fits_query(server: &str, resource: &Value, query: &str) -> bool {
    const MEMBERS: [&str; 6] = ["uri", "uriTemplate", "name", "title", "description", "mimeType"];
    let said = MEMBERS.iter().filter_map(|member| resource.get(*member).and_then(Value::as_str));
    let said = said.fold(server.to_lowercase(), |said, text| format!("{said}\n{}", text.to_lowercase()));
    query.to_lowercase().split_whitespace().all(|word| said.contains(word))
}

/// Whether an address may come of a template (RFC 6570): its literal parts stand in it, in order, from the beginning.
pub fn fits_template(template: &str, address: &str) -> bool {
    let mut rest = address;
    let mut is_first = true;
    let mut parts = template;
    loop {
        let (literal, behind) =
            parts.split_once('{').map_or((parts, None), |(literal, behind)| (literal, Some(behind)));
        let found = if is_first { rest.starts_with(literal).then_some(0) } else { rest.find(literal) };
        let Some(at) = found else { return false };
        rest = rest.get(at + literal.len()..).unwrap_or_default();
        is_first = false;
        match behind.and_then(|behind| behind.split_once('}')) {
            Some((_, next)) => parts = next,
            None => return behind.is_some() || template.ends_with('}') || rest.is_empty(),
        }
    }
}

/// What is said behind an error about `wanted`: the names or addresses that may be meant, if any.
pub fn meant<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(wanted, known).as_slice() {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates_fit_what_they_can_become() {
        assert!(fits_template("test://template/{id}/data", "test://template/123/data"));
        assert!(fits_template("file:///{path}", "file:///etc/hosts"));
        assert!(fits_template("plain://x", "plain://x"));
        assert!(!fits_template("plain://x", "plain://xy"));
        assert!(!fits_template("test://template/{id}/data", "test://template/123/date"));
        assert!(!fits_template("other://{id}", "test://1"));
    }

    #[test]
    fn each_word_of_a_query_has_to_stand_somewhere() {
        let resource =
            json!({ "uri": "book://text", "name": "Novel", "description": "A long one.", "size": 7 });
        for query in ["", "novel", "LONG book", "shelf text"] {
            assert!(fits_query("shelf", &resource, query), "{query}");
        }
        assert!(!fits_query("shelf", &resource, "novel short") && !fits_query("shelf", &resource, "7"));
    }

    #[test]
    fn what_may_be_meant_is_told() {
        assert_eq!(meant("book://txt", ["book://text", "note://x"]), "; did you mean book://text?");
        assert_eq!(meant("q", ["book://text"]), "");
    }
}
