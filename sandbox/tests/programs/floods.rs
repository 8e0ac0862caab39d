//! `floods NAME [ARGUMENT]`: takes too much of something that is shared. Prints what it got.
//!
//! Compiled by the tests for musl, without dependencies. The tests judge the result.

mod numbers;

unsafe extern "C" {
    fn syscall(number: i64, ...) -> i64;
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments[1].as_str() {
        "refused" => refused(),
        other => panic!("no flood is named {other}"),
    }
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
