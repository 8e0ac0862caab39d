//! Changes the text of a client's configuration, and keeps everything else in it.

use config::tree;
use jsonc_parser::cst::{CstObject, CstRootNode};
use serde_json::{Map, Value as Json};
use toml_edit::{Array, Decor, DocumentMut, InlineTable, Item, RawString, Table, TableLike, Value as Toml};

use super::profile::Syntax;
use crate::edit::change::Change;
use crate::edit::kept_mark;
use crate::edit::{json, line_json, yaml};

/// The reason why a text can't be read or changed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct TextError(pub(crate) String);

impl From<&str> for TextError {
    fn from(why: &str) -> Self {
        TextError(why.to_owned())
    }
}

/// The path of the section with the servers, such as `["mcp", "servers"]`.
pub(crate) type Section<'a> = &'a [&'static str];

/// The content of JSON or TOML, without comments and order.
pub(crate) fn meaning(text: &str, syntax: Syntax) -> Result<Map<String, Json>, TextError> {
    let text = strict_json::without_mark(text);
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    if syntax == Syntax::Toml {
        return toml::from_str(text).map_err(|error| TextError(error.to_string()));
    }
    match jsonc_parser::parse_to_serde_value(text, &tree::json_options()) {
        Ok(Json::Object(meaning)) => Ok(meaning),
        Ok(_) => Err("it is not an object".into()),
        Err(error) => Err(TextError(error.to_string())),
    }
}

/// Sets the entry of a server, or removes it if `entry` is `None`. Returns the new text.
pub(crate) fn put(
    text: &str,
    syntax: Syntax,
    section: Section<'_>,
    name: &str,
    entry: Option<&Json>,
) -> Result<String, TextError> {
    kept_mark(text, |text| match syntax {
        Syntax::Json => put_json(text, section, name, entry),
        Syntax::Toml => put_toml(text, section, name, entry),
        Syntax::Yaml => {
            let change = entry.map_or(Change::Remove, |entry| Change::Set(members(entry)));
            yaml::change(text, &section.join("."), name, &change)
                .map_err(|error| TextError(error.to_string()))
        }
    })
}

/// The entry of a server with its keys in the order of the text, which the parser of TOML does not keep.
pub(crate) fn in_order(text: &str, syntax: Syntax, section: Section<'_>, name: &str, entry: &Json) -> Json {
    let keys = || {
        let document: DocumentMut = strict_json::without_mark(text).parse().ok()?;
        let mut path = section.iter().copied().chain([name]);
        let item = path.try_fold(document.as_item(), |item, part| item.get(part))?;
        Some(item.as_table_like()?.iter().map(|(key, _)| key.to_owned()).collect::<Vec<_>>())
    };
    let keys = if syntax == Syntax::Toml { keys() } else { None };
    let ordered =
        keys.map(|keys| keys.into_iter().filter_map(|key| Some((key.clone(), entry.get(&key)?.clone()))));
    ordered.map_or_else(|| entry.clone(), |members| Json::Object(members.collect()))
}

/// Sets one key of a server's entry. Returns the new text.
pub(crate) fn put_key(
    text: &str,
    syntax: Syntax,
    section: Section<'_>,
    name: &str,
    member: (&str, &Json),
) -> Option<String> {
    kept_mark(text, |text| put_key_unmarked(text, syntax, section, name, member).ok_or(())).ok()
}

fn put_key_unmarked(
    text: &str,
    syntax: Syntax,
    section: Section<'_>,
    name: &str,
    (key, value): (&str, &Json),
) -> Option<String> {
    match syntax {
        Syntax::Toml => {
            let value = Item::Value(toml_value(value)?);
            let change = |document: &mut DocumentMut| {
                let mut path = section.iter().copied().chain([name]);
                let item = path.try_fold(document.as_item_mut(), |item, part| item.get_mut(part));
                let entry = item.and_then(Item::as_table_like_mut).ok_or("the entry is not a table")?;
                entry.insert(key, value);
                Ok(())
            };
            edit_toml(text, change).ok()
        }
        Syntax::Yaml => {
            let change = Change::Key(key.to_owned(), value.clone());
            yaml::change(text, &section.join("."), name, &change).ok()
        }
        Syntax::Json => {
            let root = CstRootNode::parse(text, &tree::json_options()).ok()?;
            let mut object = root.object_value()?;
            for part in section {
                object = object.object_value(part)?;
            }
            let entry = object.object_value(name)?;
            match entry.get(key) {
                Some(property) => property.set_value(json::input(value)),
                None => drop(entry.append(key, json::input(value))),
            }
            Some(root.to_string())
        }
    }
}

/// The keys and values of an entry.
pub(crate) fn members(entry: &Json) -> Vec<(String, Json)> {
    entry.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn put_json(text: &str, section: Section<'_>, name: &str, entry: Option<&Json>) -> Result<String, TextError> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    if let Some(changed) = entry.and_then(|entry| line_json::set(text, section, name, entry)) {
        return Ok(changed);
    }
    let root = CstRootNode::parse(text, &tree::json_options())
        .map_err(|error| TextError(error.kind().to_string()))?;
    let mut servers: CstObject = root.object_value_or_create().ok_or("it is not an object")?;
    for part in section {
        servers = servers.object_value_or_create(part).ok_or("its servers are not an object")?;
    }
    match (servers.get(name), entry) {
        (Some(property), Some(entry)) => property.set_value(json::input(entry)),
        (None, Some(entry)) => drop(servers.append(name, json::input(entry))),
        (Some(property), None) => property.remove(),
        (None, None) => {}
    }
    Ok(root.to_string())
}

fn put_toml(text: &str, section: Section<'_>, name: &str, entry: Option<&Json>) -> Result<String, TextError> {
    edit_toml(text, |document| {
        let mut item = document.as_item_mut();
        for part in section {
            let table = item.as_table_like_mut().ok_or("its servers are not a table")?;
            item = table.entry(part).or_insert_with(implicit_table);
        }
        let Some(entry) = entry else {
            let comments = item.as_table_like_mut().map(|servers| take(servers, name)).unwrap_or_default();
            keep_comments(document, &comments);
            return Ok(());
        };
        let entry = toml_table(entry).ok_or("the entry has a value that TOML can't have")?;
        match item {
            Item::Table(servers) => drop(servers.insert(name, Item::Table(entry))),
            other => {
                let servers = other.as_inline_table_mut().ok_or("its servers are not a table")?;
                servers.insert(name, Toml::InlineTable(entry.into_inline_table()));
            }
        }
        Ok(())
    })
}

/// Changes TOML, and keeps its byte order mark and its line ends: the editor writes `\n`.
pub(crate) fn edit_toml(
    text: &str,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), TextError>,
) -> Result<String, TextError> {
    kept_mark(text, |text| {
        let mut document: DocumentMut =
            text.parse().map_err(|error: toml_edit::TomlError| TextError(error.message().to_owned()))?;
        change(&mut document)?;
        let changed = document.to_string();
        let is_crlf = text.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n"));
        Ok(if is_crlf { changed.replace('\n', "\r\n") } else { changed })
    })
}

