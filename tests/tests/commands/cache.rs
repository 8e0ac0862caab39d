//! The cache: cold start, kills, a full disk, damage.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use end_to_end::cache::json;
use end_to_end::cache::{cold_start, run, shared, warmed, with_the_layer_of_the_shared};
use end_to_end::harness::{COLD_WATCHDOG, FOREVER, Run, binary, unique};
use end_to_end::page::normal;
use insta::assert_snapshot;
use rustix::process::Signal;

#[test]
fn a_cold_cache_survives_kills_and_concurrent_builds() {
    let (_, was_cold) = warmed();
    if !was_cold {
        let home = tempfile::tempdir().unwrap();
        cold_start(home.path());
    }
}

#[test]
fn a_snippet_is_compiled_once() {
    let code = format!("// {}\nprintln!(\"again\"); 1", unique());
    let first = json(&code).expect("ok", 0);
    assert_eq!(first["cached"], false);
    assert_ne!(first["phases_ms"]["compile"], 0.0);
    let second = json(&code).arguments(&["--arg", "other=arguments"]).expect("ok", 0);
    assert_eq!(second["cached"], true);
    assert_eq!(second["phases_ms"]["compile"], 0.0);
    assert_eq!((&second["result"], &second["stdout"]), (&first["result"], &first["stdout"]));
}

#[test]
fn a_kill_during_compilation_leaves_a_valid_cache() {
    let cache = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(cache.path());
    let run = |code: &str| Run::new(cache.path()).arguments(&["run", "--json", "-"]).input(code);
    for signal in [Signal::KILL, Signal::INT, Signal::TERM] {
        let started = run(FOREVER).start();
        started.wait_until("the compiler", || {
            started.descendants().iter().any(|command| command.contains("--crate-name=program"))
        });
        started.signal(signal);
        let done = started.done();
        if signal != Signal::KILL {
            let outcome = done.expect("cancelled", 130);
            assert_eq!(outcome["error"]["evidence"]["phase"], "compiling");
        }
    }
    assert_eq!(run("regex::Regex::new(\"a+\")?.is_match(\"caat\")").result(), true);
}

#[test]
fn concurrent_runs_of_the_same_new_snippet_both_work() {
    let cache = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(cache.path());
    let run =
        || Run::new(cache.path()).arguments(&["run", "--json", "-"]).input("demo::echo(\"x\").await?.text()");
    let started: Vec<_> = (0..3).map(|_| run().start()).collect();
    for started in started {
        assert_eq!(started.done().expect("ok", 0)["result"], "x");
    }
}

/// Runs `toolsmith` on a full disk, reports how it ended, makes room and runs it again.
///
/// A small file system needs a user namespace that may mount; without one, the limit on file sizes makes writes fail in
/// the same places.
const FULL_DISK: &str = r#"
first() { "$0" "$@" <"$SNIPPET" >/dev/null; echo "on the full disk: exit $?" >&2; }
if [ -n "$ISOLATED" ] && mount -t tmpfs -o size=512m tmpfs "$TOOLSMITH_CACHE_DIR" 2>/dev/null; then
    cp -a "$LAYER/." "$TOOLSMITH_CACHE_DIR"
    cat /dev/zero 2>/dev/null >"$TOOLSMITH_CACHE_DIR/filler"
    truncate -s "-${ROOM}k" "$TOOLSMITH_CACHE_DIR/filler"
    first "$@"
    rm "$TOOLSMITH_CACHE_DIR/filler"
else
    cp -a "$LAYER/." "$TOOLSMITH_CACHE_DIR"
    (ulimit -f 128; first "$@")
fi
exec "$0" "$@" <"$SNIPPET"
"#;

fn on_a_full_disk(layer: &Path, room: u32, snippet: &str) -> Run {
    let isolated = Command::new("unshare").args(["-Urm", "true"]).output();
    let isolated = isolated.is_ok_and(|output| output.status.success());
    let mut command = Command::new(if isolated { "unshare" } else { "sh" });
    command.env("ISOLATED", if isolated { "yes" } else { "" });
    if isolated {
        command.args(["-Urm", "sh"]);
    }
    let cache = layer.join(format!("full-{room}"));
    fs::create_dir_all(&cache).unwrap();
    let file = layer.join("snippet.rs");
    fs::write(&file, snippet).unwrap();
    command.arg("-c").arg(FULL_DISK).arg(binary()).args(["run", "--json", "-"]);
    command.env("LAYER", layer.join("layer")).env("ROOM", room.to_string()).env("SNIPPET", file);
    Run::of(command, &cache)
}

