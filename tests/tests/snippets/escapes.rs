//! Output of programs, tools and servers cannot control a terminal; a pipe gets it unchanged.

use std::fs;

use end_to_end::cache::plain;
use end_to_end::cache::shared;
use end_to_end::harness::Run;
use end_to_end::page::normal;
use insta::assert_snapshot;

/// Terminal control sequences between visible letters, as the inside of a Rust string literal.
const ATTACK: &str = "A\\x1b]52;c;Y2xpcA==\\x07B\\x1b]11;#ffffff\\x1b\\\\C\\x1b[?1049hD\\x1b[?25lE\\x1b[8mF\\x1b[31mG\\x1b[0mH\\u{202e}I\\u{9b}2JJ\\rK\\x08L\\x1bP+q\\x1b\\\\M\\x1b_x\\x1b\\\\N\\u{2066}O\\x0bP\\x0cQ\\x7fR\\x00S\\x1bcT\\x0eU\\tV";

/// The control characters in a text that a terminal must not receive.
fn controls(shown: &str) -> String {
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
    // The host itself clears the progress line.
    shown.replace("\r\x1b[K", "")
}

#[test]
fn program_output_cannot_control_a_terminal() {
    let mut texts = Vec::new();
    for print in ["print!", "eprint!", "println!", "eprintln!"] {
        let shown = on_terminal(&format!("{print}(\"{ATTACK}\");"), &[]);
        assert_eq!(controls(&shown), "", "{print}: {shown:?}");
        // Every letter is there.
        assert!(('A'..='U').all(|word| shown.contains(word)), "{print}: {shown:?}");
        texts.push(normal(&shown));
    }
    assert_snapshot!(texts.join("\n"), @r"
    A\u{1b}]52;c;Y2xpcA==\u{7}B\u{1b}]11;#ffffff\u{1b}\C\u{1b}[?1049hD\u{1b}[?25lEFGH\u{202e}I\u{9b}2JJ\u{d}K\u{8}L\u{1b}P+q\u{1b}\M\u{1b}_x\u{1b}\N\u{2066}O\u{b}P\u{c}Q\u{7f}R\u{0}S\u{1b}cT\u{e}U\tV

    A\u{1b}]52;c;Y2xpcA==\u{7}B\u{1b}]11;#ffffff\u{1b}\C\u{1b}[?1049hD\u{1b}[?25lEFGH\u{202e}I\u{9b}2JJ\u{d}K\u{8}L\u{1b}P+q\u{1b}\M\u{1b}_x\u{1b}\N\u{2066}O\u{b}P\u{c}Q\u{7f}R\u{0}S\u{1b}cT\u{e}U\tV
    A\u{1b}]52;c;Y2xpcA==\u{7}B\u{1b}]11;#ffffff\u{1b}\C\u{1b}[?1049hD\u{1b}[?25lEFGH\u{202e}I\u{9b}2JJ\u{d}K\u{8}L\u{1b}P+q\u{1b}\M\u{1b}_x\u{1b}\N\u{2066}O\u{b}P\u{c}Q\u{7f}R\u{0}S\u{1b}cT\u{e}U\tV

    A\u{1b}]52;c;Y2xpcA==\u{7}B\u{1b}]11;#ffffff\u{1b}\C\u{1b}[?1049hD\u{1b}[?25lEFGH\u{202e}I\u{9b}2JJ\u{d}K\u{8}L\u{1b}P+q\u{1b}\M\u{1b}_x\u{1b}\N\u{2066}O\u{b}P\u{c}Q\u{7f}R\u{0}S\u{1b}cT\u{e}U\tV
    ");
}

#[test]
fn escapes_are_harmless_in_pieces_too() {
    // Writes each byte separately, also within multi-byte characters.
    let code = format!(
        "use std::io::Write; let mut out = std::io::stdout().lock();
         for byte in \"{ATTACK}\\u{{202e}}é🦀\".bytes().chain([0x9b, 0x32, 0x4a, 0xc2, 0xe2, 0x80]) {{
             out.write_all(&[byte]).ok(); out.flush().ok(); std::thread::yield_now();
         }}"
    );
    let shown = on_terminal(&code, &[]);
    assert_eq!(controls(&shown), "", "{shown:?}");
    assert!(shown.contains("é🦀"), "{shown:?}");
}

#[test]
fn results_and_failures_cannot_control_a_terminal() {
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
            assert_eq!(controls(&shown), "", "{code}: {shown:?}");
            assert!(shown.contains('A'), "{code}: {shown:?}");
        }
    }
}

#[test]
fn a_pipe_gets_the_bytes_unchanged() {
    let text = "A\u{1b}]52;c;x\u{7}\u{202e}\r\u{9b}2J\u{8}";
    let done = plain(&format!("print!({text:?}); eprint!({text:?}); {text:?}")).done().exits(0);
    assert_eq!(done.stdout, format!("{text}\n{text}\n"));
    assert!(done.stderr.contains(text), "{done:#?}");
}

#[test]
fn each_stream_is_filtered_separately() {
    // Standard output is a pipe, and standard error a terminal.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snippet.rs");
    fs::write(&file, "print!(\"o\\x1b[2J\"); eprint!(\"e\\x1b[2J\");").unwrap();
    let done =
        Run::on_terminal(shared()).arguments(&["run", "--quiet", file.to_str().unwrap()]).done().exits(0);
    assert_eq!(done.stdout, "o\u{1b}[2J\n");
    assert_snapshot!(normal(&done.stderr), @r"e\u{1b}[2J");
}

#[test]
fn command_output_cannot_control_a_terminal() {
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
        assert_eq!(controls(&shown), "", "{shown:?}");
        assert!(shown.contains('A'), "{shown:?}");
    }
    let shown = Run::on_whole_terminal(shared())
        .arguments(&["mcp", "read-resource", "faulty", "book://text"])
        .fault("library", "")
        .done()
        .exits(0)
        .stderr;
    assert_snapshot!(normal(&shown), @r"
    first line
    second \u{1b}[2Jline
    ");
    assert!(controls(&shown.replace("\r\x1b[K", "")).is_empty(), "{shown:?}");
}
