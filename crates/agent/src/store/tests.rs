//! Tests of the store: content, queries, deletion, faults and concurrent processes.

mod faults;
mod processes;

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::message::{Block, Role, ToolCall, ToolResult};

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn about(label: Option<&str>) -> NewConversation {
    NewConversation {
        label: label.map(str::to_owned),
        parent_run: label.map(|_| "r1".to_owned()),
        model: "m".to_owned(),
        folder: "/work".to_owned(),
    }
}

fn says(text: &str) -> Message {
    Message::text(Role::User, text)
}

fn texts(path: &[StoredMessage]) -> Vec<String> {
    path.iter().map(|kept| kept.message.texts()).collect()
}

fn cost(input: u64, output: u64, cached: u64) -> Usage {
    Usage { input, output, cached }
}

#[tokio::test]
async fn every_kind_of_message_round_trips() {
    let folder = folder();
    let store = Store::open(&folder.path().join("c.db")).unwrap();
    let call = ToolCall {
        id: "c1".into(),
        name: "files_read".into(),
        arguments: json!({ "path": "a\u{0}b", "deep": [[{}], 1.5, null] }),
        signatures: vec!["s".into()],
    };
    let media =
        Block::Media { media_type: "image/png".into(), data: "AAAA".into(), name: Some("x.png".into()) };
    let result =
        ToolResult { blocks: vec![Block::text("read"), media.clone()], ..ToolResult::of(&call, "", true) };
    let thought = Block::Thinking { text: String::new(), signature: Some("t".into()) };
    let messages = [
        Message { role: Role::User, blocks: vec![Block::text("look \u{1b}[31m\u{0} at 🦀"), media] },
        Message { role: Role::Assistant, blocks: vec![thought, Block::text(""), Block::ToolCall(call)] },
        Message { role: Role::Tool, blocks: vec![Block::ToolResult(result)] },
        Message { role: Role::Assistant, blocks: Vec::new() },
    ];
    let mut conversation = store.begin(about(None));
    let ids: Vec<String> =
        messages.iter().map(|message| conversation.keep(message, cost(u64::MAX, 2, 1))).collect();
    assert_eq!(conversation.last(), ids.last().map(String::as_str));
    store.flush().await.unwrap();
    let (again, path) = store.resume(conversation.id()).await.unwrap();
    assert_eq!(path.iter().map(|kept| kept.message.clone()).collect::<Vec<_>>(), messages);
    assert_eq!(path.iter().map(|kept| kept.id.clone()).collect::<Vec<_>>(), ids);
    let parents: Vec<_> = path.iter().map(|kept| kept.parent.clone()).collect();
    assert_eq!(parents, [None, Some(ids[0].clone()), Some(ids[1].clone()), Some(ids[2].clone())]);
    assert_eq!((again.id(), again.last()), (conversation.id(), conversation.last()));
    assert_eq!(path[1].usage.output, 2);
    assert_eq!(store.list().await.unwrap()[0].usage, cost(4 << 40, 8, 4), "excessive counts are limited");
}

#[tokio::test]
async fn a_conversation_resumed_at_an_earlier_message_has_two_branches() {
    let folder = folder();
    let store = Store::open(&folder.path().join("c.db")).unwrap();
    let mut first = store.begin(about(None));
    let root = first.keep(&says("root"), Usage::default());
    let left = first.keep(&says("left"), Usage::default());
    first.keep(&says("left end"), Usage::default());
    store.flush().await.unwrap();
    let (mut second, path) = store.resume_at(first.id(), &root).await.unwrap();
    assert_eq!(texts(&path), ["root"]);
    second.keep(&says("right"), Usage::default());
    store.flush().await.unwrap();
    assert_eq!(texts(&store.path(first.id(), None).await.unwrap()), ["root", "right"]);
    assert_eq!(texts(&store.path(first.id(), Some(&left)).await.unwrap()), ["root", "left"]);
    // The first handle continues its own branch.
    first.keep(&says("left after all"), Usage::default());
    store.flush().await.unwrap();
    let latest = store.path(first.id(), None).await.unwrap();
    assert_eq!(texts(&latest), ["root", "left", "left end", "left after all"]);
    let (summary, all) = store.whole(first.id()).await.unwrap();
    assert_eq!(texts(&all), ["root", "left", "left end", "right", "left after all"]);
    assert_eq!(summary.messages, 5);
    let other = store.begin(about(None));
    let wrong = store.path(first.id(), Some("nothing")).await.unwrap_err();
    assert_eq!(wrong.kind, StoreErrorKind::Missing);
    assert!(wrong.to_string().contains("no message \"nothing\""), "{wrong}");
    let wrong = store.path(other.id(), None).await.unwrap_err();
    assert!(
        wrong.to_string().contains("no conversation"),
        "a conversation without a message is not listed: {wrong}"
    );
}

