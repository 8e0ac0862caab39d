//! Tests over the configurations in `crates/config/tests/configurations`, the examples and the documentation: good ones
//! load and fit the JSON Schema; the errors of broken ones match the snapshots next to them.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::decode::Problem;
use super::flows::{FlowAction, Flows};
use super::key_macros::{Kind as _, Merge as _};
use super::{ConfigLayer, Glob, layers, schema, server, source, validation};

fn files(folder: &str) -> Vec<PathBuf> {
    let is_one = |path: &PathBuf| path.extension().is_some_and(|end| end == "yaml" || end == "json");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_one).collect();
    files.sort();
    assert!(!files.is_empty(), "{folder}");
    files
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&schema::schema()).unwrap()
}

/// Returns a document's settings outside its servers, and the errors in it.
fn merged(document: &source::Document) -> (server::Merged, Vec<Problem>) {
    let (file, wrong) = validation::settings(document);
    let model_keys = file.models.keys().collect();
    (server::Merged { settings: file.value(), model_keys, ..server::Merged::default() }, wrong)
}

/// Every error in a text, with all variables set.
fn problems(path: &Path, text: &str) -> Vec<report::Problem> {
    let document = source::read(&ConfigLayer::Named(path.to_owned()), text).unwrap();
    let (settings, wrong) = merged(&document);
    let mut problems: Vec<_> = wrong.iter().map(|problem| document.source.located(problem)).collect();
    for entry in &document.entries {
        let checked = server::server(&document.source, entry, &settings, |name| Some(name.to_lowercase()));
        let wrong = checked.err().unwrap_or_default();
        problems.extend(wrong.iter().map(|problem| document.source.located(problem)));
    }
    problems
}

#[track_caller]
fn assert_good(path: &Path, text: &str) {
    let wrong = problems(path, text);
    assert!(wrong.is_empty(), "{}", report::problems(&wrong));
    let tree = source::read(&ConfigLayer::Named(path.to_owned()), text).unwrap().tree.to_json();
    let errors: Vec<_> =
        validator().iter_errors(&tree).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{} does not fit the schema: {errors:#?}", path.display());
}

#[test]
fn good_configurations_and_the_examples_load_and_fit_the_schema() {
    for path in files("tests/configurations/good").into_iter().chain(files("../../examples")) {
        assert_good(&path, &std::fs::read_to_string(&path).unwrap());
    }
}

#[test]
fn errors_are_reported_with_places_and_fixes() {
    let mut fits = Vec::new();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../tests/configurations/broken");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for path in files("tests/configurations/broken") {
        let reported = match layers::alone(&ConfigLayer::Named(path.clone())) {
            Ok(layers) => report::problems(&layers.problems()),
            Err(error) => report::Report::from(error).for_terminal(),
        };
        assert!(!reported.contains("not-to-be-shown"), "{reported}");
        assert!(reported.contains(&format!("{}:", path.display())), "no place: {reported}");
        let name = path.file_name().unwrap().to_str().unwrap();
        settings.bind(|| insta::assert_snapshot!(name, reported));
        let text = std::fs::read_to_string(&path).unwrap();
        if let Ok(document) = source::read(&ConfigLayer::Named(path.clone()), &text)
            && validator().is_valid(&document.tree.to_json())
        {
            fits.push(name.to_owned());
        }
    }
    // Rules that only the program checks; an editor finds all other errors with the schema.
    let only_checked = [
        "addresses.yaml",
        "both_codes.yaml",
        "code_mode.yaml",
        "code_mode_twice.yaml",
        "headers.yaml",
        "http_with_command.yaml",
        "no_target.yaml",
        "remote_cache_key.yaml",
        "remote_cache_keys.yaml",
        "remote_cache_read_only.yaml",
        "remote_cache_unsigned.yaml",
        "roots.yaml",
        "sandbox.yaml",
        "sandbox_twice.yaml",
        "stdio_with_url.yaml",
        "subagent_name.yaml",
        "times.yaml",
        "variables.yaml",
    ];
    let surprising: Vec<_> = fits.iter().filter(|name| !only_checked.contains(&name.as_str())).collect();
    assert!(surprising.is_empty(), "the schema accepts {surprising:?}");
}

