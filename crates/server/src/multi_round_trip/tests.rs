//! Tests of the states that continue a call, and of those that are refused.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use gateway::pins::Known;
use serde_json::json;

use super::*;
use crate::fixtures::{PipeClient, session, state};
use crate::snapshot::Settings;

/// A server and its client.
struct Fixture {
    state: Arc<ServerState>,
    session: Arc<ClientSession>,
    context: RequestContext<RoleServer>,
    _client: PipeClient,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::new(config::Config::default(), Known::default(), None).unwrap();
        let state = state(settings, folder.path());
        let (session, client) = (session(&state, "c-1"), PipeClient::connect());
        Fixture { state, session, context: client.request(1), _client: client, _folder: folder }
    }

    fn call(&self, parameters: &Value) -> Result<MultiRoundTripCall<'_>, ErrorData> {
        let parameters = parameters.as_object().unwrap();
        MultiRoundTripCall::new(&self.state, &self.session, &self.context, parameters)
    }

    /// Begins a call that asks `questions` times and returns the last answer.
    async fn begin(&self, questions: usize) -> Value {
        let call = self.call(&parameters()).unwrap();
        assert!(matches!(call.resume::<()>().await, Ok(Resumption::New)));
        let scope = call.scope();
        let caller = scope.caller.clone();
        let work = async move {
            let mut answer = Value::Null;
            for number in 0..questions {
                let question = json!({ "message": number });
                answer = caller.ask("elicitation/create", question).await.unwrap();
            }
            Ok(answer)
        };
        call.drive(scope, work).await.unwrap()
    }

    /// Repeats the call with these parameters, which contain a state.
    async fn resume(&self, parameters: &Value) -> Result<Value, String> {
        match self.call(parameters).unwrap().resume::<()>().await {
            Ok(Resumption::Answered(result)) => Ok(result),
            Ok(_) => unreachable!("no work waited for {parameters}"),
            Err(error) => Err(error.message.into_owned()),
        }
    }
}

fn parameters() -> Value {
    json!({ "name": "order", "arguments": { "count": 2, "of": "lamp" } })
}

/// The parameters of the next request, after this result.
fn next(result: &Value, answer: &str) -> Value {
    assert_eq!(result["resultType"], "input_required", "{result}");
    let mut next = parameters();
    next["requestState"] = result["requestState"].clone();
    next["inputResponses"] = json!({ "question": answer });
    next
}

#[tokio::test]
async fn each_question_has_a_state_that_is_accepted_once() {
    let fixture = Fixture::new();
    let first = fixture.begin(2).await;
    let question = json!({ "question": { "method": "elicitation/create", "params": { "message": 0 } } });
    assert_eq!(first["inputRequests"], question);
    let second = fixture.resume(&next(&first, "one")).await.unwrap();
    assert_eq!(second["inputRequests"]["question"]["params"]["message"], 1);
    assert_ne!(first["requestState"], second["requestState"]);
    let replayed = fixture.resume(&next(&first, "forged")).await.unwrap_err();
    assert!(replayed.contains("no longer open"), "{replayed}");
    assert_eq!(fixture.resume(&next(&second, "two")).await.unwrap(), "two");
    assert!(fixture.resume(&next(&second, "two")).await.is_err());
}

#[tokio::test]
async fn a_state_of_another_call_or_server_is_refused_and_the_work_still_waits() {
    let fixture = Fixture::new();
    let asked = fixture.begin(1).await;
    let right = next(&asked, "yes");
    let with = |key: &str, value: Value| {
        let mut changed = right.clone();
        changed[key] = value;
        changed
    };
    let state = right["requestState"].as_str().unwrap();
    let (start, last) = state.split_at(state.len() - 4);
    let reversed: String = last.chars().rev().collect();
    assert_ne!(last, reversed);
    let other_server = Fixture::new().begin(1).await["requestState"].clone();
    for (wrong, reason) in [
        (with("arguments", json!({ "count": 3, "of": "lamp" })), "requestState is invalid"),
        (with("name", json!("cancel")), "requestState is invalid"),
        (with("requestState", json!(format!("{start}{reversed}"))), "requestState is invalid"),
        (with("requestState", json!("toolsmith.")), "requestState is invalid"),
        (with("requestState", other_server), "requestState is invalid"),
        (with("inputResponses", json!({})), "inputResponses has no \"question\""),
        (with("inputResponses", Value::Null), "inputResponses has no \"question\""),
    ] {
        let refused = fixture.resume(&wrong).await.unwrap_err();
        assert!(refused.contains(reason), "{wrong}: {refused}");
    }
    let reordered = with("arguments", serde_json::from_str(r#"{ "of": "lamp", "count": 2 }"#).unwrap());
    assert_eq!(fixture.resume(&reordered).await.unwrap(), "yes");
}

#[tokio::test]
async fn states_without_waiting_work_are_returned_to_their_owner() {
    let fixture = Fixture::new();
    let mut call = parameters();
    call["requestState"] = json!("a server's state");
    let foreign = fixture.call(&call).unwrap();
    assert!(matches!(foreign.resume::<String>().await, Ok(Resumption::Foreign)));

    let sealed = fixture.state.held.once("known".to_owned()).unwrap();
    call["requestState"] = json!(fixture.state.held.seal(&sealed, &foreign.binding));
    let sealed = fixture.call(&call).unwrap();
    let Ok(Resumption::Sealed(once, known)) = sealed.resume::<String>().await else { unreachable!() };
    assert_eq!(known, "known");
    fixture.state.held.spend(once.clone()).await.unwrap();
    assert!(fixture.state.held.spend(once).await.is_err());
}

#[tokio::test]
async fn a_stopping_server_accepts_only_calls_that_have_begun() {
    let fixture = Fixture::new();
    let asked = fixture.begin(1).await;
    fixture.state.draining.cancel();
    let refused = fixture.call(&parameters()).err().unwrap();
    assert!(refused.message.contains("is stopping"), "{refused:?}");
    assert_eq!(fixture.resume(&next(&asked, "yes")).await.unwrap(), "yes");
    assert!(fixture.call(&json!({ "arguments": {} })).err().unwrap().message.contains("params.name"));
}
