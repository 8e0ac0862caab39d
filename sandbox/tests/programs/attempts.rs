//! `attempts NAME [ARGUMENT]`: tries one operation. Prints `done` and exits with 0 if it worked, or `errno N`
//! and 1 if it was refused.
//!
//! Compiled by the tests for musl, without dependencies. The tests judge the result.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::FromRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::process::Command;

mod numbers;

unsafe extern "C" {
    fn syscall(number: i64, ...) -> i64;
}

fn call(number: i64, a: i64, b: i64, c: i64, d: i64, e: i64) -> io::Result<i64> {
    match unsafe { syscall(number, a, b, c, d, e) } {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

/// A call that arm64 has in another form.
fn old(form: &numbers::Form, arguments: &[i64]) -> io::Result<i64> {
    let [a, b, c, d, e, _] = form.arguments(arguments);
    call(form.number, a, b, c, d, e)
}

fn pointer(text: &[u8]) -> i64 {
    assert_eq!(text.last(), Some(&0));
    text.as_ptr() as i64
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let name = arguments[1].as_str();
    let argument = arguments.get(2).cloned().unwrap_or_default();
    match attempt(name, &argument) {
        Ok(detail) => println!("done {detail}"),
        Err(error) => {
            println!("errno {} {error}", error.raw_os_error().unwrap_or(0));
            std::process::exit(1);
        }
    }
}

fn attempt(name: &str, argument: &str) -> io::Result<String> {
    match name {
        "nothing" => Ok(String::new()),
        "arguments" => Ok(format!("{argument} {}", std::env::vars_os().count())),
        "environment" => Ok(std::env::vars().map(|(name, value)| format!("{name}={value};")).collect()),
        "read" => fs::read(argument).map(|bytes| bytes.len().to_string()),
        "read-openat2" => openat2(argument),
        "list" => fs::read_dir(argument).map(|entries| entries.count().to_string()),
        "stat" => fs::metadata(argument).map(|status| status.len().to_string()),
        "create" => fs::write(argument, "x").map(drop).map(|()| String::new()),
        "truncate" => call(numbers::TRUNCATE, pointer(&terminated(argument)), 0, 0, 0, 0).map(|_| String::new()),
        "chmod" => old(&numbers::CHMOD, &[pointer(&terminated(argument)), 0o600]).map(|_| String::new()),
        "touch" => call(numbers::UTIMENSAT, -100, pointer(&terminated(argument)), 0, 0, 0).map(|_| String::new()),
        "copy" => copy(argument),
        "remove" => fs::remove_file(argument).map(|()| String::new()),
        "symlink" => std::os::unix::fs::symlink("/etc/passwd", argument).map(|()| String::new()),
        "tcp" => TcpStream::connect(argument).map(|_| String::new()),
        "udp" => UdpSocket::bind("127.0.0.1:0")?.send_to(b"x", argument).map(|sent| sent.to_string()),
        "unix" => UnixStream::connect(argument).map(|_| String::new()),
        "abstract" => {
            UnixStream::connect_addr(&SocketAddr::from_abstract_name(argument)?).map(|_| String::new())
        }
        "socketpair" => UnixStream::pair().map(|_| String::new()),
        "datagram-pair" => std::os::unix::net::UnixDatagram::pair().map(|_| String::new()),
        "execute" => Command::new(argument).arg("-c").arg("true").status().map(|status| status.to_string()),
        _ => process_attempt(name, argument),
    }
}

fn process_attempt(name: &str, argument: &str) -> io::Result<String> {
    let number = argument.parse().unwrap_or(0);
    let quiet = |result: io::Result<i64>| result.map(|_| String::new());
    match name {
        "fork" => fork(),
        "kill" => quiet(call(numbers::KILL, number, 0, 0, 0, 0)),
        "tgkill" => quiet(call(numbers::TGKILL, number, number, 0, 0, 0)),
        "tkill" => quiet(call(numbers::TKILL, number, 0, 0, 0, 0)),
        "set-owner" => quiet(call(numbers::FCNTL, 1, 8, number, 0, 0)),
        "prlimit" => {
            let mut limit = [0_u64; 2];
            quiet(call(numbers::PRLIMIT64, number, 7, 0, limit.as_mut_ptr() as i64, 0))
        }
        "raise-limit" => {
            let mut limit = [0_u64; 2];
            call(numbers::PRLIMIT64, 0, 7, 0, limit.as_mut_ptr() as i64, 0)?;
            quiet(call(numbers::PRLIMIT64, 0, 7, limit.as_ptr() as i64, 0, 0))
        }
        "ptrace" => quiet(call(numbers::PTRACE, 0, 0, 0, 0, 0)),
        "read-memory" => read_memory(),
        "unshare" => quiet(call(numbers::UNSHARE, 0x200, 0, 0, 0, 0)),
        "personality" => quiet(call(numbers::PERSONALITY, 0xffff_ffff, 0, 0, 0, 0)),
        "keyring" => quiet(call(numbers::KEYCTL, 0, -3, 0, 0, 0)),
        // Its own new group, although it leads no session.
        "setpgid" => quiet(call(numbers::SETPGID, 0, 0, 0, 0, 0)),
        "daemon" => daemon(),
        "memfd" => memfd_execute(),
        "execute-self" => execute_self(number),
        "map-low" => quiet(map(0x2_0000, 3, 0x32)),
        // With MREMAP_MAYMOVE and MREMAP_DONTUNMAP, the new address is a hint, which the kernel uses if the
        // address is free.
        "move-low" => {
            let page = map(0, 3, 0x22)?;
            match call(numbers::MREMAP, page, 4096, 4096, 5, 0x2_0000)? {
                0x2_0000 => Ok(String::new()),
                other => Err(io::Error::other(format!("it was mapped at {other:#x}"))),
            }
        }
        "map-growing" => quiet(map(0, 3, 0x122)),
        "map-executable" => quiet(map(0, 7, 0x22)),
        "protect-executable" => {
            let address = map(0, 3, 0x22)?;
            quiet(call(numbers::MPROTECT, address, 4096, 5, 0, 0))
        }
        #[cfg(target_arch = "x86_64")]
        "old-interface" => old_interface(),
        // `getpid` of the x32 interface, which few kernels have.
        #[cfg(target_arch = "x86_64")]
        "x32-interface" => quiet(call(0x4000_0000 + 39, 0, 0, 0, 0, 0)),
        _ => resource_attempt(name, argument),
    }
}

fn resource_attempt(name: &str, argument: &str) -> io::Result<String> {
    let number: usize = argument.parse().unwrap_or(0);
    match name {
        "descriptor" => {
            let mut text = [0_u8; 16];
            let count = call(numbers::READ, number as i64, text.as_mut_ptr() as i64, 16, 0, 0)?;
            Ok(String::from_utf8_lossy(&text[..count as usize]).into_owned())
        }
        "broker" => {
            let mut broker = unsafe { fs::File::from_raw_fd(3) };
            broker.write_all(b"question")?;
            let mut answer = [0; 6];
            broker.read_exact(&mut answer)?;
            Ok(String::from_utf8_lossy(&answer).into_owned())
        }
        "descriptors" => {
            let count = (0..5000).take_while(|_| call(numbers::FCNTL, 1, 1030, 0, 0, 0).is_ok()).count();
            Ok(count.to_string())
        }
        "threads" => {
            let start = || std::thread::Builder::new().stack_size(16 << 10).spawn(std::thread::park);
            Ok((0..number).take_while(|_| start().is_ok()).count().to_string())
        }
        "memory" => {
            let bytes = vec![1_u8; number];
            Ok(std::hint::black_box(&bytes).len().to_string())
        }
        "compute" => loop {
            std::hint::black_box(0);
        },
        "overflow" => std::thread::spawn(|| recurse(1))
            .join()
            .map(|depth| depth.to_string())
            .map_err(|_| io::ErrorKind::Other.into()),
        "panic" => panic!("on purpose"),
        "wait" => {
            println!("waiting");
            loop {
                std::thread::park();
            }
        }
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Writes a file and copies it to standard output, as std does it.
fn copy(path: &str) -> io::Result<String> {
    fs::write(path, "done copied\n")?;
    io::copy(&mut fs::File::open(path)?, &mut io::stdout().lock())?;
    Ok(String::new())
}

fn terminated(text: &str) -> Vec<u8> {
    text.bytes().chain([0]).collect()
}

fn recurse(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 64]);
    if depth == 0 { 0 } else { recurse(depth + 1) + frame[7] }
}

fn map(address: i64, protection: i64, flags: i64) -> io::Result<i64> {
    match unsafe { syscall(numbers::MMAP, address, 4096_i64, protection, flags, -1_i64, 0_i64) } {
        -1 => Err(io::Error::last_os_error()),
        address => Ok(address),
    }
}

fn openat2(path: &str) -> io::Result<String> {
    let how = [0_u64; 3];
    call(numbers::OPENAT2, -100, pointer(&terminated(path)), how.as_ptr() as i64, 24, 0).map(|_| String::new())
}

fn fork() -> io::Result<String> {
    match old(&numbers::FORK, &[])? {
        0 => std::process::exit(0),
        child => call(numbers::WAIT4, child, 0, 0, 0, 0).map(|_| String::new()),
    }
}

/// Leaves the process group.
fn daemon() -> io::Result<String> {
    let mut status = 0_i32;
    match old(&numbers::FORK, &[])? {
        0 => std::process::exit(
            call(numbers::SETSID, 0, 0, 0, 0, 0).err().and_then(|error| error.raw_os_error()).unwrap_or(0),
        ),
        child => call(numbers::WAIT4, child, (&raw mut status) as i64, 0, 0, 0)?,
    };
    if status == 0 { Ok(String::new()) } else { Err(io::Error::from_raw_os_error(status >> 8)) }
}

fn read_memory() -> io::Result<String> {
    let mut buffer = [0_u8; 4];
    let source = *b"same";
    let local = [buffer.as_mut_ptr() as u64, 4];
    let remote = [source.as_ptr() as u64, 4];
    let own = i64::from(std::process::id());
    match unsafe { syscall(numbers::PROCESS_VM_READV, own, local.as_ptr(), 1_i64, remote.as_ptr(), 1_i64, 0_i64) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(String::new()),
    }
}

/// Executes a copy of itself without a path.
fn memfd_execute() -> io::Result<String> {
    let image = call(numbers::MEMFD_CREATE, pointer(b"copy\0"), 0, 0, 0, 0)?;
    unsafe { fs::File::from_raw_fd(image as i32) }.write_all(&fs::read("/proc/self/exe")?)?;
    Ok(String::new())
}

/// Executes its own file again: by path, or by the descriptor of its own exec.
fn execute_self(descriptor: i64) -> io::Result<String> {
    let own = terminated(&std::env::args().next().unwrap_or_default());
    let (path, flags): (&[u8], i64) = if descriptor == 0 { (&own, 0) } else { (b"\0", 0x1000) };
    let arguments = [own.as_ptr(), b"nothing\0".as_ptr(), std::ptr::null()];
    let environment = [std::ptr::null::<u8>()];
    call(numbers::EXECVEAT, descriptor, pointer(path), arguments.as_ptr() as i64, environment.as_ptr() as i64, flags)
        .map(|_| String::new())
}

/// `getpid` through the 32-bit interface, where the numbers mean other calls.
#[cfg(target_arch = "x86_64")]
fn old_interface() -> io::Result<String> {
    let result: i64;
    unsafe {
        std::arch::asm!("int 0x80", inlateout("rax") 20_i64 => result, out("r8") _, out("r9") _, out("r10") _, out("r11") _)
    };
    if result > 0 { Ok(String::new()) } else { Err(io::Error::from_raw_os_error(-result as i32)) }
}
