//! Access tokens of an issuer that are accepted, and the reasons why others are refused.

use end_to_end::page::normal;
use end_to_end::services::Service;
use end_to_end::serving::{DEMO, Serve};
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{RESOURCE, Team, accepted, bearer, config, refusal};

#[test]
fn a_client_without_a_token_learns_where_to_get_one() {
    let team = Team::new("requiredScopes: [tools], scopes: { \"tools:read\": [\"demo.get_*\"] }", "", DEMO);
    let client = team.server.client();
    let (status, challenge) = refusal(&client);
    assert_eq!(status, 401);
    let metadata = "https://tools.example.com/.well-known/oauth-protected-resource/mcp";
    assert_eq!(
        challenge,
        format!("Bearer realm=\"toolsmith\", scope=\"tools\", resource_metadata=\"{metadata}\"")
    );
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        let answer = client.get(path);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.headers["access-control-allow-origin"], "*");
        let found: Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(found["resource"], RESOURCE);
        assert_eq!(found["authorization_servers"], json!([team.issuer.issuer()]));
        assert_eq!(found["scopes_supported"], json!(["tools", "tools:read"]));
        assert_eq!(found["bearer_methods_supported"], json!(["header"]));
    }
    assert_eq!(client.get("/.well-known/oauth-protected-resource/other").status, 404);
    assert_eq!(client.get("/healthz").status, 200);
    // A token in the address would appear in logs.
    let token = team.token(&json!({ "claims": { "scope": "tools tools:read" } }));
    let mut by_query = client.clone();
    by_query.address = format!("{}?access_token={token}", client.address);
    assert_eq!(refusal(&by_query).0, 401);
    assert!(accepted(&team.with(&token)));
}

#[test]
fn tokens_of_every_accepted_kind_are_accepted() {
    let team = Team::new("", "", DEMO);
    for right in [
        json!({}),
        json!({ "alg": "RS256" }),
        json!({ "alg": "EdDSA" }),
        json!({ "claims": { "aud": ["https://other.example.com", RESOURCE] } }),
        json!({ "claims": { "nbf": -10 } }),
        json!({ "header": { "typ": "JWT" } }),
        json!({ "header": { "typ": null } }),
        // The issuer has only one key of this algorithm.
        json!({ "header": { "kid": null } }),
        // Clocks may differ by clockTolerance, 30 seconds by default.
        json!({ "claims": { "exp": -15 } }),
        json!({ "claims": { "nbf": 15, "iat": 15 } }),
    ] {
        assert!(accepted(&team.with(&team.token(&right))), "{right}");
    }
    assert_eq!(team.readings(), 1);
}

