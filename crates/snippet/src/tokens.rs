//! A snippet's tokens as a flat list with positions, to interpret messages and make corrections.

use std::ops::Range;
use std::thread::ScopedJoinHandle;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// A character of an operator.
    Sign(char),
    /// A literal.
    Literal,
    /// An opening bracket, by its character.
    Open(char),
    /// A closing bracket, by the character that opens it.
    Close(char),
}

/// A token and its byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    kind: Kind,
    range: Range<usize>,
}

/// The tokens of a text; indices out of range have no kind and no text.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    text: &'a str,
    all: Vec<Token>,
}

impl<'a> Tokens<'a> {
    /// The tokens of `text`; empty if it can't be tokenized.
    ///
    /// Runs on its own thread: the parser keeps every text it has read until the thread ends.
    pub(crate) fn read(text: &'a str) -> Self {
        let all = std::thread::scope(|scope| {
            let reader = std::thread::Builder::new().spawn_scoped(scope, || flatten(text));
            reader.map(ScopedJoinHandle::join).ok().and_then(Result::ok).unwrap_or_default()
        });
        Tokens { text, all }
    }

    /// Like [`Tokens::read`], for a thread that is about to end.
    pub(crate) fn of_this_thread(text: &'a str) -> Self {
        Tokens { text, all: flatten(text) }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn kind(&self, index: usize) -> Option<Kind> {
        self.all.get(index).map(|token| token.kind)
    }

    /// The byte range of a token; out of range, an empty range at the end of the text.
    pub(crate) fn range(&self, index: usize) -> Range<usize> {
        self.all.get(index).map_or(self.text.len()..self.text.len(), |token| token.range.clone())
    }

    /// A name or keyword without `r#`; empty for any other token.
    pub(crate) fn word(&self, index: usize) -> &'a str {
        match self.kind(index) {
            Some(Kind::Word) => {
                let word = self.text.get(self.range(index)).unwrap_or("");
                word.strip_prefix("r#").unwrap_or(word)
            }
            _ => "",
        }
    }

    /// A literal as written.
    pub(crate) fn literal_text(&self, index: usize) -> Option<&'a str> {
        self.text.get(self.range(index)).filter(|_| self.kind(index) == Some(Kind::Literal))
    }

    pub(crate) fn is_sign(&self, index: usize, sign: char) -> bool {
        self.kind(index) == Some(Kind::Sign(sign))
    }

    /// The word `back` tokens before `index`; empty if that is no word.
    pub(crate) fn word_before(&self, index: usize, back: usize) -> &'a str {
        index.checked_sub(back).map_or("", |before| self.word(before))
    }

    /// Whether one of the `signs` is `back` tokens before `index`.
    pub(crate) fn is_sign_before(&self, index: usize, back: usize, signs: &[char]) -> bool {
        index.checked_sub(back).is_some_and(|before| signs.iter().any(|sign| self.is_sign(before, *sign)))
    }

    /// Whether the variable at `index` is declared there, by `let` or `let mut`.
    pub(crate) fn is_declared(&self, index: usize) -> bool {
        let before = self.word_before(index, 1);
        before == "let" || (before == "mut" && self.word_before(index, 2) == "let")
    }

    /// The first token that ends after `offset`.
    pub(crate) fn at(&self, offset: usize) -> usize {
        self.all.partition_point(|token| token.range.end <= offset)
    }

    /// All words with their indices.
    pub(crate) fn words(&self) -> impl Iterator<Item = (usize, &'a str)> + '_ {
        (0..self.len()).map(|index| (index, self.word(index))).filter(|(_, word)| !word.is_empty())
    }

    /// The keyword that defines the type `name` in the snippet: `struct` or `enum`.
    pub(crate) fn definition(&self, name: &str) -> Option<&'a str> {
        let mut named = self.words().filter(|(_, word)| *word == name);
        named.find_map(|(index, _)| {
            Some(self.word_before(index, 1)).filter(|word| matches!(*word, "enum" | "struct"))
        })
    }

    /// The closing bracket for the one at `open`.
    pub(crate) fn close(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for index in open..self.len() {
            match self.kind(index)? {
                Kind::Open(_) => depth += 1,
                Kind::Close(_) => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(index);
            }
        }
        None
    }

    /// The opening bracket for the one at `close`.
    pub(crate) fn open(&self, close: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for index in (0..=close).rev() {
            match self.kind(index)? {
                Kind::Close(_) => depth += 1,
                Kind::Open(_) => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(index);
            }
        }
        None
    }

    /// The opening bracket around the token at `index`.
    pub(crate) fn enclosing(&self, index: usize) -> Option<usize> {
        let mut index = index.min(self.len());
        while let Some(before) = index.checked_sub(1) {
            index = match self.kind(before)? {
                Kind::Open(_) => return Some(before),
                Kind::Close(_) => self.open(before)?,
                _ => before,
            };
        }
        None
    }

    /// The path or literal name before a `{` at `open`, as in `Input {`; empty for a block.
    fn struct_name(&self, open: usize) -> &'a str {
        let word = open.checked_sub(1).map_or("", |before| self.word(before));
        if word.starts_with(char::is_uppercase) { word } else { "" }
    }

    /// The statement around the token at `index`, outside the brackets of its calls and literals.
    pub(crate) fn statement(&self, index: usize) -> Range<usize> {
        let index = index.min(self.len().saturating_sub(1));
        let mut start = index;
        while let Some(before) = start.checked_sub(1) {
            match self.kind(before) {
                Some(Kind::Sign(';')) => break,
                Some(Kind::Open('{')) if self.struct_name(before).is_empty() => break,
                Some(Kind::Close(_)) => match self.open(before) {
                    Some(open) => start = open,
                    None => break,
                },
                _ => start = before,
            }
        }
        let mut end = index;
        while end < self.len() {
            match self.kind(end) {
                Some(Kind::Sign(';')) => break,
                Some(Kind::Close('{'))
                    if self.open(end).is_none_or(|open| self.struct_name(open).is_empty()) =>
                {
                    break;
                }
                Some(Kind::Open(_)) => match self.close(end) {
                    Some(close) => end = close + 1,
                    None => break,
                },
                _ => end += 1,
            }
        }
        start..end
    }

    /// Whether the word at `index` is a plain variable or function name, not a field or part of a path.
    pub(crate) fn is_plain(&self, index: usize) -> bool {
        // `0..a` is not a field.
        let is_member = self.is_sign_before(index, 1, &['.']) && !self.is_sign_before(index, 2, &['.']);
        let follows_path = self.is_sign_before(index, 1, &[':']) && self.is_sign_before(index, 2, &[':']);
        let in_path = follows_path || !self.member(index).is_empty();
        !self.word(index).is_empty() && !is_member && !in_path && !self.is_sign_before(index, 1, &['\''])
    }

    /// The word before the `::` before `index`: `demo` in `demo::echo`.
    pub(crate) fn qualifier(&self, index: usize) -> &'a str {
        match index.checked_sub(3) {
            Some(before) if self.is_sign(before + 1, ':') && self.is_sign(before + 2, ':') => {
                self.word(before)
            }
            _ => "",
        }
    }

    /// The word after the `::` after `index`.
    pub(crate) fn member(&self, index: usize) -> &'a str {
        if self.is_sign(index + 1, ':') && self.is_sign(index + 2, ':') { self.word(index + 3) } else { "" }
    }

    /// Whether `<`, `>`, `<=` or `>=` is before the token at `index`, other than as the end of a type or an arrow.
    pub(crate) fn follows_order(&self, index: usize) -> bool {
        let is = |back: usize, signs: &[char]| self.is_sign_before(index, back, signs);
        let are_joined = |back: usize| {
            index
                .checked_sub(back + 1)
                .is_some_and(|first| self.range(first).end == self.range(first + 1).start)
        };
        let is_order = is(1, &['<', '>']) && !(is(2, &['=', '-']) && are_joined(1));
        is_order || (is(1, &['=']) && is(2, &['<', '>']) && are_joined(1))
    }
}

