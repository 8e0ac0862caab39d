//! Runs the snippets that a model wrote when it knew only the tools of `toolsmith serve` and their descriptions.
//!
//! `tasks*.yaml` contain tasks for the foreign servers and for the private ones. `snippets/` contains the snippets that
//! a model with a fresh context wrote for these tasks. `results.md` reports how often the first attempt was right, and
//! how to repeat the experiment.

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

/// The name of these rows.
pub(crate) const PART: &str = "first try";

/// One row per task: its stored snippet, run through one server.
pub(crate) async fn run(installed: &Installed, product: &Product) -> Checked<Vec<Row>> {
    tasks::prove_comparison()?;
    let workspace = Workspace::take()?;
    site::serve().await?;
    let mut serving = Serving::start(installed, product).await?;
    let mut rows = Vec::new();
    for task in Task::all()? {
        let checked = check(&mut serving, &workspace, &task).await;
        rows.push(row(&task, checked));
    }
    serving.end().await?;
    Ok(rows)
}

async fn check(serving: &mut Serving, workspace: &Workspace, task: &Task) -> Checked<()> {
    let snippet = stored_snippet(&task.id)?;
    taking::attempt(serving, workspace, task, &snippet).await?.1
}

/// The stored snippet of a task.
fn stored_snippet(id: &str) -> Checked<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/first_try/snippets");
    fs::read_to_string(folder.join(format!("{id}.rs"))).map_err(|_| format!("{id}: no stored snippet"))
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
