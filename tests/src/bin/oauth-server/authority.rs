//! The authorization server: metadata, registration, the browser's page, tokens, revocation.

use axum::{body::Body, http::Response};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::{
    ParsedRequest, ServerState, built,
    grants::{Code, Device},
    machine::MACHINE,
    reply, text,
};

pub(crate) fn answer(state: &ServerState, request: &ParsedRequest) -> Response<Body> {
    let is_public = request.path == "/keys" || request.path.starts_with("/.well-known/");
    if is_public && state.issuer().is_down {
        return text(503, "not now");
    }
    match request.path.as_str() {
        "/keys" => reply(200, &state.issuer().key_set()),
        "/.well-known/oauth-authorization-server" => reply(200, &metadata(state)),
        "/register" => register(state, request),
        "/authorize" => authorize(state, request),
        "/device" if state.is("device") => device(state, request),
        "/activate" => activate(state, request),
        "/token" => token(state, request),
        "/revoke" => {
            state.grants().revoke();
            text(200, "")
        }
        _ => text(404, "nothing here"),
    }
}

fn metadata(state: &ServerState) -> Value {
    let authority = &state.authority;
    let issuer = if state.is("wrong-metadata-issuer") { &state.elsewhere } else { authority };
    // Once a token can be renewed, the token endpoint is elsewhere.
    let has_moved = state.is("moves") && state.grants().can_be_renewed();
    let token_at = if has_moved { &state.elsewhere } else { authority };
    let methods = if state.is("no-pkce") { ["plain"] } else { ["S256"] };
    let mut metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{authority}/authorize"),
        "token_endpoint": format!("{token_at}/token"),
        "registration_endpoint": format!("{authority}/register"),
        "revocation_endpoint": format!("{authority}/revoke"),
        "jwks_uri": format!("{authority}/keys"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_post", "client_secret_basic"],
        "code_challenge_methods_supported": methods,
        "authorization_response_iss_parameter_supported": true
    });
    if state.is("signed") {
        metadata["token_endpoint_auth_methods_supported"] = json!(["private_key_jwt"]);
        metadata["token_endpoint_auth_signing_alg_values_supported"] = json!(["ES256", "PS512"]);
    }
    if state.is("device") {
        metadata["device_authorization_endpoint"] = json!(format!("{authority}/device"));
    }
    metadata
}

/// RFC 7591.
fn register(state: &ServerState, request: &ParsedRequest) -> Response<Body> {
    let mut grants = state.grants();
    let id = grants.name("client");
    let secret = state.is("confidential").then(|| grants.name("secret"));
    grants.clients.insert(id.clone(), secret.clone());
    if state.is("sparse") {
        return reply(200, &json!({ "client_id": id }));
    }
    let mut answer = json!({ "client_id": id, "redirect_uris": request.json["redirect_uris"] });
    answer["token_endpoint_auth_method"] = json!("none");
    if let Some(secret) = secret {
        answer["client_secret"] = json!(secret);
        answer["token_endpoint_auth_method"] = json!("client_secret_post");
    }
    reply(201, &answer)
}

/// The page that the browser opens: the user agrees at once.
fn authorize(state: &ServerState, request: &ParsedRequest) -> Response<Body> {
    let wrong = |what: &str| text(400, &format!("wrong {what}"));
    let redirect = request.field("redirect_uri");
    let Ok(mut back) = Url::parse(redirect) else { return wrong("redirect_uri") };
    if !matches!(back.host_str(), Some("127.0.0.1" | "localhost" | "[::1]")) {
        return wrong("redirect_uri");
    }
    let client = request.field("client_id");
    let mut grants = state.grants();
    if !grants.clients.contains_key(client) {
        return wrong("client_id");
    }
    for (field, value) in
        [("response_type", "code"), ("code_challenge_method", "S256"), ("resource", &state.resource())]
    {
        if request.field(field) != value {
            return wrong(field);
        }
    }
    if request.field("code_challenge").is_empty() || request.field("state").is_empty() {
        return wrong("code_challenge or state");
    }
    let code = grants.name("code");
    let issued = Code {
        challenge: request.field("code_challenge").to_owned(),
        redirect: redirect.to_owned(),
        client: client.to_owned(),
        scope: request.field("scope").to_owned(),
    };
    grants.codes.insert(code.clone(), issued);
    let returned_state = if state.is("wrong-state") { "another-state" } else { request.field("state") };
    let issuer = if state.is("wrong-issuer") { &state.elsewhere } else { &state.authority };
    if state.is("declines") {
        back.query_pairs_mut()
            .append_pair("error", "access_denied")
            .append_pair("error_description", "not today");
    } else {
        back.query_pairs_mut().append_pair("code", &code);
    }
    back.query_pairs_mut().append_pair("state", returned_state);
    if !state.is("no-issuer") {
        back.query_pairs_mut().append_pair("iss", issuer);
    }
    built(302, &[("Location", back.as_str())], String::new())
}

