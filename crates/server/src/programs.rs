//! The approved programs: functions of snippets, and tools for clients if `serve.programs` selects them.
//!
//! They are read with the configuration. `checking` compiles them against each list of tools; until then they are no
//! tools.

pub(crate) mod checking;
mod definition;
pub(crate) mod saving;

use std::collections::BTreeMap;
use std::sync::Arc;

use config::{Config, Glob};
use gateway::failure::Failure;
use gateway::permission::ApprovedTools;
use gateway::reference::ExecuteCode;
use gateway::saved_programs::{Approval, Approvals, ProgramStore, SavedProgram, approvals, functions};
use gateway::tool_list::ToolList;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use serde_json::value::RawValue;
use snippet::{ProgramFile, ProgramText};
use tokio::sync::watch;

pub(crate) use definition::structured;

/// Maximum number of lists of tools for which the results of checks are kept: clients with different capabilities may
/// be offered different tools.
const LISTS_KEPT: usize = 16;

/// The approved programs, and the results of checking them.
#[derive(Debug, Default)]
pub(crate) struct OfferedPrograms {
    programs: Vec<OfferedProgram>,
    /// The programs that snippets can call.
    pub(crate) functions: BTreeMap<String, ProgramText>,
    /// The tools that these functions are approved to call.
    tools: BTreeMap<String, ApprovedTools>,
    /// The reasons why programs that the configuration names are not offered.
    pub(crate) notes: Vec<String>,
    /// By the digest of the tools.
    checked: Mutex<BTreeMap<String, Arc<CheckedPrograms>>>,
    /// Counts the checks, for those who offer tools.
    checks: watch::Sender<u64>,
}

/// An approved program.
#[derive(Debug, Clone)]
pub(crate) struct OfferedProgram {
    pub(crate) name: String,
    /// Whether `serve.programs` selects it as a tool.
    pub(crate) is_tool: bool,
    pub(crate) program: ProgramFile,
    /// The tools that it is approved to call.
    pub(crate) approved: ApprovedTools,
}

/// Programs that were compiled against one list of tools.
#[derive(Debug, Default)]
pub(crate) struct CheckedPrograms(pub(crate) BTreeMap<String, Arc<CheckedProgram>>);

/// A program that was compiled against one list of tools.
#[derive(Debug)]
pub(crate) struct CheckedProgram {
    pub(crate) offered: OfferedProgram,
    /// The tools that it can call, as `server.tool`.
    pub(crate) manifest: Vec<String>,
    /// Its tool, as clients see it.
    pub(crate) definition: Value,
    /// Whether its result is in the member `result` of the structured content, because it is no object.
    pub(crate) is_wrapped: bool,
    /// The reason why it can't be run.
    pub(crate) broken: Option<String>,
}

/// Two are equal if clients see the same tools.
impl PartialEq for CheckedPrograms {
    fn eq(&self, other: &Self) -> bool {
        let definitions = |checked: &Self| -> Vec<Value> {
            checked.0.values().map(|program| program.definition.clone()).collect()
        };
        definitions(self) == definitions(other)
    }
}

impl OfferedPrograms {
    /// Reads the programs and the record of approvals.
    ///
    /// # Errors
    /// If they can't be read, and `serve.programs` selects some. Without it, everything else works, and there is a note.
    pub(crate) fn read(config: &Config) -> Result<Self, Failure> {
        let patterns: Vec<Glob> = config.serve.programs.iter().map(|pattern| Glob::new(pattern)).collect();
        Self::matching(&patterns).or_else(|failure| match patterns.is_empty() {
            true => {
                let notes = vec![format!("saved programs can't be used: {}", failure.report.message())];
                Ok(OfferedPrograms { notes, ..OfferedPrograms::default() })
            }
            false => Err(failure),
        })
    }

    /// Reads the programs, of which those that match a pattern are tools.
    fn matching(patterns: &[Glob]) -> Result<Self, Failure> {
        let (store, approvals) = (ProgramStore::of_working_folder()?, Approvals::read()?);
        let mut offered = OfferedPrograms::default();
        for (name, function) in functions::approved(&store, &approvals)? {
            offered.tools.insert(name.clone(), function.tools);
            offered.functions.insert(name, function.text);
        }
        if !patterns.is_empty() {
            offered.notes.extend(store.left_out().map(str::to_owned));
        }
        for saved in store.all()? {
            let is_tool = patterns.iter().any(|pattern| pattern.fits(&saved.name));
            match offer(saved, is_tool, &store, &approvals)? {
                Ok(program) => offered.programs.push(program),
                Err(note) if is_tool => offered.notes.push(note),
                Err(_) => {}
            }
        }
        Ok(offered)
    }

    /// Whether the same programs are offered.
    pub(crate) fn are_as(&self, other: &Self) -> bool {
        let key = |program: &OfferedProgram| {
            (
                program.name.clone(),
                program.is_tool,
                program.program.hash().to_owned(),
                program.approved.clone(),
            )
        };
        self.programs.iter().map(key).eq(other.programs.iter().map(key))
            && self.functions == other.functions
            && self.tools == other.tools
            && self.notes == other.notes
    }

