//! The answer of an API as the result of a tool (MCP, server/tools, "Tool Result").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oas3::spec::SecurityScheme;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LINK};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::document::bounded;
use crate::media;
use crate::schema::shortened;

/// The member of a result's `_meta` with status and headers.
pub(crate) const META: &str = "io.toolsmith/http";

/// Maximum length of a JSON body that is repeated as text, for readers without structured content, in bytes.
const REPEATED: usize = 64 << 10;

/// Maximum length of the body of a failure that its message has, in bytes.
const MAX_FAILURE: usize = 4 << 10;

/// The headers that say something of an answer beyond its body. Cookies and others stay in the host.
const HEADERS: [&str; 8] = [
    "link",
    "location",
    "etag",
    "last-modified",
    "retry-after",
    "content-type",
    "content-disposition",
    "allow",
];

/// The beginning of the names of headers about limits and pages, in use by many APIs.
const PREFIXES: [&str; 8] =
    ["x-ratelimit", "ratelimit", "x-total", "x-page", "x-per-page", "x-next", "x-prev", "x-request-id"];

/// Limit on the length of all headers in a result, in bytes.
const MAX_HEADERS: usize = 8 << 10;

/// An answer of the API.
pub(crate) struct Received {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// The result of a call. JSON of the API stays as it was sent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallResult {
    content: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(rename = "_meta", skip_serializing_if = "Map::is_empty")]
    meta: Map<String, Value>,
}

impl CallResult {
    /// A failure that is not an answer of the API.
    pub(crate) fn failure(message: &str) -> Self {
        let content = vec![text(message)];
        CallResult { content, structured_content: None, is_error: true, meta: Map::new() }
    }
}

/// The result for an answer. `address` is that of the request without its query, `security` the credentials that the
/// document declares.
pub(crate) fn result(received: Received, address: &str, security: &[(String, SecurityScheme)]) -> CallResult {
    let meta = meta(&received);
    let is_error = !received.status.is_success();
    let media_type = received.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = media_type.unwrap_or_default().to_owned();
    let body = received.body;
    // Some APIs declare JSON as text; a guess from the text would turn texts into numbers.
    let is_json = media::is_json(&media_type) && !media_type.is_empty();
    let structured = if is_json { serde_json::from_slice::<Box<RawValue>>(&body).ok() } else { None };
    if is_error {
        let content = vec![text(&failure(received.status, &body, structured.as_deref(), security))];
        let structured_content = structured.filter(|json| json.get().len() <= REPEATED);
        return CallResult { content, structured_content, is_error, meta };
    }
    let link = received.headers.get(LINK).and_then(|value| value.to_str().ok());
    let link = link.filter(|link| link.len() <= MAX_HEADERS).map(|link| text(&format!("Link: {link}")));
    let mut content = match &structured {
        Some(json) if json.get().len() > REPEATED => Vec::new(),
        _ if body.is_empty() => vec![text(&line(received.status))],
        _ => vec![block(body, &media_type, address)],
    };
    // A typed result does not have it; the whole answer has all blocks.
    content.extend(link);
    CallResult { content, structured_content: structured, is_error, meta }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// A content block for a body.
fn block(body: Vec<u8>, media_type: &str, address: &str) -> Value {
    let kind = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_text = media_type.is_empty() || media::is_json(media_type) || media::is_text(media_type);
    match String::from_utf8(body) {
        Ok(body) if is_text || kind == "image/svg+xml" => text(&body),
        Ok(body) => binary(body.as_bytes(), &kind, address),
        Err(error) if is_text => text(&String::from_utf8_lossy(error.as_bytes())),
        Err(error) => binary(error.as_bytes(), &kind, address),
    }
}

fn binary(body: &[u8], kind: &str, address: &str) -> Value {
    let data = STANDARD.encode(body);
    match kind.split('/').next() {
        Some("image") => json!({ "type": "image", "data": data, "mimeType": kind }),
        Some("audio") => json!({ "type": "audio", "data": data, "mimeType": kind }),
        _ => {
            json!({ "type": "resource", "resource": { "uri": address, "mimeType": kind, "blob": data } })
        }
    }
}

/// Status and headers.
fn meta(received: &Received) -> Map<String, Value> {
    let mut headers = Map::new();
    let mut bytes = 0;
    for name in received.headers.keys() {
        let is_wanted = HEADERS.contains(&name.as_str())
            || PREFIXES.iter().any(|prefix| name.as_str().starts_with(prefix));
        if !is_wanted {
            continue;
        }
        let values = received.headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let value = values.collect::<Vec<_>>().join(", ");
        bytes += name.as_str().len() + value.len();
        if bytes <= MAX_HEADERS {
            headers.insert(name.as_str().to_owned(), value.into());
        }
    }
    let http = json!({ "status": received.status.as_u16(), "headers": headers });
    Map::from_iter([(META.to_owned(), http)])
}

/// The status with its name.
fn line(status: StatusCode) -> String {
    status
        .canonical_reason()
        .map_or_else(|| status.as_str().to_owned(), |reason| format!("{} {reason}", status.as_str()))
}

/// The message of a failure: its status, what the API says, and what to do about credentials.
fn failure(
    status: StatusCode,
    body: &[u8],
    json: Option<&RawValue>,
    security: &[(String, SecurityScheme)],
) -> String {
    let mut message = format!("the API answered {}", line(status));
    let said = match json {
        Some(json) => details(json),
        None => String::from_utf8_lossy(body).into_owned(),
    };
    if !said.trim().is_empty() {
        message = format!("{message}: {}", shortened(&said, MAX_FAILURE));
    }
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        message = format!("{message}\n{}", credentials(security));
    }
    message
}

