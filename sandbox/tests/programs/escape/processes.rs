//! Other processes: their memory, environment, descriptors and limits, and signals to them.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

use crate::Arguments;
use crate::numbers;
use crate::system::{address, call, number, quiet};

const SIGUSR1: i64 = 10;
/// Ignored by default, so it is harmless.
const SIGURG: i64 = 23;

pub(crate) fn attempt(name: &str, argument: Arguments<'_>) -> Option<io::Result<String>> {
    let process = || number(argument(0));
    Some(match name {
        // PTRACE_SEIZE does not stop the victim, and ends with this process.
        "ptrace" => quiet(numbers::PTRACE, [0x4206, process(), 0, 0]),
        "read-memory" => read_memory(process(), number(argument(1)), number(argument(2))),
        "take-descriptor" => take_descriptor(process(), number(argument(1)), number(argument(2))),
        "read-environment" => read_environment(process()),
        "read-memory-file" => read_memory_file(process(), number(argument(1)), number(argument(2))),
        "kill" => quiet(numbers::KILL, [process(), SIGUSR1]),
        "kill-all" => quiet(numbers::KILL, [-1, SIGURG]),
        "kill-thread" => quiet(numbers::TGKILL, [process(), process(), SIGUSR1]),
        "queue-signal" => {
            // `struct siginfo` with a code that claims that it was queued (SI_QUEUE).
            let mut information = [0_i32; 32];
            information[0] = SIGUSR1 as i32;
            information[2] = -1;
            quiet(numbers::RT_TGSIGQUEUEINFO, [process(), process(), SIGUSR1, address(&information)])
        }
        "own-descriptor" => own_descriptor(process()),
        "take-message" => take_message(process()),
        "attack-parent" => attack_parent(),
        "host-name" => host_name(argument(0)),
        "renamed" => renamed(argument(0)),
        "limit" => {
            let limit = [0_u64; 2];
            quiet(numbers::PRLIMIT64, [process(), 7, 0, address(&limit)])
        }
        _ => return None,
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace(['\0', '\n'], " ")
}

fn read_memory(process: i64, from: i64, length: i64) -> io::Result<String> {
    let mut buffer = vec![0_u8; length as usize];
    let (local, remote) = ([buffer.as_mut_ptr() as i64, length], [from, length]);
    call(numbers::PROCESS_VM_READV, [process, address(&local), 1, address(&remote), 1, 0])?;
    Ok(text(&buffer))
}

fn take_descriptor(process: i64, descriptor: i64, length: i64) -> io::Result<String> {
    let victim = call(numbers::PIDFD_OPEN, [process, 0])?;
    let taken = call(numbers::PIDFD_GETFD, [victim, descriptor, 0])?;
    let mut buffer = vec![0_u8; length as usize];
    call(numbers::PREAD64, [taken, buffer.as_mut_ptr() as i64, length, 0])?;
    Ok(text(&buffer))
}

fn read_environment(process: i64) -> io::Result<String> {
    fs::read(format!("/proc/{process}/environ")).map(|bytes| text(&bytes))
}

fn read_memory_file(process: i64, from: i64, length: i64) -> io::Result<String> {
    let memory = File::options().read(true).write(true).open(format!("/proc/{process}/mem"))?;
    let mut buffer = vec![0_u8; length as usize];
    memory.read_exact_at(&mut buffer, from as u64)?;
    Ok(text(&buffer))
}

const F_SETFL: i64 = 4;
const F_SETOWN: i64 = 8;
const O_ASYNC: i64 = 0x2000;

/// Makes the kernel send SIGIO to the process that it sets as the owner of a pipe.
fn own_descriptor(process: i64) -> io::Result<String> {
    call(numbers::FCNTL, [1, F_SETOWN, process])?;
    call(numbers::FCNTL, [1, F_SETOWN, 0])?;
    let ends = [0_i32; 2];
    call(numbers::PIPE2, [address(&ends), 0])?;
    let [reader, writer] = ends.map(i64::from);
    call(numbers::FCNTL, [reader, F_SETOWN, process])?;
    call(numbers::FCNTL, [reader, F_SETFL, O_ASYNC])?;
    quiet(numbers::WRITE, [writer, b"x".as_ptr() as i64, 1])
}

/// Sends signals and sets limits for the parent and the first process; then exits with a code that nothing
/// else uses.
fn attack_parent() -> io::Result<String> {
    let parent = call::<0>(numbers::GETPPID, []).unwrap_or(1);
    for target in [parent, 1] {
        for signal in [19, 15, 11, 9] {
            let mut information = [0_i32; 32];
            information[0] = signal as i32;
            information[2] = -1;
            let _ = call(numbers::KILL, [target, signal]);
            let _ = call(numbers::TGKILL, [target, target, signal]);
            let _ = call(numbers::TKILL, [target, signal]);
            let _ = call(numbers::RT_SIGQUEUEINFO, [target, signal, address(&information)]);
        }
        let limit = [0_u64, 0];
        let _ = call(numbers::PRLIMIT64, [target, 7, address(&limit), 0]);
    }
    std::process::exit(7)
}

/// Compares the name of the machine with the host's (`struct utsname` of uname(2): the second of six texts).
fn host_name(expected: &str) -> io::Result<String> {
    let names = std::hint::black_box([[0_u8; 65]; 6]);
    call(numbers::UNAME, [address(&names)])?;
    let name = String::from_utf8_lossy(&std::hint::black_box(names)[1]).trim_end_matches('\0').to_owned();
    if name == expected { Ok(name) } else { Err(io::Error::from_raw_os_error(EPERM)) }
}

const EPERM: i32 = 1;
const PR_SET_NAME: i64 = 15;

/// Reads a file under the name of the process that supervises it.
fn renamed(path: &str) -> io::Result<String> {
    let name = b"toolsmith-sandb\0";
    call(numbers::PRCTL, [PR_SET_NAME, name.as_ptr() as i64])?;
    fs::read(path).map(|bytes| text(&bytes))
}

/// Does not wait for a message (IPC_NOWAIT).
fn take_message(queue: i64) -> io::Result<String> {
    let mut message = [0_u8; 128];
    let length = call(numbers::MSGRCV, [queue, message.as_mut_ptr() as i64, 120, 0, 0o4000])?;
    Ok(text(&message[8..8 + length as usize]))
}
