//! Finds the Rust toolchain that compiles snippets, and its target.
//!
//! The toolchain of the bundle that this program is part of (`bundled_toolchain`) is used as it is. Without one, only the
//! user's own installation counts: rustup's toolchains by their folders, then the search path. Files in the working
//! folder and `RUSTUP_TOOLCHAIN` have no influence.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, io};

use serde::{Deserialize, Serialize};

use crate::cache::{Bucket, Cache, Key};
use crate::error::{Error, ErrorKind, Result};
use crate::journal::Sink;
pub use crate::target::TARGET;

/// The oldest compiler that bindings and bridge compile with.
pub const OLDEST_RUSTC: (u32, u32) = (1, 95);

/// A toolchain that can compile snippets.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct Toolchain {
    /// The compiler itself, not rustup's proxy.
    pub rustc: PathBuf,
    /// cargo, likewise.
    pub cargo: PathBuf,
    /// The folder with the compiler's libraries.
    pub sysroot: PathBuf,
    /// The linker that comes with the compiler.
    pub linker: PathBuf,
    /// The output of `rustc -vV`: part of every cache key.
    pub version: String,
    /// Where it was found.
    pub origin: Origin,
}

/// Where a toolchain was found, in order of preference.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// In the bundle that this program is part of.
    Bundle,
    /// rustup's default toolchain.
    RustupDefault,
    /// Another toolchain of rustup.
    Rustup,
    /// On the search path.
    SearchPath,
}

impl Origin {
    /// Returns the reason why a toolchain from there is used, for the user.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Origin::Bundle => "this program is part of a bundle",
            Origin::RustupDefault => "rustup's default; this program is not part of a bundle",
            Origin::Rustup => "rustup has no default toolchain that is complete and new enough",
            Origin::SearchPath => "rustup has no toolchain that is complete and new enough",
        }
    }
}

impl Toolchain {
    /// Its version line, such as `rustc 1.95.0 (59807616e 2026-04-14)`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.version.lines().next().unwrap_or_default()
    }

    /// The object file with the C library's entry point of static programs.
    pub(crate) fn entry_point(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(TARGET).join("lib/self-contained/crt1.o")
    }
}

/// The source that a cached toolchain was read from; if it changes, the record is invalid.
#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Stamp {
    rustc: PathBuf,
    modified: Option<std::time::SystemTime>,
    length: u64,
}

impl Stamp {
    /// The current state of a compiler's file.
    pub(crate) fn of(rustc: &Path) -> io::Result<Self> {
        let metadata = fs_err::metadata(rustc)?;
        Ok(Stamp { rustc: rustc.to_owned(), modified: metadata.modified().ok(), length: metadata.len() })
    }
}

#[derive(Serialize, Deserialize)]
struct Record {
    stamp: Stamp,
    toolchain: Toolchain,
}

/// The result of looking for a toolchain.
pub(crate) enum Found {
    /// It has all that snippets need.
    Complete(Toolchain),
    /// None is complete: the preferred one of those that are new enough.
    Lacking(Toolchain),
}

/// Finds a toolchain and ensures that its target is installed; `install` permits adding it through rustup. For a
/// program that is not part of a bundle.
///
/// # Errors
/// If there is no toolchain, it is too old, or the target is missing and can't be added.
pub(crate) async fn find(cache: &Cache, install: bool, sink: &dyn Sink) -> Result<Toolchain> {
    match look(None, |rustc, origin| identify(cache, rustc, origin))? {
        Found::Complete(toolchain) => Ok(toolchain),
        Found::Lacking(toolchain) => {
            ensure_target(&toolchain, install, sink).await?;
            Ok(toolchain)
        }
    }
}

/// Looks for a toolchain without changing anything; `identify` queries a compiler. A bundle's toolchain is complete.
///
/// # Errors
/// If none is new enough.
pub(crate) fn look(
    bundled: Option<Toolchain>,
    identify: impl Fn(&Path, Origin) -> io::Result<Toolchain>,
) -> Result<Found> {
    if let Some(toolchain) = bundled {
        return Ok(Found::Complete(toolchain));
    }
    let mut too_old = None;
    let mut usable = Vec::new();
    for (rustc, origin) in candidates() {
        let Ok(toolchain) = identify(&rustc, origin) else { continue };
        if release(&toolchain.version).is_none_or(|release| release < OLDEST_RUSTC) {
            too_old = Some(toolchain);
        } else if is_complete(&toolchain) {
            return Ok(Found::Complete(toolchain));
        } else {
            usable.push(toolchain);
        }
    }
    if let Some(toolchain) = usable.into_iter().next() {
        return Ok(Found::Lacking(toolchain));
    }
    let (major, minor) = OLDEST_RUSTC;
    let hint = format!("run `rustup toolchain install stable`, or install Rust {major}.{minor} or newer");
    let message = match too_old {
        Some(old) => format!("{} is too old: {}", old.rustc.display(), old.name()),
        None => "no Rust compiler was found, neither with rustup nor on the search path".to_owned(),
    };
    Err(Error::new(ErrorKind::Toolchain, message).hint(hint))
}