#[test]
fn a_project_can_not_set_the_remote_cache() {
    let text = "cache: { remote: { url: \"file:///shared\", key: { env: KEY } } }\n";
    let read = |layer: &ConfigLayer| {
        let document = source::read(layer, text).unwrap();
        let (merged, wrong) = merged(&document);
        (
            merged.settings.cache.remote.is_some(),
            wrong.iter().map(|problem| problem.message.clone()).collect(),
        )
    };
    assert_eq!(read(&ConfigLayer::Named("/x.yaml".into())), (true, Vec::new()));
    let (is_set, wrong): (bool, Vec<String>) = read(&ConfigLayer::Project("/x.yaml".into()));
    assert!(!is_set && wrong[0].starts_with("a project can't set cache.remote"), "{wrong:?}");
}

#[test]
fn a_project_can_not_have_tokens_of_subjects_sent_anywhere() {
    let text = "mcpServers: { a: { url: \"https://a.example\", oauth: { grant: token_exchange, client_id: a, \
                client_secret: not-to-be-shown, token_url: \"https://b.example/token\" } } }\n";
    let read = |layer: &ConfigLayer| {
        let document = source::read(layer, text).unwrap();
        let settings = merged(&document).0;
        server::server(&document.source, &document.entries[0], &settings, |_| None).err().unwrap_or_default()
    };
    assert!(read(&ConfigLayer::Named("/x.yaml".into())).is_empty());
    let wrong: Vec<String> =
        read(&ConfigLayer::Project("/x.yaml".into())).iter().map(|problem| problem.message.clone()).collect();
    insta::assert_snapshot!(wrong.join("\n"), @"a project can't set `grant: token_exchange`, because its token_url gets the tokens of your users; set it in your own configuration, or in a file that `--config` names");
}

#[test]
fn a_project_can_only_tighten_flows() {
    let read = |layer: fn(PathBuf) -> ConfigLayer, text: &str| {
        let document = source::read(&layer("/x.yaml".into()), text).unwrap();
        let (merged, wrong) = merged(&document);
        (merged.settings.flows, wrong.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>())
    };
    let tighter = "flows: { private: [a], rules: [{ from: [a], to: [b], then: ask }] }\n";
    let (flows, wrong) = read(ConfigLayer::Project, tighter);
    assert_eq!((flows.private.len(), flows.rules.len(), wrong), (1, 1, Vec::new()));
    let looser = "flows: { privateToExternal: allow, untrustedToExternal: deny, scope: program, \
                  rules: [{ from: [a], to: [b], then: allow }] }\n";
    let (flows, wrong) = read(ConfigLayer::Named, looser);
    assert_eq!((flows.private_to_external, flows.rules.len(), wrong.len()), (FlowAction::Allow, 1, 0));
    let (flows, wrong) = read(ConfigLayer::Project, looser);
    assert_eq!(flows, Flows::default());
    assert!(wrong[0].starts_with("a project can't set flows.privateToExternal"), "{wrong:?}");
    assert!(wrong.len() == 4 && wrong[3].starts_with("a project can't allow a flow"), "{wrong:?}");
}

#[test]
fn the_labels_and_rules_of_all_layers_add_up() {
    let read = |text: &str| {
        let document = source::read(&ConfigLayer::Named("/x.yaml".into()), text).unwrap();
        validation::settings(&document).0
    };
    let user = read(
        "flows: { private: [a], privateToExternal: deny, rules: [{ from: [a], to: [b], then: ask }] }\n",
    );
    let project = read("flows: { private: [c], rules: [{ from: [c], to: [d], then: deny }] }\n");
    let flows = project.over(user).value().flows;
    assert_eq!(flows.private, [Glob::new("a"), Glob::new("c")]);
    assert_eq!(flows.private_to_external, FlowAction::Deny);
    assert_eq!(
        flows.rules.iter().map(|rule| rule.then).collect::<Vec<_>>(),
        [FlowAction::Ask, FlowAction::Deny]
    );
}

