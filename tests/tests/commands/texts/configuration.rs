//! Wrong configurations as commands report them, trust, and lock files.

use std::fs;

use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, Run, fault_entry};
use end_to_end::page::Page;
use tempfile::TempDir;

/// A project's folder, with a user's own configuration in `home`.
pub(super) struct Project(TempDir);

impl Project {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        fs::create_dir_all(folder.path().join("home/toolsmith")).unwrap();
        Project(folder)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.0.path().join(name), text).unwrap();
        self
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Run {
        let home = self.0.path().join("home");
        let run = Run::new(shared()).arguments(arguments).working_folder(self.0.path());
        run.variable("XDG_CONFIG_HOME", home.to_str().unwrap()).input("1")
    }

    /// Adds what a command prints in this folder.
    pub(super) fn print(&self, page: &mut Page, title: &str, arguments: &[&str]) {
        let colon = if title.is_empty() { "" } else { ": " };
        page.run(&format!("{title}{colon}toolsmith {}", arguments.join(" ")), self.run(arguments));
    }
}

/// Two wrong entries, and one that is right.
const WRONG: &str = "mcpServers:\n  a: { comand: x }\n  b: { url: nowhere }\n  \
                     demo: { command: toolsmith, args: [demo-server] }\n";

#[test]
fn errors_of_configurations() {
    let mut page = Page::new("errors-configuration");
    let project = Project::new();
    project.write("wrong.yaml", WRONG).write("seven.yaml", "mcpServers: 7\n");
    project.write("empty.yaml", "mcpServers: {}\n").write("good.yaml", "mcpServers:\n  a: { command: x }\n");
    project.print(&mut page, "no list", &["run", "-", "--config", "seven.yaml"]);
    project.print(&mut page, "wrong entries", &["run", "-", "--config", "wrong.yaml"]);
    project.print(&mut page, "wrong entries", &["run", "-", "--strict", "--config", "wrong.yaml"]);
    project.print(&mut page, "wrong entries", &["config", "check", "wrong.yaml", "seven.yaml"]);
    project.print(&mut page, "one problem", &["config", "check", "seven.yaml"]);
    project.print(&mut page, "no problem", &["config", "check", "good.yaml"]);
    project.print(&mut page, "no model", &["ask", "what?", "--config", "good.yaml"]);
    project.print(&mut page, "no subagent", &["mcp", "serve", "--config", "good.yaml"]);
    project.print(&mut page, "unknown server", &["mcp", "info", "absent", "--config", "good.yaml"]);
    project.print(&mut page, "unknown server", &["mcp", "info", "absent", "--config", "empty.yaml"]);
    project.print(&mut page, "no project", &["mcp", "remove", "absent"]);
    let listed = project.run(&["mcp", "list-servers"]).variable("TOOLSMITH_MCP_SERVERS", "[{}]");
    page.run("a wrong TOOLSMITH_MCP_SERVERS", listed);
    project.print(&mut page, "a new server", &["mcp", "add", "tools", "--", "x"]);
    project.print(&mut page, "the same server again", &["mcp", "add", "tools", "--", "x"]);
    project.print(&mut page, "unknown server", &["mcp", "disable", "tool"]);
    project.print(&mut page, "disable", &["mcp", "disable", "tools"]);
    project.print(&mut page, "enable", &["mcp", "enable", "tools"]);
    project.print(&mut page, "remove", &["mcp", "remove", "tools"]);
    page.check();
}

#[test]
fn trust() {
    let mut page = Page::new("trust");
    let project = Project::new();
    project.print(&mut page, "no project", &["trust"]);
    project.write("home/toolsmith/config.yaml", "mcpServers:\n  mine: { command: x, permission: deny }\n");
    let entries = "mcpServers:\n  mine: { command: other }\n  web: { url: \"https://x.example/mcp\" }\n";
    project.write("toolsmith.yaml", &format!("{entries}codeMode: {{ sandbox: {{ cpu: 9 }} }}\n"));
    project.print(&mut page, "before", &["run", "-"]);
    project.print(&mut page, "before", &["config", "check"]);
    project.print(&mut page, "before", &["trust", "--show"]);
    project.print(&mut page, "without a terminal", &["trust"]);
    project.print(&mut page, "without a question", &["trust", "--yes"]);
    project.print(&mut page, "afterwards", &["trust", "--show"]);
    project.write("toolsmith.yaml", entries);
    project.print(&mut page, "after a change", &["run", "-"]);
    project.print(&mut page, "after a change", &["trust", "--show"]);
    project.print(&mut page, "revoked", &["trust", "--remove"]);
    project.print(&mut page, "revoked twice", &["trust", "--remove"]);
    page.check();
}

#[test]
fn lock_files() {
    let mut page = Page::new("lock-files");
    let project = Project::new();
    let tools = |text: &str| project.write("tools.json", text);
    tools(r#"{ "one": "Reads one.", "two": "Reads two." }"#);
    project.write("config.yaml", &format!(
        "mcpServers:\n  faulty: {{ command: {FAULT_SERVER:?}, args: [described, tools.json], cwd: ., trust: true }}\n{}",
        fault_entry("free", "sound", "")
    ));
    let print = |page: &mut Page, title: &str, arguments: &[&str]| {
        project.print(page, title, &[arguments, &["--config", "config.yaml"]].concat());
    };
    print(&mut page, "the first time", &["mcp", "lock"]);
    print(&mut page, "unchanged", &["mcp", "lock"]);
    tools(r#"{ "one": "Deletes everything.", "three": "Reads three." }"#);
    print(&mut page, "changed", &["mcp", "lock"]);
    print(&mut page, "changed", &["mcp", "list-tools", "faulty", "--show-filtered"]);
    let call = "faulty::one().message(\"x\").await?.text()";
    let run = |title: &str, page: &mut Page| {
        let run = project.run(&["run", "-", "--config", "config.yaml"]).input(call);
        page.run(title, run);
    };
    run("a snippet that calls a changed tool", &mut page);
    print(&mut page, "an unknown server", &["mcp", "lock", "--accept", "absent"]);
    print(&mut page, "accepted", &["mcp", "lock", "--accept", "faulty"]);
    project.write("toolsmith.lock", "{");
    run("no JSON", &mut page);
    project.write("toolsmith.lock", "{ \"version\": 99 }");
    run("a newer version", &mut page);
    page.check();
}