/// Compilers in order of preference: rustup's default, rustup's others (newest name first), then the search path.
fn candidates() -> Vec<(PathBuf, Origin)> {
    let mut candidates = Vec::new();
    if let Some(home) = rustup_home() {
        let folder = home.join("toolchains");
        let default = default_toolchain(&home).map(|name| folder.join(name));
        let mut others: Vec<PathBuf> = fs_err::read_dir(&folder)
            .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
            .unwrap_or_default();
        others.sort();
        others.reverse();
        let default = default.into_iter().map(|toolchain| (toolchain, Origin::RustupDefault));
        let all = default.chain(others.into_iter().map(|toolchain| (toolchain, Origin::Rustup)));
        let rustc = all.map(|(toolchain, origin)| (toolchain.join("bin/rustc"), origin));
        candidates.extend(rustc.filter(|(rustc, _)| rustc.is_file()));
    }
    // A relative entry of the search path would be resolved in the working folder.
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).filter(|folder| folder.is_absolute());
    if let Ok(folders) = env::join_paths(folders)
        && let Ok(found) = which::which_in_all("rustc", Some(folders), "/")
    {
        candidates.extend(found.map(|rustc| (rustc, Origin::SearchPath)));
    }
    candidates
}

pub(crate) fn rustup_home() -> Option<PathBuf> {
    let named = env::var_os("RUSTUP_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| Some(env::home_dir()?.join(".rustup")))
}

pub(crate) fn cargo_home() -> Option<PathBuf> {
    let named = env::var_os("CARGO_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| Some(env::home_dir()?.join(".cargo")))
}

/// Maximum length of rustup's settings, in bytes (1 MiB).
const SETTINGS: u64 = 1 << 20;

fn default_toolchain(home: &Path) -> Option<String> {
    let text = system::file::read(&home.join("settings.toml"), SETTINGS).ok()??;
    let settings: toml::Table = toml::from_slice(&text).ok()?;
    Some(settings.get("default_toolchain")?.as_str()?.to_owned())
}

/// Queries a compiler's version, or uses the cached record.
fn identify(cache: &Cache, rustc: &Path, origin: Origin) -> Result<Toolchain, io::Error> {
    let stamp = Stamp::of(rustc)?;
    let key = Key::new("toolchain 2").part(rustc.as_os_str().as_encoded_bytes()).finish();
    if let Some(text) = cache.read(Bucket::Toolchains, &key)
        && let Ok(record) = serde_json::from_slice::<Record>(&text)
        && record.stamp == stamp
    {
        // The same compiler may have become rustup's default.
        return Ok(Toolchain { origin, ..record.toolchain });
    }
    let toolchain = ask(rustc, origin)?;
    // Without the record, the next run queries again; a full disk is reported elsewhere.
    if let Ok(text) = serde_json::to_vec(&Record { stamp, toolchain: toolchain.clone() }) {
        let _ = cache.write(Bucket::Toolchains, &key, &text);
    }
    Ok(toolchain)
}

pub(crate) fn ask(rustc: &Path, origin: Origin) -> io::Result<Toolchain> {
    let sysroot = PathBuf::from(answer(rustc, &["--print", "sysroot"])?.trim());
    let version = answer(rustc, &["-vV"])?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .ok_or_else(|| io::Error::other("`rustc -vV` names no host"))?;
    let linker = sysroot.join("lib/rustlib").join(host).join("bin/rust-lld");
    let own = sysroot.join("bin/rustc");
    let rustc = if own.is_file() { own } else { rustc.to_owned() };
    let cargo = rustc.with_file_name("cargo");
    Ok(Toolchain { rustc, cargo, sysroot, linker, version, origin })
}

/// Returns the output of a compiler.
pub(crate) fn answer(rustc: &Path, arguments: &[&str]) -> io::Result<String> {
    let mut command = Command::new(rustc);
    command.args(arguments).env_clear().current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
    // If the search path has only rustup's proxy, it needs to find its home.
    for name in ["HOME", "RUSTUP_HOME", "CARGO_HOME"] {
        command.envs(env::var_os(name).map(|value| (name, value)));
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("{} ended with {}", rustc.display(), output.status)));
    }
    String::from_utf8(output.stdout).map_err(io::Error::other)
}

