//! Reads the servers of other clients' files: `mcpServers` of `.mcp.json`, Claude Desktop and Cursor, `servers` of
//! VS Code, `mcp` of opencode, `context_servers` of Zed, and `mcp_servers` of Codex, in TOML.
//!
//! `reader` converts an entry, and `dialect` the variables in it.

mod dialect;
mod reader;

use std::collections::BTreeMap;
use std::path::Path;

use config::{Error, tree};
use report::Problem;
use serde_json::{Map, Value as Json, json};

pub(crate) use reader::is_toolsmith;

use super::change::Entry;
use crate::arguments::Client;
use dialect::Dialect;
use reader::Reader;

/// Maximum number of servers in a file: the whole file is written and parsed again for each one.
const MAX_SERVERS: usize = 100;

/// The servers of a file.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    pub(crate) servers: Vec<(String, Entry)>,
    /// The names of the servers in the client's file, by their names here.
    pub(crate) given: BTreeMap<String, String>,
    /// Notes for the user.
    pub(crate) notes: Vec<String>,
}

/// Reads the servers of a file, whose client is recognized by its sections.
///
/// # Errors
/// If the file can't be read, has no servers or too many.
pub(crate) fn read(path: &Path) -> Result<Imported, Error> {
    let text = config::text::read(path).map_err(|error| {
        error.hint("to import from an installed client: toolsmith mcp import --from CLIENT")
    })?;
    let shown = path.display();
    let content = if path.extension().is_some_and(|end| end == "toml") {
        toml::from_str(&text).map_err(|error| Error::new(format!("{shown} can't be read: {error}")))?
    } else {
        let tree = tree::json(&text).map_err(|(place, message)| {
            let (file, line, column) = (shown.to_string(), place.line, Some(place.column));
            Error::of(vec![Problem::at(report::Place { file, line, column, excerpt: None }, message)])
        })?;
        tree.to_json()
    };
    let imported = recognized(&content).map_err(|why| {
        Error::new(format!("{shown}: {why}"))
            .hint("name a file with mcpServers, or VS Code's servers")
            .hint("to import from an installed client: toolsmith mcp import --from CLIENT")
    })?;
    some(imported, &shown.to_string())
}

/// Reads the servers of a client's own file: `entries` of its whole `content`.
///
/// # Errors
/// If it has no servers that can be imported, or too many.
pub(crate) fn of_client(
    client: Client,
    path: &Path,
    content: &Map<String, Json>,
    entries: &Map<String, Json>,
) -> Result<Imported, Error> {
    let shown = path.display().to_string();
    let dialect = match client {
        Client::Gemini => Dialect::Shell,
        Client::Opencode => Dialect::Opencode,
        Client::Codex | Client::Zed | Client::ClaudeDesktop => Dialect::Literal,
        Client::ClaudeCode | Client::Cursor | Client::VsCode | Client::Windsurf => Dialect::Braces,
    };
    let others = entries.iter().filter(|(_, entry)| !is_toolsmith(entry));
    let entries = others.map(|(name, entry)| (name.clone(), entry.clone())).collect();
    let mut imported = converted(&entries, dialect).map_err(|why| Error::new(format!("{shown}: {why}")))?;
    // Gemini disables servers in a list.
    let excluded = content.get("mcp").and_then(|mcp| mcp.get("excluded")).and_then(Json::as_array);
    let excluded = excluded.filter(|_| client == Client::Gemini).map_or(&[][..], Vec::as_slice);
    for (name, entry) in &mut imported.servers {
        if excluded.iter().any(|other| other.as_str() == imported.given.get(name).map(String::as_str)) {
            entry.push(("enabled".to_owned(), json!(false)));
        }
    }
    let projects = content.get("projects").and_then(Json::as_object).filter(|_| client == Client::ClaudeCode);
    for (folder, project) in projects.into_iter().flatten() {
        let servers = project.get("mcpServers").and_then(Json::as_object).map_or(0, Map::len);
        if servers > 0 {
            imported.notes.push(format!("the servers that Claude Code has only in {folder} stay there"));
        }
    }
    some(imported, &shown)
}

