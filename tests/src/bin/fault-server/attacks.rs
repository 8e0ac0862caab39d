//! The mode `attacks`: its tool tries what a hostile server would do on the machine of its user, once, and answers whether
//! it worked: `done` with what it got, or `refused` with the reason.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    net::TcpStream,
    os::unix::{fs::symlink, net::UnixStream},
    process::Command,
};

use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};

use super::server::{Server, text_result};

pub(crate) fn serve() -> io::Result<()> {
    let mut server = Server::default();
    server.faults.call = Some(Box::new(|request: &Value| {
        let message = request["params"]["arguments"]["message"].as_str().unwrap_or_default();
        let mut words = message.split(' ');
        let mut word = || words.next().unwrap_or_default().to_owned();
        let answer = match attempt(&word(), &word(), &word()) {
            Ok(detail) => format!("done {detail}"),
            Err(error) => format!("refused {error}"),
        };
        Ok(Some(json!({ "result": text_result(&answer) })))
    }));
    server.serve()
}

fn attempt(name: &str, on: &str, other: &str) -> io::Result<String> {
    let number = || on.parse::<usize>().map_err(io::Error::other);
    let none = |()| String::new();
    match name {
        "read" => Ok(String::from_utf8_lossy(&fs::read(on)?).replace(['\0', '\n'], " ")),
        "append" => OpenOptions::new().append(true).create(true).open(on)?.write_all(b"attacked\n").map(none),
        "connect" => TcpStream::connect(on)?.write_all(b"x").map(none),
        "unix" => UnixStream::connect(on)?.write_all(b"x").map(none),
        "link" => symlink(other, on).and_then(|()| fs::read_to_string(on)),
        // A folder that is granted, and what was in it, under another name.
        "swap" => {
            fs::rename(on, format!("{on}.away"))?;
            symlink(other, on).map(none)
        }
        "rename" => fs::rename(on, other).map(none),
        "daemon" => {
            let loop_forever = "while :; do sleep 1; done";
            let mut daemon = Command::new("setsid");
            let started = daemon.args(["--fork", "sh", "-c", loop_forever, on]).status()?;
            if started.success() { Ok(String::new()) } else { Err(io::Error::other("setsid failed")) }
        }
        "fork" => forks(number()?),
        "memory" => Vec::<u8>::new().try_reserve_exact(number()? << 20).map_err(io::Error::other).map(none),
        // No signal is sent; the answer is whether one could be.
        "signal" => {
            let process =
                Pid::from_raw(on.parse().map_err(io::Error::other)?).ok_or(io::ErrorKind::InvalidInput)?;
            Ok(test_kill_process(process).map(none)?)
        }
        "descriptors" => {
            let open = fs::read_dir("/proc/self/fd")?.count();
            // The standard ones, and the folder itself.
            if open > 4 { Ok(open.to_string()) } else { Err(io::Error::other("only its own are open")) }
        }
        "environment" => std::env::var(on).map_err(io::Error::other),
        _ => Err(io::Error::other("no attempt has this name")),
    }
}

/// Starts processes that all live at the same time.
fn forks(count: usize) -> io::Result<String> {
    // Their standard input ends with this process.
    let mut all = Vec::new();
    let started = (0..count).try_for_each(|_| {
        let child = Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .stdout(File::open("/dev/null")?)
            .spawn()?;
        all.push(child);
        Ok(())
    });
    for child in &mut all {
        drop(child.stdin.take());
        child.wait()?;
    }
    started.map(|()| String::new())
}
