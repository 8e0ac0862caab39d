//! What a model reads of a search and of tools that it asks for: bounded texts.

use std::fmt::Write as _;

use super::signature::{Detail, shortened};
use super::{Found, Reference, Server, Unknown};

/// Most characters of the signatures of a search: about 2 000 tokens.
const SEARCH_LIMIT: usize = 8_000;
/// Most characters of what is told of tools that are asked for; the longest documentation of one fits.
const DESCRIBE_LIMIT: usize = 48_000;
/// Most tools that are described at once.
pub(super) const DESCRIBED_AT_MOST: usize = 20;
/// Most servers that are named where nothing was found.
const SERVERS_NAMED: usize = 30;

impl Reference {
    /// What a model reads of a search: signatures by module, shorter ones where there are many.
    pub fn search_text(&self, query: &str, server: Option<&str>, limit: usize) -> String {
        let found = match self.search(query, server, limit) {
            Ok(found) => found,
            Err(unknown) => return format!("No search: {unknown}{}", self.missing_line("\n")),
        };
        if found.is_empty() {
            let modules: Vec<&str> =
                self.servers.iter().map(|server: &Server| server.module.as_str()).collect();
            let named = modules.iter().take(SERVERS_NAMED).copied().collect::<Vec<_>>().join(", ");
            let more = if modules.len() > SERVERS_NAMED { ", …" } else { "" };
            return format!(
                "No tool has any of these words. Try others, or an empty query with a `server`: {named}{more}{}",
                self.missing_line("\n")
            );
        }
        let mut texts = Detail::ALL.iter().map(|detail| signatures(&found, *detail));
        let mut shown = texts.find(|text| text.len() <= SEARCH_LIMIT).unwrap_or_else(|| names(&found));
        let listed = if query.trim().is_empty() { self.count(server) } else { 0 };
        if listed > found.len() {
            shown.push_str(&format!("\n// {} more tools: search by words", listed - found.len()));
        }
        shown.push_str("\n// `name?: T` is a setter: `.name(value)`. describe_tools tells all about a tool.");
        shown.push_str(&self.missing_line("\n// "));
        shown
    }

    /// What a model reads of tools that it asks for; `form` says what the answers of a tool look like, by its server and name,
    /// where that is known.
    pub fn describe_text(&self, names: &[String], form: impl Fn(&str, &str) -> Option<String>) -> String {
        if names.is_empty() {
            return "No tool was named: give names such as `module::function`, which search_tools finds."
                .to_owned();
        }
        let mut text = String::new();
        let asked = names.get(..DESCRIBED_AT_MOST).unwrap_or(names);
        let mut left_out = names.len() - asked.len();
        for (name, described) in asked.iter().zip(self.describe(asked)) {
            let mut described = described.unwrap_or_else(|unknown: Unknown| format!("// {unknown}"));
            if let Some(form) = self.tool(name).and_then(|(server, tool)| form(server, tool)) {
                described.push('\n');
                described.push_str(&form);
            }
            if !text.is_empty() && text.len() + described.len() > DESCRIBE_LIMIT {
                left_out += 1;
                continue;
            }
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&described);
        }
        if left_out > 0 {
            // Writing to a text does not fail.
            let _ = write!(text, "\n\n// {left_out} more are left out: too much at once. Ask for fewer.");
        }
        text
    }
}

/// Signatures by module, in the order of the first that was found of each.
pub(super) fn signatures(found: &[Found], detail: Detail) -> String {
    by_module(
        found,
        |found| shortened(&found.signature, detail),
        if detail < Detail::Types { "\n\n" } else { "\n" },
    )
}

fn names(found: &[Found]) -> String {
    by_module(found, |found| codegen::clean(&found.function, 100), ", ")
}

fn by_module(found: &[Found], shown: impl Fn(&Found) -> String, between: &str) -> String {
    let mut modules: Vec<(&str, Vec<String>)> = Vec::new();
    for found in found {
        match modules.iter_mut().find(|(module, _)| *module == found.module) {
            Some((_, texts)) => texts.push(shown(found)),
            None => modules.push((&found.module, vec![shown(found)])),
        }
    }
    let section =
        |(module, texts): &(&str, Vec<String>)| format!("mod {module} {{\n{}\n}}", texts.join(between));
    modules.iter().map(section).collect::<Vec<_>>().join("\n")
}
