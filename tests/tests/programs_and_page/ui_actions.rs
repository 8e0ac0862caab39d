//! Changes through the page of `toolsmith serve --ui` and `toolsmith ui --allow-actions`: questions that it answers,
//! executions that it runs again, programs that it saves; and the forms that it refuses.

use end_to_end::harness::{Run, WATCHDOG, assert_says, fault_entry, unique};
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, Serve, execute, outcome_of};
use insta::assert_snapshot;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::ui::{Site, Visitor, contains};

/// A server whose tools ask, at each call if `permission` says so.
fn asking(permission: &str, more: &str) -> String {
    format!(
        "{more}mcpServers:\n{}",
        fault_entry("faulty", "sound", &format!("    permission: {permission}\n"))
    )
}

/// A program that is not in the cache.
fn program() -> Value {
    execute(&format!("// {}\nfaulty::echo().message(\"<b>let in</b>\").await?.text()", unique()))
}

/// The value of a hidden field in a page.
#[track_caller]
fn field<'a>(page: &'a str, name: &str) -> &'a str {
    let rest = page.split(&format!("name=\"{name}\" value=\"")).nth(1);
    rest.and_then(|rest| rest.split('"').next()).unwrap_or_else(|| panic!("no {name} in {page}"))
}

/// The page of questions, when one is open.
async fn open_question(visitor: &Visitor) -> String {
    let found = async {
        loop {
            let page = visitor.page("questions").await;
            if page.contains("<article") {
                return page;
            }
        }
    };
    tokio::time::timeout(WATCHDOG, found).await.expect("no question is open")
}

/// Sends a call, waits for its question, and returns the page with it.
async fn asked(site: &mut Site, visitor: &Visitor, id: u32) -> String {
    let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": program() });
    site.process.send(&call);
    open_question(visitor).await
}

fn answer_to(site: &mut Site, id: u32) -> Value {
    site.process.receive("the answer", |message| message["id"] == id && message["method"].is_null())
}

/// Answers the open question of a page.
async fn give(visitor: &Visitor, page: &str, answer: &str) -> StatusCode {
    let shown = ["token", "question", "shown"].map(|name| (name, field(page, name)));
    let fields = [&shown[..], &[("answer", answer)]].concat();
    visitor.post("answer", &visitor.origin, &fields).await.status
}

