//! The cache's disk budget: programs with large statics, entries in use, leftovers of killed processes.

use std::fs;
use std::path::{Path, PathBuf};

use end_to_end::cache::with_the_layer_of_the_shared;
use end_to_end::harness::FOREVER;
use end_to_end::harness::{FAULT_SERVER, Run};
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, Serve, execute, outcome_of};
use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::json;

/// The smallest budget. The layer's crates alone exceed it, so every unused entry is evicted.
const SMALLEST: &str = "cache: { size: 64MiB }\n";

fn with_a_layer() -> tempfile::TempDir {
    let cache = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(cache.path());
    cache
}

fn run(cache: &Path, code: &str) -> Run {
    Run::new(cache).arguments(&["run", "--json", "-"]).input(code)
}

/// The entries of a bucket.
fn entries(cache: &Path, bucket: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache.join(bucket)).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// Size of a folder with its contents, in bytes.
fn bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |path: PathBuf| if path.is_dir() { bytes(&path) } else { fs::metadata(path).unwrap().len() };
    entries.map(|entry| size(entry.path())).sum()
}

#[test]
fn programs_with_large_statics_run_and_are_not_cached() {
    let cache = with_a_layer();
    for number in 1..4 {
        let code = format!("static L: [u8; 40 << 20] = [{number}; 40 << 20];\nL[std::hint::black_box(7)]");
        run(cache.path(), &code).argument("--check").expect("ok", 0);
        if number == 1 {
            let outcome = run(cache.path(), &code).expect("ok", 0);
            assert_eq!((&outcome["result"], &outcome["cached"]), (&json!(1), &json!(false)));
        }
    }
    assert_eq!(entries(cache.path(), "programs-v1"), Vec::<PathBuf>::new());
    // The sources of the last compilation may remain: the end of a command does not wait for their removal.
    assert!(bytes(&cache.path().join("temporary-v1")) < 1 << 20);
}

#[test]
fn entries_in_use_are_not_evicted_until_the_run_is_killed() {
    let cache = with_a_layer();
    let folder = tempfile::tempdir().unwrap();
    let (record, go) = (folder.path().join("record"), folder.path().join("go"));
    let entry = format!(
        "mcpServers:\n  rec: {{ command: {FAULT_SERVER:?}, args: [records-cancelled, {record:?}], trust: true }}\n"
    );
    let waiting = run(cache.path(), "rec::wait().message(\"x\").await?.text()").config(&entry).start();
    waiting.wait_until("the call", || fs::read_to_string(&record).unwrap_or_default().contains("call"));
    // The bindings are already part of the program.
    let used = ["layers-v1", "programs-v1"].map(|bucket| entries(cache.path(), bucket));
    assert!(used.iter().all(|entries| entries.len() == 1), "{used:?}");

    let other = |code: &str| run(cache.path(), code).config(&format!("{DEMO}{SMALLEST}")).done().exits(0);
    for number in 0..3 {
        let done = other(&format!("demo::echo(\"{number}\").await?.text()"));
        assert_eq!(done.outcome()["result"], number.to_string());
        assert_eq!(done.stderr.matches("cache.size").count(), 1, "{}", done.stderr);
    }
    let gone: Vec<_> = used.iter().flatten().filter(|entry| !entry.exists()).collect();
    assert!(gone.is_empty(), "{gone:?}");
    assert_eq!(entries(cache.path(), "programs-v1").len(), 2, "expected its own program and the last run's");

    waiting.signal(Signal::KILL);
    waiting.done();
    fs::write(go, "").unwrap();
    other("1 + 1");
    assert!(!used[1][0].exists(), "an unused program was kept");
    assert!(used[0][0].exists(), "the layer was evicted");
}

#[test]
fn leftovers_of_a_killed_build_are_removed_by_the_next_run() {
    let cache = with_a_layer();
    let killed = run(cache.path(), FOREVER).start();
    killed.wait_until("the compiler", || {
        killed.descendants().iter().any(|command| command.contains("--crate-name=program"))
    });
    let living = run(cache.path(), &format!("// another\n{FOREVER}")).start();
    living.wait_until("the compiler", || {
        living.descendants().iter().any(|command| command.contains("--crate-name=program"))
    });
    let temporary = || entries(cache.path(), "temporary-v1");
    let both = temporary();
    killed.signal(Signal::KILL);
    killed.done();
    assert_eq!(temporary().len(), both.len(), "the leftovers were removed too early");
    assert_eq!(run(cache.path(), "6 * 7").result(), 42);
    let left = temporary();
    assert!(left.len() < both.len() && left.iter().all(|folder| both.contains(folder)), "{left:?} {both:?}");
    living.signal(Signal::INT);
    living.done().expect("cancelled", 130);
    assert_eq!(temporary(), Vec::<PathBuf>::new());
}

