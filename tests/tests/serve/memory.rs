//! Concurrent compilers on a machine with little memory.

use std::process::Command;

use end_to_end::cache::with_the_layer_of_the_shared;
use end_to_end::serving::{DEMO, Serve, execute, outcome_of};
use serde_json::json;

/// Number of concurrent executions: the default limit of `serve`.
const EXECUTIONS: u32 = 16;

/// Replaces the kernel's memory information for one process and its children.
const WITH_LITTLE_MEMORY: &str = "mount --bind little-memory /proc/meminfo && exec \"$0\" \"$@\"";

#[test]
fn sixteen_concurrent_compilers_wait_for_memory_and_all_run() {
    let cache = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(cache.path());
    // In its own namespace, an ordinary user may mount.
    let isolated = Command::new("unshare").args(["-Urm", "true"]).output();
    let is_isolated = isolated.is_ok_and(|output| output.status.success());
    // Room for one compiler, and not for two.
    let meminfo = format!("MemTotal: {0} kB\nMemAvailable: {0} kB\n", 5 << 20);
    let mut serve = Serve::new(DEMO).variable("TOOLSMITH_CACHE_DIR", cache.path().to_str().unwrap());
    if is_isolated {
        serve = serve.file("little-memory", &meminfo).by_command(&[
            "unshare",
            "-Urm",
            "sh",
            "-c",
            WITH_LITTLE_MEMORY,
        ]);
    }
    let mut server = serve.start();
    server.shake_hands();
    for id in 1..=EXECUTIONS {
        let mut parameters = execute(&format!("{id} * 2"));
        parameters["_meta"] = json!({ "progressToken": id });
        server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": parameters }));
    }
    if is_isolated {
        server.receive("the wait", |message| {
            message["params"]["message"].as_str().is_some_and(|text| text.contains("waiting for memory"))
        });
    }
    for id in 1..=EXECUTIONS {
        let answer =
            server.receive("an answer", |message| message["id"] == id && message["method"].is_null());
        assert_eq!(outcome_of(&answer)["result"], id * 2, "{answer:#}");
    }
    // The compilers in the background hold files of their own (`background-0`).
    let exists = |number: &str| cache.path().join("compilers").join(number).exists();
    assert!(exists("0"));
    assert!(!is_isolated || !exists("1"), "several compilers ran concurrently");
}
