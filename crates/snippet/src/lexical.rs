//! Names what is no Rust token, with what to write instead: escapes, text in single quotes, characters that look like
//! others or like nothing.

/// Maximum number of characters of a literal to show in a message.
const SHOWN: usize = 60;

/// Describes the fault of a character outside of strings and comments; `None` if it may be part of Rust.
pub(crate) fn character(c: char) -> Option<String> {
    let code = format!("U+{:04X}", u32::from(c));
    Some(match c {
        '`' => "a backtick is not Rust: write a string as `\"…\"`, and `format!(\"{x}\")` to insert values".to_owned(),
        '\\' => "a `\\` can only be in a string or character; a statement may continue on the next line without it".to_owned(),
        _ if c.is_ascii_control() && !c.is_ascii_whitespace() && c != '\u{b}' => {
            format!("the control character {code} is not Rust: remove it")
        }
        _ if c.is_ascii() || is_rust_space(c) || c.is_alphanumeric() => return None,
        _ if is_invisible(c) => format!("here is an invisible character, {code}{}: remove it", named(c)),
        _ if c.is_whitespace() => format!("this space is {code}{}, not a plain space: write ` `", named(c)),
        _ => match plain(c) {
            Some(plain) => format!("`{c}` ({code}) is not Rust: write `{plain}`"),
            None => format!("`{c}` ({code}) can only be in a string, a character or a comment"),
        },
    })
}

/// Whether a character can be in a word.
pub(crate) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// White space of Rust beyond ASCII (The Rust Reference, "Whitespace").
fn is_rust_space(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
}

/// Whether this is a space that the compiler refuses, although the parser takes it for one.
pub(crate) fn is_foreign_space(c: char) -> bool {
    c.is_whitespace() && !c.is_ascii() && !is_rust_space(c)
}

fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180e}'
            | '\u{200b}'..='\u{200d}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// The name of a character that can't be seen, in brackets.
fn named(c: char) -> &'static str {
    match c {
        '\u{a0}' => " (no-break space)",
        '\u{ad}' => " (soft hyphen)",
        '\u{200b}' => " (zero-width space)",
        '\u{200c}' => " (zero-width non-joiner)",
        '\u{200d}' => " (zero-width joiner)",
        '\u{202f}' => " (narrow no-break space)",
        '\u{2060}' => " (word joiner)",
        '\u{3000}' => " (ideographic space)",
        '\u{feff}' => " (byte order mark)",
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => " (it changes the direction of text)",
        _ => "",
    }
}

/// The Rust for a typographic character.
fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        '“' | '”' | '„' | '‟' | '«' | '»' | '″' | '＂' | '〝' | '〞' => "\"",
        '‘' | '’' | '‚' | '‛' | '′' | '´' | '＇' | '‹' | '›' => "'",
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '－' => "-",
        '…' => "...",
        '→' | '⟶' => "->",
        '⇒' | '⟹' => "=>",
        '≤' | '⩽' => "<=",
        '≥' | '⩾' => ">=",
        '≠' => "!=",
        '≡' | '＝' => "=",
        '×' | '∗' | '⋅' | '·' | '＊' => "*",
        '÷' | '⁄' | '∕' | '／' => "/",
        '∧' => "&&",
        '∨' => "||",
        '¬' | '！' => "!",
        '（' => "(",
        '）' => ")",
        '［' | '【' => "[",
        '］' | '】' => "]",
        '｛' => "{",
        '｝' => "}",
        '，' | '、' => ",",
        '；' | ';' => ";",
        '：' | '∶' => ":",
        '．' | '。' => ".",
        '＋' => "+",
        '＜' | '〈' => "<",
        '＞' | '〉' => ">",
        '＆' => "&",
        '｜' | '¦' => "|",
        '？' => "?",
        '％' => "%",
        '＃' => "#",
        '＿' => "_",
        _ => return None,
    })
}

/// The typographic quote in a line, which closes no string.
pub(crate) fn typographic_quote(line: &str) -> Option<char> {
    line.chars().find(|c| plain(*c) == Some("\""))
}

/// An escape in a string or character, after its `\`.
pub(crate) struct Escape<'a> {
    /// The text after the `\`.
    pub(crate) after: &'a str,
    /// Whether it is in a string of bytes.
    pub(crate) in_bytes: bool,
}

impl Escape<'_> {
    /// Returns its fault, with the right form; `None` if it is valid.
    pub(crate) fn fault(&self) -> Option<EscapeFault> {
        let mut characters = self.after.chars();
        let first = characters.next()?;
        let hex: String = characters.clone().take_while(char::is_ascii_hexdigit).take(8).collect();
        let is_braced = characters.next() == Some('{');
        let fault = |length: usize, instead: String| {
            let written: String = self.after.chars().take(length).collect();
            Some(EscapeFault { written: format!("\\{written}"), instead: Some(instead) })
        };
        match first {
            'n' | 'r' | 't' | '\\' | '0' | '\'' | '"' | '\n' => None,
            '\r' if self.after.starts_with("\r\n") => None,
            'x' if hex.len() >= 2 && (self.in_bytes || hex.as_bytes()[0] < b'8') => None,
            'x' if hex.len() >= 2 => fault(3, format!("\\u{{{}}}", &hex[..2])),
            'u' if is_braced && !self.in_bytes => None,
            'u' if hex.len() >= 4 => fault(5, format!("\\u{{{}}}", &hex[..4])),
            'U' if hex.len() == 8 => fault(9, format!("\\u{{{}}}", hex.trim_start_matches('0'))),
            'e' => fault(1, "\\u{1b}".to_owned()),
            '/' | '$' | '`' | '{' | '}' => fault(1, first.to_string()),
            _ => Some(EscapeFault { written: format!("\\{first}"), instead: None }),
        }
    }
}

