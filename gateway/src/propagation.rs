//! What processes of this program tell those that they start, through servers that lie between: by environment
//! variables, which servers inherit nothing else of, and by a member of `_meta` in calls. How deep they are is
//! `propagation::process_depth`'s job.

pub mod process_depth;

use agent::ADDRESS_VARIABLE;
use config::Config;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The run of an agent that all runs of a process belong to, where their calls don't say.
const PARENT_RUN: &str = "TOOLSMITH_SUBAGENT_PARENT_RUN";

/// The member of `_meta` in a call that says which run of an agent makes it.
const PARENT_RUN_META: &str = "io.toolsmith/parentRun";

/// Most characters of a run's name.
const LONGEST_RUN: usize = 64;

/// The run that the runs of this process belong to, where it was told.
///
/// # Errors
/// Where the variable has no name of a run.
pub fn parent_run() -> Result<Option<String>, Failure> {
    named(std::env::var(PARENT_RUN).ok())
}

fn named(run: Option<String>) -> Result<Option<String>, Failure> {
    let run = run.filter(|run| !run.is_empty());
    if run.as_deref().is_some_and(|run| !is_run(run)) {
        return Err(Failure::configuration(format!(
            "the variable {PARENT_RUN} is not the name of a run\nhelp: unset it"
        )));
    }
    Ok(run)
}

/// Has the servers of a configuration told what they need to know of this process: whether it is an agent itself, and not
/// something between two agents, and the address that subagents below it post events to.
///
/// # Errors
/// Where too many processes of this program are above this one, or it can't be known how many.
pub fn hand_on(config: &mut Config, is_agent: bool, events_address: Option<&str>) -> Result<(), Failure> {
    let depth = process_depth::check(config)?;
    let introductions = process_depth::introductions(config)?;
    // A command that begins an agent refuses what can't be read; what is between passes on nothing then.
    let parent_run = parent_run().ok().flatten();
    for server in &mut config.servers {
        server.connection.experimental = mcp::Experimental(introductions.to(&server.connection.transport));
        let mcp::Transport::Stdio(command) = &mut server.connection.transport else { continue };
        command.handed_on.insert(process_depth::VARIABLE.to_owned(), depth.saturating_add(1).to_string());
        if let Some(address) = events_address {
            command.handed_on.insert(ADDRESS_VARIABLE.to_owned(), address.to_owned());
        }
        // Calls of an agent say which of its runs makes them.
        if let Some(run) = parent_run.as_ref().filter(|_| !is_agent) {
            command.handed_on.insert(PARENT_RUN.to_owned(), run.clone());
        }
    }
    Ok(())
}

/// What says in calls that this run makes them.
pub fn meta_of(run: &str) -> Map<String, Value> {
    Map::from_iter([(PARENT_RUN_META.to_owned(), Value::from(run))])
}

/// The run that makes a call, where its `_meta` says so.
pub fn run_of(meta: &Map<String, Value>) -> Option<&str> {
    meta.get(PARENT_RUN_META).and_then(Value::as_str).filter(|run| is_run(run))
}

fn is_run(name: &str) -> bool {
    let fits = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
    !name.is_empty() && name.len() <= LONGEST_RUN && name.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use config::Server;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_handed_on_is_read_or_refused() {
        let named = |run: &str| named(Some(run.to_owned()));
        assert_eq!(named("").unwrap(), None);
        assert_eq!(named("ab12cd34").unwrap().as_deref(), Some("ab12cd34"));
        assert!(named("a b").unwrap_err().message.contains(PARENT_RUN));
    }

    #[test]
    fn servers_get_the_address_that_events_of_their_own_process_go_to() {
        for address in [Some("http://one@127.0.0.1:1/events"), Some("http://two@127.0.0.1:2/events"), None] {
            let server = Server::new(mcp::ServerConfig::stdio("shop", "program", [""; 0]), String::new());
            let mut config = Config { servers: vec![server], ..Config::default() };
            hand_on(&mut config, true, address).unwrap();
            let mcp::Transport::Stdio(command) = &config.servers[0].connection.transport else {
                panic!("no local server");
            };
            assert_eq!(command.handed_on.get(ADDRESS_VARIABLE).map(String::as_str), address);
        }
    }

    #[test]
    fn a_call_says_which_run_makes_it() {
        assert_eq!(run_of(&meta_of("ab12cd34")), Some("ab12cd34"));
        for other in [json!({}), json!({ PARENT_RUN_META: 7 }), json!({ PARENT_RUN_META: "a\nb" })] {
            assert_eq!(run_of(other.as_object().unwrap()), None, "{other}");
        }
    }
}
