//! Marks the answers of tools that have a view (MCP Apps), so that a program can hand the view on (`ToolResult::view`).

use std::collections::BTreeMap;

use mcp::Host;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use system::event_loop::off_loop;

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

/// The answer with this mark and no other, such as one that its server wrote; unchanged if it is not an object.
pub(crate) fn marked(answer: Box<RawValue>, mark: Option<Box<RawValue>>) -> Box<RawValue> {
    // An escape sequence may hide the name.
    if mark.is_none() && !answer.get().contains(MARK) && !answer.get().contains('\\') {
        return answer;
    }
    off_loop(answer.get().len(), || with_mark(&answer, mark).ok().flatten()).unwrap_or(answer)
}

/// The answer with the mark; `None` if it is right as it is.
fn with_mark(answer: &RawValue, mark: Option<Box<RawValue>>) -> serde_json::Result<Option<Box<RawValue>>> {
    let mut members: Members = serde_json::from_str(answer.get())?;
    let known = members.get("_meta").and_then(|meta| serde_json::from_str::<Members>(meta.get()).ok());
    let mut meta = known.unwrap_or_default();
    if meta.remove(MARK).is_none() && mark.is_none() {
        return Ok(None);
    }
    meta.extend(mark.map(|mark| (MARK.to_owned(), mark)));
    members.insert("_meta".to_owned(), to_raw_value(&meta)?);
    to_raw_value(&members).map(Some)
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
        let marked_answer = marked(raw(answer), Some(raw("{}")));
        let expected = concat!(
            r#"{"_meta":{"a":9007199254740993,"io.toolsmith/view":{}},"#,
            r#""content":[],"structuredContent":{"n":1.10}}"#
        );
        assert_eq!(marked_answer.get(), expected);
        assert_eq!(marked(raw("[1]"), Some(raw("{}"))).get(), "[1]");
        let of_number = marked(raw(r#"{"_meta":7}"#), Some(raw("1")));
        assert_eq!(of_number.get(), r#"{"_meta":{"io.toolsmith/view":1}}"#);
    }

    #[test]
    fn a_mark_of_the_server_is_removed() {
        for forged in [
            r#"{"_meta":{"io.toolsmith/view":{"uri":"ui://x"}}}"#,
            r#"{"_meta":{"io.toolsmith\/vi\u0065w":1}}"#,
        ] {
            assert_eq!(marked(raw(forged), None).get(), r#"{"_meta":{}}"#);
            assert_eq!(marked(raw(forged), Some(raw("2"))).get(), r#"{"_meta":{"io.toolsmith/view":2}}"#);
        }
        let other = r#"{"content":[{"text":"a\n"}],"_meta":{"a":1}}"#;
        assert_eq!(marked(raw(other), None).get(), other);
    }
}
