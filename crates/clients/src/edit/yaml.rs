//! Changes YAML files, and keeps their comments and order.

use std::str::FromStr as _;

use yaml_edit::{Mapping, MappingBuilder, YamlFile};

use super::change::{Change, ChangeError, Entry};
use super::style::{self, yaml};

/// Changes an entry in a section at the top level. Returns the changed text, or the reason why it can't be changed.
pub(crate) fn change(text: &str, section: &str, name: &str, change: &Change) -> Result<String, ChangeError> {
    let changed = changed(text, section, name, change)?;
    let is_crlf = text.contains('\n')
        && text
            .split_inclusive('\n')
            .all(|line| line.strip_suffix('\n').is_none_or(|line| line.ends_with('\r')));
    Ok(if is_crlf { changed.replace("\r\n", "\n").replace('\n', "\r\n") } else { changed })
}

fn changed(text: &str, section: &str, name: &str, change: &Change) -> Result<String, ChangeError> {
    let file = YamlFile::from_str(text)?;
    let Some(root) = file.document().and_then(|document| document.as_mapping()) else {
        return begin(text, section, name, change);
    };
    if root.is_empty() {
        return begin(&without_braces(text), section, name, change);
    }
    if let Some(changed) = in_style(text, root.get_mapping(section), name, change) {
        return Ok(changed);
    }
    match (change, root.get_mapping(section).filter(|servers| !servers.is_empty())) {
        (Change::Set(entry), Some(servers)) => set(&servers, name, entry)?,
        (Change::Set(entry), None) => {
            let servers =
                MappingBuilder::new().mapping(name, |builder| fill(builder, entry)).build_document();
            root.set(section, servers.as_mapping().ok_or(ChangeError::Unwritable)?);
        }
        (Change::Remove, Some(servers)) => {
            let removed = if servers.len() == 1 { root.remove(section) } else { servers.remove(name) };
            removed.ok_or(ChangeError::NoEntry)?;
        }
        (Change::Enabled(enabled), Some(servers)) => {
            let entry = servers.get_mapping(name).ok_or(ChangeError::EmptyEntry)?;
            entry.set("enabled", *enabled);
        }
        (Change::Key(key, value), Some(servers)) => {
            let entry = servers.get_mapping(name).ok_or(ChangeError::EmptyEntry)?;
            entry.set(key.as_str(), yaml(value));
        }
        (Change::Remove | Change::Enabled(_) | Change::Key(..), None) => {
            return Err(ChangeError::NoEntry);
        }
    }
    let mut text = file.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    // The editor writes `{}` for a file without keys, and would add the next server to it in one line.
    Ok(if root.is_empty() { without_braces(&text) } else { text })
}

/// The text with the change in the style of the section; `None` if the editor's own style is that.
fn in_style(text: &str, servers: Option<Mapping>, name: &str, change: &Change) -> Option<String> {
    let servers = servers.filter(|servers| !servers.is_empty())?;
    match change {
        Change::Set(entry) if servers.contains_key(name) => style::replace(text, &servers, name, entry),
        Change::Set(entry) => style::add(text, &servers, name, entry),
        Change::Remove => style::remove(text, &servers, name),
        Change::Enabled(_) | Change::Key(..) => None,
    }
}

/// The text of a mapping without keys, without its braces: the comments.
fn without_braces(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let behind = line.trim_start().strip_prefix('{').and_then(|line| line.trim_start().strip_prefix('}'));
        behind.map_or(line, str::trim_start)
    });
    lines.collect()
}

fn set(servers: &Mapping, name: &str, entry: &Entry) -> Result<(), ChangeError> {
    let document = fill(MappingBuilder::new(), entry).build_document();
    servers.set(name, document.as_mapping().ok_or(ChangeError::Unwritable)?);
    Ok(())
}

