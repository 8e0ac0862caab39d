//! The bounded texts that a model reads about searches and tools.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use codegen::Once;

use super::signature::{Detail, shortened};
use super::{Found, Reference, Server};

/// Maximum characters of the signatures of a search: about 2,000 tokens.
const SEARCH_LIMIT: usize = 8_000;
/// Maximum characters of the descriptions of tools; the longest documentation of one tool fits.
const DESCRIBE_LIMIT: usize = 48_000;
/// Maximum tools that are described at once.
pub(super) const DESCRIBED_AT_MOST: usize = 20;
/// Maximum servers that are named if nothing was found.
const SERVERS_NAMED: usize = 30;

impl Reference {
    /// The result of a search: signatures by module, shorter if there are many.
    pub fn search_text(&self, query: &str, server: Option<&str>, limit: usize) -> String {
        let found = match self.search(query, server, limit) {
            Ok(found) => found,
            Err(unknown) => return format!("Search failed: {unknown}{}", self.missing_line("\n")),
        };
        if found.is_empty() {
            let modules: Vec<&str> =
                self.servers.iter().map(|server: &Server| server.module.as_str()).collect();
            let named = modules.iter().take(SERVERS_NAMED).copied().collect::<Vec<_>>().join(", ");
            let more = if modules.len() > SERVERS_NAMED { ", …" } else { "" };
            return format!(
                "No tool matches any of these words. Try others, or an empty query with a `server`: {named}{more}{}",
                self.missing_line("\n")
            );
        }
        let mut texts = Detail::ALL.iter().map(|detail| signatures(&found, *detail));
        let mut shown = texts.find(|text| text.len() <= SEARCH_LIMIT).unwrap_or_else(|| names(&found));
        let listed = if query.trim().is_empty() { self.count(server) } else { 0 };
        if listed > found.len() {
            shown.push_str(&format!(
                "\n// {}: search by words",
                report::count(listed - found.len(), "more tool")
            ));
        }
        shown.push_str("\n// `name?: T` is a setter: `.name(value)`. No `->`: ToolResult. describe_tools returns a tool's full documentation.");
        shown.push_str(&self.missing_line("\n// "));
        shown
    }

    /// The descriptions of tools; `form` returns what a tool's results look like, by server and name, if known.
    pub fn describe_text(&self, names: &[String], form: impl Fn(&str, &str) -> Option<String>) -> String {
        if names.is_empty() {
            return "No tool was named: pass names such as `module::function`; search_tools finds them."
                .to_owned();
        }
        let mut text = String::new();
        let named = names.get(..DESCRIBED_AT_MOST).unwrap_or(names);
        let mut left_out = names.len() - named.len();
        let mut shown: BTreeMap<&str, Once> = BTreeMap::new();
        for (name, described) in named.iter().zip(self.describe(named)) {
            let mut described = match (described, self.tool(name)) {
                (Ok(described), Some((server, _))) => {
                    shown.entry(server).or_default().documentation(&described)
                }
                (Ok(described), None) => described,
                (Err(unknown), _) => format!("// {unknown}"),
            };
            // A tool that is named twice is described once.
            if described.trim().is_empty() {
                continue;
            }
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
            // Writing to a string does not fail.
            let _ = write!(
                text,
                "\n\n// {left_out} more are left out because the text is too long. Name fewer tools."
            );
        }
        text
    }
}

/// Signatures by module, in the order of each module's first match.
pub(super) fn signatures(found: &[Found], detail: Detail) -> String {
    by_module(
        found,
        |found, shown| shown.signature(&without_default(&shortened(&found.signature, detail))),
        if detail < Detail::Types { "\n\n" } else { "\n" },
    )
}

/// A signature without the result that the introduction names as the default.
fn without_default(signature: &str) -> String {
    let lines = signature.lines().map(|line| match line.starts_with("///") {
        true => line,
        false => line.strip_suffix(" -> ToolResult").unwrap_or(line),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn names(found: &[Found]) -> String {
    by_module(found, |found, _| codegen::clean(&found.function, 100), ", ")
}

/// A module's types are shown where they are used first.
fn by_module(found: &[Found], shown: impl Fn(&Found, &mut Once) -> String, between: &str) -> String {
    let mut modules: Vec<(&str, Once, Vec<String>)> = Vec::new();
    for found in found {
        let index = modules.iter().position(|(module, ..)| *module == found.module);
        let index = index.unwrap_or_else(|| {
            modules.push((&found.module, Once::default(), Vec::new()));
            modules.len() - 1
        });
        if let Some((_, once, texts)) = modules.get_mut(index) {
            texts.push(shown(found, once));
        }
    }
    let section = |(module, _, texts): &(&str, Once, Vec<String>)| {
        format!("mod {module} {{\n{}\n}}", texts.join(between))
    };
    modules.iter().map(section).collect::<Vec<_>>().join("\n")
}
