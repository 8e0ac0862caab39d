//! What was given to whom, and what of it still holds.

use std::collections::{BTreeMap, BTreeSet};

/// A code on its way from the browser to the client.
pub(crate) struct Code {
    pub(crate) challenge: String,
    pub(crate) redirect: String,
    pub(crate) client: String,
    pub(crate) scope: String,
}

/// Everything that was given. Names are numbered, so that tests can tell them apart.
#[derive(Default)]
pub(crate) struct Grants {
    number: usize,
    /// The clients that have registered, with their secrets.
    pub(crate) clients: BTreeMap<String, Option<String>>,
    pub(crate) codes: BTreeMap<String, Code>,
    /// The access tokens that hold, with their scopes.
    access: BTreeMap<String, BTreeSet<String>>,
    /// The refresh tokens that hold, with the client and the scopes.
    refresh: BTreeMap<String, (String, String)>,
}

impl Grants {
    /// A name that was not given before.
    pub(crate) fn name(&mut self, kind: &str) -> String {
        self.number += 1;
        format!("{kind}-{}", self.number)
    }

    /// A new access token for these scopes.
    pub(crate) fn access(&mut self, scope: &str) -> String {
        let token = self.name("access");
        self.access.insert(token.clone(), scope.split_whitespace().map(str::to_owned).collect());
        token
    }

    /// A new refresh token.
    pub(crate) fn refresh(&mut self, client: &str, scope: &str) -> String {
        let token = self.name("refresh");
        self.refresh.insert(token.clone(), (client.to_owned(), scope.to_owned()));
        token
    }

    /// Takes a refresh token in, which then holds no more: its client and scopes.
    pub(crate) fn take_refresh(&mut self, token: &str) -> Option<(String, String)> {
        self.refresh.remove(token)
    }

    /// Whether there are refresh tokens that hold.
    pub(crate) fn can_be_renewed(&self) -> bool {
        !self.refresh.is_empty()
    }

    /// The scopes of an access token that holds.
    pub(crate) fn scopes(&self, token: &str) -> Option<&BTreeSet<String>> {
        self.access.get(token)
    }

    /// No access token holds any more, but they can be renewed.
    pub(crate) fn expire(&mut self) {
        self.access.clear();
    }

    /// Nothing holds any more.
    pub(crate) fn revoke(&mut self) {
        self.access.clear();
        self.refresh.clear();
    }
}
