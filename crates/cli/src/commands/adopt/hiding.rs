//! Where secrets go that a client's file has as plain text: they stay, or move to the environment or the keyring.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clients::plain_secrets::{self, Secret};
use gateway::failure::Failure;
use gateway::terminal_prompter;
use mcp::keyring;
use terminal::{AskAgain, say};

use super::selection::Chosen;
use crate::arguments::{AdoptArguments, SecretsPlace};
use crate::commands::secret::in_keyring;

/// The secrets that were taken out of the entries.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    /// Names and values for the keyring.
    stored: BTreeMap<String, String>,
    /// The variables that the user must set, without their values.
    exported: Vec<String>,
}

impl Hidden {
    /// Stores the secrets of the keyring.
    ///
    /// # Errors
    /// If the keyring is not available.
    pub(super) async fn store(&self) -> Result<(), Failure> {
        for (name, secret) in &self.stored {
            let (name, secret) = (name.clone(), secret.clone());
            in_keyring(move || keyring::set(&name, &secret)).await?;
        }
        Ok(())
    }

    /// Reports what the user has to do.
    pub(super) fn report(&self) {
        if !self.exported.is_empty() {
            let lines: Vec<_> = self.exported.iter().map(|name| format!("  export {name}")).collect();
            let lines = lines.join("\n");
            say(format_args!(
                "toolsmith: set these variables where toolsmith starts; their values are in the previous text of the \
                 client's file:\n{lines}\n"
            ));
        }
        if !self.stored.is_empty() {
            let names: Vec<_> = self.stored.keys().map(String::as_str).collect();
            say(format_args!(
                "toolsmith: stored {} in the keyring; the previous text of the client's file still has the values\n",
                names.join(", ")
            ));
        }
    }
}

/// Reports the plain secrets of the servers, and moves them to where the user wants them.
///
/// # Errors
/// If two secrets would have one name.
pub(super) async fn hide(arguments: &AdoptArguments, chosen: &mut [Chosen]) -> Result<Hidden, Failure> {
    let new = || chosen.iter().filter(|chosen| !chosen.is_there);
    let found: Vec<Secret> =
        new().flat_map(|chosen| plain_secrets::find(&chosen.name, &chosen.entry)).collect();
    if found.is_empty() {
        return Ok(Hidden::default());
    }
    say(format_args!("toolsmith: these values look like secrets:\n"));
    found.iter().for_each(|secret| say(format_args!("  {}\n", printable::exact(&secret.shown()))));
    let place = match arguments.secrets {
        Some(place) => place,
        None => asked().await,
    };
    let mut hidden = Hidden::default();
    // Secrets that are in the keyring already stay: other servers may use them.
    let stored: BTreeSet<String> = match place {
        SecretsPlace::Keyring => in_keyring(keyring::list).await?.into_iter().collect(),
        SecretsPlace::Keep | SecretsPlace::Env => BTreeSet::new(),
    };
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    for chosen in chosen.iter_mut().filter(|chosen| !chosen.is_there) {
        plain_secrets::replace(&chosen.name, &mut chosen.entry, &mut |secret| {
            let name = free_name(place, secret, &values, &stored)?;
            values.insert(name.clone(), secret.value.clone());
            Some(if place == SecretsPlace::Env {
                format!("${{{name}}}")
            } else {
                format!("${{keyring:{name}}}")
            })
        });
    }
    match place {
        SecretsPlace::Keep => {}
        SecretsPlace::Env => {
            let exported = values.into_iter().map(|(name, value)| {
                let note = if is_pair(&value) { "   # base64 of NAME:PASSWORD" } else { "" };
                format!("{name}=…{note}")
            });
            hidden.exported = exported.collect();
        }
        SecretsPlace::Keyring => hidden.stored = values,
    }
    Ok(hidden)
}

/// Whether a secret is a name with a password for the scheme `Basic`, which a client's file may have in an address.
fn is_pair(secret: &str) -> bool {
    STANDARD
        .decode(secret)
        .is_ok_and(|bytes| std::str::from_utf8(&bytes).is_ok_and(|text| text.contains(':')))
}

/// A name for a secret that no other value has, and that is not in the keyring. `None` if the secret stays.
fn free_name(
    place: SecretsPlace,
    secret: &Secret,
    taken: &BTreeMap<String, String>,
    stored: &BTreeSet<String>,
) -> Option<String> {
    let name = match place {
        SecretsPlace::Keep => return None,
        SecretsPlace::Env => secret.variable.clone(),
        SecretsPlace::Keyring => secret.keyring_name(),
    };
    let is_free =
        |name: &String| !stored.contains(name) && taken.get(name).is_none_or(|value| *value == secret.value);
    let prefix = secret.server.to_ascii_uppercase().replace('-', "_");
    let more = (2..=taken.len() + stored.len() + 2).map(|count| format!("{name}_{count}"));
    std::iter::once(name.clone()).chain([format!("{prefix}_{name}")]).chain(more).find(is_free)
}

async fn asked() -> SecretsPlace {
    let Some(user) = terminal_prompter::of_command() else {
        say(format_args!(
            "toolsmith: they stay as text; to move them: --secrets env, or --secrets keyring\n"
        ));
        return SecretsPlace::Keep;
    };
    let read = |typed: &str| match typed.to_ascii_lowercase().as_str() {
        "k" | "keep" => Ok(SecretsPlace::Keep),
        "e" | "env" => Ok(SecretsPlace::Env),
        "r" | "keyring" => Ok(SecretsPlace::Keyring),
        _ => Err(AskAgain(String::new())),
    };
    let text = "Where should Toolsmith keep them?\n";
    let choices = "[k] as text in its file  [e] environment variables  [r] the system's keyring: ";
    user.answer(text, choices, read).await.unwrap_or(SecretsPlace::Keep)
}
