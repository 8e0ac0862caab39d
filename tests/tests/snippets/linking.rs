//! Programs that are linked against the base behave like programs that are linked as a whole.
//!
//! Generated programs combine what two images could do differently: panics, threads, thread-local variables, statics,
//! generic code, dynamic dispatch, collections, the crates for snippets and asynchronous code.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use end_to_end::cache::with_the_layer_of_the_shared;
use end_to_end::cache::{json, plain};
use end_to_end::harness::{Run, assert_says, unique};
use end_to_end::page::normal;
use end_to_end::tiers::sandbox_config;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Programs in every run of the tests, and in the long one.
const PROGRAMS: u64 = 20;
const MANY_PROGRAMS: u64 = 1_000;
/// Templates in one program.
const PARTS: u64 = 3;
/// Maximum size of the cached part of a small program, in bytes: one that is linked as a whole has over 300 KB.
const SMALL: u64 = 64 << 10;

/// Templates: blocks that push texts to `out`. `A` and `B` are small numbers, `N` makes names unique.
const TEMPLATES: [&str; 24] = [
    "let r = std::panic::catch_unwind(|| { let v: Vec<u32> = vec![A, B]; v[(A + 2) as usize] });\nout.push(format!(\"{}\", r.is_err()));",
    "struct GN(u32); impl Drop for GN { fn drop(&mut self) { println!(\"drop {}\", self.0); } }\nfn deepN(n: u32) -> u32 { let _g = GN(n); if n == 0 { panic!(\"boom A\") } else { deepN(n - 1) + 1 } }\nlet r = std::panic::catch_unwind(|| deepN(A % 5)); out.push(format!(\"{:?}\", r.unwrap_err().downcast_ref::<&str>()));",
    "let handles: Vec<_> = (0..A % 4 + 1).map(|n| std::thread::spawn(move || (0..B).map(|x| x * n).sum::<u32>())).collect();\nfor h in handles { out.push(h.join().unwrap().to_string()); }",
    "let h = std::thread::Builder::new().name(\"workerN\".into()).spawn(|| -> u32 { if A % 2 == 0 { panic!(\"in thread B\") } B }).unwrap();\nout.push(format!(\"{}\", h.join().is_ok()));",
    "thread_local! { static TN: std::cell::Cell<u64> = const { std::cell::Cell::new(A) }; static UN: std::cell::RefCell<Vec<u32>> = std::cell::RefCell::new(vec![B]); }\nTN.set(TN.get() + 1); UN.with_borrow_mut(|u| u.push(1)); let other = std::thread::spawn(|| (TN.get(), UN.with_borrow(|u| u.len()))).join().unwrap();\nout.push(format!(\"{} {:?} {:?}\", TN.get(), other, UN.with_borrow(|u| u.clone())));",
    "#[repr(align(32))] struct WN([u8; 40]); thread_local! { static VN: WN = const { WN([B as u8; 40]) }; }\nout.push(VN.with(|w| format!(\"{} {}\", w.0.iter().map(|x| *x as u32).sum::<u32>(), std::ptr::from_ref(w).addr() % 32)));",
    "static CN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(A); static LN: std::sync::LazyLock<std::sync::Mutex<Vec<u32>>> = std::sync::LazyLock::new(|| std::sync::Mutex::new(vec![A]));\nCN.fetch_add(B, std::sync::atomic::Ordering::SeqCst); LN.lock().unwrap().push(B); out.push(format!(\"{} {:?}\", CN.load(std::sync::atomic::Ordering::SeqCst), LN.lock().unwrap()));",
    "fn largestN<T: PartialOrd + Copy>(v: &[T]) -> Option<T> { v.iter().copied().fold(None, |m, x| match m { Some(y) if y >= x => Some(y), _ => Some(x) }) }\nout.push(format!(\"{:?} {:?} {:?}\", largestN(&[A, B, 3]), largestN(&[1.5, B as f64]), largestN::<char>(&[])));",
    "trait SN { fn area(&self) -> f64; fn name(&self) -> String { std::any::type_name::<Self>().to_owned() } } struct QN(f64); impl SN for QN { fn area(&self) -> f64 { self.0 * self.0 } } impl SN for (f64, f64) { fn area(&self) -> f64 { self.0 * self.1 } }\nlet shapes: Vec<Box<dyn SN>> = vec![Box::new(QN(A as f64)), Box::new((B as f64, 0.5))]; for s in &shapes { out.push(format!(\"{} {}\", s.area(), s.name())); }",
    "let any: Vec<Box<dyn std::any::Any>> = vec![Box::new(A), Box::new(\"B\"), Box::new(std::collections::HashMap::<String, u32>::new())];\nout.push(any.iter().map(|a| format!(\"{}{}{}\", a.is::<i32>(), a.is::<&str>(), a.is::<std::collections::HashMap<String, u32>>())).collect());",
    "let mut fs: Vec<Box<dyn FnMut(u64) -> u64>> = Vec::new(); let mut total = 0; for k in 0..A % 6 { let mut calls = k; fs.push(Box::new(move |x| { calls += 1; x * B + calls })); }\nfor f in &mut fs { total += f(2) + f(3); } out.push(total.to_string());",
    "let mut m = std::collections::HashMap::new(); for n in 0..A * 10 { *m.entry(n % (B % 7 + 1)).or_insert(0) += n; }\nlet sorted: std::collections::BTreeMap<_, _> = m.into_iter().collect(); out.push(format!(\"{sorted:?}\"));",
    "let s: std::collections::HashSet<String> = (0..A).map(|n| format!(\"k{}\", n % (B % 9 + 1))).collect(); let mut heap: std::collections::BinaryHeap<_> = s.iter().collect(); out.push(format!(\"{} {:?}\", s.len(), heap.pop()));\nlet mut d: std::collections::VecDeque<u32> = (0..5).collect(); d.rotate_left(A % 5); out.push(format!(\"{d:?}\"));",
    "let re = regex::Regex::new(r\"(?i)([a-z]+)-(\\d{1,3})\").unwrap(); let text = \"Ab-A cd-B EF-77 x-\";\nout.push(re.replace_all(text, \"$2:$1\").into_owned()); out.push(format!(\"{:?}\", regex::Regex::new(\"(A\").is_err()));",
    "#[derive(serde::Serialize, serde::Deserialize, Debug, PartialEq)] struct RN { a: u32, b: Option<Vec<f64>>, c: std::collections::BTreeMap<String, bool> }\nlet r = RN { a: A, b: Some(vec![0.1, B as f64]), c: [(\"x\".to_owned(), true)].into() }; let text = serde_json::to_string(&r)?; out.push(format!(\"{text} {}\", serde_json::from_str::<RN>(&text)? == r)); out.push(format!(\"{:?}\", serde_json::from_str::<RN>(\"{\\\"a\\\":-A}\").map_err(|e| e.to_string())));",
    "let v: serde_json::Value = serde_json::from_str(\"{\\\"k\\\":[A,B.5,null,\\\"é\\\"]}\")?; out.push(format!(\"{v} {:#}\", v[\"k\"][1])); out.push(v.pointer(\"/k/3\").map(|x| x.to_string()).unwrap_or_default());",
    "let d = chrono::NaiveDate::from_ymd_opt(2000 + A, B % 12 + 1, A % 28 + 1).unwrap(); out.push(format!(\"{} {} {:?}\", d.format(\"%a %j %G-W%V\"), d + chrono::Duration::days(B as i64), d.succ_opt())); out.push(chrono::DateTime::from_timestamp(A * 86_399_123, 0).unwrap().to_rfc2822());",
    "async fn workN(n: u64) -> u64 { tokio::task::yield_now().await; n * B } let all = futures::future::join_all((0..A % 8).map(workN)).await; out.push(format!(\"{all:?}\"));",
    "let t = tokio::spawn(async { tokio::time::sleep(std::time::Duration::from_millis(1)).await; if A % 3 == 0 { panic!(\"task A\") } B }); out.push(match t.await { Ok(n) => n.to_string(), Err(e) => format!(\"panic {}\", e.is_panic()) });",
    "let (tx, mut rx) = tokio::sync::mpsc::channel::<u32>(2); let producer = tokio::spawn(async move { for n in 0..A % 9 { tx.send(n * B).await.unwrap(); } }); let mut got = vec![]; while let Some(n) = rx.recv().await { got.push(n); } producer.await?; out.push(format!(\"{got:?}\"));",
    "fn parseN(s: &str) -> anyhow::Result<u32> { let n: u32 = s.parse()?; anyhow::ensure!(n < B, \"{n} is too large\"); Ok(n) } for s in [\"A\", \"x\", \"B\"] { out.push(match parseN(s) { Ok(n) => n.to_string(), Err(e) => format!(\"{e:#}\") }); }",
    "let x = A as f64 / 7.0 + 0.1; out.push(format!(\"{:?}\", [x.sin(), x.cos(), x.tan(), x.exp(), x.ln(), x.powf(B as f64 / 3.0), x.cbrt(), x.tanh(), x.atan2(2.0), x.hypot(3.0), x.fract(), x.round()].map(f64::to_bits))); out.push(format!(\"{:?}\", ((x as f32).sinh(), (x as f32).exp_m1(), 7.5_f32.rem_euclid(x as f32), x.mul_add(2.0, 1.0))));",
    "let big = (A as u128).pow(9) + B; out.push(format!(\"{} {} {:e} {:>12.4}|{:<6}|{:#010b}\", big / 7, (big as i128).rem_euclid(-13), A as f64 * 1e200, B as f64 / 3.0, A, B)); out.push(format!(\"{:?} {:?}\", i64::MAX.checked_add(A), (A as u8).leading_zeros()));",
    "use itertools::Itertools as _; out.push((0..A % 5 + 2).permutations(2).map(|p| p.iter().join(\"\")).join(\",\")); out.push(format!(\"{:?}\", \"the quick A brown B\".split(' ').counts_by(|w| w.len()).into_iter().sorted().collect_vec()));",
];

