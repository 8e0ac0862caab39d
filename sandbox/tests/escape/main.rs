//! Escape attempts. Each is tried without the sandbox, where it must work, in every tier, and under every
//! layer that must stop it alone. As root, all are tried again as an ordinary user.
//!
//! With `SANDBOX_REQUIRE_ALL=1`, an attempt that cannot work here even without a sandbox is a failure. The
//! results are written to `escape-*.txt` in cargo's folder for test files.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

#[path = "../common/mod.rs"]
mod common;
mod compile_time;
mod holes;
mod host;
mod suite;
mod summary;
mod table;
mod world;

use std::path::{Path, PathBuf};

use sandbox::Profile;
use suite::Suite;

/// The folder for the summaries of the tests run as an ordinary user.
const SUMMARIES: &str = "SANDBOX_TEST_SUMMARIES";

fn program() -> PathBuf {
    common::compiled("escape")
}

fn run(summaries: &Path) {
    let suite = Suite::new();
    let mut wrong = Vec::new();
    for profile in [Profile::Program, Profile::Compiler, Profile::Server] {
        let tried = suite.run(profile, |_| true);
        wrong.extend(summary::conclude(&suite, profile, &tried, summaries));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_stops_programs_in_every_tier() {
    for row in table::ROWS {
        assert!(suite::is_held_in_every_tier(row), "{}", row.number);
    }
}

#[test]
fn no_attempt_succeeds() {
    run(Path::new(env!("CARGO_TARGET_TMPDIR")));
}

/// Only as root, which can switch to another user.
#[test]
fn no_attempt_of_an_ordinary_user_succeeds() {
    let Some((mut host, folder)) = common::as_an_ordinary_user(&["escape"]) else { return };
    let (set_user, summaries) = (folder.path().join("set-user"), folder.path().join("summaries"));
    world::plant_set_user(&program(), &set_user, 0);
    std::fs::create_dir(&summaries).unwrap();
    std::os::unix::fs::chown(&summaries, Some(common::ORDINARY), None).unwrap();
    host.args(["--exact", "acts_as_an_ordinary_user", "--nocapture"]);
    let output = host.env(SUMMARIES, &summaries).env(world::SET_USER, set_user).output().unwrap();
    for entry in std::fs::read_dir(summaries).unwrap().flatten() {
        std::fs::copy(entry.path(), Path::new(env!("CARGO_TARGET_TMPDIR")).join(entry.file_name())).unwrap();
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let _ = std::io::Write::write_all(&mut std::io::stderr(), stderr.as_bytes());
    assert!(output.status.success(), "{}{stderr}", String::from_utf8_lossy(&output.stdout));
}

/// Does nothing in an ordinary run.
#[test]
fn acts_as_an_ordinary_user() {
    let Some(summaries) = std::env::var_os(SUMMARIES) else { return };
    run(Path::new(&summaries));
}
