//! Secrets of the configuration, kept out of what is told to people: `***` in their place. So are those that `mcp` has
//! learned of servers up to the moment of telling, of which no masker need know: tokens come and go.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::config::Config;

/// How many secrets of older configurations are remembered beside those in force, about.
const MOST_SECRETS: usize = 2_000;

/// Shorter values are no secrets, and would tear holes into every text.
const SHORTEST: usize = 8;

/// Parts of the names of this process's own variables whose values are taken for secrets: a configuration names such in
/// `${…}` anywhere.
const SECRET_NAMES: [&str; 8] =
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "API_KEY", "APIKEY", "ACCESS_KEY"];

/// Replaces secrets.
#[derive(Clone, Default)]
pub(crate) struct Masker {
    secrets: Vec<String>,
}

impl Masker {
    /// The values of headers, variables and client secrets of all servers, and the keys of models.
    pub(crate) fn of(config: &Config) -> Self {
        let mut values: Vec<String> = Vec::new();
        for server in &config.servers {
            mcp::learn_secrets(&server.connection);
            values.extend(server.variables());
            match &server.connection.transport {
                mcp::Transport::Stdio(command) => values.extend(command.env.values().cloned()),
                mcp::Transport::Http(remote) | mcp::Transport::Sse(remote) => {
                    values.extend(remote.headers.values().cloned());
                    values.extend(remote.oauth.iter().filter_map(|oauth| oauth.client_secret.clone()));
                    values.extend(password(&remote.url));
                }
                _ => {}
            }
        }
        values
            .extend(config.serve.telemetry.iter().flat_map(|telemetry| telemetry.headers.values().cloned()));
        let keys = config.models.iter().filter_map(|model| model.api_key_env.as_deref());
        values.extend(keys.filter_map(|name| std::env::var(name).ok()));
        values.extend(config.models.iter().filter_map(|model| password(model.base_url.as_ref()?.as_str())));
        let is_secret = |name: &str| SECRET_NAMES.iter().any(|part| name.to_ascii_uppercase().contains(part));
        values.extend(std::env::vars_os().filter_map(|(name, value)| {
            name.to_str().filter(|name| is_secret(name)).and_then(|_| value.into_string().ok())
        }));
        Self::new(&values)
    }

    /// With a further secret.
    pub(crate) fn hiding(self, value: &str) -> Self {
        self.with(Masker::new(&[value.to_owned()]))
    }

    /// With the secrets of another one, as far as they fit.
    pub(crate) fn with(mut self, other: Masker) -> Self {
        let place = MOST_SECRETS.saturating_sub(self.secrets.len());
        let new = other.secrets.into_iter().filter(|secret| !self.secrets.contains(secret)).take(place);
        let new: Vec<String> = new.collect();
        self.secrets.extend(new);
        self
    }

    /// Of these values, each whole, line by line, and without the scheme that headers begin with.
    pub(crate) fn new(values: &[String]) -> Self {
        let mut parts = BTreeSet::new();
        for value in values {
            let scheme = value.split_once(' ').map(|(_, credentials)| credentials.trim());
            for part in value.lines().chain([value.as_str()]).chain(scheme) {
                let quoted = Value::from(part).to_string();
                let quoted = quoted.trim_matches('"').to_owned();
                parts.extend(
                    [part.trim().to_owned(), quoted].into_iter().filter(|part| part.len() >= SHORTEST),
                );
            }
        }
        Masker { secrets: parts.into_iter().collect() }
    }

