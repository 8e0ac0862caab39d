//! The part of a configuration that says who may use `toolsmith serve --http`: an issuer of tokens, tokens by name, limits
//! of each subject, and refused subjects and tokens.
//!
//! This module holds what the configuration says; the server verifies tokens.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::key_macros::{Kind, Merge, record, section};
use super::key_types::{Count, Expanded, InvalidValue, Number, address, text};
use super::permissions::Glob;

/// Maximum of `serve.auth.clockTolerance`, in seconds: clocks that differ by more need to be set.
const MAX_TOLERANCE: u64 = 120;

/// Maximum of `serve.subjectLimits.executionsPerMinute`; each counted execution takes a few bytes of memory.
const MAX_PER_MINUTE: u64 = 100_000;

/// Maximum length of the name of a token in bytes.
const MAX_NAME: usize = 64;

record! {
    /// The authorization server whose access tokens are accepted: JSON Web Tokens for this server.
    #[serde(rename_all = "camelCase")]
    Auth from AuthForm {
        /// The issuer, exactly as in its tokens and its metadata: an https address, or an http address of this machine.
        issuer: SecureAddress,
        /// The public address of this server's endpoint, such as `https://tools.example.com/mcp`; tokens must be for it.
        resource: ResourceAddress,
        /// The accepted values of `aud` in tokens (default: `resource`).
        audiences: Option<Vec<String>>,
        /// The address of the issuer's keys (default: the `jwks_uri` in the issuer's metadata).
        jwks: Option<SecureAddress>,
        /// The accepted signature algorithms.
        algorithms: Algorithms = Algorithms::default_list(),
        /// How far the clocks of the issuer and of this machine may differ, in seconds.
        clock_tolerance: Number<u64, 0, MAX_TOLERANCE> = 30,
        /// Scopes that every token must have.
        required_scopes: Option<Vec<ScopeName>>,
        /// The tools that each scope permits, as globs of `server.tool`; without this key, every token permits all tools.
        scopes: Option<ScopesForm>,
    }
}

impl Auth {
    /// The accepted values of `aud`.
    pub fn audiences(&self) -> Vec<&str> {
        match &self.audiences {
            Some(audiences) => audiences.iter().map(String::as_str).collect(),
            None => vec![&self.resource],
        }
    }

    /// The first scope that permits a tool.
    pub fn scope_for(&self, server: &str, tool: &str) -> Option<&str> {
        let mut scopes = self.scopes.iter().flatten();
        scopes.find(|(_, tools)| permits(tools, server, tool)).map(|(scope, _)| scope.as_str())
    }
}

/// Whether one of the globs matches the qualified name of a tool. The plain name is not compared: it belongs to no
/// server, and any server could choose it.
pub fn permits(tools: &[Glob], server: &str, tool: &str) -> bool {
    let name = format!("{server}.{tool}");
    tools.iter().any(|glob| glob.fits(&name))
}

/// A signature algorithm of tokens (RFC 7518, section 3.1; RFC 8037).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "names of the standard")]
pub enum SignatureAlgorithm {
    RS256,
    RS384,
    RS512,
    PS256,
    PS384,
    PS512,
    ES256,
    ES384,
    EdDSA,
}

/// A list of algorithms that is not empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<SignatureAlgorithm>")]
#[schemars(inline)]
pub struct Algorithms(#[schemars(length(min = 1))] Vec<SignatureAlgorithm>);

impl Algorithms {
    fn default_list() -> Vec<SignatureAlgorithm> {
        vec![SignatureAlgorithm::RS256, SignatureAlgorithm::ES256, SignatureAlgorithm::EdDSA]
    }
}

impl TryFrom<Vec<SignatureAlgorithm>> for Algorithms {
    type Error = &'static str;

    fn try_from(algorithms: Vec<SignatureAlgorithm>) -> Result<Self, &'static str> {
        match algorithms.is_empty() {
            true => Err("no token could be accepted; name at least one algorithm, such as ES256"),
            false => Ok(Algorithms(algorithms)),
        }
    }
}

impl Kind for Algorithms {
    type Value = Vec<SignatureAlgorithm>;

    fn value(self) -> Vec<SignatureAlgorithm> {
        self.0
    }
}

impl super::key_macros::Written for Algorithms {
    fn written(value: &Vec<SignatureAlgorithm>) -> serde_json::Value {
        serde_json::json!(value)
    }
}

