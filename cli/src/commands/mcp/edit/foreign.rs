//! Reads the servers of other clients' files: `mcpServers` of `.mcp.json`, Claude Desktop and Cursor, and `servers` of
//! VS Code.
//!
//! Settings that can't be imported are reported, never guessed.

use std::collections::BTreeSet;
use std::path::Path;

use config::{Error, tree};
use report::Problem;
use serde_json::{Map, Value as Json, json};

use super::change::Entry;

/// Maximum number of servers in a file: the whole file is written and parsed again for each one.
const MAX_SERVERS: usize = 100;

/// The servers of a file.
#[derive(Debug, Default)]
pub(super) struct Imported {
    pub(super) servers: Vec<(String, Entry)>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

/// Reads the servers of a file.
pub(super) fn read(path: &Path) -> Result<Imported, Error> {
    let text = config::text::read(path)?;
    let shown = path.display();
    let tree = tree::json(&text).map_err(|(place, message)| {
        let (file, line, column) = (shown.to_string(), place.line, Some(place.column));
        Error::of(vec![Problem::at(report::Place { file, line, column, excerpt: None }, message)])
    })?;
    let imported = servers(&tree.to_json()).map_err(|why| {
        Error::new(format!("{shown}: {why}")).hint("name a file with mcpServers, or VS Code's servers")
    })?;
    if imported.servers.is_empty() {
        let notes = imported.notes.join("\n");
        return Err(Error::new(
            format!("{shown} has no server that can be imported\n{notes}").trim_end().to_owned(),
        ));
    }
    Ok(imported)
}

fn servers(file: &Json) -> Result<Imported, String> {
    let places = ["/mcpServers", "/servers", "/mcp/servers"];
    let servers = places.iter().find_map(|place| file.pointer(place)).ok_or("it has no servers")?;
    let Json::Object(servers) = servers else { return Err("its servers are not an object".to_owned()) };
    if servers.len() > MAX_SERVERS {
        return Err(format!("it has more than {MAX_SERVERS} servers; import fewer at a time"));
    }
    let mut imported = Imported::default();
    let mut names = BTreeSet::new();
    for (given, entry) in servers {
        let name = name(given);
        if name != *given {
            imported.notes.push(format!("{given:?} is called {name} here"));
        }
        if !names.insert(name.clone()) {
            return Err(format!("two servers would be called {name}; rename one"));
        }
        let mut reader = Reader { name: &name, notes: &mut imported.notes };
        if let Some(entry) = reader.entry(entry) {
            imported.servers.push((name, entry));
        }
    }
    imported.servers.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(imported)
}

/// Converts a name to a valid server name.
fn name(given: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
    let name: String = given.chars().map(letter).take(64).collect();
    if name.is_empty() { "server".to_owned() } else { name }
}

/// Whether an entry starts `toolsmith serve`.
fn is_toolsmith(entry: &Map<String, Json>) -> bool {
    let args = entry.get("args").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let first = args.first().and_then(Json::as_str);
    entry
        .get("command")
        .and_then(Json::as_str)
        .is_some_and(|command| config::is_this_program(command) && first == Some("serve"))
}

/// Reads one entry.
struct Reader<'a> {
    name: &'a str,
    notes: &'a mut Vec<String>,
}

