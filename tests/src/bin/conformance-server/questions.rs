//! Tools, and one prompt, that request input from the client's user, model or roots before they answer.
//!
//! With sessions, the server sends its questions as requests. Stateless, it returns them as the result and is called
//! again with the answers. The questions are the same.

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientCapabilities, InputRequest, InputRequests, InputRequiredResult, InputResponses,
        RequestStateCodec, SealOptions,
    },
    service::RequestContext,
};
use serde_json::{Map, Value, json};

use crate::{
    prompts,
    server::{is_stateless, parsed},
    tasks,
};

/// The tools that request input.
pub(crate) const TOOLS: [(&str, &str); 14] = [
    ("test_sampling", "Asks the client's model."),
    ("test_elicitation", "Asks the person for a name and an address."),
    ("test_elicitation_sep1034_defaults", "Asks the person, with a default for every kind of field."),
    ("test_elicitation_sep1330_enums", "Asks the person to choose, in every form that a choice may have."),
    ("test_streaming_elicitation", "Asks the person for a word, on the stream of its answer."),
    ("test_input_required_result_elicitation", "Asks the person for a name."),
    ("test_input_required_result_sampling", "Asks the client's model for a capital."),
    ("test_input_required_result_list_roots", "Asks for the client's roots."),
    ("test_input_required_result_request_state", "Asks for consent, and keeps its state with the client."),
    ("test_input_required_result_multiple_inputs", "Asks three things at once."),
    ("test_input_required_result_multi_round", "Asks two things after each other."),
    ("test_input_required_result_tampered_state", "Asks for consent, and refuses a state that was changed."),
    ("test_input_required_result_capabilities", "Asks only what the client can answer."),
    ("test_input_required_result_two_ways", "Asks for consent first and for a text then."),
];

/// Lifetime of the state that the client keeps.
const STATE_LIFE: Duration = Duration::from_secs(600);
/// The key that seals states. Not a secret: only tests use this server.
const STATE_KEY: &[u8] = b"a fixture's key, known to everyone";

/// The result of asking.
pub(crate) enum QuestionOutcome {
    /// The answers by key; every question has one.
    Answered(Map<String, Value>),
    /// The client must answer and call again.
    Open(InputRequiredResult),
}

/// The parts that the client sent in addition to the arguments.
pub(crate) struct Retry {
    pub(crate) responses: Option<InputResponses>,
    pub(crate) state: Option<String>,
}

/// The questions of a tool or prompt, round by round; `None` if it has none.
fn rounds(name: &str, arguments: &Map<String, Value>) -> Option<Vec<Value>> {
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let consent = || json!({ "confirm": form("Please confirm", "ok", "boolean") });
    let first = match name {
        "test_sampling" => json!({ "response": sampling(argument("prompt"), 100) }),
        "test_elicitation" => json!({ "user": contact(argument("message")) }),
        "test_elicitation_sep1034_defaults" => json!({ "form": defaults() }),
        "test_elicitation_sep1330_enums" => json!({ "form": choices() }),
        "test_streaming_elicitation" => json!({ "word": form("Say a word", "word", "string") }),
        "test_input_required_result_elicitation" => {
            json!({ "user_name": form("What is your name?", "name", "string") })
        }
        "test_input_required_result_sampling" => {
            json!({ "capital_question": sampling("What is the capital of France?", 100) })
        }
        "test_input_required_result_list_roots" => json!({ "client_roots": roots() }),
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => consent(),
        "test_input_required_result_multiple_inputs" => json!({
            "user_name": form("What is your name?", "name", "string"),
            "greeting": sampling("Generate a greeting", 50),
            "client_roots": roots(),
        }),
        "test_input_required_result_multi_round" => {
            let second = form("Step 2: What is your favorite color?", "color", "string");
            let first = form("Step 1: What is your name?", "name", "string");
            return Some(vec![json!({ "step1": first }), json!({ "step2": second })]);
        }
        "test_input_required_result_capabilities" => json!({
            "person": form("What is your name?", "name", "string"),
            "model": sampling("Generate a greeting", 50),
        }),
        "test_input_required_result_two_ways" => {
            return Some(vec![consent(), json!({ "text": sampling("Generate a text", 50) })]);
        }
        tasks::ASKS_FIRST => json!({ "user_name": form("What is your name?", "name", "string") }),
        prompts::ASKING => {
            json!({ "user_context": form("What context should the prompt use?", "context", "string") })
        }
        _ => return None,
    };
    Some(vec![first])
}