#[tokio::test]
async fn conversations_are_listed_and_found_by_a_prefix_of_their_id() {
    let folder = folder();
    let store = Store::open(&folder.path().join("c.db")).unwrap();
    let mut mine = store.begin(about(None));
    mine.keep(&says(&format!("a  question\nof {}", "x".repeat(90))), Usage::default());
    mine.keep(&says("answer"), cost(10, 5, 3));
    mine.keep(&says("more"), cost(20, 6, 0));
    let mut other = store.begin(about(Some("subagent:reviewer:k3")));
    other.keep(&Message { role: Role::User, blocks: Vec::new() }, Usage::default());
    store.flush().await.unwrap();
    let list = store.list().await.unwrap();
    assert_eq!(list.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), [other.id(), mine.id()]);
    assert_eq!((list[0].about.clone(), list[0].title.as_str()), (about(Some("subagent:reviewer:k3")), ""));
    assert_eq!((list[1].messages, list[1].usage), (3, cost(30, 11, 3)));
    assert_eq!(list[1].title, format!("a question of {}…", "x".repeat(66)));
    assert!(list[1].begun > 1_600_000_000_000 && list[1].changed >= list[1].begun);
    let beginning: String = mine
        .id()
        .chars()
        .zip(other.id().chars().chain([' ']))
        .take_while(|(one, two)| one == two)
        .map(|(one, _)| one)
        .collect();
    let own = &mine.id()[..=beginning.len()];
    assert_eq!(store.find(&own.to_uppercase()).await.unwrap().id, mine.id());
    for (id, phrase) in
        [("", "no conversation"), ("%", "no conversation"), ("uuu", "toolsmith conversation list")]
    {
        let wrong = store.find(id).await.unwrap_err();
        assert!(wrong.to_string().contains(phrase) && wrong.to_string().contains("c.db"), "{wrong}");
    }
    let mut more = Vec::new();
    for _ in 0..33 {
        let mut one = store.begin(about(None));
        one.keep(&says("x"), Usage::default());
        more.push(one.id().to_owned());
    }
    store.flush().await.unwrap();
    more.sort();
    // 33 ids share 32 possible first letters.
    let twin = more.windows(2).find(|pair| pair[0][..1] == pair[1][..1]).unwrap();
    let wrong = store.find(&twin[0][..1]).await.unwrap_err();
    assert_eq!(wrong.kind, StoreErrorKind::Ambiguous);
    assert!(wrong.to_string().contains("more than one") && wrong.to_string().contains(&twin[0]), "{wrong}");
}

#[tokio::test]
async fn the_file_and_its_log_are_private_to_the_owner() {
    let folder = folder();
    let file = folder.path().join("a/b/c.db");
    let store = Store::open(&file).unwrap();
    store.begin(about(None)).keep(&says("x"), Usage::default());
    store.flush().await.unwrap();
    let mode = |path: &str| std::fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(["a", "a/b", "a/b/c.db", "a/b/c.db-wal"].map(mode), [0o700, 0o700, 0o600, 0o600]);
    assert_eq!(store.file(), file);
}

