//! Issued codes and tokens, and whether they are still valid.

use std::collections::{BTreeMap, BTreeSet};

/// A code on its way from the browser to the client.
pub(crate) struct Code {
    pub(crate) challenge: String,
    pub(crate) redirect: String,
    pub(crate) client: String,
    pub(crate) scope: String,
}

/// A code on its way from a device to the browser (RFC 8628).
pub(crate) struct Device {
    pub(crate) client: String,
    pub(crate) scope: String,
    pub(crate) user_code: String,
    /// Whether the user has agreed, once the page was visited.
    pub(crate) agreed: Option<bool>,
}

/// Everything that was issued. Names are numbered, so that tests can distinguish them.
#[derive(Default)]
pub(crate) struct Grants {
    number: usize,
    /// The registered clients, with their secrets.
    pub(crate) clients: BTreeMap<String, Option<String>>,
    pub(crate) codes: BTreeMap<String, Code>,
    /// The codes of devices, by the secret one.
    pub(crate) devices: BTreeMap<String, Device>,
    /// The valid access tokens, with their scopes.
    access: BTreeMap<String, BTreeSet<String>>,
    /// The ids of the assertions that were used.
    pub(crate) assertions: BTreeSet<String>,
    /// The valid refresh tokens, with their client and scopes.
    refresh: BTreeMap<String, (String, String)>,
}

impl Grants {
    /// A new unique name.
    pub(crate) fn name(&mut self, kind: &str) -> String {
        self.number += 1;
        format!("{kind}-{}", self.number)
    }

    /// Issues an access token for these scopes.
    pub(crate) fn access(&mut self, scope: &str) -> String {
        let token = self.name("access");
        self.access.insert(token.clone(), scope.split_whitespace().map(str::to_owned).collect());
        token
    }

    /// Issues a refresh token.
    pub(crate) fn refresh(&mut self, client: &str, scope: &str) -> String {
        let token = self.name("refresh");
        self.refresh.insert(token.clone(), (client.to_owned(), scope.to_owned()));
        token
    }

    /// Consumes a refresh token; returns its client and scopes.
    pub(crate) fn take_refresh(&mut self, token: &str) -> Option<(String, String)> {
        self.refresh.remove(token)
    }

    /// Whether there are valid refresh tokens.
    pub(crate) fn can_be_renewed(&self) -> bool {
        !self.refresh.is_empty()
    }

    /// The scopes of a valid access token.
    pub(crate) fn scopes(&self, token: &str) -> Option<&BTreeSet<String>> {
        self.access.get(token)
    }

    /// Invalidates all access tokens; they can be renewed.
    pub(crate) fn expire(&mut self) {
        self.access.clear();
    }

    /// Invalidates all tokens.
    pub(crate) fn revoke(&mut self) {
        self.access.clear();
        self.refresh.clear();
    }
}
