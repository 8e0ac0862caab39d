//! Tests of what becomes of registry entries.

use serde_json::{Value as Json, json};

use super::{Answers, Listing};

fn listing(packages: &Json, remotes: &Json) -> Listing {
    let entry = json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "com.example/weather", "description": "Weather", "version": "1.0.2",
        "packages": packages, "remotes": remotes,
    });
    Listing::read(entry.to_string().as_bytes()).unwrap()
}

/// The first offer's entry, with an answer of this kind for each question: `<NAME>`.
fn entry(listing: &Listing) -> Json {
    let offer = listing.choose(None).unwrap();
    let questions = offer.questions();
    let answers: Answers = questions
        .iter()
        .map(|question| {
            let count = if question.is_repeated { 2 } else { 1 };
            (question.name.clone(), vec![format!("<{}>", question.name); count])
        })
        .collect();
    offer.entry(&answers).unwrap().into_iter().collect::<serde_json::Map<_, _>>().into()
}

fn package(kind: &str, identifier: &str, more: Json) -> Json {
    let mut package = json!({
        "registryType": kind, "identifier": identifier, "version": "1.2.3", "transport": { "type": "stdio" },
    });
    let Json::Object(more) = more else { panic!("{more}") };
    package.as_object_mut().unwrap().extend(more);
    package
}

#[test]
fn every_kind_of_package_is_started_in_exactly_its_version() {
    let arguments = json!({
        "packageArguments": [
            { "type": "positional", "value": "serve" },
            { "type": "named", "name": "--dir", "isRepeated": true },
            { "type": "positional", "valueHint": "file", "isRequired": true },
        ],
        "environmentVariables": [
            { "name": "TOKEN", "isRequired": true, "isSecret": true },
            { "name": "URL", "value": "https://{host}/${HOME}/{other}", "variables": { "host": {} } },
        ],
    });
    let ending = ["serve", "--dir", "<dir>", "--dir", "<dir>", "<file>"];
    for (kind, identifier, more, command, beginning) in [
        ("npm", "@example/weather", json!({}), "npx", &["-y", "@example/weather@1.2.3"][..]),
        ("npm", "weather", json!({ "runtimeHint": "bunx" }), "bunx", &["weather@1.2.3"]),
        ("npm", "weather", json!({ "runtimeHint": "sh" }), "npx", &["-y", "weather@1.2.3"]),
        (
            "npm",
            "weather",
            json!({ "runtimeArguments": [{ "type": "positional", "value": "--yes" }] }),
            "npx",
            &["--yes", "weather@1.2.3"],
        ),
        ("pypi", "weather", json!({}), "uvx", &["weather@1.2.3"]),
        (
            "pypi",
            "weather",
            json!({ "runtimeHint": "pipx" }),
            "pipx",
            &["run", "--spec", "weather==1.2.3", "weather"],
        ),
        (
            "pypi",
            "weather-mcp",
            json!({ "runtimeArguments": [{ "type": "named", "name": "--from", "value": "weather==1.2.3" }] }),
            "uvx",
            &["--from", "weather==1.2.3", "weather-mcp"],
        ),
        ("nuget", "Example.Weather", json!({}), "dnx", &["Example.Weather@1.2.3", "--yes", "--"]),
        (
            "oci",
            "ghcr.io/example/weather:1.2.3",
            json!({ "runtimeArguments": [{ "type": "named", "name": "--network", "value": "none" }] }),
            "docker",
            &[
                "run",
                "-i",
                "--rm",
                "-e",
                "TOKEN",
                "-e",
                "URL",
                "--network",
                "none",
                "ghcr.io/example/weather:1.2.3",
            ],
        ),
        (
            "oci",
            "example/weather",
            json!({ "registryBaseUrl": "https://docker.io", "runtimeHint": "podman" }),
            "podman",
            &["run", "-i", "--rm", "-e", "TOKEN", "-e", "URL", "docker.io/example/weather:1.2.3"],
        ),
    ] {
        let mut more = more;
        more.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        let found = entry(&listing(&json!([package(kind, identifier, more)]), &json!([])));
        let args: Vec<&str> = beginning.iter().chain(&ending).copied().collect();
        // The entry's own text reads no variable of the user.
        let env = json!({ "TOKEN": "<TOKEN>", "URL": "https://<host>/$${HOME}/{other}" });
        assert_eq!(found, json!({ "type": "stdio", "command": command, "args": args, "env": env }), "{kind}");
    }
}

