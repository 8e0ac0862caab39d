//! Forwards requests to the server that they are about: calls of direct tools, resources, prompts, completions.

use std::sync::Arc;

use config::Server;
use flows::Labels;
use gateway::calls::CheckedCall;
use gateway::direct::DirectTool;
use gateway::permission::{
    Allowed, ApprovedTools, ExecutionAnswers, FlowGate, PermissionPolicy, RequestedTool,
};
use gateway::resources::READ;
use gateway::session_host::SessionHost as _;
use gateway::tool_list::ToolList;
use identity::Identity;
use mcp::{ErrorKind, ForwardedRequest, ProgressMade, ProgressSink, Session};
use queue::{Bounds, Received};
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use runner::{Answer, Begin, CallFailure, FailureKind, Journal};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use system::event_loop::off_loop;
use system::random;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::approval::{self, Approver};
use super::apps;
use super::caller::Caller;
use super::client_host::{ServerNotice, asking};
use super::journal::{self, RequestContext, Requester};
use super::json_size;
use super::kept_outputs::KeptOutputs;
use super::session::ClientSession;
use super::settings_in_force::SettingsInForce;
use super::snapshot::Snapshot;
use super::state::ServerState;
use super::upstreams::Upstreams;

/// The first protocol version without a handshake; versions are dates.
const STATELESS: &str = "2026-07-28";

/// Limit of queued progress reports for a slow client (256 KiB). The oldest are dropped: a newer one replaces them.
const REPORTS_WAITING: Bounds = Bounds { bytes: 256 << 10, items: 100 };

/// A request to forward.
pub(crate) struct ProxiedRequest {
    pub(crate) state: Arc<ServerState>,
    pub(crate) session: Arc<ClientSession>,
    pub(crate) snapshot: Arc<Snapshot>,
    /// The client's own sessions with servers.
    pub(crate) upstreams: Arc<Upstreams>,
    /// The shared sessions that are watched for changes; they may be the same.
    pub(crate) shared: Arc<Upstreams>,
    pub(crate) caller: Arc<Caller>,
    /// The subject that sends it.
    pub(crate) identity: Option<Arc<Identity>>,
    pub(crate) cancel: CancellationToken,
}

impl ProxiedRequest {
    /// Calls a direct tool with arguments in their canonical form; returns the server's result, cut if it is too large
    /// for an answer.
    pub(crate) async fn call(
        self,
        tool: DirectTool,
        requester: Requester,
        mut parameters: Map<String, Value>,
        arguments: Box<RawValue>,
    ) -> Result<Value, ErrorData> {
        let internal = |error: std::io::Error| ErrorData::internal_error(error.to_string(), None);
        let id = random::id().map_err(internal)?;
        let sinks = self.state.sinks(self.snapshot.settings.clone());
        let context = RequestContext::new(sinks, requester.clone(), id, &tool.name);
        let flows = self.flows();
        let journal = journal::of_direct_call(&context, flows.clone());
        let offered = self.snapshot.lists.get(&tool.server).map(|list| &**list);
        let requested = || RequestedTool::new(&tool.server, &tool.tool, offered);
        let policy = self.policy(&journal, flows);
        let named = (tool.server.as_str(), tool.tool.as_str());
        if let Err(refusal) = self.permit(named, requested, &arguments, &policy, &journal).await {
            return Ok(answer::failure(&format!("denied: {refusal}")));
        }
        parameters.insert("name".to_owned(), json!(tool.tool));
        // Other members, such as those of a task or of an answered question, change what the server returns.
        let is_plain = parameters.keys().all(|key| matches!(key.as_str(), "name" | "arguments" | "_meta"));
        let mut answered = None;
        let written = async {
            let mut call = journal.call(&tool.server, &tool.tool, &arguments).await?;
            let mut meta = call.take_meta();
            meta.extend(requester.passed_on.meta(self.is_over_http(&tool.server)));
            // `_meta` stays unchanged unless the call is part of a trace of this process.
            if !meta.is_empty()
                && let Some(own) = parameters.entry("_meta").or_insert_with(|| json!({})).as_object_mut()
            {
                own.extend(meta);
            }
            let making = async {
                // A cached answer needs no session, but the configuration must still allow the call.
                if let Some(server) = self.snapshot.config().server(&tool.server)
                    && let Err(gone) = self.check_in_force(server, Some(&tool.tool))
                {
                    return for_log(&self.failed("tools/call", &gone));
                }
                let owner = self.session.owner();
                let checked = self.checked(&owner, &tool, offered.filter(|_| is_plain), &arguments);
                let prepared = self.state.services.prepare(checked);
                let arguments = Some(arguments);
                let as_task = offered.is_some_and(|list| list.runs_only_as_task(&tool.tool));
                let carried =
                    ForwardedRequest { parameters, arguments, as_task, ..ForwardedRequest::default() };
                let send = async {
                    let result = self.send(&tool.server, "tools/call", carried).await;
                    let logged = off_loop(size_of_result(&result), || for_log(&result));
                    answered = Some(result);
                    logged
                };
                prepared.make(send).await
            };
            let answer = making.instrument(call.span()).await;
            call.end(&answer).await?;
            answer
        };
        let written: Result<Answer, CallFailure> = written.await;
        let result = match (answered, written) {
            (Some(result), Ok(_)) => result,
            (Some(Err(error)), Err(_)) => Err(error),
            (_, Err(failure)) => Ok(answer::failure(&failure.message)),
            // Cached, or refused before it was sent.
            (None, Ok(answer)) => Ok(off_loop(answer.result.get().len(), || read(&answer.result))),
        };
        let kept = KeptOutputs::new(&self.state, &self.session, &context.id);
        let bytes = size_of_result(&result);
        let result = result.map(|result| off_loop(bytes, || self.bounded(result, &tool, offered, &kept)));
        kept.share().await;
        result
    }

