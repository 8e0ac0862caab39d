//! `toolsmith doctor`: its findings are correct, problems are reported with the command that fixes them, and nothing is
//! changed.

use std::fs;
use std::path::Path;

use end_to_end::cache::shared;
use end_to_end::harness::{Run, assert_says};
use end_to_end::page::normal;
use end_to_end::tiers::{has_namespaces, sandbox_config, without_namespaces};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Runs `toolsmith doctor --json`; returns its output.
#[track_caller]
fn findings(run: Run, code: i32) -> Value {
    run.arguments(&["doctor", "--json"]).done().exits(code).outcome()
}

/// Like [`findings`], with a configuration.
#[track_caller]
fn findings_with(run: Run, config: &str, code: i32) -> Value {
    run.arguments(&["doctor", "--json"]).config(config).done().exits(code).outcome()
}

#[track_caller]
fn mechanism<'a>(findings: &'a Value, name: &str) -> &'a Value {
    let mut mechanisms = findings["mechanisms"].as_array().unwrap().iter();
    mechanisms
        .find(|mechanism| mechanism["name"] == name)
        .unwrap_or_else(|| panic!("no {name}: {findings:#}"))
}

#[test]
fn a_machine_that_runs_snippets_is_healthy() {
    let cache = tempfile::tempdir().unwrap();
    end_to_end::cache::with_the_layer_of_the_shared(cache.path());
    let before = fs::read_dir(cache.path()).unwrap().count();
    let found = findings(Run::new(cache.path()), 0);
    assert_eq!((&found["ok"], &found["problems"]), (&json!(true), &json!([])), "{found:#}");
    assert_eq!(found["minimum"], "landlock+seccomp");
    for tried in ["compiler", "program"] {
        assert_eq!(found["tried"][tried]["tier"], found["tier"], "{found:#}");
        assert_says(&found["tried"][tried]["layers"], &["landlock", "seccomp", "rlimits"]);
    }
    for name in ["landlock", "seccomp", "seccomp notify", "user namespace", "private root", "control groups"]
    {
        let mechanism = mechanism(&found, name);
        assert_eq!(mechanism["available"] == true, mechanism["advice"].is_null(), "{mechanism}");
    }
    let grouped = found["tried"]["program"]["layers"].to_string().contains("cgroup");
    assert_eq!(mechanism(&found, "control groups")["available"], grouped, "{found:#}");
    let toolchain = &found["toolchain"];
    assert_says(&toolchain["version"], &["rustc 1."]);
    for piece in ["rustc", "cargo", "linker", "c_linker"] {
        assert!(Path::new(toolchain[piece].as_str().unwrap()).is_file(), "{piece}: {toolchain:#}");
    }
    assert_eq!((&toolchain["target_installed"], &toolchain["layer_built"]), (&json!(true), &json!(true)));
    assert_eq!(found["cache"]["writable"], true);
    assert!(found["cache"]["free_bytes"].as_u64().unwrap() > 0);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(found["kernel"], kernel.trim());
    assert_eq!(fs::read_dir(cache.path()).unwrap().count(), before, "doctor wrote to the cache");
}

#[test]
fn the_text_output_has_a_line_for_each_finding() {
    let done = Run::new(shared()).argument("doctor").done().exits(0);
    assert_eq!(done.stderr, "");
    for name in
        ["rustc", "cargo", "rust-lld", "target", "C linker", "folder", "kernel", "landlock", "tier", "tried"]
    {
        let is_ok = |line: &str| line.starts_with("  ok ") && line.contains(&format!("  {name} "));
        assert_eq!(done.stdout.lines().filter(|line| is_ok(line)).count(), 1, "{name}: {done:#?}");
    }
    assert!(done.stdout.ends_with("\nSnippets can run.\n"), "{done:#?}");
}

