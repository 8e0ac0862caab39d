//! Configured servers and tools that can't be used now, with reasons for authors of snippets.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::{Absent, Config, Filter, Permission};
use report::Report;

use crate::audience::FOR_APPS;
use crate::pins::Pins;
use crate::reference::words::{characters, letters};
use crate::tool_list::ToolList;

/// Maximum characters of the reason for one server, which may be the server's own text.
const MAX_REASON: usize = 160;

/// Maximum servers that are named in one line.
const MAX_NAMED: usize = 12;

/// The reason for a server that has not answered yet.
pub const STARTING: &str = "still starting";

/// The unavailable servers and tools of a configuration.
#[derive(Debug, Default)]
pub struct UnavailableTools {
    /// The servers, by module name.
    servers: BTreeMap<String, UnavailableServer>,
    /// The reason for a configuration without any server, and the user's next step.
    none: Option<String>,
    /// The servers without a list of tools, by module name.
    unlisted: BTreeMap<String, String>,
    config: Arc<Config>,
    pins: Pins,
    lists: BTreeMap<String, Arc<ToolList>>,
}

/// A server that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UnavailableServer {
    server: String,
    reason: String,
}

impl UnavailableTools {
    /// From a configuration whose servers have these `lists`; `reasons` explains why servers have none or incomplete
    /// ones.
    pub fn new(
        config: &Arc<Config>,
        pins: &Pins,
        lists: BTreeMap<String, Arc<ToolList>>,
        reasons: &BTreeMap<String, String>,
    ) -> Self {
        let modules =
            codegen::module_names(config.servers.iter().map(|server| server.connection.name.as_str()));
        let mut servers = BTreeMap::new();
        for (server, module) in &modules {
            let held = || lists.get(server).and_then(|list| held_back(server, list, pins));
            if let Some(reason) = reasons.get(server).map(|reason| short(server, reason)).or_else(held) {
                servers.insert(module.clone(), UnavailableServer { server: server.clone(), reason });
            }
        }
        let is_unlisted = |(server, _): &(&String, &String)| !lists.contains_key(*server);
        let unlisted =
            modules.iter().filter(is_unlisted).map(|(server, module)| (module.clone(), server.clone()));
        let unlisted = unlisted.collect();
        for absent in config.absent.iter().filter(|absent| absent.wrong.is_some()) {
            let (module, reason) = (module_of(&absent.name), broken(config, absent));
            servers.entry(module).or_insert(UnavailableServer { server: absent.name.clone(), reason });
        }
        let none = none(config);
        UnavailableTools { servers, unlisted, none, config: config.clone(), pins: pins.clone(), lists }
    }

    /// The unavailable servers with their reasons, or why there is no server; `None` if all are available.
    pub fn line(&self) -> Option<String> {
        self.unavailable().or_else(|| self.none.clone())
    }

    /// The unavailable servers with their reasons; `None` if all are available, or there is none.
    pub fn unavailable(&self) -> Option<String> {
        self.naming(MAX_NAMED)
    }

    /// The reason for a configuration without any server, and the user's next step.
    pub fn none(&self) -> Option<&str> {
        self.none.as_deref()
    }

    /// The unavailable servers with their reasons, as many as fit into `longest` characters.
    pub fn line_within(&self, longest: usize) -> Option<String> {
        let lines = (0..=MAX_NAMED).rev().map(|named| self.naming(named));
        let mut fitting = lines.filter(|line| line.as_ref().is_none_or(|line| characters(line) <= longest));
        fitting.next().unwrap_or_else(|| self.naming(0))
    }

    fn naming(&self, most: usize) -> Option<String> {
        let named = self.servers.values().take(most);
        let mut parts: Vec<String> = named
            .map(|UnavailableServer { server, reason }| format!("`{}`: {reason}", printable::name(server)))
            .collect();
        let more = self.servers.len().saturating_sub(most);
        if most == 0 && more > 0 {
            parts.push(report::count(more, "server"));
        } else if more > 0 {
            parts.push(format!("and {more} more"));
        }
        (!parts.is_empty()).then(|| format!("Not available now: {}.", parts.join("; ")))
    }

