//! `toolsmith adopt`: moves a client's servers into Toolsmith's configuration, and puts them back exactly.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use end_to_end::harness::{FinishedRun, Run};
use end_to_end::page::normal;
use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::Value;

use crate::clients::{Home, program};

/// A file of each client, with servers in its own form.
const CLIENTS: [(&str, &str, &str); 10] = [
    (
        "claude-code",
        ".claude.json",
        "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"files\": { \"type\": \"stdio\", \"command\": \"npx\", \
         \"args\": [\"-y\", \"files\"] },\n    \"web\": { \"type\": \"http\", \"url\": \"https://x.example/mcp\" }\n  }\n}\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "# mine\nmodel = \"o9\" # fast\n\n# the files\n[mcp_servers.files]\ncommand = \"npx\" # node\nargs = [\"-y\"]\n\n\
         [mcp_servers.files.env]\nLEVEL = \"3\"\n\n[mcp_servers.web]\nurl = \"https://x.example/mcp\"\n\
         bearer_token_env_var = \"WEB\"\n\n[tui]\nnotifications = true\n",
    ),
    (
        "zed",
        ".config/zed/settings.json",
        "// mine\n{\n  \"theme\": \"One Dark\", // dark\n  \"context_servers\": {\n    // the files\n    \"files\": {\n      \
         \"source\": \"custom\",\n      \"command\": \"npx\",\n      \"args\": [\"-y\"],\n    },\n  },\n}\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{\n  // mine\n  \"mcp\": {\n    \"files\": { \"type\": \"local\", \"command\": [\"npx\", \"-y\"], \"enabled\": false },\n    \
         \"web\": { \"type\": \"remote\", \"url\": \"https://x.example/mcp\", \"headers\": { \"A\": \"{env:A}\" } }\n  }\n}\n",
    ),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "{\n  // mine\n  \"servers\": { \"files\": { \"type\": \"stdio\", \"command\": \"npx\", \"args\": [\"${env:A:-b}\"] } },\n  \
         \"inputs\": [],\n}\n",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "{\n  \"mcp\": { \"excluded\": [\"web\"] },\n  \"mcpServers\": {\n    \"files\": { \"command\": \"npx\", \"env\": { \"K\": \"$K\" } },\n    \
         \"web\": { \"httpUrl\": \"https://x.example/mcp\" }\n  }\n}\n",
    ),
    (
        "qwen",
        ".qwen/settings.json",
        "{\n  // mine\n  \"mcp\": { \"excluded\": [\"web\"] },\n  \"mcpServers\": {\n    \"files\": { \"command\": \"npx\",          \"args\": [\"-y\"] },\n    \"web\": { \"httpUrl\": \"https://x.example/mcp\" }\n  }\n}\n",
    ),
    (
        "copilot",
        ".copilot/mcp-config.json",
        "{\n  \"mcpServers\": {\n    \"files\": { \"type\": \"local\", \"command\": \"npx\", \"args\": [\"-y\"], \"tools\": [\"*\"] },\n             \"web\": { \"type\": \"http\", \"url\": \"https://x.example/mcp\", \"headers\": {}, \"tools\": [\"*\"] }\n  }\n}\n",
    ),
    (
        "kimi",
        ".kimi-code/mcp.json",
        "{\n  \"mcpServers\": {\n    \"files\": { \"command\": \"npx\", \"args\": [\"-y\"] },\n             \"web\": { \"transport\": \"sse\", \"url\": \"https://x.example/sse\", \"enabled\": false }\n  }\n}\n",
    ),
    (
        "crush",
        ".config/crush/crush.json",
        "{\n  \"mcp\": {\n    \"files\": { \"type\": \"stdio\", \"command\": \"npx\", \"args\": [\"-y\"] },\n             \"web\": { \"type\": \"http\", \"url\": \"https://x.example/mcp\", \"headers\": { \"A\": \"$A\" } }\n  }\n}\n",
    ),
];

