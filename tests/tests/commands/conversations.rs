//! `toolsmith conversation`: list, print, export, delete, prune.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agent::{Block, Message, NewConversation, Role, Store, ToolCall, ToolResult, Usage};
use end_to_end::harness::{FinishedRun, Run};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A state folder with conversations of a parent and two subagents.
pub(crate) struct StoredConversations {
    pub(crate) folder: TempDir,
    pub(crate) parent: String,
    reviewer: String,
    pub(crate) coder: String,
    /// The first answer in the parent's conversation.
    answer: String,
}

fn file(folder: &Path) -> PathBuf {
    folder.join("toolsmith/conversations.db")
}

fn about(label: Option<&str>) -> NewConversation {
    let parent_run = label.map(|_| "p1".to_owned());
    NewConversation {
        label: label.map(str::to_owned),
        parent_run,
        model: "small".into(),
        folder: "/work".into(),
    }
}

impl StoredConversations {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&file(folder.path())).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let usage = Usage { input: 100, output: 20, cached: 50 };
        let call = ToolCall {
            id: "c1".into(),
            name: "execute_code".into(),
            arguments: json!({ "code": "let a = 1;\na" }),
            signatures: Vec::new(),
        };
        let (parent, reviewer, coder, answer) = runtime.block_on(async {
            let mut reviewer = store.begin(about(Some("subagent:reviewer:k3x")));
            reviewer.keep(&Message::text(Role::User, "review a.rs"), Usage::default());
            let mut coder = store.begin(about(Some("subagent:coder:k4x")));
            coder.keep(&Message::text(Role::User, "write b.rs"), Usage::default());
            let mut parent = store.begin(about(None));
            parent.keep(&Message::text(Role::User, "what is \u{1b}[2J one?"), Usage::default());
            let blocks = vec![
                Block::Thinking { text: "a number".into(), signature: None },
                Block::text("I look."),
                Block::ToolCall(call.clone()),
            ];
            let answer = parent.keep(&Message { role: Role::Assistant, blocks }, usage);
            let lines: String = (1..=50).map(|line| format!("row {line}\n")).collect();
            let result = Block::ToolResult(ToolResult::of(&call, lines, false));
            parent.keep(&Message { role: Role::Tool, blocks: vec![result] }, Usage::default());
            parent.keep(&Message::text(Role::Assistant, "It is one."), usage);
            store.flush().await.unwrap();
            (parent.id().to_owned(), reviewer.id().to_owned(), coder.id().to_owned(), answer)
        });
        StoredConversations { folder, parent, reviewer, coder, answer }
    }

    fn run(&self, arguments: &[&str]) -> FinishedRun {
        start(self.folder.path(), arguments).done()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(arguments).exits(0).stdout).unwrap()
    }

    fn ids(&self, arguments: &[&str]) -> Vec<String> {
        let list = self.json(arguments);
        list.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) fn start(state: &Path, arguments: &[&str]) -> Run {
    // Nothing is compiled, so any folder will do as the cache.
    let run = Run::new(state).variable("XDG_STATE_HOME", state.to_str().unwrap());
    run.argument("conversation").arguments(arguments)
}

