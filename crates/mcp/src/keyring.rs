//! Secrets in the user's keyring: the Secret Service (freedesktop.org), as GNOME Keyring and KWallet provide it.
//!
//! A configuration refers to a secret by a placeholder in a server's settings. The secret is read when a session is
//! opened, never earlier, and masked from then on.

#[cfg_attr(not(feature = "keyring"), path = "keyring/no_service.rs")]
mod service;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use parking_lot::Mutex;

pub use crate::error::KeyringError;
use crate::error::{Error, ErrorKind};
use crate::secrets::learn;
use crate::server_config::{OAuth, OpenApi, ServerConfig, Transport};

/// Maximum length of a secret's name, in bytes.
const MAX_NAME: usize = 128;

/// Maximum length of a secret, in bytes: longer ones fit in no header that servers accept.
pub const MAX_SECRET: usize = 16 * 1024;

/// Time limit for reading secrets, which includes the time in which the user unlocks the keyring.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// The start and the end of a placeholder, around the name: characters for private use, which no setting has.
const START: &str = "\u{E000}keyring:";
const END: char = '\u{E001}';

/// Whether a text can be the name of a secret: 1 to 128 letters, digits, `_`, `-` and `.`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_NAME
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

/// The placeholder of a secret, for the texts of a [`ServerConfig`]. `None` if the name is not one.
#[must_use]
pub fn placeholder(name: &str) -> Option<String> {
    is_name(name).then(|| format!("{START}{name}{END}"))
}

/// Whether a text contains a character that begins or ends placeholders.
#[must_use]
pub fn has_marks(text: &str) -> bool {
    text.contains(['\u{E000}', END])
}

/// A text with its placeholders as they are written in a configuration: `${keyring:NAME}`.
#[must_use]
pub fn shown(text: &str) -> String {
    text.replace(START, "${keyring:").replace(END, "}")
}

/// The names of the secrets whose placeholders are in a text, in order.
#[must_use]
pub fn names(text: &str) -> Vec<String> {
    let found = text.split(START).skip(1).filter_map(|rest| rest.split_once(END));
    found.map(|(name, _)| name.to_owned()).collect()
}

/// Stores a secret, and replaces an older one of this name. Blocks until the keyring answers.
///
/// # Errors
/// If the keyring is not available.
pub fn set(name: &str, secret: &str) -> Result<(), KeyringError> {
    learn(secret);
    service::set(name, secret)
}

/// Reads a secret, which is masked from then on. Blocks until the keyring answers.
///
/// # Errors
/// If the keyring is not available, or has no such secret.
pub fn get(name: &str) -> Result<String, KeyringError> {
    read(&BTreeSet::from([name.to_owned()]))?
        .remove(name)
        .ok_or_else(|| KeyringError::Missing { name: name.to_owned() })
}

/// The secrets of each placeholder as they were last read, as hashes with a key of this process.
static LAST_READ: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// Records what a secret is now.
fn remember(name: &str, secret: &str) {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    let mut all = LAST_READ.lock();
    all.insert(name.to_owned(), KEYS.hash_one(secret));
}

/// Identifies the secrets of a server as this process last read them. It changes when a session is opened with another
/// secret, and says nothing about the secrets outside this process.
#[must_use]
pub fn fingerprint(config: &ServerConfig) -> String {
    let mut names = BTreeSet::new();
    visit(&mut config.transport.clone(), &mut |text| names.extend(self::names(text)));
    let all = LAST_READ.lock();
    let parts = names.into_iter().map(|name| format!("{name} {:?}\n", all.get(&name)));
    parts.collect()
}

/// Deletes a secret. Blocks until the keyring answers.
///
/// # Errors
/// If the keyring is not available, or has no such secret.
pub fn delete(name: &str) -> Result<(), KeyringError> {
    service::delete(name)
}

/// The names of all secrets, sorted. Blocks until the keyring answers.
///
/// # Errors
/// If the keyring is not available.
pub fn list() -> Result<Vec<String>, KeyringError> {
    service::list()
}

/// Reads secrets, by their names.
fn read(names: &BTreeSet<String>) -> Result<BTreeMap<String, String>, KeyringError> {
    let usable = |(name, secret): (String, Vec<u8>)| {
        if secret.len() > MAX_SECRET {
            return Err(KeyringError::Unusable { name, what: "too long" });
        }
        let Ok(secret) = String::from_utf8(secret) else {
            return Err(KeyringError::Unusable { name, what: "not UTF-8" });
        };
        learn(&secret);
        remember(&name, &secret);
        Ok((name, secret))
    };
    service::read(names)?.into_iter().map(usable).collect()
}

