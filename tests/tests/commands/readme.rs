//! The first hour of somebody who has only the README: every command of it is typed in order, in a new home with two
//! clients, one of which has a server of its own. Questions are answered with yes. At the end, a client starts the entry
//! in another folder and gets an answer. The record is one snapshot.
//!
//! Two kinds of commands are typed elsewhere: those of cargo in a fresh clone (`tests/first_use/run`), and those that
//! fetch packages from npm (`tests/peers/run first-hour`).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run, binary};
use end_to_end::page::{Page, escaped, without_escapes};
use end_to_end::serving::{Serve, execute, outcome_of};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::documentation::{Block, blocks, fits, repository, steps, without_waits};

/// The most lines of the README, so that it is read.
const LINES: usize = 180;

/// The most columns of a command, so that it fits the narrowest usual terminal.
const COLUMNS: usize = 80;

/// A server of Codex, as its user has configured it.
const CODEX: &str =
    "model = \"gpt-5\"\n\n[mcp_servers.notes]\ncommand = \"toolsmith\"\nargs = [\"demo-server\"]\n";

/// The number of questions of the commands with these beginnings.
const QUESTIONS: [(&str, usize); 3] =
    [("toolsmith adopt", 2), ("toolsmith setup", 1), ("toolsmith mcp add", 1)];

/// The tools of the machine that the commands need. A client in `PATH` would change what is printed.
const TOOLS: [&str; 8] = ["bash", "setsid", "cargo", "rustc", "rustup", "cc", "ld", "as"];

/// A user's home, and the clone that the commands are typed in.
struct User {
    home: TempDir,
    clone: TempDir,
    /// The commands that change the shell itself.
    exports: String,
}

impl User {
    fn new() -> Self {
        let user = User {
            home: tempfile::tempdir().unwrap(),
            clone: tempfile::tempdir().unwrap(),
            exports: String::new(),
        };
        fs::create_dir_all(user.home.path().join(".codex")).unwrap();
        fs::write(user.home.path().join(".codex/config.toml"), CODEX).unwrap();
        fs::write(user.home.path().join(".claude.json"), "{}\n").unwrap();
        fs::create_dir(user.clone.path().join("target")).unwrap();
        symlink(binary().parent().unwrap(), user.clone.path().join("target/debug")).unwrap();
        symlink(repository().join("examples"), user.clone.path().join("examples")).unwrap();
        let tools = user.home.path().join("tools");
        fs::create_dir(&tools).unwrap();
        let search = std::env::var("PATH").unwrap();
        for tool in TOOLS {
            let mut places = std::env::split_paths(&search).map(|folder| folder.join(tool));
            let place = places.find(|place| place.is_file()).unwrap_or_else(|| panic!("{tool} is missing"));
            symlink(place, tools.join(tool)).unwrap();
        }
        user
    }

    /// A command in the clone, by a shell that is started like this.
    fn shell(&self, shell: &[&str], command: &str) -> Run {
        let mut bash = Command::new(shell[0]);
        bash.args(&shell[1..]).arg(format!("{}{command}", self.exports));
        let cargo = folder_of("CARGO_HOME", ".cargo");
        let mut run = Run::of(bash, shared()).working_folder(self.clone.path());
        for (name, value) in [
            ("HOME", self.home.path().to_str().unwrap()),
            ("PATH", self.home.path().join("tools").to_str().unwrap()),
            ("CARGO_HOME", cargo.to_str().unwrap()),
            ("RUSTUP_HOME", folder_of("RUSTUP_HOME", ".rustup").to_str().unwrap()),
            ("DBUS_SESSION_BUS_ADDRESS", ""),
            ("CODEX_HOME", ""),
            ("CLAUDE_CONFIG_DIR", ""),
            ("XDG_CACHE_HOME", ""),
            ("XDG_CONFIG_HOME", ""),
            ("XDG_STATE_HOME", ""),
        ] {
            run = run.variable(name, value);
        }
        run
    }

    /// Types a command at a terminal, and answers its questions with yes.
    fn types(&mut self, command: &str) -> FinishedRun {
        if command.starts_with("export ") {
            self.exports += &format!("{command}\n");
        }
        let questions =
            QUESTIONS.iter().find(|(start, _)| command.starts_with(start)).map_or(0, |(_, count)| *count);
        let run = self.shell(&["setsid", "--ctty", "bash", "-c"], command).terminal().start();
        (1..=questions).for_each(|count| run.answer("[y/N] ", count, "y\n"));
        let mut done = run.done();
        done.stderr = without_escapes(&without_progress(&done.stderr));
        done
    }