/// The words of a JSON body: problem details (RFC 9457) in one line, and anything else as it is.
fn details(json: &RawValue) -> String {
    #[derive(serde::Deserialize)]
    struct Problem {
        title: Option<String>,
        detail: Option<String>,
    }
    match serde_json::from_str(json.get()) {
        Ok(Problem { title: Some(title), detail }) => {
            let problem = detail.map_or(title.clone(), |detail| format!("{title}: {detail}"));
            format!("{problem}\n{}", json.get())
        }
        _ => json.get().to_owned(),
    }
}

/// Says which header to configure.
fn credentials(security: &[(String, SecurityScheme)]) -> String {
    /// Limit on the schemes that are shown.
    const SHOWN: usize = 4;
    let ways: Vec<String> = security.iter().take(SHOWN).map(|(name, scheme)| way(name, scheme)).collect();
    if ways.is_empty() {
        return "to send credentials: configure `headers` for the server".to_owned();
    }
    format!("the document names these credentials: {}", ways.join("; "))
}

fn way(name: &str, scheme: &SecurityScheme) -> String {
    let name = bounded(name);
    match scheme {
        SecurityScheme::ApiKey { name: key, location, .. } => {
            let key = bounded(key);
            match location.as_str() {
                "header" => format!("{name}, configured as `headers: {{ {key}: \"${{KEY}}\" }}`"),
                "cookie" => format!("{name}, configured as `headers: {{ Cookie: \"{key}=${{KEY}}\" }}`"),
                _ => format!("{name}, configured in the query of `url`: `?{key}=${{KEY}}`"),
            }
        }
        SecurityScheme::Http { scheme, .. } if scheme.eq_ignore_ascii_case("basic") => {
            format!("{name}, configured as `headers: {{ Authorization: \"Basic ${{BASE64}}\" }}`")
        }
        SecurityScheme::MutualTls { .. } => format!("{name}, a client certificate, which is not supported"),
        SecurityScheme::Http { .. }
        | SecurityScheme::OAuth2 { .. }
        | SecurityScheme::OpenIdConnect { .. } => {
            format!("{name}, configured as `headers: {{ Authorization: \"Bearer ${{TOKEN}}\" }}`")
        }
    }
}
