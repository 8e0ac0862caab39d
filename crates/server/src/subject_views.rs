//! The separate views of subjects: the offered tools that their scopes permit, and sessions with servers for direct
//! tools.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use config::Glob;
use identity::Subject;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::caller::Abilities;
use super::catalog_watcher::CatalogWatcher;
use super::upstreams::Upstreams;

/// Limit on unused views and on unused sets of sessions: each may hold a process of every server, or a catalog.
const KEPT: usize = 32;

/// The time for which unused ones are kept (10 minutes).
const KEPT_TIME: Duration = Duration::from_secs(600);

/// The views and sessions of subjects.
#[derive(Default)]
pub(crate) struct SubjectViews {
    /// The offered tools, by capabilities and permitted tools.
    offered: Kept<(Abilities, Vec<String>), CatalogWatcher>,
    /// Sessions with servers for clients without a session, by capabilities and subject.
    upstreams: Kept<(Abilities, Arc<Subject>), Upstreams>,
}

/// Values that are made when they are needed, and kept for a while when they are not.
struct Kept<K, T>(Mutex<BTreeMap<K, (Arc<T>, Instant)>>);

impl<K, T> Default for Kept<K, T> {
    fn default() -> Self {
        Kept(Mutex::default())
    }
}

impl<K: Ord + Clone, T> Kept<K, T> {
    /// The value of a key, and those that are no longer kept.
    fn get(&self, key: K, make: impl FnOnce() -> Arc<T>) -> (Arc<T>, Vec<Arc<T>>) {
        let mut all = self.0.lock();
        let (value, used) = all.entry(key).or_insert_with(|| (make(), Instant::now()));
        *used = Instant::now();
        let value = value.clone();
        // A value that only this map holds is unused.
        let mut unused: Vec<(Instant, K)> = all
            .iter()
            .filter(|(_, (value, _))| Arc::strong_count(value) == 1)
            .map(|(key, (_, used))| (*used, key.clone()))
            .collect();
        unused.sort_unstable();
        let too_many = unused.len().saturating_sub(KEPT);
        let old = unused.iter().take_while(|(used, _)| used.elapsed() >= KEPT_TIME).count();
        let ended = unused.into_iter().take(too_many.max(old)).filter_map(|(_, key)| all.remove(&key));
        let ended: Vec<Arc<T>> = ended.map(|(value, _)| value).collect();
        (value, ended)
    }

    fn take(&self) -> Vec<Arc<T>> {
        let all = std::mem::take(&mut *self.0.lock());
        all.into_values().map(|(value, _)| value).collect()
    }
}

impl SubjectViews {
    /// The offered tools for clients with these capabilities whose subject may call these tools, from those that `make`
    /// makes.
    pub(crate) fn offered(
        &self,
        abilities: Abilities,
        tools: Vec<Glob>,
        make: impl FnOnce(Vec<Glob>) -> Arc<CatalogWatcher>,
    ) -> Arc<CatalogWatcher> {
        let mut names: Vec<String> = tools.iter().map(|glob| glob.text().to_owned()).collect();
        names.sort_unstable();
        names.dedup();
        self.offered.get((abilities, names), || make(tools)).0
    }

    /// The sessions with servers of a subject, and those of others that are no longer kept and must be closed.
    pub(crate) fn upstreams(
        &self,
        abilities: Abilities,
        subject: &Arc<Subject>,
        make: impl FnOnce() -> Arc<Upstreams>,
    ) -> (Arc<Upstreams>, Vec<Arc<Upstreams>>) {
        self.upstreams.get((abilities, subject.clone()), make)
    }

    /// Ends all of them.
    pub(crate) async fn close(&self) {
        drop(self.offered.take());
        for upstreams in self.upstreams.take() {
            upstreams.close().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn get(kept: &Kept<usize, usize>, key: usize) -> (Arc<usize>, usize) {
        let (value, ended) = kept.get(key, || Arc::new(key));
        (value, ended.len())
    }

    #[tokio::test(start_paused = true)]
    async fn unused_values_are_kept_for_a_while() {
        let kept = Kept::default();
        let (used, _) = get(&kept, 0);
        let (first, _) = get(&kept, 1);
        drop(first);
        advance(KEPT_TIME).await;
        assert_eq!(get(&kept, 2).1, 1, "only the unused one has ended");
        assert!(Arc::ptr_eq(&used, &get(&kept, 0).0));
    }

    #[tokio::test(start_paused = true)]
    async fn unused_values_are_few() {
        let kept = Kept::default();
        let ended: usize = (0..KEPT + 10).map(|key| get(&kept, key).1).sum();
        assert_eq!(ended, 9, "all but the last are unused when it is made");
        assert_eq!(kept.take().len(), KEPT + 1);
    }
}
