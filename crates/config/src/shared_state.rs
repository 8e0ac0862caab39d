//! The keys of `serve.sharedState`: what several replicas of one server know together.

use super::key_macros::record;
use super::key_types::{FilePath, Seconds, VariableName};
use super::remote_cache::RemoteKey;

/// Default lifetime of outputs in the store.
const LIFETIME: std::time::Duration = std::time::Duration::from_secs(3600);

record! {
    /// What several replicas share, so that clients without sessions need no particular one: questions about permission, and
    /// outputs of executions. It is kept in the store of `cache.remote`.
    #[serde(rename_all = "camelCase")]
    SharedState from SharedStateForm {
        /// The secret of all replicas.
        key: StateKeyForm,
        /// How long an output can be read from the store, in seconds.
        output_lifetime: Seconds = LIFETIME,
    }
}

record! {
    /// The secret of all replicas, 64 hexadecimal digits: one of these.
    #[serde(rename_all = "camelCase")]
    StateKey from StateKeyForm {
        /// A file that only its owner may read, relative to the folder of this file.
        file: Option<FilePath>,
        /// The name of an environment variable with the secret.
        env: Option<VariableName>,
    }
}

impl StateKey {
    /// Where the secret is; `None` if the configuration does not name exactly one place, which validation reports.
    #[must_use]
    pub fn place(&self) -> Option<RemoteKey> {
        match (&self.file, &self.env) {
            (Some(file), None) => Some(RemoteKey::File(file.clone())),
            (None, Some(name)) => Some(RemoteKey::Environment(name.clone())),
            _ => None,
        }
    }
}

impl SharedStateForm {
    /// Whether the secret is in exactly one place.
    pub(super) fn has_one_place(&self) -> bool {
        self.key.file.is_some() != self.key.env.is_some()
    }
}
