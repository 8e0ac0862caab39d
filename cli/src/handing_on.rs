//! What processes of this program tell those that they start, through servers that lie between: by environment
//! variables, which servers inherit nothing else of, and by a member of `_meta` in calls.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};

use crate::config::Config;
use crate::failure::Failure;

/// How many agents are above a process, each of which has the next one as a tool.
const DEPTH: &str = "TOOLSMITH_SUBAGENT_DEPTH";

/// The run of an agent that all runs of a process belong to, where their calls don't say.
const PARENT_RUN: &str = "TOOLSMITH_SUBAGENT_PARENT_RUN";

/// The member of `_meta` in a call that says which run of an agent makes it.
const PARENT_RUN_META: &str = "io.toolsmith/parentRun";

/// Most characters of a run's name.
const LONGEST_RUN: usize = 64;

/// Whether this process is an agent, and not something between two agents.
static AGENT: AtomicBool = AtomicBool::new(false);

/// What was handed to this process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HandedOn {
    /// How many agents are above it.
    pub(crate) depth: u32,
    /// The run that its runs belong to.
    pub(crate) parent_run: Option<String>,
}

impl HandedOn {
    /// # Errors
    /// Where a variable has no value of its kind.
    pub(crate) fn to_this_process() -> Result<Self, Failure> {
        let read = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self::of(read(DEPTH).as_deref(), read(PARENT_RUN).as_deref())
    }

    fn of(depth: Option<&str>, parent_run: Option<&str>) -> Result<Self, Failure> {
        let wrong = |name: &str, what: &str| {
            Failure::configuration(format!("the variable {name} is not {what}\nhelp: unset it"))
        };
        let depth = depth.map_or(Ok(0), str::parse).map_err(|_| wrong(DEPTH, "a number of agents"))?;
        if parent_run.is_some_and(|run| !is_run(run)) {
            return Err(wrong(PARENT_RUN, "the name of a run"));
        }
        Ok(HandedOn { depth, parent_run: parent_run.map(str::to_owned) })
    }
}

/// From now on, what this process starts is below an agent: itself.
pub(crate) fn as_an_agent() {
    AGENT.store(true, Ordering::Relaxed);
}

/// Has the local servers of a configuration told what they need to know.
pub(crate) fn hand_on(config: &mut Config) {
    // A command that begins an agent refuses what can't be read; what is between passes on nothing then.
    let Ok(HandedOn { depth, parent_run }) = HandedOn::to_this_process() else { return };
    let is_agent = AGENT.load(Ordering::Relaxed);
    let depth = if is_agent { depth.saturating_add(1) } else { depth };
    for server in &mut config.servers {
        let mcp::Transport::Stdio(command) = &mut server.connection.transport else { continue };
        if depth > 0 {
            command.handed_on.insert(DEPTH.to_owned(), depth.to_string());
        }
        // Calls of an agent say which of its runs makes them.
        if let Some(run) = parent_run.as_ref().filter(|_| !is_agent) {
            command.handed_on.insert(PARENT_RUN.to_owned(), run.clone());
        }
    }
}

/// What says in calls that this run makes them.
pub(crate) fn meta_of(run: &str) -> Map<String, Value> {
    Map::from_iter([(PARENT_RUN_META.to_owned(), Value::from(run))])
}

/// The run that makes a call, where its `_meta` says so.
pub(crate) fn run_of(meta: &Map<String, Value>) -> Option<&str> {
    meta.get(PARENT_RUN_META).and_then(Value::as_str).filter(|run| is_run(run))
}

fn is_run(name: &str) -> bool {
    let fits = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
    !name.is_empty() && name.len() <= LONGEST_RUN && name.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_handed_on_is_read_or_refused() {
        assert_eq!(HandedOn::of(None, None).unwrap(), HandedOn::default());
        let both = HandedOn { depth: 3, parent_run: Some("ab12cd34".to_owned()) };
        assert_eq!(HandedOn::of(Some("3"), Some("ab12cd34")).unwrap(), both);
        assert!(HandedOn::of(Some("-1"), None).unwrap_err().message.contains(DEPTH));
        assert!(HandedOn::of(None, Some("a b")).unwrap_err().message.contains(PARENT_RUN));
    }

    #[test]
    fn a_call_says_which_run_makes_it() {
        assert_eq!(run_of(&meta_of("ab12cd34")), Some("ab12cd34"));
        for other in [json!({}), json!({ PARENT_RUN_META: 7 }), json!({ PARENT_RUN_META: "a\nb" })] {
            assert_eq!(run_of(other.as_object().unwrap()), None, "{other}");
        }
    }
}