    /// Runs the commands of a `console` block, and compares what they print with what the block shows.
    fn follows(&self, block: &Block, page: &mut Page) {
        for step in steps(block) {
            let done = self.shell(&["bash", "-c"], &format!("{{ {}\n}} 2>&1", step.command)).done();
            let output = without_waits(&done.stdout);
            let (shown, printed): (Vec<&str>, Vec<&str>) =
                (step.output.iter().map(String::as_str).collect(), output.lines().collect());
            assert!(
                fits(&shown, &printed),
                "$ {}\n-- shown:\n{shown:#?}\n-- printed:\n{printed:#?}",
                step.command
            );
            page.add(&step.command, &output);
        }
    }

    /// The answer of a program of the client's model. The client starts the entry of its file in another folder.
    fn asks_in_client(&self) -> Value {
        let text = fs::read_to_string(self.home.path().join(".codex/config.toml")).unwrap();
        let entry = toml::from_str::<Value>(&text).unwrap()["mcp_servers"]["toolsmith"].clone();
        assert_eq!(entry["args"], json!(["serve"]), "{text}");
        let mut serve = Serve::in_folder(&["serve"]).variable("HOME", self.home.path().to_str().unwrap());
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            serve = serve.variable(name, "");
        }
        for (name, value) in entry["env"].as_object().unwrap() {
            serve = serve.variable(name, value.as_str().unwrap());
        }
        let mut server = serve.start();
        server.shake_hands();
        let code = "let customer = shop::get_customer(\"c-01\").await?;\n\
                    (customer.name, notes::list_orders().await?.orders.len())";
        let answer = server.ask(1, "tools/call", &execute(code));
        assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
        answer["result"]["content"].clone()
    }
}

/// The folder that a variable names, or this one in the home of the user who runs the tests.
fn folder_of(variable: &str, otherwise: &str) -> PathBuf {
    std::env::var_os(variable)
        .map_or_else(|| PathBuf::from(std::env::var("HOME").unwrap()).join(otherwise), PathBuf::from)
}

/// A terminal's text without the lines that are drawn again while servers are waited for.
fn without_progress(text: &str) -> String {
    let mut parts = text.split("\r\u{1b}[K");
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.filter(|part| !part.contains("/2 servers") || part.contains('\n')).collect();
    [&[first], &rest[..]].concat().concat()
}

/// The commands of a `sh` block.
fn commands(block: &Block) -> impl Iterator<Item = &str> {
    block.text.lines().filter(|line| !line.is_empty())
}

#[test]
fn every_command_of_the_readme_works_for_somebody_who_has_only_the_readme() {
    let text = fs::read_to_string(repository().join("README.md")).unwrap();
    let (mut user, mut page) = (User::new(), Page::new("readme"));
    for block in blocks(&text) {
        match block.info.as_str() {
            "sh" => {
                for command in commands(&block) {
                    if command.starts_with("cargo ") || command.contains("npx ") {
                        page.add(command, "[typed by another test]");
                        continue;
                    }
                    let done = user.types(command);
                    page.ended(command, &done);
                    assert_eq!(done.code(), 0, "{command}: {done:#?}");
                }
            }
            "console" => user.follows(&block, &mut page),
            // The text of an example, which the commands name by its path.
            "rust" => {}
            other => panic!("a block of another kind: {other}"),
        }
    }
    page.add("the client's model: execute_code", &format!("{:#}", user.asks_in_client()));
    let cargo = escaped(folder_of("CARGO_HOME", ".cargo").to_str().unwrap());
    let rustup = escaped(folder_of("RUSTUP_HOME", ".rustup").to_str().unwrap());
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(&cargo, "[cargo]");
    settings.add_filter(&rustup, "[rustup]");
    settings.bind(|| page.check());
}

#[test]
fn the_readme_is_short_and_its_commands_fit_a_terminal() {
    let text = fs::read_to_string(repository().join("README.md")).unwrap();
    let lines = text.lines().count();
    assert!(lines <= LINES, "{lines} lines");
    for block in blocks(&text) {
        let typed: Vec<String> = match block.info.as_str() {
            "sh" => commands(&block).map(str::to_owned).collect(),
            "console" => steps(&block).into_iter().map(|step| step.command).collect(),
            _ => Vec::new(),
        };
        for command in typed {
            assert!(command.chars().count() <= COLUMNS, "{command}");
            assert!(!command.contains("cargo run -q"), "the build is silent: {command}");
        }
    }
}
