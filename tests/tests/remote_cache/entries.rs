//! Entries that machines share, and what becomes of entries that somebody changed in the store.

use std::path::PathBuf;

use end_to_end::page::normal;
use end_to_end::s3_server::S3Server;
use insta::assert_snapshot;
use remote_cache::Settings;

use crate::fixture::{Key, MAX_BYTES, Machine, s3};

/// The object of a program.
fn object(server: &S3Server, key: &str) -> PathBuf {
    let found = server.objects(&format!("v1/entries/programs-v1/{}/{key}", runner::TARGET));
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// A text that does not become smaller when it is compressed.
fn noise(length: usize) -> String {
    let mut state = 1_u64;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'!' + u8::try_from((state >> 33) % 90).unwrap())
        })
        .collect()
}

#[tokio::test]
async fn an_entry_of_one_machine_is_found_by_others_with_its_public_key() {
    let (server, key) = (S3Server::start(), Key::new());
    let (writer, reader) = (Machine::writer(&server, &key), Machine::reader(&server, &key));
    reader.look("a").await.expect_missing();
    writer.share("a", "the program", None).await;
    assert_eq!(reader.look("a").await.program(), "the program");
    assert_eq!(writer.look("a").await.program(), "the program");
    assert_eq!((writer.statistics().written, reader.statistics().refused), (1, 0));
    assert!(reader.notes().is_empty() && writer.notes().is_empty());
}

#[tokio::test]
async fn an_entry_that_exists_is_not_written_again() {
    let (server, key) = (S3Server::start(), Key::new());
    for _ in 0..2 {
        Machine::writer(&server, &key).share("a", "the program", None).await;
    }
    let puts = server.requests().iter().filter(|line| line.starts_with("PUT")).count();
    assert_eq!(puts, 1, "{:#?}", server.requests());
}

#[tokio::test]
async fn a_machine_without_the_private_key_writes_nothing() {
    let (server, key) = (S3Server::start(), Key::new());
    let reader = Machine::reader(&server, &key);
    assert!(matches!(reader.want("a").await, crate::fixture::Found::Missing(None)));
    reader.share("a", "the program", None).await;
    assert!(server.objects("some/prefix").is_empty(), "{:?}", server.objects(""));
}

#[tokio::test]
async fn every_flipped_byte_is_refused() {
    let (server, key) = (S3Server::start(), Key::new());
    Machine::writer(&server, &key).share("a", &noise(2_000), None).await;
    let object = object(&server, "a");
    let whole = std::fs::read(&object).unwrap();
    // Each byte of what precedes the header, and some of the header and of the contents.
    for at in (0..86).chain((86..whole.len()).step_by(97)).chain([whole.len() - 1]) {
        let mut changed = whole.clone();
        changed[at] ^= 0x20;
        std::fs::write(&object, &changed).unwrap();
        let reader = Machine::reader(&server, &key);
        reader.look("a").await.expect_missing();
        assert_eq!(reader.statistics().refused, 1, "byte {at} of {}", whole.len());
        assert_eq!(reader.statistics().failures, 0, "the store is not at fault");
    }
    std::fs::write(&object, &whole).unwrap();
    Machine::reader(&server, &key).look("a").await.program();
}

#[tokio::test]
async fn every_truncation_is_refused() {
    let (server, key) = (S3Server::start(), Key::new());
    Machine::writer(&server, &key).share("a", &noise(2_000), None).await;
    let object = object(&server, "a");
    let whole = std::fs::read(&object).unwrap();
    for length in (0..whole.len()).step_by(61).chain([85, 86, whole.len() - 1]) {
        std::fs::write(&object, &whole[..length]).unwrap();
        let reader = Machine::reader(&server, &key);
        reader.look("a").await.expect_missing();
        assert_eq!(reader.statistics().refused, 1, "{length} of {} bytes", whole.len());
        assert!(reader.notes()[0].contains("it is truncated"), "{:?}", reader.notes());
    }
}

#[tokio::test]
async fn bytes_after_an_entry_are_refused() {
    let (server, key) = (S3Server::start(), Key::new());
    Machine::writer(&server, &key).share("a", "the program", None).await;
    let object = object(&server, "a");
    let whole = std::fs::read(&object).unwrap();
    std::fs::write(&object, [whole, b"more".to_vec()].concat()).unwrap();
    let reader = Machine::reader(&server, &key);
    reader.look("a").await.expect_missing();
    assert_eq!(reader.statistics().refused, 1);
}

