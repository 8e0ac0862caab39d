//! Records an execution or a direct call in the audit log, the metrics, and the spans of a trace.

mod call;
mod context;
mod requester;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use gateway::permission::rules::NotInForce;
use gateway::resources::READ;
use gateway::sessions::Sessions;
use runner::{Answer, CallFailure, CallsRefused, FailureKind, Question, Refusal, SessionError, ToolHost};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use tracing::Instrument as _;

use call::Call;
use context::ExecutionContext;

pub(crate) use requester::{ClientInfo, Requester};

use super::answer_shapes::AnswerShapes;
use super::approval::{Approval, Approver};
use super::settings_in_force::SettingsInForce;
use crate::audit::{Record, Refused, Unrecorded};
use crate::sinks::Sinks;
use crate::telemetry::meters;

/// Records one execution, or one direct call.
pub(crate) struct ExecutionRecorder {
    context: ExecutionContext,
    calls: AtomicU64,
    /// The number of the next call or resource reading.
    next: AtomicU64,
    /// The refused calls.
    refused: Mutex<CallsRefused>,
    started: Instant,
    /// Whether the begin of an execution is recorded, and its end is not.
    is_open: AtomicBool,
}

impl Drop for ExecutionRecorder {
    fn drop(&mut self) {
        if self.is_open.load(Ordering::Relaxed) {
            // The failure can't refuse anything any more.
            let _ = self.end("cancelled", Some("given_up"));
        }
    }
}

impl ExecutionRecorder {
    /// Starts with a request that calls `tool` of this server.
    pub(crate) fn begin(sinks: Sinks, requester: Requester, id: String, tool: &str) -> Self {
        ExecutionRecorder {
            context: ExecutionContext::new(sinks, requester, id, tool),
            calls: AtomicU64::new(0),
            next: AtomicU64::new(0),
            refused: Mutex::default(),
            started: Instant::now(),
            is_open: AtomicBool::new(false),
        }
    }

    /// The id of the execution.
    pub(crate) fn id(&self) -> &str {
        &self.context.id
    }

    /// For `Instrument::instrument`.
    pub(crate) fn span(&self) -> tracing::Span {
        self.context.span.span().clone()
    }

    /// Records the start of an execution.
    ///
    /// # Errors
    /// If it can't be recorded; then the snippet must not be run.
    pub(crate) fn execution(
        &self,
        code: &str,
        arguments: &Value,
        check_only: bool,
    ) -> Result<(), Unrecorded> {
        let has_arguments = arguments.as_object().is_some_and(|arguments| !arguments.is_empty());
        let arguments = has_arguments.then(|| serde_json::value::to_raw_value(arguments).ok()).flatten();
        self.context.write(&Record::ExecutionBegin {
            execution: &self.context.id,
            who: self.context.requester.who(),
            snippet_blake3: blake3::hash(code.as_bytes()).to_hex().to_string(),
            snippet_bytes: code.len(),
            arguments: arguments.and_then(|arguments| self.context.kept(&arguments)),
            check_only,
        })?;
        self.is_open.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Records the answers to questions since the last call.
    pub(crate) fn approvals(&self, approver: &Approver) -> Result<(), Unrecorded> {
        approver.take_approvals().iter().try_for_each(|approval| self.approval(approval))
    }

    /// Records the answer to one question.
    ///
    /// # Errors
    /// If it can't be recorded.
    pub(crate) fn approval(&self, approval: &Approval) -> Result<(), Unrecorded> {
        let (question, answer, tools) = (approval.question, approval.answer, approval.tools.as_slice());
        self.context.write(&Record::Approval { execution: &self.context.id, question, answer, tools })
    }

    /// Reads a resource, recorded as a call of [`READ`] but not counted as a tool call.
    pub(crate) async fn read(
        &self,
        server: &str,
        uri: &str,
        read: impl Future<Output = Result<Box<RawValue>, CallFailure>>,
    ) -> Result<Box<RawValue>, CallFailure> {
        let arguments = to_raw_value(&serde_json::json!({ "uri": uri }))
            .map_err(|error| CallFailure { kind: FailureKind::Protocol, message: error.to_string() })?;
        let answered =
            |_| async { read.await.map(|result| Answer { result, is_error: false, cached: None }) };
        let answer = self.written((server, READ), &arguments, false, answered).await?;
        Ok(answer.result)
    }

    /// Makes a call, recorded before it leaves and after its answer. `direct` is true outside an execution. A call that
    /// was refused before it left is not counted.
    pub(crate) async fn call<'a, Called>(
        &'a self,
        (server, tool): (&'a str, &'a str),
        arguments: &'a RawValue,
        direct: bool,
        call: impl FnOnce(Map<String, Value>) -> Called,
    ) -> Result<Answer, CallFailure>
    where
        Called: Future<Output = Result<Answer, CallFailure>>,
    {
        let counted = |meta| async {
            self.calls.fetch_add(1, Ordering::Relaxed);
            let answer = call(meta).await;
            if matches!(&answer, Err(failure) if failure.kind.is_refusal()) {
                self.calls.fetch_sub(1, Ordering::Relaxed);
            }
            answer
        };
        self.written((server, tool), arguments, direct, counted).await
    }