#[tokio::test]
async fn a_question_of_a_client_that_cannot_ask_is_answered_on_the_page() {
    let mut site = Site::of(Serve::new(&asking("ask-each", "")).arguments(&["--ui", "--allow-actions"]));
    site.process.shake_hands();
    let visitor = site.open().await;
    contains(&visitor.page("questions").await, &["No question is open."]);
    let before = visitor.page("version").await;
    let page = asked(&mut site, &visitor, 1).await;
    assert_ne!(visitor.page("version").await, before);
    contains(
        &page,
        &["tests 1, stdio", "A call needs your permission: faulty.echo", "&lt;b&gt;let in&lt;/b&gt;"],
    );
    assert!(!page.contains("<b>") && !page.contains("value=\"always\""), "{page}");
    // Every page says that somebody waits; the history has it a moment later.
    for every in ["questions", "savings", "executions", "execution?id=missing"] {
        let waiting = "<span>1</span><span class=\"hidden\"> waiting for you</span>";
        contains(&visitor.get(every).await.text(), &[">(1) ", waiting]);
    }
    assert_eq!(visitor.get("version").await.header("toolsmith-open-questions"), "1");
    let status = "<span class=\"badge busy\">waiting for you</span>";
    let shows_status = async {
        while !visitor.page("executions").await.contains(status) {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(WATCHDOG, shows_status).await.expect("the execution waits in the list");
    let id = site.latest_kept()["id"].as_str().unwrap().to_owned();
    contains(&visitor.page(&format!("execution?id={id}")).await, &[status, "It waits for your answer"]);
    assert_eq!(give(&visitor, &page, "always").await, StatusCode::BAD_REQUEST, "it is not offered");
    assert_eq!(give(&visitor, &page, "once").await, StatusCode::SEE_OTHER);
    assert_eq!(give(&visitor, &page, "no").await, StatusCode::BAD_REQUEST, "it was answered");
    let answer = answer_to(&mut site, 1);
    assert_eq!(outcome_of(&answer)["result"], "<b>let in</b>", "{answer:#}");
    assert!(!visitor.page("savings").await.contains(">(1) "));
    // The history is written behind the answer.
    site.process.wait_until("the answer in the history", || {
        let question = &site.latest_kept()["questions"][0];
        (&question["answer"], &question["answered_by"]) == (&json!("once"), &json!("page"))
    });

    // For the session: the next call asks nobody.
    let page = asked(&mut site, &visitor, 2).await;
    assert_eq!(give(&visitor, &page, "session").await, StatusCode::SEE_OTHER);
    assert_eq!(outcome_of(&answer_to(&mut site, 2))["status"], "ok");
    assert_eq!(outcome_of(&site.process.ask(3, "tools/call", &program()))["status"], "ok");
    site.process.close_input();
    assert_eq!(site.process.end(), Some(0));
}

#[tokio::test]
async fn a_program_that_a_model_saves_is_approved_on_the_page() {
    let config = format!("{DEMO}serve: {{ saveProgram: true }}\n");
    let mut site = Site::of(Serve::new(&config).arguments(&["--ui", "--allow-actions"]));
    site.process.shake_hands();
    let visitor = site.open().await;
    let text = "//! <b>One</b> order\nasync fn run() -> Result<usize> {\n    \
                Ok(demo::list_orders().limit(1).await?.orders.len())\n}\n";
    let call = |id: u32| {
        let arguments = json!({ "name": "one_order", "text": text });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": "save_program", "arguments": arguments } })
    };
    let file = site.process.path("home/toolsmith/programs/one_order.rs");
    for (id, answer) in [(1, "no"), (2, "once")] {
        site.process.send(&call(id));
        let page = open_question(&visitor).await;
        contains(
            &page,
            &["wants to save a program one_order", "  demo.list_orders", "&lt;b&gt;One&lt;/b&gt;"],
        );
        assert!(!page.contains("value=\"session\"") && !page.contains("value=\"always\""), "{page}");
        assert_eq!(give(&visitor, &page, answer).await, StatusCode::SEE_OTHER);
        let saved = answer_to(&mut site, id);
        assert_eq!(saved["result"]["isError"], answer == "no", "{saved:#}");
        assert_eq!(file.exists(), answer == "once");
    }
    let answer = site.process.ask(3, "tools/call", &execute("programs::one_order().await?"));
    assert_eq!(outcome_of(&answer)["result"], 1, "{answer:#}");
}

#[tokio::test]
async fn the_form_of_a_server_is_filled_in_on_the_page() {
    let config = format!("mcpServers:\n{}", fault_entry("faulty", "asks", "    trust: true\n"));
    let mut site = Site::of(Serve::new(&config).arguments(&["--ui", "--allow-actions"]));
    site.process.shake_hands();
    let visitor = site.open().await;
    // The server answers with what it received.
    let code = "serde_json::from_str::<serde_json::Value>(&faulty::echo().message(\"elicitation/create\").await?.text())?";
    let accepted = json!({ "action": "accept", "content": { "count": 7 } });
    let (emptied, declined) = (json!({ "action": "accept", "content": {} }), json!({ "action": "decline" }));
    let cases = [(1, "accept", "7", accepted), (2, "accept", "", emptied), (3, "decline", "7", declined)];
    for (id, answer, count, received) in cases {
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": execute(code) });
        site.process.send(&call);
        let page = open_question(&visitor).await;
        contains(
            &page,
            &["The server faulty asks (in its own words;", "How many?", "value=\"3\"", "optional"],
        );
        let shown = ["token", "question", "shown"].map(|name| (name, field(&page, name)));
        let post = async |answer: &str, count: &str| {
            let fields = [&shown[..], &[("answer", answer), ("field-0", count)]].concat();
            visitor.post("answer", &visitor.origin, &fields).await
        };
        let wrong = post("accept", "many").await;
        assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
        contains(&wrong.text(), &["count: write a whole number"]);
        assert_eq!(post("once", "7").await.status, StatusCode::BAD_REQUEST, "it is not offered");
        assert_eq!(post(answer, count).await.status, StatusCode::SEE_OTHER);
        let ended = answer_to(&mut site, id);
        assert_eq!(outcome_of(&ended)["result"], json!([received, null]), "{ended:#}");
        site.process.wait_until("the answer in the history", || {
            let question = &site.latest_kept()["questions"][0];
            (&question["answer"], &question["answered_by"]) == (&json!(answer), &json!("page"))
        });
    }
}

#[tokio::test]
async fn a_client_that_opens_addresses_is_asked_itself_about_them() {
    let config = format!("mcpServers:\n{}", fault_entry("faulty", "asks", "    trust: true\n"));
    let mut site = Site::of(Serve::new(&config).arguments(&["--ui", "--allow-actions"]));
    let parameters = json!({
        "protocolVersion": "2025-11-25", "capabilities": { "elicitation": { "url": {} } },
        "clientInfo": { "name": "tests", "version": "1" },
    });
    site.process.ask(0, "initialize", &parameters);
    site.process.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let code =
        "faulty::echo().message(\"elicitation/create https://example.com/terms\").await?.text().to_owned()";
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": execute(code) });
    site.process.send(&call);
    let question = site.process.receive("the question", |message| message["method"] == "elicitation/create");
    assert_eq!(question["params"]["url"], "https://example.com/terms", "{question:#}");
    contains(&site.open().await.page("questions").await, &["No question is open."]);
    site.process.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } }));
    let ended = answer_to(&mut site, 1);
    assert_says(&outcome_of(&ended)["result"], &["decline"]);
}

