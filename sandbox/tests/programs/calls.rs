//! `calls ENTRY FIRST LAST`: makes each system call in this range, with -1 for every argument, through one of
//! the kernel's entries: `native`, and on x86_64 also `x32` and `i386`. Prints a line `NUMBER ERRNO` after each, with 0 for
//! success.
//!
//! Compiled by the tests for musl, without dependencies. A call that ends the process has no line.

use std::arch::asm;
use std::io::Write;

#[cfg(target_arch = "x86_64")]
fn native(number: i64) -> i64 {
    let result: i64;
    unsafe {
        asm!("syscall", inlateout("rax") number => result, in("rdi") -1_i64, in("rsi") -1_i64, in("rdx") -1_i64,
            in("r10") -1_i64, in("r8") -1_i64, in("r9") -1_i64, out("rcx") _, out("r11") _)
    };
    result
}

#[cfg(target_arch = "aarch64")]
fn native(number: i64) -> i64 {
    let result: i64;
    unsafe {
        asm!("svc 0", in("x8") number, inlateout("x0") -1_i64 => result, in("x1") -1_i64, in("x2") -1_i64,
            in("x3") -1_i64, in("x4") -1_i64, in("x5") -1_i64)
    };
    result
}

/// The 32-bit entry. Its first argument is in a register that the compiler reserves.
#[cfg(target_arch = "x86_64")]
fn i386(number: i64) -> i64 {
    let result: i64;
    unsafe {
        asm!("push rbx", "mov rbx, -1", "int 0x80", "pop rbx", inlateout("rax") number => result,
            in("rcx") -1_i64, in("rdx") -1_i64, in("rsi") -1_i64, in("rdi") -1_i64,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _)
    };
    result
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |index: usize| arguments[index].parse::<i64>().unwrap();
    for call in number(2)..=number(3) {
        let result = match arguments[1].as_str() {
            #[cfg(target_arch = "x86_64")]
            "x32" => native(0x4000_0000 + call),
            #[cfg(target_arch = "x86_64")]
            "i386" => i386(call),
            _ => native(call),
        };
        let line = format!("{call} {}\n", if result < 0 { -result } else { 0 });
        // One write per line, because the next call may end the process.
        std::io::stdout().write_all(line.as_bytes()).unwrap();
    }
}
