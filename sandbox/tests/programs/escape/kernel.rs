//! Kernel interfaces that have been used to escape sandboxes or bypass filters.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use crate::Arguments;
use crate::numbers;
use crate::system::{address, call, number, quiet, terminated};

const NEW_USER: i64 = 0x1000_0000;
const NEW_MOUNTS: i64 = 0x2_0000;

pub(crate) fn attempt(name: &str, argument: Arguments<'_>) -> Option<io::Result<String>> {
    Some(match name {
        "io-uring" => {
            let parameters = std::hint::black_box([0_u8; 120]);
            quiet(numbers::IO_URING_SETUP, [4, address(&parameters)])
        }
        // Only for faults of this process (UFFD_USER_MODE_ONLY), which needs no privilege.
        "page-faults" => quiet(numbers::USERFAULTFD, [1]),
        "bpf" => {
            // An array of one element with keys and values of 4 bytes.
            let attributes = [2_u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0];
            quiet(numbers::BPF, [0, address(&attributes), 48])
        }
        "add-key" => {
            let (kind, name) = (terminated("user"), terminated("escape"));
            quiet(numbers::ADD_KEY, [kind.as_ptr() as i64, name.as_ptr() as i64, b"x".as_ptr() as i64, 1, -2])
        }
        "measure" => {
            // Processor time of this process alone: type, size, configuration, …, exclusions.
            let attributes = [1_u64 | 64 << 32, 0, 0, 0, 0, 0x60, 0, 0];
            quiet(numbers::PERF_EVENT_OPEN, [address(&attributes), 0, -1, -1, 0])
        }
        "unshare" => quiet(numbers::UNSHARE, [NEW_USER]),
        "splice" => quiet(numbers::SPLICE, [number(argument(0)), 0, 1, 0, 5, SPLICE_F_NONBLOCK]),
        "tee" => tee(),
        "vmsplice" => {
            let text = "done ";
            let part = [text.as_ptr() as i64, text.len() as i64];
            quiet(numbers::VMSPLICE, [1, address(&part), 1, 0])
        }
        "send-file" => send_file(argument(0)),
        // A lock of its own whose holder inherits priority (FUTEX_LOCK_PI).
        "inherit-priority" => {
            let lock = std::hint::black_box([0_u32; 2]);
            quiet(numbers::FUTEX, [address(&lock), 6, 0, 0])
        }
        // On the processor time of this process; without an event.
        "processor-timer" => {
            let (nothing, timer) = ([0_i64, 1 << 32, 0, 0, 0, 0, 0, 0], std::hint::black_box([0_i64]));
            quiet(numbers::TIMER_CREATE, [2, address(&nothing), address(&timer)])
        }
        "mount" => mount(argument(0)),
        "change-root" => change_root(argument(0)),
        "type-ahead" => type_ahead(number(argument(0))),
        #[cfg(target_arch = "x86_64")]
        "old-interface" => old_interface(),
        // `getpid` of the x32 interface, which few kernels have.
        #[cfg(target_arch = "x86_64")]
        "x32-interface" => quiet(0x4000_0000 + 39, [0]),
        // Makes refused calls repeatedly, in several threads at a time.
        "insist" => insist(number(argument(0))),
        "raw" => quiet(number(argument(0)), [-1, -1, -1, -1, -1, -1]),
        _ => return None,
    })
}

/// Mounts a file system in memory over a folder, in its own mount namespace, so that the host is unaffected.
fn mount(folder: &str) -> io::Result<String> {
    let folder = terminated(folder);
    let (none, unknown, memory) = (terminated("none"), terminated("no-such-thing"), terminated("tmpfs"));
    let mount = |target: &[u8], kind: &[u8], flags: i64| {
        call(numbers::MOUNT, [none.as_ptr() as i64, target.as_ptr() as i64, kind.as_ptr() as i64, flags, 0])
    };
    // Always fails, and shows whether the call is known at all.
    let _ = mount(&folder, &unknown, 0);
    call(numbers::UNSHARE, [NEW_MOUNTS]).or_else(|_| call(numbers::UNSHARE, [NEW_USER | NEW_MOUNTS]))?;
    // Makes all mounts private, so that none is visible elsewhere.
    mount(&terminated("/"), &none, 0x4_4000)?;
    mount(&folder, &memory, 0).map(|_| String::new())
}

fn change_root(folder: &str) -> io::Result<String> {
    let folder = terminated(folder);
    let change = || quiet(numbers::CHROOT, [folder.as_ptr() as i64]);
    change().or_else(|_| {
        call(numbers::UNSHARE, [NEW_USER])?;
        change()
    })
}

const SPLICE_F_NONBLOCK: i64 = 2;

/// Passes a file to its standard output.
fn send_file(path: &str) -> io::Result<String> {
    let file = File::open(path)?;
    quiet(numbers::SENDFILE, [1, i64::from(file.as_raw_fd()), 0, 8])
}

/// From a pipe of its own to another, or between those that it was started with if it gets none.
fn tee() -> io::Result<String> {
    let pipe = || {
        let ends = std::hint::black_box([0_i32; 2]);
        call(numbers::PIPE2, [address(&ends), 0]).map(|_| std::hint::black_box(ends).map(i64::from))
    };
    let (from, to) = match (pipe(), pipe()) {
        (Ok([from, filled]), Ok([_, to])) => {
            call(numbers::WRITE, [filled, b"x".as_ptr() as i64, 1])?;
            (from, to)
        }
        _ => (0, 1),
    };
    quiet(numbers::TEE, [from, to, 1, SPLICE_F_NONBLOCK])
}

const TIOCSCTTY: i64 = 0x540e;
const TIOCSTI: i64 = 0x5412;

/// Types a line into a terminal, for its next reader.
fn type_ahead(terminal: i64) -> io::Result<String> {
    // Only a session leader may take a terminal. Fails if this process leads one already, which is fine.
    let _ = call::<0>(numbers::SETSID, []);
    let taken = call(numbers::IOCTL, [terminal, TIOCSCTTY, 0]);
    quiet(numbers::IOCTL, [terminal, TIOCSTI, b"\n".as_ptr() as i64]).map_err(|error| taken.err().unwrap_or(error))
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

fn insist(times: i64) -> io::Result<String> {
    let refused = || (0..times).filter(|_| call(numbers::SOCKET, [2, 1, 0]).is_err()).count();
    let counts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(refused)).collect();
        threads.into_iter().map(|thread| thread.join().expect("it only counts")).sum::<usize>()
    });
    Ok(counts.to_string())
}
