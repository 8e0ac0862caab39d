//! `mcp add --registry`: entries of MCP registries, from files, from addresses and by their ids.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run, binary};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::clients::Home;

/// An entry with a package, a remote server, and values of every kind.
fn entry() -> Value {
    json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "com.example/weather",
        "description": "Weather of \u{1b}[31mplaces",
        "version": "1.0.2",
        "packages": [{
            "registryType": "npm",
            "identifier": "@example/weather",
            "version": "1.0.2",
            "transport": { "type": "stdio" },
            "packageArguments": [
                { "type": "named", "name": "--units", "description": "Units of temperatures", "isRequired": true,
                  "choices": ["metric", "imperial"] },
                { "type": "positional", "valueHint": "days", "format": "number", "default": "3" },
            ],
            "environmentVariables": [
                { "name": "API_KEY", "description": "Key of the service", "isRequired": true, "isSecret": true },
                { "name": "HOME_OF_USER", "value": "${HOME}" },
            ],
        }],
        "remotes": [{
            "type": "streamable-http", "url": "http://127.0.0.1:1/{tenant}/mcp",
            "variables": { "tenant": { "isRequired": true } },
            "headers": [{ "name": "Authorization", "value": "Bearer {key}", "variables": { "key": { "isSecret": true } } }],
        }],
    })
}

/// A home in which `npx` starts the demo server.
fn home() -> Home {
    let home = Home::new();
    home.write("programs/npx", &format!("#!/bin/sh\nexec {} demo-server\n", binary().display()));
    fs::set_permissions(home.path().join("programs/npx"), fs::Permissions::from_mode(0o755)).unwrap();
    home.write("server.json", &entry().to_string());
    home
}

fn run(home: &Home, run: Run, arguments: &[&str]) -> Run {
    let path = format!("{}:/usr/bin:/bin", home.path().join("programs").display());
    home.in_here(run).variable("PATH", &path).arguments(arguments)
}

fn add(home: &Home, arguments: &[&str]) -> FinishedRun {
    let arguments = [&["mcp", "add", "weather", "--registry"], arguments].concat();
    run(home, Run::new(shared()), &arguments).done()
}

