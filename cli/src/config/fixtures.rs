//! Tests over the configurations in `cli/tests/configurations`, the examples and the documentation: the good ones load
//! and fit the JSON Schema, the broken ones are told as it is written down beside them.
//!
//! `UPDATE_GOLDEN=1 cargo test -p toolsmith --lib` writes down what is told now, and the schema.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::{Layer, check, layers, schema, server, source};

fn files(folder: &str) -> Vec<PathBuf> {
    let is_one = |path: &PathBuf| path.extension().is_some_and(|end| end == "yaml" || end == "json");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_one).collect();
    files.sort();
    assert!(!files.is_empty(), "{folder}");
    files
}

fn update() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&schema::schema()).unwrap()
}

/// Everything that is wrong with a text, whatever its variables hold.
fn problems(path: &Path, text: &str) -> Vec<String> {
    let document = source::read(&Layer::Named(path.to_owned()), text).unwrap();
    let (settings, wrong) = check::settings(&document);
    let mut problems: Vec<_> = wrong.iter().map(|problem| document.source.tell(problem)).collect();
    for entry in &document.entries {
        let checked = server::server(&document.source, entry, &settings, |name| Some(name.to_lowercase()));
        let wrong = checked.err().unwrap_or_default();
        problems.extend(wrong.iter().map(|problem| document.source.tell(problem)));
    }
    problems
}

#[track_caller]
fn assert_good(path: &Path, text: &str) {
    let wrong = problems(path, text);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let tree = source::read(&Layer::Named(path.to_owned()), text).unwrap().tree.to_json();
    let errors: Vec<_> =
        validator().iter_errors(&tree).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{} does not fit the schema: {errors:#?}", path.display());
}

#[test]
fn good_configurations_and_the_examples_load_and_fit_the_schema() {
    for path in files("tests/configurations/good").into_iter().chain(files("../examples")) {
        assert_good(&path, &std::fs::read_to_string(&path).unwrap());
    }
}

#[test]
fn broken_configurations_are_told_with_places_and_fixes() {
    let (mut differ, mut fits) = (Vec::new(), Vec::new());
    for path in files("tests/configurations/broken") {
        let told = match layers::alone(&Layer::Named(path.clone())) {
            Ok(layers) => layers.problems().join("\n"),
            Err(error) => error.to_string(),
        } + "\n";
        assert!(!told.contains("not-to-be-shown"), "{told}");
        assert!(told.contains(&format!("{}:", path.display())), "no place: {told}");
        let written = path.with_extension(format!("{}.txt", path.extension().unwrap().to_str().unwrap()));
        if update() {
            std::fs::write(&written, &told).unwrap();
        }
        if std::fs::read_to_string(&written).unwrap_or_default() != told {
            differ.push(told);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        if let Ok(document) = source::read(&Layer::Named(path.clone()), &text)
            && validator().is_valid(&document.tree.to_json())
        {
            fits.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    assert!(differ.is_empty(), "not as written down:\n{}", differ.join("\n"));
    // Rules that only the program knows; everything else an editor can tell by the schema.
    let only_checked = [
        "addresses.yaml",
        "both_codes.yaml",
        "code_mode.yaml",
        "code_mode_twice.yaml",
        "headers.yaml",
        "http_with_command.yaml",
        "no_target.yaml",
        "roots.yaml",
        "sandbox.yaml",
        "sandbox_twice.yaml",
        "stdio_with_url.yaml",
        "subagent_name.yaml",
        "times.yaml",
        "variables.yaml",
    ];
    let surprising: Vec<_> = fits.iter().filter(|name| !only_checked.contains(&name.as_str())).collect();
    assert!(surprising.is_empty(), "the schema takes {surprising:?}");
}

#[test]
fn the_schema_that_is_checked_in_is_current() {
    let current = serde_json::to_string_pretty(&schema::schema()).unwrap() + "\n";
    if update() {
        std::fs::write("config.schema.json", &current).unwrap();
    }
    assert_eq!(std::fs::read_to_string("config.schema.json").unwrap_or_default(), current);
}

#[test]
fn every_key_of_the_schema_is_decoded() {
    // A null is no value of any key: it is either taken for nothing or told, but never called unknown.
    let schema = schema::schema();
    let of = |pointer: &str| -> Vec<String> {
        schema.pointer(pointer).and_then(Json::as_object).unwrap().keys().cloned().collect()
    };
    let cases = [
        ("/properties", "KEY: null\n"),
        ("/$defs/ServerEntry/properties", "mcpServers: { a: { KEY: null } }\n"),
        ("/$defs/OAuthEntry/properties", "mcpServers: { a: { oauth: { KEY: null } } }\n"),
        ("/$defs/CodeModeEntry/properties", "codeMode: { KEY: null }\n"),
        ("/$defs/ModelEntry/properties", "models: [{ KEY: null }]\n"),
    ];
    for (pointer, form) in cases {
        for key in of(pointer) {
            let told = problems(Path::new("/x.yaml"), &form.replace("KEY", &key)).join("\n");
            assert!(!told.contains("is not known"), "{key}: {told}");
        }
    }
}

#[test]
fn the_configurations_in_the_documentation_load() {
    let text = std::fs::read_to_string("../docs/mcp-setup.md").unwrap();
    let examples: Vec<&str> =
        text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() >= 3, "{}", examples.len());
    for example in examples {
        assert_good(Path::new("../docs/mcp-setup.md"), example);
    }
}
