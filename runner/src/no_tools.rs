//! The tool host of a program that calls no tool, or does not run.

use bridge::wire::{CallFailure, FailureKind};
use futures::future::{BoxFuture, FutureExt as _, ready};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::host::{Answer, Refusal, SessionError, ToolHost};

/// A host without tools: every session is unavailable, and every call denied.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTools;

impl ToolHost for NoTools {
    fn open<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), SessionError>> {
        ready(Err(SessionError::Unavailable(format!("no session with {server} is opened for schemas"))))
            .boxed()
    }

    fn permit<'a>(&'a self, _: &'a [(String, String)]) -> BoxFuture<'a, Result<(), Refusal>> {
        ready(Ok(())).boxed()
    }

    fn permit_call<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: &'a RawValue,
    ) -> BoxFuture<'a, Result<(), CallFailure>> {
        ready(Err(denied())).boxed()
    }

    fn call<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: Box<RawValue>,
        _: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Answer, CallFailure>> {
        ready(Err(denied())).boxed()
    }
}

fn denied() -> CallFailure {
    let message = "a program that returns its schemas calls no tool".to_owned();
    CallFailure { kind: FailureKind::Denied, message }
}
