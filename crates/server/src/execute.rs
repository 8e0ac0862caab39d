//! The tool `execute_code`: runs a client's snippet and returns its outcome.

use std::sync::Arc;
use std::time::{Duration, Instant};

use config::{Server, SessionMode};
use execution::{Execution, Kept, NewExecution, Recorded, Tools};
use gateway::discovery::needed;
use gateway::failure::Failure;
use gateway::permission::{Allowed, ApprovedTools, FlowGate, PermissionPolicy};
use gateway::recording::Recording;
use gateway::reference::{ExecuteCode, Lookup};
use gateway::session_host::SessionHost;
use gateway::sessions::Sessions;
use history::{RecordedExecution, execution_history};
use identity::Identity;
use rmcp::service::Peer;
use rmcp::{ErrorData, RoleServer};
use runner::{Engine, Journal, Outcome, Request, Sink, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use snippet::Code;
use system::event_loop::off_loop;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::approval::{self, Approver, AskedTool, Offered, PendingQuestion, PriorAnswer};
use super::caller::Caller;
use super::catalog_watcher::CatalogWatcher;
use super::client_host::{ClientHost, UnderWay};
use super::definitions;
use super::execution_slots::Busy;
use super::journal::{InForce, RequestContext, Requester, Seen, sinks_of};
use super::kept_outputs::KeptOutputs;
use super::pending::input_required;
use super::programs::{CheckedProgram, structured};
use super::progress::{self, Watcher};
use super::refusal;
use super::resource::Resource;
use super::session::ClientSession;
use super::shared_sessions::{self, ExecutionSessions};
use super::snapshot::Snapshot;
use super::state::ServerState;
use super::subject_usage::{LimitReached, Measured};
use super::upstreams::Upstreams;

/// The time for which the work behind an answer waits, so that it does not compete with the answer for the processors:
/// on two, it delayed the answer by about 2 ms.
const ANSWER_TIME: Duration = Duration::from_millis(3);

/// The key of the permission in `inputRequests`.
const PERMISSION: &str = "permission";

/// The sealed state of a program that needs permission; nothing waits for it in this process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SuspendedExecution {
    /// The hash of the arguments.
    arguments: String,
    tools: Vec<AskedTool>,
}

/// An execution for a client, as it is requested.
pub(crate) struct ClientExecution {
    pub(crate) state: Arc<ServerState>,
    pub(crate) session: Arc<ClientSession>,
    pub(crate) snapshot: Arc<Snapshot>,
    /// The source of newer snapshots.
    pub(crate) live: Arc<CatalogWatcher>,
    /// The client's end of the session.
    pub(crate) peer: Peer<RoleServer>,
    /// Its id in the history and the audit log.
    pub(crate) id: String,
    pub(crate) caller: Arc<Caller>,
    pub(crate) requester: Requester,
    /// The subject that has sent it.
    pub(crate) identity: Option<Arc<Identity>>,
    pub(crate) arguments: Arguments,
    /// The saved program that is run instead of a client's snippet.
    pub(crate) program: Option<Arc<CheckedProgram>>,
    /// The user's answer to an earlier question.
    pub(crate) given: Option<PriorAnswer>,
    pub(crate) cancel: CancellationToken,
    /// The data that states of this request are bound to.
    pub(crate) binding: Vec<u8>,
}

/// The client's arguments.
pub(crate) type Arguments = ExecuteCode;

/// The user's answer to a sealed question.
///
/// # Errors
/// If the state belongs to another request, or the answer is missing.
pub(crate) fn given(
    sealed: SuspendedExecution,
    arguments: &Arguments,
    responses: Option<&Map<String, Value>>,
    session: &ClientSession,
) -> Result<PriorAnswer, ErrorData> {
    if sealed.arguments != arguments.hash() {
        let message = "the requestState belongs to another snippet; make the request again without it";
        return Err(ErrorData::invalid_params(message, None));
    }
    let Some(response) = responses.and_then(|responses| responses.get(PERMISSION)) else {
        let message = format!("inputResponses has no {PERMISSION:?}, although that was requested");
        return Err(ErrorData::invalid_params(message, None));
    };
    let offered = Offered { session: session.lasts(), choice: false };
    Ok(PriorAnswer { tools: sealed.tools, answer: approval::read(response, offered) })
}

