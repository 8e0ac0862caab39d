//! The parts that the subcommands of `program` share: the programs, the configuration, and requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::{Config, Needs};
use gateway::failure::Failure;
use gateway::pins::Known;
use gateway::saved_programs::{ProgramStore, SavedProgram};
use runner::{Holder, Request};
use server::runtime::Runtime;
use snippet::Code;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use crate::arguments::ServersArguments;

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

/// The configuration for programs, and what the lock files say of tools.
pub(super) fn configuration(
    runtime: &Runtime,
    place: &ServersArguments,
) -> Result<(Arc<Config>, Known), Failure> {
    // A program may call the demo server, which is started only then.
    let options = place.options_with(Needs::ServersIfAny).or_demo();
    let config = Arc::new(runtime.process.configure(&options)?);
    let known = Known::of(&config)?;
    Ok((config, known))
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
