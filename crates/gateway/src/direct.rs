//! Splits tools into those that snippets call and direct tools; chooses and resolves the names of direct tools.

pub mod presented;

use std::collections::{BTreeMap, BTreeSet};

use config::{Config, DirectNames};

pub use self::presented::presented;

/// Names of the tools of code mode, which direct tools can't have.
pub const RESERVED: [&str; 4] = ["execute_code", "search_tools", "describe_tools", "save_program"];

/// Maximum length of a name that every model provider accepts, in characters of `[a-zA-Z0-9_-]`.
const MAX_SAFE: usize = 64;
/// Maximum characters of a server's name in a model-safe name.
const SERVER_PART: usize = 24;
/// Characters of the hash in a model-safe name.
const HASH_PART: usize = 8;

/// A tool that clients call directly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectTool {
    /// The server's name in the configuration.
    pub server: String,
    /// The server's name for the tool.
    pub tool: String,
    /// The name in the style of `directNames`.
    pub name: String,
    /// `mcp_<server>_<slug>_<hash8>`, for clients that limit names.
    pub safe_name: String,
    /// Whether it is only for apps: clients without apps neither see nor call it.
    pub is_for_apps: bool,
}

/// A name that tools of several servers have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the servers {} have tools of this name", servers.join(", "))]
pub struct Ambiguous {
    /// These servers.
    servers: Vec<String>,
}

/// The tools of all servers, split into two parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Partition {
    /// Server and name of the tools that snippets call, sorted.
    pub(crate) code_mode: Vec<(String, String)>,
    /// The direct tools, by server and tool.
    pub direct: Vec<DirectTool>,
    /// Names that were already taken, and their replacements.
    pub warnings: Vec<String>,
    /// Names of both kinds, with indexes into `direct`.
    names: BTreeMap<String, usize>,
    /// The servers' own names, with indexes into `direct`; `None` if several servers have a tool of the name.
    own_names: BTreeMap<String, Option<usize>>,
}

impl Partition {
    /// Splits the admitted ones among `tools`, pairs of server and tool in any order. Unknown servers are ignored. Tools
    /// that are only for apps are direct, and take no name of another tool.
    pub fn new<'a>(
        config: &Config,
        tools: impl IntoIterator<Item = (&'a str, &'a str)>,
        is_for_apps: impl Fn(&str, &str) -> bool,
    ) -> Self {
        let mut partition = Partition::default();
        let (mut direct, mut for_apps) = (Vec::new(), Vec::new());
        let of_known = |(server, _): &(&str, &str)| config.server(server).is_some();
        for (server, tool) in tools.into_iter().filter(of_known).collect::<BTreeSet<_>>() {
            if is_for_apps(server, tool) {
                for_apps.extend(config.admits(server, tool).then_some((server, tool)));
            } else if config.in_code_mode(server, tool) {
                partition.code_mode.push((server.to_owned(), tool.to_owned()));
            } else if config.admits(server, tool) {
                direct.push((server, tool));
            }
        }
        let own = direct.len();
        direct.extend(for_apps);
        partition.name(&direct, config.direct_names);
        partition.direct.iter_mut().skip(own).for_each(|tool| tool.is_for_apps = true);
        partition
    }

    /// The tool with a name of either kind.
    pub fn find(&self, name: &str) -> Option<&DirectTool> {
        self.direct.get(*self.names.get(name)?)
    }

    /// Whether a tool has this name of any kind.
    pub fn knows(&self, name: &str) -> bool {
        self.names.contains_key(name) || self.own_names.contains_key(name)
    }

    /// The tool that the app of a view calls by this name: apps know only the names of their own server.
    ///
    /// # Errors
    /// If several servers have a tool of this name: the call does not say which app it is from.
    pub fn find_for_app(&self, name: &str) -> Result<Option<&DirectTool>, Ambiguous> {
        match self.own_names.get(name) {
            Some(Some(position)) => Ok(self.direct.get(*position)),
            Some(None) => {
                let direct = self.direct.iter().map(|direct| (&direct.server, &direct.tool));
                let all = direct.chain(self.code_mode.iter().map(|(server, tool)| (server, tool)));
                let same: BTreeSet<&String> =
                    all.filter(|(_, tool)| *tool == name).map(|(server, _)| server).collect();
                Err(Ambiguous { servers: same.into_iter().cloned().collect() })
            }
            None => Ok(None),
        }
    }

    fn name(&mut self, tools: &[(&str, &str)], style: DirectNames) {
        // Safe names are assigned first, so that no other name can take one.
        let mut safe = BTreeMap::new();
        for (position, (server, tool)) in tools.iter().enumerate() {
            safe.insert(safe_name(server, tool, |name| !safe.contains_key(name)), position);
        }
        let mut safe_names: Vec<String> = vec![String::new(); tools.len()];
        for (name, position) in &safe {
            if let Some(place) = safe_names.get_mut(*position) {
                place.clone_from(name);
            }
        }
        self.names = safe;
        for (position, (_, tool)) in tools.iter().enumerate() {
            let own = self.own_names.entry((*tool).to_owned());
            own.and_modify(|only| *only = None).or_insert(Some(position));
        }
        // The app of the other server would mean its own tool, which it can't call.
        for (_, tool) in &self.code_mode {
            if let Some(only) = self.own_names.get_mut(tool) {
                *only = None;
            }
        }
        for (position, ((server, tool), safe_name)) in tools.iter().zip(safe_names).enumerate() {
            let candidates = candidates(server, tool, style);
            let is_free =
                |name: &&String| !self.names.contains_key(*name) && !RESERVED.contains(&name.as_str());
            let free = candidates.iter().find(is_free);
            let name = free.unwrap_or(&safe_name).clone();
            if let Some(preferred) = candidates.first().filter(|preferred| **preferred != name) {
                let owner = self.names.get(preferred).and_then(|owner| tools.get(*owner));
                let own = || "the tool of code mode".to_owned();
                let owner =
                    owner.map_or_else(own, |(server, tool)| printable::name(&format!("{server}.{tool}")));
                self.warnings.push(format!(
                    "two tools have the name {}: {} keeps it, and {} is renamed {}",
                    printable::name(preferred),
                    owner,
                    printable::name(&format!("{server}.{tool}")),
                    printable::name(&name)
                ));
            }
            self.names.insert(name.clone(), position);
            let (server, tool) = ((*server).to_owned(), (*tool).to_owned());
            self.direct.push(DirectTool { server, tool, name, safe_name, is_for_apps: false });
        }
    }
}

