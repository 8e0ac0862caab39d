//! Sessions of clients of the handshake era: their number and their end.
//!
//! The protocol library implements the sessions. Its own timeout also ends sessions whose execution is silent for a
//! while, so idle sessions are ended here.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::{Stream, StreamExt as _};
use identity::Subject;
use parking_lot::{Mutex, MutexGuard};
use prometheus_client::metrics::gauge::Gauge;
use rmcp::model::{
    ClientJsonRpcMessage, Extensions, GetExtensions as _, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::execution_slots::share;
use crate::journal::ClientInfo;
use crate::snapshot::Settings;

/// The time for which an unused session stays (1 hour), without a request or an open stream.
const IDLE_TIME: Duration = Duration::from_secs(3600);

/// After how long (5 minutes) an idle session may be ended to make room for another one.
const YIELD_TIME: Duration = Duration::from_secs(300);

/// The interval at which idle sessions are looked for.
const LOOK_TIME: Duration = Duration::from_secs(30);

/// The sessions.
pub(super) struct Sessions {
    library: LocalSessionManager,
    settings: watch::Receiver<Arc<Settings>>,
    /// Ensures that one session is created at a time, so that there are never too many.
    creating: tokio::sync::Mutex<()>,
    open: Arc<Mutex<HashMap<SessionId, Use>>>,
    /// Their number, for the metrics.
    number: Gauge,
}

/// The use of a session.
#[derive(Debug)]
struct Use {
    /// The number of open streams.
    streams: usize,
    /// The requests that are not answered yet, by id.
    requests: HashMap<RequestId, Arc<()>>,
    /// When it was last used.
    last: Instant,
    /// Cancelled when the session ends.
    end: CancellationToken,
    /// Whether its client supports priming events, which let it resume a stream.
    is_primed: bool,
    /// Its client, after the handshake.
    client: SessionClient,
    /// The only one who may use it, if its requests have a subject.
    subject: Option<Arc<Subject>>,
}

impl Use {
    fn new(subject: Option<Arc<Subject>>) -> Self {
        let end = CancellationToken::new();
        let client = SessionClient::default();
        let requests = HashMap::new();
        Use { streams: 0, requests, last: Instant::now(), end, is_primed: false, client, subject }
    }
}

/// Whether clients of this version expect an event without a message at the start of a stream (MCP 2025-11-25,
/// basic/transports). Older ones read it as a broken message.
pub(super) fn is_primed(version: &ProtocolVersion) -> bool {
    *version >= ProtocolVersion::V_2025_11_25
}

/// The end of the session that a request belongs to. The library waits some seconds before it cancels a session's
/// requests, in case they finish.
#[derive(Debug, Clone)]
struct SessionEnd(CancellationToken);

/// The token that is cancelled when the request's session ends, if it has one.
pub fn session_end(extensions: &Extensions) -> Option<CancellationToken> {
    extensions.get::<SessionEnd>().map(|SessionEnd(end)| end.clone())
}

/// The place for what the handshake tells about the client of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionClient(Arc<OnceLock<ClientInfo>>);

impl SessionClient {
    /// The handshake is done.
    pub(crate) fn set(&self, client: ClientInfo) {
        // A session has one handshake.
        let _ = self.0.set(client);
    }
}

/// The reason why a session operation failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error("the limit of {0} sessions is reached")]
    Full(usize),
    #[error("the limit of {0} sessions for one subject is reached")]
    Share(usize),
    #[error(transparent)]
    Library(#[from] LocalSessionManagerError),
}

impl Sessions {
    /// Creates it without sessions; `number` follows how many there are.
    pub(super) fn new(settings: watch::Receiver<Arc<Settings>>, number: Gauge) -> Self {
        let mut library = LocalSessionManager::default();
        library.session_config.keep_alive = None;
        Sessions { library, settings, creating: tokio::sync::Mutex::default(), open: Arc::default(), number }
    }

    /// The limit on sessions, if it is reached and none can be ended.
    pub(super) fn full(&self) -> Option<usize> {
        let limit = self.settings.borrow().config.serve.max_sessions;
        (self.open().len() >= limit && self.longest_idle(YIELD_TIME).is_none()).then_some(limit)
    }

    /// The limit on sessions of one subject, if this one has reached it.
    pub(super) fn full_for(&self, subject: Option<&Arc<Subject>>) -> Option<usize> {
        let subject = subject?;
        let limit = share(self.settings.borrow().config.serve.max_sessions);
        let own = self.open().values().filter(|used| used.subject.as_ref() == Some(subject)).count();
        (own >= limit).then_some(limit)
    }

    /// Whether a session belongs to another subject than this one, or to clients without a subject.
    pub(super) fn is_of_another(&self, id: &str, subject: Option<&Arc<Subject>>) -> bool {
        self.open().get(id).is_some_and(|used| used.subject.as_ref() != subject)
    }

    /// Begins a request of a session. Returns `None` if an earlier one with this id is not answered yet: the library would
    /// send the response of one of the two to nobody.
    pub(super) fn begin_request(&self, session: &str, id: RequestId) -> Option<OpenRequest> {
        let begun = Arc::new(());
        let mut open = self.open();
        // The library answers for a session that does not exist.
        if let Some(used) = open.get_mut(session) {
            if used.requests.contains_key(&id) {
                return None;
            }
            used.requests.insert(id.clone(), begun.clone());
        }
        Some(OpenRequest { open: self.open.clone(), session: session.into(), id, begun })
    }

    /// Ends idle sessions, indefinitely.
    pub(super) async fn end_idle(self: Arc<Self>) {
        loop {
            sleep(LOOK_TIME).await;
            while let Some(idle) = self.longest_idle(IDLE_TIME) {
                self.end(&idle).await;
            }
        }
    }

    /// Ends a session and its requests.
    async fn end(&self, id: &SessionId) {
        self.forget(id);
        // It may have ended in the meantime.
        let _ = self.library.close_session(id).await;
    }

    /// Whether the client of a session supports priming events.
    pub(super) fn primes(&self, id: &str) -> bool {
        self.open().get(id).is_some_and(|used| used.is_primed)
    }

    /// The client of a session whose handshake is done. Counts as a use of the session.
    pub(super) fn client(&self, id: &str) -> Option<ClientInfo> {
        let mut open = self.open();
        let used = open.get_mut(id)?;
        used.last = Instant::now();
        used.client.0.get().cloned()
    }

    /// Cancels the requests of a session and removes it.
    fn forget(&self, id: &SessionId) {
        if let Some(used) = self.open().remove(id) {
            self.number.dec();
            used.end.cancel();
        }
    }

    /// The session that has been idle for the longest time, at least `minimum`.
    fn longest_idle(&self, minimum: Duration) -> Option<SessionId> {
        let open = self.open();
        let idle = open.iter().filter(|(_, used)| used.streams == 0 && used.last.elapsed() >= minimum);
        idle.min_by_key(|(_, used)| used.last).map(|(id, _)| id.clone())
    }

    fn used(&self, id: &SessionId) {
        if let Some(used) = self.open().get_mut(id) {
            used.last = Instant::now();
        }
    }

    /// Wraps a stream so that its session is not idle.
    fn open_stream<S: Stream<Item = ServerSseMessage> + Send + Sync + 'static>(
        &self,
        id: &SessionId,
        stream: S,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static + use<S> {
        let open = Open::new(self.open.clone(), id.clone());
        let is_primed = self.primes(id);
        let stream = stream.filter(move |event| std::future::ready(is_primed || event.message.is_some()));
        stream.inspect(move |event| open.is_open(event))
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Use>> {
        self.open.lock()
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let _alone = self.creating.lock().await;
        let subject = identity::current();
        if let Some(limit) = self.full_for(subject.as_ref()) {
            return Err(SessionsError::Share(limit));
        }
        if let Some(limit) = self.full() {
            return Err(SessionsError::Full(limit));
        }
        let limit = self.settings.borrow().config.serve.max_sessions;
        if self.open().len() >= limit
            && let Some(idle) = self.longest_idle(YIELD_TIME)
        {
            self.end(&idle).await;
        }
        let (id, transport) = self.library.create_session().await?;
        self.open().insert(id.clone(), Use::new(subject));
        self.number.inc();
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let client = self.open().get(id).map(|used| used.client.clone());
        if let (JsonRpcMessage::Request(request), Some(client)) = (&mut message, client) {
            request.request.extensions_mut().insert(client);
        }
        let answer = self.library.initialize_session(id, message).await?;
        if let JsonRpcMessage::Response(response) = &answer
            && let ServerResult::InitializeResult(result) = &response.result
            && let Some(used) = self.open().get_mut(id)
        {
            used.is_primed = is_primed(&result.protocol_version);
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.used(id);
        Ok(self.library.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.forget(id);
        Ok(self.library.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let end = self.open().get(id).map(|used| SessionEnd(used.end.clone()));
        if let (JsonRpcMessage::Request(request), Some(end)) = (&mut message, end) {
            request.request.extensions_mut().insert(end);
        }
        let stream = self.library.create_stream(id, message).await?;
        Ok(self.open_stream(id, stream))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        Ok(self.library.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stream = self.library.create_standalone_stream(id).await?;
        Ok(self.open_stream(id, stream))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stream = self.library.resume(id, last_event_id).await?;
        Ok(self.open_stream(id, stream))
    }
}

/// A request of a session. Dropping it makes its id free, which an answer has done before.
pub(super) struct OpenRequest {
    open: Arc<Mutex<HashMap<SessionId, Use>>>,
    session: SessionId,
    id: RequestId,
    begun: Arc<()>,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut open = self.open.lock();
        let Some(used) = open.get_mut(&self.session) else { return };
        if used.requests.get(&self.id).is_some_and(|begun| Arc::ptr_eq(begun, &self.begun)) {
            used.requests.remove(&self.id);
        }
    }
}

/// An open stream of a session.
struct Open {
    open: Arc<Mutex<HashMap<SessionId, Use>>>,
    id: SessionId,
}

impl Open {
    fn new(open: Arc<Mutex<HashMap<SessionId, Use>>>, id: SessionId) -> Self {
        let stream = Open { open, id };
        stream.change(|used| used.streams += 1);
        stream
    }

    /// Notes an event, and the request that it answers.
    fn is_open(&self, event: &ServerSseMessage) {
        let answered = match event.message.as_deref() {
            Some(JsonRpcMessage::Response(response)) => Some(&response.id),
            Some(JsonRpcMessage::Error(error)) => error.id.as_ref(),
            _ => None,
        };
        self.change(|used| {
            if let Some(id) = answered {
                used.requests.remove(id);
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut Use)) {
        let mut open = self.open.lock();
        if let Some(used) = open.get_mut(&self.id) {
            change(used);
            used.last = Instant::now();
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.change(|used| used.streams -= 1);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;
    use config::{Config, Serve};
    use gateway::pins::Known;

    fn sessions(max_sessions: usize) -> Arc<Sessions> {
        let config = Config { serve: Serve { max_sessions, ..Serve::default() }, ..Config::default() };
        let (_, settings) = watch::channel(Settings::new(config, Known::default(), None).unwrap());
        Arc::new(Sessions::new(settings, Gauge::default()))
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_are_limited_until_one_ends_or_is_idle() {
        let sessions = sessions(2);
        let (first, _first) = sessions.create_session().await.unwrap();
        let (second, _second) = sessions.create_session().await.unwrap();
        assert!(matches!(sessions.create_session().await, Err(SessionsError::Full(2))));
        sessions.close_session(&first).await.unwrap();
        let (third, _third) = sessions.create_session().await.unwrap();
        assert!(matches!(sessions.create_session().await, Err(SessionsError::Full(2))));

        advance(YIELD_TIME).await;
        assert!(sessions.has_session(&second).await.unwrap());
        let (fourth, _fourth) = sessions.create_session().await.unwrap();
        assert!(!sessions.has_session(&third).await.unwrap(), "it was idle for longest");
        assert!(sessions.has_session(&second).await.unwrap() && sessions.has_session(&fourth).await.unwrap());
        assert!(matches!(sessions.create_session().await, Err(SessionsError::Full(2))));
    }

    #[tokio::test]
    async fn requests_of_a_session_end_with_it() {
        let sessions = sessions(2);
        let (id, _session) = sessions.create_session().await.unwrap();
        let (other, _other) = sessions.create_session().await.unwrap();
        let end = |id: &SessionId| sessions.open().get(id).unwrap().end.clone();
        let (end, end_of_other) = (end(&id), end(&other));
        sessions.close_session(&id).await.unwrap();
        assert!(end.is_cancelled() && !end_of_other.is_cancelled());
    }

    #[tokio::test]
    async fn a_session_belongs_to_the_subject_that_opened_it() {
        let sessions = sessions(4);
        let subject = |name| Some(identity::Identity::named(name, [0; 32]).subject);
        let (alice, bob) = (subject("alice"), subject("bob"));
        let open = || identity::on_behalf_of(alice.clone(), sessions.create_session());
        let (id, _session) = open().await.unwrap();
        assert!(!sessions.is_of_another(&id, alice.as_ref()));
        assert!(sessions.is_of_another(&id, bob.as_ref()) && sessions.is_of_another(&id, None));
        let (shared, _shared) = sessions.create_session().await.unwrap();
        assert!(sessions.is_of_another(&shared, alice.as_ref()) && !sessions.is_of_another(&shared, None));
        // One subject leaves a quarter to the others.
        let _more = (open().await.unwrap(), open().await.unwrap());
        sessions.close_session(&shared).await.unwrap();
        assert!(matches!(open().await, Err(SessionsError::Share(3))));
        identity::on_behalf_of(bob, sessions.create_session()).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_session_without_streams_ends() {
        let sessions = sessions(2);
        let idle = tokio::spawn(sessions.clone().end_idle());
        let (watched, _watched) = sessions.create_session().await.unwrap();
        let (left, _left) = sessions.create_session().await.unwrap();
        let stream = sessions.open_stream(&watched, futures::stream::pending());
        sleep(IDLE_TIME + LOOK_TIME).await;
        assert!(!sessions.has_session(&left).await.unwrap());
        assert!(sessions.open().contains_key(&watched));
        drop(stream);
        sleep(IDLE_TIME / 2).await;
        assert!(sessions.open().contains_key(&watched));
        sleep(IDLE_TIME).await;
        assert!(!sessions.has_session(&watched).await.unwrap());
        idle.abort();
    }
}
