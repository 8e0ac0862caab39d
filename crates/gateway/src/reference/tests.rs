//! Tests of searches and descriptions, and of the size of a catalog's description.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use codegen::Tool;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::fixtures::{about, catalog, real, reference, services};
use super::*;

const BUDGET: usize = DESCRIPTION_TOKENS;

/// Real and generated servers.
fn thousand() -> BTreeMap<String, Vec<Tool>> {
    let mut servers = services(40);
    servers.extend(real());
    servers
}

/// The reference to all of them, created once.
fn all() -> &'static Reference {
    static ALL: OnceLock<Reference> = OnceLock::new();
    ALL.get_or_init(|| reference(&thousand()))
}

fn only(names: &[&str]) -> BTreeMap<String, Vec<Tool>> {
    let mut servers = thousand();
    servers.retain(|name, _| names.contains(&name.as_str()));
    servers
}

fn paths(found: &[Found]) -> Vec<String> {
    found.iter().map(|found| format!("{}::{}", found.module, found.function)).collect()
}

/// Descriptions without known forms of results.
fn described(reference: &Reference, names: &[String]) -> String {
    reference.describe_text(names, |_, _| None)
}

#[test]
fn twenty_queries_find_their_tools_among_a_thousand() {
    let reference = all();
    assert!(reference.len() >= 1_000, "{}", reference.len());
    let mut missed = Vec::new();
    for (query, expected) in [
        ("open a pull request on github", "github::create_pull_request"),
        ("what files are in a folder", "filesystem::list_directory"),
        ("read a text file from disk", "filesystem::read_text_file"),
        ("current time in Tokyo", "time::get_current_time"),
        ("convert a time between timezones", "time::convert_time"),
        ("commit staged changes", "git::git_commit"),
        ("show the commit history", "git::git_log"),
        ("download a web page as markdown", "fetch::fetch"),
        ("weather forecast for the next days", "weather::get_forecast"),
        ("give a customer their money back", "stripe::create_refund"),
        ("send a text message to a phone", "twilio::create_sms"),
        ("who is on duty this week", "pagerduty::list_on_call_schedules"),
        ("remove a docker image", "docker::delete_image"),
        ("edit a kubernetes deployment", "kubernetes::update_deployment"),
        ("find songs", "spotify::search_tracks"),
        ("schedule a meeting", "teams::create_meeting"),
        ("book a hotel room", "hotels::create_booking"),
        ("add facts about an entity to the knowledge graph", "memory::add_observations"),
        ("look up shopify orders", "shopify::search_orders"),
        ("overdue invoices", "stripe::list_invoices"),
    ] {
        let found = paths(&reference.search(query, None, 3).unwrap());
        if !found.iter().any(|path| path == expected) {
            missed.push(format!("{query}: {found:?} instead of {expected}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn an_exact_name_comes_first_in_any_spelling() {
    let reference = all();
    for name in [
        "list_directory",
        "listDirectory",
        "filesystem::list_directory",
        "filesystem.list_directory",
        "LIST DIRECTORY",
    ] {
        let found = reference.search(name, None, 5).unwrap();
        assert_eq!(paths(&found)[0], "filesystem::list_directory", "{name}");
        assert!(found[0].score.is_infinite() && found[1].score.is_finite(), "{name}");
    }
    let found = reference.search("repostiory comit", Some("git"), 3).unwrap();
    assert!(paths(&found).contains(&"git::git_commit".to_owned()), "{:?}", paths(&found));
}

#[test]
fn a_search_is_limited_to_a_server_and_a_number() {
    let reference = all();
    let all = reference.search("", Some("git"), 50).unwrap();
    assert_eq!(all.len(), 12);
    assert!(all.windows(2).all(|pair| pair[0].function < pair[1].function));
    let by_module = reference.search("think", Some("sequential_thinking"), 50).unwrap();
    assert_eq!(by_module, reference.search("think", Some("sequential-thinking"), 50).unwrap());
    assert_eq!(by_module[0].server, "sequential-thinking");
    assert_eq!(reference.search("list", None, 7).unwrap().len(), 7);
    assert_eq!(reference.search("list", None, 0).unwrap().len(), 1);
    assert_eq!(reference.search("list", None, 10_000).unwrap().len(), FOUND_AT_MOST);
    let unknown = reference.search("commit", Some("gti"), 5).unwrap_err();
    assert!(unknown.nearest.contains(&"git".to_owned()), "{unknown}");
    assert!(reference.search("zzzzqqqq", None, 5).unwrap().is_empty());
}

#[test]
fn tools_are_described_by_any_of_their_names() {
    let reference = all();
    let names = [
        "git::git_log",
        "git.git_log",
        "git_log",
        "git/git_log",
        "GitLog",
        "git::git_log()",
        " git__git_log ",
    ];
    let described = reference.describe(&names.map(str::to_owned));
    let first = described[0].as_ref().unwrap();
    assert!(first.contains("git::git_log("), "{first}");
    assert!(described.iter().all(|text| text.as_ref().unwrap() == first), "{described:?}");
    let hyphen = reference.describe(&["sequential-thinking.sequentialthinking".to_owned()]);
    assert!(hyphen[0].as_ref().unwrap().contains("sequential_thinking::sequentialthinking"), "{hyphen:?}");
}

#[test]
fn an_unknown_name_gets_the_nearest() {
    let reference = all();
    let unknown = |name: &str| reference.describe(&[name.to_owned()]).remove(0).unwrap_err();
    assert_eq!(unknown("git::git_comit").nearest, ["git::git_commit"]);
    assert_eq!(unknown("filesystem.list_dirs").nearest[0], "filesystem::list_directory");
    assert!(
        unknown("git_stats").to_string().contains("did you mean git::git_status"),
        "{}",
        unknown("git_stats")
    );
    let several = unknown("list_issues");
    assert_eq!(several.nearest, ["github::list_issues", "linear::list_issues"]);
    assert!(several.message.contains("2 tools have this name"), "{several}");
    assert!(unknown("zzzz::qqqq").nearest.is_empty());
    assert!(unknown("").to_string().contains("no such tool"));
}

#[test]
fn denied_tools_are_not_described() {
    let tool = |name: &str| Tool {
        name: name.to_owned(),
        description: None,
        input_schema: json!({ "type": "object" }),
        output_schema: None,
        answers: codegen::Answers::default(),
    };
    let servers = BTreeMap::from([("a".to_owned(), vec![tool("denied_tool"), tool("other_tool")])]);
    let reference = reference(&servers);
    assert_eq!(paths(&reference.search("other", None, 5).unwrap()), ["a::other_tool"]);
    assert!(reference.describe(&["a::denied_tool".to_owned()])[0].is_err());
    assert!(!reference.description(BUDGET).contains("denied_tool"));
}

#[test]
fn an_output_without_a_name_is_listed_by_its_fields() {
    let output =
        |properties: Value| json!({ "type": "object", "properties": properties, "required": ["content"] });
    let tool = |name: &str, properties: Value| Tool {
        name: name.to_owned(),
        description: None,
        input_schema: json!({ "type": "object", "properties": {} }),
        output_schema: Some(output(properties)),
        answers: codegen::Answers::default(),
    };
    let text = json!({ "type": "string", "description": "The lines." });
    let tools = vec![
        tool("read", json!({ "content": text })),
        tool("stat", json!({ "content": text, "size": { "type": "integer" } })),
    ];
    let reference = reference(&BTreeMap::from([("files".to_owned(), tools)]));
    for list in [reference.description(BUDGET), reference.search_text("read", None, 5)] {
        assert!(list.contains("read() -> { content: String") && !list.contains("ReadOutput"), "{list}");
    }
    let list = reference.description(BUDGET);
    assert!(list.contains("stat() -> { content: String"), "{list}");
}

#[test]
fn texts_for_a_model_are_bounded_and_grouped() {
    let reference = all();
    let few = reference.search_text("commit history", Some("git"), 3);
    assert_eq!(few.matches("mod git {").count(), 1, "{few}");
    assert!(few.contains("/// Shows the commit logs") && few.contains("git_log("), "{few}");
    let many = reference.search_text("list", None, 50);
    assert!(many.len() < 9_000 && many.contains("list_issues("), "{many}");
    assert!(reference.search_text("qqqq", None, 3).contains("No tool"), "nothing");
    assert!(reference.search_text("log", Some("gitt"), 3).contains("did you mean git"), "no server");
    let names: Vec<String> =
        reference.search("", Some("filesystem"), 50).unwrap().iter().map(|f| f.function.clone()).collect();
    let text = described(reference, &[&names[..], &["nothing".to_owned()]].concat());
    assert!(text.len() < 60_000 && text.contains("filesystem::read_text_file(path)"), "{text}");
    assert!(text.contains("\"nothing\": there is no such tool"), "{text}");
    assert!(described(reference, &vec!["unknown".to_owned(); 30]).contains("10 more are left out"));
    assert!(described(reference, &[]).contains("No tool was named"));
}

#[test]
fn forms_of_results_are_directly_below_each_tool() {
    let names = ["git::git_log", "nothing", "git.git_show", "git_log"].map(str::to_owned);
    let form = |server: &str, tool: &str| (tool == "git_log").then(|| format!("// form of {server}.{tool}"));
    let text = all().describe_text(&names, form);
    let one = all().describe(&names[..1]).remove(0).unwrap();
    let with_form = format!("{one}\n// form of git.git_log");
    assert!(text.starts_with(&format!("{with_form}\n\n// \"nothing\"")), "{text}");
    assert_eq!(text.matches("// form of").count(), 1, "{text}");
}

#[test]
fn an_empty_query_lists_a_server_or_counts_the_rest() {
    let reference = all();
    let shown = |server| reference.search_text("", server, found_by_default(" "));
    let filesystem = shown(Some("filesystem"));
    assert!(filesystem.contains("write_file(") && filesystem.contains("read_text_file("), "{filesystem}");
    assert!(!filesystem.contains("more tools"), "{filesystem}");
    let rest = reference.tools.len() - FOUND_AT_MOST;
    assert!(shown(None).contains(&format!("// {rest} more tools: search by words")), "{}", shown(None));
}

/// The token limits of all definitions.
#[test]
fn definitions_stay_within_their_budget() {
    let mut services = services(11);
    services.values_mut().last().unwrap().truncate(10);
    let (demo, real, services) = (reference(&only(&["demo"])), reference(&real()), reference(&services));
    for (reference, count, most) in
        [(&demo, 9, BUDGET + 200), (&real, 65, BUDGET + 200), (&services, 250, 700), (all(), 1_025, 1_000)]
    {
        assert_eq!(reference.len(), count);
        let (o200k, characters) = definition_tokens(&reference.definitions(BUDGET));
        let figures = format!("{count} tools: {o200k} tokens, {characters} as characters / 4");
        println!("{figures}\n{}\n", reference.description(BUDGET));
        assert!(o200k <= most && characters <= most, "{figures}");
    }
}

#[test]
fn resources_are_described_within_the_same_budgets() {
    let mut services = services(11);
    services.values_mut().last().unwrap().truncate(10);
    for (reference, most) in [(reference(&services), 710), (reference(&thousand()), 1_000)] {
        assert!(!reference.description(BUDGET).contains("mcp_resource"));
        let reference = reference.with_resources(true);
        assert!(reference.description(BUDGET).contains("mcp_resource_read(uri)"));
        let (o200k, characters) = definition_tokens(&reference.definitions(BUDGET));
        assert!(o200k <= most && characters <= most, "{o200k} {characters}");
    }
}

/// Descriptions with all signatures, with calls only, and without signatures.
#[test]
fn every_form_of_the_description_explains_snippets() {
    let few = reference(&only(&["demo"]));
    let descriptions = [few.description(BUDGET), few.description(1_100), all().description(BUDGET)];
    for phrase in [
        "fn, struct, impl",
        "serde_json::",
        "args.get(key): Option<&str>",
        ".json::<T>()? parses JSON or Python repr",
        "Err (also a refusal) is ToolError",
        "ToolErrorKind::Failed, InvalidParams, Denied, Timeout…",
        "Vec<Content>, .kind() text, image, audio…",
        "a dropped call is cancelled",
    ] {
        assert!(descriptions.iter().all(|text| text.contains(phrase)), "{phrase}: {descriptions:#?}");
    }
}

#[test]
fn few_tools_are_listed_completely_and_many_by_server() {
    let few = reference(&only(&["demo"]));
    assert_eq!(few.definitions(BUDGET).len(), 1);
    let so_far = few.definitions_so_far(BUDGET);
    assert_eq!(so_far.len(), 3);
    assert!(so_far[0].description.contains("still starting"), "{}", so_far[0].description);
    let description = few.description(BUDGET);
    assert!(description.contains("mod demo {") && description.contains("enum OrderStatus"), "{description}");
    // Less budget gives shorter descriptions.
    let lengths: Vec<usize> =
        [2_000, 1_300, 1_100, 900, 700, 0].map(|budget| few.description(budget).len()).to_vec();
    assert!(lengths.windows(2).all(|pair| pair[0] >= pair[1]), "{lengths:?}");
    assert!(lengths.iter().collect::<std::collections::BTreeSet<_>>().len() > 3, "{lengths:?}");
    assert_eq!(few.definitions(1_000).len(), 3);
    assert!(few.description(0).contains("demo (9)"), "{}", few.description(0));

    let many = all().description(BUDGET);
    for server in thousand().keys() {
        assert!(many.contains(&server.replace('-', "_")), "{server}: {many}");
    }
    assert!(!many.contains("mod "), "{many}");
}

#[test]
fn a_thousand_servers_are_named_in_few_words() {
    let tool = services(1).into_values().next().unwrap().remove(0);
    let servers: BTreeMap<String, Vec<Tool>> =
        (0..1_000).map(|number| (format!("server_{number:04}"), vec![tool.clone()])).collect();
    let reference = reference(&servers);
    let (o200k, characters) = definition_tokens(&reference.definitions(BUDGET));
    assert!(o200k <= 1_000 && characters <= 1_000, "{o200k} {characters}");
    let description = reference.description(BUDGET);
    assert!(
        description.contains("server_0000, server_0001") && description.ends_with(" more"),
        "{description}"
    );
}

#[test]
fn the_order_of_tools_does_not_matter() {
    let servers = only(&["git", "slack", "demo"]);
    let mut turned = servers.clone();
    turned.values_mut().for_each(|tools| tools.reverse());
    let (one, other) = (reference(&servers), reference(&turned));
    for budget in [0, 900, 3_000, 20_000] {
        assert_eq!(one.definitions(budget), other.definitions(budget));
    }
    for query in ["", "list", "message channel", "comit", "get"] {
        assert_eq!(one.search(query, None, 50).unwrap(), other.search(query, None, 50).unwrap());
    }
}

#[test]
fn schemas_are_minimal() {
    let definitions = reference(&only(&["git", "filesystem", "memory"])).definitions(0);
    let schemas: Vec<Value> = definitions.into_iter().map(|tool| Value::Object(tool.input_schema)).collect();
    assert_eq!(
        schemas[0],
        json!({ "type": "object", "additionalProperties": false, "required": ["code"], "properties": {
            "code": { "type": "string" },
            "timeout": { "type": "number", "description": "Seconds." },
            "check_only": { "type": "boolean", "description": "Compile only." },
            "args": { "type": "object", "additionalProperties": { "type": "string" }, "description": "For args.get." },
            "execution": { "type": "string" },
        } })
    );
    assert_eq!(schemas[1]["required"], json!(["query"]));
    assert_eq!(schemas[1]["properties"]["limit"], json!({ "type": "integer" }));
    assert_eq!(schemas[2]["properties"]["tools"]["items"], json!({ "type": "string" }));
    for (schema, arguments) in schemas.iter().zip([
        json!({ "code": "1", "timeout": 5, "check_only": true, "args": { "a": "b" } }),
        json!({ "query": "x", "server": "git", "limit": 3 }),
        json!({ "tools": ["git::git_log"] }),
    ]) {
        assert!(jsonschema::is_valid(schema, &arguments), "{arguments}");
    }
    let read: ExecuteCode = serde_json::from_value(json!({ "code": "1", "timeout": 5 })).unwrap();
    assert_eq!((read.timeout, read.check_only), (Some(5.0), false));
    assert!(serde_json::from_value::<SearchTools>(json!({ "query": "x", "count": 1 })).is_err());
}

/// The reference with further texts of any length.
fn with_everything(reference: Reference, texts: &[String]) -> Reference {
    let texts: Vec<String> = texts.iter().map(|text| text.chars().take(200).collect()).collect();
    let reasons = (0..40).map(|number| (format!("gone_{number}"), texts.concat())).collect();
    let servers = (0..40).map(|number| {
        config::Server::new(mcp::ServerConfig::stdio(format!("gone_{number}"), "p", [""; 0]), String::new())
    });
    let config = config::Config {
        servers: servers.collect(),
        untrusted: Some(format!(
            "The configuration {} is left out: run `toolsmith trust`.",
            texts.concat().repeat(9)
        )),
        ..config::Config::default()
    };
    let missing =
        UnavailableTools::new(&Arc::new(config), &crate::pins::Pins::default(), BTreeMap::new(), &reasons);
    let paths = |folder: &str| (0..20).map(|number| format!("/{folder}{number}").into()).collect();
    let grants = Grants { read: paths(&"long/".repeat(60)), write: paths("short"), ..Grants::default() };
    let programs =
        (0..40).map(|number| format!("program_{number}(a: String) -> u8 // {}", texts.concat())).collect();
    reference.with_missing(Arc::new(missing)).with_grants(grants).with_programs(programs).with_resources(true)
}

/// Every description has at most this length.
#[track_caller]
fn assert_fits(reference: &Reference, room: Room) {
    for definitions in [reference.definitions(room), reference.definitions_so_far(room)] {
        let description = &definitions[0].description;
        let length = description.encode_utf16().count();
        assert!(length <= room.characters, "{length} of {room:?}: {description}");
        // All signatures are in it in one form, or none.
        let found: Vec<Found> =
            (0..reference.len()).filter_map(|place| reference.found(place, 0.0)).collect();
        let forms = signature::Detail::ALL.map(|detail| text::signatures(&found, detail));
        let is_whole = forms.iter().any(|form| !form.is_empty() && description.contains(form.as_str()));
        assert_eq!(description.contains("\nSignatures follow"), is_whole, "{description}");
    }
}

#[test]
fn a_description_fits_the_client_and_cuts_no_signature() {
    let demo = reference(&only(&["demo"]));
    let whole = demo.description(BUDGET);
    for characters in (2_000..6_000).step_by(100) {
        let room = Room { tokens: BUDGET, characters };
        let definitions = demo.definitions(room);
        let description = &definitions[0].description;
        assert!(description.chars().count() <= characters, "{description}");
        assert_eq!(definitions.len() == 1, *description == whole, "what is left out can be looked up");
        if description.contains("mod demo {") {
            for tool in &demo.tools {
                assert!(
                    description.contains(&format!("{}(", tool.function)),
                    "{}: {description}",
                    tool.function
                );
            }
            assert!(description.ends_with('}'), "{description}");
        } else {
            assert!(description.contains("demo (9)"), "{description}");
        }
    }
    let real = reference(&real());
    for reference in [&demo, &real] {
        assert_fits(reference, Room { tokens: 20_000, characters: 2_048 });
        assert_fits(reference, Room { tokens: 20_000, characters: 4_096 });
    }
    let many = all().description(Room { tokens: BUDGET, characters: 2_048 });
    assert!(many.chars().count() <= 2_048 && many.contains("github"), "{many}");
    let first = whole.lines().next().unwrap();
    assert!(
        first.chars().count() <= 120 && first.contains("Rust snippet") && first.contains("all MCP servers")
    );
}

/// Names and texts that no normal server has.
fn odd() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        any::<String>(),
        "[a-zA-Z_.:/ -]{0,24}",
        Just("x".repeat(5_000)),
        Just("mod a {\n*/ ``` </tool>".to_owned()),
        Just("::".to_owned()),
    ]
}

fn odd_tool() -> impl Strategy<Value = Tool> {
    (odd(), proptest::option::of(odd()), proptest::collection::vec(odd(), 0..4)).prop_map(
        |(name, description, fields)| {
            let property = |field: String| (field.clone(), json!({ "type": "string", "description": field }));
            let properties: serde_json::Map<String, Value> = fields.into_iter().map(property).collect();
            let input_schema = json!({ "type": "object", "properties": properties });
            Tool {
                name,
                description,
                input_schema,
                output_schema: None,
                answers: codegen::Answers::default(),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn odd_tools_and_queries_are_harmless(
        servers in proptest::collection::btree_map(odd(), proptest::collection::vec(odd_tool(), 0..6), 0..4),
        queries in proptest::collection::vec(odd(), 1..4),
        budget in 0..3_000_usize,
        characters in 2_000..6_000_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let about: BTreeMap<String, String> = servers.keys().map(|name| (name.clone(), name.repeat(3))).collect();
        let one = Reference::new(Arc::new(catalog(folder.path(), &servers)), &about).unwrap();
        let turned = servers.iter().map(|(name, tools)| (name.clone(), tools.iter().rev().cloned().collect()));
        let other_folder = tempfile::tempdir().unwrap();
        let other = catalog(other_folder.path(), &turned.collect());
        let other = Reference::new(Arc::new(other), &about).unwrap();
        prop_assert_eq!(one.definitions(budget), other.definitions(budget));
        let one = with_everything(one, &queries);
        assert_fits(&one, Room { tokens: budget, characters });
        for query in &queries {
            let found = one.search(query, None, 5);
            prop_assert_eq!(&found, &other.search(query, None, 5));
            prop_assert!(one.search_text(query, Some(query), 50).len() < 20_000);
            let text = described(&one, &[query.clone(), format!("{query}::{query}")]);
            prop_assert_eq!(text, described(&other, &[query.clone(), format!("{query}::{query}")]));
        }
    }
}

#[test]
fn lines_about_servers_are_in_the_list() {
    let text = reference(&services(20)).description(BUDGET);
    assert!(text.contains("github (24): Code hosting"), "{text}");
    assert_eq!(about()["stripe"], "Payments");
}
