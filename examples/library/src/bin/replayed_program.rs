//! Runs a saved program, keeps its calls with their answers, and runs it again without any server: as a test would.
//! `replayed_program PATH-OF-TOOLSMITH`.

#![allow(clippy::print_stdout, reason = "it prints what it does")]

use std::error::Error;

use toolsmith::{Program, Recording, Server, Toolsmith};

/// The same text as for `toolsmith program run revenue`.
const TEXT: &str = include_str!("../../../programs/revenue.rs");

#[derive(serde::Serialize)]
struct Arguments {
    customer: &'static str,
}

#[derive(serde::Deserialize)]
struct Row {
    status: String,
    revenue: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    toolsmith::helper();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let toolsmith = std::env::args().nth(1).unwrap_or_else(|| "toolsmith".to_owned());
    let program = Program::parse(TEXT)?;
    let names: Vec<&str> = program.arguments().collect();
    println!("{} It takes {}.", program.title(), names.join(", "));

    let live = Toolsmith::builder()
        .server("demo", Server::stdio(toolsmith).args(["demo-server"]))
        .allow("demo.list_orders")
        .build()
        .await?;
    let arguments = Arguments { customer: "c-01" };
    let recorded = live.run(&program, &arguments)?.recorded().await?;
    for Row { status, revenue } in recorded.outcome.value::<Vec<Row>>()? {
        println!("{status}: {revenue}");
    }
    let kept = recorded.recording.ok_or("the program did not run")?.to_json()?;

    // Later, and elsewhere: there is no server.
    let offline = Toolsmith::builder().build().await?;
    let recording = Recording::from_json(&kept)?;
    let replayed = offline.run(&program, &arguments)?.replayed(&recording).await?;
    println!("replayed: {}, {} differences", replayed.outcome.status, replayed.differences.len());

    // A changed program makes other calls.
    let changed = Program::parse(TEXT.replace("limit(50)", "limit(10)"))?;
    let replayed = offline.run(&changed, &arguments)?.replayed(&recording).await?;
    println!("changed: {}\n{}", replayed.outcome.status, replayed.differences[0]);
    Ok(())
}