/// Whether the server needs its state back, even with a single round.
fn keeps_state(name: &str, rounds: usize) -> bool {
    rounds > 1
        || matches!(
            name,
            "test_input_required_result_request_state"
                | "test_input_required_result_tampered_state"
                | "test_input_required_result_multiple_inputs"
        )
}

/// Asks the questions of `name`; `None` if it has none.
pub(crate) async fn ask(
    name: &str,
    arguments: &Map<String, Value>,
    retry: Retry,
    context: &RequestContext<RoleServer>,
) -> Result<Option<QuestionOutcome>, ErrorData> {
    let Some(rounds) = rounds(name, arguments) else { return Ok(None) };
    let able = context.client_capabilities().unwrap_or_default();
    let rounds = rounds.iter().map(|round| answerable(name, round, &able)).collect::<Result<Vec<_>, _>>()?;
    if is_stateless(context) {
        return next(name, &rounds, retry).map(Some);
    }
    let mut answers = Map::new();
    for (key, request) in rounds.iter().flatten() {
        answers.insert(key.clone(), send(request, context).await?);
    }
    Ok(Some(QuestionOutcome::Answered(answers)))
}

/// The questions that a client can answer. Only one tool accepts fewer than all.
fn answerable(name: &str, round: &Value, able: &ClientCapabilities) -> Result<InputRequests, ErrorData> {
    let mut requests: InputRequests = parsed(round.clone())?;
    let all = requests.len();
    requests.retain(|_, request| match request {
        InputRequest::CreateMessage(_) => able.sampling.is_some(),
        InputRequest::Elicitation(_) => able.elicitation.is_some(),
        InputRequest::ListRoots(_) => able.roots.is_some(),
        _ => false,
    });
    let enough = requests.len() == all || name == "test_input_required_result_capabilities";
    if enough && !requests.is_empty() {
        return Ok(requests);
    }
    let mut needed = Map::new();
    for request in round.as_object().into_iter().flat_map(Map::values) {
        let capability = match request["method"].as_str() {
            Some("sampling/createMessage") => "sampling",
            Some("roots/list") => "roots",
            _ => "elicitation",
        };
        needed.insert(capability.to_owned(), json!({}));
    }
    Err(ErrorData::missing_required_client_capability(parsed(Value::Object(needed))?))
}

/// The next step in the stateless era.
fn next(name: &str, rounds: &[InputRequests], retry: Retry) -> Result<QuestionOutcome, ErrorData> {
    let codec = RequestStateCodec::try_new(STATE_KEY)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let (mut answers, mut round) = (Map::new(), 0);
    if let Some(state) = &retry.state {
        (answers, round) = codec
            .open_json_with(state, name.as_bytes())
            .map_err(|error| ErrorData::invalid_params(format!("requestState: {error}"), None))?;
    }
    // If the state is lost, the questions are asked again.
    let responses = retry.responses.filter(|_| retry.state.is_some() || !keeps_state(name, rounds.len()));
    let all =
        rounds.get(round).ok_or_else(|| ErrorData::invalid_params("requestState: no such round", None))?;
    if let Some(responses) = responses
        && all.iter().all(|(key, request)| responses.get(key).is_some_and(|answer| fits(request, answer)))
    {
        answers.extend(responses.into_iter().filter(|(key, _)| all.contains_key(key)));
        round += 1;
    }
    let Some(open) = rounds.get(round) else { return Ok(QuestionOutcome::Answered(answers)) };
    let state = keeps_state(name, rounds.len()).then(|| {
        let options = SealOptions::new().associated_data(name.as_bytes()).ttl(STATE_LIFE);
        codec.seal_json_with(&(answers, round), &options)
    });
    let state = state.transpose().map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(QuestionOutcome::Open(InputRequiredResult::new(Some(open.clone()), state)))
}

