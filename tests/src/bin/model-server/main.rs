//! `model-server --script FILE [--record FILE] [--key KEY] [--stay]`: models that say what a script says, behind the wire
//! formats of Anthropic's Messages, OpenAI's Chat Completions and Responses, and Gemini, streamed and not.
//!
//! Its first line on standard output is its address (`http://127.0.0.1:PORT`); the APIs lie under any path that ends as
//! theirs does (`…/messages`, `…/chat/completions`, `…/responses`, `…/models/ID:generateContent`). It ends with its
//! standard input, unless `--stay`. Requests that the real API would refuse (calls without results, thoughts that come
//! back changed, empty texts, a wrong key) are refused with 400 or 401: see `check.rs`.
//!
//! The script is JSON: `{ "rules": [RULE, …] }`. The first rule whose `when` fits a request answers it:
//!
//! ```json
//! { "when": { "user": "Review", "turn": 0 }, "answers": [ANSWER, …], "together": 50 }
//! ```
//!
//! `when` (all optional): `user`, `first_user`, `system`, `result`: texts that stand in the last message with text of the
//! user, in the first one, in the system prompt, in the last tool's result; `no_result`: true where the last message is
//! the user's; `result_of`: the tool that the last result is of; `turn`: how many messages the model has said before;
//! `offers`: a tool that may be called; `model`, `api` (`anthropic`, `openai`, `openai-responses`, `gemini`): whole.
//! A rule's answers are given one after the other, whoever asks; the last one stays. `together`: they wait until so many
//! requests have come to this rule, which proves that they come side by side.
//!
//! An answer (all optional): `thinking`, `text`, `calls`: `[{ "name", "arguments", "id", "namespace" }]` (where `arguments`
//! is a text, that text stands in the place of JSON; a namespace has a place in `openai-responses` alone), `usage`: `{ "input", "output", "cached" }`, `stop`: `length` or `refusal`,
//! `delay`: milliseconds before the first byte, `pause`: milliseconds between events; `status` with `headers` and
//! `message`: a failure instead of an answer; `fault`: `cut` (the connection breaks in the middle), `malformed` (an
//! event is no JSON), `error` (an event tells a failure), `no_end` (the stream ends without its last event).
//!
//! In texts and arguments stand for something of the request: `{{user}}`, `{{first_user}}`, `{{system}}`, `{{result}}`,
//! `{{turn}}`; `{{after:TEXT}}`, the rest of the line behind TEXT in the last text of the user, and `{{word:TEXT}}`, the
//! word behind it; `{{json:/POINTER}}`, a part of the last result read as JSON.
//!
//! The record has a line of JSON for each request (`number`, `api`, `path`, `headers` without keys, `body`, `at_once`:
//! how many were under way), and `{ "gone": NUMBER }` where a client left before its answer was whole.

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

/// What all requests share.
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
    let world = Arc::new(ServerState { script, record, key });
    let service = Router::new().fallback(serve).layer(DefaultBodyLimit::disable()).with_state(world);
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
    State(world): State<Arc<ServerState>>,
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
    let pending = world.record.request(api, &uri, &headers, &body);
    let asked = ModelRequest::new(api, streams, &uri, body);
    if let Err((status, message)) = check::check(&asked, &headers, world.key.as_deref()) {
        pending.end();
        return answer::failure(Some(api), status, &message, &[]);
    }
    match world.script.answer(&asked).await {
        Some(answer) => answer::give(&asked, template::filled(&answer, &asked), pending).await,
        None => {
            pending.end();
            let message = format!("no rule of the script fits: turn {}, user {:?}", asked.turn, asked.user);
            answer::failure(Some(api), 400, &message, &[])
        }
    }
}
