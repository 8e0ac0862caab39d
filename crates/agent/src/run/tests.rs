//! The loop against scripted models and tools.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::json;

use super::*;
use crate::event::Silent;
use crate::store::{Conversation, NewConversation, Store};
use crate::toolset::ToolDefinition;

mod compaction;

/// A model with scripted replies, and the messages of each request.
struct Says(Mutex<Vec<Reply>>, Mutex<Vec<Vec<Message>>>);

impl Says {
    fn new(mut replies: Vec<Reply>) -> Self {
        replies.reverse();
        Says(Mutex::new(replies), Mutex::default())
    }
}

impl ChatModel for Says {
    fn name(&self) -> &str {
        "says"
    }

    fn reply<'a>(
        &'a self,
        request: &'a Request<'a>,
        _: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        self.1.lock().push(request.messages.to_vec());
        let reply = self.0.lock().pop().expect("the model got more requests than scripted");
        async { Ok(reply) }.boxed()
    }
}

/// Tools that return their own name, or never return.
struct Names;

impl Toolset for Names {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<ToolDefinition>, ToolsError>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        async move {
            if call.name == "hang" {
                futures::future::pending::<()>().await;
            }
            ToolResult::of(call, call.name.repeat(100), call.name == "fails")
        }
        .boxed()
    }
}

fn call(name: &str, arguments: Value) -> Block {
    let id = format!("id-{name}");
    Block::ToolCall(ToolCall { id, name: name.to_owned(), arguments, signatures: Vec::new() })
}

fn says(blocks: Vec<Block>, stop: Stop) -> Reply {
    let usage = Usage { input: 10, output: 5, cached: 0 };
    Reply { message: Message { role: Role::Assistant, blocks }, stop, usage }
}

fn limits() -> Limits {
    Limits {
        turns: 3,
        tokens: None,
        time: None,
        result_characters: 30,
        parallel_calls: 4,
        corrections: 0,
        context_window: None,
    }
}

async fn go_on(
    replies: Vec<Reply>,
    limits: &Limits,
    form: Option<&FinalAnswer>,
    conversation: &mut History,
) -> Result<Answer, RunError> {
    let model = Says::new(replies);
    let run = Run { final_answer: form, ..run_with(&model, limits, &Silent) };
    run.go_on(conversation, Message::text(Role::User, "go")).await
}

/// A run without instructions and without a form of the answer.
fn run_with<'a>(model: &'a Says, limits: &'a Limits, watcher: &'a dyn Watcher) -> Run<'a> {
    Run { model, tools: &Names, system: "", limits, final_answer: None, watcher }
}

fn roles(conversation: &History) -> Vec<Role> {
    conversation.messages().iter().map(|message| message.role).collect()
}

