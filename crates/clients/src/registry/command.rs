//! How the packages of a registry are started: each by the runner of its package manager, in exactly one version.

use config::Error;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::inputs::{Answers, Input, literal, named};
use crate::edit::Entry;

/// The kind of a bundle, which is unpacked instead.
pub(super) const BUNDLE: &str = "mcpb";

/// A package of a package registry.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Package {
    pub(super) registry_type: String,
    registry_base_url: Option<String>,
    pub(super) identifier: String,
    pub(super) version: Option<String>,
    pub(super) file_sha256: Option<String>,
    runtime_hint: Option<String>,
    transport: Transport,
    #[serde(default)]
    pub(super) runtime_arguments: Vec<Input>,
    #[serde(default)]
    pub(super) package_arguments: Vec<Input>,
    #[serde(default)]
    pub(super) environment_variables: Vec<Input>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Transport {
    r#type: String,
}

/// A kind of package.
struct Manager {
    kind: &'static str,
    /// The only registry whose packages the runner starts.
    registry: &'static [&'static str],
    /// The programs that start a package, the usual one first.
    runners: &'static [&'static str],
}

/// The kinds of packages that can be started.
const MANAGERS: [Manager; 4] = [
    Manager { kind: "npm", registry: &["https://registry.npmjs.org"], runners: &["npx", "bunx"] },
    Manager { kind: "pypi", registry: &["https://pypi.org"], runners: &["uvx", "pipx"] },
    Manager {
        kind: "nuget",
        registry: &["https://api.nuget.org/v3/index.json", "https://api.nuget.org"],
        runners: &["dnx"],
    },
    Manager { kind: "oci", registry: &["https://docker.io"], runners: &["docker", "podman"] },
];

/// The reason why an offer can't be used, as the end of a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unusable(pub(super) String);

impl From<&str> for Unusable {
    fn from(reason: &str) -> Self {
        Unusable(reason.to_owned())
    }
}

/// Checks whether a package can be used.
pub(super) fn check(package: &Package) -> Result<(), Unusable> {
    if package.transport.r#type != "stdio" {
        let transport = printable::name(&package.transport.r#type);
        return Err(Unusable(format!(
            "it speaks {transport} at an address of its own; start it, and add that address"
        )));
    }
    if package.registry_type == BUNDLE {
        let is_hash = |hash: &String| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        return match &package.file_sha256 {
            Some(hash) if is_hash(hash) && package.identifier.starts_with("https://") => Ok(()),
            _ => Err("the bundle needs an https address and its SHA-256 hash".into()),
        };
    }
    let manager = manager(package).ok_or_else(|| {
        let kinds: Vec<&str> = MANAGERS.iter().map(|manager| manager.kind).collect();
        Unusable(format!("only packages of {} and {BUNDLE} can be added", kinds.join(", ")))
    })?;
    let registry = package.registry_base_url.as_deref().map(|url| url.trim_end_matches('/'));
    if registry.is_some_and(|registry| !manager.registry.contains(&registry)) {
        return Err(Unusable(format!("it is in another package registry than {}", manager.registry[0])));
    }
    if !is_name(&package.identifier, manager.kind) {
        return Err("its identifier is not the name of a package".into());
    }
    if manager.kind == "oci" {
        return image(package).map(drop);
    }
    version(package).map(drop)
}

fn manager(package: &Package) -> Option<&'static Manager> {
    MANAGERS.iter().find(|manager| manager.kind == package.registry_type)
}

/// Whether a text can be the name of a package, and neither an option, a path nor an address.
fn is_name(text: &str, kind: &str) -> bool {
    let more = match kind {
        "npm" => "@/._~-",
        "oci" => "/:@._-",
        _ => "._-",
    };
    let begins = |c: char| c.is_ascii_alphanumeric() || kind == "npm" && c == '@';
    let slashes = text.matches('/').count();
    text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
        && text.starts_with(begins)
        && (kind != "npm"
            || slashes == usize::from(text.starts_with('@')) && text.matches('@').count() == slashes)
}

