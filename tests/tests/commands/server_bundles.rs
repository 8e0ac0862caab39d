//! `mcp add NAME FILE.mcpb`: bundles of servers, which are unpacked, confined, pinned and removed.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::clients::Home;

/// A server for sh: one tool, whose answer has the variable and the arguments that the manifest passes.
const SERVER: &str = r#"#!/bin/sh
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      answer '{"tools":[{"name":"show","description":"Shows its settings.","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*)
      touch "$0" 2>/dev/null && own=changed || own=kept
      answer "{\"content\":[{\"type\":\"text\",\"text\":\"$TITLE $* $own $(cat "$1"/*)\"}]}" ;;
    *'"method":"ping"'*) answer '{}' ;;
    *'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id" ;;
  esac
done
"#;

fn manifest() -> Value {
    json!({
        "manifest_version": "0.3",
        "name": "notes",
        "version": "1.2.0",
        "description": "Reads notes",
        "author": { "name": "Someone" },
        "server": {
            "type": "binary",
            "entry_point": "server/run",
            "mcp_config": {
                "command": "${__dirname}/server/other",
                "args": ["${user_config.folders}", "--level=${user_config.level}", "${HOSTNAME}"],
                "env": { "TITLE": "${user_config.title}", "UNUSED": "${user_config.unused}" },
                "platform_overrides": { "linux": { "command": "server/run" }, "win32": { "command": "run.exe" } },
            },
        },
        "user_config": {
            "folders": { "type": "directory", "title": "Folders", "description": "Where notes are", "multiple": true,
                         "required": true },
            "level": { "type": "number", "title": "Level", "description": "Depth", "default": 2, "min": 1, "max": 9 },
            "title": { "type": "string", "title": "Title", "description": "", "required": true },
            "unused": { "type": "string", "title": "Unused", "description": "" },
        },
        "compatibility": { "platforms": ["linux", "darwin"] },
    })
}