/// The servers of a text, by name.
fn servers_of(text: &str) -> std::collections::BTreeMap<String, super::Server> {
    let document = source::read(&ConfigLayer::Named("/base/x.yaml".into()), text).unwrap();
    let (settings, wrong) = merged(&document);
    assert!(wrong.is_empty(), "{wrong:?}");
    let server = |entry: &source::Entry| {
        let server = server::server(&document.source, entry, &settings, |name| Some(name.to_lowercase()));
        (entry.name.clone(), server.unwrap())
    };
    document.entries.iter().filter(|entry| !entry.is_disabled()).map(server).collect()
}

#[test]
fn settings_reach_the_connections() {
    let text = std::fs::read_to_string("tests/configurations/good/everything.yaml").unwrap();
    let servers = servers_of(&text.replace("read: [.]", "read: [/]"));
    let seconds = std::time::Duration::from_secs_f64;
    let local = &servers["local"];
    let mcp::Transport::Stdio(command) = &local.connection.transport else { panic!("{local:?}") };
    assert_eq!(command.args, ["--port", "8080", "--verbose", "true"]);
    assert_eq!(command.env["TOKEN"], "api_token");
    assert_eq!((command.cwd.as_deref(), command.withheld.len()), (Some(Path::new("/base/.")), 0));
    let connection = &local.connection;
    assert_eq!((connection.connect_timeout, connection.request_timeout), (seconds(5.0), seconds(2.5)));
    assert_eq!((connection.tool_timeouts["slow_tool"], connection.debug), (seconds(300.0), true));
    assert_eq!(connection.ping_interval, mcp::NO_TIME_LIMIT);
    let roots: Vec<_> =
        connection.roots.iter().map(|root| (root.uri.as_str(), root.name.as_deref())).collect();
    assert_eq!(roots, [("file:///base", Some("base")), ("file:///srv/data", Some("data"))]);
    let of = |tool: &str| local.permissions.of(tool);
    use super::Permission::{Allow, AskEach, Deny};
    assert_eq!([of("read_x"), of("delete_x"), of("other")], [Allow, Deny, AskEach]);
    assert!(local.session == super::SessionMode::Shared && !local.spare);
    assert!(servers["web"].session == super::SessionMode::Auto && servers["web"].spare);
    assert!(
        !local.check_input
            && !local.check_output
            && !local.filter.admits("admin_x")
            && local.filter.admits("x")
    );
    assert_eq!(local.target, "local-mcp --port 8080 --verbose true");

    let mcp::Transport::Http(web) = &servers["web"].connection.transport else { panic!("not http") };
    assert_eq!(
        (web.url.as_str(), servers["web"].target.as_str()),
        ("https://api_host/mcp", "https://${API_HOST}/mcp")
    );
    let oauth = web.oauth.as_ref().unwrap();
    assert_eq!(
        (oauth.client_secret.as_deref(), oauth.grant),
        (Some("api_token"), mcp::Grant::ClientCredentials)
    );
    let store = oauth.store.as_ref().unwrap().to_str().unwrap();
    assert!(store.contains("toolsmith/tokens/web-") && store.ends_with(".json"), "{store}");
    assert_eq!(servers["web"].connection.request_timeout, seconds(30.0));
    let mcp::Transport::Sse(events) = &servers["events"].connection.transport else { panic!("not sse") };
    assert_eq!((events.oauth.as_ref(), events.headers["X-Key"].as_str()), (None, "api_token"));
    assert_eq!(servers["events"].permissions.of("anything"), Allow);

    let servers = servers_of(
        "mcpServers:\n  a: { command: x }\n  b: { url: \"https://x.example\", headers: { authorization: t } }\n  c: { url: \"https://x.example\" }\nmodels: [{ ref: m, id: i, type: openai, api_key_env: SOME_KEY }]\nglobalSettings: { timeout: 7, debug: true }\n",
    );
    let mcp::Transport::Stdio(command) = &servers["a"].connection.transport else { panic!("not stdio") };
    assert!(command.withheld.contains("SOME_KEY"));
    assert!(servers["a"].connection.debug && servers["a"].connection.connect_timeout == seconds(7.0));
    assert_eq!(servers["a"].permissions, super::Rules::all(super::Permission::Ask));
    let oauth = |name: &str| match &servers[name].connection.transport {
        mcp::Transport::Http(remote) => remote.oauth.is_some(),
        other => panic!("{other:?}"),
    };
    assert!(!oauth("b") && oauth("c"));
}

