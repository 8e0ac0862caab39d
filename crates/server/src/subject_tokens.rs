//! The access tokens of subjects that are exchanged for tokens of servers (RFC 8693), kept in memory if a configured server
//! needs them. An hour after their last use, they are removed when another subject is used.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use config::{Config, Server};
use identity::{Identity, Subject, bearer};
use mcp::TokenSubject;
use parking_lot::Mutex;
use tokio::time::Instant;

/// Limit on subjects that nothing uses: a token has at most 16 KiB, the limit of a request's head, and the tokens of
/// servers as much again for each server.
const KEPT: usize = 1_024;

/// The time for which they are kept (1 hour): access tokens rarely live longer.
const KEPT_TIME: Duration = Duration::from_secs(3_600);

/// The subjects whose tokens are exchanged.
#[derive(Default)]
pub(crate) struct SubjectTokens(Mutex<BTreeMap<Arc<Subject>, Kept>>);

struct Kept {
    subject: Arc<TokenSubject>,
    used: Instant,
}

impl Kept {
    /// Whether only this map holds it.
    fn is_unused(&self) -> bool {
        Arc::strong_count(&self.subject) == 1
    }
}

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
        let made = || Kept { subject: Arc::new(TokenSubject::new(subject.key())), used: Instant::now() };
        let kept = all.entry(subject.clone()).or_insert_with(made);
        kept.used = Instant::now();
        // The clone keeps it from being removed here.
        let known = kept.subject.clone();
        all.retain(|_, kept| !kept.is_unused() || kept.used.elapsed() < KEPT_TIME);
        let unused = || all.iter().filter(|(_, kept)| kept.is_unused());
        if unused().count() > KEPT {
            let oldest = unused().min_by_key(|(_, kept)| kept.used).map(|(subject, _)| subject.clone());
            if let Some(oldest) = oldest {
                all.remove(&oldest);
            }
        }
        known
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
