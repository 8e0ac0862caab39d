//! Codex's list of the tool namespaces that its models see themselves, also in its code mode
//! (`features.code_mode.direct_only_tool_namespaces`). Other entries of the list stay.
//!
//! Each change is made twice: in the text, and in the parsed content, so that the caller can compare both.

use serde_json::{Map, Value as Json, json};
use toml_edit::{Array, InlineTable, Item, Table, TableLike, Value as Toml};

use super::text::{TextError, around, edit_toml, implicit_table, keep_comments, take};

/// Codex's key for the list, for display.
pub const NAMESPACES: &str = "features.code_mode.direct_only_tool_namespaces";

const FEATURES: &str = "features";
const CODE_MODE: &str = "code_mode";
const LIST: &str = "direct_only_tool_namespaces";
/// The key of `code_mode` that its value stands for if that is a boolean.
const ENABLED: &str = "enabled";

/// The namespace of a server's tools: Codex replaces everything but letters, digits and underscores.
pub fn of_server(name: &str) -> String {
    let sanitized: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("mcp__{sanitized}")
}

/// The namespaces in the list.
pub(crate) fn listed(content: &Map<String, Json>) -> Vec<String> {
    let list = content.get(FEATURES).and_then(|features| features.get(CODE_MODE)?.get(LIST)?.as_array());
    list.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Adds a namespace to the text.
pub(crate) fn add(text: &str, namespace: &str) -> Result<String, TextError> {
    edit_toml(text, |document| {
        let features = document.entry(FEATURES).or_insert_with(implicit_table);
        let features = features.as_table_like_mut().ok_or("its features are not a table")?;
        match features.get_mut(CODE_MODE) {
            Some(Item::Value(value)) if value.is_bool() => {
                let mut table = InlineTable::new();
                table.insert(ENABLED, Toml::from(value.as_bool().unwrap_or_default()));
                replace(value, Toml::InlineTable(table));
            }
            Some(_) => {}
            None => drop(features.insert(CODE_MODE, Item::Table(Table::new()))),
        }
        let code_mode = features.get_mut(CODE_MODE).and_then(Item::as_table_like_mut);
        let code_mode = code_mode.ok_or("its features.code_mode is not a table")?;
        let list = code_mode.entry(LIST).or_insert(Item::Value(Toml::Array(Array::new())));
        list.as_array_mut().ok_or("its direct_only_tool_namespaces are not an array")?.push(namespace);
        Ok(())
    })
}

/// Removes a namespace from the text, and what [`add`] has added for it.
pub(crate) fn remove(text: &str, namespace: &str) -> Result<String, TextError> {
    edit_toml(text, |document| {
        let features = document.get_mut(FEATURES).and_then(Item::as_table_like_mut);
        let removed = features.and_then(|features| remove_from_features(features, namespace));
        let Some(mut comments) = removed else { return Ok(()) };
        let is_left_empty = |item: &Item| item.as_inline_table().is_some_and(InlineTable::is_empty);
        if document.get(FEATURES).is_some_and(is_left_empty) {
            comments += &take(document.as_table_mut(), FEATURES);
        }
        keep_comments(document, &comments);
        Ok(())
    })
}

/// Removes a namespace, and what is left empty. Returns the comments around what is removed; `None` if nothing is.
fn remove_from_features(features: &mut dyn TableLike, namespace: &str) -> Option<String> {
    let code_mode = features.get_mut(CODE_MODE)?;
    let table = code_mode.as_table_like_mut()?;
    let list = table.get_mut(LIST)?.as_array_mut()?;
    let index = list.iter().position(|item| item.as_str() == Some(namespace))?;
    remove_item(list, index);
    let mut comments = if list.is_empty() { take(table, LIST) } else { String::new() };
    if let Item::Value(value) = code_mode
        && let Some(enabled) = only_enabled(value)
    {
        replace(value, enabled);
    }
    if features.get(CODE_MODE)?.as_table_like().is_some_and(TableLike::is_empty) {
        comments = take(features, CODE_MODE) + &comments;
    }
    Some(comments)
}

/// Removes an item, and moves the comments around it to the next item or to the end of the list. A comment after a
/// comma is the beginning of the next item.
fn remove_item(list: &mut Array, index: usize) {
    let removed = list.remove(index);
    let [before, after] = around(removed.decor());
    let kept = joined(before, after);
    let Some(next) = list.get_mut(index) else {
        let end = joined(&kept, list.trailing().as_str().unwrap_or_default());
        return list.set_trailing(end);
    };
    let decor = next.decor_mut();
    let before = decor.prefix().and_then(|text| text.as_str()).unwrap_or_default();
    let has_comments = kept.contains('#') || before.contains('#');
    if has_comments {
        let before = joined(&kept, before);
        decor.set_prefix(before);
    } else if index == 0 {
        let first = removed.decor().prefix().cloned().unwrap_or_default();
        decor.set_prefix(first);
    }
}

/// The comments of a text, and on the next line `after`.
fn joined(comments: &str, after: &str) -> String {
    if !comments.contains('#') {
        return after.to_owned();
    }
    let is_on_next_line = after.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    let line_end = if is_on_next_line { "" } else { "\n" };
    format!("{}{line_end}{after}", comments.trim_end())
}

/// The value of `enabled` in an inline table that has only this key.
fn only_enabled(value: &Toml) -> Option<Toml> {
    let table = value.as_inline_table().filter(|table| table.len() == 1)?;
    table.get(ENABLED)?.as_bool().map(Toml::from)
}

/// Replaces a value, and keeps the space and the comments around it.
fn replace(value: &mut Toml, mut by: Toml) {
    *by.decor_mut() = value.decor().clone();
    *value = by;
}

/// Adds a namespace to the parsed content.
pub(crate) fn add_to(content: &mut Map<String, Json>, namespace: &str) {
    let features = content.entry(FEATURES).or_insert_with(|| json!({}));
    let Some(features) = features.as_object_mut() else { return };
    let code_mode = features.entry(CODE_MODE).or_insert_with(|| json!({}));
    if let Json::Bool(enabled) = code_mode {
        *code_mode = json!({ ENABLED: *enabled });
    }
    let Some(code_mode) = code_mode.as_object_mut() else { return };
    if let Some(list) = code_mode.entry(LIST).or_insert_with(|| json!([])).as_array_mut() {
        list.push(json!(namespace));
    }
}

/// Removes a namespace from the parsed content. `text` is the changed text's content, which decides whether `code_mode`
/// is a boolean again.
pub(crate) fn remove_from(content: &mut Map<String, Json>, namespace: &str, text: &Map<String, Json>) {
    let Some(features) = content.get_mut(FEATURES).and_then(Json::as_object_mut) else { return };
    let Some(code_mode) = features.get_mut(CODE_MODE).and_then(Json::as_object_mut) else { return };
    let Some(list) = code_mode.get_mut(LIST).and_then(Json::as_array_mut) else { return };
    if let Some(index) = list.iter().position(|item| item.as_str() == Some(namespace)) {
        list.remove(index);
    }
    if list.is_empty() {
        code_mode.remove(LIST);
    }
    let is_boolean = text.get(FEATURES).is_some_and(|features| features[CODE_MODE].is_boolean());
    let enabled = code_mode.get(ENABLED).filter(|_| code_mode.len() == 1 && is_boolean).cloned();
    if code_mode.is_empty() {
        features.remove(CODE_MODE);
    } else if let Some(enabled) = enabled {
        features.insert(CODE_MODE.to_owned(), enabled);
    }
    if features.is_empty() {
        content.remove(FEATURES);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value as Json, json};

    use super::{add, add_to, listed, of_server, remove, remove_from};

    fn content(text: &str) -> Map<String, Json> {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_namespace_is_added_and_removed_and_everything_else_stays() {
        for (before, after) in [
            ("", "[features.code_mode]\ndirect_only_tool_namespaces = [\"mcp__a\"]\n"),
            (
                "# mine\nmodel = \"o9\" # fast\n",
                "# mine\nmodel = \"o9\" # fast\n\n[features.code_mode]\ndirect_only_tool_namespaces = [\"mcp__a\"]\n",
            ),
            (
                "[features]\ncode_mode = true # on\nweb = false\n",
                "[features]\ncode_mode = { enabled = true, direct_only_tool_namespaces = [\"mcp__a\"] } # on\n\
                 web = false\n",
            ),
            (
                "features = { code_mode = false, web = true }\n",
                "features = { code_mode = { enabled = false, \
                 direct_only_tool_namespaces = [\"mcp__a\"] }, web = true }\n",
            ),
            (
                "features.code_mode = true\n",
                "features.code_mode = { enabled = true, direct_only_tool_namespaces = [\"mcp__a\"] }\n",
            ),
            (
                "[features]\nweb = true\n\n[zebra]\na = 1\n",
                "[features]\nweb = true\n\n[features.code_mode]\n\
                 direct_only_tool_namespaces = [\"mcp__a\"]\n\n[zebra]\na = 1\n",
            ),
            (
                "[features.code_mode]\nenabled = true # kept\ndirect_only_tool_namespaces = [\"mcp__b\"] # others\n",
                "[features.code_mode]\nenabled = true # kept\n\
                 direct_only_tool_namespaces = [\"mcp__b\", \"mcp__a\"] # others\n",
            ),
            (
                "[features.code_mode]\ndirect_only_tool_namespaces = [\n  \"mcp__b\", # first\n  'mcp__c',\n]\n",
                "[features.code_mode]\n\
                 direct_only_tool_namespaces = [\n  \"mcp__b\", # first\n  'mcp__c', \"mcp__a\",\n]\n",
            ),
            (
                "[features.code_mode]\nexcluded_tool_namespaces = [\"x\"]\n",
                "[features.code_mode]\nexcluded_tool_namespaces = [\"x\"]\n\
                 direct_only_tool_namespaces = [\"mcp__a\"]\n",
            ),
        ] {
            let changed = add(before, "mcp__a").unwrap();
            assert_eq!(changed, after);
            let mut meant = content(before);
            add_to(&mut meant, "mcp__a");
            assert_eq!(content(&changed), meant);
            assert!(listed(&meant).contains(&"mcp__a".to_owned()));
            let back = remove(&changed, "mcp__a").unwrap();
            assert_eq!(back, before);
            remove_from(&mut meant, "mcp__a", &content(&back));
            assert_eq!(meant, content(before));
        }
    }

    #[test]
    fn removal_keeps_all_comments() {
        let in_list = |list: &str| {
            format!(
                "[features.code_mode]\nenabled = true\ndirect_only_tool_namespaces = [{list}]\n[z]\nz = 1\n"
            )
        };
        for (before, after) in [
            ("\"mcp__a\",\n # b\n \"mcp__b\"", "\n # b\n \"mcp__b\""),
            ("\"mcp__a\", # a\n \"mcp__b\"", " # a\n \"mcp__b\""),
            ("\n # a\n \"mcp__a\",\n # b\n \"mcp__b\"\n", "\n # a\n # b\n \"mcp__b\"\n"),
            ("\"mcp__b\", # b\n \"mcp__a\",\n", "\"mcp__b\", # b\n"),
            ("\"mcp__b\", # b\n \"mcp__a\" # a\n", "\"mcp__b\" # b\n # a\n"),
            ("\"mcp__b\", # b\n \"mcp__a\"", "\"mcp__b\" # b\n"),
            ("\"mcp__b\",\n \"mcp__a\", # a\n \"mcp__c\",\n", "\"mcp__b\", # a\n \"mcp__c\",\n"),
        ] {
            assert_eq!(remove(&in_list(before), "mcp__a").unwrap(), in_list(after));
        }
        for before in [
            "[features.code_mode] # 1\nenabled = true\n# 2\n\
             direct_only_tool_namespaces = [ # 3\n # 4\n\"mcp__a\" # 5\n, # 6\n] # 7\n# 8\n",
            "# 1\n[features.code_mode] # 2\n# 3\n\
             direct_only_tool_namespaces = [\"mcp__a\", # 4\n] # 5\n# 6\n[z] # 7\n# 8\n",
            "# 1\nfeatures.code_mode.direct_only_tool_namespaces = [ # 2\n\
             # 3\n\"mcp__a\" # 4\n# 5\n] # 6\n# 7\nb = 1 # 8\n",
            "# 1\n[features] # 2\n# 3\ncode_mode = { direct_only_tool_namespaces = [\"mcp__a\", # 4\n\
             # 5\n] } # 6\n# 7\nb = 1 # 8\n",
            "# 1\nfeatures = { code_mode = { direct_only_tool_namespaces = [ # 2\n\
             # 3\n\"mcp__a\" # 4\n# 5\n] } } # 6\n# 7\nb = 1 # 8\n",
            "# 1\n[features] # 2\n# 3\ncode_mode = { enabled = true, direct_only_tool_namespaces = [\"mcp__a\", # 4\n\
             # 5\n] } # 6\n# 7\nb = 1 # 8\n",
        ] {
            let text = remove(before, "mcp__a").unwrap();
            for comment in 1..=8 {
                assert_eq!(text.matches(&format!("# {comment}\n")).count(), 1, "{comment}: {before}\n{text}");
            }
            assert!(!text.contains("mcp__a"), "{text}");
            content(&text);
        }
    }

    #[test]
    fn the_mark_and_the_line_ends_stay() {
        let before = "\u{feff}# mine\r\n[features]\r\ncode_mode = true\r\n";
        let added = add(before, "mcp__a").unwrap();
        assert!(added.starts_with("\u{feff}# mine\r\n") && added.contains("[\"mcp__a\"] }\r\n"), "{added:?}");
        assert!(!added.replace("\r\n", "").contains(['\r', '\n']), "{added:?}");
        assert_eq!(remove(&added, "mcp__a").unwrap(), before);
    }

    #[test]
    fn only_our_item_is_removed_and_odd_files_are_refused() {
        let list = "[features.code_mode]\ndirect_only_tool_namespaces = [\"mcp__a\", \"mcp__b\"]\n";
        assert_eq!(remove(list, "mcp__a").unwrap(), list.replace("\"mcp__a\", ", ""));
        assert_eq!(remove(list, "mcp__c").unwrap(), list);
        assert_eq!(
            remove("[features]\ncode_mode = true\n", "mcp__a").unwrap(),
            "[features]\ncode_mode = true\n"
        );
        for odd in [
            "features = 1\n",
            "features.code_mode = 1\n",
            "features.code_mode.direct_only_tool_namespaces = 1\n",
        ] {
            assert!(add(odd, "mcp__a").is_err(), "{odd}");
            assert_eq!(remove(odd, "mcp__a").unwrap(), odd);
        }
        assert_eq!(of_server("my-tools_2"), "mcp__my_tools_2");
        assert_eq!(listed(json!({ "features": 1 }).as_object().unwrap()), Vec::<String>::new());
    }
}