#[test]
fn the_path_of_an_address_decides_its_transport_if_none_is_named() {
    let kind = |entry: &str| {
        let servers = servers_of(&format!("mcpServers:\n  a: {{ {entry} }}\n"));
        let transport = &servers["a"].connection.transport;
        let (mcp::Transport::Http(remote) | mcp::Transport::Sse(remote)) = transport else {
            panic!("{transport:?}")
        };
        (transport.name(), remote.is_assumed)
    };
    for (entry, expected) in [
        ("url: https://x.example/mcp", ("http", true)),
        ("url: https://x.example/sse", ("sse", true)),
        ("url: https://x.example/v1/sse/?key=1", ("sse", true)),
        ("url: \"https://x.example/${API_HOST}/sse\"", ("sse", true)),
        ("type: http, url: https://x.example/sse", ("http", false)),
        ("transport: sse, url: https://x.example/mcp", ("sse", false)),
    ] {
        assert_eq!(kind(entry), expected, "{entry}");
    }
}

#[test]
fn damaged_configurations_never_panic() {
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let odd = [
        "\0",
        "\u{feff}",
        "*",
        "&a ",
        "<<: ",
        "\t",
        "}",
        "[",
        "\"",
        "é",
        "${",
        "!!int ",
        "---\n",
        "\r",
        ": ",
        "- ",
        "99999999999999999999",
        "~",
    ];
    for path in files("tests/configurations/good").into_iter().chain(files("tests/configurations/broken")) {
        let text = std::fs::read_to_string(&path).unwrap();
        for _ in 0..40 {
            let mut damaged: Vec<char> = text.chars().collect();
            for _ in 0..=next(3) {
                let at = next(damaged.len() + 1);
                let until = (at + next(6)).min(damaged.len());
                damaged.splice(at..until, odd[next(odd.len())].chars());
            }
            let damaged: String = damaged.into_iter().collect();
            if let Ok(document) = source::read(&ConfigLayer::Named(path.clone()), &damaged) {
                let layers = layers::Layers { documents: vec![document], ..layers::Layers::default() };
                layers.problems();
                super::show::shown(&layers);
            }
        }
    }
}

#[test]
fn the_checked_in_schema_is_current() {
    let current = serde_json::to_string_pretty(&schema::schema()).unwrap() + "\n";
    let checked_in = std::fs::read_to_string("config.schema.json").unwrap();
    assert!(checked_in == current, "run `cargo run -- config schema > crates/config/config.schema.json`");
}

/// A text with `KEY` in place of a key, for each part of a configuration, by the part's name in the schema.
const PARTS: [(&str, &str); 21] = [
    ("", "KEY"),
    ("ServerForm", "mcpServers: { a: { KEY } }"),
    ("OAuthForm", "mcpServers: { a: { oauth: { KEY } } }"),
    ("ServerSandboxForm", "mcpServers: { a: { sandbox: { KEY } } }"),
    ("GlobalForm", "globalSettings: { KEY }"),
    ("CodeModeForm", "codeMode: { KEY }"),
    ("SandboxForm", "codeMode: { sandbox: { KEY } }"),
    ("ServeForm", "serve: { KEY }"),
    ("SharedStateForm", "serve: { sharedState: { KEY } }"),
    ("StateKeyForm", "serve: { sharedState: { key: { KEY } } }"),
    ("AuditForm", "serve: { audit: { KEY } }"),
    ("TelemetryForm", "serve: { telemetry: { KEY } }"),
    ("CacheForm", "cache: { KEY }"),
    ("RemoteCacheForm", "cache: { remote: { KEY } }"),
    ("KeyForm", "cache: { remote: { key: { KEY } } }"),
    ("HistoryForm", "history: { KEY }"),
    ("DefaultsForm", "defaults: { KEY }"),
    ("AgentForm", "agent: { KEY }"),
    ("SubagentForm", "subagent: { KEY }"),
    ("ModelForm", "models: [{ KEY }]"),
    ("GenerationForm", "models: [{ generationParams: { KEY } }]"),
];

