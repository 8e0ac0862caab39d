//! The base layer of all snippets: the bridge and the crates for snippets, compiled once.
//!
//! Sources come from the crates registry (`cargo fetch`, with network, which runs no third-party code) and are compiled
//! by `cargo build --locked --offline` in the sandbox. The result depends on no path: the compiler writes fixed ones
//! instead of those of the cache, so two builds of a layer have the same bytes.
//!
//! | input of the key | why |
//! | --- | --- |
//! | `rustc -vV` | compilers read only their own libraries |
//! | target | likewise |
//! | manifests, with the profile, and the compiler's wrapper | features and flags |
//! | lock file | versions |
//! | sources of `bridge` and of our variants of crates for snippets | their code |
//! | flags, options and sources of the base, version of `base-link` | the base that programs are linked against |

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use cargo_metadata::{Message, TargetKind};
use serde::{Deserialize, Serialize};
use snippet::SCHEMA_CRATE;
use tokio::time::timeout;

use crate::base::{self, Base, BaseState};
use crate::base_creation::{self, Creation};
use crate::base_layer::{BaseLayer, Crates};
use crate::cache::{Bucket, Cache, Entry, Found, Key, Temporary};
use crate::compiler;
use crate::confined::{Captured, Confined};
use crate::disk_full;
use crate::error::{Error, ErrorKind, Result};
use crate::journal::Sink;
use crate::sandbox_policies;
use crate::toolchain::{TARGET, Toolchain};

#[derive(Serialize, Deserialize)]
struct Index {
    crates: BTreeMap<String, String>,
    /// The file name of the library that programs return their JSON Schemas with.
    schema: String,
    base: BaseState,
}

/// Where cargo runs: it reads `.cargo/config.toml` in every folder from there upwards, and one above the cache (the
/// user's own with a compiler wrapper, for example) must not choose what runs.
const WORKING_FOLDER: &str = "/";
/// Time limit for downloading; it takes seconds, but a network may hang.
pub const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// Time limit for compiling, which needs no network: a minute or two on most machines, half an hour on an emulated one.
pub const BUILD_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// Maximum size of cargo's output, in bytes.
const OUTPUT_LIMIT: usize = 16 << 20;

/// The sources of our own crates, by their paths from the common parent folder.
pub(crate) const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));
pub(crate) const WORKSPACE_MANIFEST: &str = include_str!("../layer/Cargo.toml");
pub(crate) const LOCK_FILE: &str = include_str!("../layer/Cargo.lock");
/// Its dependencies are the crates available to snippets.
pub(crate) const OFFER_MANIFEST: &str = include_str!("../layer/offer/Cargo.toml");
const WORKSPACE: &[(&str, &str)] = &[
    ("Cargo.toml", WORKSPACE_MANIFEST),
    ("Cargo.lock", LOCK_FILE),
    ("offer/Cargo.toml", OFFER_MANIFEST),
    ("offer/lib.rs", include_str!("../layer/offer/lib.rs")),
    ("schema/Cargo.toml", include_str!("../layer/schema/Cargo.toml")),
    ("schema/lib.rs", include_str!("../layer/schema/lib.rs")),
];

/// The wrapper that cargo starts in place of the compiler, for all crates, also those that run while others are
/// compiled: cargo has no setting for flags of both. The flags replace the paths of sources by fixed ones.
const WRAPPER: &str = "#!/bin/sh\n\
    exec \"$@\" \"--remap-path-prefix=$LAYER_SOURCES=/layer\" \"--remap-path-prefix=$LAYER_DOWNLOADS=/crates\" \
    \"--remap-path-prefix=$LAYER_RUST=/rust\"\n";
/// Its file name in the folder of the build.
const WRAPPER_NAME: &str = "rustc-wrapper";