    /// The approved programs whose tools this configuration lets a client call, by name.
    pub(crate) fn callable<'a>(
        &'a self,
        config: &'a Config,
    ) -> impl Iterator<Item = (&'a String, &'a ProgramText)> {
        let admits =
            |name: &String| self.tools.get(name).is_some_and(|tools| admits_all(config, tools.names()));
        self.functions.iter().filter(move |(name, _)| admits(name))
    }

    /// The programs to check.
    pub(crate) fn all(&self) -> &[OfferedProgram] {
        &self.programs
    }

    /// The programs as checked against these lists; none before that.
    pub(crate) fn checked(&self, lists: &BTreeMap<String, Arc<ToolList>>) -> Arc<CheckedPrograms> {
        self.kept().get(&digest(lists)).cloned().unwrap_or_default()
    }

    /// Whether the programs are checked against these lists.
    pub(crate) fn are_checked(&self, lists: &BTreeMap<String, Arc<ToolList>>) -> bool {
        self.kept().contains_key(&digest(lists))
    }

    /// Keeps the results of a check.
    pub(crate) fn keep(&self, lists: &BTreeMap<String, Arc<ToolList>>, checked: CheckedPrograms) {
        let mut kept = self.kept();
        if kept.len() >= LISTS_KEPT {
            kept.clear();
        }
        kept.insert(digest(lists), Arc::new(checked));
        drop(kept);
        self.checks.send_modify(|checks| *checks += 1);
    }

    /// Changes with each check.
    pub(crate) fn checks(&self) -> watch::Receiver<u64> {
        self.checks.subscribe()
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Arc<CheckedPrograms>>> {
        self.checked.lock()
    }
}

impl CheckedPrograms {
    /// Describes a program in one line: its call and its purpose for models; for a broken one, the reason why it can't
    /// be called.
    pub(crate) fn line(&self, name: &str, program: &ProgramText) -> String {
        let line = printable::prose(&program.line());
        match self.0.get(name).and_then(|checked| checked.broken.as_deref()) {
            Some(why) => {
                let why = why.lines().next().unwrap_or_default();
                format!("{line}\n  BROKEN, can't be called: {}", printable::prose(why))
            }
            None => line,
        }
    }
}

/// The program to offer, or why it is not offered.
fn offer(
    saved: SavedProgram,
    is_tool: bool,
    store: &ProgramStore,
    approvals: &Approvals,
) -> Result<Result<OfferedProgram, String>, Failure> {
    let name = saved.name;
    let program = match saved.content {
        Ok(program) => functions::program(store, &program)?,
        Err(report) => return Ok(Err(format!("the program {name} is not offered: {}", report.message()))),
    };
    if !approvals.has(program.hash()) {
        let why = "because this text is not approved: toolsmith program approve";
        return Ok(Err(format!("the program {name} is not offered, {why} {name}")));
    }
    let approved = approvals.tools(program.hash());
    Ok(Ok(OfferedProgram { name, is_tool, program, approved }))
}

/// A hash of lists of tools.
fn digest(lists: &BTreeMap<String, Arc<ToolList>>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (server, list) in lists {
        hasher.update(&(server.len() as u64).to_le_bytes()).update(server.as_bytes());
        hasher.update(list.digest().as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

impl OfferedProgram {
    /// Whether it is approved to call exactly the tools of this manifest, with the flows that this configuration has.
    pub(crate) fn approval(&self, manifest: &[String], config: &Config) -> Approval {
        Approval::of(&self.approved, manifest, &approvals::flows(manifest, config))
    }
}

impl CheckedProgram {
    /// Returns the reason why it can't be called, if it is broken.
    pub(crate) fn refusal(&self) -> Option<String> {
        let why = self.broken.as_ref()?;
        Some(format!("the program {} is broken and can't be called: {why}", self.offered.name))
    }

    /// The arguments of an execution that runs it with these, a JSON object.
    pub(crate) fn request(&self, arguments: &RawValue) -> ExecuteCode {
        ExecuteCode {
            code: self.offered.program.text().to_owned(),
            timeout: None,
            check_only: false,
            args: ProgramFile::request_arguments(arguments),
            execution: None,
        }
    }

    /// Whether a client with this view of the configuration may call everything that the program can call.
    pub(crate) fn may_be_seen(&self, config: &Config) -> bool {
        admits_all(config, self.manifest.iter().map(String::as_str))
    }
}

/// Whether a configuration admits all of these tools, each as `server.tool`.
fn admits_all<'a>(config: &Config, mut tools: impl Iterator<Item = &'a str>) -> bool {
    tools.all(|name| {
        let server = config.servers.iter().find(|server| {
            name.strip_prefix(&server.connection.name).is_some_and(|rest| rest.starts_with('.'))
        });
        server.is_some_and(|server| {
            let tool = name.get(server.connection.name.len() + 1..).unwrap_or_default();
            config.admits(&server.connection.name, tool)
        })
    })
}
