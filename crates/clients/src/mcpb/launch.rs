//! How an unpacked server is started: the command of its manifest with this machine's folders and the user's values, and
//! what a confined server may use of them.

use std::collections::BTreeMap;
use std::path::Path;

use config::Error;
use serde_json::{Map, Value as Json, json};

use super::folders::{replace, user_folder};
use super::manifest::{Kind, Launch, Manifest, PLATFORM, ValueType};
use crate::edit::Entry;
use crate::registry::{Answers, literal};

/// Where a confined uv server has its environment: in memory, because its own folder is only read.
const UV_ENVIRONMENT: (&str, &str) = ("UV_PROJECT_ENVIRONMENT", "/tmp/environment");

/// Maximum size of a `pyproject.toml`, in bytes (1 MiB).
const MAX_PROJECT: u64 = 1 << 20;

/// The entry that starts a server from its folder.
pub(super) fn entry(manifest: &Manifest, folder: &Path, answers: &Answers) -> Result<Entry, Error> {
    let place = Place { folder, answers };
    let launch = manifest.server.mcp_config.as_ref();
    let launch = match launch {
        Some(launch) if manifest.server.r#type != Kind::Uv => of_platform(launch),
        Some(launch) => {
            let mut usual = usual(manifest, folder);
            usual.env.extend(of_platform(launch).env);
            usual
        }
        None => usual(manifest, folder),
    };
    let env: Map<String, Json> = launch
        .env
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), json!(place.text(value)?))))
        .collect();
    let args: Vec<String> = launch.args.iter().flat_map(|arg| place.words(arg)).collect();
    let command =
        place.text(&launch.command).ok_or_else(|| Error::new("the command of the bundle has no value"))?;
    let mut entry: Entry = vec![
        ("type".to_owned(), json!("stdio")),
        ("command".to_owned(), json!(program(&command, folder, manifest.server.r#type))),
        ("args".to_owned(), json!(args)),
        ("cwd".to_owned(), json!(literal(&folder.to_string_lossy()))),
    ];
    if !env.is_empty() {
        entry.push(("env".to_owned(), Json::Object(env)));
    }
    entry.push(("sandbox".to_owned(), grants(manifest, answers)?));
    Ok(entry)
}

/// The command without the manifest's own: each kind of server has its usual one.
fn usual(manifest: &Manifest, folder: &Path) -> Launch {
    let entry_point = manifest.server.entry_point.clone();
    let inside = format!("${{__dirname}}/{entry_point}");
    let (command, args, env) = match manifest.server.r#type {
        Kind::Node => ("node".to_owned(), vec![inside], None),
        Kind::Python => ("python".to_owned(), vec![inside], None),
        Kind::Binary => (inside, Vec::new(), None),
        Kind::Uv => {
            let project: &[&str] = match folder.join("uv.lock").exists() {
                true => &["run", "--frozen", "--directory", "${__dirname}"],
                // Otherwise uv would write a lock file into the folder.
                false => &["run", "--no-project", "--directory", "${__dirname}"],
            };
            let packages = if project.contains(&"--frozen") { Vec::new() } else { dependencies(folder) };
            let packages = packages.into_iter().flat_map(|package| ["--with".to_owned(), package]);
            let args = project.iter().map(|word| (*word).to_owned()).chain(packages).chain([entry_point]);
            ("uv".to_owned(), args.collect(), Some(UV_ENVIRONMENT))
        }
    };
    let env = env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Launch { command, args, env, platform_overrides: BTreeMap::new() }
}

/// The packages that a uv server names in its `pyproject.toml`.
fn dependencies(folder: &Path) -> Vec<String> {
    let read = system::file::read(&folder.join("pyproject.toml"), MAX_PROJECT).ok().flatten();
    let text = read.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let project: toml::Table = text.parse().unwrap_or_default();
    let named = project
        .get("project")
        .and_then(|project| project.get("dependencies"))
        .and_then(toml::Value::as_array);
    named.into_iter().flatten().filter_map(|package| package.as_str().map(str::to_owned)).collect()
}

/// A command with what differs on this platform.
fn of_platform(launch: &Launch) -> Launch {
    let other = launch.platform_overrides.get(PLATFORM);
    let mut env = launch.env.clone();
    env.extend(other.iter().flat_map(|other| other.env.clone()));
    Launch {
        command: other.and_then(|other| other.command.clone()).unwrap_or_else(|| launch.command.clone()),
        args: other.and_then(|other| other.args.clone()).unwrap_or_else(|| launch.args.clone()),
        env,
        platform_overrides: BTreeMap::new(),
    }
}

/// The program: one of the bundle by its path, or else one of the machine. Many machines have Python as `python3` only.
fn program(command: &str, folder: &Path, kind: Kind) -> String {
    let inside = folder.join(command);
    if command.contains('/') && inside.is_file() {
        return literal(&inside.to_string_lossy());
    }
    let is_missing = || which::which("python").is_err() && which::which("python3").is_ok();
    if kind == Kind::Python && command == "python" && is_missing() {
        "python3".to_owned()
    } else {
        command.to_owned()
    }
}

/// The grants beyond the defaults: the folders and files that the user names for it.
fn grants(manifest: &Manifest, answers: &Answers) -> Result<Json, Error> {
    let (mut read, mut write) = (Vec::new(), Vec::new());
    for (name, value) in manifest.values()? {
        let paths = answers
            .get(name)
            .into_iter()
            .flatten()
            .filter(|path| path.starts_with('/'))
            .map(|path| json!(path));
        match value.r#type {
            ValueType::Directory => {
                let paths: Vec<Json> = paths.collect();
                read.extend(paths.clone());
                write.extend(paths);
            }
            ValueType::File => read.extend(paths),
            ValueType::String | ValueType::Number | ValueType::Boolean => {}
        }
    }
    let given = [("read", read), ("write", write)].into_iter().filter(|(_, paths)| !paths.is_empty());
    let given: Map<String, Json> = given.map(|(key, paths)| (key.to_owned(), Json::Array(paths))).collect();
    Ok(if given.is_empty() { json!(true) } else { Json::Object(given) })
}

/// Where a server is, and the user's values.
struct Place<'a> {
    folder: &'a Path,
    answers: &'a Answers,
}

impl Place<'_> {
    /// An argument: as many as there are values, if it is nothing but one of the user's values.
    fn words(&self, text: &str) -> Vec<String> {
        let name = text.strip_prefix("${user_config.").and_then(|rest| rest.strip_suffix('}'));
        match name.filter(|name| !name.contains("${")) {
            Some(name) => self.answers.get(name).cloned().unwrap_or_default(),
            None => self.text(text).into_iter().collect(),
        }
    }

    /// A text of the configuration; `None` if it has a value that the user has not given.
    fn text(&self, text: &str) -> Option<String> {
        let (mut filled, mut is_whole) = (String::new(), true);
        replace(&literal(text), &mut filled, |name| match name.strip_prefix("user_config.") {
            Some(name) => {
                let values = self.answers.get(name).filter(|values| !values.is_empty());
                is_whole &= values.is_some();
                values.map(|values| values.join(","))
            }
            None if name == "__dirname" => Some(literal(&self.folder.to_string_lossy())),
            None => user_folder(name).map(|folder| literal(&folder)),
        });
        is_whole.then_some(filled)
    }
}
