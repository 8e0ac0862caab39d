//! `${keyring:NAME}` and `toolsmith secret`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use end_to_end::harness::{FinishedRun, Run, forget, spawn};
use end_to_end::page::normal;
use insta::assert_snapshot;

use crate::clients::Home;

/// No bus is at this address.
const NO_BUS: &str = "unix:path=/nowhere/bus";

/// Two servers: one writes its secret to a file and to standard error, the other has none.
const CONFIG: &str = "\
mcpServers:
  secret:
    command: sh
    args: [-c, 'printf %s \"$TOKEN\" > seen; echo \"token $TOKEN\" >&2; exit 1']
    env: { TOKEN: \"Bearer ${keyring:my.token}\" }
  shop: { command: toolsmith, args: [demo-server] }
";

fn home() -> Home {
    let home = Home::new();
    home.write(".config/toolsmith/config.yaml", CONFIG);
    home
}

fn toolsmith(home: &Home, bus: &str, arguments: &[&str], input: &str) -> FinishedRun {
    let run = home.in_here(Run::new(home.path())).arguments(arguments).input(input);
    run.variable("DBUS_SESSION_BUS_ADDRESS", bus).done()
}

#[test]
fn the_keyring_is_not_read_before_a_server_is_used() {
    let home = home();
    toolsmith(&home, NO_BUS, &["config", "check"], "").exits(0);
    let shown = toolsmith(&home, NO_BUS, &["config", "show"], "").exits(0);
    assert!(shown.stdout.contains("${keyring:my.token}") || shown.stdout.contains('…'), "{}", shown.stdout);
    toolsmith(&home, NO_BUS, &["mcp", "list"], "").exits(0);
    toolsmith(&home, NO_BUS, &["mcp", "test", "shop"], "").exits(0);
    let failed = toolsmith(&home, NO_BUS, &["mcp", "test", "secret"], "");
    assert_ne!(failed.code(), 0);
    let said = failed.stdout + &failed.stderr;
    assert_snapshot!(normal(&said), @r"
    secret: error: the keyring is not available: Failed to connect to socket /nowhere/bus: No such file or directory
    help: start a keyring with a Secret Service, such as GNOME Keyring or KWallet, and unlock it
    help: or use environment variables instead: ${NAME} in place of ${keyring:NAME}
    ");
}

#[test]
fn without_a_keyring_the_commands_name_the_other_way() {
    let home = home();
    let mut shown = Vec::new();
    for (arguments, input) in [
        (&["secret", "set", "my.token"][..], "hunter2-hunter2\n"),
        (&["secret", "list"], ""),
        (&["secret", "delete", "a"], ""),
    ] {
        let done = toolsmith(&home, NO_BUS, arguments, input).exits(2);
        shown.push(normal(&done.stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: the keyring is not available: Failed to connect to socket /nowhere/bus: No such file or directory
    help: start a keyring with a Secret Service, such as GNOME Keyring or KWallet, and unlock it
    help: or use environment variables instead: ${NAME} in place of ${keyring:NAME}

    toolsmith: the keyring is not available: Failed to connect to socket /nowhere/bus: No such file or directory
    help: start a keyring with a Secret Service, such as GNOME Keyring or KWallet, and unlock it
    help: or use environment variables instead: ${NAME} in place of ${keyring:NAME}

    toolsmith: the keyring is not available: Failed to connect to socket /nowhere/bus: No such file or directory
    help: start a keyring with a Secret Service, such as GNOME Keyring or KWallet, and unlock it
    help: or use environment variables instead: ${NAME} in place of ${keyring:NAME}
    ");
    let printed = toolsmith(&home, NO_BUS, &["secret", "set", "a/b"], "x").exits(2);
    assert_snapshot!(normal(&printed.stderr), @r"
    error: invalid value 'a/b' for '<NAME>': a name has 1 to 128 letters, digits, `_`, `-` and `.`

    For more information, try '--help'.
    ");
    let printed = toolsmith(&home, NO_BUS, &["secret", "set", "a"], "").exits(2);
    assert_snapshot!(normal(&printed.stderr), @r"
    toolsmith: the secret is empty; nothing is stored
    help: type it at the prompt, or write it to standard input
    ");
    let printed = toolsmith(&home, NO_BUS, &["secret", "set", "a"], &"x".repeat(20_000)).exits(2);
    assert_snapshot!(normal(&printed.stderr), @"toolsmith: the secret has more than 16384 bytes, the maximum");
}

#[test]
fn a_secret_outside_the_servers_is_an_error_with_its_place() {
    let home = home();
    home.write("odd.yaml", "mcpServers: { a: { command: x, roots: [\"${keyring:b}\"] } }\nserve: { audit: { file: \"${keyring:c}\" } }\n");
    let done = toolsmith(&home, NO_BUS, &["config", "check", "odd.yaml"], "").exits(2);
    let said = done.stdout + &done.stderr;
    assert_snapshot!(normal(&said), @r#"
    odd.yaml:1:40: ${keyring:b} can't be used here, only in command, args, env, cwd, url, headers and the client of a server; write an environment variable: ${NAME}
      |
    1 | mcpServers: { a: { command: x, roots: ["${keyring:b}"] } }
      |                                        ^
    odd.yaml:2:25: ${keyring:c} can't be used here, only in command, args, env, cwd, url, headers and the client of a server; write an environment variable: ${NAME}
      |
    2 | serve: { audit: { file: "${keyring:c}" } }
      |                         ^
    toolsmith: 2 problems
    "#);
}

/// A bus with a real Secret Service, which ends with this.
struct Keyring {
    processes: Vec<Child>,
    address: String,
}

impl Keyring {
    fn start(home: &Home) -> Self {
        let mut command = Command::new("dbus-daemon");
        command.args(["--session", "--nofork", "--print-address"]).stdout(Stdio::piped());
        let mut bus = spawn(&mut command);
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let mut command = Command::new("gnome-keyring-daemon");
        command
            .args(["--unlock", "--components=secrets", "--foreground"])
            .env("DBUS_SESSION_BUS_ADDRESS", &address)
            .env("HOME", home.path())
            .env("XDG_RUNTIME_DIR", home.path())
            .env_remove("XDG_DATA_HOME")
            .stdin(Stdio::piped());
        let mut daemon = spawn(&mut command);
        // The password of the new keyring.
        daemon.stdin.take().unwrap().write_all(b"password").unwrap();
        let is_ready = || toolsmith(home, &address, &["secret", "list"], "").code() == 0;
        assert!((0..100).any(|_| is_ready()), "the keyring does not start");
        Keyring { processes: vec![daemon, bus], address }
    }
}

impl Drop for Keyring {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
            forget(process);
        }
    }
}

#[test]
#[ignore = "needs dbus-daemon and gnome-keyring-daemon in PATH"]
fn a_stored_secret_reaches_its_server_and_is_masked_everywhere() {
    let home = home();
    let keyring = Keyring::start(&home);
    let run = |arguments: &[&str], input: &str| toolsmith(&home, &keyring.address, arguments, input);
    let missing = run(&["mcp", "test", "secret"], "");
    let said = missing.stdout + &missing.stderr;
    assert!(said.contains("no secret my.token") && said.contains("toolsmith secret set my.token"), "{said}");
    run(&["secret", "set", "my.token"], "s3cret-0123456789\n")
        .exits(0)
        .says(&["stored my.token", "${keyring:my.token}"]);
    run(&["secret", "set", "other"], "x").exits(0);
    assert_eq!(run(&["secret", "list"], "").exits(0).stdout, "my.token\nother\n");
    let used = run(&["mcp", "test", "secret"], "");
    assert_eq!(home.read("seen"), "Bearer s3cret-0123456789");
    let said = used.stdout + &used.stderr;
    assert!(said.contains("***") && !said.contains("s3cret"), "{said}");
    home.write(".cursor/mcp.json", r#"{ "mcpServers": { "git": { "command": "x", "env": { "GIT_TOKEN": "ghp_0123456789abcdefghij" } } } }"#);
    run(&["adopt", "cursor", "--yes", "--secrets", "keyring"], "")
        .exits(0)
        .says(&["stored git.GIT_TOKEN in the keyring"]);
    let config = home.read(".config/toolsmith/config.yaml");
    assert!(config.contains("${keyring:git.GIT_TOKEN}") && !config.contains("ghp_"), "{config}");
    assert_eq!(run(&["secret", "list"], "").stdout, "git.GIT_TOKEN\nmy.token\nother\n");
    run(&["secret", "delete", "other"], "").exits(0).says(&["deleted other"]);
    run(&["secret", "delete", "other"], "").exits(2).says(&["the keyring has no secret other"]);
}
