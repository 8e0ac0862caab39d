//! Checks the rules between the values of one layer.
//!
//! Every broken rule is reported, not only the first. `server` checks the entries of servers.

use std::path::PathBuf;

use super::ConfigLayer;
use super::decode::{Problem, decode};
use super::flows::FlowAction;
use super::key_macros::{Kind, Merge as _};
use super::placed::At;
use super::problems::{Checker, MAX_ENTRIES};
use super::source::Document;
use super::top_level::File;
use super::tree::{Node, Place, Value};
use super::variables;

/// The value of an environment variable.
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Like [`environment`], with a placeholder for variables that are not set, to check entries for later use.
pub(super) fn or_something(name: &str) -> Option<String> {
    environment(name).or_else(|| Some("https://variable.invalid".to_owned()))
}

/// Reads a layer's settings outside its servers, and the errors in it.
pub(super) fn settings(document: &Document) -> (File, Vec<Problem>) {
    let (mut file, mut problems) = decoded(document);
    let checker = Checker::default();
    checker.servers(document);
    for (_, node) in document.tree.entries().iter().filter(|(key, _)| key.text != "mcpServers") {
        checker.no_secrets(Some(node));
    }
    checker.cache(document, &mut file);
    checker.identities(document, &mut file);
    checker.saving(document, &mut file);
    checker.flows(document, &mut file);
    checker.shared_state(document, &file);
    checker.code_mode(document, &mut file);
    problems.extend(checker.done());
    problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
    (file, problems)
}

