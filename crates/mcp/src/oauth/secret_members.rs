//! The secrets in messages between authorization servers and this client.

use serde_json::Value;

use crate::secrets::learn;

/// Secret members of requests and responses (RFC 6749, 7591, 7592, 7636, 8628; OpenID Connect).
pub(super) const SECRET_MEMBERS: [&str; 9] = [
    "access_token",
    "refresh_token",
    "id_token",
    "client_secret",
    "registration_access_token",
    "code",
    "code_verifier",
    "device_code",
    "state",
];

/// Learns the secrets in a JSON response.
pub(super) fn learn_members(answer: &Value) {
    for name in SECRET_MEMBERS {
        if let Some(secret) = answer.get(name).and_then(Value::as_str) {
            learn(secret);
        }
    }
}