/// Flattens the tokens without recursion. The text was parsed before, so its nesting is bounded.
fn flatten(text: &str) -> Vec<Token> {
    let mut all = Vec::new();
    let Ok(stream) = text.parse::<TokenStream>() else { return all };
    let mut stack = vec![(stream.into_iter(), None)];
    while let Some((tokens, _)) = stack.last_mut() {
        match tokens.next() {
            Some(TokenTree::Group(group)) => {
                let bracket = bracket(group.delimiter());
                if let Some(bracket) = bracket {
                    all.push(Token { kind: Kind::Open(bracket), range: group.span_open().byte_range() });
                }
                let close = bracket.map(|bracket| Token {
                    kind: Kind::Close(bracket),
                    range: group.span_close().byte_range(),
                });
                stack.push((group.stream().into_iter(), close));
            }
            Some(token) => {
                let kind = match &token {
                    TokenTree::Ident(_) => Kind::Word,
                    TokenTree::Punct(sign) => Kind::Sign(sign.as_char()),
                    TokenTree::Literal(_) | TokenTree::Group(_) => Kind::Literal,
                };
                all.push(Token { kind, range: token.span().byte_range() });
            }
            None => {
                if let Some((_, Some(close))) = stack.pop() {
                    all.push(close);
                }
            }
        }
    }
    all
}

fn bracket(delimiter: Delimiter) -> Option<char> {
    match delimiter {
        Delimiter::Parenthesis => Some('('),
        Delimiter::Brace => Some('{'),
        Delimiter::Bracket => Some('['),
        Delimiter::None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Tokens;

    /// The statement around the first `at` in `text`.
    #[track_caller]
    fn statement(text: &str, at: &str, expected: &str) {
        let tokens = Tokens::read(text);
        let statement = tokens.statement(tokens.at(text.find(at).unwrap()));
        let bytes = tokens.range(statement.start).start..tokens.range(statement.end - 1).end;
        assert_eq!(&text[bytes], expected, "{text}");
    }

    #[test]
    fn a_statement_spans_lines_and_is_outside_its_brackets() {
        statement("a;\ndemo::list()\n  .limit(x)\n  .await?; b", "x", "demo::list()\n  .limit(x)\n  .await?");
        statement(
            "let y = demo::Input { a: 1, b: f([x]) }.call(); 1",
            "x",
            "let y = demo::Input { a: 1, b: f([x]) }.call()",
        );
        statement("for i in 0..3 { let a = 1; f(x) } 2", "x", "f(x)");
        statement("x", "x", "x");
        statement("f(|a| { g(); h(x) })", "x", "h(x)");
        statement("f(async move { x.y }).await", "f", "f(async move { x.y }).await");
    }

    #[test]
    fn words_know_their_paths() {
        let tokens = Tokens::read("a.b; c::d; 'e: loop { r#f }");
        let words: Vec<&str> = tokens.words().map(|(_, word)| word).collect();
        assert_eq!(words, ["a", "b", "c", "d", "e", "loop", "f"]);
        let plain = tokens.words().filter(|(index, _)| tokens.is_plain(*index)).map(|(_, word)| word);
        assert_eq!(plain.collect::<Vec<_>>(), ["a", "loop", "f"]);
        let (index, _) = tokens.words().find(|(_, word)| *word == "d").unwrap();
        assert_eq!((tokens.qualifier(index), tokens.member(index - 3)), ("c", "d"));
        assert_eq!(Tokens::read("").statement(3), 0..0);
    }
}