    /// The unavailable servers with their reasons.
    pub fn servers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.servers.values().map(|gone| (gone.server.as_str(), gone.reason.as_str()))
    }

    /// One line with what the user has to do: the project's file is skipped until it is trusted.
    pub fn untrusted(&self) -> Option<&str> {
        self.config.untrusted.as_deref()
    }

    /// Returns the reason why a server can't be used, by its name or its module.
    pub(crate) fn reason(&self, server: &str) -> Option<&str> {
        let requested = letters(server);
        let is_it = |(module, gone): &(&String, &UnavailableServer)| {
            letters(module) == requested || letters(&gone.server) == requested
        };
        self.servers.iter().find(is_it).map(|(_, gone)| gone.reason.as_str())
    }

    /// Whether the same servers are unavailable for the same reasons.
    pub fn is_as(&self, other: &UnavailableTools) -> bool {
        self.servers == other.servers && self.none == other.none && self.untrusted() == other.untrusted()
    }

    fn left_out(&self, server: &str, tool: &str, list: &ToolList) -> Option<String> {
        if let Some(held) = self.pins.holds_back(server, tool, list) {
            return Some(held);
        }
        if !self.config.permits(server, tool) {
            let scope = self.config.serve.auth.as_ref().and_then(|auth| auth.scope_for(server, tool));
            return Some(match scope {
                Some(scope) => format!("the user's token does not permit it, which needs the scope {scope}"),
                None => "the user's token does not permit it".to_owned(),
            });
        }
        if self.config.denies(server, tool) {
            return Some("`globalSettings.deny` of the configuration excludes it".to_owned());
        }
        if !self.config.admits(server, tool) {
            let key = match self.config.server(server).map(|server| &server.filter) {
                Some(Filter::Without(_)) => "disabledTools",
                _ => "enabledTools",
            };
            return Some(format!("`{key}` of the server excludes it"));
        }
        if self.config.permission(server, tool) == Permission::Deny {
            return Some("the configuration denies it".to_owned());
        }
        if list.is_for_apps(tool) {
            return Some(FOR_APPS.to_owned());
        }
        self.config
            .is_direct(server, tool)
            .then(|| "it is not a tool for snippets: call it directly, as a separate tool".to_owned())
    }
}

impl runner::Absences for UnavailableTools {
    fn servers(&self) -> BTreeMap<String, String> {
        let wrong = self.servers.iter().map(|(module, gone)| (module.clone(), gone.server.clone()));
        wrong.chain(self.unlisted.clone()).collect()
    }

    fn server(&self, module: &str) -> Option<String> {
        let is_disabled =
            |absent: &&config::Absent| absent.wrong.is_none() && module_of(&absent.name) == module;
        let disabled = || self.config.absent.iter().find(is_disabled).map(|absent| disabled(&absent.name));
        self.servers.get(module).map(|gone| gone.reason.clone()).or_else(disabled)
    }

    fn tool(&self, server: &str, name: &str) -> Option<String> {
        let list = self.lists.get(server)?;
        let requested = letters(name);
        let names = list.names();
        let own = names
            .clone()
            .find(|own| *own == name)
            .or_else(|| names.clone().find(|own| letters(own) == requested));
        self.left_out(server, own?, list)
    }
}

/// The reason for a configuration without any server, and the user's next step. A subject can do nothing about it, and a project
/// that is not trusted yet has a line of its own.
fn none(config: &Config) -> Option<String> {
    if config.access.is_some() || config.subagent.is_some() || config.untrusted.is_some() {
        return None;
    }
    let report = Report::from(config::no_server(config)?);
    if let Some(absent) = config.absent.iter().find(|absent| absent.wrong.is_some()) {
        let (name, reason) = (printable::name(&absent.name), broken(config, absent));
        return Some(format!("No usable server: `{name}`: {reason}. Until then, snippets can only compute."));
    }
    let advice: Vec<String> = report.hints.iter().map(|hint| codegen::clean(hint, MAX_REASON)).collect();
    Some(format!(
        "{}. Until the user adds servers, snippets can only compute. What the user can type in a terminal, without a \
         restart: {}.",
        codegen::clean(&capitalized(&report.message()), MAX_REASON),
        advice.join("; ")
    ))
}

/// The reason for a server whose entry is wrong: its place, because the error may quote a secret, and secrets are known
/// only for valid entries. A subject does not learn the place.
fn broken(config: &Config, absent: &Absent) -> String {
    let mut problems = absent.wrong.iter().flatten();
    let place = problems.find_map(|problem| problem.place.as_ref()).filter(|_| config.access.is_none());
    let at = place.map(|at| format!(" at {}:{}", at.file, at.line)).unwrap_or_default();
    let reason = format!("its entry in the configuration has an error{at}");
    format!("{}; the user corrects it, see `toolsmith mcp status`", codegen::clean(&reason, MAX_REASON))
}

/// The text with a capital letter in front.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The name of a server's module, if no other server has the same one.
fn module_of(server: &str) -> String {
    codegen::module_names([server]).remove(server).unwrap_or_default()
}

fn disabled(server: &str) -> String {
    format!("it is disabled; ask the user to run `toolsmith mcp enable {server}`")
}