/// When a request arrived, and how long it waited for servers before its execution began.
#[derive(Clone, Copy)]
struct Timing {
    arrived: Instant,
    waited: Duration,
}

/// Describes why an execution was not started.
fn too_late(limit: Duration) -> String {
    let seconds = limit.as_secs_f64();
    format!("it waited {seconds} s for other executions, the limit (serve.queueTimeout); try again later")
}

/// The processor time of a program. It is unknown for one that was killed, as at its time limit; then that is the time
/// that it ran.
fn program_time(outcome: &Outcome) -> Duration {
    let ms = if outcome.cpu_ms > 0.0 { outcome.cpu_ms } else { outcome.phases_ms.run };
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}

/// An execution that has begun: its code, and who takes part in it.
struct Run<'a> {
    code: &'a Code,
    approver: &'a Approver,
    execution: &'a Execution<'a>,
    flows: Arc<FlowGate>,
    /// Answers questions of servers.
    host: Arc<ClientHost>,
    stop: CancellationToken,
}

impl ClientExecution {
    /// The result for the client: MCP's `CallToolResult`, or the question to answer first.
    pub(crate) async fn result(mut self) -> Result<Value, ErrorData> {
        let arrived = Instant::now();
        if let Err(reason) = self.state.slots.check(self.caller.client()) {
            return self.refuse(&reason).await;
        }
        let code = match &self.program {
            Some(program) => program.offered.program.code().clone(),
            None => {
                let programs = &self.snapshot.settings.programs.functions;
                let (subject, text) = (self.caller.client().subject(), self.arguments.code.clone());
                off_loop(text.len(), || Code::parse_with(subject, text, programs))
            }
        };
        self.await_servers(&code).await;
        let timing = Timing { arrived, waited: arrived.elapsed() };
        let settings = self.snapshot.settings.clone();
        let sinks = self.state.sinks(settings);
        let context = RequestContext::new(sinks, self.requester.clone(), self.id.clone(), self.tool());
        let missing = self.snapshot.missing.clone();
        let answered = self.recorded(&context, code, timing).instrument(context.span()).await;
        answered.map(|answered| definitions::with_note(answered, &missing))
    }

    /// The result of an execution for which there is no room.
    async fn refuse(&self, reason: &Busy) -> Result<Value, ErrorData> {
        let sinks = self.state.sinks(self.snapshot.settings.clone());
        let wait = self.state.slots.retry_after();
        let refused =
            refusal::busy(sinks, self.requester.clone(), self.tool(), &self.arguments, reason, wait);
        refused.await.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// The name of the tool that was called.
    fn tool(&self) -> &str {
        self.program.as_ref().map_or(definitions::EXECUTE, |program| &program.offered.name)
    }

    /// Waits until the servers that the snippet names have answered or failed; others are not waited for.
    async fn await_servers(&mut self, code: &Code) {
        let config = self.snapshot.config();
        let servers = needed(config, code.path_heads());
        let longest = self.time();
        self.snapshot = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return,
            snapshot = self.live.with(&servers, longest) => snapshot,
        };
    }

    async fn recorded(
        self,
        context: &Arc<RequestContext>,
        code: Code,
        timing: Timing,
    ) -> Result<Value, ErrorData> {
        let stop = self.cancel.child_token();
        self.caller.set_page(self.requester.page_prompt(&self.state, Some(&self.id)));
        let terms = approval::Terms::of(&self.session);
        let approver = Approver::new(self.caller.clone(), self.given.clone(), terms, stop.clone());
        let (watcher, messages) = Watcher::new(self.caller.clone());
        let watcher = Arc::new(watcher);
        let flows = FlowGate::new(self.snapshot.config(), &self.session.flows(), &self.approved());
        let execution = self.begin(context, watcher.clone(), flows.clone(), timing.arrived);
        let journal = &execution.journal;
        let (abilities, notifier) = (self.caller.abilities, self.state.terminal.notifier());
        let host = ClientHost::of_execution(abilities, notifier, Journal::clone(journal));
        let forwarding = progress::forward(&self.caller, messages, host.notices());
        let run = Run { code: &code, approver: &approver, execution: &execution, flows, host, stop };
        let running = async {
            let outcome = self.outcome(run, &watcher).await;
            watcher.end();
            outcome
        };
        // All notifications are sent before the result.
        let (outcome, ()) = tokio::join!(running, forwarding);
        let kept = execution.kept.as_ref();
        if let Some(pending) = approver.take_pending() {
            execution_history::end(kept, ("input_required", None), None);
            return Ok(self.question(pending, journal).await);
        }
        let outputs = KeptOutputs::new(&self.state, &self.session, &self.id);
        let bytes = outcome.as_ref().map_or(0, Outcome::bytes);
        let outcome = execution.hand_over(outcome, timing.waited).await;
        let answer = off_loop(bytes, || self.answer(outcome, &code, &outputs, kept));
        outputs.share().await;
        Ok(answer)
    }

