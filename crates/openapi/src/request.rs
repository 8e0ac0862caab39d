//! The request of a call: its path, query, headers and body (OpenAPI, "Parameter Object", "Encoding Object").

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use indexmap::IndexMap;
use oas3::spec::{ParameterIn, ParameterStyle};
use serde_json::value::RawValue;

use crate::media;
use crate::operation::{Body, BodyArguments, Operation, Parameter};

/// The arguments of a call by name. Texts of numbers stay as they were sent.
pub(crate) type Arguments<'a> = IndexMap<String, &'a RawValue>;

/// A request, without address and configured headers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// The path below the server's address; begins with a slash.
    pub(crate) path: String,
    /// The query, encoded; may be empty.
    pub(crate) query: String,
    pub(crate) headers: Vec<(String, String)>,
    /// The body with its media type.
    pub(crate) body: Option<(String, Vec<u8>)>,
}

/// Arguments that no request can have.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unsendable {
    #[error("the argument `{0}` is missing")]
    Missing(String),
    #[error("the argument `{0}` is empty or a dot segment, which a path cannot have")]
    Path(String),
    #[error("the argument `{0}` has a line break or another control character, which a header cannot have")]
    Header(String),
    #[error("the argument `{0}` is not base64, as a file is passed: {1}")]
    Base64(String, base64::DecodeError),
    #[error("the argument `{0}` is not JSON: {1}")]
    Json(String, serde_json::Error),
    #[error("no boundary of a multipart body could be made: {0}")]
    Boundary(std::io::Error),
}