impl Reader<'_> {
    fn note(&mut self, what: &str) {
        self.notes.push(format!("{}: {what}", self.name));
    }

    fn entry(&mut self, entry: &Json) -> Option<Entry> {
        let Json::Object(given) = entry else {
            self.note("left out: its entry is not an object");
            return None;
        };
        let mut new = Entry::new();
        if is_toolsmith(given) {
            self.note("left out: it is Toolsmith itself, which would start itself endlessly");
            return None;
        }
        let address = ["url", "httpUrl", "serverUrl"].into_iter().find(|key| given.contains_key(*key));
        let transport = self.transport(given, address)?;
        new.push(("type".to_owned(), json!(transport)));
        for key in ["command", "args", "env", "cwd"] {
            if let Some(value) = given.get(key).filter(|value| !value.is_null()) {
                new.push((key.to_owned(), self.value(value)));
            }
        }
        if let Some(address) = address.and_then(|key| given.get(key)) {
            new.push(("url".to_owned(), self.value(address)));
        }
        if let Some(headers) = given.get("headers") {
            new.push(("headers".to_owned(), self.value(headers)));
        }
        for (keys, key) in [
            (["includeTools", "enabledTools"], "enabledTools"),
            (["excludeTools", "disabledTools"], "disabledTools"),
        ] {
            let names = keys.into_iter().find_map(|other| given.get(other));
            // In other clients an empty list is no filter.
            if let Some(names) = names.filter(|names| names.as_array().is_none_or(|names| !names.is_empty()))
            {
                new.push((key.to_owned(), names.clone()));
            }
        }
        let is_off =
            given.get("disabled") == Some(&json!(true)) || given.get("enabled") == Some(&json!(false));
        if is_off {
            new.push(("enabled".to_owned(), json!(false)));
        }
        self.leftovers(given);
        Some(new)
    }

    fn transport(&mut self, given: &Map<String, Json>, address: Option<&str>) -> Option<&'static str> {
        let named = given.get("type").or_else(|| given.get("transport")).and_then(Json::as_str);
        let transport = match named {
            Some("stdio" | "local") => "stdio",
            Some("http" | "streamable-http" | "streamableHttp" | "streamable_http" | "remote") => "http",
            Some("sse") => "sse",
            Some(other) => {
                self.note(&format!("left out: unknown type {other:?}"));
                return None;
            }
            None if given.contains_key("command") => "stdio",
            None => {
                let Some(address) = address else {
                    self.note("left out: it has neither a command nor a URL");
                    return None;
                };
                let is_sse =
                    given.get(address).and_then(Json::as_str).is_some_and(|url| url.ends_with("/sse"));
                if is_sse && address == "url" {
                    self.note("its URL ends with /sse, so its type is sse");
                    "sse"
                } else {
                    "http"
                }
            }
        };
        Some(transport)
    }

    /// Converts the variables in a value to Toolsmith's syntax.
    fn value(&mut self, value: &Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.text(text)),
            Json::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Json::Object(entries) => entries
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), self.value(value)))
                .collect(),
            // Environment variables are sometimes written as numbers or booleans.
            Json::Number(number) => Json::String(number.to_string()),
            Json::Bool(value) => Json::String(value.to_string()),
            Json::Null => Json::Null,
        }
    }

    fn text(&mut self, text: &str) -> String {
        let mut new = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, behind)) = after.split_once('}') else { break };
            new.push_str(before);
            new.push_str(&self.variable(name));
            rest = behind;
        }
        new.push_str(rest);
        new
    }

    fn variable(&mut self, name: &str) -> String {
        if let Some(name) = name.strip_prefix("env:") {
            return format!("${{{name}}}");
        }
        if let Some(input) = name.strip_prefix("input:") {
            let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
            let variable: String = input.chars().map(word).collect();
            self.note(&format!(
                "the input {input} is now read from the environment variable {variable}: set it"
            ));
            return format!("${{{variable}}}");
        }
        if let Some((name, _)) = name.split_once(":-") {
            self.note(&format!("the variable {name} has no default in Toolsmith: set it"));
            return format!("${{{name}}}");
        }
        match name {
            "workspaceFolder" => {
                self.note("${workspaceFolder} became `.`, the folder in which toolsmith starts");
                ".".to_owned()
            }
            "userHome" => "${HOME}".to_owned(),
            "pathSeparator" | "/" => "/".to_owned(),
            _ => {
                if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.note(&format!("${{{name}}} has no meaning in Toolsmith: change it"));
                }
                format!("${{{name}}}")
            }
        }
    }

    /// Notes the settings that were not imported.
    fn leftovers(&mut self, given: &Map<String, Json>) {
        const TAKEN: [&str; 16] = [
            "type",
            "transport",
            "command",
            "args",
            "env",
            "cwd",
            "url",
            "httpUrl",
            "serverUrl",
            "headers",
            "includeTools",
            "enabledTools",
            "excludeTools",
            "disabledTools",
            "disabled",
            "enabled",
        ];
        for key in given.keys().filter(|key| !TAKEN.contains(&key.as_str())) {
            let why = match key.as_str() {
                "trust" | "alwaysAllow" | "autoApprove" => {
                    "set Toolsmith's own permission: --trust or --permission"
                }
                "timeout" => "its unit differs between clients: set it in seconds",
                "envFile" => "add its variables to env",
                "description" | "name" => continue,
                _ => "unknown setting",
            };
            self.note(&format!("`{key}` was not imported: {why}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::servers;
    use serde_json::json;

    #[test]
    fn a_file_with_too_many_servers_is_refused() {
        let many = |count: usize| {
            let servers = (0..count).map(|number| (format!("s{number}"), json!({ "command": "x" })));
            json!({ "mcpServers": servers.collect::<serde_json::Map<_, _>>() })
        };
        assert_eq!(servers(&many(100)).unwrap().servers.len(), 100);
        assert!(servers(&many(101)).unwrap_err().contains("fewer"));
    }

    #[test]
    fn entries_of_other_clients_are_converted() {
        let file = json!({ "mcpServers": {
            "files": { "command": "npx", "args": ["-y", "${workspaceFolder}/x"], "env": { "A": 1, "B": "${env:B}", "C": "${C:-d}" } },
            "my server": { "type": "streamableHttp", "url": "https://x.example/mcp", "headers": { "X": "${input:api-key}" }, "alwaysAllow": ["a"] },
            "gemini": { "httpUrl": "https://y.example", "timeout": 30000, "trust": true, "includeTools": ["a"] },
            "old": { "url": "https://z.example/sse", "disabled": true },
            "odd": { "type": "ws", "url": "wss://x" },
        }});
        let imported = servers(&file).unwrap();
        let entry = |name: &str| -> serde_json::Value {
            let (_, entry) = imported.servers.iter().find(|(other, _)| other == name).unwrap();
            entry.iter().cloned().collect::<serde_json::Map<_, _>>().into()
        };
        assert_eq!(
            entry("files"),
            json!({ "type": "stdio", "command": "npx", "args": ["-y", "./x"], "env": { "A": "1", "B": "${B}", "C": "${C}" } })
        );
        assert_eq!(
            entry("my-server"),
            json!({ "type": "http", "url": "https://x.example/mcp", "headers": { "X": "${API_KEY}" } })
        );
        assert_eq!(
            entry("gemini"),
            json!({ "type": "http", "url": "https://y.example", "enabledTools": ["a"] })
        );
        assert_eq!(entry("old"), json!({ "type": "sse", "url": "https://z.example/sse", "enabled": false }));
        assert_eq!(imported.servers.len(), 4);
        let notes = imported.notes.join("\n");
        for phrase in [
            "odd: left out",
            "API_KEY",
            "`timeout`",
            "`trust`",
            "`alwaysAllow`",
            "called my-server",
            "C has no default",
        ] {
            assert!(notes.contains(phrase), "{phrase:?} is missing in {notes}");
        }
        let code = json!({ "inputs": [], "servers": { "a": { "type": "stdio", "command": "x" } } });
        assert_eq!(servers(&code).unwrap().servers.len(), 1);
        assert!(servers(&json!({})).is_err() && servers(&json!({ "mcpServers": [] })).is_err());
    }
}
