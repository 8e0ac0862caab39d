//! Tests of the layers: the search for them, their use, and their precedence.
//!
//! The working folder and the variables belong to a process, so each test runs in its own process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;

/// Says that a process is one of these tests, and names the folder with the folders below.
const ROOT: &str = "LAYERS_TEST_ROOT";

/// The working folder, and the user's folder of configurations.
const PROJECT: &str = "project";
const USER: &str = "config/toolsmith";

/// The folders of a test.
struct Folders(PathBuf);

impl Folders {
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn project(&self, text: &str) -> PathBuf {
        self.write("project/toolsmith.yaml", text)
    }

    fn user(&self, text: &str) -> PathBuf {
        self.write("config/toolsmith/config.yaml", text)
    }
}

/// Runs `test`, which a test consists of, in its own process, with new folders and these variables.
#[track_caller]
fn alone<T: FnOnce(&Folders)>(variables: &[(&str, &str)], test: T) {
    if let Some(root) = std::env::var_os(ROOT) {
        return test(&Folders(root.into()));
    }
    let root = tempfile::tempdir().unwrap();
    let path = root.path().canonicalize().unwrap();
    for folder in [PROJECT, USER] {
        fs::create_dir_all(path.join(folder)).unwrap();
    }
    // The name of the closure begins with that of its test.
    let name = std::any::type_name::<T>().split_once("::").unwrap().1;
    let name = name.strip_suffix("::{{closure}}").unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name])
        .env_remove(SERVERS_VARIABLE)
        .env_remove("TOOLSMITH_MCP_DEBUG")
        .env("HOME", &path)
        .env("XDG_CONFIG_HOME", path.join("config"))
        .env("XDG_STATE_HOME", path.join("state"))
        .env("TOOLSMITH_CACHE_DIR", path.join("cache"))
        .env(ROOT, &path)
        .envs(variables.iter().copied())
        .current_dir(path.join(PROJECT))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains(" 1 passed"), "{said}");
}

fn named(file: &Path) -> LoadOptions {
    LoadOptions { file: Some(file.to_owned()), ..LoadOptions::default() }
}

fn layers_of(layers: &Layers) -> Vec<&ConfigLayer> {
    layers.documents.iter().map(|document| &document.source.layer).collect()
}

fn error_of<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("it must fail"),
        Err(error) => report::Report::from(error).for_model(),
    }
}

fn trust(project: &Path, config: &str, lock: Option<&str>) {
    trust::record(project, Some(ProjectFiles::new(config, lock))).unwrap();
}

/// A configuration with one server that runs `command`.
fn server(name: &str, command: &str) -> String {
    format!("mcpServers:\n  {name}: {{ command: {command} }}\n")
}

/// The commands of the configured servers, by name.
fn commands(config: &Config) -> Vec<(&str, &str)> {
    config.servers.iter().map(|server| (server.connection.name.as_str(), server.target.as_str())).collect()
}

#[test]
fn without_files_and_variables_there_are_no_layers() {
    alone(&[(SERVERS_VARIABLE, "")], |folders| {
        assert_eq!((user_file().unwrap(), project_file(&folders.0.join(PROJECT)).unwrap()), (None, None));
        let layers = gather(&LoadOptions::default()).unwrap();
        assert!(layers.documents.is_empty() && layers.notes.is_empty() && layers.untrusted.is_none());
        assert!(layers.refused().is_empty() && layers.problems().is_empty());
    });
}

#[test]
fn a_file_has_one_of_its_names() {
    alone(&[], |folders| {
        let names = ["toolsmith.yaml", "toolsmith.yml", "toolsmith.json", ".toolsmith/config.yaml"];
        for name in names.iter().chain(&[".toolsmith/config.yml", ".toolsmith/config.json"]) {
            let file = folders.write(&format!("{PROJECT}/{name}"), "");
            assert_eq!(project_file(&folders.0.join(PROJECT)).unwrap(), Some(file.clone()));
            assert!(candidates(&LoadOptions::default()).contains(&file), "{name}");
            fs::remove_file(file).unwrap();
        }
        for name in NAMES {
            let file = folders.write(&format!("{USER}/{name}"), "");
            assert_eq!(user_file().unwrap(), Some(file.clone()));
            assert!(candidates(&LoadOptions::default()).contains(&file), "{name}");
            fs::remove_file(file).unwrap();
        }
        let file = folders.0.join("project/other.yaml");
        assert!(candidates(&named(Path::new("other.yaml"))).contains(&file));
        assert!(!candidates(&LoadOptions::default()).contains(&file));
    });
}

