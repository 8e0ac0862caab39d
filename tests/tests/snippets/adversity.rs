//! Regressions: outcomes that depended on a race, on quoted text, or on the type of an error.

use std::process::Command;

use end_to_end::cache::json as run;
use end_to_end::harness::{Run, binary};
use end_to_end::page::normal;
use insta::assert_snapshot;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;

/// A program that ends with answers in flight ends normally.
#[test]
fn answers_in_flight_do_not_change_the_outcome() {
    let code = "use futures::StreamExt;\n\
                let calls = (0..50).map(|i| demo::echo(format!(\"{i}\")));\n\
                let mut calls: futures::stream::FuturesUnordered<_> = calls.collect();\n\
                calls.next().await.unwrap()?.text().is_empty()";
    let failing = "concurrently(16, 0..40, |i| async move {\n    \
                   if i == 3 { bail!(\"stop at three\") }\n    \
                   Ok(demo::echo(format!(\"{i}\")).await?.text())\n}).await?";
    let mut shown = Vec::new();
    for _ in 0..10 {
        assert_eq!(run(code).result(), false);
        let outcome = run(failing).expect("runtime_error", 1);
        shown.push(normal(&outcome["error"]["message"]));
    }
    assert_snapshot!(shown.join("\n"), @r"
    stop at three
    stop at three
    stop at three
    stop at three
    stop at three
    stop at three
    stop at three
    stop at three
    stop at three
    stop at three
    ");
}

#[test]
fn fences_in_strings_and_comments_are_ignored() {
    for code in [
        "let text = r#\"# Title\n```rust\nlet x = 1; x\n```\n\"#;\ntext.len()",
        "/*\n```rust\n1\n```\n*/\n33",
    ] {
        assert_eq!(run(code).result(), 33, "{code}");
    }
    let two = "```rust\n1\n```\nand\n```rust\n2\n```";
    let outcome = run(two).expect("compile_error", 3);
    assert_eq!(outcome["diagnostics"][0]["line"], 5);
    assert_eq!(run("\u{feff}42").result(), 42);
}

#[test]
fn errors_of_any_type_are_reported() {
    let mut shown = Vec::new();
    for derived in ["#[derive(Debug)]", "#[derive(Serialize)]", ""] {
        let code = format!(
            "{derived} struct Silent;\nfn go() -> std::result::Result<i32, Silent> {{ Err(Silent) }}\ngo()"
        );
        let outcome = run(&code).expect("runtime_error", 1);
        shown.push(normal(&outcome["error"]["message"]));
    }
    assert_snapshot!(shown.join("\n"), @r"
    Silent
    an error of the type program::snippet::__body::{{closure}}::Silent
    an error of the type program::snippet::__body::{{closure}}::Silent
    ");
}

#[test]
fn a_program_that_ignores_the_signal_is_stopped_at_the_cpu_limit() {
    let code = "unsafe extern \"C\" { fn signal(number: i32, action: usize) -> usize; }\n\
                unsafe { signal(24, 1); }\nloop { std::hint::black_box(1); }";
    let config = "mcpServers: { demo: { command: toolsmith, args: [demo-server] } }\ncodeMode: { sandbox: { cpu: 1 } }\n";
    let outcome = run(code).config(config).expect("timeout", 4);
    assert_eq!(outcome["error"]["kind"], "cpu");
}

/// Nothing is written to the pipe; the wait for the snippet can still be interrupted.
#[test]
fn waiting_for_the_snippet_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("snippet.rs");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    // The shell keeps its other end open.
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "exec \"$0\" run /dev/fd/9 9<>\"$1\""]).arg(binary()).arg(&pipe);
    let started = Run::of(shell, end_to_end::cache::shared()).start();
    started.wait_until("it waits", || started.handles(Signal::INT));
    started.signal(Signal::INT);
    assert_snapshot!(normal(&started.done().exits(130).stderr), @"toolsmith: cancelled before the snippet ran");
}

#[test]
fn unwritable_output_is_reported() {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "exec \"$0\" run - > /dev/full"]).arg(binary());
    let run = Run::of(shell, end_to_end::cache::shared()).input("42");
    assert_snapshot!(normal(&run.done().exits(7).stderr), @r"
    toolsmith: the output can't be written: No space left on device (os error 28)
    ");
}