    async fn written<'a, Called>(
        &'a self,
        (server, tool): (&'a str, &'a str),
        arguments: &'a RawValue,
        direct: bool,
        call: impl FnOnce(Map<String, Value>) -> Called,
    ) -> Result<Answer, CallFailure>
    where
        Called: Future<Output = Result<Answer, CallFailure>>,
    {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let written = Call::begin(&self.context, number, (server, tool), arguments, direct)?;
        let answer = call(written.meta()).instrument(written.span()).await;
        written.end(&answer)?;
        answer
    }

    /// Records the end of the execution.
    pub(crate) fn end(&self, status: &str, error: Option<&str>) -> Result<(), Unrecorded> {
        self.is_open.store(false, Ordering::Relaxed);
        let calls = self.calls.load(Ordering::Relaxed);
        self.context.span.end(status, error, calls);
        let duration = self.started.elapsed();
        let ms = duration.as_secs_f64() * 1e3;
        self.context.sinks.metrics.execution(status);
        meters::execution(status, error, duration);
        self.context.log_end(status, error, calls, ms);
        let refused = self.refused();
        let CallsRefused { forged, denied, invalid, malformed, ref tools } = *refused;
        let named: Vec<String> = tools.iter().map(|(name, count)| format!("{name} {count}")).collect();
        self.context.write(&Record::ExecutionEnd {
            execution: &self.context.id,
            status,
            error,
            calls,
            calls_refused: (!refused.is_empty()).then_some(Refused { forged, denied, invalid, malformed }),
            refused_tools: &named,
            ms,
        })
    }

    /// Records the refusal of a direct call.
    ///
    /// # Errors
    /// If it can't be recorded.
    pub(crate) fn refused_directly(
        &self,
        (server, tool): (&str, &str),
        arguments: &RawValue,
    ) -> Result<(), Unrecorded> {
        self.context.write(&Record::CallRefused {
            execution: &self.context.id,
            server,
            tool,
            who: self.context.requester.who(),
            arguments: self.context.kept(arguments),
        })
    }

    fn refused(&self) -> MutexGuard<'_, CallsRefused> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Unrecorded> for CallFailure {
    fn from(unrecorded: Unrecorded) -> Self {
        CallFailure { kind: FailureKind::Unavailable, message: unrecorded.to_string() }
    }
}

/// The sessions of an execution, with all calls and answers recorded.
pub(crate) struct Recorded<'a> {
    pub(crate) sessions: &'a Sessions,
    pub(crate) recorder: &'a ExecutionRecorder,
    pub(crate) approver: &'a Approver,
    pub(crate) in_force: SettingsInForce<'a>,
    pub(crate) seen: &'a AnswerShapes,
}

impl Recorded<'_> {
    fn check_in_force(&self, server: &str, tool: &str) -> Result<(), CallFailure> {
        let denied = |gone: NotInForce| CallFailure { kind: FailureKind::Denied, message: gone.to_string() };
        self.in_force.check(server, Some(tool)).map_err(denied)
    }
}

impl ToolHost for Recorded<'_> {
    fn open<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), SessionError>> {
        // A missing session would be started; a server that has been removed must not be.
        match self.in_force.check(server, None) {
            Ok(()) => self.sessions.open(server),
            Err(gone) => ready(Err(SessionError::NotInForce(gone.to_string()))).boxed(),
        }
    }

    fn permit<'a>(&'a self, tools: &'a [(String, String)]) -> BoxFuture<'a, Result<(), Refusal>> {
        async move {
            let refused = |unrecorded: Unrecorded| Refusal {
                message: unrecorded.to_string(),
                evidence: serde_json::json!({ "reason": "audit" }),
            };
            let names: Vec<String> = tools.iter().map(|(server, tool)| format!("{server}.{tool}")).collect();
            let manifest = Record::Manifest { execution: &self.recorder.context.id, tools: &names };
            self.recorder.context.write(&manifest).map_err(refused)?;
            let decided = self.sessions.permit(tools).await;
            self.recorder.approvals(self.approver).map_err(refused)?;
            decided
        }
        .boxed()
    }

    fn permit_call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: &'a RawValue,
    ) -> BoxFuture<'a, Result<(), CallFailure>> {
        async move {
            let decided = self.sessions.permit_call(server, tool, arguments).await;
            self.recorder.approvals(self.approver)?;
            decided
        }
        .boxed()
    }

    fn look_up<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Box<RawValue>, CallFailure>> {
        self.sessions.look_up(question)
    }

    fn find_resource<'a>(
        &'a self,
        uri: &'a str,
        server: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, CallFailure>> {
        self.sessions.find_resource(uri, server)
    }

    fn permit_read<'a>(&'a self, server: &'a str, uri: &'a str) -> BoxFuture<'a, Result<(), CallFailure>> {
        async move {
            let decided = self.sessions.permit_read(server, uri).await;
            self.recorder.approvals(self.approver)?;
            decided
        }
        .boxed()
    }

    fn read_resource<'a>(
        &'a self,
        server: &'a str,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Box<RawValue>, CallFailure>> {
        async move {
            self.check_in_force(server, READ)?;
            self.recorder.read(server, uri, self.sessions.read_resource(server, uri)).await
        }
        .boxed()
    }

    fn questions(&self) -> Option<tokio::sync::watch::Receiver<usize>> {
        self.sessions.questions()
    }

    fn refused(&self, count: &dyn Fn(&mut CallsRefused)) {
        count(&mut self.recorder.refused());
    }

    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Box<RawValue>,
    ) -> BoxFuture<'a, Result<Answer, CallFailure>> {
        async move {
            self.check_in_force(server, tool)?;
            let sent = arguments.clone();
            let call = |meta| self.sessions.call_with(server, tool, sent, meta);
            let answer = self.recorder.call((server, tool), &arguments, false, call).await?;
            self.seen.note(server, tool, answer.result.get(), &self.recorder.context.sinks.settings.masker);
            Ok(answer)
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
