use serde_json::json;

use super::*;

fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object", "properties": {} } })
}

fn pins(tools: Vec<Value>) -> Pins {
    let mut lock = Lock::default();
    lock.pin("s", tools);
    lock.set("loose", vec![tool("a", "x")]);
    let mut pins = Pins::default();
    pins.add(Path::new("/l"), &lock);
    pins
}

#[test]
fn an_unchanged_tool_passes_in_any_order_of_members() {
    let pins = pins(vec![tool("a", "x")]);
    let text =
        r#"{ "inputSchema": { "properties": {}, "type": "object" }, "description": "x", "name": "a" }"#;
    let list = ToolList::new(&[serde_json::from_str(text).unwrap()]);
    assert!(pins.held("s", &list).is_empty() && pins.holds_back("s", "a", &list).is_none());
    assert!(pins.differences("s", &list, |_| true)[0].is_empty());
}

#[test]
fn new_and_changed_tools_are_held_back_and_removed_ones_reported() {
    let pins = pins(vec![tool("a", "x"), tool("b", "x"), tool("gone", "x")]);
    let mut typed = tool("b", "x");
    typed["inputSchema"]["properties"]["path"] = json!({ "type": "string" });
    let list = ToolList::new(&[tool("a", "y\u{1b}[2J"), typed, tool("new\n", "x"), tool("filtered", "x")]);
    let [difference] = &pins.differences("s", &list, |name| name != "filtered")[..] else { panic!() };
    assert_eq!(
        (&difference.new[..], &difference.gone[..]),
        (&["new\n".to_owned()][..], &["gone".to_owned()][..])
    );
    let text = difference.note().unwrap();
    for phrase in
        ["~ s.a has", "\"x\"", "y\\u001b[2J", "input.path", "s.new\\u{a} is new", "- s.gone", "--accept s"]
    {
        assert!(text.contains(phrase), "{phrase} in {text}");
    }
    assert!(["a", "b", "new\n", "filtered"].iter().all(|name| pins.held("s", &list).contains(*name)));
    assert!(pins.holds_back("s", "a", &list).unwrap().contains("has changed"));
    assert!(pins.holds_back("s", "new\n", &list).unwrap().contains("is new"));
}

#[test]
fn tools_missing_in_one_of_two_files_are_held_back() {
    let mut pins = pins(vec![tool("a", "x"), tool("b", "x")]);
    let mut lock = Lock::default();
    lock.pin("s", vec![tool("a", "x"), tool("b", "y"), tool("c", "x")]);
    pins.add(Path::new("/other"), &lock);
    let list = ToolList::new(&[tool("a", "x"), tool("b", "x"), tool("c", "x")]);
    assert_eq!(pins.held("s", &list).into_iter().collect::<Vec<_>>(), ["b", "c"]);
    assert!(pins.holds_back("s", "a", &list).is_none());
    assert!(pins.holds_back("s", "b", &list).unwrap().contains("has changed"));
    assert!(pins.holds_back("s", "c", &list).unwrap().contains("is new"));
    let notes: Vec<_> = pins.differences("s", &list, |_| true).iter().filter_map(Difference::note).collect();
    assert!(notes[0].contains("differ from /l are") && notes[0].contains("s.c is new"), "{notes:?}");
    assert!(notes[1].contains("differ from /other are") && notes[1].contains("s.b has"), "{notes:?}");
}

#[test]
fn observed_servers_are_not_pinned() {
    let pins = pins(Vec::new());
    let list = ToolList::new(&[tool("a", "other"), tool("b", "x")]);
    assert!(pins.held("loose", &list).is_empty() && pins.held("unknown", &list).is_empty());
    assert_eq!(pins.differences("loose", &list, |_| true), []);
    assert!(pins.holds_back("loose", "a", &list).is_none());
    // A server locked without tools is pinned.
    assert_eq!(pins.held("s", &list).len(), 2);
}

#[test]
fn any_difference_is_reported() {
    let same = Difference::default();
    let new = Difference { new: vec!["a".to_owned()], ..Difference::default() };
    let changed = Difference { changed: vec![("a".to_owned(), Vec::new())], ..Difference::default() };
    let gone = Difference { gone: vec!["a".to_owned()], ..Difference::default() };
    let of = |difference: &Difference| {
        (difference.is_empty(), difference.holds_back(), difference.note().is_some())
    };
    assert_eq!(of(&same), (true, false, false));
    assert_eq!((of(&new), of(&changed)), ((false, true, true), (false, true, true)));
    assert_eq!(of(&gone), (false, false, true));
}

#[test]
fn the_lines_of_a_difference_are_bounded() {
    let lines = |count: usize| {
        let new = (0..count).map(|number| number.to_string()).collect();
        Difference { new, ..Difference::default() }.lines()
    };
    assert_eq!(lines(LINES_SHOWN).len(), LINES_SHOWN);
    assert!(lines(LINES_SHOWN).iter().all(|line| line.ends_with("is new")));
    let cut = lines(LINES_SHOWN + 2);
    assert_eq!((cut.len(), cut.last().unwrap().as_str()), (LINES_SHOWN + 1, "  and 2 more lines"));
}

