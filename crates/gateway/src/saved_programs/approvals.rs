//! The saved programs that the user has approved: each as one text, with the tools that it can call.
//!
//! The record is next to the user's configuration. It is about texts and not about files, so a program stays approved
//! when it is renamed, and another text in its file is not approved. It also has the keys that sign skills whose author
//! the user trusts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use config::Config;
use flows::{Flow, FlowAction, Pair, Rules};
use report::Kind;
use serde::{Deserialize, Serialize};
use system::file::{self, Access, Durability};
use system::private;

use crate::catalog::ToolLists;
use crate::failure::Failure;
use crate::permission::{ApprovedTools, Remembered, RequestedTool};

/// The file of the record, in the user's folder.
const FILE: &str = "approved-programs.json";

/// The version of the format.
const VERSION: u64 = 1;

/// Maximum size of the record, in bytes (4 MiB): some ten thousand programs.
const LIMIT: u64 = 4 << 20;

/// The approved programs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approvals {
    version: u64,
    /// By the hash of the text.
    programs: BTreeMap<String, Approved>,
    /// The trusted keys of skills, in base64.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    keys: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Approved {
    /// The program's name when it was approved, for users who read the file.
    name: String,
    /// The tools that it can call.
    tools: ApprovedTools,
    /// The flows between them that need no answer.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    flows: BTreeSet<Pair>,
}

/// Whether a program is approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// With this text and these tools.
    Given,
    /// With this text, but with other tools.
    OtherTools,
    /// With this text and these tools, but not with all flows between them.
    OtherFlows,
    /// This text was never approved.
    Missing,
}

impl Approval {
    /// The word for it in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Approval::Given => "given",
            Approval::OtherTools => "other_tools",
            Approval::OtherFlows => "other_flows",
            Approval::Missing => "missing",
        }
    }
}

impl Approval {
    /// Whether an approval of `tools` is one of a program with this manifest, and these flows.
    pub fn of(tools: &ApprovedTools, manifest: &[String], flows: &[Flow]) -> Approval {
        let now: BTreeSet<&str> = manifest.iter().map(String::as_str).collect();
        match tools.names().collect::<BTreeSet<_>>() == now {
            true if tools.covers(flows) => Approval::Given,
            true => Approval::OtherFlows,
            false => Approval::OtherTools,
        }
    }
}

impl Approvals {
    /// The user's record.
    ///
    /// # Errors
    /// If it can't be read: then nothing is approved.
    pub fn read() -> Result<Self, Failure> {
        path().map_or_else(|| Ok(Approvals::default()), |path| read(&path))
    }

    /// Whether a program with this text's hash may call the tools of this manifest, with these flows between them.
    pub fn state(&self, hash: &str, manifest: &[String], flows: &[Flow]) -> Approval {
        match self.has(hash) {
            true => Approval::of(&self.tools(hash), manifest, flows),
            false => Approval::Missing,
        }
    }

    /// Whether a text with this hash is approved, with whatever tools.
    pub fn has(&self, hash: &str) -> bool {
        self.programs.contains_key(hash)
    }

    /// Returns the tools that a program with this text's hash is approved to call.
    pub fn tools(&self, hash: &str) -> ApprovedTools {
        let tools = |approved: &Approved| approved.tools.clone().with(approved.flows.clone());
        self.programs.get(hash).map(tools).unwrap_or_default()
    }

    /// Approves the program `name` with this text's hash, these tools and the flows between them.
    ///
    /// # Errors
    /// If the record can't be written.
    pub fn add(name: &str, hash: &str, tools: &[RequestedTool], flows: &[Flow]) -> Result<(), Failure> {
        let asked = flows.iter().filter(|flow| flow.then == FlowAction::Ask);
        let (tools, flows) = (ApprovedTools::of(tools), asked.map(Flow::pair).collect());
        let approved = Approved { name: name.to_owned(), tools, flows };
        change(|approvals| drop(approvals.programs.insert(hash.to_owned(), approved)))
    }