/// Possible names of a tool, best first.
fn candidates(server: &str, tool: &str, style: DirectNames) -> Vec<String> {
    let (at, namespace) = (format!("{tool}@{server}"), format!("{server}::{tool}"));
    match style {
        DirectNames::Plain => vec![tool.to_owned(), at, namespace],
        DirectNames::At => vec![at, namespace],
        DirectNames::Prefix => vec![format!("mcp_{server}_{tool}"), namespace],
        DirectNames::Namespace => vec![namespace, at],
    }
}

/// `mcp_<server>_<slug>_<hash8>`, with another hash if the name is taken.
fn safe_name(server: &str, tool: &str, is_free: impl Fn(&str) -> bool) -> String {
    let mut attempt = 0_u64;
    loop {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(server.len() as u64).to_le_bytes());
        hasher.update(server.as_bytes()).update(tool.as_bytes());
        if attempt > 0 {
            hasher.update(&[0]).update(&attempt.to_le_bytes());
        }
        let hash: String = hasher.finalize().to_hex().chars().take(HASH_PART).collect();
        let server = cut(&slug(server), SERVER_PART);
        let room = MAX_SAFE - "mcp___".len() - HASH_PART - server.len();
        let name = format!("mcp_{server}_{}_{hash}", cut(&slug(tool), room));
        if is_free(&name) {
            return name;
        }
        attempt += 1;
    }
}

/// A name in characters that every provider accepts.
fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_ascii_alphanumeric() || character == '-' {
            slug.push(character);
        } else if !slug.ends_with('_') {
            slug.push('_');
        }
    }
    let slug = slug.trim_matches('_');
    if slug.is_empty() { "tool".to_owned() } else { slug.to_owned() }
}

