//! Tests of the order and the limits of executions.

use futures::FutureExt as _;

use super::*;

/// One of several clients.
fn client(key: &str) -> Client {
    Client { key: key.to_owned(), alone: false, is_subject: false }
}

/// Takes a slot in turn.
fn take(slots: &Arc<Slots>, key: &str) -> impl Future<Output = Result<Arc<SlotLease>, Busy>> + use<> {
    let (slots, client) = (slots.clone(), client(key));
    async move { slots.take(&client, || ()).await }
}

/// Takes a free slot.
#[track_caller]
fn now(slots: &Arc<Slots>, client: &Client) -> Arc<SlotLease> {
    slots.take(client, || ()).now_or_never().expect("a slot is free").unwrap()
}

#[tokio::test]
async fn clients_take_turns_and_the_queue_is_bounded() {
    let slots = Slots::new(1, 3);
    let first = take(&slots, "a").await.unwrap();
    let mut of_a = Box::pin(take(&slots, "a"));
    let mut again = Box::pin(take(&slots, "a"));
    let mut of_b = Box::pin(take(&slots, "b"));
    assert!(futures::poll!(of_a.as_mut()).is_pending());
    assert!(futures::poll!(again.as_mut()).is_pending());
    assert!(futures::poll!(of_b.as_mut()).is_pending());
    assert_eq!(take(&slots, "c").await.unwrap_err(), Busy::Full { running: 1, waiting: 3 });
    drop(first);
    let second = of_a.await.unwrap();
    assert!(again.as_mut().now_or_never().is_none());
    drop(second);
    let third = of_b.await.unwrap();
    assert!(again.as_mut().now_or_never().is_none(), "b came first");
    drop(third);
    drop(again.await.unwrap());
    assert_eq!(slots.load(), (0, 0));
}

#[tokio::test]
async fn abandoned_executions_leave_the_queue() {
    let slots = Slots::new(1, 1);
    let first = take(&slots, "a").await.unwrap();
    let mut leaving = Box::pin(take(&slots, "b"));
    assert!(futures::poll!(leaving.as_mut()).is_pending());
    drop(leaving);
    assert_eq!(slots.load(), (1, 0));
    let mut waiting = Box::pin(take(&slots, "c"));
    assert!(futures::poll!(waiting.as_mut()).is_pending());
    drop(first);
    drop(waiting.await.unwrap());
    assert_eq!(slots.load(), (0, 0));
}

#[tokio::test]
async fn it_is_idle_when_nothing_runs_or_waits() {
    let slots = Slots::new(1, 1);
    slots.idle().await;
    let first = take(&slots, "a").await.unwrap();
    let mut waiting = Box::pin(take(&slots, "b"));
    assert!(futures::poll!(waiting.as_mut()).is_pending());
    let mut idle = Box::pin(slots.idle());
    assert!(futures::poll!(idle.as_mut()).is_pending());
    drop(first);
    assert!(futures::poll!(idle.as_mut()).is_pending());
    drop(waiting.await.unwrap());
    idle.await;
}

#[tokio::test]
async fn a_higher_limit_applies_at_once_and_a_lower_one_as_slots_become_free() {
    let slots = Slots::new(1, 4);
    let first = take(&slots, "a").await.unwrap();
    let mut second = Box::pin(take(&slots, "b"));
    assert!(futures::poll!(second.as_mut()).is_pending());
    slots.resize(2, 4, None);
    let second = second.await.unwrap();
    slots.resize(1, 4, None);
    let mut third = Box::pin(take(&slots, "a"));
    assert!(futures::poll!(third.as_mut()).is_pending());
    drop(first);
    assert!(futures::poll!(third.as_mut()).is_pending());
    drop(second);
    drop(third.await.unwrap());
}

