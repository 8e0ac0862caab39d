//! Conversations that outgrow the context window.

use super::*;
use crate::event::Compaction;
use crate::run::ContextWindow;

/// Notes the steps of compactions, and keeps the messages.
struct Notes(Mutex<Vec<String>>, Keeps);

impl Watcher for Notes {
    fn event(&self, event: Event<'_>) {
        if let Event::Compaction(step) = event {
            let step = match step {
                Compaction::Begins { tokens, window } => format!("begins {tokens} of {window}"),
                Compaction::Done { messages, summary } => format!("done {messages} {summary}"),
                Compaction::Failed { why } => format!("failed: {why}"),
            };
            self.0.lock().push(step);
        }
        self.1.event(event);
    }
}

fn used(mut reply: Reply, tokens: u64) -> Reply {
    reply.usage = Usage { input: tokens, output: 0, cached: 0 };
    reply
}

fn ended(text: &str) -> Reply {
    says(vec![Block::text(text)], Stop::End)
}

fn small_window() -> Limits {
    Limits { context_window: Some(ContextWindow { size: 1_000, reply: None }), turns: 9, ..limits() }
}

/// Runs one task; returns the result, the texts of each request, and the steps of compactions.
async fn run(
    replies: Vec<Reply>,
    history: &mut History,
    store: &Store,
) -> (Result<Answer, RunError>, Vec<Vec<String>>, Vec<String>) {
    let (model, limits) = (Says::new(replies), small_window());
    let kept = store.begin(NewConversation::default());
    let watcher = Notes(Mutex::default(), Keeps(Mutex::new(kept)));
    let run = run_with(&model, &limits, &watcher);
    let answer = run.go_on(history, Message::text(Role::User, "sort the apples")).await;
    let requests =
        model.1.lock().iter().map(|messages| messages.iter().map(Message::texts).collect()).collect();
    (answer, requests, watcher.0.into_inner())
}

fn store(folder: &tempfile::TempDir) -> Store {
    Store::open(&folder.path().join("c.db")).unwrap()
}

#[tokio::test]
async fn a_conversation_that_fills_the_window_continues_from_a_summary() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let calls = says(vec![Block::text("calling"), call("a", json!({}))], Stop::ToolCalls);
    let replies = vec![used(calls, 900), used(ended("a summary"), 950), used(ended("done"), 50)];
    let mut history = History::default();
    let (answer, requests, notes) = run(replies, &mut history, &store).await;
    let answer = answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.turns, answer.usage.total()), ("done", 2, 1_900));
    assert_eq!(requests.len(), 3);
    assert!(requests[1][0].contains("sort the apples") && requests[1][0].contains("calls a: {}"));
    let [read] = requests[2].as_slice() else { panic!("{requests:?}") };
    assert!(read.contains("a summary") && read.ends_with("sort the apples"), "{read}");
    assert!(!read.contains("calling"), "{read}");
    assert!(notes[0].starts_with("begins 9") && notes[1] == "done 3 a summary", "{notes:?}");
    assert_eq!(
        roles(&history),
        [Role::User, Role::Assistant, Role::Tool, Role::User, Role::Assistant],
        "nothing is lost"
    );
    // A process that resumes it reads the same.
    store.flush().await.unwrap();
    let id = store.list().await.unwrap()[0].id.clone();
    let resumed: History = store.path(&id, None).await.unwrap().into_iter().collect();
    assert_eq!(resumed, history);
    assert_eq!(resumed.for_model().len(), 2);
}

#[tokio::test]
async fn a_new_message_that_does_not_fit_follows_the_summary() {
    let folder = tempfile::tempdir().unwrap();
    let mut history = History::default();
    history.push(Message::text(Role::User, "before"), Usage::default());
    history.push(ended("yes").message, Usage { input: 790, output: 9, cached: 0 });
    let replies = vec![ended("a summary"), ended("done")];
    let (answer, requests, _) = run(replies, &mut history, &store(&folder)).await;
    answer.unwrap();
    assert!(!requests[0][0].contains("sort the apples"), "{requests:?}");
    assert!(requests[1][0].contains("a summary") && requests[1][0].ends_with("sort the apples"));
}

#[tokio::test]
async fn without_a_summary_the_whole_conversation_is_sent_and_the_failure_reported_once() {
    for (failing, why) in [
        (says(Vec::new(), Stop::End), "no summary"),
        (says(vec![Block::text("half of")], Stop::Length), "cut off"),
        (says(Vec::new(), Stop::Refused("policy".to_owned())), "policy"),
        (ended(&"long ".repeat(400)), "longer than half"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let calls = || used(says(vec![call("a", json!({}))], Stop::ToolCalls), 900);
        let replies = vec![calls(), failing, calls(), ended("done")];
        let mut history = History::default();
        let (answer, requests, notes) = run(replies, &mut history, &store(&folder)).await;
        assert_eq!(answer.unwrap().text, "done");
        assert_eq!((requests.len(), requests[3].len()), (4, 5), "{why}");
        assert!(notes.len() == 2 && notes[1].starts_with("failed: ") && notes[1].contains(why), "{notes:?}");
    }
}

#[tokio::test]
async fn a_message_that_is_too_long_by_itself_is_not_summarized_away() {
    let folder = tempfile::tempdir().unwrap();
    let mut history = History::default();
    history.push(Message::text(Role::User, "x".repeat(4_000)), Usage::default());
    let (answer, requests, notes) = run(vec![ended("done")], &mut history, &store(&folder)).await;
    answer.unwrap();
    assert!(requests.len() == 1 && notes.is_empty(), "{notes:?}");
}
