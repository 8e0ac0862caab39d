//! Logins: by command and by prompt, how they are stored, and that secrets are never shown.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use end_to_end::browser;
use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run, fault_entry};
use end_to_end::page::normal;
use end_to_end::protected_server::{
    CALL, ProtectedServer, address_in, assert_no_secret, visit, without_secrets,
};
use end_to_end::services::Service;
use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;

use crate::console::{leave, say, shows, without_escapes};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn without_a_login_every_command_explains_how_to_log_in() {
    let guarded = ProtectedServer::new();
    assert_eq!(guarded.state(7), "auth_required");
    let commands: [&[&str]; 4] = [
        &["run", "--json", "-"],
        &["mcp", "test", "guarded"],
        &["mcp", "status"],
        &["mcp", "info", "guarded"],
    ];
    let mut shown = Vec::new();
    for command in commands {
        shown.push(normal(&guarded.done(command, "0").exits(7).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: MCP server `guarded`: the server requires a login: it answered with HTTP 401: no entry (waiting for the answer to `initialize`)
    help: log in with `toolsmith mcp login guarded`

    guarded: error: the server requires a login: it answered with HTTP 401: no entry (waiting for the answer to `initialize`)
    help: log in with `toolsmith mcp login guarded`

    guarded: MCP server `guarded`: the server requires a login: it answered with HTTP 401: no entry (waiting for the answer to `initialize`)
    help: log in with `toolsmith mcp login guarded`

    MCP server `guarded`: the server requires a login: it answered with HTTP 401: no entry (waiting for the answer to `initialize`)
    help: log in with `toolsmith mcp login guarded`
    ");
    assert_snapshot!(normal(&guarded.done(&["mcp", "logout", "guarded"], "0").exits(0).stderr), @r"
    toolsmith: there are no tokens for guarded
    ");
    assert_eq!(guarded.token_files(), Vec::<PathBuf>::new());
}

#[test]
fn a_login_is_valid_until_the_logout() {
    let guarded = ProtectedServer::new();
    let (done, errors_text) = guarded.logged_in("0");
    done.exits(0);
    assert_snapshot!(normal(&errors_text), @r"
    toolsmith: to log in, visit
      http://127.0.0.1:[port]/authorize?[parameters]
    toolsmith: logged in to guarded
    ");

    let tokens = guarded.token_files();
    assert_eq!(tokens.len(), 1, "{tokens:?}");
    assert!(fs::read_to_string(&tokens[0]).unwrap().contains("access-"));
    assert_eq!(mode(&guarded.tokens()), 0o700);
    // Includes the lock files.
    for entry in fs::read_dir(guarded.tokens()).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }

    assert_eq!(guarded.state(0), "ready");
    assert_eq!(guarded.done(&["run", "--json", "-"], "0").expect("ok", 0)["result"], "echo");

    assert_snapshot!(normal(&guarded.done(&["mcp", "logout", "guarded"], "0").exits(0).stderr), @r"
    toolsmith: deleted the tokens of guarded
    ");
    assert!(!tokens[0].exists());
    assert!(guarded.server.lines().iter().any(|line| line.contains("/revoke")));
    assert_eq!(guarded.state(7), "auth_required");
}

#[test]
fn a_code_that_is_entered_anywhere_logs_in() {
    let (home, server) = (tempfile::tempdir().unwrap(), Service::guarded("confidential+device"));
    let guarded = ProtectedServer { server, home };
    let (login, errors) = guarded.login("0");
    let errors_text = || fs::read_to_string(&errors).unwrap_or_default();
    let page = || Some(errors_text().split_once("or visit\n")?.1.split_once('\n')?.0.trim().to_owned());
    login.wait_until("the address with the code", || page().is_some());
    let asked = || guarded.lines().iter().filter(|line| line.contains("device_code")).count();
    login.wait_until("the second question for the tokens", || asked() >= 2);
    enter(&page().unwrap());
    without_secrets(login.done()).exits(0);
    assert_no_secret(&errors_text());
    assert_snapshot!(normal(&errors_text()), @r"
    toolsmith: to log in, visit
      http://127.0.0.1:[port]/activate
    and enter the code WDJB-4
    or visit
      http://127.0.0.1:[port]/activate?user_code=WDJB-4
    toolsmith: logged in to guarded
    ");
    assert_eq!(guarded.state(0), "ready");
    // It is renewed like any other login.
    guarded.server.command("expire");
    assert_eq!(guarded.done(&["run", "--json", "-"], "0").expect("ok", 0)["result"], "echo");
}

#[test]
fn a_code_that_is_not_accepted_logs_nobody_in() {
    let mut shown = Vec::new();
    for mode in ["device+declines", "device+expires"] {
        let guarded = ProtectedServer { server: Service::guarded(mode), home: tempfile::tempdir().unwrap() };
        let (login, errors) = guarded.login("0");
        let errors_text = || fs::read_to_string(&errors).unwrap_or_default();
        let page = || Some(errors_text().split_once("or visit\n")?.1.split_once('\n')?.0.trim().to_owned());
        login.wait_until("the address with the code", || page().is_some());
        if mode.ends_with("declines") {
            enter(&page().unwrap());
        }
        without_secrets(login.done()).exits(7);
        shown.push(normal(&errors_text()));
        assert_eq!(guarded.state(7), "auth_required");
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: to log in, visit
      http://127.0.0.1:[port]/activate
    and enter the code WDJB-3
    or visit
      http://127.0.0.1:[port]/activate?user_code=WDJB-3
    toolsmith: MCP server `guarded`: the login failed: the user has declined the login

    toolsmith: to log in, visit
      http://127.0.0.1:[port]/activate
    and enter the code WDJB-3
    or visit
      http://127.0.0.1:[port]/activate?user_code=WDJB-3
    toolsmith: MCP server `guarded`: the login failed: the code was not entered within 1 s; try again
    ");
}

/// Visits the page for a code.
fn enter(page: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(browser::visit(page)).unwrap();
}

/// The browser is on another machine, so nothing answers at the address to which it is redirected.
#[test]
fn a_pasted_address_logs_in() {
    let guarded = ProtectedServer::new();
    let run = Run::on_terminal(shared()).arguments(&["mcp", "login", "guarded", "--no-browser"]);
    let login = guarded.in_home(run).start();
    login.wait_until("the address", || address_in(&login.shown().replace('\r', "")).is_some());
    let address = address_in(&login.shown().replace('\r', "")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let redirected = runtime.block_on(browser::redirected(&address)).unwrap();
    login.answer("\n> ", 1, &format!("{address}\n"));
    login.answer("\n> ", 2, &format!("{redirected}\n"));
    let done = login.done();
    let parameters = redirected.split_once('?').unwrap().1;
    let shown = normal(&done.stderr.replace(parameters, "[parameters]"));
    assert_snapshot!(shown, @r"
    toolsmith: to log in, visit
      http://127.0.0.1:[port]/authorize?[parameters]
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JIf your browser is on another machine, it ends at a page that can't be opened, with an address that begins with
      http://127.0.0.1:[port]/callback
    Copy that address from the browser, and paste it here.
    > http://127.0.0.1:[port]/authorize?[parameters]
    That is not the address after the login: it must begin with http://127.0.0.1:[port]/callback?
    > http://127.0.0.1:[port]/callback?[parameters]
    toolsmith: logged in to guarded
    ");
    done.exits(0);
    assert_eq!(guarded.state(0), "ready");
}

/// The signal arrives after the authorization server has consumed the old refresh token and before it has answered.
#[test]
fn a_run_stopped_during_a_renewal_keeps_the_login() {
    let guarded = ProtectedServer::new();
    guarded.logged_in("0").0.exits(0);
    for signals in [1, 2] {
        guarded.server.command("expire");
        guarded.server.command("hold");
        let is_renewal = |line: &String| line.contains(r#""grant_type":"refresh_token""#);
        let renewals = || guarded.server.lines().iter().filter(|line| is_renewal(line)).count();
        let before = renewals();
        let (run, errors) = guarded.started(&["run", "--json", "-"], "0");
        run.wait_until("the request for new tokens", || renewals() > before);
        (0..signals).for_each(|_| run.signal(Signal::INT));
        let errors_text = || fs::read_to_string(&errors).unwrap_or_default();
        run.wait_until("the message that it waits", || errors_text().contains("a login is being renewed"));
        guarded.server.command("answer");
        without_secrets(run.done()).exits(130);
        assert_no_secret(&errors_text());
        assert_eq!(guarded.state(0), "ready");
        assert_eq!(renewals(), before + 1, "the renewed login is used");
    }
}

#[test]
fn debug_output_shows_requests_but_no_secrets() {
    let guarded = ProtectedServer::new();
    guarded.done(&["run", "--json", "-"], "1").exits(7).says(&["401", "guarded: POST"]);
    guarded.logged_in("1").0.exits(0);
    let done = guarded.done(&["run", "--json", "-"], "1").says(&["guarded: POST", "tools/call", "echo"]);
    done.expect("ok", 0);
    guarded.done(&["mcp", "logout", "guarded"], "1").exits(0);
}

/// A program that collects the answers of a server that repeats its credentials in every way.
const ECHO: &str = r#"
let echoed = guarded::echo().await?;
let texts = vec![
    echoed.text(),
    format!("{:?}", echoed),
    format!("{:?}", guarded::fail().await.unwrap_err()),
    format!("{:?}", guarded::refuse().await.unwrap_err()),
];
for text in &texts {
    eprintln!("{text}");
}
texts
"#;

/// The whole output, and the content of all files in this home.
fn everything(done: &FinishedRun, home: &Path) -> String {
    let mut all = format!("{}{}", done.stdout, done.stderr);
    let mut folders = vec![home.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.extend((!path.ends_with("tokens")).then_some(path));
            } else {
                all.push_str(&String::from_utf8_lossy(&fs::read(path).unwrap()));
            }
        }
    }
    all
}

#[test]
fn a_token_that_its_server_repeats_reaches_no_program_log_or_file() {
    let guarded = ProtectedServer { server: Service::guarded("echoes"), home: tempfile::tempdir().unwrap() };
    guarded.logged_in("1").0.exits(0);
    for debug in ["0", "1"] {
        let run = Run::new(shared()).arguments(&["run", "--json", "-"]).input(ECHO);
        let done = guarded.in_home(run.variable("TOOLSMITH_MCP_DEBUG", debug)).done();
        assert_no_secret(&everything(&done, guarded.home.path()));
        let outcome = done.expect("ok", 0);
        let texts = outcome["result"].as_array().unwrap();
        assert!(texts.iter().all(|text| text.as_str().unwrap().contains("***")), "{outcome:#}");
    }
    let commands: [&[&str]; 4] = [
        &["mcp", "info", "guarded", "--json"],
        &["mcp", "list-tools", "guarded"],
        &["mcp", "call-tool", "--server", "guarded", "--tool", "echo"],
        &["mcp", "call-tool", "--server", "guarded", "--tool", "fail"],
    ];
    for command in commands {
        let done = guarded.done(command, "1");
        assert!(format!("{}{}", done.stdout, done.stderr).contains("***"), "{command:?} {done:#?}");
    }
}

#[test]
fn a_configured_header_that_its_server_repeats_reaches_no_program() {
    let server = Service::guarded("echoes");
    let address = server.mcp_address();
    let mut shown = Vec::new();
    for header in ["Bearer configured-token-1", "Basic bWU6Y29uZmlndXJlZC1wYXNzd29yZC0x"] {
        let config = format!(
            "mcpServers:\n  guarded: {{ type: http, url: {address:?}, headers: {{ Authorization: {header:?} }} }}\n"
        );
        let run = Run::new(shared()).arguments(&["run", "--json", "-"]).input(ECHO).config(&config);
        let done = run.variable("TOOLSMITH_MCP_DEBUG", "1").done();
        for part in ["configured-token-1", "configured-password-1", "bWU6Y29uZmlndXJlZC1wYXNzd29yZC0x"] {
            assert!(!done.stdout.contains(part) && !done.stderr.contains(part), "{part}: {done:#?}");
        }
        shown.push(normal(&done.expect("ok", 0)["result"]));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    [
      "{\"headers\":{\"authorization\":\"***\"},\"escaped\":\"***\"}",
      "ToolResult { content: [Content(Object {\"type\": String(\"text\"), \"text\": String(\"{\\\"headers\\\":{\\\"authorization\\\":\\\"***\\\"},\\\"escaped\\\":\\\"***\\\"}\")})], structured: Some(Object {\"headers\": Object {\"authorization\": String(\"***\")}, \"escaped\": String(\"***\")}) }",
      "ToolError { kind: Rejected, server: \"guarded\", tool: \"fail\", message: \"MCP server `guarded`: the answer of tool `fail` failed with error -32000: failed with ***\", .. }",
      "ToolError { kind: Unavailable, server: \"guarded\", tool: \"refuse\", message: \"MCP server `guarded`: it answered with HTTP 500: refused *** (waiting for the answer of tool `refuse`)\", .. }"
    ]
    [
      "{\"headers\":{\"authorization\":\"me:***\"},\"escaped\":\"me:***\"}",
      "ToolResult { content: [Content(Object {\"type\": String(\"text\"), \"text\": String(\"{\\\"headers\\\":{\\\"authorization\\\":\\\"me:***\\\"},\\\"escaped\\\":\\\"me:***\\\"}\")})], structured: Some(Object {\"headers\": Object {\"authorization\": String(\"me:***\")}, \"escaped\": String(\"me:***\")}) }",
      "ToolError { kind: Rejected, server: \"guarded\", tool: \"fail\", message: \"MCP server `guarded`: the answer of tool `fail` failed with error -32000: failed with me:***\", .. }",
      "ToolError { kind: Unavailable, server: \"guarded\", tool: \"refuse\", message: \"MCP server `guarded`: it answered with HTTP 500: refused me:*** (waiting for the answer of tool `refuse`)\", .. }"
    ]
    "#);
}

#[test]
fn a_login_that_is_declined_leaves_nothing() {
    let guarded =
        ProtectedServer { server: Service::guarded("declines"), home: tempfile::tempdir().unwrap() };
    let (done, errors_text) = guarded.logged_in("0");
    done.exits(7);
    assert_snapshot!(normal(&errors_text), @r"
    toolsmith: to log in, visit
      http://127.0.0.1:[port]/authorize?[parameters]
    toolsmith: MCP server `guarded`: the login failed: the authorization server refuses: access_denied (not today)
    ");
    assert_eq!(guarded.state(7), "auth_required");
}

#[test]
fn a_client_with_its_own_secret_needs_no_user_and_never_shows_it() {
    const SECRET: &str = "secret-of-machine";
    let server = Service::guarded("sound");
    let mut shown = Vec::new();
    for secret in [SECRET, "${TOOLSMITH_TEST_SECRET}"] {
        let home = tempfile::tempdir().unwrap();
        let config = format!(
            "mcpServers:\n  guarded:\n    url: {:?}\n    oauth: {{ client_id: machine, client_secret: {secret:?}, grant: \
             client_credentials }}\n",
            server.mcp_address()
        );
        let run = |arguments: &[&str]| {
            let run = Run::new(shared()).arguments(arguments).input(CALL).config(&config);
            let run = run.variable("XDG_CONFIG_HOME", home.path().to_str().unwrap());
            let run = run.variable("TOOLSMITH_TEST_SECRET", SECRET).variable("TOOLSMITH_MCP_DEBUG", "1");
            let done = without_secrets(run.done());
            assert!(!done.stdout.contains(SECRET) && !done.stderr.contains(SECRET), "{done:#?}");
            done
        };
        assert_eq!(run(&["run", "--json", "-"]).expect("ok", 0)["result"], "echo");
        shown.push(normal(&run(&["mcp", "login", "guarded"]).exits(0).stderr));
        run(&["mcp", "info", "guarded", "--json"]).exits(0);
        run(&["config", "show"]).exits(0);
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: logged in to guarded

    toolsmith: logged in to guarded
    ");
    // A client that the authorization server does not know.
    let wrong = format!(
        "mcpServers:\n  guarded:\n    url: {:?}\n    oauth: {{ client_id: machine, client_secret: \
         another-secret-1, grant: client_credentials }}\n",
        server.mcp_address()
    );
    let done = Run::new(shared()).arguments(&["mcp", "test", "guarded"]).config(&wrong).done().exits(7);
    assert_snapshot!(normal(&without_secrets(done).stderr), @r"
    guarded: error: cannot connect: no token for the client's credentials: its authorization server answered with HTTP 400: invalid_client (as the test requires)
    ");
}

/// A folder with an opener that visits URLs with the scripted browser.
fn opener() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "#!/bin/sh\nexec curl --silent --noproxy '*' --location --max-time 30 --output /dev/null \"$1\"\n";
    let file = folder.path().join("xdg-open");
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
    folder
}

#[test]
fn a_run_at_a_terminal_offers_the_login() {
    let (guarded, opener) = (ProtectedServer::new(), opener());
    let snippet = guarded.home.path().join("snippet.rs");
    fs::write(&snippet, CALL).unwrap();
    let path = format!("{}:{}", opener.path().display(), std::env::var("PATH").unwrap());
    let answered = |answer: &str| {
        let run = Run::on_terminal(shared()).arguments(&["run", "--json", snippet.to_str().unwrap()]);
        let started = guarded.in_home(run.variable("PATH", &path)).start();
        started.answer("Open it in the browser? [y/N] ", 1, answer);
        without_secrets(started.done())
    };
    let mut shown = Vec::new();
    for no in ["n\n", "\n", "\x04"] {
        shown.push(normal(&answered(no).exits(7).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[Jtoolsmith: the server guarded requires a login. Open it in the browser? [y/N] n
    toolsmith: MCP server `guarded`: the server requires a login: it answered with HTTP 401: no entry (waiting for the answer to `initialize`)
    help: log in with `toolsmith mcp login guarded`
    more: toolsmith explain login

    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[Jtoolsmith: the server guarded requires a login. Open it in the browser? [y/N] 
    toolsmith: MCP server `guarded`: the server requires a login: it answered with HTTP 401: no entry (waiting for the answer to `initialize`)
    help: log in with `toolsmith mcp login guarded`
    more: toolsmith explain login

    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[Jtoolsmith: the server guarded requires a login. Open it in the browser? [y/N] 
    toolsmith: MCP server `guarded`: the server requires a login: it answered with HTTP 401: no entry (waiting for the answer to `initialize`)
    help: log in with `toolsmith mcp login guarded`
    more: toolsmith explain login
    ");
    assert_eq!(answered("y\n").expect("ok", 0)["result"], "echo");
    assert_eq!(guarded.done(&["run", "--json", "-"], "0").expect("ok", 0)["result"], "echo");
}

#[test]
fn a_login_in_the_console_connects_the_server() {
    let guarded = ProtectedServer::new();
    let model = end_to_end::scripted::model(&json!([{ "answers": [{ "text": "?" }] }]));
    let config = format!(
        "models:\n  - {{ ref: scripted, id: m, type: openai, base_url: {:?} }}\n{}{}",
        model.base_url(),
        guarded.config(),
        fault_entry("faulty", "sound", "")
    );
    let run = Run::on_whole_terminal(shared()).arguments(&["chat"]).config_alone(&config);
    let run = run.variable("XDG_CONFIG_HOME", guarded.home.path().to_str().unwrap());
    let console = run.variable("TERM", "xterm").variable("NO_COLOR", "1").start();
    shows(&console, "the server guarded requires a login: /mcp auth guarded");
    say(&console, "/mcp auth guarded");
    let address = || {
        let shown = without_escapes(&console.shown());
        let (_, rest) = shown.split_once("to log in, visit")?;
        let address = rest.trim_start();
        let end = address.find(char::is_whitespace)?;
        Some(address[..end].to_owned())
    };
    console.wait_until("the address", || address().is_some());
    visit(&address().unwrap());
    shows(&console, "logged in to guarded");
    shows(&console, "guarded is connected, with ");
    assert_no_secret(&leave(console));
}
