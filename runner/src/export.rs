//! Exports a program as a crate: the sources that a snippet is compiled from, as files for `cargo build`.
//!
//! It is for reading, for editors with rust-analyzer, and for programs to keep. It contains the bridge, the bindings
//! (`tools`), the program (`snippet`) and, if available, the sources of all crates.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;
use snippet::in_scope;

use crate::engine::Options;
use crate::error::{Error, ErrorKind, Result};
use crate::journal::Sink;
use crate::layer;
use crate::toolchain;

/// The path of the program in the crate folder.
pub const SNIPPET: &str = "snippet/src/snippet.rs";

/// The manifest key that marks a crate as exported, so that it may be overwritten.
const MARK: &str = "toolsmith";

const MAIN: &str = include_str!("export/main.rs");
/// The line of [`MAIN`] that the imports replace.
const IMPORTS: &str = "    // Their imports are inserted here.\n";
/// Maximum length of a manifest that is read, in bytes (1 MiB).
const LONGEST: u64 = 1 << 20;

const FIRST_SNIPPET: &str = include_str!("export/snippet.rs");
const VENDORED: &str = "# The sources of all crates are in `vendor`: nothing is downloaded.\n\
    [source.crates-io]\nreplace-with = \"vendored-sources\"\n\n\
    [source.vendored-sources]\ndirectory = \"vendor\"\n";

/// Whether a folder contains a crate written by [`write_crate`], according to its manifest.
#[must_use]
pub fn is_crate(folder: &Path) -> bool {
    let manifest = system::file::read(&folder.join("Cargo.toml"), LONGEST).ok().flatten();
    let manifest: Option<toml::Table> = manifest.and_then(|text| toml::from_slice(&text).ok());
    let metadata = manifest.as_ref().and_then(|manifest| manifest.get("workspace")?.get("metadata"));
    metadata.is_some_and(|metadata| metadata.get(MARK).is_some())
}

/// The path of a module's bindings in the crate folder.
#[must_use]
pub fn module_file(module: &str) -> String {
    format!("tools/src/{module}.rs")
}

/// Writes a crate with the bindings `modules` (module names and the root files of [`codegen::root`]) to `folder`. An
/// existing program is kept.
///
/// # Errors
/// If the folder can't be written to.
pub fn write_crate(folder: &Path, modules: &[(String, String)]) -> Result<()> {
    let failed = |error: std::io::Error| {
        let message = format!("the crate can't be written to {}: {error}", folder.display());
        Error::new(ErrorKind::Export, message)
            .hint(format!("{}, or name another folder", system::file::advice(&error)))
            .caused_by(error)
    };
    let manifest = |text: Result<toml::Table, toml::ser::Error>| {
        let text = text.and_then(|table| toml::to_string_pretty(&table));
        text.map_err(|error| {
            Error::new(ErrorKind::Export, format!("a manifest can't be written: {error}")).caused_by(error)
        })
    };
    let mut files = vec![
        ("Cargo.toml".to_owned(), manifest(Ok(workspace_manifest()?))?),
        ("Cargo.lock".to_owned(), lock_file()?),
        (".gitignore".to_owned(), "/target\n".to_owned()),
        ("tools/Cargo.toml".to_owned(), manifest(Ok(package("tools", &["bridge"])?))?),
        ("tools/src/lib.rs".to_owned(), tools_root(modules)),
        ("snippet/Cargo.toml".to_owned(), manifest(Ok(snippet_manifest()?))?),
        ("snippet/src/main.rs".to_owned(), MAIN.replace(IMPORTS, &in_scope::all())),
    ];
    files.extend(layer::SOURCES.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
    files.extend(modules.iter().map(|(module, source)| (module_file(module), source.clone())));
    if !folder.join(SNIPPET).exists() {
        files.push((SNIPPET.to_owned(), FIRST_SNIPPET.to_owned()));
    }
    remove_bindings(folder).map_err(failed)?;
    for (name, text) in files {
        write_file(folder, &name, &text).map_err(failed)?;
    }
    Ok(())
}

/// Writes one file in `folder` without following links, so that nothing outside is written.
fn write_file(folder: &Path, name: &str, text: &str) -> std::io::Result<()> {
    let mut path = folder.to_owned();
    let parts: Vec<&str> = name.split('/').collect();
    for (index, part) in parts.iter().enumerate() {
        path.push(part);
        if path.is_symlink() {
            let message = format!("{} is a link to another place; remove it", path.display());
            return Err(std::io::Error::other(message));
        }
        if index + 1 < parts.len() && !path.is_dir() {
            fs_err::create_dir(&path)?;
        }
    }
    fs_err::write(path, text)
}

/// Removes bindings written earlier: a server may be gone.
fn remove_bindings(folder: &Path) -> std::io::Result<()> {
    let Ok(files) = fs_err::read_dir(folder.join("tools/src")) else { return Ok(()) };
    for file in files {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            fs_err::remove_file(path)?;
        }
    }
    Ok(())
}

/// Adds the sources of all crates to a crate folder, so that it builds without network.
///
/// # Errors
/// If there is no toolchain, or sources are neither in the cache nor available from the registry.
pub async fn vendor(options: &Options, folder: &Path, sink: &dyn Sink) -> Result<()> {
    let cache = &options.cache;
    // A bundle has no cargo, so this takes the user's own toolchain in any case.
    let toolchain = toolchain::find(cache, options.install_target, sink).await?;
    // cargo runs in another folder.
    let folder = &std::path::absolute(folder).map_err(Error::cache(folder))?;
    let manifest = folder.join("Cargo.toml");
    let vendor = folder.join("vendor");
    let arguments =
        ["vendor".as_ref(), "--locked".as_ref(), "--manifest-path".as_ref(), manifest.as_os_str()];
    layer::cargo(cache, &toolchain, &[&arguments[..], &[vendor.as_os_str()]].concat()).await?;
    let config = folder.join(".cargo");
    fs_err::create_dir_all(&config).map_err(Error::cache(folder))?;
    fs_err::write(config.join("config.toml"), VENDORED).map_err(Error::cache(folder))
}

