//! Names the fault of a malformed `initialize`, which the protocol library would take for a request of another version.

use rmcp::model::{ClientCapabilities, Implementation, InitializeRequestParams};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The members that the parameters must have (MCP, "Lifecycle", "Initialization").
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members<'a> {
    #[serde(borrow)]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow)]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow)]
    client_info: Option<&'a RawValue>,
    #[serde(rename = "_meta", borrow)]
    meta: Option<&'a RawValue>,
}

impl Members<'_> {
    /// Whether it is a request of MCP 2026-07-28 or later, which has no `initialize` and names its version in `_meta`.
    fn is_stateless(&self) -> bool {
        let meta = self.meta.and_then(|meta| serde_json::from_str::<Meta<'_>>(meta.get()).ok());
        self.protocol_version.is_none() && meta.is_some_and(|meta| meta.protocol_version.is_some())
    }
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", borrow)]
    protocol_version: Option<&'a RawValue>,
}

/// The fault of an `initialize` request with these parameters, if it has one. A request of a version without this method
/// is left to the library, which says so.
pub(crate) fn fault(parameters: Option<&RawValue>) -> Option<String> {
    let Some(parameters) = parameters else { return Some("`params` is missing".to_owned()) };
    if !parameters.get().starts_with('{') {
        return Some("`params` is not an object".to_owned());
    }
    let whole = || serde_json::from_str::<InitializeRequestParams>(parameters.get()).err();
    let Ok(members) = serde_json::from_str::<Members<'_>>(parameters.get()) else {
        return whole().map(|error| format!("`params`: {error}"));
    };
    if members.is_stateless() {
        return None;
    }
    member::<String>("protocolVersion", members.protocol_version)
        .or_else(|| object::<ClientCapabilities>("capabilities", members.capabilities))
        .or_else(|| object::<Implementation>("clientInfo", members.client_info))
        .or_else(|| whole().map(|error| format!("`params`: {error}")))
}

/// The fault of one member, which must be a `T` and an object: serde reads structs from arrays too.
fn object<T: for<'de> Deserialize<'de>>(name: &str, value: Option<&RawValue>) -> Option<String> {
    if value.is_some_and(|value| !value.get().starts_with('{')) {
        return Some(format!("`params.{name}` is not an object"));
    }
    member::<T>(name, value)
}

/// The fault of one member, which must be a `T`.
fn member<T: for<'de> Deserialize<'de>>(name: &str, value: Option<&RawValue>) -> Option<String> {
    let Some(value) = value else { return Some(format!("`params.{name}` is missing")) };
    let error = serde_json::from_str::<T>(value.get()).err()?.to_string();
    // The position is that in the member alone.
    let error = error.split(" at line ").next().unwrap_or(&error);
    Some(match error.split_once(", expected struct ") {
        Some((found, _)) => format!("`params.{name}`: {found}, expected an object"),
        None => format!("`params.{name}`: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faulty_member_is_named() {
        let info = r#""clientInfo":{"name":"a","version":"1"}"#;
        for (parameters, says) in [
            ("[]".to_owned(), "`params` is not an object"),
            ("{}".to_owned(), "`params.protocolVersion` is missing"),
            (
                format!(r#"{{"protocolVersion":1,"capabilities":{{}},{info}}}"#),
                "`params.protocolVersion`: invalid type: integer",
            ),
            (format!(r#"{{"protocolVersion":"2025-06-18",{info}}}"#), "`params.capabilities` is missing"),
            (
                format!(r#"{{"protocolVersion":"2025-06-18","capabilities":[1],{info}}}"#),
                "`params.capabilities` is not an object",
            ),
            (
                format!(r#"{{"protocolVersion":"2025-06-18","capabilities":{{"roots":1}},{info}}}"#),
                "`params.capabilities`: invalid type: integer `1`, expected an object",
            ),
            (
                r#"{"protocolVersion":"2025-06-18","capabilities":{}}"#.to_owned(),
                "`params.clientInfo` is missing",
            ),
            (
                r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a"}}"#.to_owned(),
                "`params.clientInfo`: missing field `version`",
            ),
            (
                format!(r#"{{"protocolVersion":"2025-06-18","capabilities":{{}},{info},"_meta":1}}"#),
                "`params`: ",
            ),
        ] {
            let raw = RawValue::from_string(parameters.clone()).unwrap();
            let fault = fault(Some(&raw)).unwrap();
            assert!(fault.starts_with(says), "{parameters}: {fault}");
        }
        assert!(fault(None).is_some());
        let valid =
            format!(r#"{{"protocolVersion":"2025-06-18","capabilities":{{"sampling":{{}}}},{info}}}"#);
        assert_eq!(fault(Some(&RawValue::from_string(valid).unwrap())), None);
        // The library answers that this version has no such method.
        let stateless = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#.to_owned();
        assert_eq!(fault(Some(&RawValue::from_string(stateless).unwrap())), None);
    }
}
