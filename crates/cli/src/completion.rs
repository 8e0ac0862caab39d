//! Completes a command line for the shell: commands and options, and the names of configured servers, of their tools and
//! of saved programs.
//!
//! Names come from the configuration that is in force and from cached tool lists. Completing starts no server, asks
//! nothing, and prints no error: without a usable configuration there are no names.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, SubcommandCandidates};
use config::{Config, Demo, LoadOptions, Needs, Server};
use gateway::saved_programs::ProgramStore;
use gateway::tool_list::ToolList;
use runner::Cache;
use serde_json::Value;

use crate::arguments::Arguments;
use crate::commands::explain;
use mcp::tool_members::{Members, kind_of};

/// The variable by which the script of a shell asks for completions; its value is the shell's name.
pub(crate) const VARIABLE: &str = "TOOLSMITH_COMPLETE";

/// Maximum number of names in one answer: a shell shows no more.
const NAMES: usize = 2_000;

/// Answers a shell that asks for completions, and ends the process. Otherwise returns.
pub(crate) fn answer() {
    CompleteEnv::with_factory(|| with_names(Arguments::command())).var(VARIABLE).complete();
}

/// A command with all its subcommands, whose arguments complete names.
fn with_names(command: clap::Command) -> clap::Command {
    // `mcp add` names a new server, and `setup` a server in a client.
    let names_others = matches!(command.get_name(), "add" | "setup");
    let command = command.mut_args(|argument| {
        if argument.get_id() == "arguments" {
            return argument.add(ArgValueCompleter::new(arguments));
        }
        let value = argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
        match value.as_deref() {
            Some("SERVER.TOOL") => argument.add(ArgValueCompleter::new(tools)),
            Some("NAME") if !names_others => argument.add(ArgValueCompleter::new(servers)),
            Some("SERVER") => argument.add(ArgValueCompleter::new(servers)),
            Some("CODE") => argument.add(ArgValueCompleter::new(codes)),
            Some("PROGRAM") => argument.add(ArgValueCompleter::new(programs)),
            _ => argument,
        }
    });
    // What follows is the name of a program.
    let takes_program = command.is_allow_external_subcommands_set();
    let command = if takes_program {
        command.add(SubcommandCandidates::new(|| programs(OsStr::new(""))))
    } else {
        command
    };
    command.mut_subcommands(with_names)
}

/// The names of saved programs that begin with what was typed.
fn programs(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Ok(store) = ProgramStore::of_working_folder() else { return Vec::new() };
    let typed = typed.to_str().unwrap_or_default();
    let names = store.all().unwrap_or_default().into_iter().map(|program| program.name);
    names.filter(|name| name.starts_with(typed)).take(NAMES).map(CompletionCandidate::new).collect()
}

/// The names of servers that begin with what was typed.
fn servers(typed: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(typed), Some(config)) = (typed.to_str(), configuration()) else { return Vec::new() };
    let active = config.servers.iter().map(|server| server.connection.name.as_str());
    let absent = config.absent.iter().map(|absent| absent.name.as_str());
    let mut names: Vec<&str> = active.chain(absent).filter(|name| name.starts_with(typed)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().take(NAMES).map(CompletionCandidate::new).collect()
}

/// The tools, as SERVER.TOOL, that begin with what was typed.
fn tools(typed: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(typed), Some(config)) = (typed.to_str(), configuration()) else { return Vec::new() };
    let Some(cache) = cache(&config) else { return Vec::new() };
    let may_fit = |server: &&Server| {
        let prefix = format!("{}.", server.connection.name);
        prefix.starts_with(typed) || typed.starts_with(&prefix)
    };
    let names = config.servers.iter().filter(may_fit).flat_map(|server| {
        let name = &server.connection.name;
        let list = gateway::catalog::remembered(&cache, server);
        let tools = list.iter().flat_map(ToolList::names);
        let admitted = tools.filter(|tool| is_plain(tool) && config.admits(name, tool));
        admitted.map(|tool| format!("{name}.{tool}")).collect::<Vec<_>>()
    });
    names.filter(|name| name.starts_with(typed)).take(NAMES).map(CompletionCandidate::new).collect()
}