/// Pairs each request to the issuer with the text of the refusal.
fn wrong() -> Vec<(Value, &'static str)> {
    let claim = "lacks a claim";
    vec![
        (json!({ "alg": "none" }), "algorithm"),
        (json!({ "alg": "none", "header": { "alg": "None" } }), "algorithm"),
        // Signed with the public key as a secret.
        (json!({ "alg": "HS256", "header": { "kid": "key-1-ES256" } }), "algorithm"),
        (json!({ "alg": "HS256", "header": { "alg": "ES256", "kid": "key-1-ES256" } }), "signature"),
        // Not in the list of algorithms.
        (json!({ "header": { "alg": "ES384" } }), "algorithm"),
        (json!({ "header": { "alg": "RS256" } }), "no such key"),
        (json!({ "claims": { "aud": "https://other.example.com/mcp" } }), "another audience"),
        (json!({ "claims": { "aud": ["https://tools.example.com"] } }), "another audience"),
        (json!({ "claims": { "aud": format!("{RESOURCE}/") } }), "another audience"),
        (json!({ "claims": { "aud": [] } }), "another audience"),
        (json!({ "claims": { "aud": null } }), claim),
        (json!({ "claims": { "iss": "https://other.example.com" } }), "another issuer"),
        (json!({ "claims": { "iss": null } }), claim),
        (json!({ "claims": { "iss": ["https://other.example.com"] } }), claim),
        (json!({ "claims": { "exp": -31 } }), "has expired"),
        // A clock that is five minutes slow, and one that is five minutes fast.
        (json!({ "claims": { "exp": -300, "iat": -600 } }), "has expired"),
        (json!({ "claims": { "nbf": 300, "iat": 300, "exp": 600 } }), "not valid yet"),
        (json!({ "claims": { "iat": 300, "exp": 600 } }), "not valid yet"),
        (json!({ "claims": { "exp": null } }), claim),
        (json!({ "claims": { "exp": "9999999999" } }), claim),
        (json!({ "claims": { "exp": 1e300 } }), claim),
        (json!({ "claims": { "nbf": "0" } }), claim),
        (json!({ "claims": { "sub": null } }), claim),
        (json!({ "claims": { "sub": 7 } }), claim),
        (json!({ "claims": { "sub": "" } }), "subject"),
        (json!({ "claims": { "sub": "a\nb" } }), "subject"),
        (json!({ "claims": { "sub": "a".repeat(256) } }), "subject"),
        (json!({ "key": "foreign" }), "signature"),
        // The key, or where to find it, is not the token's to say.
        (
            json!({ "key": "foreign", "header": { "jku": "http://127.0.0.1:1/keys", "x5u": "http://127.0.0.1:1" } }),
            "signature",
        ),
        (
            json!({ "key": "foreign", "header": { "jwk": { "kty": "EC", "crv": "P-256", "x": "AA", "y": "AA" } } }),
            "signature",
        ),
        (json!({ "header": { "kid": "../../../../dev/null" } }), "no such key"),
        (json!({ "header": { "kid": "' OR '1'='1" } }), "no such key"),
        (json!({ "header": { "kid": "key-1-EdDSA" } }), "no such key"),
        (json!({ "header": { "kid": "encryption" } }), "no such key"),
        (json!({ "header": { "kid": "secret" } }), "no such key"),
        (json!({ "header": { "kid": "" } }), "no such key"),
        (json!({ "header": { "kid": "k".repeat(300) } }), "no such key"),
        (json!({ "header": { "kid": 7 } }), "malformed"),
        (json!({ "header": { "crit": ["exp"] } }), "extension"),
        (json!({ "header": { "typ": "logout+jwt" } }), "not an access token"),
        (json!({ "claims": { "padding": "p".repeat(20_000) } }), "too long"),
    ]
}

#[test]
fn each_wrong_token_is_refused_with_its_reason() {
    let team = Team::new("", "", DEMO);
    for (wanted, reason) in wrong() {
        let token = team.token(&wanted);
        let (status, challenge) = refusal(&team.with(&token));
        assert_eq!(status, 401, "{wanted}");
        assert!(
            challenge.contains("error=\"invalid_token\"") && challenge.contains(reason),
            "{wanted}: {challenge}"
        );
        assert!(!challenge.contains(&token) && challenge.contains("resource_metadata="), "{challenge}");
    }
    // Unknown keys are asked for only a few times.
    assert!(team.readings() <= 6, "{}", team.readings());
    assert!(accepted(&team.with(&team.token(&json!({})))));
}

