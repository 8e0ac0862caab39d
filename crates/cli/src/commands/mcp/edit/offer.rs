//! `mcp add --registry`: reads an entry of an MCP registry, and asks for the values that it needs.

use std::path::Path;

use clients::edit::Entry;
use clients::registry::{BundleAddress, Listing, MAX_LISTING};
use config::{LoadOptions, Needs};
use execution::setup::configure;
use gateway::failure::Failure;
use gateway::terminal_prompter;

use super::values::{self, Values};
use super::words::{describe, report};
use crate::arguments::OfferArguments;
use crate::download::{self, download};

/// The registry whose entries are read by their id, unless `globalSettings.registry` names another one.
const REGISTRY: &str = "https://registry.modelcontextprotocol.io";

/// The version of the registries' interface.
const INTERFACE: &str = "v0.1";

/// The addition.
pub(super) enum Offered {
    /// A server with this entry, and its values.
    Server(Entry, Values),
    /// A bundle to download.
    Bundle(BundleAddress),
}

/// Reads the entry and asks the user.
pub(super) async fn offered(
    server: &str,
    source: &str,
    arguments: &OfferArguments,
) -> Result<Offered, Failure> {
    let listing = listing(source).await?;
    let offer = listing.choose(arguments.package.as_deref())?;
    let name = printable::name(&listing.name);
    let description = printable::prose(&listing.description);
    report(&format!("{name} {}: {description}", printable::name(&listing.version)));
    let others: Vec<String> = listing
        .offers()
        .map(|other| printable::name(other.kind()))
        .filter(|kind| kind != offer.kind())
        .collect();
    let chosen = offer.describe();
    report(&match others.is_empty() {
        true => format!("uses {chosen}"),
        false => format!("uses {chosen}; --package chooses another one: {}", others.join(", ")),
    });
    if let Some(status) = listing.status.as_deref().filter(|status| *status != "active") {
        report(&format!("warning: the registry calls this entry {}", printable::name(status)));
    }
    if let Some(bundle) = offer.bundle() {
        return Ok(Offered::Bundle(bundle));
    }
    let values = values::ask(server, &offer.questions(), &arguments.values).await?;
    let entry = offer.entry(&values.answers)?;
    report(&printable::exact(&describe(server, &entry)));
    if let Some(user) = terminal_prompter::of_command()
        && !user.confirm("Add it?").await
    {
        return Err(Failure::command_line("nothing is changed"));
    }
    Ok(Offered::Server(entry, values))
}

/// The entry in a file, at an address, or with an id in the registry.
async fn listing(source: &str) -> Result<Listing, Failure> {
    if let Some(id) = id(source) {
        return of_registry(id).await;
    }
    let text = if source.contains("://") {
        let address = download::address(source).ok_or_else(|| {
            Failure::command_line(format!("{source} is no https address"))
                .hint("write https://…, a file, or an id")
        })?;
        fetched(&address).await?
    } else {
        let unread = |error: std::io::Error| {
            Failure::command_line(format!("{source} can't be read: {error}"))
                .hint(system::file::advice(&error))
        };
        let read = system::file::read_named(Path::new(source), MAX_LISTING).map_err(unread)?;
        read.ok_or_else(|| {
            Failure::command_line(format!("{source} does not exist"))
                .hint("write the id of an entry (NAMESPACE/NAME), a file, or an https address")
        })?
    };
    Ok(Listing::read(&text)?)
}

/// An entry's id and version in a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Id<'a> {
    name: &'a str,
    version: &'a str,
}

/// The id in a text: `NAMESPACE/NAME`, with `@VERSION` or the latest one. A file is no id.
fn id(source: &str) -> Option<Id<'_>> {
    let (name, version) = source.split_once('@').unwrap_or((source, "latest"));
    let (namespace, last) = name.split_once('/')?;
    let is_part = |part: &str, more: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    let is_id = is_part(namespace, ".-") && is_part(last, "._-") && !version.is_empty();
    (is_id && !Path::new(source).exists()).then_some(Id { name, version })
}

async fn of_registry(id: Id<'_>) -> Result<Listing, Failure> {
    let config =
        configure(&LoadOptions { needs: Needs::Nothing, ..LoadOptions::default() }.without_untrusted())?;
    let registry = config.registry.as_ref().map_or(REGISTRY, |url| url.as_str()).trim_end_matches('/');
    let mut address = download::address(registry).ok_or_else(|| {
        Failure::command_line(format!("globalSettings.registry is no https address: {registry}"))
    })?;
    if let Ok(mut path) = address.path_segments_mut() {
        path.pop_if_empty().extend([INTERFACE, "servers", id.name, "versions", id.version]);
    }
    let listing = Listing::read(&fetched(&address).await?)?;
    if listing.name != id.name || id.version != "latest" && listing.version != id.version {
        let (name, version) = (printable::name(&listing.name), printable::name(&listing.version));
        return Err(Failure::command_line(format!(
            "{registry} answers with another entry than {}: {name} {version}",
            id.name
        )));
    }
    Ok(listing)
}

async fn fetched(address: &reqwest::Url) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    download(address, MAX_LISTING, &mut text).await?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{Id, id};

    #[test]
    fn ids_are_neither_files_nor_addresses() {
        let latest = Id { name: "io.github.a/b-c", version: "latest" };
        assert_eq!(id("io.github.a/b-c"), Some(latest));
        assert_eq!(id("io.github.a/b-c@1.0.2"), Some(Id { version: "1.0.2", ..latest }));
        for other in ["server.json", "./a/b", "/a/b", "a/b/c", "a/b@", "https://a/b", "src/lib.rs", "../a"] {
            assert_eq!(id(other), None, "{other}");
        }
    }
}
