//! The first table: a column for each peer.

use crate::column::Column;
use crate::figures::{Figures, mebibytes, milliseconds, ratio};
use crate::load::AT_ONCE;
use crate::peers::PACKAGES;
use crate::task::{TASKS, Task};

/// The longest reason in a cell, in characters; standard error has the whole.
const REASON: usize = 80;
const MISSING: &str = "–";

/// Renders the table. `hello` is the median of hello world in milliseconds.
pub(crate) fn render(columns: &[Column], hello: f64, is_quick: bool) -> String {
    let mut rows = vec![row("", columns.iter().map(|column| column.name.clone()))];
    rows.push("| --- ".repeat(columns.len() + 1) + "|");
    if columns.iter().any(|column| column.failure.is_some()) {
        let state = |column: &Column| column.failure.as_deref().map_or_else(|| "ok".to_owned(), reason);
        rows.push(row("state", columns.iter().map(state)));
    }
    for (index, task) in TASKS.into_iter().enumerate() {
        for (way, pick) in WAYS {
            let direct = columns.iter().find(|column| column.peer.tool.is_none());
            let direct = direct.and_then(|column| pick(&column.times[index]).median());
            let cell = |column: &Column| {
                let direct = direct.filter(|_| column.peer.tool.is_some());
                time(pick(&column.times[index]).median(), hello, direct, task)
            };
            rows.push(row(&format!("{}, {way}", task.name()), columns.iter().map(cell)));
        }
    }
    if is_quick {
        return rows.join("\n") + "\n";
    }
    let load = |column: &Column| column.load.as_ref().map(|load| format!("{:.0}/s", load.rate));
    rows.push(row(
        &format!("one call, repeat, {AT_ONCE} at once"),
        columns.iter().map(|column| or_missing(load(column))),
    ));
    let latencies = |column: &Column| or_missing(column.load.as_ref().map(crate::load::Load::latencies));
    rows.push(row(&format!("{AT_ONCE} at once: median, 99th percentile"), columns.iter().map(latencies)));
    let all = |column: &Column| or_missing(column.memory.map(|memory| mebibytes(memory.all)));
    rows.push(row("idle memory, apart from pages of files", columns.iter().map(all)));
    let own = |column: &Column| {
        or_missing(column.memory.filter(|_| column.peer.tool.is_some()).map(|memory| mebibytes(memory.own)))
    };
    rows.push(row("the same without the MCP server", columns.iter().map(own)));
    let counts: std::collections::BTreeSet<usize> =
        columns.iter().flat_map(|column| column.tokens.keys().copied()).collect();
    for count in counts {
        let tokens = |column: &Column| match column.tokens.get(&count) {
            Some(Ok(tokens)) => tokens.to_string(),
            Some(Err(error)) => reason(error),
            None => MISSING.to_owned(),
        };
        rows.push(row(&format!("definitions, {count} tools"), columns.iter().map(tokens)));
    }
    rows.join("\n") + "\n"
}

type Pick = fn(&(Figures, Figures)) -> &Figures;
const WAYS: [(&str, Pick); 2] = [("new", |times| &times.0), ("repeat", |times| &times.1)];

/// A time with its ratios to hello world, and of calls to direct calls.
fn time(median: Option<f64>, hello: f64, direct: Option<f64>, task: Task) -> String {
    let Some(median) = median else { return MISSING.to_owned() };
    let mut ratios = format!("{} × hello", ratio(median / hello));
    if let Some(direct) = direct.filter(|_| matches!(task, Task::Call | Task::Calls)) {
        ratios += &format!(", {} × direct", ratio(median / direct));
    }
    format!("{} ({ratios})", milliseconds(median))
}

fn row(head: &str, cells: impl Iterator<Item = String>) -> String {
    cells.fold(format!("| {head} "), |row, cell| row + "| " + &cell + " ") + "|"
}

fn or_missing(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| MISSING.to_owned())
}

/// A reason that fits into a cell of Markdown, without the folder of the packages, which differs between machines.
fn reason(failure: &str) -> String {
    let packages = std::env::var(PACKAGES).unwrap_or_default();
    let failure = if packages.is_empty() { failure.to_owned() } else { failure.replace(&packages, "…") };
    let line = failure.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "/");
    if line.chars().count() <= REASON {
        return line;
    }
    line.chars().take(REASON).collect::<String>() + "…"
}
