//! The target of attacks: a process with a secret in its environment, its memory and a descriptor.
//!
//! It prints where they are. For each line of input it prints that it is alive, or that SIGURG is pending,
//! which is harmless.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::fd::{FromRawFd, IntoRawFd};

use crate::Arguments;
use crate::numbers;
use crate::system::{address, call, quiet, terminated};

pub(crate) fn attempt(name: &str, _argument: Arguments<'_>) -> Option<io::Result<String>> {
    match name {
        "victim" => Some(serve(None)),
        "victim-with-queue" => Some(queue().and_then(|queue| serve(Some(queue)))),
        _ => None,
    }
}

/// A private message queue with only a number (`IPC_PRIVATE`), for this user alone, containing the secret.
fn queue() -> io::Result<i64> {
    let queue = call(numbers::MSGGET, [0, 0o1600])?;
    let mut message = 1_i64.to_ne_bytes().to_vec();
    message.extend(std::env::var("SECRET").expect("planted by the test").bytes());
    call(numbers::MSGSND, [queue, message.as_ptr() as i64, message.len() as i64 - 8, 0])?;
    Ok(queue)
}

const SIGURG: u64 = 23;

fn serve(queue: Option<i64>) -> io::Result<String> {
    let secret = CString::new(std::env::var("SECRET").expect("planted by the test"))?;
    let urgent = 1_u64 << (SIGURG - 1);
    quiet(numbers::RT_SIGPROCMASK, [0, address(&urgent), 0, 8])?;
    let name = terminated("secret");
    let descriptor = call(numbers::MEMFD_CREATE, [name.as_ptr() as i64, 1])?;
    let mut file = unsafe { File::from_raw_fd(descriptor as i32) };
    file.write_all(secret.as_bytes())?;
    println!("{} {} {}", secret.as_ptr() as usize, file.into_raw_fd(), queue.unwrap_or(-1));
    for line in io::stdin().lock().lines() {
        line?;
        let pending = [0_u64];
        quiet(numbers::RT_SIGPENDING, [address(&pending), 8])?;
        let pending = std::hint::black_box(pending)[0];
        println!("{}", if pending & urgent == 0 { "alive" } else { "urgent" });
    }
    // IPC_RMID: the queue would outlive this process.
    queue.map_or_else(|| Ok(String::new()), |queue| quiet(numbers::MSGCTL, [queue, 0, 0]))
}