/// Decodes everything but the servers, only where it is needed: reading a layer does not access files that it names.
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
        if let Some(entry) = document.entries.get(MAX_ENTRIES) {
            let place = At { place: entry.place, value: () };
            self.report(&place, &format!("there are more than {MAX_ENTRIES} servers, the maximum"));
        }
    }

    /// Secrets of the keyring are read when a server is used, so other settings can't refer to them.
    pub(super) fn no_secrets(&self, node: Option<&Node>) {
        match node.map(|node| &node.value) {
            Some(Value::Map(entries)) => entries.iter().for_each(|(_, node)| self.no_secrets(Some(node))),
            Some(Value::List(items)) => items.iter().for_each(|node| self.no_secrets(Some(node))),
            Some(Value::Text(text)) => {
                if let (Some(name), Some(node)) = (variables::secrets(text).first(), node) {
                    let message = format!(
                        "${{keyring:{name}}} can't be used here, only in command, args, env, cwd, url, headers and \
                         the client of a server; write an environment variable: ${{NAME}}"
                    );
                    self.report(&At { place: node.place, value: () }, &message);
                }
            }
            _ => {}
        }
    }

    /// Projects share the user's cache, so a project must not set its size, or where its entries come from.
    fn cache(&self, document: &Document, file: &mut File) {
        let cache = document.tree.get("cache");
        let key = |name: &str| cache.and_then(|cache| cache.get(name));
        if let ConfigLayer::Project(_) = &document.source.layer {
            (file.cache.size, file.cache.remote) = (None, None);
            for name in ["size", "remote"] {
                let Some(node) = key(name) else { continue };
                let message = format!(
                    "a project can't set cache.{name}, because all projects share the cache; set it in your own \
                     configuration, or in a file that --config names"
                );
                self.report(&At { place: node.place, value: () }, &message);
            }
        }
        let (Some(remote), Some(node)) = (&file.cache.remote, key("remote")) else { return };
        for (name, message) in remote.problems() {
            let place = node.get(name).unwrap_or(node).place;
            self.report(&At { place, value: () }, message);
        }
    }

    /// A secret is in one place.
    fn shared_state(&self, document: &Document, file: &File) {
        let serve = document.tree.get("serve");
        let Some(node) = serve.and_then(|serve| serve.get("sharedState")?.get("key")) else { return };
        if file.serve.shared_state.as_ref().is_some_and(|shared| !shared.has_one_place()) {
            let message = "a key is in one place; write either `file` or `env`";
            self.report(&At { place: node.place, value: () }, message);
        }
    }

    /// Checks that a project neither admits other users nor lifts a limit: the users of a server are its user's
    /// decision.
    fn identities(&self, document: &Document, file: &mut File) {
        let ConfigLayer::Project(_) = &document.source.layer else { return };
        for key in ["auth", "tokens", "deny", "subjectLimits", "sharedState"] {
            let Some(node) = document.tree.get("serve").and_then(|serve| serve.get(key)) else { continue };
            let message = format!(
                "a project can't set serve.{key}, because it decides who may use your server; set it in your own \
                 configuration, or in a file that --config names"
            );
            self.report(&At { place: node.place, value: () }, &message);
        }
        let serve = &mut file.serve;
        (serve.auth, serve.tokens, serve.shared_state) = (None, None, None);
        (serve.deny, serve.subject_limits) = Default::default();
    }

    /// A program that is saved here is used in all projects.
    fn saving(&self, document: &Document, file: &mut File) {
        let ConfigLayer::Project(_) = &document.source.layer else { return };
        let serve = document.tree.get("serve");
        let (Some(node), Some(true)) =
            (serve.and_then(|serve| serve.get("saveProgram")), file.serve.save_program)
        else {
            return;
        };
        const MESSAGE: &str = "a project can't set serve.saveProgram, because programs are saved among your own; set \
                               it in your own configuration, or in a file that --config names";
        self.report(&At { place: node.place, value: () }, MESSAGE);
        file.serve.save_program = None;
    }

    /// Checks that a project only adds labels, and rules that ask or deny.
    fn flows(&self, document: &Document, file: &mut File) {
        let ConfigLayer::Project(_) = &document.source.layer else { return };
        let flows = &mut file.flows;
        for key in ["privateToExternal", "untrustedToExternal", "scope"] {
            let Some(node) = document.tree.get("flows").and_then(|flows| flows.get(key)) else { continue };
            let message = format!(
                "a project can't set flows.{key}, because it may allow what you forbid; set it in your own \
                 configuration, or write a rule with `then: deny`"
            );
            self.report(&At { place: node.place, value: () }, &message);
        }
        (flows.private_to_external, flows.untrusted_to_external, flows.scope) = Default::default();
        const MESSAGE: &str = "a project can't allow a flow; write the rule in your own configuration, or in a file \
                               that --config names";
        flows.rules.0.retain(|rule| {
            let is_allowed = rule.then.value == FlowAction::Allow;
            if is_allowed {
                self.report(&rule.then, MESSAGE);
            }
            !is_allowed
        });
    }

    /// Moves values under `defaults` and under aliases to their main keys.
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
            self.report(off, BOTH);
        }
        // A minimum overrides a weaker layer's `dangerouslyRunWithoutSandbox`.
        if sandbox.minimum.is_some() {
            let off = sandbox.dangerously_run_without_sandbox.get_or_insert_default();
            off.value = false;
        }
        self.one_name("wallClock", keys.timeout.take(), &mut sandbox.wall_clock);
        self.one_name("memory", keys.memory.take(), &mut sandbox.memory);
        if let (Some(time), Some(max_timeout)) = (&sandbox.wall_clock, &keys.max_timeout)
            && time.value() > max_timeout.value.value()
        {
            self.report(max_timeout, "maxTimeout is less than the timeout; increase it");
        }
        file.code_mode = keys;
    }

    /// Moves the value of a key of `codeMode` to its alias in `codeMode.sandbox`.
    fn one_name<K>(&self, key: &str, given: Option<At<K>>, sandbox: &mut Option<K>) {
        let Some(given) = given else { return };
        if sandbox.is_some() {
            self.report(&given, &format!("sandbox.{key} sets this as well; keep one of them"));
        }
        *sandbox = Some(given.value);
    }

    /// A key set both under `codeMode` and under `defaults` must have the same value.
    fn agree(&self, top: &Node, below: &Node) {
        for (key, node) in below.entries() {
            if top.get(&key.text).is_some_and(|other| other.to_json() != node.to_json()) {
                let place = At { place: node.place, value: () };
                let name = &key.text;
                let message = format!(
                    "codeMode.{name} has another value at the top level; keep that one, and remove this one"
                );
                self.report(&place, &message);
            }
        }
    }
}
