//! Small objects beside the entries, which replicas of one server share: each is written once and read as it is.
//!
//! They are not signed. Their writer makes sure that it notices objects of others.

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt as _;
use object_store::path::Path;
use object_store::{Error as StoreError, ObjectStore as _, ObjectStoreExt as _, PutMode, PutOptions};

use crate::breaker::Gate;
use crate::notes::Subject;
use crate::shared::Shared;
use crate::trouble::{Trouble, within};

/// The speed below which a write counts as slow, in bytes per second (1 MiB/s), beyond the time of an answer.
const SLOWEST: usize = 1 << 20;

/// A kind of objects, which have a folder of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// Marks of what may happen once.
    Used,
    /// Outputs of executions.
    Outputs,
}

/// The reason why an object can't be read or written. The text has no secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the store can't be used: {0}")]
pub struct ObjectError(String);

impl From<Trouble> for ObjectError {
    fn from(trouble: Trouble) -> Self {
        ObjectError(trouble.words())
    }
}

/// The objects in a store.
#[derive(Debug, Clone)]
pub struct Objects(pub(crate) Arc<Shared>);

impl Objects {
    fn place(&self, kind: ObjectKind, name: &str) -> Path {
        let folder = match kind {
            ObjectKind::Used => "used",
            ObjectKind::Outputs => "outputs",
        };
        self.0.store.object(folder, name)
    }

    /// Refuses requests to a store that does not work, as for entries.
    fn gate(&self) -> Result<(), ObjectError> {
        match self.0.reads.gate() {
            Gate::Open | Gate::Attempt => Ok(()),
            Gate::Shut => {
                Err(ObjectError("it did not work before, and is tried again in a while".to_owned()))
            }
        }
    }

    fn noted<T>(&self, answer: Result<T, Trouble>) -> Result<T, ObjectError> {
        match &answer {
            Ok(_) => self.0.works(&self.0.reads),
            Err(trouble) => self.0.failed(&self.0.reads, Subject::Reading, trouble),
        }
        Ok(answer?)
    }

    /// Creates an object; `false` if it exists.
    ///
    /// # Errors
    /// If the store does not answer in time, or has no conditional writes.
    pub async fn create(&self, kind: ObjectKind, name: &str) -> Result<bool, ObjectError> {
        self.gate()?;
        let (place, options) = (self.place(kind, name), PutOptions::from(PutMode::Create));
        let put = self.0.store.objects.put_opts(&place, Bytes::from_static(b"used").into(), options);
        match within(self.0.timeout, put).await {
            Err(Trouble::Store(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. })) => {
                self.0.works(&self.0.reads);
                Ok(false)
            }
            answer => self.noted(answer).map(|_| true),
        }
    }

    /// Writes an object.
    ///
    /// # Errors
    /// If the store does not answer in time.
    pub async fn write(&self, kind: ObjectKind, name: &str, bytes: Vec<u8>) -> Result<(), ObjectError> {
        self.gate()?;
        let limit = self.0.timeout + std::time::Duration::from_secs((bytes.len() / SLOWEST) as u64);
        let place = self.place(kind, name);
        let answer = within(limit, self.0.store.objects.put(&place, bytes.into())).await;
        self.noted(answer).map(drop)
    }

    /// Reads an object of at most `max_bytes`; `None` if there is none, or it is larger.
    ///
    /// # Errors
    /// If the store does not answer in time.
    pub async fn read(
        &self,
        kind: ObjectKind,
        name: &str,
        max_bytes: usize,
    ) -> Result<Option<Vec<u8>>, ObjectError> {
        self.gate()?;
        let place = self.place(kind, name);
        let object = match within(self.0.timeout, self.0.store.objects.get(&place)).await {
            Err(trouble) if trouble.is_missing_object() => {
                self.0.works(&self.0.reads);
                return Ok(None);
            }
            answer => self.noted(answer)?,
        };
        let seconds = object.meta.size / SLOWEST as u64;
        if object.meta.size > max_bytes as u64 {
            return Ok(None);
        }
        let limit = self.0.timeout + std::time::Duration::from_secs(seconds);
        let reading = async {
            let (mut stream, mut bytes) = (object.into_stream(), Vec::new());
            while let Some(part) = stream.next().await {
                bytes.extend_from_slice(&part?);
                if bytes.len() > max_bytes {
                    return Ok(None);
                }
            }
            Ok(Some(bytes))
        };
        let answer = within(limit, reading).await;
        self.noted(answer)
    }
}
