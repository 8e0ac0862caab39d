//! A host for tests, which stands in for the servers of a program.

use futures::FutureExt as _;
use futures::future::{BoxFuture, pending, ready};
use tokio::sync::{Notify, Semaphore};

use super::*;
use crate::host::Refusal;

/// How long the answer of the tool `large` is: more than a socket takes, so the program has to read it.
pub(super) const LARGE: usize = 8 << 20;

/// A host whose tool `late` never answers, whose tool `large` has a large answer, and whose others answer with nothing. The
/// tool `forbidden` is denied, and about `asks` a person is asked, who answers when told.
pub(super) struct Host {
    /// What it was asked to permit, and what it was given to send.
    pub(super) told: Mutex<Vec<String>>,
    /// Told each time that a person is asked.
    pub(super) asked: Notify,
    /// The person's answers.
    pub(super) answers: Semaphore,
    /// Told each time that the tool `large` is called.
    pub(super) called: Notify,
}

impl Default for Host {
    fn default() -> Self {
        Host {
            told: Mutex::default(),
            asked: Notify::new(),
            answers: Semaphore::new(0),
            called: Notify::new(),
        }
    }
}

impl ToolHost for Host {
    fn open<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), String>> {
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
        self.told.lock().unwrap().push(format!("permit {arguments}"));
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
    ) -> BoxFuture<'a, Result<Answer, CallFailure>> {
        self.told.lock().unwrap().push(format!("send {arguments}"));
        async move {
            let result = match tool {
                "late" => pending().await,
                "large" => {
                    self.called.notify_one();
                    raw(&format!("\"{}\"", "x".repeat(LARGE)))
                }
                _ => raw("{\"content\":[]}"),
            };
            Ok(Answer { result, is_error: tool == "failing" })
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
        let message = format!("{server} keeps {uri} to itself");
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
