use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

use super::*;

/// Limits a test's wait for another task: it never takes that long.
const LIMIT: Duration = Duration::from_secs(60);

/// A loop as servers have it.
fn server() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).build().unwrap()
}

/// Runs `work` in a task while another task of the loop waits to send it a message; returns whether that one arrived.
fn meets(runtime: &Runtime, bytes: usize) -> bool {
    let (sender, receiver) = mpsc::channel();
    let working = runtime.spawn(async move {
        tokio::spawn(async move { sender.send(()) });
        off_loop(bytes, || receiver.recv_timeout(LIMIT)).is_ok()
    });
    runtime.block_on(working).unwrap()
}

#[test]
fn the_loop_turns_during_long_work() {
    assert!(meets(&server(), BRIEF + 1));
}

#[test]
fn each_poll_of_a_long_request_is_off_the_loop() {
    let runtime = server();
    let (sender, receiver) = mpsc::channel();
    let request = async move {
        yield_now().await;
        // Nested work is off the loop already.
        off_loop(BRIEF + 1, || receiver.recv_timeout(LIMIT)).is_ok() && IS_OFF.get()
    };
    let driven = runtime.spawn(async move {
        let both = poll_off_loop(BRIEF + 1, poll_off_loop(BRIEF + 1, request));
        tokio::spawn(async move {
            yield_now().await;
            sender.send(())
        });
        (both.await, IS_OFF.get())
    });
    assert_eq!(runtime.block_on(driven).unwrap(), (true, false));
}

#[test]
fn brief_work_and_other_loops_stay_where_they_are() {
    let thread = || std::thread::current().id();
    let is_off = |bytes| (off_loop(bytes, || IS_OFF.get()), thread());
    let here = thread();
    assert_eq!(is_off(BRIEF + 1), (false, here), "without a loop");
    let single = Builder::new_current_thread().build().unwrap();
    assert_eq!(single.block_on(async { is_off(BRIEF + 1) }), (false, here));
    assert!(!single.block_on(poll_off_loop(BRIEF + 1, async { IS_OFF.get() })));
    let server = server();
    assert_eq!(server.block_on(async { is_off(BRIEF) }), (false, here));
    assert_eq!(server.block_on(async { is_off(BRIEF + 1) }), (true, here));
    assert!(!server.block_on(poll_off_loop(BRIEF, async { IS_OFF.get() })));
}

#[test]
fn a_panic_leaves_the_thread_on_the_loop() {
    let panicked = server().block_on(async {
        let panicked: std::thread::Result<()> =
            std::panic::catch_unwind(|| off_loop(BRIEF + 1, || panic!("as intended")));
        panicked.is_err() && !IS_OFF.get()
    });
    assert!(panicked);
}

#[test]
fn many_long_requests_take_few_threads() {
    static AT_ONCE: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let runtime = server();
    let request = || async {
        for _ in 0..3 {
            MOST.fetch_max(AT_ONCE.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::yield_now();
            AT_ONCE.fetch_sub(1, Ordering::SeqCst);
            yield_now().await;
        }
    };
    let many: Vec<_> = (0..200).map(|_| runtime.spawn(poll_off_loop(BRIEF + 1, request()))).collect();
    for one in many {
        runtime.block_on(one).unwrap();
    }
    assert!((1..=4).contains(&MOST.load(Ordering::SeqCst)));
}
