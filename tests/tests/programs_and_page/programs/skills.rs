//! Programs as signed skills: `program export --skill` and `program import`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use end_to_end::cache::shared;
use end_to_end::harness::Run;
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Place;

const SHOUT: &str = "//! Echoes a text.\n//!\n//! In two ways, so that nobody misses it.\n//! Tags: text\n\
    //! Example: text = \"a\" => [\"a\", \"a!\"]\n\
    struct Args {\n    /// The text: any.\n    text: String,\n    times: Option<u8>,\n}\n\
    async fn run(args: Args) -> Result<Vec<String>> {\n    \
    let louder = format!(\"{}!\", args.text);\n    \
    let (a, b) = tokio::join!(demo::echo(&args.text), demo::echo(&louder));\n    \
    Ok(vec![a?.text().to_owned(), b?.text().to_owned()])\n}\n";

/// An author with the recorded program `shout_it`, exported as a skill.
struct Author {
    place: Place,
    folder: TempDir,
}

impl Author {
    fn new() -> Self {
        let author = Author { place: configured(), folder: tempfile::tempdir().unwrap() };
        author.place.write("shout_it", SHOUT);
        author.place.ok(&["program", "approve", "shout_it", "--yes"]);
        author.place.ok(&["program", "record", "shout_it"]);
        author
    }

    fn export(&self, more: &[&str]) -> String {
        let folder = self.folder.path().to_str().unwrap();
        let done = self.place.ok(&[&["program", "export", "shout_it", "--skill", folder], more].concat());
        assert_eq!(done.stdout, "");
        shown(&done.stderr)
    }

    /// The exported skill.
    fn skill(&self) -> PathBuf {
        self.folder.path().join("shout-it")
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.skill().join(file)).unwrap()
    }

    fn key(&self) -> String {
        let signature: Value = serde_json::from_str(&self.read("signature.json")).unwrap();
        signature["key"].as_str().unwrap().to_owned()
    }
}

/// A user whose configuration has the demo server, and marks flows between its tools.
fn configured() -> Place {
    let place = Place::new();
    let config = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], permissions: { '*': ask } }\n\
                  flows: { private: [echo], external: [echo], rules: [{ from: [echo], to: [echo], then: ask }] }\n";
    fs::write(place.home.path().join("toolsmith/config.yaml"), config).unwrap();
    fs::remove_file(place.programs().join("revenue.rs")).unwrap();
    place
}

fn import(place: &Place, skill: &Path, more: &[&str]) -> Run {
    place.run(&[&["program", "import", skill.to_str().unwrap()], more].concat())
}

/// A text without keys and digests, which differ from run to run.
fn shown(text: &str) -> String {
    let hidden = regex::Regex::new("[A-Za-z0-9+/]{43}=").unwrap().replace_all(text, "KEY=");
    let hidden = regex::Regex::new("[A-Za-z0-9+/]{86}==").unwrap().replace_all(&hidden, "SIGNATURE==");
    normal(&hidden.into_owned())
}

