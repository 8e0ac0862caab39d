//! The program's end against a scripted host.

use std::io::Read as _;
use std::task::Waker;

use serde_json::value::RawValue;

use super::*;
use crate::wire::{BYTES_IN_FLIGHT, CALLS_IN_FLIGHT};

/// A connection, and the host's end of it.
fn connected() -> (&'static Connection, UnixStream) {
    let (program, host) = UnixStream::pair().unwrap();
    let reader = program.try_clone().unwrap();
    let connection: &'static Connection = Box::leak(Box::new(Connection::new(program)));
    thread("broker", move || connection.read(reader)).unwrap();
    (connection, host)
}

/// A call with `bytes` bytes of arguments.
fn call(connection: &'static Connection, bytes: usize) -> Ticket {
    let arguments = RawValue::from_string(format!("\"{}\"", "x".repeat(bytes - 2))).unwrap();
    connection.make(bytes, |id| ToHost::Call { id, tool: "slow".to_owned(), arguments }).unwrap()
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
    lock(&connection.writer).shutdown(Shutdown::Write).unwrap();
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
