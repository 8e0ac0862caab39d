//! Corrects mistakes with a known fix, before compiling the snippet once more.
//!
//! An uncertain fix is never applied: the compiler's message is returned instead. What is applied are rustc's
//! suggestions with only one possible meaning (`repair/suggested.rs`) and fixes that follow from how tools are called
//! (`repair/own.rs`). Names are never changed: a tool with a similar name does something else.
//! docs/internals/corrections.md lists all corrections.

mod awaited;
mod capture;
mod certain;
mod dates;
mod edit;
mod fields;
mod finish;
mod inference;
mod mismatch;
mod mutability;
mod numbers;
mod opening;
mod order;
mod origins;
mod overflow;
mod own;
mod parts;
mod questioned;
mod rounds;
mod suggested;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;
use crate::hints::imports;
use crate::hints::lookup::Lookup;
use crate::hints::{self, Slip};
use crate::lexical::is_of_word;
use crate::messages::{Source, errors, warnings};
use crate::snippet::Snippet;
use crate::splice::{Changes, Corrected, Finish, Spliced};
use crate::tokens::Tokens;
use edit::Edit;
use inference::Stated;
use opening::Opening;
use origins::Origins;

/// A changed line of the snippet, as an outcome has it: fields may be added, but not renamed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// Line of the snippet, from 1.
    pub line: u32,
    /// The original line.
    pub before: String,
    /// The line as compiled.
    pub after: String,
}

/// A corrected snippet.
#[derive(Debug, Clone)]
pub struct Repaired {
    /// The corrected text of the snippet.
    pub text: String,
    /// The text that is compiled instead of the snippet.
    pub changes: Changes,
    /// The changed lines.
    pub fixes: Vec<Fix>,
    /// The replacements in the snippet's text, in order.
    edits: Vec<Edit>,
    copying: Copying,
    /// Whether types of arguments are stated.
    states_types: bool,
}

/// The effect of corrections on variables and their values.
#[derive(Debug, Clone, Copy, Default)]
struct Copying {
    /// A variable becomes mutable.
    makes_mut: bool,
    /// A value is copied.
    copies: bool,
}

/// Maximum number of corrections of one text: more than this is not a slip.
const EDITS_LIMIT: usize = 500;

/// Errors of values that outlive what they borrow from.
const BORROWED: [&str; 3] = ["E0515", "E0597", "E0716"];

/// The texts to compile after the compiler's `messages` about `snippet`, as spliced; the first that compiles is used.
#[must_use]
pub fn attempts(
    messages: &str,
    snippet: &Snippet,
    spliced: &Spliced,
    catalog: &dyn Catalog,
) -> Vec<Repaired> {
    let repaired = repair(messages, snippet, spliced, catalog);
    let finishes = finish::others(messages, snippet, spliced);
    let base = repaired.clone().unwrap_or_else(|| applied(&snippet.text, Vec::new(), String::new()));
    let mut attempts = with_finishes(repaired.is_some(), base, finishes);
    attempts.extend(other_types(messages, snippet, spliced, catalog, repaired.as_ref()));
    attempts
}

/// The same corrections, with the other types for arguments; `None` if there are none.
fn other_types(
    messages: &str,
    snippet: &Snippet,
    spliced: &Spliced,
    catalog: &dyn Catalog,
    likely: Option<&Repaired>,
) -> Option<Repaired> {
    let likely = likely.filter(|repaired| repaired.states_types)?;
    let other = repair_with(messages, snippet, spliced, catalog, Stated::Other)?;
    (other.text != likely.text).then_some(other)
}

/// The texts to compile after the compiler's `messages` about `corrected`, as spliced, which is `snippet` as
/// `repaired`: the same with more corrections. Some messages only appear when others are gone.
#[must_use]
pub fn further(
    messages: &str,
    snippet: &Snippet,
    repaired: &Repaired,
    corrected: &Snippet,
    spliced: &Spliced,
    catalog: &dyn Catalog,
) -> Vec<Repaired> {
    let next = repair(messages, corrected, spliced, catalog);
    let finishes = finish::others(messages, corrected, spliced);
    let is_repaired = next.is_some();
    let other = other_types(messages, corrected, spliced, catalog, next.as_ref());
    let base = match next {
        Some(next) => repaired.then(&snippet.text, &next),
        None => Some(repaired.clone()),
    };
    let mut attempts = base.map_or_else(Vec::new, |base| with_finishes(is_repaired, base, finishes));
    attempts.extend(other.and_then(|other| repaired.then(&snippet.text, &other)));
    attempts
}

/// `base`, if it was repaired, and variants of `base` that take the last value in other ways.
fn with_finishes(is_repaired: bool, base: Repaired, finishes: Vec<Finish>) -> Vec<Repaired> {
    let finishes: Vec<Repaired> = finishes
        .into_iter()
        .map(|finish| Repaired { changes: Changes { finish, ..base.changes.clone() }, ..base.clone() })
        .collect();
    is_repaired.then_some(base).into_iter().chain(finishes).collect()
}

