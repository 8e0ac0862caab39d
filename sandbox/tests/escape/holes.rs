//! Holes of the kernel that programs have used to leave sandboxes since 2025: the interface that each needs is refused
//! to programs, compilers and servers, in every tier and by the filter alone.
//!
//! `no_attempt_succeeds` tries the same rows again as an ordinary user.

use sandbox::Profile;

use crate::suite::{Ending, Suite};
use crate::table::ROWS;

/// Tries these attempts, each of which exists.
fn are_refused(attempts: &[&str]) {
    assert!(attempts.iter().all(|name| ROWS.iter().any(|row| row.attempt == *name)));
    let suite = Suite::new();
    for profile in [Profile::Program, Profile::Compiler, Profile::Server] {
        let tried = suite.run(profile, |row| attempts.contains(&row.attempt));
        // A server may send descriptors to its own processes.
        assert!(!tried.is_empty() || profile == Profile::Server);
        for row in tried {
            for (layers, ending) in row.confined {
                // Only the combinations with the filter are claimed.
                let is_held = matches!(ending, Ending::Stopped(_)) || !layers.seccomp;
                assert!(is_held, "{profile:?}, {layers}: {}: {ending:?}", row.row.attempt);
            }
        }
    }
}

/// CVE-2025-38236: a use after free in the urgent data of Unix sockets.
#[test]
fn urgent_data_is_neither_sent_nor_received() {
    are_refused(&["send-urgent", "receive-urgent"]);
}

/// CVE-2026-80521: a race in the collection of sockets that are sent through sockets.
#[test]
fn descriptors_are_sent_through_no_socket() {
    are_refused(&["send-descriptor"]);
}

/// CVE-2026-31431: a cipher of the kernel writes into the pages of a file that were passed to its socket.
#[test]
fn the_ciphers_of_the_kernel_are_unreachable() {
    are_refused(&["kernel-cipher"]);
}

/// The other half of CVE-2026-31431 and CVE-2026-43284, and of CVE-2022-0847: pages of files in pipes and sockets.
#[test]
fn pages_of_files_reach_no_pipe_and_no_socket() {
    are_refused(&["splice", "tee", "vmsplice", "send-file"]);
}

/// CVE-2026-43284, CVE-2026-43500, CVE-2026-43503: tunnels (IPsec) and RxRPC decrypt in such pages.
#[test]
fn tunnels_are_unreachable() {
    are_refused(&["tunnel-keys", "tunnel-routes", "remote-calls", "unshare", "clone-user"]);
}

/// CVE-2025-38352: a race of timers on the processor time of a thread that ends.
#[test]
fn timers_on_processor_time_are_refused() {
    are_refused(&["processor-timer"]);
}

/// Rings of requests, which no filter sees.
#[test]
fn rings_of_requests_are_refused() {
    are_refused(&["io-uring"]);
}
