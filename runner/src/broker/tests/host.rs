//! A test host that simulates the servers of a program.

use futures::FutureExt as _;
use futures::future::{BoxFuture, pending, ready};
use serde_json::{Map, Value};
use tokio::sync::{Notify, Semaphore};

use super::*;
use crate::host::{Refusal, SessionError};

/// Size of the answer of the tool `large`: more than a socket buffer, so the program has to read it.
pub(super) const LARGE: usize = 8 << 20;

/// A host whose tool `late` never answers, whose tool `large` has a large answer, and whose others answer with nothing.
/// The tool `forbidden` is denied, `batch` waits for a permit of `answers` and returns its arguments, and `asks` waits for the simulated user's answer.
pub(super) struct Host {
    /// The permission requests and calls so far.
    pub(super) requests: Mutex<Vec<String>>,
    /// Notified each time the user is asked.
    pub(super) asked: Notify,
    /// The user's answers.
    pub(super) answers: Semaphore,
    /// Notified each time the tool `large` is called.
    pub(super) called: Notify,
}

impl Default for Host {
    fn default() -> Self {
        Host {
            requests: Mutex::default(),
            asked: Notify::new(),
            answers: Semaphore::new(0),
            called: Notify::new(),
        }
    }
}

impl ToolHost for Host {
    fn open<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), SessionError>> {
        ready(Ok(())).boxed()
    }

    fn permit<'a>(&'a self, _: &'a [(String, String)]) -> BoxFuture<'a, Result<(), Refusal>> {
        ready(Ok(())).boxed()
    }

    fn permit_call<'a>(
        &'a self,
        _: &'a str,
        tool: &'a str,
        arguments: &'a RawValue,
    ) -> BoxFuture<'a, Result<(), CallFailure>> {
        self.requests.lock().push(format!("permit {arguments}"));
        async move {
            if tool == "asks" {
                self.asked.notify_one();
                self.answers.acquire().await.unwrap().forget();
            }
            let message = "not today".to_owned();
            let denied = CallFailure { kind: FailureKind::Denied, message };
            if tool == "forbidden" { Err(denied) } else { Ok(()) }
        }
        .boxed()
    }

    fn call<'a>(
        &'a self,
        _: &'a str,
        tool: &'a str,
        arguments: Box<RawValue>,
        _: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Answer, CallFailure>> {
        self.requests.lock().push(format!("send {arguments}"));
        async move {
            let result = match tool {
                "late" => pending().await,
                "batch" => {
                    self.answers.acquire().await.unwrap().forget();
                    arguments
                }
                "large" => {
                    self.called.notify_one();
                    raw(&format!("\"{}\"", "x".repeat(LARGE)))
                }
                _ => raw("{\"content\":[]}"),
            };
            Ok(Answer { result, is_error: tool == "failing", cached: None })
        }
        .boxed()
    }

    fn find_resource<'a>(
        &'a self,
        uri: &'a str,
        server: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, CallFailure>> {
        let message = format!("no server has {uri}");
        let unknown = CallFailure { kind: FailureKind::InvalidParams, message };
        ready(server.map(str::to_owned).ok_or(unknown)).boxed()
    }

    fn permit_read<'a>(&'a self, server: &'a str, uri: &'a str) -> BoxFuture<'a, Result<(), CallFailure>> {
        let message = format!("{server} refuses {uri}");
        let denied = CallFailure { kind: FailureKind::Denied, message };
        ready(if uri.ends_with("secret") { Err(denied) } else { Ok(()) }).boxed()
    }

    fn read_resource<'a>(
        &'a self,
        server: &'a str,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Box<RawValue>, CallFailure>> {
        ready(Ok(raw(&format!("{{\"of\":\"{server} {uri}\"}}")))).boxed()
    }
}
