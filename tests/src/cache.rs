//! The cache that all tests share: the crates that snippets are compiled against, built once by a cold start.

#![allow(clippy::unwrap_used, missing_docs, reason = "only tests use it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::process::Signal;

use crate::harness::{COLD_WATCHDOG, Run, RunningProcess, programs_folder};

/// The shared cache, warm, and whether this process had to build it.
static SHARED: OnceLock<(PathBuf, bool)> = OnceLock::new();

/// The folder of the shared cache. If it is cold, the first caller builds it with [`cold_start`].
pub fn shared() -> &'static Path {
    &warmed().0
}

/// The same folder, warm or not.
pub fn folder() -> PathBuf {
    home().join("cache")
}

fn home() -> PathBuf {
    temporary().join("toolsmith-home")
}

pub fn warmed() -> &'static (PathBuf, bool) {
    SHARED.get_or_init(|| {
        let (home, cache) = (home(), folder());
        let cold = layers(&cache).is_empty();
        if cold {
            cold_start(&home);
        }
        // Rebuilds it if the sources have changed.
        run(&cache).watchdog(COLD_WATCHDOG).expect("ok", 0);
        (cache, cold)
    })
}

/// `toolsmith run --json -` with `code` on standard input, on the cache that all tests share.
pub fn json(code: &str) -> Run {
    plain(code).argument("--json")
}

/// `toolsmith run -` with `code` on standard input, on the cache that all tests share.
pub fn plain(code: &str) -> Run {
    Run::new(shared()).arguments(&["run", "-"]).input(code)
}

/// The finished layers in a cache.
pub fn layers(cache: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache.join("layers-v1")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|layer| layer.join("index.json").is_file()).collect()
}

pub fn run(cache: &Path) -> Run {
    Run::new(cache).arguments(&["run", "--json", "-"]).input("6 * 7")
}

/// Starts a run and returns it once it compiles the layer.
fn compiling(cache: &Path) -> RunningProcess {
    let started = run(cache).watchdog(COLD_WATCHDOG).start();
    started.wait_until("a compiler", || {
        started.descendants().iter().any(|command| command.contains("--crate-name serde_core"))
    });
    started
}

/// Cold starts: one run is killed while it compiles, one is interrupted, then two build concurrently. The folder above
/// the cache has a cargo configuration with a missing program.
pub fn cold_start(home: &Path) {
    let cache = &home.join("cache");
    fs::create_dir_all(home.join(".cargo")).unwrap();
    fs::write(home.join(".cargo/config.toml"), "[build]\nrustc-wrapper = \"/no/such/wrapper\"\n").unwrap();
    fs::write(home.join("rust-toolchain.toml"), "[toolchain]\npath = \"/no/such/toolchain\"\n").unwrap();

    let killed = compiling(cache);
    killed.signal(Signal::KILL);
    killed.done();
    assert_eq!(layers(cache).len(), 0);

    let interrupted = compiling(cache);
    interrupted.signal(Signal::INT);
    interrupted.done().exits(130).says(&["cancelled"]);
    assert_eq!(layers(cache).len(), 0);

    let two = [0, 1].map(|_| run(cache).watchdog(COLD_WATCHDOG).start());
    let [first, second] = two.map(|started| started.done().exits(0));
    for done in [&first, &second] {
        assert_eq!(done.outcome()["result"], 42, "{done:#?}");
    }
    assert_eq!(layers(cache).len(), 1);
    let waited = |text: &str| text.contains("waiting for another toolsmith");
    assert!(waited(&first.stderr) != waited(&second.stderr), "{first:#?} {second:#?}");
}

/// Fills a cache with only the layer of the shared one.
pub fn with_the_layer_of_the_shared(cache: &Path) {
    // Older layers belong to older sources; a layer's folder has the time of its last use.
    let layer = layers(shared())
        .into_iter()
        .max_by_key(|layer| fs::metadata(layer).and_then(|layer| layer.modified()).unwrap())
        .unwrap();
    let copy = cache.join("layers-v1").join(layer.file_name().unwrap());
    fs::create_dir_all(&copy).unwrap();
    for file in fs::read_dir(&layer).unwrap().flatten() {
        fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
}

/// The folder for the tests' files in the target folder.
pub fn temporary() -> PathBuf {
    programs_folder().parent().unwrap().join("tmp")
}
