//! How many processes of this program are above this one, and whether one of them is this very server: a configuration
//! that leads back to itself ends here.
//!
//! A variable counts for what is started, and is lost where something between starts servers with few variables; the
//! processes above are therefore counted as well. Over HTTP, a member of `_meta` counts the processes that a call has gone
//! through. A server knows itself by what its client declares (`capabilities.experimental`), which nothing between
//! passes on.

use std::sync::{LazyLock, OnceLock};
use std::{env, fs};

use config::Config;
use serde_json::{Map, Value, json};
use system::random;

use crate::failure::Failure;

/// The variable that says how many are above.
pub(crate) const VARIABLE: &str = "TOOLSMITH_DEPTH";

/// The member of `_meta` in a call that says how many processes are above the receiver.
const META: &str = "io.toolsmith/depth";

/// What a process says of itself to the servers that it is a client of.
pub const PROCESS: &str = "io.toolsmith/process";

/// Most processes above that are looked at: there is an end, or the kernel's table changes while it is read.
const MOST_ANCESTORS: usize = 1_000;

/// How many are above this process.
static OWN: LazyLock<Result<u32, Failure>> =
    LazyLock::new(|| Ok(counted(env::var(VARIABLE).ok().as_deref())?.max(ancestors())));

/// The name of this process, which nobody guesses.
///
/// # Errors
/// Where the kernel gives no random numbers.
fn name() -> Result<&'static str, Failure> {
    static NAME: OnceLock<String> = OnceLock::new();
    if let Some(name) = NAME.get() {
        return Ok(name);
    }
    let name = random::id().map_err(Failure::host)?;
    Ok(NAME.get_or_init(|| name))
}

/// How many processes of this program are above this one.
///
/// # Errors
/// Where there are more than the configuration allows, or the variable is no number.
pub(super) fn check(config: &Config) -> Result<u32, Failure> {
    let depth = OWN.clone()?;
    match too_deep(depth, "this one", config) {
        Some(message) => Err(Failure::configuration(message)),
        None => Ok(depth),
    }
}

fn counted(variable: Option<&str>) -> Result<u32, Failure> {
    let text = variable.filter(|text| !text.is_empty()).unwrap_or("0");
    text.parse().map_err(|_| {
        Failure::configuration(format!(
            "the variable {VARIABLE} is not a number of processes\nhelp: unset it"
        ))
    })
}

fn too_deep(depth: u32, what: &str, config: &Config) -> Option<String> {
    let most = config.agent.max_depth;
    (depth > most).then(|| {
        format!(
            "{depth} processes of Toolsmith are above {what}, and at most {most} may be\nhelp: see that no \
             configuration leads back to itself through its servers, or raise agent.maxDepth"
        )
    })
}

/// How many of the processes above have this program's name. What can't be read ends the count: a container shows
/// nothing of what is outside.
fn ancestors() -> u32 {
    let Some((own, mut above)) = process("self") else { return 0 };
    let mut count = 0;
    for _ in 0..MOST_ANCESTORS {
        let Some((name, next)) = process(&above) else { break };
        count += u32::from(name == own);
        above = next;
    }
    count
}

/// The name of a process, and the one that it is a child of.
fn process(id: &str) -> Option<(String, String)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in parentheses may hold anything (proc_pid_stat(5)).
    let (head, tail) = stat.rsplit_once(") ")?;
    let (_, name) = head.split_once('(')?;
    Some((name.to_owned(), tail.split(' ').nth(1)?.to_owned()))
}

/// What this process declares to the servers of its configuration.
pub(super) struct ProcessDeclaration {
    by_pipe: Value,
    by_http: Value,
}

pub(super) fn introductions(config: &Config) -> Result<ProcessDeclaration, Failure> {
    let name = name()?;
    // Over HTTP a server knows itself by the name alone.
    let (mut by_pipe, by_http) = (json!({ "name": name }), json!({ "name": name }));
    if let Some(fingerprint) = fingerprint(config, name) {
        by_pipe["configuration"] = json!(fingerprint);
    }
    Ok(ProcessDeclaration { by_pipe, by_http })
}

impl ProcessDeclaration {
    /// What a server is told that is reached so.
    pub(super) fn to(&self, transport: &mcp::Transport) -> Map<String, Value> {
        let process = match transport {
            mcp::Transport::Stdio(_) => &self.by_pipe,
            mcp::Transport::Http(_) | mcp::Transport::Sse(_) => &self.by_http,
        };
        Map::from_iter([(PROCESS.to_owned(), process.clone())])
    }
}

/// What tells configurations apart that start other servers, for the process of this name. Nobody learns from it what is
/// written there, nor confirms a guess, without what only this machine knows; containers have no part in the latter.
/// `None` where the kernel does not tell: what leads back then ends at `agent.maxDepth`.
fn fingerprint(config: &Config, name: &str) -> Option<String> {
    // random(4); machine-id(5), which not every system has.
    let mut known = fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    known.extend(fs::read("/etc/machine-id").unwrap_or_default());
    let key = blake3::derive_key("io.toolsmith/process configuration", &known);
    let mut hasher = blake3::Hasher::new_keyed(&key);
    let servers = config.servers.iter().flat_map(|server| [&*server.connection.name, &*server.target]);
    for part in std::iter::once(name).chain(servers) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    Some(hasher.finalize().to_hex().to_string())
}