#[test]
fn a_full_disk_is_reported_and_harms_nothing() {
    let folder = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(&folder.path().join("layer"));
    // Kilobytes of room: not even for a list of tools, for the compiler's first files, for its objects.
    let mut shown = Vec::new();
    for room in [4, 60, 200] {
        let done = on_a_full_disk(folder.path(), room, "demo::echo(\"x\").await?.text()").done().exits(0);
        shown.push(normal(&done.stderr));
        assert_eq!(done.outcome()["result"], "x", "{done:#?}");
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: no MCP servers are configured: `demo` is the built-in demo server (add one of your own with `toolsmith mcp add`)
    toolsmith: the cache can't be written to: No space left on device (os error 28)
    help: free some space there, or name another folder in TOOLSMITH_CACHE_DIR
    on the full disk: exit 7
    toolsmith: no MCP servers are configured: `demo` is the built-in demo server (add one of your own with `toolsmith mcp add`)

    toolsmith: no MCP servers are configured: `demo` is the built-in demo server (add one of your own with `toolsmith mcp add`)
    toolsmith: the cache at /tmp/.tmpXXXXXX/full-60/temporary-v1 can't be used: the compiler has no space to write there: No space left on device
    help: free some space there, or name another folder in TOOLSMITH_CACHE_DIR
    on the full disk: exit 7
    toolsmith: no MCP servers are configured: `demo` is the built-in demo server (add one of your own with `toolsmith mcp add`)

    toolsmith: no MCP servers are configured: `demo` is the built-in demo server (add one of your own with `toolsmith mcp add`)
    toolsmith: the cache at /tmp/.tmpXXXXXX/full-200/temporary-v1 can't be used: the compiler has no space to write there: No space left on device
    help: free some space there, or name another folder in TOOLSMITH_CACHE_DIR
    on the full disk: exit 7
    toolsmith: no MCP servers are configured: `demo` is the built-in demo server (add one of your own with `toolsmith mcp add`)
    ");
}

#[test]
fn each_wrong_folder_gets_its_own_advice() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let run = |variable: &str, place: &Path, arguments: &[&str]| {
        Run::new(shared()).arguments(arguments).variable(variable, place.to_str().unwrap()).input("1").done()
    };
    let mut shown = Vec::new();
    for place in [file.clone(), file.join("below")] {
        shown.push(normal(&run("TOOLSMITH_CACHE_DIR", &place, &["run", "-"]).exits(7).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: the cache at /tmp/.tmpXXXXXX/file can't be used: File exists (os error 17)
    help: a file is where a folder must be: move that file away, or name another folder in TOOLSMITH_CACHE_DIR

    toolsmith: the cache at /tmp/.tmpXXXXXX/file/below can't be used: Not a directory (os error 20)
    help: a file is where a folder must be: move that file away, or name another folder in TOOLSMITH_CACHE_DIR
    ");
    assert_snapshot!(normal(&run("XDG_STATE_HOME", &file, &["history", "list"]).exits(2).stderr), @r"
    toolsmith: the state folder /tmp/.tmpXXXXXX/file/toolsmith can't be used: Not a directory (os error 20)
    help: a file is where a folder must be: move that file away, or name another folder in XDG_STATE_HOME
    ");
    assert_snapshot!(normal(&run("XDG_CONFIG_HOME", &file, &["run", "-"]).exits(2).stderr), @r"
    toolsmith: the configuration folder /tmp/.tmpXXXXXX/file/toolsmith can't be used: Not a directory (os error 20)
    help: a file is where a folder must be: move that file away, or name another folder in XDG_CONFIG_HOME
    ");
    // Nobody, not even root, can write there.
    let done = run("TOOLSMITH_CACHE_DIR", Path::new("/proc/1/fdinfo/cache"), &["run", "-"]).exits(7);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: the cache at /proc/1/fdinfo/cache can't be used: Permission denied (os error 13)
    help: it is not yours, or not writable: change its owner or its permissions, or name another folder in TOOLSMITH_CACHE_DIR
    ");
}

#[test]
fn a_file_size_limit_is_reported_and_harms_nothing() {
    let mut command = Command::new("sh");
    // Blocks of 512 bytes (POSIX): room for texts and a program's own part, not for the executable in memory.
    command.args(["-c", "ulimit -f 128; exec \"$0\" \"$@\""]).arg(binary());
    let code = format!("// {}\nitertools::Itertools::join(&mut [1, 2].iter(), \"-\")", unique());
    let done = Run::of(command, shared()).arguments(&["run", "--json", "-"]).input(&code).done();
    assert_snapshot!(normal(&done.exits(7).stderr), @r"
    toolsmith: warning: the history /tmp/.tmpXXXXXX/toolsmith/history.db can't be initialized: disk I/O error; check the file and its disk. Executions go on
    toolsmith: the program can't be placed in memory: File too large (os error 27)
    help: raise the limit on the size of files (`ulimit -f`)
    ");
    assert_eq!(json(&code).result(), "1-2");

    let cold = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 128; exec \"$0\" \"$@\""]).arg(binary());
    let done =
        Run::of(command, cold.path()).arguments(&["run", "-"]).input("1").watchdog(COLD_WATCHDOG).done();
    assert_snapshot!(normal(&done.exits(7).stderr), @r"
    toolsmith: first use: building the crates that snippets are compiled against (once, about a minute)
    toolsmith: warning: the history /tmp/.tmpXXXXXX/toolsmith/history.db can't be initialized: disk I/O error; check the file and its disk. Executions go on
    toolsmith: the cache at /tmp/.tmpXXXXXX/temporary-v1 can't be used: the compiler has no space to write there: (SIGXFSZ)
    help: free some space there, or name another folder in TOOLSMITH_CACHE_DIR
    ");
}

#[test]
fn an_unusable_cache_is_reported() {
    shared();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let read_only = folder.path().join("read-only");
    fs::create_dir(&read_only).unwrap();
    fs::set_permissions(&read_only, fs::Permissions::from_mode(0o555)).unwrap();
    let mut places = vec![file.clone(), file.join("below"), PathBuf::from("/proc/toolsmith")];
    // Permissions do not restrict the superuser.
    if !rustix::process::geteuid().is_root() {
        places.push(read_only);
    }
    for place in places {
        let done = run(&place).done().exits(7);
        done.says(&["the cache at", place.to_str().unwrap(), "TOOLSMITH_CACHE_DIR"]);
    }
}

/// The matching files in the entries of a bucket, at least one.
fn files(cache: &Path, bucket: &str, is_meant: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache.join(bucket)).unwrap().flatten();
    let files = entries.flat_map(|entry| fs::read_dir(entry.path()).unwrap().flatten());
    let meant = files.filter(|file| is_meant(file.file_name().to_str().unwrap()));
    let found: Vec<_> = meant.map(|file| file.path()).collect();
    assert!(!found.is_empty(), "nothing to damage in {bucket}");
    found
}

#[test]
fn a_damaged_cache_heals() {
    type Damage = fn(&Path) -> std::io::Result<()>;
    let cache = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(cache.path());
    let run = |code: &str| Run::new(cache.path()).arguments(&["run", "--json", "-"]).input(code);
    let code = "demo::echo(\"x\").await?.text()";
    assert_eq!(run(code).result(), "x");
    for bucket in ["catalogs-v1", "toolchains-v1"] {
        for file in fs::read_dir(cache.path().join(bucket)).unwrap().flatten() {
            fs::write(file.path(), "{ torn").unwrap();
        }
    }
    for file in files(cache.path(), "generated-v2", |name| name == "index.json") {
        fs::write(&file, vec![b'{'; fs::metadata(&file).unwrap().len().try_into().unwrap()]).unwrap();
    }
    assert_eq!(run(code).result(), "x");

    let truncate: Damage = |file| fs::OpenOptions::new().write(true).open(file)?.set_len(1000);
    let overwrite: Damage = |file| fs::write(file, vec![b'x'; fs::metadata(file)?.len().try_into().unwrap()]);
    let lock: Damage = |file| fs::set_permissions(file, fs::Permissions::from_mode(0o644));
    for (what, damage) in [
        ("truncated", truncate),
        ("missing", |file| fs::remove_file(file)),
        ("torn", overwrite),
        ("mode", lock),
    ] {
        for file in files(cache.path(), "programs-v1", |name| name == "program") {
            damage(&file).unwrap();
        }
        let outcome = run(code).expect("ok", 0);
        assert_eq!((&outcome["result"], &outcome["cached"]), (&"x".into(), &false.into()), "{what}");
        assert_eq!(run(code).expect("ok", 0)["cached"], true, "{what}");
    }
    let damages: [(&str, Damage); 2] = [("truncated", truncate), ("missing", |file| fs::remove_file(file))];
    for (what, damage) in damages {
        for file in files(cache.path(), "bindings-v1", |name| name.ends_with(".rlib")) {
            damage(&file).unwrap();
        }
        // Another program: the first one needs no library.
        assert_eq!(run(&format!("// {what}\n{code}")).result(), "x");
    }
}