/// The servers of a file, or an error if there are none.
fn some(imported: Imported, shown: &str) -> Result<Imported, Error> {
    if imported.servers.is_empty() {
        let notes = imported.notes.join("\n");
        return Err(Error::new(
            format!("{shown} has no server that can be imported\n{notes}").trim_end().to_owned(),
        ));
    }
    Ok(imported)
}

/// Reads the first known section.
fn recognized(file: &Json) -> Result<Imported, String> {
    let sections = [
        ("/mcpServers", Dialect::Braces),
        ("/servers", Dialect::Braces),
        ("/context_servers", Dialect::Literal),
        ("/mcp_servers", Dialect::Literal),
    ];
    let found = sections.iter().find_map(|(place, dialect)| Some((file.pointer(place)?, *dialect)));
    let (servers, dialect) = match (found, file.pointer("/mcp/servers"), file.pointer("/mcp")) {
        (Some(found), ..) => found,
        // VS Code's settings, or opencode's second form.
        (None, Some(servers), _) => {
            let mut entries = servers.as_object().into_iter().flat_map(Map::values);
            let is_opencode = entries.any(|entry| entry.get("command").is_some_and(Json::is_array));
            (servers, if is_opencode { Dialect::Opencode } else { Dialect::Braces })
        }
        (None, None, Some(servers)) => (servers, Dialect::Opencode),
        (None, None, None) => return Err("it has no servers".to_owned()),
    };
    let Json::Object(servers) = servers else { return Err("its servers are not an object".to_owned()) };
    converted(servers, dialect)
}

