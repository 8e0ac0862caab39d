//! Confinement: a snippet cannot reach the machine, call forbidden tools, or choose its compiler.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use end_to_end::cache;
use end_to_end::cache::json;
use end_to_end::harness::{Run, assert_says};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

const CODE_OF_DENIED: i32 = 6;

#[test]
fn the_compiler_cannot_read_the_machines_files() {
    let outcome = json("include_str!(\"/etc/passwd\")").expect("compile_error", 3);
    assert_snapshot!(normal(&outcome["diagnostics"][0]["message"]), @r"
    couldn't read `/etc/passwd`: No such file or directory (os error 2)
    ");
    assert!(!outcome.to_string().contains("root:"), "{outcome:#}");
    for code in [
        "include_bytes!(\"/proc/self/environ\").len()",
        "include!(\"/etc/hostname\")",
        "#[path = \"/etc/passwd\"] mod secrets;\n1",
        "std::arch::global_asm!(\".incbin \\\"/etc/passwd\\\"\");\nfn run() -> i32 { 1 }",
        "env!(\"HOME\").len()",
        "env!(\"PATH\").len()",
        "env!(\"TOOLSMITH_CACHE_DIR\").len()",
    ] {
        let outcome = json(code).expect("compile_error", 3);
        assert!(!outcome.to_string().contains("root:"), "{code}: {outcome:#}");
    }
    let outcome =
        json("option_env!(\"HOME\").or(option_env!(\"USER\"))").variable("SECRET", "x").expect("ok", 0);
    assert_eq!(outcome["result"], Value::Null);
}

#[test]
fn the_program_cannot_reach_the_machine() {
    let refused = [
        "std::fs::read(\"/etc/passwd\")?.len()",
        "std::fs::read_to_string(\"/proc/self/status\")?",
        "std::fs::write(\"/tmp/toolsmith-was-here\", \"x\")?;",
        "std::fs::read_dir(\"/\")?.count()",
        "std::net::TcpStream::connect(\"127.0.0.1:1\")?; 1",
        "std::net::TcpListener::bind(\"127.0.0.1:0\")?; 1",
        "std::net::UdpSocket::bind(\"127.0.0.1:0\")?; 1",
        "std::os::unix::net::UnixStream::connect(\"/run/x\")?; 1",
        "std::process::Command::new(\"/bin/sh\").spawn()?; 1",
        "std::os::unix::net::UnixStream::pair()?; 1",
    ];
    let mut shown = Vec::new();
    for code in refused {
        let outcome = json(code).expect("runtime_error", 1);
        assert_eq!(outcome["error"]["kind"], "error", "{code}");
        shown.push(normal(&outcome["error"]["message"]));
    }
    assert_snapshot!(shown.join("\n"), @r"
    Operation not permitted (os error 1)
    Operation not permitted (os error 1)
    Operation not permitted (os error 1)
    Operation not permitted (os error 1)
    Operation not permitted (os error 1)
    Operation not permitted (os error 1)
    Operation not permitted (os error 1)
    Operation not permitted (os error 1)
    Operation not permitted (os error 1)
    Operation not permitted (os error 1)
    ");
    let name = json(
        "\"localhost:80\".parse::<std::net::SocketAddr>().is_ok() || std::net::ToSocketAddrs::to_socket_addrs(\"localhost:80\").is_ok()",
    );
    assert_eq!(name.result(), false);
    let environment = json(
        "(std::env::vars_os().count(), std::env::args().count() <= 1, std::env::var(\"HOME\").is_err())",
    );
    assert_eq!(environment.variable("TOOLSMITH_SECRET", "x").result(), serde_json::json!([0, true, true]));
    // The broker's socket, and the copy for its own reader.
    assert_eq!(json(DESCRIPTORS).result(), serde_json::json!([true, true]), "inherited descriptors");
}

/// Whether each descriptor beyond the standard ones is a socket.
const DESCRIPTORS: &str = r"
use std::os::fd::FromRawFd as _;
use std::os::unix::fs::FileTypeExt as _;
let file = |number| std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(number) });
(3..1024).filter_map(|number| file(number).metadata().ok()).map(|open| open.file_type().is_socket()).collect::<Vec<_>>()
";

/// A raw system call, with x86_64 numbers.
fn system_call(number: u32) -> String {
    format!(
        "let result: i64;\nunsafe {{ std::arch::asm!(\"syscall\", inout(\"rax\") {number}i64 => result, in(\"rdi\") 0, in(\"rsi\") 0, in(\"rdx\") 0, in(\"r10\") 0, in(\"r8\") 0, in(\"r9\") 0, out(\"rcx\") _, out(\"r11\") _) }};\nresult"
    )
}