/// The arguments of the tool on the line: `KEY=` for a text, `KEY:=` for another value.
fn arguments(typed: &OsStr) -> Vec<CompletionCandidate> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let (Some(typed), Some(config)) = (typed.to_str(), configuration()) else { return Vec::new() };
    let Some(schema) = cache(&config).and_then(|cache| input_schema(&words, &config, &cache)) else {
        return Vec::new();
    };
    let is_given = |key: &str| words.iter().filter_map(|word| word.to_str()).any(|word| word == key);
    let members = Members::of(&schema).named;
    let plain = members.into_iter().filter(|(name, _)| is_plain(name));
    let keys = plain.map(|(name, schema)| match kind_of(schema) {
        Some("string") => format!("{name}="),
        _ => format!("{name}:="),
    });
    let fitting = keys.filter(|key| key.starts_with(typed) && !is_given(key));
    fitting.take(NAMES).map(CompletionCandidate::new).collect()
}

/// The input schema of the first word that is a cached tool.
fn input_schema(words: &[OsString], config: &Config, cache: &Cache) -> Option<Value> {
    words.iter().find_map(|word| {
        let (name, tool) = word.to_str()?.split_once('.')?;
        let list = gateway::catalog::remembered(cache, config.server(name)?)?;
        Some(list.tool(tool)?["inputSchema"].clone())
    })
}

/// The codes that `explain` knows and that begin with what was typed.
fn codes(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_str().unwrap_or_default();
    let codes = explain::codes().filter(|code| code.starts_with(typed));
    codes.map(CompletionCandidate::new).collect()
}

/// The cache, if there is one.
fn cache(config: &Config) -> Option<Cache> {
    let folder = config::cache_folder().ok().filter(|folder| folder.is_dir())?;
    Cache::open(&folder, config.cache.size).ok()
}

/// Whether a shell reads the name as one word without quotes, which is no option. Servers choose the names of their tools.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._/-".contains(c))
}

/// The configuration in force, with the options `--config` and `--demo` on the line.
fn configuration() -> Option<Config> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let demo = if words.iter().any(|word| word == "--demo") { Demo::Only } else { Demo::Never };
    let file = config_file(&words).or_else(config::file_of_environment);
    let options = LoadOptions { file, demo, needs: Needs::Nothing, ..LoadOptions::default() };
    config::load(&options.without_untrusted()).ok()
}

/// The value of `--config` among the words.
fn config_file(words: &[OsString]) -> Option<PathBuf> {
    let mut words = words.iter().map(OsString::as_os_str);
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--config") => return words.next().map(PathBuf::from),
            Some(word) if word.starts_with("--config=") => {
                return word.strip_prefix("--config=").map(PathBuf::from);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_characters_of_the_shell_are_left_out() {
        assert!(is_plain("get_me") && is_plain("repos/list-all.v2"));
        for name in ["", "a b", "$(id)", "a;b", "a'b", "a\nb", "\u{1b}[2J", "ä"] {
            assert!(!is_plain(name), "{name:?}");
        }
    }

    #[test]
    fn the_configuration_on_the_line_is_used() {
        let file = |words: &[&str]| config_file(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(file(&["toolsmith", "mcp", "info", "--config", "a.yaml", ""]), Some("a.yaml".into()));
        assert_eq!(file(&["toolsmith", "--config=b.yaml"]), Some("b.yaml".into()));
        assert_eq!(file(&["toolsmith", "mcp", "info", "--config"]), None);
    }

    #[test]
    fn arguments_that_name_servers_and_tools_complete_them() {
        let command = with_names(Arguments::command());
        command.clone().debug_assert();
        let completes = |path: &[&str], id: &str| {
            let found = path.iter().fold(&command, |command, name| command.find_subcommand(name).unwrap());
            let argument = found.get_arguments().find(|argument| argument.get_id() == id).unwrap();
            argument.get::<ArgValueCompleter>().is_some()
        };
        assert!(completes(&["mcp", "call"], "target") && completes(&["run"], "allow"));
        assert!(completes(&["mcp", "call"], "arguments") && completes(&["explain"], "code"));
        assert!(completes(&["program", "show"], "name") && completes(&["program", "check"], "names"));
        assert!(completes(&["mcp", "info"], "name") && completes(&["codegen"], "servers"));
        assert!(!completes(&["mcp", "add"], "name") && !completes(&["setup"], "name"));
    }
}