#[tokio::test]
async fn a_refusal_on_the_page_denies_the_program() {
    let command = Serve::new(&asking("ask", "")).arguments(&["--ui", "127.0.0.1:0", "--allow-actions"]);
    let mut site = Site::of(command);
    site.process.shake_hands();
    let visitor = site.open().await;
    let page = asked(&mut site, &visitor, 1).await;
    contains(&page, &["The program can call tools that need your permission:", "value=\"always\""]);
    assert_eq!(give(&visitor, &page, "no").await, StatusCode::SEE_OTHER);
    let answer = answer_to(&mut site, 1);
    assert_eq!(outcome_of(&answer)["status"], "denied");
    assert_says(&answer["result"]["content"][0]["text"], &["permission to call faulty.echo was refused"]);
}

#[tokio::test]
async fn only_forms_of_the_page_answer_a_question() {
    let mut site = Site::of(Serve::new(&asking("ask", "")).arguments(&["--ui", "--allow-actions"]));
    site.process.shake_hands();
    let visitor = site.open().await;
    let page = asked(&mut site, &visitor, 1).await;
    let (token, question) = (field(&page, "token"), field(&page, "question"));
    let own = site.origin.clone();
    let forged: [(&str, Vec<(&str, &str)>); 5] = [
        (&own, vec![("question", question), ("answer", "once")]),
        (&own, vec![("token", ""), ("question", question), ("answer", "once")]),
        (&own, vec![("token", "0123"), ("question", question), ("answer", "once")]),
        ("http://evil.example", vec![("token", token), ("question", question), ("answer", "once")]),
        ("null", vec![("token", token), ("question", question), ("answer", "once")]),
    ];
    for (origin, fields) in &forged {
        assert_eq!(
            visitor.post("answer", origin, fields).await.status,
            StatusCode::FORBIDDEN,
            "{origin} {fields:?}"
        );
    }
    let in_address = format!("answer?token={token}&question={question}&answer=once");
    assert_eq!(visitor.get(&in_address).await.status, StatusCode::METHOD_NOT_ALLOWED);
    contains(&visitor.page("questions").await, &["<article"]);
    assert_eq!(give(&visitor, &page, "no").await, StatusCode::SEE_OTHER);
    assert_eq!(outcome_of(&answer_to(&mut site, 1))["status"], "denied");
}

#[tokio::test]
async fn an_answer_counts_only_for_the_question_that_its_form_showed() {
    let mut site = Site::of(Serve::new(&asking("ask", "")).arguments(&["--ui", "--allow-actions"]));
    site.process.shake_hands();
    let visitor = site.open().await;
    let page = asked(&mut site, &visitor, 1).await;
    let (token, question) = (field(&page, "token"), field(&page, "question"));
    let other = field(&page, "shown").chars().rev().collect::<String>();
    for shown in [&[][..], &[("shown", "")], &[("shown", other.as_str())]] {
        let fields = [&[("token", token), ("question", question), ("answer", "always")], shown].concat();
        let refused = visitor.post("answer", &visitor.origin, &fields).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{shown:?}");
        contains(&refused.text(), &["the question is not as this page showed it, so nothing was done"]);
    }
    let next = [("token", token), ("question", "1"), ("shown", field(&page, "shown")), ("answer", "always")];
    assert_eq!(visitor.post("answer", &visitor.origin, &next).await.status, StatusCode::BAD_REQUEST);
    contains(&visitor.page("questions").await, &["1 question is open."]);
    assert_eq!(give(&visitor, &page, "no").await, StatusCode::SEE_OTHER);
    assert_eq!(outcome_of(&answer_to(&mut site, 1))["status"], "denied");
    assert!(!site.process.path("home/toolsmith/permissions.json").exists());
}

