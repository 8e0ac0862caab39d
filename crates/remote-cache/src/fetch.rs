//! Fetches an entry: reads it from the store within limits of time and size, verifies it, and unpacks it.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use object_store::{GetResult, ObjectStoreExt as _};
use runner::{Bucket, Wanted};
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, timeout_at};

use crate::archive;
use crate::key::hexadecimal;
use crate::notes::Subject;
use crate::sealed::{self, Header, Refusal};
use crate::shared::Shared;
use crate::trouble::{Trouble, within};

/// The speed below which a transfer counts as slow, in bytes per second (1 MiB/s). At this speed, compiling bindings or a
/// program again takes about as long as fetching them.
const SLOWEST: u64 = 1 << 20;
/// A layer takes a minute to build, so its first answer may take this much longer than that of other entries.
const LAYER_PATIENCE: u32 = 10;
/// The parts of an entry besides its packed files, and the most that packing may add to them, in bytes.
const OVERHEAD: u64 = 1 << 20;

/// The result of a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looked {
    /// The files are in the folder.
    Written,
    /// The store has no entry that can be used.
    Missing,
    /// The store does not work.
    Unavailable,
}

/// The reason why an entry was not fetched.
enum Stopped {
    Missing,
    Refused(Refusal),
    Trouble(Trouble),
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Stopped::Refused(refusal)
    }
}

impl From<Trouble> for Stopped {
    fn from(trouble: Trouble) -> Self {
        if trouble.is_missing_object() { Stopped::Missing } else { Stopped::Trouble(trouble) }
    }
}

impl From<std::io::Error> for Stopped {
    fn from(error: std::io::Error) -> Self {
        Stopped::Trouble(Trouble::Local(error))
    }
}

/// Looks the entry up, and records what that shows about the store.
pub(crate) async fn look_up(shared: &Shared, wanted: &Wanted<'_>) -> Looked {
    let looked = match fetch(shared, wanted).await {
        Ok(()) => Looked::Written,
        Err(Stopped::Missing) => Looked::Missing,
        Err(Stopped::Refused(refusal)) => {
            shared.refused(&wanted.id, &refusal);
            Looked::Missing
        }
        // The build will report what is wrong with the disk.
        Err(Stopped::Trouble(Trouble::Local(_))) => return Looked::Unavailable,
        Err(Stopped::Trouble(trouble)) => {
            shared.failed(&shared.reads, Subject::Reading, &trouble);
            return Looked::Unavailable;
        }
    };
    shared.works(&shared.reads);
    looked
}

async fn fetch(shared: &Shared, wanted: &Wanted<'_>) -> Result<(), Stopped> {
    let layers = wanted.id.bucket == Bucket::Layers;
    let patience = if layers { shared.timeout * LAYER_PATIENCE } else { shared.timeout };
    let object = within(patience, shared.store.objects.get(&shared.store.entry(&wanted.id))).await?;
    let size = object.meta.size;
    if size > wanted.max_bytes.saturating_add(OVERHEAD) {
        return Err(Refusal::TooLarge.into());
    }
    let limit = patience + Duration::from_secs(size / SLOWEST);
    let mut download = Download::new(object, limit, patience);
    let (header, rest) = download.header(shared, wanted).await?;
    let packed = download.packed(&header, rest, wanted).await?;
    let folder: PathBuf = wanted.folder.to_owned();
    let unpacking = tokio::task::spawn_blocking(move || archive::unpack(packed, &header.files, &folder));
    match unpacking.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) if error.raw_os_error().is_some() => Err(error.into()),
        // Signed, and not what its header says: its writer is at fault, not the store.
        _ => Err(Refusal::Contents.into()),
    }
}

/// An object that is being read.
struct Download {
    stream: BoxStream<'static, object_store::Result<Bytes>>,
    /// When the whole must have arrived.
    end: Instant,
    limit: Duration,
    /// Time limit for the next part.
    patience: Duration,
}

impl Download {
    fn new(object: GetResult, limit: Duration, patience: Duration) -> Self {
        Download { stream: object.into_stream(), end: Instant::now() + limit, limit, patience }
    }

    /// The next bytes; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, Stopped> {
        let soon = Instant::now() + self.patience;
        let limit = if soon < self.end { self.patience } else { self.limit };
        match timeout_at(soon.min(self.end), self.stream.next()).await {
            Ok(Some(Ok(bytes))) => Ok(Some(bytes)),
            Ok(Some(Err(error))) => Err(Trouble::Store(error).into()),
            Ok(None) => Ok(None),
            Err(_) => Err(Trouble::Slow(limit).into()),
        }
    }

    /// The verified header, and the first bytes of the packed files.
    async fn header(&mut self, shared: &Shared, wanted: &Wanted<'_>) -> Result<(Header, Bytes), Stopped> {
        let mut begun = Vec::new();
        while let Some(bytes) = self.next().await? {
            begun.extend_from_slice(&bytes);
            // `open` bounds the length of a header, so `begun` does not grow beyond it and one chunk.
            if let Some((header, end)) = sealed::open(&begun, &shared.keys, &wanted.id, wanted.max_bytes)? {
                return Ok((header, Bytes::from(begun).slice(end..)));
            }
        }
        Err(Refusal::Truncated.into())
    }

    /// The packed files in an unnamed file, if they are those of the header.
    async fn packed(&mut self, header: &Header, first: Bytes, wanted: &Wanted<'_>) -> Result<File, Stopped> {
        let mut file = tempfile::tempfile_in(wanted.folder)?;
        let (mut length, mut hash, mut next) = (0_u64, Sha256::new(), Some(first));
        while let Some(bytes) = next {
            length = length.saturating_add(bytes.len() as u64);
            if length > header.packed {
                return Err(Refusal::Contents.into());
            }
            hash.update(&bytes);
            file.write_all(&bytes)?;
            next = self.next().await?;
        }
        if length < header.packed {
            return Err(Refusal::Truncated.into());
        }
        if hexadecimal(&hash.finalize()) != header.sha256 {
            return Err(Refusal::Contents.into());
        }
        file.rewind()?;
        Ok(file)
    }
}
