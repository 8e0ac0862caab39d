//! The command line: help, version, and errors before anything is compiled.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use std::fs;
use std::process::{Command, Output};

/// Runs `toolsmith` without a cache and a configuration.
fn toolsmith(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_toolsmith"))
        .args(arguments)
        .current_dir(folder.path())
        .env("XDG_CONFIG_HOME", folder.path())
        .env("TOOLSMITH_CACHE_DIR", folder.path().join("cache"))
        .output()
        .unwrap();
    assert!(!folder.path().join("cache").exists(), "{arguments:?} used the cache");
    output
}

#[track_caller]
fn refused(arguments: &[&str], phrases: &[&str]) {
    let output = toolsmith(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    for phrase in phrases {
        assert!(stderr.contains(phrase), "{arguments:?}: {phrase:?} is missing in {stderr}");
    }
}

#[test]
fn help_and_version_are_printed() {
    // Snapshots have the text.
    assert!(toolsmith(&["--help"]).status.success());
    let version = toolsmith(&["--version"]);
    assert_eq!(
        String::from_utf8(version.stdout).unwrap(),
        concat!("toolsmith ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn an_invalid_command_line_is_explained() {
    refused(&[], &["Usage"]);
    refused(&["rum"], &["rum"]);
    refused(&["run"], &["FILE"]);
    refused(&["run", "-", "--jsn"], &["--jsn", "--json"]);
    for seconds in ["soon", "0", "-1", "NaN", "inf", "1e9", ""] {
        refused(&["run", "-", &format!("--timeout={seconds}")], &["--timeout", "seconds"]);
    }
    for argument in ["novalue", "=value", ""] {
        refused(&["run", "-", "--arg", argument], &["--arg", "KEY=VALUE"]);
    }
    refused(&["run", "-", "--config"], &["--config"]);
}

#[test]
fn a_snippet_that_cannot_be_read_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snippet.rs");
    let name = file.to_str().unwrap();
    refused(&["run", name], &["snippet can't be read", name]);
    fs::write(&file, b"\"caf\xe9\"").unwrap();
    refused(&["run", name], &["not UTF-8", "byte 4"]);
    refused(&["run", folder.path().to_str().unwrap()], &["snippet can't be read"]);
}

#[test]
fn a_configuration_that_cannot_be_read_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let snippet = folder.path().join("snippet.rs");
    fs::write(&snippet, "1").unwrap();
    let snippet = snippet.to_str().unwrap();
    refused(&["run", snippet, "--config", "no-such.yaml"], &["no-such.yaml", "help"]);
    let config = folder.path().join("bad.yaml");
    fs::write(&config, "mcpServers: 7\n").unwrap();
    refused(&["run", snippet, "--config", config.to_str().unwrap()], &["bad.yaml", "1:"]);
}
