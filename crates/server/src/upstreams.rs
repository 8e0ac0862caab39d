//! Lasting sessions with servers: watched for their lists, and used for direct tools.

mod listed;
mod manual;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use config::{Config, Server};
use gateway::catalog::{self, ServerIntroduction};
use gateway::first_start;
use gateway::session_host::SessionHost as _;
use gateway::tool_list::ToolList;
use gateway::unavailable::STARTING;
use mcp::{ConnectionState, ErrorKind, ManagedSession, ServerConfig, Session, Status, TokenSubject};
use parking_lot::{Mutex, MutexGuard};
use runner::Cache;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use self::listed::Listed;
use super::client_host::ClientHost;
use super::snapshot::{Lists, Settings};

/// Sessions with servers, each for as long as its entry in the configuration stays.
pub struct Upstreams {
    host: Arc<ClientHost>,
    /// The subject whose tokens they use, where each has its own.
    subject: Option<Arc<TokenSubject>>,
    keepers: Mutex<BTreeMap<String, Upstream>>,
    /// Servers that the user has disconnected: they have no session and no tools.
    away: Mutex<BTreeSet<String>>,
    /// The present configuration: only its servers get new sessions.
    settings: watch::Receiver<Arc<Settings>>,
    listed: Listed,
    /// Notified when a server's status has changed.
    pub(crate) changed: Arc<Notify>,
    /// Counts the changes, for observers.
    changes: watch::Sender<u64>,
}

/// The reason shown for a server that the user has disconnected.
const AWAY: &str = "disconnected by hand";

/// The reason for a request that began under an older configuration.
const REPLACED: &str =
    "its entry in the configuration has changed since the request began; make the request again";

struct Upstream {
    config: ServerConfig,
    managed: Arc<ManagedSession>,
    watching: JoinHandle<()>,
}