#[test]
fn two_files_of_one_layer_are_an_error() {
    alone(&[], |folders| {
        folders.project("");
        folders.write("project/.toolsmith/config.yaml", "");
        assert!(error_of(gather(&LoadOptions::default())).contains("two configurations"));
    });
}

#[test]
fn a_pipe_is_not_read() {
    alone(&[], |folders| {
        let pipe = folders.0.join(USER).join("config.yaml");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(error_of(user_file()).contains("is a pipe"));
    });
}

#[test]
fn a_project_has_no_effect_before_it_is_trusted() {
    alone(&[], |folders| {
        let text = server("s", "one");
        let file = folders.project(&text);
        let other = folders.write("other.yaml", &server("o", "other"));
        let options = LoadOptions::default();
        let refused = |what: &str| {
            let error = error_of(gather(&options));
            assert!(error.contains(what) && error.contains("toolsmith trust"), "{error}");
            let left_out = gather(&options.clone().without_untrusted()).unwrap();
            assert!(left_out.documents.is_empty() && left_out.notes.is_empty());
            assert!(left_out.untrusted.unwrap().contains(what));
            let named_layers = gather(&named(&other)).unwrap();
            assert_eq!(layers_of(&named_layers), [&ConfigLayer::Named(other.clone())]);
            assert!(named_layers.notes[0].contains(what) && named_layers.untrusted.is_none());
        };
        let project = ConfigLayer::Project(file.clone());
        let accepted = || {
            let layers = gather(&options).unwrap();
            assert_eq!(layers_of(&layers), [&project]);
            assert!(layers.notes.is_empty() && layers.untrusted.is_none());
        };
        refused("not trusted yet");
        let shown = LoadOptions { untrusted: Untrusted::Shown, ..options.clone() };
        assert_eq!(layers_of(&gather(&shown).unwrap()), [&project]);
        trust(&file, &text, None);
        accepted();
        folders.project(&server("s", "two"));
        refused("has changed");
        folders.project(&text);
        accepted();
        let lock = folders.write("project/toolsmith.lock", "{}");
        refused("lock file");
        trust(&file, &text, Some("{}"));
        accepted();
        fs::remove_file(lock).unwrap();
        refused("lock file");
        trust(&file, &text, None);
        accepted();
        trust::record(&file, None).unwrap();
        refused("not trusted yet");
    });
}

#[test]
fn trust_is_recorded_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    alone(&[], |folders| {
        let file = folders.project("");
        let files = ProjectFiles::new("", None);
        let record = trust::file().unwrap();
        assert_eq!(record, folders.0.join(USER).join("trusted.json"));
        assert_eq!(trust::of(&file, files).unwrap(), Trust::Missing);
        trust(&file, "", None);
        assert_eq!(trust::of(&file, files).unwrap(), Trust::Given);
        assert_eq!(fs::metadata(&record).unwrap().permissions().mode() & 0o777, 0o600);
        // Another path to the same file is the same project.
        std::os::unix::fs::symlink(folders.0.join(PROJECT), folders.0.join("link")).unwrap();
        let linked = folders.0.join("link/toolsmith.yaml");
        assert_eq!(trust::of(&linked, files).unwrap(), Trust::Given);
        let another = folders.write("another/toolsmith.yaml", "");
        assert_eq!(trust::of(&another, files).unwrap(), Trust::Missing);
        assert!(trust::of(&folders.0.join("nowhere.yaml"), files).is_err());
        // A record that can't be read trusts nothing, and is not replaced.
        fs::write(&record, "{").unwrap();
        assert!(error_of(trust::of(&file, files)).contains("trusted.json"));
        assert!(trust::record(&file, Some(files)).is_err());
        assert_eq!(fs::read_to_string(&record).unwrap(), "{");
    });
}