/// The first characters of an ASCII text.
fn cut(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use config::{CodeMode, Filter, Glob, Server};

    fn config(servers: &[&str], excluded: &[&str], direct_names: DirectNames) -> Config {
        let server = |name: &&str| Server {
            filter: Filter::Without(vec![Glob::new("off")]),
            ..Server::new(mcp::ServerConfig::stdio(*name, "program", [""; 0]), String::new())
        };
        Config {
            servers: servers.iter().map(server).collect(),
            deny: vec![Glob::new("*.denied")],
            direct_names,
            code_mode: CodeMode {
                excluded: excluded.iter().map(|glob| Glob::new(glob)).collect(),
                ..CodeMode::default()
            },
            ..Config::default()
        }
    }

    fn names(partition: &Partition) -> Vec<&str> {
        partition.direct.iter().map(|tool| tool.name.as_str()).collect()
    }

    fn for_none(_: &str, _: &str) -> bool {
        false
    }

    #[test]
    fn tools_for_apps_are_direct_and_take_no_names_of_others() {
        let config = config(&["a", "b"], &["draw"], DirectNames::Plain);
        let tools = [("a", "draw"), ("b", "draw"), ("a", "paint"), ("a", "off"), ("b", "read")];
        let is_for_apps = |server: &str, tool: &str| server == "a" && tool != "read";
        let partition = Partition::new(&config, tools, is_for_apps);
        assert_eq!(partition.code_mode, [("b".to_owned(), "read".to_owned())]);
        let direct: Vec<_> = partition
            .direct
            .iter()
            .map(|tool| (tool.server.as_str(), tool.name.as_str(), tool.is_for_apps))
            .collect();
        assert_eq!(direct, [("b", "draw", false), ("a", "draw@a", true), ("a", "paint", true)]);
    }

    #[test]
    fn excluded_tools_are_direct_and_filtered_tools_are_absent() {
        let config = config(&["a", "b"], &["draw", "b.*"], DirectNames::Plain);
        let tools = [
            ("a", "draw"),
            ("a", "read"),
            ("a", "off"),
            ("a", "denied"),
            ("b", "off"),
            ("b", "write"),
            ("c", "x"),
        ];
        let partition = Partition::new(&config, tools, for_none);
        assert_eq!(partition.code_mode, [("a".to_owned(), "read".to_owned())]);
        assert_eq!(names(&partition), ["draw", "write"]);
        assert!(partition.warnings.is_empty());
        assert_eq!(partition.find("write").map(|tool| tool.server.as_str()), Some("b"));
        assert_eq!(partition.find("read"), None);
    }

    #[test]
    fn the_first_server_keeps_a_name_and_both_are_reported() {
        let config = config(&["a", "b"], &["*"], DirectNames::Plain);
        // A tool of `a` has the name that the second one would get.
        let partition = Partition::new(&config, [("b", "x"), ("a", "x"), ("a", "x@b")], for_none);
        assert_eq!(names(&partition), ["x", "x@b", "b::x"]);
        assert_eq!(partition.warnings.len(), 1);
        assert!(
            partition.warnings[0].contains("a.x keeps")
                && partition.warnings[0].contains("b.x is renamed b::x")
        );
        let partition = Partition::new(&config, [("b", "x"), ("a", "x")], for_none);
        assert_eq!(names(&partition), ["x", "x@b"]);
    }

    #[test]
    fn direct_tools_do_not_take_names_of_code_mode() {
        let config = config(&["a"], &["*"], DirectNames::Plain);
        let partition = Partition::new(&config, RESERVED.map(|name| ("a", name)), for_none);
        assert_eq!(
            names(&partition),
            ["describe_tools@a", "execute_code@a", "save_program@a", "search_tools@a"]
        );
        assert!(RESERVED.iter().all(|name| partition.find(name).is_none()));
        assert!(partition.warnings[0].contains("the tool of code mode keeps it"), "{:?}", partition.warnings);
    }

    #[test]
    fn names_follow_the_style_and_are_unique() {
        let tools = [("a", "b_c"), ("a_b", "c")];
        let spelled = |style| {
            let partition = Partition::new(&config(&["a", "a_b"], &["*"], style), tools, for_none);
            (
                partition.direct.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>(),
                partition.warnings.len(),
            )
        };
        assert_eq!(spelled(DirectNames::At), (vec!["b_c@a".to_owned(), "c@a_b".to_owned()], 0));
        assert_eq!(spelled(DirectNames::Namespace), (vec!["a::b_c".to_owned(), "a_b::c".to_owned()], 0));
        assert_eq!(spelled(DirectNames::Prefix), (vec!["mcp_a_b_c".to_owned(), "a_b::c".to_owned()], 1));
    }

    #[test]
    fn a_taken_hash_is_replaced() {
        let first = safe_name("s", "t", |_| true);
        let second = safe_name("s", "t", |name| name != first);
        assert_ne!(first, second);
        assert!(first.starts_with("mcp_s_t_") && second.starts_with("mcp_s_t_"));
    }

    proptest! {
        #[test]
        fn every_tool_is_found_by_both_its_unique_names(
            tools in proptest::collection::vec(("[a-b_-]{1,3}|[a-z]{64}", "[a-b_@:]{1,4}|\\PC{1,80}|mcp_.{0,9}"), 0..40),
            style in proptest::sample::select(vec![DirectNames::Plain, DirectNames::At, DirectNames::Prefix, DirectNames::Namespace]),
        ) {
            let servers: BTreeSet<&str> = tools.iter().map(|(server, _)| server.as_str()).collect();
            let servers: Vec<&str> = servers.into_iter().collect();
            let config = config(&servers, &["*"], style);
            let pairs: Vec<(&str, &str)> = tools.iter().map(|(server, tool)| (server.as_str(), tool.as_str())).collect();
            let partition = Partition::new(&config, pairs.iter().copied(), for_none);
            let other_way = Partition::new(&config, pairs.iter().rev().copied(), for_none);
            prop_assert_eq!(&partition, &other_way);
            let mut seen = BTreeSet::new();
            for tool in &partition.direct {
                for name in BTreeSet::from([&tool.name, &tool.safe_name]) {
                    prop_assert!(seen.insert(name), "{} is not unique", name);
                    prop_assert_eq!(partition.find(name), Some(tool));
                }
                prop_assert!(tool.safe_name.len() <= MAX_SAFE, "{}", tool.safe_name);
                prop_assert!(tool.safe_name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'));
            }
            let kept = pairs.iter().filter(|(server, tool)| config.admits(server, tool)).collect::<BTreeSet<_>>();
            prop_assert_eq!(partition.direct.len(), kept.len());
        }
    }
}
