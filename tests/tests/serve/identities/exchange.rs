//! A server that each subject uses with its own tokens, which its token is exchanged for (RFC 8693).

use std::collections::{BTreeMap, BTreeSet};

use end_to_end::page::normal;
use end_to_end::services::Service;
use end_to_end::serving::{Serve, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{Team, bearer, config};

/// How the client authenticates at the token endpoint.
const SECRET: &str = "client_secret: secret-of-machine";

/// A team, and the server `api` that tells its users apart, with more keys in its entry and of `serve`.
fn team(mode: &str, more: &str, serve: &str) -> Team {
    team_of(Service::guarded(mode), SECRET, more, serve)
}

fn team_of(issuer: Service, credential: &str, more: &str, serve: &str) -> Team {
    let servers = format!("{}{more}", servers(&issuer, credential));
    let server = Serve::http(&config(&issuer, "", &format!("  listWait: 30\n{serve}"), &servers)).start();
    Team { issuer, server }
}

/// The start of a configuration, with the entry of `api`.
fn servers(issuer: &Service, credential: &str) -> String {
    let (url, authority) = (issuer.mcp_address(), issuer.issuer());
    format!(
        "mcpServers:\n  api:\n    url: {url:?}\n    type: http\n    trust: true\n    oauth:\n      \
         grant: token_exchange\n      client_id: machine\n      {credential}\n      audience: api\n      \
         token_url: '{authority}/token'\n"
    )
}

/// The requests that an origin has received.
fn received(team: &Team, at: &str) -> Vec<Value> {
    let lines = team.issuer.lines();
    let requests = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    requests.filter(|request| request["at"] == at).collect()
}

/// The calls that the server has received.
fn calls(team: &Team) -> Vec<Value> {
    let requests = received(team, "resource").into_iter();
    requests.filter(|request| request["json"]["method"] == "tools/call").collect()
}

#[track_caller]
fn result(answer: &Value) -> String {
    outcome_of(answer)["result"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned()
}

#[test]
fn two_subjects_share_no_token_and_no_session() {
    let team = team("exchanges", "", "");
    let call = execute("api::echo().await?.text()");
    let mut shown = Vec::new();
    for subject in ["alice", "bob", "alice", "bob"] {
        let token = team.token(&json!({ "claims": { "sub": subject } }));
        for client in [team.with(&token).stateless(), team.with(&token).shake_hands()] {
            assert_eq!(result(&client.ask("tools/call", &call)), format!("for {subject}"));
        }
        shown.push(token);
    }
    let mut sessions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for call in calls(&team) {
        let text = |name: &str| call[name].as_str().unwrap().to_owned();
        sessions.entry(text("authorization")).or_default().insert(text("session"));
    }
    let sessions: Vec<_> = sessions.into_values().collect();
    assert!(matches!(&sessions[..], [one, other] if one.is_disjoint(other)), "{sessions:?}");
    let exchanges = received(&team, "authority");
    let exchanges = exchanges.iter().filter(|request| request["fields"]["subject_token"].is_string());
    assert_eq!(exchanges.count(), 2, "the tokens of a subject serve all its sessions");
    // The subjects' own tokens go to the token endpoint only.
    let others = [received(&team, "resource"), received(&team, "elsewhere")].concat();
    let others = others.iter().map(Value::to_string).collect::<String>();
    assert!(shown.iter().all(|token| !others.contains(token.as_str())));
    assert!(shown.iter().all(|token| !team.server.stderr().contains(token.as_str())));
}

#[test]
fn direct_tools_use_the_tokens_of_the_subject_and_share_no_cached_result() {
    let team = team("exchanges", "    codeMode: false\n", "");
    let call = json!({ "name": "echo", "arguments": {} });
    for subject in ["alice", "bob"] {
        for client in [team.client(subject, "").stateless(), team.client(subject, "").shake_hands()] {
            client.ask("tools/list", &json!({}));
            let answer = client.ask("tools/call", &call);
            let text = &answer["result"]["content"][0]["text"];
            assert_eq!(*text, format!("for {subject}"), "{answer:#}");
        }
    }
}

#[test]
fn a_token_that_the_server_rejects_or_that_expires_is_exchanged_again() {
    for (mode, command) in [("exchanges", "expire"), ("exchanges+short", "revoke")] {
        let issuer = Service::guarded(mode);
        let address: Value = serde_json::from_str(&issuer.first).unwrap();
        let key = format!("private_key: {}", address["keys"]["P-256"]);
        let team = team_of(issuer, &key, "", "");
        let call = execute("api::echo().await?.text()");
        for _ in 0..2 {
            assert_eq!(result(&team.client("alice", "").stateless().ask("tools/call", &call)), "for alice");
            team.issuer.command(command);
        }
        let tokens: BTreeSet<String> =
            calls(&team).iter().map(|call| call["authorization"].to_string()).collect();
        assert_eq!(tokens.len(), 2, "{mode}: {tokens:?}");
    }
}

#[test]
fn a_tool_that_the_server_does_not_offer_to_a_subject_is_refused() {
    let team = team("exchanges", "", "");
    let call = execute("api::audit().await?.text()");
    assert_eq!(result(&team.client("bob", "").stateless().ask("tools/call", &call)), "for bob");
    let refused = team.client("alice", "").stateless().ask("tools/call", &call);
    assert_snapshot!(normal(outcome_of(&refused)["error"]["message"].as_str().unwrap()), @"api.audit was denied: the tool has changed since the program was built: it is gone; look the server's tools up again, and write the snippet for them");
    assert_eq!(result(&team.client("bob", "").stateless().ask("tools/call", &call)), "for bob");
}

#[test]
fn nobody_gets_a_token_that_was_not_exchanged_for_its_own() {
    let named = "  tokens: { ci: { hash: \"blake3:HASH\" } }\n";
    let token = "0123456789abcdef0123456789abcdef";
    let hash = blake3::hash(token.as_bytes()).to_hex();
    let team = team("exchanges", "", &named.replace("HASH", &hash));
    let call = execute("api::echo().await?.text()");
    assert_eq!(result(&team.client("alice", "").stateless().ask("tools/call", &call)), "for alice");
    let before = calls(&team).len();
    let clients = [team.client("mallory", "").stateless(), bearer(&team.server, token).stateless()];
    let refused = clients.map(|client| {
        let outcome = outcome_of(&client.ask("tools/call", &call)).clone();
        normal(&format!("{}: {}", outcome["status"], outcome["error"]["message"]))
    });
    assert_snapshot!(refused.join("\n\n"), @r#"
    "runtime_error": "MCP server `api`: cannot connect: no token for the subject: its authorization server answered with HTTP 400: invalid_grant (as the test requires)"

    "runtime_error": "MCP server `api`: cannot connect: no token for the subject: its client has shown no access token of the issuer (`serve.auth`) that could be exchanged"
    "#);
    // Without an identity, only lists are read.
    let mut alone = Serve::new(&servers(&team.issuer, SECRET)).start();
    alone.shake_hands();
    let outcome = outcome_of(&alone.ask(1, "tools/call", &call)).clone();
    assert_snapshot!(normal(&format!("{}: {}", outcome["status"], outcome["error"]["message"])), @r#""runtime_error": "api.echo is unavailable: MCP server `api`: each subject has its own token for this server (`oauth.grant: token_exchange`), so it can be used only through `toolsmith serve --http`, by subjects with an access token of an issuer (`serve.auth`)""#);
    assert_eq!(calls(&team).len(), before);
}
