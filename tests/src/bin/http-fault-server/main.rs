//! `http-fault-server MODE [PHASE]`: an MCP server over HTTP that misbehaves in one known way, for tests of the client.
//!
//! Its first line on standard output is JSON: `address` of the server, and `elsewhere`, another origin that it
//! redirects to in some modes. Each further line is a request that one of the two received, or the answer to a
//! command on its input: `record`, whose answer follows everything recorded before, and `change`, which changes the
//! tool list. It ends when its input ends.
//!
//! Most modes are a fault in one phase: `discover`, `initialize`, `initialized`, `list`, `call` or `get`. Modes whose
//! name starts with `sse-` use the HTTP+SSE transport. Apart from its fault, the server behaves.

mod connection;
mod events;
mod fault;
mod server;

use std::{io, io::Write as _, process::ExitCode, sync::Arc};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::TcpListener,
};

use connection::{Connection, Request};
use server::Server;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("http-fault-server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let phase = arguments.next().unwrap_or_default();
    let here = TcpListener::bind("127.0.0.1:0").await?;
    let elsewhere = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}", here.local_addr()?);
    let other = format!("http://{}", elsewhere.local_addr()?);
    print(&json!({ "address": address, "elsewhere": other }))?;
    let server = Arc::new(Server::new(mode, phase, address, other));
    tokio::spawn(accept(here, server.clone(), false));
    tokio::spawn(accept(elsewhere, server.clone(), true));
    let mut commands = BufReader::new(tokio::io::stdin()).lines();
    while let Some(command) = commands.next_line().await? {
        match command.as_str() {
            "record" => {}
            "change" => server.change(),
            _ => return Err(io::Error::other(format!("no command {command}"))),
        }
        print(&json!({ "done": command }))?;
    }
    Ok(())
}

async fn accept(listener: TcpListener, server: Arc<Server>, elsewhere: bool) {
    while let Ok((stream, _)) = listener.accept().await {
        let server = server.clone();
        tokio::spawn(async move {
            let mut connection = Connection::new(stream);
            if let Ok(Some(request)) = connection.request().await
                && print(&record(&request, elsewhere)).is_ok()
            {
                // In many tests the client disconnects early.
                let _ = if elsewhere {
                    connection.respond(200, &[("Content-Type", "text/html")], b"<p>elsewhere</p>").await
                } else {
                    server.handle(&request, &mut connection).await
                };
            }
        });
    }
}

fn record(request: &Request, elsewhere: bool) -> Value {
    json!({
        "elsewhere": elsewhere,
        "method": request.method,
        "path": request.path,
        "headers": request.headers,
        "message": request.message,
    })
}

/// Prints one line and flushes it.
fn print(line: &Value) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}
