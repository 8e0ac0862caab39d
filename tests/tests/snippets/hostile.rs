//! Snippets that try to escape or to exhaust the machine: each has a clear outcome with evidence, and none gets a
//! secret.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use end_to_end::cache::json;
use end_to_end::harness::{Run, assert_says, binary};
use end_to_end::tiers::{has_namespaces, sandbox_config, without_namespaces};
use serde_json::{Value, json as value};

use end_to_end::cache::{shared, with_the_layer_of_the_shared};

/// Is in the environment of everything outside the sandbox.
const SECRET: &str = "the-hosts-secret-5d41402abc4b2a76";

/// A snippet, its status, and the checks of its outcome.
struct Attempt {
    name: &'static str,
    code: &'static str,
    options: &'static [&'static str],
    end: (&'static str, i32),
    check: fn(&Value),
}

/// A raw system call, with x86_64 numbers.
macro_rules! by_hand {
    ($number:literal, $first:literal, $second:literal) => {
        concat!(
            "let result: i64;\nunsafe { std::arch::asm!(\"syscall\", inout(\"rax\") ",
            $number,
            "i64 => result, in(\"rdi\") ",
            $first,
            ", in(\"rsi\") ",
            $second,
            ", in(\"rdx\") 0, in(\"r10\") 0, out(\"rcx\") _, out(\"r11\") _) };\n"
        )
    };
}

const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "openat by hand",
        code: concat!(
            "let path = c\"/proc/self/environ\";\n",
            by_hand!("257", "-100", "path.as_ptr()"),
            "result"
        ),
        options: &[],
        end: ("ok", 0),
        check: |outcome| {
            assert_eq!(outcome["result"], -1, "EPERM: {outcome:#}");
            assert_eq!(outcome["sandbox"]["refused"], value!(["openat"]));
        },
    },
    Attempt {
        name: "urgent data by hand",
        code: concat!(
            "let result: i64;\nunsafe { std::arch::asm!(\"syscall\", inout(\"rax\") 44i64 => result, in(\"rdi\") 3, ",
            "in(\"rsi\") c\"x\".as_ptr(), in(\"rdx\") 1, in(\"r10\") 1, in(\"r8\") 0, in(\"r9\") 0, ",
            "out(\"rcx\") _, out(\"r11\") _) };\nresult"
        ),
        options: &[],
        end: ("ok", 0),
        check: |outcome| {
            assert_eq!(outcome["result"], -1, "EPERM: {outcome:#}");
            assert_eq!(outcome["sandbox"]["refused"], value!(["sendto"]));
        },
    },
    Attempt {
        name: "fork bomb",
        code: concat!("loop {\n", by_hand!("57", "0", "0"), "assert_eq!(result, -1); }"),
        options: &["--timeout", "2"],
        end: ("timeout", 4),
        check: |outcome| assert_eq!(outcome["sandbox"]["refused"], value!(["fork"]), "{outcome:#}"),
    },
    Attempt {
        name: "four gigabytes",
        code: "demo::echo(\"x\").await?; println!(\"four\"); let bytes = vec![1u8; 4 << 30]; bytes.len()",
        options: &[],
        end: ("memory_limit", 5),
        check: |outcome| {
            let evidence = &outcome["error"]["evidence"];
            let expected = value!({ "limit": "memory", "bytes": 512 << 20, "wanted": 4_u64 << 30, "calls": 1, "stdout_bytes": 5 });
            assert_eq!(evidence, &expected);
        },
    },
    Attempt {
        name: "endless loop",
        code: "demo::echo(\"x\").await?; println!(\"on\"); loop {}",
        options: &["--timeout", "2"],
        end: ("timeout", 4),
        check: |outcome| {
            let evidence = &outcome["error"]["evidence"];
            let expected = value!({ "limit": "wall_clock", "seconds": 2.0, "phase": "running", "calls": 1, "stdout_bytes": 3 });
            assert_eq!(evidence, &expected);
        },
    },
    Attempt {
        name: "thread bomb",
        // The stacks are so large that few fit: either limit is reached by creating a thread.
        code: "println!(\"go\"); loop { std::thread::Builder::new().stack_size(64 << 20).spawn(|| loop { std::thread::park(); }).expect(\"failed to spawn thread\"); }",
        options: &["--timeout", "30"],
        end: ("panic", 1),
        check: |outcome| {
            assert_says(&outcome["error"]["message"], &["failed to", "the limits are 64 threads"]);
            let evidence = &outcome["error"]["evidence"];
            assert_eq!((&evidence["limit"], &evidence["threads"]), (&value!("threads"), &value!(64)));
            assert_eq!((&evidence["bytes"], &evidence["stdout_bytes"]), (&value!(512 << 20), &value!(3)));
            assert_eq!(evidence["calls"], 0, "{evidence}");
        },
    },
    Attempt {
        name: "flood",
        code: "let line = \"x\".repeat(1 << 16); loop { println!(\"{line}\"); }",
        options: &["--timeout", "40"],
        end: ("output_limit", 5),
        check: |outcome| {
            let expected =
                value!({ "limit": "output", "bytes": 8 << 20, "calls": 0, "stdout_bytes": 8 << 20 });
            assert_eq!(outcome["error"]["evidence"], expected);
        },
    },
    Attempt {
        name: "the compiler's environment",
        code: "include_str!(\"/proc/self/environ\")",
        options: &[],
        end: ("compile_error", 3),
        check: |outcome| assert_says(&outcome["diagnostics"][0]["message"], &["/proc/self/environ"]),
    },
    Attempt {
        name: "the assembler's file",
        code: "std::arch::global_asm!(\".incbin \\\"/proc/self/environ\\\"\");\nfn run() -> Result<i32> { Ok(1) }",
        options: &[],
        end: ("compile_error", 3),
        check: |outcome| assert_says(&outcome["diagnostics"][0]["message"], &["/proc/self/environ"]),
    },
    Attempt {
        name: "the compiler's last message",
        code: "macro_rules! check { ($a:expr) => { compile_error!(\"aborting due to a missing key\") } }\ncheck!(1);\n5",
        options: &[],
        end: ("compile_error", 3),
        check: |outcome| {
            assert_says(&outcome["diagnostics"][0]["message"], &["aborting due to a missing key"]);
        },
    },
    Attempt {
        name: "another's environment",
        code: "let host = args.require(\"host\")?; std::fs::read(format!(\"/proc/{host}/environ\"))?.len()",
        options: &[],
        end: ("runtime_error", 1),
        check: |outcome| {
            assert_says(&outcome["error"]["message"], &["Operation not permitted"]);
            assert_eq!(outcome["sandbox"]["refused"], value!(["open"]), "{outcome:#}");
        },
    },
    Attempt {
        name: "a signal to the host",
        code: concat!(
            "let host: i64 = args.require(\"host\")?.parse()?;\n",
            by_hand!("62", "host", "9"),
            "result"
        ),
        options: &[],
        end: ("ok", 0),
        check: |outcome| {
            assert_eq!(outcome["result"], -1, "EPERM: {outcome:#}");
            assert_eq!(outcome["sandbox"]["refused"], value!(["kill"]));
        },
    },
    Attempt {
        name: "a debugger",
        code: concat!(
            "demo::echo(\"x\").await?; println!(\"before\");\n",
            by_hand!("101", "16", "1"),
            "result"
        ),
        options: &[],
        end: ("sandbox_violation", 6),
        check: |outcome| {
            let expected = value!({ "signal": 31, "syscall": "ptrace", "calls": 1, "stdout_bytes": 7 });
            assert_eq!(outcome["error"]["evidence"], expected);
            assert_says(&outcome["error"]["message"], &["the forbidden system call ptrace"]);
            assert_eq!(outcome["sandbox"]["refused"], value!(["ptrace"]));
        },
    },
];

