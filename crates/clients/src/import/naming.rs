//! The names of imported servers: each valid here, distinct, and as readable as the client's own.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

/// Maximum length of a server's name.
const LONGEST: usize = 64;

/// The least number of letters and digits that are left of a name that is still readable.
const READABLE: usize = 2;

/// Words before the name of a server in a command line, and parts of a host that name no service.
const RUNNERS: [&str; 10] = ["run", "exec", "dlx", "tool", "x", "start", "compose", "mcp", "serve", "server"];
const HOSTS: [&str; 9] = ["www", "mcp", "api", "sse", "app", "server", "gateway", "remote", "com"];

/// A name for each of a client's servers, in their order. A valid name is kept.
pub(super) fn names(servers: &Map<String, Json>) -> Vec<String> {
    let is_valid = |name: &&String| config::check_server_name(name).is_ok();
    let mut taken: BTreeSet<String> = servers.keys().filter(is_valid).cloned().collect();
    let named = servers.iter().map(|(given, entry)| {
        if is_valid(&given) {
            return given.clone();
        }
        let name = distinct(&readable(given, entry), &taken);
        taken.insert(name.clone());
        name
    });
    named.collect()
}

/// A name with another number behind it if it is taken.
fn distinct(name: &str, taken: &BTreeSet<String>) -> String {
    let numbered = (2_u32..).map(|number| {
        let number = format!("-{number}");
        let room = LONGEST.saturating_sub(number.len());
        format!("{}{number}", name.get(..room).unwrap_or(name))
    });
    let mut candidates = std::iter::once(name.to_owned()).chain(numbered);
    candidates.find(|candidate| !taken.contains(candidate)).unwrap_or_default()
}

/// Keeps the characters of a name that are valid here. If nothing is left, uses the name of the package or host of the
/// entry.
fn readable(given: &str, entry: &Json) -> String {
    let words = || [package(entry), host(entry)].into_iter().flatten().find_map(|word| slug(&word));
    slug(given).or_else(words).unwrap_or_else(|| "server".to_owned())
}

/// The valid characters of a name; `None` if too few are left.
fn slug(text: &str) -> Option<String> {
    let mut slug = String::new();
    for character in text.chars().take(4 * LONGEST) {
        if character.is_ascii_alphanumeric() || character == '_' {
            slug.push(character);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    slug.truncate(LONGEST);
    let slug = slug.trim_end_matches('-');
    let readable = slug.bytes().filter(u8::is_ascii_alphanumeric).count();
    (readable >= READABLE).then(|| slug.to_owned())
}

/// The package or program that an entry starts, without scope, version and ending.
fn package(entry: &Json) -> Option<String> {
    let words = |value: Option<&Json>| -> Vec<String> {
        match value {
            Some(Json::Array(words)) => words.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
            Some(Json::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    };
    let command = words(entry.get("command"));
    let mut line =
        command.iter().skip(1).cloned().chain(words(entry.get("args"))).chain(command.first().cloned());
    line.find_map(|word| {
        let word = word.trim_end_matches(['/', '\\']);
        if word.starts_with('-') || word.contains(['=', '$']) && !word.contains('/') {
            return None;
        }
        let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = name.split(['@', ':']).next().unwrap_or_default();
        let name = [".js", ".mjs", ".cjs", ".ts", ".py", ".exe", ".sh", ".jar"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or(name);
        (!RUNNERS.contains(&name)).then(|| slug(name)).flatten()
    })
}

/// The part of an address's host that names the service.
fn host(entry: &Json) -> Option<String> {
    let address = ["url", "httpUrl", "serverUrl"].iter().find_map(|key| entry.get(*key)?.as_str())?;
    let url = url::Url::parse(address).ok()?;
    let host = url.domain()?;
    let labels: Vec<&str> = host.split('.').collect();
    // The last one is a country or `com`.
    let parts =
        labels.split_last().filter(|(_, parts)| !parts.is_empty()).map_or(&labels[..], |(_, parts)| parts);
    let service = parts.iter().rev().find(|part| part.len() > 2 && !HOSTS.contains(part));
    service.or(labels.first()).map(|part| (*part).to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::names;

    fn of(servers: &serde_json::Value) -> Vec<String> {
        names(servers.as_object().unwrap())
    }

    #[test]
    fn valid_names_are_kept_and_others_become_distinct() {
        let command = json!({ "command": "true" });
        let named = of(&json!({
            "my.server": command, "my server": command, "my-server": command, "my_server": command, "ok": command,
            "my-server-2": command, " lead. ": command, "Café Nord": command, "io.github.user/weather": command,
        }));
        let expected = [
            "my-server-3",
            "my-server-4",
            "my-server",
            "my_server",
            "ok",
            "my-server-2",
            "lead",
            "Caf-Nord",
            "io-github-user-weather",
        ];
        assert_eq!(named, expected);
    }

    #[test]
    fn a_name_without_valid_characters_is_taken_from_what_it_starts() {
        for (entry, expected) in [
            (
                json!({ "command": "npx", "args": ["-y", "@amap/amap-maps-mcp-server@1.0"] }),
                "amap-maps-mcp-server",
            ),
            (json!({ "command": ["uvx", "--from", "mcp-server-time"] }), "mcp-server-time"),
            (json!({ "command": "docker run -i --rm -e KEY=1 mcp/notes:latest" }), "notes"),
            (json!({ "command": "/opt/tools/weather.py" }), "weather"),
            (json!({ "command": "node", "args": ["C:\\tools\\maps.js", "--port", "1"] }), "maps"),
            (json!({ "url": "https://mcp.amap.com/sse?key=1" }), "amap"),
            (json!({ "url": "https://docs.example.co.uk/mcp" }), "example"),
            (json!({ "httpUrl": "http://localhost:8000/mcp" }), "localhost"),
            (json!({ "url": "http://127.0.0.1/mcp" }), "server"),
            (json!({ "url": "${URL}" }), "server"),
            (json!({}), "server"),
        ] {
            assert_eq!(of(&json!({ "\u{9ad8}\u{5fb7}": entry }))[0], expected, "{entry}");
        }
        let two = of(&json!({ "高德地图": {}, "天气": {}, "": {}, "🙂": {}, "-": {} }));
        assert_eq!(two, ["server", "server-2", "server-3", "server-4", "-"]);
        let long =
            of(&json!({ ("é".repeat(3) + &"a".repeat(100)): {}, ("ö".to_owned() + &"a".repeat(100)): {} }));
        assert!(
            long.iter().all(|name| config::check_server_name(name).is_ok()) && long[0] != long[1],
            "{long:?}"
        );
    }
}