/// The reason for a server whose tools are all held back.
fn held_back(server: &str, list: &ToolList, pins: &Pins) -> Option<String> {
    let all = list.names().len();
    (all > 0 && pins.held(server, list).len() == all).then(|| {
        format!(
            "its tools have changed since it was locked, and are held back; ask the user to run `toolsmith mcp lock --accept \
             {server}`"
        )
    })
}

/// The first line of a reason, without the server's name.
fn short(server: &str, reason: &str) -> String {
    let line = reason.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = line.strip_prefix(&format!("MCP server `{server}`: ")).unwrap_or(line);
    codegen::clean(line, MAX_REASON).trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use runner::Absences as _;
    use serde_json::json;

    use super::*;
    use config::{Glob, Server};

    fn config() -> Config {
        let server =
            |name: &str| Server::new(mcp::ServerConfig::stdio(name, "program", [""; 0]), String::new());
        let filtered = Server { filter: Filter::Without(vec![Glob::new("off")]), ..server("my-shop") };
        Config {
            servers: vec![filtered, server("slow"), server("down")],
            deny: vec![Glob::new("*.never")],
            ..Config::default()
        }
    }

    fn missing(reasons: &[(&str, &str)]) -> UnavailableTools {
        let tool = |name: &str| json!({ "name": name, "inputSchema": {} });
        let mut tools = ["off", "never", "newTool", "sound", "paint"].map(tool);
        tools[4]["_meta"] = json!({ "ui": { "visibility": ["app"] } });
        let list = ToolList::new(&tools);
        let mut lock = mcp::Lock::default();
        lock.pin("my-shop", [0, 1, 3, 4].map(|place: usize| tools[place].clone()).to_vec());
        let mut pins = Pins::default();
        pins.add(Path::new("/l"), &lock);
        let reasons =
            reasons.iter().map(|(server, reason)| ((*server).to_owned(), (*reason).to_owned())).collect();
        UnavailableTools::new(
            &Arc::new(config()),
            &pins,
            BTreeMap::from([("my-shop".to_owned(), Arc::new(list))]),
            &reasons,
        )
    }

    #[test]
    fn servers_are_listed_with_short_reasons() {
        let long = format!("MCP server `down`: it \u{1b}[2Jis {}\nmore", "x".repeat(1_000));
        let missing = missing(&[("slow", STARTING), ("down", &long)]);
        let line = missing.line().unwrap();
        assert!(line.starts_with("Not available now: `down`: it "), "{line}");
        assert!(line.ends_with("; `slow`: still starting."), "{line}");
        assert!(line.len() < 300 && !line.contains(char::is_control) && !line.contains("more"), "{line}");
        assert_eq!(missing.server("slow").as_deref(), Some(STARTING));
        assert_eq!(missing.reason("my_shop"), None);
        assert_eq!(missing.line_within(10_000), missing.line());
        let one = missing.line_within(line.chars().count() - 1).unwrap();
        assert!(one.contains("`down`: it ") && one.ends_with("; and 1 more."), "{one}");
        assert_eq!(missing.line_within(40).as_deref(), Some("Not available now: 2 servers."));
        assert_eq!(super::UnavailableTools::default().line_within(0), None);
    }

    #[test]
    fn a_wrong_entry_alone_is_named_with_its_place_and_not_quoted() {
        let place =
            report::Place { file: "/p/toolsmith.yaml".to_owned(), line: 3, column: None, excerpt: None };
        let wrong = report::Problem { place: Some(place), ..report::Problem::new("unknown key hunter2") };
        let absent = Absent {
            name: "shop".to_owned(),
            transport: None,
            layer: config::ConfigLayer::Environment,
            wrong: Some(vec![wrong]),
        };
        let config = Arc::new(Config { absent: vec![absent], ..Config::default() });
        let missing = UnavailableTools::new(&config, &Pins::default(), BTreeMap::new(), &BTreeMap::new());
        assert_eq!(
            missing.none(),
            Some(
                "No usable server: `shop`: its entry in the configuration has an error at /p/toolsmith.yaml:3; the user \
                 corrects it, see `toolsmith mcp status`. Until then, snippets can only compute."
            )
        );
        assert!(missing.line().unwrap().contains("/p/toolsmith.yaml:3"));
    }

    #[test]
    fn excluded_tools_have_reasons() {
        let missing = missing(&[]);
        for (tool, phrase) in [
            ("new_tool", "is new since"),
            ("off", "disabledTools"),
            ("never", "globalSettings.deny"),
            ("paint", "only to the apps"),
        ] {
            let reason = missing.tool("my-shop", tool).unwrap();
            assert!(reason.contains(phrase), "{tool}: {reason}");
        }
        assert_eq!(missing.tool("my-shop", "sound"), None);
        assert_eq!(missing.tool("my-shop", "other"), None);
        assert_eq!(missing.tool("unknown", "off"), None);
    }
}