/// Environment variables for `cargo fetch`: only network settings.
const NETWORK_VARIABLES: [&str; 10] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Opens the layer, building it if necessary.
pub(crate) async fn ensure(
    cache: &Cache,
    toolchain: &Toolchain,
    confinement: sandbox::Confinement,
    sink: &dyn Sink,
) -> Result<BaseLayer> {
    let key = key(toolchain);
    if let Some(layer) = open(cache, &key) {
        cache.count_local_hit();
        return Ok(layer);
    }
    let _lock = cache.lock(Bucket::Layers, &key, sink).await?;
    if let Some(layer) = open(cache, &key) {
        return Ok(layer);
    }
    // Under the lock, an entry that can't be opened is damaged, not in progress.
    cache.discard(Bucket::Layers, &key);
    let claim = match cache.fetch(Bucket::Layers, &key, sink).await {
        Found::Entry(entry) => {
            if let Some(layer) = read(entry, &key) {
                return Ok(layer);
            }
            cache.discard(Bucket::Layers, &key);
            None
        }
        Found::Missing(claim) => claim,
    };
    sink.progress("first use: building the crates that snippets are compiled against (once, about a minute)");
    let _downloads = cache.hold(Bucket::CargoHome)?;
    let build = cache.temporary()?;
    write_sources(build.path()).map_err(Error::cache(build.path()))?;
    fetch(cache, toolchain, build.path()).await?;
    let artifacts = compile(cache, toolchain, build.path(), confinement, sink).await?;
    let (entry, mut files) = collect(cache, build.path(), &artifacts)?;
    let schema = files.remove(SCHEMA_CRATE).ok_or_else(|| {
        Error::new(ErrorKind::Layer, format!("cargo has not built the crate {SCHEMA_CRATE}"))
    })?;
    let crates = Crates { folder: entry.path().to_owned(), files };
    sink.progress("linking what programs have in common");
    let base = base_creation::create(Creation { cache, toolchain, confinement }, &crates).await?;
    if let BaseState::Unusable(reason) = &base {
        sink.progress(&format!("each program is linked as a whole, which takes longer: {reason}"));
    }
    write_index(entry.path(), &Index { crates: crates.files, schema, base })?;
    let entry = cache.publish(Bucket::Layers, &key, entry)?;
    cache.share(Bucket::Layers, &key, &entry, claim);
    sink.progress("the crates are built");
    read(entry, &key).ok_or_else(|| Error::new(ErrorKind::Layer, "the layer that was just built is missing"))
}

/// The layer, if it is built.
pub(crate) fn built(cache: &Cache, toolchain: &Toolchain) -> Option<BaseLayer> {
    open(cache, &key(toolchain))
}

fn key(toolchain: &Toolchain) -> String {
    let key = Key::new("layer 5").part(&toolchain.version).part(TARGET).part(compiler::flags()).part(WRAPPER);
    let key = key.part(base_creation::options().join(" ")).part(base_link::VERSION.to_string());
    let files = WORKSPACE.iter().chain(SOURCES).chain(&base_creation::SOURCES);
    files.fold(key, |key, (name, text)| key.part(name).part(text)).finish()
}

fn open(cache: &Cache, key: &str) -> Option<BaseLayer> {
    read(cache.entry(Bucket::Layers, key)?, key)
}

fn read(entry: Entry, key: &str) -> Option<BaseLayer> {
    let folder = entry.folder().to_owned();
    let index = fs_err::read(folder.join("index.json")).ok()?;
    let index: Index = serde_json::from_slice(&index).ok()?;
    let base = match index.base {
        BaseState::Usable(_) if Base::is_unwanted() => Err(base::UNWANTED.to_owned()),
        BaseState::Usable(layout) => Ok(Arc::new(Base::open(*layout, &folder)?)),
        BaseState::Unusable(reason) => Err(reason),
    };
    let crates = Crates { folder, files: index.crates };
    Some(BaseLayer { key: key.to_owned(), crates, schema: index.schema, entry: Some(entry), base })
}

pub(crate) fn write_sources(folder: &Path) -> std::io::Result<()> {
    for (name, text) in WORKSPACE.iter().chain(SOURCES) {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::write(path, text)?;
    }
    Ok(())
}

async fn fetch(cache: &Cache, toolchain: &Toolchain, folder: &Path) -> Result<()> {
    let manifest = folder.join("Cargo.toml");
    let arguments = ["fetch", "--locked", "--manifest-path"].map(OsStr::new);
    cargo(cache, toolchain, &[&arguments[..], &[manifest.as_os_str()]].concat()).await.map(drop)
}

