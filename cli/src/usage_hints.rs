//! Adds advice to errors in the command line that are typical slips.

use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// The error with advice, if it is a slip that many make.
pub(crate) fn advised(mut error: Error) -> Error {
    let advice = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            text(&error, ContextKind::InvalidSubcommand).filter(|word| is_snippet(word)).map(|word| {
                error.remove(ContextKind::SuggestedSubcommand);
                format!("run a snippet with: toolsmith run {word}")
            })
        }
        ErrorKind::UnknownArgument => {
            text(&error, ContextKind::InvalidArg).and_then(|word| of_argument(&word))
        }
        _ => None,
    };
    if let Some(advice) = advice {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(advice)]));
    }
    error
}

/// Advice on an argument that `run` does not have.
fn of_argument(word: &str) -> Option<String> {
    if std::env::args().nth(1).as_deref() != Some("run") {
        return None;
    }
    match word {
        "-e" | "-c" | "--eval" | "--code" | "--exec" => {
            Some("pass code on standard input: echo 'CODE' | toolsmith run -".to_owned())
        }
        _ if word.starts_with('-') => None,
        _ if word.contains('=') => Some(format!("pass arguments to the snippet with: --arg {word}")),
        _ => Some("pass arguments to the snippet with: --arg KEY=VALUE".to_owned()),
    }
}

fn text(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// Whether a word is the file of a snippet, or standard input.
fn is_snippet(word: &str) -> bool {
    word == "-" || Path::new(word).extension().is_some_and(|extension| extension == "rs")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn a_file_instead_of_a_command_is_a_snippet_to_run() {
        for (word, advice) in
            [("one.rs", Some("toolsmith run one.rs")), ("-", Some("toolsmith run -")), ("rum", None)]
        {
            let error = Arguments::try_parse_from(["toolsmith", word]).unwrap_err();
            let text = advised(error).to_string();
            match advice {
                Some(advice) => assert!(text.contains(advice) && !text.contains("similar"), "{text}"),
                None => assert!(text.contains("'run'"), "{text}"),
            }
        }
    }
}
