//! Asks at the terminal before a program runs that can call tools, and keeps the answer until the end.

#![allow(clippy::print_stdout, missing_docs, reason = "it prints what it does")]

use std::error::Error;
use std::io::{self, Write as _};

use toolsmith::{Decision, PermissionRequest, Toolsmith};

/// Sends a message.
#[toolsmith::tool(server = "mail")]
async fn send(to: String, text: String) -> Result<usize, io::Error> {
    println!("(sent to {to}: {text})");
    Ok(text.len())
}

/// Asks at the terminal; `y` allows it once, and `a` always.
async fn ask(question: PermissionRequest) -> Decision {
    println!("{question} [y/a/N]");
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdout().flush().and_then(|()| io::stdin().read_line(&mut line)).map(|_| line)
    });
    match answer.await {
        Ok(Ok(line)) if line.trim() == "y" => Decision::Once,
        Ok(Ok(line)) if line.trim() == "a" => Decision::Session,
        _ => Decision::No,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    toolsmith::helper();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let toolsmith = Toolsmith::builder().tool(send).permission(ask).build().await?;
    for name in ["Ada", "Bob", "Eve"] {
        let outcome =
            toolsmith.execute("mail::send(args.require(\"to\")?, \"Hello\").await?").arg("to", name).await?;
        match outcome.value::<usize>() {
            Ok(length) => println!("{name}: {length} characters"),
            Err(error) => println!("{name}: {error}"),
        }
    }
    Ok(())
}
