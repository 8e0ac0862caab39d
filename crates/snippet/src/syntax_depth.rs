//! Bounds the parser's recursion: a snippet must not overflow the host's stack.
//!
//! [`crate::balance`] limits brackets. The rest are chains without brackets (`- - - 1`, `1 + 1 + 1`, `if … else if …`,
//! `A<A<A<…`), whose depth is at most the number of tokens since the last token that certainly ended an expression.

use proc_macro2::{Span, TokenStream, TokenTree};

use crate::balance::{self, Certainty};
use crate::syntax_error::SyntaxError;

/// Maximum nesting of brackets; the parser recurses on it.
pub const NESTING_LIMIT: usize = 128;

/// Maximum number of dependent tokens. Programs by people or models stay below a few hundred.
pub const CHAIN_LIMIT: usize = 2_000;

/// Maximum number of characters to show of text that is no token.
const TOKEN_SHOWN: usize = 20;

/// Stack size for parsing a snippet, in bytes; only touched pages use memory. The maximum measured per token is about
/// 34 KiB, for a `&` of a type in a parser without optimisation.
pub(crate) const STACK: usize = CHAIN_LIMIT * (64 << 10);

/// Calls `parse` on a thread with a stack of [`STACK`] bytes; `None` if there is no memory for it, or it panics.
///
/// The parser keeps every text it has read until its thread ends, so each text has its own thread.
pub(crate) fn on_parser_stack<T: Send>(parse: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let parser = std::thread::Builder::new().name("parser".to_owned()).stack_size(STACK);
        parser.spawn_scoped(scope, parse).ok()?.join().ok()
    })
}

/// The tokens of a text that is safe to parse.
pub(crate) fn tokens(text: &str) -> Result<TokenStream, SyntaxError> {
    let fault = balance::check(text, NESTING_LIMIT)?;
    let tokens = match (text.parse::<TokenStream>(), fault) {
        (Err(_), Some(fault)) => return Err(fault.error),
        (Ok(_), Some(fault)) if fault.certainty == Certainty::Refused => return Err(fault.error),
        (Ok(tokens), _) => tokens,
        (Err(error), None) => return Err(no_token(text, error.span())),
    };
    check(tokens.clone())?;
    Ok(tokens)
}

/// The error about text in which no token begins.
fn no_token(text: &str, at: Span) -> SyntaxError {
    let begin = text.get(at.byte_range().start..).unwrap_or_default();
    let word: String = begin.chars().take_while(|c| !c.is_whitespace()).take(TOKEN_SHOWN).collect();
    let message = if word.is_empty() {
        "the text ends within a token".to_owned()
    } else {
        format!("`{word}` is not a Rust token")
    };
    SyntaxError::at(message, at.start())
}

/// Checks that no chain is longer than [`CHAIN_LIMIT`].
fn check(tokens: TokenStream) -> Result<(), SyntaxError> {
    walk(tokens, 0)
}

fn walk(tokens: TokenStream, base: usize) -> Result<(), SyntaxError> {
    let mut start = base;
    let mut depth = base;
    let mut after_block = false;
    for token in tokens {
        match end(&token, after_block) {
            End::Statement => (start, depth) = (base, base),
            End::Item => depth = start,
            End::Nothing => depth += 1,
        }
        // Commas within `<…>` and `|…|` end nothing, and what these signs mean is unknown before parsing.
        if is(&token, &['<', '|']) {
            start += 1;
        }
        if depth > CHAIN_LIMIT {
            let message =
                format!("more than {CHAIN_LIMIT} tokens in one expression; divide it into statements");
            return Err(SyntaxError::at(message, token.span().start()));
        }
        after_block =
            matches!(&token, TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::Brace);
        if let TokenTree::Group(group) = token {
            walk(group.stream(), depth)?;
        }
    }
    Ok(())
}

/// The construct that a token certainly ends.
enum End {
    Nothing,
    Item,
    Statement,
}

fn end(token: &TokenTree, after_block: bool) -> End {
    match token {
        TokenTree::Punct(mark) if mark.as_char() == ';' => End::Statement,
        TokenTree::Punct(mark) if mark.as_char() == ',' => End::Item,
        TokenTree::Punct(mark) if mark.as_char() == '#' && after_block => End::Statement,
        TokenTree::Ident(word) if after_block && word != "else" && word != "as" => End::Statement,
        TokenTree::Literal(_) if after_block => End::Statement,
        _ => End::Nothing,
    }
}

fn is(token: &TokenTree, marks: &[char]) -> bool {
    matches!(token, TokenTree::Punct(mark) if marks.contains(&mark.as_char()))
}

#[cfg(test)]
mod tests {
    use super::{CHAIN_LIMIT, check};

    fn passes(text: &str) -> bool {
        check(text.parse().unwrap()).is_ok()
    }

    #[test]
    fn tokens_that_cannot_nest_do_not_count() {
        assert!(passes(&"1,".repeat(CHAIN_LIMIT)));
        assert!(passes(&"let x = a < b; ".repeat(CHAIN_LIMIT)));
        assert!(passes(&"fn a() {} ".repeat(CHAIN_LIMIT)));
        assert!(passes(&format!("match x {{ {} }}", "1 => {} ".repeat(CHAIN_LIMIT))));
    }

    #[test]
    fn chains_are_counted_across_brackets() {
        for link in ["-", "1 +", "if a {} else ", "A<u8, ", "|a, b| ", "f()", "return "] {
            assert!(!passes(&link.repeat(CHAIN_LIMIT + 1)), "{link}");
        }
        let half = "-".repeat(CHAIN_LIMIT / 2);
        assert!(!passes(&format!("{half} (1, {half} 1)")));
        assert!(passes(&format!("{half} 1; {half} 1")));
    }
}
