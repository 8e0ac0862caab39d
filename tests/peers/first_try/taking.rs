//! Runs the commands of the script `take`. A model that solves tasks uses `tools`, `search`, `describe`, `task` and
//! `run`, which never show an expected result.

use std::{fs, io::Write as _, process::Command};

use serde_json::Value;

use super::{
    records::{AttemptResult, Records},
    serving::{self, Serving},
    site,
    tasks::{Expectation, RunResult, Task},
    tokens,
    workspace::Workspace,
};
use crate::{
    product::{Checked, Product},
    servers::Installed,
};

const USAGE: &str =
    "usage: take tools | search JSON | describe JSON | list | task ID | run ID FILE | report MODEL | tokens";

/// Runs a command, and prints its output.
pub(crate) async fn take(arguments: &[String]) -> Checked<()> {
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    let text = match words[..] {
        ["tools"] => tools().await?,
        ["search", arguments] => ask("search_tools", arguments).await?,
        ["describe", arguments] => ask("describe_tools", arguments).await?,
        ["list"] => Task::all()?.iter().map(|task| format!("{}\n", task.id)).collect(),
        ["task", id] => Task::find(id)?.text,
        ["run", id, file] => run(id, file).await?,
        ["report", model] => Records::find()?.report(model, &today()?)?,
        ["tokens"] => tokens::section().await?,
        _ => return Err(USAGE.to_owned()),
    };
    let written = std::io::stdout().write_all(format!("{}\n", text.trim_end()).as_bytes());
    written.map_err(|error| error.to_string())
}

/// The listed tools, as a model sees them.
async fn tools() -> Checked<String> {
    let _workspace = Workspace::take()?;
    let serving = Serving::start(&Installed::find()?, &Product::find()?).await?;
    let mut text = String::new();
    for tool in serving.tools.as_array().into_iter().flatten() {
        let (name, description) = (tool["name"].as_str(), tool["description"].as_str());
        let (name, description) = (name.unwrap_or_default(), description.unwrap_or_default());
        text.push_str(&format!("# {name}\n\n{description}\n\nInput schema: {}\n\n", tool["inputSchema"]));
    }
    serving.end().await?;
    Ok(text)
}

/// The text of an answer of `search_tools` or `describe_tools`.
async fn ask(tool: &str, arguments: &str) -> Checked<String> {
    let arguments: Value = serde_json::from_str(arguments).map_err(|error| format!("the JSON: {error}"))?;
    let _workspace = Workspace::take()?;
    let mut serving = Serving::start(&Installed::find()?, &Product::find()?).await?;
    let came = serving.call(tool, &arguments).await?;
    serving.end().await?;
    Ok(came.text())
}

/// Runs and records an attempt. The last line of the output is `right` or `wrong`.
async fn run(id: &str, file: &str) -> Checked<String> {
    let task = Task::find(id)?;
    let records = Records::find()?;
    let snippet = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let workspace = Workspace::take()?;
    site::serve().await?;
    let mut serving = Serving::start(&Installed::find()?, &Product::find()?).await?;
    let (came, checked) = attempt(&mut serving, &workspace, &task, &snippet).await?;
    serving.end().await?;
    let right = checked.is_ok();
    let result = AttemptResult { right, status: came.status(), error: came.error_line() };
    records.add(id, &snippet, result)?;
    Ok(format!("{}\n{}", came.text(), if right { "right" } else { "wrong" }))
}

/// Runs a snippet once for each of the task's expectations, each time in a fresh workspace, until a run is wrong.
/// Returns the last run's answer and its check.
pub(super) async fn attempt(
    serving: &mut Serving,
    workspace: &Workspace,
    task: &Task,
    snippet: &str,
) -> Checked<(RunResult, Checked<()>)> {
    let mut last = Err(format!("{}: nothing is wanted of it", task.id));
    for wanted in &task.runs {
        workspace.renew()?;
        let came = serving.execute(snippet, &wanted.args).await?;
        let checked = match task.check(wanted, &came, |path| workspace.read(path)) {
            Ok(()) => look(wanted).await,
            wrong => wrong,
        };
        let is_right = checked.is_ok();
        last = Ok((came, checked));
        if !is_right {
            break;
        }
    }
    last
}

/// Makes the tool calls that a run's expectation lists, and checks their answers.
async fn look(wanted: &Expectation) -> Checked<()> {
    let (product, servers) = (Product::find()?, serving::entries(&Installed::find()?));
    for look in &wanted.after {
        look.check(&product, &servers).await?;
    }
    Ok(())
}

fn today() -> Checked<String> {
    let output = Command::new("date").arg("+%Y-%m-%d").output().map_err(|error| format!("date: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
