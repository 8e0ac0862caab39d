//! A compiler message with the snippet's text and the catalog: the input of hints and corrections.

use super::lookup::{Found, Known, Lookup};
use crate::messages::{Message, Source, Span};
use crate::tokens::Tokens;

/// A compiler message, with its resolved position.
pub(crate) struct Slip<'a> {
    pub(crate) message: &'a Message,
    pub(crate) source: Source<'a>,
    pub(crate) tokens: &'a Tokens<'a>,
    pub(crate) lookup: &'a Lookup<'a>,
    /// The text at the message's position; empty outside the snippet.
    pub(crate) name: &'a str,
    /// The first token at the position; the last token if outside.
    pub(crate) at: usize,
}

impl<'a> Slip<'a> {
    pub(crate) fn new(
        message: &'a Message,
        source: Source<'a>,
        tokens: &'a Tokens<'a>,
        lookup: &'a Lookup<'a>,
    ) -> Self {
        let primary = message.primary();
        let name = primary.map_or("", |span| source.slice(span));
        let name = name.strip_prefix("r#").unwrap_or(name);
        let range = primary.and_then(|span| source.use_range(span));
        let at = range.map_or(tokens.len().saturating_sub(1), |range| tokens.at(range.start));
        Slip { message, source, tokens, lookup, name, at }
    }

    /// Whether the name at the position is unqualified: neither in a module nor a member of a value.
    pub(crate) fn is_bare(&self) -> bool {
        let before = self.at.checked_sub(1);
        self.tokens.qualifier(self.at).is_empty()
            && !before.is_some_and(|before| self.tokens.is_sign(before, '.'))
    }

    /// A span whose label contains `text`.
    pub(crate) fn labelled(&self, text: &str) -> Option<&'a Span> {
        self.message.spans.iter().find(|span| span.label.as_deref().is_some_and(|label| label.contains(text)))
    }

    /// Whether a note or suggestion contains `text`.
    pub(super) fn notes(&self, text: &str) -> bool {
        self.message.children.iter().any(|child| child.message.contains(text))
    }

    /// The tools named in the statement at the position.
    pub(super) fn nearby(&self) -> Vec<Found<'a>> {
        self.lookup.within(self.tokens, self.tokens.statement(self.at))
    }

    /// The call whose type is `name`.
    pub(crate) fn call(&self, name: &str) -> Option<Found<'a>> {
        match self.lookup.known(name) {
            Known::Call(found) if !name.starts_with('&') => Some(found),
            _ => None,
        }
    }
}
