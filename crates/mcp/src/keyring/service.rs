//! The Secret Service, over the user's own D-Bus. All functions block until it answers.

use std::collections::{BTreeSet, HashMap};

use dbus_secret_service::{EncryptionType, Error as Failure, Item, SecretService};

use crate::error::KeyringError;

/// The attributes of all stored secrets: the program, and the secret's name.
const PROGRAM: (&str, &str) = ("application", "toolsmith");
const NAME: &str = "name";

/// Maximum length of a reason that the keyring gives, in characters.
const MAX_REASON: usize = 300;

pub(super) fn set(name: &str, secret: &str) -> Result<(), KeyringError> {
    let service = open()?;
    let collection = service.get_default_collection().map_err(|error| unavailable(&error))?;
    collection.unlock().map_err(|error| unavailable(&error))?;
    let (label, attributes) = (format!("Toolsmith: {name}"), HashMap::from([PROGRAM, (NAME, name)]));
    let stored = collection.create_item(&label, attributes, secret.as_bytes(), true, "text/plain");
    stored.map(drop).map_err(|error| unavailable(&error))
}

/// The secrets with these names, which may be any bytes.
pub(super) fn read(names: &BTreeSet<String>) -> Result<Vec<(String, Vec<u8>)>, KeyringError> {
    let service = open()?;
    let secret = |name: &String| {
        let found = find(&service, HashMap::from([PROGRAM, (NAME, name)]))?;
        let item = found.first().ok_or_else(|| KeyringError::Missing { name: name.clone() })?;
        Ok((name.clone(), item.get_secret().map_err(|error| unavailable(&error))?))
    };
    names.iter().map(secret).collect()
}

pub(super) fn delete(name: &str) -> Result<(), KeyringError> {
    let service = open()?;
    let found = find(&service, HashMap::from([PROGRAM, (NAME, name)]))?;
    if found.is_empty() {
        return Err(KeyringError::Missing { name: name.to_owned() });
    }
    found.iter().try_for_each(Item::delete).map_err(|error| unavailable(&error))
}

pub(super) fn list() -> Result<Vec<String>, KeyringError> {
    let service = open()?;
    let found = service.search_items(HashMap::from([PROGRAM])).map_err(|error| unavailable(&error))?;
    let items = found.unlocked.iter().chain(&found.locked);
    let names: BTreeSet<_> = items.filter_map(|item| item.get_attributes().ok()?.remove(NAME)).collect();
    Ok(names.into_iter().collect())
}

/// Connects to the keyring. Secrets cross only the user's own bus, and so are not encrypted once more.
fn open() -> Result<SecretService, KeyringError> {
    SecretService::connect(EncryptionType::Plain).map_err(|error| unavailable(&error))
}

/// The secrets with these attributes, unlocked.
fn find<'a>(
    service: &'a SecretService,
    attributes: HashMap<&str, &str>,
) -> Result<Vec<Item<'a>>, KeyringError> {
    let found = service.search_items(attributes).map_err(|error| unavailable(&error))?;
    found.locked.iter().try_for_each(Item::unlock).map_err(|error| unavailable(&error))?;
    Ok(found.unlocked.into_iter().chain(found.locked).collect())
}

/// Converts an error of the keyring.
fn unavailable(error: &Failure) -> KeyringError {
    let reason = match error {
        Failure::Unavailable => "no Secret Service is running".to_owned(),
        Failure::Locked => "it is locked".to_owned(),
        Failure::Prompt => "it stays locked, because its question was dismissed".to_owned(),
        Failure::NoResult => "it has no default collection".to_owned(),
        // libdbus would start a bus, which is disabled.
        Failure::Dbus(error) if error.name() == Some("org.freedesktop.DBus.Error.NotSupported") => {
            "there is no D-Bus session (DBUS_SESSION_BUS_ADDRESS is not set)".to_owned()
        }
        Failure::Dbus(error) => {
            let text = error.message().unwrap_or("the D-Bus connection failed");
            text.chars().take(MAX_REASON).collect()
        }
        _ => "it gave an answer that can't be read".to_owned(),
    };
    KeyringError::Unavailable { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_secret_and_the_command_that_stores_it() {
        let missing = KeyringError::Missing { name: "absent.token".to_owned() };
        assert_eq!(missing.to_string(), "the keyring has no secret absent.token");
        assert_eq!(missing.hints(), ["to store it: toolsmith secret set absent.token"]);
        let closed = unavailable(&Failure::Unavailable);
        assert_eq!(closed.to_string(), "the keyring is not available: no Secret Service is running");
        assert!(closed.hints().concat().contains("${NAME} in place of ${keyring:NAME}"));
    }
}