#[tokio::test]
async fn an_execution_that_waits_for_an_answer_gives_its_slot_back() {
    let slots = Slots::new(1, 4);
    let asking = now(&slots, &client("a"));
    let paused = asking.pause();
    let running = now(&slots, &client("b"));
    assert_eq!(slots.load(), (2, 0));
    // It continues when a slot is free, before executions that have not started, and in turn with other clients.
    let mut resumes = Box::pin(paused.resume());
    let mut starting = Box::pin(take(&slots, "a"));
    assert!(futures::poll!(starting.as_mut()).is_pending());
    assert!(futures::poll!(resumes.as_mut()).is_pending());
    drop(running);
    assert!(futures::poll!(resumes.as_mut()).is_ready());
    assert!(futures::poll!(starting.as_mut()).is_pending(), "the slot is taken again");
    drop(asking);
    drop(starting.await.unwrap());
    assert_eq!(slots.load(), (0, 0));
}

#[tokio::test]
async fn unanswered_questions_keep_no_other_client_from_running() {
    for places in [1, 2, 16] {
        let slots = Slots::new(places, 64);
        let silent = client("silent");
        let mut asking = Vec::new();
        let mut waiting = Vec::new();
        for _ in 0..4 * places {
            let mut starting = Box::pin(slots.take(&silent, || ()));
            match starting.as_mut().now_or_never() {
                Some(Ok(place)) => asking.push((place.pause(), place)),
                Some(Err(busy)) => panic!("{busy}"),
                None => waiting.push(starting),
            }
        }
        assert_eq!(asking.len(), 2 * places, "its share of executions");
        let other = client("other");
        let running: Vec<_> = (0..share(places)).map(|_| now(&slots, &other)).collect();
        drop(running);
        // After an answer, the execution continues; when it has ended, another one starts.
        let (paused, place) = asking.pop().unwrap();
        paused.resume().await;
        drop(place);
        let started: Vec<_> =
            waiting.iter_mut().filter_map(|starting| starting.as_mut().now_or_never()).collect();
        assert_eq!(started.len(), 1);
    }
}

#[tokio::test]
async fn one_client_is_limited_to_its_share_of_slots_and_queue() {
    let slots = Slots::new(4, 4);
    let greedy = client("greedy");
    let running: Vec<_> = (0..3).map(|_| now(&slots, &greedy)).collect();
    let mut waiting = Vec::new();
    for _ in 0..3 {
        let mut starting = Box::pin(slots.take(&greedy, || ()));
        assert!(futures::poll!(starting.as_mut()).is_pending(), "the fourth slot is for others");
        waiting.push(starting);
    }
    assert_eq!(slots.take(&greedy, || ()).await.unwrap_err(), Busy::Share { waiting: 3 });
    let other = now(&slots, &client("other"));
    let mut second = Box::pin(take(&slots, "other"));
    assert!(futures::poll!(second.as_mut()).is_pending());
    assert_eq!(take(&slots, "third").await.unwrap_err(), Busy::Full { running: 4, waiting: 4 });
    drop((running, waiting));
    drop((second.await.unwrap(), other));
    assert_eq!(slots.load(), (0, 0));
    assert!(slots.state().clients.is_empty() && slots.state().queues.is_empty());
}

#[test]
fn many_executions_of_one_client_yield_to_those_of_others() {
    let slots = Slots::new(16, 0);
    let (ann, bob) = (client("ann"), client("bob"));
    let running: Vec<_> = (0..8).map(|_| now(&slots, &ann)).collect();
    let first = now(&slots, &bob);
    assert_eq!(
        (slots.niceness(&bob), slots.niceness(&ann)),
        (5, 12),
        "8 weigh as much as 2: 7 levels of 1.25"
    );
    let only = Client { alone: true, ..ann.clone() };
    assert_eq!(slots.niceness(&only), 0, "there is nobody to yield to");
    drop(running);
    assert_eq!(slots.niceness(&ann), 5);
    drop(first);
}

#[tokio::test]
async fn the_only_client_of_a_process_has_no_share_limit() {
    let slots = Slots::new(4, 0);
    let alone = Client { key: String::new(), alone: true, is_subject: false };
    let running: Vec<_> = (0..4).map(|_| now(&slots, &alone)).collect();
    assert_eq!(slots.take(&alone, || ()).await.unwrap_err(), Busy::Full { running: 4, waiting: 0 });
    drop(running);
}