/// Why a server has nothing to say to a client with this [`PROCESS`] declaration: it is this very process, or one that has started it from the same
/// configuration, which would go on without end.
pub fn leads_back(
    declaration: Option<&Map<String, Value>>,
    is_over_http: bool,
    config: &Config,
) -> Option<String> {
    let says = |member: &str| declaration?.get(member).and_then(Value::as_str);
    let is_itself = if is_over_http {
        // Without a name of its own it has declared none.
        says("name").is_some_and(|declared| name().is_ok_and(|own| own == declared))
    } else {
        says("configuration").zip(says("name")).is_some_and(|(configuration, name)| {
            fingerprint(config, name).is_some_and(|own| own == configuration)
        })
    };
    is_itself.then(|| {
        "this server has started itself: its configuration has an entry that leads back to it, and would go on without \
         end\nhelp: remove the entry"
            .to_owned()
    })
}

/// How many are above whoever makes a call, as its `_meta` says.
pub fn of_call(meta: &Map<String, Value>) -> u32 {
    let depth = meta.get(META).and_then(Value::as_u64).unwrap_or(0);
    u32::try_from(depth).unwrap_or(u32::MAX)
}

/// Why a call goes no further: it has gone through too many processes.
pub fn refusal(meta: &Map<String, Value>, config: &Config) -> Option<String> {
    too_deep(of_call(meta), "this call", config)
}

/// What a call within this process says, which is made for another one.
pub fn same(depth: u32) -> Map<String, Value> {
    if depth == 0 { Map::new() } else { Map::from_iter([(META.to_owned(), json!(depth))]) }
}

/// What a call to a server says, which is made for one of this depth. Servers that this process has started know
/// how deep it is itself.
pub fn next(depth: u32, over_http: bool) -> Map<String, Value> {
    // Where it can't be known, the call goes no further.
    let own = *OWN.as_ref().unwrap_or(&u32::MAX);
    if !over_http && depth <= own {
        return Map::new();
    }
    Map::from_iter([(META.to_owned(), json!(depth.max(own).saturating_add(1)))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::Server;

    #[test]
    fn the_variable_is_a_number_or_refused() {
        assert_eq!(counted(None).unwrap(), 0);
        assert_eq!(counted(Some("")).unwrap(), 0);
        assert_eq!(counted(Some("3")).unwrap(), 3);
        for wrong in ["-1", "many", "99999999999"] {
            assert!(counted(Some(wrong)).unwrap_err().message.contains(VARIABLE), "{wrong}");
        }
    }

    #[test]
    fn what_a_call_says_is_read_whatever_it_is() {
        for (given, depth) in
            [(json!(3), 3), (json!(u64::MAX), u32::MAX), (json!(-1), 0), (json!("3"), 0), (json!(null), 0)]
        {
            assert_eq!(of_call(&Map::from_iter([(META.to_owned(), given)])), depth);
        }
        assert_eq!(of_call(&next(2, false)), 3);
        assert_eq!(of_call(&next(0, true)), 1);
        assert_eq!(next(0, false), Map::new());
        assert_eq!(of_call(&same(2)), 2);
    }

    #[test]
    fn servers_can_neither_confirm_a_guess_of_the_configuration_nor_tell_it_apart() {
        let server =
            |name: &str| Server::new(mcp::ServerConfig::stdio(name, "program", [""; 0]), String::new());
        let config = |name: &str| Config { servers: vec![server(name)], ..Config::default() };
        let own = fingerprint(&config("shop"), "one").unwrap();
        assert_eq!(fingerprint(&config("shop"), "one").unwrap(), own);
        assert_ne!(fingerprint(&config("other"), "one").unwrap(), own);
        assert_ne!(fingerprint(&config("shop"), "two").unwrap(), own);
        // What needs no knowledge of the machine gives another text.
        let guess = blake3::derive_key("io.toolsmith/process configuration", b"");
        let guess = ["one", "shop", ""].iter().fold(blake3::Hasher::new_keyed(&guess), |mut hasher, part| {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
            hasher
        });
        assert_ne!(guess.finalize().to_hex().to_string(), own);

        let told = introductions(&config("shop")).unwrap();
        let by_pipe = told.to(&server("shop").connection.transport);
        assert!(by_pipe[PROCESS]["configuration"].is_string(), "{by_pipe:?}");
        let remote = mcp::ServerConfig::http("remote", "https://x.example/mcp");
        let by_http = told.to(&remote.transport);
        assert_eq!(by_http[PROCESS], json!({ "name": name().unwrap() }));
    }

    #[test]
    fn a_server_knows_itself_by_its_name_whether_or_not_it_has_introduced_itself() {
        let declaration = |name: &str| Map::from_iter([("name".to_owned(), json!(name))]);
        let itself = declaration(name().unwrap());
        let says = |declared: &Map<String, Value>| leads_back(Some(declared), true, &Config::default());
        assert!(says(&itself).is_some_and(|why| why.contains("started itself")));
        assert_eq!(says(&declaration("another")), None);
        introductions(&Config::default()).unwrap();
        assert!(says(&itself).is_some());
    }

    #[test]
    fn the_processes_above_are_found() {
        let (name, above) = process("self").unwrap();
        assert!(!name.is_empty() && process(&above).is_some());
        assert_eq!(process("0"), None);
    }
}
