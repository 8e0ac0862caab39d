//! Marks the answers of tools that have a view (MCP Apps), so that a program can hand the view on (`ToolResult::view`).

use std::collections::BTreeMap;

use mcp::Host;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::resource_address::of_resource;
use crate::tool_list::ToolList;

/// The member of `_meta` with the mark; the bridge reads it (`templates/bridge/src/view.rs`).
const MARK: &str = "io.toolsmith/view";

/// The members of an object, each as its text.
type Members = BTreeMap<String, Box<RawValue>>;

/// The mark of the answer to a call; `None` if the tool has no view. Without an address, the client shows no views.
pub(crate) fn mark(
    (server, tool): (&str, &str),
    tools: &ToolList,
    arguments: &RawValue,
    host: &dyn Host,
) -> Option<Box<RawValue>> {
    let (_, view) = tools.views().find(|(name, _)| *name == tool)?;
    let mark = match host.shows_apps() {
        true => {
            json!({ "server": server, "tool": tool, "uri": of_resource(server, view), "arguments": arguments })
        }
        false => json!({ "server": server, "tool": tool }),
    };
    to_raw_value(&mark).ok()
}

/// The answer with the mark; unchanged if it is not an object.
pub(crate) fn marked(answer: Box<RawValue>, mark: Box<RawValue>) -> Box<RawValue> {
    let with_mark = || {
        let mut members: Members = serde_json::from_str(answer.get())?;
        let known = members.get("_meta").and_then(|meta| serde_json::from_str::<Members>(meta.get()).ok());
        let mut meta = known.unwrap_or_default();
        meta.insert(MARK.to_owned(), mark);
        members.insert("_meta".to_owned(), to_raw_value(&meta)?);
        to_raw_value(&members)
    };
    with_mark().unwrap_or(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn a_mark_is_added_and_everything_else_stays() {
        let answer = r#"{"content":[],"structuredContent":{"n":1.10},"_meta":{"a":9007199254740993}}"#;
        let marked_answer = marked(raw(answer), raw("{}"));
        let expected = concat!(
            r#"{"_meta":{"a":9007199254740993,"io.toolsmith/view":{}},"#,
            r#""content":[],"structuredContent":{"n":1.10}}"#
        );
        assert_eq!(marked_answer.get(), expected);
        assert_eq!(marked(raw("[1]"), raw("{}")).get(), "[1]");
        assert_eq!(marked(raw(r#"{"_meta":7}"#), raw("1")).get(), r#"{"_meta":{"io.toolsmith/view":1}}"#);
    }
}
