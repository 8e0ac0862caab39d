//! Refuses executions while all slots are taken and no further one may wait, before the protocol library reads them.
//! Under overload most requests are refused, and the processor is needed for what runs: this takes a third of the time.
//!
//! Only requests in the form that the protocol prescribes are refused here. The library answers all others.

use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use rmcp::ServerHandler;
use rmcp::model::{ProtocolVersion, RequestMetaObject};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::endpoint::{Endpoint, SESSION, is_json};
use crate::definitions::{self, EXECUTE};
use crate::execute::Arguments;
use crate::identity::Identity;
use crate::recorder::{ClientInfo, Requester};
use crate::refusal;

/// The headers with the request's version, and with its method and tool (MCP 2026-07-28, "Standard Headers").
const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// The method of a call.
const CALL: &str = "tools/call";

/// The parameters of a call.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call {
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
    pub(super) fn refuse_if_full(
        &self,
        head: &Parts,
        (id, method, parameters): (&Value, &str, Option<&RawValue>),
    ) -> Option<Response> {
        let busy = self.state.slots.full()?;
        let settings = self.state.settings.borrow().clone();
        if method != CALL || !settings.config.code_mode.enabled || !is_plain(&head.headers) {
            return None;
        }
        let call: Call = serde_json::from_str(parameters?.get()).ok()?;
        if call.name != EXECUTE || call.request_state.is_some() {
            return None;
        }
        let (client, is_stateless) = self.client(&head.headers, &call.meta)?;
        let arguments = Arguments::read(call.arguments).ok()?;
        let subject = head.extensions.get::<Arc<Identity>>().map(|identity| identity.subject.clone());
        let request = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        let requester = Requester::over_http((client, subject), head, request, &call.meta);
        let sinks = self.state.sinks(settings);
        let result =
            refusal::busy(sinks, requester, EXECUTE, &arguments, &busy, self.state.slots.retry_after());
        let result = definitions::of_era(CALL, result.ok()?, is_stateless);
        let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        Some(([(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response())
    }

    /// The client of a request, and whether it has no session. `None` if it is unknown, or the headers contradict.
    fn client(&self, headers: &HeaderMap, meta: &RequestMetaObject) -> Option<(ClientInfo, bool)> {
        let version = headers.get(VERSION).map(|version| version.to_str().unwrap_or_default());
        let known = ProtocolVersion::KNOWN_VERSIONS.iter().find(|known| Some(known.as_str()) == version);
        if let Some(session) = headers.get(SESSION) {
            let is_legacy = version.is_none() || known.is_some_and(ProtocolVersion::has_initialize);
            let client = self.sessions.client(session.to_str().ok()?).filter(|_| is_legacy);
            return client.map(|client| (client, false));
        }
        let is_named = is(headers, METHOD, CALL) && is(headers, NAME, EXECUTE);
        let known = known.filter(|known| !known.has_initialize() && is_named)?;
        let is_complete =
            meta.protocol_version().as_ref() == Some(known) && meta.missing_required_keys(known).is_empty();
        is_complete.then(|| (ClientInfo::of_request(meta), true))
    }
}

/// Whether a header has exactly this value.
fn is(headers: &HeaderMap, name: &str, value: &str) -> bool {
    headers.get(name).is_some_and(|found| found == value)
}

/// Whether a request sends JSON, accepts the protocol's types, and does not come from a page, whose origin the library
/// checks.
fn is_plain(headers: &HeaderMap) -> bool {
    let accepted =
        headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok()).unwrap_or_default();
    let accepts = |kind: &str| accepted.split(',').any(|accepted| accepted.trim() == kind);
    is_json(headers)
        && accepts("application/json")
        && accepts("text/event-stream")
        && !headers.contains_key(header::ORIGIN)
}
