//! Calls that are statements of their own and not awaited: they compile, and are never made.

use std::ops::Range;

use super::lookup::{Found, Lookup, tools};
use crate::tokens::{Kind, Tokens};

/// Such a call.
#[derive(Debug)]
pub(crate) struct Unmade<'a> {
    pub(crate) found: Found<'a>,
    /// Its bytes in the text, without the `;`.
    pub(crate) range: Range<usize>,
}

/// The calls among `tokens` that are never made: only those with their module, since another function may have the
/// name of a tool.
pub(crate) fn unmade<'a>(tokens: &Tokens<'_>, lookup: &Lookup<'a>) -> Vec<Unmade<'a>> {
    let found = tokens.words().filter_map(|(index, word)| {
        let module = lookup.module(tokens.qualifier(index))?;
        let start = index.checked_sub(3).filter(|start| begins(tokens, *start))?;
        let is_meant = |found: &Found<'a>| {
            found.tool.function == word || word.strip_suffix("Input") == Some(&found.tool.prefix)
        };
        let found = tools(module).find(is_meant)?;
        let last = end(tokens, index + 1)?;
        Some(Unmade { found, range: tokens.range(start).start..tokens.range(last).end })
    });
    let is_own =
        |name: &str| tokens.words().any(|(index, word)| word == "mod" && tokens.word(index + 1) == name);
    found.filter(|unmade| !is_own(&unmade.found.module.module)).collect()
}

/// Whether a statement can begin at a token.
fn begins(tokens: &Tokens<'_>, start: usize) -> bool {
    match start.checked_sub(1) {
        None => true,
        Some(before) => {
            tokens.is_sign(before, ';')
                || matches!(tokens.kind(before), Some(Kind::Open('{') | Kind::Close('{')))
        }
    }
}

/// The last token before the `;` that ends the call whose arguments begin at `first`, if only setters follow them.
fn end(tokens: &Tokens<'_>, first: usize) -> Option<usize> {
    // The arguments' own struct is no call before `.call()`.
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