#[test]
fn a_stronger_layer_overrides_a_weaker_one() {
    alone(&[(SERVERS_VARIABLE, r#"[{ "name": "d", "command": "variable" }]"#)], |folders| {
        let of = |names: [&str; 4], command: &str, timeout: u32| {
            let servers = names.iter().filter(|name| !name.is_empty());
            let servers: String =
                servers.map(|name| format!("  {name}: {{ command: {command} }}\n")).collect();
            format!("globalSettings: {{ timeout: {timeout} }}\nmcpServers:\n{servers}")
        };
        let user = folders.user(&of(["a", "b", "c", "d"], "user", 1));
        let text = of(["b", "c", "d", ""], "project", 2);
        let project = folders.project(&text);
        trust(&project, &text, None);
        let third = folders.write("third.yaml", &of(["c", "d", "", ""], "third", 3));
        let layers = gather(&named(&third)).unwrap();
        let expected = [
            ConfigLayer::User(user),
            ConfigLayer::Project(project),
            ConfigLayer::Named(third),
            ConfigLayer::Environment,
        ];
        assert_eq!(layers_of(&layers), expected.iter().collect::<Vec<_>>());
        let entries: Vec<_> =
            layers.entries().iter().map(|(document, _)| document.source.layer.name()).collect();
        assert_eq!(entries, ["user", "project", "config", "environment"]);
        let config = layers.merge().unwrap();
        assert_eq!(commands(&config), [("a", "user"), ("b", "project"), ("c", "third"), ("d", "variable")]);
        assert_eq!(config.layers, expected);
        let timeouts = config.servers.iter().map(|server| server.connection.connect_timeout.as_secs());
        assert_eq!(timeouts.collect::<Vec<_>>(), [3; 4]);
    });
}

#[test]
fn a_project_that_is_named_is_one_layer_and_needs_no_trust() {
    alone(&[], |folders| {
        let file = folders.project(&server("s", "one"));
        let other = folders.write("other.yaml", "");
        for path in [file, PathBuf::from("toolsmith.yaml"), PathBuf::from("../project/toolsmith.yaml")] {
            let layers = gather(&named(&path)).unwrap();
            assert_eq!(layers_of(&layers), [&ConfigLayer::Named(path)]);
            assert!(layers.notes.is_empty());
        }
        assert!(!is_same(&folders.0.join("project/toolsmith.yaml"), &other));
        assert!(!is_same(&folders.0.join("no"), &folders.0.join("nothing")));
    });
}

#[test]
fn each_lock_file_beside_a_layer_is_in_force() {
    alone(&[], |folders| {
        let text = server("p", "x");
        let project = folders.project(&text);
        trust(&project, &text, Some("{}"));
        let locks = ["config/toolsmith", "project", "third"]
            .map(|folder| folders.write(&format!("{folder}/toolsmith.lock"), "{}"));
        let third = folders.write("third/x.yaml", &server("t", "x"));
        let layers = gather(&named(&third)).unwrap();
        let paths: Vec<_> = layers.locks.iter().map(|lock| lock.path.clone()).collect();
        assert_eq!(paths, locks);
        let names: Vec<Vec<_>> = layers.locks.iter().map(|lock| lock.names.iter().collect()).collect();
        assert_eq!(names, [vec![], vec!["p"], vec!["t"]]);
        // To be shown, the lock file of a project is read as well.
        let shown = LoadOptions { untrusted: Untrusted::Shown, ..LoadOptions::default() };
        assert_eq!(gather(&shown).unwrap().locks.len(), 2);
        assert_eq!(layers.merge().unwrap().locks.len(), 3);
    });
}

#[test]
fn a_lock_file_belongs_to_the_project_beside_it() {
    alone(&[], |folders| {
        let outer = folders.project("");
        let lock = folders.0.join(PROJECT).join(LOCK);
        assert_eq!(project_of_lock(&lock), Some(outer.clone()));
        assert_eq!(project_of_lock(Path::new(LOCK)), Some(outer.clone()));
        assert_eq!(project_of_lock(&outer), None);
        assert_eq!(project_of_lock(&folders.0.join(PROJECT).join(".toolsmith").join(LOCK)), None);
        fs::remove_file(outer).unwrap();
        let inner = folders.write("project/.toolsmith/config.yaml", "");
        assert_eq!(project_of_lock(&inner.with_file_name(LOCK)), Some(inner));
        assert_eq!(project_of_lock(&lock), None);
    });
}

#[test]
fn a_server_that_is_disabled_or_wrong_is_absent_with_the_reason() {
    alone(&[], |folders| {
        folders.user(
            "mcpServers:\n  off: { command: x }\n  remote: { url: \"https://x.example\" }\n  good: { command: x }\n",
        );
        let text = "mcpServers:\n  off: { enabled: false }\n  remote: { enabled: false }\n  \
                    unknown: { enabled: false }\n  wrong: { command: x, timeout: soon }\n";
        let third = folders.write("third.yaml", text);
        let layers = gather(&named(&third)).unwrap();
        assert_eq!(layers.problems().len(), 1);
        let config = layers.merge().unwrap();
        assert_eq!(commands(&config), [("good", "x")]);
        let absent: Vec<_> =
            config.absent.iter().map(|absent| (absent.name.as_str(), absent.transport)).collect();
        let (stdio, http) = (Some("stdio"), Some("http"));
        assert_eq!(absent, [("off", stdio), ("remote", http), ("unknown", None), ("wrong", stdio)]);
        let reasons: Vec<_> = config.absent.iter().filter_map(|absent| absent.wrong.as_deref()).collect();
        assert!(
            matches!(reasons[..], [[reason]] if reason.to_string().contains("third.yaml:5:")),
            "{reasons:?}"
        );
    });
}

#[test]
fn an_error_outside_the_servers_fails_the_whole_configuration() {
    alone(&[], |folders| {
        let of = |text: &str| gather(&named(&folders.write("x.yaml", text))).unwrap();
        assert!(error_of(of("globalSettings: { timeout: soon }\n").merge()).contains("x.yaml:1:"));
        let model = "models: [{ ref: m, id: i, type: openai }]\ndefaults: { model: ";
        assert!(of(&format!("{model}m }}\n")).merge().is_ok());
        let error = error_of(of(&format!("{model}other }}\n")).merge());
        assert!(error.contains("x.yaml:2:") && error.contains("other"), "{error}");
    });
}

#[test]
fn an_entry_is_checked_as_written_whether_or_not_its_variables_are_set() {
    alone(&[], |folders| {
        let text = "mcpServers:\n  off: { enabled: false }\n  open: { url: \"${NOT_SET}\" }\n  wrong: { args: [x] }\n";
        let file = folders.write("x.yaml", text);
        let layers = super::alone(&ConfigLayer::Named(file)).unwrap();
        let document = &layers.documents[0];
        let entry = |name: &str| document.entries.iter().find(|entry| entry.name == name).unwrap();
        assert!(layers.wrong(document, entry("open")).unwrap()[0].to_string().contains("NOT_SET"));
        for right in ["off", "open", "missing"] {
            assert_eq!(wrong_as_written(document, right), None, "{right}");
        }
        assert!(wrong_as_written(document, "wrong").unwrap()[0].to_string().contains("x.yaml:4:"));
    });
}

#[test]
fn programs_write_to_none_of_the_files_that_decide() {
    alone(&[], |folders| {
        let path = |name: &str| folders.0.join(name).display().to_string();
        let text = format!("codeMode: {{ sandbox: {{ write: [{:?}, {:?}] }} }}\n", path(USER), path(PROJECT));
        let file = folders.write("x.yaml", &text);
        let refused = gather(&named(&file)).unwrap().refused();
        assert!(
            matches!(&refused[..], [one] if one.to_string().contains("x.yaml:1:") && one.message.contains(USER)),
            "{refused:?}"
        );
    });
}

#[test]
fn notes_and_an_untrusted_project_become_warnings() {
    alone(&[], |folders| {
        folders.project(&server("s", "one"));
        let other = folders.write("other.yaml", &server("o", "other"));
        let named_layers = gather(&named(&other)).unwrap().merge().unwrap();
        assert_eq!((named_layers.warnings.len(), named_layers.untrusted), (1, None));
        let config = gather(&LoadOptions::default().without_untrusted()).unwrap().merge().unwrap();
        assert!(config.untrusted.is_some() && config.servers.is_empty());
        assert_eq!(config.warnings, config.untrusted.into_iter().collect::<Vec<_>>());
    });
}

/// Whether a server logs its messages, by the value of its key.
fn debugged(folders: &Folders) -> Vec<bool> {
    let text = "mcpServers:\n  a: { command: x, debug: false }\n  b: { command: x, debug: true }\n";
    let config = gather(&named(&folders.write("x.yaml", text))).unwrap().merge().unwrap();
    config.servers.iter().map(|server| server.connection.debug).collect()
}

#[test]
fn the_variable_for_debugging_overrides_every_entry_with_1() {
    alone(&[("TOOLSMITH_MCP_DEBUG", "1")], |folders| assert_eq!(debugged(folders), [true, true]));
}

#[test]
fn the_variable_for_debugging_overrides_every_entry_with_true() {
    alone(&[("TOOLSMITH_MCP_DEBUG", "true")], |folders| assert_eq!(debugged(folders), [true, true]));
}

#[test]
fn the_variable_for_debugging_overrides_nothing_with_0() {
    alone(&[("TOOLSMITH_MCP_DEBUG", "0")], |folders| assert_eq!(debugged(folders), [false, true]));
}
