//! The types of keys: how each is checked when it is decoded, and its checked value.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use serde_json::{Value as Json, json};
use url::Url;

use super::decode::{PATH, SHOWN_PATH};
use super::key_macros::{Kind, Written, plain};
use super::size;
use super::variables::{self, VariableError};

/// The reason why the value of a key is invalid, and what to write in its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidValue(pub String);

impl InvalidValue {
    /// The reason that an error gives.
    pub(crate) fn of(error: impl fmt::Display) -> Self {
        InvalidValue(error.to_string())
    }
}

/// Maximum of a time in seconds: one day.
pub const MAX_SECONDS: f64 = 86_400.0;

/// A time in seconds: more than 0, at most a day.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
#[schemars(inline, extend("exclusiveMinimum" = 0, "maximum" = MAX_SECONDS))]
pub struct Seconds(#[schemars(with = "f64")] pub Duration);

impl TryFrom<f64> for Seconds {
    type Error = InvalidValue;

    fn try_from(number: f64) -> Result<Self, InvalidValue> {
        let seconds = Some(number).filter(|seconds| *seconds <= MAX_SECONDS);
        // Times shorter than a nanosecond become zero.
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        time.filter(|time| !time.is_zero()).map(Seconds).ok_or_else(|| {
            let number = as_written(number);
            InvalidValue(format!("{number} is out of range: more than 0, at most {MAX_SECONDS} seconds"))
        })
    }
}

/// A number in few characters: 0 and not 0.0, 1e300 and not 301 digits.
fn as_written(number: f64) -> String {
    let text = format!("{number:?}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

impl Kind for Seconds {
    type Value = Duration;

    fn value(self) -> Duration {
        self.0
    }
}

impl Written for Seconds {
    fn written(value: &Duration) -> Json {
        match value.subsec_nanos() {
            0 => json!(value.as_secs()),
            _ => json!(value.as_secs_f64()),
        }
    }
}

/// A time limit or an interval in seconds, in which 0 stands for none.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
#[schemars(inline, extend("minimum" = 0, "maximum" = MAX_SECONDS))]
pub(crate) struct SecondsOrNone(#[schemars(with = "f64")] pub(crate) Duration);

impl TryFrom<f64> for SecondsOrNone {
    type Error = InvalidValue;

    fn try_from(number: f64) -> Result<Self, InvalidValue> {
        if number == 0.0 {
            return Ok(SecondsOrNone(mcp::NO_TIME_LIMIT));
        }
        let wrong = |_| {
            let number = as_written(number);
            InvalidValue(format!(
                "{number} is out of range; write 0 for no limit, or up to {MAX_SECONDS} seconds"
            ))
        };
        Seconds::try_from(number).map(|Seconds(time)| SecondsOrNone(time)).map_err(wrong)
    }
}

impl Kind for SecondsOrNone {
    type Value = Duration;

    fn value(self) -> Duration {
        self.0
    }
}

impl Written for SecondsOrNone {
    fn written(value: &Duration) -> Json {
        if *value >= mcp::NO_TIME_LIMIT { json!(0) } else { Seconds::written(value) }
    }
}

/// An unsigned integer type. Numbers outside its range are clamped to its maximum.
pub trait Whole: Copy + fmt::Debug + PartialEq {
    fn from_u64(number: u64) -> Self;
    fn to_u64(self) -> u64;
}

macro_rules! whole {
    ($($type:ty),*) => { $(
        impl Whole for $type {
            fn from_u64(number: u64) -> Self {
                <$type>::try_from(number).unwrap_or(<$type>::MAX)
            }

            fn to_u64(self) -> u64 {
                u64::try_from(self).unwrap_or(u64::MAX)
            }
        }
    )* };
}
whole!(u32, u64, usize);

/// A whole number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "u64", bound = "T: Whole")]
#[schemars(inline, bound = "T: Whole", transform = Self::within)]
pub struct Number<T, const MIN: u64 = 0, const MAX: u64 = { u64::MAX }>(#[schemars(with = "u64")] T);

/// A count of at least one.
pub(crate) type Count<T> = Number<T, 1>;

impl<T: Whole, const MIN: u64, const MAX: u64> Number<T, MIN, MAX> {
    fn within(schema: &mut schemars::Schema) {
        schema.insert("minimum".to_owned(), json!(MIN));
        if MAX < u64::MAX {
            schema.insert("maximum".to_owned(), json!(MAX));
        }
    }
}

impl<T: Whole, const MIN: u64, const MAX: u64> TryFrom<u64> for Number<T, MIN, MAX> {
    type Error = InvalidValue;

    fn try_from(number: u64) -> Result<Self, InvalidValue> {
        if number < MIN {
            return Err(InvalidValue(format!("{number} is too small; write at least {MIN}")));
        }
        if number > MAX {
            return Err(InvalidValue(format!("{number} is too large; write at most {MAX}")));
        }
        Ok(Number(T::from_u64(number)))
    }
}

impl<T: Whole, const MIN: u64, const MAX: u64> Kind for Number<T, MIN, MAX> {
    type Value = T;

    fn value(self) -> T {
        self.0
    }
}

impl<T: Whole, const MIN: u64, const MAX: u64> Written for Number<T, MIN, MAX> {
    fn written(value: &T) -> Json {
        json!(value.to_u64())
    }
}

/// A size such as `512MiB`, of at least `MIN` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "String", bound = "T: Whole")]
#[schemars(inline, bound = "T: Whole")]
pub struct Size<T, const MIN: u64>(#[schemars(with = "String")] T);

impl<T: Whole, const MIN: u64> TryFrom<String> for Size<T, MIN> {
    type Error = InvalidValue;

    fn try_from(text: String) -> Result<Self, InvalidValue> {
        let bytes = size::parse(&text).map_err(InvalidValue::of)?;
        if bytes < MIN {
            return Err(InvalidValue(format!(
                "{text:?} is too small; write at least {}",
                size::written(MIN)
            )));
        }
        Ok(Size(T::from_u64(bytes)))
    }
}

impl<T: Whole, const MIN: u64> Kind for Size<T, MIN> {
    type Value = T;

    fn value(self) -> T {
        self.0
    }
}

impl<T: Whole, const MIN: u64> Written for Size<T, MIN> {
    fn written(value: &T) -> Json {
        json!(size::written(value.to_u64()))
    }
}

/// A text in which variables are expanded.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "\0expanded")]
#[schemars(inline)]
pub(crate) struct Expanded(pub(super) String);

impl Kind for Expanded {
    type Value = String;

    fn value(self) -> String {
        self.0
    }
}

impl<K: Kind> Kind for BTreeMap<String, K> {
    type Value = BTreeMap<String, K::Value>;

    fn value(self) -> Self::Value {
        self.into_iter().map(|(name, kind)| (name, kind.value())).collect()
    }
}

/// An absolute address over HTTP, variables expanded.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "Expanded")]
#[schemars(inline)]
pub struct Address(#[schemars(with = "String")] Url);

impl TryFrom<Expanded> for Address {
    type Error = AddressError;

    fn try_from(text: Expanded) -> Result<Self, AddressError> {
        address(&text.0).map(Address)
    }
}

impl Kind for Address {
    type Value = Url;

    fn value(self) -> Url {
        self.0
    }
}

/// The reason why a text is not the address of an HTTP server. It does not contain the text, which may include a
/// variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddressError {
    /// It is relative, or no address at all.
    #[error("this is not an absolute address; begin it with https:// or http://")]
    Relative,
    /// It is for another protocol.
    #[error("this is not the address of an HTTP server; write https:// or http://, and a host")]
    Scheme,
    /// It may contain a password.
    #[error("an address must not contain a user name or a password; remove them")]
    User,
}

/// Parses the absolute address of an HTTP server.
pub(super) fn address(text: &str) -> Result<Url, AddressError> {
    let address = Url::parse(text).map_err(|_| AddressError::Relative)?;
    if !matches!(address.scheme(), "http" | "https") || !address.has_host() {
        return Err(AddressError::Scheme);
    }
    if !address.username().is_empty() || address.password().is_some() {
        return Err(AddressError::User);
    }
    Ok(address)
}

/// Like [`address`], with advice for the `url` of a server.
pub(super) fn server_address(text: &str) -> Result<Url, &'static str> {
    address(text).map_err(|error| match error {
        AddressError::Relative => {
            "this is not an absolute address; write one such as https://example.com/mcp"
        }
        AddressError::Scheme => {
            "this is not the address of an HTTP server; write one such as http://localhost:8080/mcp"
        }
        AddressError::User => {
            "an address must not contain a user name; write `headers: { Authorization: … }`"
        }
    })
}

/// Declares types of texts: the checked value of each, and the function that checks it.
macro_rules! text {
    ($($(#[doc = $about:literal])* $kind:ident($value:ty) by $check:path;)*) => { $(
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, serde::Deserialize, schemars::JsonSchema)]
        #[serde(try_from = "String")]
        #[schemars(inline)]
        #[allow(unreachable_pub, reason = "the types of public records name most of them")]
        pub struct $kind(#[schemars(with = "String")] $value);

        impl TryFrom<String> for $kind {
            type Error = $crate::key_types::InvalidValue;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                $check(&text).map($kind).map_err($crate::key_types::InvalidValue::of)
            }
        }

        impl $crate::key_macros::Kind for $kind {
            type Value = $value;

            fn value(self) -> $value {
                self.0
            }
        }
    )* };
}

pub(super) use text;

text! {
    /// The name of an environment variable.
    VariableName(String) by variable;
}

/// Checks the name of an environment variable.
pub(super) fn variable(name: &str) -> Result<String, VariableError> {
    variables::without_nul(name)?;
    if name.is_empty() || name.contains('=') {
        return Err(VariableError::Name(name.to_owned()));
    }
    Ok(name.to_owned())
}

/// A path relative to the folder of the configuration, with variables expanded.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(with = "String")]
pub struct FilePath(PathBuf);

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(PATH, PathVisitor).map(FilePath)
    }
}

/// The same path with variables not expanded, safe to show.
pub(crate) struct ShownPath(pub(super) PathBuf);

impl<'de> Deserialize<'de> for ShownPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(SHOWN_PATH, PathVisitor).map(ShownPath)
    }
}

struct PathVisitor;

impl Visitor<'_> for PathVisitor {
    type Value = PathBuf;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a path")
    }

    fn visit_byte_buf<E>(self, path: Vec<u8>) -> Result<PathBuf, E> {
        // `/folder/./file` is shown as `/folder/file`.
        Ok(PathBuf::from(OsString::from_vec(path)).components().collect())
    }
}

impl Kind for FilePath {
    type Value = PathBuf;

    fn value(self) -> PathBuf {
        self.0
    }
}

plain!(bool, String);
