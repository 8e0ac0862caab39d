//! The measurements without a counterpart in the peers: a large server against a small one, and the demo server and the
//! kinds of sessions under load.

use std::path::Path;

use serde_json::json;

use crate::Checked;
use crate::figures::{Figures, milliseconds, ratio};
use crate::load::{self, AT_ONCE, Load};
use crate::options::Options;
use crate::peers::{Installed, Upstream, trusted};
use crate::session::Running;

/// Numbers of tools of the two servers.
const SMALL: usize = 10;
const LARGE: usize = 1000;

/// The figures.
#[derive(Default)]
pub(crate) struct Alone {
    small: Figures,
    large: Figures,
    /// Of each row of [`LOADS`].
    loads: Vec<Load>,
}

/// The names of the servers under load, and their rows.
const LOADS: [(&str, &str); 5] = [
    ("shop", "demo server"),
    ("shared", "reference server, `session: shared`"),
    ("stateless", "server of MCP 2026-07-28, `session: auto`"),
    ("stateless_fresh", "the same, `session: fresh`"),
    ("stateless_shared", "the same, `session: shared`"),
];

/// `catalog-server` with this many tools.
pub(crate) fn catalog(tools: usize) -> Upstream {
    let args = vec!["--tools".to_owned(), tools.to_string()];
    Upstream { command: env!("CARGO_BIN_EXE_catalog-server").to_owned(), args }
}

/// Measures, alternating between the two servers.
pub(crate) async fn measure(
    installed: &Installed<'_>,
    options: &Options,
    folder: &Path,
    first: u64,
) -> Checked<Alone> {
    let demo = Upstream {
        command: options.binary.to_string_lossy().into_owned(),
        args: vec!["demo-server".to_owned()],
    };
    let with_session = |upstream: &Upstream, session: &str| {
        let mut entry = trusted(upstream);
        entry["session"] = json!(session);
        entry
    };
    let stateless = installed.stateless();
    let config = json!({ "mcpServers": {
        "small": trusted(&catalog(SMALL)),
        "large": trusted(&catalog(LARGE)),
        "shop": trusted(&demo),
        "shared": with_session(&installed.everything(), "shared"),
        "stateless": trusted(&stateless),
        "stateless_fresh": with_session(&stateless, "fresh"),
        "stateless_shared": with_session(&stateless, "shared"),
    } });
    let peer = installed.toolsmith("alone", &config)?;
    let running = Running::start(peer, &demo, folder).await?;
    let mut alone = Alone::default();
    // The first round compiles the bindings of the tool.
    for round in 0..=options.rounds {
        for (server, figures) in [("small", &mut alone.small), ("large", &mut alone.large)] {
            let number = first + round as u64;
            let code = format!(
                "let event = {server}::calendar_get_event(\"{number}\").await?;\nlet a: u64 = {number};\n(event.id, a + 1)"
            );
            tokio::time::sleep(options.pause).await;
            let time = running.execute("execute_code", &code, &(number + 1).to_string()).await?;
            if round > 0 {
                figures.add(time);
            }
        }
    }
    for (server, _) in LOADS {
        let code = format!("{server}::echo(\"{first}\").await?.text()");
        let expected = first.to_string();
        let echo = || running.execute("execute_code", &code, &expected);
        echo().await?;
        alone.loads.push(load::press(options.rounds, echo).await?);
    }
    running.end().await;
    Ok(alone)
}

impl Alone {
    /// The second table. `hello` is the median of hello world in milliseconds.
    pub(crate) fn table(&self, hello: f64) -> String {
        let mut rows = vec!["| Toolsmith alone | |".to_owned(), "| --- | --- |".to_owned()];
        let medians = [&self.small, &self.large].map(Figures::median);
        for (tools, median) in [SMALL, LARGE].iter().zip(medians) {
            let cell = median.map_or_else(
                || "–".to_owned(),
                |median| format!("{} ({} × hello)", milliseconds(median), ratio(median / hello)),
            );
            rows.push(format!("| new snippet, server with {tools} tools | {cell} |"));
        }
        if let [Some(small), Some(large)] = medians {
            rows.push(format!("| {LARGE} tools against {SMALL} | {} times |", ratio(large / small)));
        }
        for ((_, name), load) in LOADS.iter().zip(&self.loads) {
            rows.push(format!("| {name}, {AT_ONCE} at once, repeat | {:.0}/s |", load.rate));
            rows.push(format!(
                "| {name}, {AT_ONCE} at once: median, 99th percentile | {} |",
                load.latencies()
            ));
        }
        rows.join("\n") + "\n"
    }
}