#[test]
fn dangerous_system_calls_end_the_program() {
    for (name, number) in [
        ("ptrace", 101),
        ("mount", 165),
        ("io_uring_setup", 425),
        ("bpf", 321),
        ("unshare", 272),
        ("keyctl", 250),
    ] {
        let outcome = json(&system_call(number)).expect("sandbox_violation", CODE_OF_DENIED);
        assert_eq!(outcome["error"]["kind"], "syscall", "{name}");
    }
    const EPERM: i64 = 1;
    for (name, number) in
        [("open", 2), ("socket", 41), ("fork", 57), ("execve", 59), ("kill", 62), ("setsid", 112)]
    {
        assert_eq!(json(&system_call(number)).result(), -EPERM, "{name}");
    }
}

#[test]
fn a_denied_server_is_not_called() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("calls");
    let config = format!(
        "mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server] }}\n  guarded:\n    command: {:?}\n    args: [records-cancelled, {record:?}]\n    permission: deny\n",
        end_to_end::harness::FAULT_SERVER
    );
    let used =
        json("demo::echo(\"first\").await?; guarded::echo().message(\"x\").await?.text()").config(&config);
    let outcome = used.expect("denied", CODE_OF_DENIED);
    assert_snapshot!(normal(&outcome["error"]["message"]), @"the configuration denies guarded.echo");
    assert_eq!(outcome["calls_total"], 0, "nothing ran: {outcome:#}");
    assert_eq!(outcome["manifest"], serde_json::json!(["demo.echo", "guarded.echo"]));
    let unused = json("if false { } demo::echo(\"fine\").await?.text()").config(&config);
    assert_eq!(unused.result(), "fine");
}

const FORGED: &str = r#"
#[unsafe(link_section = ".toolsmith.00112233445566778899aabbccddeeff")]
#[used]
static FORGED: [u8; 4] = [1; 4];
std::hint::black_box(&FORGED);
demo::echo("x").await?.text()
"#;

#[test]
fn a_forged_identity_is_refused_before_anything_runs() {
    let outcome = json(FORGED).expect("denied", CODE_OF_DENIED);
    assert_snapshot!(normal(&outcome["error"]["message"]), @r"
    the program contains identities of tools that are not in the catalog
    ");
    assert_says(&outcome["error"]["evidence"], &["00112233445566778899aabbccddeeff"]);
    assert_eq!(outcome["calls_total"], 0);
}

/// The report stays short, however many identities a program forges.
#[test]
fn many_forged_identities_are_reported_briefly() {
    // The linker keeps them although nothing refers to them (`R`).
    let forge = |name: &str| {
        format!(
            ".altmacro\n.macro forge number\n.section .toolsmith.{name}\\number,\"aR\"\n.byte 0\n.endm\n\
             .set count,100\n.rept 300\nforge %count\n.set count,count+1\n.endr\n.text"
        )
    };
    let mut shown = Vec::new();
    for name in ["x".repeat(3000), "0".repeat(29)] {
        let assembly = forge(&name);
        let code = format!("mod forge {{ std::arch::global_asm!(r##\"{assembly}\"##); }}\n1");
        let outcome = json(&code).expect("denied", CODE_OF_DENIED);
        shown.push(normal(&outcome["error"]["evidence"]));
        let length = outcome.to_string().len();
        assert!(length < 10_000, "{length} bytes");
    }
    assert_snapshot!(shown.join("\n"), @r#"
    {
      "unknown": [
        "malformed"
      ],
      "count": 1
    }
    {
      "unknown": [
        "[hash]",
        "[hash]",
        "[hash]",
        "[hash]",
        "[hash]",
        "[hash]",
        "[hash]",
        "[hash]",
        "[hash]",
        "[hash]"
      ],
      "count": 300
    }
    "#);
}

/// Writes frames to the broker's socket by hand; `FRAME` is one of them.
const CRAFTED: &str = r#"
use std::io::Write as _;
use std::os::fd::FromRawFd as _;
let mut socket = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(3) });
let frame = FRAME;
demo::echo("first").await?;
let mut bytes = u32::try_from(frame.len())?.to_be_bytes().to_vec();
bytes.extend_from_slice(frame.as_bytes());
socket.write_all(&bytes)?;
"#;

/// Continues only if another call is answered: the host reads frames in order.
const CONTINUES: &str = "demo::echo(\"last\").await?;\nprintln!(\"went on\");\n";

