//! Programs that leave answers unread and make more calls than the limit. The clock is paused: time advances only when
//! everything is idle.

use std::pin::pin;
use std::time::Duration;

use bridge::wire::{CALLS_IN_FLIGHT, Finish};
use futures::future::{Either, pending, select};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use super::host::LARGE;
use super::*;

/// Longer than any test here takes.
const NEVER: Duration = Duration::from_secs(1_000_000);

/// Serves a program whose end of the socket `program` implements, until one of the two ends; returns which.
async fn play<T>(
    host: &Host,
    clock: &Clock,
    ledger: &Mutex<ProgramRecord>,
    program: impl AsyncFnOnce(UnixStream) -> T,
) -> Either<Result<(), Violation>, T> {
    let (ours, theirs) = Program::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let (ours, theirs) = (Socket::new(ours).unwrap(), UnixStream::from_std(theirs).unwrap());
    let journal = Journal::default();
    let broker = broker(&["asks", "batch", "large", "late", "quick"], host, clock, &journal, ledger);
    let (served, played) = (pin!(broker.serve(ours)), pin!(program(theirs)));
    let both = tokio::time::timeout(NEVER, select(served, played));
    match both.await.expect("it hangs") {
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

/// The host's next message.
async fn receive(program: &mut UnixStream) -> ToProgram {
    let mut frame = vec![0; program.read_u32().await.unwrap() as usize];
    program.read_exact(&mut frame).await.unwrap();
    serde_json::from_slice(&frame).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_clock_resumes_after_a_question_despite_unread_answers() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    let limit = Duration::from_secs(20);
    let ended = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        say(&mut program, &call(0, "asks")).await;
        host.asked.notified().await;
        say(&mut program, &call(1, "large")).await;
        host.called.notified().await;
        // The answer fills the socket while the question is open; then the user answers.
        tokio::time::sleep(Duration::from_secs(5)).await;
        host.answers.add_permits(1);
        clock.runs_out(limit).await;
        program
    });
    assert!(matches!(ended.await, Either::Right(_)), "it was stopped too early");
    assert_eq!(clock.stopped_for(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn an_unread_answer_stops_the_program() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    let ended = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        // A question stays open throughout.
        say(&mut program, &call(0, "asks")).await;
        host.asked.notified().await;
        say(&mut program, &call(1, "large")).await;
        pending::<UnixStream>().await
    });
    assert!(matches!(ended.await, Either::Left(Err(Violation::Unread(_)))));
}

#[tokio::test(start_paused = true)]
async fn answers_wait_at_their_servers_while_one_is_unread() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    let received = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        say(&mut program, &call(0, "large")).await;
        host.called.notified().await;
        say(&mut program, &call(1, "large")).await;
        // When time passes, the host has done all it can.
        let carried = tokio::time::timeout(Duration::from_secs(1), host.called.notified()).await;
        assert!(carried.is_err(), "the second call was made");
        let mut ids = Vec::new();
        for _ in 0..3 {
            match receive(&mut program).await {
                ToProgram::Reply { id, result } => ids.push((id, result.get().len())),
                ToProgram::Welcome(_) => {}
                failure => panic!("{failure:?}"),
            }
        }
        ids
    });
    let Either::Right(received) = received.await else { panic!("the program was stopped") };
    assert_eq!(received, [(0, LARGE + 2), (1, LARGE + 2)]);
}

#[tokio::test(start_paused = true)]
async fn all_messages_but_new_calls_are_read_at_the_limit() {
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
        assert!(matches!(receive(&mut program).await, ToProgram::Welcome(_)));
        assert!(matches!(receive(&mut program).await, ToProgram::Reply { id, .. } if id == window));
        for id in 1..=window {
            say(&mut program, &call(window + id, "late")).await;
        }
        say(&mut program, &ToHost::Finish(Finish::Ok { result: Some(raw("7")), unmade: Vec::new() })).await;
        drop(program);
        pending::<()>().await;
    });
    assert!(matches!(ended.await, Either::Left(Ok(()))));
    let ledger = ledger.lock();
    assert!(matches!(&ledger.finish, Some(Finish::Ok { result: Some(result), .. }) if result.get() == "7"));
    assert_eq!((ledger.content.len(), ledger.calls_total), (1, 2 * window + 1));
    assert_eq!(ledger.calls.len() as u64, ledger.calls_total, "cancelled calls are in the outcome");
}

