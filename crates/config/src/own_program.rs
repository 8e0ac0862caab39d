//! Detects entries that start Toolsmith with the configuration that contains them, which would recurse without limit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::config_layer::ConfigLayer;
use super::error::Error;
use super::source::Source;

/// The installed name of this program.
const NAME: &str = "toolsmith";

/// Whether a command starts this program: by its name, or by a path or link to it.
pub fn is_this_program(command: &str) -> bool {
    let path = Path::new(command);
    if path.file_name().is_some_and(|name| name == NAME) {
        return true;
    }
    let found = if command.contains('/') { Some(path.to_owned()) } else { in_path(command) };
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).ok();
    own.is_some() && found.and_then(|found| found.canonicalize().ok()) == own
}

pub(super) fn in_path(command: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(command)).find(|file| file.is_file())
}

/// The path of this program.
pub(super) fn own_program() -> Result<String, Error> {
    let program = std::env::current_exe().map_err(|error| {
        Error::new(format!("the demo server is this program, which can't be found: {error}")).caused_by(error)
    })?;
    Ok(program.to_string_lossy().into_owned())
}

/// The error for an entry whose command is a Toolsmith server that reads the same source.
pub(super) fn starts_itself(source: &Source, command: &mcp::Command) -> Option<String> {
    let is_server =
        is_this_program(&command.command) && command.args.first().is_some_and(|arg| arg == "serve");
    (is_server && reads(source, command)).then(|| {
        "the command starts this server itself, which would never end; remove the entry, or give it another \
         configuration (--config)"
            .to_owned()
    })
}

/// Whether the started server reads this source.
fn reads(source: &Source, command: &mcp::Command) -> bool {
    match &source.layer {
        ConfigLayer::User(_) => ["XDG_CONFIG_HOME", "HOME"].iter().all(|name| keeps(&command.env, name)),
        ConfigLayer::Project(_) => command.cwd.as_ref().is_none_or(|folder| same(folder, &source.folder)),
        ConfigLayer::Named(file) => named(command).is_some_and(|named| same(&named, file)),
        // Servers don't inherit the variable.
        ConfigLayer::Environment | ConfigLayer::Demo => false,
    }
}

/// Whether the server gets the same value of a variable as this process.
fn keeps(env: &BTreeMap<String, String>, name: &str) -> bool {
    env.get(name).is_none_or(|value| std::env::var(name).is_ok_and(|own| own == *value))
}

/// The file named by `--config`, relative to the folder that the server starts in.
fn named(command: &mcp::Command) -> Option<PathBuf> {
    let mut args = command.args.iter();
    let file = args.find_map(|arg| arg.strip_prefix("--config").map(|rest| rest.strip_prefix('=')))?;
    let file = file.or_else(|| args.next().map(String::as_str))?;
    let folder = command.cwd.clone().or_else(|| std::env::current_dir().ok())?;
    Some(folder.join(file))
}

fn same(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}