impl Attempt {
    fn hold(&self, run: Run) {
        let host = format!("host={}", std::process::id());
        let run = run.arguments(&["run", "--json", "-", "--arg", &host]).arguments(self.options);
        let done = run.input(self.code).variable("SECRET", SECRET).done();
        let shown = format!("{}{}", done.stdout, done.stderr);
        assert!(!shown.contains(SECRET), "{}: the secret leaked: {shown}", self.name);
        let (status, code) = self.end;
        let outcome = done.exits(code).outcome();
        assert_eq!(outcome["status"], status, "{}: {outcome:#}", self.name);
        (self.check)(&outcome);
    }
}

#[test]
fn hostile_snippets_have_clear_outcomes() {
    for attempt in ATTEMPTS {
        attempt.hold(Run::new(shared()));
    }
}

#[test]
fn hostile_snippets_have_the_same_outcomes_without_namespaces() {
    if has_namespaces() {
        for attempt in ATTEMPTS {
            attempt.hold(without_namespaces());
        }
    }
}

/// Grants enable system calls on paths; other paths do not exist.
#[test]
fn a_program_with_granted_paths_reaches_no_others() {
    if !has_namespaces() {
        return;
    }
    let code = "let kind = |path: &str| std::fs::read(path).map_err(|error| error.kind().to_string()).map(|bytes| bytes.len());\n\
                let host = args.require(\"host\")?;\n\
                (kind(&format!(\"/proc/{host}/environ\")), kind(\"/proc/self/environ\"), kind(\"/etc/passwd\"), kind(\"/dev/mem\"))";
    let host = format!("host={}", std::process::id());
    let run = json(code).config(&sandbox_config("scratch: 1MiB")).arguments(&["--arg", &host]);
    let done = run.variable("SECRET", SECRET).done().exits(0);
    let none = value!({ "Err": "entity not found" });
    assert_eq!(done.outcome()["result"], value!([none, none, none, none]));
    assert!(!done.stdout.contains(SECRET) && !done.stderr.contains(SECRET));
}

