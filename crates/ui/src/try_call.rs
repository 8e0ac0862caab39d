//! Calls a tool with the arguments of a form, under the permission policy of the configuration.
//!
//! A call that needs a permission is not made: the page asks the question, with the text that a terminal shows. The
//! answer comes with another form, which names exactly this question, and permits this one call.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use gateway::permission::{
    Allowed, Answer, AnsweredBy, PermissionPolicy, Prompter, Question, SessionAnswers,
};
use gateway::propagation;
use gateway::session_host::SessionHost;
use gateway::sessions::Sessions;
use history::shown::duration;
use maud::{Markup, html};
use parking_lot::Mutex;
use runner::Journal;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use server::tool_result_files::text;
use terminal::{Notifier, Terminal};
use tokio::sync::{Semaphore, watch};

use crate::access::Visitor;
use crate::action::Action;
use crate::configured::{Configured, address};
use crate::error::PageError;
use crate::layout::{self, Document, Section};
use crate::shown;
use crate::text::{breakable, line, lines};
use crate::try_form::{self, ToolPath};

/// Limit on calls of the page at the same time.
static TURNS: Semaphore = Semaphore::const_new(4);

/// Maximum length of a result on the page, in bytes.
const RESULT: usize = 256 << 10;

/// The field with the arguments, and the one that names the answered question.
const ARGUMENTS: &str = "arguments";
const ALLOWED: &str = "allowed";

/// The result of a call.
enum Called {
    /// It needs a permission; the text of the question.
    Asked(String),
    Answered {
        result: Value,
        ms: f64,
    },
    Failed(String),
}

/// Answers the question that a form has answered, and keeps any other.
struct FormPrompter {
    arguments: String,
    allowed: Option<String>,
    asked: Arc<Mutex<Option<String>>>,
}

impl Prompter for FormPrompter {
    fn is_there(&self) -> bool {
        true
    }

    fn answered_by(&self) -> AnsweredBy {
        AnsweredBy::Page
    }

    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        let text = question.text();
        let answer = if self.allowed.as_deref() == Some(&mark(&text, &self.arguments)) {
            Answer::Once
        } else {
            *self.asked.lock() = Some(text);
            Answer::No
        };
        Box::pin(std::future::ready(answer))
    }
}

/// A digest of a question and of all the arguments, which the text may show cut.
fn mark(question: &str, arguments: &str) -> String {
    shown::digest(&[question, arguments])
}

/// The host of the called server: it can ask nobody, and its notes are not shown.
struct PageHost(Notifier);

impl mcp::Host for PageHost {}

impl SessionHost for PageHost {
    fn questions(&self) -> watch::Receiver<usize> {
        watch::channel(0).1
    }

    fn notifier(&self) -> Notifier {
        self.0.clone()
    }
}

/// Makes the call of a form, and shows its result or its question.
///
/// # Errors
/// If the form is wrong, or names no known tool, or too many calls are being made.
pub(crate) async fn page(
    mut configured: Configured,
    action: &Action,
    visitor: &Visitor,
) -> Result<Document, PageError> {
    let (server, tool) = (action.required("server")?, action.required("name")?);
    let described = configured.lists.get(server).and_then(|list| list.tool(tool));
    let described =
        described.ok_or_else(|| PageError::missing(format!("no known tool is named {server}.{tool}")))?;
    let arguments = match action.form.get(ARGUMENTS) {
        Some(arguments) => serde_json::from_str::<Box<RawValue>>(arguments)
            .map_err(|error| PageError::wrong(format!("the arguments are not JSON: {error}")))?,
        None => to_raw_value(&try_form::arguments(&described["inputSchema"], &action.form)?)
            .map_err(|error| PageError::failed(error.to_string()))?,
    };
    let _turn = TURNS.try_acquire().map_err(|_| {
        PageError::wrong(
            "too many calls of this page are being made; wait until one has ended, and repeat it",
        )
    })?;
    propagation::hand_on(&mut configured.config, false, None)?;
    let allowed = action.form.get(ALLOWED).map(str::to_owned);
    let path = ToolPath { server, tool };
    let called = call(&configured, path, &arguments, allowed).await;
    let body = html! {
        h1 { code { bdi { (line(&format!("{server}.{tool}"))) } } }
        (outcome(&called, path, &arguments, visitor, &configured))
        h2 { "Arguments" }
        pre tabindex="0" role="region" aria-label="Arguments" { bdi { (lines(&configured.masked(arguments.get()))) } }
        p { a href=(address("tool", &[("server", server), ("name", tool)])) { "Back to the tool" } }
    };
    Ok(layout::page("Call", Section::Servers, body))
}

