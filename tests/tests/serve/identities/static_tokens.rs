//! Tokens by name, from `toolsmith token`.

use std::fs;

use end_to_end::cache::shared;
use end_to_end::harness::Run;
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, Serve, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{accepted, bearer, refusal};

/// A new token, and its entry as a line of the configuration.
fn token(name: &str, options: &[&str]) -> (String, String) {
    let done = Run::new(shared()).arguments(&["token", "new", name]).arguments(options).done();
    assert_eq!(done.code(), 0, "{}", done.stderr);
    let lines: Vec<&str> = done.stdout.lines().collect();
    let entry = lines.last().unwrap().trim_start();
    assert!(!entry.contains(lines[0]), "{}", done.stdout);
    (lines[0].to_owned(), format!("    {entry}\n"))
}

#[test]
fn each_user_has_a_token_with_its_own_tools() {
    let (ci, ci_entry) = token("ci", &["--tools", "demo.get_*"]);
    let (bob, bob_entry) = token("bob@example.com", &["--expires", "2999-12-31"]);
    assert!(ci.starts_with("toolsmith_") && ci.len() > 50 && ci != bob);
    let audit = "  audit: { file: audit.jsonl }\n  listWait: 30\n";
    let server = Serve::http(&format!("{DEMO}serve:\n{audit}  tokens:\n{ci_entry}{bob_entry}")).start();
    let (ci, bob) = (bearer(&server, &ci).stateless(), bearer(&server, &bob).shake_hands());
    let note = execute("demo::create_note(\"n\", \"t\").await?;");
    assert_eq!(outcome_of(&ci.ask("tools/call", &note))["status"], "compile_error");
    assert!(!ci.ask("tools/list", &json!({})).to_string().contains("create_note"));
    assert_eq!(
        outcome_of(&ci.ask("tools/call", &execute("demo::get_customer(\"c-01\").await?.name")))["status"],
        "ok"
    );
    assert_eq!(outcome_of(&bob.ask("tools/call", &note))["status"], "ok");
    let log = fs::read_to_string(server.path("audit.jsonl")).unwrap();
    let subjects: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["event"] == "execution_begin")
        .map(|line| line["who"]["subject"].clone())
        .collect();
    assert_eq!(subjects, [json!("ci"), json!("ci"), json!("bob@example.com")]);
    assert_eq!(
        refusal(&bearer(&server, "toolsmith_wrong")),
        (401, {
            "Bearer realm=\"toolsmith\", error=\"invalid_token\", \
         error_description=\"the token is neither a known token nor a JSON Web Token\""
                .to_owned()
        })
    );
    assert_eq!(
        server.client().get("/.well-known/oauth-protected-resource").status,
        404,
        "there is no issuer"
    );
}

#[test]
fn a_removed_or_expired_token_is_refused_without_a_restart() {
    let (token, entry) = token("ci", &[]);
    let server = Serve::http(&format!("{DEMO}serve:\n  tokens:\n{entry}")).start();
    let client = bearer(&server, &token);
    assert!(accepted(&client));
    server.configure(&format!(
        "{DEMO}serve:\n  tokens:\n{}",
        entry.replace(" }", ", expires: \"2020-01-01\" }")
    ));
    server.wait_until("its expiry", || refusal(&client).1.contains("has expired"));
    // Without any token in the configuration, nobody gets in.
    server.configure(DEMO);
    server.wait_until("its removal", || refusal(&client).1.contains("neither a known token"));
    assert_eq!(refusal(&server.client()).0, 401);
}

#[test]
fn the_single_token_and_an_address_for_everyone_need_no_identities() {
    let (token, entry) = token("ci", &[]);
    let config = format!("{DEMO}serve:\n  tokens:\n{entry}");
    let server = Serve::new(&config).arguments(&["--http", "0.0.0.0:0"]).start();
    let port = server.address().rsplit(':').next().unwrap().to_owned();
    let mut client = bearer(&server, &token);
    client.address = format!("http://127.0.0.1:{port}");
    assert!(accepted(&client));
    let shared = "a-token-for-all-users";
    let server = Serve::http(&config).arguments(&["--token-env", "DOOR"]).variable("DOOR", shared).start();
    assert!(accepted(&bearer(&server, shared)) && accepted(&bearer(&server, &token)));
    assert_eq!(refusal(&server.client()).0, 401);
}

#[test]
fn tokens_are_listed_without_their_secrets() {
    let (_, first) = token("ci", &["--tools", "demo.*", "--tools", "*.get_*"]);
    let (_, second) = token("old", &["--expires", "2020-01-31"]);
    let config = format!("{DEMO}serve:\n  deny: {{ subjects: [gone] }}\n  tokens:\n{first}{second}{}", {
        first.replace("\"ci\"", "gone")
    });
    let listed = Run::new(shared()).arguments(&["token", "list", "--json"]).config_alone(&config).done();
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(
        listed,
        json!([
            { "name": "ci", "tools": ["demo.*", "*.get_*"], "expires": null, "state": "valid" },
            { "name": "gone", "tools": ["demo.*", "*.get_*"], "expires": null, "state": "denied" },
            { "name": "old", "tools": null, "expires": "2020-01-31", "state": "expired" },
        ])
    );
    let table = Run::new(shared()).arguments(&["token", "list"]).config_alone(&config).done();
    assert_snapshot!(normal(&json!(table.stdout)), @r"
    NAME  TOOLS            EXPIRES     STATE
    ci    demo.*, *.get_*  never       valid
    gone  demo.*, *.get_*  never       denied
    old   all              2020-01-31  expired
    ");
    for wrong in [&["token", "new", "a b"][..], &["token", "new", "a", "--expires", "tomorrow"]] {
        let refused = Run::new(shared()).arguments(wrong).done();
        assert_eq!(refused.code(), 2, "{}", refused.stderr);
    }
}

#[test]
fn a_project_can_not_let_others_in() {
    let (_, entry) = token("mallory", &[]);
    let project = format!("{DEMO}serve:\n  tokens:\n{entry}  deny: {{ subjects: [] }}\n");
    let run = Run::new(shared()).arguments(&["config", "check"]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("toolsmith.yaml"), project).unwrap();
    let checked = run.working_folder(folder.path()).done();
    assert_snapshot!(normal(&json!(format!("{}{}", checked.stdout, checked.stderr))), @r#"
    /tmp/.tmpXXXXXX/toolsmith.yaml:5:5: a project can't set serve.tokens, because it decides who may use your server; set it in your own configuration, or in a file that --config names
      |
    5 |     "mallory": { hash: "blake3:[hash]…
      |     ^
    /tmp/.tmpXXXXXX/toolsmith.yaml:6:9: a project can't set serve.deny, because it decides who may use your server; set it in your own configuration, or in a file that --config names
      |
    6 |   deny: { subjects: [] }
      |         ^
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml is not trusted yet, and has no effect until you trust it: toolsmith trust
    toolsmith: 2 problems
    "#);
}
