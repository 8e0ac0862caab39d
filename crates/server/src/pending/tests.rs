//! States and the work that waits for them.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use gateway::pins::Known;

use super::running::RESULT;
use super::*;
use crate::fixtures::{PipeClient, session, state};
use crate::snapshot::Settings;
use crate::state::ServerState;

const TIME: Duration = Duration::from_secs(600);

#[test]
fn a_state_is_valid_for_its_time_and_its_request() {
    let held = PendingRequests::new(TIME, None, &Refusals::default()).unwrap();
    let open = |state: &str, binding: &[u8]| held.open::<String>(state, binding);
    let state = held.seal(&held.once("known".to_owned()).unwrap(), b"request");
    assert!(
        matches!(open(&state, b"request"), Some(Ok(RequestState::Sealed { known, .. })) if known == "known")
    );
    assert!(open(&state, b"another request").unwrap().is_err());
    assert!(
        PendingRequests::new(TIME, None, &Refusals::default())
            .unwrap()
            .open::<String>(&state, b"request")
            .unwrap()
            .is_err()
    );
    assert!(open("a server's own", b"request").is_none());
    let options = SealOptions::new().associated_data(b"request").ttl(Duration::ZERO);
    let sealed = held.codec.seal_with(&serde_json::to_vec(&held.once("known").unwrap()).unwrap(), &options);
    // It stays valid until the clock advances.
    let expired = (0..1_000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(1));
        open(&format!("{MARK}{sealed}"), b"request").unwrap().err()
    });
    let message = expired.unwrap().message;
    assert!(message.contains("expired") && message.contains("make the request again"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_state_is_used_once_and_forgotten_after_it_expires() {
    let held = PendingRequests::new(TIME, None, &Refusals::default()).unwrap();
    let number = || match held.once(()).unwrap() {
        RequestState::Sealed { once, .. } => once,
        RequestState::Suspended { .. } => unreachable!(),
    };
    let (first, second) = (number(), number());
    held.spend(first.clone()).await.unwrap();
    held.spend(second).await.unwrap();
    let again = held.spend(first.clone()).await.unwrap_err().message;
    assert!(again.contains("already used") && again.contains("make the request again"), "{again}");
    tokio::time::advance(TIME + Duration::from_secs(1)).await;
    for _ in 0..USED_LIMIT {
        held.spend(number()).await.unwrap();
    }
    let remembered = || {
        let used = held.used.lock();
        (used.ids.len(), used.by_time.len(), used.ids.contains(&first))
    };
    assert_eq!(remembered(), (USED_LIMIT, USED_LIMIT, false));
    assert!(held.spend(number()).await.unwrap_err().message.contains("try again later"));
    tokio::time::advance(TIME + Duration::from_secs(1)).await;
    held.spend(number()).await.unwrap();
}

#[test]
fn a_state_is_bound_to_its_arguments_in_any_order() {
    let bound = |text: &str| binding("a", Some(&serde_json::from_str(text).unwrap()), None);
    assert_eq!(bound(r#"{"x":1,"y":{"b":2,"a":3}}"#), bound(r#"{"y":{"a":3,"b":2},"x":1}"#));
    assert_ne!(bound(r#"{"x":1}"#), bound(r#"{"x":2}"#));
}

/// The limit for one client, less what a question takes.
const SHARE: usize = WORK_OF_CLIENT.bytes - 1024;

/// A server, and a client that asks it.
struct Fixture {
    state: Arc<ServerState>,
    client: PipeClient,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::new(config::Config::default(), Known::default(), None).unwrap();
        let state = state(settings, folder.path());
        Fixture { state, client: PipeClient::connect(), _folder: folder }
    }

    fn held(&self) -> &Arc<PendingRequests> {
        &self.state.held
    }

    /// Work for a request of this size that does what `work` says. The receiver reports that it has ended.
    fn start<Work>(
        &self,
        client: &str,
        bytes: usize,
        work: impl FnOnce(Arc<Caller>, CancellationToken) -> Work,
    ) -> (PendingRequest, oneshot::Receiver<()>)
    where
        Work: Future<Output = Result<Value, ErrorData>> + Send + 'static,
    {
        let (caller, asks) = session(&self.state, client).caller(&self.client.request(1));
        let (running, ended) = oneshot::channel();
        let cancel = CancellationToken::new();
        let work = work(caller.clone(), cancel.clone());
        let work = async move {
            let _running = running;
            work.await
        };
        let terms = WorkTerms { bytes, asks: asks.unwrap(), caller, cancel, going_on: None, task: None };
        (PendingRequest::start(work, terms), ended)
    }

    /// Work that asks once.
    fn asking(&self, client: &str, bytes: usize) -> (PendingRequest, oneshot::Receiver<()>) {
        self.start(client, bytes, |caller, _| ask(caller))
    }

    async fn drive(&self, work: PendingRequest) -> Result<Value, ErrorData> {
        self.held().drive(work, b"request", &CancellationToken::new()).await
    }

    /// The name in the state of a result with a question.
    fn name(&self, result: &Value) -> String {
        assert_eq!(result["resultType"], "input_required", "{result}");
        let state = result["requestState"].as_str().unwrap();
        match self.held().open::<()>(state, b"request") {
            Some(Ok(RequestState::Suspended { name, .. })) => name,
            _ => unreachable!("{state} is not the state of waiting work"),
        }
    }

    fn take(&self, name: &str) -> Result<PendingRequest, ErrorData> {
        let held = self.held();
        held.take((&held.replica, name), json!({ QUESTION: "yes" }).as_object())
    }
}

/// Asks the client, and returns the answer or why there is none.
async fn ask(caller: Arc<Caller>) -> Result<Value, ErrorData> {
    let answer = caller.ask("elicitation/create", json!({ "message": "Sure?" })).await;
    Ok(answer.unwrap_or_else(|unanswered| json!(unanswered.to_string())))
}

#[tokio::test]
async fn waiting_work_is_limited_for_each_client_until_it_is_answered() {
    let fixture = Fixture::new();
    let (first, _) = fixture.asking("a", SHARE / 2);
    let name = fixture.name(&fixture.drive(first).await.unwrap());
    fixture.drive(fixture.asking("a", SHARE / 2).0).await.unwrap();
    let (third, ended) = fixture.asking("a", SHARE / 2);
    let busy = fixture.drive(third).await.unwrap_err().message;
    assert!(busy.starts_with("busy: the limit of 64 requests that wait for their clients"), "{busy}");
    assert!(ended.await.is_err(), "the refused work ends");
    fixture.drive(fixture.asking("b", SHARE / 2).0).await.unwrap();

    let answered = fixture.take(&name).unwrap();
    assert_eq!(fixture.drive(answered).await.unwrap(), "yes");
    assert!(fixture.take(&name).is_err_and(|error| error.message.contains("no longer open")));
    let elsewhere = fixture.held().take(("another", &name), json!({ QUESTION: "yes" }).as_object());
    assert!(elsewhere.is_err_and(|error| error.message.contains("another replica")));
    fixture.drive(fixture.asking("a", SHARE / 2).0).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_ends_its_work_and_frees_its_place() {
    let fixture = Fixture::new();
    for (ends_in_order, expected) in [(true, Ok(json!("ended"))), (false, Err("cancelled".into()))] {
        let (work, ended) = fixture.start("a", SHARE, |caller, cancel| async move {
            ask(caller).await?;
            cancel.cancelled().await;
            if !ends_in_order {
                std::future::pending::<()>().await;
            }
            Ok(json!("ended"))
        });
        // This fails in the second round if the first one has kept its place.
        let name = fixture.name(&fixture.drive(work).await.unwrap());
        let answered = fixture.take(&name).unwrap();
        let request = CancellationToken::new();
        request.cancel();
        let result = fixture.held().drive(answered, b"request", &request).await;
        assert_eq!(result.map_err(|error| error.message), expected);
        assert!(ended.await.is_err());
    }
    fixture.drive(fixture.asking("a", SHARE).0).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn work_whose_client_does_not_return_learns_it_and_frees_its_place() {
    let fixture = Fixture::new();
    // Shorter than the limit of the question itself.
    fixture.held().set_return_time(TIME / 2);
    let (reports, reported) = oneshot::channel();
    let (work, _) = fixture.start("a", SHARE, |caller, _| async move {
        let answer = ask(caller).await?;
        let _ = reports.send(answer);
        Ok(Value::Null)
    });
    let started = Instant::now();
    let name = fixture.name(&fixture.drive(work).await.unwrap());
    assert_eq!(reported.await.unwrap(), "the client has not come back with an answer");
    assert!(started.elapsed() < TIME / 2 + CANCELLED_TIME, "{:?}", started.elapsed());
    assert!(fixture.take(&name).is_err_and(|error| error.message.contains("no longer open")));
    // This time is not real: it passes when nothing else can run.
    tokio::time::sleep(CANCELLED_TIME).await;
    fixture.drive(fixture.asking("a", SHARE).0).await.unwrap();
}

/// The time that a request waits for an execution in these tests.
const PATIENCE: Duration = Duration::from_secs(5);

impl Fixture {
    /// An execution of the client `a` that takes this long, and then answers.
    fn execution(&self, id: &str, time: Duration, end: &CancellationToken) -> PendingRequest {
        let (mut work, _) = self.start("a", 0, move |_, cancel| async move {
            tokio::select! {
                () = tokio::time::sleep(time) => Ok(json!("done")),
                () = cancel.cancelled() => Ok(json!("cancelled")),
            }
        });
        let (id, owner, session_end) = (id.to_owned(), "a".to_owned(), Some(end.clone()));
        let has_schema = false;
        work.terms.going_on = Some(GoingOn { id, owner, has_schema, limit: PATIENCE, session_end });
        work
    }

    /// Starts an execution that takes longer than its request waits.
    async fn let_run(&self, id: &str, time: Duration, end: &CancellationToken) {
        let answer = self.drive(self.execution(id, time, end)).await.unwrap();
        assert_eq!(answer, answer::still_running(id, false));
    }

    fn is_held(&self, id: &str) -> bool {
        self.held().running().contains_key(id)
    }
}

#[tokio::test(start_paused = true)]
async fn an_execution_goes_on_until_its_owner_comes_back() {
    let (fixture, end) = (Fixture::new(), CancellationToken::new());
    fixture.let_run("first", PATIENCE * 5 / 2, &end).await;
    let refused = |id, owner| fixture.held().take_running(id, owner).err().unwrap().to_string();
    assert!(refused("first", "b").starts_with("no execution \"first\" waits for you here"));
    assert!(refused("second", "a").contains("it is not run again"));
    let work = fixture.held().take_running("first", "a").unwrap();
    assert!(refused("first", "a").contains("another call waits for it"));
    assert_eq!(fixture.drive(work).await.unwrap(), answer::still_running("first", false));
    let work = fixture.held().take_running("first", "a").unwrap();
    assert_eq!(fixture.drive(work).await.unwrap(), "done");
    assert!(!fixture.is_held("first"));
}

#[tokio::test(start_paused = true)]
async fn a_result_is_kept_for_a_time_and_not_longer_than_the_session() {
    let (fixture, end) = (Fixture::new(), CancellationToken::new());
    for id in ["in time", "too late"] {
        fixture.let_run(id, PATIENCE * 2, &end).await;
    }
    tokio::time::sleep(TIME - PATIENCE).await;
    let work = fixture.held().take_running("in time", "a").unwrap();
    assert_eq!(fixture.drive(work).await.unwrap(), "done");
    tokio::time::sleep(PATIENCE * 3).await;
    assert!(!fixture.is_held("too late"));

    fixture.let_run("abandoned", TIME, &end).await;
    end.cancel();
    tokio::time::sleep(PATIENCE).await;
    assert!(!fixture.is_held("abandoned"));
    fixture.drive(fixture.asking("a", SHARE).0).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn without_room_the_request_waits_for_its_execution() {
    let (fixture, end) = (Fixture::new(), CancellationToken::new());
    for number in 0..WORK_OF_CLIENT.bytes / RESULT {
        fixture.let_run(&number.to_string(), TIME, &end).await;
    }
    assert_eq!(fixture.drive(fixture.execution("last", PATIENCE * 2, &end)).await.unwrap(), "done");
}
