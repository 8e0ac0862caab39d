use super::{Imported, recognized as servers};
use serde_json::json;

#[test]
fn a_file_with_too_many_servers_is_refused() {
    let many = |count: usize| {
        let servers = (0..count).map(|number| (format!("s{number}"), json!({ "command": "x" })));
        json!({ "mcpServers": servers.collect::<serde_json::Map<_, _>>() })
    };
    assert_eq!(servers(&many(100)).unwrap().servers.len(), 100);
    assert!(servers(&many(101)).unwrap_err().0.contains("fewer"));
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
    assert_eq!(entry("gemini"), json!({ "type": "http", "url": "https://y.example", "enabledTools": ["a"] }));
    assert_eq!(entry("old"), json!({ "type": "sse", "url": "https://z.example/sse", "enabled": false }));
    assert_eq!(imported.servers.len(), 4);
    let notes = imported.notes.join("\n");
    for phrase in ["odd: left out", "API_KEY", "`timeout`", "`trust`", "`alwaysAllow`", "called my-server"] {
        assert!(notes.contains(phrase), "{phrase:?} is missing in {notes}");
    }
    let code = json!({ "inputs": [], "servers": { "a": { "type": "stdio", "command": "x" } } });
    assert_eq!(servers(&code).unwrap().servers.len(), 1);
    assert!(servers(&json!({})).is_err() && servers(&json!({ "mcpServers": "a" })).is_err());
}

#[test]
fn lists_of_tools_are_imported_as_the_set_that_they_mean() {
    let file = json!({ "mcpServers": {
        "both": { "command": "x", "includeTools": ["a", "b(q)", "c"], "excludeTools": ["c", "d"] },
        "codex": { "command": "x", "enabled_tools": ["a"], "disabled_tools": ["a"] },
        "copilot": { "command": "x", "tools": ["a", "b"] },
        "every": { "command": "x", "tools": ["*"], "excludeTools": [] },
        "none": { "command": "x", "tools": [] },
        "without": { "command": "x", "disabledTools": ["a"], "enabledTools": [] },
    } });
    let imported = servers(&file).unwrap();
    let lists = |name: &str| {
        let (_, entry) = imported.servers.iter().find(|(other, _)| other == name).unwrap();
        let rest = entry.iter().filter(|(key, _)| !["type", "command"].contains(&key.as_str())).cloned();
        serde_json::Value::from(rest.collect::<serde_json::Map<_, _>>())
    };
    assert_eq!(lists("both"), json!({ "enabledTools": ["a", "b"] }));
    assert_eq!(lists("codex"), json!({ "enabled": false }));
    assert_eq!(lists("copilot"), json!({ "enabledTools": ["a", "b"] }));
    assert_eq!(lists("every"), json!({}));
    assert_eq!(lists("none"), json!({ "enabled": false }));
    assert_eq!(lists("without"), json!({ "disabledTools": ["a"] }));
    assert_eq!(
        imported.notes,
        [
            "codex: it is disabled, because all its tools are excluded",
            "none: it is disabled, because its list of tools is empty",
        ]
    );
}

#[test]
fn servers_that_gemini_does_not_start_are_disabled() {
    let client = super::Client::Gemini;
    let entries = json!({ "a": { "command": "x" }, "b": { "command": "x" }, "c": { "command": "x" } });
    for (settings, expected) in [
        (json!({ "mcp": { "allowed": ["a", "b"], "excluded": ["b"] } }), "a"),
        (json!({ "mcp": { "allowed": [] } }), "a b c"),
        (json!({ "allowMCPServers": ["c"] }), "c"),
        (json!({ "mcp": { "excluded": ["c"] } }), "a b"),
        (json!({}), "a b c"),
    ] {
        let path = std::path::Path::new("settings.json");
        let content = settings.as_object().unwrap();
        let imported = super::of_client(client, path, content, entries.as_object().unwrap()).unwrap();
        let is_on = |entry: &super::Entry| entry.iter().all(|(key, _)| key != "enabled");
        let on = imported.servers.iter().filter(|(_, entry)| is_on(entry)).map(|(name, _)| name.as_str());
        assert_eq!(on.collect::<Vec<_>>().join(" "), expected, "{settings}");
    }
}

#[test]
fn servers_at_the_top_level_and_in_lists_are_read() {
    let named = |file: serde_json::Value| {
        let Imported { servers, notes, .. } = servers(&file).unwrap();
        (servers.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" "), notes.join("\n"))
    };
    let flat = json!({
        "$schema": "x", "a": { "command": "x" }, "mcp": { "url": "https://x.example/mcp" },
        "servers": { "command": "y" }, "command": { "command": "z" }, "theme": "dark",
    });
    let (names, notes) = named(flat);
    assert_eq!(
        (names.as_str(), notes.as_str()),
        ("a command mcp servers", "\"theme\" was not imported: it is not a server")
    );
    let list = json!({ "mcpServers": [{ "name": "a", "command": "x" }, { "name": "b b", "url": "https://x.example" }] });
    assert_eq!(named(list).0, "a b-b");
    for wrong in [
        json!({ "scripts": { "build": "x" } }),
        json!({ "mcpServers": [{ "command": "x" }] }),
        json!({ "mcpServers": [{ "name": "a" }, { "name": "a" }] }),
        json!(7),
    ] {
        assert!(servers(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn renamed_servers_and_variables_that_are_not_set_are_reported() {
    let file = json!({ "mcpServers": {
        "my.server": { "command": "a", "env": { "A": "${env:NOT_SET_B}", "B": "${NOT_SET_A:-d}" } },
        "my-server": { "command": "b", "args": ["${NOT_SET_C}", "${input:not-set-d}", "${workspaceFolder}"] },
    } });
    let Imported { servers, given, notes } = servers(&file).unwrap();
    let names: Vec<&str> = servers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["my-server", "my-server-2"]);
    assert_eq!(given["my-server-2"], "my.server");
    let expected = [
        "\"my.server\" is called my-server-2 here",
        "my-server-2: the environment variable NOT_SET_B is not set; until you set it, the server is unavailable",
        "my-server: the input not-set-d is now read from the environment variable NOT_SET_D",
        "my-server: ${workspaceFolder} became `.`, the folder in which toolsmith starts",
        "my-server: the environment variables NOT_SET_C, NOT_SET_D are not set; until you set them, the server is \
         unavailable",
    ];
    assert_eq!(notes, expected);
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
    let own = json!({ "scope": "a b", "client_id": "c", "client_secret": "${PATH}",
        "authorization_url": "https://x.example/a", "token_url": "https://x.example/t",
        "registration_url": "https://x.example/r", "client_metadata_url": "https://x.example/m",
        "grant": "client_credentials" });
    assert_eq!(entry(own.clone()), (own.clone(), Vec::new()));
    let clients = json!({ "scopes": ["a", "b"], "clientId": "c", "clientSecret": "${PATH}",
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