    /// Whether the user trusts skills that are signed with this key, in base64.
    pub fn trusts(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// Trusts skills that are signed with this key, in base64.
    ///
    /// # Errors
    /// If the record can't be written.
    pub fn trust(key: &str) -> Result<(), Failure> {
        change(|approvals| {
            approvals.keys.insert(key.to_owned());
        })
    }

    /// Takes the approval of a text back.
    ///
    /// # Errors
    /// If the record can't be written.
    pub fn remove(hash: &str) -> Result<(), Failure> {
        change(|approvals| drop(approvals.programs.remove(hash)))
    }
}

/// The tools of a manifest with the hashes and servers that an approval covers.
pub fn requested(manifest: &[String], config: &Config, lists: &ToolLists) -> Vec<RequestedTool> {
    let remembered = Remembered::read().0;
    let mut tools = Vec::new();
    for server in &config.servers {
        let name = &server.connection.name;
        let list = lists.list(name);
        let of_server =
            manifest.iter().filter_map(|tool| tool.strip_prefix(name.as_str())?.strip_prefix('.'));
        let known = of_server.filter(|tool| list.is_some_and(|list| list.has(tool)));
        let requested = known.map(|tool| {
            let tool = RequestedTool::new(name, tool, list.map(|list| &**list));
            tool.on(remembered.identity(server))
        });
        tools.extend(requested);
    }
    tools
}

/// The flows between the tools of a manifest that an approval covers.
pub fn flows(manifest: &[String], config: &Config) -> Vec<Flow> {
    Rules::new(&config.flows).of_manifest(manifest)
}

/// The path of the record; `None` without a folder for it.
pub fn path() -> Option<PathBuf> {
    config::user_folder().map(|folder| folder.join(FILE))
}

fn read(path: &Path) -> Result<Approvals, Failure> {
    let wrong = |what: &dyn std::fmt::Display| {
        Failure::new(
            Kind::Trust,
            format!("the record of approved programs {} can't be read: {what}", path.display()),
        )
        .hint("correct or delete it, and approve your programs again: toolsmith program approve NAME")
    };
    let Some(text) = private::read(path, LIMIT).map_err(|error| wrong(&error))? else {
        return Ok(Approvals::default());
    };
    let approvals: Approvals = strict_json::from_slice(&text).map_err(|error| wrong(&error))?;
    if approvals.version != VERSION {
        return Err(wrong(&format!("its version is {}, not {VERSION}", approvals.version)));
    }
    Ok(approvals)
}

/// Changes the record; other processes wait meanwhile.
fn change(change: impl FnOnce(&mut Approvals)) -> Result<(), Failure> {
    let path = path().ok_or_else(|| {
        Failure::new(Kind::Trust, "there is no folder for the record of approved programs")
            .hint("set HOME, or XDG_CONFIG_HOME")
    })?;
    change_in(&path, change)
}

fn change_in(path: &Path, change: impl FnOnce(&mut Approvals)) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::new(Kind::Trust, format!("{} can't be written: {error}", path.display())).caused_by(error)
    };
    let folder = file::folder_of(path);
    private::create_inside(folder).map_err(failed)?;
    let held = File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
    let _held = held.map_err(failed)?;
    let mut approvals = Approvals { version: VERSION, ..read(path)? };
    change(&mut approvals);
    let mut text = serde_json::to_vec_pretty(&approvals).map_err(|error| failed(error.into()))?;
    text.push(b'\n');
    if text.len() as u64 > LIMIT {
        let message =
            format!("the record of approved programs {} has reached its limit of 4 MiB", path.display());
        return Err(Failure::new(Kind::Trust, message).hint(
            "delete it, and approve the programs again that you still use: toolsmith program approve NAME",
        ));
    }
    file::replace(path, &text, Access::Owner, Durability::Synced).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(names: &[&str]) -> ApprovedTools {
        let tool = |name: &&str| RequestedTool::new("s", name, None).on("x".to_owned());
        ApprovedTools::of(&names.iter().map(tool).collect::<Vec<_>>())
    }

    fn flow(from: &str, to: &str) -> Flow {
        let (from, to) = (from.to_owned(), to.to_owned());
        Flow { from, to, labels: flows::Labels::default(), then: FlowAction::Ask }
    }

    #[test]
    fn an_approval_is_of_one_text_one_manifest_and_its_flows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolsmith").join(FILE);
        assert_eq!(read(&path).unwrap(), Approvals::default());
        let flow = flow("s.t", "s.u");
        let flows = BTreeSet::from([flow.pair()]);
        let approved = Approved { name: "a".to_owned(), tools: tools(&["t", "u"]), flows: flows.clone() };
        change_in(&path, |approvals| drop(approvals.programs.insert("h".to_owned(), approved))).unwrap();
        let read = read(&path).unwrap();
        let state = |hash: &str, manifest: &[&str]| {
            read.state(hash, &manifest.iter().map(|tool| (*tool).to_owned()).collect::<Vec<_>>(), &[])
        };
        let with_flows = |flows: &[Flow]| read.state("h", &["s.t".to_owned(), "s.u".to_owned()], flows);
        let other = super::tests::flow("s.u", "s.t");
        assert_eq!(with_flows(std::slice::from_ref(&flow)), Approval::Given);
        assert_eq!(with_flows(&[flow, other.clone()]), Approval::OtherFlows);
        assert_eq!(with_flows(&[Flow { then: FlowAction::Deny, ..other }]), Approval::Given);
        assert_eq!(state("h", &["s.u", "s.t"]), Approval::Given);
        assert_eq!(state("h", &["s.t"]), Approval::OtherTools);
        assert_eq!(state("h", &["s.t", "s.u", "s.v"]), Approval::OtherTools);
        assert_eq!(state("i", &["s.t", "s.u"]), Approval::Missing);
        assert_eq!(
            (read.tools("h"), read.tools("i")),
            (tools(&["t", "u"]).with(flows), ApprovedTools::default())
        );
        change_in(&path, |approvals| drop(approvals.programs.remove("h"))).unwrap();
        assert!(!super::read(&path).unwrap().has("h"));
    }

    #[test]
    fn a_record_that_would_be_too_large_to_be_read_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let approved = |name: String| Approved { name, tools: tools(&[]), flows: BTreeSet::new() };
        change_in(&path, |approvals| {
            drop(approvals.programs.insert("h".to_owned(), approved("a".to_owned())));
        })
        .unwrap();
        let large = approved("a".repeat(usize::try_from(LIMIT).unwrap()));
        let error =
            change_in(&path, |approvals| drop(approvals.programs.insert("i".to_owned(), large))).unwrap_err();
        assert!(error.to_string().contains("limit of 4 MiB"), "{error}");
        let kept = read(&path).unwrap();
        assert_eq!((kept.has("h"), kept.has("i")), (true, false));
    }

    #[test]
    fn an_invalid_record_approves_nothing_and_is_left_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        for text in
            ["", "{}", r#"{ "version": 2, "programs": {} }"#, r#"{ "version": 1, "programs": {}, "x": 1 }"#]
        {
            std::fs::write(&path, text).unwrap();
            let error = read(&path).unwrap_err();
            assert!(error.to_string().contains(FILE), "{text}: {error}");
            assert!(change_in(&path, |_| {}).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
