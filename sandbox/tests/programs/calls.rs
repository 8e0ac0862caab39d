//! `calls ENTRY FIRST LAST`: makes each system call in this range, with -1 for every argument, through one of
//! the three kernel entries (`native`, `x32`, `i386`). Prints a line `NUMBER ERRNO` after each, with 0 for
//! success.
//!
//! Compiled by the tests for musl, without dependencies. A call that ends the process has no line.

use std::arch::asm;
use std::io::Write;

fn native(number: i64) -> i64 {
    let result: i64;
    unsafe {
        asm!("syscall", inlateout("rax") number => result, in("rdi") -1_i64, in("rsi") -1_i64, in("rdx") -1_i64,
            in("r10") -1_i64, in("r8") -1_i64, in("r9") -1_i64, out("rcx") _, out("r11") _)
    };
    result
}

/// The 32-bit entry. Its first argument is in a register that the compiler reserves.
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
            "x32" => native(0x4000_0000 + call),
            "i386" => i386(call),
            _ => native(call),
        };
        let line = format!("{call} {}\n", if result < 0 { -result } else { 0 });
        // One write per line, because the next call may end the process.
        std::io::stdout().write_all(line.as_bytes()).unwrap();
    }
}
