//! Tests of both ends over a real connection.

use std::sync::Arc;

use agent::{EventBatch, EventKind, EventPoster, MAX_BATCH, MOST_EVENTS, SubagentEvent, Usage};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::EventListener;

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

/// A listener, and the batches that it has received.
async fn listener() -> (EventListener, Arc<Mutex<Vec<EventBatch>>>) {
    let taken = Arc::new(Mutex::new(Vec::new()));
    let keep = taken.clone();
    let listener = EventListener::start(TOKEN, move |batch| keep.lock().push(batch)).await;
    (listener.unwrap(), taken)
}

/// Waits until everything is delivered; on a slow machine, several times as long as a process does at its end.
async fn deliver(poster: &EventPoster) {
    for _ in 0..30 {
        if poster.flush().await == 0 {
            return;
        }
    }
    panic!("not all events arrived");
}

#[tokio::test]
async fn events_arrive_whole_and_in_order() {
    let (listener, taken) = listener().await;
    let poster = EventPoster::new(listener.address()).unwrap();
    (0..200).for_each(|number| poster.post(event(number)));
    deliver(&poster).await;
    let events: Vec<_> = taken.lock().iter().flat_map(|batch| batch.events.clone()).collect();
    assert_eq!(events, (0..200).map(event).collect::<Vec<_>>());
}

#[tokio::test]
async fn waiting_events_are_sent_in_few_requests() {
    let (listener, taken) = listener().await;
    let poster = EventPoster::new(listener.address()).unwrap();
    (0..600).for_each(|number| poster.post(event(number)));
    deliver(&poster).await;
    let sizes: Vec<_> = taken.lock().iter().map(|batch| batch.events.len()).collect();
    assert_eq!(sizes, [MOST_EVENTS, MOST_EVENTS, 600 - 2 * MOST_EVENTS]);
}

#[tokio::test]
async fn large_events_fill_a_request_before_their_count_does() {
    let (listener, taken) = listener().await;
    let poster = EventPoster::new(listener.address()).unwrap();
    // A control character is six bytes of JSON, so a request contains only two of these.
    let large = SubagentEvent { payload: "\u{1}".repeat(64 << 10), ..event(0) };
    (0..6).for_each(|_| poster.post(large.clone()));
    deliver(&poster).await;
    assert_eq!(taken.lock().iter().map(|batch| batch.events.len()).collect::<Vec<_>>(), [2, 2, 2]);
}

#[tokio::test]
async fn the_listener_learns_how_many_events_are_left_out() {
    let (listener, taken) = listener().await;
    let poster = EventPoster::new(listener.address()).unwrap();
    (0..5_000).for_each(|number| poster.post(event(number)));
    deliver(&poster).await;
    let batches = taken.lock();
    assert_eq!(batches[0].left_out, 5_000 - 4_096);
    assert_eq!(batches[0].events[0], event(5_000 - 4_096));
    assert!(batches[1..].iter().all(|batch| batch.left_out == 0));
}

#[tokio::test]
async fn events_without_the_token_are_refused() {
    let (listener, taken) = listener().await;
    let guessed = listener.address().replace(TOKEN, "guessed");
    let poster = EventPoster::new(&guessed).unwrap();
    poster.post(event(0));
    assert_eq!(poster.flush().await, 1);
    assert!(taken.lock().is_empty());
}

/// The status of the response to a body.
async fn post(listener: &EventListener, body: &str) -> u16 {
    let host = listener.address().split(['@', '/']).nth(3).unwrap();
    let mut connection = TcpStream::connect(host).await.unwrap();
    let head = format!(
        "POST /events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    // A body that is too long is answered before all of it is read.
    let _ = connection.write_all(body.as_bytes()).await;
    let mut status = [0; 12];
    connection.read_exact(&mut status).await.unwrap();
    str::from_utf8(&status[9..]).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_request_has_only_events_within_the_limits() {
    let (listener, taken) = listener().await;
    let one = serde_json::to_string(&event(0)).unwrap();
    let unknown = one.replacen('{', "{\"command\":\"ls\",", 1);
    let many = vec![one.as_str(); MOST_EVENTS + 1].join(",");
    for (body, status) in [
        ("".to_owned(), 400),
        (one.clone(), 400),
        (format!("{{\"events\":[{unknown}]}}"), 400),
        (format!("{{\"events\":[{one}],\"more\":1}}"), 400),
        (format!("{{\"events\":[{many}]}}"), 413),
        (format!("{{\"events\":[{one}]}}{}", " ".repeat(MAX_BATCH)), 413),
    ] {
        assert_eq!(post(&listener, &body).await, status, "{}", &body[..body.len().min(300)]);
    }
    assert!(taken.lock().is_empty());
    assert_eq!(post(&listener, &format!("{{\"events\":[{one}]}}")).await, 204);
    assert_eq!(*taken.lock(), [EventBatch { left_out: 0, events: vec![event(0)] }]);
}
