//! Programs of long runs are compiled again with optimization, and do the same.

use std::fs;

use end_to_end::cache::json;
use end_to_end::harness::{COLD_WATCHDOG, Run, unique};
use end_to_end::serving::{DEMO, Serve, Server, Tree, execute, outcome_of};
use serde_json::{Value, json};

use end_to_end::cache::{shared, with_the_layer_of_the_shared};

/// Steps of a loop far above the limit of `serve`.
const STEPS: u32 = 30_000_000;
/// Steps of a loop far above the limit of `run`, also on a machine twice as fast.
const MANY_STEPS: u32 = 400_000_000;

/// The compilers that optimize, without their supervisors.
fn optimizing(server: &Server) -> Tree {
    server.tree().filter(|command| command.contains("-Copt-level=2") && !command.contains("sandbox-helper:"))
}

/// A snippet that is not in the cache: a loop whose value `x` is not known before it runs, and the `end` of the text.
fn snippet(steps: u32, end: &str) -> String {
    let start = "let mut x: u64 = args.get(\"start\").map_or(1, |start| start.parse().unwrap_or(1));";
    format!("// {}\n{start}\nfor i in 0..{steps}_u64 {{ x = (x * 31 + i) % 1_000_003; }}\n{end}", unique())
}

fn serving() -> Server {
    let mut server = Serve::new(DEMO).variable("TOOLSMITH_MCP_DEBUG", "1").start();
    server.shake_hands();
    server
}

/// Runs a snippet twice: the second time after its program was compiled again.
#[track_caller]
fn twice(server: &mut Server, code: &str) -> [Value; 2] {
    let outcomes = around(server, code, "a program is compiled with optimization");
    let optimized = outcomes.each_ref().map(|outcome| &outcome["optimized"]);
    assert_eq!(optimized, [&json!(false), &json!(true)], "{outcomes:#?}");
    outcomes
}

/// Runs a snippet twice, before and after this line of the log.
#[track_caller]
fn around(server: &mut Server, code: &str, line: &str) -> [Value; 2] {
    let before = outcome_of(&server.ask(1, "tools/call", &execute(code))).clone();
    server.wait_for_log(line);
    let after = outcome_of(&server.ask(2, "tools/call", &execute(code))).clone();
    assert_eq!(after["cached"], true, "{after:#}");
    [before, after]
}

/// The end of a text whose optimized program can't call `echo`: only the optimizer computes the condition.
const NEVER: &str = "let three = 3;\n\
    if three * three == 10 {\n\
    let unused: std::pin::Pin<Box<dyn Future<Output = _>>> = Box::pin(async { demo::echo(\"a\").await });\n\
    drop(unused);\n\
    }\nx";

#[test]
fn a_program_whose_optimized_one_can_call_other_tools_stays_as_it_is() {
    let mut server = serving();
    let line = "a program stays without optimization";
    let outcomes = around(&mut server, &snippet(STEPS, NEVER), line);
    for outcome in &outcomes {
        assert_eq!((&outcome["status"], &outcome["optimized"]), (&json!("ok"), &json!(false)), "{outcome:#}");
        assert_eq!(outcome["manifest"], json!(["demo.echo"]));
    }
    assert_eq!(outcomes[0]["result"], outcomes[1]["result"]);
    assert!(server.stderr().contains("it can call other tools"), "{}", server.stderr());
    // The next program is compiled after it, so by then the second run is decided, too.
    twice(&mut server, &snippet(STEPS, "x"));
    assert_eq!(server.stderr().matches(line).count(), 1, "{}", server.stderr());
}

#[test]
fn run_tries_a_program_whose_optimized_one_can_call_other_tools_once() {
    let code = snippet(MANY_STEPS, NEVER);
    let outcomes = [(); 3].map(|()| json(&code).config(DEMO).watchdog(COLD_WATCHDOG).expect("ok", 0));
    let states = outcomes.each_ref().map(|outcome| (&outcome["optimized"], &outcome["cached"]));
    let (yes, no) = (json!(true), json!(false));
    assert_eq!(states, [(&no, &no), (&no, &yes), (&no, &yes)]);
    for outcome in &outcomes {
        assert_eq!(outcome["manifest"], json!(["demo.echo"]));
        assert_eq!(outcome["result"], outcomes[0]["result"]);
    }
}

