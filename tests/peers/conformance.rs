//! Runs the official conformance suite's client scenarios through the driver `conformance-client`.
//!
//! Every scenario that a revision requires must pass, with no warning. Of the others, exactly those listed in
//! `expected-failures.yaml` must fail.

use std::{collections::BTreeSet, fs, path::Path, process::Stdio, time::Duration};

use futures::stream::{self, StreamExt as _};
use tokio::{process::Command, time::timeout};

use crate::{product::Checked, servers::Installed, table::Row};

/// The package.
pub(crate) const SUITE: &str = "@modelcontextprotocol/conformance";
/// Number of required client scenarios by revision: fewer means that the list was misread.
const REVISIONS: [(&str, usize); 2] = [("2025-11-25", 18), ("2026-07-28", 32)];
/// Scenarios that measure the client's timing: these run alone.
const TIMED: [&str; 1] = ["sse-retry"];
/// The number of the others that run concurrently.
const AT_ONCE: usize = 3;
/// The suite's time limit for a scenario, in milliseconds.
const SCENARIO_LIMIT: &str = "30000";
/// Time after which the suite is killed in one scenario.
const WATCHDOG: Duration = Duration::from_secs(60);
/// The same for all scenarios of a revision in sequence.
const ALL_WATCHDOG: Duration = Duration::from_secs(600);
/// The number of lines shown of a failed scenario.
const SHOWN: usize = 30;

/// One row per revision.
pub(crate) async fn run(installed: &Installed) -> Checked<Vec<Row>> {
    let expected = expected_failures("client")?;
    let mut rows = Vec::new();
    for (revision, count) in REVISIONS {
        rows.push(revision_row(installed, revision, count, &expected).await?);
    }
    Ok(rows)
}

async fn revision_row(
    installed: &Installed,
    revision: &'static str,
    count: usize,
    expected: &BTreeSet<String>,
) -> Checked<Row> {
    let (required, others) =
        scenarios(&installed.read(SUITE, &format!("requirements/{revision}.yaml"))?, "client");
    if required.len() != count {
        return Err(format!("{revision} requires {} client scenarios, expected {count}", required.len()));
    }
    let (timed, rest): (Vec<_>, Vec<_>) =
        required.iter().chain(&others).cloned().partition(|scenario| TIMED.contains(&scenario.as_str()));
    let passes = |scenario: String| async move {
        let result = scenario_passes(installed, revision, &scenario).await;
        (scenario, result)
    };
    let mut results: Vec<_> = stream::iter(rest).map(passes).buffered(AT_ONCE).collect().await;
    results.extend(stream::iter(timed).then(passes).collect::<Vec<_>>().await);
    let judged = results.into_iter().map(|(scenario, result)| Ok((scenario, result?)));
    let failures = failures(judged.collect::<Checked<Vec<Judged>>>()?, &required, expected);
    Ok(Row {
        peer: format!("{SUITE}: {} required scenarios, {} others", required.len(), others.len()),
        version: installed.version(SUITE)?,
        transport: "http",
        protocol: revision.to_owned(),
        tools: "-".to_owned(),
        failure: (!failures.is_empty()).then(|| failures.join("\n")),
    })
}

/// A scenario and its result.
pub(crate) type Judged = (String, Result<(), String>);

/// The unexpected results: required scenarios, and those not expected to fail, must pass.
pub(crate) fn failures(judged: Vec<Judged>, required: &[String], expected: &BTreeSet<String>) -> Vec<String> {
    let mut failures = Vec::new();
    for (scenario, result) in judged {
        match (result, required.contains(&scenario), expected.contains(&scenario)) {
            (Err(text), true, _) => failures.push(format!("{scenario} is required and fails:\n{text}")),
            (Err(text), false, false) => failures.push(format!("{scenario} fails:\n{text}")),
            (Ok(()), _, true) => {
                failures.push(format!("{scenario} passes: remove it from expected-failures.yaml"));
            }
            _ => {}
        }
    }
    failures
}

/// Runs all scenarios of one command to their end.
pub(crate) async fn finish(mut command: Command, revision: &str) -> Checked<()> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let ended = timeout(ALL_WATCHDOG, command.status()).await;
    let ended = ended.map_err(|_| format!("the suite hangs in {revision}"))?;
    ended.map(drop).map_err(|error| format!("the suite does not start: {error}"))
}

/// Runs a scenario; the error is the end of the suite's output.
async fn scenario_passes(
    installed: &Installed,
    revision: &str,
    scenario: &str,
) -> Checked<Result<(), String>> {
    let mut command = Command::new(installed.node());
    command.arg(installed.script(SUITE)).arg("client").kill_on_drop(true);
    command.arg("--command").arg(env!("CARGO_BIN_EXE_conformance-client"));
    command.args([
        "--scenario",
        scenario,
        "--spec-version",
        revision,
        "--force",
        "--timeout",
        SCENARIO_LIMIT,
    ]);
    command.stdin(Stdio::null());
    let output = timeout(WATCHDOG, command.output()).await;
    let output = output.map_err(|_| format!("the suite hangs in {scenario} of {revision}"))?;
    let output = output.map_err(|error| format!("the suite does not start: {error}"))?;
    let report =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // A scenario with no checks would also pass.
    if output.status.success() && report.contains("OVERALL: PASSED") && !report.contains("Passed: 0/") {
        return Ok(Ok(()));
    }
    let lines: Vec<_> = report.lines().collect();
    Ok(Err(lines[lines.len().saturating_sub(SHOWN)..].join("\n")))
}

/// The required scenarios of a side (`client` or `server`), and the unscored ones.
pub(crate) fn scenarios(requirements: &str, side: &str) -> (Vec<String>, Vec<String>) {
    let (mut required, mut others) = (Vec::new(), Vec::new());
    let (mut section, mut unscored) = ("", "");
    for line in requirements.lines() {
        if let Some(name) = line.strip_suffix(':').filter(|name| !name.starts_with([' ', '#'])) {
            section = name;
        } else if let Some(scenario) = line.trim().strip_prefix("- scenario: ") {
            unscored = scenario;
        } else if section == "not_scored" && line.trim().strip_prefix("leg: ") == Some(side) {
            others.push(unscored.to_owned());
        } else if let Some(scenario) = line.trim().strip_prefix("- ").filter(|_| section == side) {
            required.push(scenario.to_owned());
        }
    }
    (required, others)
}

/// The entries of a side in the checked-in file. Each must have a comment with its reason.
pub(crate) fn expected_failures(side: &str) -> Checked<BTreeSet<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/expected-failures.yaml");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (mut section, mut entries) = ("", BTreeSet::new());
    for line in text.lines() {
        if let Some(name) = line.strip_suffix(':').filter(|name| !name.starts_with([' ', '#'])) {
            section = name;
        } else if let Some(entry) = line.trim().strip_prefix("- ").filter(|_| section == side) {
            entries.insert(entry.to_owned());
        }
    }
    Ok(entries)
}