#[test]
fn changed_and_malformed_tokens_are_refused() {
    let team = Team::new("", "", DEMO);
    let token = team.token(&json!({}));
    let parts: Vec<&str> = token.split('.').collect();
    let other = team.token(&json!({ "claims": { "sub": "root" } }));
    let foreign: Vec<&str> = other.split('.').collect();
    let mut cases = vec![
        format!("{}.{}.{}", parts[0], foreign[1], parts[2]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{}.{}", parts[0], parts[1]),
        format!("{token}.{}", parts[2]),
        format!("{token}="),
        "a.b.c".to_owned(),
        "...".to_owned(),
        "x".repeat(17_000),
        format!("{token} {token}"),
    ];
    cases.push(token.replace('.', ".."));
    let mut shown = Vec::new();
    for wrong in cases {
        let (status, challenge) = refusal(&team.with(&wrong));
        assert_eq!(status, 401, "{wrong}");
        shown.push(normal(&challenge));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    Bearer realm="toolsmith", error="invalid_token", error_description="the signature of the token is wrong", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    Bearer realm="toolsmith", error="invalid_token", error_description="the signature of the token is wrong", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is neither a known token nor a JSON Web Token", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is neither a known token nor a JSON Web Token", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is malformed", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is malformed", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is neither a known token nor a JSON Web Token", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is too long", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is malformed", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is neither a known token nor a JSON Web Token", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    "#);
    let several = team.with(&token).header("authorization", &format!("Bearer {token}"));
    assert_eq!(refusal(&several).0, 400);
    let other_scheme = team.server.client().header("authorization", &format!("DPoP {token}"));
    assert_eq!(refusal(&other_scheme).0, 401);
}

#[test]
fn the_first_token_after_a_rotation_is_accepted_and_the_old_key_is_not() {
    let team = Team::new("", "", DEMO);
    let old = team.token(&json!({}));
    assert!(accepted(&team.with(&old)));
    team.issuer.command("rotate");
    let new = team.token(&json!({}));
    assert!(accepted(&team.with(&new)));
    let (status, challenge) = refusal(&team.with(&old));
    assert_eq!(status, 401);
    assert_snapshot!(normal(&challenge), @r#"
    Bearer realm="toolsmith", error="invalid_token", error_description="the issuer has no such key (kid)", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    "#);
    assert_eq!(refusal(&team.with(&team.token(&json!({ "key": "retired" })))).0, 401);
}

#[test]
fn known_keys_are_used_while_the_issuer_is_down() {
    let team = Team::new("", "", DEMO);
    team.issuer.command("down");
    let client = team.with(&team.token(&json!({})));
    let answer = client.post(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string());
    assert_eq!(answer.status, 503, "{answer:?}");
    assert_snapshot!(normal(&answer.text), @r"
    the keys of the issuer can't be read, so tokens can't be checked; try again later
    ");
    assert!(answer.headers.contains_key("retry-after"), "{answer:?}");
    team.server.wait_for_log("the keys of the issuer");
    team.issuer.command("up");
    assert!(accepted(&client));
    team.issuer.command("down");
    team.issuer.command("rotate");
    assert!(accepted(&client), "the last keys are used");
    let (status, challenge) = refusal(&team.with(&team.token(&json!({}))));
    assert_eq!(status, 401);
    assert_snapshot!(normal(&challenge), @r#"
    Bearer realm="toolsmith", error="invalid_token", error_description="the issuer has no such key (kid)", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    "#);
}

#[test]
fn an_issuer_must_be_the_one_that_is_configured() {
    let issuer = Service::guarded("wrong-metadata-issuer");
    let server = Serve::http(&config(&issuer, "", "", DEMO)).start();
    let client = bearer(&server, &issuer.token(&json!({})));
    assert_eq!(refusal(&client).0, 503);
    server.wait_for_log("it is of the issuer");
    // With the address of the keys, no metadata is read.
    let keys = format!("jwks: {:?}", format!("{}/keys", issuer.issuer()));
    let server = Serve::http(&config(&issuer, &keys, "", DEMO)).start();
    assert!(accepted(&bearer(&server, &issuer.token(&json!({})))));
}

#[test]
fn audiences_algorithms_and_clocks_are_configurable() {
    let team =
        Team::new("audiences: [\"api://toolsmith\"], algorithms: [EdDSA], clockTolerance: 0", "", DEMO);
    let right = json!({ "alg": "EdDSA", "claims": { "aud": "api://toolsmith" } });
    assert!(accepted(&team.with(&team.token(&right))));
    let mut shown = Vec::new();
    for wrong in [
        json!({ "alg": "EdDSA" }),
        json!({ "claims": { "aud": "api://toolsmith" } }),
        json!({ "alg": "EdDSA", "claims": { "aud": "api://toolsmith", "exp": -2 } }),
    ] {
        let (_, challenge) = refusal(&team.with(&team.token(&wrong)));
        shown.push(normal(&challenge));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is for another audience (aud)", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is signed by an algorithm that is not accepted (alg)", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token has expired", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    "#);
}
