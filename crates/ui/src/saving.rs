//! Saves a snippet as a program, in two steps: a form, and what `program save` says about it before it writes.

use std::time::Duration;

use history::Reader;
use maud::{Markup, html};
use snippet::ProgramFile;

use crate::access::Visitor;
use crate::action::Action;
use crate::command::Done;
use crate::error::PageError;
use crate::execution;
use crate::layout::{self, Document, Section};
use crate::shown;
use crate::site::Site;
use crate::text::{breakable, line, lines};

/// The time that the page waits for the compiler.
const LONGEST: Duration = Duration::from_secs(120);

/// The fields of a form: the program's name, and its text.
struct Program<'a> {
    name: &'a str,
    text: &'a str,
}

/// The form for the snippet of the execution whose id is or begins with `id`.
///
/// # Errors
/// If there is no such execution, or the history can't be read.
pub(crate) fn form(reader: Option<&Reader>, id: &str, visitor: &Visitor) -> Result<Document, PageError> {
    if !visitor.may_act() {
        return Err(PageError::read_only());
    }
    let execution = execution::read(reader, id)?;
    let title = execution.summary.title.trim_start_matches('/').trim();
    let text = ProgramFile::wrapping(&execution.code, title).unwrap_or_else(|| execution.code.clone());
    let body = html! {
        h1 { "Save as a program" }
        @if !execution.code_is_whole { p.note { "Secrets in the snippet are masked: give them as arguments." } }
        p {
            "The snippet is the body of " code { "run" } ". Give what changes from run to run to an " code { "Args" }
            ", and a type to the result. Nothing is saved before you have seen which tools the program can call."
        }
        (fields(&Program { name: "", text: &text }, visitor))
    };
    Ok(page(body))
}

fn page(body: Markup) -> Document {
    layout::page("Save as a program", Section::Executions, body)
}

fn fields(program: &Program<'_>, visitor: &Visitor) -> Markup {
    let rows = program.text.lines().count().clamp(8, 40);
    html! {
        form.program action="save" method="post" {
            (visitor.field())
            label {
                span { "Name: lowercase letters, digits and underscores" }
                input type="text" name="name" value=(program.name) required maxlength="64" pattern="[a-z0-9_]+"
                    autocomplete="off" spellcheck="false";
            }
            label {
                span { "Text" }
                // A browser drops the first line end.
                textarea name="text" rows=(rows) required spellcheck="false" { "\n" (program.text) }
            }
            div.actions { button type="submit" { "Check" } }
        }
    }
}

/// Handles the form: without `confirmed`, shows what would be saved; with it, saves and approves it, if that is still what
/// was shown.
///
/// # Errors
/// If a field is missing, or `program save` can't be run.
pub(crate) async fn save(site: &Site, action: &Action) -> Result<Document, PageError> {
    // Browsers send a text's line ends as CR LF (WHATWG, "HTML", section 4.10.21.4).
    let text = action.required("text")?.replace("\r\n", "\n");
    let program = Program { name: action.required("name")?, text: &text };
    let is_confirmed = action.form.get("confirmed").is_some();
    let mut done = command(site, &["program", "save"], &program).await?;
    let is_shown = is_confirmed && shown::is_of(action, &digest(&program, &done));
    if is_shown {
        done = command(site, &["program", "save", "--yes"], &program).await?;
    }
    let has_changed = is_confirmed && !is_shown;
    Ok(page(answer(&program, &done, has_changed, &action.visitor)))
}

async fn command(site: &Site, words: &[&str], program: &Program<'_>) -> Result<Done, PageError> {
    let saving = site.commands.run(words, &[program.name, "-"], program.text.to_owned())?;
    tokio::time::timeout(LONGEST, saving)
        .await
        .map_err(|_| PageError::failed("the program was not compiled in time; try again"))?
}

/// A digest of a program, and of what the command has shown of it: the change and the tools.
fn digest(program: &Program<'_>, done: &Done) -> String {
    shown::digest(&[program.name, program.text, &done.output])
}

fn answer(program: &Program<'_>, done: &Done, has_changed: bool, visitor: &Visitor) -> Markup {
    // Without `--yes` and a terminal, it shows the program, and then refuses to save it.
    let is_shown = !done.output.is_empty();
    html! {
        @if done.code == Some(0) {
            h1 { "Saved" }
            p { "The program " code { (line(program.name)) } " is saved and approved." }
            pre tabindex="0" { bdi { (lines(done.output.trim_end())) } }
        } @else if is_shown {
            h1 { "Save the program " code { (line(program.name)) } " and approve it?" }
            @if has_changed { p.note { "It has changed since you were asked, and nothing is saved: read it again." } }
            pre.whole tabindex="0" { bdi { (lines(done.output.trim_end())) } }
            form.actions action="save" method="post" {
                (visitor.field())
                input type="hidden" name="name" value=(program.name);
                input type="hidden" name="text" value=(program.text);
                input type="hidden" name="confirmed" value="yes";
                (shown::field(&digest(program, done)))
                button type="submit" { "Save and approve" }
                a href="executions" { "Cancel" }
            }
            h2 { "Change it" }
            (fields(program, visitor))
        } @else {
            h1 { "Not saved" }
            div.error role="alert" { pre tabindex="0" { bdi { (breakable(&lines(done.messages.trim_end()))) } } }
            (fields(program, visitor))
        }
    }
}
