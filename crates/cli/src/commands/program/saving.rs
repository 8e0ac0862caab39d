//! `toolsmith program save` and `approve`: a program is shown with the tools that it can call before it is saved or
//! approved.

use std::path::Path;

use execution::process::{self, Process};
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::permission::RequestedTool;
use gateway::saved_programs::check::{Fit, ProgramCheck};
use gateway::saved_programs::{
    Approval, Approvals, ProgramStore, RecordedRuns, Scope, approvals, functions, invalid, saving,
};
use gateway::terminal_prompter;
use report::Kind;
use runner::{Request, Status};
use serde::Deserialize;
use snippet::ProgramFile;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use super::checking;
use super::support::{Context, request, store};
use crate::arguments::{ApproveProgramArguments, SaveProgramArguments};
use crate::commands::executing::{self, Job};
use crate::commands::run::{read_snippet, show};

/// Advice on a snippet that does not compile as the body of a program.
const WRAPPED: &str = "the snippet became the body of `run`, and the lines above are those of the text below; a program \
                       has no `args`: declare `struct Args { … }`, take it as `async fn run(args: Args) -> Result<…>`, \
                       and return values with `return Ok(…)` of that type";

/// The output of `program export`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exported {
    #[serde(rename = "name")]
    _name: String,
    text: String,
    recorded: Option<RecordedRuns>,
}

/// The program to save.
struct New {
    program: ProgramFile,
    /// The snippet that became the body of `run`.
    snippet: Option<String>,
    recorded: Option<RecordedRuns>,
}

/// Saves and approves a program; returns the exit code.
pub(super) async fn save(arguments: &SaveProgramArguments, cancel: CancellationToken) -> Result<u8, Failure> {
    let save = async |process: &Process| save_in(process, arguments, &cancel).await;
    process::run(Terminal::new(false, false), save).await
}

async fn save_in(
    process: &Process,
    arguments: &SaveProgramArguments,
    cancel: &CancellationToken,
) -> Result<u8, Failure> {
    let terminal = &*process.terminal;
    let name = &arguments.name;
    let scope = if arguments.project { Scope::Project } else { Scope::User };
    let store = store(terminal)?;
    let file = store.file(name, scope)?;
    let New { program, snippet, recorded } = read_new(arguments).await?;
    let context = Context::read(process, &arguments.place, cancel)?;
    let is_wrapped = snippet.is_some();
    if let Some(snippet) = snippet {
        let code = compiled_snippet(snippet, &context).await?;
        if code != exit_code::OK {
            return Ok(code);
        }
    }
    let program = functions::program(&store, &program)?;
    let Some((checked, tools)) = compiled(name, &program, &context).await? else {
        if is_wrapped {
            terminal.note(&printable::lines(&format!("{WRAPPED}\n\n{}", program.text().trim_end())));
        }
        return Ok(exit_code::COMPILE);
    };
    let offer = Offer { name, file: &file, program: &program, checked: &checked };
    let change = offer.show(&context)?;
    if let Some(change) = change.filter(|_| !arguments.yes) {
        confirm(&format!("{change} the program {name} and approve it?"), terminal).await?;
    }
    offer.save(recorded.as_ref(), &tools, &context)?;
    Ok(exit_code::OK)
}

/// A program that is shown before it is saved and approved.
pub(super) struct Offer<'a> {
    pub(super) name: &'a str,
    /// The file to write.
    pub(super) file: &'a Path,
    pub(super) program: &'a ProgramFile,
    pub(super) checked: &'a ProgramCheck,
}

impl Offer<'_> {
    /// Shows the text, or what it changes, and what the program can call. Returns the verb for what saving it does;
    /// `None` if the file has this text already.
    pub(super) fn show(&self, context: &Context<'_>) -> Result<Option<&'static str>, Failure> {
        let (before, text) = (saving::existing(self.file)?, self.program.text());
        context.terminal.print(&printable::lines(&saving::change(before.as_deref(), text)));
        let flows = approvals::flows(&self.checked.manifest, &context.config);
        context.terminal.print(&saving::manifest(&self.checked.manifest, &flows));
        Ok(match before {
            None => Some("Save"),
            Some(before) if before == text => None,
            Some(_) => Some("Replace"),
        })
    }

    /// Saves and approves the program.
    pub(super) fn save(
        &self,
        recorded: Option<&RecordedRuns>,
        tools: &[RequestedTool],
        context: &Context<'_>,
    ) -> Result<(), Failure> {
        saving::write(self.file, self.program.text())?;
        if let Some(recorded) = recorded {
            recorded.write(self.file)?;
        }
        let flows = approvals::flows(&self.checked.manifest, &context.config);
        Approvals::add(self.name, self.program.hash(), tools, &flows)?;
        context.terminal.note(&format!("the program {} is saved in {}", self.name, self.file.display()));
        Ok(())
    }
}

