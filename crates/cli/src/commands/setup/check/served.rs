//! Starts the server of an entry with a client's name and environment, and lists its tools.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use answer::client_profile::ClientProfile;
use clients::entry::is_place;
use clients::plain_secrets;
use clients::profile::{EXECUTE_CODE, Profile};
use mcp::{ClientInfo, Command, ErrorKind, Host, Notice, ServerConfig, Session, Transport};
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use tokio::time::timeout;

use super::finding::{Finding, Kind};

/// The variables that clients pass on to local servers, as the official SDKs do.
const PASSED_ON: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// Values with fewer characters are not masked: they are no secrets, and occur everywhere.
const SHORTEST_SECRET: usize = 4;

/// The answers of a server to its client.
pub(super) struct Served {
    /// The time until the tools were listed.
    time: Duration,
    protocol: String,
    /// The name and version that the server was told.
    client: ClientInfo,
    tools: Vec<Json>,
    instructions: String,
    /// Output and answers that are not as the protocol demands.
    oddities: Vec<String>,
}

/// Collects output of a server that is not in the protocol's form.
#[derive(Default)]
struct Oddities(Mutex<Vec<String>>);

impl Host for Oddities {
    fn notice(&self, _server: &str, notice: &Notice) {
        if let Notice::Stray(line) = notice {
            let oddity = format!("standard output has a line that is no message: {line}");
            self.0.lock().push(oddity);
        }
    }
}

/// The reason why a server does not start, or lists no tools.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct NotServed(String);

/// Starts the server that an entry describes, within a time limit, and ends it again.
pub(super) async fn start(
    profile: &Profile,
    name: &str,
    entry: &Json,
    version: String,
    limit: Duration,
) -> Result<Served, NotServed> {
    let client = ClientInfo { name: profile.client_info.to_owned(), version };
    let command = command(profile, entry)?;
    let secrets = Secrets::of(name, &command);
    let failed = |error: mcp::Error| NotServed(secrets.masked(&why(&error)));
    let mut config = ServerConfig::new(name, Transport::Stdio(command));
    config.connect_timeout = limit;
    config.client_info = Some(client.clone());
    let oddities = Arc::new(Oddities::default());
    let begun = Instant::now();
    let session = Session::connect_with(&config, Arc::<Oddities>::clone(&oddities)).await;
    let session = session.map_err(failed)?;
    // The end of the session takes time of its own.
    let listing = timeout(limit.saturating_sub(begun.elapsed()), session.list_tools()).await;
    let time = begun.elapsed();
    let instructions = session.instructions().unwrap_or_default().to_owned();
    let protocol = session.protocol_version().to_owned();
    session.close().await;
    let listing =
        listing.map_err(|_| NotServed(format!("no tools were listed within {} s", limit.as_secs())))?;
    let listing = listing.map_err(failed)?;
    let mut oddities = std::mem::take(&mut *oddities.0.lock());
    oddities.extend(listing.warnings);
    oddities.iter_mut().for_each(|oddity| *oddity = secrets.masked(oddity));
    let tools = listing.tools.iter().map(mcp::Tool::definition).collect();
    Ok(Served { time, protocol, client, tools, instructions, oddities })
}

/// The reason for an error, on one line: what the server wrote before its end, or else the error itself.
fn why(error: &mcp::Error) -> String {
    let text = match &*error.kind {
        ErrorKind::Initialize { evidence, .. } if !evidence.stderr.is_empty() => evidence.stderr.join("\n"),
        _ => error.to_string(),
    };
    let lines = text.lines().map(|line| line.trim().trim_start_matches("toolsmith: "));
    lines.collect::<Vec<_>>().join("; ")
}

/// The values of an entry that may be secret: of its variables and its arguments.
struct Secrets(Vec<String>);

impl Secrets {
    fn of(name: &str, command: &Command) -> Self {
        let arguments = vec![("args".to_owned(), json!(command.args))];
        let in_arguments = plain_secrets::find(name, &arguments).into_iter().map(|secret| secret.value);
        let variables =
            command.env.iter().filter(|(name, _)| !is_place(name)).map(|(_, value)| value.clone());
        let mut values: Vec<String> =
            variables.chain(in_arguments).filter(|value| value.chars().count() >= SHORTEST_SECRET).collect();
        // A value may contain another one.
        values.sort_unstable_by_key(|value| Reverse(value.len()));
        Secrets(values)
    }

