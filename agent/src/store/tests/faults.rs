//! Files that can't be used, and what is told when writing fails.

use std::time::Duration;

use super::super::content::StoredBlock;
use super::super::schema::VERSION;
use super::super::writer::{NewRecord, Writer};
use super::*;

fn refused(file: &Path) -> String {
    let wrong = Store::open(file).unwrap_err().0;
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
fn a_file_that_is_no_database_is_left_as_it_is() {
    let folder = folder();
    let file = folder.path().join("notes.txt");
    let text = "these are notes, and no database at all ".repeat(40);
    std::fs::write(&file, &text).unwrap();
    assert!(refused(&file).contains("no file of conversations"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    assert!(refused(folder.path()).contains("check that it is a file"));
    let below = file.join("c.db");
    let wrong = Store::open(&below).unwrap_err().0;
    assert!(
        wrong.contains("notes.txt can't be") || wrong.contains("notes.txt for conversations can't be made"),
        "{wrong}"
    );
}

#[test]
fn the_database_of_another_program_is_left_as_it_is() {
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
fn a_file_of_a_newer_version_is_left_as_it_is() {
    let folder = folder();
    let file = folder.path().join("c.db");
    drop(Store::open(&file).unwrap());
    Connection::open(&file).unwrap().pragma_update(None, "user_version", VERSION + 1).unwrap();
    let wrong = refused(&file);
    assert!(wrong.contains("newer version") && wrong.contains("update this program"), "{wrong}");
}

#[test]
fn a_file_without_any_byte_becomes_a_store() {
    let folder = folder();
    let file = folder.path().join("c.db");
    std::fs::write(&file, "").unwrap();
    Store::open(&file).unwrap();
    Store::open(&file).unwrap();
}

#[tokio::test]
async fn a_damaged_file_is_told_and_is_no_panic() {
    let folder = folder();
    let file = folder.path().join("c.db");
    let store = Store::open(&file).unwrap();
    let mut conversation = store.begin(about(None));
    for _ in 0..200 {
        conversation.keep(&says(&"x".repeat(500)), Usage::default());
    }
    store.flush().await.unwrap();
    let id = conversation.id().to_owned();
    // The last of the file writes its log into it.
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
    assert!(wrong.0.contains("damaged.db") && wrong.0.contains("it is damaged"), "{wrong}");
}

#[test]
fn on_a_full_disk_messages_wait_and_are_kept_when_there_is_room_again() {
    let folder = folder();
    let file = folder.path().join("c.db");
    let (mut writer, state) = writer(&file);
    let pages: i64 = writer.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    // What a full disk is to SQLite.
    let limit = |writer: &Writer, pages: i64| {
        let sql = format!("PRAGMA max_page_count = {pages}");
        writer.connection.query_row(&sql, [], |_| Ok(())).unwrap();
    };
    limit(&writer, pages + 1);
    writer.take(keep("a", true, &"x".repeat(50_000)));
    writer.take(keep("b", true, "y"));
    let told = writer.flush().unwrap_err().0;
    assert!(told.contains("2 messages are not kept") && told.contains("make room"), "{told}");
    assert!(told.contains("c.db"), "{told}");
    assert_eq!(writer.flush().unwrap_err().0, told, "it is still so");
    assert!(state.trouble().unwrap().0.contains("make room"));
    limit(&writer, 1 << 30);
    writer.take(keep("a", false, "z"));
    writer.flush().unwrap();
    assert_eq!(state.trouble(), None);
    let sql =
        "SELECT group_concat(conversation, '') FROM (SELECT conversation FROM messages ORDER BY number)";
    let order: String = writer.connection.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(order, "aba");
}

#[test]
fn while_another_process_keeps_the_file_locked_messages_wait() {
    let folder = folder();
    let file = folder.path().join("c.db");
    let (mut writer, state) = writer(&file);
    writer.patience = Duration::ZERO;
    writer.connection.busy_timeout(Duration::ZERO).unwrap();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    writer.take(keep("a", true, "x"));
    let told = writer.flush().unwrap_err().0;
    assert!(told.contains("1 messages") && told.contains("another process"), "{told}");
    other.execute_batch("ROLLBACK").unwrap();
    writer.flush().unwrap();
    assert_eq!(state.trouble(), None);
}

#[tokio::test]
async fn a_conversation_that_another_process_deletes_is_kept_no_further_and_others_are() {
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
    let told = store.flush().await.unwrap_err().0;
    assert!(told.contains(gone.id()) && told.contains("deleted in the meantime"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    gone.keep(&says("4"), Usage::default());
    store.flush().await.unwrap();
    let list = store.list().await.unwrap();
    assert_eq!(list.iter().map(|one| (one.id.as_str(), one.messages)).collect::<Vec<_>>(), [(stays.id(), 3)]);
}

#[test]
fn more_than_can_wait_is_told_and_the_rest_of_that_conversation_is_not_kept() {
    let folder = folder();
    let file = folder.path().join("c.db");
    let (mut writer, state) = writer(&file);
    writer.take(keep("a", true, "x"));
    writer.take(Work::Overflow("a".to_owned()));
    writer.take(keep("a", false, "y"));
    writer.take(keep("b", true, "z"));
    let told = writer.flush().unwrap_err().0;
    assert!(told.contains("the conversation a ") && told.contains("32 MiB"), "{told}");
    writer.flush().unwrap();
    assert_eq!(state.trouble(), None);
    let sql = "SELECT group_concat(conversation, '') FROM messages";
    let kept: String = writer.connection.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(kept, "b");
}
