//! The form of messages on standard error: text for people, or JSON lines for programs that collect logs. The command
//! line chooses once, before any terminal is created.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use serde_json::{Map, Value};
use system::calendar::timestamp;

use crate::masker::masked;

/// The form of messages on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// Lines of text.
    #[default]
    Text,
    /// One JSON object on each line, with `time` (RFC 3339), `level`, `message`, and further members.
    Json,
}

/// The importance of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// A detail, shown only if verbose.
    Debug,
    /// Events, shown unless quiet.
    Info,
    /// Something may be wrong.
    Warning,
    /// Something does not work.
    Error,
}

impl Level {
    /// The name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Sets the form of all messages of this process from now on.
pub fn set_log_format(format: LogFormat) {
    IS_JSON.store(format == LogFormat::Json, Ordering::Relaxed);
}

/// Whether messages are JSON lines.
pub(crate) fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// A line with its end. Secrets are masked, in members too.
pub(crate) fn json_line(level: Level, message: &str, members: &Map<String, Value>) -> String {
    let mut line = Map::new();
    line.insert("time".to_owned(), timestamp(SystemTime::now()).into());
    line.insert("level".to_owned(), level.name().into());
    line.insert("message".to_owned(), masked(message.trim_end()).into());
    for (name, value) in members {
        let value = value.as_str().map_or_else(|| value.clone(), |text| masked(text).into());
        line.insert(name.clone(), value);
    }
    format!("{}\n", Value::Object(line))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_of_several_lines_is_one_line_of_json() {
        let members = json!({ "execution": "e-1", "ms": 1.5 }).as_object().unwrap().clone();
        let line = json_line(Level::Warning, "two\nlines\u{1b}[31m\n", &members);
        assert_eq!(line.matches('\n').count(), 1, "{line}");
        let mut read: Value = serde_json::from_str(&line).unwrap();
        let time = read.as_object_mut().unwrap().remove("time").unwrap();
        assert!(time.as_str().unwrap().ends_with('Z'), "{time}");
        let expected =
            json!({ "level": "warning", "message": "two\nlines\u{1b}[31m", "execution": "e-1", "ms": 1.5 });
        assert_eq!(read, expected);
    }
}
