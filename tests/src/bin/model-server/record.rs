//! Records requests, and clients that disconnect early, for tests to read.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::{HeaderMap, Uri};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::request::Api;

/// Headers that contain keys.
const KEYS: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];

/// The record of all requests.
#[derive(Clone)]
pub(crate) struct Record(Arc<Inner>);

struct Inner {
    file: Option<Mutex<File>>,
    number: AtomicUsize,
    under_way: AtomicUsize,
}

impl Record {
    pub(crate) fn open(file: Option<&str>) -> io::Result<Self> {
        let file = file
            .map(|file| OpenOptions::new().create(true).append(true).open(file).map(Mutex::new))
            .transpose()?;
        Ok(Record(Arc::new(Inner { file, number: AtomicUsize::new(1), under_way: AtomicUsize::new(0) })))
    }

    /// Records a request before it is answered.
    pub(crate) fn request(&self, api: Api, uri: &Uri, headers: &HeaderMap, body: &Value) -> Pending {
        let number = self.0.number.fetch_add(1, Ordering::Relaxed);
        let at_once = self.0.under_way.fetch_add(1, Ordering::Relaxed) + 1;
        let headers: Map<String, Value> = headers
            .iter()
            .filter(|(name, _)| !KEYS.contains(&name.as_str()))
            .map(|(name, value)| (name.to_string(), json!(String::from_utf8_lossy(value.as_bytes()))))
            .collect();
        self.line(&json!({
            "number": number,
            "api": api.name(),
            "path": uri.to_string(),
            "headers": headers,
            "body": body,
            "at_once": at_once,
        }));
        Pending { record: self.clone(), number, complete: false }
    }

    fn line(&self, line: &Value) {
        let Some(file) = &self.0.file else { return };
        let mut file = file.lock();
        // A single write, so that lines are not mixed.
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            eprintln!("model-server: the record can't be written: {error}");
        }
    }
}

/// A request whose answer is not complete yet.
pub(crate) struct Pending {
    record: Record,
    number: usize,
    complete: bool,
}

impl Pending {
    /// The answer is complete, or broken as scripted.
    pub(crate) fn end(mut self) {
        self.complete = true;
    }

    /// A number that makes the calls and thoughts of different answers distinct.
    pub(crate) fn number(&self) -> usize {
        self.number
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.record.0.under_way.fetch_sub(1, Ordering::Relaxed);
        if !self.complete {
            self.record.line(&json!({ "gone": self.number }));
        }
    }
}
