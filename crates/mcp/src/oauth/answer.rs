//! Puts the answers of authorization servers into OAuth's form, before the protocol library reads them.
//!
//! The library requires exact types, the status 200 and the content type JSON, and keeps nothing of an answer that it
//! rejects. Here an answer with a token becomes one that it accepts, and of any other answer the status and the
//! server's own words are kept for the user.

use std::{borrow::Cow, sync::Arc};

use http::{HeaderValue, Method, Response, StatusCode, header::CONTENT_TYPE};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use serde_json::{Map, Value, json};

use super::{
    failure::EXCERPT_BYTES,
    refusal::LastRefusal,
    secret_members::{SECRET_MEMBERS, learn_members},
};
use crate::{secrets::learn, text::shown};

/// Longest lifetime of a token that is believed, in seconds: a hundred years.
const MAX_LIFETIME: f64 = 100.0 * 365.0 * 86_400.0;

/// Limit on the values of one name that are learned from a text: learned secrets replace older ones.
const MAX_LEARNED: usize = 4;

/// Members that explain a failure, the most specific first.
const REASONS: [&str; 9] =
    ["error_description", "message", "detail", "error_message", "msg", "reason", "title", "error", "errors"];

/// A client whose answers are in OAuth's form.
pub(super) struct Lenient {
    pub(super) inner: Arc<dyn OAuthHttpClient>,
    pub(super) refusal: LastRefusal,
}

impl OAuthHttpClient for Lenient {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        let is_post = request.request.method() == Method::POST;
        let sent = request.request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_registration = sent.is_some_and(|sent| sent.starts_with("application/json"));
        Box::pin(async move {
            let response = self.inner.execute(request).await?;
            if !is_post || response.status().is_redirection() {
                return Ok(response);
            }
            let purpose = if is_registration { Purpose::Registration } else { Purpose::Token };
            let Formed { response, refusal } = formed(response, purpose);
            self.refusal.set(refusal);
            Ok(response)
        })
    }
}

/// The purpose of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Token,
    Registration,
}

/// An answer in OAuth's form, and the words of one that grants nothing.
pub(super) struct Formed {
    pub(super) response: Response<Vec<u8>>,
    pub(super) refusal: Option<String>,
}

/// Puts an answer into OAuth's form: status 200 with what is granted, or 400 with an `error`.
pub(super) fn formed(response: Response<Vec<u8>>, purpose: Purpose) -> Formed {
    let status = response.status();
    let read = Body::read(response.body(), response.headers().get(CONTENT_TYPE));
    // The library rejects a repeated member itself.
    if let Body::Ambiguous = read {
        return Formed { response, refusal: None };
    }
    let granted = match &read {
        Body::Members(members) if status.is_success() => granted(members, purpose),
        _ => None,
    };
    if let Some(granted) = granted {
        let response = json_response(response, StatusCode::OK, &Value::Object(granted));
        return Formed { response, refusal: None };
    }
    let (code, words) = read.refusal();
    let refusal = match &*words {
        "" => format!("HTTP {}", status.as_u16()),
        words => format!("HTTP {}: {words}", status.as_u16()),
    };
    // Only the statement of a reachable server ends a login.
    let code = if status.is_server_error() { "temporarily_unavailable".to_owned() } else { code };
    let body = json!({ "error": code, "error_description": refusal });
    let response = json_response(response, StatusCode::BAD_REQUEST, &body);
    Formed { response, refusal: Some(refusal) }
}

fn json_response(mut response: Response<Vec<u8>>, status: StatusCode, body: &Value) -> Response<Vec<u8>> {
    *response.status_mut() = status;
    response.headers_mut().clear();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    *response.body_mut() = body.to_string().into_bytes();
    response
}

