//! The private key of a client, and the assertions that it signs to authenticate at the token endpoint (RFC 7523, section
//! 2.2; the method `private_key_jwt` of OpenID Connect Core, section 9).

use std::{path::Path, sync::Arc};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rustls::{
    SignatureScheme,
    crypto::ring::sign::any_supported_type,
    pki_types::{PrivateKeyDer, pem::PemObject as _},
    sign::SigningKey,
};
use serde_json::{Value, json};

use super::store::now;
use crate::{http::failure::HttpFailure, secrets::learn, server_config::OAuth};

/// The type of these assertions (RFC 7523, section 2.2), as the value of `client_assertion_type`.
pub(super) const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The lifetime of an assertion, in seconds: it is sent at once, and clocks may differ by a minute.
const LIFETIME: u64 = 120;

/// Maximum size of a key's file, in bytes: an RSA key of 16384 bits has less.
const MAX_BYTES: u64 = 64 * 1024;

/// The algorithms that can be used (RFC 7518, section 3.1; RFC 8037, section 3.1; RFC 9864), the preferred ones of a key
/// first.
const ALGORITHMS: [(&str, SignatureScheme); 10] = [
    ("ES256", SignatureScheme::ECDSA_NISTP256_SHA256),
    ("ES384", SignatureScheme::ECDSA_NISTP384_SHA384),
    ("EdDSA", SignatureScheme::ED25519),
    ("Ed25519", SignatureScheme::ED25519),
    ("RS256", SignatureScheme::RSA_PKCS1_SHA256),
    ("PS256", SignatureScheme::RSA_PSS_SHA256),
    ("RS384", SignatureScheme::RSA_PKCS1_SHA384),
    ("PS384", SignatureScheme::RSA_PSS_SHA384),
    ("RS512", SignatureScheme::RSA_PKCS1_SHA512),
    ("PS512", SignatureScheme::RSA_PSS_SHA512),
];

/// A client's private key.
pub(super) struct ClientKey {
    key: Arc<dyn SigningKey>,
    id: Option<String>,
}

impl ClientKey {
    /// The configured key; `None` if none is configured. Reads its file, which is short.
    ///
    /// # Errors
    /// If the key can't be read or used. The text quotes nothing of it.
    pub(super) fn of(settings: &OAuth) -> Result<Option<Self>, HttpFailure> {
        let (pem, place) = match (&settings.private_key, &settings.private_key_file) {
            // A variable often has the text of a file on one line.
            (Some(text), _) => (text.replace("\\n", "\n").into_bytes(), "`oauth.private_key`".to_owned()),
            (None, Some(file)) => (read(file)?, file.display().to_string()),
            (None, None) => return Ok(None),
        };
        learn(&String::from_utf8_lossy(&pem));
        let wrong = |what: &str| {
            HttpFailure::OAuth(format!(
                "{place} {what}; it must have an unencrypted private key as PEM: RSA, P-256, P-384 or Ed25519"
            ))
        };
        let key = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| wrong("has no key as PEM"))?;
        let key = any_supported_type(&key).map_err(|_| wrong("has a key that can't be used"))?;
        Ok(Some(ClientKey { key, id: settings.key_id.clone() }))
    }

    /// A new assertion of the client for the authorization server `audience`, signed by an algorithm that it supports:
    /// the value of its metadata, or `None` if it names none.
    pub(super) fn assertion(
        &self,
        client: &str,
        audience: &str,
        supported: Option<&Value>,
    ) -> Result<String, HttpFailure> {
        let fail = |reason: String| HttpFailure::OAuth(reason);
        let named: Option<Vec<&str>> =
            supported.and_then(Value::as_array).map(|all| all.iter().filter_map(Value::as_str).collect());
        let is_named = |name: &str| named.as_ref().is_none_or(|named| named.contains(&name));
        let signer = ALGORITHMS
            .iter()
            .filter(|(name, _)| is_named(name))
            .find_map(|(name, scheme)| Some((*name, self.key.choose_scheme(&[*scheme])?)));
        let Some((algorithm, signer)) = signer else {
            let named = crate::text::shown(&named.unwrap_or_default().join(", "), MAX_NAMES);
            return Err(fail(format!(
                "the authorization server takes no signature of the configured key; it supports: {named}"
            )));
        };
        let id = system::random::id().map_err(|error| fail(format!("no random number: {error}")))?;
        let now = now();
        let mut header = json!({ "alg": algorithm, "typ": "JWT" });
        if let Some(id) = &self.id {
            header["kid"] = json!(id);
        }
        let claims = json!({
            "iss": client, "sub": client, "aud": audience, "jti": id, "iat": now, "exp": now + LIFETIME,
        });
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(&header), part(&claims));
        let signature =
            signer.sign(message.as_bytes()).map_err(|error| fail(format!("no signature: {error}")))?;
        let signature = match algorithm {
            "ES256" => fixed(&signature, 32),
            "ES384" => fixed(&signature, 48),
            _ => Some(signature),
        };
        let signature = signature.ok_or_else(|| fail("the signature has an unknown form".to_owned()))?;
        Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// Maximum length of an authorization server's list of algorithms in an error, in bytes.
