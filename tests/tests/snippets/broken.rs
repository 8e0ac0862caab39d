//! Programs with common mistakes: a corrected program returns the result of the intended one.
//!
//! The programs are generated from templates with unique names and numbers. Several programs of one template are
//! functions of one snippet, so that one compilation tries them all.

use std::fmt::Write as _;

use end_to_end::serving::{DEMO, Serve, Server, execute, outcome_of};
use serde_json::{Value, json};

/// A template: the intended program, and the ways to break it, each as text replacements. `$n` is the program's number;
/// `$a`, `$b` and `$c` are small numbers.
struct Template {
    intended: &'static str,
    broken: &'static [&'static [(&'static str, &'static str)]],
    /// The number of the ways that are corrected.
    corrected: usize,
}

/// Programs per way of breaking.
const PROGRAMS: usize = 7;
/// Minimum number of programs in total.
const MIN_PROGRAMS: usize = 300;
/// Snippets that are tried concurrently.
const AT_ONCE: usize = 3;

const TEMPLATES: [Template; 12] = [
    Template {
        intended: "let mut count$n = $a; let step$n = $b; std::thread::scope(|s| { s.spawn(|| { count$n += step$n; }); }); \
                   count$n",
        broken: &[
            &[(
                "std::thread::scope(|s| { s.spawn(|| { count$n += step$n; }); });",
                "std::thread::spawn(|| { count$n += step$n; }).join().unwrap();",
            )],
            &[
                ("let mut count$n", "let count$n"),
                (
                    "std::thread::scope(|s| { s.spawn(|| { count$n += step$n; }); });",
                    "std::thread::spawn(|| { count$n += step$n; }).join().unwrap();",
                ),
            ],
            &[("let mut count$n", "let count$n")],
        ],
        corrected: 1,
    },
    Template {
        intended: "let base$n = $a; let list$n = vec![$b, $c]; std::thread::spawn(move || list$n.iter().map(|x| x * base$n).sum::<i32>()).join().unwrap()",
        broken: &[
            &[("spawn(move ||", "spawn(||")],
            &[("let base$n = $a;", "let mut base$n = $a; base$n += 0;"), ("spawn(move ||", "spawn(||")],
        ],
        corrected: 1,
    },
    Template {
        intended: "fn check$n(x: i32) -> Result<(), String> { if x > $b { Err(format!(\"{x}\")) } else { Ok(()) } } \
                   let mut seen$n = Vec::new(); for x in [$a, $b, $c] { if let Err(e) = check$n(x) { seen$n.push(e); } } seen$n",
        broken: &[
            &[("if let Err(e) = check$n(x) { seen$n.push(e); }", "check$n(x)")],
            &[("if let Err(e) = check$n(x) { seen$n.push(e); }", "if x > 0 { check$n(x) }")],
            &[("let mut seen$n = Vec::new();", "let seen$n = vec![];")],
        ],
        corrected: 1,
    },
    Template {
        intended: "let mut set$n = HashSet::new(); let mut map$n = BTreeMap::new(); for x in [$a, $b, $a] { set$n.insert(x); map$n.insert(x, x + $c); } \
                   (set$n.len(), map$n.into_iter().collect::<Vec<_>>())",
        broken: &[
            &[("let mut set$n", "let set$n")],
            &[("let mut map$n", "let map$n"), ("let mut set$n", "let set$n")],
            &[("map$n.insert(x, x + $c); }", "map$n.insert(x, x + $c) }")],
            &[("set$n.insert(x); map$n", "if x > 0 { set$n.insert(x) } map$n")],
        ],
        corrected: 4,
    },
    Template {
        intended: "#[derive(Clone)] struct Acc$n { bal: i32, id: String } let mut accs$n = vec![Acc$n { bal: $a, id: \"x\".to_string() }]; \
                   let from$n = &mut accs$n[0]; from$n.bal -= $b; (accs$n[0].bal, accs$n[0].id.clone())",
        broken: &[
            &[("let from$n = &mut accs$n[0]", "let mut from$n = accs$n[0]")],
            &[("let from$n = &mut accs$n[0]", "let from$n = accs$n[0]")],
            &[(
                "let from$n = &mut accs$n[0]; from$n.bal -= $b",
                "for from$n in accs$n.clone() { from$n.bal -= $b }",
            )],
            &[(
                "let from$n = &mut accs$n[0]; from$n.bal -= $b",
                "for from$n in &accs$n { from$n.bal -= $b }",
            )],
        ],
        corrected: 1,
    },
    Template {
        intended: "#[derive(Clone)] struct P$n { name: String, n: i32 } let people$n = vec![P$n { name: \"p$a\".to_string(), n: $b }]; \
                   let first$n = people$n[0].clone(); let names$n: Vec<String> = people$n.iter().map(|p| p.name.clone()).collect(); (first$n.n, first$n.name, names$n)",
        broken: &[
            &[("people$n[0].clone()", "people$n[0]")],
            &[("p.name.clone()", "p.name")],
            &[("\"p$a\".to_string()", "\"p$a\"")],
            &[("people$n[0].clone()", "people$n[0]"), ("p.name.clone()", "p.name")],
        ],
        corrected: 4,
    },
    Template {
        intended: "let cents$n: i32 = $a * 100 + $b; let price$n: f64 = f64::from(cents$n) / 100.0; price$n * 2.0",
        broken: &[
            &[("f64::from(cents$n) / 100.0", "cents$n / 100")],
            &[(
                "let price$n: f64 = f64::from(cents$n) / 100.0",
                "let whole$n = cents$n / 100; let price$n: f64 = whole$n",
            )],
            &[(
                "let price$n: f64 = f64::from(cents$n) / 100.0",
                "fn f$n(x: f64) -> f64 { x } let price$n = f$n(cents$n / 100)",
            )],
        ],
        corrected: 0,
    },
    Template {
        intended: "let small$n: u32 = $a; let large$n: u64 = u64::from(small$n) + $b; let share$n: f64 = f64::from(small$n); let fit$n: f64 = $c.0; \
                   (large$n, share$n + fit$n, u64::from(small$n) < large$n)",
        broken: &[
            &[("share$n: f64 = f64::from(small$n)", "share$n: f64 = small$n")],
            &[("fit$n: f64 = $c.0", "fit$n: f64 = $c")],
            &[("u64::from(small$n) < large$n", "small$n < large$n")],
            &[("u64::from(small$n) + $b", "small$n + $b")],
        ],
        corrected: 3,
    },
    Template {
        intended: "let below$n: i32 = $a - 100; let list$n = vec![$b; $c]; (i64::from(below$n) < list$n.len() as i64, list$n.len() as i64 > i64::from(below$n))",
        broken: &[
            &[("i64::from(below$n) < list$n.len() as i64", "below$n < list$n.len()")],
            &[("list$n.len() as i64 > i64::from(below$n)", "list$n.len() > below$n")],
        ],
        corrected: 0,
    },
    Template {
        intended: "fn size$n(v: &[i32]) -> usize { v.len() } fn bump$n(x: &mut i32) { *x += $b; } let mut x$n = $a; let list$n = vec![$a, $c]; \
                   bump$n(&mut x$n); let mut hits$n = 0; for y in list$n.iter() { if *y == $a { hits$n += 1; } } (x$n, size$n(&list$n), hits$n, list$n)",
        broken: &[
            &[("bump$n(&mut x$n)", "bump$n(x$n)")],
            &[("size$n(&list$n)", "size$n(list$n.clone())")],
            &[("if *y ==", "if y ==")],
            &[("*x += $b", "x += $b")],
            &[("let mut hits$n", "let hits$n")],
            &[("x: &mut i32) { *x += $b", "mut x: i32) { x += $b")],
            &[("x: &mut i32) { *x += $b", "x: i32) { x += $b"), ("bump$n(&mut x$n)", "bump$n(x$n)")],
        ],
        corrected: 5,
    },
    Template {
        intended: "let nums$n = [$a, $b, $c]; let opt$n: Option<i32> = nums$n.iter().copied().find(|x| *x > 90); \
                   let doubled$n: Vec<i32> = nums$n.iter().map(|x| x * 2).collect(); (nums$n, doubled$n, opt$n.is_some_and(|x| x < $b), opt$n == Some($a))",
        broken: &[
            &[("opt$n.is_some_and(|x| x < $b)", "opt$n < $b")],
            &[("opt$n == Some($a)", "opt$n == $a")],
            &[(
                "let doubled$n: Vec<i32> = nums$n.iter().map(|x| x * 2).collect();",
                "let doubled$n = vec![]; for x in nums$n { x *= 2; doubled$n.push(x); }",
            )],
        ],
        corrected: 1,
    },
    Template {
        intended: "async fn save$n(x: i32) -> Result<i32> { Ok(x + $a) } fn total$n(v: &[i32]) -> i32 { v.iter().sum() } let mut done$n = Vec::new(); \
                   for x in [$b, $c] { done$n.push(save$n(x).await?); } let text$n: String = total$n(&done$n).to_string(); (done$n, text$n)",
        broken: &[
            &[("done$n.push(save$n(x).await?);", "save$n(x)")],
            &[("done$n.push(save$n(x).await?);", "if x > 0 { save$n(x) }")],
            &[("total$n(&done$n).to_string()", "total$n(&done$n)")],
            &[("total$n(&done$n)", "total$n(done$n.clone())")],
            &[("-> i32 { v.iter().sum() }", "-> i32 { let t = v.iter().sum(); t; }")],
            &[("let mut done$n = Vec::new()", "let done$n = Vec::new()")],
        ],
        corrected: 4,
    },
];

