//! Entries of an MCP registry (server.json, schema 2025-12-11): what they offer, and the entry of a configuration that
//! uses it.
//!
//! `inputs` has the values that an entry asks for, `command` how a package is started. All texts are untrusted.

mod command;
mod inputs;

use config::Error;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use self::command::{Package, Unusable};
pub use self::inputs::{Answers, Format, Question, literal};
use self::inputs::{Input, fill, named};
use super::edit::Entry;

/// Maximum size of an entry, in bytes (1 MiB): entries have a few kilobytes.
pub const MAX_LISTING: u64 = 1 << 20;

/// Maximum number of packages and remote servers of an entry, and of questions of one of them: more is no entry that a
/// user would read.
const MAX_OFFERS: usize = 50;
const MAX_QUESTIONS: usize = 100;

/// The word for a remote server among the kinds of packages.
const REMOTE: &str = "remote";

/// An entry of a registry.
#[derive(Debug, Deserialize)]
pub struct Listing {
    /// The id: a namespace and a name, with a slash between them.
    pub name: String,
    /// The purpose of the server.
    #[serde(default)]
    pub description: String,
    /// The version.
    pub version: String,
    #[serde(default)]
    packages: Vec<Package>,
    #[serde(default)]
    remotes: Vec<Remote>,
    /// The state of the entry in the registry.
    #[serde(skip)]
    pub status: Option<String>,
}

/// A server that is reached by an address.
#[derive(Debug, Deserialize)]
struct Remote {
    r#type: String,
    url: String,
    #[serde(default)]
    headers: Vec<Input>,
    #[serde(default)]
    variables: std::collections::BTreeMap<String, Input>,
}

/// A package or a remote server of an entry.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a>(Kind<'a>);

#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    Package(&'a Package),
    Remote(&'a Remote),
}

/// A bundle to download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleAddress {
    /// The address.
    pub url: String,
    /// The SHA-256 hash of the file, in hexadecimal digits.
    pub sha256: String,
}

impl Listing {
    /// Reads an entry: as it is published, or as a registry answers, with its own members around it.
    ///
    /// # Errors
    /// If it is not one.
    pub fn read(text: &[u8]) -> Result<Self, Error> {
        let wrong = |error: &dyn std::fmt::Display| {
            Error::new(format!("this is no entry of an MCP registry: {error}"))
                .hint("it is a JSON object with `name`, `version`, and `packages` or `remotes` (server.json)")
        };
        let document: Json = strict_json::from_slice(text).map_err(|error| wrong(&error))?;
        if !document.is_object() {
            return Err(wrong(&"it is no JSON object"));
        }
        let status = document["_meta"]["io.modelcontextprotocol.registry/official"]["status"].as_str();
        let status = status.or_else(|| document["server"]["status"].as_str()).map(str::to_owned);
        let entry = document.get("server").filter(|entry| entry.is_object()).unwrap_or(&document);
        let mut listing = Self::deserialize(entry).map_err(|error| wrong(&error))?;
        if listing.packages.len() + listing.remotes.len() > MAX_OFFERS {
            return Err(wrong(&format!("it has more than {MAX_OFFERS} packages and remotes")));
        }
        listing.status = status;
        Ok(listing)
    }

    /// Everything that the entry offers: packages first.
    pub fn offers(&self) -> impl Iterator<Item = Offer<'_>> {
        let packages = self.packages.iter().map(|package| Offer(Kind::Package(package)));
        packages.chain(self.remotes.iter().map(|remote| Offer(Kind::Remote(remote))))
    }

    /// The offer of this kind, or else the first one that can be used.
    ///
    /// # Errors
    /// If there is none. The error has the reasons.
    pub fn choose(&self, kind: Option<&str>) -> Result<Offer<'_>, Error> {
        let of_kind = || self.offers().filter(|offer| kind.is_none_or(|kind| offer.kind() == kind));
        if let Some(offer) = of_kind().find(|offer| offer.check().is_ok()) {
            return Ok(offer);
        }
        let name = printable::name(&self.name);
        let reasons: Vec<String> = of_kind()
            .filter_map(|offer| Some(format!("{}: {}", printable::name(offer.kind()), offer.check().err()?)))
            .collect();
        if !reasons.is_empty() {
            return Err(Error::new(format!("{name} can't be used: {}", reasons.join("; "))));
        }
        let kinds: Vec<String> = self.offers().map(|offer| printable::name(offer.kind())).collect();
        Err(match kind {
            Some(kind) => Error::new(format!(
                "{name} offers no {}; it has: {}",
                printable::name(kind),
                kinds.join(", ")
            )),
            None => Error::new(format!("{name} offers neither packages nor remote servers")),
        })
    }
}

