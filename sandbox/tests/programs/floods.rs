//! `floods NAME [ARGUMENT]`: takes too much of something that is shared. Prints what it got.
//!
//! Compiled by the tests for musl, without dependencies. The tests judge the result.

use std::arch::asm;
use std::io::{self, Write as _};

mod numbers;

unsafe extern "C" {
    fn syscall(number: i64, ...) -> i64;
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = arguments.get(2).and_then(|argument| argument.parse().ok()).unwrap_or(0);
    match arguments[1].as_str() {
        "threads" => threads(number),
        "clones" => clones(number),
        "refused" => refused(),
        other => panic!("no flood is named {other}"),
    }
}

/// Reports, and waits to be ended.
fn report(text: &str) -> ! {
    println!("{text}");
    let _ = io::stdout().flush();
    loop {
        std::thread::park();
    }
}

/// Threads that do nothing.
fn threads(count: u64) {
    for _ in 0..count {
        std::thread::Builder::new().stack_size(16 << 10).spawn(std::thread::park).expect("a thread");
    }
    report("ready");
}

/// Threads without a stack or any memory of their own: each takes only its number.
fn clones(count: u64) {
    let started = (0..count).take_while(|_| clone_without_stack() > 0).count();
    report(&format!("{started}"));
}

/// CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND, CLONE_THREAD and CLONE_SYSVSEM.
const THREAD: u64 = 0x5_0f00;

/// Starts a thread that waits forever in ppoll(2). It shares the stack of this one, and does not touch it.
#[cfg(target_arch = "x86_64")]
fn clone_without_stack() -> i64 {
    let result: i64;
    unsafe {
        asm!(
            "syscall", "test rax, rax", "jnz 3f",
            "2:", "mov eax, 271", "xor edi, edi", "xor esi, esi", "xor edx, edx", "xor r10d, r10d", "syscall", "jmp 2b",
            "3:",
            inlateout("rax") 56_i64 => result, inlateout("rdi") THREAD => _, inlateout("rsi") 0 => _,
            inlateout("rdx") 0 => _, inlateout("r10") 0 => _, in("r8") 0, out("rcx") _, out("r11") _,
        );
    }
    result
}

#[cfg(target_arch = "aarch64")]
fn clone_without_stack() -> i64 {
    let result: i64;
    unsafe {
        asm!(
            "svc 0", "cbnz x0, 3f",
            "2:", "mov x8, 73", "mov x0, 0", "mov x1, 0", "mov x2, 0", "mov x3, 0", "svc 0", "b 2b",
            "3:",
            inlateout("x0") THREAD => result, in("x1") 0, in("x2") 0, in("x3") 0, in("x4") 0, in("x8") 220,
        );
    }
    result
}

/// Makes refused calls until it is ended, or until its limit of processor time is lower than at first.
fn refused() {
    let first = limit_of_time();
    while limit_of_time() >= first {
        for _ in 0..1000 {
            unsafe { syscall(numbers::SOCKET, 2, 1, 0) };
        }
    }
    println!("{first} {} {}", limit_of_time(), microseconds_used());
}

/// The processor time of this process (CLOCK_PROCESS_CPUTIME_ID).
fn microseconds_used() -> i64 {
    let mut time = [0_i64; 2];
    assert_eq!(unsafe { syscall(numbers::CLOCK_GETTIME, 2, time.as_mut_ptr()) }, 0);
    time[0] * 1_000_000 + time[1] / 1000
}

/// RLIMIT_CPU, in seconds.
fn limit_of_time() -> u64 {
    let mut limit = [0_u64; 2];
    assert_eq!(unsafe { syscall(numbers::PRLIMIT64, 0, 0, 0, limit.as_mut_ptr()) }, 0);
    limit[0]
}
