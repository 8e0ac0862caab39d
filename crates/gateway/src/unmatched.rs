//! Finds names in filters of the configuration that no tool has: a misspelt name protects nothing and hides nothing.
//!
//! A glob that excludes may match nothing on purpose. So only names without `*` are compared, and the globs of
//! `enabledTools`, which must match something to be of use.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::{Config, Filter, Glob, Server};

use crate::resources::READ;
use crate::tool_list::ToolList;

/// Maximum similar names in a warning.
const NEAREST: usize = 3;

/// The warnings about the entry of one server that lists these tools.
pub fn of_server(config: &Config, server: &str, tools: &ToolList) -> Vec<String> {
    let Some(server) = config.server(server) else { return Vec::new() };
    let named = named(server);
    // An incomplete list proves nothing. The list is read only if there is something to compare.
    if named.is_empty() || tools.names().len() == 0 {
        return Vec::new();
    }
    let names = names(tools);
    let unmatched = named.into_iter().filter(|(_, glob)| !names.iter().any(|name| glob.fits(name)));
    let warning = |(key, glob): (&str, Glob)| {
        let (text, of) = (printable::prose(glob.text()), &server.connection.name);
        let near = did_you_mean(glob.text(), &names);
        format!("`{key}` of the server {of} has {text}, but no tool of the server has this name{near}")
    };
    unmatched.map(warning).collect()
}

/// The warnings about names that apply to all servers, of which `lists` are known.
pub fn of_all(config: &Config, lists: &BTreeMap<String, Arc<ToolList>>) -> Vec<String> {
    let flows = &config.flows;
    let keys = [
        ("globalSettings.deny", &config.deny),
        ("codeMode.excludedTools", &config.code_mode.excluded),
        ("flows.private", &flows.private),
        ("flows.untrusted", &flows.untrusted),
        ("flows.external", &flows.external),
    ];
    let rules = flows.rules.iter().flat_map(|rule| [("flows.rules", &rule.from), ("flows.rules", &rule.to)]);
    let named = keys.into_iter().chain(rules);
    named
        .flat_map(|(key, globs)| globs.iter().map(move |glob| (key, glob)))
        .filter(|(_, glob)| is_name(glob))
        .filter_map(|(key, glob)| of_name(config, lists, key, glob))
        .collect()
}

fn of_name(
    config: &Config,
    lists: &BTreeMap<String, Arc<ToolList>>,
    key: &str,
    glob: &Glob,
) -> Option<String> {
    let servers = searched(config, glob)?;
    let mut all = Vec::new();
    for server in servers {
        let list = lists.get(server).filter(|list| list.names().len() > 0)?;
        let names = names(list);
        if names.iter().any(|name| glob.fits_tool(server, name)) {
            return None;
        }
        all.extend(names.iter().map(|name| match glob.text().contains('.') {
            true => format!("{server}.{name}"),
            false => (*name).to_owned(),
        }));
    }
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let (text, near) = (printable::prose(glob.text()), did_you_mean(glob.text(), &all));
    Some(format!("`{key}` has {text}, but no tool has this name{near}"))
}

/// The notes about globs of `--allow` that fit no tool, of servers of which `lists` are known.
pub fn of_allowed(config: &Config, lists: &BTreeMap<String, Arc<ToolList>>, allow: &[String]) -> Vec<String> {
    let of = |text: &String| {
        let near = nothing_allowed(config, lists, text)?;
        Some(format!("`--allow {}` fits no tool, and has no effect{near}", printable::prose(text)))
    };
    allow.iter().filter_map(of).collect()
}

/// The advice on a glob of `--allow`; `None` if it fits a tool, or may fit one of a server that was not listed.
fn nothing_allowed(config: &Config, lists: &BTreeMap<String, Arc<ToolList>>, text: &str) -> Option<String> {
    let (glob, (head, tool)) = (Glob::new(text), text.split_once('.').unwrap_or((text, "")));
    if config.servers.is_empty() || tool == READ || config.absent.iter().any(|absent| absent.name == head) {
        return None;
    }
    let mut all = Vec::new();
    for server in config.servers.iter().map(|server| &server.connection.name) {
        match lists.get(server).filter(|list| list.names().len() > 0) {
            Some(list) => all.extend(names(list).iter().map(|name| format!("{server}.{name}"))),
            None if Glob::new(head).fits(server) => return None,
            None => {}
        }
    }
    if all.iter().any(|name| glob.fits(name)) {
        return None;
    }
    if config.server(text).is_some() {
        return Some(format!("; did you mean {}.*?", printable::name(text)));
    }
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    Some(did_you_mean(text, &all))
}

/// The servers that may have a tool of this name; `None` if that can't be said.
fn searched<'a>(config: &'a Config, glob: &Glob) -> Option<Vec<&'a str>> {
    if let Some((server, tool)) = glob.text().split_once('.') {
        // A server that is disabled or unusable has no list to compare with.
        if tool == READ || config.absent.iter().any(|absent| absent.name == server) {
            return None;
        }
        if let Some(server) = config.server(server) {
            return Some(vec![&server.connection.name]);
        }
    }
    let is_known = glob.text() != READ && config.absent.is_empty() && !config.servers.is_empty();
    is_known.then(|| config.servers.iter().map(|server| server.connection.name.as_str()).collect())
}

