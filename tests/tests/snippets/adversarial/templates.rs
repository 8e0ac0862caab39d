//! Templates of texts that do not compile, and where an obvious correction would change what the text means.
//!
//! In a template, `$a`, `$b` and `$c` are numbers, `<0>`, `<1>` and so on its slots, each filled with one of its forms.

use serde_json::{Value, json};

/// A family of texts.
pub(super) struct Template {
    pub(super) text: &'static str,
    pub(super) slots: &'static [&'static [&'static str]],
    pub(super) meant: Meant,
}

/// The meanings of a template's texts, from the numbers and the forms of the slots.
#[derive(Clone, Copy)]
pub(super) enum Meant {
    /// More than one thing: it must not be corrected.
    Unclear,
    /// This value, and these calls in this order.
    Value(fn(&Chosen) -> (Value, &'static [&'static str])),
}

/// The numbers and forms of a text.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    pub(super) a: i64,
    pub(super) b: i64,
    pub(super) c: i64,
    /// The indices of the forms.
    pub(super) forms: Vec<usize>,
}

const ACC: &str = "#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)] struct Acc { n: i64 } ";

impl Template {
    /// The number of its forms.
    pub(super) fn forms(&self) -> usize {
        self.slots.iter().map(|slot| slot.len()).product()
    }

    /// The form with this number.
    pub(super) fn chosen(&self, form: usize, a: i64, b: i64, c: i64) -> Chosen {
        let mut rest = form;
        let mut forms = Vec::new();
        for slot in self.slots {
            forms.push(rest % slot.len());
            rest /= slot.len();
        }
        Chosen { a, b, c, forms }
    }

    pub(super) fn text(&self, chosen: &Chosen) -> String {
        let mut text = self.text.to_owned();
        // A form may contain another slot.
        for _ in 0..2 {
            for (index, (slot, form)) in self.slots.iter().zip(&chosen.forms).enumerate() {
                text = text.replace(&format!("<{index}>"), slot[*form]);
            }
        }
        let text = text.replace("$ACC", ACC).replace('\n', " ");
        let text = text.replace("$a", &chosen.a.to_string()).replace("$b", &chosen.b.to_string());
        text.replace("$c", &chosen.c.to_string())
    }
}

