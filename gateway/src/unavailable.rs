//! What is configured and can't be used right now, and why: in words for whoever writes a snippet.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::{Config, Filter, Permission};

use crate::pins::Pins;
use crate::reference::letters;
use crate::tool_list::ToolList;

/// Most characters of the reason that is told of one server: it may be the server's own words.
const LONGEST_REASON: usize = 160;

/// Most servers that are named in one line.
const MOST_NAMED: usize = 12;

/// Why a server is not there that has not answered yet.
pub const STARTING: &str = "still starting";

/// What can't be used of a configuration.
#[derive(Debug, Default)]
pub struct UnavailableTools {
    /// The servers, by the names of their modules.
    servers: BTreeMap<String, UnavailableServer>,
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
    /// Of a configuration whose servers have these `lists`; `reasons` says why others, or some of them, are not there.
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
        for absent in &config.absent {
            if absent.wrong.is_none() {
                continue;
            }
            let module =
                codegen::module_names([absent.name.as_str()]).remove(&absent.name).unwrap_or_default();
            // What is wrong may quote a secret, which is known only of entries that are right.
            let reason =
                "its entry in the configuration is wrong; `toolsmith mcp status` tells how".to_owned();
            servers.entry(module).or_insert(UnavailableServer { server: absent.name.clone(), reason });
        }
        UnavailableTools { servers, config: config.clone(), pins: pins.clone(), lists }
    }

    /// The servers that can't be used, each with its reason; `None` where there are none.
    pub fn line(&self) -> Option<String> {
        let named = self.servers.values().take(MOST_NAMED);
        let mut parts: Vec<String> = named
            .map(|UnavailableServer { server, reason }| format!("{}: {reason}", printable::name(server)))
            .collect();
        if let Some(more) = self.servers.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
            parts.push(format!("and {more} more"));
        }
        (!parts.is_empty()).then(|| format!("Not available now: {}.", parts.join("; ")))
    }

    /// What a person has to do first, in one line: the project's file is left out until it is trusted.
    pub fn untrusted(&self) -> Option<&str> {
        self.config.untrusted.as_deref()
    }

    /// Why a server can't be used, by its name or its module.
    pub(crate) fn reason(&self, server: &str) -> Option<&str> {
        let wanted = letters(server);
        let is_it = |(module, gone): &(&String, &UnavailableServer)| {
            letters(module) == wanted || letters(&gone.server) == wanted
        };
        self.servers.iter().find(is_it).map(|(_, gone)| gone.reason.as_str())
    }

    /// Whether the same is missing for the same reasons.
    pub fn is_as(&self, other: &UnavailableTools) -> bool {
        self.servers == other.servers && self.untrusted() == other.untrusted()
    }

    fn left_out(&self, server: &str, tool: &str, list: &ToolList) -> Option<String> {
        if let Some(held) = self.pins.holds_back(server, tool, list) {
            return Some(held);
        }
        if self.config.denies(server, tool) {
            return Some("`globalSettings.deny` of the configuration leaves it out".to_owned());
        }
        if !self.config.admits(server, tool) {
            let key = match self.config.server(server).map(|server| &server.filter) {
                Some(Filter::Without(_)) => "disabledTools",
                _ => "enabledTools",
            };
            return Some(format!("`{key}` of the server leaves it out"));
        }
        if self.config.permission(server, tool) == Permission::Deny {
            return Some("the configuration denies it".to_owned());
        }
        self.config
            .is_direct(server, tool)
            .then(|| "it is no tool for snippets: call it directly, as a tool of its own".to_owned())
    }
}

impl runner::Absences for UnavailableTools {
    fn server(&self, module: &str) -> Option<String> {
        self.servers.get(module).map(|gone| gone.reason.clone())
    }

    fn tool(&self, server: &str, name: &str) -> Option<String> {
        let list = self.lists.get(server)?;
        let wanted = letters(name);
        let names = list.tools().iter().filter_map(|tool| tool["name"].as_str());
        let own = names
            .clone()
            .find(|own| *own == name)
            .or_else(|| names.clone().find(|own| letters(own) == wanted));
        self.left_out(server, own?, list)
    }
}

/// Why nothing of a server can be used whose tools are all held back.
fn held_back(server: &str, list: &ToolList, pins: &Pins) -> Option<String> {
    let all = list.tools().len();
    (all > 0 && pins.held(server, list).len() == all).then(|| {
        format!(
            "its tools have changed since it was locked, and are held back; a person types `toolsmith mcp lock --accept \
             {server}`"
        )
    })
}

/// The first line of a reason, without the server's name before it.
fn short(server: &str, reason: &str) -> String {
    let line = reason.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = line.strip_prefix(&format!("MCP server `{server}`: ")).unwrap_or(line);
    codegen::clean(line, LONGEST_REASON).trim_end_matches('.').to_owned()
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
        let list = ToolList::new(["off", "never", "newTool", "sound"].map(tool).to_vec());
        let mut lock = mcp::Lock::default();
        lock.pin("my-shop", ["off", "never", "sound"].map(tool).to_vec());
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
    fn servers_are_named_with_short_reasons() {
        let long = format!("MCP server `down`: it \u{1b}[2Jis {}\nmore", "x".repeat(1_000));
        let missing = missing(&[("slow", STARTING), ("down", &long)]);
        let line = missing.line().unwrap();
        assert!(line.starts_with("Not available now: down: it "), "{line}");
        assert!(line.ends_with("; slow: still starting."), "{line}");
        assert!(line.len() < 300 && !line.contains(char::is_control) && !line.contains("more"), "{line}");
        assert_eq!(missing.server("slow").as_deref(), Some(STARTING));
        assert_eq!(missing.reason("my_shop"), None);
        assert_eq!(super::UnavailableTools::default().line(), None);
    }

    #[test]
    fn a_tool_that_is_left_out_says_by_what() {
        let missing = missing(&[]);
        for (tool, phrase) in
            [("new_tool", "is new since"), ("off", "disabledTools"), ("never", "globalSettings.deny")]
        {
            let reason = missing.tool("my-shop", tool).unwrap();
            assert!(reason.contains(phrase), "{tool}: {reason}");
        }
        assert_eq!(missing.tool("my-shop", "sound"), None);
        assert_eq!(missing.tool("my-shop", "other"), None);
        assert_eq!(missing.tool("unknown", "off"), None);
    }
}
