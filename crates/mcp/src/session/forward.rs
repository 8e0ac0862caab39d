//! Forwards requests from another client unchanged.

use serde_json::{Map, Value, value::RawValue};
use system::event_loop::off_loop;

use super::{
    Session,
    exchange::{Ask, Parameters, TaskSink, is_incomplete},
};
use crate::{
    call_result::in_form,
    error::{Error, Phase},
    progress::ProgressSink,
};

/// The prefix of the protocol's own names in `_meta`: each connection has its own values for these (MCP 2026-07-28,
/// "General fields", `_meta`).
const PROTOCOL_PREFIX: &str = "io.modelcontextprotocol/";

/// The log level in `_meta`, which belongs to the request and not to the connection.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The client's capabilities in `_meta`.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A request to forward.
#[derive(Clone, Default)]
pub struct ForwardedRequest {
    /// Its `params`; members of `_meta` other than the protocol's own are forwarded.
    pub parameters: Map<String, Value>,
    /// The exact text of the member `arguments`, since a parsed value holds only doubles.
    pub arguments: Option<Box<RawValue>>,
    /// Receives its progress.
    pub progress: Option<ProgressSink>,
    /// Is called when the server answers with a task. The host handles its requests for input.
    pub on_task: Option<TaskSink>,
    /// Whether the tool is called as a task where the server has tasks of MCP 2025-11-25.
    pub as_task: bool,
    /// Whether the host handles requests for input (`input_required`); otherwise they are returned to the caller.
    pub answers_input: bool,
}

impl Session {
    /// Sends a request with the parameters of another one, and returns the result: that of a call in MCP's form, any
    /// other one unchanged. Limits, deadlines and cancellation are those of [`Session::call`].
    pub async fn carry(
        &self,
        method: &'static str,
        request: ForwardedRequest,
    ) -> Result<Box<RawValue>, Error> {
        let ForwardedRequest { mut parameters, arguments, progress, on_task, as_task, answers_input } =
            request;
        // The client's capabilities are known from its own request, if the session uses the same protocol.
        let by_request = !answers_input && !self.inner.server.protocol_version.has_initialize();
        let meta = parameters.remove("_meta").map(|meta| own_meta(meta, by_request)).unwrap_or_default();
        let text = |name: &str| parameters.get(name).and_then(Value::as_str).map(str::to_owned);
        let about = match method {
            "tools/call" | "prompts/get" => text("name"),
            "resources/read" => text("uri"),
            _ => None,
        };
        let mut ask = self.plain(method, Parameters::new());
        if let (Some(tool), "tools/call") = (&about, method) {
            ask.phase = Phase::Call(tool.clone());
            ask.limit = self.inner.config.tool_timeouts.get(tool).copied().unwrap_or(ask.limit);
        }
        // Whether the call is a task is between this host and the server.
        parameters.remove("task");
        let given = parameters.remove("arguments");
        let arguments = match (arguments, given) {
            (Some(arguments), _) => Some(arguments),
            (None, given) => given.map(|given| self.encode(&given)).transpose()?,
        };
        let headers = match (&about, &arguments) {
            (Some(tool), Some(arguments)) if method == "tools/call" => self.headers_of(tool, arguments),
            _ => Vec::new(),
        };
        for (name, value) in parameters {
            ask.parameters.push((name.into(), self.encode(&value)?));
        }
        ask.parameters.extend(arguments.map(|arguments| ("arguments".into(), arguments)));
        if as_task {
            ask.parameters.extend(self.task_parameter(ask.limit)?);
        }
        let ask = Ask { about: about.map(|about| (about, headers)), meta, progress, on_task, ..ask };
        let result =
            if answers_input { self.ask_until_complete(ask).await } else { self.ask_or_follow(ask).await }?;
        if method != "tools/call" {
            return Ok(result);
        }
        Ok(off_loop(result.get().len(), || match is_incomplete(&result) {
            true => result,
            false => in_form(result, self.structure()).0,
        }))
    }
}

/// The members of a request's `_meta` to forward: not those of the connection it came from.
fn own_meta(meta: Value, by_request: bool) -> Map<String, Value> {
    let Value::Object(mut meta) = meta else { return Map::new() };
    meta.retain(|name, _| match name.as_str() {
        "progressToken" => false,
        LOG_LEVEL => true,
        CAPABILITIES => by_request,
        _ => !name.starts_with(PROTOCOL_PREFIX),
    });
    meta
}