#[tokio::test]
async fn without_actions_a_question_is_refused_and_the_page_says_why() {
    let mut site = Site::of(Serve::new(&asking("ask", "")).arguments(&["--ui"]));
    site.process.shake_hands();
    let visitor = site.open().await;
    let answer = site.process.ask(1, "tools/call", &program());
    assert_eq!(outcome_of(&answer)["status"], "denied");
    assert_says(&answer["result"]["content"][0]["text"], &["--ui --allow-actions"]);
    let page = visitor.page("questions").await;
    contains(&page, &["This page only reads.", "--allow-actions"]);
    assert!(!page.contains("<form"), "{page}");
    for to in ["answer", "again", "save", "check"] {
        let answer = visitor.post(to, &site.origin, &[("token", ""), ("id", "0")]).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{to}");
        contains(&answer.text(), &["--allow-actions"]);
    }
}

#[tokio::test]
async fn a_question_that_nobody_answers_on_the_page_is_late() {
    let config = asking("ask", "serve: { questionTimeout: 1 }\n");
    let mut site = Site::of(Serve::new(&config).arguments(&["--ui", "--allow-actions"]));
    site.process.shake_hands();
    let answer = site.process.ask(1, "tools/call", &program());
    assert_eq!(outcome_of(&answer)["status"], "denied");
    assert_says(
        &answer["result"]["content"][0]["text"],
        &["got no answer within 1 s", "on the page of `toolsmith serve --ui`"],
    );
    contains(&site.open().await.page("questions").await, &["No question is open."]);
}

#[tokio::test]
async fn a_client_over_http_is_asked_on_the_page_too() {
    let config = asking("ask", "history: { enabled: true }\n");
    let site = Site::of(Serve::http(&config).arguments(&["--ui", "--allow-actions"]));
    let visitor = site.open().await;
    let client = site.process.client();
    // This client has a runtime of its own.
    let running = std::thread::spawn(move || client.shake_hands().begin("tools/call", &program()).end());
    let page = open_question(&visitor).await;
    contains(&page, &["tests 1, http"]);
    assert_eq!(give(&visitor, &page, "once").await, StatusCode::SEE_OTHER);
    assert_eq!(outcome_of(&running.join().unwrap())["result"], "<b>let in</b>");
}

