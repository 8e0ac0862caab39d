//! Checks the approved programs against each list of tools, before clients see those that are tools.
//!
//! One worker serves all clients. It is notified of changes, and drops the work for an outdated snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::CodeMode;
use gateway::saved_programs::check::{Fit, ProgramCheck, check};
use gateway::saved_programs::{Approval, KeptCheck};
use report::Report;
use runner::{Engine, Holder, Journal, Request};
use serde_json::json;
use snippet::{Code, Fix};
use terminal::Notifier;
use tokio_util::sync::CancellationToken;

use super::definition::{annotated, tool};
use super::{CheckedProgram, CheckedPrograms, OfferedProgram};
use crate::snapshot::Snapshot;
use crate::state::ServerState;
use gateway::outcome_text;

/// Maximum number of corrections in a message.
const CORRECTIONS_SHOWN: usize = 10;

/// Maximum length of the compiler's messages in a description, in characters.
const WORDS_SHOWN: usize = 600;

/// Checks until the server stops accepting work.
pub(crate) async fn follow(state: Arc<ServerState>) {
    let mut offered = state.offered.subscribe();
    loop {
        let now = offered.borrow_and_update().clone();
        let checking = async {
            if let Some(snapshot) = &now {
                check_all(&state, snapshot).await;
            }
            // Waits for the next snapshot.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = state.draining.cancelled() => return,
            changed = offered.changed() => if changed.is_err() { return },
            () = checking => {}
        }
    }
}

async fn check_all(state: &ServerState, snapshot: &Snapshot) {
    let (programs, code_mode) = (&snapshot.settings.programs, &snapshot.config().code_mode);
    let is_due = snapshot.is_whole && !programs.all().is_empty() && !programs.are_checked(&snapshot.lists);
    if !is_due || !code_mode.enabled {
        return;
    }
    // The caller that opens the engine reports errors, and causes another check.
    let Some(engine) = state.opened(code_mode).await else { return };
    let log = state.terminal.notifier();
    let mut checked = BTreeMap::new();
    for offered in programs.all() {
        match check_one(&engine, offered, snapshot, &log).await {
            Ok(Ok(program)) => {
                if let Some(why) = &program.broken {
                    log.warning(&format!("the program {} is broken: {why}", offered.name));
                }
                checked.insert(offered.name.clone(), Arc::new(program));
            }
            Ok(Err(why)) => {
                let state = if offered.is_tool { "is not offered" } else { "needs another approval" };
                log.warning(&format!("the program {} {state}: {why}", offered.name));
            }
            Err(error) => {
                let why = Report::from(error).for_terminal();
                log.warning(&format!("the program {} can't be checked: {why}", offered.name));
            }
        }
    }
    programs.keep(&snapshot.lists, CheckedPrograms(checked));
}

/// Compiles a program; the inner error says why it is not offered.
async fn check_one(
    engine: &Engine,
    offered: &OfferedProgram,
    snapshot: &Snapshot,
    log: &Notifier,
) -> Result<Result<CheckedProgram, String>, runner::Error> {
    let request = request(&snapshot.config().code_mode, CancellationToken::new());
    let checked = check(engine, &offered.program, &request, &snapshot.catalog, &Journal::default()).await?;
    // Without the kept result, the page says that the program was not checked.
    let _ = KeptCheck::new(&checked, &snapshot.lists).keep(engine.cache(), offered.program.hash());
    let ProgramCheck { fit, manifest, schemas } = checked;
    let broken = match &fit {
        Fit::Broken(broken) => {
            Some(words(&format!("{}\n{}", broken.message, outcome_text::messages(&broken.diagnostics))))
        }
        Fit::Corrected(fixes) => {
            log.info(&corrections(&offered.name, fixes));
            None
        }
        Fit::Fits => None,
    };
    let approval = offered.approval(&manifest, snapshot.config());
    if broken.is_none() && approval != Approval::Given {
        let why = match approval {
            Approval::OtherFlows => {
                "it can carry answers into other calls than those that it is approved for"
            }
            _ => "it can call other tools than those that it is approved for",
        };
        return Ok(Err(format!("{why}: toolsmith program approve {}", offered.name)));
    }
    let schemas = schemas.or_else(|| engine.known_schemas(&offered.program));
    let (mut definition, is_wrapped) = tool(&offered.name, &offered.program, schemas.as_ref());
    if let Some(why) = &broken {
        let description = definition["description"].as_str().unwrap_or_default();
        definition["description"] = json!(format!("BROKEN, can't be called: {why}\n\n{description}"));
    }
    // What is not known to be harmless must not seem so.
    let manifest =
        if broken.is_some() { offered.approved.names().map(str::to_owned).collect() } else { manifest };
    let definition = annotated(definition, &manifest, &snapshot.lists);
    Ok(Ok(CheckedProgram { offered: offered.clone(), manifest, definition, is_wrapped, broken }))
}

/// The corrections with which a program fits its tools.
fn corrections(name: &str, fixes: &[Fix]) -> String {
    let line = |fix: &Fix| format!("  line {}: {}", fix.line, fix.after.trim());
    let lines: Vec<String> = fixes.iter().take(CORRECTIONS_SHOWN).map(line).collect();
    let text = format!(
        "the program {name} fits with corrections, which are made at each run:\n{}",
        lines.join("\n")
    );
    printable::lines(&text)
}

/// The limits and the cancellation of a check.
pub(super) fn request(code_mode: &CodeMode, cancel: CancellationToken) -> Request {
    Request {
        code: Code::parse(String::new()),
        holder: Holder::default(),
        args: BTreeMap::new(),
        timeout: code_mode.timeout,
        check_only: true,
        limits: code_mode.limits.clone(),
        grants: code_mode.grants.clone(),
        cancel,
    }
}

/// The beginning of a text.
fn words(text: &str) -> String {
    let text = printable::lines(text.trim());
    match text.char_indices().nth(WORDS_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