#[test]
fn the_schema_has_exactly_the_names_of_decoded_keys() {
    let schema = schema::schema();
    let mut differ = Vec::new();
    for (form, text) in PARTS {
        let pointer =
            if form.is_empty() { "/properties".to_owned() } else { format!("/$defs/{form}/properties") };
        let named: BTreeSet<_> =
            schema.pointer(&pointer).unwrap().as_object().unwrap().keys().cloned().collect();
        // The error for an unknown key lists all known ones.
        let reported =
            report::problems(&problems(Path::new("/x.yaml"), &text.replace("KEY", "no_such_key: 1")));
        let known = reported.split("write one of ").nth(1).unwrap().lines().next().unwrap();
        let known: BTreeSet<_> = known.split(", ").map(str::to_owned).collect();
        if named != known {
            differ.push((form, &known - &named, &named - &known));
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
}

/// Records the keys of a value, each with its definition in the schema.
fn note_keys(schema: &Json, of: &Json, definition: &str, value: &Json, used: &mut BTreeSet<String>) {
    if let Some(name) = of["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        note_keys(schema, &schema["$defs"][name], name, value, used);
    }
    for choice in of["anyOf"].as_array().into_iter().flatten() {
        note_keys(schema, choice, definition, value, used);
    }
    for item in value.as_array().into_iter().flatten() {
        note_keys(schema, &of["items"], definition, item, used);
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        note_keys(schema, &of["additionalProperties"], definition, value, used);
        if let Some(of) = of["properties"].get(key) {
            used.insert(format!("{definition}.{key}"));
            note_keys(schema, of, definition, value, used);
        }
    }
}

#[test]
fn every_key_is_in_a_configuration_that_loads_and_fits_the_schema() {
    let schema = schema::schema();
    let mut used = BTreeSet::new();
    for name in ["client.json", "everything.yaml", "second_names.yaml"] {
        let path = Path::new("tests/configurations/good").join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_good(&path, &text);
        let document = source::read(&ConfigLayer::Named(path), &text).unwrap();
        note_keys(&schema, &schema, "", &document.tree.to_json(), &mut used);
    }
    let keys = |(definition, of): (&str, &Json)| -> Vec<String> {
        let keys = of["properties"].as_object().into_iter().flatten();
        keys.map(|(key, _)| format!("{definition}.{key}")).collect()
    };
    let definitions = schema["$defs"].as_object().unwrap().iter().map(|(name, of)| (name.as_str(), of));
    let all: BTreeSet<_> = definitions.chain([("", &schema)]).flat_map(keys).collect();
    assert!(all.len() > 100 && all.is_subset(&used), "not in any of them: {:#?}", &all - &used);
}

/// The confinement that results from two layers.
fn confined(weaker: &str, stronger: &str) -> sandbox::Confinement {
    let read = |sandbox: &str| {
        let text = format!("codeMode: {{ sandbox: {{ {sandbox} }} }}");
        let document = source::read(&ConfigLayer::Named("/base/x.yaml".into()), &text).unwrap();
        let (file, wrong) = validation::settings(&document);
        assert!(wrong.is_empty(), "{wrong:?}");
        file
    };
    let merged = read(stronger).over(read(weaker)).value();
    super::CodeMode::from(merged.code_mode).confinement
}

#[test]
fn a_stronger_layer_switches_the_sandbox_on_and_off() {
    use sandbox::{Confinement, Layers};
    const OFF: &str = "dangerouslyRunWithoutSandbox: true";
    const ON: &str = "dangerouslyRunWithoutSandbox: false";
    const FULL: &str = "minimum: full";
    let full = Confinement::AtLeast(Layers::FULL);
    assert_eq!(confined("", ""), Confinement::default());
    assert_eq!(confined(FULL, OFF), Confinement::Exactly(Layers::OFF));
    assert_eq!(confined(OFF, FULL), full);
    assert_eq!(confined(OFF, ON), Confinement::default());
    // A weaker layer's minimum remains if the stronger layer does not set one.
    assert_eq!(confined(FULL, ON), full);
    assert_eq!(confined(FULL, "cpu: 5"), full);
}

/// The page that documents the keys.
const PAGE: &str = "../../docs/configuration.md";

/// The rows of tables of keys: the last part of each key, and its default.
fn rows(text: &str) -> Vec<(String, Json)> {
    let mut rows = Vec::new();
    let tables = text.split("\n\n").filter(|part| part.starts_with("| key"));
    for line in tables.flat_map(str::lines) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [names, defaults, ..] = cells[..] else { continue };
        let (names, defaults) = (names.trim_start_matches("| ").split(", "), defaults.split(", "));
        for (name, default) in names.zip(defaults) {
            let unquoted = |text: &str| Some(text.strip_prefix('`')?.strip_suffix('`')?.to_owned());
            let (Some(name), Some(default)) = (unquoted(name), unquoted(default)) else { continue };
            let name = name.rsplit(['.', '…']).next().unwrap().to_owned();
            rows.push((name, serde_json::from_str(&default).unwrap_or(Json::String(default))));
        }
    }
    rows
}

#[test]
fn the_defaults_in_the_documentation_are_those_of_the_schema() {
    let schema = schema::schema();
    let definitions = schema["$defs"].as_object().unwrap().values().chain([&schema]);
    let keys = definitions.flat_map(|of| of["properties"].as_object().into_iter().flatten());
    let keys: Vec<(&String, &Json)> = keys.collect();
    let (mut compared, mut differ) = (0, Vec::new());
    for (name, default) in rows(&std::fs::read_to_string(PAGE).unwrap()) {
        let named: Vec<&Json> =
            keys.iter().filter(|(key, _)| **key == name).filter_map(|(_, of)| of.get("default")).collect();
        compared += named.len();
        if !named.is_empty() && !named.contains(&&default) {
            differ.push(format!("{PAGE}: {name}: {default} is not one of {named:?}"));
        }
    }
    assert!(differ.is_empty() && compared > 40, "{compared} are compared: {differ:#?}");
}

/// The members of `generationParams` are documented in its row.
const WITHOUT_ROW: [&str; 5] = ["temperature", "topP", "seed", "stopSequences", "extra"];

#[test]
fn every_key_of_the_schema_has_a_row_in_the_documentation() {
    let schema = schema::schema();
    let text = std::fs::read_to_string(PAGE).unwrap();
    let tables = text.split("\n\n").filter(|part| part.starts_with("| key"));
    let first_cells = tables.flat_map(str::lines).filter_map(|line| line.split(" | ").next());
    let documented: BTreeSet<&str> =
        first_cells.flat_map(|cell| cell.split('`')).filter_map(|name| name.rsplit('.').next()).collect();
    let definitions = schema["$defs"].as_object().unwrap().values().chain([&schema]);
    let keys = definitions.filter_map(|of| of["properties"].as_object()).flat_map(|keys| {
        // The OAuth keys are documented once, in snake_case.
        let is_second_spelling = |key: &str| {
            let snake =
                key.chars().flat_map(|c| c.is_uppercase().then_some('_').into_iter().chain(c.to_lowercase()));
            let snake: String = snake.collect();
            snake != *key && keys.contains_key(&snake)
        };
        keys.keys().filter(move |key| !is_second_spelling(key))
    });
    let keys: Vec<&String> = keys.filter(|key| !WITHOUT_ROW.contains(&key.as_str())).collect();
    let missing: Vec<_> = keys.iter().filter(|key| !documented.contains(key.as_str())).collect();
    assert!(missing.is_empty() && keys.len() > 90, "{} keys, without a row: {missing:?}", keys.len());
}

#[test]
fn the_configurations_in_the_documentation_load() {
    let text = std::fs::read_to_string(PAGE).unwrap();
    let examples: Vec<&str> =
        text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() >= 9, "{}", examples.len());
    for example in examples {
        assert_good(Path::new(PAGE), example);
    }
}