/// Runs cargo with network access and the cache's downloads, for commands that run no third-party code. Returns its
/// standard output.
pub(crate) async fn cargo(cache: &Cache, toolchain: &Toolchain, arguments: &[&OsStr]) -> Result<Vec<u8>> {
    let home = cache.bucket(Bucket::CargoHome);
    let _held = cache.hold(Bucket::CargoHome)?;
    let mut command = tokio::process::Command::new(&toolchain.cargo);
    command
        .args(arguments)
        .current_dir(WORKING_FOLDER)
        .env_clear()
        .env("CARGO_HOME", &home)
        .env("RUSTC", &toolchain.rustc)
        .env("HOME", &home)
        .envs(NETWORK_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let failed = |detail: String| {
        Error::new(ErrorKind::Layer, format!("the crates that snippets use can't be fetched: {detail}"))
            .hint("the first use needs the crates registry; check the network, or the proxy variables")
    };
    let output = timeout(DOWNLOAD_TIMEOUT, command.output()).await;
    let output = output.map_err(|_| failed(format!("timed out after {} s", DOWNLOAD_TIMEOUT.as_secs())))?;
    let output = output.map_err(|error| failed(error.to_string()))?;
    cache.count_downloads();
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(no_space(cache, output.status, &String::from_utf8_lossy(&output.stderr))
        .unwrap_or_else(|| failed(tail(&String::from_utf8_lossy(&output.stderr)))))
}

/// Starts cargo, which compiles the layer.
fn spawn_cargo(
    cache: &Cache,
    toolchain: &Toolchain,
    folder: &Path,
    confinement: sandbox::Confinement,
) -> Result<Confined> {
    let wrapper = folder.join(WRAPPER_NAME);
    fs_err::write(&wrapper, WRAPPER).map_err(Error::cache(folder))?;
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(&wrapper, executable).map_err(Error::cache(folder))?;
    let downloads = cache.bucket(Bucket::CargoHome);
    let policy = sandbox_policies::build(toolchain, &downloads, folder)
        .working_folder(WORKING_FOLDER)
        .variable("RUSTC_WRAPPER", wrapper.to_string_lossy())
        .variable("LAYER_SOURCES", folder.to_string_lossy())
        .variable("LAYER_DOWNLOADS", downloads.join("registry/src").to_string_lossy())
        // With the component `rust-src`, the compiler names the sources of the standard library by their place here.
        .variable("LAYER_RUST", toolchain.sysroot.join("lib/rustlib/src/rust").to_string_lossy());
    let command = sandbox::Command::new(&toolchain.cargo)
        .args(["build", "--release", "--locked", "--offline", "--target", TARGET])
        .args(["--package", "offer", "--package", "schema"])
        .args(["--message-format=json-render-diagnostics", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(folder.join("target"));
    Confined::spawn(policy, confinement, command)
}

/// Compiles the layer; returns the artifacts that cargo lists.
async fn compile(
    cache: &Cache,
    toolchain: &Toolchain,
    folder: &Path,
    confinement: sandbox::Confinement,
    sink: &dyn Sink,
) -> Result<Vec<cargo_metadata::Artifact>> {
    let mut process = spawn_cargo(cache, toolchain, folder, confinement)?;
    let crates = LOCK_FILE.matches("[[package]]").count();
    let mut progress = Progress { sink, rest: Vec::new(), done: 0, crates };
    let (mut stdout, mut stderr) = (Captured::default(), Captured::default());
    let (out, err) = (&mut process.stdout, &mut process.stderr);
    let output = async {
        tokio::join!(
            stdout.read(out, OUTPUT_LIMIT, false, |bytes| progress.feed(bytes)),
            stderr.read(err, OUTPUT_LIMIT, false, |_| {}),
        )
    };
    let failed = |detail: String| {
        Error::new(ErrorKind::Layer, format!("the crates that snippets use do not build: {detail}"))
            .hint("procedural macros need a C linker once: install gcc or clang as `cc`")
    };
    if timeout(BUILD_TIMEOUT, output).await.is_err() {
        return Err(failed(format!("timed out after {} s", BUILD_TIMEOUT.as_secs())));
    }
    let status = process.wait().await?;
    if !status.success() {
        let output_text = stderr.text();
        return Err(no_space(cache, status, &output_text).unwrap_or_else(|| failed(tail(&output_text))));
    }
    let messages = Message::parse_stream(&stdout.bytes[..]);
    Ok(messages
        .filter_map(|message| match message {
            Ok(Message::CompilerArtifact(artifact)) => Some(artifact),
            _ => None,
        })
        .collect())
}

/// A folder with libraries, and the file names of those that texts can name, by crate name.
type Collected = (Temporary, BTreeMap<String, String>);

/// Copies the libraries into their own folder: those for the target, and procedural macros, which contain what they
/// were linked with. If two have the same name, like `anyhow`, snippets use ours, whose sources are in `sources`.
fn collect(cache: &Cache, sources: &Path, artifacts: &[cargo_metadata::Artifact]) -> Result<Collected> {
    let entry = cache.temporary()?;
    let mut offered = offered()?;
    offered.insert(SCHEMA_CRATE.to_owned());
    let mut crates = BTreeMap::new();
    for artifact in artifacts {
        let is = |wanted: &[TargetKind]| artifact.target.kind.iter().any(|kind| wanted.contains(kind));
        let (is_library, is_macro) = (is(&[TargetKind::Lib, TargetKind::RLib]), is(&[TargetKind::ProcMacro]));
        for file in &artifact.filenames {
            let is_of_target = is_library && file.components().any(|part| part.as_str() == TARGET);
            if !is_of_target && !is_macro {
                continue;
            }
            let Some(name) = file.file_name().filter(|name| !name.ends_with(".rmeta")) else { continue };
            let copied = entry.path().join(name);
            // The same file may have two names; a link costs nothing.
            fs_err::hard_link(file, &copied)
                .or_else(|_| fs_err::copy(file, &copied).map(|_| ()))
                .map_err(Error::cache(entry.path()))?;
            let (crate_name, is_ours) = (&artifact.target.name, artifact.manifest_path.starts_with(sources));
            let is_offered = is_of_target && offered.contains(crate_name);
            if is_offered && (is_ours || !crates.contains_key(crate_name)) {
                crates.insert(crate_name.clone(), name.to_owned());
            }
        }
    }
    Ok((entry, crates))
}

fn write_index(folder: &Path, index: &Index) -> Result<()> {
    let text = serde_json::to_vec(index).map_err(|error| Error::cache(folder)(error.into()))?;
    fs_err::write(folder.join("index.json"), text).map_err(Error::cache(folder))
}

/// The names of the crates for snippets: the dependencies of `offer`.
fn offered() -> Result<BTreeSet<String>> {
    let manifest: toml::Table = OFFER_MANIFEST
        .parse()
        .map_err(|error: toml::de::Error| Error::new(ErrorKind::Layer, error.to_string()).caused_by(error))?;
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
    Ok(dependencies.into_iter().flat_map(toml::Table::keys).cloned().collect())
}

/// Reports finished crates to the sink, from cargo's messages.
struct Progress<'a> {
    sink: &'a dyn Sink,
    rest: Vec<u8>,
    done: usize,
    crates: usize,
}

impl Progress<'_> {
    fn feed(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            if let Ok(Message::CompilerArtifact(artifact)) = serde_json::from_slice(&line) {
                self.done += 1;
                let Progress { done, crates, .. } = self;
                let total = (*crates).max(*done);
                self.sink.step(*done, total, &format!("compiled {}", artifact.target.name));
            }
        }
    }
}