/// The names in a server's entry that must match a tool, with their keys.
fn named(server: &Server) -> Vec<(&'static str, Glob)> {
    let mut named = Vec::new();
    match &server.filter {
        Filter::All => {}
        Filter::Only(globs) => named.extend(globs.iter().map(|glob| ("enabledTools", glob.clone()))),
        Filter::Without(globs) => {
            let names = globs.iter().filter(|glob| is_name(glob));
            named.extend(names.map(|glob| ("disabledTools", glob.clone())));
        }
    }
    let rules = server.permissions.rules.iter().map(|(glob, _)| glob);
    let rules = rules.filter(|glob| is_name(glob) && glob.text() != READ);
    named.extend(rules.map(|glob| ("permissions", glob.clone())));
    named.extend(server.connection.tool_timeouts.keys().map(|name| ("toolTimeouts", Glob::new(name))));
    named
}

fn is_name(glob: &Glob) -> bool {
    !glob.text().contains('*')
}

fn names(tools: &ToolList) -> Vec<&str> {
    tools.names().collect()
}

/// The names that are most similar to a misspelt one.
fn did_you_mean(text: &str, names: &[&str]) -> String {
    let most = (text.chars().count() / 3).max(2);
    let near = names.iter().map(|name| (strsim::osa_distance(name, text), *name));
    let mut near: Vec<_> = near.filter(|(distance, _)| *distance <= most).collect();
    near.sort_unstable();
    near.dedup();
    let near: Vec<String> =
        near.into_iter().take(NEAREST).map(|(_, name)| printable::name(name).to_string()).collect();
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use config::{Absent, ConfigLayer, Permission, Rules};
    use serde_json::json;

    use super::*;

    fn server(name: &str) -> Server {
        Server::new(mcp::ServerConfig::stdio(name, "program", [""; 0]), String::new())
    }

    fn list(names: &[&str]) -> Arc<ToolList> {
        let tools: Vec<_> = names.iter().map(|name| json!({ "name": name, "inputSchema": {} })).collect();
        Arc::new(ToolList::new(&tools))
    }

    fn globs(texts: &[&str]) -> Vec<Glob> {
        texts.iter().map(|text| Glob::new(text)).collect()
    }

    #[test]
    fn misspelt_names_of_a_servers_entry_are_warned_about_with_similar_ones() {
        let mut shop = server("shop");
        shop.filter = Filter::Only(globs(&["list_orders", "get_costumer", "creat_*", "list_*"]));
        let rule = |name: &str| (Glob::new(name), Permission::Deny);
        shop.permissions =
            Rules { rules: vec![rule("delete_*"), rule("del"), rule(READ)], otherwise: Permission::Ask };
        let config = Config { servers: vec![shop], ..Config::default() };
        let warnings = of_server(&config, "shop", &list(&["list_orders", "get_customer", "create_note"]));
        assert_eq!(
            warnings,
            [
                "`enabledTools` of the server shop has get_costumer, but no tool of the server has this name; \
                 did you mean get_customer?",
                "`enabledTools` of the server shop has creat_*, but no tool of the server has this name",
                "`permissions` of the server shop has del, but no tool of the server has this name",
            ]
        );
        assert_eq!(of_server(&config, "shop", &list(&[])), [""; 0]);
    }

    #[test]
    fn a_servers_name_alone_allows_nothing() {
        let config = Config { servers: vec![server("my-shop")], ..Config::default() };
        let lists = BTreeMap::from([("my-shop".to_owned(), list(&["read"]))]);
        let note = "`--allow my-shop` fits no tool, and has no effect; did you mean my-shop.*?";
        assert_eq!(of_allowed(&config, &lists, &["my-shop".to_owned()]), [note]);
    }

    #[test]
    fn names_for_all_servers_are_judged_when_every_list_is_known() {
        let config = |deny: &[&str]| Config {
            servers: vec![server("a"), server("b")],
            deny: globs(deny),
            ..Config::default()
        };
        let all = BTreeMap::from([("a".to_owned(), list(&["drop_row"])), ("b".to_owned(), list(&["read"]))]);
        let a = BTreeMap::from([("a".to_owned(), list(&["drop_row"]))]);
        let of = |deny: &str, lists: &BTreeMap<_, _>| of_all(&config(&[deny]), lists).concat();
        assert_eq!(
            of("a.drop_rows", &a),
            "`globalSettings.deny` has a.drop_rows, but no tool has this name; did you mean a.drop_row?"
        );
        assert_eq!(
            of("c.read", &all),
            "`globalSettings.deny` has c.read, but no tool has this name; did you \
             mean b.read?"
        );
        for (deny, lists) in [
            ("reed", &a),
            ("read", &all),
            ("b.read", &all),
            ("*.delete_*", &all),
            ("b.mcp_resource_read", &all),
        ] {
            assert_eq!(of(deny, lists), "", "{deny}");
        }
        assert!(of("reed", &all).contains("did you mean read?"));
        let private = config::Flows { private: globs(&["a.drop_rows"]), ..config::Flows::default() };
        let flows = of_all(&Config { flows: private, ..config(&[]) }, &a).concat();
        assert!(flows.starts_with("`flows.private` has a.drop_rows, but no tool has this name"), "{flows}");
        let absent =
            Absent { name: "off".to_owned(), transport: None, layer: ConfigLayer::Environment, wrong: None };
        let config = Config { absent: vec![absent], ..config(&["off.write", "write"]) };
        assert_eq!(of_all(&config, &all), [""; 0]);
    }
}
