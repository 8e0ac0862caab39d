//! A hundred thousand executions: how long reading takes, and how large the file is. Prints figures, and asserts no
//! time: `cargo test --release -p history -- --ignored --nocapture many`.

use std::io::Write as _;
use std::time::Instant;

use super::*;

/// The number of executions.
const EXECUTIONS: usize = 100_000;

/// A bound that the executions exceed, in bytes.
const SIZE: u64 = 256 << 20;

fn say(text: &str) {
    writeln!(std::io::stdout(), "{text}").unwrap();
}

/// The median time of some readings, in milliseconds.
fn median(read: impl Fn() -> usize) -> (f64, usize) {
    let mut times = Vec::new();
    let mut found = 0;
    for _ in 0..9 {
        let started = Instant::now();
        found = read();
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], found)
}

async fn fill(fixture: &Fixture) {
    for number in 0..EXECUTIONS {
        let code = format!(
            "// Orders of customer {number}\nlet orders = shop::list_orders().customer(\"c-{number}\").await?;\n{}",
            "orders.iter().filter(|order| order.status == \"open\").map(|order| order.total).sum::<f64>();\n"
                .repeat(5)
        );
        let execution = fixture.begin(&format!("{number:032x}"), &code);
        for phase in [Phase::Checking, Phase::Compiling, Phase::Connecting, Phase::Permission, Phase::Running]
        {
            execution.note(&Event::Phase(phase));
        }
        for call_number in 0..2 {
            let result = json!({ "content": [{ "type": "text", "text": "order ".repeat(50) }] });
            call(&execution, call_number, &json!({ "customer": number }), Ok(&result));
        }
        let mut ended = outcome(if number % 1_000 == 0 { Status::Panic } else { Status::Ok });
        ended.result = Some(raw(&json!({ "customer": number, "total": 17.5 })));
        ended.stdout = format!("printed by {number}\n").repeat(10);
        execution.end(execution.ending(&ended), "an answer");
        if number % 500 == 0 {
            fixture.flush().await;
        }
    }
    fixture.flush().await;
}

#[tokio::test]
#[ignore = "takes minutes, and prints figures"]
async fn many_executions_are_listed_fast_and_keep_within_the_bound() {
    for size in [u64::MAX >> 1, SIZE] {
        let fixture = Fixture::with(config::History { size, ..config::History::default() });
        let started = Instant::now();
        fill(&fixture).await;
        let each = started.elapsed().as_secs_f64() * 1e6 / EXECUTIONS as f64;
        let reader = fixture.reader();
        let kept = reader.count(&Filter::default()).unwrap();
        say(&format!("{kept} executions kept, {} MiB, {each:.0} µs to write one", fixture.size() >> 20));
        assert!(fixture.size() <= size);
        assert_eq!(kept == EXECUTIONS, size != SIZE);
        let some = |text: &str| Some(text.to_owned());
        let page = Page { limit: 50, before: None };
        let filters = [
            ("list", Filter::default()),
            ("list --status panic", Filter { status: some("panic"), ..Filter::default() }),
            (
                "list --tool shop.list_orders",
                Filter { server: some("shop"), tool: some("list_orders"), ..Filter::default() },
            ),
            ("list --tool other", Filter { tool: some("other"), ..Filter::default() }),
            ("list --subject ann", Filter { subject: some("ann"), ..Filter::default() }),
            ("list --session other", Filter { session: some("other"), ..Filter::default() }),
            ("list --text orders", Filter { text: some("orders"), ..Filter::default() }),
            ("list --text c-99999", Filter { text: some("c-99999"), ..Filter::default() }),
            ("list --since 1h", Filter { since: Some(crate::clock::now() - 3_600_000), ..Filter::default() }),
        ];
        for (name, filter) in filters {
            let (ms, found) = median(|| reader.list(&filter, page).unwrap().len());
            say(&format!("{ms:8.2} ms  {name} ({found} found)"));
        }
        let middle = reader.list(&Filter::default(), page).unwrap()[20].id.clone();
        let (ms, _) = median(|| reader.execution(&middle).unwrap().calls_made.len());
        say(&format!("{ms:8.2} ms  show"));
        let (ms, days) = median(|| reader.savings(&Filter::default()).unwrap().len());
        say(&format!("{ms:8.2} ms  stats --saved ({days} days)"));
        let (ms, counted) = median(|| reader.latest_calls(50_000).unwrap().counted);
        say(&format!("{ms:8.2} ms  servers of the page ({counted} calls)"));
    }
}