/// An escape that Rust does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EscapeFault {
    /// The escape as written.
    written: String,
    /// The Rust for it; without one, a `\` is meant.
    instead: Option<String>,
}

impl EscapeFault {
    /// The message about it in the string whose text between the quotes is `content`.
    pub(crate) fn in_string(&self, content: &str, in_bytes: bool) -> String {
        let EscapeFault { written, instead } = self;
        if let Some(instead) = instead {
            return format!("Rust has no escape `{written}`: write `{instead}`");
        }
        let prefix = if in_bytes { "br" } else { "r" };
        if !is_raw(content, in_bytes) {
            return format!("Rust has no escape `{written}`: write `\\{written}`");
        }
        let raw = if content.chars().nth(SHOWN).is_some() { "…" } else { content };
        format!("Rust has no escape `{written}`: write a raw string, `{prefix}\"{raw}\"`, or `\\{written}`")
    }

    /// The message about it in a character.
    pub(crate) fn in_character(&self) -> String {
        let EscapeFault { written, instead } = self;
        let instead = instead.clone().unwrap_or_else(|| written.trim_start_matches('\\').to_owned());
        format!("Rust has no escape `{written}`: write `{instead}`, or `\\\\` for the character `\\`")
    }
}

/// Whether each `\` in a string is meant as that character, so that a raw string has the meant value.
fn is_raw(content: &str, in_bytes: bool) -> bool {
    content.match_indices('\\').all(|(at, _)| {
        let escape = Escape { after: content.get(at + 1..).unwrap_or_default(), in_bytes };
        escape.fault().is_some_and(|fault| fault.instead.is_none())
    })
}

/// The message about text in single quotes; `written` is between them.
pub(crate) fn quoted_text(written: &str) -> String {
    if written.is_empty() {
        return "`''` is no character: an empty string is `\"\"`".to_owned();
    }
    let shown = if written.chars().nth(SHOWN).is_some() { "…" } else { written };
    let inside = shown.replace('"', "\\\"");
    format!("`'{shown}'` is not one character: a string has double quotes, write `\"{inside}\"`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_named_with_their_replacement() {
        for (c, says) in [
            ('“', "`“` (U+201C) is not Rust: write `\"`"),
            ('’', "write `'`"),
            ('–', "write `-`"),
            ('…', "write `...`"),
            ('≤', "write `<=`"),
            ('（', "write `(`"),
            ('\u{200b}', "here is an invisible character, U+200B (zero-width space): remove it"),
            ('\u{feff}', "U+FEFF (byte order mark): remove it"),
            ('\u{202e}', "changes the direction of text"),
            ('\u{a0}', "this space is U+00A0 (no-break space), not a plain space"),
            ('😀', "`😀` (U+1F600) can only be in a string"),
            ('`', "a backtick is not Rust"),
            ('\\', "can only be in a string"),
            ('\u{1}', "control character U+0001"),
        ] {
            let message = character(c).unwrap();
            assert!(message.contains(says), "{message}");
        }
        for c in ['a', 'é', '字', '_', '$', ' ', '\n', '\u{2028}', '\u{200e}'] {
            assert_eq!(character(c), None, "{c:?}");
        }
    }

    #[test]
    fn escapes_are_named_with_their_replacement() {
        let fault = |content: &str| {
            let at = content.find('\\').unwrap();
            let escape = Escape { after: &content[at + 1..], in_bytes: false };
            escape.fault().map(|fault| fault.in_string(content, false))
        };
        for (content, says) in [
            (r"\d+", r#"no escape `\d`: write a raw string, `r"\d+"`, or `\\d`"#),
            (r"\d\n", r"no escape `\d`: write `\\d`"),
            (r"C:\dir", r#"`r"C:\dir"`"#),
            (r"\u00e9", r"no escape `\u00e9`: write `\u{00e9}`"),
            (r"\U0001F600", r"write `\u{1F600}`"),
            (r"\xe9", r"no escape `\xe9`: write `\u{e9}`"),
            (r"\e[0m", r"write `\u{1b}`"),
            (r"a\/b", r"no escape `\/`: write `/`"),
            (r"\{x}", r"write `{`"),
        ] {
            let message = fault(content).unwrap();
            assert!(message.contains(says), "{message}");
        }
        for content in [r"\n", r"\\d", r"\0", r#"\""#, r"\u{1f600}", r"\x7f", "\\\n  a"] {
            assert_eq!(fault(content), None, "{content}");
        }
        let long = fault(&format!(r"\d{}", "x".repeat(100))).unwrap();
        assert!(long.contains("`r\"…\"`"), "{long}");
    }
}