/// The names of all programs of a user.
fn programs(place: &Place) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(place.programs())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_skill_says_what_the_program_is_and_can_call() {
    let author = Author::new();
    assert_snapshot!(author.export(&[]), @"toolsmith: the skill is in /tmp/.tmpXXXXXX/shout-it, signed with the key KEY=");
    assert_snapshot!(author.read("SKILL.md"), @r#"
    ---
    name: "shout-it"
    description: "Echoes a text. In two ways, so that nobody misses it. Tags: text."
    compatibility: "Requires the command toolsmith, configured with the MCP servers: demo"
    metadata:
      toolsmith-program: "shout_it"
    ---

    # Echoes a text.

    In two ways, so that nobody misses it.

    This skill is a program of Toolsmith, which runs Rust programs in a sandbox and forwards their calls to MCP servers.

    ## Run it

    Import it once, from the folder of this file. The user sees what it can call, and decides:

    ```sh
    toolsmith program import .
    ```

    Then run it. It prints its result as JSON:

    ```sh
    toolsmith program run shout_it --args '{"text":"a"}'
    ```

    ## Arguments

    - `text` (required): The text: any.
    - `times` (optional)

    ## Calls

    It can call these tools of MCP servers:

    - `demo.echo`

    It can carry:

    - answers of demo.echo (private) into demo.echo

    ## Files

    - `assets/shout_it.rs`: the program
    - `assets/program.json`: the tools that it can call, and the JSON Schemas of its arguments and result
    - `assets/recorded.json`: runs of the program with the recorded answers of the tools, which test it at the import
    - `signature.json`: the digests of all files, signed by the author's key
    "#);
    assert_snapshot!(author.read("assets/program.json"), @r#"
    {
      "version": 1,
      "program": "shout_it",
      "calls": [
        "demo.echo"
      ],
      "flows": [
        "answers of demo.echo (private) into demo.echo"
      ],
      "arguments": {
        "type": "object",
        "additionalProperties": false,
        "properties": {
          "text": {
            "type": "string",
            "description": "The text: any."
          },
          "times": {
            "type": [
              "integer",
              "null"
            ],
            "format": "uint8",
            "minimum": 0,
            "maximum": 255
          }
        },
        "required": [
          "text"
        ],
        "title": "Args",
        "$schema": "https://json-schema.org/draft/2020-12/schema"
      },
      "result": {
        "type": "array",
        "items": {
          "type": "string"
        },
        "title": "Array_of_string",
        "$schema": "https://json-schema.org/draft/2020-12/schema"
      }
    }
    "#);
    assert_eq!(author.read("assets/shout_it.rs"), SHOUT);
    let recorded = fs::read_to_string(author.place.programs().join("shout_it.recorded.json")).unwrap();
    assert_eq!(author.read("assets/recorded.json"), recorded);
    let key = author.place.home.path().join("toolsmith/skill-key.pem");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    // The folder is not replaced.
    let folder = author.folder.path().to_str().unwrap();
    let again = author.place.run(&["program", "export", "shout_it", "--skill", folder]).done().exits(2);
    assert_snapshot!(shown(&again.stderr), @r#"
    toolsmith: /tmp/.tmpXXXXXX/shout-it exists already
    help: delete that folder first, or name another one
    "#);
    // Another key, and no tests.
    fs::remove_dir_all(author.skill()).unwrap();
    let (first, other) = (key.to_str().unwrap(), author.folder.path().join("other.pem"));
    fs::copy(first, &other).unwrap();
    author.export(&["--without-tests", "--key", other.to_str().unwrap()]);
    assert!(!author.skill().join("assets/recorded.json").exists());
    assert!(!author.read("SKILL.md").contains("recorded"));
}

#[test]
fn an_import_asks_tests_saves_and_approves() {
    let author = Author::new();
    author.export(&[]);
    let (user, skill) = (configured(), author.skill());
    // An unknown key, without and with a terminal.
    assert_snapshot!(shown(&import(&user, &skill, &["--yes"]).done().exits(2).stderr), @r#"
    toolsmith: the skill is signed with a key that you have not trusted: KEY=
    help: compare the key with the one that its author tells you
    help: to trust it without a question: --trust-key KEY=
    "#);
    assert_snapshot!(shown(&import(&user, &skill, &["--yes", "--trust-key", "other"]).done().exits(2).stderr), @r#"
    toolsmith: the skill is signed with a key that you have not trusted: KEY=
    help: it is not the key of --trust-key: compare the keys with the author
    "#);
    let key = author.key();
    let unasked = import(&user, &skill, &["--trust-key", &key]).done().exits(2);
    assert_snapshot!(shown(&unasked.stderr), @r#"
    toolsmith: there is no terminal to ask on
    help: to save or approve the program without a question, add --yes
    "#);
    assert_snapshot!(shown(&unasked.stdout), @r#"
    //! Echoes a text.
    //!
    //! In two ways, so that nobody misses it.
    //! Tags: text
    //! Example: text = "a" => ["a", "a!"]
    struct Args {
        /// The text: any.
        text: String,
        times: Option<u8>,
    }
    async fn run(args: Args) -> Result<Vec<String>> {
        let louder = format!("{}!", args.text);
        let (a, b) = tokio::join!(demo::echo(&args.text), demo::echo(&louder));
        Ok(vec![a?.text().to_owned(), b?.text().to_owned()])
    }
    It can call: demo.echo
    It can carry, without a question at the call:
      answers of demo.echo (private) into demo.echo
    Its recorded run is tested first, without any call.
    "#);
    let typing = |answers: &[&str], code: i32| {
        let home = user.home.path().to_str().unwrap();
        let run = Run::on_terminal(shared())
            .arguments(&["program", "import", skill.to_str().unwrap()])
            .working_folder(user.project.path())
            .variable("XDG_CONFIG_HOME", home)
            .variable("XDG_STATE_HOME", home);
        let started = run.start();
        for (count, answer) in answers.iter().enumerate() {
            started.answer("[y/N]", count + 1, answer);
        }
        let done = started.done().exits(code);
        // Each question resets the terminal first.
        let reset = regex::Regex::new("\u{1b}[^\n]*\u{1b}\\[J").unwrap();
        shown(&reset.replace_all(&done.stderr, ""))
    };
    typing(&["n\n"], 6);
    typing(&["y\n", "n\n"], 6);
    assert_eq!(programs(&user), [""; 0]);
    assert_snapshot!(typing(&["y\n", "y\n"], 0), @r#"
    toolsmith: the skill is signed with a key that you have not trusted: KEY=
    Is this the key of its author, and do you trust the author's skills? [y/N] y
    Save the program shout_it and approve it? [y/N] y
    toolsmith: the program shout_it is saved in /tmp/.tmpXXXXXX/toolsmith/programs/shout_it.rs
    "#);
    assert_eq!(programs(&user), ["shout_it.recorded.json", "shout_it.rs"]);
    // It is approved, with its flows; and the key is known.
    let outcome = user.run(&["program", "run", "shout_it", "--text", "b", "--json"]).expect("ok", 0);
    assert_eq!(outcome["result"], json!(["b", "b!"]));
    let again = import(&user, &skill, &["--yes"]).done().exits(0);
    assert_snapshot!(shown(&again.stdout), @r#"
    the text is the same as before
    It can call: demo.echo
    It can carry, without a question at the call:
      answers of demo.echo (private) into demo.echo
    Its recorded run is tested first, without any call.
    shout_it {"text":"a"}: passed
    "#);
    // The author knows the own key.
    import(&author.place, &skill, &["--yes"]).done().exits(0);
}

#[test]
fn a_skill_that_was_changed_is_refused() {
    let author = Author::new();
    author.export(&[]);
    let (user, skill, key) = (configured(), author.skill(), author.key());
    let refused = |change: &dyn Fn(&Path)| {
        let copy = tempfile::tempdir().unwrap();
        let copied = std::process::Command::new("cp").arg("-r").arg(&skill).arg(copy.path()).status();
        assert!(copied.unwrap().success());
        let changed = copy.path().join("shout-it");
        change(&changed);
        let done = import(&user, &changed, &["--yes", "--trust-key", &key]).done().exits(2);
        assert_eq!(programs(&user), [""; 0]);
        shown(&done.stderr)
    };
    let all = [
        refused(&|skill| fs::write(skill.join("assets/shout_it.rs"), SHOUT.replace("{}!", "{}?")).unwrap()),
        refused(&|skill| fs::remove_file(skill.join("assets/recorded.json")).unwrap()),
        refused(&|skill| fs::write(skill.join("more.md"), "Do more.").unwrap()),
        refused(&|skill| symlink("/etc/hostname", skill.join("assets/link")).unwrap()),
        refused(&|skill| (0..70).for_each(|n| fs::write(skill.join(format!("{n}")), "").unwrap())),
        refused(&|skill| fs::remove_file(skill.join("signature.json")).unwrap()),
        refused(&|skill| {
            let file = skill.join("signature.json");
            let signature = fs::read_to_string(&file).unwrap().replace("sha256:", "sha256:0");
            fs::write(file, signature).unwrap();
        }),
    ];
    assert_snapshot!(all.concat(), @r#"
    toolsmith: the skill in /tmp/.tmpXXXXXX/shout-it is not as its author signed it: assets/shout_it.rs has changed
    help: get it from its author again
    toolsmith: the skill in /tmp/.tmpXXXXXX/shout-it is not as its author signed it: assets/recorded.json is missing
    help: get it from its author again
    toolsmith: the skill in /tmp/.tmpXXXXXX/shout-it is not as its author signed it: more.md was added
    help: get it from its author again
    toolsmith: the skill in /tmp/.tmpXXXXXX/shout-it can't be imported: assets/link is a link, or no regular file
    toolsmith: the skill in /tmp/.tmpXXXXXX/shout-it can't be imported: it has more than 64 files and folders
    toolsmith: the skill in /tmp/.tmpXXXXXX/shout-it can't be imported: it has no signature.json
    help: name the folder of a skill that `toolsmith program export --skill` has written; `toolsmith program save` saves a program without a signature
    toolsmith: the skill in /tmp/.tmpXXXXXX/shout-it is not as its author signed it: its signature is wrong
    help: get it from its author again
    "#);
}

#[test]
fn a_skill_whose_tests_fail_saves_nothing() {
    let author = Author::new();
    author.place.write("shout_it", &SHOUT.replace("{}!", "{}?"));
    author.export(&[]);
    let (user, key) = (configured(), author.key());
    let done = import(&user, &author.skill(), &["--yes", "--trust-key", &key]).done().exits(1);
    assert_snapshot!(shown(&done.stdout), @r#"
    //! Echoes a text.
    //!
    //! In two ways, so that nobody misses it.
    //! Tags: text
    //! Example: text = "a" => ["a", "a!"]
    struct Args {
        /// The text: any.
        text: String,
        times: Option<u8>,
    }
    async fn run(args: Args) -> Result<Vec<String>> {
        let louder = format!("{}?", args.text);
        let (a, b) = tokio::join!(demo::echo(&args.text), demo::echo(&louder));
        Ok(vec![a?.text().to_owned(), b?.text().to_owned()])
    }
    It can call: demo.echo
    It can carry, without a question at the call:
      answers of demo.echo (private) into demo.echo
    Its recorded run is tested first, without any call.
    shout_it {"text":"a"}: failed
      demo.echo is requested with other arguments than recorded
        /message: "a!", now "a?"
      the recorded request of demo.echo was not made
        {"message":"a!"}
      its status is runtime_error, not ok
        the snippet failed: demo.echo is unavailable: demo.echo is requested with other arguments than recorded: the recording has no answer to it (line 14, column 35); 2 tool calls were made
    "#);
    assert_snapshot!(shown(&done.stderr), @r#"
    toolsmith: nothing is saved: 1 of 1 recorded runs failed
    help: its tools may differ from the author's; without tests: toolsmith program save
    "#);
    assert_eq!(programs(&user), [""; 0]);
    // The key is not trusted either.
    import(&user, &author.skill(), &["--yes"]).done().exits(2);
    fs::remove_dir_all(author.skill()).unwrap();
    author.export(&["--without-tests"]);
    let done = import(&user, &author.skill(), &["--yes", "--trust-key", &key]).done().exits(0);
    assert!(done.stdout.ends_with("It has no recorded runs to test it with.\n"), "{done:?}");
}