#[test]
fn remote_servers_have_an_address_and_headers_with_variables() {
    let remotes = json!([{
        "type": "streamable-http", "url": "https://{tenant}.example.com/mcp", "variables": { "tenant": {} },
        "headers": [
            { "name": "Authorization", "value": "Bearer {key}", "isSecret": true, "variables": { "key": {} } },
            { "name": "X-Region" },
        ],
    }]);
    let listing = listing(&json!([]), &remotes);
    let questions = listing.choose(None).unwrap().questions();
    let asked: Vec<_> = questions.iter().map(|q| (q.name.as_str(), q.is_required, q.is_secret)).collect();
    assert_eq!(asked, [("tenant", true, false), ("key", false, true), ("X-Region", false, false)]);
    assert_eq!(
        entry(&listing),
        json!({
            "type": "http", "url": "https://<tenant>.example.com/mcp",
            "headers": { "Authorization": "Bearer <key>", "X-Region": "<X-Region>" },
        })
    );
}

#[test]
fn values_without_answers_are_left_out_or_missing() {
    let more = json!({
        "packageArguments": [{ "type": "named", "name": "--level" }],
        "environmentVariables": [{ "name": "A" }, { "name": "B", "value": "{x}", "variables": { "x": {} } }],
    });
    let whole = listing(&json!([package("npm", "weather", more)]), &json!([]));
    let bare = whole.choose(None).unwrap().entry(&Answers::new()).unwrap();
    assert_eq!(bare[2], ("args".to_owned(), json!(["-y", "weather@1.2.3"])));
    assert_eq!(bare.len(), 3);
    let more = json!({ "environmentVariables": [{ "name": "A", "isRequired": true }] });
    let whole = listing(&json!([package("npm", "weather", more)]), &json!([]));
    assert_eq!(whole.choose(None).unwrap().entry(&Answers::new()).unwrap_err().to_string(), "A has no value");
}

#[test]
fn what_can_not_be_used_is_refused_with_the_reason() {
    let stdio = |kind, identifier, more| listing(&json!([package(kind, identifier, more)]), &json!([]));
    let mut reasons = Vec::new();
    for listing in [
        stdio("npm", "weather", json!({ "version": "latest" })),
        stdio("npm", "weather", json!({ "version": "^1.2.3" })),
        stdio("npm", "weather", json!({ "version": "1.x" })),
        stdio("npm", "--registry=https://evil.example", json!({})),
        stdio("npm", "git+https://evil.example/x", json!({})),
        stdio("npm", "../weather", json!({})),
        stdio("pypi", "weather @ https://evil.example", json!({})),
        stdio("npm", "weather", json!({ "registryBaseUrl": "https://evil.example" })),
        stdio("oci", "docker.io/example/weather:latest", json!({})),
        stdio("oci", "docker.io/example/weather", json!({ "version": null })),
        stdio("cargo", "weather", json!({})),
        stdio("npm", "weather", json!({ "transport": { "type": "sse", "url": "http://localhost" } })),
        stdio("mcpb", "https://example.com/weather.mcpb", json!({})),
        listing(&json!([]), &json!([{ "type": "websocket", "url": "wss://example.com" }])),
        listing(&json!([]), &json!([])),
    ] {
        reasons.push(listing.choose(None).unwrap_err().to_string());
    }
    let both = listing(
        &json!([package("npm", "weather", json!({}))]),
        &json!([{ "type": "sse", "url": "https://x.example" }]),
    );
    assert_eq!(both.choose(Some("remote")).unwrap().kind(), "remote");
    reasons.push(both.choose(Some("oci")).unwrap_err().to_string());
    reasons.push(Listing::read(b"{\"name\": \"a\", \"name\": \"b\"}").unwrap_err().to_string());
    reasons.push(Listing::read(b"[]").unwrap_err().to_string());
    let reasons = reasons.join("\n").replace("com.example/weather can't be used: ", "");
    assert_eq!(
        reasons,
        "npm: it does not name exactly one version\n\
         npm: it does not name exactly one version\n\
         npm: it does not name exactly one version\n\
         npm: its identifier is not the name of a package\n\
         npm: its identifier is not the name of a package\n\
         npm: its identifier is not the name of a package\n\
         pypi: its identifier is not the name of a package\n\
         npm: it is in another package registry than https://registry.npmjs.org\n\
         oci: it names no version of the image\n\
         oci: it does not name exactly one version\n\
         cargo: only packages of npm, pypi, nuget, oci and mcpb can be added\n\
         npm: it speaks sse at an address of its own; start it, and add that address\n\
         mcpb: the bundle needs an https address and its SHA-256 hash\n\
         remote: its transport websocket is unknown\n\
         com.example/weather offers neither packages nor remote servers\n\
         com.example/weather offers no oci; it has: npm, remote\n\
         this is no entry of an MCP registry: the name \"name\" appears twice in one object at line 1 column 15\n\
         this is no entry of an MCP registry: it is no JSON object"
    );
}
