// Names all crates for snippets, with derives, macros and generic code of each.
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use anyhow::Context as _;
use chrono::{Datelike as _, NaiveDate, TimeDelta};
use futures::{StreamExt as _, stream};
use indexmap::IndexMap;
use itertools::Itertools as _;
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Clone, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: u64,
    customer: Option<String>,
    total: f64,
    tags: Vec<String>,
}

async fn run() -> anyhow::Result<serde_json::Value> {
    let order: Order = serde_json::from_value(json!({
        "orderId": 7, "customer": "Ada", "total": 2.5, "tags": ["new", "gift"]
    }))?;
    let day = NaiveDate::from_ymd_opt(2024, 2, 28).context("a date")? + TimeDelta::days(2);
    let words = Regex::new(r"(\w+)-(\d+)")?;
    let found = words.captures("item-12").context("a match")?;
    let squares: Vec<u64> = stream::iter(1..4).map(|number| async move { number * number }).buffered(2).collect().await;
    let (slow, fast) = tokio::join!(
        async { tokio::time::sleep(std::time::Duration::from_millis(1)).await; 1 },
        async { 2 },
    );
    let spawned = tokio::spawn(async { std::thread::spawn(|| 6_u128.pow(20)).join().map(|power| power.to_string()) });
    let power = spawned.await?.map_err(|_| anyhow::anyhow!("the thread panicked"))?;
    let counted: HashMap<char, usize> = "toolsmith".chars().counts();
    let unique: HashSet<&str> = order.tags.iter().map(String::as_str).collect();
    let mut text = String::new();
    write!(text, "{:>8.3}|{:#x}", (order.total.sin() + order.total.powf(0.3)).ln(), day.year())?;
    let kept: IndexMap<char, usize> = counted.iter().map(|(letter, count)| (*letter, *count)).collect();
    let sorted: BTreeMap<_, _> = counted.into_iter().sorted().collect();
    println!("{order:?} {text}");
    Ok(json!({
        "day": day.to_string(),
        "found": &found[1],
        "squares": squares,
        "joined": slow + fast,
        "power": power,
        "letters": [sorted.len(), kept.len()],
        "unique": unique.len(),
        "again": serde_json::to_string(&order)?,
    }))
}
