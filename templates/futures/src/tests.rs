//! Tests that joins behave like the crate's, and have its types' restrictions.

mod comparison;
mod snippets;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::private::Ordered;
use crate::{StreamExt, TryStreamExt, stream};

/// The events, in order.
type Log = RefCell<Vec<String>>;

/// A future that is ready at its `polls`-th poll, and logs what happens to it and its output.
struct Step<'a> {
    number: usize,
    polls: usize,
    fails: bool,
    log: &'a Log,
}

/// A logged output.
#[derive(Debug)]
struct Output<'a> {
    number: usize,
    log: &'a Log,
}

impl<'a> Future for Step<'a> {
    type Output = Result<Output<'a>, Output<'a>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.log.borrow_mut().push(format!("poll {}", self.number));
        self.polls -= 1;
        if self.polls > 0 {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let output = Output { number: self.number, log: self.log };
        Poll::Ready(if self.fails { Err(output) } else { Ok(output) })
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.log.borrow_mut().push(format!("drop {}", self.number));
    }
}

impl Drop for Output<'_> {
    fn drop(&mut self) {
        self.log.borrow_mut().push(format!("output {} dropped", self.number));
    }
}

/// Polls a future up to `limit` times; the numbers of its outputs, if it returned.
fn drive<'a, F, R>(
    future: F,
    limit: usize,
    numbers: impl Fn(&R) -> Vec<usize>,
    log: &'a Log,
) -> Option<Vec<usize>>
where
    F: Future<Output = R> + 'a,
{
    let mut future = Box::pin(future);
    for round in 0..limit {
        log.borrow_mut().push(format!("round {round}"));
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            drop(future);
            return Some(numbers(&result));
        }
    }
    None
}

/// Returns the output of a future that need not wait.
fn ready<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future waits"),
    }
}

fn of_output(output: &Output<'_>) -> usize {
    output.number
}

fn of_result(result: &Result<Output<'_>, Output<'_>>) -> usize {
    match result {
        Ok(output) => output.number,
        Err(output) => 1000 + output.number,
    }
}

fn of_try<'a>(result: &Result<Vec<Output<'a>>, Output<'a>>) -> Vec<usize> {
    match result {
        Ok(outputs) => outputs.iter().map(of_output).collect(),
        Err(output) => vec![1000 + output.number],
    }
}

/// Futures of different lengths; number `fails` fails.
fn steps(count: usize, fails: usize, log: &Log) -> impl Iterator<Item = Step<'_>> {
    (0..count).map(move |number| {
        log.borrow_mut().push(format!("make {number}"));
        Step { number, polls: 1 + number * 7 % 4, fails: number == fails, log }
    })
}

/// Asserts that each future that was made was dropped. Many futures are polled in another order than the crate's.
fn assert_dropped(log: &[String]) {
    let numbers = |word: &str| log.iter().filter_map(|line| line.strip_prefix(word)).collect::<BTreeSet<_>>();
    assert_eq!(numbers("make "), numbers("drop "));
}

/// The results of ours and of the crate's are the same, and if `$exact`, also what happens.
macro_rules! same {
    ($exact:expr, $count:expr, $fails:expr, $limit:expr, |$steps:ident| $ours:expr, $crates:expr, $numbers:expr) => {{
        let (ours, crates) = (Log::default(), Log::default());
        let $steps = steps($count, $fails, &ours);
        let by_us = drive($ours, $limit, $numbers, &ours);
        let $steps = steps($count, $fails, &crates);
        let by_crate = drive($crates, $limit, $numbers, &crates);
        assert_eq!(by_us, by_crate);
        let (ours, crates) = (ours.into_inner(), crates.into_inner());
        if $exact {
            assert_eq!(ours, crates)
        } else {
            assert_dropped(&ours)
        }
        by_us
    }};
}

