//! The scope of a subject: its tools, their descriptions, searches, resources, and the challenge for more.

use end_to_end::harness::{FAULT_SERVER, fault_entry};
use end_to_end::page::normal;
use end_to_end::serving::{Client, DEMO, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{Team, accepted, refusal};

const SCOPES: &str = "scopes: { \"shop:read\": [\"demo.get_*\", \"demo.list_*\"], \"shop:write\": [\"demo.*\"], \"direct\": [\"direct.*\"] }";

/// The demo server for snippets, and a server with direct tools.
fn servers() -> String {
    format!("{DEMO}{}", fault_entry("direct", "sound", "    codeMode: false\n    trust: true\n"))
}

fn team() -> Team {
    Team::new(SCOPES, "  listWait: 30\n", &servers())
}

#[track_caller]
fn listed(client: &Client) -> Value {
    let listed = client.ask("tools/list", &json!({}));
    assert!(listed["result"]["tools"].is_array(), "{listed:#}");
    listed["result"]["tools"].clone()
}

fn clients(team: &Team, subject: &str, scopes: &str) -> [Client; 2] {
    [team.client(subject, scopes).stateless(), team.client(subject, scopes).shake_hands()]
}

#[test]
fn a_subject_sees_only_what_it_may_call() {
    let team = team();
    for client in clients(&team, "reader", "openid shop:read") {
        let tools = listed(&client).to_string();
        assert!(tools.contains("execute_code") && tools.contains("get_customer("), "{tools}");
        for hidden in ["create_note", "slow", "echo", "direct"] {
            assert!(!tools.contains(hidden), "{hidden}: {tools}");
        }
        let found = client.ask("tools/call", &execute("search_tools(\"write a note\").await?"));
        assert_eq!(outcome_of(&found)["status"], "ok", "{found:#}");
        assert!(!outcome_of(&found)["result"].to_string().contains("create_note"), "{found:#}");
    }
    for client in clients(&team, "direct", "direct") {
        let tools = listed(&client).to_string();
        assert!(tools.contains("\"echo\"") && !tools.contains("demo"), "{tools}");
    }
    let writer = team.client("writer", "shop:write direct").stateless();
    let tools = listed(&writer).to_string();
    assert!(tools.contains("create_note") && tools.contains("\"echo\""), "{tools}");
}

#[test]
fn a_program_can_call_only_what_its_subject_may() {
    let team = team();
    let mut shown = Vec::new();
    for client in clients(&team, "reader", "shop:read") {
        let answer = client.ask("tools/call", &execute("demo::get_customer(\"c-01\").await?.name"));
        assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
        let answer = client.ask("tools/call", &execute("demo::create_note(\"n\", \"t\").await?;"));
        assert_eq!(outcome_of(&answer)["status"], "compile_error", "{answer:#}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        shown.push(normal(&text));
        let answer = client.ask("tools/call", &execute("direct::echo().message(\"x\").await?;"));
        assert_eq!(outcome_of(&answer)["status"], "compile_error", "{answer:#}");
    }
    assert_snapshot!(shown.join("\n"), @r#"
    error[E0425]: cannot find function `create_note` in crate `demo`
     --> 1:7
    1 | demo::create_note("n", "t").await?;
      |       ^^^^^^^^^^^ not found in `demo`
    help: `demo::create_note` can't be called: the user's token does not permit it, which needs the scope shop:write

    the snippet does not compile: cannot find function `create_note` in crate `demo`
    error[E0425]: cannot find function `create_note` in crate `demo`
     --> 1:7
    1 | demo::create_note("n", "t").await?;
      |       ^^^^^^^^^^^ not found in `demo`
    help: `demo::create_note` can't be called: the user's token does not permit it, which needs the scope shop:write

    the snippet does not compile: cannot find function `create_note` in crate `demo`
    "#);
}

#[test]
fn a_direct_call_that_needs_another_scope_is_challenged() {
    let team = team();
    let call = json!({ "name": "echo", "arguments": { "message": "x" } });
    // The list of tools must be known to know the server of a tool.
    assert!(listed(&team.client("direct", "direct").stateless()).to_string().contains("\"echo\""));
    let mut shown = Vec::new();
    for client in clients(&team, "reader", "shop:read") {
        let refused = client.begin("tools/call", &call);
        assert_eq!(refused.status(), 403);
        let challenge = refused.header("www-authenticate");
        shown.push(normal(&challenge));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    Bearer realm="toolsmith", error="insufficient_scope", error_description="the token lacks a scope", scope="direct", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    Bearer realm="toolsmith", error="insufficient_scope", error_description="the token lacks a scope", scope="direct", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    "#);
    // The same session continues with a token that has the scope.
    let session = team.client("reader", "shop:read").shake_hands();
    let more = team.token(&json!({ "claims": { "sub": "reader", "scope": "shop:read direct" } }));
    let stepped_up = session.with_header("authorization", &format!("Bearer {more}"));
    let answer = stepped_up.ask("tools/call", &call);
    assert_eq!(answer["result"]["content"][0]["text"], "x", "{answer:#}");
}

#[test]
fn a_token_without_any_scope_of_the_configuration_is_challenged() {
    let team = Team::new(&format!("requiredScopes: [tools], {SCOPES}"), "", DEMO);
    let (status, challenge) = refusal(&team.client("x", "openid"));
    assert_eq!(status, 403);
    assert_snapshot!(normal(&challenge), @r#"
    Bearer realm="toolsmith", error="insufficient_scope", error_description="the token lacks a scope", scope="tools", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    "#);
    let (status, challenge) = refusal(&team.client("x", "tools"));
    assert_eq!(status, 403);
    assert_snapshot!(normal(&challenge), @r#"
    Bearer realm="toolsmith", error="insufficient_scope", error_description="the token lacks a scope", scope="direct shop:read shop:write", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    "#);
    assert!(accepted(&team.client("x", "tools direct")));
    // Some issuers write the scopes as a list.
    let by_list = json!({ "claims": { "scp": ["tools", "direct"] } });
    assert!(accepted(&team.with(&team.token(&by_list))));
}

#[test]
fn resources_and_prompts_need_a_scope_for_their_server() {
    let library =
        format!("mcpServers:\n  library: {{ command: {FAULT_SERVER:?}, args: [library], trust: true }}\n");
    let scopes = "scopes: { some: [\"library.e*\"], all: [\"library.*\"] }";
    let team = Team::new(scopes, "  listWait: 30\n", &library);
    for (scope, is_listed) in [("some", false), ("all", true)] {
        for client in clients(&team, "reader", scope) {
            for (method, member) in [("resources/list", "resources"), ("prompts/list", "prompts")] {
                team.server.wait_until("the list", || {
                    let found = client.ask(method, &json!({}));
                    let items = found["result"][member].as_array().unwrap();
                    items.is_empty() != is_listed
                });
            }
        }
    }
}

#[test]
fn a_changed_configuration_applies_to_the_next_call() {
    let team = team();
    let client = team.client("writer", "shop:write").shake_hands();
    let note = execute("demo::create_note(\"n\", \"t\").await?;");
    assert_eq!(outcome_of(&client.ask("tools/call", &note))["status"], "ok");
    let fewer = SCOPES.replace("[\"demo.*\"]", "[\"demo.get_*\"]");
    team.server.configure(&super::config(&team.issuer, &fewer, "", &servers()));
    team.server.wait_for_log("the configuration was read again");
    assert_eq!(outcome_of(&client.ask("tools/call", &note))["status"], "compile_error");
}
