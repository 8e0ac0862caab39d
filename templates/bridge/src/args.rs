//! The arguments of the execution.

use std::collections::BTreeMap;

/// The execution's arguments: `--arg KEY=VALUE` on the command line, `args` of a request.
#[derive(Debug, Clone, Default)]
pub struct Args(pub(crate) BTreeMap<String, String>);

impl Args {
    /// The value of `key`, if given.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// The value of `key`.
    ///
    /// # Errors
    /// If the argument was not given.
    #[track_caller]
    pub fn require(&self, key: &str) -> crate::Result<&str> {
        match self.get(key) {
            Some(value) => Ok(value),
            None => Err(anyhow::Error::msg(format!("the argument {key:?} was not given"))),
        }
    }

    /// All arguments, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}