#[tokio::test]
async fn an_entry_under_the_name_of_another_is_refused() {
    let (server, key) = (S3Server::start(), Key::new());
    let writer = Machine::writer(&server, &key);
    writer.share("a", "deletes everything", None).await;
    writer.share("b", "reads", None).await;
    std::fs::copy(object(&server, "a"), object(&server, "b")).unwrap();
    let reader = Machine::reader(&server, &key);
    reader.look("b").await.expect_missing();
    let notes = reader.notes();
    assert_snapshot!(normal(&notes[0]), @r"
    refused the entry programs-v1/x86_64-unknown-linux-musl/b of the remote cache s3://artifacts: it is another entry: programs-v1/x86_64-unknown-linux-musl/a; it is built here instead
    ");
    assert_eq!(reader.look("a").await.program(), "deletes everything");
}

#[tokio::test]
async fn an_entry_of_another_layer_or_target_is_refused() {
    let (server, key) = (S3Server::start(), Key::new());
    Machine::writer(&server, &key).share("a", "the program", None).await;
    let programs = object(&server, "a");
    let moved = |from: &str, to: &str| {
        let other = PathBuf::from(programs.to_str().unwrap().replace(from, to));
        std::fs::create_dir_all(other.parent().unwrap()).unwrap();
        std::fs::copy(&programs, &other).unwrap();
    };
    moved("programs-v1", "bindings-v1");
    moved(runner::TARGET, "other-target");
    let reader = Machine::reader(&server, &key);
    for (number, id) in (1..).zip([
        runner::ArtifactId { bucket: runner::Bucket::Bindings, target: runner::TARGET, key: "a".to_owned() },
        runner::ArtifactId { bucket: runner::Bucket::Programs, target: "other-target", key: "a".to_owned() },
    ]) {
        reader.look_for(id).await.expect_missing();
        assert_eq!(reader.statistics().refused, number);
    }
}

#[tokio::test]
async fn an_older_form_is_refused_and_replaced() {
    let (server, key) = (S3Server::start(), Key::new());
    Machine::writer(&server, &key).share("a", "the program", None).await;
    let object = object(&server, "a");
    let mut older = std::fs::read(&object).unwrap();
    assert_eq!(older[8..10], [0, 1]);
    older[9] = 0;
    std::fs::write(&object, &older).unwrap();
    let writer = Machine::writer(&server, &key);
    let claim = writer.want("a").await.claim();
    assert_snapshot!(normal(&writer.notes()[0]), @r"
    refused the entry programs-v1/x86_64-unknown-linux-musl/a of the remote cache s3://artifacts: it has the form 0, and this program reads the form 1; it is built here instead
    ");
    writer.share("a", "built again", Some(claim)).await;
    assert_eq!(Machine::reader(&server, &key).look("a").await.program(), "built again");
}

#[tokio::test]
async fn a_refused_entry_is_replaced_even_without_a_claim() {
    let (server, key) = (S3Server::start(), Key::new());
    let writer = Machine::writer(&server, &key);
    writer.share("a", "the program", None).await;
    std::fs::write(
        object(&server, "a"),
        "nonsense that is long enough to have a header, but no magic number at all",
    )
    .unwrap();
    writer.look("a").await.expect_missing();
    writer.share("a", "built again", None).await;
    assert_eq!(writer.look("a").await.program(), "built again");
}

#[tokio::test]
async fn an_entry_of_an_unknown_key_is_refused_until_the_key_is_known() {
    let (server, old, new) = (S3Server::start(), Key::new(), Key::new());
    Machine::writer(&server, &old).share("a", "the program", None).await;
    let reader = Machine::reader(&server, &new);
    reader.look("a").await.expect_missing();
    let notes = reader.notes();
    assert_snapshot!(normal(&notes[0]), @r"
    refused the entry programs-v1/x86_64-unknown-linux-musl/a of the remote cache s3://artifacts: it is signed with the key [hash], which is not among cache.remote.publicKeys; it is built here instead
    ");
    assert!(notes[0].contains(&old.public().name()), "{notes:?}");
    let both = Settings { public_keys: vec![new.public(), old.public()], ..s3(server.address()) };
    assert_eq!(Machine::new(&both).look("a").await.program(), "the program");
    // Who signs with the new key still reads what the old one has signed.
    let rotated =
        Settings { key: Some(new.source()), public_keys: vec![old.public()], ..s3(server.address()) };
    let rotated = Machine::new(&rotated);
    assert_eq!(rotated.look("a").await.program(), "the program");
    rotated.share("b", "another", None).await;
    assert_eq!(reader.look("b").await.program(), "another");
}

#[tokio::test]
async fn an_entry_that_is_too_large_is_refused_before_it_is_read() {
    let (server, key) = (S3Server::start(), Key::new());
    let writer = Machine::writer(&server, &key);
    // Packed, it is small: only its header tells.
    writer.share("a", &"x".repeat(usize::try_from(MAX_BYTES).unwrap() + 1), None).await;
    let reader = Machine::reader(&server, &key);
    reader.look("a").await.expect_missing();
    // Packed, it is large: its length tells.
    writer.share("b", &noise(usize::try_from(MAX_BYTES).unwrap() * 3), None).await;
    reader.look("b").await.expect_missing();
    assert_eq!(reader.statistics().refused, 2);
    assert_snapshot!(normal(&reader.notes()[0]), @r"
    refused the entry programs-v1/x86_64-unknown-linux-musl/a of the remote cache s3://artifacts: it is too large; it is built here instead
    ");
}

#[tokio::test]
async fn what_is_wrong_with_entries_is_said_once() {
    let (server, key, other) = (S3Server::start(), Key::new(), Key::new());
    let (writer, reader) = (Machine::writer(&server, &key), Machine::reader(&server, &other));
    for name in ["a", "b", "c"] {
        writer.share(name, "the program", None).await;
        reader.look(name).await.expect_missing();
    }
    assert_eq!((reader.statistics().refused, reader.notes().len()), (3, 1));
}
