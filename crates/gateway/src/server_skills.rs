//! Skills that servers offer (SEP-2640): their entries, and whether a file is the one that an entry names.
//!
//! All of it is the server's text. A digest shows that an entry and a file belong together, and no more.

use std::collections::BTreeMap;

use serde_json::{Number, Value};
use sha2::{Digest as _, Sha256};

use crate::resources::MAX_ADDRESS;

/// Maximum depth and number of nodes of a front matter: ten times what the longest ones have.
const MAX_DEPTH: usize = 32;
const MAX_NODES: usize = 10_000;

/// Maximum length of a description in a list, in characters.
const ABOUT: usize = 300;

/// The file of each skill with its instructions.
pub const SKILL_MD: &str = "SKILL.md";

/// An entry of `skills/list` or `skills/get`.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSkill {
    /// The server's name in the configuration.
    pub server: String,
    /// The address of its `SKILL.md`.
    pub uri: String,
    /// Its name: a label that others may have as well.
    pub name: String,
    /// Its purpose and when to use it, on one line.
    pub description: String,
    frontmatter: Value,
    /// The digest of each file, by its address; `None` if the server publishes no digests.
    digests: Option<BTreeMap<String, String>>,
}

impl ServerSkill {
    /// Reads an entry.
    ///
    /// # Errors
    /// If it breaks a rule of the specification; as a clause.
    pub fn read(server: &str, entry: &Value) -> Result<Self, &'static str> {
        let frontmatter = entry["frontmatter"].clone();
        let text = |member: &str| frontmatter[member].as_str().filter(|text| !text.trim().is_empty());
        let (Some(uri), Some(name), Some(about)) = (entry["uri"].as_str(), text("name"), text("description"))
        else {
            return Err("it has no `uri`, or its `frontmatter` has no `name` or no `description`");
        };
        if uri.len() > MAX_ADDRESS {
            return Err("its `uri` is too long");
        }
        // Resource Mapping: the last segment of the skill's path is its name.
        let is_named = folder(uri).is_some_and(|folder| folder.rsplit('/').next() == Some(name));
        if !is_named || uri.rsplit('/').next() != Some(SKILL_MD) {
            return Err("its `uri` does not end with its name and `SKILL.md`");
        }
        let (name, description) = (codegen::clean(name, ABOUT), codegen::clean(about, ABOUT));
        let digests = match &entry["resources"] {
            Value::Null => None,
            Value::Array(files) => Some(digests(files, uri)?),
            _ => return Err("its `resources` are no list"),
        };
        Ok(ServerSkill {
            server: server.to_owned(),
            uri: uri.to_owned(),
            name,
            description,
            frontmatter,
            digests,
        })
    }

    /// The number of words of a query, in lowercase, that occur in its name, description, or the name of its server.
    pub fn matches(&self, words: &[String]) -> usize {
        let searched = format!("{} {} {}", self.server, self.name, self.description).to_lowercase();
        words.iter().filter(|word| searched.contains(word.as_str())).count()
    }

    /// The addresses of its other files, if the server publishes them.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let files = self.digests.iter().flat_map(BTreeMap::keys);
        files.map(String::as_str).filter(|uri| *uri != self.uri)
    }

    /// Whether a file can't be verified, because the server publishes no digests.
    pub fn is_unverifiable(&self) -> bool {
        self.digests.is_none()
    }

    /// Whether a file belongs to it.
    pub fn has(&self, uri: &str) -> bool {
        self.digests.as_ref().map_or_else(|| self.uri == uri, |digests| digests.contains_key(uri))
    }

    /// Checks the content of one of its files ("Integrity and verification").
    ///
    /// # Errors
    /// If it is not the file of the entry; as a clause.
    pub fn verify(&self, uri: &str, content: &str) -> Result<(), &'static str> {
        if let Some(digests) = &self.digests {
            let digits: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
            if digests.get(uri) != Some(&format!("sha256:{digits}")) {
                return Err("its content has another digest than the skill's entry states");
            }
        }
        if uri == self.uri && !parsed(content).is_some_and(|own| is_same(&own, &self.frontmatter)) {
            return Err("its front matter is not that of the skill's entry");
        }
        Ok(())
    }
}

/// Whether a name in a look-up is the address of a file: names of tools have no scheme.
pub fn is_address(name: &str) -> bool {
    name.contains("://")
}