/// A snippet of [`PROGRAMS`] functions, each a program with its own part of the result.
fn snippet(template: &str, edits: &[(&str, &str)], first: usize) -> String {
    let mut text = String::new();
    let mut calls = Vec::new();
    for number in first..first + PROGRAMS {
        let mut program = template.to_owned();
        for (from, to) in edits {
            assert!(program.contains(from), "{from:?} is not in {program:?}");
            program = program.replace(from, to);
        }
        for (name, value) in [
            ("$n", number.to_string()),
            ("$a", (number * 7 % 43 + 1).to_string()),
            ("$b", (number * 5 % 31 + 44).to_string()),
            ("$c", (number * 3 % 17 + 76).to_string()),
        ] {
            program = program.replace(name, &value);
        }
        writeln!(text, "async fn program{number}() -> Result<Value> {{ let result = {{ {program} }}; Ok(json!(result)) }}")
            .unwrap();
        calls.push(format!("program{number}().await?"));
    }
    format!("{text}json!([{}])", calls.join(", "))
}

/// The outcomes of snippets, in order.
fn outcomes(server: &mut Server, id: &mut u32, snippets: &[String]) -> Vec<Value> {
    let mut outcomes = Vec::new();
    for batch in snippets.chunks(AT_ONCE) {
        let first = *id;
        for code in batch {
            let request =
                json!({ "jsonrpc": "2.0", "id": *id, "method": "tools/call", "params": execute(code) });
            server.send(&request);
            *id += 1;
        }
        for id in first..*id {
            let answer =
                server.receive("an outcome", |message| message["id"] == id && message["method"].is_null());
            outcomes.push(outcome_of(&answer).clone());
        }
    }
    outcomes
}

