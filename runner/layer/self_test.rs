//! Tests a base: this program is linked against it and as a whole, and must print the same and end with the same code.
//!
//! It uses what two images could do differently from one: unwinding through both, statics and thread-local variables of
//! both, allocation, threads, type identities, formatting and the crates for snippets.

use std::any::{Any, TypeId, type_name};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, mpsc};

use serde::{Deserialize, Serialize};

static DROPS: AtomicUsize = AtomicUsize::new(0);
static TABLE: [fn(f64) -> f64; 4] = [f64::sin, f64::exp, f64::cbrt, f64::tanh];
static LAZY: LazyLock<Mutex<Vec<String>>> = LazyLock::new(|| Mutex::new(vec!["first".to_owned()]));

thread_local! {
    static NUMBER: Cell<u64> = const { Cell::new(0x1122_3344_5566_7788) };
    static BYTES: RefCell<[u8; 200]> = const { RefCell::new([3; 200]) };
    static LIST: RefCell<Vec<Guard>> = RefCell::new(vec![Guard("local")]);
}

#[repr(align(64))]
struct Aligned(Cell<u8>);
thread_local! { static ALIGNED: Aligned = const { Aligned(Cell::new(9)) }; }

struct Guard(&'static str);

impl Drop for Guard {
    fn drop(&mut self) {
        println!("drop {} {}", self.0, DROPS.fetch_add(1, Ordering::Relaxed));
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    name: String,
    values: Vec<f64>,
    inner: Option<Box<Record>>,
}

trait Shape: Any {
    fn area(&self) -> f64;
}
impl Shape for f64 {
    fn area(&self) -> f64 {
        self * self
    }
}

fn deep(level: u32) -> u32 {
    let _guard = Guard("frame");
    if level == 0 { panic!("panic {level}") } else { deep(level - 1) + 1 }
}

fn message(payload: Box<dyn Any + Send>) -> String {
    payload.downcast::<String>().map_or_else(|_| "no text".to_owned(), |text| *text)
}

fn unwinding() {
    println!("{:?}", catch_unwind(|| deep(3)).map_err(message));
    // Through a function of the library, which is in the base.
    let sorted = catch_unwind(|| {
        let mut numbers: Vec<u32> = (0..100).rev().collect();
        numbers.sort_by(|a, b| if *a == 50 { panic!("in a comparison") } else { a.cmp(b) });
    });
    println!("{}", sorted.is_err());
    let again = catch_unwind(|| catch_unwind(|| deep(1)).unwrap_or_else(|payload| resume_unwind(payload)));
    println!("{:?}", again.map_err(message));
    // Panics in the base.
    println!("{:?}", catch_unwind(|| Vec::<u8>::new().remove(1)).is_err());
    println!("{:?}", catch_unwind(|| "é".split_at(1).0.len()).map_err(message));
    println!("{:?}", catch_unwind(|| "x".parse::<i32>().unwrap()).map_err(message));
    println!("{:?}", catch_unwind(|| RefCell::new(1).try_borrow_mut().map(|_| deep(0))).is_err());
}

fn threads() {
    NUMBER.set(1);
    let handles: Vec<_> = (0..4_u64)
        .map(|number| {
            std::thread::spawn(move || {
                let before = NUMBER.replace(number);
                BYTES.with_borrow_mut(|bytes| bytes[199] += number as u8);
                ALIGNED.with(|aligned| aligned.0.set(aligned.0.get() + 1));
                let at = ALIGNED.with(|aligned| std::ptr::from_ref(aligned).addr() % 64);
                let sum = BYTES.with_borrow(|bytes| bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>());
                (before, NUMBER.get(), sum, at, ALIGNED.with(|aligned| aligned.0.get()))
            })
        })
        .collect();
    for handle in handles {
        println!("{:?}", handle.join().unwrap());
    }
    println!("{} {}", NUMBER.get(), BYTES.with_borrow(|bytes| bytes.len()));
    let failed = std::thread::Builder::new().name("named".to_owned()).spawn(|| {
        LIST.with_borrow_mut(|list| list.push(Guard("pushed")));
        deep(1)
    });
    println!("{:?}", failed.unwrap().join().map_err(message));
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for number in 0..3 {
            let sender = sender.clone();
            scope.spawn(move || sender.send(number * number));
        }
    });
    drop(sender);
    let mut squares: Vec<i32> = receiver.iter().collect();
    squares.sort_unstable();
    println!("{squares:?}");
}