    /// Begins the execution, with its place in the history and the sinks of its journal.
    fn begin(
        &self,
        context: &Arc<RequestContext>,
        watcher: Arc<Watcher>,
        flows: Arc<FlowGate>,
        arrived: Instant,
    ) -> Execution<'_> {
        let settings = &self.snapshot.settings;
        let seen = Seen { session: self.session.clone(), masker: settings.masker.clone() };
        let (state, identity) = (self.state.clone(), self.identity.clone());
        let in_force = InForce { state, settings: settings.clone(), identity };
        let mut sinks: Vec<Arc<dyn Sink>> = vec![Arc::new(in_force)];
        sinks.extend(sinks_of(context));
        sinks.push(Arc::new(seen));
        sinks.push(watcher);
        // After those that wait: nothing may be received between its decision and the call.
        sinks.push(flows);
        Execution::begin(NewExecution {
            code: &self.arguments.code,
            args: &self.arguments.args,
            check_only: self.arguments.check_only,
            arrived,
            masker: &settings.masker,
            flows: &settings.config.flows,
            kept: Some(Kept {
                history: &self.state.history,
                settings: &settings.config.history,
                id: self.id.clone(),
                requester: self.requester.in_history(),
                program: self.program.as_ref().map(|program| program.offered.name.as_str()),
            }),
            recorded: Recorded::IfKept,
            sinks,
            terminal: None,
        })
    }

    /// A result that asks for permission. The state contains everything that the next request needs.
    async fn question(&self, pending: PendingQuestion, journal: &Journal) -> Value {
        if let Err(unrecorded) = journal.end("input_required", None).await {
            return answer::failure(&self.snapshot.settings.masker.mask(&unrecorded.to_string()));
        }
        let sealed = SuspendedExecution { arguments: self.arguments.hash(), tools: pending.tools };
        let state = match self.state.held.once(sealed) {
            Ok(state) => self.state.held.seal(&state, &self.binding),
            Err(error) => return answer::failure(&error.to_string()),
        };
        let question = json!({ "method": "elicitation/create", "params": pending.form });
        input_required(&json!({ PERMISSION: question }), &state)
    }

    /// The result for the client after the execution.
    fn answer(
        &self,
        outcome: Result<Outcome, Failure>,
        code: &Code,
        outputs: &KeptOutputs<'_>,
        kept: Option<&RecordedExecution>,
    ) -> Value {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(failure) => {
                let message = failure.report.for_model();
                execution_history::end(kept, ("host_error", Some("host")), Some(&message));
                return answer::failure(&self.snapshot.settings.masker.mask(&message));
            }
        };
        self.state.metrics.outcome(&outcome);
        let ending = kept.map(|kept| (kept, kept.ending(&outcome)));
        let keep = |part: &str, text: &str| outputs.keep(part, text);
        let shared = shared_sessions::note(&outcome.shared_sessions);
        let none = self.snapshot.missing.none().filter(|_| outcome.has_unresolved()).map(str::to_owned);
        let (status, result) = (outcome.status, outcome.result.clone());
        let serve = &self.snapshot.config().serve;
        let answer = answer::result(outcome, code, serve, &keep);
        let answer = match &self.program {
            Some(program) if program.definition.get("outputSchema").is_some() => {
                structured(answer, status, result.as_deref(), program.is_wrapped, serve.output)
            }
            _ => answer,
        };
        let answer = definitions::with_lines(answer, self.lowered().into_iter().chain(shared).chain(none));
        if let Some((kept, ending)) = ending {
            kept.end(ending, &execution_history::texts(&answer));
        }
        answer
    }

    async fn outcome(&self, run: Run<'_>, watcher: &Watcher) -> Result<Outcome, Failure> {
        let Run { code, approver, execution, flows, host, stop } = run;
        execution.start().await?;
        if let Err(limit) = self.begin_of_subject() {
            self.state.metrics.refusals.count(limit.resource());
            return Ok(Outcome::busy(&limit.to_string()).retry_after(limit.wait()));
        }
        let longest = self.snapshot.config().serve.queue_timeout;
        let lease = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(Outcome::cancelled()),
            lease = self.state.slots.take(self.caller.client(), || watcher.waits()) => lease,
            () = sleep(longest) => {
                return Ok(self.busy(&too_late(longest)));
            }
        };
        let lease = match lease {
            Ok(lease) => lease,
            Err(busy) => return Ok(self.busy(&busy.to_string())),
        };
        self.caller.set_lease(&lease);
        let (code_mode, journal) = (&self.snapshot.config().code_mode, &*execution.journal);
        let engine = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(Outcome::cancelled()),
            engine = self.state.engine(code_mode, journal) => engine?,
        };
        let _under_way = host.under_way(None, self.caller.clone());
        let shared = self.shared_sessions();
        let _shared_under_way = self.shared_under_way(shared.of_client.as_deref(), &host);
        let policy = self.policy(approver, journal, flows);
        let niceness = self.state.slots.niceness(self.caller.client());
        let mut sessions = self.sessions(host, shared);
        sessions.pass_on(self.requester.passed_on.clone());
        sessions.yield_processors(niceness);
        sessions.permit(policy.clone());
        let mut request = self.request(code.clone(), stop)?;
        request.limits.niceness = request.limits.niceness.max(niceness);
        let measured = self.measured();
        let tools = Tools::Fixed { catalog: &self.snapshot.catalog, host: &sessions };
        let ran = execution.run(&engine, &request, tools).await;
        self.state.report(&policy.take_notes());
        if let (Some(recording), Ok(outcome)) = (execution.recording(), &ran) {
            self.keep_for_replay(execution, recording, outcome);
        }
        let shared_sessions = sessions.shared_servers();
        self.behind_answer(engine, sessions);
        let outcome = ran?;
        if outcome.status == Status::Busy {
            self.state.metrics.refusals.count(Resource::Compilers);
        }
        if let Some(measured) = measured {
            measured.end(program_time(&outcome));
        }
        Ok(Outcome { shared_sessions, ..outcome })
    }

    /// Keeps what a replay needs, behind the answer; nothing if it is too large.
    fn keep_for_replay(&self, execution: &Execution<'_>, recording: Recording, outcome: &Outcome) {
        let run = execution.replayable(recording, outcome, &self.snapshot.tool_lists());
        if let (Some(kept), Some(run)) = (execution.kept.clone(), run) {
            self.state.afterwards.spawn_blocking(move || {
                if let Some(text) = run.text() {
                    kept.recording(text);
                }
            });
        }
    }

    /// The outcome of an execution that is not started because of others.
    fn busy(&self, message: &str) -> Outcome {
        self.state.metrics.refusals.count(Resource::Queue);
        Outcome::busy(message).retry_after(self.state.slots.retry_after())
    }

    /// Counts the execution against its subject's limits. One that continues after a question was counted before.
    fn begin_of_subject(&self) -> Result<(), LimitReached> {
        let Some(subject) = self.session.subject.as_ref().filter(|_| self.given.is_none()) else {
            return Ok(());
        };
        let limits = self.state.settings.borrow().config.serve.subject_limits.clone();
        self.state.usage.begin(&subject.key(), &limits)
    }

    /// Measures the program against its subject's limit.
    fn measured(&self) -> Option<Measured<'_>> {
        let subject = self.session.subject.as_ref()?;
        let limits = self.state.settings.borrow().config.serve.subject_limits.clone();
        Some(self.state.usage.measure(subject.key(), limits))
    }

    /// Ends the sessions and prepares the next execution, after the client has received the answer.
    fn behind_answer(&self, engine: Arc<Engine>, sessions: Sessions) {
        let state = self.state.clone();
        self.state.afterwards.spawn(async move {
            sleep(ANSWER_TIME).await;
            state.executed.notify_one();
            state.compiled.notify_one();
            engine.prepare_program();
            if engine.has_heavy_programs() {
                state.heavy.notify_one();
            }
            sessions.close().await;
        });
    }

    /// The sessions with servers that the execution uses together with others. The snapshot decides: the present
    /// configuration may be another one.
    fn shared_sessions(&self) -> Arc<ExecutionSessions> {
        let (session, abilities) = (&*self.session, self.caller.abilities);
        let own = || session.upstreams(abilities, &self.peer);
        let mut servers = self.snapshot.config().servers.iter();
        // A client without a session has no own ones that keep state.
        let shares = session.lasts() && servers.any(|server| server.session == SessionMode::Shared);
        let stateless = self.snapshot.stateless.clone();
        let of_subject = (!stateless.is_empty()).then(|| match &session.subject {
            Some(subject) => self.state.upstreams_of(abilities, subject),
            None => own(),
        });
        Arc::new(ExecutionSessions {
            of_client: shares.then(own),
            of_subject,
            stateless,
            cache: self.state.cache.clone(),
            masker: self.snapshot.settings.masker.clone(),
        })
    }

    /// Sends questions of servers with shared sessions to the client of this execution until the result is dropped.
    fn shared_under_way(&self, upstreams: Option<&Upstreams>, host: &Arc<ClientHost>) -> Vec<UnderWay> {
        let Some(upstreams) = upstreams else { return Vec::new() };
        let servers = self.snapshot.config().servers.iter();
        let shared = servers.filter(|server| server.session == SessionMode::Shared);
        let track = |server: &Server| {
            upstreams.host().under_way_in(host, &server.connection.name, self.caller.clone())
        };
        shared.map(track).collect()
    }

    fn sessions(&self, host: Arc<dyn SessionHost>, shared: Arc<ExecutionSessions>) -> Sessions {
        let settings = &self.snapshot.settings;
        let subject = self.session.subject.as_ref().map(|subject| self.state.tokens.of(subject));
        let config = settings.config.of_subject(subject.as_ref());
        let mut sessions = Sessions::new(config, settings.masker.clone(), host);
        sessions.hold_to(settings.known.pins.clone());
        sessions.share(self.state.services.clone(), &self.session.owner());
        sessions.adopt_from(self.state.spares.clone(), &self.caller.client().key);
        sessions.use_shared(shared);
        for (server, tools) in &self.snapshot.lists {
            sessions.pin(server, tools.clone(), definitions::TOOL_CHANGED);
        }
        sessions.look_up_in(Arc::new(Lookup::from(self.snapshot.reference.clone())));
        sessions
    }

    /// The permissions of its calls.
    fn policy(&self, approver: &Approver, journal: &Journal, flows: Arc<FlowGate>) -> Arc<PermissionPolicy> {
        let allowed = Allowed { globs: &self.state.allow, approved: self.approved() };
        let answers = self.session.answers.clone();
        let (config, journal) = (&self.snapshot.settings.config, journal.clone());
        PermissionPolicy::of_session(config, allowed, answers, approver.clone(), journal, flows)
    }

    /// The approval of the saved program that is run.
    fn approved(&self) -> ApprovedTools {
        self.program.as_ref().map(|program| program.offered.approved.clone()).unwrap_or_default()
    }

    /// The time limit of the execution.
    fn time(&self) -> Duration {
        let code_mode = &self.snapshot.config().code_mode;
        let requested = self.arguments.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        requested.unwrap_or(code_mode.timeout).min(code_mode.max_timeout)
    }

    /// A note if the requested timeout exceeds the maximum.
    fn lowered(&self) -> Option<String> {
        let max = self.snapshot.config().code_mode.max_timeout.as_secs_f64();
        let requested = self.arguments.timeout.filter(|seconds| *seconds > max)?;
        Some(format!("note: timeout {requested} s was lowered to {max} s, the limit of codeMode.maxTimeout"))
    }

    fn request(&self, code: Code, cancel: CancellationToken) -> Result<Request, Failure> {
        let code_mode = &self.snapshot.config().code_mode;
        Ok(Request {
            code,
            holder: self.state.holder(self.caller.client(), self.program.is_some()),
            args: self.arguments.args.clone(),
            timeout: self.time(),
            check_only: self.arguments.check_only,
            limits: code_mode.limits.clone(),
            grants: self.session.grants(&code_mode.grants).map_err(Failure::system)?,
            cancel,
        })
    }
}

#[cfg(test)]
mod tests;