/// Adds the first entry to a file that is empty or has only comments.
fn begin(text: &str, section: &str, name: &str, change: &Change) -> Result<String, ChangeError> {
    let Change::Set(entry) = change else { return Err(ChangeError::NoEntry) };
    let servers = MappingBuilder::new()
        .mapping(section, |servers| servers.mapping(name, |builder| fill(builder, entry)))
        .build_document()
        .to_string();
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let end = if servers.ends_with('\n') { "" } else { "\n" };
    Ok(format!("{text}{gap}{servers}{end}"))
}

fn fill(builder: MappingBuilder, entry: &Entry) -> MappingBuilder {
    entry.iter().fold(builder, |builder, (key, value)| builder.pair(key.as_str(), yaml(value)))
}

#[cfg(test)]
mod tests {
    use super::super::change::{Change, ChangeError, SERVERS};
    use serde_json::json;

    fn change(text: &str, name: &str, change: &Change) -> Result<String, ChangeError> {
        super::change(text, SERVERS, name, change)
    }

    fn entry() -> Change {
        Change::Set(vec![
            ("command".to_owned(), json!("npx")),
            ("args".to_owned(), json!(["-y", "a b", "60", "true", "#x", "- y", ": z", "é\n\u{1b}"])),
            ("env".to_owned(), json!({ "N": "1", "T": "${T}" })),
            ("timeout".to_owned(), json!(2.5)),
        ])
    }

    fn meaning(text: &str) -> serde_json::Value {
        config::tree::yaml(text).unwrap().to_json()
    }

    #[test]
    fn comments_and_order_stay() {
        let text = "# the first line\nversion: \"1.0\"\n\nmcpServers:\n  # files\n  files:\n    command: x # the program\n    args: [a, b]\n  web: { url: \"https://x.example\" } # one line\n\n# the end\nglobalSettings: { timeout: 5 }\n";
        let added = change(text, "new", &entry()).unwrap();
        for line in [
            "# the first line",
            "  # files",
            "    command: x # the program",
            "# the end",
            "globalSettings: { timeout: 5 }",
            "  web: { url: \"https://x.example\" } # one line",
        ] {
            assert!(added.lines().any(|other| other == line), "{line:?} is missing in\n{added}");
        }
        let mut meant = meaning(text);
        let Change::Set(new) = entry() else { unreachable!() };
        meant["mcpServers"]["new"] = new.into_iter().collect::<serde_json::Map<_, _>>().into();
        assert_eq!(meaning(&added), meant, "{added}");
        let removed = change(&added, "new", &Change::Remove).unwrap();
        assert_eq!(meaning(&removed), meaning(text), "{removed}");
        let off = change(text, "web", &Change::Enabled(false)).unwrap();
        assert_eq!(meaning(&off)["mcpServers"]["web"]["enabled"], false, "{off}");
        let off = change(text, "files", &Change::Enabled(false)).unwrap();
        assert_eq!(meaning(&off)["mcpServers"]["files"]["enabled"], false, "{off}");
        let replaced = change(text, "files", &entry()).unwrap();
        assert_eq!(meaning(&replaced)["mcpServers"]["files"]["command"], "npx", "{replaced}");
    }

    #[test]
    fn files_without_servers_get_a_first_one() {
        for text in [
            "",
            "# only a comment\n",
            "mcpServers:\n",
            "mcpServers: {}\n",
            "version: \"1.0\"\n",
            "version: \"1.0\"",
        ] {
            let added = change(text, "new", &entry()).unwrap();
            assert_eq!(meaning(&added)["mcpServers"]["new"]["args"][2], "60", "{text:?}: {added}");
            assert!(!text.contains('#') || added.contains("# only a comment"), "{added}");
        }
    }

