//! Names in scope for snippets: helpers, crates, errors and tool results.

use end_to_end::cache::{json, plain};
use end_to_end::harness::{COLD_WATCHDOG, assert_says};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn concurrently_keeps_order_and_bound() {
    let code = r#"
use std::sync::atomic::{AtomicUsize, Ordering};
let running = AtomicUsize::new(0);
let most = AtomicUsize::new(0);
let results = concurrently(3, 0..10u32, |n| {
    let (running, most) = (&running, &most);
    async move {
        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(u64::from(10 - n) * 5)).await;
        running.fetch_sub(1, Ordering::SeqCst);
        Ok::<_, ToolError>(n * n)
    }
}).await?;
(results, most.into_inner())
"#;
    assert_eq!(json(code).result(), json!([[0, 1, 4, 9, 16, 25, 36, 49, 64, 81], 3]));
    let calls = "concurrently(4, [\"c-01\", \"c-02\", \"c-03\"], |id| async move { demo::get_customer(id).await }).await?.iter().map(|c| c.id.clone()).collect::<Vec<_>>()";
    assert_eq!(json(calls).result(), json!(["c-01", "c-02", "c-03"]));
    let first_error = "concurrently(2, 1..=5, |n| async move { if n % 2 == 0 { bail!(\"{n} is even\") } else { Ok(n) } }).await";
    let outcome = json(first_error).expect("runtime_error", 1);
    assert_eq!(outcome["error"]["message"], "2 is even");
    let unbounded =
        "concurrently(0, Vec::<i32>::new(), |n| async move { Ok::<_, ToolError>(n) }).await?.len()";
    assert_eq!(json(unbounded).result(), 0);
}

#[test]
fn many_calls_work() {
    let sequential = "let mut total = 0; for n in 0..10_000 { total += demo::echo(n.to_string()).await?.text().parse::<usize>()?; } total";
    // In a debug build on a busy machine, each call takes some milliseconds.
    let outcome = json(sequential).watchdog(COLD_WATCHDOG).expect("ok", 0);
    assert_eq!(outcome["result"], 49_995_000);
    assert_eq!(outcome["calls_total"], 10_000);
    assert_eq!(outcome["calls"].as_array().unwrap().len(), 1_000);

    let concurrent = "let texts = concurrently(64, 0..1_000usize, |n| async move { demo::echo(n.to_string()).await }).await?;\ntexts.iter().enumerate().all(|(n, text)| text.text() == n.to_string())";
    let outcome = json(concurrent).expect("ok", 0);
    assert_eq!((&outcome["result"], &outcome["calls_total"]), (&json!(true), &json!(1_000)));

    let all_at_once = "let calls = (0..1_000).map(|n| async move { demo::echo(n.to_string()).await });\nfutures::future::try_join_all(calls).await?.len()";
    assert_eq!(json(all_at_once).result(), 1_000);
}