/// Ends of programs: how the outcome is reached.
const ENDS: [&str; 6] = [
    "out",
    "let n: u32 = out.concat().parse()?; n",
    "if out.len() > 0 { panic!(\"at the end: {}\", out.len()) }\nout",
    "let v: Vec<u32> = vec![]; let at = out.len(); v[at]",
    "eprintln!(\"{out:?}\"); std::process::exit((out.len() % 3) as i32); ",
    "out.into_iter().map(|text| text.len()).collect::<Vec<_>>()",
];

/// A number generator (splitmix64) with a fixed seed for each program.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn choose<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        let count = u64::try_from(texts.len()).unwrap();
        texts[usize::try_from(self.below(count)).unwrap()]
    }
}

/// The text of program `number`. The first ones have each template once.
fn program(number: u64) -> String {
    let mut random = Random(number);
    let mut text = String::from("let mut out: Vec<String> = Vec::new();\n");
    for part in 0..PARTS {
        let index = usize::try_from(number * PARTS + part).unwrap();
        let template = TEMPLATES.get(index).copied().unwrap_or_else(|| random.choose(&TEMPLATES));
        let (a, b) = (random.below(40) + 1, random.below(90) + 1);
        text.push_str(&filled(template, &[('A', a), ('B', b), ('N', part)]));
    }
    text + random.choose(&ENDS)
}

