//! `save_program`: saves a program that a model has written, once the user has seen its text and its tools.
//!
//! The program goes into the user's own folder. The answer applies to the shown text and tools: both are approved.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use config::Config;
use flows::Flow;
use gateway::discovery::needed;
use gateway::failure::Failure;
use gateway::permission::{Answer, AnsweredBy, Reason, RequestedTool};
use gateway::saved_programs::approvals::{self, requested};
use gateway::saved_programs::check::{Fit, ProgramCheck, check};
use gateway::saved_programs::{Approval, Approvals, ProgramStore, Scope, functions, saving};
use report::Report;
use rmcp::ErrorData;
use runner::{Begin, Journal, NewExecution, NoSink, OwnedJournal, QuestionKind, Request};
use serde::Deserialize;
use serde_json::{Value, json};
use snippet::{Fix, Flaw, ProgramFile, ProgramText};
use system::random;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::checking::request;
use crate::approval::{self, Offered};
use crate::caller::Caller;
use crate::catalog_watcher::CatalogWatcher;
use crate::journal::{RequestContext, Requester, sinks_of};
use crate::open_questions::Offer;
use crate::session::{AgentIsolation, ClientSession, ClientTransport};
use crate::snapshot::Snapshot;
use crate::state::ServerState;
use gateway::outcome_text;

/// The tool's name.
pub(crate) const NAME: &str = "save_program";

/// Maximum size of a program that a model may save, in bytes: the user has to read all of it.
const TEXT_LIMIT: usize = 32 << 10;

/// Maximum time until the saved program can be called: the configuration is read again behind.
const REFRESH: Duration = Duration::from_secs(5);

const DESCRIPTION: &str = "\
Saves a program for later, if the user agrees: a Rust file with `//! What it does.`, `struct Args { … }` (omit it if \
there are no arguments; an Option is optional) and `async fn run(args: Args) -> Result<T>`, whose body is written like \
the code for execute_code. Try the code first. Snippets then call `programs::NAME(required).optional(value).await?`; \
search_tools finds it.";

/// The arguments.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaveProgram {
    name: String,
    text: String,
    #[serde(default)]
    replace: bool,
}

/// A request to save a program.
pub(crate) struct Saving {
    pub(crate) state: Arc<ServerState>,
    pub(crate) snapshot: Arc<Snapshot>,
    /// The source of newer snapshots.
    pub(crate) live: Arc<CatalogWatcher>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) requester: Requester,
    /// The reason why the client's user can't be asked, if the client does not support questions.
    pub(crate) absence: Reason,
    pub(crate) arguments: SaveProgram,
    pub(crate) cancel: CancellationToken,
}

/// The reason why nothing was saved: a status for the audit log, and a text for the model.
struct Refused {
    status: &'static str,
    message: String,
}

/// A program as a model sent it.
struct New {
    /// With the programs that it calls.
    program: ProgramFile,
    /// As other texts call it.
    function: Result<ProgramText, Flaw>,
    file: PathBuf,
    /// The text that is in the file.
    before: Option<String>,
}

/// A program that may be saved if the user agrees.
struct Candidate {
    new: New,
    checked: ProgramCheck,
    tools: Vec<RequestedTool>,
    /// The flows between them.
    flows: Vec<Flow>,
}

/// Whether a client may save programs. Those over HTTP may not, and neither may subagents: the files and approvals
/// are those of the user of this process.
pub(crate) fn is_offered(config: &Config, session: &ClientSession) -> bool {
    let is_own = matches!(
        session.transport,
        ClientTransport::Stdio | ClientTransport::InProcess(AgentIsolation::Alone)
    );
    config.serve.save_program && config.code_mode.enabled && is_own
}

/// The tool, as clients see it.
pub(crate) fn definition() -> Value {
    json!({
        "name": NAME,
        "title": "Save a program for later",
        "description": DESCRIPTION,
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "Lowercase letters, digits and _." },
                "text": { "type": "string", "description": "The whole file." },
                "replace": { "type": "boolean", "description": "Replaces the program of this name." },
            },
            "required": ["name", "text"],
            "additionalProperties": false,
        },
        "annotations": {
            "readOnlyHint": false, "destructiveHint": true, "idempotentHint": true, "openWorldHint": false,
        },
    })
}

