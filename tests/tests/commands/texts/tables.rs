//! Tables and listings of commands.

use std::fs;

use end_to_end::page::Page;
use end_to_end::page::normal;
use insta::assert_snapshot;

use super::configuration::Project;

/// Servers with short commands, so that columns have the same width everywhere.
const SERVERS: &str = "mcpServers:
  demo: { command: toolsmith, args: [demo-server], disabledTools: [slow], permissions: { echo: allow, fail: deny } }
  gone: { command: /nowhere/gone-mcp }
  off: { url: \"https://x.example/mcp?key=1\", headers: { Authorization: secret }, enabled: false }
";

#[test]
fn tables() {
    let mut page = Page::new("tables");
    let project = Project::new();
    project.write("given.yaml", SERVERS);
    let lines: [&[&str]; 19] = [
        &["mcp", "list-servers"],
        &["mcp", "list-servers", "demo"],
        &["mcp", "list-servers", "--json"],
        &["mcp", "status"],
        &["mcp", "status", "gone"],
        &["mcp", "info", "demo"],
        &["mcp", "test", "demo"],
        &["mcp", "list-tools"],
        &["mcp", "list-tools", "demo"],
        &["mcp", "list-tools", "--show-filtered"],
        &["mcp", "list-resources", "demo"],
        &["mcp", "list-resource-templates", "demo"],
        &["mcp", "list-prompts", "demo"],
        &["mcp", "call-tool", "--server", "demo", "--tool", "echo", "--args", "{\"message\":\"a\"}"],
        &["mcp", "call-tool", "--server", "demo", "--tool", "image", "--allow", "demo.image"],
        &["codegen", "--format", "report", "--server", "demo"],
        &["config", "show"],
        &["config", "show", "--json"],
        &["config", "suggest", "flows"],
    ];
    for line in lines {
        project.print(&mut page, "", &[line, &["--config", "given.yaml"]].concat());
    }
    page.check();
}

#[test]
fn layers() {
    let mut page = Page::new("tables-layers");
    let project = Project::new();
    project.write("home/toolsmith/config.yaml", "mcpServers:\n  mine: { command: x }\nserve: { grace: 1 }\n");
    project.write(
        "toolsmith.yaml",
        "mcpServers:\n  mine: { enabled: false }\n  web: { url: \"https://x.example/mcp\" }\n",
    );
    project.print(&mut page, "an untrusted project", &["config", "show"]);
    project.print(&mut page, "an untrusted project", &["mcp", "list-servers"]);
    assert_snapshot!(normal(&project.run(&["trust", "--yes"]).done().exits(0).stdout), @r"
    /tmp/.tmpXXXXXX/toolsmith.yaml:
      server mine:
        enabled: false
    !   replaces your own server mine, with its permissions and filters
      server web connects to: https://x.example/mcp
    ");
    project.print(&mut page, "a trusted project", &["config", "show"]);
    project.print(&mut page, "a trusted project", &["mcp", "list-servers"]);
    page.check();
}

#[test]
fn conversations() {
    let mut page = Page::new("tables-conversations");
    let stored = crate::conversations::StoredConversations::new();
    let print = |page: &mut Page, arguments: &[&str]| {
        let done = crate::conversations::start(stored.folder.path(), arguments).done();
        page.ended(&format!("toolsmith conversation {}", arguments[0]), &done);
    };
    print(&mut page, &["list"]);
    print(&mut page, &["print", &stored.parent]);
    print(&mut page, &["delete", "absent"]);
    print(&mut page, &["delete", &stored.coder]);
    print(&mut page, &["prune", "--older-than", "30d"]);
    let empty = tempfile::tempdir().unwrap();
    let done = crate::conversations::start(empty.path(), &["list"]).done();
    page.ended("toolsmith conversation list, without conversations", &done);
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
    page.check();
}
