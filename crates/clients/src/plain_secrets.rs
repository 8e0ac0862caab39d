//! Finds secrets that are plain text in the entries of servers, to mask them or to move them elsewhere. `arguments` finds
//! them in command lines.

mod arguments;
mod recognition;

use serde_json::Value as Json;
use url::Url;

use super::edit::change::Entry;
use arguments::in_args;
use recognition::{is_plain, is_secret};

/// A secret that is plain text.
#[derive(Debug, Clone, PartialEq)]
pub struct Secret {
    /// The name of the server.
    pub server: String,
    /// Where it is in the entry, such as `env.TOKEN`.
    pub place: String,
    /// The text.
    pub value: String,
    /// Its name: a variable of the environment.
    pub variable: String,
}

impl Secret {
    /// The secret's name in the keyring.
    pub fn keyring_name(&self) -> String {
        format!("{}.{}", self.server, self.variable)
    }

    /// The place, with so little of the value that it can't be used.
    pub fn shown(&self) -> String {
        let length = self.value.chars().count();
        let start: String = if length >= 20 { self.value.chars().take(4).collect() } else { String::new() };
        format!("{}: {} = {start}… ({length} characters)", self.server, self.place)
    }
}

/// Takes the secrets out of an entry: each becomes what `instead` returns, and stays if that is `None`.
pub fn replace(server: &str, entry: &mut Entry, instead: &mut dyn FnMut(&Secret) -> Option<String>) {
    let mut take = |place: String, variable: String, value: &str| {
        instead(&Secret { server: server.to_owned(), place, value: value.to_owned(), variable })
    };
    for (key, value) in entry.iter_mut() {
        match (key.as_str(), value) {
            ("env", Json::Object(env)) => {
                for (name, value) in env.iter_mut().filter(|(name, _)| is_secret(name)) {
                    in_text(value, |text| take(format!("env.{name}"), name.clone(), text));
                }
            }
            ("headers", Json::Object(headers)) => {
                for (name, value) in headers.iter_mut().filter(|(name, _)| is_secret(name)) {
                    let variable = variable(server, name);
                    in_credentials(value, |text| take(format!("headers.{name}"), variable.clone(), text));
                }
            }
            ("url", Json::String(url)) => {
                in_query(url, |name, text| take(format!("url?{name}"), variable(server, name), text));
            }
            ("args", Json::Array(args)) => {
                in_args(args, |name, text| take(format!("args {name}"), variable(server, name), text));
            }
            ("oauth", Json::Object(oauth)) => {
                for key in ["client_secret", "private_key"] {
                    if let Some(secret) = oauth.get_mut(key) {
                        let variable = variable(server, key);
                        in_text(secret, |text| take(format!("oauth.{key}"), variable.clone(), text));
                    }
                }
            }
            _ => {}
        }
    }
}

/// The secrets of an entry.
pub fn find(server: &str, entry: &Entry) -> Vec<Secret> {
    let mut found = Vec::new();
    replace(server, &mut entry.clone(), &mut |secret| {
        found.push(secret.clone());
        None
    });
    found
}

/// An entry in any client's form, with all values masked that may be secret: variables, headers, options and parameters.
/// Variables that `is_shown` accepts stay.
pub(crate) fn masked(entry: &Json, is_shown: &dyn Fn(&str) -> bool) -> Json {
    let Json::Object(entry) = entry else { return entry.clone() };
    let hidden = |_: &str, _: &str| Some("…".to_owned());
    let masked = entry.iter().map(|(key, value)| {
        let mut value = value.clone();
        match (key.as_str(), &mut value) {
            ("command" | "args", Json::Array(args)) => in_args(args, hidden),
            ("command", Json::Object(_)) => value = self::masked(&value, is_shown),
            (_, Json::Object(values)) => {
                let values = values.iter_mut().filter(|(name, _)| !is_shown(name));
                values.for_each(|(_, value)| hide(value));
            }
            (_, Json::String(text)) if text.contains("://") => {
                in_query(text, hidden);
                if Url::parse(text).is_ok_and(|url| !url.username().is_empty() || url.password().is_some()) {
                    hide(&mut value);
                }
            }
            (key, Json::String(text)) if is_secret(key) && is_plain(text) && !key.contains("env") => {
                hide(&mut value);
            }
            _ => {}
        }
        (key.clone(), value)
    });
    Json::Object(masked.collect())
}

/// Masks all texts in a value that are not read from variables.
fn hide(value: &mut Json) {
    match value {
        Json::String(text) if is_plain(text) => "…".clone_into(text),
        Json::Array(items) => items.iter_mut().for_each(hide),
        Json::Object(entries) => entries.values_mut().for_each(hide),
        _ => {}
    }
}

/// The name of a variable for a secret of a server.
fn variable(server: &str, name: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name = name.trim_start_matches('-');
    let variable: String = format!("{server}_{name}").chars().map(word).collect();
    if variable.starts_with(|c: char| c.is_ascii_digit()) { format!("_{variable}") } else { variable }
}

