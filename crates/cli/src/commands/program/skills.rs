//! `toolsmith program export --skill` and `import`: a program as a signed folder, and back.

use std::path::Path;

use execution::process::{self, Process};
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::saved_programs::skill::{self, Described};
use gateway::saved_programs::{
    Approvals, RecordedRuns, Scope, Skill, approvals, functions, invalid, skill_md,
};
use gateway::terminal_prompter;
use report::Kind;
use snippet::ProgramFile;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use super::editing;
use super::saving::{Offer, compiled, confirm};
use super::support::{Context, store};
use super::testing::Tester;
use crate::arguments::{ExportProgramArguments, ImportProgramArguments};

/// Exports a program; returns the exit code.
pub(super) async fn export(
    arguments: &ExportProgramArguments,
    cancel: CancellationToken,
) -> Result<u8, Failure> {
    let Some(folder) = &arguments.skill else { return editing::export(&arguments.name).await };
    let export = async |process: &Process| export_in(process, arguments, folder, &cancel).await;
    process::run(Terminal::new(false, false), export).await
}

async fn export_in(
    process: &Process,
    arguments: &ExportProgramArguments,
    folder: &Path,
    cancel: &CancellationToken,
) -> Result<u8, Failure> {
    let terminal = &*process.terminal;
    let store = store(terminal)?;
    let saved = store.find(&arguments.name)?;
    let content = saved.program()?;
    if !functions::program(&store, content)?.code().composed().is_empty() {
        let message =
            format!("the program {} calls other saved programs, which a skill can't contain", saved.name);
        return Err(
            Failure::command_line(message).hint("put their code into this program, and export it again")
        );
    }
    let context = Context::read(process, &arguments.place, cancel)?;
    let Some((checked, _)) = compiled(&saved.name, content, &context).await? else {
        return Ok(exit_code::COMPILE);
    };
    let recorded = match arguments.without_tests {
        true => None,
        false => Some(RecordedRuns::read(&saved.file)?).filter(|recorded| !recorded.runs.is_empty()),
    };
    if recorded.is_none() && !arguments.without_tests {
        terminal.note(&format!(
            "the program {name} has no recorded runs, so that the skill has no tests; record one: toolsmith program \
             record {name}",
            name = saved.name
        ));
    }
    let flows = flows::lines(&approvals::flows(&checked.manifest, &context.config));
    let (schema, result) =
        checked.schemas.map(|schemas| (schemas.arguments, schemas.result)).unwrap_or_default();
    let described = Described::new(saved.name.clone(), checked.manifest, flows, schema, result);
    let text = skill_md(&described, content, recorded.is_some());
    let key = arguments.key.as_deref().map_or_else(skill::own_key, skill::key_in)?;
    let skill = Skill { described, text: content.text().to_owned(), recorded };
    let path = skill.write(text, &key, folder)?;
    terminal.note(&format!("the skill is in {}, signed with the key {}", path.display(), key.public()));
    Ok(exit_code::OK)
}

/// Imports the program of a skill; returns the exit code.
pub(super) async fn import(
    arguments: &ImportProgramArguments,
    cancel: CancellationToken,
) -> Result<u8, Failure> {
    let import = async |process: &Process| import_in(process, arguments, &cancel).await;
    process::run(Terminal::new(false, false), import).await
}

async fn import_in(
    process: &Process,
    arguments: &ImportProgramArguments,
    cancel: &CancellationToken,
) -> Result<u8, Failure> {
    let terminal = &*process.terminal;
    let store = store(terminal)?;
    let folder = arguments.folder.clone();
    let reading = tokio::task::spawn_blocking(move || Skill::read(&folder));
    let (skill, key) = reading.await.map_err(Failure::system)??;
    let is_known = skill::is_known(&key)?;
    let key = key.to_string();
    trusted(&key, is_known, arguments, terminal).await?;
    let Skill { described, text, recorded } = skill;
    let name = &described.program;
    let scope = if arguments.project { Scope::Project } else { Scope::User };
    let file = store.file(name, scope)?;
    let parsed = ProgramFile::parse(text);
    let program = parsed.map_err(|error| Failure::from(invalid(&arguments.folder, error)))?;
    let program = functions::program(&store, &program)?;
    let context = Context::read(process, &arguments.place, cancel)?;
    let Some((checked, tools)) = compiled(name, &program, &context).await? else {
        return Ok(exit_code::COMPILE);
    };
    let offer = Offer { name, file: &file, program: &program, checked: &checked };
    let change = offer.show(&context)?.unwrap_or("Save");
    if described.calls != checked.manifest {
        let calls = described.calls.iter().map(|tool| printable::name(tool)).collect::<Vec<_>>().join(", ");
        terminal.note(&format!("its author's program could call other tools: {calls}"));
    }
    let runs = recorded.as_ref().map_or(0, |recorded| recorded.runs.len());
    let tests = match runs {
        0 => "It has no recorded runs to test it with.".to_owned(),
        1 => "Its recorded run is tested first, without any call.".to_owned(),
        runs => format!("Its {runs} recorded runs are tested first, without any call."),
    };
    terminal.print(&tests);
    if !arguments.yes {
        confirm(&format!("{change} the program {name} and approve it?"), terminal).await?;
    }
    if let Some(recorded) = &recorded {
        test(name, &program, recorded, &context).await?;
    }
    if recorded.is_none() {
        // They would test the new text with the runs of another one.
        RecordedRuns::remove(&file)?;
    }
    offer.save(recorded.as_ref(), &tools, &context)?;
    if !is_known {
        Approvals::trust(&key)?;
    }
    Ok(exit_code::OK)
}

/// Refuses a key that the user does not trust, or that is another one than the command line names.
async fn trusted(
    key: &str,
    is_known: bool,
    arguments: &ImportProgramArguments,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let unknown = match is_known {
        true => format!("the skill is signed with the key {key}"),
        false => format!("the skill is signed with a key that you have not trusted: {key}"),
    };
    match &arguments.trust_key {
        Some(named) if named == key => return Ok(()),
        Some(_) => {
            return Err(Failure::new(Kind::Trust, unknown)
                .hint("it is not the key of --trust-key: compare the keys with the author"));
        }
        None if is_known => return Ok(()),
        None => {}
    }
    let user = terminal_prompter::of_command().ok_or_else(|| {
        Failure::new(Kind::Trust, &unknown)
            .hint("compare the key with the one that its author tells you")
            .hint(format!("to trust it without a question: --trust-key {key}"))
    })?;
    terminal.note(&unknown);
    terminal.flush().await.map_err(Failure::output)?;
    if user.confirm("Is this the key of its author, and do you trust the author's skills?").await {
        return Ok(());
    }
    Err(Failure::new(Kind::Denied, "nothing is saved, and the key is not trusted"))
}

/// Replays the recorded runs of a program that is not saved yet.
async fn test(
    name: &str,
    program: &ProgramFile,
    recorded: &RecordedRuns,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let tester = Tester::open(context.config.clone(), context.terminal, context.cancel).await?;
    let tested = tester.replays(name, program, recorded).await?;
    tested.iter().for_each(|tested| context.terminal.print(&tested.text()));
    match tested.iter().filter(|tested| !tested.passed()).count() {
        0 => Ok(()),
        failed => {
            let message = format!("nothing is saved: {failed} of {} recorded runs failed", tested.len());
            Err(Failure::command_line(message)
                .with_code(exit_code::RUNTIME)
                .hint("its tools may differ from the author's; without tests: toolsmith program save"))
        }
    }
}
