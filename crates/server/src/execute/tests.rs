//! Tests of the sessions that an execution uses.

use config::Config;
use gateway::pins::Known;
use mcp::ServerConfig;
use tokio::sync::watch;

use super::*;
use crate::client_host::ClientHost;
use crate::fixtures::{PipeClient, state};
use crate::session::ClientTransport;
use crate::snapshot::Settings;

fn settings(session: SessionMode) -> Arc<Settings> {
    let entry = Server::new(ServerConfig::stdio("s", "false", [""; 0]), String::new());
    let config = Config { servers: vec![Server { session, ..entry }], ..Config::default() };
    Settings::new(config, Known::default(), None).unwrap()
}

/// Whether an execution with the first configuration shares sessions while the second one is present.
async fn shares(began_with: SessionMode, present: SessionMode) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let state = state(settings(present), folder.path());
    let session = ClientSession::new("c-1".to_owned(), ClientTransport::Stdio, state.clone());
    let client = PipeClient::connect();
    let context = client.request(1);
    let (caller, _) = session.caller(&context);
    // It watches no server.
    let (_, unchanged) = watch::channel(settings(began_with));
    let upstreams =
        Upstreams::new(ClientHost::new(caller.abilities, state.terminal.notifier()), unchanged.clone());
    let (cache, notifier) = (state.cache.clone(), state.terminal.notifier());
    let offered = watch::Sender::default();
    let execution = ClientExecution {
        id: "1".to_owned(),
        snapshot: Arc::new(Snapshot::empty(settings(began_with))),
        live: CatalogWatcher::start(unchanged, upstreams, cache, notifier, offered),
        peer: context.peer.clone(),
        requester: Requester::of(&session, &context),
        identity: None,
        arguments: Arguments::read(json!({ "code": "1" })).unwrap(),
        program: None,
        given: None,
        cancel: CancellationToken::new(),
        binding: Vec::new(),
        state,
        session,
        caller,
    };
    execution.shared_sessions().of_client.is_some()
}

#[tokio::test]
async fn the_configuration_that_an_execution_began_with_decides_whether_it_shares_sessions() {
    let (shared, fresh) = (SessionMode::Shared, SessionMode::Fresh);
    assert!(shares(shared, fresh).await && !shares(fresh, shared).await);
}