const CONFIG: &str = ".config/toolsmith/config.yaml";

fn adopt(home: &Home, arguments: &[&str]) -> FinishedRun {
    home.in_here(Run::new(home.path())).argument("adopt").arguments(arguments).done()
}

/// The files with the records of adoptions.
fn records(home: &Home) -> Vec<PathBuf> {
    let folder = home.path().join(".local/state/toolsmith/adopted");
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let files = files.map(|file| file.unwrap().path());
    // Unfinished files have other names.
    files.filter(|file| file.extension().is_some_and(|end| end == "json")).collect()
}

#[test]
fn the_servers_of_each_client_are_moved_and_put_back_byte_by_byte() {
    for (client, file, before) in CLIENTS {
        let home = Home::new();
        home.write(file, before);
        home.write(CONFIG, "# own\nmcpServers:\n  notes: { command: notes-mcp } # mine\n");
        let own = home.read(CONFIG);
        let command = format!("toolsmith adopt {client} --undo");
        adopt(&home, &[client, "--yes"]).exits(0).says(&["+ files starts: npx", &command]);
        let (moved, config) = (home.read(file), home.read(CONFIG));
        assert!(moved.contains(program()) && !moved.contains("x.example"), "{client}: {moved}");
        assert_eq!(moved.contains("mine"), before.contains("mine"), "{client}: {moved}");
        assert!(config.contains("files:") && config.contains("# mine"), "{client}: {config}");
        let [record] = &records(&home)[..] else { panic!("no record of {client}") };
        assert_eq!(fs::metadata(record).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(record.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
        adopt(&home, &[client, "--undo", "--yes"]).exits(0).says(&["as it was before, byte by byte"]);
        assert_eq!((home.read(file).as_str(), home.read(CONFIG)), (before, own), "{client}");
        assert!(records(&home).is_empty());
        adopt(&home, &[client, "--undo"]).exits(2).says(&["there is no adopt of", "--scope project"]);
    }
}

#[test]
fn the_extensions_of_goose_stay_where_they_are() {
    let home = Home::new();
    let before = "extensions:\n  files: { type: stdio, name: files, enabled: true, cmd: npx, args: [] }\n";
    home.write(".config/goose/config.yaml", before);
    assert_snapshot!(normal(&adopt(&home, &["goose", "--yes"]).exits(2).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.config/goose/config.yaml is unchanged: goose's extensions can't be taken over
    help: add each server with `toolsmith mcp add`, and Toolsmith with `toolsmith setup goose`
    ");
    assert_eq!(home.read(".config/goose/config.yaml"), before);
}

#[test]
fn moved_servers_mean_the_same_as_in_the_client() {
    let home = Home::new();
    for (client, file, text) in CLIENTS {
        home.write(file, text);
        adopt(&home, &[client, "--yes", "--replace"]).exits(0);
        let config = home.read(CONFIG);
        let expected: &[&str] = match client {
            "codex" => &["LEVEL: 3", "Authorization: Bearer ${WEB}"],
            "opencode" => &["enabled: false", "A: ${A}"],
            "vscode" => &["${A:-b}"],
            "gemini" => &["enabled: false", "K: ${K}"],
            "kimi" => &["type: sse", "enabled: false"],
            "crush" => &["A: ${A}"],
            _ => &["command: npx"],
        };
        for phrase in expected {
            let plain = config.replace('\'', "").replace("\"${", "${").replace("}\"", "}");
            assert!(plain.contains(phrase), "{client}: {phrase:?} is missing in\n{config}");
        }
        home.in_here(Run::new(home.path()))
            .arguments(&["config", "show"])
            .variable("WEB", "w")
            .done()
            .exits(0);
    }
}

#[test]
fn a_new_configuration_is_private_and_undo_removes_it() {
    let home = Home::new();
    let (client, file, text) = CLIENTS[0];
    home.write(file, text);
    assert_snapshot!(normal(&adopt(&home, &[client, "--yes"]).exits(0).stderr), @r#"
    /tmp/.tmpXXXXXX/.claude.json, in mcpServers
    - "files": {
    -   "type": "stdio",
    -   "command": "npx",
    -   "args": [
    -     "-y",
    -     "files"
    -   ]
    - }
    - "web": {
    -   "type": "http",
    -   "url": "https://x.example/mcp"
    - }
    + "toolsmith": {
    +   "type": "stdio",
    +   "command": "[target]/toolsmith",
    +   "args": [
    +     "serve"
    +   ],
    +   "alwaysLoad": true
    + }
    /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml (new file), in mcpServers
    + files starts: npx -y files
    + web connects to: https://x.example/mcp
    toolsmith: moved files, web from /tmp/.tmpXXXXXX/.claude.json to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.claude.json.toolsmith-backup
    toolsmith: not confined: files
    help: to confine one: toolsmith mcp sandbox files --learn
    toolsmith: to put everything back: toolsmith adopt claude-code --undo
    "#);
    assert_eq!(home.mode(CONFIG), 0o600);
    adopt(&home, &[client, "--undo", "--yes"]).exits(0);
    assert!(!home.path().join(CONFIG).exists());
}

#[test]
fn without_a_terminal_nothing_is_moved_before_a_yes() {
    let home = Home::new();
    let (client, file, text) = CLIENTS[0];
    home.write(file, text);
    assert_snapshot!(normal(&adopt(&home, &[client]).exits(2).stderr), @r#"
    /tmp/.tmpXXXXXX/.claude.json, in mcpServers
    - "files": {
    -   "type": "stdio",
    -   "command": "npx",
    -   "args": [
    -     "-y",
    -     "files"
    -   ]
    - }
    - "web": {
    -   "type": "http",
    -   "url": "https://x.example/mcp"
    - }
    + "toolsmith": {
    +   "type": "stdio",
    +   "command": "[target]/toolsmith",
    +   "args": [
    +     "serve"
    +   ],
    +   "alwaysLoad": true
    + }
    /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml (new file), in mcpServers
    + files starts: npx -y files
    + web connects to: https://x.example/mcp
    toolsmith: nothing is changed: there is no terminal to ask on
    help: to change the files without a question: toolsmith adopt claude-code --yes
    "#);
    assert_eq!(home.read(file), text);
    assert!(!home.path().join(CONFIG).exists() && records(&home).is_empty());
}

#[test]
fn changed_files_are_put_back_entry_by_entry() {
    let home = Home::new();
    let (client, file, text) = CLIENTS[0];
    home.write(file, text);
    home.write(CONFIG, "mcpServers:\n  web: { command: old-web }\n");
    adopt(&home, &[client, "--yes", "--replace"]).exits(0);
    home.write(file, &home.read(file).replace("3,", "4,"));
    home.write(CONFIG, &(home.read(CONFIG) + "globalSettings: { timeout: 5 }\n"));
    assert_snapshot!(normal(&adopt(&home, &[client, "--undo", "--yes"]).exits(0).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.claude.json has changed since: entries are put back one by one
    - toolsmith
    + files
    + web
    toolsmith: /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml has changed since: entries are taken out one by one
    - files
    + web, as before
    toolsmith: put back the servers of /tmp/.tmpXXXXXX/.claude.json
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.claude.json.toolsmith-backup-2
    ");
    let mut expected: Value = serde_json::from_str(text).unwrap();
    expected["numStartups"] = 4.into();
    assert_eq!(serde_json::from_str::<Value>(&home.read(file)).unwrap(), expected);
    let config = home.read(CONFIG);
    assert_snapshot!(normal(&config), @r"
    mcpServers:
      web: { command: old-web }
    globalSettings: { timeout: 5 }
    ");
}

#[test]
fn an_interruption_between_the_steps_can_be_undone() {
    let (client, file, text) = CLIENTS[0];
    // A lock on a file's folder stops the command before it changes that file.
    let mut shown = Vec::new();
    for (locked, is_config_written) in [(CONFIG, false), (file, true)] {
        let home = Home::new();
        home.write(file, text);
        home.write(CONFIG, "mcpServers:\n  notes: { command: notes-mcp }\n");
        let own = home.read(CONFIG);
        let folder = File::open(home.path().join(locked).parent().unwrap()).unwrap();
        folder.lock().unwrap();
        let run = home.in_here(Run::new(home.path())).arguments(&["adopt", client, "--yes"]).start();
        run.wait_until("the step before", || {
            !records(&home).is_empty() && (home.read(CONFIG) != own) == is_config_written
        });
        run.signal(Signal::KILL);
        run.done();
        drop(folder);
        assert_eq!(home.read(file), text);
        shown.push(normal(&adopt(&home, &[client, "--yes"]).exits(2).stderr));
        adopt(&home, &[client, "--undo", "--yes"]).exits(0);
        assert_eq!((home.read(file).as_str(), home.read(CONFIG)), (text, own));
        adopt(&home, &[client, "--yes"]).exits(0);
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: an earlier adopt of claude-code was interrupted; nothing is changed
    help: undo it first: toolsmith adopt claude-code --undo

    toolsmith: an earlier adopt of claude-code was interrupted; nothing is changed
    help: undo it first: toolsmith adopt claude-code --undo
    ");
}

#[test]
fn secrets_are_named_but_never_printed_and_move_to_the_environment() {
    let home = Home::new();
    home.write(
        ".cursor/mcp.json",
        r#"{ "mcpServers": {
            "git": { "command": "git-mcp --verbose", "env": { "GIT_TOKEN": "ghp_abcdefghijklmnopqrstuvwxyz", "LEVEL": "3" } },
            "web": { "url": "https://x.example/mcp?api_key=query-secret-0123456789", "headers": { "Authorization": "Bearer header-secret-0123456789" } },
            "user": { "url": "https://me:password-0123456789@y.example/mcp" }
        } }"#,
    );
    let kept = adopt(&home, &["cursor", "--yes"]).exits(0);
    assert_snapshot!(normal(&kept.stderr), @r#"
    toolsmith: git: its command is one text, which is now a command with arguments
    toolsmith: user: the user name in its URL is now an Authorization header
    toolsmith: these values look like secrets:
      git: env.GIT_TOKEN = ghp_… (30 characters)
      user: headers.Authorization = bWU6… (32 characters)
      web: url?api_key = quer… (23 characters)
      web: headers.Authorization = head… (24 characters)
    toolsmith: they stay as text; to move them: --secrets env, or --secrets keyring
    /tmp/.tmpXXXXXX/.cursor/mcp.json, in mcpServers
    - "git": {
    -   "command": "git-mcp --verbose",
    -   "env": {
    -     "GIT_TOKEN": "…",
    -     "LEVEL": "…"
    -   }
    - }
    - "user": {
    -   "url": "…"
    - }
    - "web": {
    -   "url": "https://x.example/mcp?api_key=…",
    -   "headers": {
    -     "Authorization": "…"
    -   }
    - }
    + "toolsmith": {
    +   "command": "[target]/toolsmith",
    +   "args": [
    +     "serve"
    +   ]
    + }
    /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml (new file), in mcpServers
    + git starts: git-mcp --verbose
    + user connects to: https://y.example/mcp
    + web connects to: https://x.example/mcp?api_key=…
    toolsmith: moved git, user, web from /tmp/.tmpXXXXXX/.cursor/mcp.json to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.cursor/mcp.json.toolsmith-backup
    toolsmith: not confined: git
    help: to confine one: toolsmith mcp sandbox git --learn
    toolsmith: to put everything back: toolsmith adopt cursor --undo
    "#);
    let undone = adopt(&home, &["cursor", "--undo", "--yes"]).exits(0);
    let moved = adopt(&home, &["cursor", "--yes", "--secrets", "env"]).exits(0);
    assert_snapshot!(normal(&moved.stderr), @r#"
    toolsmith: git: its command is one text, which is now a command with arguments
    toolsmith: user: the user name in its URL is now an Authorization header
    toolsmith: these values look like secrets:
      git: env.GIT_TOKEN = ghp_… (30 characters)
      user: headers.Authorization = bWU6… (32 characters)
      web: url?api_key = quer… (23 characters)
      web: headers.Authorization = head… (24 characters)
    /tmp/.tmpXXXXXX/.cursor/mcp.json, in mcpServers
    - "git": {
    -   "command": "git-mcp --verbose",
    -   "env": {
    -     "GIT_TOKEN": "…",
    -     "LEVEL": "…"
    -   }
    - }
    - "user": {
    -   "url": "…"
    - }
    - "web": {
    -   "url": "https://x.example/mcp?api_key=…",
    -   "headers": {
    -     "Authorization": "…"
    -   }
    - }
    + "toolsmith": {
    +   "command": "[target]/toolsmith",
    +   "args": [
    +     "serve"
    +   ]
    + }
    /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml (new file), in mcpServers
    + git starts: git-mcp --verbose
    + user connects to: https://y.example/mcp
    + web connects to: https://x.example/mcp?api_key=${WEB_API_KEY}
    toolsmith: moved git, user, web from /tmp/.tmpXXXXXX/.cursor/mcp.json to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.cursor/mcp.json.toolsmith-backup
    toolsmith: set these variables where toolsmith starts; their values are in the previous text of the client's file:
      export GIT_TOKEN=…
      export USER_AUTHORIZATION=…   # base64 of NAME:PASSWORD
      export WEB_API_KEY=…
      export WEB_AUTHORIZATION=…
    toolsmith: not confined: git
    help: to confine one: toolsmith mcp sandbox git --learn
    toolsmith: to put everything back: toolsmith adopt cursor --undo
    "#);
    for done in [&kept, &undone, &moved] {
        for secret in ["ghp_abcdef", "query-secret", "header-secret", "password-0123456789"] {
            assert!(!done.stderr.contains(secret) && !done.stdout.contains(secret), "{}", done.stderr);
        }
    }
    let config = home.read(CONFIG);
    for secret in ["ghp_abcdef", "query-secret", "header-secret", "cGFzc3dvcmQ"] {
        assert!(!config.contains(secret), "{config}");
    }
    assert_snapshot!(normal(&config), @r"
    mcpServers:
      git:
        type: stdio
        command: git-mcp
        args:
          - '--verbose'
        env:
          GIT_TOKEN: ${GIT_TOKEN}
          LEVEL: '3'
        permission: ask
      user:
        url: https://y.example/mcp
        headers:
          Authorization: Basic ${USER_AUTHORIZATION}
        permission: ask
      web:
        url: https://x.example/mcp?api_key=${WEB_API_KEY}
        headers:
          Authorization: Bearer ${WEB_AUTHORIZATION}
        permission: ask
    ");
}

#[test]
fn without_a_keyring_secrets_stay_in_the_client_and_the_other_way_is_named() {
    let home = Home::new();
    let text = r#"{ "mcpServers": { "git": { "command": "x", "env": { "GIT_TOKEN": "ghp_abcdefghijklmnopqrstuvwxyz" } } } }"#;
    home.write(".cursor/mcp.json", text);
    let bus = "unix:path=/nowhere/bus";
    let run =
        home.in_here(Run::new(home.path())).arguments(&["adopt", "cursor", "--yes", "--secrets", "keyring"]);
    let done = run.variable("DBUS_SESSION_BUS_ADDRESS", bus).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: these values look like secrets:
      git: env.GIT_TOKEN = ghp_… (30 characters)
    toolsmith: the keyring is not available: Failed to connect to socket /nowhere/bus: No such file or directory
    help: start a keyring with a Secret Service, such as GNOME Keyring or KWallet, and unlock it
    help: or use environment variables instead: ${NAME} in place of ${keyring:NAME}
    ");
    assert_eq!(home.read(".cursor/mcp.json"), text);
    assert!(!home.path().join(CONFIG).exists() && records(&home).is_empty());
}

#[test]
fn our_own_entry_stays_and_settings_that_are_lost_are_named() {
    let home = Home::new();
    home.ok(&["cursor"]);
    let with_servers = home.read(".cursor/mcp.json").replacen(
        "\"mcpServers\": {",
        "\"mcpServers\": {\n    \"off\": { \"command\": \"x\", \"disabled\": true, \"colour\": \"red\" },\n    \"odd\": { \"type\": \"ws\" },",
        1,
    );
    home.write(".cursor/mcp.json", &with_servers);
    assert_snapshot!(normal(&adopt(&home, &["cursor", "--yes"]).exits(0).stderr), @r#"
    toolsmith: off: `colour` was not imported: unknown setting
    toolsmith: odd: left out: unknown type "ws"
    /tmp/.tmpXXXXXX/.cursor/mcp.json, in mcpServers
    - "off": {
    -   "command": "x",
    -   "disabled": true,
    -   "colour": "red"
    - }
    /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml (new file), in mcpServers
    + off starts: x, disabled
    toolsmith: moved off from /tmp/.tmpXXXXXX/.cursor/mcp.json to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.cursor/mcp.json.toolsmith-backup
    toolsmith: to put everything back: toolsmith adopt cursor --undo
    "#);
    let servers: Value = serde_json::from_str(&home.read(".cursor/mcp.json")).unwrap();
    let names: Vec<_> = servers["mcpServers"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["odd", "toolsmith"]);
    let config = home.read(CONFIG);
    assert_snapshot!(normal(&config), @r"
    mcpServers:
      'off':
        type: stdio
        command: x
        enabled: false
        permission: ask
    ");
    assert_snapshot!(normal(&adopt(&home, &["cursor", "--yes"]).exits(2).stderr), @r#"
    toolsmith: /tmp/.tmpXXXXXX/.cursor/mcp.json has no server that can be imported
    odd: left out: unknown type "ws"
    "#);
}

#[test]
fn a_very_large_file_is_not_changed() {
    let home = Home::new();
    let more = "x".repeat(4 << 20);
    let text =
        format!("{{ \"mcpServers\": {{ \"a\": {{ \"command\": \"x\" }} }}, \"state\": \"{more}\" }}\n");
    home.write(".cursor/mcp.json", &text);
    assert_snapshot!(normal(&adopt(&home, &["cursor", "--yes"]).exits(2).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.cursor/mcp.json has 4194363 bytes; adopt changes files of up to 4194304 bytes
    help: add its servers with `toolsmith mcp add`, and remove them from the file in an editor
    ");
    assert_eq!(home.read(".cursor/mcp.json"), text);
}

#[test]
fn a_different_server_of_the_same_name_needs_a_decision() {
    let home = Home::new();
    let (client, file, text) = CLIENTS[0];
    home.write(file, text);
    home.write(CONFIG, "mcpServers:\n  web: { command: old-web }\n  files: { type: stdio, command: npx, args: [-y, files], trust: true }\n");
    assert_snapshot!(normal(&adopt(&home, &[client, "--yes"]).exits(2).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml already has a different web; nothing is changed
    help: replace existing servers: --replace
    help: or rename them in the client
    ");
    assert_eq!(home.read(file), text);
    let run = home.in_here(Run::on_terminal(home.path())).arguments(&["adopt", client, "--yes"]).start();
    run.answer("Replace it? [y/N] ", 1, "n\n");
    assert_snapshot!(normal(&run.done().exits(0).stderr), @r#"
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[J/tmp/.tmpXXXXXX/.config/toolsmith/config.yaml already has a different web. Replace it? [y/N] n
    toolsmith: web stays in the client
    /tmp/.tmpXXXXXX/.claude.json, in mcpServers
    - "files": {
    -   "type": "stdio",
    -   "command": "npx",
    -   "args": [
    -     "-y",
    -     "files"
    -   ]
    - }
    + "toolsmith": {
    +   "type": "stdio",
    +   "command": "[target]/toolsmith",
    +   "args": [
    +     "serve"
    +   ],
    +   "alwaysLoad": true
    + }
    /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml, in mcpServers
      files is already there
    toolsmith: moved files from /tmp/.tmpXXXXXX/.claude.json to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.claude.json.toolsmith-backup
    toolsmith: to put everything back: toolsmith adopt claude-code --undo
    "#);
    assert_snapshot!(normal(&home.read(file)), @r#"
    {
      "numStartups": 3,
      "mcpServers": {
        "web": { "type": "http", "url": "https://x.example/mcp" },
        "toolsmith": {
          "type": "stdio",
          "command": "[target]/toolsmith",
          "args": ["serve"],
          "alwaysLoad": true
        }
      }
    }
    "#);
    assert_snapshot!(normal(&home.read(CONFIG)), @r"
    mcpServers:
      web: { command: old-web }
      files: { type: stdio, command: npx, args: [-y, files], trust: true }
    ");
}

#[test]
fn the_file_of_a_project_is_adopted_into_its_configuration() {
    let home = Home::new();
    let text = "{ \"mcpServers\": { \"a\": { \"command\": \"npx -y 'my server'\" } } }\n";
    home.write(".mcp.json", text);
    adopt(&home, &["claude-code", "--scope", "project", "--yes", "--permission", "deny"]).exits(0);
    let config = home.read("toolsmith.yaml");
    assert_snapshot!(normal(&config), @r"
    mcpServers:
      a:
        type: stdio
        command: npx
        args:
          - '-y'
          - my server
        permission: deny
    ");
    adopt(&home, &["claude-code", "--scope", "project", "--undo", "--yes"]).exits(0);
    assert_eq!(home.read(".mcp.json"), text);
    assert!(!home.path().join("toolsmith.yaml").exists());
}

#[test]
fn servers_are_imported_from_an_installed_client() {
    let home = Home::new();
    let (_, file, text) = CLIENTS[1];
    home.write(file, text);
    let import = |arguments: &[&str]| {
        home.in_here(Run::new(home.path())).arguments(&["mcp", "import"]).arguments(arguments).done()
    };
    assert_snapshot!(normal(&import(&["--from", "codex"]).exits(0).stderr), @r"
    toolsmith: web: the environment variable WEB is not set; until you set it, the server is unavailable
    toolsmith: added files, web to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: not confined: files
    help: to confine one: toolsmith mcp sandbox files --learn
    ");
    assert_eq!(home.read(file), text);
    assert_snapshot!(normal(&home.read(".config/toolsmith/config.yaml")), @r"
    mcpServers:
      files:
        type: stdio
        command: npx
        args:
          - '-y'
        env:
          LEVEL: '3'
        permission: ask
      web:
        url: https://x.example/mcp
        headers:
          Authorization: Bearer ${WEB}
        permission: ask
    ");
    assert_snapshot!(normal(&import(&[".codex/config.toml", "--replace"]).exits(0).stderr), @r"
    toolsmith: web: the environment variable WEB is not set; until you set it, the server is unavailable
    toolsmith: added files, web to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: not confined: files
    help: to confine one: toolsmith mcp sandbox files --learn
    ");
    assert_snapshot!(normal(&import(&["--from", "zed"]).exits(2).stderr), @r"
    toolsmith: there is no file /tmp/.tmpXXXXXX/.config/zed/settings.json
    help: add a server to the client first, or name another client
    ");
}
