//! The diagnostic of a syntax error, which is found without the compiler.

use super::{Diagnostic, Place, render_place};
use crate::markdown;
use crate::other_languages;
use crate::syntax_error::SyntaxError;

/// The diagnostic of a syntax error found without the compiler.
pub fn syntax(error: &SyntaxError, text: &str) -> Diagnostic {
    let lines: Vec<&str> = text.split('\n').collect();
    let place = Place { line: error.line, column: error.column, width: 1 };
    let mut rendered = format!("error: {}\n", error.message);
    render_place(&mut rendered, &lines, place, "");
    Diagnostic {
        level: "error".to_owned(),
        code: None,
        message: error.message.clone(),
        line: error.line,
        column: error.column,
        rendered,
        hint: other_languages::hint(text)
            .or_else(|| syntax_hint(&lines, place))
            .or_else(|| markdown::hint(text)),
    }
}

/// A hint on syntax of other languages that Rust does not have.
fn syntax_hint(lines: &[&str], place: Place) -> Option<String> {
    let line = lines.get(place.line as usize - 1)?;
    let mut rest = line.chars().skip(place.column as usize - 1);
    let before: String = line.chars().take(place.column as usize - 1).collect();
    let hint = match (rest.next()?, rest.next()) {
        (':', next) if next != Some(':') && before.contains('(') => {
            "arguments have no names: pass required ones by position, optional ones with methods, as in \
             `.limit(10)`"
        }
        ('-', _) if before.trim_start().starts_with("use ") => {
            "a `-` in the name of a server is a `_` in the name of its module"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}
