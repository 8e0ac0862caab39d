//! Secrets in the arguments of a command: values of options, and texts of known forms. An argument with several words,
//! such as the script of `sh -c`, is searched word by word.

use serde_json::Value as Json;

use super::recognition::{is_plain, is_secret, is_token};

/// Schemes of HTTP credentials, which stand between the name of a header and the secret.
const SCHEMES: [&str; 3] = ["Bearer", "Basic", "Token"];

/// Replaces a secret: called with its name (an option, a variable, a header, or `token`) and its text. `None` leaves
/// it.
type Take<'a> = &'a mut dyn FnMut(&str, &str) -> Option<String>;

/// Takes the secrets out of arguments: `--api-key=…`, `--api-key …`, tokens, and those in scripts.
pub(super) fn in_args(args: &mut [Json], mut take: impl FnMut(&str, &str) -> Option<String>) {
    let mut option: Option<String> = None;
    for arg in args {
        let Json::String(text) = arg else { continue };
        let before = option.take();
        if let Some((name, value)) = text.split_once('=').filter(|(name, _)| is_option(name)) {
            if is_secret(name)
                && is_plain(value)
                && let Some(new) = take(name, value)
            {
                *text = format!("{name}={new}");
            }
        } else if is_option(text) {
            option = Some(text.clone()).filter(|name| is_secret(name));
        } else if let Some(name) = before {
            if is_plain(text)
                && let Some(new) = take(&name, text)
            {
                *text = new;
            }
        } else {
            *text = in_words(text, &mut take);
        }
    }
}

fn is_option(word: &str) -> bool {
    word.starts_with('-') && !word.contains(char::is_whitespace)
}

/// Takes the secrets out of a text with words, such as a script of a shell. Everything else stays as it is.
fn in_words(text: &str, take: Take<'_>) -> String {
    let is_boundary = |c: char| c.is_whitespace() || "'\"`;|&()<>".contains(c);
    let mut new = String::with_capacity(text.len());
    // The option, variable or header whose value comes next.
    let mut name: Option<String> = None;
    for part in text.split_inclusive(is_boundary) {
        let word = part.trim_end_matches(is_boundary);
        let end = &part[word.len()..];
        if word.is_empty() {
            new.push_str(part);
            continue;
        }
        new.push_str(&in_word(word, &mut name, take));
        new.push_str(end);
    }
    new
}

/// One word; `name` is whose value it is, and then whose value the next word is.
fn in_word(word: &str, name: &mut Option<String>, take: Take<'_>) -> String {
    let before = name.take();
    if before.is_some() && SCHEMES.contains(&word) {
        *name = before;
        return word.to_owned();
    }
    if let Some(before) = before.filter(|_| !word.starts_with('-')) {
        return if is_value(word) { take(&before, word) } else { None }.unwrap_or_else(|| word.to_owned());
    }
    if let Some((key, value)) = word.split_once('=').filter(|(key, _)| is_secret(key)) {
        if value.is_empty() {
            // The value is quoted.
            *name = Some(key.to_owned());
        } else if is_value(value)
            && let Some(new) = take(key, value)
        {
            return format!("{key}={new}");
        }
        return word.to_owned();
    }
    let header = word.strip_suffix(':');
    if is_secret(header.unwrap_or(word)) && (header.is_some() || word.starts_with('-')) {
        *name = Some(header.unwrap_or(word).to_owned());
    } else if is_token(word)
        && let Some(new) = take("token", word)
    {
        return new;
    }
    word.to_owned()
}

/// Whether a word has a value of its own, and not that of a variable.
fn is_value(word: &str) -> bool {
    is_plain(word) && !word.starts_with('$')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::in_args;

    /// The arguments with `…` in place of secrets, and the names of these.
    fn masked(args: Json) -> (Json, Vec<String>) {
        let Json::Array(mut args) = args else { panic!("not an array") };
        let mut names = Vec::new();
        in_args(&mut args, |name, _| {
            names.push(name.to_owned());
            Some("…".to_owned())
        });
        (Json::Array(args), names)
    }

    #[test]
    fn secrets_in_the_script_of_a_shell_are_found() {
        for (script, shown, names) in [
            ("exec x --token s3cret --level 3", "exec x --token … --level 3", vec!["--token"]),
            ("API_KEY=s3cret exec x", "API_KEY=… exec x", vec!["API_KEY"]),
            ("export API_KEY='s3cret'; exec x", "export API_KEY='…'; exec x", vec!["API_KEY"]),
            (
                "x --header \"Authorization: Bearer s3cret\"",
                "x --header \"Authorization: Bearer …\"",
                vec!["Authorization"],
            ),
            ("x ghp_0123456789abcdefghij /data", "x … /data", vec!["token"]),
            ("x --api-key=s3cret|tee log", "x --api-key=…|tee log", vec!["--api-key"]),
        ] {
            let (args, found) = masked(json!(["-c", script]));
            assert_eq!(
                (args, found),
                (json!(["-c", shown]), names.iter().map(ToString::to_string).collect())
            );
        }
    }

    #[test]
    fn other_texts_stay() {
        for args in [
            json!(["-c", "exec x --token $TOKEN --key \"${KEY}\""]),
            json!(["-c", "KEY=$(pass show x) exec y; echo done"]),
            json!(["-y", "@scope/sk-package", "/data/auth files", "--level", "3"]),
            json!(["sk-short", "eyJ not a token at all, although it is long"]),
        ] {
            assert_eq!(masked(args.clone()), (args, Vec::new()));
        }
    }

    #[test]
    fn a_token_is_found_without_an_option() {
        let (args, names) = masked(json!(["xoxb-1234567890-abcdefghijk", "--port", "80"]));
        assert_eq!((args, names), (json!(["…", "--port", "80"]), vec!["token".to_owned()]));
    }
}
