//! Recognizes code that is JSON-encoded once more: a string with the code in it, or the arguments of the tool as an
//! object. As Rust, such a string would be a result, and the code would never run.

use proc_macro2::LineColumn;
use serde_json::Value;

use crate::syntax_error::SyntaxError;

/// Maximum number of encodings to remove.
const LAYERS: usize = 4;

/// Parts of text that only code has, and words with which its statements begin.
const CODE: [&str; 5] = ["println!", ".await", "?;", "::", "vec!["];
const WORDS: [&str; 5] = ["let ", "fn ", "use ", "for ", "async "];

/// The start of every snippet.
const START: LineColumn = LineColumn { line: 1, column: 0 };

/// The text that names the right form to send.
const INSTEAD: &str = "send the code itself, with its line breaks and quotes as they are";

/// Refuses code that is JSON-encoded once more than the request.
///
/// # Errors
/// The reason.
pub(crate) fn check(code: &str) -> Result<(), SyntaxError> {
    let reason = match unwrapped(code) {
        Some(Wrapped { is_object: true, .. }) => {
            format!("the code is JSON: it is an object with the code in `code`; {INSTEAD}")
        }
        Some(Wrapped { code, .. }) if is_code(&code) => {
            format!("the code is JSON-encoded twice: it is one JSON string with the code in it; {INSTEAD}")
        }
        _ => return Ok(()),
    };
    Err(SyntaxError::at(reason, START))
}

/// The error about code that is no Rust because its line breaks and quotes are escaped.
pub(crate) fn escaped(code: &str) -> Option<SyntaxError> {
    let code = code.trim();
    let text = || serde_json::from_str::<String>(&format!("\"{code}\"")).ok();
    let is_escaped =
        !code.contains('\n') && has_escape_outside_strings(code) && text().is_some_and(|text| is_code(&text));
    is_escaped.then(|| {
        let reason = "the code is JSON-encoded twice: its line breaks or quotes are escaped (`\\n`, `\\\"`)";
        SyntaxError::at(format!("{reason}; {INSTEAD}"), START)
    })
}

/// Code without its encodings.
struct Wrapped {
    code: String,
    /// Whether one of them is an object.
    is_object: bool,
}

fn unwrapped(code: &str) -> Option<Wrapped> {
    let mut found: Option<Wrapped> = None;
    for _ in 0..LAYERS {
        let text = found.as_ref().map_or(code, |found| &found.code).trim();
        if !text.starts_with(['"', '{']) {
            break;
        }
        let was_object = found.as_ref().is_some_and(|found| found.is_object);
        found = match serde_json::from_str(text) {
            Ok(Value::String(code)) => Some(Wrapped { code, is_object: was_object }),
            Ok(Value::Object(mut members)) => match members.remove("code") {
                Some(Value::String(code)) => Some(Wrapped { code, is_object: true }),
                _ => break,
            },
            _ => break,
        };
    }
    found
}

/// Whether the value of a string is code: statements or a call, not a text to return.
fn is_code(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let has_part = CODE.iter().any(|part| text.contains(part));
    let begins = lines.clone().any(|line| WORDS.iter().any(|word| line.starts_with(word)));
    let has_statement = lines.any(|line| line.ends_with([';', '{']));
    has_statement && (has_part || begins) || has_part && text.trim_end().ends_with([')', '?', '}'])
}

/// Whether `\n` or `\"` is outside of what Rust reads as strings and characters.
fn has_escape_outside_strings(code: &str) -> bool {
    let (mut in_string, mut before, mut characters) = (false, ' ', code.chars());
    while let Some(c) = characters.next() {
        match c {
            '\\' => {
                let escaped = characters.next();
                if matches!(escaped, Some('n' | '"')) && !in_string && before != '\'' {
                    return true;
                }
            }
            '"' => in_string = !in_string,
            _ => {}
        }
        before = c;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{check, escaped};

    #[test]
    fn encoded_code_is_refused_with_the_reason() {
        for (code, says) in [
            (r#""let x = 1;\nprintln!(\"{x}\");""#, "one JSON string"),
            (r#" "demo::echo(\"a\").await?.text()" "#, "one JSON string"),
            (r#""\"let x = 1;\\nx\"""#, "one JSON string"),
            (r#"{"code": "let x = 1;\nx"}"#, "an object with the code in `code`"),
            (r#"{"code": "1", "timeout": 5}"#, "an object with the code in `code`"),
            (r#""{\"code\": \"let x = 1;\"}""#, "an object with the code in `code`"),
        ] {
            let error = check(code).unwrap_err();
            assert!(
                error.message.contains(says) && error.message.contains("send the code itself"),
                "{code}: {error:?}"
            );
        }
    }

    #[test]
    fn escaped_code_is_refused_with_the_reason() {
        for code in [r#"let x = 1;\nprintln!(\"{x}\");"#, r#"println!(\"a\");"#] {
            assert!(escaped(code).unwrap().message.contains("are escaped (`\\n`, `\\\"`)"), "{code}");
        }
        assert_eq!(escaped(r"demo::list().await?.text().split('\n').count("), None);
    }

    #[test]
    fn other_code_is_not_refused() {
        for code in [
            r#""hello""#,
            r#""Done; nothing to do.""#,
            r#""Please let me know (a reply is enough)""#,
            r#""Report for Bob:\nuse it; a::b is done""#,
            r#""two\nlines""#,
            "{ 1 }",
            r#"{ "a" }"#,
            r#"json!({ "code": "let x = 1;" })"#,
            r#"println!("let x = 1;\nx");"#,
            r#"let a = "x;\n"; a"#,
            "1",
            "",
        ] {
            assert_eq!((check(code), escaped(code)), (Ok(()), None), "{code}");
        }
    }
}