#[test]
fn corrections_restore_the_intended_result() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    let mut id = 1;
    let (mut intended, mut broken, mut ways) = (Vec::new(), Vec::new(), Vec::new());
    for (number, template) in TEMPLATES.iter().enumerate() {
        let first = number * PROGRAMS;
        intended.push(snippet(template.intended, &[], first));
        for edits in template.broken {
            broken.push(snippet(template.intended, edits, first));
            ways.push(number);
        }
    }
    assert!(broken.len() * PROGRAMS >= MIN_PROGRAMS, "{} programs", broken.len() * PROGRAMS);
    let intended = outcomes(&mut server, &mut id, &intended);
    for outcome in &intended {
        assert_eq!((&outcome["status"], &outcome["fixes"]), (&json!("ok"), &json!([])), "{outcome:#}");
    }
    let outcomes = outcomes(&mut server, &mut id, &broken);
    let mut corrected = [0; TEMPLATES.len()];
    let mut wrong = Vec::new();
    for ((code, outcome), number) in broken.iter().zip(&outcomes).zip(&ways) {
        match outcome["status"].as_str() {
            // A broken program must not compile unchanged.
            Some("ok") if outcome["fixes"] == json!([]) => wrong.push(format!("{code}\n  is not broken")),
            Some("ok") if outcome["result"] == intended[*number]["result"] => corrected[*number] += 1,
            Some("compile_error") => {}
            _ => wrong.push(format!("{code}\n  {} {}", outcome["result"], outcome["fixes"])),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(corrected, std::array::from_fn(|number| TEMPLATES[number].corrected));
    server.close_input();
    assert_eq!(server.end(), Some(0));
}
