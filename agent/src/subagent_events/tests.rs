//! Both ends over a real connection.

use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::*;

const TOKEN: &str = "0123456789abcdef";

fn event(number: usize) -> SubagentEvent {
    SubagentEvent {
        kind: EventKind::ToolCall,
        subagent_name: "reviewer".to_owned(),
        subagent_run_id: "abcd1234".to_owned(),
        parent_run_id: None,
        timestamp: "2026-11-22T08:00:00.000Z".to_owned(),
        tool_name: Some("execute_code".to_owned()),
        tool_call_id: Some(format!("call-{number}")),
        payload: "1 + 1".to_owned(),
        is_error: false,
        execution_timeout_seconds: Some(120.0),
        token_usage: Some(Usage { input: 1, output: 2, cached: 0 }),
    }
}

/// A listener, and what it was told.
async fn listener() -> (EventListener, Arc<Mutex<Vec<SubagentEvent>>>, Arc<Notify>) {
    let (heard, more) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
    let (keep, notify) = (heard.clone(), more.clone());
    let told = move |event| {
        keep.lock().unwrap().push(event);
        notify.notify_one();
    };
    (EventListener::start(TOKEN, told).await.unwrap(), heard, more)
}

#[tokio::test]
async fn events_arrive_whole_and_in_order() {
    let (listener, heard, more) = listener().await;
    let poster = EventPoster::new(listener.address()).unwrap();
    (0..200).for_each(|number| poster.post(event(number)));
    while heard.lock().unwrap().len() < 200 {
        more.notified().await;
    }
    assert_eq!(*heard.lock().unwrap(), (0..200).map(event).collect::<Vec<_>>());
    poster.flush().await;
}

#[tokio::test]
async fn only_those_who_know_the_token_are_heard() {
    let (listener, heard, _) = listener().await;
    let guessed = listener.address().replace(TOKEN, "guessed");
    let poster = EventPoster::new(&guessed).unwrap();
    poster.post(event(0));
    poster.flush().await;
    assert!(heard.lock().unwrap().is_empty());
}

#[tokio::test]
async fn nobody_who_listens_is_no_reason_to_fail_or_to_wait() {
    let address = {
        let (listener, _, _) = listener().await;
        listener.address().to_owned()
    };
    let poster = EventPoster::new(&address).unwrap();
    (0..10_000).for_each(|number| poster.post(event(number)));
    poster.flush().await;
}

#[tokio::test]
async fn a_long_payload_is_cut_at_a_whole_character() {
    let (listener, heard, more) = listener().await;
    let poster = EventPoster::new(listener.address()).unwrap();
    poster.post(SubagentEvent { payload: "\u{1}ü".repeat(LONGEST_PAYLOAD), ..event(0) });
    more.notified().await;
    let length = heard.lock().unwrap()[0].payload.len();
    assert!(length <= LONGEST_PAYLOAD + '…'.len_utf8(), "{length}");
}

#[test]
fn events_are_posted_to_this_machine_alone() {
    for wrong in
        ["", "nonsense", "http://t@example.com/events", "https://t@127.0.0.1:1/events", "http://127.0.0.1:1/"]
    {
        assert!(EventPoster::new(wrong).is_err(), "{wrong}");
    }
}