#[tokio::test]
async fn tools_are_called_until_a_reply_has_no_calls() {
    let replies = vec![
        says(vec![call("a", json!({})), call("fails", json!({}))], Stop::ToolCalls),
        says(vec![Block::text("done")], Stop::End),
    ];
    let mut conversation = History::default();
    let answer = go_on(replies, &limits(), None, &mut conversation).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.turns, answer.usage.total()), ("done", 2, 30));
    assert_eq!(roles(&conversation), [Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
    let [Block::ToolResult(first), Block::ToolResult(second)] = conversation.messages()[2].blocks.as_slice()
    else {
        panic!("{:?}", conversation.messages()[2]);
    };
    assert_eq!((first.id.as_str(), first.is_error, second.is_error), ("id-a", false, true));
    assert!(first.texts().contains("70 characters are left out"), "{}", first.texts());
}

#[tokio::test]
async fn turns_and_tokens_have_limits() {
    let more = || says(vec![call("a", json!({}))], Stop::ToolCalls);
    let error =
        go_on(vec![more(), more(), more()], &limits(), None, &mut History::default()).await.unwrap_err();
    assert!(matches!(error, RunError::Turns(3)), "{error}");
    let few = Limits { tokens: Some(20), ..limits() };
    let error = go_on(vec![more(), more()], &few, None, &mut History::default()).await.unwrap_err();
    assert!(matches!(error, RunError::Tokens { used: 30, limit: 20 }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn cancelled_calls_get_results_in_the_next_run() {
    let short = Limits { time: Some(Duration::from_secs(5)), ..limits() };
    let mut conversation = History::default();
    let hanging = vec![says(vec![call("hang", json!({}))], Stop::ToolCalls)];
    let error = go_on(hanging, &short, None, &mut conversation).await.unwrap_err();
    assert!(matches!(error, RunError::Time(limit) if limit == Duration::from_secs(5)), "{error}");
    assert_eq!(roles(&conversation), [Role::User, Role::Assistant]);
    go_on(vec![says(vec![Block::text("ok")], Stop::End)], &short, None, &mut conversation).await.unwrap();
    assert_eq!(roles(&conversation)[2..], [Role::Tool, Role::User, Role::Assistant]);
}

/// Stores the messages of a run.
struct Keeps(Mutex<Conversation>);

impl Watcher for Keeps {
    fn event(&self, event: Event<'_>) {
        if let Event::Message(message, usage) = event {
            self.0.lock().keep(message, usage);
        }
    }
}

#[tokio::test]
async fn a_conversation_resumes_after_its_process_died_in_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("c.db")).unwrap();
    let mut before = store.begin(NewConversation::default());
    before.keep(&Message::text(Role::User, "go"), Usage::default());
    before.keep(&says(vec![call("a", json!({}))], Stop::ToolCalls).message, Usage::default());
    store.flush().await.unwrap();
    let (resumed, path) = store.resume(before.id()).await.unwrap();
    let mut conversation: History = path.into_iter().collect();
    let model = Says::new(vec![says(vec![Block::text("ok")], Stop::End)]);
    let (limits, watcher) = (limits(), Keeps(Mutex::new(resumed)));
    let run = run_with(&model, &limits, &watcher);
    run.go_on(&mut conversation, Message::text(Role::User, "and now?")).await.unwrap();
    assert_eq!(roles(&conversation), [Role::User, Role::Assistant, Role::Tool, Role::User, Role::Assistant]);
    let Block::ToolResult(cancelled) = &conversation.messages()[2].blocks[0] else {
        panic!("{:?}", conversation.messages()[2])
    };
    assert!(cancelled.id == "id-a" && cancelled.is_error, "{cancelled:?}");
    store.flush().await.unwrap();
    let kept = store.path(before.id(), None).await.unwrap();
    assert_eq!(kept.into_iter().map(|kept| kept.message).collect::<Vec<_>>(), conversation.messages());
}

fn form() -> FinalAnswer {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    FinalAnswer::new(schema).unwrap()
}

#[tokio::test]
async fn a_final_answer_ends_the_run_without_running_other_calls() {
    let replies =
        vec![says(vec![call("hang", json!({})), call(FINAL_ANSWER, json!({ "n": 1 }))], Stop::ToolCalls)];
    let mut conversation = History::default();
    let answer = go_on(replies, &limits(), Some(&form()), &mut conversation).await.unwrap();
    assert_eq!(answer.structured, Some(json!({ "n": 1 })));
    assert_eq!(roles(&conversation), [Role::User, Role::Assistant, Role::Tool]);
}

#[tokio::test]
async fn an_invalid_answer_is_an_error_unless_it_may_be_corrected() {
    let wrong = || says(vec![call(FINAL_ANSWER, json!({ "n": "one" }))], Stop::ToolCalls);
    let right = says(vec![call(FINAL_ANSWER, json!({ "n": 1 }))], Stop::ToolCalls);
    let error = go_on(vec![wrong()], &limits(), Some(&form()), &mut History::default()).await.unwrap_err();
    assert!(matches!(&error, RunError::InvalidFinalAnswer(faults) if faults.contains("/n")), "{error}");
    let lenient = Limits { corrections: 1, ..limits() };
    let answer = go_on(vec![wrong(), right], &lenient, Some(&form()), &mut History::default()).await.unwrap();
    assert_eq!(answer.structured, Some(json!({ "n": 1 })));
}

#[tokio::test]
async fn an_end_without_the_final_answer_is_an_error_with_the_last_text() {
    let replies = vec![says(vec![Block::text("I am done")], Stop::End)];
    let error = go_on(replies, &limits(), Some(&form()), &mut History::default()).await.unwrap_err();
    assert!(matches!(&error, RunError::NoFinalAnswer(text) if text == "I am done"), "{error}");
}

#[tokio::test]
async fn a_message_that_is_cut_off_or_refused_is_an_error() {
    let cut_off = vec![says(vec![call("hang", json!(null))], Stop::Length)];
    let error = go_on(cut_off, &limits(), None, &mut History::default()).await.unwrap_err();
    assert!(matches!(error, RunError::Length), "{error}");
    let refused = vec![says(Vec::new(), Stop::Refused("safety".to_owned()))];
    let error = go_on(refused, &limits(), None, &mut History::default()).await.unwrap_err();
    assert!(matches!(&error, RunError::Refused(why) if why == "safety"), "{error}");
}
