//! Warnings about a text that compiles, but does less than it seems to.

use std::collections::BTreeSet;

use super::{DIAGNOSTICS_KEPT, Diagnostic, Reader, at, of_call};
use crate::catalog::Catalog;
use crate::hints;
use crate::messages::{Message, warnings};
use crate::repair::Fix;
use crate::snippet::Snippet;
use crate::splice::Spliced;
use crate::unused_calls::{Idle, Unused};

/// The compiler's warnings for a text that compiles: dropped values that should be used. `text` is the snippet before
/// any correction.
pub fn warned(messages: &str, text: &str, spliced: &Spliced) -> Vec<Diagnostic> {
    let reader = Reader { lines: text.split('\n').collect(), spliced };
    let diagnostic = |message: Message| {
        let diagnostic = reader.diagnostic(&message);
        let mut rendered = diagnostic.rendered.replacen("error", "warning", 1);
        if message.code() == UNCALLED {
            rendered.push_str(
                "help: next to statements, it is an ordinary function: call it, or send only items\n",
            );
        }
        Diagnostic { level: "warning".to_owned(), rendered, ..diagnostic }
    };
    let mut changed = BTreeSet::new();
    let mut is_new = |message: &Message| {
        let is_change = message.code().starts_with("unused_") && message.code() != "unused_must_use";
        !is_change || changed.insert(message.quoted().first().map(ToString::to_string))
    };
    let useful = warnings(messages)
        .filter(is_useful)
        .filter(|message| message.spans.iter().any(|span| span.is_primary && reader.is_own(span)))
        .filter(|message| is_new(message));
    useful.take(DIAGNOSTICS_KEPT).map(diagnostic).collect()
}

/// The compiler's code for functions that nothing calls.
const UNCALLED: &str = "dead_code";

/// Whether a warning is useful. An uncalled function is harmless, unless it has the name of an entry point. An unused
/// variable is harmless too, unless it is changed: then the change is lost.
fn is_useful(message: &Message) -> bool {
    match message.code() {
        UNCALLED => {
            ["run", "main"].iter().any(|name| message.message == format!("function `{name}` is never used"))
        }
        "unused_variables" | "unused_assignments" => message.is_lost_change(),
        _ => true,
    }
}

/// Warnings of calls, futures and tasks whose value is unused, and of copies that are changed, except in lines that
/// `fixes` corrected.
pub fn idle(snippet: &Snippet, fixes: &[Fix], catalog: &dyn Catalog) -> Vec<Diagnostic> {
    let text = snippet.text.as_str();
    let warning = |idle: &Idle| {
        let (message, hint) = match &idle.value {
            Unused::Call(_) => {
                let found = hints::unmade::tool(idle, catalog)?;
                let message = "this call is never made: its value is unused, and nothing awaits it";
                return Some(of_call("warning", message, text, idle.range.clone(), found));
            }
            Unused::Future => (
                "this future does nothing: nothing awaits it",
                "await it with `.await`, or a list of futures with `futures::future::try_join_all(list).await?`",
            ),
            Unused::Task => (
                "nothing waits for this task: the snippet may end before the task has done its work",
                "keep what `spawn` returns, and await it before the end: `let task = tokio::spawn(…); task.await?`",
            ),
        };
        Some(at("warning", message.to_owned(), text, idle.range.clone(), hint.to_owned()))
    };
    let warnings = snippet.idle.iter().filter_map(warning).chain(snippet.copies.iter().map(|copy| {
        let message = format!("this changes a copy of `{}`: the variable outside stays as it is", copy.name);
        let hint = "with `move`, a number or other `Copy` value is copied: return the new value and use it where the \
                    future or thread is awaited or joined, or share it in an `Arc<Mutex<_>>` or an atomic";
        at("warning", message, text, copy.range.clone(), hint.to_owned())
    }));
    warnings
        .filter(|warning| !fixes.iter().any(|fix| fix.line == warning.line))
        .take(DIAGNOSTICS_KEPT)
        .collect()
}