fn statics() {
    static ONCE: OnceLock<String> = OnceLock::new();
    LAZY.lock().unwrap().push(ONCE.get_or_init(|| "second".to_owned()).clone());
    println!("{:?} {:?}", LAZY.lock().unwrap(), TABLE.map(|function| function(0.5).to_bits()));
    let poisoned = Arc::new(Mutex::new(1));
    let other = Arc::clone(&poisoned);
    let _ = catch_unwind(AssertUnwindSafe(move || {
        let _held = other.lock().unwrap();
        panic!("poison");
    }));
    println!("{} {}", poisoned.is_poisoned(), std::thread::panicking());
}

fn types() {
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(2.0), Box::new(0.5)];
    println!("{}", shapes.iter().map(|shape| shape.area()).sum::<f64>());
    println!(
        "{} {}",
        type_name::<HashMap<String, Record>>(),
        TypeId::of::<Record>() == TypeId::of::<Guard>()
    );
    let any: Box<dyn Any> = Box::new(serde_json::json!({ "a": 1 }));
    println!("{:?}", any.downcast_ref::<serde_json::Value>());
    let error: anyhow::Error = "1.x".parse::<f64>().unwrap_err().into();
    println!("{error} {:?}", error.downcast_ref::<std::num::ParseFloatError>());
}

fn collections() {
    let mut counts: HashMap<String, u32> = HashMap::new();
    for word in "the quick brown fox jumps over the lazy dog the end".split(' ') {
        *counts.entry(word.to_owned()).or_default() += 1;
    }
    println!("{:?}", counts.into_iter().collect::<BTreeMap<_, _>>());
    let set: HashSet<u64> = (0..1000).map(|number| number * number % 97).collect();
    println!("{} {:?}", set.len(), itertools::Itertools::sorted(set.iter()).take(5).collect::<Vec<_>>());
    println!("{:>10.3}|{:<8}|{:#x}|{:e}|{:?}", 3.14159, "ab", 255, 1.5e300, "q\"\u{7f}");
}

fn crates() {
    let pattern = regex::Regex::new(r"(?i)(\w+)@(\w+)\.(com|org)").unwrap();
    let text = "Ann@example.com, bob@Site.ORG";
    println!("{:?}", pattern.captures_iter(text).map(|found| found[2].to_owned()).collect::<Vec<_>>());
    let record = Record { name: "a".to_owned(), values: vec![0.1, 1e21], inner: None };
    let nested = Record { name: "b".to_owned(), values: vec![], inner: Some(Box::new(record)) };
    let json = serde_json::to_string(&nested).unwrap();
    println!("{json} {}", serde_json::from_str::<Record>(&json).unwrap() == nested);
    println!("{:?}", serde_json::from_str::<Record>("{\"name\": 1}").map_err(|error| error.to_string()));
    let date = chrono::NaiveDate::from_ymd_opt(2024, 2, 28).unwrap() + chrono::Days::new(2);
    println!("{} {}", date.format("%A %d %B %Y"), chrono::DateTime::UNIX_EPOCH.to_rfc3339());
}

async fn task(number: u32) -> u32 {
    tokio::task::yield_now().await;
    if number == 2 {
        panic!("in a task")
    }
    number * 10
}

fn asynchronous() {
    for runtime in [
        tokio::runtime::Builder::new_current_thread().enable_time().build(),
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build(),
    ] {
        let results = runtime.unwrap().block_on(async {
            let tasks: Vec<_> = (0..4).map(|number| tokio::spawn(task(number))).collect();
            let mut results = Vec::new();
            for task in tasks {
                results.push(task.await.map_err(|error| error.is_panic()));
            }
            let (sender, receiver) = tokio::sync::oneshot::channel();
            let sent = tokio::spawn(async move { sender.send(5) });
            let timed =
                tokio::time::timeout(std::time::Duration::from_millis(1), std::future::pending::<()>());
            (results, receiver.await, sent.await.is_ok(), timed.await.is_err())
        });
        println!("{results:?}");
    }
    println!("{:?}", futures::executor::block_on(futures::future::join(task(1), task(3))));
}

fn main() {
    std::panic::set_hook(Box::new(|info| {
        println!(
            "hook: {} at {:?}",
            info.payload_as_str().unwrap_or("-"),
            info.location().map(|at| at.line())
        );
    }));
    unwinding();
    statics();
    types();
    collections();
    crates();
    asynchronous();
    threads();
    let _ = std::panic::take_hook();
    println!("{:?}", catch_unwind(|| deep(0)).map_err(message));
    println!("{:?}", std::env::args().skip(1).collect::<Vec<_>>());
    std::process::exit(7);
}
