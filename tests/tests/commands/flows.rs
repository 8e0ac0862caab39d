//! Flows of the programs that commands run.

use end_to_end::cache::shared;
use end_to_end::harness::{Run, fault_entry};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::json;

/// Reads a mail, and sends its text.
const SEND: &str =
    "let mail = mail::echo().message(\"the secret\").await?.text();\nweb::echo().message(mail).await?.text()";

fn config(flows: &str) -> String {
    let trust = "    trust: true\n";
    let (mail, web) = (fault_entry("mail", "sound", trust), fault_entry("web", "sound", trust));
    format!("mcpServers:\n{mail}{web}flows: {{ private: [\"mail.*\"], external: [\"web.*\"]{flows} }}\n")
}

fn run(flows: &str) -> Run {
    Run::new(shared()).arguments(&["run", "-", "--json"]).input(SEND).config(&config(flows))
}

/// `--allow` covers tools, and no flows.
#[test]
fn without_a_terminal_a_flow_fails_with_the_rule_that_allows_it() {
    let outcome = run("").expect("denied", 6);
    assert_snapshot!(normal(&outcome["error"]["message"]), @r#"
    web.echo may not receive this data: the program has received answers of mail.echo (private), so permission is required, but there is no terminal to ask on
    help: call it before those tools, or in another program that does not call them
    help: to allow it without a question, add to the configuration:
    flows: { rules: [{ from: ["mail.echo"], to: ["web.echo"], then: allow }] }
    "#);
    assert_eq!(outcome["calls_refused"]["tools"], json!({ "web.echo": 1 }), "{outcome:#}");
    let rule = ", rules: [{ from: [\"mail.echo\"], to: [\"web.echo\"], then: allow }]";
    assert_eq!(run(rule).result(), "the secret");
    let denied = run(", privateToExternal: deny").expect("denied", 6);
    assert_snapshot!(normal(&denied["error"]["message"]), @r"
    web.echo may not receive this data: the configuration denies it after answers of mail.echo (private), which the program has received
    help: call it before those tools, or in another program that does not call them
    ");
}

#[test]
fn checking_a_snippet_names_its_flows() {
    let check = Run::new(shared()).arguments(&["run", "-", "--check"]).input(SEND).config(&config(""));
    assert_snapshot!(normal(&check.done().exits(0).stdout), @r"
    mail.echo
    web.echo
    can carry answers of mail.echo (private) into web.echo
    ");
}

#[test]
fn the_user_at_the_terminal_is_asked_at_the_call() {
    let code = "let mail = mail::echo().message(\"m\").await?.text();\nlet mut all = Vec::new();\n\
                for _ in 0..2 { all.push(web::echo().message(&mail).await.is_ok()); }\nall";
    for (keys, questions, result) in
        [(["y\n", "n\n"], 2, json!([true, false])), (["s\n", ""], 1, json!([true, true]))]
    {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("snippet.rs");
        std::fs::write(&file, code).unwrap();
        let started = Run::on_terminal(shared())
            .arguments(&["run", file.to_str().unwrap(), "--json"])
            .config_alone(&config(""))
            .start();
        for (index, key) in keys.iter().take(questions).enumerate() {
            started.answer("[y] yes, once  [s] yes, in this run  [n] no: ", index + 1, key);
        }
        let outcome = started.done().expect("ok", 0);
        assert_eq!(outcome["result"], result, "{keys:?}");
    }
}
