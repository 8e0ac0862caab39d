//! Confined servers: trials, grants, and what is refused.

use std::fs;
use std::path::Path;

use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, Run};
use end_to_end::page::Page;

use super::prompts::{asked, folder, on_terminal};

const YES_OR_NO: &str = "[y/N] ";

/// A command without a terminal.
fn plain(folder: &Path, arguments: &[&str]) -> Run {
    let home = folder.join("home");
    Run::new(shared())
        .arguments(arguments)
        .working_folder(folder)
        .variable("XDG_CONFIG_HOME", home.to_str().unwrap())
        .variable("XDG_STATE_HOME", home.to_str().unwrap())
}

/// A folder with the tools of a server, which it reads when it starts.
fn with_tools() -> tempfile::TempDir {
    let folder = folder(&[]);
    fs::create_dir(folder.path().join("project")).unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/tools.json"), "{ \"read\": \"Reads.\" }").unwrap();
    folder
}

#[test]
fn trials_of_confined_servers() {
    let mut page = Page::new("confined-trials");
    let server = FAULT_SERVER.to_string();
    for (title, answers) in [
        ("a server that reads a file, which the user grants", &[(YES_OR_NO, "y\n")][..]),
        ("a server that reads a file, which the user does not grant", &[(YES_OR_NO, "n\n")]),
    ] {
        let folder = with_tools();
        let file = folder.path().join("data/tools.json");
        let add = [
            "mcp",
            "add",
            "--sandbox",
            "--trust",
            "files",
            "--",
            &*server,
            "described",
            file.to_str().unwrap(),
        ];
        let project = folder.path().join("project");
        asked(&mut page, title, on_terminal(&project, &add), answers);
        page.run("its state", plain(&project, &["mcp", "status", "files"]));
    }
    let folder = with_tools();
    let (project, file) = (folder.path().join("project"), folder.path().join("data/tools.json"));
    let file = file.to_str().unwrap();
    let grants = format!("{{ read: [{file}], network: none }}");
    let lines: [&[&str]; 12] = [
        &["mcp", "add", "--sandbox", "files", "--", &server, "described", file],
        &["mcp", "sandbox", "files"],
        &["mcp", "sandbox", "files", "--set", &grants],
        &["mcp", "sandbox", "files"],
        &["mcp", "sandbox", "files", "--json"],
        &["mcp", "sandbox", "files", "--set", "{ read: [/nowhere] }"],
        &["mcp", "sandbox", "files", "--set", "some"],
        &["mcp", "sandbox", "files", "--set", "false"],
        &["mcp", "sandbox", "files"],
        &["mcp", "add", "--sandbox", "sound", "--", &server, "sound"],
        &["mcp", "add", "--sandbox", "web", "http://127.0.0.1:1/mcp"],
        &["mcp", "sandbox", "sound", "--learn"],
    ];
    for line in lines {
        page.run(&format!("toolsmith {}", line.join(" ")), plain(&project, line));
    }
    page.check();
}

#[test]
fn grants_that_are_learned() {
    let mut page = Page::new("confined-learning");
    let folder = with_tools();
    let project = folder.path().join("project");
    let record = folder.path().join("data/lines");
    fs::write(&record, "").unwrap();
    let (server, record) = (FAULT_SERVER.to_string(), record.to_str().unwrap().to_owned());
    let config = format!(
        "mcpServers: {{ writer: {{ command: {server:?}, args: [records-lines, {record:?}], sandbox: true, trust: true }} }}\n"
    );
    let home = project.join("home/toolsmith");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("config.yaml"), config).unwrap();
    let learn = ["mcp", "sandbox", "writer", "--learn", "--", "toolsmith", "mcp", "call", "writer.any"];
    page.run("without a terminal", plain(&project, &learn));
    asked(&mut page, "on a terminal", on_terminal(&project, &learn), &[(YES_OR_NO, "y\n")]);
    page.run("afterwards", plain(&project, &learn));
    page.run(
        "a command that does not start it",
        plain(&project, &["mcp", "sandbox", "writer", "--learn", "--", "true"]),
    );
    page.check();
}
