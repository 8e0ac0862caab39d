//! Recognises the message with which rustc announces its exit status.
//!
//! After it, rustc only frees its memory, for 5 ms: a tenth of the time of a small snippet.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use serde::Deserialize;

/// Makes rustc announce files that it has written (The rustc book, "JSON Output", "Artifact notifications").
pub(crate) const OPTION: &str = "--json=artifacts";

/// The kind of file after which nothing is left to do. After it has linked, rustc still removes files.
const OBJECT: &str = "obj";

/// The number of bytes of a line that are kept: more than any of these messages has.
const KEPT: usize = 1024;

/// Reads messages as they arrive.
#[derive(Default)]
pub(crate) struct LastMessage {
    /// The beginning of the line that is not complete yet.
    line: Vec<u8>,
    status: Option<ExitStatus>,
}

/// A notification about a file.
#[derive(Deserialize)]
struct Artifact {
    emit: String,
}

impl LastMessage {
    /// Reads more of the messages; returns whether the last one is among them.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> bool {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let kept = part.len().min(KEPT.saturating_sub(self.line.len()));
            self.line.extend_from_slice(&part[..kept]);
            if part.ends_with(b"\n") {
                self.status = self.status.or_else(|| announced(&self.line));
                self.line.clear();
            }
        }
        self.status.is_some()
    }

    /// The announced status.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        self.status
    }
}

/// The status that a message announces.
fn announced(line: &[u8]) -> Option<ExitStatus> {
    let code = if snippet::is_summary(line) {
        1
    } else if serde_json::from_slice(line).is_ok_and(|artifact: Artifact| artifact.emit == OBJECT) {
        0
    } else {
        return None;
    };
    // As wait(2) returns it.
    Some(ExitStatus::from_raw(code << 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPILED: &str = "{\"$message_type\":\"artifact\",\"artifact\":\"/out\",\"emit\":\"obj\"}\n";
    const FAILED: &str = "{\"$message_type\":\"diagnostic\",\"message\":\"aborting due to 2 previous errors; 1 warning \
                          emitted\",\"code\":null,\"level\":\"error\",\"spans\":[],\"children\":[],\"rendered\":\"…\"}\n";

    fn code(parts: &[&str]) -> Option<i32> {
        let mut last = LastMessage::default();
        for part in parts {
            last.read(part.as_bytes());
        }
        last.status().and_then(|status| status.code())
    }

    #[test]
    fn last_messages_are_recognised_in_parts() {
        for (message, status) in [(COMPILED, 0), (FAILED, 1)] {
            assert_eq!(code(&[message]), Some(status));
            assert_eq!(code(&["plain text\n", &message[..30], &message[30..]]), Some(status));
            assert_eq!(code(&[message.trim_end()]), None);
        }
    }

    #[test]
    fn other_messages_are_none() {
        let quoted =
            serde_json::json!({ "$message_type": "diagnostic", "message": COMPILED }).to_string() + "\n";
        let linked = COMPILED.replace("obj", "link");
        let long = "x".repeat(2 * KEPT) + COMPILED;
        // The message of `compile_error!("aborting due to …")`.
        let span = r#"{"file_name":"snippet.rs","byte_start":0,"byte_end":1,"line_start":1,"line_end":1,"column_start":1,"column_end":2,"is_primary":true}"#;
        let own = FAILED.replace("\"spans\":[]", &format!("\"spans\":[{span}]"));
        for message in [&quoted, &linked, &long, &own, "\n", "{}\n"] {
            assert_eq!(code(&[message]), None, "{message}");
        }
        assert_eq!(code(&[&long, COMPILED]), Some(0));
    }
}
