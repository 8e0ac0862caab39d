//! Coding agents in front of `toolsmith serve`, with scripted models: the definition that the model sees in the first
//! request, and what it gets back for its calls.
//!
//! Each agent starts with an empty environment and its own home folder, in which `toolsmith setup` has configured the
//! server. The checks are on what the agent sends to the model. The tables in docs/clients.md come from them.

mod asked;
mod declared;
mod kinds;
mod plugins;
mod stage;
mod turns;

use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use serde_json::{Value, json};

use crate::{
    page::Page,
    product::{Checked, Product},
    servers::Installed,
    table::Row,
};
use kinds::{AGENTS, Agent, Catalog};
use stage::{Driven, Scene};
use turns::{all, short, turns};

/// The name that selects this part.
pub(crate) const PART: &str = "clients";
/// The name that selects the wait for a long snippet. It takes minutes, so no other name selects it.
pub(crate) const LONG: &str = "long";

/// The page with the tables.
const PAGE: &str = "docs/clients.md";

/// The model's API key, which the model server checks.
const KEY: &str = "secret-key";

/// Maximum number of agents that run at the same time.
const AT_ONCE: usize = 3;
/// The duration of the long snippet in seconds: above the limits of 1 and 5 minutes that clients have.
const LONG_SECONDS: u32 = 400;
/// Time limit for an agent's calls, each of which compiles a snippet.
const WATCHDOG: Duration = Duration::from_secs(300);
/// Time limit for the long snippet.
const LONG_WATCHDOG: Duration = Duration::from_secs(900);
/// The start of the slow server, in seconds.
const SLOW_START: u32 = 3;
/// Parts of the instructions for code in Codex's `exec`: the first and the last words.
const IN_EXEC: [&str; 2] = ["execute_code: one Rust snippet over all MCP servers", ".content[0].text."];
/// The first and the last function of the demo server, as descriptions list them.
const SIGNATURES: [&str; 2] = ["create_note(", "slow("];