/// A template as a block, with numbers in place of the letters that stand alone or at the end of a name.
fn filled(template: &str, values: &[(char, u64)]) -> String {
    let letters: Vec<char> = template.chars().collect();
    let mut block = String::from("{\n");
    for (at, letter) in letters.iter().enumerate() {
        let (before, after) = (at.checked_sub(1).map(|at| letters[at]), letters.get(at + 1));
        let ends = after.is_none_or(|after| !after.is_alphanumeric() && *after != '_');
        let alone = before.is_none_or(|before| !before.is_alphanumeric() && !matches!(before, '_' | '\\'));
        match values.iter().find(|(name, _)| name == letter) {
            Some((name, value)) if ends && (alone || *name == 'N') => block.push_str(&value.to_string()),
            _ => block.push(*letter),
        }
    }
    block + "\n}\n"
}

/// Returns a program's effects, without times and numbers that differ from run to run.
fn behaviour(run: Run) -> Value {
    let run = run.done();
    let outcome: Value = serde_json::from_str(&run.stdout).unwrap();
    let keys = ["status", "result", "stdout", "stderr", "error", "diagnostics", "warnings", "fixes"];
    let mut kept: Vec<Value> = keys.iter().map(|key| outcome[key].clone()).collect();
    // The message of a panic in another thread has the thread's number.
    let stderr = outcome["stderr"].as_str().unwrap_or_default();
    kept[3] = json!(stderr.replace(|letter: char| letter.is_ascii_digit(), ""));
    Value::Array(kept)
}