pub(super) static TEMPLATES: [Template; 34] = [
    // A copy of an item is changed instead of the item.
    Template {
        text: "$ACC impl Acc { fn add(&mut self, x: i64) { self.n += x; } } fn bump(acc: &mut Acc, x: i64) { acc.n += x; } \
               let items = vec![Acc { n: $a }, Acc { n: $b }, Acc { n: $c }]; let i = 1; let last = <0>; <1> \
               items.iter().map(|x| x.n).collect::<Vec<_>>()",
        slots: &[
            &[
                "items[items.len() - 1]",
                "items[i]",
                "items[i + 1]",
                "*items.get(1).unwrap()",
                "*items.last().unwrap()",
                "items.get(i).copied().unwrap()",
                "items.first().cloned().unwrap()",
                "*items.iter().max_by_key(|x| x.n).unwrap()",
                "items.iter().copied().find(|x| x.n == $a).unwrap()",
                "if i > 0 { items[i] } else { items[0] }",
                "match i { 1 => items[1], _ => items[0] }",
                "{ items[i] }",
                "(items[0])",
                "items[i].clone()",
                "Some(items[i]).unwrap()",
                "items.clone()[1]",
                "*items.iter().nth(1).unwrap()",
                "items.iter().min_by_key(|x| x.n).copied().unwrap_or(Acc { n: 0 })",
            ],
            &[
                "last.n += $a;",
                "last.n = $b;",
                "last.add($c);",
                "bump(&mut last, $a);",
                "bump(last, $a);",
                "let r = &mut last; r.n += $b;",
                "last.n = last.n + 1;",
            ],
        ],
        meant: Meant::Unclear,
    },
    // The same with a variable that is already `mut`.
    Template {
        text: "$ACC fn bump(acc: &mut Acc, x: i64) { acc.n += x; } let items = [Acc { n: $a }, Acc { n: $b }]; <0> items[0].n",
        slots: &[&[
            "let mut last = items[0]; bump(last, $c);",
            "let mut last = items[items.len() - 2]; bump(last, $c);",
            "for mut last in items { bump(last, $c); }",
            "let (mut last, _) = (items[0], 1); bump(last, $c);",
            "if let [mut last, _] = items { bump(last, $c); }",
            "let mut f = |mut last: Acc| bump(last, $c); f(items[0]);",
            "fn all(mut last: Acc) { bump(last, $c) } all(items[0]);",
            "let mut last = *items.first().unwrap(); bump(last, $c);",
        ]],
        meant: Meant::Unclear,
    },
    // A number of a map or grid is changed in a copy.
    Template {
        text: "let mut m = BTreeMap::from([(\"x\", $a)]); let count = <0>; <1> m",
        slots: &[
            &[
                "*m.entry(\"x\").or_insert(0)",
                "m[\"x\"]",
                "*m.get(\"x\").unwrap()",
                "m.get(\"x\").copied().unwrap_or(0)",
                "*m.entry(\"y\").or_default()",
                "m.values().copied().max().unwrap()",
                "*m.entry(\"x\").or_insert(0) as i32",
                "*m.first_entry().unwrap().get()",
            ],
            &["count += $b;", "count = count + $b;", "count -= 1;", "let r = &mut count; *r += $b;"],
        ],
        meant: Meant::Unclear,
    },
    Template {
        text: "let mut grid = vec![vec![$a, $b], vec![$b, $c]]; let y = 0; let cell = <0>; cell += $a; grid",
        slots: &[&[
            "grid[y + 1][0]",
            "grid[y][y + 1]",
            "grid[1][1]",
            "grid[y + 1].clone()[0]",
            "*grid[y].last().unwrap()",
        ]],
        meant: Meant::Unclear,
    },
    // A variable of a loop, pattern, parameter or closure is a copy.
    Template {
        text: "$ACC let items = [Acc { n: $a }, Acc { n: $b }, Acc { n: $c }]; <0> items.iter().map(|x| x.n).collect::<Vec<_>>()",
        slots: &[&[
            "for x in items { x.n += $a; }",
            "for x in items.iter().copied() { x.n += $a; }",
            "for Acc { n } in items { n += $a; }",
            "for &x in &items { x.n += $a; }",
            "for (i, x) in items.iter().copied().enumerate() { x.n += i as i64; }",
            "items.iter().copied().for_each(|x| x.n += $a);",
            "let _ = items.map(|x| { x.n += $a; x });",
            "let [x, ..] = items; x.n += $a;",
            "let Acc { n } = items[0]; n += $a;",
            "let (x, y) = (items[0], items[1]); x.n += y.n;",
            "fn grow(x: Acc) { x.n += 1; } grow(items[0]);",
            "match items { [x, _, _] => x.n += $a }",
            "let mut it = items.into_iter(); while let Some(x) = it.next() { x.n += $a; }",
            "if let Some(x) = items.first().copied() { x.n += $a; }",
            "let Some(x) = items.get(1).copied() else { return Ok(json!(0)) }; x.n += $b;",
        ]],
        meant: Meant::Unclear,
    },
    // New lists of copies.
    Template {
        text: "$ACC let items = [Acc { n: $a }, Acc { n: $b }]; let picked = <0>; <1> items.iter().map(|x| x.n).collect::<Vec<_>>()",
        slots: &[
            &[
                "vec![items[0], items[1]]",
                "[items[1], items[0]]",
                "items.to_vec()",
                "items.iter().copied().collect::<Vec<_>>()",
                "items.iter().copied().filter(|x| x.n > 0).collect::<Vec<_>>()",
                "items.clone()",
                "Vec::from(items)",
            ],
            &[
                "picked[0].n += $c;",
                "for x in picked.iter_mut() { x.n += $c; }",
                "for x in &mut picked { x.n = $c; }",
                "picked.last_mut().unwrap().n = $c;",
                "picked[0] = Acc { n: $c };",
            ],
        ],
        meant: Meant::Unclear,
    },
    // A new value is made mutable.
    Template {
        text: "let list = <0>; list.push($a); list",
        slots: &[&["Vec::new()", "vec![]", "Vec::with_capacity(3)", "(0..0).collect::<Vec<i64>>()"]],
        meant: Meant::Value(|chosen| (json!([chosen.a]), &[])),
    },
    Template {
        text: "let total = <0>; for n in [$a, $b, $c] { total += n; } total",
        slots: &[&["0", "0 + 0", "i64::default()", "[0_i64; 0].len() as i64"]],
        meant: Meant::Value(|chosen| (json!(chosen.a + chosen.b + chosen.c), &[])),
    },
    // Work in a list is not done by dropping `.await`.
    Template {
        text: "async fn save(n: i64) -> Result<i64> { demo::echo(\"a\").await?; Ok(n) } let work = <0>; <2> \"deleted 2\"",
        slots: &[
            &[
                "[<1>, <1>]",
                "vec![<1>, <1>]",
                "(<1>, <1>)",
                "(<1>, 1)",
                "Some(<1>)",
                "BTreeMap::from([(1, <1>)])",
                "HashMap::from([(1, <1>)])",
                "vec![vec![<1>]]",
                "std::collections::VecDeque::from([<1>])",
                "(0..2).map(|_| <1>)",
                "[0, 1].into_iter().map(|_| <1>).collect::<Vec<_>>()",
                "Some(vec![<1>])",
            ],
            &[
                "demo::echo(\"a\")",
                "demo::create_note(\"a\", \"b\")",
                "save(1)",
                "Box::pin(async { demo::echo(\"a\").await?; Ok::<i64, anyhow::Error>(1) })",
                "tokio::spawn(async { demo::echo(\"a\").await.is_ok() })",
                "demo::EchoInput { text: \"a\".into() }",
            ],
            &["work.await;", "let done = work.await;", "work.await?;", "let _ = work.await;"],
        ],
        meant: Meant::Unclear,
    },
    Template {
        text: "let work = <0>; <1> \"done\"",
        slots: &[
            &[
                "std::thread::spawn(|| println!(\"worked\"))",
                "vec![std::thread::spawn(|| $a), std::thread::spawn(|| $b)]",
                "Some(std::thread::spawn(|| $a))",
                "[std::thread::spawn(|| $a)]",
                "(std::thread::spawn(|| $a), $b)",
                "|| println!(\"worked\")",
                "[1, 2].iter().map(|n| println!(\"{n}\"))",
                "Box::new([async { println!(\"worked\") }])",
                "std::sync::Arc::new(async { println!(\"worked\") })",
            ],
            &["work.await;", "let done = work.await;", "let _ = work.await;"],
        ],
        meant: Meant::Unclear,
    },
    // Plain data needs no `.await`.
    Template {
        text: "fn double(n: i64) -> i64 { n * 2 } <0>",
        slots: &[&[
            "double($a).await",
            "Some(double($a)).await.unwrap()",
            "vec![double($a)].await[0]",
            "\"x\".parse::<i64>().await.unwrap_or(double($a))",
        ]],
        meant: Meant::Value(|chosen| (json!(chosen.a * 2), &[])),
    },
    // `None` is less than every `Some`.
    Template {
        text: "let o: Option<i64> = <0>; <1>",
        slots: &[
            &["None", "Some($a)", "Some($b)"],
            &[
                "o.min($b)",
                "o.max($b)",
                "std::cmp::max(o, $b)",
                "std::cmp::min(o, $b)",
                "(o, 1) < ($b, 2)",
                "(1, o) >= (1, $b)",
                "((o, 1), 1) > (($b, 1), 1)",
                "[o, $b].iter().max().is_some()",
                "vec![o, $b].into_iter().min()",
                "o.clamp($b, $c)",
                "o < $b",
                "o >= $b",
                "{ let mut v = vec![o, $b]; v.sort(); v }",
                "[1, 2].iter().max_by_key(|x| if **x > 1 { o } else { $b })",
                "o.cmp(&$b).is_lt()",
                "o.partial_cmp(&$b).is_some()",
                "o.lt(&$b)",
                "BTreeSet::from([o, $b])",
                "Some(o) < Some($b)",
                "[o] < [$b]",
            ],
        ],
        meant: Meant::Unclear,
    },
    Template {
        text: "let o: Option<i64> = <0>; <1>",
        slots: &[&["None", "Some($a)"], &["o == $a"]],
        meant: Meant::Value(|chosen| (json!(chosen.forms[0] == 1), &[])),
    },
    // A literal that is no float.
    Template {
        text: "fn same(x: f64) -> f64 { x } struct P { x: f64 } let x = <0>; format!(\"{x}\")",
        slots: &[&[
            "{ let x: f64 = 90071992547409$b3; x }",
            "same(90071992547409$b1)",
            "P { x: 90071992547409$b5 }.x",
            "[0.5, 90071992547409$b7][1]",
            "-same(90071992547409$b9)",
            "{ let x: f32 = 167772$b1; x }",
            "{ let x: f32 = 0.1f64; x }",
            "{ let x: f64 = 0.1f32; x }",
            "{ let x: f32 = 16777217.0f64; x }",
        ]],
        meant: Meant::Unclear,
    },
    Template {
        text: "fn same(x: f64) -> f64 { x } let x = <0>; x",
        slots: &[&["{ let x: f64 = $a; x }", "same($a)", "[0.5, $a.0, same($a)][2]"]],
        meant: Meant::Value(|chosen| (json!(f64::from(i32::try_from(chosen.a).unwrap())), &[])),
    },
    // A prepared call is not made.
    Template {
        text: "let plan = <0>; <1>",
        slots: &[
            &["demo::create_note(\"a\", \"b\")", "demo::create_note(\"a\", \"b\").tags([\"c\"])"],
            &[
                "println!(\"dry run\"); 0",
                "let s: String = \"dry run\"; s.len() as i64 - 7",
                "if $a > 1000 { plan.id } else { 0 }",
                "if $a > 1000 { return Ok(json!(plan.id)); } 0",
                "let is = $a > 1000; i64::from(is && plan.id > 0)",
                "let is = $a < 1000; i64::from(!(is || plan.id > 0))",
                "match $a { 1000 => plan.id, _ => 0 }",
                "let undo = || plan.id; 0",
                "let undo = |x: i64| { plan.id + x }; 0",
                "let undo = async { plan.id }; 0",
                "let undo = async move { plan.id + 1 }; 0",
                "for _ in 0..0 { println!(\"{}\", plan.id); } 0",
                "while $a > 1000 { println!(\"{}\", plan.id); } 0",
                "if $a < 1000 { return Ok(json!(0)); } json!(plan.id)",
                "loop { if $a < 1000 { break; } println!(\"{}\", plan.id); } 0",
                "if let Some(x) = None::<i64> { println!(\"{} {x}\", plan.id); } 0",
                "let ids: Vec<i64> = [0; 0].iter().map(|x: &i64| x + plan.id).collect(); ids.len()",
                "if 1000 == $a { let note = plan.id; note } else { 0 }",
            ],
        ],
        meant: Meant::Value(|_| (json!(0), &[])),
    },
    // A call with a variable that is used before anything else happens.
    Template {
        text: "let note = demo::create_note(\"a\", \"b\"); <0>",
        slots: &[&[
            "i64::from(note.id > 0)",
            "let id = note.id; i64::from(id > 0)",
            "println!(\"made\"); i64::from(note.id > 0)",
        ]],
        meant: Meant::Value(|_| (json!(1), &["create_note"])),
    },
    // The order of calls, and whether one is made after a failure.
    Template {
        text: "let a = demo::echo(\"a\"); let b = demo::create_note(\"a\", \"b\"); <0>",
        slots: &[&["(a.text(), b.id > 0)"]],
        meant: Meant::Value(|_| (json!(["a", true]), &["echo", "create_note"])),
    },
    Template {
        text: "let a = demo::create_note(\"a\", \"b\"); <0>",
        slots: &[&[
            "demo::echo(\"x\").await?; a.id > 0",
            "let b = demo::echo(\"x\"); (b.text(), a.id > 0)",
            "let b = demo::echo(\"x\").await?; (b.text(), a.id > 0)",
            "let n: i64 = \"x\".parse()?; a.id > n",
            "ensure!($a > 1000, \"small\"); a.id > 0",
            "let n = \"x\".parse::<i64>().unwrap(); a.id > n",
            "assert!($a > 1000); a.id > 0",
            "let b = demo::get_customer(\"c-01\").await.map(|c| c.id)?; (b, a.id > 0)",
        ]],
        meant: Meant::Unclear,
    },
    Template {
        text: "let a = demo::fail().await; demo::create_note(\"a\", \"b\").await?; a.text()",
        slots: &[],
        meant: Meant::Unclear,
    },
    // A text is not JSON.
    Template {
        text: "struct P { text: String } struct Q { value: Value } fn same(v: Value) -> Value { v } \
               let text = String::from(<0>); let p = P { text: text.clone() }; let lines: Vec<&str> = text.lines().collect(); <1>",
        slots: &[
            &["\"{\\\"n\\\": $a}\"", "\"[$a]\"", "\"$a\"", "\"null\"", "\" true \""],
            &[
                "{ let v: Value = text.as_str(); v }",
                "{ let v: Value = text.trim(); v }",
                "{ let v: Value = text.clone(); v }",
                "{ let v: Value = p.text; v }",
                "{ let v: Value = lines[0]; v }",
                "same(text.trim())",
                "same(&text[..])",
                "same(text.lines().next().unwrap())",
                "Q { value: text.trim() }.value",
                "{ let mut all: Vec<Value> = Vec::new(); all.push(text.trim()); all }",
                "same(<0>)",
                "{ let v: Value = <0>; v }",
            ],
        ],
        meant: Meant::Unclear,
    },
    Template {
        text: "let v: Value = \"plain $a\"; v",
        slots: &[],
        meant: Meant::Value(|chosen| (json!(format!("plain {}", chosen.a)), &[])),
    },
    // Numbers and texts are compared differently.
    Template {
        text: "let code = String::from(\"0$a\"); <0>",
        slots: &[&[
            "code == $a",
            "code != $a",
            "code < $b",
            "code >= $b",
            "code.max($b)",
            "std::cmp::min(code, $b)",
        ]],
        meant: Meant::Unclear,
    },
    Template {
        text: "let s: String = <0>; s",
        slots: &[&["\"abc\".as_bytes()[0]", "b'a'", "\"abc\".bytes().next().unwrap()"]],
        meant: Meant::Unclear,
    },
    // A cast binds more tightly than the operator before it.
    Template {
        text: "let x = $a; let is = <0> as bool; is",
        slots: &[&["!x", "!!x + 0", "x & !x", "1 - x"]],
        meant: Meant::Unclear,
    },
    // A method without parentheses may be meant to be called later.
    Template {
        text: "struct S; impl S { fn run(&self) -> i64 { println!(\"run\"); 1 } } let s = S; let mut v = vec![$a]; <0> v.len()",
        slots: &[&[
            "let undo = v.clear;",
            "let undo = v.pop;",
            "let go = s.run;",
            "let later = (v.clear, 1);",
            "let mut it = v.iter(); let next = it.next;",
        ]],
        meant: Meant::Unclear,
    },
    // A narrower type computes another number.
    Template {
        text: "let a: u32 = 4_000_000_000; let i: i32 = $a; <0>",
        slots: &[&[
            "{ let n: u64 = a + a; n }",
            "{ let n: u64 = a.wrapping_add(a); n }",
            "{ let n: u64 = a.saturating_mul(2); n }",
            "{ let n: u64 = a.pow(2); n }",
            "a.wrapping_mul(2) == 8_000_000_000_u64",
            "{ let n: f64 = i / 2; n }",
            "{ let half = i / 2; let n: f64 = half; n }",
            "{ let n: f64 = i.rem_euclid(2); n }",
            "{ let n: i64 = i.wrapping_abs(); n }",
        ]],
        meant: Meant::Unclear,
    },
    // A value that is dropped.
    Template {
        text: "#[derive(Clone)] struct List(Vec<i64>); impl List { fn insert(&self, n: i64) -> List { List([&self.0[..], &[n]].concat()) } } \
               let list = List(vec![$a]); let text = \"a$a\".to_owned(); let n = $b; <0> (list.0.len(), text)",
        slots: &[&[
            "if n > 0 { list.insert(n) }",
            "for x in [1, 2] { list.insert(x) }",
            "if n > 0 { text.replace(\"a\", \"b\") }",
            "if n > 0 { text.trim() }",
            "if n > 0 { demo::create_note }",
            "if n > 0 { tokio::spawn(async { println!(\"worked\") }) }",
        ]],
        meant: Meant::Unclear,
    },
    // A clone is changed instead of the value.
    Template {
        text: "#[derive(Clone)] struct Own { n: i64, log: Vec<i64> } let acc = Own { n: $a, log: vec![] }; let accs = vec![acc.clone()]; <0> (acc.n, acc.log.len(), accs[0].n)",
        slots: &[&[
            "let copy = acc; let mut picked = vec![copy]; picked[0].n -= $b;",
            "let copy = acc; let mut picked = Vec::new(); picked.push(copy); picked[0].n -= $b;",
            "let copy = acc; let mut picked = Vec::new(); picked.push(copy); picked[0].log.push($b);",
            "let copy = acc; let mut all = BTreeMap::new(); all.insert(1, copy); for own in all.values_mut() { own.n = 0; }",
            "let mut copy = acc; copy.n -= $b;",
            "let mut copy = accs[0]; copy.n -= $b;",
            "fn spend(mut own: Own) { own.n -= 1; } spend(acc);",
            "fn spend(own: Own) -> i64 { let mut own = own; own.n -= 1; own.n } spend(acc);",
            "for own in accs { let mut own = own; own.n = 0; }",
        ]],
        meant: Meant::Unclear,
    },
    Template {
        text: "$ACC let items = vec![Acc { n: $a }]; let mut picked: Vec<Acc> = Vec::new(); for x in &items { <0> } picked[0].n += $b; items[0].n",
        slots: &[&["picked.push(x);", "let y: Acc = x; picked.push(y);", "picked.insert(0, x);"]],
        meant: Meant::Unclear,
    },
    // A copy that `move` captures is changed.
    Template {
        text: "let total = 0; <0> total",
        slots: &[&[
            "std::thread::spawn(move || { total += $a; }).join().unwrap();",
            "std::thread::spawn(|| { total += $a; }).join().unwrap();",
            "tokio::spawn(async { total += $a; }).await?;",
            "tokio::spawn(async move { total += $a; }).await?;",
            "concurrently(2, vec![$a, $b], |n| async { total += n; Ok::<_, anyhow::Error>(()) }).await?;",
            "concurrently(2, vec![$a, $b], |n| async move { total += n; Ok::<_, anyhow::Error>(()) }).await?;",
            "let mut add = move |n: i64| total += n; add($a);",
            "let add = move |n: i64| total += n; add($a);",
            "futures::future::join_all([$a, $b].map(|n| async move { total += n; })).await;",
        ]],
        meant: Meant::Unclear,
    },
    Template {
        text: "let mut total = 0; <0> total",
        slots: &[&[
            "std::thread::spawn(|| { total += $a; }).join().unwrap();",
            "tokio::spawn(async { total += $a; }).await?;",
            "let handle = tokio::spawn(async { total += $a; total }); handle.await?;",
            "concurrently(2, vec![$a, $b], |n| async { total += n; Ok::<_, anyhow::Error>(()) }).await?;",
        ]],
        meant: Meant::Unclear,
    },
    // A call in a closure cannot be awaited.
    Template {
        text: "<0> [\"a\"].iter().for_each(|name| { demo::create_note(*name, \"t\"); }); 0",
        slots: &[&["", "let s: String = \"x\"; ", "let n: f64 = $a; ", "let o: Option<i64> = $a; "]],
        meant: Meant::Value(|_| (json!(0), &["create_note"])),
    },
    // A future has the method too, and only prepares the call.
    Template {
        text: "let undo = demo::create_note(\"a\", \"b\")<0>; println!(\"dry run\"); 0",
        slots: &[&[
            ".map(|note| note)",
            ".map_err(|error| error.message)",
            ".and_then(|note| Ok(note))",
            ".or_else(|error| Err(error))",
        ]],
        meant: Meant::Value(|_| (json!(0), &[])),
    },
];
