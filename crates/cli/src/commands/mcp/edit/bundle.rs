//! `mcp add NAME FILE.mcpb`: unpacks a bundle of a server into a folder of its own, which `mcp remove` deletes.

use std::path::{Path, PathBuf};

use clients::edit::Entry;
use clients::mcpb::{Bundle, MAX_BUNDLE};
use clients::registry::BundleAddress;
use gateway::failure::Failure;
use gateway::terminal_prompter;
use serde_json::Value as Json;
use system::private;

use super::values::{self, Values};
use super::words::{describe, report};
use crate::arguments::OfferArguments;
use crate::download::{self, download};

/// The endings of bundles; the second one is that of the first versions.
const ENDINGS: [&str; 2] = [".mcpb", ".dxt"];

/// The number of characters of a hash in a folder's name.
const SHORT_HASH: usize = 16;

/// The start of a new server, before its other settings.
pub(super) struct Base {
    pub(super) entry: Entry,
    pub(super) values: Values,
    /// Its folder, if it is from a bundle.
    pub(super) unpacked: Option<Unpacked>,
}

/// The folder of an unpacked bundle. It is removed again unless the server is added.
pub(super) struct Unpacked {
    folder: PathBuf,
    is_kept: bool,
}

impl Unpacked {
    /// Leaves the folder: the server is added.
    pub(super) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        if !self.is_kept {
            remove(&self.folder);
        }
    }
}

/// Whether the only word of a command line names a bundle.
pub(super) fn is_bundle(word: &str) -> bool {
    let word = word.split(['?', '#']).next().unwrap_or_default();
    ENDINGS.iter().any(|ending| word.len() > ending.len() && word.ends_with(ending))
}

/// Unpacks the bundle that the command line names: a file, or an address with its hash.
pub(super) async fn of_line(name: &str, source: &str, offer: &OfferArguments) -> Result<Base, Failure> {
    if !source.contains("://") {
        return unpacked(name, Path::new(source), offer.sha256.as_deref(), &offer.values).await;
    }
    let Some(sha256) = offer.sha256.clone() else {
        return Err(Failure::command_line("a bundle at an address needs its SHA-256 hash")
            .hint("add --sha256 HASH, as its publisher states it; or download the file and check it"));
    };
    of_registry(name, &BundleAddress { url: source.to_owned(), sha256 }, &offer.values).await
}

/// Downloads a bundle, checks its hash, and unpacks it.
pub(super) async fn of_registry(
    name: &str,
    bundle: &BundleAddress,
    given: &[(String, String)],
) -> Result<Base, Failure> {
    let address = download::address(&bundle.url).ok_or_else(|| {
        Failure::command_line(format!(
            "the bundle's address is no https address: {}",
            printable::exact(&bundle.url)
        ))
    })?;
    let unwritten = |error| Failure::command_line(format!("the bundle can't be stored: {error}"));
    let mut file = tempfile::NamedTempFile::new().map_err(unwritten)?;
    download(&address, MAX_BUNDLE, &mut file).await?;
    unpacked(name, file.path(), Some(&bundle.sha256), given).await
}

/// Checks and unpacks a bundle, and asks for the values that it needs.
async fn unpacked(
    name: &str,
    file: &Path,
    sha256: Option<&str>,
    given: &[(String, String)],
) -> Result<Base, Failure> {
    let mut bundle = Bundle::open(file, sha256)?;
    report(&bundle.describe());
    report(&format!("SHA-256 {}", bundle.sha256()));
    let values = values::ask(name, &bundle.questions()?, given).await?;
    let bundles = config::bundles_folder()?;
    private::create(&bundles)
        .map_err(|error| Failure::command_line(format!("{} can't be created: {error}", bundles.display())))?;
    let hash = bundle.sha256().get(..SHORT_HASH).unwrap_or_default();
    let folder = bundles.join(format!("{name}-{hash}-{}", system::random::short_id(8)));
    let unpacked = Unpacked { folder, is_kept: false };
    bundle.unpack(&unpacked.folder)?;
    let entry = bundle.entry(&unpacked.folder, &values.answers)?;
    report(&printable::exact(&describe(name, &entry)));
    if let Some(user) = terminal_prompter::of_command()
        && !user.confirm("Add it?").await
    {
        return Err(Failure::command_line("nothing is changed"));
    }
    Ok(Base { entry, values, unpacked: Some(unpacked) })
}

/// Removes the folder of an entry that was removed, if the entry is that of a bundle.
pub(super) fn remove_of(entry: &Json) {
    let folder = entry.get("cwd").and_then(Json::as_str).map(|text| PathBuf::from(text.replace("$${", "${")));
    let (Some(folder), Ok(bundles)) = (folder, config::bundles_folder()) else { return };
    // Only one below the folder of bundles, named as those of this module.
    if folder.parent() == Some(&*bundles) && folder.file_name().is_some() {
        remove(&folder);
    }
}

fn remove(folder: &Path) {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            report(&format!("warning: {} can't be removed: {error}", folder.display()));
        }
        _ => {}
    }
}