#[tokio::test(start_paused = true)]
async fn a_call_over_the_limit_waits() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    let ended = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        for id in 0..CALLS_IN_FLIGHT as u64 {
            say(&mut program, &call(id, "late")).await;
        }
        say(&mut program, &call(CALLS_IN_FLIGHT as u64, "quick")).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        ledger.lock().calls_total
    });
    assert!(matches!(ended.await, Either::Right(count) if count == CALLS_IN_FLIGHT as u64));
}

#[tokio::test(start_paused = true)]
async fn a_call_cancelled_while_the_user_is_asked_is_not_made() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    let ended = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        say(&mut program, &call(0, "asks")).await;
        host.asked.notified().await;
        say(&mut program, &ToHost::Cancel { id: 0 }).await;
        say(&mut program, &call(1, "quick")).await;
        assert!(matches!(receive(&mut program).await, ToProgram::Welcome(_)));
        assert!(matches!(receive(&mut program).await, ToProgram::Reply { id: 1, .. }));
    });
    assert!(matches!(ended.await, Either::Right(())));
    let ledger = ledger.lock();
    let kept: Vec<&str> = ledger.calls.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!((ledger.calls_total, kept), (1, vec!["quick"]));
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_ready_together_arrive_whole_at_a_slow_reader() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    // Together more than the socket holds, and more than one write takes.
    let count = 200;
    let arguments = |id: u64| format!("{{\"id\":{id},\"text\":\"{}\"}}", "x".repeat(10_000));
    let received = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        for id in 0..count {
            say(&mut program, &call_with(id, "batch", &arguments(id))).await;
        }
        say(&mut program, &ToHost::Cancel { id: 7 }).await;
        // When time passes, the host has done all it can.
        tokio::time::sleep(Duration::from_secs(1)).await;
        host.answers.add_permits(count as usize);
        assert!(matches!(receive(&mut program).await, ToProgram::Welcome(_)));
        let mut received = Vec::new();
        for _ in 1..count {
            let ToProgram::Reply { id, result } = receive(&mut program).await else { panic!("a failure") };
            assert_eq!(result.get(), arguments(id));
            received.push(id);
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        received
    });
    let Either::Right(mut received) = received.await else { panic!("the program was stopped") };
    received.sort_unstable();
    assert_eq!(received, (0..count).filter(|id| *id != 7).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn frames_may_arrive_in_pieces() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    let ended = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        let mut frames = Vec::new();
        write_frame(&mut frames, &call(0, "quick")).unwrap();
        write_frame(&mut frames, &call(1, "quick")).unwrap();
        for piece in frames.chunks(7) {
            program.write_all(piece).await.unwrap();
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert!(matches!(receive(&mut program).await, ToProgram::Welcome(_)));
        for expected in 0..2 {
            assert!(matches!(receive(&mut program).await, ToProgram::Reply { id, .. } if id == expected));
        }
    });
    assert!(matches!(ended.await, Either::Right(())));
}

#[tokio::test(start_paused = true)]
async fn a_frame_over_the_limit_behind_calls_stops_the_program() {
    let (host, clock, ledger) = (Host::default(), Clock::start(), Mutex::default());
    let ended = play(&host, &clock, &ledger, async |mut program: UnixStream| {
        hello(&mut program).await;
        let mut frames = Vec::new();
        write_frame(&mut frames, &call(0, "quick")).unwrap();
        frames.extend(u32::MAX.to_be_bytes());
        program.write_all(&frames).await.unwrap();
        pending::<UnixStream>().await
    });
    let Either::Left(Err(Violation::Protocol(reason))) = ended.await else { panic!("it was accepted") };
    assert!(reason.contains("over the limit"), "{reason}");
    assert_eq!(ledger.lock().calls_total, 1);
}