#[test]
fn the_next_run_of_a_long_run_is_optimized_and_has_the_same_result() {
    let code = snippet(STEPS, "println!(\"{x}\");\ndemo::echo(&x.to_string()).await?.text()");
    let [before, after] = twice(&mut serving(), &code);
    assert_eq!(before["status"], "ok", "{before:#}");
    for field in ["status", "result", "stdout", "manifest", "calls_total", "diagnostics", "fixes"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    assert_eq!(after["manifest"], json!(["demo.echo"]));
    assert!(before["cpu_ms"].as_f64().unwrap() > 0.0, "{before:#}");
}

#[test]
fn an_overflow_panics_at_the_same_place_with_optimization() {
    let end = "let large = i32::MAX - 1_000;\nlarge + 1_000 + i32::try_from(x).unwrap_or(1).max(1)";
    let [before, after] = twice(&mut serving(), &snippet(STEPS, end));
    assert_eq!(before["status"], "panic", "{before:#}");
    assert_eq!(before["error"], after["error"]);
    assert_eq!(after["error"]["message"], "attempt to add with overflow");
    assert_eq!(after["error"]["evidence"]["line"], 5);
}

/// LLVM would compute functions of constants, with other last digits than the C library.
#[test]
fn functions_of_constants_have_the_same_results_with_optimization() {
    let end = "let double = [0.7_f64.tanh(), 2.5_f64.sin(), 10.1_f64.tan(), 1.3_f64.log10(), 1.7_f64.exp()];\n\
        let single = [0.7_f32.tanh(), 2.5_f32.tan(), 2.5_f32.sinh()];\n\
        (x, double.map(f64::to_bits), single.map(f32::to_bits))";
    let [before, after] = twice(&mut serving(), &snippet(STEPS, end));
    assert_eq!(before["status"], "ok", "{before:#}");
    assert_eq!(before["result"], after["result"]);
}

#[test]
fn corrections_and_warnings_stay_with_the_optimized_program() {
    let [before, after] =
        twice(&mut serving(), &snippet(STEPS, "demo::echo(\"a\");\nlet y = 2; y = 3; x + y"));
    assert!(before["fixes"].as_array().is_some_and(|fixes| !fixes.is_empty()), "{before:#}");
    for field in ["status", "result", "fixes", "diagnostics", "manifest"] {
        assert_eq!(before[field], after[field], "{field}");
    }
}

#[test]
fn run_compiles_the_program_of_a_very_long_run_again_before_its_next_run() {
    let code = snippet(MANY_STEPS, "x");
    let outcomes = [(); 3].map(|()| json(&code).watchdog(COLD_WATCHDOG).expect("ok", 0));
    let states = outcomes.each_ref().map(|outcome| (&outcome["optimized"], &outcome["cached"]));
    let (yes, no) = (json!(true), json!(false));
    assert_eq!(states, [(&no, &no), (&yes, &no), (&yes, &yes)]);
    assert_eq!(outcomes[0]["result"], outcomes[1]["result"]);
    assert_eq!(outcomes[0]["result"], outcomes[2]["result"]);
}

/// It would be compiled again before each run, and the result thrown away.
#[test]
fn a_program_that_is_too_large_for_the_cache_is_not_optimized() {
    let cache = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(cache.path());
    let end = format!("static BYTES: [u8; {}] = [7; {0}];\nu64::from(BYTES[x as usize]) + x", 17 << 20);
    let code = snippet(MANY_STEPS, &end);
    let run = Run::new(cache.path()).arguments(&["run", "--json", "-"]).input(&code);
    run.watchdog(COLD_WATCHDOG).expect("ok", 0);
    let entries: Vec<_> = fs::read_dir(cache.path().join("programs-v1")).unwrap().collect();
    assert!(entries.is_empty(), "neither the program nor a mark is kept: {entries:?}");
}

/// For example because the machine ran out of memory.
#[test]
fn a_program_whose_compiler_was_killed_is_optimized_after_the_next_run() {
    let mut server = serving();
    let code = snippet(STEPS, "x");
    let run = |server: &mut Server| outcome_of(&server.ask(1, "tools/call", &execute(&code))).clone();
    run(&mut server);
    server.wait_until("the compiler", || !optimizing(&server).commands().is_empty());
    optimizing(&server).kill("");
    server.wait_for_log("the optimization of a program was interrupted");
    assert_eq!(run(&mut server)["optimized"], false);
    server.wait_for_log("a program is compiled with optimization");
    assert_eq!(run(&mut server)["optimized"], true);
}

#[test]
fn checking_a_snippet_compiles_no_optimized_program() {
    let code = snippet(MANY_STEPS, "x");
    json(&code).watchdog(COLD_WATCHDOG).expect("ok", 0);
    let checked =
        Run::new(shared()).arguments(&["run", "--json", "--check", "-"]).input(&code).expect("ok", 0);
    assert_eq!((&checked["optimized"], &checked["cached"]), (&json!(false), &json!(true)), "{checked:#}");
}