/// RFC 8628, section 3.2.
fn device(state: &ServerState, request: &ParsedRequest) -> Response<Body> {
    let (client, resource) = (request.field("client_id").to_owned(), request.field("resource"));
    let mut grants = state.grants();
    if !grants.clients.contains_key(&client) || resource != state.resource() {
        return reply(400, &json!({ "error": "invalid_client" }));
    }
    let (code, user_code) = (grants.name("code"), grants.name("WDJB"));
    let page = format!("{}/activate", state.authority);
    let answer = json!({
        "device_code": code,
        "user_code": user_code,
        "verification_uri": page,
        "verification_uri_complete": format!("{page}?user_code={user_code}"),
        "expires_in": if state.is("expires") { 1 } else { 600 },
        "interval": 0.1,
    });
    let scope = request.field("scope").to_owned();
    grants.devices.insert(code, Device { client, scope, user_code, agreed: None });
    reply(200, &answer)
}

/// The page on which the user enters a code, and agrees at once.
fn activate(state: &ServerState, request: &ParsedRequest) -> Response<Body> {
    let mut grants = state.grants();
    let found = grants.devices.values_mut().find(|device| device.user_code == request.field("user_code"));
    let Some(device) = found else { return text(404, "no such code") };
    device.agreed = Some(!state.is("declines"));
    text(200, "thank you")
}

/// RFC 6749, section 3.2.
fn token(state: &ServerState, request: &ParsedRequest) -> Response<Body> {
    if state.is("token-redirects") {
        return built(307, &[("Location", &format!("{}/token", state.elsewhere))], String::new());
    }
    let given = match request.field("grant_type") {
        "authorization_code" => by_code(state, request),
        "refresh_token" => by_refresh(state, request),
        "client_credentials" => by_machine(state, request),
        "urn:ietf:params:oauth:grant-type:device_code" => by_device(state, request),
        "urn:ietf:params:oauth:grant-type:token-exchange" if state.is("exchanges") => {
            by_exchange(state, request)
        }
        _ => Err("unsupported_grant_type"),
    };
    let given = given.and_then(|given| {
        let resource = request.field("resource");
        // A refresh may omit it.
        if resource == state.resource()
            || resource.is_empty() && request.field("grant_type") == "refresh_token"
        {
            Ok(given)
        } else {
            Err("invalid_target")
        }
    });
    match given {
        Ok(_) if state.is("refuses-in-html") => {
            let page = "<html><title>Maintenance</title><body>Back at noon</body></html>".to_owned();
            built(503, &[("Content-Type", "text/html")], page)
        }
        Ok((client, scope)) if state.is("sparse") => {
            sparse(state.is("as-form"), &tokens(state, client.as_deref(), &scope))
        }
        Ok((client, scope)) => reply(200, &tokens(state, client.as_deref(), &scope)),
        Err(error) => reply(400, &json!({ "error": error, "error_description": "as the test requires" })),
    }
}

/// Tokens as some servers write them: without a type, with other types of values, or as a form.
fn sparse(as_form: bool, tokens: &Value) -> Response<Body> {
    let (access, refresh) = (&tokens["access_token"], &tokens["refresh_token"]);
    if as_form {
        let field = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let form = format!("access_token={}&refresh_token={}&scope=tools", field(access), field(refresh));
        return built(200, &[("Content-Type", "application/x-www-form-urlencoded")], form);
    }
    let odd = json!({
        "access_token": access, "refresh_token": refresh, "expires_in": "3599.5", "scope": ["tools"],
    });
    reply(201, &odd)
}

/// The client, if its tokens can be renewed, and the scopes.
type Given = Result<(Option<String>, String), &'static str>;