fn in_text(value: &mut Json, take: impl FnOnce(&str) -> Option<String>) {
    if let Json::String(text) = value
        && is_plain(text)
        && let Some(new) = take(text)
    {
        *text = new;
    }
}

/// In a header, the scheme stays: `Bearer ${NAME}`.
fn in_credentials(value: &mut Json, take: impl FnOnce(&str) -> Option<String>) {
    let Json::String(text) = value else { return };
    let (scheme, credentials) = match text.split_once(' ') {
        Some((scheme, credentials)) if scheme.chars().all(|c| c.is_ascii_alphanumeric()) => {
            (scheme, credentials)
        }
        _ => ("", text.as_str()),
    };
    if is_plain(credentials)
        && let Some(new) = take(credentials)
    {
        *text = if scheme.is_empty() { new } else { format!("{scheme} {new}") };
    }
}

/// In an address, the values of parameters such as `?api_key=`.
fn in_query(address: &mut String, mut take: impl FnMut(&str, &str) -> Option<String>) {
    if Url::parse(address).is_err() {
        return;
    }
    let Some((before, query)) = address.split_once('?') else { return };
    let (query, fragment) = query.split_once('#').map_or((query, None), |(query, end)| (query, Some(end)));
    let parameters = query.split('&').map(|parameter| {
        let Some((name, value)) = parameter.split_once('=') else { return parameter.to_owned() };
        let new = if is_secret(name) && is_plain(value) { take(name, value) } else { None };
        new.map_or_else(|| parameter.to_owned(), |new| format!("{name}={new}"))
    });
    let query = parameters.collect::<Vec<_>>().join("&");
    let fragment = fragment.map(|end| format!("#{end}")).unwrap_or_default();
    *address = format!("{before}?{query}{fragment}");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(value: Json) -> Entry {
        let Json::Object(value) = value else { panic!("not an object") };
        value.into_iter().collect()
    }

    #[test]
    fn secrets_are_found_in_variables_headers_addresses_and_options() {
        let local = entry(json!({
            "command": "x",
            "args": ["--api-key", "plain-1", "--token=plain-2", "--level", "3", "--key", "${KEY}"],
            "env": { "GITHUB_TOKEN": "plain-3", "LEVEL": "debug", "API_KEY": "${API_KEY}", "EMPTY_KEY": "" },
        }));
        let remote = entry(json!({
            "url": "https://x.example/mcp?api_key=plain-4&page=1#top",
            "headers": { "Authorization": "Bearer plain-5", "X-Api-Key": "plain-6", "Accept": "x" },
            "oauth": { "client_secret": "plain-7" },
        }));
        let values = |name: &str, entry: &Entry| -> Vec<(String, String)> {
            let mut found: Vec<_> =
                find(name, entry).into_iter().map(|secret| (secret.value, secret.variable)).collect();
            found.sort();
            found
        };
        let pair = |(value, variable): (&str, &str)| (value.to_owned(), variable.to_owned());
        assert_eq!(
            values("a", &local),
            [("plain-1", "A_API_KEY"), ("plain-2", "A_TOKEN"), ("plain-3", "GITHUB_TOKEN")].map(pair)
        );
        assert_eq!(
            values("b", &remote),
            [
                ("plain-4", "B_API_KEY"),
                ("plain-5", "B_AUTHORIZATION"),
                ("plain-6", "B_X_API_KEY"),
                ("plain-7", "B_CLIENT_SECRET")
            ]
            .map(pair)
        );
        let mut moved = remote.clone();
        replace("b", &mut moved, &mut |secret| Some(format!("${{{}}}", secret.variable)));
        let text = serde_json::to_string(&moved).unwrap();
        assert!(!text.contains("plain-"), "{text}");
        assert!(
            text.contains("Bearer ${B_AUTHORIZATION}") && text.contains("api_key=${B_API_KEY}&page=1#top")
        );
        assert!(find("b", &moved).is_empty());
    }

    #[test]
    fn a_masked_entry_shows_what_it_starts_and_no_secret() {
        let entry = json!({
            "command": ["npx", "--token", "s3cret"], "environment": { "A": "s3cret", "B": "${B}", "PATH": "/bin" },
            "url": "https://me:s3cret@x.example/", "httpUrl": "https://x.example/?key=s3cret", "bearer_token": "s3cret",
            "bearer_token_env_var": "TOKEN", "command_": { "env": { "C": "s3cret" } },
        });
        let masked = masked(&entry, &|name| name == "PATH").to_string();
        assert!(!masked.contains("s3cret"), "{masked}");
        for shown in ["npx", "${B}", "/bin", "x.example/?key=…", "\"TOKEN\""] {
            assert!(masked.contains(shown), "{shown} is missing in {masked}");
        }
    }

    #[test]
    fn a_secret_is_never_shown_in_full() {
        let secret = |value: &str| Secret {
            server: "a".to_owned(),
            place: "env.T".to_owned(),
            value: value.to_owned(),
            variable: "T".to_owned(),
        };
        assert_eq!(secret("hunter2").shown(), "a: env.T = … (7 characters)");
        assert_eq!(secret("ghp_0123456789abcdef0").shown(), "a: env.T = ghp_… (21 characters)");
    }
}