#[tokio::test]
async fn an_execution_takes_one_slot_for_several_answers() {
    let slots = Slots::new(2, 4);
    let asking = now(&slots, &client("a"));
    let (first, second) = (asking.pause(), asking.pause());
    assert_eq!(slots.state().all, Count { running: 0, paused: 1, waiting: 0 });
    tokio::join!(first.resume(), second.resume());
    assert_eq!(slots.state().all, Count { running: 1, paused: 0, waiting: 0 });
    drop(asking);
    assert_eq!(slots.load(), (0, 0));
}

#[tokio::test]
async fn an_abandoned_question_does_not_leave_its_execution_without_a_slot() {
    let slots = Slots::new(1, 4);
    let asking = now(&slots, &client("a"));
    let paused = asking.pause();
    let running = now(&slots, &client("b"));
    drop(paused);
    tokio::task::yield_now().await;
    assert_eq!(slots.state().all, Count { running: 1, paused: 1, waiting: 0 });
    drop(running);
    tokio::task::yield_now().await;
    assert_eq!(slots.state().all, Count { running: 1, paused: 0, waiting: 0 });
    // One that has ended in the meantime takes no slot.
    drop(asking.pause());
    drop(asking);
    tokio::task::yield_now().await;
    slots.idle().await;
    assert_eq!(slots.state().all, Count::default());
}

#[tokio::test]
async fn a_subject_has_a_limit_of_its_own() {
    let slots = Slots::new(8, 8);
    slots.resize(8, 8, Some(1));
    let alice = Client { is_subject: true, ..client("alice") };
    let first = now(&slots, &alice);
    let mut second = Box::pin(slots.take(&alice, || ()));
    assert!(futures::poll!(second.as_mut()).is_pending());
    // Others are not affected, and neither is a client that is no subject.
    let _other = now(&slots, &Client { is_subject: true, ..client("bob") });
    let _several = [now(&slots, &client("c")), now(&slots, &client("c"))];
    drop(first);
    second.await.unwrap();
}

static AVAILABLE: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

#[tokio::test(start_paused = true)]
async fn without_memory_executions_run_one_by_one() {
    let available = || Some(AVAILABLE.load(std::sync::atomic::Ordering::SeqCst));
    let mut slots = Slots::new(3, 3);
    Arc::get_mut(&mut slots).unwrap().memory = Memory::reading(available);
    slots.require_memory(100);
    let first = take(&slots, "a").await.unwrap();
    let mut second = Box::pin(take(&slots, "a"));
    let mut third = Box::pin(take(&slots, "b"));
    assert!(futures::poll!(second.as_mut()).is_pending() && futures::poll!(third.as_mut()).is_pending());
    drop(first);
    let second = second.await.unwrap();
    assert!(futures::poll!(third.as_mut()).is_pending(), "another one runs");
    AVAILABLE.store(100, std::sync::atomic::Ordering::SeqCst);
    // It looks again by itself.
    drop(third.await.unwrap());
    drop(second);
}

/// Reading the memory takes 0.1 ms, and a first execution may always run.
#[tokio::test]
async fn an_execution_that_runs_alone_does_not_look_at_the_memory() {
    let mut slots = Slots::new(3, 3);
    Arc::get_mut(&mut slots).unwrap().memory = Memory::reading(|| panic!("it looked at the memory"));
    slots.require_memory(100);
    for _ in 0..2 {
        drop(now(&slots, &client("a")));
    }
    slots.idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_client_learns_when_to_try_again() {
    let slots = Slots::new(1, 2);
    assert_eq!(slots.retry_after(), SHORTEST_WAIT);
    let first = take(&slots, "a").await.unwrap();
    tokio::time::advance(Duration::from_secs(10)).await;
    drop(first);
    assert_eq!(slots.retry_after(), Duration::from_secs(10));
    let _first = take(&slots, "a").await.unwrap();
    let mut waiting = [Box::pin(take(&slots, "a")), Box::pin(take(&slots, "b"))];
    for execution in &mut waiting {
        assert!(futures::poll!(execution.as_mut()).is_pending());
    }
    assert_eq!(slots.retry_after(), Duration::from_secs(30));
}
