//! One machine builds what several need.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use end_to_end::s3_server::S3Server;
use futures::future::join_all;
use runner::Claim;

use crate::fixture::{Found, Key, MAX_BYTES, Machine};

/// The objects of leases.
fn lease_files(server: &S3Server) -> Vec<PathBuf> {
    server.objects("/v1/leases/")
}

/// Waits until something has happened.
async fn wait_until(has_happened: impl Fn() -> bool) {
    let happens = async {
        while !has_happened() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), happens).await.unwrap();
}

/// A machine whose runtime has ended with its lease in the store, like a process that is killed.
fn dead_owner(server: &S3Server, key: &Key) -> (Machine, Claim) {
    std::thread::scope(|scope| {
        let owner = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let machine = Machine::writer(server, key);
            let claim = runtime.block_on(async { machine.want("a").await.claim() });
            drop(runtime);
            (machine, claim)
        });
        owner.join().unwrap()
    })
}

#[tokio::test]
async fn of_several_machines_one_builds_and_the_others_get_its_entry() {
    const MACHINES: usize = 6;
    let (server, key) = (S3Server::start(), Key::new());
    let machines: Vec<Machine> = (0..MACHINES).map(|_| Machine::writer(&server, &key)).collect();
    let built =
        join_all(machines.iter().enumerate().map(async |(number, machine)| match machine.want("a").await {
            Found::Missing(Some(claim)) => {
                let folder = tempfile::tempdir().unwrap();
                std::fs::write(folder.path().join("program"), format!("by {number}")).unwrap();
                machine.offer("a", folder.path(), Some(claim));
                wait_until(|| machine.statistics().written == 1).await;
                Some(number)
            }
            found => {
                assert!(found.program().starts_with("by "));
                None
            }
        }));
    let builders: Vec<usize> = built.await.into_iter().flatten().collect();
    assert_eq!(builders.len(), 1, "{builders:?}");
    let waits: u64 = machines.iter().map(|machine| machine.statistics().waits).sum();
    assert_eq!(usize::try_from(waits).unwrap() + 1, MACHINES);
}

#[tokio::test]
async fn a_claim_that_is_dropped_passes_to_another_machine() {
    let (server, key) = (S3Server::start(), Key::new());
    let (first, second) = (Machine::writer(&server, &key), Machine::writer(&server, &key));
    let claim = first.want("a").await.claim();
    let waiting = second.want("a");
    tokio::pin!(waiting);
    assert!(futures::poll!(waiting.as_mut()).is_pending());
    // For example because the text does not compile.
    drop(claim);
    let claim = waiting.await.claim();
    second.share("a", "the program", Some(claim)).await;
    assert_eq!(first.look("a").await.program(), "the program");
}

#[tokio::test]
async fn the_death_of_the_owner_is_survived() {
    let (server, key) = (S3Server::start(), Key::new());
    let dead = dead_owner(&server, &key);
    assert_eq!(lease_files(&server).len(), 1);
    let (second, third) = (Machine::writer(&server, &key), Machine::writer(&server, &key));
    let build = async |machine: &Machine| match machine.want("a").await {
        Found::Missing(Some(claim)) => {
            machine.share("a", "the program", Some(claim)).await;
            true
        }
        found => {
            assert_eq!(found.program(), "the program");
            false
        }
    };
    let (one, other) = tokio::join!(build(&second), build(&third));
    assert!(one != other, "one takes the place of the dead owner, the other waits again: {one} {other}");
    drop(dead);
}

#[tokio::test]
async fn an_owner_that_lives_is_waited_for_longer_than_a_dead_one() {
    let (server, key) = (S3Server::start(), Key::new());
    let (first, second) = (Machine::writer(&server, &key), Machine::writer(&server, &key));
    let claim = first.want("a").await.claim();
    let renewed = async {
        // Longer than a lease lives without a renewal.
        wait_until(|| server.requests().iter().filter(|line| line.starts_with("PUT")).count() >= 6).await;
        first.share("a", "the program", Some(claim)).await;
    };
    let (found, ()) = tokio::join!(second.want("a"), renewed);
    assert_eq!(found.program(), "the program");
}

#[tokio::test]
async fn an_entry_that_appears_on_the_machine_ends_the_wait() {
    let (server, key) = (S3Server::start(), Key::new());
    let (first, second) = (Machine::writer(&server, &key), Machine::writer(&server, &key));
    let _claim = first.want("a").await.claim();
    let is_here = AtomicBool::new(false);
    let look = || is_here.swap(true, Ordering::SeqCst);
    assert!(matches!(second.fetch("a", true, MAX_BYTES, &look).await, Found::Here));
}

#[tokio::test]
async fn a_lease_of_nonsense_is_that_of_a_dead_owner() {
    let (server, key) = (S3Server::start(), Key::new());
    let dead = dead_owner(&server, &key);
    std::fs::write(&lease_files(&server)[0], "x".repeat(100_000)).unwrap();
    let claim = Machine::writer(&server, &key).want("a").await.claim();
    drop((dead, claim));
}