#[test]
fn the_budget_is_validated_and_a_project_cannot_set_it() {
    let cache = tempfile::tempdir().unwrap();
    let wrong = |size: &str| {
        let config = format!("{DEMO}cache: {{ size: {size} }}\n");
        Run::new(cache.path()).arguments(&["run", "-"]).input("1").config(&config).done().exits(2)
    };
    assert_snapshot!(normal(&wrong("63MiB").stderr), @r#"
    toolsmith: /tmp/.tmpXXXXXX/given.yaml:3:16: "63MiB" is too small; write at least 64MiB
      |
    3 | cache: { size: 63MiB }
      |                ^
    "#);
    assert_snapshot!(normal(&wrong("plenty").stderr), @r#"
    toolsmith: /tmp/.tmpXXXXXX/given.yaml:3:16: "plenty" is not a size: write a whole number with KiB, MiB, GiB, kB, MB or GB, such as 512MiB
      |
    3 | cache: { size: plenty }
      |                ^
    "#);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("toolsmith.yaml"), format!("{DEMO}{SMALLEST}")).unwrap();
    let trust = Run::new(cache.path()).arguments(&["trust", "--yes"]).working_folder(folder.path());
    let home = tempfile::tempdir().unwrap();
    let home = home.path().to_str().unwrap();
    let done = trust.variable("XDG_CONFIG_HOME", home).done();
    let text = format!("{}{}", done.stdout, done.stderr);
    let run = Run::new(cache.path()).arguments(&["run", "-"]).input("1").working_folder(folder.path());
    let run = run.variable("XDG_CONFIG_HOME", home).done();
    let text = format!("{text}{}", run.stderr);
    assert_snapshot!(normal(&text), @r#"
    /tmp/.tmpXXXXXX/toolsmith.yaml:
      server demo starts: toolsmith demo-server
    !   trust: true
      sets cache.size: "64MiB"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml is trusted until it or its lock file changes
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml:3:16: a project can't set cache.size, because all projects share the cache; set it in your own configuration, or in a file that --config names
      |
    3 | cache: { size: 64MiB }
      |                ^
    "#);
}

#[test]
fn doctor_shows_the_caches_size_and_budget() {
    let cache = with_a_layer();
    let doctor = |arguments: &[&str]| {
        Run::new(cache.path())
            .arguments(&["doctor"])
            .arguments(arguments)
            .config_alone(&format!("{DEMO}{SMALLEST}"))
    };
    let shown = doctor(&[]).done().exits(0).stdout;
    assert!(shown.contains("MiB of 64 MiB (cache.size)"), "{shown}");
    let found = doctor(&["--json"]).done().exits(0).outcome();
    assert_eq!(found["cache"]["size"], 64 << 20);
    let used = found["cache"]["used_bytes"].as_u64().unwrap();
    let layer = bytes(&cache.path().join("layers-v1"));
    assert!(used >= layer && used < layer + (1 << 20), "{used} {layer}");
}

/// The cache may be deleted while nothing runs; a server that is running survives it.
#[test]
fn a_server_recreates_its_deleted_cache() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    with_the_layer_of_the_shared(&cache);
    let serve = Serve::new(DEMO).variable("TOOLSMITH_CACHE_DIR", cache.to_str().unwrap());
    let mut server = serve.start();
    server.shake_hands();
    let mut answer = |id, text: &str| {
        let code = format!("demo::echo({text:?}).await?.text()");
        let answer = server.ask(id, "tools/call", &execute(&code));
        assert_eq!(outcome_of(&answer)["result"], text, "{answer:#}");
    };
    answer(1, "before");
    fs::remove_dir_all(&cache).unwrap();
    // Saves this test a minute of compilation.
    with_the_layer_of_the_shared(&cache);
    answer(2, "after");
    assert_eq!(entries(&cache, "programs-v1").len(), 1);
}