impl Repaired {
    /// The number of corrections.
    #[must_use]
    pub fn count(&self) -> usize {
        self.edits.len() + self.changes.imports.matches("use ").count()
    }

    /// Combines this with the changes of `next`; `text` is the snippet's.
    fn then(&self, text: &str, next: &Repaired) -> Option<Repaired> {
        let copying = Copying {
            makes_mut: self.copying.makes_mut || next.copying.makes_mut,
            copies: self.copying.copies || next.copying.copies,
        };
        let edits = rounds::composed(&self.text, &self.edits, &next.edits);
        if copying.loses_changes() || edits.len() > EDITS_LIMIT {
            return None;
        }
        let imports = format!("{}{}", self.changes.imports, next.changes.imports);
        let mut both = applied(text, edits, imports);
        both.changes.tail_in_place = self.changes.tail_in_place || next.changes.tail_in_place;
        both.changes.finish = self.changes.finish;
        both.copying = copying;
        both.states_types = next.states_types;
        Some(both)
    }
}

/// Applies the suggestions in the compiler's `messages` about `snippet`, as spliced; `None` if there is nothing to
/// correct.
pub(crate) fn repair(
    messages: &str,
    snippet: &Snippet,
    spliced: &Spliced,
    catalog: &dyn Catalog,
) -> Option<Repaired> {
    repair_with(messages, snippet, spliced, catalog, Stated::Likely)
}

/// The same, with types of arguments `stated` in one way.
fn repair_with(
    messages: &str,
    snippet: &Snippet,
    spliced: &Spliced,
    catalog: &dyn Catalog,
    stated: Stated,
) -> Option<Repaired> {
    let text = snippet.text.as_str();
    let source = Source::new(text, spliced);
    let tokens = Tokens::read(text);
    let lookup = Lookup::new(catalog, &tokens);
    let origins = Origins::read(text);
    let mut collected = Collected::default();
    let mut tail_in_place = false;
    let mut states_types = false;
    collected.add_unmade(&tokens, &lookup);
    for message in errors(messages).take(EDITS_LIMIT) {
        tail_in_place |= BORROWED.contains(&message.code());
        let slip = Slip::new(&message, source, &tokens, &lookup);
        if let Some(path) =
            imports::candidates(&slip).filter(|found| found.sure).and_then(|mut found| found.paths.pop())
        {
            collected.imports.insert(path);
        } else if let Some(edits) = inference::edits(&slip, stated) {
            states_types = true;
            collected.add(edits);
        } else if let Some(edits) = of_values(&slip) {
            collected.add(edits);
        } else if let Some(edits) = own::edits(&slip, snippet.tail.as_ref()) {
            collected.add(edits);
        } else if let Some(edits) =
            message.children.iter().find_map(|child| suggested::edits(&slip, &origins, child))
        {
            collected.add(edits);
        }
    }
    let Collected { edits, openings, imports } = collected;
    let mut edits = edits;
    add(
        &mut edits,
        opening::edits(&tokens, openings, |statement| !lookup.within(&tokens, statement).is_empty()),
    );
    if (edits.is_empty() && imports.is_empty() && !tail_in_place) || edits.len() > EDITS_LIMIT {
        return None;
    }
    let copying = Copying::of(&tokens, &edits);
    if copying.loses_changes() {
        return None;
    }
    let imports: String = imports.iter().map(|path| format!("use {path}; ")).collect();
    let mut repaired = applied(text, edits, imports);
    repaired.changes.tail_in_place = tail_in_place;
    repaired.copying = copying;
    repaired.states_types = states_types;
    Some(repaired)
}

/// The edits of a message about a value that is written in another form than it is needed.
fn of_values(slip: &Slip<'_>) -> Option<Vec<Edit>> {
    overflow::edits(slip)
        .or_else(|| questioned::edits(slip))
        .or_else(|| fields::edits(slip))
        .or_else(|| dates::edits(slip))
}

impl Copying {
    fn of(tokens: &Tokens<'_>, edits: &[Edit]) -> Self {
        let makes_mut = |edit: &Edit| {
            let before = tokens.at(edit.start).checked_sub(1);
            edit.text == "mut " && before.is_some_and(|before| tokens.word(before) == "let")
        };
        let copies = |edit: &Edit| {
            matches!(edit.text.trim(), "move" | ".clone()" | ".cloned()" | ".copied()" | ".to_vec()")
        };
        Copying { makes_mut: edits.iter().any(makes_mut), copies: edits.iter().any(copies) }
    }

    /// Whether some corrections make a variable mutable and others copy values: each is certain alone, but together
    /// they may lose a change.
    fn loses_changes(self) -> bool {
        self.makes_mut && self.copies
    }
}

