//! Requests of somebody else, carried on as they came.

use serde_json::{Map, Value, value::RawValue};

use super::{
    Session,
    exchange::{Ask, Parameters},
};
use crate::{
    client::ProgressSink,
    error::{Error, Phase},
};

/// The prefix of names in `_meta` that are the protocol's own: each connection has its own of these (MCP 2026-07-28,
/// "General fields", `_meta`).
const PROTOCOL_PREFIX: &str = "io.modelcontextprotocol/";

/// A name in `_meta` that asks for a level of log messages, which belongs to the request and not to the connection.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A name in `_meta` that says what a client can do.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A request of somebody else.
#[derive(Clone, Default)]
pub struct ForwardedRequest {
    /// Its `params`; what `_meta` in them says beside the protocol's own goes on.
    pub parameters: Map<String, Value>,
    /// What stands for the member `arguments` of these, word by word: a value holds no number but a double.
    pub arguments: Option<Box<RawValue>>,
    /// Who is told of its progress.
    pub progress: Option<ProgressSink>,
    /// Whether what the server asks for in between (`input_required`) is answered by the host, and not part of the answer.
    pub answers_input: bool,
}

impl Session {
    /// Makes a request of `method` with the parameters of another one, and gives the result as it came. Limits, deadlines
    /// and cancellation are those of [`Session::call`].
    pub async fn carry(
        &self,
        method: &'static str,
        request: ForwardedRequest,
    ) -> Result<Box<RawValue>, Error> {
        let ForwardedRequest { mut parameters, arguments, progress, answers_input } = request;
        // What a client can do is known from its own request, where the session asks in the same way.
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
        let ask = Ask { about: about.map(|about| (about, headers)), meta, progress, ..ask };
        if answers_input { self.ask_until_complete(ask).await } else { self.ask(ask).await }
    }
}

/// What of a request's `_meta` goes on: not what belongs to the connection that it came by.
fn own_meta(meta: Value, by_request: bool) -> Map<String, Value> {
    let Value::Object(mut meta) = meta else { return Map::new() };
    let stays = |name: &str| match name {
        "progressToken" => false,
        LOG_LEVEL => true,
        CAPABILITIES => by_request,
        _ => !name.starts_with(PROTOCOL_PREFIX),
    };
    meta.retain(|name, _| stays(name));
    meta
}