    /// A file's text, and the same with a new server.
    const STYLES: [(&str, &str); 9] = [
        (
            "mcpServers:\n  a:\n    command: x # x\n    # of a\n\n# end\nother: 1\n",
            "mcpServers:\n  a:\n    command: x # x\n    # of a\n  new:\n    command: npx\n    args:\n      - '-y'\n    \
             env:\n      A: b\n\n# end\nother: 1\n",
        ),
        (
            "mcpServers:\n    a:\n        command: x\n",
            "mcpServers:\n    a:\n        command: x\n    new:\n        command: npx\n        args:\n            - \
             '-y'\n        env:\n            A: b\n",
        ),
        (
            "mcpServers:\n  a: { command: x } # x\nother: 1\n",
            "mcpServers:\n  a: { command: x } # x\n  new: { command: npx, args: ['-y'], env: { A: b } }\nother: 1\n",
        ),
        (
            "mcpServers: { a: { command: x } }\n",
            "mcpServers: { a: { command: x }, new: { command: npx, args: ['-y'], env: { A: b } } }\n",
        ),
        (
            "{mcpServers: {a: {command: x}}}\n",
            "{mcpServers: {a: {command: x}, new: {command: npx, args: ['-y'], env: {A: b}}}}\n",
        ),
        (
            "mcpServers: {\n  a: { command: x },\n}\n",
            "mcpServers: {\n  a: { command: x },\n  new: { command: npx, args: ['-y'], env: { A: b } },\n}\n",
        ),
        (
            "mcpServers:\r\n  a:\r\n    command: x\r\n",
            "mcpServers:\r\n  a:\r\n    command: x\r\n  new:\r\n    command: npx\r\n    args:\r\n      - \
             '-y'\r\n    env:\r\n      A: b\r\n",
        ),
        (
            "# only a comment\n",
            "# only a comment\nmcpServers:\n  new:\n    command: npx\n    args:\n      - '-y'\n    env:\n      A: b\n",
        ),
        ("", "mcpServers:\n  new:\n    command: npx\n    args:\n      - '-y'\n    env:\n      A: b\n"),
    ];

    #[test]
    fn a_new_server_has_the_style_of_the_file_and_leaves_no_trace() {
        let entry = Change::Set(vec![
            ("command".to_owned(), json!("npx")),
            ("args".to_owned(), json!(["-y"])),
            ("env".to_owned(), json!({ "A": "b" })),
        ]);
        for (text, expected) in STYLES {
            let added = change(text, "new", &entry).unwrap();
            assert_eq!(added, expected, "{text}");
            assert_eq!(change(&added, "new", &Change::Remove).unwrap(), text);
        }
        // Earlier versions left this behind, and made one long line of it.
        for (text, comment) in [("{}\n", ""), ("{ }\n", ""), ("{} # mine\n", "# mine\n")] {
            assert_eq!(change(text, "new", &entry).unwrap(), format!("{comment}{}", STYLES[8].1), "{text}");
        }
        // A comment stays with its entry.
        let flow = "mcpServers: {\n  a: { command: x }, # first\n}\n";
        let added = change(flow, "new", &entry).unwrap();
        assert!(added.contains("a: { command: x }, # first\n  new: {"), "{added}");
        assert_eq!(change(&added, "new", &Change::Remove).unwrap(), flow);
        let added = change(&flow.replace("},", "}"), "new", &entry).unwrap();
        assert!(added.contains("a: { command: x }, # first\n  new: {"), "{added}");
        let flow = "mcpServers: {\n  a: { command: x } # first\n  , b: { command: y } # second\n}\n";
        for name in ["a", "b"] {
            let removed = change(flow, name, &Change::Remove).unwrap();
            let other = if name == "a" { "# second" } else { "# first" };
            assert!(removed.contains(other), "{name}: {removed}");
        }
        let crlf = change("mcpServers:\r\n  a:\r\n    command: x", "new", &entry).unwrap();
        assert_eq!(crlf.matches('\n').count(), crlf.matches("\r\n").count(), "{crlf:?}");
        // A replaced entry keeps the style of the present one.
        let replaced = change("mcpServers:\n  a: {command: x}\n  b:\n    command: x\n", "a", &entry).unwrap();
        assert_eq!(
            replaced,
            "mcpServers:\n  a: {command: npx, args: ['-y'], env: {A: b}}\n  b:\n    command: x\n"
        );
    }
}
