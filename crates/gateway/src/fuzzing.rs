//! Entry points of the fuzz targets for files that decide trust and permission. Not a public interface.

use config::trust::{ProjectFiles, Trust, Trusted};

use crate::permission::Content;

/// Whether a trust record with these bytes trusts a configuration and its lock file at `path`.
#[must_use]
pub fn is_trusted(record: &[u8], path: &str, config: &str, lock: Option<&str>) -> bool {
    Trusted::parse(record)
        .is_ok_and(|trusted| trusted.of(path, ProjectFiles::new(config, lock)) == Trust::Given)
}

/// A record that trusts these files.
#[must_use]
pub fn record_of_trust(path: &str, config: &str, lock: Option<&str>) -> Vec<u8> {
    let mut trusted = Trusted::default();
    trusted.set(path.to_owned(), Some(ProjectFiles::new(config, lock)));
    serde_json::to_vec_pretty(&trusted).unwrap_or_default()
}

/// Whether a file of remembered answers with these bytes allows a tool with this hash, of a server with this
/// identity.
#[must_use]
pub fn is_allowed(answers: &[u8], identity: &str, tool: &str, hash: &str) -> bool {
    Content::parse(answers)
        .is_ok_and(|content| content.is_some_and(|content| content.has(identity, tool, hash)))
}
