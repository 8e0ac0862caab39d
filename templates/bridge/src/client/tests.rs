//! The program's end against a scripted host.

use std::io::Read as _;
use std::task::Waker;
use std::time::Duration;

use serde_json::value::RawValue;

use super::*;
use crate::wire::{BYTES_IN_FLIGHT, CALLS_IN_FLIGHT, FRAME_LIMIT};

/// A connection, and the host's end of it.
fn connected() -> (&'static Connection, UnixStream) {
    let (program, host) = UnixStream::pair().unwrap();
    let reader = Reader(program.try_clone().unwrap());
    let connection: &'static Connection = Box::leak(Box::new(Connection::new(program)));
    thread("broker", move || connection.read(reader)).unwrap();
    (connection, host)
}

/// A call with `bytes` bytes of arguments.
fn call(connection: &'static Connection, bytes: usize) -> Ticket {
    let arguments = Value::String("x".repeat(bytes - 2));
    connection.make(|id, frame| frame_call(frame, id, "slow", &arguments)).unwrap()
}

/// A description of the next frame.
fn received(host: &mut UnixStream) -> String {
    match serde_json::from_slice(&read_frame(host).unwrap().unwrap()).unwrap() {
        ToHost::Call { id, .. } => format!("call {id}"),
        ToHost::Cancel { id } => format!("cancel {id}"),
        other => panic!("{other:?}"),
    }
}

fn answer(host: &mut UnixStream, id: u64) {
    write_frame(host, &ToProgram::Reply { id, result: RawValue::TRUE.to_owned() }).unwrap();
}

/// Closes the host's end after everything queued is sent, and checks that nothing else was.
fn assert_nothing_more(connection: &'static Connection, host: &mut UnixStream) {
    lock(&connection.writer).stream.shutdown(Shutdown::Write).unwrap();
    let mut rest = Vec::new();
    host.read_to_end(&mut rest).unwrap();
    assert_eq!(String::from_utf8_lossy(&rest), "");
}

#[test]
fn calls_over_the_limit_wait_for_answers_in_order() {
    let (connection, mut host) = connected();
    let mut calls: Vec<Ticket> = (0..CALLS_IN_FLIGHT + 2).map(|_| call(connection, 10)).collect();
    for id in 0..CALLS_IN_FLIGHT {
        assert_eq!(received(&mut host), format!("call {id}"));
    }
    answer(&mut host, 7);
    assert_eq!(received(&mut host), format!("call {CALLS_IN_FLIGHT}"));
    // A later call does not overtake.
    let late = call(connection, 10);
    answer(&mut host, 8);
    assert_eq!(received(&mut host), format!("call {}", CALLS_IN_FLIGHT + 1));
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(calls[7].poll(&mut context), Poll::Ready(Ok(_))));
    assert!(calls[9].poll(&mut context).is_pending());
    answer(&mut host, 9);
    assert_eq!(received(&mut host), format!("call {}", late.id));
    std::mem::forget((calls, late));
    assert_nothing_more(connection, &mut host);
}

#[test]
fn a_cancellation_makes_room_unless_the_call_was_never_sent() {
    let (connection, mut host) = connected();
    let mut calls: Vec<Ticket> = (0..CALLS_IN_FLIGHT + 2).map(|_| call(connection, 10)).collect();
    let last = calls.pop().unwrap();
    drop(calls.pop());
    for id in 0..CALLS_IN_FLIGHT {
        assert_eq!(received(&mut host), format!("call {id}"));
    }
    drop(calls.remove(3));
    assert_eq!(received(&mut host), "cancel 3");
    assert_eq!(received(&mut host), format!("call {}", last.id));
    std::mem::forget((calls, last));
    assert_nothing_more(connection, &mut host);
}

#[test]
fn arguments_in_flight_are_limited_in_bytes() {
    let (connection, mut host) = connected();
    let bytes = BYTES_IN_FLIGHT - 1000;
    let reader = std::thread::spawn(move || {
        let first_two = [received(&mut host), received(&mut host)];
        answer(&mut host, 0);
        (first_two, received(&mut host), host)
    });
    let (large, small, over) = (call(connection, bytes), call(connection, 900), call(connection, 200));
    let (first, second, mut host) = reader.join().unwrap();
    assert_eq!(first, ["call 0", "call 1"]);
    assert_eq!(second, "call 2");
    std::mem::forget((large, small, over));
    assert_nothing_more(connection, &mut host);
}

/// The frames of answers to the calls with these numbers.
fn answers(ids: &[u64]) -> Vec<u8> {
    let mut frames = Vec::new();
    for id in ids {
        frame_message(&mut frames, &ToProgram::Reply { id: *id, result: RawValue::TRUE.to_owned() }).unwrap();
    }
    frames
}