/// An address whose answers can be trusted: https, or http to this machine; kept as written, because issuers are
/// compared as texts (RFC 8414, section 3.3).
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "Expanded")]
#[schemars(inline)]
pub struct SecureAddress(#[schemars(with = "String")] String);

/// Whether a text is an https address, or an http address of this machine, without a user name.
pub fn is_secure_address(text: &str) -> bool {
    address(text).is_ok_and(|url| is_secure(&url))
}

fn is_secure(url: &Url) -> bool {
    url.scheme() == "https" || is_loopback(url)
}

impl TryFrom<Expanded> for SecureAddress {
    type Error = InvalidValue;

    fn try_from(Expanded(text): Expanded) -> Result<Self, InvalidValue> {
        let url = identifier(&text)?;
        if is_secure(&url) {
            Ok(SecureAddress(text))
        } else {
            Err(InvalidValue::of(
                "an answer over http could be replaced on the way; write https:// (http:// is only for this machine)",
            ))
        }
    }
}

impl Kind for SecureAddress {
    type Value = String;

    fn value(self) -> String {
        self.0
    }
}

/// The address that clients know this server by, kept as written.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "Expanded")]
#[schemars(inline)]
pub struct ResourceAddress(#[schemars(with = "String")] String);

impl TryFrom<Expanded> for ResourceAddress {
    type Error = InvalidValue;

    fn try_from(Expanded(text): Expanded) -> Result<Self, InvalidValue> {
        identifier(&text).map(|_| ResourceAddress(text))
    }
}

impl Kind for ResourceAddress {
    type Value = String;

    fn value(self) -> String {
        self.0
    }
}

/// An address that identifies something: without a query and a fragment (RFC 8414, section 2; RFC 8707, section 2).
fn identifier(text: &str) -> Result<Url, InvalidValue> {
    let url = address(text).map_err(InvalidValue::of)?;
    if url.query().is_some() || url.fragment().is_some() {
        let why = "this address must have neither a query (?) nor a fragment (#); remove them";
        return Err(InvalidValue::of(why));
    }
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

text! {
    /// The name of a scope.
    ScopeName(String) by scope_name;
    /// The BLAKE3 hash of a token.
    TokenHash([u8; 32]) by token_hash;
    /// A day, such as 2027-01-31.
    Day(SystemTime) by day;
}

/// Checks a scope (RFC 6749, section 3.3).
fn scope_name(text: &str) -> Result<String, InvalidValue> {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    match !text.is_empty() && text.bytes().all(is_allowed) {
        true => Ok(text.to_owned()),
        false => Err(InvalidValue(format!(
            "{text:?} is not the name of a scope; it has no spaces, quotes and backslashes"
        ))),
    }
}

/// The prefix of a token's hash in a configuration.
pub const HASH_PREFIX: &str = "blake3:";

fn token_hash(text: &str) -> Result<[u8; 32], InvalidValue> {
    // The text may be the token itself, so it is not repeated.
    let wrong = || {
        InvalidValue(format!(
            "this is not the hash of a token: {HASH_PREFIX} and 64 hexadecimal digits; get one from: \
             toolsmith token new NAME"
        ))
    };
    let digits = text.strip_prefix(HASH_PREFIX).ok_or_else(wrong)?;
    if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).map_err(|_| wrong())?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
    }
    Ok(hash)
}

/// Checks a day, such as 2027-01-31.
///
/// # Errors
/// If it is not one.
pub fn check_day(text: &str) -> Result<(), InvalidValue> {
    day(text).map(|_| ())
}

/// The end of a day in UTC.
fn day(text: &str) -> Result<SystemTime, InvalidValue> {
    let start = system::calendar::start_of_day(text).filter(|_| text.len() == "2027-01-31".len());
    let end = start.and_then(|start| start.checked_add(Duration::from_secs(86_400)));
    end.ok_or_else(|| InvalidValue(format!("{text:?} is not a day; write one such as 2027-01-31")))
}

/// The tools of each scope.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "BTreeMap<String, Vec<Glob>>")]
#[schemars(inline)]
pub struct ScopesForm(BTreeMap<String, Vec<Glob>>);

impl TryFrom<BTreeMap<String, Vec<Glob>>> for ScopesForm {
    type Error = InvalidValue;

    fn try_from(scopes: BTreeMap<String, Vec<Glob>>) -> Result<Self, InvalidValue> {
        for name in scopes.keys() {
            scope_name(name)?;
        }
        Ok(ScopesForm(scopes))
    }
}

impl Kind for ScopesForm {
    type Value = BTreeMap<String, Vec<Glob>>;

    fn value(self) -> Self::Value {
        self.0
    }
}

record! {
    /// A token of one user, in place of an issuer.
    #[serde(rename_all = "camelCase")]
    NamedToken from NamedTokenForm {
        /// The token's hash, from `toolsmith token new`.
        hash: TokenHash,
        /// The tools that the token permits, as globs of `server.tool` (default: all).
        tools: Option<Vec<Glob>>,
        /// The last day on which the token is valid, in UTC, such as 2027-01-31 (default: it does not expire).
        expires: Option<Day>,
    }
}

/// The tokens by name.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "BTreeMap<String, NamedTokenForm>")]
#[schemars(inline)]
pub struct TokensForm(BTreeMap<String, NamedTokenForm>);

impl TryFrom<BTreeMap<String, NamedTokenForm>> for TokensForm {
    type Error = InvalidValue;

    fn try_from(tokens: BTreeMap<String, NamedTokenForm>) -> Result<Self, InvalidValue> {
        for name in tokens.keys() {
            check_token_name(name)?;
        }
        Ok(TokensForm(tokens))
    }
}

/// Checks the name of a token, which becomes the name of its subject.
///
/// # Errors
/// If it has other characters than letters, digits, `_`, `-`, `.` and `@`, or is too long.
pub fn check_token_name(name: &str) -> Result<(), InvalidValue> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.@".contains(&byte);
    match !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(is_allowed) {
        true => Ok(()),
        false => Err(InvalidValue(format!(
            "{name:?} can't be the name of a token: it has 1 to {MAX_NAME} letters, digits, `_`, `-`, `.` and `@`"
        ))),
    }
}

