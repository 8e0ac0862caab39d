//! Servers that require tokens, a scripted browser, and a record of requests with their tokens.

use std::{path::PathBuf, process::Command};

use end_to_end::browser;
use end_to_end::checks::text_of;
pub(crate) use end_to_end::checks::{assert_says, watched};
use end_to_end::recording_server::RecordingServer;
use mcp::{
    Browser, Challenge, Consent, Error, ErrorKind, Grant, OAuth, Remote, ServerConfig, Session, Transport,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server in one of its modes, and its token file.
pub(crate) struct Fixture {
    pub(crate) config: ServerConfig,
    folder: TempDir,
    /// The address of a third origin.
    elsewhere: String,
    /// The address of the authorization server.
    authority: String,
    /// The private keys of the client `machine`, by kind.
    keys: Value,
    server: RecordingServer,
}

impl Fixture {
    pub(crate) fn new(mode: &str) -> Self {
        Self::with(mode, OAuth::default())
    }

    /// With these settings and a token file.
    pub(crate) fn with(mode: &str, settings: OAuth) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oauth-server"));
        let (server, start) = RecordingServer::start(command.arg(mode)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let oauth = OAuth { store: Some(folder.path().join("tokens/server.json")), ..settings };
        let remote = Remote {
            url: format!("{}/mcp", start["address"].as_str().unwrap()),
            oauth: Some(oauth),
            ..Remote::default()
        };
        let config = ServerConfig::new("guarded", Transport::Http(remote));
        let address = |name: &str| start[name].as_str().unwrap().to_owned();
        Self {
            config,
            folder,
            elsewhere: address("elsewhere"),
            authority: address("authority"),
            keys: start["keys"].clone(),
            server,
        }
    }

    /// With the authorization server's endpoints in the configuration.
    pub(crate) fn with_endpoints(mode: &str) -> Self {
        let mut fixture = Self::new(mode);
        let at = |path: &str| Some(format!("{}/{path}", fixture.authority));
        let (authorization_url, token_url, registration_url) = (at("authorize"), at("token"), at("register"));
        let Transport::Http(Remote { oauth: Some(settings), .. }) = &mut fixture.config.transport else {
            panic!("no settings: {:?}", fixture.config);
        };
        let store = settings.store.take();
        *settings = OAuth {
            authorization_url,
            token_url,
            registration_url,
            scope: Some("tools".to_owned()),
            store,
            ..OAuth::default()
        };
        fixture
    }

    /// With the private key of this kind, by which the client `machine` authenticates.
    pub(crate) fn signing(mode: &str, kind: &str) -> Self {
        let mut fixture = Self::with(mode, OAuth { grant: Grant::ClientCredentials, ..OAuth::default() });
        let key = fixture.keys[kind].as_str().unwrap().to_owned();
        let settings = fixture.settings();
        settings.client_id = Some("machine".to_owned());
        settings.private_key = Some(key);
        fixture
    }

    pub(crate) fn settings(&mut self) -> &mut OAuth {
        let Transport::Http(Remote { oauth: Some(settings), .. }) = &mut self.config.transport else {
            panic!("no settings");
        };
        settings
    }

    /// The address of an origin that must never see a token.
    pub(crate) fn elsewhere(&self) -> String {
        self.elsewhere.clone()
    }

    /// The token file.
    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("tokens/server.json")
    }

    pub(crate) async fn connect(&self) -> Result<Session, Error> {
        watched(Session::connect(&self.config)).await
    }

    /// The server's error for a client without a valid token.
    pub(crate) async fn challenge(&self) -> Challenge {
        let error = self.connect().await.unwrap_err();
        challenge_of(error)
    }

    /// Logs in with the scripted browser.
    pub(crate) async fn login(&self, challenge: &Challenge) -> Result<(), Error> {
        let login = mcp::login(&self.config, Some(challenge), Browser::Here, |consent| async move {
            let (Consent::Redirect { address, .. } | Consent::Code { address, .. }) = consent;
            drop(browser::visit(&address).await);
            None
        });
        watched(Box::pin(login)).await
    }

    /// Logs in and connects.
    pub(crate) async fn logged_in(&self) -> Session {
        let challenge = self.challenge().await;
        self.login(&challenge).await.unwrap();
        self.connect().await.unwrap()
    }

    /// Sends the server a command and waits until it is done.
    pub(crate) async fn command(&self, command: &str) {
        self.server.command(command).await;
    }

    /// The requests that one of the servers received.
    pub(crate) async fn seen_at(&self, server: &str) -> Vec<Value> {
        self.server.requests().await.into_iter().filter(|line| line["at"] == server).collect()
    }

    /// The forms that were sent to the token endpoint with this grant.
    pub(crate) async fn grants(&self, grant: &str) -> Vec<Value> {
        let requests = self.seen_at("authority").await.into_iter().filter(|line| line["path"] == "/token");
        requests.map(|line| line["fields"].clone()).filter(|form| form["grant_type"] == grant).collect()
    }

    /// Checks that no secret has reached a server that it was not meant for.
    pub(crate) async fn assert_tokens_stayed_home(&self) {
        for request in self.seen_at("elsewhere").await {
            let text = request.to_string();
            for secret in ["access-", "refresh-", "code-", "secret-", "Bearer", "Basic", "code_verifier"] {
                assert!(!text.contains(secret), "{secret} has reached another origin: {text}");
            }
        }
        for request in self.seen_at("authority").await {
            assert!(!request.to_string().contains("access-"), "the authority was sent a token: {request}");
        }
        for request in self.seen_at("resource").await {
            assert!(
                !request.to_string().contains("refresh-"),
                "the server was sent a refresh token: {request}"
            );
        }
    }
}

/// The challenge of an error, which must request a login.
#[track_caller]
pub(crate) fn challenge_of(error: Error) -> Challenge {
    match *error.kind {
        ErrorKind::Unauthorized { challenge, .. } => challenge,
        kind => panic!("expected a login request: {kind}"),
    }
}

/// Calls a tool that returns its own name.
pub(crate) async fn call(session: &Session, tool: &str) -> Result<String, Error> {
    text_of(session, tool, &json!({})).await
}
