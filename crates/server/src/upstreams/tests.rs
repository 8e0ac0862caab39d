//! Tests of the entries of the configuration that get sessions.

use gateway::pins::Known;
use terminal::Terminal;

use super::*;
use crate::caller::Abilities;

/// A server that ends at once, with this argument.
fn server(argument: &str) -> Server {
    Server::new(ServerConfig::stdio("s", "false", [argument]), String::new())
}

#[tokio::test]
async fn a_request_with_an_older_configuration_does_not_end_the_present_session() {
    let (older, present) = (server("older"), server("present"));
    let config = Config { servers: vec![present.clone()], ..Config::default() };
    let (_sender, settings) = watch::channel(Settings::new(config, Known::default(), None).unwrap());
    let host = ClientHost::new(Abilities::default(), Terminal::new(true, false).notifier());
    let upstreams = Upstreams::new(host, settings);

    upstreams.keep(&[&older]);
    assert!(upstreams.available(&older).is_ok(), "its session is still there");
    upstreams.keep(&[&present]);
    let error = upstreams.session(&older).await.unwrap_err();
    assert!(error.to_string().contains("make the request again"), "{error}");
    assert!(!upstreams.settled(&older).await);
    assert!(upstreams.keepers().get("s").is_some_and(|kept| kept.config == present.connection));

    // Not even if there is none yet.
    upstreams.keep(&[]);
    assert!(upstreams.available(&older).is_err());
    assert!(upstreams.available(&present).is_ok());
    upstreams.close().await;
}