impl Kind for TokensForm {
    type Value = BTreeMap<String, NamedToken>;

    fn value(self) -> Self::Value {
        self.0.value()
    }
}

section! {
    /// Limits of each subject, beside the shares of clients.
    #[serde(rename_all = "camelCase")]
    SubjectLimits from SubjectLimitsForm {
        /// Maximum executions of one subject that run at once (default: the share of one client); further ones wait.
        executions: Option<Count<usize>>,
        /// Maximum executions that one subject starts in a minute (default: no limit); further ones are refused as busy.
        executions_per_minute: Option<Number<usize, 1, MAX_PER_MINUTE>>,
        /// Maximum processor time of one subject's programs and compilers in an hour, in seconds (default: no limit);
        /// further executions are refused as busy.
        processor_seconds_per_hour: Option<Count<u64>>,
    }
}

section! {
    /// Subjects and tokens that are refused, although their tokens are valid.
    #[serde(rename_all = "camelCase")]
    Denied from DeniedForm {
        /// Subjects: the `sub` of tokens, or the names of `tokens`.
        subjects: DeniedNames,
        /// Ids of tokens (`jti`).
        token_ids: DeniedNames,
    }
}

/// Names that any layer denies; a stronger layer adds to them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct DeniedNames(Vec<String>);

impl Merge for DeniedNames {
    fn over(self, weaker: Self) -> Self {
        DeniedNames([weaker.0, self.0].concat())
    }
}

impl Kind for DeniedNames {
    type Value = Vec<String>;

    fn value(self) -> Vec<String> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_only_in_its_form() {
        let digits = "ab".repeat(32);
        assert_eq!(token_hash(&format!("blake3:{digits}")).unwrap(), [0xab; 32]);
        for wrong in
            ["", &digits, "blake3:", &format!("blake3:{digits}0"), &format!("blake3:{}", "+a".repeat(32))]
        {
            let why = token_hash(wrong).unwrap_err();
            assert!(why.0.contains("toolsmith token new"), "{why}");
        }
    }

    #[test]
    fn a_token_is_valid_until_the_end_of_its_last_day() {
        let end = day("2027-01-31").unwrap();
        assert_eq!(system::calendar::timestamp(end), "2027-02-01T00:00:00.000Z");
        for wrong in ["", "2027-02-30", "2027-1-31", "2027-01-31T00:00:00Z"] {
            assert!(day(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_of_issuers_are_secure_and_kept_as_written() {
        let secure = |text: &str| SecureAddress::try_from(Expanded(text.to_owned())).map(Kind::value);
        for right in [
            "https://login.example.com",
            "https://a.example/realms/x/",
            "http://127.0.0.1:1",
            "http://localhost",
        ] {
            assert_eq!(secure(right).unwrap(), right);
        }
        for wrong in
            ["http://a.example", "https://a.example/?x", "https://a.example/#x", "https://u:p@a.example", "a"]
        {
            assert!(secure(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_scope_permits_qualified_names_only() {
        let globs = [Glob::new("files.*"), Glob::new("*.get_*")];
        assert!(permits(&globs, "files", "delete") && permits(&globs, "db", "get_row"));
        // A server could name its tool like another server's.
        assert!(!permits(&globs, "db", "files.delete") && !permits(&globs, "db", "put_row"));
        assert!(!permits(&[Glob::new("get_row")], "db", "get_row"));
    }

    #[test]
    fn names_of_scopes_and_tokens_are_checked() {
        assert!(scope_name("tools:read").is_ok() && scope_name("https://a/b").is_ok());
        for wrong in ["", "a b", "a\"b", "a\\b", "ä"] {
            assert!(scope_name(wrong).is_err(), "{wrong}");
        }
        assert!(check_token_name("ci-1.main@x").is_ok());
        for wrong in ["", "a b", "a/b", &"x".repeat(65)] {
            assert!(check_token_name(wrong).is_err(), "{wrong}");
        }
    }
}
