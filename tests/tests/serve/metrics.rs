//! `serve.metrics` and `--log-format json`: what Prometheus can scrape, and what logs contain.

use end_to_end::harness::Run;
use end_to_end::page::normal;
use end_to_end::serving::{Client, DEMO, Serve, Server, execute};
use insta::assert_snapshot;
use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::http::assert_ok;

const TOKEN: &str = "a-token-used-only-in-tests";

fn with_metrics(address: &str) -> String {
    format!("{DEMO}\nserve: {{ metrics: {{ {address} }} }}\n")
}

/// The address of the listener for metrics alone.
pub(crate) fn separate(server: &Server) -> Client {
    let log = server.stderr();
    let line =
        log.lines().find(|line| line.contains("serving metrics at ")).expect("a line with the address");
    let address = line.split_once("serving metrics at ").unwrap().1;
    // The client replaces the path.
    Client::new(&address.replace("/metrics", "/mcp"))
}

pub(crate) fn scrape(client: &Client) -> String {
    let answer = client.get("/metrics");
    assert_eq!(answer.status, StatusCode::OK);
    let kind = answer.headers["content-type"].to_str().unwrap();
    assert!(kind.starts_with("application/openmetrics-text; version=1.0.0"), "{kind}");
    answer.text
}

/// Returns the number of requests that a server has refused because of a resource.
#[track_caller]
pub(crate) fn refusals(server: &Server, resource: &str) -> u64 {
    let text = scrape(&separate(server));
    let name = format!("toolsmith_refusals_total{{resource=\"{resource}\"}} ");
    text.lines().find_map(|line| line.strip_prefix(&name)).map_or(0, |count| count.parse().unwrap())
}

#[track_caller]
fn assert_lines(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|found| found == *line), "{line}: {text}");
    }
}

#[test]
fn executions_and_calls_are_counted() {
    let server = Serve::http(&with_metrics("address: '127.0.0.1:0'")).start();
    let client = server.client().shake_hands();
    assert_ok(
        &client.ask("tools/call", &execute("demo::list_orders().await?.orders.len() > 0")),
        &json!(true),
    );
    assert_ok(&client.ask("tools/call", &execute("6 * 7")), &json!(42));
    assert_ok(&client.ask("tools/call", &execute("6 * 7")), &json!(42));
    client.ask("tools/call", &execute("let x: u8 = \"text\";"));
    client.ask("tools/call", &execute("panic!(\"no series {}\", 1)"));
    let text = scrape(&separate(&server));
    assert_lines(
        &text,
        &[
            r#"toolsmith_executions_total{status="ok"} 3"#,
            r#"toolsmith_executions_total{status="compile_error"} 1"#,
            r#"toolsmith_executions_total{status="panic"} 1"#,
            r#"toolsmith_tool_calls_total{server="demo",outcome="ok"} 1"#,
            r#"toolsmith_tool_call_duration_seconds_count{server="demo"} 1"#,
            r#"toolsmith_server_up{server="demo"} 1"#,
            "toolsmith_http_sessions 1",
            "toolsmith_executions_running 0",
            "toolsmith_ready 1",
            "# EOF",
        ],
    );
    assert!(text.contains(r#"toolsmith_programs_total{source="cached"}"#), "{text}");
    assert!(text.contains(r#"toolsmith_cache_lookups_total{source="local"}"#), "{text}");
    let tiers = text.lines().filter_map(|line| line.strip_prefix("toolsmith_sandboxed_programs_total{tier="));
    let ran: u64 = tiers.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum();
    assert_eq!(ran, 4, "{text}");
    assert!(!text.contains("toolsmith_remote_cache"), "{text}");
    assert!(text.contains("process_resident_memory_bytes "), "{text}");
    assert!(!text.contains("no series"), "{text}");
    // There is one address for each purpose.
    assert_eq!(server.client().get("/metrics").status, StatusCode::NOT_FOUND);
    assert_eq!(separate(&server).get("/mcp").status, StatusCode::NOT_FOUND);
}

#[test]
fn at_the_address_of_clients_metrics_need_the_token() {
    let server =
        Serve::http(&with_metrics("")).arguments(&["--token-env", "DOOR"]).variable("DOOR", TOKEN).start();
    assert_eq!(server.client().get("/metrics").status, StatusCode::UNAUTHORIZED);
    let admitted = server.client().header("authorization", &format!("Bearer {TOKEN}"));
    assert!(scrape(&admitted).contains("toolsmith_build_info{"));
}

#[test]
fn metrics_are_off_by_default_and_need_an_address() {
    let server = Serve::http(DEMO).start();
    assert_eq!(server.client().get("/metrics").status, StatusCode::NOT_FOUND);
    let refused = |metrics: &str, phrases: &[&str]| {
        let run = Run::new(end_to_end::cache::shared()).argument("serve").config(&with_metrics(metrics));
        run.done().exits(2).says(phrases);
    };
    refused("", &["serve.metrics has no address", "127.0.0.1:9464"]);
    refused("address: localhost", &["this is not an IP address with a port", ".yaml:"]);
}

#[test]
fn json_logs_have_the_data_of_each_execution() {
    let mut server = Serve::http(DEMO).arguments(&["--log-format", "json"]).start();
    server.wait_for_log("serving MCP at ");
    let client = Client::new(&address_in(&server.stderr())).shake_hands();
    client.ask("tools/call", &execute("demo::list_orders().await?; 1"));
    client.ask("tools/call", &execute("panic!(\"of\\ntwo lines\")"));
    server.wait_until("both ends", || server.stderr().matches("an execution ended").count() == 2);
    server.signal(Signal::TERM);
    server.end();
    let log = server.stderr();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(lines.iter().all(|line| line["time"].is_string() && line["level"].is_string()), "{log}");
    let ended: Vec<&Value> = lines.iter().filter(|line| line["message"] == "an execution ended").collect();
    assert_eq!((&ended[0]["status"], &ended[0]["calls"]), (&json!("ok"), &json!(1)), "{log}");
    assert_eq!((&ended[1]["status"], &ended[1]["error"]), (&json!("panic"), &json!("panic")), "{log}");
    assert!(ended.iter().all(|line| line["session"].is_string() && line["ms"].is_f64()), "{log}");
    assert_ne!(ended[0]["execution"], ended[1]["execution"]);
}

/// The address in a JSON log.
fn address_in(log: &str) -> String {
    let after = log.split_once("serving MCP at ").unwrap().1;
    after.split('"').next().unwrap().to_owned()
}

#[test]
fn errors_at_the_start_are_json_too() {
    let config = "mcpServers: [1, 2]\n";
    let run =
        Run::new(end_to_end::cache::shared()).arguments(&["serve", "--log-format", "json"]).config(config);
    let done = run.done().exits(2);
    let line = done.stderr.lines().last().unwrap();
    let error: Value = serde_json::from_str(line).expect(line);
    assert_eq!(error["level"], "error");
    assert_snapshot!(normal(&error["message"]), @r"
    toolsmith: /tmp/.tmpXXXXXX/given.yaml:1:13: expected a mapping; write `key: value` lines, or { key: value }
      |
    1 | mcpServers: [1, 2]
      |             ^
    ");
}
