//! `odd-server stdio MODE` and `odd-server http`: an MCP server that is odd in one known way, for comparing clients.
//!
//! Over HTTP the last part of the path names the mode, so that one process serves all of them; its first line on
//! standard output is its address, and it ends when its input ends. The protocol is written by hand, because a proper
//! library cannot do most of this. Modes that change messages are in `messages.rs`, for both transports; modes that
//! change the transport are in `stdio.rs` and `http.rs`.

mod events;
mod http;
mod messages;
mod stdio;

use std::{io, process::ExitCode};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let ended = match arguments[..] {
        ["stdio", mode] => stdio::serve(mode),
        ["http"] => http::serve().await,
        _ => Err(io::Error::other("usage: odd-server stdio MODE, or odd-server http")),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        // The client is gone: the normal end of a server that is killed late.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("odd-server: {error}");
            ExitCode::FAILURE
        }
    }
}
