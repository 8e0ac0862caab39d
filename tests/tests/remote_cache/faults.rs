//! If a store is down, slow or broken, its entries are not found, and the user is warned once.

use std::time::Duration;

use end_to_end::fault_proxy::{Fault, FaultProxy};
use end_to_end::page::normal;
use end_to_end::s3_server::S3Server;
use insta::assert_snapshot;
use remote_cache::Settings;
use runner::Availability;

use crate::fixture::{Found, Key, Machine, s3};

/// The time limit of machines that are to meet it.
const SHORT: Duration = Duration::from_millis(200);

/// A store with the entry `a` behind a proxy, and a machine that signs.
async fn behind_proxy(timeout: Duration) -> (S3Server, FaultProxy, Machine) {
    let (server, key) = (S3Server::start(), Key::new());
    Machine::writer(&server, &key).share("a", &"the program ".repeat(1000), None).await;
    let proxy = FaultProxy::start(server.address());
    let settings = Settings { key: Some(key.source()), timeout, ..s3(proxy.address()) };
    (server, proxy, Machine::new(&settings))
}

/// Asks for an entry until the store is left alone; returns how often it was asked.
async fn until_paused(machine: &Machine) -> usize {
    let mut lookups = 0;
    while machine.statistics().reading == Availability::Used {
        machine.want("a").await.expect_missing();
        lookups += 1;
        assert!(lookups <= 3, "{:?}", machine.statistics());
    }
    lookups
}

/// While the store is left alone, nothing is sent to it, and its user was told once.
async fn is_left_alone(machine: &Machine, proxy: &FaultProxy, words: &str) {
    let before = proxy.requests();
    for _ in 0..100 {
        assert!(matches!(machine.want("a").await, Found::Missing(None)));
    }
    assert_eq!(proxy.requests(), before);
    let notes = machine.notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("can't be read") && notes[0].contains(words), "{notes:?}");
}

#[tokio::test]
async fn a_store_with_latency_is_used() {
    let (_server, proxy, machine) = behind_proxy(Duration::from_secs(20)).await;
    proxy.set(Fault::Latency(Duration::from_millis(50)));
    assert!(machine.look("a").await.program().starts_with("the program"));
    assert_eq!(machine.statistics().failures, 0);
}

#[tokio::test]
async fn a_silent_store_is_asked_once() {
    let (_server, proxy, machine) = behind_proxy(SHORT).await;
    proxy.set(Fault::Silence);
    assert_eq!(until_paused(&machine).await, 1);
    is_left_alone(&machine, &proxy, "did not answer within 0.2 s").await;
}

#[tokio::test]
async fn a_store_that_answers_500_is_asked_three_times() {
    let (_server, proxy, machine) = behind_proxy(Duration::from_secs(20)).await;
    proxy.set(Fault::ServerError);
    assert_eq!(until_paused(&machine).await, 3);
    is_left_alone(&machine, &proxy, "500").await;
}

#[tokio::test]
async fn a_store_that_resets_connections_is_asked_three_times() {
    let (_server, proxy, machine) = behind_proxy(Duration::from_secs(20)).await;
    proxy.set(Fault::Reset);
    assert_eq!(until_paused(&machine).await, 3);
    is_left_alone(&machine, &proxy, "").await;
}

#[tokio::test]
async fn half_an_answer_is_no_entry() {
    let (_server, proxy, machine) = behind_proxy(Duration::from_secs(20)).await;
    // The head of the answer has about 300 bytes, the entry as many.
    proxy.set(Fault::Cut(500));
    assert_eq!(until_paused(&machine).await, 3);
    assert_eq!(machine.statistics().refused, 0, "the store is at fault, not the entry");
}

#[tokio::test]
async fn a_store_that_does_not_exist_is_asked_three_times() {
    let (server, key) = (S3Server::start(), Key::new());
    let address = server.address();
    drop(server);
    let machine = Machine::new(&Settings { key: Some(key.source()), ..s3(address) });
    assert_eq!(until_paused(&machine).await, 3);
    assert_eq!(machine.notes().len(), 1);
    assert!(machine.state().await.trouble.is_some());
}

#[tokio::test]
async fn a_store_that_works_again_is_used_again() {
    let (_server, proxy, machine) = behind_proxy(SHORT).await;
    proxy.set(Fault::Silence);
    until_paused(&machine).await;
    proxy.set(Fault::None);
    let resumes = async {
        loop {
            match machine.look("a").await {
                Found::Program(_) => return,
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), resumes).await.unwrap();
    let notes = machine.notes();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert_snapshot!(normal(&notes[1]), @"the remote cache s3://artifacts is used again");
}

#[tokio::test]
async fn entries_that_can_not_be_written_are_counted_and_said_once() {
    let (_server, proxy, machine) = behind_proxy(SHORT).await;
    let claim = machine.want("b").await.claim();
    proxy.set(Fault::Reset);
    machine.share("b", "the program", Some(claim)).await;
    for name in ["c", "d", "e", "f"] {
        machine.share(name, "the program", None).await;
    }
    let statistics = machine.statistics();
    assert_eq!((statistics.written, statistics.unwritten), (0, 5), "{statistics:?}");
    assert_eq!(statistics.writing, Availability::Paused);
    let notes = machine.notes();
    assert_eq!(notes.iter().filter(|note| note.contains("can't be written to")).count(), 1, "{notes:?}");
}

#[tokio::test]
async fn wrong_credentials_are_said_without_them() {
    let (server, key) = (S3Server::start(), Key::new());
    let mut settings = Settings { key: Some(key.source()), ..s3(server.address()) };
    settings.variables.insert("AWS_SECRET_ACCESS_KEY".to_owned(), "not-the-secret".to_owned());
    let machine = Machine::new(&settings);
    until_paused(&machine).await;
    let notes = machine.notes();
    assert_snapshot!(normal(&notes[0]), @r"
    the remote cache s3://artifacts can't be read: permission denied (S3 also answers this for a missing object if the credentials lack s3:ListBucket); snippets are compiled here, and it is tried again after 5 s or more (this is reported once)
    ");
    assert!(!format!("{notes:?} {settings:?}").contains("not-the-secret"), "{notes:?} {settings:?}");
}
