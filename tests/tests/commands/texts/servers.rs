//! Servers that cannot be used, and logins.

use end_to_end::cache::plain;
use end_to_end::cache::with_the_layer_of_the_shared;
use end_to_end::harness::{FAULT_SERVER, fault_entry};
use end_to_end::page::Page;
use end_to_end::protected_server::ProtectedServer;
use end_to_end::services::Service;

use super::configuration::Project;
use crate::tls_and_proxies::TlsServer;

const ECHO: &str = "faulty::echo().message(\"hello\").await?.text()";

/// Modes of the fault server, and further lines of its entry.
const MODES: [(&str, &str); 15] = [
    ("exits-at-once", ""),
    ("garbage-forever", ""),
    ("garbage-first", ""),
    ("silent-initialize", "    timeout: 1\n"),
    ("silent-list", "    requestTimeout: 1\n"),
    ("silent-call", "    requestTimeout: 1\n"),
    ("refuses", ""),
    ("refuses-list", ""),
    ("malformed-initialize", ""),
    ("future-version", ""),
    ("no-tools", ""),
    ("endless-pages", ""),
    ("malformed-tools", ""),
    ("dies-in-call", ""),
    ("rpc-error", ""),
];

#[test]
fn errors_of_servers() {
    let mut page = Page::new("errors-servers");
    // Warnings about a list are shown when it is read, so no list may be in the cache.
    let cache = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(cache.path());
    let plain = |code| plain(code).variable("TOOLSMITH_CACHE_DIR", cache.path().to_str().unwrap());
    for (mode, more) in MODES {
        page.run(mode, plain(ECHO).fault(mode, more));
    }
    let one = |entry: &str| format!("mcpServers:\n  faulty: {entry}\n");
    page.run("an unknown command", plain(ECHO).config(&one("{ command: no-such-mcp-server }")));
    page.run("a missing program", plain(ECHO).config(&one("{ command: /nowhere/server }")));
    page.run("a missing working folder", plain(ECHO).config(&one("{ command: x, cwd: /nowhere }")));
    page.run("nobody listens", plain(ECHO).config(&one("{ url: \"http://127.0.0.1:1/mcp\" }")));
    let other = TlsServer::new("other.example");
    let run = plain(ECHO).config(&one(&format!("{{ url: {:?} }}", other.address)));
    page.run("a wrong certificate name", run.variable("SSL_CERT_FILE", other.authority().to_str().unwrap()));
    let demo = Service::demo();
    let wrong_path = demo.first.trim().replace("/mcp", "/elsewhere");
    page.run("not MCP", plain(ECHO).config(&one(&format!("{{ url: {wrong_path:?} }}"))));
    let others = format!(
        "mcpServers:\n{}{}",
        fault_entry("faulty", "exits-at-once", ""),
        fault_entry("good", "sound", "")
    );
    page.run(
        "a snippet for another server",
        plain("good::echo().message(\"a\").await?.text()").config(&others),
    );
    page.run("one of two servers fails", plain(ECHO).config(&others));
    page.check();
}

#[test]
fn logins() {
    let mut page = Page::new("logins");
    let server = Service::guarded("confidential");
    let entry = format!("{{ type: http, url: {:?} }}", server.mcp_address());
    let config =
        format!("mcpServers:\n  guarded: {entry}\n  local: {{ command: {FAULT_SERVER:?}, args: [sound] }}\n");
    let project = Project::new();
    project.write("given.yaml", &config);
    let run = |arguments: &[&str]| {
        let run = project.run(&[arguments, &["--config", "given.yaml"]].concat());
        run.input("guarded::echo().await?.text()")
    };
    let lines: [&[&str]; 7] = [
        &["run", "-"],
        &["mcp", "test", "guarded"],
        &["mcp", "status"],
        &["mcp", "logout", "guarded"],
        &["mcp", "login", "local"],
        &["mcp", "logout", "local"],
        &["mcp", "login", "absent"],
    ];
    for line in lines {
        page.run(&format!("without a login: toolsmith {}", line.join(" ")), run(line));
    }
    let guarded = ProtectedServer::new();
    page.add("toolsmith mcp login guarded --no-browser", &guarded.logged_in("0").1);
    page.ended("with a login: toolsmith mcp test guarded", &guarded.done(&["mcp", "test", "guarded"], "0"));
    page.ended("toolsmith mcp logout guarded", &guarded.done(&["mcp", "logout", "guarded"], "0"));
    page.check();
}
