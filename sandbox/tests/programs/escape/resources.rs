//! Exceeding limits: open descriptors, memory, threads, time, output.

use std::io::{self, Write};

use crate::Arguments;
use crate::numbers;
use crate::system::{address, call, number};

pub(crate) fn attempt(name: &str, argument: Arguments<'_>) -> Option<io::Result<String>> {
    let amount = || number(argument(0));
    Some(match name {
        "open-descriptors" => Ok(open_descriptors()),
        "descriptor" => descriptor(amount()),
        // Only address space: no page is touched.
        "address-space" => call(numbers::MMAP, [0, amount(), 3, 0x4022, -1, 0]).map(|_| String::new()),
        "descriptors" => {
            (0..amount()).try_for_each(|_| call(numbers::FCNTL, [1, 1030, 0]).map(drop)).map(|()| String::new())
        }
        "threads" => threads(amount()),
        "compute" => compute(amount()),
        "compute-and-ignore" => {
            ignore();
            compute(amount())
        }
        "ignore-signals" => ignore_signals(),
        "flood" => flood(),
        _ => return None,
    })
}

fn descriptor(number: i64) -> io::Result<String> {
    let mut text = [0_u8; 64];
    let count = call(numbers::READ, [number, text.as_mut_ptr() as i64, 64])?;
    Ok(String::from_utf8_lossy(&text[..count as usize]).into_owned())
}

fn threads(count: i64) -> io::Result<String> {
    let start = |_| std::thread::Builder::new().stack_size(16 << 10).spawn(std::thread::park).map(drop);
    (0..count).try_for_each(start).map(|()| String::new())
}

/// Runs until this process has used this many milliseconds of processor time. If the host of an emulated machine is
/// slow, the clock leaps, while the kernel counts a single tick against the limit: a leap counts as one tick here too.
fn compute(milliseconds: i64) -> io::Result<String> {
    const TICK: i64 = 10_000_000;
    let time = [0_i64; 2];
    let (mut last, mut used) = (0, 0);
    while used < milliseconds * 1_000_000 {
        for turn in 0..10_000 {
            std::hint::black_box(turn);
        }
        call(numbers::CLOCK_GETTIME, [2, address(&time)])?;
        let [seconds, nanoseconds] = std::hint::black_box(time);
        let now = seconds * 1_000_000_000 + nanoseconds;
        used += (now - last).min(TICK);
        last = now;
    }
    Ok(String::new())
}

unsafe extern "C" {
    fn signal(number: i32, handler: usize) -> usize;
}

/// Ignores every signal that can be ignored.
fn ignore() {
    for number in 1..=64 {
        unsafe { signal(number, 1) };
    }
}

/// Ignores signals, then waits forever.
fn ignore_signals() -> io::Result<String> {
    ignore();
    println!("ready");
    loop {
        std::thread::park();
    }
}

fn flood() -> io::Result<String> {
    let lines = "x".repeat(64 << 10);
    loop {
        io::stdout().write_all(lines.as_bytes())?;
    }
}

/// Finds open descriptors by reading the flags of each number (F_GETFD).
fn open_descriptors() -> String {
    let open = (0..70_000).filter(|number| call(numbers::FCNTL, [*number, 1, 0]).is_ok());
    open.map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}
