//! Other code and other processes: executing files of the machine, dropped files, files without a path;
//! forking.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::FromRawFd;
use std::os::unix::fs::PermissionsExt;

use crate::Arguments;
use crate::numbers;
use crate::system::{address, call, number, old, quiet, terminated};

pub(crate) fn attempt(name: &str, argument: Arguments<'_>) -> Option<io::Result<String>> {
    Some(match name {
        "shell" => execute(argument(0), &["sh", "-c", "echo done"]),
        "set-user" => execute(argument(0), &["escape", "other-user"]),
        "other-user" => other_user(),
        "drop-and-execute" => drop_and_execute(argument(0)),
        "memory-file" => memory_file(),
        "secret-memory" => quiet(numbers::MEMFD_SECRET, [0]),
        "become-root" => call(numbers::SETGID, [0]).and_then(|_| quiet(numbers::SETUID, [0])),
        // A child in a user namespace of its own (CLONE_NEWUSER).
        "clone-user" => match call(numbers::CLONE, [0x1000_0000 | SIGCHLD, 0, 0, 0, 0]) {
            Ok(0) => exit(0),
            other => other.and_then(wait),
        },
        "second-exec" => second_exec(number(argument(0))),
        "nothing" => Ok(String::new()),
        "fork" => fork(|| 0).and_then(wait),
        // Every copy continues like the first one.
        "fork-endlessly" => loop {
            let _ = old(&numbers::FORK, &[]);
        },
        "clone3" => clone3(),
        "daemon" => daemon(),
        _ => return None,
    })
}

const SIGCHLD: i64 = 17;

/// Returns only the error. The executed program reports success.
fn execute(path: &str, arguments: &[&str]) -> io::Result<String> {
    let path = terminated(path);
    let arguments: Vec<Vec<u8>> = arguments.iter().map(|text| terminated(text)).collect();
    let mut pointers: Vec<i64> = arguments.iter().map(|text| text.as_ptr() as i64).collect();
    pointers.push(0);
    quiet(numbers::EXECVE, [path.as_ptr() as i64, pointers.as_ptr() as i64, address(&0_i64)])
}

fn other_user() -> io::Result<String> {
    let (real, effective) = (call::<0>(numbers::GETUID, [])?, call::<0>(numbers::GETEUID, [])?);
    if real == effective {
        return Err(io::Error::from_raw_os_error(1));
    }
    Ok(format!("{real} {effective}"))
}

/// Writes 5 bytes that follow the code to standard output, and exits with 0.
#[cfg(target_arch = "x86_64")]
const CODE: &[u8] = b"\xb8\x01\0\0\0\xbf\x01\0\0\0\x48\x8d\x35\x10\0\0\0\xba\x05\0\0\0\x0f\x05\xb8\x3c\0\0\0\x31\xff\x0f\x05done\n";
#[cfg(target_arch = "aarch64")]
const CODE: &[u8] = b"\x20\0\x80\xd2\xe1\0\0\x10\xa2\0\x80\xd2\x08\x08\x80\xd2\x01\0\0\xd4\0\0\x80\xd2\xa8\x0b\x80\xd2\x01\0\0\xd4done\n";

/// The machine in an executable's header (elf(5)): EM_X86_64 or EM_AARCH64.
const MACHINE: u8 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

/// A program that prints `done`: header, one segment, code and text. The segment is at a multiple of every page size.
fn image() -> Vec<u8> {
    let base: u64 = 0x40_0000;
    let length = 120 + CODE.len() as u64;
    let mut image = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0".to_vec();
    image.extend([MACHINE, 0, 1, 0, 0, 0]);
    for word in [base + 120, 64, 0] {
        image.extend(word.to_le_bytes());
    }
    image.extend(b"\0\0\0\0\x40\0\x38\0\x01\0\0\0\0\0\0\0");
    image.extend(b"\x01\0\0\0\x05\0\0\0");
    for word in [0, base, base, length, length, 0x1_0000] {
        image.extend(word.to_le_bytes());
    }
    image.extend(CODE);
    image
}

fn drop_and_execute(path: &str) -> io::Result<String> {
    fs::write(path, image())?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    execute(path, &["dropped"])
}

/// Executes a file without a path.
fn memory_file() -> io::Result<String> {
    let name = terminated("image");
    let descriptor = call(numbers::MEMFD_CREATE, [name.as_ptr() as i64, 0])?;
    unsafe { File::from_raw_fd(descriptor as i32) }.write_all(&image()).map(|()| String::new())?;
    // The file is closed now. A second one stays open while it is executed, but not for writing.
    let descriptor = call(numbers::MEMFD_CREATE, [name.as_ptr() as i64, 1])?;
    call(numbers::WRITE, [descriptor, image().as_ptr() as i64, image().len() as i64])?;
    let arguments = [name.as_ptr() as i64, 0];
    quiet(numbers::EXECVEAT, [descriptor, terminated("").as_ptr() as i64, address(&arguments), address(&0_i64), 0x1000])
}

/// Executes its own file again: by path (0), or by the descriptor of its own exec.
fn second_exec(descriptor: i64) -> io::Result<String> {
    let own = terminated(&std::env::args().next().unwrap_or_default());
    let nothing = terminated("nothing");
    let (path, flags): (&[u8], i64) = if descriptor == 0 { (&own, 0) } else { (b"\0", 0x1000) };
    let arguments = [own.as_ptr() as i64, nothing.as_ptr() as i64, 0];
    quiet(numbers::EXECVEAT, [descriptor, path.as_ptr() as i64, address(&arguments), address(&0_i64), flags])
}

/// Forks a child that exits with the function's result.
fn fork(child: impl FnOnce() -> i32) -> io::Result<i64> {
    match old(&numbers::FORK, &[])? {
        0 => exit(child()),
        number => Ok(number),
    }
}

fn exit(code: i32) -> ! {
    let _ = call(numbers::EXIT_GROUP, [i64::from(code)]);
    unreachable!("exit_group does not return")
}

fn wait(child: i64) -> io::Result<String> {
    let status = [0_i32];
    call(numbers::WAIT4, [child, address(&status), 0, 0])?;
    if status[0] == 0 { Ok(String::new()) } else { Err(io::Error::from_raw_os_error(status[0] >> 8)) }
}

/// Like fork, with the arguments in memory (`struct clone_args`; SIGCHLD at its end).
fn clone3() -> io::Result<String> {
    let mut arguments = [0_i64; 11];
    arguments[4] = 17;
    match call(numbers::CLONE3, [address(&arguments), 88])? {
        0 => exit(0),
        child => wait(child),
    }
}

/// Leaves the session and every group with a double fork, and stays for at most half a minute.
fn daemon() -> io::Result<String> {
    let child = fork(|| {
        if let Err(error) = call::<0>(numbers::SETSID, []) {
            return error.raw_os_error().unwrap_or(1);
        }
        let grandchild = fork(|| {
            let _ = call(numbers::CLOSE_RANGE, [0, i64::from(u32::MAX), 0]);
            let half_a_minute = [30_i64, 0];
            let _ = call(numbers::PPOLL, [0, 0, address(&half_a_minute), 0]);
            0
        });
        grandchild.map_or(1, |_| 0)
    })?;
    wait(child)
}
