//! The last check of each program, kept in the cache for those who may not wait for the compiler.
//!
//! A check is of one text against the tool lists that were known. It says nothing about others.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use runner::{Bucket, Cache};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use snippet::Fix;

use super::check::{Fit, ProgramCheck};
use crate::tool_list::ToolList;

/// The version of the format, which is part of the key.
const VERSION: u64 = 1;

/// Maximum number of the compiler's messages that are kept.
const MESSAGES: usize = 50;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptCheck {
    /// When it was checked, in milliseconds since 1970.
    pub checked: i64,
    /// [`Fit::word`].
    pub state: String,
    /// The reason why it is broken, in one sentence.
    pub broken: Option<String>,
    /// The compiler's messages, as in an outcome.
    pub diagnostics: Vec<Value>,
    /// The corrections that are made each time it is compiled.
    pub fixes: Vec<Fix>,
    /// The tools that it can call, as `server.tool`, sorted.
    pub manifest: Vec<String>,
    /// The JSON Schema of its arguments.
    pub arguments: Option<Value>,
    /// The JSON Schema of its result, if it has one.
    pub result: Option<Value>,
    /// The digest of each tool list that it was checked against, by server.
    tools: BTreeMap<String, String>,
}

impl KeptCheck {
    /// A check against these tool lists.
    pub fn new(check: &ProgramCheck, lists: &BTreeMap<String, Arc<ToolList>>) -> Self {
        let (mut broken, mut diagnostics, mut fixes) = (None, Vec::new(), Vec::new());
        match &check.fit {
            Fit::Fits => {}
            Fit::Corrected(made) => fixes.clone_from(made),
            Fit::Broken(why) => {
                let messages = why.diagnostics.iter().take(MESSAGES);
                diagnostics = messages.filter_map(|message| serde_json::to_value(message).ok()).collect();
                broken = Some(why.message.clone());
            }
        }
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let digest = |(name, list): (&String, &Arc<ToolList>)| (name.clone(), list.digest().to_owned());
        KeptCheck {
            checked: i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            state: check.fit.word().to_owned(),
            broken,
            diagnostics,
            fixes,
            manifest: check.manifest.clone(),
            arguments: check.schemas.as_ref().map(|schemas| schemas.arguments.clone()),
            result: check.schemas.as_ref().and_then(|schemas| schemas.result.clone()),
            tools: lists.iter().map(digest).collect(),
        }
    }

    /// Keeps the check of the program whose text has this hash, in place of an earlier one.
    ///
    /// # Errors
    /// If the cache can't be written.
    pub fn keep(&self, cache: &Cache, hash: &str) -> std::io::Result<()> {
        cache.write(Bucket::Catalogs, &key(hash), &serde_json::to_vec(self)?)
    }

    /// The last check of the program whose text has this hash, if it is still in the cache.
    pub fn read(cache: &Cache, hash: &str) -> Option<Self> {
        serde_json::from_slice(&cache.read(Bucket::Catalogs, &key(hash))?).ok()
    }

    /// Whether it was checked against these tool lists, as far as it can call their servers.
    pub fn is_current(&self, lists: &BTreeMap<String, Arc<ToolList>>) -> bool {
        let servers = self.manifest.iter().filter_map(|tool| tool.split_once('.')).map(|(server, _)| server);
        // What a broken program can call is not known.
        let all = self.tools.keys().map(String::as_str).filter(|_| self.broken.is_some());
        servers.chain(all).all(|server| {
            lists
                .get(server)
                .is_some_and(|list| self.tools.get(server).is_some_and(|known| known == list.digest()))
        })
    }
}

fn key(hash: &str) -> String {
    let key = format!("check of a program {VERSION} {hash}");
    blake3::hash(key.as_bytes()).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::saved_programs::check::Broken;

    fn list(description: &str) -> Arc<ToolList> {
        Arc::new(ToolList::new(&[json!({ "name": "t", "description": description })]))
    }

    fn kept(fit: Fit, manifest: &[&str]) -> KeptCheck {
        let manifest = manifest.iter().map(|tool| (*tool).to_owned()).collect();
        KeptCheck::new(&ProgramCheck { fit, manifest, schemas: None }, &lists("x", "x"))
    }

    fn lists(of_a: &str, of_b: &str) -> BTreeMap<String, Arc<ToolList>> {
        BTreeMap::from([("a".to_owned(), list(of_a)), ("b".to_owned(), list(of_b))])
    }

    #[test]
    fn a_check_is_current_until_the_tools_of_its_servers_change() {
        let fits = kept(Fit::Fits, &["a.t"]);
        assert!(fits.is_current(&lists("x", "x")) && fits.is_current(&lists("x", "y")));
        assert!(!fits.is_current(&lists("y", "x")) && !fits.is_current(&BTreeMap::new()));
        assert!(kept(Fit::Fits, &[]).is_current(&BTreeMap::new()));
        let broken = Broken { message: "no".to_owned(), diagnostics: Vec::new() };
        let broken = kept(Fit::Broken(broken), &[]);
        assert_eq!(broken.broken.as_deref(), Some("no"));
        assert!(broken.is_current(&lists("x", "x")) && !broken.is_current(&lists("x", "y")));
    }

    #[test]
    fn a_check_is_kept_for_one_text() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), runner::DEFAULT_SIZE).unwrap();
        let check = kept(Fit::Fits, &["a.t"]);
        check.keep(&cache, "h").unwrap();
        assert_eq!((KeptCheck::read(&cache, "h"), KeptCheck::read(&cache, "i")), (Some(check), None));
    }
}