fn by_code(state: &ServerState, request: &ParsedRequest) -> Given {
    let mut grants = state.grants();
    let code = grants.codes.remove(request.field("code")).ok_or("invalid_grant")?;
    let secret = grants.clients.get(&code.client).ok_or("invalid_client")?;
    is_client(request, &code.client, secret.as_deref())?;
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(request.field("code_verifier")));
    if challenge != code.challenge || request.field("redirect_uri") != code.redirect {
        return Err("invalid_grant");
    }
    Ok((Some(code.client), code.scope))
}

/// RFC 8628, section 3.5.
fn by_device(state: &ServerState, request: &ParsedRequest) -> Given {
    let mut grants = state.grants();
    let code = request.field("device_code");
    match grants.devices.get(code).ok_or("invalid_grant")?.agreed {
        None => return Err("authorization_pending"),
        Some(false) => return Err("access_denied"),
        Some(true) => {}
    }
    let device = grants.devices.remove(code).ok_or("invalid_grant")?;
    let secret = grants.clients.get(&device.client).ok_or("invalid_client")?;
    is_client(request, &device.client, secret.as_deref())?;
    Ok((Some(device.client), device.scope))
}

fn by_refresh(state: &ServerState, request: &ParsedRequest) -> Given {
    let mut grants = state.grants();
    let (client, scope) = grants.take_refresh(request.field("refresh_token")).ok_or("invalid_grant")?;
    let secret = grants.clients.get(&client).ok_or("invalid_client")?;
    is_client(request, &client, secret.as_deref())?;
    Ok((Some(client), scope))
}

fn by_machine(state: &ServerState, request: &ParsedRequest) -> Given {
    is_machine(state, request).map(|()| (None, "tools".to_owned()))
}

/// Whether the request is from the client `machine`, by its secret or by a signed assertion.
fn is_machine(state: &ServerState, request: &ParsedRequest) -> Result<(), &'static str> {
    if request.field("client_assertion").is_empty() {
        return is_client(request, MACHINE.0, Some(MACHINE.1));
    }
    let assertion = state.machine.check(request, &state.authority)?;
    let is_new = state.grants().assertions.insert(assertion.id);
    if is_new { Ok(()) } else { Err("invalid_client") }
}

/// RFC 8693: a token of the issuer for one of the MCP server. The subject becomes a scope. Mallory gets none.
fn by_exchange(state: &ServerState, request: &ParsedRequest) -> Given {
    const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
    is_machine(state, request)?;
    if ["subject_token_type", "requested_token_type"].iter().any(|name| request.field(name) != ACCESS_TOKEN) {
        return Err("invalid_request");
    }
    if request.field("audience") != "api" {
        return Err("invalid_target");
    }
    let payload = request.field("subject_token").split('.').nth(1).unwrap_or_default();
    let payload = URL_SAFE_NO_PAD.decode(payload).map_err(|_| "invalid_grant")?;
    let claims: Value = serde_json::from_slice(&payload).map_err(|_| "invalid_grant")?;
    match claims["sub"].as_str() {
        Some(subject) if subject != "mallory" && claims["iss"] == state.authority.as_str() => {
            Ok((None, format!("tools subject:{subject}")))
        }
        _ => Err("invalid_grant"),
    }
}

/// Whether the request is from this client, by either way to send a secret.
fn is_client(request: &ParsedRequest, id: &str, secret: Option<&str>) -> Result<(), &'static str> {
    use base64::engine::general_purpose::STANDARD;
    let basic = format!("Basic {}", STANDARD.encode(format!("{id}:{}", secret.unwrap_or_default())));
    let by_header = request.header("authorization") == Some(basic.as_str());
    let by_form =
        request.field("client_id") == id && request.field("client_secret") == secret.unwrap_or_default();
    if by_form || (secret.is_some() && by_header) { Ok(()) } else { Err("invalid_client") }
}

fn tokens(state: &ServerState, client: Option<&str>, scope: &str) -> Value {
    let mut grants = state.grants();
    // In this mode, tokens are expired when they arrive.
    let lifetime = if state.is("short") { 0 } else { 3600 };
    let mut answer = json!({
        "access_token": grants.access(scope),
        "token_type": "Bearer",
        "expires_in": lifetime,
        "scope": scope
    });
    if let Some(client) = client.filter(|_| !state.is("no-refresh")) {
        answer["refresh_token"] = json!(grants.refresh(client, scope));
    }
    answer
}
