//! Unusable files, and the errors when writing fails.

use std::time::Duration;

use super::super::content::StoredBlock;
use super::super::schema::FORMAT;
use super::super::writer::{NewRecord, Writer};
use super::*;

fn refused(file: &Path) -> String {
    let wrong = Store::open(file).unwrap_err().to_string();
    assert!(wrong.contains(file.to_str().unwrap()), "{wrong}");
    wrong
}

fn keep(conversation: &str, is_first: bool, text: &str) -> Work {
    let json = serde_json::to_string(&Block::text(text)).unwrap();
    let keep = Keep {
        conversation: conversation.to_owned(),
        beginning: is_first.then(|| NewRecord { about: about(None), at: 1 }),
        id: random::short_id(MESSAGE_ID),
        parent: None,
        at: 1,
        role: Role::User,
        usage: Usage::default(),
        blocks: vec![StoredBlock { kind: "text", json }],
    };
    Work::Keep(Box::new(keep), text.len())
}

fn writer(file: &Path) -> (Writer, Arc<State>) {
    let state = Arc::new(State::default());
    (Writer::new(file::open(file).unwrap(), file.to_owned(), Arc::clone(&state)), state)
}

#[test]
fn a_file_that_is_not_a_database_is_left_unchanged() {
    let folder = folder();
    let file = folder.path().join("notes.txt");
    let text = "these are notes, not a database at all ".repeat(40);
    std::fs::write(&file, &text).unwrap();
    assert!(refused(&file).contains("not a file of conversations"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    assert!(refused(folder.path()).contains("check that it is a file"));
    let below = file.join("c.db");
    let wrong = Store::open(&below).unwrap_err().to_string();
    assert!(
        wrong.contains("notes.txt can't be")
            || wrong.contains("notes.txt for conversations can't be created"),
        "{wrong}"
    );
}

#[test]
fn the_database_of_another_program_is_left_unchanged() {
    let folder = folder();
    let file = folder.path().join("other.db");
    Connection::open(&file).unwrap().execute_batch("CREATE TABLE mine (x)").unwrap();
    assert!(refused(&file).contains("another program"));
    let connection = Connection::open(&file).unwrap();
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
}

#[test]
fn a_file_of_a_newer_version_is_left_unchanged() {
    let folder = folder();
    let file = folder.path().join("c.db");
    drop(Store::open(&file).unwrap());
    Connection::open(&file).unwrap().pragma_update(None, "user_version", FORMAT.version() + 1).unwrap();
    let wrong = refused(&file);
    assert!(wrong.contains("newer version") && wrong.contains("update this program"), "{wrong}");
}

#[test]
fn an_empty_file_becomes_a_store() {
    let folder = folder();
    let file = folder.path().join("c.db");
    std::fs::write(&file, "").unwrap();
    Store::open(&file).unwrap();
    Store::open(&file).unwrap();
}

#[tokio::test]
async fn a_damaged_file_is_an_error() {
    let folder = folder();
    let file = folder.path().join("c.db");
    let store = Store::open(&file).unwrap();
    let mut conversation = store.begin(about(None));
    for _ in 0..200 {
        conversation.keep(&says(&"x".repeat(500)), Usage::default());
    }
    store.flush().await.unwrap();
    let id = conversation.id().to_owned();
    // The last connection to close writes the log into the file.
    let mut bytes = {
        let connection = Connection::open(&file).unwrap();
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        std::fs::read(&file).unwrap()
    };
    bytes[4096..].fill(0x5a);
    let other = folder.path().join("damaged.db");
    std::fs::write(&other, bytes).unwrap();
    let wrong = match Store::open(&other) {
        Err(wrong) => wrong,
        Ok(store) => store.path(&id, None).await.unwrap_err(),
    };
    assert!(
        wrong.to_string().contains("damaged.db") && wrong.to_string().contains("it is damaged"),
        "{wrong}"
    );
}

#[test]
fn messages_wait_while_the_disk_is_full() {
    let folder = folder();
    let file = folder.path().join("c.db");
    let (mut writer, state) = writer(&file);
    let pages: i64 = writer.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    // Simulates a full disk for SQLite.
    let limit = |writer: &Writer, pages: i64| {
        let sql = format!("PRAGMA max_page_count = {pages}");
        writer.connection.query_row(&sql, [], |_| Ok(())).unwrap();
    };
    limit(&writer, pages + 1);
    writer.take(keep("a", true, &"x".repeat(50_000)));
    writer.take(keep("b", true, "y"));
    let error = writer.flush().unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::NotStored);
    let obstacle = std::error::Error::source(&error).unwrap().to_string();
    assert!(obstacle.contains("free some space"), "{obstacle}");
    let error = error.to_string();
    assert!(error.contains("not stored yet: 2 messages") && error.contains("free some space"), "{error}");
    assert!(error.contains("c.db"), "{error}");
    assert_eq!(writer.flush().unwrap_err().to_string(), error, "the obstacle remains");
    assert!(state.trouble().unwrap().to_string().contains("free some space"));
    limit(&writer, 1 << 30);
    writer.take(keep("a", false, "z"));
    writer.flush().unwrap();
    assert!(state.trouble().is_none());
    let sql =
        "SELECT group_concat(conversation, '') FROM (SELECT conversation FROM messages ORDER BY number)";
    let order: String = writer.connection.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(order, "aba");
}

#[test]
fn messages_wait_while_another_process_locks_the_file() {
    let folder = folder();
    let file = folder.path().join("c.db");
    let (mut writer, state) = writer(&file);
    writer.patience = Duration::ZERO;
    writer.connection.busy_timeout(Duration::ZERO).unwrap();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    writer.take(keep("a", true, "x"));
    let error = writer.flush().unwrap_err().to_string();
    assert!(error.contains("1 message:") && error.contains("another process"), "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    writer.flush().unwrap();
    assert!(state.trouble().is_none());
}

#[tokio::test]
async fn a_conversation_deleted_by_another_process_is_no_longer_stored() {
    let folder = folder();
    let file = folder.path().join("c.db");
    let store = Store::open(&file).unwrap();
    let (mut gone, mut stays) = (store.begin(about(None)), store.begin(about(None)));
    gone.keep(&says("1"), Usage::default());
    stays.keep(&says("1"), Usage::default());
    store.flush().await.unwrap();
    Store::open(&file).unwrap().delete(&[gone.id().to_owned()]).await.unwrap();
    for text in ["2", "3"] {
        gone.keep(&says(text), Usage::default());
        stays.keep(&says(text), Usage::default());
    }
    let error = store.flush().await.unwrap_err().to_string();
    assert!(error.contains(gone.id()) && error.contains("deleted by another process"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    gone.keep(&says("4"), Usage::default());
    store.flush().await.unwrap();
    let list = store.list().await.unwrap();
    assert_eq!(list.iter().map(|one| (one.id.as_str(), one.messages)).collect::<Vec<_>>(), [(stays.id(), 3)]);
}

#[test]
fn an_overflow_is_reported_and_ends_the_storing_of_its_conversation() {
    let folder = folder();
    let file = folder.path().join("c.db");
    let (mut writer, state) = writer(&file);
    writer.take(keep("a", true, "x"));
    writer.take(Work::Overflow("a".to_owned()));
    writer.take(keep("a", false, "y"));
    writer.take(keep("b", true, "z"));
    let error = writer.flush().unwrap_err().to_string();
    assert!(error.contains("the conversation a ") && error.contains("32 MiB"), "{error}");
    writer.flush().unwrap();
    assert!(state.trouble().is_none());
    let sql = "SELECT group_concat(conversation, '') FROM messages";
    let kept: String = writer.connection.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(kept, "b");
}
