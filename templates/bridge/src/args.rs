//! The arguments of the execution.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

/// The key under which the arguments of a saved program are passed: one JSON object.
pub const PROGRAM_ARGUMENTS: &str = "arguments";

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

    /// The arguments of a saved program, as the type that it declares.
    ///
    /// # Errors
    /// If they do not have the form of the type.
    #[doc(hidden)]
    pub fn typed<T: DeserializeOwned>(&self) -> crate::Result<T> {
        let text = self.get(PROGRAM_ARGUMENTS).unwrap_or("{}");
        let mut json = serde_json::Deserializer::from_str(text);
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let place = match error.path().to_string().as_str() {
                // Of a missing or an unknown argument, which the message names.
                "." => "the arguments have".to_owned(),
                path => format!("the argument `{path}` has"),
            };
            let message = error.into_inner().to_string();
            // The position is in JSON that nobody has written.
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
            anyhow::Error::msg(format!("{place} another form than `Args` declares: {message}"))
        })
    }

    /// All arguments, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}
