//! Compares how the official SDKs and our client handle odd servers.
//!
//! `odd-server` is odd in one way per mode. `modes.yaml` records the outcome for every client. An entry fails if it is
//! outdated, or if our client does worse than both SDKs without a reason. docs/compatibility.md has the same table.

mod observed;
mod ours;

use std::{collections::BTreeMap, fs, path::Path, process::Stdio, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::{product::Checked, servers::Installed, table::Row};
use observed::{Outcome, outcome};

/// The name that selects these rows.
pub(crate) const PART: &str = "modes";
/// A client's time limit for one server, in seconds: longer than ours waits for a response to discovery.
const WATCHDOG: u64 = 10;
/// A client's time limit for all servers.
const ALL_WATCHDOG: Duration = Duration::from_secs(180);
/// The clients, in the order of an entry's columns, and the versions of their SDKs.
const CLIENTS: [&str; 5] = ["Python 1", "Python 2", "TypeScript 1", "TypeScript 2", "Toolsmith"];
/// Limit on the part of a client's report that is shown, in characters.
const QUOTED: usize = 600;
/// The page with the table.
const PAGE: &str = "docs/compatibility.md";

/// An entry of `modes.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Its name in `odd-server`.
    mode: String,
    over: String,
    /// A description of the oddity.
    does: String,
    /// The outcomes of versions 1 and 2 of the SDK.
    python: [Outcome; 2],
    typescript: [Outcome; 2],
    ours: Outcome,
    /// The reason why our client does worse than both SDKs.
    reason: Option<String>,
}

impl Entry {
    /// The key of its result in the clients' reports.
    fn key(&self) -> String {
        format!("{} {}", self.over, self.mode)
    }

    fn expected(&self) -> [Outcome; 5] {
        let ([python1, python2], [typescript1, typescript2]) = (self.python, self.typescript);
        [python1, python2, typescript1, typescript2, self.ours]
    }

    /// Whether each SDK, in its better version, does better than our client.
    fn is_worst(&self) -> bool {
        let is_better =
            |versions: &[Outcome; 2]| versions.iter().any(|&version| is_worse(self.ours, version));
        is_better(&self.python) && is_better(&self.typescript)
    }

    fn markdown(&self) -> String {
        let outcomes = self.expected().map(|outcome| outcome.to_string());
        format!("| {} | {} | {} |", self.does, self.over, outcomes.join(" | "))
    }
}

/// Whether the first outcome is worse. A report in addition to a correct answer makes no difference.
fn is_worse(one: Outcome, other: Outcome) -> bool {
    one > other && one > Outcome::Reported
}

/// One row for all modes, and the table that is printed below.
pub(crate) async fn run(installed: &Installed) -> Checked<(Row, String)> {
    let entries = entries()?;
    let server = OddServer::start().await?;
    let plan = Value::from_iter(entries.iter().map(|entry| server.planned(entry)));
    let seen = seen(installed, &plan).await?;
    let mut retried = plan;
    if let Some(list) = retried.as_array_mut() {
        let is_unexpected = |entry: &&Entry| {
            let observed = seen.iter().map(|of| outcome(&entry.mode, &of[entry.key()]));
            observed.zip(entry.expected()).any(|(observed, expected)| observed != expected)
        };
        let again: Vec<_> = entries.iter().filter(is_unexpected).map(Entry::key).collect();
        list.retain(|server| again.iter().any(|key| server["mode"] == **key));
    }
    // Once more with less load: a busy machine may be slow, and an SDK may race with the end of its server.
    let second =
        if retried == json!([]) { Default::default() } else { self::seen(installed, &retried).await? };
    let mut failures = Vec::new();
    let mut rows = BTreeMap::new();
    for entry in &entries {
        let key = entry.key();
        let look = |client: usize| if second[client][&key].is_null() { &seen } else { &second };
        let observed = std::array::from_fn(|client| outcome(&entry.mode, &look(client)[client][&key]));
        for (client, name) in CLIENTS.iter().enumerate() {
            let (observed, expected): (Outcome, Outcome) = (observed[client], entry.expected()[client]);
            if observed != expected {
                let text = look(client)[client][&key].to_string();
                let text: String = text.chars().take(QUOTED).collect();
                failures.push(format!("{key}: {name} is `{observed}`, expected `{expected}`: {text}"));
            }
        }
        if entry.is_worst() != entry.reason.is_some() {
            failures.push(format!("{key}: has a reason, but our client is not worse than both SDKs"));
        }
        rows.insert(key, observed);
    }
    failures.extend(page(&entries));
    let row = Row {
        peer: format!("{PART}: {} odd servers, {} clients each", entries.len(), CLIENTS.len()),
        version: "-".to_owned(),
        transport: "both",
        protocol: "2025-11-25".to_owned(),
        tools: "-".to_owned(),
        failure: (!failures.is_empty()).then(|| failures.join("\n")),
    };
    Ok((row, table(&entries, &rows)))
}