    /// The text without secrets.
    pub(crate) fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let masked = mcp::masked(text, self.own());
        // A text that was cut may end in a part of one.
        if masked.contains('…') { Cow::Owned(self.mask_cut(&masked)) } else { masked }
    }

    fn mask_cut(&self, text: &str) -> String {
        let mut pieces: Vec<&str> = text.split('…').collect();
        let last = pieces.pop().unwrap_or_default();
        let pieces = pieces.into_iter().map(|piece| mcp::masked_unfinished(piece, self.own()).into_owned());
        pieces.chain([last.to_owned()]).collect::<Vec<_>>().join("…")
    }

    fn own(&self) -> impl Iterator<Item = &str> + Clone {
        self.secrets.iter().map(String::as_str)
    }

    /// The same for all texts in a value.
    pub(crate) fn mask_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.mask(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_value(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.mask_value(member)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The password in an address.
fn password(url: &str) -> Option<String> {
    let authority = url.split_once("://")?.1.split(['/', '?', '#']).next()?;
    let (_, password) = authority.rsplit_once('@')?.0.split_once(':')?;
    Some(password.to_owned())
}

impl std::fmt::Debug for Masker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Masker({} secrets)", self.secrets.len())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn masker(values: &[&str]) -> Masker {
        Masker::new(&values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn secrets_are_masked_whole_and_in_parts() {
        let masker = masker(&[
            "Bearer abcdefgh123",
            "first line\nsecond line",
            "quo\"ted-secret",
            "abcdefgh123-longer",
        ]);
        assert_eq!(masker.mask("got abcdefgh123 there"), "got *** there");
        assert_eq!(masker.mask("Bearer abcdefgh123"), "***");
        assert_eq!(masker.mask("abcdefgh123-longer"), "***");
        assert_eq!(masker.mask("it says second line."), "it says ***.");
        assert_eq!(masker.mask(r#"{"a":"quo\"ted-secret"}"#), r#"{"a":"***"}"#);
    }

    #[test]
    fn what_was_cut_in_the_middle_of_a_secret_is_masked_as_well() {
        let masker = masker(&["0123456789abcdef", "ünïcödé-secret"]);
        assert_eq!(masker.mask("error: 0123456789ab…"), "error: ***…");
        assert_eq!(masker.mask("error: ünïcödé-s…\nmore"), "error: ***…\nmore");
        assert_eq!(masker.mask("error: 0123…"), "error: 0123…");
    }

    #[test]
    fn secrets_are_taken_from_every_kind_of_server() {
        use crate::config::Server;
        let mut local = mcp::ServerConfig::stdio("local", "program", [""; 0]);
        if let mcp::Transport::Stdio(command) = &mut local.transport {
            command.env.insert("KEY".into(), "value-of-env".into());
        }
        let remote = mcp::Remote {
            url: "https://me:pass-in-address@host/".into(),
            headers: [("Authorization".to_owned(), "Bearer value-of-header".to_owned())].into(),
            oauth: Some(mcp::OAuth {
                client_secret: Some("value-of-client".into()),
                ..mcp::OAuth::default()
            }),
        };
        let remotes = [mcp::Transport::Http(remote.clone()), mcp::Transport::Sse(remote)];
        for remote in remotes {
            let connections = [local.clone(), mcp::ServerConfig::new("remote", remote)];
            let server = |connection| Server::new(connection, String::new());
            let servers = connections.into_iter().map(server).collect();
            let config = Config { servers, ..Config::default() };
            let told = "value-of-env value-of-header value-of-client pass-in-address KEY Bearer";
            assert_eq!(Masker::of(&config).mask(told), "*** *** *** *** KEY Bearer");
        }
    }

    #[test]
    fn what_is_learned_of_a_server_later_is_masked_by_a_masker_that_is_there_already() {
        let masker = masker(&["secret-before"]);
        let learn = |header: &str| {
            let headers = [("Authorization".to_owned(), header.to_owned())].into();
            let remote = mcp::Remote { url: "https://host/".into(), headers, oauth: None };
            mcp::learn_secrets(&mcp::ServerConfig::new("late", mcp::Transport::Http(remote)));
        };
        let told = "secret-before late-token-1 late-password-1";
        assert_eq!(masker.mask(told), "*** late-token-1 late-password-1");
        learn("Bearer late-token-1");
        learn("Basic bWU6bGF0ZS1wYXNzd29yZC0x");
        assert_eq!(masker.mask(told), "*** *** ***");
        assert_eq!(masker.mask("error: late-to…"), "error: late-to…");
        assert_eq!(masker.mask("error: late-token…"), "error: ***…");
        let mut value = json!({ "a": ["Bearer late-token-1"] });
        masker.mask_value(&mut value);
        assert_eq!(value, json!({ "a": ["***"] }));
    }

    #[test]
    fn maskers_add_up() {
        let both = masker(&["secret-before"]).with(masker(&["secret-before", "secret-before-and-after"]));
        let all = both.hiding("a-token-of-its-own");
        assert_eq!(all.mask("secret-before-and-after secret-before a-token-of-its-own"), "*** *** ***");
        assert_eq!(all.secrets.len(), 3);
    }

    #[test]
    fn short_values_are_left_alone() {
        assert_eq!(masker(&["1", "true", "", "1234567"]).mask("1 is true, 1234567"), "1 is true, 1234567");
    }

    #[test]
    fn values_are_masked_at_every_depth() {
        let mut value = json!({ "a": ["x secret-secret", { "b": "secret-secret" }], "c": 7 });
        masker(&["secret-secret"]).mask_value(&mut value);
        assert_eq!(value, json!({ "a": ["x ***", { "b": "***" }], "c": 7 }));
    }

    #[test]
    fn passwords_stand_in_addresses() {
        assert_eq!(password("https://user:pass-word@host/x@y").as_deref(), Some("pass-word"));
        assert_eq!(password("https://host/a:b@c"), None);
        assert_eq!(password("nonsense"), None);
    }
}
