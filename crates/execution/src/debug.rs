//! Logs the traffic of connections to servers on standard error: for servers with `debug: true`, or for all with
//! `TOOLSMITH_MCP_DEBUG=1`.
//!
//! Secrets of the configuration are masked as in all messages of this process.

use std::io;

use config::{Config, Server};
use terminal::Notifier;
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry};

/// The target of events about compilations in the background.
pub const COMPILERS: &str = "toolsmith::compilers";

/// A layer of the log, such as one that exports spans.
pub type LogLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Starts logging if the configuration enables it, along with an export of spans (`exported`). With a `notifier`, the user can later
/// enable it for any server (`mcp::switch_trace`), and the notifier shows it. Only the first call in a process has an
/// effect.
pub(crate) fn begin(config: &Config, exported: Option<LogLayer>, notifier: Option<&Notifier>) {
    let layers: Vec<_> = exported.into_iter().chain(layer(config, notifier)).collect();
    if !layers.is_empty() {
        let _ = tracing_subscriber::registry().with(layers).try_init();
    }
}

fn layer(config: &Config, notifier: Option<&Notifier>) -> Option<LogLayer> {
    if notifier.is_none() && !config.servers.iter().any(debugs) {
        return None;
    }
    let lines = Lines { notifier: notifier.cloned() };
    let layer = fmt::layer().with_ansi(false).with_target(false).with_writer(lines).without_time();
    Some(layer.with_filter(targets(config)).boxed())
}

fn debugs(server: &Server) -> bool {
    server.connection.debug
}

/// Selects the events that are logged.
fn targets(config: &Config) -> Targets {
    let mut targets = Targets::new().with_target(mcp::TRACE_TARGET, Level::DEBUG);
    // Without a server to debug, the layer waits for one to be switched on: then only its traffic is shown.
    if config.servers.iter().any(debugs) {
        targets = targets.with_target(COMPILERS, Level::DEBUG);
    }
    // The protocol library does not name the server in its messages, so they are shown only if all servers are
    // debugged.
    if !config.servers.is_empty() && config.servers.iter().all(debugs) {
        targets = targets
            .with_target("rmcp", Level::DEBUG)
            // At this level it would log the codes that tokens are exchanged for.
            .with_target("rmcp::transport::auth", Level::WARN);
    }
    targets
}

/// Creates a writer for each event.
struct Lines {
    notifier: Option<Notifier>,
}

/// Collects an event, and shows it as a whole.
struct Line<'a> {
    text: Vec<u8>,
    notifier: Option<&'a Notifier>,
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { text: Vec::new(), notifier: self.notifier.as_ref() }
    }
}

impl io::Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.text);
        match self.notifier {
            Some(notifier) => notifier.log(text.trim_end()),
            None => terminal::say(format_args!("{text}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A configuration with servers that are debugged or not.
    fn config(servers: &[bool]) -> Config {
        let server = |&debug: &bool| {
            let mut connection = mcp::ServerConfig::stdio("s", "false", [""; 0]);
            connection.debug = debug;
            Server::new(connection, String::new())
        };
        Config { servers: servers.iter().map(server).collect(), ..Config::default() }
    }

    #[test]
    fn compilers_are_logged_only_if_a_server_is_debugged() {
        for silent in [&[][..], &[false]] {
            assert!(!targets(&config(silent)).would_enable(COMPILERS, &Level::DEBUG), "{silent:?}");
        }
        assert!(targets(&config(&[false, true])).would_enable(COMPILERS, &Level::DEBUG));
    }

    #[test]
    fn messages_without_a_servers_name_need_all_servers_to_be_debugged() {
        assert!(!targets(&config(&[true, false])).would_enable("rmcp", &Level::DEBUG));
        let all = targets(&config(&[true, true]));
        assert!(all.would_enable("rmcp", &Level::DEBUG));
        assert!(!all.would_enable("rmcp::transport::auth", &Level::DEBUG));
    }

    #[test]
    fn traffic_can_be_switched_on_later() {
        assert!(targets(&config(&[false])).would_enable(mcp::TRACE_TARGET, &Level::DEBUG));
    }
}
