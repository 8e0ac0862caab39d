//! Wrong command lines, and files that cannot be read.

use std::fs;

use end_to_end::cache::shared;
use end_to_end::harness::Run;
use end_to_end::page::Page;

#[test]
fn errors_of_command_lines() {
    let mut page = Page::new("errors-command-line");
    let lines: [&[&str]; 31] = [
        &[],
        &["rum"],
        &["run"],
        &["run", "-", "--jsn"],
        &["run", "-", "--config"],
        &["run", "-", "--timeout=soon"],
        &["run", "-", "--timeout=0"],
        &["run", "-", "--arg", "novalue"],
        &["run", "-", "--allow", ""],
        &["run", "-", "--crate", "folder"],
        &["codegen", "--tools", "list.json"],
        &["codegen", "--server", "a b"],
        &["codegen", "--description-length", "99999"],
        &["codegen", "--description-length", "long"],
        &["codegen", "--format", "yaml"],
        &["codegen", "--no-vendor"],
        &["mcp"],
        &["mcp", "observe", "echo"],
        &["mcp", "add"],
        &["mcp", "add", "a b", "--", "x"],
        &["mcp", "add", "a"],
        &["mcp", "add", "a", "--url", "https://x.example", "--", "x"],
        &["mcp", "add", "a", "--env", "TOKEN", "--", "x"],
        &["mcp", "add", "a", "--permission", "maybe", "--", "x"],
        &["mcp", "call-tool", "--tool", "echo"],
        &["mcp", "call-tool", "--server", "demo", "--tool", "echo", "--args", "[]"],
        &["serve", "--http", "localhost"],
        &["serve", "--token-env", "TOKEN"],
        &["setup", "emacs"],
        &["conversation", "prune", "--older-than", "30"],
        &["demo-server", "--copies", "1000"],
    ];
    for line in lines {
        page.command(line);
    }
    page.check();
}

#[test]
fn errors_of_files() {
    let mut page = Page::new("errors-files");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("latin.rs"), b"\"caf\xe9\"").unwrap();
    fs::write(folder.path().join("text.json"), "no JSON").unwrap();
    fs::write(folder.path().join("other.json"), "{}").unwrap();
    fs::create_dir(folder.path().join("sources")).unwrap();
    let lines: [&[&str]; 12] = [
        &["run", "absent.rs"],
        &["run", "latin.rs"],
        &["run", "sources"],
        &["run", "--crate", "sources"],
        &["run", "--crate", "absent"],
        &["run", "-", "--config", "absent.yaml"],
        &["codegen", "--lock", "absent.lock"],
        &["codegen", "--tools", "text.json", "--server", "a"],
        &["codegen", "--tools", "other.json", "--server", "a"],
        &["codegen", "--diff", "text.json", "absent.json"],
        &["mcp", "import", "text.json"],
        &["mcp", "import"],
    ];
    for line in lines {
        let run = Run::new(shared()).arguments(line).working_folder(folder.path());
        page.run(&format!("toolsmith {}", line.join(" ")), run);
    }
    page.check();
}
