//! The parts that the subcommands of `program` share: the programs, the configuration, and requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::{Config, Needs};
use execution::process::Process;
use gateway::failure::Failure;
use gateway::pins::Known;
use gateway::saved_programs::{ProgramStore, SavedProgram};
use runner::{Holder, Request};
use snippet::Code;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use crate::arguments::ServersArguments;
use crate::commands::executing::{Job, Tools};

/// The saved programs; a note says if those of the project are left out.
pub(super) fn store(terminal: &Terminal) -> Result<ProgramStore, Failure> {
    let store = ProgramStore::of_working_folder()?;
    store.left_out().iter().for_each(|why| terminal.note(why));
    Ok(store)
}

/// The programs with these names, or all if there is no name.
pub(super) fn named_or_all(store: &ProgramStore, names: &[String]) -> Result<Vec<SavedProgram>, Failure> {
    match names {
        [] => store.all(),
        names => names.iter().map(|name| store.find(name)).collect(),
    }
}

/// The configuration and the terminal with which programs are compiled and run.
pub(super) struct Context<'a> {
    pub(super) config: Arc<Config>,
    /// The contents of the lock files.
    pub(super) known: Known,
    pub(super) terminal: &'a Terminal,
    pub(super) cancel: &'a CancellationToken,
}

impl<'a> Context<'a> {
    /// Reads the configuration for programs, and its lock files.
    pub(super) fn read(
        process: &'a Process,
        place: &ServersArguments,
        cancel: &'a CancellationToken,
    ) -> Result<Self, Failure> {
        // A program may call the demo server, which is started only then.
        let options = place.options_with(Needs::ServersIfAny).or_demo();
        let config = Arc::new(process.context.configure(&options)?);
        let known = Known::of(&config)?;
        Ok(Context { config, known, terminal: &process.terminal, cancel })
    }

    /// The job that runs a request with the tools of the servers.
    pub(super) fn job<'j>(&'j self, request: &'j Request) -> Job<'j> {
        Job::new(&self.config, self.terminal, Tools::Servers(self.known.clone()), request)
    }
}

/// A request with the limits of the configuration.
pub(super) fn request(code: Code, config: &Config, cancel: &CancellationToken) -> Request {
    Request {
        code,
        holder: Holder::default(),
        args: BTreeMap::new(),
        timeout: config.code_mode.timeout,
        check_only: false,
        limits: config.code_mode.limits.clone(),
        grants: config.code_mode.grants.clone(),
        cancel: cancel.clone(),
    }
}

/// One line about a program.
pub(super) fn title(program: &SavedProgram) -> String {
    match &program.content {
        Ok(content) => printable::prose(content.about().title()),
        Err(report) => printable::prose(&format!("invalid: {}", report.message())),
    }
}
