//! The rules that the values of one layer must keep, and what they mean.
//!
//! Every broken rule is reported, not only the first. Servers' entries are checked by `server`.

use std::path::PathBuf;

use super::ConfigLayer;
use super::decode::{Problem, decode};
use super::key_macros::{Kind, Merge as _};
use super::placed::At;
use super::problems::{Checker, MOST_ENTRIES};
use super::source::Document;
use super::top_level::File;
use super::tree::{Node, Place};

/// What variables hold in the environment.
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The same, and something that fits most places for those that are not set: to check what is to be used later.
pub(super) fn or_something(name: &str) -> Option<String> {
    environment(name).or_else(|| Some("https://variable.invalid".to_owned()))
}

/// What a layer sets, and what is wrong with it outside its servers.
pub(super) fn settings(document: &Document) -> (File, Vec<Problem>) {
    let (mut file, mut problems) = decoded(document);
    let checker = Checker::default();
    checker.servers(document);
    checker.cache(document, &mut file);
    checker.code_mode(document, &mut file);
    problems.extend(checker.done());
    problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
    (file, problems)
}

/// Everything but the servers. It is decoded where it is needed: reading looks nothing up that a file names.
fn decoded(document: &Document) -> (File, Vec<Problem>) {
    let mut problems = Vec::new();
    let file = decode(&document.tree, document.source.surroundings(environment), &mut problems);
    (file, problems)
}

/// The paths that a layer lets programs write to, with their places.
pub(super) fn writable(document: &Document) -> Vec<(Place, PathBuf)> {
    let file = decoded(document).0;
    let sandbox = file.code_mode.sandbox.over(file.defaults.code_mode.sandbox);
    sandbox.write.into_iter().flatten().map(|granted| (granted.place, granted.value())).collect()
}

impl Checker {
    fn servers(&self, document: &Document) {
        if let Some(entry) = document.entries.get(MOST_ENTRIES) {
            let place = At { place: entry.place, value: () };
            self.tell(&place, &format!("there are more than {MOST_ENTRIES} servers, which is the limit"));
        }
    }

    /// The cache is the user's, and other projects use it too.
    fn cache(&self, document: &Document, file: &mut File) {
        let size = document.tree.get("cache").and_then(|cache| cache.get("size"));
        if let (Some(size), ConfigLayer::Project(_)) = (size, &document.source.layer) {
            file.cache = Default::default();
            let message = "a project can't set cache.size, because all projects share the cache; \
                           set it in your own configuration, or in a file that --config names";
            self.tell(&At { place: size.place, value: () }, message);
        }
    }

    /// Puts what stands under `defaults`, and by another name, to the keys that mean the same.
    fn code_mode(&self, document: &Document, file: &mut File) {
        let top = document.tree.get("codeMode");
        let below = document.tree.get("defaults").and_then(|defaults| defaults.get("codeMode"));
        if let (Some(top), Some(below)) = (top, below) {
            self.agree(top, below);
        }
        let mut keys = std::mem::take(&mut file.code_mode).over(std::mem::take(&mut file.defaults.code_mode));
        let sandbox = &mut keys.sandbox;
        if let (Some(off), Some(_)) = (&sandbox.dangerously_run_without_sandbox, &sandbox.minimum)
            && off.value
        {
            const BOTH: &str =
                "dangerouslyRunWithoutSandbox and a minimum contradict each other; remove one of them";
            self.tell(off, BOTH);
        }
        // Whatever a weaker layer has switched off is on again.
        if sandbox.minimum.is_some() {
            let off = sandbox.dangerously_run_without_sandbox.get_or_insert_default();
            off.value = false;
        }
        self.one_name("wallClock", keys.timeout.take(), &mut sandbox.wall_clock);
        self.one_name("memory", keys.memory.take(), &mut sandbox.memory);
        if let (Some(time), Some(longest)) = (&sandbox.wall_clock, &keys.max_timeout)
            && time.value() > longest.value.value()
        {
            self.tell(longest, "maxTimeout is less than the timeout; write at least as much");
        }
        file.code_mode = keys;
    }

    /// Moves what stands under `codeMode` to the key of `codeMode.sandbox` that means the same.
    fn one_name<K>(&self, key: &str, given: Option<At<K>>, sandbox: &mut Option<K>) {
        let Some(given) = given else { return };
        if sandbox.is_some() {
            self.tell(&given, &format!("this is set under sandbox.{key} as well; keep one of them"));
        }
        *sandbox = Some(given.value);
    }

    /// A key that stands both under `codeMode` and under `defaults` must say the same.
    fn agree(&self, top: &Node, below: &Node) {
        for (key, node) in below.entries() {
            if top.get(&key.text).is_some_and(|other| other.to_json() != node.to_json()) {
                let place = At { place: node.place, value: () };
                let name = &key.text;
                let message = format!(
                    "codeMode.{name} is something else at the top level; keep it there, and remove it here"
                );
                self.tell(&place, &message);
            }
        }
    }
}