    /// A call of a direct tool, for the cache of results and the statistics.
    fn checked<'a>(
        &'a self,
        client: &'a str,
        tool: &'a DirectTool,
        offered: Option<&'a ToolList>,
        arguments: &'a RawValue,
    ) -> CheckedCall<'a> {
        CheckedCall {
            config: self.snapshot.config(),
            client,
            server: &tool.server,
            tool: &tool.tool,
            offered,
            arguments,
            questions: self.upstreams.host().questions(),
        }
    }

    /// The result of a direct tool within the limits for answers; what is cut is kept as an output of the call.
    fn bounded(
        &self,
        mut result: Value,
        tool: &DirectTool,
        offered: Option<&ToolList>,
        kept: &KeptOutputs<'_>,
    ) -> Value {
        apps::rename_in_result(&tool.server, &mut result);
        let described = offered.and_then(|tools| tools.tool(&tool.tool));
        let has_schema = described.is_some_and(|tool| tool["outputSchema"].is_object());
        let keep = |part: &str, text: &str| kept.keep(part, text);
        answer::direct(result, self.snapshot.config().serve.output, has_schema, &keep)
    }

    /// Reads a resource for an agent of this process: with permission, and logged as a call.
    pub(crate) async fn read(
        &self,
        (server, uri): (&str, &str),
        requester: Requester,
        parameters: Map<String, Value>,
    ) -> Result<Value, ErrorData> {
        let internal = |error: String| ErrorData::internal_error(error, None);
        let id = random::id().map_err(|error| internal(error.to_string()))?;
        let sinks = self.state.sinks(self.snapshot.settings.clone());
        let flows = self.flows();
        let journal =
            journal::of_direct_call(&RequestContext::new(sinks, requester, id, READ), flows.clone());
        let policy = self.policy(&journal, flows);
        let raw = serde_json::value::to_raw_value(&json!({ "uri": uri }))
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let requested = || RequestedTool::reading(server);
        let permitted = self.permit((server, READ), requested, &raw, &policy, &journal).await;
        permitted.map_err(|refusal| internal(format!("denied: {refusal}")))?;
        let mut carried = None;
        self.in_force().check(server, Some(READ)).map_err(|gone| internal(gone.to_string()))?;
        let written = async {
            let call = journal.read(server, uri).await?;
            let reading = async {
                let result = self.carry(server, "resources/read", parameters).await;
                let logged = off_loop(size_of_result(&result), || for_log(&result));
                carried = Some(result);
                logged
            };
            let answer = reading.instrument(call.span()).await;
            call.end(&answer).await?;
            answer
        };
        let written: Result<Answer, CallFailure> = written.await;
        match (carried, written) {
            (Some(Ok(_)), Err(failure)) | (None, Err(failure)) => Err(internal(failure.message)),
            (Some(result), _) => result,
            (None, Ok(_)) => Err(internal("the resource was not read".to_owned())),
        }
    }

    /// The flows of one direct call in the client's session.
    fn flows(&self) -> Arc<FlowGate> {
        FlowGate::new(self.snapshot.config(), &self.session.flows(), &ApprovedTools::default())
    }

    fn policy(&self, journal: &Journal, flows: Arc<FlowGate>) -> Arc<PermissionPolicy> {
        let terms = approval::Terms::of(&self.session);
        let approver = Approver::new(self.caller.clone(), None, terms, self.cancel.clone());
        let allowed = Allowed { globs: &self.state.allow, ..Allowed::default() };
        let (config, answers) = (self.snapshot.config(), self.session.answers.clone());
        PermissionPolicy::of_session(config, allowed, answers, approver, journal.clone(), flows)
    }

    async fn permit(
        &self,
        (server, name): (&str, &str),
        requested: impl FnOnce() -> RequestedTool,
        arguments: &RawValue,
        policy: &PermissionPolicy,
        journal: &Journal,
    ) -> Result<(), String> {
        let decided =
            policy.decide_call((server, name), requested, arguments, &ExecutionAnswers::default()).await;
        self.state.report(&policy.take_notes());
        if let Err(refusal) = decided {
            let begun = journal.begin(Begin::Refusal { server, tool: name, arguments }).await;
            begun.map_err(|unrecorded| unrecorded.to_string())?;
            return Err(refusal.report().for_model());
        }
        Ok(())
    }

    /// Forwards a request to a server; returns its result unchanged.
    pub(crate) async fn carry(
        &self,
        server: &str,
        method: &'static str,
        parameters: Map<String, Value>,
    ) -> Result<Value, ErrorData> {
        let request = ForwardedRequest { parameters, ..ForwardedRequest::default() };
        let answer = self.send(server, method, request).await;
        if matches!(method, "resources/read" | "prompts/get") {
            // The client's model may read it.
            self.session.flows().receive(server, READ, Labels::default());
        }
        answer
    }

    async fn send(
        &self,
        server: &str,
        method: &'static str,
        request: ForwardedRequest,
    ) -> Result<Value, ErrorData> {
        let Some(server) = self.snapshot.config().server(server) else {
            return Err(ErrorData::internal_error(format!("the server {server} is not configured"), None));
        };
        let _under_way = self.upstreams.host().under_way(Some(&server.connection.name), self.caller.clone());
        let (reports, mut made) = queue::bounded::<ProgressMade>(REPORTS_WAITING);
        let sink: ProgressSink = Arc::new(move |report| {
            let bytes = size_of::<ProgressMade>() + report.message.as_ref().map_or(0, String::len);
            reports.push(report, bytes);
        });
        let caller = self.caller.clone();
        let request = ForwardedRequest {
            on_task: Some(Arc::new(move || caller.request_task())),
            progress: self.caller.wants_progress().then_some(sink),
            answers_input: !self.caller.is_asked_by_response(),
            ..request
        };
        let tool = match method {
            "tools/call" => request.parameters.get("name").and_then(Value::as_str).map(str::to_owned),
            _ => None,
        };
        let asking = Box::pin(async {
            // A missing session would be started; a server that has been removed must not be.
            self.check_in_force(server, tool.as_deref())?;
            let session = self.connected(server).await?;
            self.check_in_force(server, tool.as_deref())?;
            asking(self.caller.clone(), session.carry(method, self.with_level(request, &session))).await
        });
        let mut notices = self.upstreams.host().notices();
        let answered = Notify::new();
        let asking = async {
            let done = asking.await;
            answered.notify_one();
            done
        };
        // Runs next to the request: neither a server that sends endlessly nor a slow client stops its clock.
        let forwarding = async {
            loop {
                tokio::select! {
                    biased;
                    Some(report) = made.receive() => self.report(report).await,
                    Some(notice) = notices.receive() => self.pass_on(notice).await,
                    // Notices from before the result are forwarded before it.
                    () = answered.notified() => return,
                }
            }
        };
        let done = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
            (done, ()) = async { tokio::join!(asking, forwarding) } => done,
        };
        match done {
            Ok(result) => Ok(off_loop(result.get().len(), || read(&result))),
            Err(error) => self.failed(method, &error),
        }
    }

    fn is_over_http(&self, server: &str) -> bool {
        let server = self.snapshot.config().server(server);
        let transport = server.map(|server| &server.connection.transport);
        matches!(transport, Some(mcp::Transport::Http(_) | mcp::Transport::Sse(_)))
    }

    fn in_force(&self) -> SettingsInForce<'_> {
        SettingsInForce::new(&self.state, &self.snapshot.settings, self.identity.as_deref())
    }

    /// Checks that the current configuration still allows requests to the server, or calls of the tool.
    fn check_in_force(&self, server: &Server, tool: Option<&str>) -> Result<(), mcp::Error> {
        let name = &server.connection.name;
        let checked = self.in_force().check(name, tool);
        checked.map_err(|gone| mcp::Error::new(name, ErrorKind::Host { reason: gone.to_string() }))
    }

    /// Subscribes to changes of a resource, or unsubscribes.
    pub(crate) async fn subscribe(
        &self,
        server: &str,
        uri: &str,
        subscribe: bool,
    ) -> Result<Value, ErrorData> {
        let method = if subscribe { "resources/subscribe" } else { "resources/unsubscribe" };
        let Some(server) = self.snapshot.config().server(server) else {
            return Err(ErrorData::internal_error(format!("the server {server} is not configured"), None));
        };
        let done = async {
            self.check_in_force(server, None)?;
            let session = self.connected(server).await?;
            if subscribe { session.subscribe(uri).await } else { session.unsubscribe(uri).await }
        };
        done.await.map(|()| json!({})).or_else(|error| self.failed(method, &error))
    }

    /// A server without a handshake gets the log level in each request (MCP 2026-07-28, "Logging").
    fn with_level(&self, mut request: ForwardedRequest, session: &Session) -> ForwardedRequest {
        let is_stateless = session.protocol_version() >= STATELESS;
        if let Some(level) = self.caller.level().filter(|_| is_stateless)
            && let Some(meta) = request.parameters.entry("_meta").or_insert_with(|| json!({})).as_object_mut()
        {
            meta.entry("io.modelcontextprotocol/logLevel").or_insert_with(|| json!(level.name()));
        }
        request
    }

    async fn report(&self, report: Received<ProgressMade>) {
        if let Some(ProgressMade { done, total, message }) = report.item {
            self.caller.progress(done, total, message).await;
        }
    }

    /// Forwards a log message to a client that receives them with this request. A client with a session receives them
    /// anyway.
    async fn pass_on(&self, notice: Received<ServerNotice>) {
        if self.caller.is_asked_by_response() {
            self.caller.log_missed(notice.missed).await;
        }
        if let Some(ServerNotice::Log { level, logger, data, caller: Some(caller) }) = notice.item
            && self.caller.is_asked_by_response()
            && Arc::ptr_eq(&caller, &self.caller)
        {
            self.caller.log(level, &logger, data).await;
        }
    }

    async fn connected(&self, server: &Server) -> Result<Session, mcp::Error> {
        self.upstreams.session(server).await
    }

    /// Forwards a server's error response; other failures are described.
    fn failed(&self, method: &str, error: &mcp::Error) -> Result<Value, ErrorData> {
        if let ErrorKind::Rpc { code, message, data, .. } = &*error.kind {
            let code = i32::try_from(*code).unwrap_or(ErrorCode::INTERNAL_ERROR.0);
            let data = data.as_ref().map(|data| read(data));
            // The name of a tool does not identify its server.
            let message = match method {
                "tools/call" => format!("{}: {message}", error.server),
                _ => message.clone(),
            };
            return Err(ErrorData::new(ErrorCode(code), message, data));
        }
        let message = self.snapshot.settings.masker.mask(&error.to_string()).into_owned();
        match method {
            // A model reads results, and may try something else.
            "tools/call" => Ok(answer::failure(&message)),
            _ => Err(ErrorData::internal_error(message, None)),
        }
    }
}

/// The size of a result, as [`json_size::of`] counts it.
fn size_of_result(result: &Result<Value, ErrorData>) -> usize {
    result.as_ref().map_or(0, json_size::of)
}

/// The result in the form that the recorder logs.
fn for_log(result: &Result<Value, ErrorData>) -> Result<Answer, CallFailure> {
    let protocol = |message: String| CallFailure { kind: FailureKind::Protocol, message };
    match result {
        Ok(result) => {
            let text = strict_json::with_numbers(&result.to_string()).into_owned();
            let raw = RawValue::from_string(text).map_err(|error| protocol(error.to_string()))?;
            Ok(Answer { is_error: result["isError"] == true, result: raw, cached: None })
        }
        Err(error) => Err(CallFailure { kind: FailureKind::Rejected, message: error.message.to_string() }),
    }
}

/// Parses JSON into a value whose numbers keep their text; JSON that is nested too deeply becomes a text.
fn read(raw: &RawValue) -> Value {
    strict_json::value_with_numbers(raw).unwrap_or_else(|_| answer::failure(raw.get()))
}