#[test]
fn the_broker_rejects_crafted_frames() {
    let call = r#"r#"{"call":{"id":5,"tool":"create_note","arguments":{"subject":"x","text":"y"}}}"\#"#
        .replace("\\#", "#");
    let outcome = json(&CRAFTED.replace("FRAME", &call)).expect("ok", 0);
    assert_eq!((&outcome["calls_total"], &outcome["calls"][1]), (&json!(1), &Value::Null), "{outcome:#}");
    assert_eq!(outcome["calls_refused"]["forged"], 1, "it reached no server: {outcome:#}");

    let violations = [
        ("no JSON", "\"{\"", "not a message"),
        ("an unknown message", r#""{\"open_door\":{}}""#, "not a message"),
        ("a number once more", r#""{\"call\":{\"id\":0,\"tool\":\"x\",\"arguments\":{}}}""#, "call 0"),
        (
            "the last number",
            r#""{\"call\":{\"id\":18446744073709551615,\"tool\":\"x\",\"arguments\":{}}}""#,
            "call 1844",
        ),
        ("a second hello", r#""{\"hello\":{\"version\":1,\"token\":\"x\"}}""#, "second hello"),
        (
            "deep JSON",
            "format!(\"{{\\\"emit\\\":{{\\\"content\\\":{}}}}}\", \"[\".repeat(100_000))",
            "not a message",
        ),
    ];
    for (name, frame, message) in violations {
        let outcome =
            json(&(CRAFTED.replace("FRAME", frame) + CONTINUES)).expect("sandbox_violation", CODE_OF_DENIED);
        assert_eq!(outcome["error"]["kind"], "protocol", "{name}");
        assert_says(&outcome["error"]["message"], &[message]);
        assert_eq!(outcome["stdout"], "", "{name}: it was ended at once");
    }
    let huge =
        CRAFTED.replace("FRAME", "\"\"").replace("socket.write_all(&bytes)?", "socket.write_all(&[255; 8])?");
    json(&huge).expect("sandbox_violation", CODE_OF_DENIED);
    let forged_end = CRAFTED.replace("FRAME", r#""{\"finish\":{\"ok\":{\"result\":1}}}""#);
    json(&forged_end).expect("sandbox_violation", CODE_OF_DENIED);
}

#[test]
fn the_working_folder_selects_no_programs() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("ran");
    let trap = folder.path().join("trap");
    fs::write(&trap, format!("#!/bin/sh\necho \"$0 $*\" >> {trace:?}\nexit 1\n")).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    for name in ["rustc", "cargo", "rustup", "cc", "rust-lld"] {
        fs::copy(&trap, folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("rust-toolchain.toml"), "[toolchain]\npath = \".\"\n").unwrap();
    fs::create_dir(folder.path().join(".cargo")).unwrap();
    let config = format!(
        "[build]\nrustc = {trap:?}\nrustc-wrapper = {trap:?}\ntarget = \"x86_64-unknown-none\"\n\
         [target.x86_64-unknown-linux-musl]\nlinker = {trap:?}\nrunner = {trap:?}\n"
    );
    fs::write(folder.path().join(".cargo/config.toml"), config).unwrap();
    let trap = trap.to_str().unwrap();
    // A cache with the layer but no record of the toolchain, so that the toolchain is searched for.
    let own = folder.path().join("cache");
    cache::with_the_layer_of_the_shared(&own);
    let path = format!(".::{}", std::env::var("PATH").unwrap());
    // A project's configuration does nothing before it is trusted.
    let project = folder.path().join("toolsmith.yaml");
    fs::write(&project, format!("mcpServers: {{ x: {{ command: {trap:?} }} }}\n")).unwrap();
    let run = || Run::new(&own).arguments(&["run", "--json", "-"]).working_folder(folder.path());
    assert_snapshot!(normal(&run().input("1").variable("PATH", &path).done().exits(2).stderr), @r"
    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, is not trusted yet
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE
    ");
    fs::remove_file(&project).unwrap();
    let done = run()
        .input("demo::echo(\"mine\").await?.text()")
        .variable("PATH", &path)
        .variable("RUSTC", trap)
        .variable("RUSTC_WRAPPER", trap)
        .variable("CARGO", trap)
        .variable("RUSTUP_TOOLCHAIN", folder.path().to_str().unwrap())
        .variable("CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER", trap)
        .variable("RUSTFLAGS", "--cfg hostile")
        .done()
        .exits(0);
    assert_eq!(done.outcome()["result"], "mine");
    assert!(!trace.exists(), "the working folder's programs ran: {}", fs::read_to_string(&trace).unwrap());
}
