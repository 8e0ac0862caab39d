//! The requester of an execution or a direct call.

use std::net::SocketAddr;
use std::sync::Arc;

use audit::Who;
use axum::http::request::Parts;
use gateway::propagation::{self, PassedOn, process_depth};
use identity::Subject;
use rmcp::RoleServer;
use rmcp::model::{Implementation, InitializeRequestParams, InitializeResult, RequestId, RequestMetaObject};
use rmcp::service::RequestContext;
use serde_json::{Map, Value};
use telemetry::{Incoming, Network, TraceContext};

use crate::open_questions::Asker;
use crate::page_prompt::PagePrompt;
use crate::peer_address;
use crate::session::{ClientSession, ClientTransport};
use crate::state::ServerState;

/// The common facts of a client's requests: the name and version that it claims, and its session if it has one.
#[derive(Debug, Clone)]
pub(crate) struct ClientInfo {
    implementation: Option<Implementation>,
    session: Option<String>,
    protocol_version: Option<String>,
}

impl ClientInfo {
    pub(crate) fn of(session: &ClientSession, context: &RequestContext<RoleServer>) -> Self {
        ClientInfo {
            implementation: context.client_info(),
            session: session.lasts().then(|| session.id.clone()),
            protocol_version: context.protocol_version().map(|version| version.to_string()),
        }
    }

    /// The client of a session, after this handshake.
    pub(crate) fn of_handshake(
        session: &ClientSession,
        request: InitializeRequestParams,
        result: &InitializeResult,
    ) -> Self {
        ClientInfo {
            implementation: Some(request.client_info),
            session: Some(session.id.clone()),
            protocol_version: Some(result.protocol_version.to_string()),
        }
    }

    /// The client of a request that belongs to no session.
    pub(crate) fn of_request(meta: &RequestMetaObject) -> Self {
        ClientInfo {
            implementation: meta.client_info(),
            session: None,
            protocol_version: meta.protocol_version().map(|version| version.to_string()),
        }
    }
}

/// The requester. Only transport, address and subject are verified; the rest is the client's claim.
#[derive(Debug, Clone)]
pub(crate) struct Requester {
    client: ClientInfo,
    subject: Option<Arc<Subject>>,
    transport: ClientTransport,
    address: Option<SocketAddr>,
    request: String,
    context: Option<TraceContext>,
    /// The data that its calls pass on.
    pub(crate) passed_on: PassedOn,
}

impl Requester {
    pub(crate) fn of(session: &ClientSession, context: &RequestContext<RoleServer>) -> Self {
        Requester {
            client: ClientInfo::of(session, context),
            subject: session.subject.clone(),
            transport: session.transport,
            address: peer_address::of(context),
            request: context.id.to_string(),
            context: TraceContext::parse(&context.meta.0.0),
            passed_on: passed_on(&context.meta.0.0),
        }
    }

    /// The sender of a request that the protocol library has not read.
    pub(crate) fn over_http(
        (client, subject): (ClientInfo, Option<Arc<Subject>>),
        head: &Parts,
        id: &RequestId,
        meta: &RequestMetaObject,
    ) -> Self {
        Requester {
            client,
            subject,
            transport: ClientTransport::Http,
            address: peer_address::of_head(head),
            request: id.to_string(),
            context: TraceContext::parse(&meta.0.0),
            passed_on: passed_on(&meta.0.0),
        }
    }

    pub(super) fn who(&self) -> Who<'_> {
        Who {
            client: self.client.implementation.as_ref().map(|client| client.name.as_str()),
            version: self.client.implementation.as_ref().map(|client| client.version.as_str()),
            session: self.client.session.as_deref(),
            subject: self.subject.as_ref().map(|subject| subject.name()),
            issuer: self.subject.as_ref().and_then(|subject| subject.issuer()),
            transport: self.transport.name(),
            address: self.address,
        }
    }

    /// The requester, as the history has it.
    pub(crate) fn in_history(&self) -> history::Requester {
        let who = self.who();
        let owned = |text: Option<&str>| text.map(str::to_owned);
        history::Requester {
            transport: who.transport,
            client: owned(who.client),
            client_version: owned(who.version),
            session: owned(who.session),
            subject: owned(who.subject),
            issuer: owned(who.issuer),
            address: who.address.map(|address| address.to_string()),
            parent_run: self.passed_on.run.clone(),
        }
    }

    /// The local page of this process, if it has one, for the questions of this request or of its execution.
    pub(crate) fn page_prompt(&self, state: &ServerState, execution: Option<&str>) -> Option<PagePrompt> {
        state.page.get().map(|questions| PagePrompt {
            questions: questions.clone(),
            asker: Arc::new(self.asker(execution)),
            notifier: state.terminal.notifier(),
        })
    }

    /// The requester, for the person who answers its question.
    fn asker(&self, execution: Option<&str>) -> Asker {
        let client = self.client.implementation.as_ref();
        Asker {
            client: client.map(|client| format!("{} {}", client.name, client.version).trim_end().to_owned()),
            transport: self.transport.name(),
            subject: self.subject.as_ref().map(|subject| subject.name().to_owned()),
            execution: execution.map(str::to_owned),
        }
    }

    /// The attributes of the request for a span.
    pub(super) fn incoming(&self) -> Incoming<'_> {
        Incoming {
            network: match self.transport {
                ClientTransport::Stdio => Network::Pipe,
                ClientTransport::Http => Network::Http,
                ClientTransport::InProcess(_) => Network::InProcess,
            },
            request: &self.request,
            session: self.client.session.as_deref(),
            protocol_version: self.client.protocol_version.as_deref(),
            address: self.address,
            context: self.context.as_ref(),
        }
    }
}

/// Returns the data that calls for a request with this `_meta` pass on.
fn passed_on(meta: &Map<String, Value>) -> PassedOn {
    PassedOn { depth: process_depth::of_call(meta), run: propagation::run_of(meta).map(str::to_owned) }
}