    /// A text without the values.
    fn masked(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "…"))
    }
}

/// The command of an entry, with the environment that clients give it.
fn command(profile: &Profile, entry: &Json) -> Result<Command, NotServed> {
    let words = |value: Option<&Json>| -> Vec<String> {
        let items = value.and_then(Json::as_array).into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let form = &profile.form;
    let mut line = match entry.get(form.command) {
        Some(Json::String(program)) => vec![program.clone()],
        list => words(list),
    };
    line.extend(form.args.map(|args| words(entry.get(args))).unwrap_or_default());
    let mut line = line.into_iter();
    let command =
        line.next().ok_or_else(|| NotServed(format!("the entry has no `{}` to start", form.command)))?;
    let env = entry.get(form.env).and_then(Json::as_object).into_iter().flatten();
    let env = env.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    let env: BTreeMap<String, String> = env.collect();
    let inherited = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let withheld: BTreeSet<String> = inherited.filter(|name| !PASSED_ON.contains(&name.as_str())).collect();
    Ok(Command { command, args: line.collect(), env, withheld, ..Command::default() })
}

impl Served {
    /// Whether the server asks Claude Code to show its model the tool always.
    pub(super) fn is_always_loaded(&self) -> bool {
        let tool = self.tools.iter().find(|tool| tool["name"] == EXECUTE_CODE);
        tool.is_some_and(|tool| tool["_meta"]["anthropic/alwaysLoad"] == Json::Bool(true))
    }

    /// The findings about what a client shows its model.
    pub(super) fn findings(&self, shown: &ClientProfile) -> Vec<Finding> {
        let ClientInfo { name, version } = &self.client;
        let (time, protocol) = (self.time.as_millis(), &self.protocol);
        let started = format!("tools listed after {time} ms, as {name} {version}, with MCP {protocol}");
        let mut findings = vec![Finding::new(Kind::Ok, "start", started)];
        findings.extend(self.oddities.iter().map(|oddity| Finding::new(Kind::Note, "protocol", oddity)));
        findings.push(self.tool(shown));
        findings.push(self.shown_instructions(shown));
        findings
    }

    fn tool(&self, shown: &ClientProfile) -> Finding {
        let count = self.tools.len();
        let Some(tool) = self.tools.iter().find(|tool| tool["name"] == EXECUTE_CODE) else {
            let text = format!(
                "{count} tools are listed, without {EXECUTE_CODE}; `codeMode.enabled` may be false in the \
                 configuration"
            );
            return if count == 0 {
                Finding::new(Kind::Missing, "tool", "no tool is listed")
            } else {
                Finding::new(Kind::Note, "tool", text)
            };
        };
        let length = tool["description"].as_str().unwrap_or_default().chars().count();
        let cap = shown.description_cap;
        if !is_measured(shown) {
            let text = format!(
                "{EXECUTE_CODE} has {length} characters; how many of them its model reads is not measured for \
                 this client"
            );
            return Finding::new(Kind::Note, "tool", text);
        }
        if length > cap {
            let text = format!(
                "its model reads {cap} of the {length} characters of {EXECUTE_CODE}, so signatures at the end are \
                 missing"
            );
            return Finding::new(Kind::Note, "tool", text);
        }
        Finding::new(Kind::Ok, "tool", format!("its model reads all {length} characters of {EXECUTE_CODE}"))
    }

    fn shown_instructions(&self, shown: &ClientProfile) -> Finding {
        let length = self.instructions.chars().count();
        let text = match shown.instructions_shown {
            _ if !is_measured(shown) => {
                format!(
                    "{length} characters; how many of them its model reads is not measured for this client"
                )
            }
            0 => format!("its model reads none of the {length} characters"),
            limit if length > limit => format!("its model reads the first {limit} of {length} characters"),
            _ => format!("its model reads all {length} characters"),
        };
        Finding::new(Kind::Ok, "instructions", text)
    }
}

/// Whether it is known what the client shows its model.
fn is_measured(shown: &ClientProfile) -> bool {
    !shown.name.is_empty()
}