/// The version, which must be exactly one.
fn version(package: &Package) -> Result<&str, Unusable> {
    let is_exact = |text: &&str| {
        text.starts_with(|c: char| c.is_ascii_digit() || c == 'v')
            && text.chars().any(|c| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || ".+-_!".contains(c))
            && !text.split('.').any(|part| part == "x" || part == "X")
    };
    let version = package.version.as_deref().filter(is_exact);
    version.ok_or_else(|| "it does not name exactly one version".into())
}

/// The image with its registry, and exactly one tag or digest.
fn image(package: &Package) -> Result<String, Unusable> {
    let identifier = &package.identifier;
    let host = package.registry_base_url.as_deref().and_then(|url| url.strip_prefix("https://"));
    let name = match host.map(|host| host.trim_end_matches('/')) {
        Some(host) if !identifier.starts_with(&format!("{host}/")) => format!("{host}/{identifier}"),
        _ => identifier.clone(),
    };
    let last = name.rsplit('/').next().unwrap_or_default();
    match last.rsplit_once(['@', ':']) {
        Some((_, "latest" | "")) => Err("it names no version of the image".into()),
        Some(_) => Ok(name),
        None => Ok(format!("{name}:{}", version(package)?)),
    }
}

/// The entry that starts a package.
pub(super) fn entry(package: &Package, answers: &Answers) -> Result<Entry, Error> {
    check(package).map_err(|Unusable(why)| Error::new(why))?;
    let manager = manager(package).ok_or_else(|| Error::new("this kind of package has no command"))?;
    let hint = package.runtime_hint.as_deref();
    let runner = manager.runners.iter().find(|runner| hint == Some(runner)).unwrap_or(&manager.runners[0]);
    let env = named(&package.environment_variables, answers)?;
    let before = arguments(&package.runtime_arguments, answers)?;
    let behind = arguments(&package.package_arguments, answers)?;
    let mut args = Vec::new();
    let add =
        |args: &mut Vec<String>, words: &[&str]| args.extend(words.iter().map(|word| (*word).to_owned()));
    let (name, version) = (literal(&package.identifier), version(package).unwrap_or_default());
    match *runner {
        "docker" | "podman" => {
            add(&mut args, &["run", "-i", "--rm"]);
            // The values stay out of the command line.
            env.keys().for_each(|name| add(&mut args, &["-e", &literal(name)]));
            args.extend(before.into_iter().filter(|word| !["run", "-i", "--rm"].contains(&word.as_str())));
            args.push(image(package).map_err(|Unusable(why)| Error::new(why))?);
        }
        "pipx" => {
            args.push("run".to_owned());
            args.extend(before);
            add(&mut args, &["--spec", &format!("{name}=={version}"), &name]);
        }
        "dnx" => {
            args.push(format!("{name}@{version}"));
            args.push("--yes".to_owned());
            args.extend(before.into_iter().filter(|word| word != "--yes"));
            if !behind.is_empty() {
                args.push("--".to_owned());
            }
        }
        runner => {
            let asks_not = ["-y", "--yes"];
            if runner == "npx" && !before.iter().any(|word| asks_not.contains(&word.as_str())) {
                args.push("-y".to_owned());
            }
            // `--from` and `--package` name the package themselves, and then a program of it follows.
            let names_it = |word: &String| ["--from", "--package", "-p"].contains(&word.as_str());
            let is_named = before.iter().any(names_it);
            args.extend(before);
            args.push(if is_named { name } else { format!("{name}@{version}") });
        }
    }
    args.extend(behind);
    let mut entry: Entry = vec![
        ("type".to_owned(), json!("stdio")),
        ("command".to_owned(), json!(runner)),
        ("args".to_owned(), json!(args)),
    ];
    if !env.is_empty() {
        entry.push(("env".to_owned(), Json::Object(env)));
    }
    Ok(entry)
}

/// The words of a list of arguments.
fn arguments(inputs: &[Input], answers: &Answers) -> Result<Vec<String>, Error> {
    let mut words = Vec::new();
    for input in inputs {
        for value in input.values(answers)? {
            if input.r#type.as_deref() == Some("named") {
                words.extend(input.name.as_deref().map(literal));
            }
            words.push(value);
        }
    }
    Ok(words)
}
