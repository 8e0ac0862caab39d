//! Servers' resources for models: the names of their functions, queries, templates and similar names.

pub use runner::READ;
use serde_json::Value;
use snippet::nearest;

use config::{Config, Permission};

/// The function that lists resources, for snippets and agents. Permissions treat it as a tool of each server, like the
/// one that reads them ([`READ`]).
pub const LIST: &str = "mcp_resources_list";

/// The name by which access to the prompts of a server is permitted to a subject.
pub const PROMPT: &str = "mcp_prompt_get";

/// Maximum bytes of an address to look up.
pub(crate) const MAX_ADDRESS: usize = 8 << 10;

/// Whether a name in permissions refers to resources, not to a tool.
pub(crate) fn is_name(tool: &str) -> bool {
    tool == LIST || tool == READ
}

/// Whether agents and programs may list a server's resources.
pub fn may_be_listed(config: &Config, server: &str) -> bool {
    !config.denies(server, LIST) && config.permission(server, LIST) != Permission::Deny
}

/// Whether each word of `query` occurs in a resource (MCP's `Resource` or `ResourceTemplate`) or its server's name,
/// ignoring case.
pub fn fits_query(server: &str, resource: &Value, query: &str) -> bool {
    const MEMBERS: [&str; 6] = ["uri", "uriTemplate", "name", "title", "description", "mimeType"];
    let searched = MEMBERS.iter().filter_map(|member| resource.get(*member).and_then(Value::as_str));
    let searched =
        searched.fold(server.to_lowercase(), |searched, text| format!("{searched}\n{}", text.to_lowercase()));
    query.to_lowercase().split_whitespace().all(|word| searched.contains(word))
}

/// Whether an address may come from a template (RFC 6570): it contains the template's literal parts in order, from
/// its start.
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

/// The end of an error message about `unknown`: similar names or addresses, if any.
pub fn meant<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(unknown, known).as_slice() {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates_match_their_expansions() {
        assert!(fits_template("test://template/{id}/data", "test://template/123/data"));
        assert!(fits_template("file:///{path}", "file:///etc/hosts"));
        assert!(fits_template("plain://x", "plain://x"));
        assert!(!fits_template("plain://x", "plain://xy"));
        assert!(!fits_template("test://template/{id}/data", "test://template/123/date"));
        assert!(!fits_template("other://{id}", "test://1"));
    }

    #[test]
    fn every_word_of_a_query_must_match() {
        let resource =
            json!({ "uri": "book://text", "name": "Novel", "description": "A long one.", "size": 7 });
        for query in ["", "novel", "LONG book", "shelf text"] {
            assert!(fits_query("shelf", &resource, query), "{query}");
        }
        assert!(!fits_query("shelf", &resource, "novel short") && !fits_query("shelf", &resource, "7"));
    }

    #[test]
    fn similar_names_are_suggested() {
        assert_eq!(meant("book://txt", ["book://text", "note://x"]), "; did you mean book://text?");
        assert_eq!(meant("q", ["book://text"]), "");
    }
}
