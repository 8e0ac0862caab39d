//! Modes in which the process itself misbehaves: it dies, ignores signals, or leaves other processes behind.

use std::{
    io,
    os::unix::process::CommandExt,
    process::{Command, exit},
};

use super::server::{Reply, Server};

fn in_calls(reply: Reply) -> io::Result<()> {
    let mut server = Server::default();
    server.faults.call = Some(reply);
    server.serve()
}

pub(crate) fn dies_in_call() -> io::Result<()> {
    in_calls(Box::new(|_| {
        eprintln!("panic: out of cheese");
        exit(9);
    }))
}

/// Dies in a call and leaves a process behind that holds its standard output open.
pub(crate) fn orphan_holds_pipes() -> io::Result<()> {
    in_calls(Box::new(|_| {
        Command::new("sleep").arg("1000").spawn()?;
        exit(9);
    }))
}

pub(crate) fn grandchild() -> io::Result<()> {
    Command::new("sh").args(["-c", "sleep 1000 & sleep 1000"]).spawn()?;
    Server::default().serve()
}

/// An ignored signal stays ignored in the program that the shell becomes.
pub(crate) fn stubborn() -> io::Result<()> {
    let itself = std::env::current_exe()?;
    Err(Command::new("sh").args(["-c", "trap '' TERM; exec \"$0\" stubborn-inner"]).arg(itself).exec())
}

pub(crate) fn stubborn_inner() -> io::Result<()> {
    Server::default().serve()?;
    loop {
        std::thread::park();
    }
}

/// Answers the handshake and reads nothing after it.
pub(crate) fn deaf() -> io::Result<()> {
    let server = Server { stop_after: Some("notifications/initialized"), ..Server::default() };
    server.serve()?;
    loop {
        std::thread::park();
    }
}
