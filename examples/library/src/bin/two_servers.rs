//! A snippet over two MCP servers, with the events of its execution. The servers are the built-in demo server, twice:
//! `two_servers PATH-OF-TOOLSMITH`.

#![allow(clippy::print_stdout, reason = "it prints what it does")]

use std::error::Error;

use toolsmith::{Event, Server, Toolsmith};

fn main() -> Result<(), Box<dyn Error>> {
    toolsmith::helper();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let program = std::env::args().nth(1).unwrap_or_else(|| "toolsmith".to_owned());
    let demo = || Server::stdio(&program).args(["demo-server"]);
    let toolsmith = Toolsmith::builder()
        .server("north", demo())
        .server("south", demo())
        .allow("*.list_*")
        .allow("*.get_*")
        .build()
        .await?;

    // What a model reads, and what it writes.
    for definition in toolsmith.definitions().await? {
        println!("{}: {}", definition.name, definition.input_schema["required"]);
    }
    println!("{}", toolsmith.search("customer by id").await?.lines().next().unwrap_or_default());
    let code = "let (north, south) = tokio::join!(north::get_customer(\"c-01\"), south::get_customer(\"c-02\"));\n\
                format!(\"{} and {}\", north?.name, south?.name)";
    let checked = toolsmith.check(code).await?;
    println!("can call {}", checked.manifest.join(", "));
    let outcome = toolsmith
        .execute(code)
        .on_event(|event| {
            if let Event::CallBegan { server, tool, arguments, .. } = event {
                println!("{server}.{tool} {arguments}");
            }
        })
        .await?;
    println!("{}", outcome.value::<String>()?);

    // Calls that nothing allows are refused; without a callback, nobody is asked.
    let refused = toolsmith.execute("north::create_note(\"a\", \"b\").await?.id").await?;
    if let Some(error) = refused.error {
        println!("{}: {}", refused.status, error.message);
    }
    Ok(())
}