/// Whether the compiler warns that a correction in the `corrected` text drops a value that must be used, or that the
/// changes of a variable are never read that a correction made mutable.
#[must_use]
pub fn drops(messages: &str, corrected: &str, spliced: &Spliced, changes: &Changes) -> bool {
    let source = Source::new(corrected, spliced);
    let is_of_correction = |range: std::ops::Range<usize>| {
        changes.corrected.iter().any(|place| (range.start..=range.end).contains(&place.at))
    };
    let is_made_mutable = |name: &str| {
        changes.corrected.iter().any(|place| {
            let added = corrected.get(place.at..).and_then(|rest| rest.strip_prefix("mut "));
            added.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| !rest.starts_with(is_of_word))
        })
    };
    warnings(messages).any(|message| match message.code() {
        "unused_must_use" => {
            message.primary().and_then(|span| source.range(span)).is_some_and(is_of_correction)
        }
        "unused_variables" | "unused_assignments" => {
            message.is_lost_change() && message.quoted().first().is_some_and(|name| is_made_mutable(name))
        }
        _ => false,
    })
}

/// The text to compile instead of a `snippet` that compiles, as spliced: it awaits the calls that are statements and
/// would never be made, found by the compiler's `messages`. Arguments alone are not a call, and a call in a variable may
/// be prepared and not meant to be made.
#[must_use]
pub fn unmade(messages: &str, snippet: &Snippet, spliced: &Spliced, catalog: &dyn Catalog) -> Vec<Repaired> {
    let calls = hints::unmade::warned(messages, Source::new(&snippet.text, spliced), catalog);
    let mut edits = Vec::new();
    if !calls.iter().any(|call| call.is_input) {
        for call in calls.into_iter().take(EDITS_LIMIT) {
            add(&mut edits, vec![Edit::insert(call.range.end, ".await?")]);
        }
    }
    let computed = overflow::computed(&snippet.text, &Tokens::read(&snippet.text));
    let mut attempts = vec![edits.clone()];
    if !computed.is_empty() {
        add(&mut edits, computed.clone());
        attempts.insert(0, edits);
        attempts.push(computed);
    }
    attempts.dedup();
    let repaired = |edits: Vec<Edit>| applied(&snippet.text, edits, String::new());
    attempts.into_iter().filter(|edits| !edits.is_empty()).map(repaired).collect()
}

/// `text` with `edits`, after `imports`.
fn applied(text: &str, mut edits: Vec<Edit>, imports: String) -> Repaired {
    edits.sort_by_key(|edit| edit.start);
    let mut repaired = text.to_owned();
    for edit in edits.iter().rev() {
        repaired.replace_range(edit.start..edit.end, &edit.text);
    }
    let mut corrected = Vec::new();
    // The net number of bytes that earlier edits have added.
    let mut shift = 0_isize;
    for edit in &edits {
        let before = text.get(edit.start..edit.end).unwrap_or("");
        corrected.push(Corrected {
            at: edit.start.saturating_add_signed(shift),
            added: edit.text.chars().count(),
            removed: before.chars().count(),
        });
        shift += edit.text.len().cast_signed() - before.len().cast_signed();
    }
    let fixes = fixes(text, &repaired, &imports);
    let changes = Changes { imports, corrected, ..Changes::default() };
    Repaired { text: repaired, changes, fixes, edits, copying: Copying::default(), states_types: false }
}

/// The corrections collected from the messages about a text.
#[derive(Default)]
struct Collected {
    edits: Vec<Edit>,
    openings: Vec<Opening>,
    imports: BTreeSet<String>,
}

impl Collected {
    fn add_unmade(&mut self, tokens: &Tokens<'_>, lookup: &Lookup<'_>) {
        let places = hints::unmade::unmade(tokens, lookup).into_iter().take(EDITS_LIMIT);
        self.edits.extend(places.map(|call| Edit::insert(call.range.end, ".await?")));
    }

    fn add(&mut self, edits: Vec<Edit>) {
        match &edits[..] {
            [only] if opening::is_opening(only) => {
                self.openings.push(Opening { at: only.start, text: only.text.clone() });
            }
            // Too many to be applied anyway.
            _ if self.edits.len() <= EDITS_LIMIT => add(&mut self.edits, edits),
            _ => {}
        }
    }
}

/// Adds a correction as a whole. If two have the same position, the first is used: they are often identical.
fn add(edits: &mut Vec<Edit>, more: Vec<Edit>) {
    if more.iter().all(|edit| edits.iter().all(|other| edit.end < other.start || other.end < edit.start)) {
        edits.extend(more);
    }
}

/// The lines that differ; imports go before the first.
fn fixes(before: &str, after: &str, imports: &str) -> Vec<Fix> {
    let lines = before.split('\n').zip(after.split('\n')).zip(1..);
    let mut fixes = Vec::new();
    for ((before, after), line) in lines {
        let after = if line == 1 { format!("{imports}{after}") } else { after.to_owned() };
        if before != after {
            fixes.push(Fix { line, before: before.to_owned(), after: after.trim_end().to_owned() });
        }
    }
    fixes
}

#[cfg(test)]
mod tests;
