//! Divides Rust into parts that look different. Text that is not valid Rust is divided as well.

/// The keywords (the Rust Reference, "Keywords"; strict ones, and the weak ones that snippets use).
const KEYWORDS: [&str; 39] = [
    "Self", "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern",
    "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "type", "union", "unsafe", "use",
    "where", "while",
];

/// The role of a part of a text, which selects its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// A comment.
    Comment,
    /// A string or a character.
    Text,
    /// A number or a lifetime.
    Number,
    /// A keyword.
    Keyword,
    /// A macro, or a function that is called.
    Function,
    /// A type, or another name in upper case.
    Type,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Comment,
    Text,
    Number,
    Word,
    Lifetime,
    Other,
}

/// The parts of a text, in order and without gaps; `None` looks plain.
pub fn parts(code: &str) -> impl Iterator<Item = (Option<Look>, &str)> {
    let mut rest = code;
    std::iter::from_fn(move || {
        let (kind, length) = piece(rest)?;
        let (text, after) = rest.split_at(length);
        rest = after;
        Some((look(kind, text, after), text))
    })
}

fn look(kind: Kind, text: &str, after: &str) -> Option<Look> {
    match kind {
        Kind::Comment => Some(Look::Comment),
        Kind::Text => Some(Look::Text),
        Kind::Number | Kind::Lifetime => Some(Look::Number),
        Kind::Word if KEYWORDS.contains(&text) => Some(Look::Keyword),
        Kind::Word if after.starts_with('!') && !after.starts_with("!=") => Some(Look::Function),
        Kind::Word if text.starts_with(char::is_uppercase) => Some(Look::Type),
        Kind::Word if after.starts_with('(') => Some(Look::Function),
        Kind::Word | Kind::Other => None,
    }
}

/// The kind of the first token, and its length in bytes, which is more than 0 and ends between characters.
fn piece(text: &str) -> Option<(Kind, usize)> {
    let first = text.chars().next()?;
    if text.starts_with("//") {
        return Some((Kind::Comment, text.find('\n').unwrap_or(text.len())));
    }
    if text.starts_with("/*") {
        return Some((Kind::Comment, block_comment(text)));
    }
    if let Some(length) = string(text) {
        return Some((Kind::Text, length));
    }
    if first == '\'' {
        return Some(quoted_or_lifetime(text));
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if first.is_ascii_digit() {
        let length = text.find(|c: char| !(is_word(c) || c == '.')).unwrap_or(text.len());
        // End the number before a range.
        let length = text.get(..length).and_then(|number| number.find("..")).unwrap_or(length);
        return Some((Kind::Number, length));
    }
    if is_word(first) {
        return Some((Kind::Word, text.find(|c: char| !is_word(c)).unwrap_or(text.len())));
    }
    Some((Kind::Other, first.len_utf8()))
}

/// The length of a block comment, which may contain others.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut place) = (0_usize, 0);
    while let Some(rest) = text.get(place..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            (depth, place) = (depth + 1, place + 2);
        } else if rest.starts_with("*/") {
            (depth, place) = (depth.saturating_sub(1), place + 2);
            if depth == 0 {
                return place;
            }
        } else {
            place += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a string literal of any kind: plain, raw, byte or C.
fn string(text: &str) -> Option<usize> {
    let after = ["br", "cr", "b", "c", "r", ""].iter().find_map(|prefix| {
        let rest = text.strip_prefix(prefix)?;
        let is_raw = prefix.ends_with('r');
        let hashes = if is_raw { rest.len() - rest.trim_start_matches('#').len() } else { 0 };
        let body = rest.get(hashes..)?.strip_prefix('"')?;
        Some((body, is_raw, hashes))
    });
    let (body, is_raw, hashes) = after?;
    let start = text.len() - body.len();
    if is_raw {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(body.find(&end).map_or(text.len(), |place| start + place + end.len()));
    }
    Some(closed(body, '"').map_or(text.len(), |length| start + length))
}

/// The length of a literal with escapes, up to and including its closing quote.
fn closed(body: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (place, character) in body.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return Some(place + character.len_utf8()),
            _ => {}
        }
    }
    None
}

/// Distinguishes a character (`'a'`) from a lifetime (`'a`).
fn quoted_or_lifetime(text: &str) -> (Kind, usize) {
    let body = text.get(1..).unwrap_or_default();
    let mut characters = body.chars();
    match (characters.next(), characters.next()) {
        (Some('\\'), _) => (Kind::Text, closed(body, '\'').map_or(text.len(), |length| 1 + length)),
        (Some(one), Some('\'')) if one != '\'' => (Kind::Text, 2 + one.len_utf8()),
        (Some(one), _) if one.is_alphabetic() || one == '_' => {
            let length = body.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(body.len());
            (Kind::Lifetime, 1 + length)
        }
        _ => (Kind::Other, 1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(code: &str) -> Vec<(Kind, String)> {
        let (mut rest, mut found) = (code, Vec::new());
        while let Some((kind, length)) = piece(rest) {
            let (text, after) = rest.split_at(length);
            if kind != Kind::Other {
                found.push((kind, text.to_owned()));
            }
            rest = after;
        }
        found
    }

    #[test]
    fn strings_comments_and_lifetimes_are_distinguished() {
        let texts = r####"r#"a"b"# b"x\"y" 'c' '\'' "open"####;
        let texts: Vec<_> =
            pieces(texts).into_iter().map(|(kind, text)| (kind == Kind::Text, text)).collect();
        let expected = [r###"r#"a"b"#"###, r#"b"x\"y""#, "'c'", r"'\''", "\"open"];
        assert_eq!(texts, expected.map(|text| (true, text.to_owned())));
        let comments = pieces("/* a /* b */ c */ x // d\n'static 1..2 3.5_f64");
        let kinds = [
            (Kind::Comment, "/* a /* b */ c */"),
            (Kind::Word, "x"),
            (Kind::Comment, "// d"),
            (Kind::Lifetime, "'static"),
            (Kind::Number, "1"),
            (Kind::Number, "2"),
            (Kind::Number, "3.5_f64"),
        ];
        assert_eq!(comments, kinds.map(|(kind, text)| (kind, text.to_owned())));
    }

    proptest! {
        #[test]
        fn parts_are_the_whole_text(code in "(\\PC|[\"'/*#rb\\\\\n!.]){0,60}") {
            prop_assert_eq!(parts(&code).map(|(_, text)| text).collect::<String>(), code);
        }
    }
}
