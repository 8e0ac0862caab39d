//! The configurations in `examples/` and the entries in docs/example-servers.md are valid, and what can run here runs.

use std::fs;
use std::path::{Path, PathBuf};

use end_to_end::cache::shared;
use end_to_end::harness::Run;
use end_to_end::page::normal;
use end_to_end::services::{Service, authority};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::documentation::{blocks, repository};

/// Variables that the configurations read.
const VARIABLES: [&str; 5] =
    ["TICKETS_TOKEN", "EVENTS_TOKEN", "GITHUB_TOKEN", "SLACK_BOT_TOKEN", "DATABASE_URI"];

/// `toolsmith` with these arguments, in the root of the repository, with all variables set.
fn command(arguments: &[&str]) -> Run {
    let run = Run::new(shared()).arguments(arguments).working_folder(&repository());
    VARIABLES.iter().fold(run, |run, name| run.variable(name, "a-value-of-a-test"))
}

/// The configurations below `folder`.
fn configurations(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "schemas" {
            found.extend(configurations(&path));
        } else if name.ends_with(".yaml") || name == "toolsmith.json" {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_configuration_of_the_examples_is_valid() {
    let files = configurations(&repository().join("examples"));
    let mut shown = Vec::new();
    for file in &files {
        let file = file.to_str().unwrap();
        shown.push(normal(&command(&["config", "check", file]).done().exits(0).stderr));
        let listed = command(&["mcp", "list", "--json", "--config", file]).done();
        // These have no server.
        if !file.ends_with("reviewer.yaml") && !file.ends_with("log_reader.yaml") {
            let servers: Value = serde_json::from_str(&listed.exits(0).stdout).unwrap();
            let servers = servers.as_array().unwrap().clone();
            assert!(!servers.is_empty() && servers.iter().all(|server| server["error"].is_null()), "{file}");
        }
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems
    ");
    assert!(files.len() >= 8, "{files:?}");
}

#[test]
fn every_snippet_of_the_examples_runs_as_it_is() {
    let mut count = 0;
    for file in fs::read_dir(repository().join("examples")).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|end| end == "rs") {
            command(&["run", "--demo", "--json", file.to_str().unwrap()]).done().expect("ok", 0);
            count += 1;
        }
    }
    assert_eq!(count, 6);
}

#[test]
fn the_example_of_a_program_reads_all_pages_and_honours_its_arguments() {
    let home = tempfile::tempdir().unwrap();
    let at_home = |arguments: &[&str]| {
        command(arguments).variable("XDG_CONFIG_HOME", home.path().to_str().unwrap()).done()
    };
    let save = ["program", "save", "revenue", "examples/programs/revenue.rs", "--demo", "--yes"];
    assert_snapshot!(normal(&at_home(&save).exits(0).stdout), @r#"
    //! Revenue by status for one customer.
    //!
    //! Cancelled orders count as well.
    //! Tags: orders, revenue
    //! Example: customer = "c-01"
    //! Example: customer = "c-01", since = "2026-05-01"

    /// Whose orders.
    struct Args {
        /// The customer's id, such as `c-01`.
        customer: String,
        /// Only orders placed on this day or later.
        since: Option<NaiveDate>,
    }

    struct Row {
        status: String,
        revenue: f64,
    }

    async fn run(args: Args) -> Result<Vec<Row>> {
        let mut sums: BTreeMap<String, i64> = BTreeMap::new();
        let mut cursor = None;
        loop {
            let page = demo::list_orders().limit(50).cursor(cursor).await?;
            for order in page.orders.iter().filter(|order| order.customer_id == args.customer) {
                let placed: DateTime<Utc> = order.placed_at.parse()?;
                if args.since.is_none_or(|since| placed.date_naive() >= since) {
                    *sums.entry(order.status.to_string()).or_default() += order.total_cents;
                }
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(sums.into_iter().map(|(status, cents)| Row { status, revenue: cents as f64 / 100.0 }).collect())
    }
    It can call: demo.list_orders
    "#);
    let sum = |arguments: &[&str]| -> f64 {
        let words =
            [&["program", "run", "revenue", "--demo", "--json", "--customer", "c-01"], arguments].concat();
        let mut done = at_home(&words).expect("ok", 0);
        let rows = done["result"].as_array_mut().unwrap();
        rows.iter().map(|row| row["revenue"].as_f64().unwrap()).sum()
    };
    let orders = "let (mut all, mut late, mut cursor) = (0, 0, None); loop { \
        let page = demo::list_orders().limit(50).cursor(cursor).await?; \
        for order in page.orders.iter().filter(|order| order.customer_id == \"c-01\") { \
        all += order.total_cents; if &*order.placed_at >= \"2026-05-01\" { late += order.total_cents; } } \
        cursor = page.next_cursor; if cursor.is_none() { break; } } [all, late]";
    let expected = command(&["run", "--demo", "--json", "-"]).input(orders).done().expect("ok", 0);
    let [all, late] = [0, 1].map(|at| expected["result"][at].as_f64().unwrap() / 100.0);
    assert!(all > late && late > 0.0, "{expected:#}");
    assert!((sum(&[]) - all).abs() < 0.001);
    assert!((sum(&["--since", "2026-05-01"]) - late).abs() < 0.001);
    at_home(&["program", "record", "revenue", "--demo"]).exits(0);
    assert_snapshot!(normal(&at_home(&["program", "test", "revenue"]).exits(0).stdout), @r#"
    revenue {"customer":"c-01"}: passed
    revenue {"customer":"c-01","since":"2026-05-01"}: passed
    2 passed, 0 failed
    "#);
}

#[test]
fn documented_texts_are_those_of_the_examples() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    assert!(
        read("docs/programs.md").contains(&format!("```rust\n{}```", read("examples/programs/revenue.rs")))
    );
    for block in blocks(&read("README.md")).iter().filter(|block| block.info == "rust") {
        assert!(read("examples/pending.rs").ends_with(&format!("\n\n{}", block.text)), "{}", block.text);
    }
}

#[test]
fn examples_with_local_servers_run() {
    let run = |folder: &str, config: &str, snippet: &str| -> Value {
        let path = |name: &str| format!("examples/{folder}/{name}");
        let done = command(&["run", "--json", "--config", &path(config), &path(snippet)]).done();
        done.expect("ok", 0)["result"].take()
    };
    assert_eq!(run("filters", "toolsmith.yaml", "compare.rs"), json!({ "north": 3, "south": 3 }));
    assert_eq!(run("json", "toolsmith.json", "echo.rs"), json!({ "echo": "hello", "members": 5 }));
    let filtered = command(&[
        "mcp",
        "tools",
        "north",
        "--show-all",
        "--json",
        "--config",
        "examples/filters/toolsmith.yaml",
    ])
    .done()
    .exits(0);
    assert!(filtered.stdout.contains("search_products"), "{filtered:#?}");
    let servers = fs::read_to_string(repository().join("examples/json/servers.json")).unwrap();
    let listed = command(&["mcp", "list"]).variable("TOOLSMITH_MCP_SERVERS", &servers).done().exits(0);
    assert_snapshot!(normal(&listed.stdout), @r"
    ID    TRANSPORT  SOURCE       ENABLED  TIMEOUT  REQUEST TIMEOUT  ADDRESS
    demo  stdio      environment  yes      60       30               [target]/toolsmith demo-server
    web   sse        environment  yes      60       30               https://web.example.com/mcp
    ");
}

#[test]
fn the_example_of_transports_calls_a_server_over_http() {
    let office = Service::demo();
    let folder = repository().join("examples/transports");
    let config = fs::read_to_string(folder.join("toolsmith.yaml")).unwrap();
    assert_snapshot!(normal(&config), @r#"
    # A server of each transport, with filters, headers and time limits. The snippet calls only `shop` and `office`: a server
    # that a snippet does not name is not contacted.
    #
    #   toolsmith demo-server --http 127.0.0.1:[port]        # in another terminal: the server `office`
    #   toolsmith run --config examples/transports/toolsmith.yaml examples/transports/customers.rs
    version: "1.0"
    mcpServers:
      # A program on this machine. It inherits the environment, and gets `env` in addition.
      shop:
        type: stdio
        command: toolsmith
        args: [demo-server]
        env: { LOG_LEVEL: warn }
        timeout: 60 # seconds to start and connect
        enabledTools: ["get_*", list_orders]
        trust: true
      # Streamable HTTP. It refuses every tool except one.
      office:
        type: http
        url: http://127.0.0.1:[port]/mcp
        timeout: 30
        permissions: { create_note: allow }
        permission: deny
      # Streamable HTTP with a token, which is read from the environment and never printed.
      tickets:
        type: http
        url: https://tickets.example.com/mcp
        headers: { Authorization: "Bearer ${TICKETS_TOKEN}" }
        disabledTools: [close_all_tickets]
      # HTTP with server-sent events, for older servers.
      search:
        type: sse
        url: https://search.example.com/sse
        enabledTools: [web_search, image_search]
    codeMode:
      # Results of these tools are for the model itself: snippets cannot call them, and `toolsmith serve` offers them
      # directly.
      excludedTools: [search.image_search]
    "#);
    let config = config.replace("127.0.0.1:8080", authority(&office.first));
    let snippet = folder.join("customers.rs");
    let run = command(&["run", "--json", snippet.to_str().unwrap()]).config_alone(&config);
    let outcome = run.done().expect("ok", 0);
    assert_eq!(outcome["result"], 3);
    assert_eq!(outcome["stdout"].as_str().unwrap().lines().count(), 3);
}

#[test]
fn the_example_of_layers_disables_a_server_of_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let (home, project) = (folder.path().join("config"), folder.path().join("project"));
    fs::create_dir_all(home.join("toolsmith")).unwrap();
    fs::create_dir_all(&project).unwrap();
    let examples = repository().join("examples/layers");
    fs::copy(examples.join("user.yaml"), home.join("toolsmith/config.yaml")).unwrap();
    for name in ["toolsmith.yaml", "vip.rs"] {
        fs::copy(examples.join(name), project.join(name)).unwrap();
    }
    let run = |arguments: &[&str]| {
        let run = Run::new(shared()).arguments(arguments).working_folder(&project);
        run.variable("XDG_CONFIG_HOME", home.to_str().unwrap()).done()
    };
    assert_snapshot!(normal(&run(&["run", "vip.rs"]).exits(2).stderr), @r"
    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/project/toolsmith.yaml, is not trusted yet
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE
    ");
    run(&["trust", "--yes"]).exits(0);
    let listed: Value = serde_json::from_str(&run(&["mcp", "list", "--json"]).exits(0).stdout).unwrap();
    let enabled = |name: &str| {
        listed.as_array().unwrap().iter().find(|server| server["id"] == name).unwrap()["enabled"].clone()
    };
    assert_eq!([enabled("wiki"), enabled("shop"), enabled("catalog")], [true, true, false].map(Value::from));
    assert_snapshot!(normal(&run(&["run", "vip.rs"]).exits(0).stdout), @r#"
    ["Ada Lindqvist","Elif Aydin","Inês Duarte"]
    "#);
}

#[test]
fn the_entries_of_example_servers_are_valid_and_name_versions() {
    let page = fs::read_to_string(repository().join("docs/example-servers.md")).unwrap();
    let mut entries = 0;
    let mut shown = Vec::new();
    for block in blocks(&page).iter().filter(|block| block.info == "yaml") {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("entry.yaml");
        fs::write(&file, &block.text).unwrap();
        let done = command(&["config", "check", file.to_str().unwrap()]).done().exits(0);
        shown.push(normal(&done.stderr));
        for line in block.text.lines().filter(|line| line.contains("args: [")) {
            let version = line.split(['@', ':']).any(|part| part.starts_with(|c: char| c.is_ascii_digit()));
            assert!(version, "no version: {line}");
        }
        entries += 1;
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems

    toolsmith: no problems
    ");
    assert_eq!(entries, 8);
}

#[test]
fn the_snippets_of_example_servers_are_rust() {
    let page = fs::read_to_string(repository().join("docs/example-servers.md")).unwrap();
    let blocks = blocks(&page);
    let snippets: Vec<_> = blocks.iter().filter(|block| block.info == "rust").collect();
    for block in &snippets {
        // Without the servers, only their modules and functions are unknown.
        let outcome = end_to_end::cache::json(&block.text).argument("--check").done().outcome();
        for diagnostic in outcome["diagnostics"].as_array().unwrap() {
            assert_eq!(diagnostic["code"], "E0433", "{}\n{diagnostic:#}", block.text);
        }
    }
    assert_eq!(snippets.len(), 7);
}