/// The error of a tool that found no space: its status says so if a signal ended it, its output otherwise.
fn no_space(cache: &Cache, status: ExitStatus, output: &str) -> Option<Error> {
    let all = format!("{status}\n{output}");
    disk_full::is_full(&all).then(|| disk_full::error(cache, &all))
}

/// The last lines of a tool's output.
fn tail(text: &str) -> String {
    const LINES: usize = 12;
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::{Bucket, Cache, open};
    use crate::cache::DEFAULT_SIZE;

    #[test]
    fn a_damaged_layer_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), DEFAULT_SIZE).unwrap();
        let library = "libbridge-1.rlib";
        let index = "{\"crates\":{\"bridge\":\"libbridge-1.rlib\"},\"schema\":\"\",\"base\":{\"Unusable\":\"a test\"}}";
        let publish = || {
            let built = cache.temporary().unwrap();
            fs_err::write(built.path().join(library), "a library").unwrap();
            fs_err::write(built.path().join("index.json"), index).unwrap();
            cache.publish(Bucket::Layers, "key", built).unwrap().folder().to_owned()
        };
        let entry = publish();
        assert_eq!(open(&cache, "key").unwrap().crates.files["bridge"], library);
        File::options().write(true).open(entry.join(library)).unwrap().set_len(4).unwrap();
        assert!(open(&cache, "key").is_none());
        // The right length, but not an index.
        let entry = publish();
        fs_err::write(entry.join("index.json"), index.replace('{', "[")).unwrap();
        assert!(open(&cache, "key").is_none());
        cache.discard(Bucket::Layers, "key");
        publish();
        assert!(open(&cache, "key").is_some());
    }
}