impl<'a> Offer<'a> {
    /// The kind: `npm`, `pypi`, …, or `remote`.
    pub fn kind(self) -> &'a str {
        match self.0 {
            Kind::Package(package) => &package.registry_type,
            Kind::Remote(_) => REMOTE,
        }
    }

    /// The addition, in words for the user.
    pub fn describe(self) -> String {
        let text = match self.0 {
            Kind::Package(package) => match &package.version {
                Some(version) => format!("{} {} {version}", package.registry_type, package.identifier),
                None => format!("{} {}", package.registry_type, package.identifier),
            },
            Kind::Remote(remote) => format!("{REMOTE} {}", remote.url),
        };
        printable::exact(&text)
    }

    /// Checks whether the offer can be used.
    fn check(self) -> Result<(), Unusable> {
        match self.0 {
            Kind::Package(package) => command::check(package)?,
            Kind::Remote(remote) if !matches!(remote.r#type.as_str(), "streamable-http" | "sse") => {
                return Err(Unusable(format!(
                    "its transport {} is unknown",
                    printable::name(&remote.r#type)
                )));
            }
            Kind::Remote(_) => {}
        }
        if self.questions().len() > MAX_QUESTIONS {
            return Err(Unusable(format!("it asks for more than {MAX_QUESTIONS} values")));
        }
        Ok(())
    }

    /// The values that it asks for, each name once.
    pub fn questions(self) -> Vec<Question> {
        let mut questions = Vec::new();
        match self.0 {
            Kind::Package(package) => {
                let inputs = package.runtime_arguments.iter().chain(&package.package_arguments);
                inputs.chain(&package.environment_variables).for_each(|input| input.ask(&mut questions));
            }
            Kind::Remote(remote) => {
                let asked =
                    remote.variables.iter().filter(|(name, _)| remote.url.contains(&format!("{{{name}}}")));
                asked.for_each(|(name, input)| input.ask_as(name, true, &mut questions));
                remote.headers.iter().for_each(|input| input.ask(&mut questions));
            }
        }
        questions
    }

    /// The bundle to download, if it is one.
    pub fn bundle(self) -> Option<BundleAddress> {
        match self.0 {
            Kind::Package(package) if package.registry_type == command::BUNDLE => {
                Some(BundleAddress { url: package.identifier.clone(), sha256: package.file_sha256.clone()? })
            }
            _ => None,
        }
    }

    /// The entry of a configuration with these answers.
    ///
    /// # Errors
    /// If an answer is missing.
    pub fn entry(self, answers: &Answers) -> Result<Entry, Error> {
        match self.0 {
            Kind::Package(package) => command::entry(package, answers),
            Kind::Remote(remote) => remote.entry(answers),
        }
    }
}

impl Remote {
    fn entry(&self, answers: &Answers) -> Result<Entry, Error> {
        let url = fill(&self.url, &self.variables, answers)
            .ok_or_else(|| Error::new("a variable of the server's address has no value"))?;
        let transport = if self.r#type == "sse" { "sse" } else { "http" };
        let mut entry = vec![("type".to_owned(), json!(transport)), ("url".to_owned(), json!(url))];
        let headers = named(&self.headers, answers)?;
        if !headers.is_empty() {
            entry.push(("headers".to_owned(), Json::Object(headers)));
        }
        Ok(entry)
    }
}

#[cfg(test)]
mod tests;