const MAX_NAMES: usize = 200;

fn read(file: &Path) -> Result<Vec<u8>, HttpFailure> {
    let fail = |reason: String| {
        HttpFailure::OAuth(format!("the client's private key, {}, {reason}", file.display()))
    };
    let found =
        system::file::read(file, MAX_BYTES).map_err(|error| fail(format!("can't be read: {error}")))?;
    found.ok_or_else(|| fail("does not exist".to_owned()))
}

/// The signature of an elliptic curve as JSON Web Tokens have it, two numbers of `length` bytes (RFC 7518, section 3.4),
/// from ASN.1 (RFC 3279, section 2.2.3). All lengths are below 128.
fn fixed(signature: &[u8], length: usize) -> Option<Vec<u8>> {
    let (sequence, rest) = element(signature, 0x30)?;
    let (first, sequence) = element(sequence, 0x02)?;
    let (second, end) = element(sequence, 0x02)?;
    let mut fixed = Vec::with_capacity(2 * length);
    for number in [first, second] {
        let number = number.strip_prefix(&[0]).unwrap_or(number);
        fixed.resize(fixed.len() + length.checked_sub(number.len())?, 0);
        fixed.extend_from_slice(number);
    }
    (rest.is_empty() && end.is_empty()).then_some(fixed)
}

/// The content of the first element, which must have this tag, and what follows it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let [found, length, rest @ ..] = bytes else { return None };
    (*found == tag && *length < 128).then(|| rest.split_at_checked(usize::from(*length)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_of_a_curve_has_two_numbers_of_fixed_length() {
        let signature = [0x30, 8, 2, 1, 5, 2, 3, 0, 0xff, 1];
        assert_eq!(fixed(&signature, 3), Some(vec![0, 0, 5, 0, 0xff, 1]));
        for wrong in
            [&[][..], &[0x30, 8, 2, 1, 5], &[0x30, 3, 2, 1, 5], &[0x31, 8, 2, 1, 5, 2, 3, 0, 0xff, 1]]
        {
            assert_eq!(fixed(wrong, 3), None, "{wrong:?}");
        }
        assert_eq!(fixed(&signature, 1), None, "a number is longer");
    }

    #[test]
    fn what_is_no_key_is_an_error_that_quotes_nothing() {
        for text in ["s3cret", "-----BEGIN PRIVATE KEY-----\ns3cret+/\n-----END PRIVATE KEY-----\n"] {
            let settings = OAuth { private_key: Some(text.to_owned()), ..OAuth::default() };
            let error = ClientKey::of(&settings).err().unwrap().to_string();
            assert!(error.starts_with("`oauth.private_key` has ") && !error.contains("s3cret"), "{error}");
        }
    }
}
