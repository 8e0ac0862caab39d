//! The client behind a spare session: nobody until an execution adopts the session, then that execution's client.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mcp::{Host, ListKind, Notice, QuestionError};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use terminal::{Masker, Notifier};
use tokio::sync::Notify;

use crate::session_host::SessionHost;
use crate::sessions::connection::{ListedTools, Opened};

/// The declarations of a client to servers. Sessions with different declarations do not replace each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Declared {
    elicits: bool,
    elicits_by_url: bool,
    samples: bool,
    shows_apps: bool,
}

impl Declared {
    pub(super) fn by(host: &dyn Host) -> Self {
        Declared {
            elicits: host.elicits(),
            elicits_by_url: host.elicits_by_url(),
            samples: host.samples(),
            shows_apps: host.shows_apps(),
        }
    }
}

/// Whether the known list of tools is the server's present one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Current,
    /// The server has announced a change since.
    Changed,
    /// It is being read again.
    Reading,
}

/// The user behind the session.
enum User {
    /// Nobody yet; with the list that was read again after a change.
    Nobody { list: List, tools: Option<ListedTools> },
    /// The client of the execution that adopted the session.
    Execution(Arc<dyn SessionHost>),
}

/// The client behind a spare session. Before the adoption, it refuses questions and drops notifications.
pub(super) struct SpareHost {
    declared: Declared,
    user: Mutex<User>,
    /// Masks secrets in warnings about tools.
    masker: Masker,
    notifier: Notifier,
    /// Notified when the list of tools has changed.
    changed: Arc<Notify>,
}

impl SpareHost {
    pub(super) fn new(
        declared: Declared,
        masker: Masker,
        notifier: Notifier,
        changed: Arc<Notify>,
    ) -> Arc<Self> {
        let user = Mutex::new(User::Nobody { list: List::Current, tools: None });
        Arc::new(SpareHost { declared, user, masker, notifier, changed })
    }

    /// Returns its declarations to the server.
    pub(super) fn declared(&self) -> Declared {
        self.declared
    }

    /// Whether the known list of tools may be outdated.
    pub(super) fn is_outdated(&self) -> bool {
        matches!(*self.user(), User::Nobody { list: List::Changed | List::Reading, .. })
    }

    /// Whether the server has announced a change of its tools that is not yet being read.
    pub(super) fn has_changed(&self) -> bool {
        matches!(*self.user(), User::Nobody { list: List::Changed, .. })
    }

    /// Reads the list of tools again.
    ///
    /// # Errors
    /// If the server does not list them; then the list stays outdated.
    pub(super) async fn list_again(&self, opened: &Opened) -> Result<(), mcp::Error> {
        self.set(|list, _| *list = List::Reading);
        let known = self.listed_again();
        let page = known.as_ref().map_or(opened.page, |known| known.page);
        let changed = opened.session.list_changed_tools(page).await?;
        let now = changed.map(|listing| ListedTools::new(&listing, &self.masker)).or(known);
        self.set(|list, tools| {
            *tools = now;
            // Another change may have been announced meanwhile.
            if *list == List::Reading {
                *list = List::Current;
            }
        });
        Ok(())
    }

    /// The list that was read again.
    pub(super) fn listed_again(&self) -> Option<ListedTools> {
        match &*self.user() {
            User::Nobody { tools, .. } => tools.clone(),
            User::Execution(_) => None,
        }
    }

    /// Forwards everything to the client of an execution from now on.
    pub(super) fn adopt(&self, host: Arc<dyn SessionHost>) {
        *self.user() = User::Execution(host);
    }

    fn set(&self, change: impl FnOnce(&mut List, &mut Option<ListedTools>)) {
        if let User::Nobody { list, tools } = &mut *self.user() {
            change(list, tools);
        }
    }

    fn user(&self) -> MutexGuard<'_, User> {
        self.user.lock()
    }

    fn execution(&self) -> Option<Arc<dyn SessionHost>> {
        match &*self.user() {
            User::Execution(host) => Some(host.clone()),
            User::Nobody { .. } => None,
        }
    }
}

impl Host for SpareHost {
    fn elicits(&self) -> bool {
        self.declared.elicits
    }

    fn elicits_by_url(&self) -> bool {
        self.declared.elicits_by_url
    }

    fn samples(&self) -> bool {
        self.declared.samples
    }

    fn shows_apps(&self) -> bool {
        self.declared.shows_apps
    }

    fn elicit<'a>(
        &'a self,
        server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        async move {
            let host = self.execution().ok_or(QuestionError::NoRequest)?;
            host.elicit(server, parameters).await
        }
        .boxed()
    }

    fn sample<'a>(
        &'a self,
        server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        async move {
            let host = self.execution().ok_or(QuestionError::NoRequest)?;
            host.sample(server, parameters).await
        }
        .boxed()
    }

    fn notice(&self, server: &str, notice: &Notice) {
        let host = {
            let mut user = self.user();
            match (&mut *user, notice) {
                (User::Execution(host), _) => Some(host.clone()),
                (User::Nobody { list, .. }, Notice::ListChanged(ListKind::Tools)) => {
                    *list = List::Changed;
                    self.changed.notify_one();
                    None
                }
                (User::Nobody { .. }, _) => None,
            }
        };
        match (host, notice) {
            (Some(host), _) => host.notice(server, notice),
            // What a server prints at its start is for the user of this process.
            (None, Notice::Stderr(line) | Notice::Stray(line)) => {
                self.notifier.detail(&format!("{server}: {}", printable::prose(line)));
            }
            (None, _) => {}
        }
    }
}
