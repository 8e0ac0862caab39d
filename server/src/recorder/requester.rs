//! The requester of an execution or a direct call.

use std::net::SocketAddr;
use std::sync::Arc;

use gateway::propagation::{self, process_depth};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use crate::audit::Who;
use crate::identity::Subject;
use crate::open_questions::Asker;
use crate::page_prompt::PagePrompt;
use crate::session::{ClientSession, ClientTransport};
use crate::state::ServerState;
use crate::telemetry::{Incoming, Network, TraceContext};

/// The requester. Only transport, address and subject are verified; the rest is the client's claim.
#[derive(Debug, Clone)]
pub(crate) struct Requester {
    client: Option<(String, String)>,
    session: Option<String>,
    subject: Option<Arc<Subject>>,
    transport: ClientTransport,
    address: Option<SocketAddr>,
    request: String,
    protocol_version: Option<String>,
    context: Option<TraceContext>,
    /// The run of the requesting agent.
    pub(super) run: Option<String>,
    /// How many processes of this program the request has passed through.
    pub(super) depth: u32,
}

impl Requester {
    pub(crate) fn of(session: &ClientSession, context: &RequestContext<RoleServer>) -> Self {
        let client = context.client_info().map(|info| (info.name, info.version));
        Requester {
            client,
            session: session.lasts().then(|| session.id.clone()),
            subject: session.subject.clone(),
            transport: session.transport,
            address: crate::peer_address::of(context),
            request: context.id.to_string(),
            protocol_version: context.protocol_version().map(|version| version.to_string()),
            context: TraceContext::parse(&context.meta.0.0),
            run: propagation::run_of(&context.meta.0.0).map(str::to_owned),
            depth: process_depth::of_call(&context.meta.0.0),
        }
    }

    pub(super) fn who(&self) -> Who<'_> {
        Who {
            client: self.client.as_ref().map(|(name, _)| name.as_str()),
            version: self.client.as_ref().map(|(_, version)| version.as_str()),
            session: self.session.as_deref(),
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
            parent_run: self.run.clone(),
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
        let client = self.client.as_ref();
        Asker {
            client: client.map(|(name, version)| format!("{name} {version}").trim_end().to_owned()),
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
            session: self.session.as_deref(),
            protocol_version: self.protocol_version.as_deref(),
            address: self.address,
            context: self.context.as_ref(),
        }
    }
}
