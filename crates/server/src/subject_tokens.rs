//! The access tokens of subjects that are exchanged for tokens of servers (RFC 8693), kept in memory for an hour after
//! their last use, if a configured server needs them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use config::{Config, Server};
use identity::{Identity, Subject, bearer};
use mcp::TokenSubject;
use parking_lot::Mutex;
use tokio::time::Instant;

/// Limit on subjects of which nothing else is kept: a token has at most 16 KiB, the limit of a request's head, so these
/// take at most 16 MiB.
const KEPT: usize = 1_024;

/// The time for which they are kept (1 hour): access tokens rarely live longer.
const KEPT_TIME: Duration = Duration::from_secs(3_600);

/// The subjects whose tokens are exchanged.
#[derive(Default)]
pub(crate) struct SubjectTokens(Mutex<BTreeMap<Arc<Subject>, (Arc<TokenSubject>, Instant)>>);

impl SubjectTokens {
    /// Keeps the token of a request, if a server of the configuration needs it.
    pub(crate) fn keep(&self, identity: &Identity, headers: &HeaderMap, config: &Config) {
        let is_needed = config.servers.iter().any(Server::is_per_subject);
        // A token of the configuration is no token of an issuer, so nothing can be exchanged for it.
        let is_issued = identity.subject.issuer().is_some();
        if let Some(token) = bearer(headers).filter(|_| is_needed && is_issued) {
            self.of(&identity.subject).show(token);
        }
    }

    /// The subject as servers get to know it. The same value as before while anything uses that.
    pub(crate) fn of(&self, subject: &Arc<Subject>) -> Arc<TokenSubject> {
        let mut all = self.0.lock();
        let made = || (Arc::new(TokenSubject::new(subject.key())), Instant::now());
        let (kept, used) = all.entry(subject.clone()).or_insert_with(made);
        *used = Instant::now();
        let kept = kept.clone();
        let is_unused = |kept: &Arc<TokenSubject>| Arc::strong_count(kept) == 1;
        let unused = all.values().filter(|(kept, _)| is_unused(kept)).count();
        if unused > KEPT {
            let oldest = all.iter().filter(|(_, (kept, _))| is_unused(kept));
            let oldest = oldest.min_by_key(|(_, (_, used))| *used).map(|(subject, _)| subject.clone());
            if let Some(oldest) = oldest {
                all.remove(&oldest);
            }
        }
        all.retain(|_, (kept, used)| !is_unused(kept) || used.elapsed() < KEPT_TIME);
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(name: &str) -> Arc<Subject> {
        Identity::named(name, [0; 32]).subject
    }

    #[tokio::test(start_paused = true)]
    async fn unused_subjects_are_few_and_forgotten_after_a_while() {
        let tokens = SubjectTokens::default();
        let used = tokens.of(&subject("used"));
        for number in 0..KEPT + 10 {
            drop(tokens.of(&subject(&number.to_string())));
        }
        assert!(tokens.0.lock().len() <= KEPT + 2);
        tokio::time::advance(KEPT_TIME).await;
        drop(tokens.of(&subject("another")));
        assert_eq!(tokens.0.lock().len(), 2, "the used one and the last");
        assert!(Arc::ptr_eq(&used, &tokens.of(&subject("used"))));
    }
}
