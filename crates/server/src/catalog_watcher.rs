//! Keeps the offered tools up to date when servers or the configuration change.

use std::sync::Arc;
use std::time::Duration;

use config::{Glob, Server};
use futures::future::join_all;
use runner::Cache;
use terminal::Notifier;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::snapshot::{Settings, Snapshot};
use super::upstreams::Upstreams;

/// The time to wait for further changes before rebuilding: changes come in bursts.
const QUIET: Duration = Duration::from_millis(50);

/// The offered tools, for clients with the same capabilities.
pub struct CatalogWatcher {
    /// The servers that are watched.
    pub upstreams: Arc<Upstreams>,
    current: watch::Receiver<Arc<Snapshot>>,
    work: JoinHandle<()>,
}

impl Drop for CatalogWatcher {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl CatalogWatcher {
    /// Starts connecting to all servers and offering their tools.
    pub(crate) fn start(
        settings: watch::Receiver<Arc<Settings>>,
        upstreams: Arc<Upstreams>,
        cache: Cache,
        notifier: Notifier,
        offered: watch::Sender<Option<Arc<Snapshot>>>,
    ) -> Arc<Self> {
        let (sender, current) = watch::channel(Arc::new(Snapshot::empty(settings.borrow().clone())));
        let work = Work { settings, upstreams: upstreams.clone(), cache, notifier, current: sender, offered };
        Arc::new(CatalogWatcher { upstreams, current, work: tokio::spawn(work.run()) })
    }

    /// Offers the part of another watcher's tools that a subject may call.
    pub(crate) fn restricted(
        whole: &Arc<CatalogWatcher>,
        tools: Vec<Glob>,
        cache: Cache,
        notifier: Notifier,
    ) -> Arc<Self> {
        let followed = whole.watch();
        let settings = followed.borrow().settings.restricted(tools.clone());
        let (current, watched) = watch::channel(Arc::new(Snapshot::empty(settings)));
        let work = Restriction { followed, tools, cache, notifier, current };
        // Snapshots of the other watcher end with it.
        let whole = whole.clone();
        let upstreams = whole.upstreams.clone();
        let work = tokio::spawn(async move {
            let _whole = whole;
            work.run().await;
        });
        Arc::new(CatalogWatcher { upstreams, current: watched, work })
    }

    /// The current snapshot.
    pub fn now(&self) -> Arc<Snapshot> {
        self.current.borrow().clone()
    }

    /// The current snapshot and its changes.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.current.clone()
    }

    /// Waits until the snapshot follows these settings, at most for this long: after a change of the configuration, it does
    /// a moment later.
    pub(crate) async fn follow(&self, settings: &Settings, longest: Duration) {
        let mut current = self.current.clone();
        let _ = timeout(longest, current.wait_for(|snapshot| snapshot.follows(settings))).await;
    }

    /// The snapshot when every server has answered or failed, or the current one at the timeout.
    pub async fn within(&self, longest: Duration) -> Arc<Snapshot> {
        self.until(longest, |_| false).await
    }

    /// The same, but no longer than until this is true of the snapshot.
    pub(crate) async fn until(
        &self,
        longest: Duration,
        is_enough: impl Fn(&Snapshot) -> bool,
    ) -> Arc<Snapshot> {
        let mut current = self.current.clone();
        let enough = timeout(longest, current.wait_for(|snapshot| snapshot.is_whole || is_enough(snapshot)));
        match enough.await {
            Ok(Ok(snapshot)) => snapshot.clone(),
            _ => self.now(),
        }
    }
}

impl CatalogWatcher {
    /// The snapshot when each of `servers` has a list or a reason for having none, or the current one at the timeout.
    /// Servers that failed are tried again.
    pub(crate) async fn with(&self, servers: &[&Server], longest: Duration) -> Arc<Snapshot> {
        let _ = timeout(longest, self.known(servers)).await;
        self.now()
    }

