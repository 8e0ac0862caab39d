//! The `SKILL.md` of a saved program: for readers and agents, also those who do not know Toolsmith.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use snippet::{Argument, Example, ProgramFile};

use super::skill::Described;

/// Maximum length of a description, in characters (Agent Skills).
const DESCRIPTION_LIMIT: usize = 1_024;

/// Maximum length of the requirements, in characters (Agent Skills).
const COMPATIBILITY_LIMIT: usize = 500;

/// Returns the text of `SKILL.md`.
pub fn skill_md(described: &Described, program: &ProgramFile, has_tests: bool) -> String {
    let Described { program: name, calls, flows, .. } = described;
    let about = program.about();
    let mut description = about.description.clone();
    if description.is_empty() {
        description = format!("Runs the program {name}.");
    }
    if !about.tags.is_empty() {
        let _ = write!(description, " Tags: {}.", about.tags.join(", "));
    }
    let servers: BTreeSet<&str> = calls.iter().filter_map(|tool| Some(tool.split_once('.')?.0)).collect();
    let requires = match servers.is_empty() {
        true => "Requires the command toolsmith.".to_owned(),
        false => {
            let servers: Vec<&str> = servers.into_iter().collect();
            format!("Requires the command toolsmith, configured with the MCP servers: {}", servers.join(", "))
        }
    };
    let mut text = format!(
        "---\nname: {}\ndescription: {}\ncompatibility: {}\nmetadata:\n  toolsmith-program: {}\n---\n\n",
        yaml(&described.skill_name(), DESCRIPTION_LIMIT),
        yaml(&description, DESCRIPTION_LIMIT),
        yaml(&requires, COMPATIBILITY_LIMIT),
        yaml(name, DESCRIPTION_LIMIT),
    );
    let title = if about.title().is_empty() { name } else { about.title() };
    let _ = write!(text, "# {title}\n\n");
    let rest = about.description.split_once('\n').map_or("", |(_, rest)| rest.trim());
    if !rest.is_empty() {
        let _ = write!(text, "{rest}\n\n");
    }
    let _ = write!(
        text,
        "This skill is a program of Toolsmith, which runs Rust programs in a sandbox and forwards their calls to MCP \
         servers.\n\n## Run it\n\nImport it once, from the folder of this file. The user sees what it can call, and \
         decides:\n\n```sh\ntoolsmith program import .\n```\n\nThen run it. It prints its result as JSON:\n\n```sh\n\
         toolsmith program run {name}{}\n```\n\n",
        arguments_shown(program),
    );
    if !program.arguments().is_empty() {
        let lines: Vec<String> = program.arguments().iter().map(argument).collect();
        let _ = write!(text, "## Arguments\n\n{}\n\n", lines.join("\n"));
    }
    let _ = write!(text, "## Calls\n\n{}\n\n", called(calls, flows));
    let tests = if has_tests {
        "\n- `assets/recorded.json`: runs of the program with the recorded answers of the tools, which test it at the import"
    } else {
        ""
    };
    let _ = writeln!(
        text,
        "## Files\n\n- `assets/{name}.rs`: the program\n- `assets/program.json`: the tools that it can call, and the JSON \
         Schemas of its arguments and result{tests}\n- `signature.json`: the digests of all files, signed by the author's key",
    );
    text
}

/// A text as YAML on one line: a JSON string is one.
fn yaml(text: &str, limit: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(limit).collect();
    json!(line).to_string()
}

/// The arguments of a call on the command line: those of the first example.
fn arguments_shown(program: &ProgramFile) -> String {
    let example = |example: &Example| Value::Object(example.arguments.clone()).to_string();
    let example = program.about().examples.first().map(example);
    match example.filter(|example| !example.contains('\'')) {
        Some(example) => format!(" --args '{example}'"),
        None if program.arguments().is_empty() => String::new(),
        None => " --args 'JSON'".to_owned(),
    }
}

fn argument(argument: &Argument) -> String {
    let Argument { name, about, is_required, .. } = argument;
    let required = if *is_required { "required" } else { "optional" };
    let about: Vec<&str> = about.split_whitespace().collect();
    format!("- `{name}` ({required}): {}", about.join(" ")).trim_end_matches([':', ' ']).to_owned()
}

fn called(calls: &[String], flows: &[String]) -> String {
    if calls.is_empty() {
        return "It can call no tools.".to_owned();
    }
    let calls: Vec<String> = calls.iter().map(|tool| format!("- `{tool}`")).collect();
    let flows: Vec<String> = flows.iter().map(|flow| format!("- {flow}")).collect();
    let calls = format!("It can call these tools of MCP servers:\n\n{}", calls.join("\n"));
    match flows.is_empty() {
        true => calls,
        false => format!("{calls}\n\nIt can carry:\n\n{}", flows.join("\n")),
    }
}