fn entries() -> Checked<Vec<Entry>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/modes.yaml");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_saphyr::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The rows of the table that the page lacks.
fn page(entries: &[Entry]) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(PAGE);
    let text = fs::read_to_string(&path).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    let missing = entries.iter().map(Entry::markdown).filter(|row| !lines.contains(&row.as_str()));
    missing.map(|row| format!("{PAGE} lacks this line:\n{row}")).collect()
}

fn table(entries: &[Entry], rows: &BTreeMap<String, [Outcome; 5]>) -> String {
    let width = entries.iter().map(|entry| entry.key().len()).max().unwrap_or_default();
    let line = |name: &str, cells: [String; 5]| {
        let cells = cells.map(|cell| format!("{cell:12}")).join("  ");
        format!("{name:width$}  {}\n", cells.trim_end())
    };
    let mut text = format!("\n{}", line("odd server", CLIENTS.map(str::to_owned)));
    for entry in entries {
        if let Some(outcomes) = rows.get(&entry.key()) {
            text += &line(&entry.key(), outcomes.map(|outcome| outcome.to_string()));
        }
    }
    text
}

/// The server over HTTP, stopped on drop.
struct OddServer {
    address: String,
    _process: Child,
}

impl OddServer {
    async fn start() -> Checked<Self> {
        let failed = |error: std::io::Error| format!("odd-server: {error}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_odd-server"));
        command.arg("http").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().map_err(failed)?;
        let mut address = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut address).await.map_err(failed)?;
        }
        Ok(Self { address: address.trim().to_owned(), _process: process })
    }

    /// An entry as a client's plan lists it.
    fn planned(&self, entry: &Entry) -> Value {
        let target = match entry.over.as_str() {
            "HTTP" => json!(format!("{}/{}", self.address, entry.mode)),
            _ => json!([env!("CARGO_BIN_EXE_odd-server"), "stdio", entry.mode]),
        };
        let is_pinged = entry.mode == "ping-error";
        json!({ "mode": entry.key(), "target": target, "watchdog": WATCHDOG, "ping": is_pinged })
    }
}

/// Every client's report on every server.
async fn seen(installed: &Installed, plan: &Value) -> Checked<[Value; 5]> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/clients");
    let (python, node) = (scripts.join("modes.py"), scripts.join("modes.mjs"));
    let (first, second, third, fourth, own) = tokio::join!(
        foreign(installed, installed.python_v1("python"), &python, "v1", plan),
        foreign(installed, installed.python("python"), &python, "v2", plan),
        foreign(installed, installed.node(), &node, "v1", plan),
        foreign(installed, installed.node(), &node, "v2", plan),
        ours::observe(plan),
    );
    Ok([first?, second?, third?, fourth?, own])
}

/// An SDK client's report on each server.
async fn foreign(
    installed: &Installed,
    program: std::path::PathBuf,
    script: &Path,
    sdk: &str,
    plan: &Value,
) -> Checked<Value> {
    let failed = |error: std::io::Error| format!("{} {sdk}: {error}", script.display());
    let mut command = Command::new(program);
    command.arg(script).arg(sdk).env("TOOLSMITH_PEERS", installed.folder()).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(plan.to_string().as_bytes()).await.map_err(failed)?;
    }
    let output = timeout(ALL_WATCHDOG, child.wait_with_output()).await;
    let output = output.map_err(|_| format!("{} {sdk} has not ended", script.display()))?.map_err(failed)?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        format!("{} {sdk}: {error}\n{}", script.display(), &stderr[stderr.len().saturating_sub(2_000)..])
    })
}