#[test]
fn a_missing_cache_is_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("a/cache");
    let found = findings(Run::new(&cache), 0);
    assert_eq!(found["toolchain"]["layer_built"], false);
    assert_eq!(found["cache"]["folder"], cache.to_str().unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "doctor created the cache");

    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let found = findings(Run::new(&file.join("below")), 7);
    assert_eq!(found["cache"]["writable"], false);
    assert_snapshot!(normal(&found["problems"][0]["what"]), @r"
    the cache at /tmp/.tmpXXXXXX/file/below can't be used: Not a directory (os error 20)
    ");
    assert_snapshot!(normal(&found["problems"][0]["advice"]), @r"
    a file is where a folder must be: move that file away, or name another folder in TOOLSMITH_CACHE_DIR
    ");
}

#[test]
fn a_missing_toolchain_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let run = || {
        let run = Run::new(shared()).variable("PATH", "");
        run.variable("RUSTUP_HOME", folder.path().to_str().unwrap())
    };
    let found = findings(run(), 7);
    assert_eq!((&found["ok"], &found["toolchain"]["rustc"]), (&json!(false), &Value::Null));
    assert_snapshot!(normal(&found["problems"][0]["what"]), @r"
    no Rust compiler was found, neither with rustup nor on the search path
    ");
    assert_snapshot!(normal(&found["problems"][0]["advice"]), @r"
    run `rustup toolchain install stable`, or install Rust 1.95 or newer
    ");
    assert_eq!(found["tried"], Value::Null);
    let done = run().argument("doctor").done().exits(7);
    let missing = |line: &&str| line.starts_with("  missing  rustc");
    assert_eq!(done.stdout.lines().filter(missing).count(), 1, "{done:#?}");
    assert!(done.stdout.contains("Snippets can't run:\n  no Rust compiler"), "{done:#?}");
}

/// A missing target is a problem only if the first use may not install it; the command is shown in both cases.
#[test]
fn a_missing_target_is_reported_and_not_installed() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("rustup");
    crate::toolchain::without_target(&home.join("toolchains/bare"));
    let cargo = folder.path().join("cargo");
    fs::create_dir_all(cargo.join("bin")).unwrap();
    fs::write(cargo.join("bin/rustup"), "").unwrap();
    let run = || {
        let run = Run::new(shared()).variable("PATH", "").variable("CARGO_HOME", cargo.to_str().unwrap());
        run.variable("RUSTUP_HOME", home.to_str().unwrap())
    };
    let found = findings(run(), 0);
    assert_eq!((&found["ok"], &found["toolchain"]["target_installed"]), (&json!(true), &json!(false)));
    let line = "rustup target add x86_64-unknown-linux-musl --toolchain bare";
    let forbidden = "mcpServers: { demo: { command: toolsmith, args: [demo-server] } }\n\
                     codeMode: { installTarget: false }\n";
    let found = findings_with(run(), forbidden, 7);
    assert_eq!((&found["toolchain"]["target_installed"], &found["tried"]), (&json!(false), &Value::Null));
    assert_eq!(found["toolchain"]["target_line"], line);
    assert_snapshot!(normal(&found["problems"][0]["advice"]), @r"
    type `rustup target add x86_64-unknown-linux-musl --toolchain bare`
    ");
    let library = home.join("toolchains/bare/lib/rustlib/x86_64-unknown-linux-musl");
    assert!(!library.exists(), "doctor installed the target");
}

#[test]
fn a_missing_tier_is_reported() {
    let found = findings(without_namespaces(), 0);
    assert_eq!((&found["tier"], &found["ok"]), (&json!("landlock+seccomp"), &json!(true)), "{found:#}");
    assert_eq!(found["tried"]["program"]["tier"], "landlock+seccomp");
    let namespace = mechanism(&found, "user namespace");
    assert_eq!(namespace["available"], false);
    if has_namespaces() {
        assert_eq!(namespace["advice"], "sudo sysctl -w user.max_user_namespaces=10000");
    }

    let full = sandbox_config("minimum: full");
    let found = findings_with(without_namespaces(), &full, 7);
    assert_eq!((&found["tier"], &found["minimum"]), (&json!("landlock+seccomp"), &json!("full")));
    assert_snapshot!(normal(&found["problems"][0]["what"]), @r"
    the tier `full` is required and lacks user namespace (No space left on device (os error 28))
    ");
    assert_snapshot!(normal(&found["problems"][0]["advice"]), @"sudo sysctl -w user.max_user_namespaces=10000");
    let done = without_namespaces().argument("doctor").config(&full).done().exits(7);
    let missing =
        |name: &str| done.stdout.lines().any(|line| line.starts_with(&format!("  missing  {name} ")));
    assert!(missing("user namespace") && missing("tier") && missing("tried"), "{done:#?}");

    // A run fails with the same message.
    let run = without_namespaces().arguments(&["run", "--json", "-"]).input("println!(\"ran\"); 1");
    let done = run.config(&full).done().exits(7);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: this machine cannot run confined processes: the tier `full` is required and lacks user namespace (No space left on device (os error 28)); sudo sysctl -w user.max_user_namespaces=10000
    help: `toolsmith doctor` shows all of it
    ");
    assert_eq!(done.outcome()["report"]["kind"], "sandbox", "{done:#?}");
}

#[test]
fn errors_of_a_run_are_reported_in_advance() {
    // Scratch space needs namespaces.
    let found = findings_with(without_namespaces(), &sandbox_config("scratch: 1MiB"), 7);
    assert_snapshot!(normal(&found["problems"][0]["what"]), @r"
    the sandbox can't be set up: the sandbox policy is invalid: grants of scratch space need a tier with namespaces, but this is `landlock+seccomp`
    ");
    // Errors in the configuration are reported too.
    let run = Run::new(shared()).argument("doctor").config(&sandbox_config("minimum: most"));
    assert_snapshot!(normal(&run.done().exits(2).stderr), @r#"
    toolsmith: /tmp/.tmpXXXXXX/given.yaml:5:14: "most" is not a sandbox tier: use full, landlock+seccomp or namespaces+seccomp
      |
    5 |     minimum: most
      |              ^
    "#);
}

#[test]
fn without_the_sandbox_it_says_so() {
    let run = Run::new(shared()).arguments(&["doctor", "--json"]);
    let done = run.config(&sandbox_config("dangerouslyRunWithoutSandbox: true")).done();
    let found = done.exits(0).says(&["the sandbox is OFF"]).outcome();
    assert_eq!((&found["tier"], &found["minimum"]), (&json!("off"), &Value::Null));
}
