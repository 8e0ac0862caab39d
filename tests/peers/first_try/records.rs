//! Records attempts, and renders the results page from the records.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, OpenOptions},
    io::Write as _,
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use super::tasks::Task;
use crate::product::Checked;

/// The environment variable with the path of the file of records.
pub(super) const VARIABLE: &str = "FIRST_TRY_RECORDS";
/// Limit on an error's length on the page, in characters.
const SHOWN: usize = 120;

/// The steps that repeat the experiment.
const AGAIN: &str = "\
1. `tests/peers/run 'first try'` installs and builds all, and runs the snippets that are kept. Then name a file that
   does not exist yet: `export FIRST_TRY_RECORDS=/tmp/first-try.jsonl`.
2. A fresh model gets what `tests/peers/first_try/take tools` prints, may type `take search JSON` and `take describe JSON`,
   and sees nothing else of this project. It gets each task by `take task ID`, and tries with `take run ID FILE`.
3. `take report MODEL >tests/peers/first_try/results.md` makes this page; the right attempts become `snippets/ID.rs`;
   `take tokens >>tests/peers/first_try/results.md` then says what they cost.
";

/// One attempt at a task.
#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    task: String,
    /// Its number among the attempts at this task, from 1.
    attempt: usize,
    right: bool,
    /// The status of the outcome.
    status: String,
    /// The first line of the outcome's error, if any.
    error: Option<String>,
}

/// The result of an attempt.
pub(super) struct AttemptResult {
    pub(super) right: bool,
    /// The status of the outcome.
    pub(super) status: String,
    /// The first line of the outcome's error, if any.
    pub(super) error: Option<String>,
}

/// The file of records, one JSON object per line. The folder next to it contains the snippets.
pub(super) struct Records(PathBuf);

impl Records {
    /// Reads the path from the environment variable.
    pub(super) fn find() -> Checked<Self> {
        let file = std::env::var_os(VARIABLE);
        file.map(|file| Self(file.into())).ok_or_else(|| format!("{VARIABLE} must name the file of records"))
    }

    fn read(&self) -> Checked<Vec<Record>> {
        let failed = |error: String| format!("{}: {error}", self.0.display());
        let text = match fs::read_to_string(&self.0) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.map_err(|error| failed(error.to_string()))?,
        };
        text.lines()
            .map(|line| serde_json::from_str(line).map_err(|error| failed(error.to_string())))
            .collect()
    }

    /// Appends an attempt to the file, and stores its snippet.
    pub(super) fn add(&self, task: &str, snippet: &str, result: AttemptResult) -> Checked<()> {
        let AttemptResult { right, status, error } = result;
        let failed = |error: std::io::Error| format!("{}: {error}", self.0.display());
        let attempt = self.read()?.iter().filter(|record| record.task == task).count() + 1;
        let mut folder = self.0.clone();
        folder.set_extension("attempts");
        fs::create_dir_all(&folder).map_err(failed)?;
        fs::write(folder.join(format!("{task}-{attempt}.rs")), snippet).map_err(failed)?;
        let record = Record { task: task.to_owned(), attempt, right, status, error };
        let line = serde_json::to_string(&record).map_err(|error| error.to_string())?;
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0).map_err(failed)?;
        writeln!(file, "{line}").map_err(failed)
    }

    /// Renders the results page of a model's attempts on a day.
    pub(super) fn report(&self, model: &str, day: &str) -> Checked<String> {
        let mut attempts: BTreeMap<String, Vec<Record>> = BTreeMap::new();
        for record in self.read()? {
            attempts.entry(record.task.clone()).or_default().push(record);
        }
        let (mut first, mut repaired, mut table) = (0, 0, String::new());
        let tasks = Task::all()?;
        for task in &tasks {
            let tried = attempts.get(&task.id).map_or(&[][..], Vec::as_slice);
            let verdict = match tried.iter().position(|record| record.right) {
                Some(0) => {
                    first += 1;
                    "right".to_owned()
                }
                Some(1) => {
                    repaired += 1;
                    "repaired".to_owned()
                }
                Some(more) => format!("right at try {}", more + 1),
                None if tried.is_empty() => "not tried".to_owned(),
                None => "wrong".to_owned(),
            };
            let wrong: Vec<_> = tried.iter().take_while(|record| !record.right).map(Record::told).collect();
            // Writing to a string does not fail.
            let _ = writeln!(table, "| {} | {verdict} | {} |", task.id, wrong.join("; "));
        }
        Ok(format!(
            "# First tries\n\n{AGAIN}\nDate: {day}. Model: {model}.\n\n\
             Of {} tasks, {first} were right on the first try and {repaired} after one repair.\n\n\
             | task | first try | what went wrong |\n| --- | --- | --- |\n{table}",
            tasks.len()
        ))
    }
}

impl Record {
    /// The status and the error, for a table cell.
    fn told(&self) -> String {
        let error = match (&self.error, self.status.as_str()) {
            (Some(error), _) => error.as_str(),
            (None, "ok") => "another result than was asked for",
            (None, _) => "",
        };
        let error: String = error.chars().take(SHOWN).collect();
        format!("{}: {}", self.status, error.replace('|', "\\|"))
    }
}
