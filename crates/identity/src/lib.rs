//! The identity behind a request over HTTP, as its token shows: the subject, and the tools that it may call.
//!
//! `access` identifies requests; everything else receives the result. A client over standard input and output, an agent
//! of this process, and a client with the single token of `--token-env` have no subject.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod access;
mod access_token;
mod issuer_keys;
mod key_set;
mod metadata;
mod signature;
mod single_token;

use std::collections::BTreeSet;
use std::sync::Arc;

use config::{Glob, Serve};

pub use access::{Access, Refusal, bearer, has_identities};
pub use access_token::InvalidToken;
pub use single_token::SingleToken;

/// Someone who has a token.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subject {
    /// The issuer of its tokens; `None` for a token of the configuration.
    issuer: Option<String>,
    /// `sub` of its tokens, or the name of its token.
    name: String,
}

impl Subject {
    /// The name for logs.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The issuer of its tokens; `None` for a token of the configuration.
    pub fn issuer(&self) -> Option<&str> {
        self.issuer.as_deref()
    }

    /// A text that no other subject has, and no session: their ids have no spaces, and neither has an issuer.
    pub fn key(&self) -> String {
        format!("subject {} {}", self.issuer.as_deref().unwrap_or("-"), self.name)
    }
}

/// A subject, and what its token says.
#[derive(Debug, PartialEq, Eq)]
pub struct Identity {
    /// The subject.
    pub subject: Arc<Subject>,
    token: Token,
}

/// A token's statement about its subject.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// An access token of the issuer.
    Issued { scopes: BTreeSet<String>, id: Option<String> },
    /// A token of the configuration, by its hash.
    Named([u8; 32]),
}

/// The reason why a valid token gives no access.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAccess {
    /// The configuration denies the subject or the token, or does not accept such tokens any more.
    #[error("{0}")]
    Denied(&'static str),
    /// The token lacks these scopes.
    #[error("the token lacks a scope: {}", .0.join(" "))]
    Scopes(Vec<String>),
}

impl Identity {
    /// The holder of an access token.
    pub(crate) fn issued(issuer: &str, name: String, scopes: BTreeSet<String>, id: Option<String>) -> Self {
        let subject = Arc::new(Subject { issuer: Some(issuer.to_owned()), name });
        Identity { subject, token: Token::Issued { scopes, id } }
    }

    /// The holder of the configured token with this hash.
    pub fn named(name: &str, hash: [u8; 32]) -> Self {
        Identity {
            subject: Arc::new(Subject { issuer: None, name: name.to_owned() }),
            token: Token::Named(hash),
        }
    }

    /// The tools that the subject may call under this configuration, as globs of `server.tool`; `None` for all.
    ///
    /// # Errors
    /// If it may use nothing.
    pub fn access(&self, serve: &Serve) -> Result<Option<Vec<Glob>>, NoAccess> {
        if serve.deny.subjects.contains(&self.subject.name) {
            return Err(NoAccess::Denied("the subject of the token is denied"));
        }
        match &self.token {
            Token::Issued { scopes, id } => self.by_scopes(serve, scopes, id.as_ref()),
            Token::Named(hash) => {
                let tokens = serve.tokens.as_ref();
                let known = tokens.and_then(|tokens| tokens.get(&self.subject.name));
                let known = known.filter(|token| token.hash == *hash);
                let removed = NoAccess::Denied("the token is no longer in the configuration");
                known.map(|token| token.tools.clone()).ok_or(removed)
            }
        }
    }

    fn by_scopes(
        &self,
        serve: &Serve,
        scopes: &BTreeSet<String>,
        id: Option<&String>,
    ) -> Result<Option<Vec<Glob>>, NoAccess> {
        if id.is_some_and(|id| serve.deny.token_ids.contains(id)) {
            return Err(NoAccess::Denied("the token is denied"));
        }
        let auth = serve.auth.as_ref().filter(|auth| self.subject.issuer() == Some(auth.issuer.as_str()));
        let auth = auth.ok_or(NoAccess::Denied("tokens of this issuer are no longer accepted"))?;
        let required = auth.required_scopes.iter().flatten();
        let lacking: Vec<String> = required.filter(|scope| !scopes.contains(*scope)).cloned().collect();
        if !lacking.is_empty() {
            return Err(NoAccess::Scopes(lacking));
        }
        let Some(mapped) = &auth.scopes else { return Ok(None) };
        let own = || mapped.iter().filter(|(scope, _)| scopes.contains(*scope));
        if own().next().is_none() {
            return Err(NoAccess::Scopes(mapped.keys().cloned().collect()));
        }
        Ok(Some(own().flat_map(|(_, tools)| tools.clone()).collect()))
    }
}

tokio::task_local! {
    /// The subject of the request that the task passes to the protocol library, which creates sessions without naming a
    /// request.
    static SUBJECT: Option<Arc<Subject>>;
}

/// Does work for a request of this subject.
pub async fn on_behalf_of<T>(subject: Option<Arc<Subject>>, work: impl Future<Output = T>) -> T {
    SUBJECT.scope(subject, work).await
}

/// The subject of the request that this task works for.
pub fn current() -> Option<Arc<Subject>> {
    SUBJECT.try_with(Clone::clone).ok().flatten()
}

#[cfg(test)]
mod tests;