fn tools_root(modules: &[(String, String)]) -> String {
    let mut text = String::from("//! Generated bindings: one module per MCP server.\n\n");
    for (module, _) in modules {
        // Writing to a string does not fail.
        let _ = writeln!(text, "pub mod {module};");
    }
    text
}

fn parse(text: &str) -> Result<toml::Table> {
    text.parse()
        .map_err(|error: toml::de::Error| Error::new(ErrorKind::Export, error.to_string()).caused_by(error))
}

/// The manifest of the layer's workspace, with other members.
fn workspace_manifest() -> Result<toml::Table> {
    let mut manifest = parse(layer::WORKSPACE_MANIFEST)?;
    if let Some(toml::Value::Table(workspace)) = manifest.get_mut("workspace") {
        let members =
            ["anyhow", "bridge", "chrono", "futures", "regex", "tools", "snippet"].map(toml::Value::from);
        workspace.insert("members".to_owned(), members.to_vec().into());
        workspace.insert("default-members".to_owned(), vec![toml::Value::from("snippet")].into());
        let mark = toml::Table::from_iter([("generated".to_owned(), true.into())]);
        let metadata = toml::Table::from_iter([(MARK.to_owned(), mark.into())]);
        workspace.insert("metadata".to_owned(), metadata.into());
    }
    Ok(manifest)
}

/// A package that depends on others in the workspace.
fn package(name: &str, siblings: &[&str]) -> Result<toml::Table> {
    let mut text = format!(
        "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n"
    );
    for sibling in siblings {
        let _ = writeln!(text, "{sibling} = {{ path = \"../{sibling}\" }}");
    }
    parse(&text)
}

/// The program's package: it may use what snippets may use.
fn snippet_manifest() -> Result<toml::Table> {
    let mut manifest = package("snippet", &["tools"])?;
    let offer = parse(layer::OFFER_MANIFEST)?;
    if let (Some(toml::Value::Table(own)), Some(toml::Value::Table(offered))) =
        (manifest.get_mut("dependencies"), offer.get("dependencies"))
    {
        own.extend(offered.clone());
    }
    Ok(manifest)
}

/// The layer's lock file with the crate's packages instead of `offer`, and without packages that only other members of
/// the layer need: Cargo's `--locked` accepts no others.
fn lock_file() -> Result<String> {
    let mut lock = parse(layer::LOCK_FILE)?;
    let packages = lock.remove("package").and_then(|packages| packages.try_into().ok()).unwrap_or_default();
    let mut packages: Vec<Package> = packages;
    let snippet = packages.iter_mut().find(|package| package.name == "offer");
    if let Some(snippet) = snippet {
        "snippet".clone_into(&mut snippet.name);
        // It sorts after all crates for snippets; otherwise, a test that builds a crate would fail.
        snippet.dependencies.push("tools".to_owned());
    }
    packages.push(Package::member("tools", &["bridge"]));
    let packages = needed("snippet", &packages);
    let names: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    // A version is there only if several packages have the name.
    let is_alone = |name: &str| names.iter().filter(|other| **other == name).count() == 1;
    let mut text = String::from(
        "# This file is automatically @generated by Cargo.\n\
        # It is not intended for manual editing.\n",
    );
    let _ = writeln!(
        text,
        "version = {}",
        lock.get("version").and_then(toml::Value::as_integer).unwrap_or_default()
    );
    packages.iter().for_each(|package| package.write(&mut text, is_alone));
    Ok(text)
}

/// A package of a lock file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Package {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
    /// As `name` or `name version`.
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Package {
    fn member(name: &str, dependencies: &[&str]) -> Self {
        let dependencies = dependencies.iter().map(|name| (*name).to_owned()).collect();
        Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            source: None,
            checksum: None,
            dependencies,
        }
    }

    /// Whether another package names it so.
    fn is(&self, dependency: &str) -> bool {
        match dependency.split_once(' ') {
            Some((name, version)) => self.name == name && self.version == version,
            None => self.name == dependency,
        }
    }

    fn write(&self, text: &mut String, is_alone: impl Fn(&str) -> bool) {
        let _ = write!(text, "\n[[package]]\nname = {:?}\nversion = {:?}\n", self.name, self.version);
        for (key, value) in [("source", &self.source), ("checksum", &self.checksum)] {
            if let Some(value) = value {
                let _ = writeln!(text, "{key} = {value:?}");
            }
        }
        if self.dependencies.is_empty() {
            return;
        }
        text.push_str("dependencies = [\n");
        for dependency in &self.dependencies {
            let name = dependency.split(' ').next().unwrap_or_default();
            let _ = writeln!(text, " {:?},", if is_alone(name) { name } else { dependency });
        }
        text.push_str("]\n");
    }
}

/// The packages that `root` needs, and itself, in the order of lock files.
fn needed(root: &str, packages: &[Package]) -> Vec<Package> {
    let mut needed = BTreeSet::new();
    let mut waiting = vec![root];
    while let Some(dependency) = waiting.pop() {
        for package in packages.iter().filter(|package| package.is(dependency)) {
            if needed.insert(package.clone()) {
                waiting.extend(package.dependencies.iter().map(String::as_str));
            }
        }
    }
    needed.into_iter().collect()
}
