//! `toolsmith serve` with scratch space: files persist between executions of one session only.

use end_to_end::serving::{DEMO, Serve, Server, execute, outcome_of};
use end_to_end::tiers::has_namespaces;
use serde_json::{Value, json};

const SCRATCH: &str = "codeMode: { sandbox: { scratch: 1MiB } }\n";

const LEAVES: &str = "std::fs::write(\"note\", \"left\")?; std::fs::write(\"/scratch/other\", \"too\")?;";
const READS: &str = "(std::fs::read_to_string(\"/scratch/note\").ok(), std::fs::read_dir(\".\")?.count())";

#[track_caller]
fn result(answer: &Value) -> Value {
    let outcome = outcome_of(answer);
    assert_eq!(outcome["status"], "ok", "{answer:#}");
    outcome["result"].clone()
}

/// The number of scratch spaces that the process holds: each is a mount namespace.
fn spaces(server: &Server) -> usize {
    server.open_files().iter().filter(|name| name.starts_with("mnt:[")).count()
}

#[test]
fn files_persist_within_a_session_only() {
    if !has_namespaces() {
        return;
    }
    let server = Serve::http(&format!("{DEMO}{SCRATCH}")).start();
    let (one, other) = (server.client().shake_hands(), server.client().shake_hands());
    let nothing = json!([null, 0]);
    let left = json!(["left", 2]);
    result(&one.ask("tools/call", &execute(LEAVES)));
    assert_eq!(result(&one.ask("tools/call", &execute(READS))), left);
    assert_eq!(result(&other.ask("tools/call", &execute(READS))), nothing);
    // Without a session, each request has its own space.
    let stateless = server.client().stateless();
    for _ in 0..2 {
        assert_eq!(result(&stateless.ask("tools/call", &execute(READS))), nothing);
        result(&stateless.ask("tools/call", &execute(LEAVES)));
    }
    assert_eq!(result(&one.ask("tools/call", &execute(READS))), left);
    assert_eq!(spaces(&server), 2, "{:?}", server.open_files());
    assert!(one.delete().status.is_success());
    server.wait_until("the end of its space", || spaces(&server) == 1);
    assert_eq!(result(&other.ask("tools/call", &execute(READS))), nothing);
    assert!(other.delete().status.is_success());
    server.wait_until("the end of all spaces", || spaces(&server) == 0);
    let next = server.client().shake_hands();
    assert_eq!(result(&next.ask("tools/call", &execute(READS))), nothing);
}

#[test]
fn scratch_space_over_pipes_is_bounded_and_survives_failures() {
    if !has_namespaces() {
        return;
    }
    let mut server = Serve::new(&format!("{DEMO}{SCRATCH}")).start();
    server.shake_hands();
    let mut run = |id: u32, code: &str| server.ask(id, "tools/call", &execute(code));
    result(&run(1, LEAVES));
    let full = run(2, "std::fs::write(\"big\", vec![1u8; 2 << 20])?;");
    assert_eq!(outcome_of(&full)["status"], "runtime_error", "{full:#}");
    assert!(full.to_string().contains("No space left on device"), "{full:#}");
    result(&run(3, "std::fs::remove_file(\"big\")?;"));
    let panic = run(4, "panic!(\"over\")");
    assert_eq!(outcome_of(&panic)["status"], "panic", "{panic:#}");
    assert_eq!(result(&run(5, READS)), json!(["left", 2]));
}

#[test]
fn without_a_grant_there_is_no_scratch_space() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    let answer =
        server.ask(1, "tools/call", &execute("std::fs::write(\"/scratch/note\", \"left\").is_err()"));
    assert_eq!(result(&answer), true);
    assert_eq!(spaces(&server), 0);
}
