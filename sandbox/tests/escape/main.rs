//! Ways out of the sandbox, each tried without it, where it must work, and in every tier and under every layer that is to
//! stop it alone. Run as root it does all of it once more as an ordinary user.
//!
//! `SANDBOX_REQUIRE_ALL=1` makes an attempt that cannot work here even without a sandbox a failure. What came of each attempt
//! is written to `escape-*.txt` in cargo's folder for the files of tests.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

#[path = "../common/mod.rs"]
mod common;
mod compile_time;
mod host;
mod suite;
mod summary;
mod table;
mod world;

use std::path::{Path, PathBuf};

use sandbox::Profile;
use suite::Suite;

/// The folder for the summaries of the tests as an ordinary user.
const SUMMARIES: &str = "SANDBOX_TEST_SUMMARIES";

fn program() -> PathBuf {
    common::compiled("escape")
}

fn user() -> &'static str {
    if rustix::process::getuid().is_root() { "root" } else { "ordinary user" }
}

fn run(summaries: &Path) {
    let suite = Suite { user: user(), helper: common::helper(), program: program() };
    let mut wrong = Vec::new();
    for profile in [Profile::Program, Profile::Compiler] {
        let tried = suite.run(profile);
        wrong.extend(summary::conclude(&suite, profile, &tried, summaries));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_holds_a_program_in_every_tier() {
    for row in table::ROWS {
        assert!(suite::is_held_in_every_tier(row), "{}", row.number);
    }
}

#[test]
fn no_attempt_gets_through() {
    run(Path::new(env!("CARGO_TARGET_TMPDIR")));
}

/// Only where there is another user to be: as root.
#[test]
fn no_attempt_gets_through_as_an_ordinary_user() {
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
    let said = String::from_utf8_lossy(&output.stderr);
    let _ = std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes());
    assert!(output.status.success(), "{}{said}", String::from_utf8_lossy(&output.stdout));
}

/// Does nothing in an ordinary run.
#[test]
fn acts_as_an_ordinary_user() {
    let Some(summaries) = std::env::var_os(SUMMARIES) else { return };
    run(Path::new(&summaries));
}
