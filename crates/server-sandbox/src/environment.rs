//! The environment of a confined server: what is configured, and what programs need to find others and to write texts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Settings;

/// Variables of this process that every server has.
const INHERITED: &[&str] = &["PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ"];

/// The prefix of the variables of a locale.
const LOCALE: &str = "LC_";

/// The search path if there is none (confstr(3), `_CS_PATH`).
const DEFAULT_PATH: &str = "/usr/local/bin:/bin:/usr/bin";

/// The variables of a server, by name.
pub(crate) struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The variables of this process that a server inherits.
    pub(crate) fn inherited(settings: &Settings) -> Self {
        let is_inherited = |name: &str| {
            INHERITED.contains(&name)
                || name.starts_with(LOCALE)
                || settings.env.iter().any(|own| own == name)
        };
        let own = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok().filter(|name| is_inherited(name))?;
            Some((name, value.into_string().ok()?))
        });
        Environment(own.collect())
    }

    /// Sets variables.
    pub(crate) fn set<'a>(&mut self, variables: impl IntoIterator<Item = (&'a String, &'a String)>) {
        self.0.extend(variables.into_iter().map(|(name, value)| (name.clone(), value.clone())));
    }

    /// Sets a variable to a path, unless it is set.
    pub(crate) fn set_default(&mut self, name: &str, path: &Path) {
        self.0.entry(name.to_owned()).or_insert_with(|| path.to_string_lossy().into_owned());
    }

    /// The search path.
    pub(crate) fn path(&self) -> &str {
        self.0.get("PATH").map_or(DEFAULT_PATH, String::as_str)
    }

    /// The home folder of the user, if it is a folder of its own.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        let home = PathBuf::from(self.0.get("HOME")?);
        (home.is_absolute() && home.parent().is_some()).then_some(home)
    }

    pub(crate) fn into_variables(self) -> impl Iterator<Item = (String, String)> {
        self.0.into_iter()
    }
}
