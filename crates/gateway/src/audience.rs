//! Finds the audience of a tool: models, or only the apps of its user interface (MCP Apps: `_meta.ui.visibility`).
//! Removes the parts of a text that are only for models before the user sees it.

use std::borrow::Cow;

use serde_json::Value;

/// The beginning of advice for models that only the user can follow, and of the same advice for the user.
const FOR_MODELS: &str = "ask the user to run `toolsmith ";
const FOR_PERSON: &str = "run `toolsmith ";

/// A text for models as the user reads it: with what to type, instead of what to ask the user.
#[must_use]
pub fn for_person(text: &str) -> Cow<'_, str> {
    match text.contains(FOR_MODELS) {
        true => text.replace(FOR_MODELS, FOR_PERSON).into(),
        false => text.into(),
    }
}

/// The reason why models can't call a tool that is only for apps.
pub const FOR_APPS: &str = "its server offers it only to the apps of its user interface (`_meta.ui.visibility` does not name `model`)";

/// Whether a tool is only for apps: its metadata names audiences, and models are not among them.
#[must_use]
pub fn is_for_apps(tool: &Value) -> bool {
    tool.get("_meta").is_some_and(names_only_apps)
}

/// Whether the metadata of a tool names audiences without models.
pub(crate) fn names_only_apps(meta: &Value) -> bool {
    match meta.pointer("/ui/visibility") {
        Some(Value::Array(audiences)) => !audiences.iter().any(|audience| audience == "model"),
        // Not a list, as the specification wants, but clear.
        Some(Value::String(audience)) => audience == "app",
        // Without a valid list, everyone may see the tool.
        _ => false,
    }
}

/// The scheme of the addresses of views, which are resources (MCP Apps, "UI Resource Format").
pub const VIEWS: &str = "ui://";

/// The address of the view of a tool with this metadata, also in the form before the extension was stable.
pub(crate) fn view(meta: &Value) -> Option<&str> {
    let named = [meta.pointer("/ui/resourceUri"), meta.get("ui/resourceUri")];
    named.into_iter().flatten().filter_map(Value::as_str).find(|uri| uri.starts_with(VIEWS))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{for_person, is_for_apps};

    #[test]
    fn the_user_reads_what_to_type() {
        let text = "it is left out: ask the user to run `toolsmith trust` in its folder";
        assert_eq!(for_person(text), "it is left out: run `toolsmith trust` in its folder");
        assert_eq!(for_person("ask the user"), "ask the user");
    }

    #[test]
    fn a_tool_is_for_apps_if_its_audiences_lack_models() {
        let of = |visibility: serde_json::Value| {
            is_for_apps(&json!({ "name": "t", "_meta": { "ui": { "visibility": visibility } } }))
        };
        for hidden in [json!(["app"]), json!([]), json!(["App", null]), json!([1]), json!("app")] {
            assert!(of(hidden.clone()), "{hidden}");
        }
        for shown in [
            json!(["model"]),
            json!(["app", "model"]),
            json!("model"),
            json!("public"),
            json!(null),
            json!(true),
            json!({ "app": true }),
        ] {
            assert!(!of(shown.clone()), "{shown}");
        }
        for meta in
            [json!(null), json!([]), json!("app"), json!({}), json!({ "ui": ["app"] }), json!({ "ui": null })]
        {
            assert!(!is_for_apps(&json!({ "name": "t", "_meta": meta })), "{meta}");
        }
        assert!(!is_for_apps(&json!({ "name": "t" })));
    }
}