    async fn known(&self, servers: &[&Server]) {
        let mut current = self.current.clone();
        let has =
            |snapshot: &Arc<Snapshot>, server: &Server| snapshot.lists.contains_key(&server.connection.name);
        let unknown: Vec<&Server> = match current.wait_for(|snapshot| snapshot.is_built).await {
            Ok(snapshot) => servers.iter().filter(|server| !has(&snapshot, server)).copied().collect(),
            Err(_) => return,
        };
        let settled = join_all(unknown.iter().map(|server| self.upstreams.settled(server))).await;
        let is_settled = |snapshot: &Arc<Snapshot>, (server, there): (&&Server, &bool)| {
            has(snapshot, server) || !there && snapshot.absent.contains_key(&server.connection.name)
        };
        let whole = current
            .wait_for(|snapshot| unknown.iter().zip(&settled).all(|known| is_settled(snapshot, known)));
        // If the watcher has ended, the current snapshot is used.
        let _ = whole.await;
    }
}

struct Work {
    settings: watch::Receiver<Arc<Settings>>,
    upstreams: Arc<Upstreams>,
    cache: Cache,
    notifier: Notifier,
    current: watch::Sender<Arc<Snapshot>>,
    /// The snapshot for use outside client sessions.
    offered: watch::Sender<Option<Arc<Snapshot>>>,
}

impl Work {
    async fn run(mut self) {
        loop {
            let settings = self.settings.borrow_and_update().clone();
            let servers: Vec<&Server> = settings.config.servers.iter().collect();
            self.upstreams.keep(&servers);
            let mut checks = settings.programs.checks();
            loop {
                checks.mark_unchanged();
                self.build(&settings).await;
                tokio::select! {
                    biased;
                    changed = self.settings.changed() => match changed {
                        Ok(()) => break,
                        Err(_) => return,
                    },
                    () = self.upstreams.changed.notified() => {}
                    // Saved programs were compiled against the present tools. Its sender is in the settings.
                    _ = checks.changed() => {}
                }
                sleep(QUIET).await;
            }
        }
    }

    async fn build(&self, settings: &Arc<Settings>) {
        let (settings, upstreams) = (settings.clone(), self.upstreams.clone());
        let (cache, notifier) = (self.cache.clone(), self.notifier.clone());
        let building = tokio::task::spawn_blocking(move || {
            let lists = upstreams.lists(&settings, &cache);
            Snapshot::build(settings, lists, &cache, &notifier)
        });
        match building.await {
            Ok(snapshot) => {
                let snapshot = Arc::new(snapshot);
                if replace(&self.current, &snapshot) {
                    self.offered.send_replace(Some(snapshot));
                }
            }
            Err(error) => self.notifier.error(&format!("the catalog can't be built: {error}")),
        }
    }
}

/// Replaces the current snapshot, unless the new one offers the same.
fn replace(current: &watch::Sender<Arc<Snapshot>>, snapshot: &Arc<Snapshot>) -> bool {
    current.send_if_modified(|current| {
        // New executions use the settings that are in effect.
        let is_new = !Arc::ptr_eq(&current.settings, &snapshot.settings)
            || !current.offers_the_same(snapshot)
            || current.is_whole != snapshot.is_whole
            || current.prompts_and_resources != snapshot.prompts_and_resources
            || !current.is_built;
        if is_new {
            *current = snapshot.clone();
        }
        is_new
    })
}

/// Follows a watcher's snapshots with the part of each that a subject may call.
struct Restriction {
    followed: watch::Receiver<Arc<Snapshot>>,
    tools: Vec<Glob>,
    cache: Cache,
    notifier: Notifier,
    current: watch::Sender<Arc<Snapshot>>,
}

impl Restriction {
    async fn run(mut self) {
        loop {
            let whole = self.followed.borrow_and_update().clone();
            // The initial snapshot reflects no servers.
            if whole.is_built {
                self.build(whole).await;
            }
            if self.followed.changed().await.is_err() {
                return;
            }
        }
    }

    async fn build(&self, whole: Arc<Snapshot>) {
        let (cache, notifier, tools) = (self.cache.clone(), self.notifier.clone(), self.tools.clone());
        let building =
            tokio::task::spawn_blocking(move || Snapshot::restricted(&whole, tools, &cache, &notifier));
        match building.await {
            Ok(snapshot) => drop(replace(&self.current, &Arc::new(snapshot))),
            Err(error) => self.notifier.error(&format!("the catalog of a subject can't be built: {error}")),
        }
    }
}
