//! The arguments and results of an execution's calls, as far as the history keeps them.

use std::collections::{BTreeMap, VecDeque};

use gateway::recording::{RECORDING_LIMIT, RecordedAnswer, RecordedRequest, ReplayableRun};
use history::{Call, Execution, Reader};
use maud::{Markup, html};
use serde_json::Value;
use serde_json::value::RawValue;
use server::tool_result_files::text;

use crate::error::PageError;
use crate::text::{line, lines};

/// Limit on what a page shows of all calls together, and of one of them at least and at most, in bytes.
const ALL: usize = 2 << 20;
const LEAST: usize = 1 << 10;
const MOST: usize = 16 << 10;

/// The known exchanges, by the numbers of their calls.
#[derive(Debug, Default)]
pub(crate) struct Exchanges {
    recorded: BTreeMap<u64, Exchange>,
    /// The reason why the recording can't be read.
    wrong: Option<String>,
}

#[derive(Debug)]
struct Exchange {
    arguments: String,
    result: String,
}

impl Exchanges {
    /// Reads the recording of an execution, if there is one.
    ///
    /// # Errors
    /// If the history can't be read.
    pub(crate) fn of(reader: Option<&Reader>, execution: &Execution) -> Result<Self, PageError> {
        let id = &execution.summary.id;
        let recording = match reader.filter(|_| execution.is_recorded) {
            Some(reader) => reader.recording(id, RECORDING_LIMIT)?.map(|text| (reader, text)),
            None => None,
        };
        let Some((reader, text)) = recording else { return Ok(Exchanges::default()) };
        match ReplayableRun::read(id, &text) {
            Ok(run) => Ok(Exchanges { recorded: matched(reader, &execution.calls_made, run)?, wrong: None }),
            Err(failure) => {
                Ok(Exchanges { recorded: BTreeMap::new(), wrong: Some(failure.report.for_terminal()) })
            }
        }
    }

    /// The arguments of a call.
    pub(crate) fn arguments(&self, call: &Call) -> Option<String> {
        let kept = call.arguments.as_ref();
        let recorded = self.recorded.get(&call.number).map(|exchange| exchange.arguments.clone());
        recorded
            .or_else(|| Some(kept?.value.as_ref()?.to_string()))
            .or_else(|| Some(format!("{}…", kept?.text.as_ref()?)))
    }

    /// The result of a call.
    pub(crate) fn result(&self, call: &Call) -> Option<&str> {
        self.recorded.get(&call.number).map(|exchange| exchange.result.as_str())
    }

    /// The line of configuration with which later executions have what this one lacks.
    pub(crate) fn note(&self, execution: &Execution) -> Markup {
        let calls = &execution.calls_made;
        let lacks = match (calls.is_empty() || execution.summary.ended.is_none(), execution.is_recorded) {
            (true, _) | (_, true) => None,
            _ if calls.iter().all(|call| self.arguments(call).is_some()) => {
                Some("The results of these calls are")
            }
            _ => Some("The arguments and results of these calls are"),
        };
        html! {
            @if let Some(wrong) = &self.wrong { p.note { (lines(wrong)) } }
            @if execution.is_recorded && self.wrong.is_none() && !calls.iter().all(|call| self.recorded.contains_key(&call.number)) {
                p.note { "Calls without a result here were refused, have not ended, or had a secret in their arguments." }
            }
            @if let Some(lacks) = lacks {
                p.note {
                    (lacks) " not kept. To keep and show them from the next execution on, write "
                    code { "history: { recordings: true }" } " in " code { (own_file()) }
                    ". Results can be confidential: they stay on this machine, in the file of the history."
                }
            }
        }
    }
}

/// The configuration of the user: no other can have more kept.
fn own_file() -> String {
    let existing = config::layers::user_file().ok().flatten();
    let file = existing.or_else(|| Some(config::user_folder()?.join("config.yaml")));
    file.map_or_else(|| "your own configuration".to_owned(), |file| line(&file.to_string_lossy()))
}

/// Finds the call of each recorded request: the one with the same tool and arguments, in the order of the answers.
fn matched(
    reader: &Reader,
    calls: &[Call],
    run: ReplayableRun,
) -> Result<BTreeMap<u64, Exchange>, PageError> {
    let room = (ALL / calls.len().max(1)).clamp(LEAST, MOST);
    let mut answered: BTreeMap<(String, String, String), VecDeque<Exchange>> = BTreeMap::new();
    for recorded in run.recording.calls {
        if let RecordedRequest::Tool { server, tool, arguments } = recorded.request {
            let hash = reader.hash(&arguments)?;
            let exchange = Exchange {
                arguments: cut(arguments.get(), room),
                result: cut(&result(&recorded.answer), room),
            };
            answered.entry((server, tool, hash)).or_default().push_back(exchange);
        }
    }
    // Refused calls were not recorded.
    let mut ended: Vec<&Call> =
        calls.iter().filter(|call| call.sent_ms.is_some() && call.ended_ms.is_some()).collect();
    ended
        .sort_by(|one, other| one.ended_ms.partial_cmp(&other.ended_ms).unwrap_or(std::cmp::Ordering::Equal));
    let exchange = |call: &&Call| {
        let hash = call.arguments.as_ref()?.hash.clone();
        let found = answered.get_mut(&(call.server.clone(), call.tool.clone(), hash))?.pop_front()?;
        Some((call.number, found))
    };
    Ok(ended.iter().filter_map(exchange).collect())
}

fn result(answer: &RecordedAnswer) -> String {
    match answer {
        RecordedAnswer::Value(value) => {
            indented(text(&serde_json::from_str::<Value>(value.get()).unwrap_or_default()))
        }
        RecordedAnswer::Failure(failure) => failure.message.clone(),
    }
}

/// A text with indentation if it is JSON. Numbers keep their text.
fn indented(text: String) -> String {
    let value = serde_json::from_str::<&RawValue>(&text).and_then(strict_json::value_with_numbers);
    let written = value.and_then(|value| serde_json::to_string_pretty(&value));
    written.map_or(text, |written| strict_json::with_numbers(&written).into_owned())
}

/// The beginning of a text that is too long.
fn cut(text: &str, room: usize) -> String {
    if text.len() <= room {
        return text.to_owned();
    }
    let shown = text.get(..text.floor_char_boundary(room)).unwrap_or_default();
    format!("{shown}\n[cut: it has {} bytes]", text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_and_other_texts_stay() {
        assert_eq!(indented("{\"b\":1.50,\"a\":[]}".to_owned()), "{\n  \"b\": 1.50,\n  \"a\": []\n}");
        assert_eq!(indented("two words".to_owned()), "two words");
        assert_eq!(cut("äöü", 3), "ä\n[cut: it has 6 bytes]");
    }
}
