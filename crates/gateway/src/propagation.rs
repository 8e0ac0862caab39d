//! The values that processes of this program pass to those below them, through the servers between: environment
//! variables, which servers do not inherit otherwise, and a member of `_meta` in calls. `propagation::process_depth`
//! tracks their depth.

pub mod process_depth;

use agent::ADDRESS_VARIABLE;
use config::Config;
use report::Kind;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The variable with the agent run that this process belongs to, unless a call names another.
const PARENT_RUN: &str = "TOOLSMITH_SUBAGENT_PARENT_RUN";

/// The member of `_meta` in a call with the agent run that makes it.
const PARENT_RUN_META: &str = "io.toolsmith/parentRun";

/// Maximum characters of a run's name.
const MAX_RUN: usize = 64;

/// The run that this process belongs to, if any.
///
/// # Errors
/// If the variable is not the name of a run.
pub fn parent_run() -> Result<Option<String>, Failure> {
    parsed_run(std::env::var(PARENT_RUN).ok())
}

fn parsed_run(run: Option<String>) -> Result<Option<String>, Failure> {
    let run = run.filter(|run| !run.is_empty());
    if run.as_deref().is_some_and(|run| !is_run(run)) {
        let message = format!("the variable {PARENT_RUN} is not the name of a run");
        return Err(Failure::new(Kind::Configuration, message).hint("unset it"));
    }
    Ok(run)
}

/// Passes on to the servers of a configuration what they need from this process: its depth, its parent run unless it
/// is an agent itself, and the address to which subagents below it post events.
///
/// # Errors
/// If too many processes of this program are above this one, or their number can't be determined.
pub fn hand_on(config: &mut Config, is_agent: bool, events_address: Option<&str>) -> Result<(), Failure> {
    let depth = process_depth::check(config)?;
    let introductions = process_depth::introductions(config)?;
    // A command that starts an agent refuses an invalid variable; other processes then pass nothing on.
    let parent_run = parent_run().ok().flatten();
    for server in &mut config.servers {
        server.connection.experimental = mcp::Experimental(introductions.to(&server.connection.transport));
        let mcp::Transport::Stdio(command) = &mut server.connection.transport else { continue };
        command.handed_on.insert(process_depth::VARIABLE.to_owned(), depth.saturating_add(1).to_string());
        if let Some(address) = events_address {
            command.handed_on.insert(ADDRESS_VARIABLE.to_owned(), address.to_owned());
        }
        // Calls of an agent name their run themselves.
        if let Some(run) = parent_run.as_ref().filter(|_| !is_agent) {
            command.handed_on.insert(PARENT_RUN.to_owned(), run.clone());
        }
    }
    Ok(())
}

/// The data that calls pass on in `_meta`: of the process and the agent on whose behalf they are made.
#[derive(Debug, Clone, Default)]
pub struct PassedOn {
    /// The number of processes of this program that the request has passed through.
    pub depth: u32,
    /// The run of the requesting agent.
    pub run: Option<String>,
}

impl PassedOn {
    /// The members of `_meta`.
    pub fn meta(&self, is_over_http: bool) -> Map<String, Value> {
        let mut meta = process_depth::next(self.depth, is_over_http);
        meta.extend(self.run.iter().flat_map(|run| meta_of(run)));
        meta
    }
}

/// The `_meta` of calls made by this run.
pub fn meta_of(run: &str) -> Map<String, Value> {
    Map::from_iter([(PARENT_RUN_META.to_owned(), Value::from(run))])
}

/// The run that makes a call, from its `_meta`.
pub fn run_of(meta: &Map<String, Value>) -> Option<&str> {
    meta.get(PARENT_RUN_META).and_then(Value::as_str).filter(|run| is_run(run))
}

fn is_run(name: &str) -> bool {
    let fits = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
    !name.is_empty() && name.len() <= MAX_RUN && name.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use config::Server;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_invalid_parent_run_is_refused() {
        let parsed_run = |run: &str| parsed_run(Some(run.to_owned()));
        assert_eq!(parsed_run("").unwrap(), None);
        assert_eq!(parsed_run("ab12cd34").unwrap().as_deref(), Some("ab12cd34"));
        assert!(parsed_run("a b").unwrap_err().to_string().contains(PARENT_RUN));
    }

    #[test]
    fn servers_get_the_event_address_of_their_process() {
        for address in [Some("http://one@127.0.0.1:1/events"), Some("http://two@127.0.0.1:2/events"), None] {
            let server = Server::new(mcp::ServerConfig::stdio("shop", "program", [""; 0]), String::new());
            let mut config = Config { servers: vec![server], ..Config::default() };
            hand_on(&mut config, true, address).unwrap();
            let mcp::Transport::Stdio(command) = &config.servers[0].connection.transport else {
                panic!("not a local server");
            };
            assert_eq!(command.handed_on.get(ADDRESS_VARIABLE).map(String::as_str), address);
        }
    }

    #[test]
    fn calls_name_their_run() {
        assert_eq!(run_of(&meta_of("ab12cd34")), Some("ab12cd34"));
        for other in [json!({}), json!({ PARENT_RUN_META: 7 }), json!({ PARENT_RUN_META: "a\nb" })] {
            assert_eq!(run_of(other.as_object().unwrap()), None, "{other}");
        }
    }
}