fn release(version: &str) -> Option<(u32, u32)> {
    let release = version.lines().find_map(|line| line.strip_prefix("release: "))?;
    let mut parts = release.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Ensures that an incomplete toolchain has the target.
async fn ensure_target(toolchain: &Toolchain, install: bool, sink: &dyn Sink) -> Result<()> {
    if let Some(trouble) = trouble(toolchain, install) {
        return Err(trouble);
    }
    let Some(rustup) = rustup().filter(|_| !has_target(toolchain)) else { return Ok(()) };
    let _only_one = lock(toolchain).await;
    if has_target(toolchain) {
        return Ok(());
    }
    let (name, line) = target_line(toolchain);
    sink.progress(&format!("adding the target {TARGET}: {line}"));
    let output = tokio::process::Command::new(rustup)
        .args(["target", "add", TARGET, "--toolchain", name])
        .current_dir("/")
        .env_remove("RUSTUP_TOOLCHAIN")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await;
    match output {
        Ok(output) if output.status.success() && has_target(toolchain) => Ok(()),
        Ok(output) => {
            let output_text = String::from_utf8_lossy(&output.stderr);
            Err(no_target(toolchain, &format!(", and rustup could not add it:\n{}", output_text.trim_end())))
        }
        Err(error) => Err(no_target(toolchain, &format!(", and rustup did not start: {error}"))),
    }
}

/// Waits until no other process of Toolsmith adds a target to the toolchain, because two runs of rustup conflict.
/// `None` if the folder can't be locked; rustup then reports a conflict itself.
async fn lock(toolchain: &Toolchain) -> Option<std::fs::File> {
    let sysroot = toolchain.sysroot.clone();
    let locked = tokio::task::spawn_blocking(move || {
        let folder = std::fs::File::open(sysroot)?;
        folder.lock()?;
        std::io::Result::Ok(folder)
    });
    locked.await.ok()?.ok()
}

/// Returns the reason why a toolchain can't compile snippets, unless the first use can fix it.
pub(crate) fn trouble(toolchain: &Toolchain, install: bool) -> Option<Error> {
    if !toolchain.cargo.is_file() {
        let message = format!("there is no cargo next to {}", toolchain.rustc.display());
        return Some(Error::new(ErrorKind::Toolchain, message).hint("install cargo of the same release"));
    }
    if !toolchain.linker.is_file() {
        let message = format!("the toolchain has no rust-lld: {}", toolchain.linker.display());
        return Some(Error::new(ErrorKind::Toolchain, message).hint("use a toolchain from rustup"));
    }
    if has_target(toolchain) {
        return None;
    }
    if !in_rustup(toolchain) || rustup().is_none() {
        return Some(no_target(toolchain, ", which is not one of rustup's toolchains"));
    }
    let forbidden = ", and the configuration forbids adding it (codeMode.installTarget: false)";
    (!install).then(|| no_target(toolchain, forbidden))
}

/// The toolchain's name for rustup, and the command that adds the target to it.
pub(crate) fn target_line(toolchain: &Toolchain) -> (&str, String) {
    let name = toolchain.sysroot.file_name().and_then(|name| name.to_str()).unwrap_or("stable");
    (name, format!("rustup target add {TARGET} --toolchain {name}"))
}

fn no_target(toolchain: &Toolchain, detail: &str) -> Error {
    let message = format!("the target {TARGET} is missing in {}{detail}", toolchain.sysroot.display());
    Error::new(ErrorKind::Toolchain, message).hint(format!("type `{}`", target_line(toolchain).1))
}

fn is_complete(toolchain: &Toolchain) -> bool {
    toolchain.cargo.is_file() && toolchain.linker.is_file() && has_target(toolchain)
}

pub(crate) fn has_target(toolchain: &Toolchain) -> bool {
    let library = toolchain.sysroot.join("lib/rustlib").join(TARGET).join("lib");
    let mut entries = fs_err::read_dir(library).into_iter().flatten().flatten();
    entries.any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
}

fn in_rustup(toolchain: &Toolchain) -> bool {
    rustup_home().is_some_and(|home| toolchain.sysroot.starts_with(home))
}

/// The user's rustup, by its absolute path.
#[must_use]
pub fn rustup() -> Option<PathBuf> {
    let own = cargo_home()?.join("bin/rustup");
    if own.is_file() {
        return Some(own);
    }
    which::which("rustup").ok().filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::release;

    #[test]
    fn releases_are_read() {
        assert_eq!(release("rustc 1.95.0\nrelease: 1.95.0\n"), Some((1, 95)));
        assert_eq!(release("release: 1.97.0-nightly"), Some((1, 97)));
        assert_eq!(release("rustc"), None);
    }
}