impl Upstream {
    /// Whether a session with these settings exists, or is about to.
    fn serves(&self, config: &ServerConfig) -> bool {
        let state = self.managed.status().state;
        let has_ended =
            matches!(state, ConnectionState::Error | ConnectionState::AuthRequired | ConnectionState::Closed);
        self.config == *config && !has_ended
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

impl Upstreams {
    /// Creates it without sessions; `host` answers questions of servers.
    pub(crate) fn new(host: Arc<ClientHost>, settings: watch::Receiver<Arc<Settings>>) -> Arc<Self> {
        Self::of_subject(host, settings, None)
    }

    /// Like [`Upstreams::new`], with the tokens of a subject.
    pub(crate) fn of_subject(
        host: Arc<ClientHost>,
        settings: watch::Receiver<Arc<Settings>>,
        subject: Option<Arc<TokenSubject>>,
    ) -> Arc<Self> {
        let listed = Listed::new(mcp::Host::shows_apps(&*host));
        Arc::new(Upstreams {
            host,
            subject,
            keepers: Mutex::default(),
            away: Mutex::default(),
            settings,
            listed,
            changed: Arc::default(),
            changes: watch::Sender::default(),
        })
    }

    /// The client behind the sessions.
    pub(crate) fn host(&self) -> &Arc<ClientHost> {
        &self.host
    }

    /// Starts missing sessions with `servers`, and ends those with all others.
    pub(crate) fn keep(&self, servers: &[&Server]) {
        let mut keepers = self.keepers();
        let stays = |name: &String, kept: &mut Upstream| {
            servers.iter().any(|server| server.connection.name == *name && server.connection == kept.config)
        };
        keepers.retain(stays);
        let away = self.away().clone();
        for server in servers.iter().filter(|server| !away.contains(&server.connection.name)) {
            if !keepers.contains_key(&server.connection.name) {
                keepers.insert(server.connection.name.clone(), self.start(server));
            }
        }
        drop(keepers);
        self.changed.notify_one();
    }

    /// Ends the sessions with servers that were removed from the configuration or changed. Calls in progress still get
    /// their answers.
    pub(crate) fn retain(&self, config: &Config) {
        let stays = |name: &String, kept: &mut Upstream| {
            config.server(name).is_some_and(|server| server.connection == kept.config)
        };
        self.keepers().retain(stays);
    }

    fn start(&self, server: &Server) -> Upstream {
        first_start::report(server, &self.host.notifier());
        let config = server.connection.clone();
        let connection = server.of_subject(self.subject.as_ref()).connection.clone();
        let managed = Arc::new(ManagedSession::start(connection, self.host.clone()));
        let (mut status, changed, changes) = (managed.watch(), self.changed.clone(), self.changes.clone());
        let watching = tokio::spawn(async move {
            while status.changed().await.is_ok() {
                changed.notify_one();
                changes.send_modify(|count| *count = count.wrapping_add(1));
            }
        });
        Upstream { config, managed, watching }
    }

    /// The session with a server, as soon as it is connected. A failed session is tried once more.
    ///
    /// # Errors
    /// If it can't be connected.
    pub(crate) async fn session(&self, server: &Server) -> Result<Session, mcp::Error> {
        self.available(server)?.session().await
    }

    /// Like [`Upstreams::session`], with the server's tools and the warnings about them.
    ///
    /// # Errors
    /// If it can't be connected.
    pub(crate) async fn session_with_tools(
        &self,
        server: &Server,
        cache: &Cache,
    ) -> Result<(Session, Arc<ToolList>, Vec<String>), mcp::Error> {
        let managed = self.available(server)?;
        let session = managed.session().await?;
        let status = managed.status();
        // A subject's list may differ.
        let server = server.of_subject(self.subject.as_ref());
        Ok((session, self.listed.answered(cache, &server, &status.tools), status.warnings))
    }

    /// Waits until a server has listed its tools (`true`) or failed (`false`). A failed session is tried again.
    pub async fn settled(&self, server: &Server) -> bool {
        let Ok(managed) = self.available(server) else { return false };
        let mut status = managed.watch();
        let is_settled = |status: &Status| status.last_connected.is_some() || status.last_error.is_some();
        status.wait_for(is_settled).await.is_ok_and(|status| status.last_connected.is_some())
    }

    /// The managed session with a server; a new one if it failed or the entry has changed.
    ///
    /// # Errors
    /// If the user has disconnected the server, or if it would be a new session for an entry that is not the present
    /// one. A request keeps the configuration that it began with, but must not end the session of a newer one.
    fn available(&self, server: &Server) -> Result<Arc<ManagedSession>, mcp::Error> {
        // As the present configuration has it.
        let server = server.of_subject(None);
        let server = &*server;
        let name = &server.connection.name;
        let unavailable =
            |reason: &str| Err(mcp::Error::new(name, ErrorKind::Host { reason: reason.to_owned() }));
        if self.is_away(name) {
            return unavailable(AWAY);
        }
        let is_present = {
            let present = self.settings.borrow();
            present.config.server(name).is_some_and(|present| present.connection == server.connection)
        };
        let mut keepers = self.keepers();
        if let Some(kept) = keepers.get(name).filter(|kept| kept.serves(&server.connection)) {
            return Ok(kept.managed.clone());
        }
        if !is_present {
            return unavailable(REPLACED);
        }
        let started = self.start(server);
        let managed = started.managed.clone();
        keepers.insert(name.clone(), started);
        Ok(managed)
    }

    /// The session with a server that is connected, or about to be.
    pub async fn connected(&self, server: &str) -> Option<Session> {
        let managed = self.keepers().get(server).map(|kept| kept.managed.clone())?;
        match managed.status().state {
            ConnectionState::Ready | ConnectionState::Connecting => managed.session().await.ok(),
            _ => None,
        }
    }

    /// The present status of a server.
    pub fn status(&self, server: &str) -> Option<Status> {
        self.keepers().get(server).map(|kept| kept.managed.status())
    }

    /// The lists of all servers of `config`: as answered, or as remembered from the last time.
    pub(crate) fn lists(&self, settings: &Settings, cache: &Cache) -> Lists {
        let mut lists = Lists { is_whole: true, ..Lists::default() };
        self.listed.retain(&settings.config.servers);
        for server in &settings.config.servers {
            let name = &server.connection.name;
            if self.is_away(name) {
                lists.absent.insert(name.clone(), AWAY.to_owned());
                lists.reasons.insert(name.clone(), AWAY.to_owned());
                continue;
            }
            let status = self.status(name);
            if let Some(reason) = status.as_ref().and_then(|status| reason(name, status)) {
                lists.reasons.insert(name.clone(), settings.masker.mask(&reason).into_owned());
            }
            let listed = status.as_ref().filter(|status| status.last_connected.is_some());
            if let Some(status) = listed {
                for (has, names) in [status.has_prompts, status.has_resources]
                    .into_iter()
                    .zip(&mut lists.prompts_and_resources)
                {
                    names.extend(has.then(|| name.clone()));
                }
                let about = status.about.as_deref().unwrap_or_default();
                let about = settings.masker.mask(about).into_owned();
                let introduction = ServerIntroduction {
                    has_resources: status.has_resources,
                    has_skills: status.has_skills,
                    about,
                    is_stateless: status.is_stateless,
                };
                let _ = catalog::remember_introduction(cache, server, &introduction);
                lists.introduce(settings, name, introduction);
                lists.lists.insert(name.clone(), self.listed.answered(cache, server, &status.tools));
                continue;
            }
            let failure = status.and_then(|status| status.last_error);
            if let Some(tools) = self.listed.remembered(cache, server) {
                // Descriptions for models must not change as soon as the server has answered.
                lists.introduce(settings, name, catalog::introduced(cache, server));
                lists.lists.insert(name.clone(), tools);
            } else if let Some(failure) = failure {
                lists.absent.insert(name.clone(), settings.masker.mask(&failure).into_owned());
            } else {
                lists.is_whole = false;
                lists.reasons.insert(name.clone(), STARTING.to_owned());
            }
        }
        lists
    }

    /// Ends all sessions in order.
    pub async fn close(&self) {
        let keepers = std::mem::take(&mut *self.keepers());
        let closing = keepers.into_values().map(|kept| {
            kept.watching.abort();
            kept.managed.clone()
        });
        let closing = closing.filter_map(|managed| Arc::try_unwrap(managed).ok()).map(ManagedSession::close);
        futures::future::join_all(closing.collect::<Vec<_>>()).await;
    }

    fn keepers(&self) -> MutexGuard<'_, BTreeMap<String, Upstream>> {
        self.keepers.lock()
    }
}

/// Returns the reason why a server is unavailable; `None` if it is available, or is being reconnected.
fn reason(server: &str, status: &Status) -> Option<String> {
    match status.state {
        ConnectionState::AuthRequired => {
            Some(format!("it needs a login: ask the user to run `toolsmith mcp login {server}`"))
        }
        ConnectionState::Error => status.last_error.clone(),
        ConnectionState::Connecting if status.last_connected.is_none() => status.last_error.clone(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
