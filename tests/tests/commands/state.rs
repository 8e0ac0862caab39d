//! The files that a version keeps (trust, permissions, tokens, conversations, statistics, adoptions) are read by later
//! versions, and left alone by earlier ones.
//!
//! `tests/fixtures/state-0.2` has the files that version 0.2 wrote. This command wrote them, and writes those of a later
//! version into a folder of its own (change `FIXTURE` first):
//! `cargo build -p toolsmith-cli && cargo test -p end-to-end state::write -- --ignored`
//!
//! Fold what is left in a `-wal` file into its database: `sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'`.
//!
//! In these files, `@HOME@`, `@PROGRAM@` and `@ADDRESS@` stand for the home folder, the program and the MCP server.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use end_to_end::harness::{FAULT_SERVER, FinishedRun, Run};
use end_to_end::page::normal;
use end_to_end::protected_server::ProtectedServer;
use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;

use crate::clients::program;
use crate::conversations::StoredConversations;

/// The folder below `tests/fixtures`.
const FIXTURE: &str = "state-0.2";

const PROJECT: &str = "mcpServers:\n  shop: { command: toolsmith, args: [demo-server] }\n";

const CODEX: &str =
    "# mine\nmodel = \"o9\"\n\n[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"files\"]\n";

const TRUSTED: &str = "config/toolsmith/trusted.json";
const PERMISSIONS: &str = "config/toolsmith/permissions.json";
const TOKENS: &str = "config/toolsmith/tokens";
const CONVERSATIONS: &str = "state/toolsmith/conversations.db";
const STATISTICS: &str = "state/toolsmith/stats.db";
const ADOPTED: &str = "state/toolsmith/adopted";

/// Where a database has its version, a big-endian number (sqlite.org/fileformat.html, section 1.3).
const USER_VERSION: std::ops::Range<usize> = 60..64;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(FIXTURE)
}

/// A user's folders.
struct Home {
    folder: TempDir,
    /// Where the server of the tokens is.
    server: TcpListener,
}

impl Home {
    fn empty() -> Self {
        Home { folder: tempfile::tempdir().unwrap(), server: TcpListener::bind("127.0.0.1:0").unwrap() }
    }

    /// With the files of version 0.2.
    fn of_fixture() -> Self {
        let home = Home::empty();
        for (file, bytes) in files(&fixture()) {
            let bytes = String::from_utf8(bytes)
                .map_or_else(std::string::FromUtf8Error::into_bytes, |text| home.filled(&text).into_bytes());
            home.write(&home.place(&file), &bytes);
        }
        home.complete_adoption();
        home.renew_tokens();
        home
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(file)
    }

    fn address(&self) -> String {
        format!("http://{}/mcp", self.server.local_addr().unwrap())
    }

    fn filled(&self, text: &str) -> String {
        let home = self.path("");
        text.replace("@HOME@", home.to_str().unwrap().trim_end_matches('/'))
            .replace("@PROGRAM@", program())
            .replace("@ADDRESS@", &self.address())
    }