impl SaveProgram {
    /// Reads the arguments of a request.
    ///
    /// # Errors
    /// Returns an error if the arguments are invalid.
    pub(crate) fn read(arguments: Value) -> Result<Self, String> {
        serde_json::from_value(arguments).map_err(|error| format!("invalid arguments of {NAME}: {error}"))
    }
}

impl Refused {
    fn new(status: &'static str, message: impl Into<String>) -> Self {
        Refused { status, message: message.into() }
    }

    fn of(failure: &Failure) -> Self {
        Refused::new("host_error", failure.report.for_model())
    }
}

impl Saving {
    /// The result for the client: MCP's `CallToolResult`.
    pub(crate) async fn result(mut self) -> Result<Value, ErrorData> {
        let id = random::id().map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let sinks = self.state.sinks(self.snapshot.settings.clone());
        let context = RequestContext::new(sinks, self.requester.clone(), id, NAME);
        let (journal, span) = (OwnedJournal::new(sinks_of(&context)), context.span());
        let recorded = async {
            let SaveProgram { name, text, replace } = &self.arguments;
            let arguments = &json!({ "name": name, "replace": replace });
            let new = NewExecution { code: text, arguments, check_only: true };
            if let Err(unrecorded) = journal.execution(&new).await {
                return Ok(answer::failure(&unrecorded.to_string()));
            }
            let saved = self.save(&journal).await;
            let status = saved.as_ref().map_or_else(|refused| refused.status, |_| "ok");
            let recorded = journal.end(status, None).await;
            let masker = &self.snapshot.settings.masker;
            Ok(match (saved, recorded) {
                (Ok(text), Ok(())) => json!({
                    "content": [{ "type": "text", "text": masker.mask(&text) }], "isError": false,
                }),
                (Err(refused), Ok(())) => answer::failure(&masker.mask(&refused.message)),
                (_, Err(unrecorded)) => answer::failure(&unrecorded.to_string()),
            })
        };
        recorded.instrument(span).await
    }

    async fn save(&mut self, journal: &Journal) -> Result<String, Refused> {
        let new = self.read()?;
        let (checked, tools) = self.check(&new.program).await?;
        let flows = approvals::flows(&checked.manifest, self.snapshot.config());
        let candidate = Candidate { new, checked, tools, flows };
        if candidate.is_known()? {
            return Ok(format!("the program {} is saved and approved already", self.arguments.name));
        }
        self.ask(&candidate, journal).await?;
        candidate.write(&self.arguments.name)?;
        let is_there = match &candidate.new.function {
            Ok(function) => self.refreshed(function).await,
            Err(_) => true,
        };
        Ok(candidate.saved_text(&self.arguments.name, is_there))
    }

    /// Reads the program, and what it would replace.
    fn read(&self) -> Result<New, Refused> {
        let SaveProgram { name, text, replace } = &self.arguments;
        let wrong = |message: String| Refused::new("compile_error", message);
        if text.len() > TEXT_LIMIT {
            let (size, limit) = (runner::size(text.len()), runner::size(TEXT_LIMIT));
            return Err(wrong(format!("the program has {size}, over the limit of {limit}: divide it")));
        }
        if self.snapshot.settings.masker.mask(text) != text.as_str() {
            return Err(Refused::new(
                "denied",
                "the program contains a secret, which must not be in a file: pass it as an argument, or let a server \
                 use it",
            ));
        }
        let store = ProgramStore::of_working_folder().map_err(|failure| Refused::of(&failure))?;
        let file = store.file(name, Scope::User).map_err(|failure| wrong(failure.report.for_model()))?;
        if store.file(name, Scope::Project).is_ok_and(|file| file.exists()) {
            let why =
                format!("the project has a program {name}, which would be used instead: choose another name");
            return Err(Refused::new("denied", why));
        }
        let program =
            ProgramFile::parse(text.clone()).map_err(|error| wrong(format!("no program: {error}")))?;
        // Only approved programs: the user is not shown the texts of others.
        let function = program.as_function(name);
        let all = functions::program(&store, &program).map_err(|failure| Refused::of(&failure))?;
        let program = program.with(&self.snapshot.settings.programs.functions);
        if all.hash() != program.hash() {
            let why = "it names saved programs that are not approved";
            return Err(Refused::new("denied", format!("nothing is saved: {why}")));
        }
        let before = saving::existing(&file).map_err(|failure| Refused::of(&failure))?;
        if let Some(before) = before.as_deref().filter(|before| !replace && before != text) {
            let change = saving::change(Some(before), text);
            return Err(Refused::new(
                "denied",
                format!(
                    "there is a program {name} already. To replace it, add `replace: true`. That changes:\n{change}"
                ),
            ));
        }
        Ok(New { program, function, file, before })
    }