/// Time limit for what a thread of the connection does at once.
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

/// A context whose task counts how often it is woken.
struct Woken(Mutex<usize>, Condvar);

impl std::task::Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        *lock(&self.0) += 1;
        self.1.notify_all();
    }
}

impl Woken {
    #[track_caller]
    fn wait_for(&self, count: usize) {
        let is_less = |woken: &mut usize| *woken < count;
        let (woken, timeout) = self.1.wait_timeout_while(lock(&self.0), WAIT_TIMEOUT, is_less).unwrap();
        assert!(!timeout.timed_out(), "woken {woken} times instead of {count}");
    }
}

#[test]
fn answers_that_arrive_together_reach_their_calls_and_the_rest_follows() {
    let (connection, mut host) = connected();
    let mut calls: Vec<Ticket> = (0..4).map(|_| call(connection, 10)).collect();
    let woken = std::sync::Arc::new(Woken(Mutex::new(0), Condvar::new()));
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    assert!(calls.iter_mut().all(|call| call.poll(&mut context).is_pending()));
    // The second call is cancelled while its answer is on the way.
    drop(calls.remove(1));
    let frames = answers(&[0, 1, 2, 3]);
    // Only the last answer is incomplete.
    let (first, last) = frames.split_at(frames.len() - 1);
    host.write_all(first).unwrap();
    woken.wait_for(2);
    assert!(calls[..2].iter_mut().all(|call| call.poll(&mut context).is_ready()));
    assert!(calls[2].poll(&mut context).is_pending());
    host.write_all(last).unwrap();
    woken.wait_for(3);
    assert!(matches!(calls[2].poll(&mut context), Poll::Ready(Ok(result)) if result == "true"));
}

/// The host still answers, but reads nothing more.
#[test]
fn the_task_of_a_queued_call_that_can_not_be_sent_is_woken() {
    let (connection, mut host) = connected();
    let calls: Vec<Ticket> = (0..CALLS_IN_FLIGHT).map(|_| call(connection, 10)).collect();
    let mut queued = call(connection, 10);
    let woken = std::sync::Arc::new(Woken(Mutex::new(0), Condvar::new()));
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    assert!(queued.poll(&mut context).is_pending());
    lock(&connection.writer).stream.shutdown(Shutdown::Write).unwrap();
    answer(&mut host, 0);
    woken.wait_for(1);
    let Poll::Ready(Err(failure)) = queued.poll(&mut context) else { panic!("it has an answer") };
    assert!(failure.message.starts_with("the call was not sent: "), "{}", failure.message);
    std::mem::forget(calls);
}

#[test]
fn a_frame_over_the_limit_ends_the_connection_after_the_answers_before_it() {
    let (connection, mut host) = connected();
    let mut calls = [call(connection, 10), call(connection, 10)];
    let over = u32::try_from(FRAME_LIMIT + 1).unwrap().to_be_bytes();
    host.write_all(&[answers(&[0]).as_slice(), &over].concat()).unwrap();
    let mut ended = lock(&connection.calls);
    while ended.end().is_none() {
        ended = connection.ended.wait(ended).unwrap();
    }
    drop(ended);
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(calls[0].poll(&mut context), Poll::Ready(Ok(_))));
    let Poll::Ready(Err(failure)) = calls[1].poll(&mut context) else { panic!("it has an answer") };
    assert!(failure.message.contains("the limit is 32"), "{}", failure.message);
}

/// The writer lock is held, as by a thread that writes to a full socket.
#[test]
fn dropping_a_call_does_not_wait_for_the_host() {
    let (connection, mut host) = connected();
    let calls: Vec<Ticket> = (0..CALLS_IN_FLIGHT).map(|_| call(connection, 10)).collect();
    let stuck = lock(&connection.writer);
    drop(calls);
    drop(stuck);
    for id in 0..CALLS_IN_FLIGHT {
        assert_eq!(received(&mut host), format!("call {id}"));
    }
    for id in 0..CALLS_IN_FLIGHT {
        assert_eq!(received(&mut host), format!("cancel {id}"));
    }
    assert_nothing_more(connection, &mut host);
}

#[test]
fn waiting_calls_end_with_the_connection() {
    let (connection, host) = connected();
    let mut calls: Vec<Ticket> = (0..=CALLS_IN_FLIGHT).map(|_| call(connection, 10)).collect();
    drop(host);
    let mut ended = lock(&connection.calls);
    while ended.end().is_none() {
        ended = connection.ended.wait(ended).unwrap();
    }
    drop(ended);
    let mut context = Context::from_waker(Waker::noop());
    for call in &mut calls {
        assert!(matches!(call.poll(&mut context), Poll::Ready(Err(_))));
    }
}