#[tokio::test]
async fn tool_calls_and_results_can_be_queried_in_sql() {
    let folder = folder();
    let store = Store::open(&folder.path().join("c.db")).unwrap();
    let call = |id: &str, name: &str| ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: json!({ "path": id }),
        signatures: Vec::new(),
    };
    let calls = [call("1", "read"), call("2", "write")];
    let mut conversation = store.begin(about(None));
    let blocks = calls.iter().cloned().map(Block::ToolCall).collect();
    conversation.keep(&Message { role: Role::Assistant, blocks }, Usage::default());
    let results = calls.iter().map(|call| Block::ToolResult(ToolResult::of(call, "done", call.id == "2")));
    conversation.keep(&Message { role: Role::Tool, blocks: results.collect() }, Usage::default());
    store.flush().await.unwrap();
    let connection = Connection::open(store.file()).unwrap();
    let sql = "SELECT c.tool, c.arguments ->> '$.path', r.is_error, r.blocks ->> '$[0].text' FROM tool_calls AS c \
               JOIN tool_results AS r ON r.conversation = c.conversation AND r.call = c.call ORDER BY c.call";
    let mut statement = connection.prepare(sql).unwrap();
    let rows =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
    let rows: Vec<(String, String, bool, String)> = rows.map(Result::unwrap).collect();
    let row = |tool: &str, path: &str, failed| (tool.to_owned(), path.to_owned(), failed, "done".to_owned());
    assert_eq!(rows, [row("read", "1", false), row("write", "2", true)]);
}

#[tokio::test]
async fn deleted_conversations_are_erased_and_an_unknown_id_deletes_nothing() {
    let folder = folder();
    let store = Store::open(&folder.path().join("c.db")).unwrap();
    let mut long = store.begin(about(None));
    // Deeper than SQLite's limit on cascading deletes.
    for number in 0..1500 {
        long.keep(&says(&format!("unmistakable {number} {}", "y".repeat(300))), Usage::default());
    }
    let mut stays = store.begin(about(None));
    stays.keep(&says("stays"), Usage::default());
    store.flush().await.unwrap();
    let wrong = store.delete(&[long.id().to_owned(), "uuu".to_owned()]).await.unwrap_err();
    assert!(wrong.to_string().contains("uuu"), "{wrong}");
    assert_eq!(store.list().await.unwrap().len(), 2);
    let holds = || {
        let files = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
        let mut files = files.collect::<Vec<_>>();
        files.retain(|bytes| bytes.windows(12).any(|part| part == b"unmistakable"));
        !files.is_empty()
    };
    assert!(holds());
    let size = || std::fs::metadata(store.file()).unwrap().len();
    let deleted = store.delete(&[long.id().to_owned(), long.id().to_owned()]).await.unwrap();
    assert_eq!(
        deleted.iter().map(|one| (one.id.as_str(), one.messages)).collect::<Vec<_>>(),
        [(long.id(), 1500)]
    );
    assert!(!holds() && size() < 200_000, "{} bytes are left", size());
    assert_eq!(store.list().await.unwrap()[0].id, stays.id());
    let count = |table: &str| {
        let connection = Connection::open(store.file()).unwrap();
        connection
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    assert_eq!(["conversations", "messages", "blocks"].map(count), [1, 1, 1]);
}

#[tokio::test]
async fn old_conversations_are_pruned() {
    let folder = folder();
    let store = Store::open(&folder.path().join("c.db")).unwrap();
    let mut old = store.begin(about(None));
    old.keep(&says("old"), Usage::default());
    let mut revived = store.begin(about(None));
    revived.keep(&says("old as well"), Usage::default());
    store.flush().await.unwrap();
    let connection = Connection::open(store.file()).unwrap();
    connection.execute("UPDATE messages SET at = 1000", []).unwrap();
    revived.keep(&says("new"), Usage::default());
    assert_eq!(store.prune(1000).await.unwrap(), [], "not older than that");
    let pruned = store.prune(1001).await.unwrap();
    assert_eq!(pruned.iter().map(|one| one.title.as_str()).collect::<Vec<_>>(), ["old"]);
    assert_eq!(texts(&store.path(revived.id(), None).await.unwrap()), ["old as well", "new"]);
}
