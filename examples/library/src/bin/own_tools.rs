//! Functions of a program as the tools of a snippet: with the attribute, and as a closure that captures state. A panic and
//! a function that hangs are errors of their calls.

#![allow(clippy::print_stdout, missing_docs, reason = "it prints what it does")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolsmith::{Tool, ToolError, Toolsmith};

#[derive(Serialize, JsonSchema)]
struct Order {
    id: String,
    /// The price of all its articles.
    total_cents: u64,
}

#[derive(Debug)]
struct NoOrder(String);

impl std::fmt::Display for NoOrder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "there is no order {}", self.0)
    }
}

impl Error for NoOrder {}

/// Returns an order.
#[toolsmith::tool(server = "shop", read_only)]
async fn get_order(id: String) -> Result<Order, NoOrder> {
    match id.strip_prefix("c-").and_then(|number| number.parse::<u64>().ok()) {
        Some(number) => Ok(Order { id, total_cents: 1_990 * number }),
        None => Err(NoOrder(id)),
    }
}

/// Returns the stock of an article. It has a bug.
#[toolsmith::tool(server = "shop")]
async fn stock(article: String) -> Result<u64, NoOrder> {
    panic!("the article {article} is unknown")
}

/// Waits for ever.
#[toolsmith::tool(server = "shop")]
async fn hang() -> Result<u64, NoOrder> {
    std::future::pending().await
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    text: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    // The sandbox starts this program as its helper: first of all, before any thread.
    toolsmith::helper();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let notes = Arc::new(AtomicU64::new(0));
    let counted = notes.clone();
    let take_note =
        Tool::new("take_note", "Keeps a note, and returns how many there are.", move |note: Note| {
            let count = counted.fetch_add(1, Ordering::Relaxed) + 1;
            async move {
                if note.text.is_empty() { Err(ToolError("the note is empty".to_owned())) } else { Ok(count) }
            }
        });
    let toolsmith = Toolsmith::builder()
        .tool(get_order)
        .tool(stock)
        .tool(hang)
        .tool(take_note)
        .allow("*")
        .build()
        .await?;
    let snippets = [
        "shop::get_order(\"c-1\").await?.total_cents",
        "let mut sum = 0;\nfor id in [\"c-1\", \"c-2\", \"c-3\"] { sum += shop::get_order(id).await?.total_cents; }\nsum",
        "local::take_note(\"call Ada\").await?;\nlocal::take_note(\"call Bob\").await?",
        "shop::get_order(\"none\").await.unwrap_err().message",
        "shop::stock(\"tea\").await.unwrap_err().message",
        "shop::get_order(1).await?.total_cents",
    ];
    for snippet in snippets {
        let outcome = toolsmith.execute(snippet).await?;
        println!("{snippet}\n=> {}", outcome.result.as_deref().map_or("nothing", |result| result.get()));
        if let Some(error) = &outcome.error {
            println!("   {}: {}", outcome.status, error.message);
        }
    }
    let late = toolsmith.execute("shop::hang().await?").timeout(Duration::from_secs(1)).await?;
    println!("{}, after {} calls", late.status, notes.load(Ordering::Relaxed));
    Ok(())
}