#[test]
fn conversations_are_listed_with_their_labels() {
    let stored = StoredConversations::new();
    let done = stored.run(&["list"]).exits(0);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_snapshot!(normal(&lines[0]), @r"
     ID          CHANGED            MESSAGES  TOKENS  LABEL                  MODEL  TITLE
    ");
    assert!(lines.len() == 4, "{done:#?}");
    assert_snapshot!(normal(&lines[1]), @r"
     [conv. id]  2026-01-01 12:00Z  4         240                            small  what is \u{1b}[2J one?
    ");
    assert!(lines[1].contains(&stored.parent), "{done:#?}");
    assert!(
        lines.iter().any(|line| line.contains("subagent:coder:k4x") && line.contains(&stored.coder)),
        "{done:#?}"
    );
    assert!(!done.stdout.contains('\u{1b}'), "{done:#?}");
    let all = stored.json(&["list", "--json"]);
    assert_eq!(all.as_array().unwrap().len(), 3);
    let facts = ["id", "messageCount", "usage", "model", "folder", "label"].map(|key| all[0][key].clone());
    let usage = json!({ "input": 200, "output": 40, "cached": 100 });
    assert_eq!(facts, [json!(stored.parent), json!(4), usage, json!("small"), json!("/work"), json!(null)]);
    let mut subagents = stored.ids(&["list", "--json", "--subagents"]);
    subagents.sort();
    let mut expected = [stored.coder.clone(), stored.reviewer.clone()];
    expected.sort();
    assert_eq!(subagents, expected);
    assert_eq!(stored.ids(&["list", "--json", "--label", "subagent:rev*:*"]), [stored.reviewer.as_str()]);
    assert_eq!(stored.ids(&["list", "--json", "--limit", "1"]), [stored.parent.as_str()]);
    assert_eq!(stored.json(&["list", "--json", "--subagents"])[0]["parentRun"], "p1");
}

#[test]
fn a_conversation_is_printed_as_text_markdown_and_json() {
    let stored = StoredConversations::new();
    let done = stored.run(&["print", &stored.parent[..8]]).exits(0);
    assert_snapshot!(normal(&done.stdout), @r"
    conversation [conv. id]
    started 2026-01-01 12:00Z, model small, folder /work
    4 messages; tokens: 200 read (100 of them cached), 40 written

    user  2026-01-01 12:00Z  [message id]
      what is \u{1b}[2J one?

    assistant  2026-01-01 12:00Z  [message id]  100 read, 20 written
      (thinking) a number
      I look.
      → execute_code
        code:
          let a = 1;
          a

    tools  2026-01-01 12:00Z  [message id]
      ← execute_code
        row 1
        row 2
        row 3
        row 4
        row 5
        row 6
        row 7
        row 8
        row 9
        row 10
        row 11
        row 12
        row 13
        row 14
        row 15
        row 16
        row 17
        row 18
        row 19
        row 20
        [… 211 characters more; --full shows them]

    assistant  2026-01-01 12:00Z  [message id]  100 read, 20 written
      It is one.
    ");
    assert!(done.stderr.is_empty(), "{done:#?}");
    assert_eq!(stored.run(&["print", &stored.parent]).stdout, done.stdout, "the output differs");
    assert!(stored.run(&["print", &stored.parent, "--full"]).exits(0).stdout.contains("row 50\n"));
    let markdown = stored.run(&["print", &stored.parent, "--markdown"]).exits(0).stdout;
    assert!(
        markdown.contains("## Assistant") && markdown.contains("```rust\nlet a = 1;\na\n```"),
        "{markdown}"
    );
    let conversation = stored.json(&["print", &stored.parent, "--json"]);
    let roles: Vec<_> =
        conversation["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert_eq!(conversation["messages"][0]["blocks"][0]["text"], "what is \u{1b}[2J one?");
    assert_eq!(conversation["messages"][1]["id"], json!(stored.answer));
    assert_eq!(conversation["messages"][2]["parent"], json!(stored.answer));
    let part = stored.run(&["print", &stored.parent, "--to", &stored.answer]).exits(0);
    assert_snapshot!(normal(&part.stderr), @r"
    toolsmith: left out 2 messages of other branches; `toolsmith conversation export [id]` prints all, and --to MESSAGE prints the branch of a message
    ");
    assert_snapshot!(normal(&part.stdout), @r"
    conversation [conv. id]
    started 2026-01-01 12:00Z, model small, folder /work
    4 messages; tokens: 200 read (100 of them cached), 40 written

    user  2026-01-01 12:00Z  [message id]
      what is \u{1b}[2J one?

    assistant  2026-01-01 12:00Z  [message id]  100 read, 20 written
      (thinking) a number
      I look.
      → execute_code
        code:
          let a = 1;
          a
    ");
    assert_snapshot!(normal(&stored.run(&["print", "uuu"]).exits(2).stderr), @r#"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith/conversations.db has no conversation "uuu"; `toolsmith conversation list` lists them
    "#);
    assert_snapshot!(normal(&stored.run(&["print", &stored.parent, "--to", "x"]).exits(2).stderr), @r#"
    toolsmith: the conversation [id] has no message "x"
    "#);
    stored.run(&["print", &stored.parent, "--json", "--markdown"]).exits(2);
}

#[test]
fn an_untrusted_project_is_ignored_and_reported() {
    let stored = StoredConversations::new();
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("toolsmith.yaml"), "agent: { conversations: false }\n").unwrap();
    let run =
        |arguments: &[&str]| start(stored.folder.path(), arguments).working_folder(project.path()).done();
    let left_out = ["toolsmith.yaml is not trusted yet and is left out", "toolsmith trust"];
    let listed = run(&["list"]).exits(0).says(&left_out);
    assert!(listed.stdout.contains(&stored.parent), "{listed:#?}");
    run(&["print", &stored.parent]).exits(0).says(&left_out);
    run(&["delete", &stored.coder]).exits(0).says(&left_out);
    assert_eq!(stored.ids(&["list", "--json"]).len(), 2);
}

#[test]
fn conversations_are_exported_as_json_lines() {
    let stored = StoredConversations::new();
    let lines =
        |text: &str| -> Vec<Value> { text.lines().map(|line| serde_json::from_str(line).unwrap()).collect() };
    let all = lines(&stored.run(&["export"]).exits(0).stdout);
    assert_eq!(all.len(), 3);
    assert_eq!((&all[0]["id"], all[0]["messages"].as_array().unwrap().len()), (&json!(stored.parent), 4));
    let out = stored.folder.path().join("out.jsonl");
    std::fs::write(&out, "what was there before").unwrap();
    let path = out.to_str().unwrap();
    let wrong = stored.run(&["export", &stored.coder, "uuu", "--out", path]).exits(2);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "what was there before", "{wrong:#?}");
    let done = stored.run(&["export", &stored.coder, "--out", path]).exits(0);
    assert_snapshot!(normal(&done.stderr), @"toolsmith: wrote 1 conversation to /tmp/.tmpXXXXXX/out.jsonl");
    let written = lines(&std::fs::read_to_string(&out).unwrap());
    assert_eq!((written.len(), &written[0]["label"]), (1, &json!("subagent:coder:k4x")));
    assert_eq!(std::fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
    assert_snapshot!(normal(&stored.run(&["export", "--out", "/nowhere/at/all"]).exits(7).stderr), @r"
    toolsmith: /nowhere/at/all can't be written: No such file or directory (os error 2)
    help: check its folder
    ");
}

#[test]
fn delete_names_the_conversations_and_requires_full_ids() {
    let stored = StoredConversations::new();
    let part = &stored.parent[..9];
    assert_snapshot!(normal(&stored.run(&["delete", part]).exits(2).stderr), @r"
    toolsmith: [part] is not a full id; to delete that conversation, write [id]
    ");
    assert_snapshot!(normal(&stored.run(&["delete", &stored.coder, "uuu"]).exits(2).stderr), @r#"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith/conversations.db has no conversation "uuu"; `toolsmith conversation list` lists them
    "#);
    assert_eq!(stored.ids(&["list", "--json"]).len(), 3, "a rejected delete deleted something");
    stored.run(&["delete"]).exits(2);
    let done = stored.run(&["delete", &stored.coder, &stored.parent]).exits(0);
    let expected = [
        format!("deleted {} (1 message) write b.rs · subagent:coder:k4x", stored.coder),
        format!("deleted {} (4 messages)", stored.parent),
    ];
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(lines.len() == 2 && lines[0] == expected[0] && lines[1].starts_with(&expected[1]), "{done:#?}");
    assert_eq!(stored.ids(&["list", "--json"]), [stored.reviewer.as_str()]);
    assert_snapshot!(normal(&stored.run(&["print", &stored.parent]).exits(2).stderr), @r#"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith/conversations.db has no conversation "[id]"; `toolsmith conversation list` lists them
    "#);
}

#[test]
fn prune_deletes_only_old_conversations() {
    let stored = StoredConversations::new();
    assert_snapshot!(normal(&stored.run(&["prune", "--older-than", "1h"]).exits(0).stderr), @r"
    toolsmith: no conversation is that old
    ");
    assert_eq!(stored.ids(&["list", "--json"]).len(), 3);
    let done = stored.run(&["prune", "--older-than", "0s"]).exits(0);
    assert_eq!(done.stdout.lines().filter(|line| line.starts_with("deleted ")).count(), 3, "{done:#?}");
    assert_eq!(stored.ids(&["list", "--json"]), Vec::<String>::new());
    assert_snapshot!(normal(&stored.run(&["prune"]).exits(2).stderr), @r"
    error: the following required arguments were not provided:
      --older-than <TIME>

    Usage: toolsmith conversation prune --older-than <TIME>

    For more information, try '--help'.
    ");
    assert_snapshot!(normal(&stored.run(&["prune", "--older-than", "soon"]).exits(2).stderr), @r#"
    error: invalid value 'soon' for '--older-than <TIME>': "soon" is not a time; write a number with s, m, h, d or w, such as 30d

    For more information, try '--help'.
    "#);
}

#[test]
fn listing_does_not_create_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| start(folder.path(), arguments).done();
    let done = run(&["list"]).exits(0);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: no conversations are kept in /tmp/.tmpXXXXXX/toolsmith/conversations.db yet
    ");
    assert_eq!(done.stdout, "");
    assert_eq!(run(&["list", "--json"]).exits(0).stdout, "[]\n");
    run(&["export"]).exits(0);
    run(&["prune", "--older-than", "1d"]).exits(0);
    assert_snapshot!(normal(&run(&["print", "x"]).exits(2).stderr), @r"
    toolsmith: no conversations are kept in /tmp/.tmpXXXXXX/toolsmith/conversations.db yet
    help: start one: toolsmith chat
    ");
    assert_snapshot!(normal(&run(&["delete", "x"]).exits(2).stderr), @r"
    toolsmith: no conversations are kept in /tmp/.tmpXXXXXX/toolsmith/conversations.db yet
    help: start one: toolsmith chat
    ");
    assert!(!file(folder.path()).exists());
}

#[test]
fn the_configuration_sets_the_database() {
    let stored = StoredConversations::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let config = |value: &str| format!("mcpServers: {{}}\nagent: {{ conversations: {value:?} }}\n");
    let path = file(stored.folder.path());
    let run = |value: &str| start(elsewhere.path(), &["list"]).config_alone(&config(value)).done();
    assert!(run(path.to_str().unwrap()).exits(0).stdout.contains(&stored.parent));
    assert_snapshot!(normal(&run("false").exits(2).stderr), @r"
    toolsmith: no conversations are kept: agent.conversations is false in the configuration
    ");
    let notes = elsewhere.path().join("notes.txt");
    std::fs::write(&notes, "no database ".repeat(100)).unwrap();
    let wrong = run(notes.to_str().unwrap()).exits(7);
    assert_snapshot!(normal(&wrong.stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/notes.txt can't be opened: file is not a database; it is not a file of conversations; set agent.conversations to another one
    ");
}
