//! The metadata document of this client, whose address is the client's id
//! (draft-ietf-oauth-client-id-metadata-document; MCP, basic/authorization/client-registration).

use reqwest::Url;
use serde::Serialize;

use super::{callback::PATH, consent::CLIENT_NAME, device};

/// The document, with the members that the MCP specification requires and those that describe a login by this client.
#[derive(Debug, Serialize)]
pub struct ClientMetadata {
    client_id: String,
    client_name: &'static str,
    /// Without a port, because a login listens on any free one (RFC 8252, section 7.3).
    redirect_uris: [String; 1],
    grant_types: [&'static str; 3],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: &'static str,
    application_type: &'static str,
}

impl ClientMetadata {
    /// The document for this address.
    ///
    /// # Errors
    /// If no document can have the address.
    pub fn at(address: &str) -> Result<Self, &'static str> {
        check_metadata_address(address)?;
        Ok(ClientMetadata {
            client_id: address.to_owned(),
            client_name: CLIENT_NAME,
            redirect_uris: [format!("http://127.0.0.1{PATH}")],
            grant_types: ["authorization_code", "refresh_token", device::GRANT],
            response_types: ["code"],
            token_endpoint_auth_method: "none",
            application_type: "native",
        })
    }
}

/// Checks that a text can be the address of a client's metadata document, which is compared as it is written (section 3
/// of the draft).
///
/// # Errors
/// If it can't be one, with the reason.
pub fn check_metadata_address(address: &str) -> Result<(), &'static str> {
    let url = Url::parse(address).ok().filter(|url| url.scheme() == "https");
    let url = url.ok_or("the address of a client's metadata must start with https://")?;
    if url.path() == "/" {
        return Err("the address of a client's metadata needs a path, such as /client.json");
    }
    if url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        return Err("the address of a client's metadata has no user name, password or #fragment");
    }
    let path = address.split(['?', '#']).next().unwrap_or_default();
    if path.split('/').any(|segment| segment == "." || segment == "..") {
        return Err("the address of a client's metadata has no segments . and ..");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_metadata_address;

    #[test]
    fn addresses_that_no_document_can_have_are_refused() {
        for sound in
            ["https://a.example/c", "https://a.example:8443/c/d.json?v=1", "https://a.example/.well-known/c"]
        {
            assert_eq!(check_metadata_address(sound), Ok(()), "{sound}");
        }
        for wrong in [
            "",
            "a",
            "http://a.example/c",
            "https://a.example",
            "https://a.example/",
            "https://a.example/c#d",
            "https://me@a.example/c",
            "https://a.example/b/../c",
            "https://a.example/./c",
        ] {
            assert!(check_metadata_address(wrong).is_err(), "{wrong}");
        }
    }
}