    /// Compiles the program against the current tools.
    async fn check(&mut self, program: &ProgramFile) -> Result<(ProgramCheck, Vec<RequestedTool>), Refused> {
        let config = self.snapshot.config().clone();
        let servers = needed(&config, program.code().path_heads());
        self.snapshot = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(Refused::new("cancelled", "cancelled")),
            snapshot = self.live.with(&servers, config.code_mode.timeout) => snapshot,
        };
        let busy = |why: String| Refused::new("busy", why);
        let lease = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(Refused::new("cancelled", "cancelled")),
            lease = self.state.slots.take(self.caller.client(), || ()) => lease.map_err(|error| busy(error.to_string()))?,
            () = sleep(config.serve.queue_timeout) => {
                return Err(busy("other executions run (serve.queueTimeout); try again later".to_owned()));
            }
        };
        let failed = |error: runner::Error| Refused::new("host_error", Report::from(error).for_model());
        let engine = self.state.engine(&config.code_mode, &NoSink).await.map_err(failed)?;
        let holder = self.state.holder(self.caller.client(), true);
        let request = Request { holder, ..request(&config.code_mode, self.cancel.clone()) };
        let catalog = &self.snapshot.catalog;
        let checked =
            check(&engine, program, &request, catalog, &Journal::default()).await.map_err(failed)?;
        drop(lease);
        if let Fit::Broken(broken) = &checked.fit {
            let words = format!("{}\n{}", broken.message, outcome_text::messages(&broken.diagnostics));
            return Err(Refused::new("compile_error", format!("the program does not compile: {words}")));
        }
        let tools = requested(&checked.manifest, &config, &self.snapshot.tool_lists());
        Ok((checked, tools))
    }

    /// Asks the user, and records the answer.
    async fn ask(&self, candidate: &Candidate, journal: &Journal) -> Result<(), Refused> {
        let text = self.snapshot.settings.masker.mask(&candidate.question(&self.arguments.name)).into_owned();
        self.caller.set_page(self.requester.page_prompt(&self.state, None));
        let page = self.caller.page();
        let asked = journal.ask(QuestionKind::Save, candidate.checked.manifest.clone(), &text, &text);
        let answered_by = if self.caller.abilities.elicits { AnsweredBy::Client } else { AnsweredBy::Page };
        let answer = if self.caller.abilities.elicits {
            let form = form(&text);
            let _shown = page.map(|page| page.show(text));
            approval::ask_client(&self.caller, form, Offered::default()).await
        } else if let Some(page) = page.filter(|page| page.answers()) {
            approval::ask_on_page(&self.caller, page, text, Offer::to_save()).await
        } else {
            Answer::Nobody
        };
        asked.answered(answer.word(), answer.by(answered_by));
        let recorded = journal.begin(Begin::Program).await;
        recorded.map_err(|unrecorded| Refused::new("host_error", unrecorded.to_string()))?;
        let denied = |why: String| Err(Refused::new("denied", format!("nothing is saved: {why}")));
        match answer {
            Answer::Once => Ok(()),
            Answer::Nobody => denied(self.nobody()),
            Answer::Late(limit) => denied(format!(
                "the user did not answer within {} s (serve.questionTimeout)",
                limit.as_secs_f64()
            )),
            Answer::Busy => denied("too many questions are already open; try again later".to_owned()),
            Answer::Declined => denied("the client declined the question or cancelled it".to_owned()),
            Answer::Session | Answer::Always | Answer::Choose | Answer::No => {
                denied("the user refused it".to_owned())
            }
        }
    }

    /// Explains why nobody can be asked, and names the user's remedy.
    fn nobody(&self) -> String {
        let why = match self.absence {
            Reason::NoTerminal => "there is no terminal to ask the user on",
            _ => "this client does not support elicitation to ask the user",
        };
        format!(
            "{why}. The user can save the program with `toolsmith program save {} FILE`, or start the server with --ui \
             --allow-actions, and answer on a page in a browser",
            self.arguments.name
        )
    }

    /// Waits until snippets can call the program; `false` if that takes too long.
    async fn refreshed(&self, function: &ProgramText) -> bool {
        let mut snapshots = self.live.watch();
        let is_there = |snapshot: &Arc<Snapshot>| {
            snapshot.settings.programs.functions.get(&self.arguments.name) == Some(function)
        };
        matches!(timeout(REFRESH, snapshots.wait_for(is_there)).await, Ok(Ok(_)))
    }
}

