//! Files and folders of clients, which the user's variables can move.

use std::path::{Path, PathBuf};

use config::Error;

/// The folder that a location is in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Base {
    /// The home folder.
    Home,
    /// The user's configuration folder (XDG Base Directory Specification), also on macOS.
    Config,
    /// The folder in which desktop applications keep their settings.
    Applications,
}

/// A file or folder of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Location {
    /// The variable that names the folder instead.
    variable: Option<&'static str>,
    base: Base,
    folder: &'static str,
    file: &'static str,
}

impl Location {
    /// A file in a folder.
    pub(crate) const fn new(base: Base, folder: &'static str, file: &'static str) -> Self {
        Location { variable: None, base, folder, file }
    }

    /// The same file in the folder that a variable names, if it is set.
    pub(crate) const fn or(self, variable: &'static str) -> Self {
        Location { variable: Some(variable), ..self }
    }

    pub(crate) fn path(&self) -> Result<PathBuf, Error> {
        let folder = match self.variable.map(named_folder) {
            Some(Some(folder)) => folder?,
            _ => self.base.path()?.join(self.folder),
        };
        Ok(folder.join(self.file))
    }

    /// The path without the user's own settings, for display.
    pub(crate) fn shown(&self) -> String {
        let base = match self.base {
            Base::Applications if cfg!(target_os = "macos") => "~/Library/Application Support",
            Base::Config | Base::Applications => "~/.config",
            Base::Home => "~",
        };
        Path::new(base).join(self.folder).join(self.file).display().to_string()
    }
}

impl Base {
    fn path(self) -> Result<PathBuf, Error> {
        match self {
            Base::Home => home(),
            Base::Applications if cfg!(target_os = "macos") => {
                Ok(home()?.join("Library/Application Support"))
            }
            Base::Config | Base::Applications => {
                named_folder("XDG_CONFIG_HOME").unwrap_or_else(|| Ok(home()?.join(".config")))
            }
        }
    }
}

/// The folder that a variable names, if it is set.
fn named_folder(variable: &str) -> Option<Result<PathBuf, Error>> {
    let folder = std::env::var_os(variable).filter(|folder| !folder.is_empty())?;
    Some(std::path::absolute(folder).map_err(|error| Error::new(format!("{variable}: {error}"))))
}

fn home() -> Result<PathBuf, Error> {
    etcetera::home_dir()
        .map_err(|error| Error::new("there is no home folder").caused_by(error).hint("set HOME"))
}