/// Whether an answer fits its question.
fn fits(request: &InputRequest, answer: &Value) -> bool {
    match request {
        InputRequest::CreateMessage(_) => answer["model"].is_string() && !answer["content"].is_null(),
        InputRequest::Elicitation(_) => match answer["action"].as_str() {
            Some("accept") => answer["content"].is_object(),
            action => action.is_some(),
        },
        InputRequest::ListRoots(_) => answer["roots"].is_array(),
        _ => false,
    }
}

/// Sends one question over a session.
#[expect(deprecated, reason = "sampling and roots are in use for as long as there are sessions")]
async fn send(request: &InputRequest, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let peer = &context.peer;
    let answer = match request.clone() {
        InputRequest::CreateMessage(request) => {
            peer.create_message(request.params).await.map(serde_json::to_value)
        }
        InputRequest::Elicitation(request) => {
            peer.create_elicitation(request.params).await.map(serde_json::to_value)
        }
        InputRequest::ListRoots(_) => peer.list_roots().await.map(serde_json::to_value),
        _ => return Err(ErrorData::internal_error("a question of an unknown kind", None)),
    };
    let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A tool's text once it has its answers.
pub(crate) fn says(name: &str, answers: &Map<String, Value>) -> String {
    let answer = |key: &str| answers.get(key).unwrap_or(&Value::Null);
    let elicited = |key: &str| {
        let answer = answer(key);
        format!("action={}, content={}", answer["action"].as_str().unwrap_or_default(), answer["content"])
    };
    match name {
        "test_sampling" => format!("LLM response: {}", sampled(answer("response"))),
        "test_elicitation" => format!("User response: {}", elicited("user")),
        "test_elicitation_sep1034_defaults" | "test_elicitation_sep1330_enums" => {
            format!("Elicitation completed: {}", elicited("form"))
        }
        "test_input_required_result_elicitation" => {
            format!("Hello, {}!", answer("user_name")["content"]["name"].as_str().unwrap_or("stranger"))
        }
        "test_input_required_result_sampling" => sampled(answer("capital_question")).to_owned(),
        "test_input_required_result_request_state" => format!("state-ok: {}", elicited("confirm")),
        _ => Value::Object(answers.clone()).to_string(),
    }
}

fn sampled(answer: &Value) -> &str {
    let content = if answer["content"].is_array() { &answer["content"][0] } else { &answer["content"] };
    content["text"].as_str().unwrap_or_default()
}

fn form(message: &str, field: &str, kind: &str) -> Value {
    elicitation(message, &json!({ field: { "type": kind } }), &[field])
}

fn elicitation(message: &str, fields: &Value, required: &[&str]) -> Value {
    let schema = json!({ "type": "object", "properties": fields, "required": required });
    json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } })
}

fn sampling(prompt: &str, tokens: u32) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": tokens } })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

fn contact(message: &str) -> Value {
    let fields = json!({
        "username": { "type": "string", "description": "User's response" },
        "email": { "type": "string", "description": "User's email address" },
    });
    elicitation(message, &fields, &["username", "email"])
}

fn defaults() -> Value {
    let fields = json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    });
    elicitation("Review what is filled in", &fields, &[])
}

fn choices() -> Value {
    let plain = json!(["option1", "option2", "option3"]);
    let titled = |kind: &str| {
        let title = |number: u32, word: &str| json!({ "const": format!("value{number}"), "title": format!("{word} {kind}") });
        json!([title(1, "First"), title(2, "Second"), title(3, "Third")])
    };
    let fields = json!({
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
    });
    elicitation("Choose", &fields, &[])
}
