//! The document of a server: read from its file or address, compiled once, and again when it has changed.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{ETAG, HeaderValue, IF_NONE_MATCH};
use tokio::sync::Mutex;
use url::Url;

use crate::caller::{bounded_body, place, reasons};
use crate::compile::{Compiled, compile};
use crate::document::MAX_BYTES;
use crate::error::Error;

/// How long a fetched document counts as current: executions that follow each other do not fetch it again.
const FRESH: Duration = Duration::from_secs(60);

/// Says which tools may be used.
pub(crate) type Admits = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Keeps the compiled document of a server.
#[derive(Default)]
pub(crate) struct Source {
    kept: Mutex<Option<Kept>>,
}

struct Kept {
    compiled: Arc<Compiled>,
    version: Version,
}

/// The version of a document.
enum Version {
    File(Stamp),
    Fetched { at: Instant, tag: Option<HeaderValue> },
}

/// The length and the time of the last change of a file.
type Stamp = (u64, Option<SystemTime>);

/// A document and the facts that its tools depend on.
pub(crate) struct Wanted<'a> {
    /// A path, or an address.
    pub(crate) document: &'a str,
    /// The names of configured headers.
    pub(crate) headers: HashSet<String>,
    pub(crate) admits: Admits,
    pub(crate) connect_timeout: Duration,
}

/// The address of a document that is not a file.
pub(crate) fn address(document: &str) -> Option<Url> {
    let is_address = document.starts_with("http://") || document.starts_with("https://");
    Url::parse(document).ok().filter(|_| is_address)
}

impl Source {
    /// The compiled document.
    pub(crate) async fn compiled(&self, wanted: Wanted<'_>) -> Result<Arc<Compiled>, Error> {
        // One at a time: others that wait find the result.
        let mut kept = self.kept.lock().await;
        match address(wanted.document) {
            Some(address) => fetched(&mut kept, &address, wanted).await,
            None => read(&mut kept, wanted).await,
        }
    }
}

async fn read(kept: &mut Option<Kept>, wanted: Wanted<'_>) -> Result<Arc<Compiled>, Error> {
    let path = Path::new(wanted.document);
    let stamp: Option<Stamp> = std::fs::metadata(path).ok().map(|found| (found.len(), found.modified().ok()));
    if let (Some(Kept { compiled, version: Version::File(known) }), Some(stamp)) = (&*kept, stamp)
        && *known == stamp
    {
        return Ok(compiled.clone());
    }
    let fail = |source| Error::File { path: wanted.document.to_owned(), source };
    let text = system::file::read_named(path, MAX_BYTES as u64).map_err(fail)?;
    let text = text.ok_or_else(|| Error::NoFile(wanted.document.to_owned()))?;
    let version = Version::File(stamp.unwrap_or_default());
    keep(kept, text, version, wanted).await
}

async fn fetched(kept: &mut Option<Kept>, url: &Url, wanted: Wanted<'_>) -> Result<Arc<Compiled>, Error> {
    let known = match &*kept {
        Some(Kept { compiled, version: Version::Fetched { at, .. } }) if at.elapsed() < FRESH => {
            return Ok(compiled.clone());
        }
        Some(Kept { compiled, version: Version::Fetched { tag: Some(tag), .. } }) => {
            Some((compiled.clone(), tag.clone()))
        }
        _ => None,
    };
    let fail = |reason: String| Error::Fetch { place: place(url), reason };
    // Redirects lead anywhere, and documents are fetched without any header of the configuration.
    let http = mcp::http_client(wanted.connect_timeout).redirect(reqwest::redirect::Policy::none()).build();
    let mut request = http.map_err(|error| fail(reasons(&error)))?.get(url.clone());
    if let Some((_, tag)) = &known {
        request = request.header(IF_NONE_MATCH, tag);
    }
    let response = request.send().await.map_err(|error| fail(reasons(&error)))?;
    let tag = response.headers().get(ETAG).cloned();
    let version = Version::Fetched { at: Instant::now(), tag };
    match (response.status(), known) {
        (StatusCode::NOT_MODIFIED, Some((compiled, tag))) => {
            let version = Version::Fetched { at: Instant::now(), tag: Some(tag) };
            *kept = Some(Kept { compiled: compiled.clone(), version });
            Ok(compiled)
        }
        (status, _) if status.is_success() => {
            let body = bounded_body(response, MAX_BYTES).await.map_err(|error| fail(error.to_string()))?;
            keep(kept, body, version, wanted).await
        }
        (status, _) if status.is_redirection() => {
            let location = response.headers().get(reqwest::header::LOCATION);
            let target = location.and_then(|location| url.join(location.to_str().ok()?).ok());
            let target = target.map_or_else(|| "another address".to_owned(), |target| place(&target));
            Err(fail(format!("it redirects to {target}; write that address if it is the right one")))
        }
        (status, _) => Err(fail(format!("the answer is {status}"))),
    }
}

/// Compiles a text, and keeps the result.
async fn keep(
    kept: &mut Option<Kept>,
    text: Vec<u8>,
    version: Version,
    wanted: Wanted<'_>,
) -> Result<Arc<Compiled>, Error> {
    let Wanted { headers, admits, .. } = wanted;
    let compiling = tokio::task::spawn_blocking(move || {
        let text = String::from_utf8(text).map_err(|error| Error::Syntax(error.to_string()))?;
        compile(&text, &headers, &*admits)
    });
    let compiled = compiling.await.map_err(|error| Error::Syntax(error.to_string()))??;
    let compiled = Arc::new(compiled);
    *kept = Some(Kept { compiled: compiled.clone(), version });
    Ok(compiled)
}