#[test]
fn cpu_and_memory_limits_leave_evidence() {
    let spin = "demo::echo(\"x\").await?; println!(\"four\"); loop { std::hint::black_box(1); }";
    let outcome = json(spin).config(&sandbox_config("cpu: 1")).expect("timeout", 4);
    let expected = value!({ "limit": "cpu", "seconds": 1, "calls": 1, "stdout_bytes": 5 });
    assert_eq!(outcome["error"]["evidence"], expected);
    let small = json("vec![1u8; 60 << 20].len()").config(&sandbox_config("memory: 64MiB"));
    let outcome = small.expect("memory_limit", 5);
    assert_eq!(outcome["error"]["evidence"]["bytes"], 64 << 20);
    // Large stacks, as above.
    let threads = "loop { std::thread::Builder::new().stack_size(64 << 20).spawn(|| loop { std::thread::park(); }).expect(\"failed to spawn thread\"); }";
    let outcome = json(threads).config(&sandbox_config("threads: 3")).expect("panic", 1);
    assert_eq!(outcome["error"]["evidence"]["threads"], 3);
}

#[test]
fn more_threads_than_processors_share_their_time_and_do_not_fail() {
    let code = "let mut sum = 0; std::thread::scope(|scope| { \
                let threads: Vec<_> = (1..=16).map(|n| scope.spawn(move || n)).collect(); \
                for thread in threads { sum += thread.join().unwrap(); } }); sum";
    let outcome = json(code).config(&sandbox_config("processors: 1")).expect("ok", 0);
    assert_eq!(outcome["result"], 136);
}

/// Visits every file in a folder, recursively.
fn files(folder: &Path, each: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        match kind.is_dir() {
            true => files(&entry.path(), each),
            false if kind.is_file() => each(&entry.path()),
            false => {}
        }
    }
}

/// A server's secret reaches only the server: no outcome, message or file contains it.
#[test]
fn a_servers_secret_is_in_no_output_and_no_file() {
    let cache = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(cache.path());
    let config = "mcpServers:\n  demo:\n    command: toolsmith\n    args: [demo-server]\n    env: { TOKEN: \"${SECRET}\" }\n";
    for code in [
        "println!(\"{:?}\", std::env::vars().collect::<Vec<_>>()); demo::list_orders().await?.orders.len()",
        "demo::echo(1, 2)",
    ] {
        let run = Run::new(cache.path()).arguments(&["run", "--json", "-"]).input(code);
        let done = run.config(config).variable("SECRET", SECRET).done();
        assert!(!done.stdout.contains(SECRET) && !done.stderr.contains(SECRET), "{done:#?}");
        assert_eq!(done.outcome()["status"] == "ok", code.starts_with("println"), "{done:#?}");
    }
    let mut seen = 0;
    files(cache.path(), &mut |file| {
        seen += 1;
        let bytes = fs::read(file).unwrap();
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found, "the secret is in {}", file.display());
    });
    assert!(seen > 40, "{seen} files");
}

/// Talks to a demo server until it has answered, and reads its environment and that of another process.
const LOOK: &str = r#"
mkfifo question answer
"$BINARY" demo-server <question >answer &
server=$!
exec 3>question 4<answer
echo "$INITIALIZE" >&3
read -r answered <&4
cat "/proc/$server/environ" >/dev/null && echo "the host is open"
sleep 1000 &
cat "/proc/$!/environ" >/dev/null && echo "another is open"
kill $!
exec 3>&-
wait "$server"
echo "answered ${#answered}"
"#;

#[test]
fn other_processes_of_the_user_cannot_inspect_the_host() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let copy = folder.path().join("toolsmith");
    // Copied by another process: child processes could hold a file that this one writes open, and it could not be
    // executed.
    assert!(Command::new("cp").arg(binary()).arg(&copy).status().unwrap().success());
    let mut command = Command::new("sh");
    command.args(["-c", LOOK]).env("BINARY", &copy).env("SECRET", SECRET);
    if rustix::process::getuid().is_root() {
        // Root can read everything.
        command.uid(65_534).gid(65_534);
    }
    let initialize = value!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" }
        }
    });
    let run = Run::of(command, shared()).variable("INITIALIZE", &initialize.to_string());
    let done = run.working_folder(folder.path()).done().exits(0).says(&["Permission denied"]);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(matches!(lines[..], ["another is open", answered] if answered != "answered 0"), "{done:#?}");
}