/// A table that is written only if it has other entries than tables.
pub(crate) fn implicit_table() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// Moves comments around a removed item to the end of the document: they may be about more than the item.
pub(crate) fn keep_comments(document: &mut DocumentMut, removed: &str) {
    let lines: Vec<&str> = removed.lines().map(str::trim).collect();
    let comments = lines.join("\n");
    if comments.contains('#') {
        let end = document.trailing().as_str().unwrap_or_default();
        let moved = format!("{end}\n{}\n", comments.trim());
        document.set_trailing(moved);
    }
}

/// Removes an item from a table, and returns the comments around it.
pub(crate) fn take(table: &mut dyn TableLike, name: &str) -> String {
    let Some((key, item)) = table.get_key_value(name) else { return String::new() };
    let mut texts = [around(key.dotted_decor()), around(key.leaf_decor())].concat();
    match item {
        Item::Table(table) => texts.extend(around(table.decor())),
        Item::Value(value) => {
            let end = value.as_array().and_then(|list| list.trailing().as_str());
            texts.extend(end.into_iter().chain(around(value.decor())));
        }
        _ => {}
    }
    let comments = texts.join("\n");
    table.remove(name);
    comments
}

/// The text before and after an item: space and comments.
pub(crate) fn around(decor: &Decor) -> [&str; 2] {
    [decor.prefix(), decor.suffix()].map(|text| text.and_then(RawString::as_str).unwrap_or_default())
}

/// An entry as a TOML table.
pub(crate) fn toml_table(entry: &Json) -> Option<Table> {
    let mut table = Table::new();
    for (key, value) in entry.as_object()?.iter().filter(|(_, value)| !value.is_null()) {
        table.insert(key, Item::Value(toml_value(value)?));
    }
    Some(table)
}

fn toml_value(value: &Json) -> Option<Toml> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(value) => Toml::from(*value),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Toml::from(whole),
            None => Toml::from(number.as_f64()?),
        },
        Json::String(text) => Toml::from(text.as_str()),
        Json::Array(items) => Toml::Array(items.iter().map(toml_value).collect::<Option<Array>>()?),
        Json::Object(entries) => {
            let entries = entries.iter().filter(|(_, value)| !value.is_null());
            let table = entries.map(|(key, value)| Some((key.as_str(), toml_value(value)?)));
            Toml::InlineTable(table.collect::<Option<InlineTable>>()?)
        }
    })
}
