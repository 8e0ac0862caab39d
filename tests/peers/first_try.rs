//! Whether a model that knows no more than what `toolsmith serve` says of itself writes snippets that are right.
//!
//! `tasks*.yaml` have tasks over the foreign servers and over some of our own. What a fresh model wrote for them is kept
//! in `snippets/`, and run here; `results.md` tells how often it was right at first, and how to try that again.

mod looking;
mod private;
mod records;
mod repository;
mod serving;
mod site;
mod taking;
mod tasks;
mod tokens;
mod workspace;

use std::{fs, path::Path};

use crate::{
    product::{Checked, Product},
    servers::Installed,
    table::Row,
};
pub(crate) use serving::Serving;
pub(crate) use taking::take;
use tasks::Task;
use workspace::Workspace;

/// What the lines are called.
pub(crate) const PART: &str = "first try";

/// One line per task: the snippet that is kept for it, run through one server.
pub(crate) async fn run(installed: &Installed, product: &Product) -> Checked<Vec<Row>> {
    tasks::prove_comparison()?;
    let workspace = Workspace::take()?;
    site::serve().await?;
    let mut serving = Serving::start(installed, product).await?;
    let mut rows = Vec::new();
    for task in Task::all()? {
        let checked = kept(&mut serving, &workspace, &task).await;
        rows.push(row(&task, checked));
    }
    serving.end().await?;
    Ok(rows)
}

async fn kept(serving: &mut Serving, workspace: &Workspace, task: &Task) -> Checked<()> {
    let snippet = kept_snippet(&task.id)?;
    taking::attempt(serving, workspace, task, &snippet).await?.1
}

/// The snippet that is kept for a task.
fn kept_snippet(id: &str) -> Checked<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/first_try/snippets");
    fs::read_to_string(folder.join(format!("{id}.rs"))).map_err(|_| format!("{id}: no snippet kept"))
}

fn row(task: &Task, checked: Checked<()>) -> Row {
    Row {
        peer: format!("{PART}: {}", task.id),
        version: "-".to_owned(),
        transport: "stdio",
        protocol: "2025-11-25".to_owned(),
        tools: "-".to_owned(),
        failure: checked.err(),
    }
}