/// Runs each program both ways. Reports all differences at the end.
#[track_caller]
fn compare(numbers: Range<u64>) {
    let cache = with_only_the_layer();
    let mut known = BTreeSet::new();
    let mut wrong = Vec::new();
    for number in numbers {
        let text = program(number);
        let base = behaviour(run_in(cache.path(), &text));
        let whole = behaviour(json(&text).variable("TOOLSMITH_LINK", "whole"));
        let now: BTreeSet<PathBuf> = programs(cache.path()).into_iter().collect();
        let linked: Vec<bool> = now.difference(&known).map(|file| needs_base(file)).collect();
        if base != whole || linked != [true] {
            let linked = format!("linked against the base: {linked:?}");
            wrong.push(format!("program {number}:\n{text}\n{linked}\nbase: {base}\nwhole: {whole}"));
        }
        known = now;
    }
    let count = wrong.len();
    assert!(wrong.is_empty(), "{count} programs differ, or do not use the base:\n{}", wrong.join("\n\n"));
}

/// The numbers of the generated programs in the variable `PROGRAMS`, such as `20..120`.
pub(crate) fn chosen_numbers() -> Option<Range<u64>> {
    let text = std::env::var("PROGRAMS").ok()?;
    let numbers = text.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    Some(numbers.unwrap_or_else(|| panic!("PROGRAMS must be a range such as 20..120, not {text:?}")))
}

#[test]
fn programs_behave_the_same_whichever_way_they_are_linked() {
    compare(0..PROGRAMS);
}

#[test]
#[ignore = "takes many minutes"]
fn a_thousand_programs_behave_the_same_whichever_way_they_are_linked() {
    compare(chosen_numbers().unwrap_or(PROGRAMS..PROGRAMS + MANY_PROGRAMS));
}

/// The programs in a cache.
fn programs(cache: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache.join("programs-v1")).unwrap();
    let files = entries.map(|entry| entry.unwrap().path().join("program"));
    files.filter(|file| file.exists()).collect()
}

/// Whether a program is linked against the base: it has a section with the base's identity.
fn needs_base(program: &Path) -> bool {
    let name = b".base_id\0";
    fs::read(program).unwrap().windows(name.len()).any(|bytes| bytes == name)
}

/// A cache without programs.
fn with_only_the_layer() -> TempDir {
    let cache = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(cache.path());
    cache
}

fn run_in(cache: &Path, text: &str) -> Run {
    Run::new(cache).arguments(&["run", "--json", "-"]).input(text)
}

/// Runs `text` with an empty cache of programs; returns its program.
fn linked(text: &str, link: &str) -> (TempDir, PathBuf) {
    let cache = with_only_the_layer();
    run_in(cache.path(), text).variable("TOOLSMITH_LINK", link).expect("ok", 0);
    let mut programs = programs(cache.path());
    assert_eq!(programs.len(), 1, "{programs:?}");
    (cache, programs.remove(0))
}

#[test]
fn the_cache_keeps_only_a_programs_own_part() {
    let text = "vec![1, 2, 3].into_iter().map(|n| n * 2).collect::<Vec<_>>()";
    let (_cache, own_part) = linked(text, "");
    assert!(needs_base(&own_part) && fs::metadata(&own_part).unwrap().len() < SMALL);
    let (_cache, whole) = linked(text, "whole");
    assert!(!needs_base(&whole) && fs::metadata(&whole).unwrap().len() > SMALL);
}

