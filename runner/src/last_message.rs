//! Recognises the message with which rustc announces its exit status.
//!
//! After it, rustc only frees its memory, for 5 ms: a tenth of the time of a small snippet.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use serde::Deserialize;

/// Makes rustc announce files that it has written (The rustc book, "JSON Output", "Artifact notifications").
pub(crate) const OPTION: &str = "--json=artifacts";

/// How many bytes of a line are kept: more than any of these messages has.
const KEPT: usize = 1024;

/// Reads messages as they arrive.
#[derive(Default)]
pub(crate) struct LastMessage {
    /// The beginning of the line that is not complete yet.
    line: Vec<u8>,
    status: Option<ExitStatus>,
}

/// What is used of a message: a diagnostic or a notification.
#[derive(Deserialize)]
struct Message {
    #[serde(rename = "$message_type")]
    kind: String,
    emit: Option<String>,
    message: Option<String>,
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
    let message: Message = serde_json::from_slice(line).ok()?;
    let code = match message.kind.as_str() {
        "artifact" if matches!(message.emit.as_deref(), Some("link" | "obj")) => 0,
        "diagnostic" if message.message?.starts_with("aborting due to ") => 1,
        _ => return None,
    };
    // As wait(2) returns it.
    Some(ExitStatus::from_raw(code << 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINKED: &str = "{\"$message_type\":\"artifact\",\"artifact\":\"program\",\"emit\":\"link\"}\n";
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
        for (message, status) in [(LINKED, 0), (FAILED, 1)] {
            assert_eq!(code(&[message]), Some(status));
            assert_eq!(code(&["plain text\n", &message[..30], &message[30..]]), Some(status));
            assert_eq!(code(&[message.trim_end()]), None);
        }
    }

    #[test]
    fn other_messages_are_none() {
        let quoted =
            serde_json::json!({ "$message_type": "diagnostic", "message": LINKED }).to_string() + "\n";
        let other = LINKED.replace("link\"", "metadata\"");
        let long = "x".repeat(2 * KEPT) + LINKED;
        for message in [&quoted, &other, &long, "\n", "{}\n"] {
            assert_eq!(code(&[message]), None, "{message}");
        }
        assert_eq!(code(&[&long, LINKED]), Some(0));
    }
}
