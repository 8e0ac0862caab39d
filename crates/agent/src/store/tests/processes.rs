//! Concurrent writers of one file: in one process, in several, and one that is killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::*;

/// The environment of a process that one of these tests starts: the file, and its task.
const FILE: &str = "AGENT_STORE_TEST_FILE";
const MODE: &str = "AGENT_STORE_TEST_MODE";

/// The number of concurrent writers: a parent and fifty subagents, or stores of one process.
const PROCESSES: usize = 51;
const THREADS: usize = 12;

/// The number of conversations of each writer, and of messages in each conversation.
const CONVERSATIONS: usize = 4;
const MESSAGES: usize = 15;

/// Starts this test binary again, to run only [`started_by_another_test`].
fn start(file: &Path, mode: &str) -> Child {
    let own = "store::tests::processes::started_by_another_test";
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", own, "--nocapture"]).env(FILE, file).env(MODE, mode);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

#[tokio::test]
async fn started_by_another_test() {
    let Some(file) = std::env::var_os(FILE).map(PathBuf::from) else { return };
    let report = |text: &str| writeln!(std::io::stdout(), "\nstored {text}").unwrap();
    let store = Store::open(&file).unwrap();
    match std::env::var(MODE).unwrap().as_str() {
        "write" => {
            write_conversations(&store, &format!("process {}", std::process::id())).await;
            store.flush().await.unwrap();
        }
        _ => {
            let mut conversation = store.begin(about(None));
            loop {
                let id = conversation.keep(&says(&"until it is killed ".repeat(200)), cost(1, 1, 0));
                store.flush().await.unwrap();
                report(&format!("{} {id}", conversation.id()));
                // A message that is not flushed.
                conversation.keep(&says("in flight"), Usage::default());
            }
        }
    }
}

async fn write_conversations(store: &Store, who: &str) {
    let mut conversations: Vec<_> = (0..CONVERSATIONS).map(|_| store.begin(about(Some(who)))).collect();
    for number in 0..MESSAGES {
        for conversation in &mut conversations {
            conversation.keep(&says(&format!("{who} says {number}")), cost(1, 1, 0));
        }
        tokio::task::yield_now().await;
    }
}

async fn all_is_there(store: &Store, writers: usize) {
    let list = store.list().await.unwrap();
    assert_eq!(list.len(), writers * CONVERSATIONS);
    for summary in list {
        let who = summary.about.label.unwrap();
        let expected: Vec<String> = (0..MESSAGES).map(|number| format!("{who} says {number}")).collect();
        assert_eq!(texts(&store.path(&summary.id, None).await.unwrap()), expected);
    }
    sound(store);
}

fn sound(store: &Store) {
    let connection = Connection::open(store.file()).unwrap();
    let check: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    let dangling: i64 =
        connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
    assert_eq!((check.as_str(), dangling), ("ok", 0));
}

#[tokio::test]
async fn concurrent_processes_create_one_file_and_lose_nothing() {
    let folder = folder();
    let file = folder.path().join("new/c.db");
    let children: Vec<Child> = (0..PROCESSES).map(|_| start(&file, "write")).collect();
    for child in children {
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    }
    all_is_there(&Store::open(&file).unwrap(), PROCESSES).await;
}

#[tokio::test]
async fn stores_of_one_process_create_one_file_and_lose_nothing() {
    let folder = folder();
    let file = folder.path().join("c.db");
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let file = &file;
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(async {
                    let store = Store::open(file).unwrap();
                    write_conversations(&store, &format!("thread {number}")).await;
                    store.flush().await.unwrap();
                });
            });
        }
    });
    all_is_there(&Store::open(&file).unwrap(), THREADS).await;
}

#[tokio::test]
async fn fifty_conversations_of_one_store_keep_their_order() {
    let folder = folder();
    let store = Store::open(&folder.path().join("c.db")).unwrap();
    let writers = (0..50).map(|number| {
        let store = store.clone();
        async move { write_conversations(&store, &format!("task {number}")).await }
    });
    futures::future::join_all(writers).await;
    store.flush().await.unwrap();
    all_is_there(&store, 50).await;
}

#[tokio::test]
async fn flushed_messages_survive_a_kill_and_can_be_resumed() {
    let folder = folder();
    let file = folder.path().join("c.db");
    let mut child = start(&file, "until killed");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let stored = lines.by_ref().filter_map(|line| line.strip_prefix("stored ").map(str::to_owned)).take(40);
    let stored: Vec<String> = stored.collect();
    // While it still writes, and its output is still read.
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9), "SIGKILL");
    drop(lines);
    assert_eq!(stored.len(), 40);
    let store = Store::open(&file).unwrap();
    sound(&store);
    let id = stored[0].split_once(' ').unwrap().0;
    let (mut conversation, path) = store.resume(id).await.unwrap();
    let kept: Vec<&str> = path.iter().map(|kept| kept.id.as_str()).collect();
    for line in &stored {
        assert!(kept.contains(&line.split_once(' ').unwrap().1), "{line}");
    }
    for pair in path.windows(2) {
        assert_eq!(pair[1].parent.as_ref(), Some(&pair[0].id));
    }
    conversation.keep(&says("continued"), Usage::default());
    store.flush().await.unwrap();
    assert_eq!(store.path(id, None).await.unwrap().len(), path.len() + 1);
}
