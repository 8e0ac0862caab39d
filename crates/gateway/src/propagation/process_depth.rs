//! Counts the processes of this program above this one, and detects whether one of them is this same server: this
//! stops a configuration that starts itself.
//!
//! A variable counts started processes, but is lost if a process between starts servers with few variables; so the
//! processes above are counted as well. Over HTTP, a member of `_meta` counts the processes that a call has passed. A
//! server recognizes itself by its client's declaration (`capabilities.experimental`), which nothing between
//! forwards.

use std::sync::{LazyLock, OnceLock};
use std::{env, fs};

use config::Config;
use report::{Kind, Report};
use serde_json::{Map, Value, json};
use system::random;

use crate::failure::Failure;

/// The variable with the number of processes above.
pub(crate) const VARIABLE: &str = "TOOLSMITH_DEPTH";

/// The member of `_meta` in a call with the number of processes above the receiver.
const META: &str = "io.toolsmith/depth";

/// The member by which a process declares itself to its servers.
pub const PROCESS: &str = "io.toolsmith/process";

/// Maximum ancestors that are read: the table of processes may change while it is read.
const MOST_ANCESTORS: usize = 1_000;

/// The number of processes above this one.
static OWN: LazyLock<Result<u32, Failure>> =
    LazyLock::new(|| Ok(counted(env::var(VARIABLE).ok().as_deref())?.max(ancestors())));

/// The random name of this process.
///
/// # Errors
/// If the kernel provides no random numbers.
fn name() -> Result<&'static str, Failure> {
    static NAME: OnceLock<String> = OnceLock::new();
    if let Some(name) = NAME.get() {
        return Ok(name);
    }
    let name = random::id().map_err(Failure::system)?;
    Ok(NAME.get_or_init(|| name))
}

/// The number of processes of this program above this one.
///
/// # Errors
/// If it exceeds the configured limit, or the variable is not a number.
pub(super) fn check(config: &Config) -> Result<u32, Failure> {
    let depth = OWN.clone()?;
    match too_deep(depth, "this one", config) {
        Some(report) => Err(report.into()),
        None => Ok(depth),
    }
}

fn counted(variable: Option<&str>) -> Result<u32, Failure> {
    let text = variable.filter(|text| !text.is_empty()).unwrap_or("0");
    text.parse().map_err(|_| {
        let message = format!("the variable {VARIABLE} is not a number of processes");
        Failure::new(Kind::Configuration, message).hint("unset it")
    })
}

fn too_deep(depth: u32, what: &str, config: &Config) -> Option<Report> {
    let most = config.agent.max_depth;
    (depth > most).then(|| {
        let message = format!("{depth} processes of Toolsmith are above {what}, and the limit is {most}");
        Report::new(Kind::Configuration, message).hint(
            "make sure that no configuration starts itself through its servers, or increase agent.maxDepth",
        )
    })
}

/// Counts the ancestors with this program's name. The count ends at a process that can't be read: a container hides
/// those outside it.
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

/// The name of a process and the id of its parent.
fn process(id: &str) -> Option<(String, String)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in parentheses may contain anything (proc_pid_stat(5)).
    let (head, tail) = stat.rsplit_once(") ")?;
    let (_, name) = head.split_once('(')?;
    Some((name.to_owned(), tail.split(' ').nth(1)?.to_owned()))
}

/// The declaration of this process to its servers.
pub(super) struct ProcessDeclaration {
    by_pipe: Value,
    by_http: Value,
}

pub(super) fn introductions(config: &Config) -> Result<ProcessDeclaration, Failure> {
    let name = name()?;
    // Over HTTP a server recognizes itself by the name alone.
    let (mut by_pipe, by_http) = (json!({ "name": name }), json!({ "name": name }));
    if let Some(fingerprint) = fingerprint(config, name) {
        by_pipe["configuration"] = json!(fingerprint);
    }
    Ok(ProcessDeclaration { by_pipe, by_http })
}

impl ProcessDeclaration {
    /// The declaration for a server with this transport.
    pub(super) fn to(&self, transport: &mcp::Transport) -> Map<String, Value> {
        let process = match transport {
            mcp::Transport::Stdio(_) | mcp::Transport::InProcess(_) => &self.by_pipe,
            mcp::Transport::Http(_) | mcp::Transport::Sse(_) | mcp::Transport::OpenApi(_) => &self.by_http,
        };
        Map::from_iter([(PROCESS.to_owned(), process.clone())])
    }
}

