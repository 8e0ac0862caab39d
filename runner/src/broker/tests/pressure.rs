//! Programs that leave answers unread and make more calls than are carried at once. The clock is stopped: time passes where
//! nothing else can.

use std::pin::pin;
use std::time::Duration;

use bridge::wire::Finish;
use futures::future::{Either, pending, select};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::host::LARGE;
use super::*;

/// Longer than everything here takes.
const NEVER: Duration = Duration::from_secs(1_000_000);

/// Serves a program whose end of the socket `program` plays, until one of the two ends; gives which.
async fn play<T>(
    host: &Host,
    clock: &Clock,
    ledger: &Mutex<ProgramRecord>,
    program: impl AsyncFnOnce(UnixStream) -> T,
) -> Either<Result<(), Violation>, T> {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let broker = broker(&["asks", "large", "late", "quick"], host, clock, &Unobserved, ledger);
    let (served, played) = (pin!(broker.serve(ours)), pin!(program(theirs)));
    let both = tokio::time::timeout(NEVER, select(served, played));
    match both.await.expect("it stands still") {
        Either::Left((ended, _)) => Either::Left(ended),
        Either::Right((done, _)) => Either::Right(done),
    }
}

async fn say(program: &mut UnixStream, message: &ToHost) {
    let mut frame = Vec::new();
    write_frame(&mut frame, message).unwrap();
    program.write_all(&frame).await.unwrap();
}

async fn hello(program: &mut UnixStream) {
    say(program, &ToHost::Hello { version: VERSION, token: TOKEN.to_owned() }).await;
}

/// The next message of the host.
async fn hear(program: &mut UnixStream) -> ToProgram {
    let mut frame = vec![0; program.read_u32().await.unwrap() as usize];
    program.read_exact(&mut frame).await.unwrap();
    serde_json::from_slice(&frame).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_time_goes_on_after_a_question_whatever_the_program_leaves_unread() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    let limit = Duration::from_secs(20);
    let ended = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        say(&mut program, &call(0, "asks")).await;
        host.asked.notified().await;
        say(&mut program, &call(1, "large")).await;
        host.called.notified().await;
        // The answer fills the socket while the question is open; the person answers then.
        tokio::time::sleep(Duration::from_secs(5)).await;
        host.answers.add_permits(1);
        clock.runs_out(limit).await;
        program
    });
    assert!(matches!(ended.await, Either::Right(_)), "it was ended before its time");
    assert_eq!(clock.stood_still(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_read_ends_the_program() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    let ended = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        // A question is open all the time.
        say(&mut program, &call(0, "asks")).await;
        host.asked.notified().await;
        say(&mut program, &call(1, "large")).await;
        pending::<UnixStream>().await
    });
    assert!(matches!(ended.await, Either::Left(Err(Violation::Unread(_)))));
}

#[tokio::test(start_paused = true)]
async fn answers_stay_with_their_servers_while_one_is_unread() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    let heard = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        say(&mut program, &call(0, "large")).await;
        host.called.notified().await;
        say(&mut program, &call(1, "large")).await;
        // The host has done all that it can when time passes.
        let carried = tokio::time::timeout(Duration::from_secs(1), host.called.notified()).await;
        assert!(carried.is_err(), "the second call was carried");
        let mut ids = Vec::new();
        for _ in 0..3 {
            match hear(&mut program).await {
                ToProgram::Reply { id, result } => ids.push((id, result.get().len())),
                ToProgram::Welcome(_) => {}
                failure => panic!("{failure:?}"),
            }
        }
        ids
    });
    let Either::Right(heard) = heard.await else { panic!("the program was ended") };
    assert_eq!(heard, [(0, LARGE + 2), (1, LARGE + 2)]);
}

#[tokio::test(start_paused = true)]
async fn everything_but_new_calls_is_read_when_no_further_call_has_room() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    let window = CALLS_IN_FLIGHT as u64;
    let ended = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        for id in 0..window {
            say(&mut program, &call(id, "late")).await;
        }
        say(&mut program, &ToHost::Emit { content: raw("{\"type\":\"text\"}") }).await;
        for id in 0..window {
            say(&mut program, &ToHost::Cancel { id }).await;
        }
        say(&mut program, &call(window, "quick")).await;
        assert!(matches!(hear(&mut program).await, ToProgram::Welcome(_)));
        assert!(matches!(hear(&mut program).await, ToProgram::Reply { id, .. } if id == window));
        for id in 1..=window {
            say(&mut program, &call(window + id, "late")).await;
        }
        say(&mut program, &ToHost::Finish(Finish::Ok { result: Some(raw("7")), unmade: Vec::new() })).await;
        drop(program);
        pending::<()>().await;
    });
    assert!(matches!(ended.await, Either::Left(Ok(()))));
    let ledger = lock(&ledger);
    assert!(matches!(&ledger.finish, Some(Finish::Ok { result: Some(result), .. }) if result.get() == "7"));
    assert_eq!((ledger.content.len(), ledger.calls_total), (1, 2 * window + 1));
    assert_eq!(ledger.calls.len() as u64, ledger.calls_total, "calls that are given up are in the outcome");
}

#[tokio::test(start_paused = true)]
async fn a_call_beyond_the_window_waits_for_room() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    let ended = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        for id in 0..CALLS_IN_FLIGHT as u64 {
            say(&mut program, &call(id, "late")).await;
        }
        say(&mut program, &call(CALLS_IN_FLIGHT as u64, "quick")).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        lock(&ledger).calls_total
    });
    assert!(matches!(ended.await, Either::Right(begun) if begun == CALLS_IN_FLIGHT as u64));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_while_a_person_is_asked_is_not_made() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    let ended = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        say(&mut program, &call(0, "asks")).await;
        host.asked.notified().await;
        say(&mut program, &ToHost::Cancel { id: 0 }).await;
        say(&mut program, &call(1, "quick")).await;
        assert!(matches!(hear(&mut program).await, ToProgram::Welcome(_)));
        assert!(matches!(hear(&mut program).await, ToProgram::Reply { id: 1, .. }));
    });
    assert!(matches!(ended.await, Either::Right(())));
    let ledger = lock(&ledger);
    let kept: Vec<&str> = ledger.calls.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!((ledger.calls_total, kept), (1, vec!["quick"]));
}