#[test]
fn progress_and_content_reach_the_host() {
    let done = plain(
        "for n in 1..=3 { progress(n, 3, format!(\"step {n}\")); }\ntokio::time::sleep(Duration::from_millis(200)).await;\nprogress(0.5, 1.0, \"half\\u{1b}[31m\");",
    )
    .done();
    let done = done.exits(0);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: 1 of 3 step 1
    toolsmith: 3 of 3 step 3
    toolsmith: 0.5 of 1 half\u{1b}[31m
    ");

    let code = "let picture = demo::image().await?;\nfor part in &picture.content { emit(part); }\nemit(Content::audio(\"AAAA\", \"audio/wav\"));\npicture.content.iter().map(|part| part.kind().to_owned()).collect::<Vec<_>>()";
    let outcome = json(code).expect("ok", 0);
    assert_eq!(outcome["result"], json!(["image", "text"]));
    let content = outcome["content"].as_array().unwrap();
    assert_eq!((&content[0]["type"], &content[0]["mimeType"]), (&json!("image"), &json!("image/png")));
    assert_says(&content[0]["data"], &["iVBORw0KGgo"]);
    assert_eq!(content[1], json!({ "type": "text", "text": "A house, 16 by 16 pixels." }));
    assert_eq!(content[2], json!({ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" }));
    let shown = plain("for part in demo::image().await?.content { emit(part); }").done().exits(0);
    assert_snapshot!(normal(&json!(shown.stdout)), @r"
    [image image/png, about 126 bytes; --json prints it]
    A house, 16 by 16 pixels.
    ");
}

#[test]
fn content_blocks_are_emitted_and_other_values_as_json() {
    let code = "let picture = demo::image().await?;\nemit(&picture.content);\nemit(json!({ \"content\": picture.content }));\n\
                emit(picture);";
    let outcome = json(code).expect("ok", 0);
    let content = outcome["content"].as_array().unwrap();
    assert_eq!(content.len(), 6, "{outcome:#}");
    assert!(content.chunks(2).all(|pair| pair == &content[..2]), "{outcome:#}");

    let typed = "demo::list_orders().await?";
    let outcome = json(&format!("emit(\"a\");\nemit({typed});")).expect("ok", 0);
    assert_eq!(outcome["content"].as_array().unwrap().len(), 2, "{outcome:#}");
    assert_says(&outcome["content"][1]["text"], &["{\"orders\":[{"]);
    let outcome = json("emit(Some(\"a\"));").expect("compile_error", 3);
    assert_says(
        &json!(outcome["diagnostics"].to_string()),
        &["`emit` does not take `std::option::Option<&str>`", "a `ToolResult`"],
    );
}

#[test]
fn the_available_crates_work() {
    let code = r#"
use chrono::{Datelike, NaiveDate};
use futures::StreamExt;
use itertools::Itertools;
use regex::Regex;

#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Item { item_name: String, #[serde(default)] count: Option<u32> }

let item: Item = serde_json::from_value(json!({ "itemName": "lamp" }))?;
let number = Regex::new(r"(\d+)-(\d+)")?.captures("10-20").context("no match")?[2].parse::<i32>()?;
let joined = (1..4).map(|n| n * 2).join("/");
let day = NaiveDate::from_ymd_opt(2026, 2, 28).context("no date")?.succ_opt().context("no day")?;
let streamed: Vec<i32> = futures::stream::iter(1..4).map(|n| async move { n }).buffered(2).collect().await;
let (sender, mut receiver) = tokio::sync::mpsc::channel(4);
let task = tokio::spawn(async move { for n in 0..3 { sender.send(n).await?; } anyhow::Ok(()) });
let mut received = vec![];
while let Some(n) = receiver.recv().await { received.push(n); }
task.await??;
let late = tokio::time::timeout(Duration::from_millis(5), std::future::pending::<()>()).await.is_err();
let picked = tokio::select! { _ = std::future::pending::<()>() => 1, () = async {} => 2 };
let thread = std::thread::spawn(|| 7).join().unwrap();
let blocking = tokio::task::spawn_blocking(|| 8).await?;
let map: BTreeMap<_, _> = [("b", 1), ("a", 2)].into();
let now = Instant::now() <= Instant::now() && chrono::Utc::now().year() >= 2024;
json!([item, number, joined, day.to_string(), streamed, received, late, picked, thread, blocking, map, now])
"#;
    let expected = json!([
        { "itemName": "lamp", "count": null }, 20, "2/4/6", "2026-03-01", [1, 2, 3], [0, 1, 2], true, 2, 7, 8,
        { "a": 2, "b": 1 }, true
    ]);
    assert_eq!(json(code).result(), expected);
}

#[test]
fn tool_errors_can_be_matched() {
    let code = r#"
let failed = match demo::fail().message("out of stock").await {
    Err(error) if error.kind == ToolErrorKind::Failed => (error.server, error.tool, error.message, error.content.len()),
    other => bail!("unexpected: {other:?}"),
};
let unknown = match demo::get_customer("c-99").await {
    Err(ToolError { kind: ToolErrorKind::Failed, message, .. }) => message,
    other => bail!("unexpected: {other:?}"),
};
let wrapped = demo::fail().await.context("while testing").unwrap_err();
let inner = wrapped.downcast_ref::<ToolError>().map(|error| error.kind.to_string());
(failed, unknown, inner)
"#;
    let result = json(code).result();
    assert_eq!(result[0], json!(["demo", "fail", "out of stock", 1]));
    assert_snapshot!(normal(&result[1]), @r#"there is no customer "c-99"; ids run from c-01 to c-12"#);
    assert_eq!(result[2], "failed");
    let refused = json(
        "let text: Box<dyn std::any::Any> = Box::new(demo::slow(-1.0).await);\ntext.downcast_ref::<Result<ToolResult, ToolError>>().unwrap().is_err()",
    );
    assert_eq!(refused.result(), true);
}

#[test]
fn too_large_arguments_are_an_error_of_the_call() {
    let code = "let large = demo::echo(\"x\".repeat(33 << 20)).await.map(|answer| answer.text().len());\nlet kind = large.map_err(|error| error.kind.to_string());\n(kind, demo::echo(\"goes on\").await?.text())";
    assert_eq!(json(code).result(), json!([{ "Err": "protocol" }, "goes on"]));
    let deep = "(0..300).fold(json!(1), |inner, _| json!([inner]))";
    let done = plain(deep).done().exits(0);
    assert_eq!(done.stdout, format!("{}1{}\n", "[".repeat(300), "]".repeat(300)));
    let bytes = "use std::io::Write as _; std::io::stdout().write_all(&[b'a', 255, b'b'])?;";
    assert_eq!(json(bytes).expect("ok", 0)["stdout"], "a\u{fffd}b");
    let input = "let mut line = String::new(); std::io::stdin().read_line(&mut line)?";
    assert_eq!(json(input).result(), 0, "its standard input is empty");
}

#[test]
fn results_are_read_as_text_json_and_content() {
    let code = r#"
#[derive(Deserialize)]
struct Shop { customers: u32, orders: u32 }
let answer = demo::json_response().await?;
let shop: Shop = answer.json()?;
let value = answer.json::<Value>()?;
let text = demo::echo("not JSON").await?;
let wrong = text.json::<Value>().unwrap_err().to_string();
(shop.customers, shop.orders, value["products"].clone(), text.text(), text.to_string(), wrong, answer.content.len(), text.structured)
"#;
    let result = json(code).result();
    assert_eq!(
        result.as_array().unwrap()[..5],
        [json!(12), json!(57), json!(20), json!("not JSON"), json!("not JSON")]
    );
    assert_snapshot!(normal(&result[5]), @r#"
    the answer is neither JSON (expected ident at line 1 column 2) nor a Python literal: "not JSON"
    "#);
    assert_eq!((&result[6], &result[7]), (&json!(1), &json!(null)));
    assert_eq!(json("demo::echo(\"as a value\").await").result(), "as a value");
}

#[test]
fn tools_are_called_in_every_documented_way() {
    let code = r#"
let mut cursor = None;
let mut ids = Vec::new();
loop {
    let page = demo::list_orders().limit(25).cursor(cursor.clone()).await?;
    ids.extend(page.orders.iter().map(|order| order.id.clone()));
    cursor = page.next_cursor;
    if cursor.is_none() { break; }
}
let owned = String::from("c-02");
let by_reference = demo::get_customer(&owned).await?.name;
let by_value = demo::get_customer(owned).await?.city;
let input = demo::EchoInput { message: "by input".into() }.call().await?.text();
let note = demo::create_note("subject", "text").tags(["a", "b"]).await?.id;
let (slow, fast) = tokio::join!(demo::slow(0.05), demo::slow(0));
(ids.len(), by_reference, by_value, input, note, slow?.text(), fast?.text())
"#;
    let expected =
        json!([57, "Bruno Keller", "Basel", "by input", 1, "waited 0.05 seconds", "waited 0 seconds"]);
    assert_eq!(json(code).result(), expected);
}