/// Programs whose meaning depends on being linked as a whole.
#[test]
fn a_program_that_the_base_does_not_suit_is_linked_as_a_whole() {
    // Its own allocator replaces that of the libraries too.
    let allocator = "use std::alloc::{GlobalAlloc, Layout, System};\n\
        use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};\n\
        static COUNT: AtomicUsize = AtomicUsize::new(0);\n\
        struct Counting;\n\
        unsafe impl GlobalAlloc for Counting {\n\
            unsafe fn alloc(&self, layout: Layout) -> *mut u8 { COUNT.fetch_add(1, Relaxed); unsafe { System.alloc(layout) } }\n\
            unsafe fn dealloc(&self, at: *mut u8, layout: Layout) { unsafe { System.dealloc(at, layout) } }\n\
        }\n\
        #[global_allocator] static ALLOCATOR: Counting = Counting;\n\
        fn main() -> bool { let before = COUNT.load(Relaxed); let text = serde_json::json!([1, \"a\"]).to_string(); COUNT.load(Relaxed) > before && !text.is_empty() }";
    // A constructor, which the C library calls before `main`.
    let constructor = "use std::sync::atomic::{AtomicBool, Ordering::Relaxed};\n\
        static DONE: AtomicBool = AtomicBool::new(false);\n\
        extern \"C\" fn begin() { DONE.store(true, Relaxed); }\n\
        #[used] #[unsafe(link_section = \".init_array\")] static BEGIN: extern \"C\" fn() = begin;\n\
        fn main() -> bool { DONE.load(Relaxed) }";
    // A function of the C library that nothing in the base uses.
    let function = "unsafe extern \"C\" { fn labs(number: std::ffi::c_long) -> std::ffi::c_long; fn ffs(number: i32) -> i32; }\n\
        fn main() -> bool { unsafe { labs(-5) == 5 && ffs(8) == 4 } }";
    // A function of the base, defined weakly; as a whole, it comes before that of the C library.
    let weak = "std::arch::global_asm!(\".weak sin\\nsin:\\nmov rax, 0x4045000000000000\\nmovq xmm0, rax\\nret\");\n\
        fn main() -> bool { std::hint::black_box(0.5_f64).sin() == 42.0 }";
    // The same with a variable.
    let common = "std::arch::global_asm!(\".comm environ,8,8\");\n\
        unsafe extern \"C\" { static environ: *const u8; }\n\
        fn main() -> bool { unsafe { environ.is_null() } }";
    // Where the linker says that the code ends.
    let end = "unsafe extern \"C\" { static __ehdr_start: u8; static _etext: u8; }\n\
        fn main() -> bool {\n\
            let of_std = std::env::args as fn() -> std::env::Args as usize;\n\
            unsafe { (&raw const __ehdr_start).addr() < of_std && of_std < (&raw const _etext).addr() }\n\
        }";
    // Its own table of constructors, in place of the C library's.
    let table = "use std::sync::atomic::{AtomicBool, Ordering::Relaxed};\n\
        static DONE: AtomicBool = AtomicBool::new(false);\n\
        extern \"C\" fn begin() { DONE.store(true, Relaxed); }\n\
        #[unsafe(export_name = \"__init_array_start\")] static START: [extern \"C\" fn(); 1] = [begin];\n\
        std::arch::global_asm!(\".globl __init_array_end\", \".set __init_array_end, __init_array_start + 8\");\n\
        fn main() -> bool { DONE.load(Relaxed) }";
    // A library of C that nothing needs.
    let library = "#[link(name = \"c\")] unsafe extern \"C\" {}\nfn main() -> bool { true }";
    for text in [allocator, constructor, function, weak, common, end, table, library] {
        assert_eq!(json(text).result(), true, "{text}");
        assert!(!needs_base(&linked(text, "").1), "{text}");
    }
}

/// A snippet with assembly that defines `place` in this section.
fn in_section(section: &str) -> String {
    format!(
        "std::arch::global_asm!(\".section {section}\", \".globl place\", \"place:\", \".asciz \\\"/bin/sh\\\"\", \".text\");\n\
         unsafe extern \"C\" {{ static place: u8; }}\n\
         fn main() -> bool {{ unsafe {{ (&raw const place).read_volatile() != 0 }} }}"
    )
}