/// A fingerprint that differs for configurations with other servers, for the process of this name. It is keyed with
/// values known only on this machine, so that it reveals nothing and confirms no guess; a container lacks some of them.
/// `None` if the kernel does not provide them: then `agent.maxDepth` stops recursion.
fn fingerprint(config: &Config, name: &str) -> Option<String> {
    // random(4), and machine-id(5), which not every system has.
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

/// Returns the reason why a server refuses a client with this [`PROCESS`] declaration: the client is this same process,
/// or one that started it from the same configuration, which would recurse without limit.
pub fn leads_back(
    declaration: Option<&Map<String, Value>>,
    is_over_http: bool,
    config: &Config,
) -> Option<Report> {
    let says = |member: &str| declaration?.get(member).and_then(Value::as_str);
    let is_itself = if is_over_http {
        // Without a name, this process has declared none.
        says("name").is_some_and(|declared| name().is_ok_and(|own| own == declared))
    } else {
        says("configuration").zip(says("name")).is_some_and(|(configuration, name)| {
            fingerprint(config, name).is_some_and(|own| own == configuration)
        })
    };
    is_itself.then(|| {
        let message =
            "this server has started itself through an entry of its configuration, which would never end";
        Report::new(Kind::Configuration, message).hint("remove the entry")
    })
}

/// The number of processes above the caller, from the call's `_meta`.
pub fn of_call(meta: &Map<String, Value>) -> u32 {
    let depth = meta.get(META).and_then(Value::as_u64).unwrap_or(0);
    u32::try_from(depth).unwrap_or(u32::MAX)
}

/// The error for a call that has passed too many processes.
pub fn refusal(meta: &Map<String, Value>, config: &Config) -> Option<Report> {
    too_deep(of_call(meta), "this call", config)
}

/// The `_meta` of a call within this process, made on behalf of another call.
pub fn same(depth: u32) -> Map<String, Value> {
    if depth == 0 { Map::new() } else { Map::from_iter([(META.to_owned(), json!(depth))]) }
}

/// The `_meta` of a call to a server, made on behalf of a call of this depth. Servers that this process has started
/// know its depth already.
pub fn next(depth: u32, over_http: bool) -> Map<String, Value> {
    // If the depth is unknown, the call is refused by the receiver.
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
    fn an_invalid_depth_variable_is_refused() {
        assert_eq!(counted(None).unwrap(), 0);
        assert_eq!(counted(Some("")).unwrap(), 0);
        assert_eq!(counted(Some("3")).unwrap(), 3);
        for wrong in ["-1", "many", "99999999999"] {
            assert!(counted(Some(wrong)).unwrap_err().to_string().contains(VARIABLE), "{wrong}");
        }
    }

    #[test]
    fn any_depth_in_a_call_is_read() {
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
    fn fingerprints_reveal_nothing_about_the_configuration() {
        let server =
            |name: &str| Server::new(mcp::ServerConfig::stdio(name, "program", [""; 0]), String::new());
        let config = |name: &str| Config { servers: vec![server(name)], ..Config::default() };
        let own = fingerprint(&config("shop"), "one").unwrap();
        assert_eq!(fingerprint(&config("shop"), "one").unwrap(), own);
        assert_ne!(fingerprint(&config("other"), "one").unwrap(), own);
        assert_ne!(fingerprint(&config("shop"), "two").unwrap(), own);
        // A hash without the machine's values is different.
        let guess = blake3::derive_key("io.toolsmith/process configuration", b"");
        let guess = ["one", "shop", ""].iter().fold(blake3::Hasher::new_keyed(&guess), |mut hasher, part| {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
            hasher
        });
        assert_ne!(guess.finalize().to_hex().to_string(), own);

        let declared_to = introductions(&config("shop")).unwrap();
        let by_pipe = declared_to.to(&server("shop").connection.transport);
        assert!(by_pipe[PROCESS]["configuration"].is_string(), "{by_pipe:?}");
        let remote = mcp::ServerConfig::http("remote", "https://x.example/mcp");
        let by_http = declared_to.to(&remote.transport);
        assert_eq!(by_http[PROCESS], json!({ "name": name().unwrap() }));
    }

    #[test]
    fn a_server_recognizes_its_own_name() {
        let declaration = |name: &str| Map::from_iter([("name".to_owned(), json!(name))]);
        let itself = declaration(name().unwrap());
        let says = |declared: &Map<String, Value>| leads_back(Some(declared), true, &Config::default());
        assert!(says(&itself).is_some_and(|why| why.message().contains("started itself")));
        assert!(says(&declaration("another")).is_none());
        introductions(&Config::default()).unwrap();
        assert!(says(&itself).is_some());
    }

    #[test]
    fn ancestors_are_found() {
        let (name, above) = process("self").unwrap();
        assert!(!name.is_empty() && process(&above).is_some());
        assert_eq!(process("0"), None);
    }
}