/// Each difference between a tool and its pinned version: whether it is held back, and the reason.
#[test]
fn a_tool_passes_only_as_it_was_pinned() {
    let pinned = json!({
        "name": "a", "title": "A", "description": "x", "inputSchema": { "type": "object" },
        "annotations": { "readOnlyHint": true }, "_meta": { "k": 1 },
    });
    let with = |name: &str, value: Value| {
        let mut tool = pinned.clone();
        tool[name] = value;
        tool
    };
    let pins = pins(vec![pinned.clone(), tool("b", "x")]);
    for (offered, reason) in [
        (pinned.clone(), None),
        (with("name", json!("b")), Some("has changed")),
        (with("name", json!("A")), Some("is new")),
        (with("title", json!("B")), Some("has changed")),
        (with("description", json!("y")), Some("has changed")),
        (with("description", json!(null)), Some("has changed")),
        (with("inputSchema", json!({ "type": "object", "properties": {} })), Some("has changed")),
        (with("outputSchema", json!({ "type": "object" })), Some("has changed")),
        (with("annotations", json!({ "readOnlyHint": false })), Some("has changed")),
    ] {
        let name = offered["name"].as_str().unwrap().to_owned();
        let list = ToolList::new(&[offered]);
        let held: Vec<String> = pins.held("s", &list).into_iter().collect();
        let expected: &[String] = if reason.is_some() { std::slice::from_ref(&name) } else { &[] };
        assert_eq!(held, expected, "{name} {reason:?}");
        let says = pins.holds_back("s", &name, &list);
        assert_eq!(says.is_some(), reason.is_some(), "{says:?}");
        assert!(says.is_none_or(|says| reason.is_some_and(|reason| says.contains(reason))));
        // The tools of another server of the same name in another place are its own.
        assert!(pins.held("other", &list).is_empty() && pins.holds_back("other", &name, &list).is_none());
    }
    assert_eq!(pins.holds_back("s", "missing", &ToolList::new(&[])), None, "a tool that is not offered");
}

/// The lock files of a configuration, as texts; `None` for a missing file.
fn config_with(folder: &Path, locks: &[Option<&str>]) -> Config {
    let files = locks.iter().enumerate().map(|(number, text)| {
        let file = folder.join(number.to_string());
        std::fs::create_dir_all(&file).unwrap();
        let file = file.join(config::LOCK);
        text.iter().for_each(|text| std::fs::write(&file, text).unwrap());
        LockFile::read(file).unwrap()
    });
    let connection = mcp::ServerConfig::stdio("s", "program", [""; 0]);
    let layer = config::ConfigLayer::Named(folder.join("1").join("toolsmith.yaml"));
    let server = config::Server { layer, ..config::Server::new(connection, String::new()) };
    Config { locks: files.collect(), servers: vec![server], ..Config::default() }
}

fn lock(tools: Vec<Value>) -> String {
    let mut lock = Lock::default();
    lock.pin("s", tools);
    lock.to_text()
}

/// The lock files, and the tools that are held back; `None` if no tool may be used.
#[test]
fn every_lock_file_in_force_counts_and_a_torn_one_stops() {
    let (both, first) = (lock(vec![tool("a", "x"), tool("b", "x")]), lock(vec![tool("a", "x")]));
    let torn = &both[..both.len() / 2];
    for (locks, held) in [
        (vec![], Some(&[][..])),
        (vec![None], Some(&[])),
        (vec![Some(both.as_str())], Some(&[])),
        (vec![Some(first.as_str())], Some(&["b"])),
        (vec![Some(&both), Some(&first)], Some(&["b"])),
        (vec![Some(&first), Some(&both)], Some(&["b"])),
        (vec![None, Some(&first)], Some(&["b"])),
        (vec![Some(torn)], None),
        (vec![Some(&both), Some(torn)], None),
        (vec![Some(torn), Some(&both)], None),
        (vec![Some("")], None),
        (vec![Some("{}")], None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let known = Known::of(&config_with(folder.path(), &locks));
        let list = ToolList::new(&[tool("a", "x"), tool("b", "x")]);
        let found = known.ok().map(|known| known.pins.held("s", &list).into_iter().collect::<Vec<_>>());
        let held = held.map(|held| held.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(found, held, "{locks:?}");
    }
}

#[test]
fn observations_are_those_of_the_lock_file_next_to_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (lock(vec![tool("a", "x")]), lock(vec![tool("b", "x"), tool("c", "x")]));
    let tools_of = |locks: &[Option<&str>]| {
        let config = config_with(folder.path(), locks);
        let own = Locks::of(&config).unwrap().own(&config);
        own.servers.get("s").map(|server| server.tools.len())
    };
    assert_eq!(tools_of(&[Some(&one), Some(&other)]), Some(2));
    assert_eq!(tools_of(&[Some(&other), Some(&one)]), Some(1));
    assert_eq!(tools_of(&[Some(&one)]), None, "its own folder has none");
}