/// An aspect of an agent, and the observation in a few words.
type Observation = (&'static str, Checked<String>);

/// The rows of the chosen agents and plugins, and the table for the documentation.
pub(crate) async fn run(
    installed: &Installed,
    product: &Product,
    is_chosen: impl Fn([&str; 2]) -> bool,
) -> Checked<(Vec<Row>, String)> {
    let chosen: Vec<&Agent> = AGENTS.iter().filter(|agent| is_chosen([PART, agent.package])).collect();
    let each = |agent: &'static Agent| agent.observe(installed, product);
    let observed = stream::iter(chosen.iter().copied()).map(each).buffered(AT_ONCE).collect().await;
    let (mut rows, text) = report(installed, &chosen, observed, Page::new(PAGE, "what models see")).await?;
    if is_chosen([PART, plugins::PART]) {
        rows.extend(plugins::run(installed, product).await?);
    }
    Ok((rows, text))
}

/// Runs one snippet that takes minutes, in all agents at once.
pub(crate) async fn run_long(installed: &Installed, product: &Product) -> Checked<(Vec<Row>, String)> {
    let chosen: Vec<&Agent> = AGENTS.iter().collect();
    let each = |agent: &'static Agent| agent.observe_long(installed, product);
    let observed = stream::iter(chosen.iter().copied()).map(each).buffered(AGENTS.len()).collect().await;
    report(installed, &chosen, observed, Page::new(PAGE, "long answers")).await
}

/// Makes the rows of the table, compares the page, and renders its table.
async fn report(
    installed: &Installed,
    agents: &[&Agent],
    observed: Vec<Vec<Observation>>,
    mut page: Page,
) -> Checked<(Vec<Row>, String)> {
    let mut rows = Vec::new();
    for (agent, observations) in agents.iter().zip(observed) {
        let version = agent.version(installed).await?;
        let seen = observations.iter().map(|(aspect, seen)| (*aspect, seen.as_deref().ok()));
        page.add([("client", Some(agent.name)), ("version", Some(&*version))].into_iter().chain(seen));
        rows.extend(observations.into_iter().map(|observation| row(agent.name, &version, observation)));
    }
    if !rows.is_empty() {
        let compared = page.compare(agents.len() == AGENTS.len()).map(|()| "yes".to_owned());
        rows.push(row(PAGE, "-", ("has these rows", compared)));
    }
    Ok((rows, page.markdown()))
}

/// A row for an observation.
fn row(peer: &str, version: &str, (aspect, seen): Observation) -> Row {
    let peer = match &seen {
        Ok(seen) => format!("{peer}: {aspect}: {seen}"),
        Err(_) => format!("{peer}: {aspect}"),
    };
    Row {
        peer,
        version: version.to_owned(),
        transport: "stdio",
        protocol: "-".to_owned(),
        tools: "-".to_owned(),
        failure: seen.err(),
    }
}

impl Agent {
    /// Observes the definition, the results of all calls, and a slow server.
    async fn observe(&self, installed: &Installed, product: &Product) -> Vec<Observation> {
        let turns = turns();
        let calls: Vec<_> = turns.iter().map(|turn| json!({ "code": turn.code })).collect();
        let count = calls.len();
        let scene = Scene { calls, limit: WATCHDOG };
        let driven = self.drive(installed, product, &answering(), &scene).await;
        let seen = driven.as_ref().map_err(String::clone);
        let mut observations = vec![("tool", seen.clone().and_then(|driven| self.definition(driven)))];
        for (index, turn) in turns.into_iter().enumerate() {
            let mut result = seen.clone().and_then(|driven| self.result(driven, index));
            if index + 1 == count {
                // The agent must end well too.
                result = seen.clone().and_then(|driven| driven.ended.clone()).and(result);
            }
            observations
                .push((turn.name, result.and_then(|result| (turn.check)(&result)).map(str::to_owned)));
        }
        // Longer than the server's start.
        let code = format!("tokio::time::sleep(Duration::from_secs({})).await;", SLOW_START + 1);
        let scene = Scene { calls: vec![json!({ "code": code })], limit: WATCHDOG };
        let driven = self.drive(installed, product, &starting_slowly(product), &scene).await;
        observations.push(("slow server", driven.and_then(|driven| self.waiting(&driven))));
        observations
    }

    /// Observes the result of the long snippet.
    async fn observe_long(&self, installed: &Installed, product: &Product) -> Vec<Observation> {
        let code = format!("demo::slow({LONG_SECONDS}.0).await?;\nformat!(\"slept-{{}}\", 6 * 7)");
        let demo = json!({
            "command": "toolsmith", "args": ["demo-server"], "trust": true, "requestTimeout": 2 * LONG_SECONDS,
        });
        let call = json!({ "code": code, "timeout": 2 * LONG_SECONDS });
        let scene = Scene { calls: vec![call], limit: LONG_WATCHDOG };
        let driven = self.drive(installed, product, &json!({ "demo": demo }), &scene).await;
        vec![("answer", driven.and_then(|driven| self.waited(&driven)))]
    }

    /// The long snippet's answer must be the last one, and all before it must say that the snippet still runs.
    fn waited(&self, driven: &Driven) -> Checked<String> {
        let mut results = asked::results(&driven.requests, &self.offered());
        let Some(last) = results.pop() else { return self.result(driven, 0) };
        all(&last, &["slept-42"])?;
        results.iter().try_for_each(|result| all(result, &["still running"]))?;
        Ok(match results.len() {
            0 => "arrives".to_owned(),
            _ => "arrives after “still running”".to_owned(),
        })
    }

    /// The definition of `execute_code` that the model sees in the first request must be all that the server declares.
    fn definition(&self, driven: &Driven) -> Checked<String> {
        let description = asked::description(&driven.requests, &self.offered())?;
        if let Some(finder) = self.finder
            && !asked::is_offered(&driven.requests, finder)
        {
            return Err(format!("the agent does not offer {finder}, so it might withhold no tools here"));
        }
        all(description, &SIGNATURES)?;
        if self.catalog == Some(Catalog::CodeMode) {
            // Without the entry's list of namespaces, only the instructions lead the model to the tool.
            all(&asked::first_text(&driven.requests), &IN_EXEC)?;
        }
        // Claude Code writes an ellipsis as three dots.
        let dots = |text: &str| text.trim().replace('…', "...");
        if dots(description).contains(&dots(&driven.declared)) {
            Ok("whole".to_owned())
        } else {
            let (seen, declared) = (short(description), short(&driven.declared));
            Err(format!("the model sees this description:\n{seen}\nbut the server declares:\n{declared}"))
        }
    }

    /// The model must see a slow server's tools at once, or as soon as the server is ready.
    fn waiting(&self, driven: &Driven) -> Checked<String> {
        self.definition(driven).map(|_| "yes".to_owned()).or_else(|error| {
            let later = asked::last_description(&driven.requests, &self.offered())?;
            all(later, &SIGNATURES).map(|()| "once it is ready".to_owned()).map_err(|_| error)
        })
    }

    /// The result of a call as the model sees it.
    fn result(&self, driven: &Driven, index: usize) -> Checked<String> {
        let results = asked::results(&driven.requests, &self.offered());
        let count = results.len();
        let missing =
            |printed: &String| format!("{count} results for the model; the agent says: {}", short(printed));
        match results.into_iter().nth(index) {
            Some(result) => Ok(result),
            None => Err(driven.ended.as_ref().map_or_else(String::clone, missing)),
        }
    }
}

/// A server whose tools may be called, and one whose tools need permission.
fn answering() -> Value {
    let demo = json!({ "command": "toolsmith", "args": ["demo-server"], "trust": true });
    let asked = json!({
        "command": "toolsmith", "args": ["demo-server"], "permission": "ask", "enabledTools": ["echo"],
    });
    json!({ "demo": demo, "asked": asked })
}

/// A server that needs a few seconds to start, and that no process has listed before.
fn starting_slowly(product: &Product) -> Value {
    let start = format!("sleep {SLOW_START}; exec \"$0\" demo-server");
    let arguments = json!(["-c", start, product.binary(), stage::unique()]);
    json!({ "demo": { "command": "/bin/sh", "args": arguments, "trust": true } })
}