#[test]
fn an_entry_in_a_file_becomes_a_server_with_its_values() {
    let home = home();
    let values =
        ["server.json", "--set", "units=metric", "--set", "API_KEY=${WEATHER_KEY}", "--timeout", "7"];
    // The variable is not set here, so that the server is not started.
    let done = add(&home, &values).exits(0);
    assert_snapshot!(normal(&done.stderr), @r#"
    toolsmith: com.example/weather 1.0.2: Weather of \u{1b}[31mplaces
    toolsmith: uses npm @example/weather 1.0.2; --package chooses another one: remote
    toolsmith: weather starts: npx -y @example/weather@1.0.2 --units metric 3
    toolsmith: added weather to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: warning: weather was not tried: /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml:12:16: the environment variable WEATHER_KEY is not set; set it, or write a default: ${WEATHER_KEY:-…}
       |
    12 |       API_KEY: ${WEATHER_KEY}
       |                ^
    no usable server is left
    help: correct the entry, or add another server
    help: add a server: toolsmith mcp add NAME -- COMMAND ARGUMENTS…
    "#);
    assert_snapshot!(normal(&home.read(".config/toolsmith/config.yaml")), @r#"
    mcpServers:
      weather:
        type: stdio
        command: npx
        args:
          - '-y'
          - '@example/weather@1.0.2'
          - '--units'
          - metric
          - '3'
        env:
          API_KEY: ${WEATHER_KEY}
          HOME_OF_USER: $${HOME}
        timeout: 7
        permission: ask
    "#);
    let again = [&values[..], &["--replace"]].concat();
    let arguments = [&["mcp", "add", "weather", "--registry"], &again[..]].concat();
    let done =
        run(&home, Run::new(shared()), &arguments).variable("WEATHER_KEY", "sunny-day-1").done().exits(0);
    assert_snapshot!(normal(&done.stderr), @r#"
    toolsmith: com.example/weather 1.0.2: Weather of \u{1b}[31mplaces
    toolsmith: uses npm @example/weather 1.0.2; --package chooses another one: remote
    toolsmith: weather starts: npx -y @example/weather@1.0.2 --units metric 3
    toolsmith: added weather to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: weather answers, with 9 tools
    "#);
}

#[test]
fn missing_and_wrong_values_are_named() {
    let home = home();
    let mut shown = Vec::new();
    for arguments in [
        &["server.json"][..],
        &["server.json", "--set", "units=kelvin"],
        &["server.json", "--set", "days=many"],
        &["server.json", "--set", "days=1", "--set", "days=2"],
        &["server.json", "--set", "unit=metric"],
        &["server.json", "--package", "oci"],
        &["nothing.json"],
        &["http://example.com/server.json"],
        &["server.json", "https://example.com/mcp"],
    ] {
        shown.push(normal(&add(&home, arguments).exits(2).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    toolsmith: com.example/weather 1.0.2: Weather of \u{1b}[31mplaces
    toolsmith: uses npm @example/weather 1.0.2; --package chooses another one: remote
    toolsmith: weather needs a value for units, API_KEY
    help: Units of temperatures: --set units=VALUE
    help: Key of the service: --set 'API_KEY=${API_KEY}'

    toolsmith: com.example/weather 1.0.2: Weather of \u{1b}[31mplaces
    toolsmith: uses npm @example/weather 1.0.2; --package chooses another one: remote
    toolsmith: units is one of: metric, imperial

    toolsmith: com.example/weather 1.0.2: Weather of \u{1b}[31mplaces
    toolsmith: uses npm @example/weather 1.0.2; --package chooses another one: remote
    toolsmith: days is a number

    toolsmith: com.example/weather 1.0.2: Weather of \u{1b}[31mplaces
    toolsmith: uses npm @example/weather 1.0.2; --package chooses another one: remote
    toolsmith: days takes one value

    toolsmith: com.example/weather 1.0.2: Weather of \u{1b}[31mplaces
    toolsmith: uses npm @example/weather 1.0.2; --package chooses another one: remote
    toolsmith: weather does not ask for unit; it asks for: units, days, API_KEY

    toolsmith: com.example/weather offers no oci; it has: npm, remote

    toolsmith: nothing.json does not exist
    help: write the id of an entry (NAMESPACE/NAME), a file, or an https address

    toolsmith: http://example.com/server.json is no https address
    help: write https://…, a file, or an id

    error: the argument '--registry <ENTRY>' cannot be used with '[COMMAND]...'

    Usage: toolsmith mcp add --registry <ENTRY> <NAME> [COMMAND]...

    For more information, try '--help'.
    "#);
    assert!(!home.path().join(".config/toolsmith/config.yaml").exists());
}

#[test]
fn a_remote_server_of_an_entry_can_be_chosen() {
    let home = home();
    let values = ["server.json", "--package", "remote", "--set", "tenant=me", "--set", "key=${KEY}"];
    let done = add(&home, &[&values[..], &["--enabled", "false"]].concat()).exits(0);
    assert_snapshot!(normal(&done.stderr), @r#"
    toolsmith: com.example/weather 1.0.2: Weather of \u{1b}[31mplaces
    toolsmith: uses remote http://127.0.0.1:[port]/{tenant}/mcp; --package chooses another one: npm
    toolsmith: weather connects to: http://127.0.0.1:[port]/me/mcp
    toolsmith: added weather to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: warning: weather was not tried: the configuration /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml has no enabled server
    help: enable one: toolsmith mcp enable weather
    help: add a server: toolsmith mcp add NAME -- COMMAND ARGUMENTS…
    "#);
    assert_snapshot!(normal(&home.read(".config/toolsmith/config.yaml")), @r#"
    mcpServers:
      weather:
        type: http
        url: http://127.0.0.1:[port]/me/mcp
        headers:
          Authorization: Bearer ${KEY}
        enabled: false
        permission: ask
    "#);
}

#[test]
fn values_are_asked_for_on_a_terminal() {
    let home = home();
    let arguments = ["mcp", "add", "weather", "--registry", "server.json"];
    let run = run(&home, Run::on_terminal(shared()), &arguments).variable("API_KEY", "sunny-day-1");
    let started = run.variable("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus").start();
    started.answer("units: ", 1, "kelvin\n");
    started.answer("units: ", 2, "imperial\n");
    started.answer("days [3]: ", 1, "\n");
    started.answer("[y/N] ", 1, "y\n");
    started.answer("[y/N] ", 2, "n\n");
    let done = started.done().exits(0);
    assert_snapshot!(normal(&done.stderr), @r#"
    toolsmith: com.example/weather 1.0.2: Weather of \u{1b}[31mplaces
    toolsmith: uses npm @example/weather 1.0.2; --package chooses another one: remote
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JUnits of temperatures
    one of: metric, imperial
    units: kelvin
    units is one of: metric, imperial
    units: imperial
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[Jdays [3]: 
    toolsmith: weather starts: npx -y @example/weather@1.0.2 --units imperial 3
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JAdd it? [y/N] y
    toolsmith: weather starts: npx -y @example/weather@1.0.2 --units imperial 3
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JAllow calls to its tools without asking? [y/N] n
    toolsmith: there is no keyring; set these variables where toolsmith starts: API_KEY
    toolsmith: added weather to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: weather answers, with 9 tools
    "#);
    assert_snapshot!(normal(&home.read(".config/toolsmith/config.yaml")), @r#"
    mcpServers:
      weather:
        type: stdio
        command: npx
        args:
          - '-y'
          - '@example/weather@1.0.2'
          - '--units'
          - imperial
          - '3'
        env:
          API_KEY: ${API_KEY}
          HOME_OF_USER: $${HOME}
        permission: ask
    "#);
}

/// Serves answers by path, and returns the address.
fn registry(answers: Vec<(&'static str, Value)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut line = String::new();
            let _ = BufReader::new(&stream).read_line(&mut line);
            let path = line.split(' ').nth(1).unwrap_or_default();
            let found = answers.iter().find(|(known, _)| *known == path);
            let (status, body) =
                found.map_or(("404 Not Found", json!({})), |(_, body)| ("200 OK", body.clone()));
            let body = body.to_string();
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
        }
    });
    address
}

#[test]
fn entries_are_read_from_a_registry_by_their_ids() {
    let home = home();
    let official =
        |status: &str| json!({ "io.modelcontextprotocol.registry/official": { "status": status } });
    let address = registry(vec![
        (
            "/v0.1/servers/com.example%2Fweather/versions/latest",
            json!({ "server": entry(), "_meta": official("active") }),
        ),
        (
            "/v0.1/servers/com.example%2Fweather/versions/1.0.2",
            json!({ "server": entry(), "_meta": official("deprecated") }),
        ),
        ("/v0.1/servers/com.example%2Fother/versions/latest", json!({ "server": entry() })),
        ("/server.json", entry()),
    ]);
    home.write(".config/toolsmith/config.yaml", &format!("globalSettings: {{ registry: \"{address}\" }}\n"));
    let values = ["--replace", "--enabled", "false", "--set", "units=metric", "--set", "API_KEY=${KEY}"];
    let mut shown = Vec::new();
    let whole = format!("{address}/server.json");
    for (source, code) in [
        ("com.example/weather", 0),
        ("com.example/weather@1.0.2", 0),
        (&*whole, 0),
        ("com.example/other", 2),
        ("com.example/missing", 2),
    ] {
        shown.push(normal(&add(&home, &[&[source], &values[..]].concat()).exits(code).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    toolsmith: com.example/weather 1.0.2: Weather of \u{1b}[31mplaces
    toolsmith: uses npm @example/weather 1.0.2; --package chooses another one: remote
    toolsmith: weather starts: npx -y @example/weather@1.0.2 --units metric 3
    toolsmith: added weather to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: warning: weather was not tried: the configuration /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml has no enabled server
    help: enable one: toolsmith mcp enable weather
    help: add a server: toolsmith mcp add NAME -- COMMAND ARGUMENTS…

    toolsmith: com.example/weather 1.0.2: Weather of \u{1b}[31mplaces
    toolsmith: uses npm @example/weather 1.0.2; --package chooses another one: remote
    toolsmith: warning: the registry calls this entry deprecated
    toolsmith: weather starts: npx -y @example/weather@1.0.2 --units metric 3
    toolsmith: added weather to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: warning: weather was not tried: the configuration /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml has no enabled server
    help: enable one: toolsmith mcp enable weather
    help: add a server: toolsmith mcp add NAME -- COMMAND ARGUMENTS…

    toolsmith: com.example/weather 1.0.2: Weather of \u{1b}[31mplaces
    toolsmith: uses npm @example/weather 1.0.2; --package chooses another one: remote
    toolsmith: weather starts: npx -y @example/weather@1.0.2 --units metric 3
    toolsmith: added weather to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: warning: weather was not tried: the configuration /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml has no enabled server
    help: enable one: toolsmith mcp enable weather
    help: add a server: toolsmith mcp add NAME -- COMMAND ARGUMENTS…

    toolsmith: http://127.0.0.1:[port] answers with another entry than com.example/other: com.example/weather 1.0.2

    toolsmith: http://127.0.0.1:[port]/v0.1/servers/com.example%2Fmissing/versions/latest can't be read: the server answers with status 404
    "#);
}
