//! `model-server --script FILE [--record FILE] [--key KEY] [--stay]`: scripted models behind the wire formats of
//! Anthropic's Messages, OpenAI's Chat Completions and Responses, and Gemini, with and without streaming.
//!
//! Its first line on standard output is its address (`http://127.0.0.1:PORT`); the APIs are under any path that ends
//! like theirs (`…/messages`, `…/chat/completions`, `…/responses`, `…/models/ID:generateContent`). It ends when its
//! standard input ends, unless `--stay` is given. Requests that the real API would reject (calls without results,
//! changed thoughts, empty texts, a wrong key) are rejected with 400 or 401: see `check.rs`.
//!
//! The script is JSON: `{ "rules": [RULE, …] }`. The first rule whose `when` matches a request answers it:
//!
//! ```json
//! { "when": { "user": "Review", "turn": 0 }, "answers": [ANSWER, …], "together": 50 }
//! ```
//!
//! `when` (all optional): `user`, `first_user`, `system`, `result`: text contained in the user's last message with
//! text, in the first one, in the system prompt, in the last tool result; `no_result`: true if the last message is the
//! user's; `result_of`: the tool of the last result; `turn`: the number of earlier messages of the model; `offers`: an
//! available tool; `model`, `api` (`anthropic`, `openai`, `openai-responses`, `gemini`): exact. A rule's answers are
//! used in order, across all clients; the last one repeats. `together`: answers wait until this many requests have
//! matched the rule, which proves that they are concurrent.
//!
//! An answer (all optional): `thinking`, `text`, `calls`: `[{ "name", "arguments", "id", "namespace" }]` (a string in
//! `arguments` is sent verbatim instead of JSON; only `openai-responses` has namespaces), `usage`: `{ "input",
//! "output", "cached" }`, `stop`: `length` or `refusal`, `delay`: milliseconds before the first byte, `pause`:
//! milliseconds between events; `status` with `headers` and `message`: a failure instead of an answer; `fault`: `cut`
//! (the connection breaks in the middle), `malformed` (an event is not JSON), `error` (an event reports a failure),
//! `no_end` (the stream ends without its last event).
//!
//! Placeholders in texts and arguments are filled from the request: `{{user}}`, `{{first_user}}`, `{{system}}`,
//! `{{result}}`, `{{turn}}`; `{{after:TEXT}}`, the rest of the line after TEXT in the user's last text, and
//! `{{word:TEXT}}`, the word after it; `{{json:/POINTER}}`, a part of the last result parsed as JSON; `{{id}}`,
//! the first id of 32 hexadecimal digits in the last result.
//!
//! The record has a line of JSON for each request (`number`, `api`, `path`, `headers` without keys, `body`, `at_once`:
//! the number of requests in progress), and `{ "gone": NUMBER }` for each client that disconnected before its answer
//! was complete.

mod answer;
mod anthropic;
mod chat;
mod check;
mod gemini;
mod record;
mod request;
mod responses;
mod script;
mod template;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Response, Uri};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use record::Record;
use request::{Api, ModelRequest};
use script::Script;

/// The state shared by all requests.
struct ServerState {
    script: Script,
    record: Record,
    key: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("model-server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut script, mut record, mut key, mut stay) = (None, None, None, false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--script" => script = arguments.next(),
            "--record" => record = arguments.next(),
            "--key" => key = arguments.next(),
            "--stay" => stay = true,
            other => return Err(format!("the argument {other} is not known").into()),
        }
    }
    let script = Script::read(&script.ok_or("--script FILE is missing")?)?;
    let record = Record::open(record.as_deref())?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "http://{}", listener.local_addr()?)?;
    let state = Arc::new(ServerState { script, record, key });
    let service = Router::new().fallback(serve).layer(DefaultBodyLimit::disable()).with_state(state);
    let serving = async { axum::serve(listener, service).await };
    if stay {
        return Ok(serving.await?);
    }
    let mut rest = [0; 64];
    let input = async {
        let mut input = tokio::io::stdin();
        while input.read(&mut rest).await.is_ok_and(|count| count > 0) {}
    };
    tokio::select! {
        served = serving => Ok(served?),
        () = input => Ok(()),
    }
}

async fn serve(
    State(state): State<Arc<ServerState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<axum::body::Body> {
    let Some((api, streams)) = Api::of(&uri) else {
        return answer::failure(None, 404, "no API has this path", &[]);
    };
    let body = match serde_json::from_slice(&body) {
        Ok(body) => body,
        Err(error) => return answer::failure(Some(api), 400, &format!("no JSON: {error}"), &[]),
    };
    let pending = state.record.request(api, &uri, &headers, &body);
    let request = ModelRequest::new(api, streams, &uri, body);
    if let Err((status, message)) = check::check(&request, &headers, state.key.as_deref()) {
        pending.end();
        return answer::failure(Some(api), status, &message, &[]);
    }
    match state.script.answer(&request).await {
        Some(answer) => answer::send(&request, template::filled(&answer, &request), pending).await,
        None => {
            pending.end();
            let message =
                format!("no rule of the script fits: turn {}, user {:?}", request.turn, request.user);
            answer::failure(Some(api), 400, &message, &[])
        }
    }
}
