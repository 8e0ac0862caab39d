//! One execution in the log: from its beginning, which must be in it before anything happens, to its end, which is in it
//! whatever becomes of the execution.
//!
//! Once a record could not be written, all that follows is refused, and [`Execution::broken`] tells whoever runs it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::{Answer, Audit, Record, Who};
use crate::masker::Masker;
use crate::terminal;

/// An execution, or a call that a client makes directly. Dropping one that has not ended records that it was given up.
#[derive(Debug)]
pub(crate) struct Execution {
    audit: Arc<Audit>,
    masker: Masker,
    id: String,
    begun: Instant,
    calls: AtomicU64,
    /// Whether an end is to be recorded still.
    is_open: AtomicBool,
    broken: CancellationToken,
    reason: OnceLock<String>,
}

/// What is recorded of a snippet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Snippet<'a> {
    pub(crate) text: &'a str,
    pub(crate) arguments: Option<&'a RawValue>,
    pub(crate) check_only: bool,
}

/// What became of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done<'a> {
    /// The kind of failure, if it was one: `tool_error` where the tool says so.
    pub(crate) error: Option<&'a str>,
    pub(crate) took: Duration,
    /// Of the answer, as JSON.
    pub(crate) bytes: usize,
}

impl Execution {
    /// Records that a snippet was taken.
    ///
    /// # Errors
    /// It could not be recorded, so it must not be executed: why, in words for the client. So do all others.
    pub(crate) fn begin(
        audit: Arc<Audit>,
        masker: Masker,
        id: &str,
        who: Who<'_>,
        snippet: &Snippet<'_>,
    ) -> Result<Self, String> {
        let execution = Self::open(audit, masker, id);
        let Execution { audit, masker, .. } = &execution;
        execution.record(&Record::ExecutionBegin {
            execution: id,
            who,
            snippet_blake3: blake3::hash(snippet.text.as_bytes()).to_hex().to_string(),
            snippet_bytes: snippet.text.len(),
            arguments: snippet.arguments.and_then(|arguments| audit.arguments(arguments, masker)),
            check_only: snippet.check_only,
        })?;
        execution.is_open.store(true, Ordering::Relaxed);
        Ok(execution)
    }

    /// For calls that a client makes directly: nothing is recorded but them.
    pub(crate) fn open(audit: Arc<Audit>, masker: Masker, id: &str) -> Self {
        Execution {
            audit,
            masker,
            id: id.to_owned(),
            begun: Instant::now(),
            calls: AtomicU64::new(0),
            is_open: AtomicBool::new(false),
            broken: CancellationToken::new(),
            reason: OnceLock::new(),
        }
    }

    /// Records which tools the compiled program can call.
    pub(crate) fn manifest(&self, tools: &[String]) -> Result<(), String> {
        self.record(&Record::Manifest { execution: &self.id, tools })
    }

    /// Records what a person answered.
    pub(crate) fn approval(&self, question: &str, answer: Answer, tools: &[String]) -> Result<(), String> {
        self.record(&Record::Approval { execution: &self.id, question, answer, tools })
    }

    /// Records a call that is about to leave, and numbers it. `who` is for direct calls.
    pub(crate) fn call_begin(
        &self,
        (server, tool): (&str, &str),
        who: Option<Who<'_>>,
        arguments: &RawValue,
    ) -> Result<u64, String> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let arguments = self.audit.arguments(arguments, &self.masker);
        self.record(&Record::CallBegin { execution: &self.id, call, server, tool, who, arguments })?;
        Ok(call)
    }

    /// Records what became of a call.
    pub(crate) fn call_end(
        &self,
        call: u64,
        (server, tool): (&str, &str),
        done: &Done<'_>,
    ) -> Result<(), String> {
        self.record(&Record::CallEnd {
            execution: &self.id,
            call,
            server,
            tool,
            ok: done.error.is_none(),
            error: done.error,
            ms: milliseconds(done.took),
            bytes: done.bytes,
        })
    }

    /// Records how it ended, once.
    pub(crate) fn end(&self, status: &str, error: Option<&str>) -> Result<(), String> {
        if !self.is_open.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let (calls, ms) = (self.calls.load(Ordering::Relaxed), milliseconds(self.begun.elapsed()));
        self.record(&Record::ExecutionEnd { execution: &self.id, status, error, calls, ms })
    }

    /// Is cancelled when a record could not be written: what runs must end, with [`Execution::reason`].
    pub(crate) fn broken(&self) -> &CancellationToken {
        &self.broken
    }

    /// Why it must end.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.reason.get().map(String::as_str)
    }

    fn record(&self, record: &Record<'_>) -> Result<(), String> {
        if let Some(reason) = self.reason.get() {
            return Err(reason.clone());
        }
        self.audit.record(record, &self.masker).map_err(|error| {
            let reason = self.reason.get_or_init(|| self.audit.refusal(&error)).clone();
            self.broken.cancel();
            reason
        })
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        // Nobody is left to refuse anything to.
        if let Err(reason) = self.end("cancelled", Some("given_up")) {
            terminal::say(format_args!("toolsmith: {reason}\n"));
        }
    }
}

