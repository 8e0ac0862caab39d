//! Configuration files: errors are reported with their place, and valid settings reach the servers.

use std::path::Path;

use end_to_end::cache::shared;
use end_to_end::cache::{json, plain};
use end_to_end::harness::{FAULT_SERVER, Run, fault_entry};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn errors_are_reported_with_their_place() {
    let cases = [
        ("mcpServers: [not, a, map]\n", &["given.yaml", "1:"][..]),
        ("mcpServers:\n  a: { command: x\n", &["given.yaml"]),
        ("mcpServers:\n  a: { comand: x }\n", &["comand", "2:", "command"]),
        ("mcpServers:\n  a: { command: x }\ncodeMod: {}\n", &["codeMod", "3:", "codeMode"]),
        ("mcpServers:\n  a: { command: x, args: 7 }\n", &["2:", "given.yaml"]),
        ("mcpServers:\n  a: { command: x, timeout: soon }\n", &["2:", "given.yaml"]),
        ("mcpServers:\n  a: { command: x, timeout: -1 }\n", &["given.yaml:2:", "out of range"]),
        (
            "mcpServers:\n  a: { command: x, enabledTools: [a], disabledTools: [b] }\n",
            &["given.yaml:2:", "exclude each other"],
        ),
        ("mcpServers:\n  a: { args: [x] }\n", &["given.yaml:2:", "needs a command"]),
        (
            "mcpServers:\n  a: { type: carrier-pigeon, command: x }\n",
            &["given.yaml:2:", "carrier-pigeon", "stdio"],
        ),
        ("mcpServers:\n  \"a b\": { command: x }\n", &["given.yaml:2:", "a b"]),
        ("mcpServers:\n  a: { command: x, permission: maybe }\n", &["maybe", "2:"]),
        ("mcpServers:\n  a: { command: x }\n  a: { command: y }\n", &["3:", "a"]),
        ("mcpServers:\n  a: { command: x, enabled: false }\n", &["no enabled server", "help"]),
        ("{}\n", &["no enabled server"]),
        ("", &["given.yaml"]),
        ("version: \"7\"\nmcpServers:\n  a: { command: x }\n", &["given.yaml:1:", "\"7\"", "1.0"]),
        (
            "mcpServers:\n  a: { command: x }\ncodeMode: { sandbox: { memory: lots } }\n",
            &["given.yaml:3:", "512MiB"],
        ),
        (
            "mcpServers:\n  a: { command: x }\ncodeMode: { sandbox: { memory: 1KiB } }\n",
            &["given.yaml:3:", "at least"],
        ),
        (
            "mcpServers:\n  a: { command: x }\ncodeMode: { sandbox: { cpu: 0 } }\n",
            &["given.yaml:3:", "at least 1"],
        ),
        (
            "mcpServers:\n  a:\n    command: x\n    env: { KEY: \"${TOOLSMITH_NO_SUCH_VARIABLE}\" }\n",
            &["given.yaml:4:", "TOOLSMITH_NO_SUCH_VARIABLE", "not set"],
        ),
        ("mcpServers:\n  a: { command: x, args: [\"${UNCLOSED\"] }\n", &["given.yaml:2:", "}"]),
        ("mcpServers:\n  a: { command: \"x\\0\" }\n", &["given.yaml:2:17:", "NUL"]),
        ("mcpServers:\n  a: { command: x, args: [\"x\\0\"] }\n", &["given.yaml:2:27:", "NUL"]),
        ("mcpServers:\n  a: { command: x, cwd: \"x\\0\" }\n", &["given.yaml:2:25:", "NUL"]),
        ("mcpServers:\n  a: { command: x, env: { A: \"\\0\" } }\n", &["given.yaml:2:30:", "NUL"]),
        ("mcpServers:\n  a: { command: x, env: { \"A=B\": c } }\n", &["given.yaml:2:", "\"A=B\"", "NAME"]),
        ("mcpServers:\n  a: { command: x, env: { \"\": c } }\n", &["given.yaml:2:", "\"\"", "NAME"]),
        ("mcpServers:\n  a: { command: x, timeout: 1e300 }\n", &["given.yaml:2:29: 1e300 is out of range"]),
        ("mcpServers:\n  a: { command: x, timeout: 1e-300 }\n", &["1e-300 is out of range"]),
        ("mcpServers:\n  a: { command: x }\n---\na: 1\n", &["given.yaml:4:1:", "second document", "4 | a: "]),
    ];
    let mut wrong = Vec::new();
    for (text, phrases) in cases {
        let done = plain("1").config(text).done().exits(2);
        let missing: Vec<_> = phrases.iter().filter(|phrase| !done.stderr.contains(**phrase)).collect();
        if !missing.is_empty() || done.stderr.contains("panicked") || !done.stdout.is_empty() {
            wrong.push(format!("{text:?}: {missing:?} is missing in {}", done.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let printed = plain("1").arguments(&["--config", "no-such.yaml"]).done().exits(2);
    assert_snapshot!(normal(&printed.stderr), @r"
    toolsmith: the configuration no-such.yaml can't be read: there is no such file
    help: check the path of the configuration file
    ");
    assert_snapshot!(normal(&plain("1").arguments(&["--config", "/"]).done().exits(2).stderr), @r"
    toolsmith: the configuration / can't be read: it is a folder
    help: check the path of the configuration file
    ");
    let printed = plain("1").arguments(&["--config", "/dev/zero"]).done().exits(2);
    assert_snapshot!(normal(&printed.stderr), @r"
    toolsmith: the configuration /dev/zero can't be read: it is not a regular file
    help: check the path of the configuration file
    ");
    let bomb =
        format!("a: &a [x, x]\n{}", (0..40).map(|n| format!("b{n}: &b{n} [*a, *a]\n")).collect::<String>());
    plain("1").config(&bomb).done().exits(2);
    plain("1").config(&"[".repeat(100_000)).done().exits(2);
    let printed = plain("1").config(&"# long\n".repeat(200_000)).done().exits(2);
    assert_snapshot!(normal(&printed.stderr), @r"
    toolsmith: the configuration /tmp/.tmpXXXXXX/given.yaml is larger than 1048576 bytes, the maximum
    ");
}

#[test]
fn json_configurations_and_the_users_own_are_read() {
    let text = json!({ "mcpServers": { "faulty": { "command": FAULT_SERVER.path(), "args": ["sound"] } } })
        .to_string();
    assert_eq!(json("faulty::echo().message(\"json\").await?.text()").config(&text).result(), "json");

    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("toolsmith")).unwrap();
    std::fs::write(
        home.path().join("toolsmith/config.yaml"),
        format!("mcpServers:\n{}", fault_entry("mine", "sound", "")),
    )
    .unwrap();
    let run = json("mine::echo().message(\"user\").await?.text()")
        .arguments(&["--allow", "mine.*"])
        .variable("XDG_CONFIG_HOME", home.path().to_str().unwrap());
    let done = run.done();
    assert!(!done.stderr.contains("demo server"), "{done:#?}");
    assert_eq!(done.expect("ok", 0)["result"], "user");
}

#[test]
fn a_configuration_may_come_through_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let snippet = folder.path().join("snippet.rs");
    std::fs::write(&snippet, "faulty::echo().message(\"piped\").await?.text()").unwrap();
    let run = |config: &[u8]| {
        let arguments =
            ["run", "--json", "--allow", "*", "--config", "/dev/stdin", snippet.to_str().unwrap()];
        Run::new(shared()).arguments(&arguments).input(config)
    };
    let config = format!("mcpServers:\n{}", fault_entry("faulty", "sound", ""));
    assert_eq!(run(config.as_bytes()).result(), "piped");
    assert_snapshot!(normal(&run(&b"#\n".repeat(1 << 20)).done().exits(2).stderr), @r"
    toolsmith: the configuration /dev/stdin is larger than 1048576 bytes, the maximum
    ");
    assert_snapshot!(normal(&run(b"a: b\nb: \xff\n").done().exits(2).stderr), @r"
    toolsmith: /dev/stdin:2:4: this is not UTF-8 text; save the file as UTF-8
    ");
}

#[test]
fn messages_use_plain_words_and_name_the_place_once() {
    let long = format!("mcpServers: {{ a: {{ args: [{}], comand: x }} }}\n", "x".repeat(500));
    let texts = [
        "mcpServers: [not, a, map]\n",
        "mcpServers:\n  a: { command: x, args: 7 }\n",
        "mcpServers:\n  a: { command: x }\n  a: { command: y }\n",
        "mcpServers:\n  a: { command: x }\n---\na: 1\n",
        "mcpServers:\n  a: { command: x }\ncodeMode: { sandbox: { cpu: -1 } }\n",
        "mcpServers:\n  a: { command: x, enabled: 7 }\n",
        "mcpServers:\n  a: x\n",
        &long,
    ];
    for text in texts {
        let done = plain("1").config(text).done().exits(2);
        for word in ["Options", "Policy", "from_str", "u64", "struct", "mapping start", "sequence start"] {
            assert!(!done.stderr.contains(word), "{word:?} in {done:#?}");
        }
        // The mark is under the character at the reported place.
        let lines: Vec<&str> = done.stderr.lines().collect();
        let first = lines.iter().position(|line| line.contains("given.yaml:")).unwrap();
        let place = lines[first].split("given.yaml:").nth(1).unwrap();
        let mut numbers = place.split(':').map(str::parse::<usize>);
        let (line, column) = (numbers.next().unwrap().unwrap(), numbers.next().unwrap().unwrap());
        let named = text.lines().nth(line - 1).unwrap().chars().nth(column - 1).unwrap();
        let mark = lines[first + 3].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[first + 2].chars().nth(mark), Some(named), "{done:#?}");
        assert_eq!(done.stderr.matches("given.yaml").count(), 1, "{done:#?}");
    }
}

#[test]
fn tools_are_enabled_and_disabled_by_name() {
    let demo =
        |more: &str| format!("mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server], {more} }}\n");
    let only = demo("enabledTools: [echo, fail]");
    assert_eq!(json("demo::echo(\"x\").await?.text()").config(&only).result(), "x");
    let outcome = json("demo::slow(0.0).await?;").config(&only).expect("compile_error", 3);
    assert_snapshot!(normal(&outcome["error"]["message"]), @"cannot find function `slow` in crate `demo`");
    let without = demo("disabledTools: [slow]");
    assert_eq!(json("demo::echo(\"y\").await?.text()").config(&without).result(), "y");
    json("demo::slow(0.0).await?;").config(&without).expect("compile_error", 3);
}

#[test]
fn arguments_variables_and_folder_reach_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "mcpServers:\n  env:\n    command: {FAULT_SERVER:?}\n    args: [\"${{MODE}}\"]\n    cwd: {:?}\n    env:\n      PLAIN: value\n      JOINED: \"a-${{TOKEN_OF_TEST}}-b\"\n      LITERAL: \"$${{x}}\"\n",
        folder.path()
    );
    let code = "let mut all = Vec::new();\nfor name in [\"PLAIN\", \"JOINED\", \"LITERAL\", \"MODE\", \"TOOLSMITH_MCP_DEBUG\"] { all.push(env::echo().message(name).await?.text()); }\nall";
    let run = json(code).config(&config).variable("MODE", "environment").variable("TOKEN_OF_TEST", "t0k3n");
    assert_eq!(run.result(), json!(["value", "a-t0k3n-b", "${x}", "environment", "(unset)"]));
}

#[test]
fn secrets_are_in_no_output() {
    const SECRET: &str = "s3cr3t-of-the-test";
    let config = |mode: &str| {
        format!(
            "mcpServers:\n  faulty:\n    command: {FAULT_SERVER:?}\n    args: [{mode}]\n    env: {{ API_TOKEN: \"${{TOKEN_OF_TEST}}\" }}\n"
        )
    };
    let codes = [
        "faulty::echo().message(\"x\").await?.text()",
        "let x: i32 = \"a\"; x",
        "option_env!(\"API_TOKEN\").or(option_env!(\"TOKEN_OF_TEST\")).map(str::to_owned).or(std::env::var(\"TOKEN_OF_TEST\").ok())",
        "panic!(\"{:?}\", std::env::vars().collect::<Vec<_>>())",
    ];
    for (mode, code) in
        ["sound", "exits-at-once", "dies-in-call"].iter().flat_map(|mode| codes.map(|code| (*mode, code)))
    {
        for run in [json(code), plain(code)] {
            let done = run.config(&config(mode)).variable("TOKEN_OF_TEST", SECRET).done();
            let text = format!("{}{}", done.stdout, done.stderr);
            assert!(!text.contains(SECRET), "{mode}, {code}: {text}");
        }
    }
    assert!(!holds(shared(), SECRET.as_bytes()), "the cache holds the secret");
}

/// Whether a file below `folder` that a run has written contains `bytes`.
fn holds(folder: &Path, bytes: &[u8]) -> bool {
    ["catalogs-v1", "toolchains-v1"].iter().any(|bucket| {
        let files = std::fs::read_dir(folder.join(bucket)).unwrap().flatten();
        files
            .filter_map(|file| std::fs::read(file.path()).ok())
            .any(|text| text.windows(bytes.len()).any(|part| part == bytes))
    })
}

#[test]
fn configured_limits_apply() {
    let demo = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server] }\n";
    let outcome = json("loop {}")
        .config(&format!("{demo}codeMode: {{ sandbox: {{ wallClock: 1 }} }}\n"))
        .expect("timeout", 4);
    assert_eq!(outcome["error"]["evidence"]["seconds"], 1.0);
    let outcome = json("loop {}")
        .arguments(&["--timeout", "0.5"])
        .config(&format!("{demo}codeMode: {{ sandbox: {{ wallClock: 600 }} }}\n"));
    assert_eq!(outcome.expect("timeout", 4)["error"]["evidence"]["seconds"], 0.5);
    Run::new(shared()).arguments(&["run", "-", "--timeout", "0"]).done().exits(2);
}
