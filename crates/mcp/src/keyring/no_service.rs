//! The keyring of programs that are built without it (feature `keyring`): every use is an error.

use std::collections::BTreeSet;

use crate::error::KeyringError;

pub(super) fn set(_: &str, _: &str) -> Result<(), KeyringError> {
    Err(absent())
}

pub(super) fn read(_: &BTreeSet<String>) -> Result<Vec<(String, Vec<u8>)>, KeyringError> {
    Err(absent())
}

pub(super) fn delete(_: &str) -> Result<(), KeyringError> {
    Err(absent())
}

pub(super) fn list() -> Result<Vec<String>, KeyringError> {
    Err(absent())
}

fn absent() -> KeyringError {
    KeyringError::Unavailable { reason: "this program was built without it".to_owned() }
}