#[test]
fn joins_poll_return_and_drop_as_the_crates() {
    for (count, limit) in [(0, 9), (1, 9), (5, 9), (30, 9), (31, 90), (100, 300), (5, 2), (50, 2)] {
        let numbers = |all: &Vec<_>| all.iter().map(of_result).collect();
        let result = same!(
            count <= 30,
            count,
            3,
            limit,
            |steps| crate::future::join_all(steps),
            original::future::join_all(steps),
            numbers
        );
        assert_eq!(result.is_some(), limit > 2);
        let result = same!(
            count <= 30,
            count,
            usize::MAX,
            limit,
            |steps| crate::future::try_join_all(steps),
            original::future::try_join_all(steps),
            of_try
        );
        assert_eq!(result, (limit > 2).then(|| (0..count).collect()));
    }
}

#[test]
fn the_first_error_cancels_as_the_crates() {
    for fails in 0..6 {
        let result = same!(
            true,
            6,
            fails,
            9,
            |steps| crate::future::try_join_all(steps),
            original::future::try_join_all(steps),
            of_try
        );
        assert_eq!(result, Some(vec![1000 + fails]));
    }
    // The crate drops the others of many futures later, with the join itself.
    let log = Log::default();
    let mut join = pin!(crate::future::try_join_all(steps(100, 0, &log)));
    let result = join.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(result, Poll::Ready(Err(_))));
    let dropped = log.borrow().iter().filter(|line| line.starts_with("drop")).count();
    assert_eq!(dropped, 100);
}

#[test]
fn bounded_work_runs_as_the_crates_buffered() {
    for (count, fails, limit) in
        [(0, 9, 1), (8, 99, 1), (8, 99, 3), (8, 5, 3), (8, 0, 3), (40, 33, 50), (40, 99, 8)]
    {
        let ours = |steps| Ordered::new(limit, steps, |step| step);
        let result = same!(
            false,
            count,
            fails,
            500,
            |steps| ours(steps),
            async move { stream::iter(steps).buffered(limit).try_collect().await },
            of_try
        );
        assert_eq!(result, Some(if fails < count { vec![1000 + fails] } else { (0..count).collect() }));
    }
}

#[test]
fn many_futures_are_polled_only_when_woken() {
    let polls = Cell::new(0);
    let wait = || {
        crate::future::poll_fn(|_| {
            polls.set(polls.get() + 1);
            Poll::<()>::Pending
        })
    };
    let mut join = pin!(crate::future::join_all((0..40).map(|_| wait())));
    for _ in 0..3 {
        assert!(join.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(polls.get(), 40);
}

#[test]
fn outputs_of_any_size_and_alignment_arrive() {
    #[derive(Debug, PartialEq, Clone, Copy)]
    #[repr(align(64))]
    struct Wide(u8);
    fn joined<T: Copy + PartialEq + std::fmt::Debug>(value: T) {
        let all = crate::future::join_all((0..40).map(|_| std::future::ready(value)));
        assert_eq!(ready(all), vec![value; 40]);
    }
    joined(());
    joined(1_u8);
    joined(Wide(7));
    joined([1_u64; 20]);
}

#[test]
fn joins_are_send_if_their_futures_are() {
    fn sends<T: Send + Sync + Unpin>(_: T) {}
    let number = || async { Ok::<i32, String>(1) };
    sends(crate::future::join_all([std::future::ready(1)]));
    sends(crate::future::try_join_all([std::future::ready(Ok::<i32, String>(1))]));
    fn unpin<T: Send + Unpin>(_: T) {}
    unpin(crate::future::join_all([number()]));
    unpin(crate::future::try_join_all([number()]));
    unpin(Ordered::new(1, [1].into_iter(), |_| number()));
}

#[test]
fn futures_may_borrow_and_share() {
    let text = String::from("here");
    let shared = Rc::new(Cell::new(0));
    let all: crate::future::JoinAll<_> = (0..3)
        .map(|number| {
            let (text, shared) = (&text, Rc::clone(&shared));
            async move {
                shared.set(shared.get() + number);
                text.len()
            }
        })
        .collect();
    assert_eq!((ready(all), shared.get()), (vec![4, 4, 4], 3));
}
