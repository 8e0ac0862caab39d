//! The issuer of the clients' tokens: the test server `oauth-server`.

use std::process::Command;

use end_to_end::recording_server::RecordingServer;
use serde_json::{Value, json};

use crate::Checked;

/// The time for which a token is valid, in seconds.
const LIFETIME: u64 = 3600;

/// The running issuer.
pub(crate) struct Issuer {
    server: RecordingServer,
    /// Its address.
    pub(crate) address: String,
}

impl Issuer {
    /// Starts it.
    pub(crate) fn start() -> Checked<Self> {
        let program = env!("CARGO_BIN_EXE_oauth-server");
        let started = RecordingServer::start(Command::new(program).arg("sound"));
        let (server, first) = started.map_err(|error| format!("{program}: {error}"))?;
        let address = first["authority"].as_str().unwrap_or_default().to_owned();
        Ok(Issuer { server, address })
    }

    /// A token of this subject, signed with the current keys.
    pub(crate) async fn token(&self, subject: &str) -> Checked<String> {
        let wanted = json!({ "claims": { "sub": subject, "exp": LIFETIME } });
        self.server.command(&format!("issue {wanted}")).await;
        let record = self.server.requests().await;
        let token = record.iter().rev().find_map(|line: &Value| line["token"].as_str());
        token.map(str::to_owned).ok_or_else(|| "the issuer printed no token".to_owned())
    }

    /// Replaces its keys.
    pub(crate) async fn rotate(&self) {
        self.server.command("rotate").await;
    }
}
