//! The authorization server: metadata, registration, the browser's page, tokens, revocation.

use axum::{body::Body, http::Response};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::{ParsedRequest, ServerState, built, grants::Code, reply, text};

/// The client of machines, which was registered by hand.
const MACHINE: (&str, &str) = ("machine", "secret-of-machine");

pub(crate) fn answer(world: &ServerState, asked: &ParsedRequest) -> Response<Body> {
    match asked.path.as_str() {
        "/.well-known/oauth-authorization-server" => reply(200, &metadata(world)),
        "/register" => register(world, asked),
        "/authorize" => authorize(world, asked),
        "/token" => token(world, asked),
        "/revoke" => {
            world.grants().revoke();
            text(200, "")
        }
        _ => text(404, "nothing here"),
    }
}

fn metadata(world: &ServerState) -> Value {
    let authority = &world.authority;
    let issuer = if world.is("wrong-metadata-issuer") { &world.elsewhere } else { authority };
    // Once there is something to renew, it is to be renewed elsewhere.
    let has_moved = world.is("moves") && world.grants().can_be_renewed();
    let token_at = if has_moved { &world.elsewhere } else { authority };
    let methods = if world.is("no-pkce") { ["plain"] } else { ["S256"] };
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{authority}/authorize"),
        "token_endpoint": format!("{token_at}/token"),
        "registration_endpoint": format!("{authority}/register"),
        "revocation_endpoint": format!("{authority}/revoke"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_post", "client_secret_basic"],
        "code_challenge_methods_supported": methods,
        "authorization_response_iss_parameter_supported": true
    })
}

/// RFC 7591.
fn register(world: &ServerState, asked: &ParsedRequest) -> Response<Body> {
    let mut grants = world.grants();
    let id = grants.name("client");
    let secret = world.is("confidential").then(|| grants.name("secret"));
    grants.clients.insert(id.clone(), secret.clone());
    let mut answer = json!({ "client_id": id, "redirect_uris": asked.json["redirect_uris"] });
    answer["token_endpoint_auth_method"] = json!("none");
    if let Some(secret) = secret {
        answer["client_secret"] = json!(secret);
        answer["token_endpoint_auth_method"] = json!("client_secret_post");
    }
    reply(201, &answer)
}

/// What the browser opens: the person agrees at once.
fn authorize(world: &ServerState, asked: &ParsedRequest) -> Response<Body> {
    let wrong = |what: &str| text(400, &format!("wrong {what}"));
    let redirect = asked.field("redirect_uri");
    let Ok(mut back) = Url::parse(redirect) else { return wrong("redirect_uri") };
    if !matches!(back.host_str(), Some("127.0.0.1" | "localhost" | "[::1]")) {
        return wrong("redirect_uri");
    }
    let client = asked.field("client_id");
    let mut grants = world.grants();
    if !grants.clients.contains_key(client) {
        return wrong("client_id");
    }
    for (field, value) in
        [("response_type", "code"), ("code_challenge_method", "S256"), ("resource", &world.resource())]
    {
        if asked.field(field) != value {
            return wrong(field);
        }
    }
    if asked.field("code_challenge").is_empty() || asked.field("state").is_empty() {
        return wrong("code_challenge or state");
    }
    let code = grants.name("code");
    let made = Code {
        challenge: asked.field("code_challenge").to_owned(),
        redirect: redirect.to_owned(),
        client: client.to_owned(),
        scope: asked.field("scope").to_owned(),
    };
    grants.codes.insert(code.clone(), made);
    let state = if world.is("wrong-state") { "another-state" } else { asked.field("state") };
    let issuer = if world.is("wrong-issuer") { &world.elsewhere } else { &world.authority };
    if world.is("declines") {
        back.query_pairs_mut()
            .append_pair("error", "access_denied")
            .append_pair("error_description", "not today");
    } else {
        back.query_pairs_mut().append_pair("code", &code);
    }
    back.query_pairs_mut().append_pair("state", state);
    if !world.is("no-issuer") {
        back.query_pairs_mut().append_pair("iss", issuer);
    }
    built(302, &[("Location", back.as_str())], String::new())
}

/// RFC 6749, section 3.2.
fn token(world: &ServerState, asked: &ParsedRequest) -> Response<Body> {
    if world.is("token-redirects") {
        return built(307, &[("Location", &format!("{}/token", world.elsewhere))], String::new());
    }
    let given = match asked.field("grant_type") {
        "authorization_code" => by_code(world, asked),
        "refresh_token" => by_refresh(world, asked),
        "client_credentials" => by_secret(asked),
        _ => Err("unsupported_grant_type"),
    };
    let given = given.and_then(|given| {
        let resource = asked.field("resource");
        // A refresh may leave it out.
        if resource == world.resource() || resource.is_empty() && asked.field("grant_type") == "refresh_token"
        {
            Ok(given)
        } else {
            Err("invalid_target")
        }
    });
    match given {
        Ok((client, scope)) => reply(200, &tokens(world, client.as_deref(), &scope)),
        Err(error) => reply(400, &json!({ "error": error, "error_description": "told by the test" })),
    }
}

/// To whom, if tokens can be renewed for it, and for which scopes.
type Given = Result<(Option<String>, String), &'static str>;

fn by_code(world: &ServerState, asked: &ParsedRequest) -> Given {
    let mut grants = world.grants();
    let code = grants.codes.remove(asked.field("code")).ok_or("invalid_grant")?;
    let secret = grants.clients.get(&code.client).ok_or("invalid_client")?;
    is_client(asked, &code.client, secret.as_deref())?;
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(asked.field("code_verifier")));
    if challenge != code.challenge || asked.field("redirect_uri") != code.redirect {
        return Err("invalid_grant");
    }
    Ok((Some(code.client), code.scope))
}

fn by_refresh(world: &ServerState, asked: &ParsedRequest) -> Given {
    let mut grants = world.grants();
    let (client, scope) = grants.take_refresh(asked.field("refresh_token")).ok_or("invalid_grant")?;
    let secret = grants.clients.get(&client).ok_or("invalid_client")?;
    is_client(asked, &client, secret.as_deref())?;
    Ok((Some(client), scope))
}

fn by_secret(asked: &ParsedRequest) -> Given {
    is_client(asked, MACHINE.0, Some(MACHINE.1))?;
    Ok((None, "tools".to_owned()))
}

/// Whether the request comes from this client, by either way to show a secret.
fn is_client(asked: &ParsedRequest, id: &str, secret: Option<&str>) -> Result<(), &'static str> {
    use base64::engine::general_purpose::STANDARD;
    let basic = format!("Basic {}", STANDARD.encode(format!("{id}:{}", secret.unwrap_or_default())));
    let by_header = asked.header("authorization") == Some(basic.as_str());
    let by_form =
        asked.field("client_id") == id && asked.field("client_secret") == secret.unwrap_or_default();
    if by_form || (secret.is_some() && by_header) { Ok(()) } else { Err("invalid_client") }
}

fn tokens(world: &ServerState, client: Option<&str>, scope: &str) -> Value {
    let mut grants = world.grants();
    // Some are too old when they arrive.
    let lifetime = if world.is("short") { 0 } else { 3600 };
    let mut answer = json!({
        "access_token": grants.access(scope),
        "token_type": "Bearer",
        "expires_in": lifetime,
        "scope": scope
    });
    if let Some(client) = client.filter(|_| !world.is("no-refresh")) {
        answer["refresh_token"] = json!(grants.refresh(client, scope));
    }
    answer
}