/// Writes a bundle with this manifest, the server, and more entries: name, mode and content.
fn bundle(path: &Path, manifest: &Value, more: &[(&str, u32, &[u8])]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    let manifest = manifest.to_string();
    let entries = [("manifest.json", 0o644, manifest.as_bytes()), ("server/run", 0o755, SERVER.as_bytes())];
    for (name, mode, content) in entries.iter().chain(more) {
        let options = SimpleFileOptions::default().unix_permissions(*mode);
        if mode & 0o170_000 == 0o120_000 {
            zip.add_symlink(*name, String::from_utf8_lossy(content), options).unwrap();
            continue;
        }
        zip.start_file(*name, options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap();
}

fn home() -> Home {
    let home = Home::new();
    home.write("notes/one.txt", "first note");
    bundle(&home.path().join("notes.mcpb"), &manifest(), &[]);
    home
}

fn toolsmith(home: &Home, arguments: &[&str]) -> FinishedRun {
    let data = home.path().join("data");
    home.in_here(Run::new(shared()))
        .variable("XDG_DATA_HOME", data.to_str().unwrap())
        .arguments(arguments)
        .done()
}

/// The names of the unpacked bundles.
fn unpacked(home: &Home) -> Vec<String> {
    let folder = home.path().join("data/toolsmith/bundles");
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// A text without what differs between runs: hashes and the random ends of folders.
fn shown(home: &Home, text: &str) -> String {
    let folder = unpacked(home).pop().unwrap_or_default();
    let text = if folder.is_empty() { text.to_owned() } else { text.replace(&folder, "[bundle]") };
    let hashes = regex::Regex::new("[0-9a-f]{64}").unwrap();
    normal(&hashes.replace_all(&text, "[hash]").replace(home.path().to_str().unwrap(), "[home]"))
}

#[test]
fn a_bundle_is_unpacked_confined_pinned_and_removed() {
    let home = home();
    let add =
        ["mcp", "add", "--trust", "--set", "title=Mine", "--set", "folders=notes", "notes", "notes.mcpb"];
    let done = toolsmith(&home, &add).exits(0);
    assert_snapshot!(shown(&home, &done.stderr), @r#"
    toolsmith: notes 1.2.0: Reads notes
    toolsmith: SHA-256 [hash]
    toolsmith: notes starts confined: [home]/data/toolsmith/bundles/[bundle]/server/run [home]/notes --level=2 $${HOSTNAME}
    toolsmith: added notes to [home]/.config/toolsmith/config.yaml
    toolsmith: notes answers confined (tier full), with 1 tool
    toolsmith: help: to find what it needs in use: toolsmith mcp sandbox notes --learn
    toolsmith: pinned notes to its tools in [home]/.config/toolsmith/toolsmith.lock
    "#);
    assert_snapshot!(shown(&home, &home.read(".config/toolsmith/config.yaml")), @r#"
    mcpServers:
      notes:
        type: stdio
        command: [home]/data/toolsmith/bundles/[bundle]/server/run
        args:
          - [home]/notes
          - '--level=2'
          - $${HOSTNAME}
        cwd: [home]/data/toolsmith/bundles/[bundle]
        env:
          TITLE: Mine
        sandbox:
          read:
            - [home]/notes
          write:
            - [home]/notes
        trust: true
    "#);
    let done = toolsmith(&home, &["mcp", "call", "notes.show"]).exits(0);
    assert_snapshot!(shown(&home, &done.stdout), @"Mine [home]/notes --level=2 ${HOSTNAME} kept first note");
    let first = unpacked(&home);
    let done = toolsmith(&home, &[&["mcp", "add", "--replace"], &add[2..]].concat()).exits(0);
    assert_snapshot!(shown(&home, &done.stderr), @r#"
    toolsmith: notes 1.2.0: Reads notes
    toolsmith: SHA-256 [hash]
    toolsmith: notes starts confined: [home]/data/toolsmith/bundles/[bundle]/server/run [home]/notes --level=2 $${HOSTNAME}
    toolsmith: added notes to [home]/.config/toolsmith/config.yaml
    toolsmith: notes answers confined (tier full), with 1 tool
    toolsmith: help: to find what it needs in use: toolsmith mcp sandbox notes --learn
    toolsmith: pinned notes to its tools in [home]/.config/toolsmith/toolsmith.lock
    "#);
    let second = unpacked(&home);
    assert!(second.len() == 1 && second != first, "{first:?} {second:?}");
    let done = toolsmith(&home, &["mcp", "remove", "notes"]).exits(0);
    assert_snapshot!(shown(&home, &done.stderr), @"toolsmith: removed notes from [home]/.config/toolsmith/config.yaml");
    assert_eq!(unpacked(&home), [""; 0]);
}

#[test]
fn what_must_not_be_unpacked_is_refused_and_leaves_nothing() {
    let home = home();
    let file = home.path().join("odd.mcpb");
    let sound = manifest();
    let with = |key: &str, value: Value| {
        let mut manifest = sound.clone();
        manifest[key] = value;
        manifest
    };
    let link: &[(&str, u32, &[u8])] = &[("server/link", 0o120_777, b"/etc")];
    let mut texts = Vec::new();
    for (manifest, more) in [
        (sound.clone(), &[("../outside", 0o644, &b"x"[..])][..]),
        (sound.clone(), &[("server/../../outside", 0o644, b"x")]),
        (sound.clone(), &[("/tmp/outside", 0o644, b"x")]),
        (sound.clone(), &[("server\\outside", 0o644, b"x")]),
        (sound.clone(), link),
        (with("manifest_version", json!("9.0")), &[]),
        (with("compatibility", json!({ "platforms": ["win32"] })), &[]),
        (with("server", json!({ "type": "java", "entry_point": "x" })), &[]),
        (with("user_config", json!({ "a": { "type": "colour" } })), &[]),
    ] {
        bundle(&file, &manifest, more);
        texts.push(shown(&home, &toolsmith(&home, &["mcp", "add", "odd", "odd.mcpb"]).exits(2).stderr));
    }
    fs::write(&file, "no archive").unwrap();
    let wrong = "0".repeat(64);
    for arguments in [
        &["odd", "odd.mcpb"][..],
        &["odd", "missing.mcpb"],
        &["--sha256", &wrong, "notes", "notes.mcpb"],
        &["--sha256", "abc", "notes", "notes.mcpb"],
        &["notes", "https://example.com/notes.mcpb"],
        &["notes", "notes.mcpb"],
        &["--set", "title=a", "--set", "folders=notes", "--set", "level=10", "notes", "notes.mcpb"],
    ] {
        let arguments = [&["mcp", "add"], arguments].concat();
        texts.push(shown(&home, &toolsmith(&home, &arguments).exits(2).stderr));
    }
    assert_snapshot!(texts.join("\n"), @r#"
    toolsmith: the bundle is not unpacked: ../outside is no path within it

    toolsmith: the bundle is not unpacked: server/../../outside is no path within it

    toolsmith: the bundle is not unpacked: /tmp/outside is no path within it

    toolsmith: the bundle is not unpacked: server\u{5c}outside is no path within it

    toolsmith: the bundle is not unpacked: server/link is a link or another special file

    toolsmith: the bundle's manifest has the version 9.0; known are 0.1, 0.2, 0.3, 0.4
    help: update Toolsmith if there is a newer version: toolsmith update

    toolsmith: the bundle is not for linux, only for win32

    toolsmith: the bundle's manifest.json can't be used: unknown variant `java`, expected one of `node`, `python`, `binary`, `uv` at line 1 column 138

    toolsmith: notes 1.2.0: Reads notes
    toolsmith: SHA-256 [hash]
    toolsmith: the bundle's manifest can't be used: user_config.a: unknown variant `colour`, expected one of `string`, `number`, `boolean`, `directory`, `file`

    toolsmith: odd.mcpb is no bundle: invalid Zip archive: Could not find EOCD
    help: a bundle (.mcpb) is a ZIP archive

    toolsmith: missing.mcpb can't be read: No such file or directory (os error 2)
    help: check its folder

    toolsmith: the bundle has the SHA-256 hash [hash], and not [hash]
    help: it is not the file that was published; nothing of it was used

    error: invalid value 'abc' for '--sha256 <HASH>': write the 64 hexadecimal digits of the hash

    For more information, try '--help'.

    toolsmith: a bundle at an address needs its SHA-256 hash
    help: add --sha256 HASH, as its publisher states it; or download the file and check it

    toolsmith: notes 1.2.0: Reads notes
    toolsmith: SHA-256 [hash]
    toolsmith: notes needs a value for folders, title
    help: Folders: Where notes are: --set folders=VALUE
    help: Title: --set title=VALUE

    toolsmith: notes 1.2.0: Reads notes
    toolsmith: SHA-256 [hash]
    toolsmith: level is at most 9
    "#);
    assert_eq!(unpacked(&home), [""; 0]);
    assert!(!home.path().join(".config/toolsmith/config.yaml").exists());
}