/// A value as the styles distinguish them.
enum Value<'a> {
    Scalar(String),
    List(Vec<&'a RawValue>),
    Object(IndexMap<String, &'a RawValue>),
}

impl<'a> Value<'a> {
    fn read(argument: &str, raw: &'a RawValue) -> Result<Self, Unsendable> {
        let wrong = |error| Unsendable::Json(argument.to_owned(), error);
        Ok(match raw.get().as_bytes().first() {
            Some(b'[') => Value::List(serde_json::from_str(raw.get()).map_err(wrong)?),
            Some(b'{') => Value::Object(serde_json::from_str(raw.get()).map_err(wrong)?),
            _ => Value::Scalar(scalar(raw)),
        })
    }
}

/// A scalar as text: a string without quotes, null as nothing, and anything else as it was sent.
fn scalar(raw: &RawValue) -> String {
    match raw.get() {
        "null" => String::new(),
        text if text.starts_with('"') => serde_json::from_str(text).unwrap_or_default(),
        text => text.to_owned(),
    }
}

/// Builds the request of a call.
pub(crate) fn request(operation: &Operation, arguments: &Arguments<'_>) -> Result<Request, Unsendable> {
    let mut request = Request { path: operation.path.clone(), ..Request::default() };
    let mut query = Pairs::default();
    let mut cookies = Pairs::default();
    for parameter in &operation.parameters {
        let Some(raw) = arguments.get(&parameter.argument) else {
            if parameter.place == ParameterIn::Path {
                return Err(Unsendable::Missing(parameter.argument.clone()));
            }
            continue;
        };
        let value = match parameter.is_json {
            true => Value::Scalar(raw.get().to_owned()),
            false => Value::read(&parameter.argument, raw)?,
        };
        match parameter.place {
            ParameterIn::Path => {
                let text = in_path(parameter, &value)?;
                request.path = request.path.replace(&format!("{{{}}}", parameter.name), &text);
            }
            ParameterIn::Query => query.add(&parameter.name, &value, parameter.style, parameter.explodes),
            ParameterIn::Header => {
                let text = joined(&value, parameter.explodes, ",", &str::to_owned);
                if text.chars().any(|c| c.is_control() && c != '\t') {
                    return Err(Unsendable::Header(parameter.argument.clone()));
                }
                request.headers.push((parameter.name.clone(), text));
            }
            ParameterIn::Cookie => {
                cookies.add(&parameter.name, &value, parameter.style, parameter.explodes);
            }
        }
    }
    if !cookies.0.is_empty() {
        request.headers.push(("Cookie".to_owned(), cookies.joined("; ")));
    }
    request.query = query.joined("&");
    if let Some(body) = &operation.body {
        request.body = written(body, arguments)?;
    }
    Ok(request)
}

/// The body of a request; `None` if no argument of it is given.
fn written(body: &Body, arguments: &Arguments<'_>) -> Result<Option<(String, Vec<u8>)>, Unsendable> {
    let members: IndexMap<&str, &RawValue> = match &body.arguments {
        BodyArguments::Whole(argument) => {
            let Some(raw) = arguments.get(argument) else { return Ok(None) };
            if !media::is_form(&body.media_type) {
                return Ok(Some((body.media_type.clone(), whole(body, argument, raw)?)));
            }
            serde_json::from_str(raw.get()).map_err(|error| Unsendable::Json(argument.clone(), error))?
        }
        BodyArguments::Members(names) => {
            let given = arguments.iter().filter(|(name, _)| names.contains(*name));
            given.map(|(name, raw)| (name.as_str(), *raw)).collect()
        }
    };
    let media_type = body.media_type.clone();
    if media::is_multipart(&media_type) {
        return multipart(body, &members).map(Some);
    }
    if media::is_urlencoded(&media_type) {
        let mut pairs = Pairs::default();
        for (name, raw) in members {
            let encoding = body.encodings.get(name);
            let style = match encoding.and_then(|encoding| encoding.style.as_deref()) {
                Some("deepObject") => ParameterStyle::DeepObject,
                Some("spaceDelimited") => ParameterStyle::SpaceDelimited,
                Some("pipeDelimited") => ParameterStyle::PipeDelimited,
                _ => ParameterStyle::Form,
            };
            let explodes = encoding.and_then(|encoding| encoding.explode);
            let value = Value::read(name, raw)?;
            // A member of a form without a style of its own is written as JSON if it is an object.
            match (&value, style) {
                (Value::Object(_), ParameterStyle::Form) => {
                    pairs.push(name, raw.get());
                }
                _ => pairs.add(name, &value, style, explodes.unwrap_or(style == ParameterStyle::Form)),
            }
        }
        return Ok(Some((media_type, pairs.joined("&").into_bytes())));
    }
    let json = serde_json::to_vec(&members).map_err(|error| Unsendable::Json("body".to_owned(), error))?;
    Ok(Some((media_type, json)))
}

/// A body that is one argument.
fn whole(body: &Body, argument: &str, raw: &RawValue) -> Result<Vec<u8>, Unsendable> {
    if media::is_json(&body.media_type) {
        return Ok(raw.get().as_bytes().to_vec());
    }
    let text = scalar(raw);
    match media::is_text(&body.media_type) {
        true => Ok(text.into_bytes()),
        false => STANDARD.decode(&text).map_err(|error| Unsendable::Base64(argument.to_owned(), error)),
    }
}

/// A body of parts (RFC 7578).
fn multipart(body: &Body, members: &IndexMap<&str, &RawValue>) -> Result<(String, Vec<u8>), Unsendable> {
    let boundary = system::random::id().map_err(Unsendable::Boundary)?;
    let mut out = Vec::new();
    for (name, raw) in members {
        let values = match Value::read(name, raw)? {
            Value::List(list) => list,
            _ => vec![*raw],
        };
        let own = body.encodings.get(*name).and_then(|encoding| encoding.content_type.as_deref());
        for raw in values {
            let is_object = raw.get().starts_with(['{', '[']);
            let (content, default) = if body.files.contains(*name) {
                let decoded = STANDARD.decode(scalar(raw));
                let content = decoded.map_err(|error| Unsendable::Base64((*name).to_owned(), error))?;
                (content, Some("application/octet-stream"))
            } else if is_object {
                (raw.get().as_bytes().to_vec(), Some("application/json"))
            } else {
                (scalar(raw).into_bytes(), None)
            };
            let quoted = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
            let file =
                if body.files.contains(*name) { format!("; filename=\"{quoted}\"") } else { String::new() };
            let head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{quoted}\"{file}\r\n");
            out.extend_from_slice(head.as_bytes());
            // Several types are a choice for the client.
            let single = own.filter(|own| !own.contains([',', '*', '\r', '\n']));
            if let Some(media_type) = single.or(default) {
                out.extend_from_slice(format!("Content-Type: {media_type}\r\n").as_bytes());
            }
            out.extend_from_slice(b"\r\n");
            out.extend_from_slice(&content);
            out.extend_from_slice(b"\r\n");
        }
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((format!("multipart/form-data; boundary={boundary}"), out))
}

/// A path's part: `simple`, `label` or `matrix` (RFC 6570, sections 3.2.2, 3.2.5 and 3.2.7).
fn in_path(parameter: &Parameter, value: &Value<'_>) -> Result<String, Unsendable> {
    let name = encoded(&parameter.name);
    let explodes = parameter.explodes;
    let text = match parameter.style {
        ParameterStyle::Label => {
            format!(".{}", joined(value, explodes, if explodes { "." } else { "," }, &encoded))
        }
        ParameterStyle::Matrix => match value {
            Value::List(items) if explodes => {
                items.iter().map(|item| format!(";{name}={}", encoded(&scalar(item)))).collect()
            }
            Value::Object(_) if explodes => format!(";{}", joined(value, true, ";", &encoded)),
            _ => format!(";{name}={}", joined(value, false, ",", &encoded)),
        },
        _ => joined(value, explodes, ",", &encoded),
    };
    // Such a part would change the other ones (RFC 3986, section 5.2.4).
    if text.is_empty() || matches!(text.as_str(), "." | "..") {
        return Err(Unsendable::Path(parameter.argument.clone()));
    }
    Ok(text)
}

/// A value as one text.
fn joined(value: &Value<'_>, explodes: bool, separator: &str, encode: &dyn Fn(&str) -> String) -> String {
    match value {
        Value::Scalar(text) => encode(text),
        Value::List(items) => {
            items.iter().map(|item| encode(&scalar(item))).collect::<Vec<_>>().join(separator)
        }
        Value::Object(members) => {
            let between = if explodes { "=" } else { separator };
            let member = |(name, raw): (&String, &&RawValue)| {
                format!("{}{between}{}", encode(name), encode(&scalar(raw)))
            };
            members.iter().map(member).collect::<Vec<_>>().join(separator)
        }
    }
}

/// Names and values of a query or form, encoded.
#[derive(Default)]
struct Pairs(Vec<(String, String)>);

impl Pairs {
    fn push(&mut self, name: &str, value: &str) {
        self.0.push((encoded(name), encoded(value)));
    }

    fn add(&mut self, name: &str, value: &Value<'_>, style: ParameterStyle, explodes: bool) {
        // A comma between values is not encoded, unlike one in a value (RFC 6570, section 3.2.8).
        let separator = match style {
            ParameterStyle::SpaceDelimited => "%20",
            ParameterStyle::PipeDelimited => "%7C",
            _ => ",",
        };
        match value {
            Value::Scalar(text) => self.push(name, text),
            Value::List(items) if style == ParameterStyle::DeepObject => self.deep_list(name, items),
            Value::List(items) if explodes => items.iter().for_each(|item| self.push(name, &scalar(item))),
            Value::Object(members) if style == ParameterStyle::DeepObject => self.deep_object(name, members),
            Value::Object(members) if explodes => {
                members.iter().for_each(|(member, raw)| self.push(member, &scalar(raw)));
            }
            value => self.0.push((encoded(name), joined(value, false, separator, &encoded))),
        }
    }

    fn deep(&mut self, name: &str, raw: &RawValue) {
        match Value::read(name, raw) {
            Ok(Value::List(items)) => self.deep_list(name, &items),
            Ok(Value::Object(members)) => self.deep_object(name, &members),
            _ => self.push(name, &scalar(raw)),
        }
    }

    fn deep_list(&mut self, name: &str, items: &[&RawValue]) {
        for (position, item) in items.iter().enumerate() {
            self.deep(&format!("{name}[{position}]"), item);
        }
    }

    fn deep_object(&mut self, name: &str, members: &IndexMap<String, &RawValue>) {
        for (member, raw) in members {
            self.deep(&format!("{name}[{member}]"), raw);
        }
    }

    /// All pairs, joined.
    fn joined(&self, separator: &str) -> String {
        let pairs = self.0.iter().map(|(name, value)| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join(separator)
    }
}

/// Percent-encodes everything but unreserved characters (RFC 3986, section 2.3).
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