/// To the microsecond.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::Value;

    use super::super::{ArgumentsKept, Transport};
    use super::*;

    const WHO: Who<'_> = Who {
        client: Some("agent"),
        version: None,
        session: None,
        transport: Transport::Http,
        address: None,
    };

    const SNIPPET: Snippet<'_> = Snippet { text: "1", arguments: None, check_only: false };

    const DONE: Done<'_> = Done { error: None, took: Duration::from_micros(1500), bytes: 7 };

    fn lines(path: &Path) -> Vec<Value> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn arguments() -> Box<RawValue> {
        RawValue::from_string("{}".to_owned()).unwrap()
    }

    fn begin(path: &Path) -> Result<Execution, String> {
        let audit = Arc::new(Audit::open(path, ArgumentsKept::Hash).unwrap());
        Execution::begin(audit, Masker::default(), "e-1", WHO, &SNIPPET)
    }

    #[test]
    fn an_execution_stands_in_the_log_from_its_beginning_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let execution = begin(&path).unwrap();
        let tool = ("demo", "add");
        execution.manifest(&["demo.add".to_owned()]).unwrap();
        execution.approval("May it?", Answer::Once, &["demo.add".to_owned()]).unwrap();
        let call = execution.call_begin(tool, None, &arguments()).unwrap();
        execution.call_end(call, tool, &DONE).unwrap();
        let failed = execution.call_begin(tool, None, &arguments()).unwrap();
        execution.call_end(failed, tool, &Done { error: Some("timeout"), ..DONE }).unwrap();
        execution.end("ok", None).unwrap();
        drop(execution);
        let lines = lines(&path);
        let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
        let calls = ["call_begin", "call_end", "call_begin", "call_end"];
        let expected =
            [&["execution_begin", "manifest", "approval"], &calls[..], &["execution_end"]].concat();
        assert_eq!(events, expected);
        assert!(lines.iter().all(|line| line["execution"] == "e-1"));
        assert_eq!(
            (&lines[4]["ms"], &lines[4]["ok"], &lines[4]["bytes"]),
            (&1.5.into(), &true.into(), &7.into())
        );
        assert_eq!((&lines[5]["call"], &lines[6]["error"]), (&2.into(), &"timeout".into()));
        assert_eq!((&lines[7]["calls"], &lines[7]["status"]), (&2.into(), &"ok".into()), "and no second end");
    }

    #[test]
    fn what_is_given_up_is_in_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        drop(begin(&path).unwrap());
        let lines = lines(&path);
        assert_eq!((&lines[1]["status"], &lines[1]["error"]), (&"cancelled".into(), &"given_up".into()));
    }

    #[test]
    fn direct_calls_have_no_frame() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let audit = Arc::new(Audit::open(&path, ArgumentsKept::None).unwrap());
        let direct = Execution::open(audit, Masker::default(), "d-1");
        let call = direct.call_begin(("demo", "add"), Some(WHO), &arguments()).unwrap();
        direct.call_end(call, ("demo", "add"), &DONE).unwrap();
        drop(direct);
        let lines = lines(&path);
        assert_eq!(lines.len(), 2);
        assert_eq!((&lines[0]["who"]["transport"], &lines[0]["arguments"]), (&"http".into(), &Value::Null));
    }

    #[test]
    fn nothing_goes_on_that_can_not_be_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let execution = begin(&path).unwrap();
        assert!(!execution.broken().is_cancelled());
        // What another one puts in the file's place is not written to.
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let refused = execution.call_begin(("demo", "add"), None, &arguments()).unwrap_err();
        assert!(refused.contains("can't be written"), "{refused}");
        assert!(execution.broken().is_cancelled());
        assert_eq!(execution.reason(), Some(refused.as_str()));
        // Not even when there is a file again: a gap is in the log by now.
        std::fs::remove_dir(&path).unwrap();
        assert_eq!(execution.call_begin(("demo", "add"), None, &arguments()).unwrap_err(), refused);
        std::fs::create_dir(&path).unwrap();
        let audit = Arc::clone(&execution.audit);
        assert!(Execution::begin(audit, Masker::default(), "e-2", WHO, &SNIPPET).is_err());
    }
}