/// The text to save, from a snippet's file or from what `program export` has printed.
async fn read_new(arguments: &SaveProgramArguments) -> Result<New, Failure> {
    let file = arguments.file.clone();
    let reading = tokio::task::spawn_blocking(move || read_snippet(&file));
    let text = reading.await.map_err(Failure::system)??;
    let json = strict_json::without_mark(&text);
    let (text, recorded) =
        match json.trim_start().starts_with('{').then(|| serde_json::from_str::<Exported>(json)) {
            Some(Ok(exported)) => (exported.text, exported.recorded),
            _ => (text, None),
        };
    let title = title(&text, &arguments.name).to_owned();
    let (program, is_wrapped) = ProgramFile::parse_or_wrap(text.clone(), &title)
        .map_err(|error| Failure::from(invalid(&arguments.file, error)))?;
    Ok(New { program, snippet: is_wrapped.then_some(text), recorded })
}

/// The title of a snippet: its first line if that is a comment without a directive, and its name otherwise.
fn title<'a>(text: &'a str, name: &'a str) -> &'a str {
    let comment = text.lines().next().and_then(|line| line.trim().strip_prefix("//"));
    let comment = comment.map(|comment| comment.trim_start_matches(['/', '!']).trim());
    let is_directive = |comment: &str| ["Example:", "Tags:"].iter().any(|word| comment.starts_with(word));
    comment.filter(|comment| !comment.is_empty() && !is_directive(comment)).unwrap_or(name)
}

/// Compiles a snippet before it is wrapped, so that errors are at its own lines; returns the exit code.
async fn compiled_snippet(snippet: String, context: &Context<'_>) -> Result<u8, Failure> {
    let request = request(functions::snippet(snippet)?, &context.config, context.cancel);
    let request = Request { check_only: true, ..request };
    let job = Job { is_kept: false, ..context.job(&request) };
    executing::run(job, async |_, outcome| match outcome.status {
        Status::Ok => Ok(exit_code::OK),
        _ => show(outcome, false, false, context.terminal),
    })
    .await
}

/// Compiles a program and prints why it does not compile; the check and the tools otherwise.
pub(super) async fn compiled(
    name: &str,
    program: &ProgramFile,
    context: &Context<'_>,
) -> Result<Option<(ProgramCheck, Vec<RequestedTool>)>, Failure> {
    let terminal = context.terminal;
    let (checked, tools) = checking::checked(program, context).await?;
    if let Fit::Broken(broken) = &checked.fit {
        terminal.eprint(&format!("the program {name} does not compile: {}", checking::broken_text(broken)));
        return Ok(None);
    }
    if let Some(why) = checked.schemas.as_ref().and_then(|schemas| schemas.without_result.as_ref()) {
        terminal.note(&format!("the result of {name} has no JSON Schema: {why}"));
    }
    Ok(Some((checked, tools)))
}

pub(super) async fn confirm(question: &str, terminal: &Terminal) -> Result<(), Failure> {
    let user = terminal_prompter::of_command().ok_or_else(|| {
        Failure::new(Kind::Trust, "there is no terminal to ask on")
            .hint("to save or approve the program without a question, add --yes")
    })?;
    terminal.flush().await.map_err(Failure::output)?;
    if user.confirm(question).await {
        return Ok(());
    }
    Err(Failure::new(Kind::Denied, "nothing is saved or approved"))
}

/// Approves a program, or takes the approval back; returns the exit code.
pub(super) async fn approve(
    arguments: &ApproveProgramArguments,
    cancel: CancellationToken,
) -> Result<u8, Failure> {
    let approve = async |process: &Process| approve_in(process, arguments, &cancel).await;
    process::run(Terminal::new(false, false), approve).await
}

async fn approve_in(
    process: &Process,
    arguments: &ApproveProgramArguments,
    cancel: &CancellationToken,
) -> Result<u8, Failure> {
    let terminal = &*process.terminal;
    let store = ProgramStore::of_working_folder()?;
    let saved = store.find(&arguments.name)?;
    let (name, program) = (&saved.name, &functions::program(&store, saved.program()?)?);
    if arguments.remove {
        Approvals::remove(program.hash())?;
        terminal.note(&format!("the program {name} is no longer approved"));
        return Ok(exit_code::OK);
    }
    let context = Context::read(process, &arguments.place, cancel)?;
    let Some((checked, tools)) = compiled(name, program, &context).await? else {
        return Ok(exit_code::COMPILE);
    };
    terminal.print(&printable::lines(program.text().trim_end()));
    let flows = approvals::flows(&checked.manifest, &context.config);
    terminal.print(&saving::manifest(&checked.manifest, &flows));
    let state = Approvals::read()?.state(program.hash(), &checked.manifest, &flows);
    if state != Approval::Given && !arguments.yes {
        confirm(&format!("Approve the program {name}?"), terminal).await?;
    }
    // Also if it is approved: a tool may have changed since.
    Approvals::add(name, program.hash(), &tools, &flows)?;
    terminal.note(&format!("the program {name} is approved until its text or its tools change"));
    Ok(exit_code::OK)
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_first_comment_with_a_directive_is_no_title() {
        assert_eq!(title("// Two customers.\n1", "two"), "Two customers.");
        for text in ["// Example: x = 1\n1", "//! Tags: a\n1", "//\n1", "1"] {
            assert_eq!(title(text, "two"), "two");
        }
    }
}
