//! JSON-RPC errors of servers, limited in size.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::text::shown;

/// Limit on a server's error message, in bytes.
const MAX_TEXT_BYTES: usize = 2_000;

/// Limit on the data of an error, in bytes; larger data is replaced by a note.
const MAX_DATA_BYTES: usize = 64 * 1024;

/// A JSON-RPC error from a server.
#[derive(Debug, Clone)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Box<RawValue>>,
}

impl RpcError {
    /// Decodes leniently: an error object with an invalid member is still an error.
    pub(crate) fn decode(raw: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow, default)]
            code: Option<&'a RawValue>,
            #[serde(borrow, default)]
            message: Option<&'a RawValue>,
            #[serde(borrow, default)]
            data: Option<&'a RawValue>,
        }
        let Ok(members) = serde_json::from_str::<Members<'_>>(raw.get()) else {
            return Self { code: 0, message: shown(raw.get(), MAX_TEXT_BYTES), data: None };
        };
        let text = |raw: &RawValue| {
            serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
        };
        Self {
            code: members.code.and_then(|code| code.get().parse().ok()).unwrap_or(0),
            message: shown(&members.message.map(text).unwrap_or_default(), MAX_TEXT_BYTES),
            data: members.data.and_then(bounded_data),
        }
    }
}

/// The data of an error, or a note if it is too large.
fn bounded_data(data: &RawValue) -> Option<Box<RawValue>> {
    let bytes = data.get().len();
    if bytes <= MAX_DATA_BYTES {
        return Some(data.to_owned());
    }
    serde_json::value::to_raw_value(&format!("[{bytes} bytes are left out]")).ok()
}
