//! Converts the entry of a server in another client's file to Toolsmith's form.
//!
//! Settings that can't be converted are reported, never guessed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use config::split_command;
use serde_json::{Map, Value as Json, json};

use crate::container::is_container;
use crate::dialect::Dialect;
use crate::edit::change::Entry;

/// The settings that are converted, or that need no conversion: the variables in Codex's `env_vars` are inherited.
const TAKEN: [&str; 28] = [
    "type",
    "transport",
    "command",
    "args",
    "env",
    "environment",
    "cwd",
    "url",
    "httpUrl",
    "serverUrl",
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
    "startup_timeout_sec",
    "tool_timeout_sec",
    "oauth",
    "includeTools",
    "enabledTools",
    "enabled_tools",
    "excludeTools",
    "disabledTools",
    "disabled_tools",
    "disabled",
    "enabled",
    "env_vars",
    "source",
    "description",
];

/// Copilot's key for the tools: their names, or `*` for all.
const COPILOT_TOOLS: &str = "tools";

/// The texts of a list.
fn names(list: &Json) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

/// Whether an entry starts `toolsmith serve`, also in a container.
pub fn is_toolsmith(entry: &Json) -> bool {
    let line = match entry.get("command").or(entry.get("cmd")) {
        Some(Json::String(command)) => {
            let args = entry.get("args").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
            std::iter::once(command.as_str()).chain(args.iter().filter_map(Json::as_str)).collect()
        }
        Some(Json::Array(line)) => line.iter().filter_map(Json::as_str).collect::<Vec<_>>(),
        _ => return false,
    };
    let is_served = line.get(1) == Some(&"serve");
    (is_served && line.first().is_some_and(|command| config::is_this_program(command))) || is_container(&line)
}

/// Reads one entry.
pub(super) struct Reader<'a> {
    pub(super) name: &'a str,
    pub(super) dialect: Dialect,
    pub(super) notes: &'a mut Vec<String>,
}