/// The settings with each placeholder replaced by its secret.
pub(crate) async fn resolved(config: &ServerConfig) -> Result<Cow<'_, ServerConfig>, Error> {
    let mut names = BTreeSet::new();
    let mut copy = config.clone();
    visit(&mut copy.transport, &mut |text| names.extend(self::names(text)));
    if names.is_empty() {
        return Ok(Cow::Borrowed(config));
    }
    // The keyring may ask the user to unlock it.
    let reading = tokio::task::spawn_blocking(move || read(&names));
    let failed = |source| Error::new(&config.name, ErrorKind::Keyring { source });
    let Ok(done) = tokio::time::timeout(READ_TIMEOUT, reading).await else {
        let reason = format!("it did not answer within {} s", READ_TIMEOUT.as_secs());
        return Err(failed(KeyringError::Unavailable { reason }));
    };
    let secrets: BTreeMap<String, String> = match done {
        Ok(secrets) => secrets.map_err(failed)?,
        Err(error) => {
            let reason = format!("the keyring was not read: {error}");
            return Err(Error::new(&config.name, ErrorKind::Host { reason }));
        }
    };
    visit(&mut copy.transport, &mut |text| *text = replaced(text, &secrets));
    Ok(Cow::Owned(copy))
}

fn replaced(text: &str, secrets: &BTreeMap<String, String>) -> String {
    let mut parts = text.split(START);
    let mut new = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(END).and_then(|(name, rest)| Some((secrets.get(name)?, rest))) {
            Some((secret, rest)) => new.extend([secret, rest]),
            None => new.extend([START, part]),
        }
    }
    new
}

/// Calls `change` with every text that may contain placeholders.
fn visit(transport: &mut Transport, change: &mut dyn FnMut(&mut String)) {
    match transport {
        Transport::Stdio(command) => {
            change(&mut command.command);
            command.args.iter_mut().chain(command.env.values_mut()).for_each(&mut *change);
            if let Some(folder) = command.cwd.as_mut().filter(|folder| folder.to_str().is_some()) {
                let mut text = folder.to_string_lossy().into_owned();
                change(&mut text);
                *folder = PathBuf::from(text);
            }
        }
        Transport::Http(remote) | Transport::Sse(remote) | Transport::OpenApi(OpenApi { remote, .. }) => {
            change(&mut remote.url);
            remote.headers.values_mut().for_each(&mut *change);
            if let Some(OAuth { scope, client_id, client_secret, private_key, key_id, .. }) =
                &mut remote.oauth
            {
                [scope, client_id, client_secret, private_key, key_id].into_iter().flatten().for_each(change);
            }
        }
        Transport::InProcess(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_and_replaced_wherever_texts_are() {
        let name = placeholder("my.token").unwrap();
        assert_eq!(names(&format!("a {name} b{name}")), ["my.token", "my.token"]);
        for wrong in ["", "a/b", "a b", "\u{E001}", &"x".repeat(129)] {
            assert_eq!(placeholder(wrong), None, "{wrong:?}");
        }
        assert_eq!(shown(&format!("a {name}")), "a ${keyring:my.token}");
        let secrets = BTreeMap::from([("my.token".to_owned(), "s3cret-value".to_owned())]);
        assert_eq!(replaced(&format!("Bearer {name}!"), &secrets), "Bearer s3cret-value!");
        let mut config = ServerConfig::stdio("a", format!("x{name}"), [name.as_str()]);
        if let Transport::Stdio(command) = &mut config.transport {
            command.env.insert("KEY".to_owned(), name.clone());
            command.cwd = Some(PathBuf::from(format!("/{name}")));
        }
        visit(&mut config.transport, &mut |text| *text = replaced(text, &secrets));
        let Transport::Stdio(command) = &config.transport else { unreachable!() };
        assert_eq!((command.command.as_str(), command.args[0].as_str()), ("xs3cret-value", "s3cret-value"));
        assert_eq!(command.env["KEY"], "s3cret-value");
        assert_eq!(command.cwd.as_deref(), Some(std::path::Path::new("/s3cret-value")));
    }

    #[test]
    fn a_fingerprint_changes_with_the_secrets_of_its_server_alone() {
        let name = placeholder("fingerprint.one").unwrap();
        let config = ServerConfig::stdio("a", "x", [name.as_str()]);
        let unread = fingerprint(&config);
        remember("fingerprint.one", "first-value");
        let first = fingerprint(&config);
        remember("fingerprint.other", "x");
        assert_eq!(fingerprint(&config), first);
        remember("fingerprint.one", "second-value");
        assert!(fingerprint(&config) != first && unread != first);
        remember("fingerprint.one", "first-value");
        assert_eq!(fingerprint(&config), first);
        assert_eq!(fingerprint(&ServerConfig::stdio("a", "x", ["y"])), "");
    }
}
