//! Records an execution or a direct call in the audit log, and refuses what can't be recorded.

use std::sync::Arc;

use audit::{Answer, Arguments, Record, Unrecorded};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use gateway::permission::possible_flows;
use parking_lot::Mutex;
use runner::{
    Answered, AnsweredCall, Begin, CachedAnswer, EndedExecution, Event, FailureKind, NewExecution,
    QuestionKind, Refused, Sink,
};
use serde_json::value::{RawValue, to_raw_value};

use super::context::RequestContext;

/// The records that name the requester.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// The begin of the execution.
    Execution,
    /// Each call, because there is no execution.
    Call,
}

/// The sink of the audit log.
pub(super) struct AuditSink {
    context: Arc<RequestContext>,
    names: Names,
    /// A record that could not be written when nothing could be refused. What comes next is refused.
    missing: Mutex<Option<Refused>>,
}

impl AuditSink {
    pub(super) fn new(context: Arc<RequestContext>, names: Names) -> Self {
        AuditSink { context, names, missing: Mutex::default() }
    }

    fn write(&self, record: &Record<'_>) -> Result<(), Refused> {
        let settings = &self.context.sinks.settings;
        let Some(audit) = &settings.audit else { return Ok(()) };
        audit.record(record, &settings.masker).map_err(|unrecorded| refused(&unrecorded))
    }

    fn kept(&self, arguments: &RawValue) -> Option<Arguments> {
        let settings = &self.context.sinks.settings;
        settings.audit.as_ref()?.arguments(arguments, &settings.masker)
    }

    fn missing(&self) -> Result<(), Refused> {
        self.missing.lock().take().map_or(Ok(()), Err)
    }

    fn record(&self, begin: &Begin<'_>) -> Result<(), Refused> {
        let execution = &*self.context.id;
        match begin {
            Begin::Execution(new) => self.execution(new),
            Begin::Admission { tools } => {
                let names: Vec<String> =
                    tools.iter().map(|(server, tool)| format!("{server}.{tool}")).collect();
                let flows = possible_flows(&self.context.sinks.settings.config.flows, &names);
                self.write(&Record::Manifest { execution, tools: &names, flows: &flows })
            }
            Begin::Call { call, arguments, .. } => self.write(&Record::CallBegin {
                execution,
                call: call.number,
                server: call.server,
                tool: call.tool,
                who: (self.names == Names::Call).then(|| self.context.requester.who()),
                arguments: self.kept(arguments),
            }),
            Begin::Refusal { server, tool, arguments } => self.write(&Record::CallRefused {
                execution,
                server,
                tool,
                who: self.context.requester.who(),
                arguments: self.kept(arguments),
            }),
            Begin::Answer(answered) => self.answer(answered),
            Begin::Outcome(ended) => self.end(ended),
            Begin::Session { .. } | Begin::Program => Ok(()),
        }
    }

    fn execution(&self, new: &NewExecution<'_>) -> Result<(), Refused> {
        let has_arguments = new.arguments.as_object().is_some_and(|arguments| !arguments.is_empty());
        let arguments = has_arguments.then(|| to_raw_value(new.arguments).ok()).flatten();
        self.write(&Record::ExecutionBegin {
            execution: &self.context.id,
            who: self.context.requester.who(),
            snippet_blake3: blake3::hash(new.code.as_bytes()).to_hex().to_string(),
            snippet_bytes: new.code.len(),
            arguments: arguments.and_then(|arguments| self.kept(&arguments)),
            check_only: new.check_only,
        })
    }

    fn answer(&self, answered: &AnsweredCall<'_>) -> Result<(), Refused> {
        self.write(&Record::CallEnd {
            execution: &self.context.id,
            call: answered.call.number,
            server: answered.call.server,
            tool: answered.call.tool,
            ok: answered.is_ok(),
            error: answered.error(),
            ms: answered.duration.as_secs_f64() * 1e3,
            bytes: answered.bytes(),
            cached: answered.cached().map(CachedAnswer::of),
        })
    }

    fn end(&self, ended: &EndedExecution<'_>) -> Result<(), Refused> {
        let EndedExecution { status, error, calls, refused, duration } = *ended;
        let counts = audit::Refused {
            forged: refused.forged,
            denied: refused.denied,
            invalid: refused.invalid,
            malformed: refused.malformed,
        };
        let named: Vec<String> =
            refused.tools.iter().map(|(name, count)| format!("{name} {count}")).collect();
        self.write(&Record::ExecutionEnd {
            execution: &self.context.id,
            status,
            error,
            calls,
            calls_refused: (!refused.is_empty()).then_some(counts),
            refused_tools: &named,
            ms: duration.as_secs_f64() * 1e3,
        })
    }

    /// Records the answer to a question about permission. Only the questions that follow a choice are recorded.
    fn approval(&self, answered: &Answered<'_>) -> Result<(), Refused> {
        let answer = match answered.answer {
            "choose" => return Ok(()),
            "once" => Answer::Once,
            "session" => Answer::Session,
            "always" => Answer::Always,
            "late" => Answer::Late,
            "nobody" | "busy" => Answer::Nobody,
            "denied" => Answer::Denied,
            _ => Answer::No,
        };
        let Answered { about, tools, flows, .. } = *answered;
        let execution = &*self.context.id;
        self.write(&Record::Approval { execution, question: about.word(), answer, tools, flows })
    }
}

impl Sink for AuditSink {
    fn begin<'a>(&'a self, begin: &'a mut Begin<'_>) -> BoxFuture<'a, Result<(), Refused>> {
        let is_end = matches!(begin, Begin::Answer(_) | Begin::Outcome(_));
        let recorded = match self.missing() {
            // An end has happened, so it is recorded although it is withheld.
            Err(missing) if is_end => self.record(begin).and(Err(missing)),
            Err(missing) => Err(missing),
            Ok(()) => self.record(begin),
        };
        ready(recorded).boxed()
    }

    fn note(&self, event: &Event<'_>) {
        if let Event::Answered(answered) = event
            && answered.about != QuestionKind::Server
            && let Err(missing) = self.approval(answered)
        {
            *self.missing.lock() = Some(missing);
        }
    }
}

/// The refusal of an action that can't be recorded.
fn refused(unrecorded: &Unrecorded) -> Refused {
    Refused { kind: FailureKind::Unavailable, reason: "audit", message: unrecorded.to_string() }
}
