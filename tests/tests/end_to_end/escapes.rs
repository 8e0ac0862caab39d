//! What programs, tools and servers write can't steer a terminal; to a pipe it goes as it is.

use std::fs;

use crate::cache::shared;
use crate::harness::{Run, plain};

/// Everything that steers a terminal, between words that are seen: as a string of Rust, without its quotes.
const ATTACK: &str = "A\\x1b]52;c;Y2xpcA==\\x07B\\x1b]11;#ffffff\\x1b\\\\C\\x1b[?1049hD\\x1b[?25lE\\x1b[8mF\\x1b[31mG\\x1b[0mH\\u{202e}I\\u{9b}2JJ\\rK\\x08L\\x1bP+q\\x1b\\\\M\\x1b_x\\x1b\\\\N\\u{2066}O\\x0bP\\x0cQ\\x7fR\\x00S\\x1bcT\\x0eU\\tV";

/// What a terminal must not see.
fn steering(shown: &str) -> String {
    let unharmed = shown.replace("\r\n", "\n");
    let steers = |c: &char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    unharmed.chars().filter(steers).collect()
}

fn on_terminal(code: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snippet.rs");
    fs::write(&file, code).unwrap();
    let run = Run::on_whole_terminal(shared()).arguments(&["run", "--quiet", file.to_str().unwrap()]);
    let shown = run
        .arguments(arguments)
        .config("mcpServers:\n  demo: { command: toolsmith, args: [demo-server] }\n")
        .done()
        .stderr;
    // The host's own: the line that progress stands in is emptied.
    shown.replace("\r\x1b[K", "")
}

#[test]
fn what_a_program_prints_can_not_steer_a_terminal() {
    for print in ["print!", "eprint!", "println!", "eprintln!"] {
        let shown = on_terminal(&format!("{print}(\"{ATTACK}\");"), &[]);
        assert_eq!(steering(&shown), "", "{print}: {shown:?}");
        // Every word is there.
        assert!(('A'..='U').all(|word| shown.contains(word)), "{print}: {shown:?}");
        assert!(shown.contains("U\tV"), "{print}: {shown:?}");
    }
}

#[test]
fn escapes_are_harmless_in_pieces_too() {
    // Each byte is a write of its own, and a character of three bytes as well.
    let code = format!(
        "use std::io::Write; let mut out = std::io::stdout().lock();
         for byte in \"{ATTACK}\\u{{202e}}é🦀\".bytes().chain([0x9b, 0x32, 0x4a, 0xc2, 0xe2, 0x80]) {{
             out.write_all(&[byte]).ok(); out.flush().ok(); std::thread::yield_now();
         }}"
    );
    let shown = on_terminal(&code, &[]);
    assert_eq!(steering(&shown), "", "{shown:?}");
    assert!(shown.contains("é🦀"), "{shown:?}");
}

#[test]
fn results_texts_and_failures_can_not_steer_a_terminal() {
    for code in [
        format!("\"{ATTACK}\""),
        format!("json!({{ \"a\": \"{ATTACK}\", \"\\u{{9b}}\": [\"\\u{{202e}}\"] }})"),
        format!("emit(\"{ATTACK}\");"),
        format!("demo::echo(\"{ATTACK}\").await?.text()"),
        format!("panic!(\"{ATTACK}\")"),
        format!("Err::<(), _>(\"{ATTACK}\")?"),
        format!("demo::fail().message(\"{ATTACK}\").await?;"),
        format!("let x: i32 = \"\u{1b}]52;c;x\u{7}\u{202e}{ATTACK}\"; x"),
    ] {
        for arguments in [&[][..], &["--json"]] {
            let shown = on_terminal(&code, arguments);
            assert_eq!(steering(&shown), "", "{code}: {shown:?}");
            assert!(shown.contains('A'), "{code}: {shown:?}");
        }
    }
}

#[test]
fn to_a_pipe_bytes_go_as_they_are() {
    let text = "A\u{1b}]52;c;x\u{7}\u{202e}\r\u{9b}2J\u{8}";
    let done = plain(&format!("print!({text:?}); eprint!({text:?}); {text:?}")).done().exits(0);
    assert_eq!(done.stdout, format!("{text}\n{text}\n"));
    assert!(done.stderr.contains(text), "{done:#?}");
}

#[test]
fn each_stream_is_looked_at_by_itself() {
    // Standard output is a pipe, and standard error a terminal.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snippet.rs");
    fs::write(&file, "print!(\"o\\x1b[2J\"); eprint!(\"e\\x1b[2J\");").unwrap();
    let done =
        Run::on_terminal(shared()).arguments(&["run", "--quiet", file.to_str().unwrap()]).done().exits(0);
    assert_eq!(done.stdout, "o\u{1b}[2J\n");
    assert!(!done.stderr.contains("\u{1b}[2J") && done.stderr.contains('e'), "{done:#?}");
}

#[test]
fn what_commands_print_of_servers_can_not_steer_a_terminal() {
    let attack = "A\u{1b}]52;c;x\u{7}\u{202e}\r\u{9b}2J\u{8}\u{2800}\u{3164}";
    let arguments = serde_json::json!({ "message": attack }).to_string();
    for more in [&[][..], &["--json"]] {
        let call =
            ["mcp", "call-tool", "--server", "demo", "--tool", "echo", "--allow", "*", "--args", &arguments];
        let shown = Run::on_whole_terminal(shared())
            .arguments(&call)
            .arguments(more)
            .config_alone("mcpServers:\n  demo: { command: toolsmith, args: [demo-server] }\n")
            .done()
            .exits(0)
            .stderr
            .replace("\r\x1b[K", "");
        assert_eq!(steering(&shown), "", "{shown:?}");
        assert!(shown.contains('A'), "{shown:?}");
    }
    let shown = Run::on_whole_terminal(shared())
        .arguments(&["mcp", "read-resource", "faulty", "book://text"])
        .fault("library", "")
        .done()
        .exits(0)
        .stderr;
    assert!(
        shown.contains("second \\u{1b}[2Jline") && steering(&shown.replace("\r\x1b[K", "")).is_empty(),
        "{shown:?}"
    );
}