async fn call(
    configured: &Configured,
    path: ToolPath<'_>,
    arguments: &RawValue,
    allowed: Option<String>,
) -> Called {
    let config = Arc::new(configured.config.clone());
    let asked = Arc::new(Mutex::new(None));
    let prompter = FormPrompter { arguments: arguments.get().to_owned(), allowed, asked: asked.clone() };
    let policy = PermissionPolicy::of_session(
        &config,
        Allowed::default(),
        SessionAnswers::default(),
        prompter,
        Journal::default(),
        // A single call: nothing was received before it.
        Arc::default(),
    );
    let host = Arc::new(PageHost(Terminal::new(true, false).notifier()));
    let mut sessions = Sessions::new(config, configured.masker.clone(), host);
    sessions.hold_to(configured.known.pins.clone());
    sessions.permit(policy);
    let started = Instant::now();
    let called = match sessions.start(path.server).await {
        Err(unopened) => Called::Failed(unopened.report.for_terminal()),
        Ok(_) => match sessions.call_directly(path.server, path.tool, arguments.to_owned()).await {
            Ok(answer) => Called::Answered {
                result: serde_json::from_str(answer.result.get()).unwrap_or_default(),
                ms: started.elapsed().as_secs_f64() * 1e3,
            },
            Err(failure) => {
                let asked = asked.lock().take();
                asked.map_or(Called::Failed(failure.message), Called::Asked)
            }
        },
    };
    sessions.close().await;
    called
}

fn outcome(
    called: &Called,
    path: ToolPath<'_>,
    arguments: &RawValue,
    visitor: &Visitor,
    configured: &Configured,
) -> Markup {
    match called {
        Called::Asked(question) => html! {
            h2 { "Permission" }
            pre #question tabindex="0" role="region" aria-label="Question" { bdi { (question) } }
            form.actions action="try" method="post" {
                (visitor.field())
                input type="hidden" name="server" value=(path.server);
                input type="hidden" name="name" value=(path.tool);
                input type="hidden" name=(ARGUMENTS) value=(arguments.get());
                input type="hidden" name=(ALLOWED) value=(mark(question, arguments.get()));
                button type="submit" { "Yes, once" }
                a href=(address("tool", &[("server", path.server), ("name", path.tool)])) { "No" }
            }
        },
        Called::Failed(why) => html! {
            h2 { "Result" }
            div.error role="note" { pre tabindex="0" { bdi { (breakable(&lines(&configured.masked(why)))) } } }
        },
        Called::Answered { result, ms } => {
            let is_error = result["isError"] == true;
            let json = serde_json::to_string_pretty(result).unwrap_or_default();
            html! {
                h2 { "Result" }
                p { (layout::badge(if is_error { "tool error" } else { "ok" })) " after " (duration(*ms)) ", with starting the server" }
                pre tabindex="0" role="region" aria-label="Result" { bdi { (shown(&text(result), configured)) } }
                details {
                    summary { "Result as JSON" }
                    pre tabindex="0" { bdi { (shown(&json, configured)) } }
                }
            }
        }
    }
}

/// A text of a result, without secrets and cut to its length.
fn shown(text: &str, configured: &Configured) -> String {
    let masked = configured.masked(text);
    if masked.len() <= RESULT {
        return lines(&masked);
    }
    let cut = masked.get(..masked.floor_char_boundary(RESULT)).unwrap_or_default();
    format!("{}\n[cut: it has {} bytes]", lines(cut), masked.len())
}
