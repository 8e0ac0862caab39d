//! Refuses executions while all slots are taken and no further one may wait, before the protocol library reads them.
//! Under overload most requests are refused, and the processor is needed for what runs.
//!
//! Only requests that the library would accept are refused here. It answers all others.

use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use gateway::propagation::process_depth::{self, PROCESS};
use gateway::reference::ExecuteCode;
use identity::Identity;
use rmcp::ServerHandler;
use rmcp::model::{ProtocolVersion, RequestId, RequestMetaObject};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::endpoint::{Endpoint, SESSION, is_json};
use super::head;
use crate::definitions::{self, EXECUTE};
use crate::journal::{ClientInfo, Requester};
use crate::refusal;

/// The headers with the request's version, and with its method and tool (MCP 2026-07-28, "Standard Headers").
const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// The method of a call.
const CALL: &str = "tools/call";

/// A request that calls a tool.
#[derive(Deserialize)]
struct Call {
    jsonrpc: String,
    id: RequestId,
    params: Parameters,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parameters {
    name: String,
    #[serde(default)]
    arguments: Value,
    /// Of a request that continues an earlier one.
    #[serde(default)]
    request_state: Option<IgnoredAny>,
    #[serde(default, rename = "_meta")]
    meta: RequestMetaObject,
}

impl<Handler: ServerHandler> Endpoint<Handler> {
    /// The response to a request for a new execution if there is neither a slot nor room to wait. `None` for all other
    /// requests.
    pub(super) async fn refuse_if_full(&self, head: &Parts, method: &str, body: &[u8]) -> Option<Response> {
        // The executions of a subagent are not its clients'.
        if method != CALL || self.state.tasks.get().is_some() {
            return None;
        }
        let busy = self.state.slots.full()?;
        let settings = self.state.settings.borrow().clone();
        if !settings.config.code_mode.enabled || !self.is_plain(&head.headers) {
            return None;
        }
        let Call { jsonrpc, id, params } = object(body)?;
        let is_new = params.name == EXECUTE && params.request_state.is_none();
        // A call that passed through too many processes must not be tried again.
        let is_loop = process_depth::refusal(&params.meta.0.0, &settings.config).is_some();
        if jsonrpc != "2.0" || !is_new || is_loop {
            return None;
        }
        let (client, is_stateless) = self.client(&head.headers, &params.meta)?;
        let arguments = ExecuteCode::read(params.arguments).ok()?;
        let subject = head.extensions.get::<Arc<Identity>>().map(|identity| identity.subject.clone());
        let requester = Requester::over_http((client, subject), head, &id, &params.meta);
        let sinks = self.state.sinks(settings);
        let wait = self.state.slots.retry_after();
        let result = refusal::busy(sinks, requester, EXECUTE, &arguments, &busy, wait).await.ok()?;
        let result = definitions::of_era(CALL, result, is_stateless);
        let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        Some(([(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response())
    }

    /// Whether a request is for this server, sends JSON, accepts the protocol's types, and does not come from a page,
    /// whose origin the library checks.
    fn is_plain(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let accepts = |kind: &str| text(header::ACCEPT).split(',').any(|accepted| accepted.trim() == kind);
        let is_own =
            head::authority(text(header::HOST)).is_some_and(|host| head::is_among(&host, &self.hosts()));
        is_own
            && is_json(headers)
            && accepts("application/json")
            && accepts("text/event-stream")
            && !text(header::ACCEPT).contains('"')
            && !headers.contains_key(header::ORIGIN)
    }

    /// The client of a request, and whether it has no session. `None` if it is unknown, or if the headers and the
    /// metadata are not as its version prescribes.
    fn client(&self, headers: &HeaderMap, meta: &RequestMetaObject) -> Option<(ClientInfo, bool)> {
        let version = headers.get(VERSION).map(|version| version.to_str().unwrap_or_default());
        let known = ProtocolVersion::KNOWN_VERSIONS.iter().find(|known| Some(known.as_str()) == version);
        let capabilities = meta.client_capabilities();
        if let Some(session) = headers.get(SESSION) {
            let is_legacy = version.is_none() || known.is_some_and(ProtocolVersion::has_initialize);
            let has_metadata =
                meta.protocol_version().is_some() || meta.client_info().is_some() || capabilities.is_some();
            let client = self.sessions.client(session.to_str().ok()?).filter(|_| is_legacy && !has_metadata);
            return client.map(|client| (client, false));
        }
        let known = known
            .filter(|known| !known.has_initialize() && meta.protocol_version().as_ref() == Some(*known))?;
        let is_named = is(headers, METHOD, CALL) && is(headers, NAME, EXECUTE);
        let is_complete = meta.missing_required_keys(known).is_empty();
        // A client that is this process itself is refused for good.
        let is_process = capabilities?.experimental.is_some_and(|declared| declared.contains_key(PROCESS));
        (is_named && is_complete && !is_process).then(|| (ClientInfo::of_request(meta), true))
    }
}

/// Whether a header has exactly this value.
fn is(headers: &HeaderMap, name: &str, value: &str) -> bool {
    headers.get(name).is_some_and(|found| found == value)
}

/// Reads a call. Both structs could also be read from arrays, which are no requests.
fn object(body: &[u8]) -> Option<Call> {
    #[derive(Deserialize)]
    struct Members<'a> {
        #[serde(borrow)]
        params: &'a serde_json::value::RawValue,
    }
    let is_object = |text: &[u8]| text.trim_ascii_start().starts_with(b"{");
    let members = is_object(body).then(|| serde_json::from_slice::<Members<'_>>(body).ok()).flatten()?;
    is_object(members.params.get().as_bytes()).then(|| serde_json::from_slice(body).ok()).flatten()
}