#[test]
fn the_page_of_a_server_is_for_this_machine_only() {
    let run =
        |words: &[&str]| Run::new(end_to_end::cache::shared()).arguments(words).config(DEMO).done().exits(2);
    assert_snapshot!(normal(&run(&["serve", "--ui", "0.0.0.0:0"]).stderr), @r"
    toolsmith: 0.0.0.0:0 can be reached from other machines, and the page is for this machine only
    help: use a loopback address, such as --ui 127.0.0.1:[port]
    ");
    assert_snapshot!(normal(&run(&["serve", "--allow-actions"]).stderr), @r"
    error: the following required arguments were not provided:
      --ui [<ADDRESS>]

    Usage: toolsmith serve --ui [<ADDRESS>] --allow-actions --config <FILE>

    For more information, try '--help'.
    ");
}

#[tokio::test]
async fn an_execution_is_run_again_with_the_configuration_of_the_page() {
    let site = Site::of(
        Serve::in_folder(&["ui", "--allow-actions", "--config", "given.yaml"]).file("given.yaml", DEMO),
    );
    let visitor = site.open().await;
    site.run("// Again\ndemo::list_orders().limit(1).await?.orders.len()").exits(0);
    let first = site.latest_kept();
    let id = first["id"].as_str().unwrap();
    let again = format!("again?id={id}");
    let page = visitor.page(&format!("execution?id={id}")).await;
    assert!(page.contains(&again) && !page.contains("method=\"post\""), "it asks first: {page}");
    let page = visitor.page(&again).await;
    contains(&page, &["Run it again?", "made 1 call", "demo.list_orders", "Yes, run it again"]);
    let fields = [("token", field(&page, "token")), ("id", first["id"].as_str().unwrap())];
    assert_eq!(visitor.post("again", &visitor.origin, &fields).await.status, StatusCode::SEE_OTHER);
    site.process.wait_until("the second execution", || {
        let latest = site.latest_kept();
        latest["id"] != first["id"] && latest["status"] == "ok"
    });
    assert_eq!(site.latest_kept()["code"], first["code"]);
    let unknown = [("token", field(&page, "token")), ("id", "zzz")];
    let answer = visitor.post("again", &visitor.origin, &unknown).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    contains(&answer.text(), &["zzz"]);
    site.end();
}

#[tokio::test]
async fn a_snippet_is_saved_as_a_program_after_its_tools_were_shown() {
    let site = Site::of(
        Serve::in_folder(&["ui", "--allow-actions", "--config", "given.yaml"]).file("given.yaml", DEMO),
    );
    let visitor = site.open().await;
    site.run("// One order\ndemo::list_orders().limit(1).await?.orders.len()").exits(0);
    let id = site.latest_kept()["id"].as_str().unwrap().to_owned();
    let form = visitor.page(&format!("save?id={id}")).await;
    contains(&form, &["//! One order", "async fn run()"]);
    let token = field(&form, "token");
    let text = "//! One order\r\n\r\nasync fn run() -> Result<usize> {\r\n    \
                Ok(demo::list_orders().limit(1).await?.orders.len())\r\n}\r\n";
    let fields = [("token", token), ("name", "one_order"), ("text", text)];
    let shown = visitor.post("save", &visitor.origin, &fields).await.text();
    contains(&shown, &["and approve it?", "It can call: demo.list_orders", "name=\"confirmed\""]);
    let file = site.process.path("home/toolsmith/programs/one_order.rs");
    assert!(!file.exists());
    let seen = field(&shown, "shown").to_owned();
    let confirmed = [&fields[..], &[("confirmed", "yes"), ("shown", &seen)]].concat();
    // Since then, the name is that of another program.
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "async fn run() -> Result<u8> { Ok(1) }\n").unwrap();
    let refused = visitor.post("save", &visitor.origin, &confirmed).await.text();
    contains(&refused, &["It has changed since you were asked", "- async fn run() -&gt; Result&lt;u8&gt;"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "async fn run() -> Result<u8> { Ok(1) }\n");
    std::fs::remove_file(&file).unwrap();
    let saved = visitor.post("save", &visitor.origin, &confirmed).await.text();
    contains(&saved, &["is saved and approved"]);
    assert_eq!(std::fs::read_to_string(file).unwrap(), text.replace("\r\n", "\n"));
    let broken = [("token", token), ("name", "broken"), ("text", "async fn run() -> Result<u8> { nothing }")];
    let answer = visitor.post("save", &visitor.origin, &broken).await.text();
    contains(&answer, &["Not saved", "cannot find value"]);
    let named = [("token", token), ("name", "--help"), ("text", text)];
    contains(&visitor.post("save", &visitor.origin, &named).await.text(), &["Not saved"]);
    site.end();
}

#[tokio::test]
async fn programs_are_checked_from_the_page() {
    // Checks are kept in the cache, which tests share.
    let program = |body: &str| format!("//! {}\nasync fn run() -> Result<u8> {{ {body} }}\n", unique());
    let site = Site::of(
        Serve::in_folder(&["ui", "--allow-actions", "--config", "given.yaml"])
            .file("given.yaml", DEMO)
            .file("home/toolsmith/programs/sound.rs", &program("Ok(1)"))
            .file("home/toolsmith/programs/wrong.rs", &program("nothing")),
    );
    let visitor = site.open().await;
    let page = visitor.page("program?name=sound").await;
    contains(&page, &["not checked"]);
    let token = field(&page, "token");
    let one = [("token", token), ("name", "sound")];
    assert_eq!(visitor.post("check", &visitor.origin, &one).await.status, StatusCode::SEE_OTHER);
    contains(&visitor.page("program?name=sound").await, &["fits", "It can call no tools."]);
    contains(&visitor.page("program?name=wrong").await, &["not checked"]);
    assert_eq!(
        visitor.post("check", &visitor.origin, &[("token", token)]).await.status,
        StatusCode::SEE_OTHER
    );
    contains(&visitor.page("program?name=wrong").await, &["broken", "cannot find value"]);
    for unknown in ["missing", "--help"] {
        let fields = [("token", token), ("name", unknown)];
        let answer = visitor.post("check", &visitor.origin, &fields).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{unknown}");
        contains(&answer.text(), &[unknown]);
    }
    site.end();
}
