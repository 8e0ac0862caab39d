//! The version of the stored credentials that a session was opened with.

use std::os::unix::fs::MetadataExt as _;

use mcp::{ServerConfig, Transport};

/// Identifies the version of a server's file with tokens: device, number, length and time of the last change. `None`
/// without a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CredentialsVersion(Option<[i128; 5]>);

impl CredentialsVersion {
    /// The present version. A login, a logout and a renewal of the token change it.
    pub(super) fn of(config: &ServerConfig) -> Self {
        let file = match &config.transport {
            Transport::Http(remote) | Transport::Sse(remote) => {
                remote.oauth.as_ref().and_then(|oauth| oauth.store.as_deref())
            }
            Transport::Stdio(_) | Transport::OpenApi(_) | Transport::InProcess(_) => None,
        };
        CredentialsVersion(file.and_then(|file| std::fs::metadata(file).ok()).map(|found| {
            [
                i128::from(found.dev()),
                i128::from(found.ino()),
                i128::from(found.len()),
                i128::from(found.ctime()),
                i128::from(found.ctime_nsec()),
            ]
        }))
    }
}
