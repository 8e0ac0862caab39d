//! Finds calls that are statements but not awaited: they compile, but are never made.

use std::ops::Range;

use super::lookup::{Found, Lookup, tools};
use crate::catalog::Catalog;
use crate::messages::{Message, Source, warnings};
use crate::tokens::{Kind, Tokens};
use crate::unused_calls::{Idle, Unused};

/// A call that is never made.
#[derive(Debug)]
pub(crate) struct Unmade<'a> {
    pub(crate) found: Found<'a>,
    /// Its bytes in the text, without the `;`.
    pub(crate) range: Range<usize>,
}

/// The calls among `tokens` that are never made. Only those with a module count: another function may have the name of
/// a tool.
pub(crate) fn unmade<'a>(tokens: &Tokens<'_>, lookup: &Lookup<'a>) -> Vec<Unmade<'a>> {
    let found = tokens.words().filter_map(|(index, word)| {
        let module = lookup.module(tokens.qualifier(index))?;
        let start = index.checked_sub(3).filter(|start| begins(tokens, *start))?;
        let found = tools(module).find(|found| {
            found.tool.function == word || word.strip_suffix("Input") == Some(found.tool.prefix)
        })?;
        let last = end(tokens, index + 1)?;
        Some(Unmade { found, range: tokens.range(start).start..tokens.range(last).end })
    });
    let is_own =
        |name: &str| tokens.words().any(|(index, word)| word == "mod" && tokens.word(index + 1) == name);
    found.filter(|unmade| !is_own(unmade.found.module.name())).collect()
}

/// The calls that the compiler's `messages` warn of, in a text that compiles. Matching by type rules out other
/// functions of the same name.
pub(crate) fn warned<'a>(messages: &str, source: Source<'_>, catalog: &'a dyn Catalog) -> Vec<Dropped<'a>> {
    let dropped =
        warnings(messages).filter(|message| message.code() == "unused_must_use").filter_map(|message| {
            let name = *message.quoted().first()?;
            let is_alone = message.message == format!("unused `{name}` that must be used");
            // A type is printed without its module if its name is unique.
            let kind = name.rsplit("::").next().filter(|_| is_alone && is_ours(&message))?;
            let all = catalog.modules().into_iter().flat_map(tools);
            let found = all
                .filter(|found| {
                    kind.strip_prefix(found.tool.prefix).is_some_and(|rest| matches!(rest, "Call" | "Input"))
                })
                .find(|found| name == kind || name.starts_with(&format!("{}::", found.module.name())))?;
            // Code from a macro of the snippet has its position elsewhere.
            let span = message
                .primary()
                .filter(|span| span.expansion.as_ref().is_none_or(|from| from.is_of_compiler()))?;
            let range = source.range(span)?;
            Some(Dropped { found, range, is_input: kind.ends_with("Input") })
        });
    dropped.collect()
}

/// Whether a warning is about a type of the bindings, not another type of the same name.
fn is_ours(message: &Message) -> bool {
    message.children.iter().any(|child| {
        child.message.ends_with("add `.await?`") || child.message.ends_with("add `.call().await?`")
    })
}

/// The tool whose call or input struct is an unused expression.
pub(crate) fn tool<'a>(idle: &Idle, catalog: &'a dyn Catalog) -> Option<Found<'a>> {
    let Unused::Call(path) = &idle.value else { return None };
    let path: Vec<&str> = path.iter().map(String::as_str).filter(|part| *part != "tools").collect();
    let [module, name] = path[..] else { return None };
    let module = catalog.modules().into_iter().find(|known| known.name() == module)?;
    tools(module)
        .find(|found| found.tool.function == name || name.strip_suffix("Input") == Some(found.tool.prefix))
}

/// A call, or its arguments, that a statement drops.
#[derive(Debug)]
pub(crate) struct Dropped<'a> {
    pub(crate) found: Found<'a>,
    /// Its bytes in the text.
    pub(crate) range: Range<usize>,
    /// Whether it is only the arguments.
    pub(crate) is_input: bool,
}

/// Whether a statement can start at a token.
fn begins(tokens: &Tokens<'_>, start: usize) -> bool {
    match start.checked_sub(1) {
        None => true,
        Some(before) => {
            tokens.is_sign(before, ';')
                || matches!(tokens.kind(before), Some(Kind::Open('{') | Kind::Close('{')))
        }
    }
}

/// The last token before the `;` of a call whose arguments start at `first`, if only setters follow.
fn end(tokens: &Tokens<'_>, first: usize) -> Option<usize> {
    // An input struct is not a call before `.call()`.
    let mut is_called = tokens.kind(first) == Some(Kind::Open('('));
    let mut index = tokens.close(first).filter(|close| *close > first)? + 1;
    while !tokens.is_sign(index, ';') {
        let name = tokens.word(index + 1);
        if !tokens.is_sign(index, '.') || name.is_empty() || name == "await" {
            return None;
        }
        is_called |= name == "call";
        index = tokens.close(index + 2).filter(|close| *close > index + 2)? + 1;
    }
    is_called.then(|| index - 1)
}