/// The folder of a file, without a slash at its end.
pub fn folder(uri: &str) -> Option<&str> {
    Some(uri.rsplit_once('/')?.0)
}

/// The digests of a skill's files.
fn digests(files: &[Value], skill: &str) -> Result<BTreeMap<String, String>, &'static str> {
    let root = folder(skill).map(|folder| format!("{folder}/")).unwrap_or_default();
    let mut digests = BTreeMap::new();
    for file in files {
        let (Some(uri), Some(digest)) = (file["uri"].as_str(), file["digest"].as_str()) else {
            return Err("one of its `resources` has no `uri` or no `digest`");
        };
        if uri.len() > MAX_ADDRESS {
            return Err("an address in its `resources` is too long");
        }
        if !uri.starts_with(&root) || digests.insert(uri.to_owned(), digest.to_owned()).is_some() {
            return Err("one of its `resources` is outside of its folder, or is listed twice");
        }
    }
    match digests.contains_key(skill) {
        true => Ok(digests),
        false => Err("its `resources` do not list its `SKILL.md`"),
    }
}

/// The front matter of a text.
fn parsed(text: &str) -> Option<Value> {
    let text = text.strip_prefix("---")?.trim_start_matches('\r').strip_prefix('\n')?;
    let end = text.match_indices("\n---").map(|(at, _)| at).find(|at| {
        let behind = text.get(at + 4..).unwrap_or_default();
        behind.is_empty() || behind.starts_with(['\n', '\r'])
    })?;
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH, max_nodes: MAX_NODES },
    };
    serde_saphyr::from_str_with_options(text.get(..end)?, options).ok()
}

/// Whether two values are the same; numbers by their value.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64().is_some() && one.as_f64() == Number::as_f64(other)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same =
                |(name, value): (&String, &Value)| other.get(name).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(same)
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str =
        "---\nname: refunds\ndescription: Refunds.\nmetadata:\n  version: 1.0\n---\n\n# Refunds\n";
    const URI: &str = "skill://acme/refunds/SKILL.md";

    fn entry() -> Value {
        let digits: String = Sha256::digest(TEXT).iter().map(|byte| format!("{byte:02x}")).collect();
        let digest = format!("sha256:{digits}");
        json!({
            "uri": URI,
            "frontmatter": { "name": "refunds", "description": "Refunds.", "metadata": { "version": 1 } },
            "resources": [
                { "uri": URI, "digest": digest }, { "uri": "skill://acme/refunds/a/b.md", "digest": "sha256:00" },
            ],
        })
    }

    #[test]
    fn a_file_is_used_only_if_it_is_the_one_of_the_entry() {
        let skill = ServerSkill::read("shop", &entry()).unwrap();
        assert_eq!(skill.files().collect::<Vec<_>>(), ["skill://acme/refunds/a/b.md"]);
        assert_eq!(skill.verify(URI, TEXT), Ok(()));
        assert!(skill.verify(URI, &format!("{TEXT} ")).is_err());
        assert!(skill.verify("skill://acme/refunds/a/b.md", TEXT).is_err());
        assert!(!skill.has("skill://acme/refunds/c.md"));
        // Also without digests, the front matter is that of the entry.
        let mut bare = entry();
        bare["resources"] = Value::Null;
        let skill = ServerSkill::read("shop", &bare).unwrap();
        assert!(skill.is_unverifiable() && skill.verify(URI, TEXT).is_ok());
        assert!(skill.verify(URI, &TEXT.replace("Refunds.", "Other.")).is_err());
        assert!(skill.verify(URI, "# No front matter").is_err());
    }

    #[test]
    fn an_entry_that_breaks_the_rules_is_no_skill() {
        let changed = |pointer: &str, value: Value| {
            let mut entry = entry();
            *entry.pointer_mut(pointer).unwrap() = value;
            ServerSkill::read("shop", &entry)
        };
        assert!(changed("/frontmatter/name", json!("refund")).is_err());
        assert!(changed("/frontmatter/description", json!(" ")).is_err());
        assert!(changed("/uri", json!("skill://acme/refunds/OTHER.md")).is_err());
        assert!(changed("/resources/0/uri", json!("skill://acme/refunds/a/b.md")).is_err());
        assert!(changed("/resources/1/uri", json!("skill://acme/other/b.md")).is_err());
        assert!(changed("/resources/1/digest", json!(1)).is_err());
        assert!(changed("/resources", json!({})).is_err());
    }
}