fn converted(servers: &Map<String, Json>, dialect: Dialect) -> Result<Imported, String> {
    if servers.len() > MAX_SERVERS {
        return Err(format!("it has more than {MAX_SERVERS} servers; import fewer at a time"));
    }
    let mut imported = Imported::default();
    for (given, entry) in servers {
        let name = name(given);
        if name != *given {
            imported.notes.push(format!("{given:?} is called {name} here"));
        }
        if imported.given.insert(name.clone(), given.clone()).is_some() {
            return Err(format!("two servers would be called {name}; rename one"));
        }
        let mut reader = Reader { name: &name, dialect, notes: &mut imported.notes };
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

#[cfg(test)]
mod tests {
    use super::{Imported, recognized as servers};
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
            json!({ "type": "stdio", "command": "npx", "args": ["-y", "./x"], "env": { "A": "1", "B": "${B}", "C": "${C:-d}" } })
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
        for phrase in
            ["odd: left out", "API_KEY", "`timeout`", "`trust`", "`alwaysAllow`", "called my-server"]
        {
            assert!(notes.contains(phrase), "{phrase:?} is missing in {notes}");
        }
        let code = json!({ "inputs": [], "servers": { "a": { "type": "stdio", "command": "x" } } });
        assert_eq!(servers(&code).unwrap().servers.len(), 1);
        assert!(servers(&json!({})).is_err() && servers(&json!({ "mcpServers": [] })).is_err());
    }

    #[test]
    fn every_clients_form_is_recognized() {
        let codex = toml::from_str(
            "[mcp_servers.web]\nurl = \"https://x.example/mcp\"\nbearer_token_env_var = \"T\"\nenabled = false\n\
             http_headers = { A = \"${b}\" }\nenv_http_headers = { C = \"D\" }\ntool_timeout_sec = 90\n",
        );
        let opencode = json!({ "mcp": { "files": {
            "type": "local", "command": ["npx", "-y", "x"], "environment": { "K": "{env:K}" }, "enabled": false,
        } } });
        let zed = json!({ "context_servers": {
            "old": { "source": "custom", "command": { "path": "x", "args": ["y"], "env": { "A": "b" } } },
            "extension": { "source": "extension", "settings": {} },
        } });
        let converted = |file: &serde_json::Value| -> serde_json::Value {
            let imported = servers(file).unwrap();
            let entries = imported
                .servers
                .into_iter()
                .map(|(name, entry)| (name, serde_json::Value::Object(entry.into_iter().collect())));
            entries.collect::<serde_json::Map<_, _>>().into()
        };
        assert_eq!(
            converted(&codex.unwrap()),
            json!({ "web": {
                "url": "https://x.example/mcp", "requestTimeout": 90, "enabled": false,
                "headers": { "A": "$${b}", "C": "${D}", "Authorization": "Bearer ${T}" },
            } })
        );
        assert_eq!(
            converted(&opencode),
            json!({ "files": {
                "type": "stdio", "command": "npx", "args": ["-y", "x"], "env": { "K": "${K}" }, "enabled": false,
            } })
        );
        assert_eq!(
            converted(&zed),
            json!({ "old": { "type": "stdio", "command": "x", "args": ["y"], "env": { "A": "b" } } })
        );
    }

    #[test]
    fn an_address_without_a_transport_is_read_by_one_rule() {
        let transport = |entry: serde_json::Value| {
            let Imported { servers, .. } = servers(&json!({ "mcpServers": { "a": entry } })).unwrap();
            let named = servers[0].1.iter().find(|(key, _)| key == "type");
            named.map(|(_, value)| value.as_str().unwrap().to_owned()).unwrap_or_default()
        };
        for (entry, expected) in [
            (json!({ "url": "https://x.example/sse" }), "sse"),
            (json!({ "url": "https://x.example/sse/" }), "sse"),
            (json!({ "url": "https://x.example/sse?key=${KEY}" }), "sse"),
            (json!({ "serverUrl": "https://x.example/sse?key=a/b" }), "sse"),
            (json!({ "url": null, "serverUrl": "https://x.example/v1/sse#a" }), "sse"),
            (json!({ "type": "remote", "url": "https://x.example/sse" }), "sse"),
            (json!({ "type": null, "url": "https://x.example/sse" }), "sse"),
            (json!({ "url": "https://x.example/mcp" }), ""),
            (json!({ "serverUrl": "https://x.example/mcp?next=/sse" }), ""),
            (json!({ "httpUrl": "https://x.example/sse" }), "http"),
            (json!({ "url": "https://x.example/sse", "transport": "streamable-http" }), "http"),
            (json!({ "url": "https://x.example/mcp", "transport": "sse" }), "sse"),
            (json!({ "url": "https://x.example/mcp", "type": "Streamable_HTTP" }), "http"),
        ] {
            assert_eq!(transport(entry.clone()), expected, "{entry}");
        }
    }

    #[test]
    fn settings_of_oauth_have_the_names_of_oauth_or_of_clients() {
        let entry = |oauth: serde_json::Value| {
            let file = json!({ "mcpServers": { "a": { "url": "https://x.example/mcp", "oauth": oauth } } });
            let Imported { servers, notes, .. } = servers(&file).unwrap();
            let oauth = servers[0].1.iter().find(|(key, _)| key == "oauth").map(|(_, value)| value.clone());
            (oauth.unwrap(), notes)
        };
        let own = json!({ "scope": "a b", "client_id": "c", "client_secret": "${S}",
            "authorization_url": "https://x.example/a", "token_url": "https://x.example/t",
            "registration_url": "https://x.example/r", "client_metadata_url": "https://x.example/m",
            "grant": "client_credentials" });
        assert_eq!(entry(own.clone()), (own.clone(), Vec::new()));
        let clients = json!({ "scopes": ["a", "b"], "clientId": "c", "clientSecret": "${S}",
            "authorizationUrl": "https://x.example/a", "tokenUrl": "https://x.example/t",
            "registrationUrl": "https://x.example/r", "clientMetadataUrl": "https://x.example/m",
            "grant": "client_credentials" });
        assert_eq!(entry(clients), (own, Vec::new()));
    }

    #[test]
    fn a_command_in_one_text_and_a_user_in_an_address_are_taken_apart() {
        let file = json!({ "mcpServers": {
            "line": { "command": "npx -y 'a b'" },
            "web": { "url": "https://me:p%40ss@x.example/mcp" },
        } });
        let imported = servers(&file).unwrap();
        let text = format!("{:?}", imported.servers);
        assert!(text.contains("\"npx\"") && text.contains("\"a b\""), "{text}");
        assert!(text.contains("Basic bWU6cEBzcw==") && text.contains("\"https://x.example/mcp\""), "{text}");
        assert!(!imported.notes.join("\n").contains("p%40ss"), "{:?}", imported.notes);
    }
}
