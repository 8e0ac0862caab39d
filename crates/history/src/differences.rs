//! The differences between two executions.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use similar::TextDiff;

use crate::record::{Call, Execution};
use crate::shown::kept;

/// Lines around a difference.
const CONTEXT: usize = 3;

/// The differences between two executions.
#[derive(Debug, Serialize)]
pub struct Differences {
    /// The id of the first execution.
    pub old: String,
    /// The id of the second one.
    pub new: String,
    /// Members that differ.
    pub members: Vec<Member>,
    /// Tools whose calls differ.
    pub calls: Vec<Calls>,
    /// The differences of the snippets, results and outputs, as unified diffs.
    pub texts: BTreeMap<&'static str, String>,
}

/// A member that differs.
#[derive(Debug, Serialize)]
pub struct Member {
    /// Its name.
    pub name: &'static str,
    /// Its value in the first execution; empty if it has none.
    pub old: String,
    /// Its value in the second one.
    pub new: String,
}

/// The calls of one tool.
#[derive(Debug, Serialize)]
pub struct Calls {
    /// The tool, as `server.tool`.
    pub tool: String,
    /// In the first execution.
    pub old: Tally,
    /// In the second one.
    pub new: Tally,
}

/// The sums of the calls of one tool.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Tally {
    /// The number of calls.
    pub calls: u64,
    /// The number of calls that did not succeed.
    pub failed: u64,
    /// The size of their results, in bytes.
    pub bytes: u64,
    /// Hashes of the arguments, sorted.
    #[serde(skip)]
    arguments: Vec<String>,
    /// Their duration in milliseconds. It differs each time, so it is shown but not compared.
    pub ms: f64,
}

impl Tally {
    fn add(&mut self, call: &Call) {
        self.calls += 1;
        self.failed += u64::from(call.ok != Some(true));
        self.bytes += call.bytes;
        self.ms += call.ended_ms.map_or(0.0, |ended| ended - call.sent_ms.unwrap_or(call.began_ms));
        self.arguments.extend(call.arguments.iter().map(|arguments| arguments.hash.clone()));
        self.arguments.sort();
    }

    fn is_like(&self, other: &Tally) -> bool {
        let compared = |tally: &Tally| (tally.calls, tally.failed, tally.bytes);
        compared(self) == compared(other) && self.arguments == other.arguments
    }
}

impl Differences {
    /// Compares two executions.
    #[must_use]
    pub fn between(old: &Execution, new: &Execution) -> Self {
        let mut members = Vec::new();
        let mut compare = |name, [old, new]: [String; 2]| {
            if old != new {
                members.push(Member { name, old, new });
            }
        };
        let both = [old, new];
        compare("status", both.map(|one| one.summary.status.clone()));
        compare("error", both.map(|one| one.summary.error.clone().unwrap_or_default()));
        compare(
            "arguments",
            both.map(|one| one.arguments.as_ref().map(|kept| kept.hash.clone()).unwrap_or_default()),
        );
        compare("folder", both.map(|one| one.summary.folder.clone()));
        compare("manifest", both.map(|one| one.outcome["manifest"].to_string()));
        compare("sandbox", both.map(|one| one.outcome["sandbox"].to_string()));
        compare("tokens", both.map(|one| (one.summary.tokens.code + one.summary.tokens.answer).to_string()));
        let mut texts = BTreeMap::new();
        let mut text = |name, [old, new]: [String; 2]| {
            if old != new {
                let difference = TextDiff::from_lines(&old, &new);
                texts.insert(name, difference.unified_diff().context_radius(CONTEXT).to_string());
            }
        };
        text("snippet", both.map(|one| one.code.clone()));
        text("result", both.map(|one| kept(&one.outcome["result"])));
        text("output", both.map(|one| kept(&one.outcome["stdout"])));
        let (old, new) = (old, new);
        Differences {
            old: old.summary.id.clone(),
            new: new.summary.id.clone(),
            members,
            calls: calls(&old.calls_made, &new.calls_made),
            texts,
        }
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.calls.is_empty() && self.texts.is_empty()
    }
}

fn calls(old: &[Call], new: &[Call]) -> Vec<Calls> {
    let [old, new] = [old, new].map(|calls| {
        let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
        calls
            .iter()
            .for_each(|call| tallies.entry(format!("{}.{}", call.server, call.tool)).or_default().add(call));
        tallies
    });
    let tools: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let tally =
        |tallies: &BTreeMap<String, Tally>, tool: &String| tallies.get(tool).cloned().unwrap_or_default();
    let compared = tools.into_iter().map(|tool| Calls {
        tool: tool.clone(),
        old: tally(&old, tool),
        new: tally(&new, tool),
    });
    compared.filter(|calls| !calls.old.is_like(&calls.new)).collect()
}
