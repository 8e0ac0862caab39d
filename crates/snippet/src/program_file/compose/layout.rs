//! Tokens as text whose lines are those that the tokens were read from.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// The text of `tokens`. A token that was not read from a text stays in the line of the one before.
pub(super) fn lines(tokens: TokenStream) -> String {
    let mut layout = Layout { text: String::new(), line: 1 };
    layout.all(tokens);
    layout.text
}

struct Layout {
    text: String,
    /// The present line.
    line: usize,
}

impl Layout {
    fn all(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    self.put(open, group.span_open().start().line, true);
                    self.all(group.stream());
                    self.put(close, group.span_close().start().line, true);
                }
                TokenTree::Punct(punct) => {
                    let is_last = punct.spacing() == Spacing::Alone;
                    self.put(&punct.to_string(), punct.span().start().line, is_last);
                }
                token => self.put(&token.to_string(), token.span().start().line, true),
            }
        }
    }

    fn put(&mut self, token: &str, line: usize, is_separate: bool) {
        for _ in self.line..line {
            self.text.push('\n');
        }
        self.text.push_str(token);
        self.line = self.line.max(line) + token.matches('\n').count();
        if is_separate {
            self.text.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn every_token_keeps_its_line() {
        let text = "fn a<'a>(x: &'a str) -> u8 {\n\n    /// Adds.\n    b(x,\n \"c\nd\", r#\"e\n\"#)\n    .f()?; 1..=2;\n}\nstruct G;";
        let laid_out = lines(text.parse().unwrap());
        assert_eq!(laid_out.lines().count(), text.lines().count(), "{laid_out}");
        for (line, words) in [(1, "fn a"), (4, "b ("), (6, "d\""), (8, ". f"), (10, "struct G")] {
            assert!(laid_out.lines().nth(line - 1).unwrap().contains(words), "{line}: {laid_out}");
        }
        let again: proc_macro2::TokenStream = laid_out.parse().unwrap();
        let plain: proc_macro2::TokenStream = text.parse().unwrap();
        assert_eq!(again.to_string(), plain.to_string());
    }
}