impl Candidate {
    /// Whether the same program is saved and approved.
    fn is_known(&self) -> Result<bool, Refused> {
        let approvals = Approvals::read().map_err(|failure| Refused::of(&failure))?;
        let state = approvals.state(self.new.program.hash(), &self.checked.manifest, &self.flows);
        Ok(self.new.before.as_deref() == Some(self.new.program.text()) && state == Approval::Given)
    }

    /// The question to the user: the tools, what changes, and the whole text, which the answer is about.
    fn question(&self, name: &str) -> String {
        let (text, file) = (self.new.program.text(), self.new.file.display());
        let mut lines = match &self.new.before {
            Some(before) if before != text => {
                let change = exact_lines(&saving::change(Some(before), text));
                vec![format!("The model wants to replace your program {name} ({file}). It changes:"), change]
            }
            _ => vec![format!("The model wants to save a program {name} ({file}).")],
        };
        match &self.tools[..] {
            [] => lines.push("It can call no tools.".to_owned()),
            tools => {
                lines.push("It will call these tools without a question of its own:".to_owned());
                lines.extend(tools.iter().map(|tool| format!("  {}", tool.shown())));
                lines.extend(saving::carried(&self.flows));
            }
        }
        lines.push(format!("Its text:\n{}", exact_lines(text)));
        lines.push("Save and approve this text?".to_owned());
        lines.join("\n")
    }

    /// Writes the file and approves the program, unless the file has changed since the question.
    fn write(&self, name: &str) -> Result<(), Refused> {
        let failed = |failure: Failure| Refused::of(&failure);
        if saving::existing(&self.new.file).map_err(failed)? != self.new.before {
            let why = "nothing is saved: the file was changed while the user was asked; try again";
            return Err(Refused::new("denied", why));
        }
        saving::write(&self.new.file, self.new.program.text()).map_err(failed)?;
        Approvals::add(name, self.new.program.hash(), &self.tools, &self.flows).map_err(failed)
    }

    fn saved_text(&self, name: &str, is_there: bool) -> String {
        let mut lines = vec![format!("The program {name} is saved and approved.")];
        match &self.new.function {
            Ok(function) => lines.push(format!("In snippets: {}", function.line())),
            Err(why) => lines.push(format!("Snippets can't call it: {why}")),
        }
        if !is_there {
            lines.push("It can be called once the configuration was read again.".to_owned());
        }
        lines.push(saving::manifest(&self.checked.manifest, &self.flows));
        if let Some(before) = self.new.before.as_deref().filter(|before| *before != self.new.program.text()) {
            lines.push(format!(
                "It replaces another text. Changed:\n{}",
                saving::change(Some(before), self.new.program.text())
            ));
        }
        if let Fit::Corrected(fixes) = &self.checked.fit {
            let line = |fix: &Fix| format!("  line {}: {}", fix.line, fix.after.trim());
            let fixes: Vec<String> = fixes.iter().map(line).collect();
            lines.push(format!("Corrections that are made at each run:\n{}", fixes.join("\n")));
        }
        lines.join("\n")
    }
}

/// The parameters of `elicitation/create`, with the answers of a permission question.
fn form(message: &str) -> Value {
    json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {
                "answer": {
                    "type": "string", "title": "Permission", "enum": ["once", "no"],
                    "enumNames": ["Yes, save and approve it", "No"],
                },
            },
            "required": ["answer"],
        },
    })
}

/// Lines in which no character is hidden or looks like another one.
fn exact_lines(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("  {}", printable::exact(line))).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_shows_every_character_of_the_text() {
        let shown = exact_lines("a\u{202e}b\n\tc\u{1b}[2K\n");
        assert_eq!(shown.lines().count(), 2);
        assert!(!shown.contains(['\u{202e}', '\u{1b}']), "{shown:?}");
    }

    #[test]
    fn unknown_arguments_are_refused() {
        let wrong = SaveProgram::read(json!({ "name": "a", "text": "", "overwrite": true })).unwrap_err();
        assert!(wrong.contains("overwrite"), "{wrong}");
        let read = SaveProgram::read(json!({ "name": "a", "text": "t" })).unwrap();
        assert!(!read.replace && read.text == "t");
    }
}
