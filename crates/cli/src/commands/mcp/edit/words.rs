//! Reports of the commands that change servers.

use clients::edit::Entry;
use config::command_line;
use serde_json::{Value as Json, json};
use terminal::say_note;

pub(crate) fn report(text: &str) {
    say_note(format_args!("toolsmith: {text}\n"));
}

/// Describes the command or the URL of a new server.
pub(crate) fn describe(name: &str, entry: &Entry) -> String {
    let get = |key: &str| entry.iter().find(|(other, _)| other == key).map(|(_, value)| value);
    let text = |key: &str| get(key).and_then(Json::as_str);
    let args = get("args").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let confined = if get("sandbox").is_some_and(|value| *value != json!(false)) { " confined" } else { "" };
    match (text("command"), text("url")) {
        (Some(command), _) => {
            format!(
                "{name} starts{confined}: {}",
                command_line(command, args.iter().filter_map(Json::as_str))
            )
        }
        (None, url) => match text("openapi") {
            Some(document) => format!("{name} calls the API of: {document}"),
            None => format!("{name} connects to: {}", url.unwrap_or("?")),
        },
    }
}