/// The members of an answer that grants what was requested, with the types that the library requires.
fn granted(members: &Map<String, Value>, purpose: Purpose) -> Option<Map<String, Value>> {
    let mut members = members.clone();
    match purpose {
        Purpose::Token => {
            if !keep_text(&mut members, "access_token") {
                return None;
            }
            keep_text(&mut members, "refresh_token");
            if !keep_text(&mut members, "token_type") {
                members.insert("token_type".to_owned(), json!("bearer"));
            }
            let lifetime = members.remove("expires_in").as_ref().and_then(seconds);
            members.extend(lifetime.map(|seconds| ("expires_in".to_owned(), json!(seconds))));
            let scope = members.remove("scope").and_then(scope);
            members.extend(scope.map(|scope| ("scope".to_owned(), json!(scope))));
        }
        Purpose::Registration => {
            if let Some(Value::Number(number)) = members.get("client_id") {
                let id = json!(number.to_string());
                members.insert("client_id".to_owned(), id);
            } else if !keep_text(&mut members, "client_id") {
                return None;
            }
            for name in ["client_secret", "client_name"] {
                keep_text(&mut members, name);
            }
            let is_list =
                |value: &Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
            if !members.get("redirect_uris").is_some_and(is_list) {
                members.insert("redirect_uris".to_owned(), json!([]));
            }
        }
    }
    Some(members)
}

/// Removes a member that is not a text, or an empty one; returns whether it is left.
fn keep_text(members: &mut Map<String, Value>, name: &str) -> bool {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
    if members.get(name).is_some_and(|value| !is_text(value)) {
        members.shift_remove(name);
    }
    members.contains_key(name)
}

/// A lifetime in whole seconds; `None` if it is unknown. A negative one says that the token does not expire.
fn seconds(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse::<f64>().ok(),
        _ => None,
    };
    let number = number.filter(|number| (0.0..=MAX_LIFETIME).contains(number))?;
    format!("{:.0}", number.floor()).parse().ok()
}

/// The scopes, separated by spaces; `None` if there are none.
fn scope(value: Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text,
        Value::Array(scopes) => scopes.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        _ => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

/// The body of an answer.
enum Body<'a> {
    /// An object, a list with one, or a form.
    Members(Map<String, Value>),
    /// Any other JSON.
    Json(Value),
    /// JSON in which a name appears twice.
    Ambiguous,
    /// Text that is no JSON: plain, or HTML.
    Text(Cow<'a, str>),
}

impl<'a> Body<'a> {
    fn read(body: &'a [u8], content_type: Option<&HeaderValue>) -> Self {
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        let is_form = content_type
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.starts_with("application/x-www-form-urlencoded"));
        let text = String::from_utf8_lossy(body);
        let read = match strict_json::from_str::<Value>(&text) {
            Ok(Value::Object(members)) => Self::Members(members),
            Ok(Value::Array(mut list)) if list.len() == 1 => match list.pop() {
                Some(Value::Object(members)) => Self::Members(members),
                other => Self::Json(Value::Array(other.into_iter().collect())),
            },
            Ok(Value::String(text)) => Self::Text(text.into()),
            Ok(value) => Self::Json(value),
            Err(_) if serde_json::from_str::<Value>(&text).is_ok() => Self::Ambiguous,
            Err(_) => match form(&text, is_form) {
                Some(members) => Self::Members(members),
                None => Self::Text(text),
            },
        };
        match &read {
            Self::Members(members) => learn_members(&Value::Object(members.clone())),
            Self::Json(value) => value.as_array().into_iter().flatten().for_each(learn_members),
            Self::Text(text) => learn_named(text),
            Self::Ambiguous => {}
        }
        read
    }

    /// The error code, and the server's words for the user.
    fn refusal(&self) -> (String, String) {
        let (code, words) = match self {
            Self::Members(members) => {
                let value = Value::Object(members.clone());
                (error_code(&value), in_words(&value).unwrap_or_else(|| named(members)))
            }
            Self::Json(value) => (error_code(value), in_words(value).unwrap_or_default()),
            Self::Ambiguous => (None, String::new()),
            Self::Text(text) => (None, plain(text)),
        };
        (code.unwrap_or_else(|| "invalid_response".to_owned()), shown(words.trim(), EXCERPT_BYTES))
    }
}

/// The fields of a form, as some servers answer instead of with JSON.
fn form(text: &str, is_declared: bool) -> Option<Map<String, Value>> {
    let text = text.trim();
    let has_form = ["access_token=", "error="].iter().any(|start| text.contains(start));
    let is_one_word = !text.contains(['<', '{', '\n', ' ']);
    (is_declared || has_form && is_one_word).then(|| {
        let fields = url::form_urlencoded::parse(text.as_bytes());
        fields.map(|(name, value)| (name.into_owned(), Value::String(value.into_owned()))).collect()
    })
}

