//! What goes over the connections to servers, on standard error: for servers with `debug: true`, or all of them with
//! `TOOLSMITH_MCP_DEBUG=1`.
//!
//! Secrets of the configuration are masked like in all that this process tells.

use std::io;
use std::sync::OnceLock;

use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry};

use crate::precompile;
use crate::telemetry::Exporter;
use config::{Config, Server};
use terminal::Notifier;

/// Who tells it, where a person may ask for it later.
static LATER: OnceLock<Notifier> = OnceLock::new();

/// A person may ask for it later, of any server (`mcp::switch_trace`): for before anything else here. It is told by
/// `voice` then.
pub fn allow_later(voice: Notifier) {
    let _ = LATER.set(voice);
}

/// Begins to tell, where the configuration asks for it. Only the first time in a process does anything.
pub(crate) fn begin(config: &Config) {
    begin_with(config, None);
}

/// The same, with an export of spans beside it.
pub(crate) fn begin_with(config: &Config, exporter: Option<&Exporter>) {
    let layers: Vec<_> = exporter.map(Exporter::layer).into_iter().chain(layer(config)).collect();
    if !layers.is_empty() {
        let _ = tracing_subscriber::registry().with(layers).try_init();
    }
}

fn layer(config: &Config) -> Option<Box<dyn Layer<Registry> + Send + Sync>> {
    let debugs = |server: &Server| server.connection.debug;
    if LATER.get().is_none() && !config.servers.iter().any(debugs) {
        return None;
    }
    let mut targets = Targets::new().with_target(mcp::TRACE_TARGET, Level::DEBUG);
    targets = targets.with_target(precompile::TRACE_TARGET, Level::DEBUG);
    // The protocol library does not say which server it talks of, so it is heard where none is to be left out.
    if !config.servers.is_empty() && config.servers.iter().all(debugs) {
        targets = targets
            .with_target("rmcp", Level::DEBUG)
            // At this level it would tell the codes that tokens are got with.
            .with_target("rmcp::transport::auth", Level::WARN);
    }
    let layer = fmt::layer().with_ansi(false).with_target(false).with_writer(Lines).without_time();
    Some(layer.with_filter(targets).boxed())
}

/// Gives each event a writer of its own.
struct Lines;

/// Collects an event, and tells it as a whole.
struct Line(Vec<u8>);

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line(Vec::new())
    }
}

impl io::Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.0);
        match LATER.get() {
            Some(voice) => voice.tell(text.trim_end()),
            None => terminal::say(format_args!("{text}")),
        }
    }
}