    /// Where a file of the fixture is used: some names contain a hash of an address or a path.
    fn place(&self, file: &str) -> String {
        let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..16].to_owned();
        match file {
            "config/toolsmith/tokens/guarded.json" => {
                format!("{TOKENS}/guarded-{}.json", hash(&self.address()))
            }
            "state/toolsmith/adopted/codex.json" => {
                let client = self.path(".codex/config.toml");
                format!("{ADOPTED}/codex-{}.json", hash(client.to_str().unwrap()))
            }
            file => file.to_owned(),
        }
    }

    /// The record of the adoption has hashes of two files that contain paths.
    fn complete_adoption(&self) {
        let file = self.place("state/toolsmith/adopted/codex.json");
        let mut record: Value = serde_json::from_slice(&self.read(&file)).unwrap();
        for (part, changed) in [("client", ".codex/config.toml"), ("config", "config/toolsmith/config.yaml")]
        {
            record["adoptions"][0][part]["after"] =
                blake3::hash(&self.read(changed)).to_hex().as_str().into();
        }
        self.write(&file, record.to_string().as_bytes());
    }

    /// As if the tokens had been received just now: they are valid for an hour.
    fn renew_tokens(&self) {
        let file = self.place("config/toolsmith/tokens/guarded.json");
        let mut tokens = self.json(&file);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        tokens["credentials"]["token_received_at"] = now.as_secs().into();
        self.write(&file, tokens.to_string().as_bytes());
    }

    fn write(&self, file: &str, bytes: &[u8]) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn read(&self, file: &str) -> Vec<u8> {
        fs::read(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_slice(&self.read(file)).unwrap()
    }

    /// Changes a JSON file to a later version with an unknown member.
    fn make_newer(&self, file: &str, version: u64) {
        let mut content = self.json(file);
        content["version"] = version.into();
        content["later"] = true.into();
        self.write(file, content.to_string().as_bytes());
    }

    fn make_database_newer(&self, file: &str) {
        let mut bytes = self.read(file);
        bytes[USER_VERSION].copy_from_slice(&1_000_u32.to_be_bytes());
        self.write(file, &bytes);
    }

    fn in_home(&self, run: Run) -> Run {
        let variables = [("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "")];
        let run = variables
            .into_iter()
            .fold(run, |run, (name, folder)| run.variable(name, self.path(folder).to_str().unwrap()));
        // What `adopt` would record of this machine.
        ["CODEX_HOME", "DBUS_SESSION_BUS_ADDRESS", "CARGO_HOME", "RUSTUP_HOME"]
            .into_iter()
            .fold(run, |run, name| run.variable(name, ""))
    }

    /// Runs a command in the project.
    fn run(&self, arguments: &[&str]) -> FinishedRun {
        self.run_in("project", arguments)
    }

    /// Runs a command in a folder.
    fn run_in(&self, folder: &str, arguments: &[&str]) -> FinishedRun {
        let run = self.in_home(Run::new(&self.path("cache")).arguments(arguments));
        run.working_folder(&self.path(folder)).done()
    }

    /// Calls a tool of another server on a terminal, and answers that it is always allowed.
    fn allow_always(&self) -> FinishedRun {
        let config = self.path("other.yaml");
        self.write(
            "other.yaml",
            format!("mcpServers:\n  s: {{ command: {FAULT_SERVER:?}, args: [sound] }}\n").as_bytes(),
        );
        let arguments = ["mcp", "call", "s.echo", "message=x", "--config", config.to_str().unwrap()];
        self.answer_always("", &arguments)
    }

    fn answer_always(&self, folder: &str, arguments: &[&str]) -> FinishedRun {
        let run = self.in_home(Run::on_terminal(&self.path("cache")).arguments(arguments));
        let started = run.working_folder(&self.path(folder)).start();
        started.answer("[n] no: ", 1, "a\n");
        started.done()
    }

    /// Connects to the server of the tokens, which refuses every request; returns the run and the first request.
    fn request_with_token(&self) -> (FinishedRun, String) {
        let config = format!("mcpServers:\n  guarded: {{ type: http, url: {:?} }}\n", self.address());
        self.write("guarded.yaml", config.as_bytes());
        let listener = self.server.try_clone().unwrap();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let served = std::thread::spawn(move || {
            let mut requests = Vec::new();
            for connection in listener.incoming() {
                if stopped.try_recv().is_ok() {
                    break;
                }
                let mut connection = connection.unwrap();
                let mut buffer = vec![0; 1 << 16];
                let length = connection.read(&mut buffer).unwrap_or(0);
                requests.push(String::from_utf8_lossy(&buffer[..length]).into_owned());
                let refusal = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                let _ = connection.write_all(refusal);
            }
            requests
        });
        let config = self.path("guarded.yaml");
        let done = self.run_in("", &["mcp", "test", "guarded", "--config", config.to_str().unwrap()]);
        stop.send(()).unwrap();
        drop(std::net::TcpStream::connect(self.server.local_addr().unwrap()));
        (done, served.join().unwrap().into_iter().next().unwrap_or_default())
    }
}

/// All files below a folder, by their paths in it.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_version_0_2_has_kept_is_used() {
    let home = Home::of_fixture();
    // Trust, with the lock file.
    home.run(&["config", "check"]).exits(0);
    let listed = home.run(&["mcp", "list"]).exits(0);
    assert_snapshot!(normal(&listed.stdout), @r"
    ID     TRANSPORT  SOURCE                                             ENABLED  TIMEOUT  REQUEST TIMEOUT  ADDRESS
    files  stdio      user /tmp/.tmpXXXXXX/config/toolsmith/config.yaml  yes      60       30               npx -y files
    shop   stdio      project /tmp/.tmpXXXXXX/project/toolsmith.yaml     yes      60       30               [target]/toolsmith demo-server
    ");
    // Conversations.
    let listed = home.run(&["conversation", "list", "--json"]).exits(0);
    let all: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    let labels: Vec<_> = all.iter().filter_map(|one| one["label"].as_str()).collect();
    assert!(all.len() == 3 && labels.contains(&"subagent:reviewer:k3x"), "{all:?}");
    let exported = home.run(&["conversation", "export"]).exits(0);
    assert!(exported.stdout.contains("It is one.") && exported.stdout.contains("row 50"), "{exported:#?}");
    // Statistics, also after further calls.
    home.run(&["mcp", "call", "demo.echo", "message=x", "--demo"]).exits(0);
    let counted = home.run(&["stats", "--json", "--server", "shop"]).exits(0);
    let counted: Value = serde_json::from_str(&counted.stdout).unwrap();
    assert_eq!((&counted[0]["tool"], &counted[0]["calls"]), (&"echo".into(), &1.into()));
    assert!(!home.path(STATISTICS).exists(), "they were moved");
    // A new answer is added to the remembered ones.
    let before = home.json(PERMISSIONS);
    home.allow_always().exits(0);
    let (before, after) = (&before["servers"], &home.json(PERMISSIONS)["servers"]);
    let before = before.as_object().unwrap();
    // Version 3 of the file has an object for each answer.
    let is_kept = |(server, allowed): (&String, &Value)| {
        let mut answers = allowed["allow"].as_object().unwrap().iter();
        answers.all(|(tool, hash)| after[server]["allow"][tool]["hash"] == *hash)
    };
    assert!(!before.is_empty() && before.iter().all(is_kept), "{after}");
    assert_eq!(after.as_object().unwrap().len(), before.len() + 1);
    // Tokens.
    let (_, request) = home.request_with_token();
    assert!(request.to_ascii_lowercase().contains("authorization: bearer access-"), "{request}");
    // An adoption is undone.
    home.run(&["adopt", "codex", "--undo", "--yes"]).exits(0);
    assert_eq!(String::from_utf8(home.read(".codex/config.toml")).unwrap(), CODEX);
}

#[test]
fn files_of_a_newer_version_are_refused_and_left_alone() {
    let home = Home::of_fixture();
    let tokens = home.place("config/toolsmith/tokens/guarded.json");
    let adopted = home.place("state/toolsmith/adopted/codex.json");
    for (file, version) in [(TRUSTED, 3), (PERMISSIONS, 4), (tokens.as_str(), 2), (adopted.as_str(), 2)] {
        home.make_newer(file, version);
    }
    [CONVERSATIONS, STATISTICS].iter().for_each(|file| home.make_database_newer(file));
    home.write("cache/programs-v1000/entry", b"later");
    let kept =
        [TRUSTED, PERMISSIONS, &tokens, &adopted, CONVERSATIONS, STATISTICS, "cache/programs-v1000/entry"];
    let before = kept.map(|file| home.read(file));

    assert_snapshot!(normal(&home.run(&["mcp", "list"]).exits(2).stderr), @r"
    toolsmith: the trust record /tmp/.tmpXXXXXX/config/toolsmith/trusted.json can't be read: a newer version of Toolsmith has written it (its version is 3, the newest supported one is 2)
    help: update Toolsmith, or move the file away and trust your projects again
    ");
    assert_snapshot!(normal(&home.run(&["trust", "--yes"]).exits(2).stderr), @r"
    toolsmith: the trust record /tmp/.tmpXXXXXX/config/toolsmith/trusted.json can't be read: a newer version of Toolsmith has written it (its version is 3, the newest supported one is 2)
    help: update Toolsmith, or move the file away and trust your projects again
    ");
    let run = |arguments: &[&str]| home.run_in("", arguments);
    assert_snapshot!(normal(&run(&["conversation", "list"]).exits(7).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/state/toolsmith/conversations.db was written by a newer version of this program (its schema is 1000, the newest supported one is 1); update this program, or set agent.conversations to another file in the configuration
    ");
    run(&["conversation", "prune", "--older-than", "0d"]).exits(7);
    assert_snapshot!(normal(&run(&["stats"]).exits(7).stderr), @r"
    toolsmith: the file of statistics /tmp/.tmpXXXXXX/state/toolsmith/stats.db has the format 1000, and this version of Toolsmith knows 1
    help: update Toolsmith, or move the file away
    help: `globalSettings: { stats: false }` in the configuration switches statistics off
    ");
    run(&["stats", "--reset", "--yes"]).exits(7);
    assert_snapshot!(normal(&run(&["adopt", "codex", "--undo", "--yes"]).exits(2).stderr), @r"
    toolsmith: the record /tmp/.tmpXXXXXX/state/toolsmith/adopted/codex-[hash].json can't be used: it has version 2, and this Toolsmith knows 1
    help: move it away; the previous texts of the files are in it
    help: if a newer Toolsmith has written it, use that one
    ");
    run(&["cache", "prune"]).exits(0);
    // These go on without the file.
    assert_snapshot!(normal(&home.allow_always().exits(0).stderr), @r#"
    toolsmith: warning: /tmp/.tmpXXXXXX/config/toolsmith/permissions.json is invalid: its version is 4, and this version of Toolsmith knows those up to 3; correct or delete it
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: s.echo
      {
        "message": "x"
      }
    Allow this call?
    [y] yes, once  [a] always  [n] no: a
    toolsmith: the answer is valid for this time only: /tmp/.tmpXXXXXX/config/toolsmith/permissions.json can't be written: /tmp/.tmpXXXXXX/config/toolsmith/permissions.json is invalid: its version is 4, and this version of Toolsmith knows those up to 3; correct or delete it
    toolsmith: warning: calls are not counted: the file of statistics /tmp/.tmpXXXXXX/state/toolsmith/stats.db has the format 1000, and this version of Toolsmith knows 1
    help: update Toolsmith, or move the file away
    help: `globalSettings: { stats: false }` in the configuration switches statistics off
    "#);
    let (done, request) = home.request_with_token();
    assert!(!request.to_ascii_lowercase().contains("authorization"), "{request}");
    assert_snapshot!(normal(&done.stderr), @r"
    guarded: error: cannot connect: the file with its tokens, /tmp/.tmpXXXXXX/config/toolsmith/tokens/guarded-[hash].json, can't be read: a newer version of Toolsmith has written it; update Toolsmith, or move the file away and log in again
    ");

    for (file, before) in kept.iter().zip(before) {
        assert!(home.read(file) == before, "{file} has changed");
    }
}

/// Writes what this version keeps into the folder `FIXTURE`.
#[test]
#[ignore = "writes the files that the tests above read"]
fn write() {
    let home = Home::empty();
    home.write("project/toolsmith.yaml", PROJECT.as_bytes());
    home.run(&["trust", "--yes"]).exits(0);
    home.run(&["mcp", "lock"]).exits(0);
    home.run(&["trust", "--yes"]).exits(0);
    home.answer_always("project", &["mcp", "call", "shop.echo", "message=x"]).exits(0);
    // Closes the database, so that all of it is in one file.
    home.run(&["stats"]).exits(0);
    home.write(".codex/config.toml", CODEX.as_bytes());
    home.run(&["adopt", "codex", "--yes"]).exits(0);
    let conversations = StoredConversations::new();
    let database = conversations.folder.path().join("toolsmith/conversations.db");
    let protected = ProtectedServer::new();
    protected.logged_in("0").0.exits(0);
    let tokens = String::from_utf8(protected.stored_tokens()).unwrap();
    let origin = protected.address().trim_end_matches("/mcp").to_owned();

    let folder = fixture();
    let _ = fs::remove_dir_all(&folder);
    let put = |file: &str, bytes: &[u8]| {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    put(CONVERSATIONS, &fs::read(database).unwrap());
    let tokens = tokens.replace(&protected.address(), "@ADDRESS@").replace(&origin, "http://127.0.0.1:1");
    put("config/toolsmith/tokens/guarded.json", tokens.as_bytes());
    let path = home.path("");
    let home_path = path.to_str().unwrap().trim_end_matches('/');
    for (file, bytes) in files(&path) {
        let is_kept =
            ["config/", "state/", "project/", ".codex/"].iter().any(|folder| file.starts_with(folder));
        let is_passing = bytes.is_empty() || file.ends_with("-shm");
        if !is_kept || is_passing || file.ends_with(".lock") && !file.starts_with("project/") {
            continue;
        }
        let file = if file.starts_with(ADOPTED) { "state/toolsmith/adopted/codex.json" } else { &file };
        let bytes = String::from_utf8(bytes).map_or_else(std::string::FromUtf8Error::into_bytes, |text| {
            text.replace(home_path, "@HOME@").replace(program(), "@PROGRAM@").into_bytes()
        });
        put(file, &bytes);
    }
}