/// The code of an error (RFC 6749, section 5.2), also one level deeper or in a list.
fn error_code(value: &Value) -> Option<String> {
    match value {
        Value::Array(values) => values.iter().find_map(error_code),
        Value::Object(members) => match members.get("error")? {
            Value::String(code) => Some(code.clone()),
            Value::Object(inner) => {
                let codes = ["code", "error", "type"].iter().filter_map(|name| inner.get(*name)?.as_str());
                codes.map(str::to_owned).next()
            }
            _ => None,
        },
        _ => None,
    }
}

/// The reason in a JSON answer, with the error code.
fn in_words(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(values) => values.iter().filter_map(in_words).collect::<Vec<_>>().join("; "),
        Value::Object(members) => {
            let reason = REASONS.iter().find_map(|name| in_words(members.get(*name)?))?;
            match error_code(value) {
                Some(code) if code != reason => format!("{code} ({reason})"),
                _ => reason,
            }
        }
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

/// The names of an answer's members; its values may be secrets.
fn named(members: &Map<String, Value>) -> String {
    if members.is_empty() {
        return "an empty answer".to_owned();
    }
    let names: Vec<&str> = members.keys().map(String::as_str).collect();
    format!("an answer without `access_token` or `error`; it has {}", names.join(", "))
}

/// The words of a text or an HTML page. JSON that is cut off is not quoted, because any value in it may be a secret.
fn plain(text: &str) -> String {
    let text = text.trim();
    if text.starts_with(['{', '[']) {
        return "an answer that is not valid JSON".to_owned();
    }
    if !text.starts_with('<') {
        return text.to_owned();
    }
    let mut words = String::new();
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        words.push_str(before);
        words.push(' ');
        let lower = tag.get(..tag.floor_char_boundary(8)).unwrap_or_default().to_ascii_lowercase();
        let hidden = ["script", "style"].iter().find(|name| lower.starts_with(**name));
        let end = hidden.and_then(|name| tag.to_ascii_lowercase().find(&format!("</{name}")));
        let tag = end.and_then(|end| tag.get(end..)).unwrap_or(tag);
        rest = tag.split_once('>').map_or("", |(_, rest)| rest);
    }
    words.push_str(rest);
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Learns the first values that follow the name of a secret in a text, such as `access_token=…`.
fn learn_named(text: &str) {
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || "-._~+/".contains(c);
    // The others are ordinary words.
    for name in SECRET_MEMBERS.iter().filter(|name| name.contains('_')) {
        for (at, _) in text.match_indices(name).take(MAX_LEARNED) {
            let rest = text.get(at + name.len()..).unwrap_or_default();
            let value = rest.trim_start_matches(['"', '\'', ' ', ':', '=']);
            let separator = rest.get(..rest.len() - value.len()).unwrap_or_default();
            if separator.contains([':', '=']) {
                let end = value.find(|c| !is_of_token(c)).unwrap_or(value.len());
                if let Some(value) = value.get(..end) {
                    learn(value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16, content_type: &str, body: &str, purpose: Purpose) -> (u16, Value, String) {
        let response = Response::builder().status(status).header(CONTENT_TYPE, content_type);
        let Formed { response, refusal } = formed(response.body(body.as_bytes().to_vec()).unwrap(), purpose);
        assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
        let value = serde_json::from_slice(response.body()).unwrap();
        (response.status().as_u16(), value, refusal.unwrap_or_default())
    }

    fn token(body: &str) -> Value {
        let (status, value, refusal) = answered(201, "text/plain", body, Purpose::Token);
        assert_eq!((status, refusal.as_str()), (200, ""), "{body}");
        value
    }

    #[test]
    fn tokens_of_any_form_are_read() {
        let bearer = json!({ "access_token": "a", "token_type": "bearer" });
        for body in [
            r#"{"access_token":"a"}"#,
            r#"{"access_token":"a","token_type":null,"expires_in":null,"scope":null,"refresh_token":null}"#,
            r#"{"access_token":"a","token_type":7,"expires_in":-1,"scope":[],"refresh_token":""}"#,
            r#"{"access_token":"a","expires_in":"soon","scope":" ","error":null}"#,
            r#"[{"access_token":"a","expires_in":1e300}]"#,
            "\u{feff}{\"access_token\":\"a\",\"expires_in\":[]}",
            "access_token=a&scope=",
        ] {
            let mut value = token(body);
            value.as_object_mut().unwrap().remove("error");
            assert_eq!(value, bearer, "{body}");
        }
        for (lifetime, seconds) in
            [("3600", 3600), ("\"3600\"", 3600), ("3599.9", 3599), ("\" 7.5 \"", 7), ("0", 0)]
        {
            let value = token(&format!(r#"{{"access_token":"a","expires_in":{lifetime}}}"#));
            assert_eq!(value["expires_in"], seconds, "{lifetime}");
        }
        assert_eq!(token(r#"{"access_token":"a","scope":["b","c"]}"#)["scope"], "b c");
        let form = token("access_token=a%2Bb&token_type=bearer&scope=repo%2Cgist&expires_in=60");
        let expected =
            json!({ "access_token": "a+b", "token_type": "bearer", "scope": "repo,gist", "expires_in": 60 });
        assert_eq!(form, expected);
    }

    #[test]
    fn the_words_of_a_refusal_are_kept_with_its_status() {
        let html = "<html><head><title>Sorry</title><style>p { x }</style></head><body><p>Too  many\nlogins</p></html>";
        for (status, body, code, words) in [
            (400, r#"{"error":"invalid_grant"}"#, "invalid_grant", "HTTP 400: invalid_grant"),
            (
                200,
                r#"{"error":"bad_verification_code","error_description":"it has expired"}"#,
                "bad_verification_code",
                "HTTP 200: bad_verification_code (it has expired)",
            ),
            (
                200,
                "error=access_denied&error_description=not+now",
                "access_denied",
                "HTTP 200: access_denied (not now)",
            ),
            (400, r#"[{"error":"invalid_client"}]"#, "invalid_client", "HTTP 400: invalid_client"),
            (400, r#"["a","b"]"#, "invalid_response", "HTTP 400: a; b"),
            (
                401,
                r#"{"error":{"code":"invalid_grant","message":"used up"}}"#,
                "invalid_grant",
                "HTTP 401: invalid_grant (used up)",
            ),
            (422, r#"{"errors":[{"detail":"no scope"}]}"#, "invalid_response", "HTTP 422: no scope"),
            (
                200,
                r#"{"ok":false}"#,
                "invalid_response",
                "HTTP 200: an answer without `access_token` or `error`; it has ok",
            ),
            (200, "", "invalid_response", "HTTP 200"),
            (503, html, "temporarily_unavailable", "HTTP 503: Sorry Too many logins"),
            (502, r#"{"error":"invalid_grant"}"#, "temporarily_unavailable", "HTTP 502: invalid_grant"),
            (400, "no such client", "invalid_response", "HTTP 400: no such client"),
            (
                200,
                r#"{"access_token":"s3cret-tok"#,
                "invalid_response",
                "HTTP 200: an answer that is not valid JSON",
            ),
            (
                500,
                "trace: refresh_token=long-secret-81 was bad",
                "temporarily_unavailable",
                "HTTP 500: trace: refresh_token=*** was bad",
            ),
        ] {
            let (found, value, refusal) = answered(status, "text/html", body, Purpose::Token);
            assert_eq!(
                (found, value["error"].as_str(), refusal.as_str()),
                (400, Some(code), words),
                "{body}"
            );
        }
    }

    #[test]
    fn a_registration_needs_only_an_id() {
        let registered = |body: &str| answered(200, "application/json", body, Purpose::Registration).1;
        let only = json!({ "client_id": "c", "redirect_uris": [] });
        assert_eq!(registered(r#"{"client_id":"c"}"#), only);
        let odd =
            r#"{"client_id":"c","client_secret":null,"client_name":7,"redirect_uris":"http://127.0.0.1/"}"#;
        assert_eq!(registered(odd), only);
        assert_eq!(registered(r#"{"client_id":7}"#)["client_id"], "7");
        assert_eq!(registered(r#"{"client_secret":"x"}"#)["error"], "invalid_response");
    }

    #[test]
    fn repeated_members_are_left_to_the_library() {
        let body = br#"{"access_token":"a","access_token":"b"}"#.to_vec();
        let Formed { response, refusal } = formed(Response::new(body.clone()), Purpose::Token);
        assert_eq!((response.body(), refusal), (&body, None));
    }
}
