//! System calls by number, without a library between an attempt and the kernel.

use std::io;

use crate::numbers;

unsafe extern "C" {
    fn syscall(number: i64, ...) -> i64;
}

/// Arguments are numbers, or addresses that stay valid during the call.
pub(crate) fn call<const COUNT: usize>(number: i64, arguments: [i64; COUNT]) -> io::Result<i64> {
    let mut all = [0; 6];
    all[..COUNT].copy_from_slice(&arguments);
    let [a, b, c, d, e, f] = all;
    match unsafe { syscall(number, a, b, c, d, e, f) } {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

/// Like [`call`], without the value.
pub(crate) fn quiet<const COUNT: usize>(number: i64, arguments: [i64; COUNT]) -> io::Result<String> {
    call(number, arguments).map(|_| String::new())
}

/// A call that arm64 has in another form.
pub(crate) fn old(form: &numbers::Form, arguments: &[i64]) -> io::Result<i64> {
    call(form.number, form.arguments(arguments))
}

pub(crate) fn terminated(text: &str) -> Vec<u8> {
    text.bytes().chain([0]).collect()
}

pub(crate) fn address<T>(of: &T) -> i64 {
    std::ptr::from_ref(of) as i64
}

pub(crate) fn number(text: &str) -> i64 {
    text.parse().expect("a number")
}