impl Reader<'_> {
    fn note(&mut self, what: &str) {
        self.notes.push(format!("{}: {what}", self.name));
    }

    /// The entry in Toolsmith's form; `None` if it can't be converted.
    pub(super) fn entry(&mut self, entry: &Json) -> Option<Entry> {
        let Json::Object(given) = entry else {
            self.note("left out: its entry is not an object");
            return None;
        };
        if is_toolsmith(entry) {
            self.note("left out: it is Toolsmith itself, which would start itself endlessly");
            return None;
        }
        let address = ["url", "httpUrl", "serverUrl"]
            .into_iter()
            .find_map(|key| Some((key, given.get(key).filter(|value| !value.is_null())?)));
        let transport = self.transport(given, address)?;
        let mut new = Entry::new();
        new.extend(transport.map(|name| ("type".to_owned(), json!(name))));
        if transport == Some("stdio") {
            self.local(given, &mut new);
        } else {
            self.remote(given, address.map(|(_, value)| value), &mut new);
        }
        self.limits(given, &mut new);
        self.leftovers(given);
        Some(new)
    }

    /// The transport to write; `Some(None)` if the configuration's own rule decides. `None` if the entry is left out.
    fn transport(
        &mut self,
        given: &Map<String, Json>,
        address: Option<(&str, &Json)>,
    ) -> Option<Option<&'static str>> {
        let named = ["type", "transport"].iter().find_map(|key| given.get(*key)?.as_str());
        let word = named.map(|name| name.to_ascii_lowercase().replace(['-', '_', ' '], ""));
        match word.as_deref() {
            Some("stdio" | "local") => return Some(Some("stdio")),
            Some("http" | "streamablehttp" | "httpstream" | "streamable") => return Some(Some("http")),
            Some("sse" | "httpsse") => return Some(Some("sse")),
            Some("remote" | "") => {}
            Some(_) => {
                self.note(&format!("left out: unknown type {:?}", named.unwrap_or_default()));
                return None;
            }
            None if given.contains_key("command") => return Some(Some("stdio")),
            None => {}
        }
        match address {
            None => {
                self.note("left out: it has neither a command nor a URL");
                None
            }
            Some(("httpUrl", _)) => Some(Some("http")),
            Some((_, url)) if url.as_str().is_some_and(mcp::is_event_stream) => {
                self.note("the path of its URL ends with /sse, so its type is sse");
                Some(Some("sse"))
            }
            Some(_) => Some(None),
        }
    }

    /// The command with its arguments and variables.
    fn local(&mut self, given: &Map<String, Json>, new: &mut Entry) {
        let mut args = given.get("args").filter(|args| !args.is_null()).cloned();
        let mut env = given.get("env").or_else(|| given.get("environment")).cloned();
        let command = match given.get("command") {
            // opencode's form.
            Some(Json::Array(line)) => {
                args = line.get(1..).filter(|args| !args.is_empty()).map(|args| json!(args));
                line.first().cloned()
            }
            // Zed's older form.
            Some(Json::Object(form)) => {
                args = form.get("args").cloned();
                env = form.get("env").cloned();
                form.get("path").cloned()
            }
            other => other.cloned(),
        };
        let command = command.map(|command| self.value(&command)).unwrap_or_default();
        let folder = given.get("cwd").and_then(Json::as_str);
        match command.as_str().filter(|_| args.is_none()).and_then(|text| split_command(text, folder)) {
            Some((program, words)) => {
                self.note("its command is one text, which is now a command with arguments");
                new.extend([("command".to_owned(), json!(program)), ("args".to_owned(), json!(words))]);
            }
            None => {
                new.push(("command".to_owned(), command));
                new.extend(args.map(|args| ("args".to_owned(), self.value(&args))));
            }
        }
        for (key, value) in [("env", env), ("cwd", given.get("cwd").cloned())] {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                new.push((key.to_owned(), self.value(&value)));
            }
        }
    }

    /// The address with its headers.
    fn remote(&mut self, given: &Map<String, Json>, address: Option<&Json>, new: &mut Entry) {
        let mut headers = Map::new();
        for key in ["headers", "http_headers"] {
            if let Some(Json::Object(more)) = given.get(key).map(|value| self.value(value)) {
                headers.extend(more);
            }
        }
        // Codex names variables.
        let variable = |name: &str| format!("${{{name}}}");
        for (name, from) in given.get("env_http_headers").and_then(Json::as_object).into_iter().flatten() {
            headers.extend(from.as_str().map(|from| (name.clone(), json!(variable(from)))));
        }
        if let Some(name) = given.get("bearer_token_env_var").and_then(Json::as_str) {
            headers.insert("Authorization".to_owned(), json!(format!("Bearer {}", variable(name))));
        }
        let address = address.map(|address| self.value(address)).unwrap_or_default();
        let address = match address.as_str().and_then(without_user) {
            Some((address, credentials)) => {
                self.note("the user name in its URL is now an Authorization header");
                headers.insert("Authorization".to_owned(), json!(format!("Basic {credentials}")));
                json!(address)
            }
            None => address,
        };
        new.push(("url".to_owned(), address));
        if !headers.is_empty() {
            new.push(("headers".to_owned(), Json::Object(headers)));
        }
        match given.get("oauth") {
            Some(Json::Bool(false)) => new.push(("oauth".to_owned(), json!(false))),
            Some(Json::Object(oauth)) => self.oauth(oauth, new),
            _ => {}
        }
    }

    fn oauth(&mut self, given: &Map<String, Json>, new: &mut Entry) {
        let mut oauth = Map::new();
        for (key, value) in given {
            let known = match key.as_str() {
                "clientId" | "client_id" => "client_id",
                "clientSecret" | "client_secret" => "client_secret",
                "scope" | "scopes" => "scope",
                "authorizationUrl" | "authorization_url" => "authorization_url",
                "tokenUrl" | "token_url" => "token_url",
                "registrationUrl" | "registration_url" => "registration_url",
                "clientMetadataUrl" | "client_metadata_url" => "client_metadata_url",
                "grant" => "grant",
                "enabled" => continue,
                _ => {
                    self.note(&format!("`oauth.{key}` was not imported: Toolsmith has no such setting"));
                    continue;
                }
            };
            let value = match value {
                Json::Array(scopes) => {
                    json!(scopes.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(" "))
                }
                value => self.value(value),
            };
            oauth.insert(known.to_owned(), value);
        }
        if !oauth.is_empty() {
            new.push(("oauth".to_owned(), Json::Object(oauth)));
        }
    }

    /// The tools, time limits, and whether the server is enabled.
    fn limits(&mut self, given: &Map<String, Json>, new: &mut Entry) {
        let has_tools = self.tools(given, new);
        for (given_key, key) in [("startup_timeout_sec", "timeout"), ("tool_timeout_sec", "requestTimeout")] {
            new.extend(given.get(given_key).map(|value| (key.to_owned(), value.clone())));
        }
        let is_off =
            given.get("disabled") == Some(&json!(true)) || given.get("enabled") == Some(&json!(false));
        if is_off || !has_tools {
            new.push(("enabled".to_owned(), json!(false)));
        }
    }

    /// The tools that exist: those that the client includes, without those that it excludes. Returns whether there are
    /// any.
    fn tools(&mut self, given: &Map<String, Json>, new: &mut Entry) -> bool {
        let list = |keys: &[&str]| keys.iter().find_map(|key| names(given.get(*key)?));
        let all =
            given.get(COPILOT_TOOLS).and_then(names).filter(|tools| !tools.iter().any(|tool| tool == "*"));
        if all.as_ref().is_some_and(Vec::is_empty) {
            self.note("it is disabled, because its list of tools is empty");
            return false;
        }
        // In other clients an empty list is no filter.
        let filter = |list: Option<Vec<String>>| list.filter(|list| !list.is_empty());
        let included = filter(list(&["includeTools", "enabledTools", "enabled_tools"]).or(all));
        let excluded = filter(list(&["excludeTools", "disabledTools", "disabled_tools"]));
        match (included, excluded) {
            (Some(mut included), excluded) => {
                // Gemini CLI may name arguments behind a tool.
                included.iter_mut().for_each(|tool| tool.truncate(tool.find('(').unwrap_or(tool.len())));
                included.retain(|tool| !excluded.as_ref().is_some_and(|excluded| excluded.contains(tool)));
                if included.is_empty() {
                    self.note("it is disabled, because all its tools are excluded");
                    return false;
                }
                new.push(("enabledTools".to_owned(), json!(included)));
            }
            (None, Some(excluded)) => new.push(("disabledTools".to_owned(), json!(excluded))),
            (None, None) => {}
        }
        true
    }

    /// Converts the variables in a value to Toolsmith's syntax.
    fn value(&mut self, value: &Json) -> Json {
        match value {
            Json::String(text) => {
                let mut notes = Vec::new();
                let text = self.dialect.convert(text, &mut notes);
                notes.iter().for_each(|note| self.note(note));
                Json::String(text)
            }
            Json::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Json::Object(entries) => entries
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), self.value(value)))
                .collect(),
            // Environment variables are sometimes written as numbers or booleans.
            Json::Number(number) => Json::String(number.to_string()),
            Json::Bool(value) => Json::String(value.to_string()),
            Json::Null => Json::Null,
        }
    }

    /// Notes the settings that were not imported.
    fn leftovers(&mut self, given: &Map<String, Json>) {
        let is_list = |key: &str| key == COPILOT_TOOLS && given.get(key).and_then(names).is_some();
        for key in given.keys().filter(|key| !TAKEN.contains(&key.as_str()) && !is_list(key)) {
            let why = match key.as_str() {
                "trust" | "alwaysAllow" | "autoApprove" | "default_tools_approval_mode" => {
                    "set Toolsmith's own permission: --trust or --permission"
                }
                "timeout" | "toolTimeoutMs" => "its unit differs between clients: set it in seconds",
                "envFile" => "add its variables to env",
                "name" => continue,
                _ => "unknown setting",
            };
            self.note(&format!("`{key}` was not imported: {why}"));
        }
    }
}

/// An address without its user name, and the user's credentials for the `Basic` scheme (RFC 7617). `None` if it has no
/// user name, or one with variables.
fn without_user(address: &str) -> Option<(String, String)> {
    let mut url = url::Url::parse(address).ok()?;
    let has_user = !url.username().is_empty() || url.password().is_some();
    if !has_user || address.contains("${") {
        return None;
    }
    let decoded = |text: &str| {
        let text = format!("https://h/?v={}", text.replace('+', "%2B"));
        let url = url::Url::parse(&text).ok()?;
        url.query_pairs().next().map(|(_, value)| value.into_owned())
    };
    let (user, password) = (decoded(url.username())?, decoded(url.password().unwrap_or_default())?);
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    Some((String::from(url), STANDARD.encode(format!("{user}:{password}"))))
}