/// Neither linker makes a program that the kernel would do more with than load it.
#[test]
fn a_program_asks_the_kernel_for_nothing_but_its_segments() {
    let writable_code = "the program has a segment that is writable and executable";
    let rows = [
        (in_section(".wx,\\\"awx\\\",@progbits"), writable_code),
        (in_section(".text.wx,\\\"awx\\\",@progbits"), writable_code),
        (in_section(".data.wx,\\\"awx\\\",@progbits"), writable_code),
        (
            in_section(".interp,\\\"a\\\",@progbits"),
            "the program has an interpreter, which would be started in its place",
        ),
        (
            "#[link(kind = \"link-arg\", name = \"-zexecstack\")] unsafe extern \"C\" {}\nfn main() {}"
                .to_owned(),
            "link kind `link-arg` is unstable",
        ),
    ];
    for (text, message) in rows {
        for link in ["", "whole"] {
            let outcome = json(&text).variable("TOOLSMITH_LINK", link).expect("compile_error", 3);
            assert_eq!(outcome["diagnostics"][0]["message"], message, "{link}: {text}\n{outcome:#}");
        }
    }
    // An object file that wants an executable stack.
    let stack = "std::arch::global_asm!(\".section .note.GNU-stack,\\\"x\\\",@progbits\", \".text\");\nfn main() -> bool { true }";
    for link in ["", "whole"] {
        let outcome = json(stack).variable("TOOLSMITH_LINK", link).expect("compile_error", 3);
        assert_says(&outcome["diagnostics"][0]["rendered"], &["requires an executable stack"]);
    }
}

/// The base takes no memory from a program.
#[test]
fn a_program_has_the_same_memory_whichever_way_it_is_linked() {
    let text = "vec![1u8; 5 << 20].iter().map(|byte| u64::from(*byte)).sum::<u64>()";
    for link in ["", "whole"] {
        let run = json(text).config(&sandbox_config("memory: 16MiB")).variable("TOOLSMITH_LINK", link);
        assert_eq!(run.result(), 5 << 20, "{link}");
    }
}

/// A program of the cache that was changed is reported once, and then compiled again.
#[test]
fn a_damaged_program_is_reported_and_compiled_again() {
    let cache = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(cache.path());
    let run = || Run::new(cache.path()).arguments(&["run", "--json", "-"]).input("6 * 7");
    assert_eq!(run().result(), 42);
    let entries = fs::read_dir(cache.path().join("programs-v1")).unwrap();
    let files = entries.map(|entry| entry.unwrap().path().join("program"));
    for file in files.filter(|file| file.exists()) {
        let mut bytes = fs::read(&file).unwrap();
        // The type of the first program header (elf(5)).
        bytes[64] = 4;
        fs::write(&file, bytes).unwrap();
    }
    assert_snapshot!(normal(&run().done().exits(7).stderr), @r"
    toolsmith: the cached program /tmp/.tmpXXXXXX/programs-v1/[hash]/program is damaged: the image has a segment of type 0x4, which can't be composed
    help: it has been removed; run the snippet again
    ");
    assert_eq!(run().result(), 42);
}

/// Its thread-local variables do not fit beside those of the base.
#[test]
fn large_thread_local_variables_work() {
    let text = "thread_local! { static BYTES: std::cell::RefCell<[u8; 100_000]> = const { std::cell::RefCell::new([7; 100_000]) }; }\n\
        let sum = || BYTES.with_borrow(|bytes| bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>());\n\
        BYTES.with_borrow_mut(|bytes| bytes[99_999] = 8);\n\
        (sum(), std::thread::spawn(sum).join().unwrap())";
    assert_eq!(json(text).result(), serde_json::json!([700_001, 700_000]));
}

#[test]
fn errors_of_linking_are_those_of_linking_as_a_whole() {
    let name = format!("missing_{}", unique().replace('-', "_"));
    let text = format!("unsafe extern \"C\" {{ fn {name}(); }}\nfn main() {{ unsafe {{ {name}() }} }}");
    let shown = |link: &str| {
        let run = plain(&text).variable("TOOLSMITH_LINK", link).done();
        // The names of objects are new each time.
        let lines = run.stderr.lines().filter(|line| line.contains("undefined symbol")).map(str::to_owned);
        (run.code(), lines.collect::<Vec<_>>())
    };
    let found = shown("");
    assert!(!found.1.is_empty(), "{found:?}");
    assert_eq!(found, shown("whole"));
}
