//! `escape NAME [ARGUMENT…]`: tries one way out. Prints `done` and exits with 0 if it worked, or `errno N`
//! and 1 if it was refused.
//!
//! Compiled by the tests for musl, without dependencies. The tests judge the result. `victim` is the target
//! of attacks.

mod code;
mod kernel;
#[path = "../numbers.rs"]
mod numbers;
mod paths;
mod processes;
mod resources;
mod sockets;
mod system;
mod victim;

use std::io;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let arguments: Vec<String> = arguments.collect();
    let argument = |index: usize| arguments.get(index).map_or("", String::as_str);
    match attempt(&name, &argument) {
        Ok(detail) => println!("done {detail}"),
        Err(error) => {
            println!("errno {} {error}", error.raw_os_error().unwrap_or(0));
            std::process::exit(1);
        }
    }
}

/// The arguments by index. A missing one is empty.
type Arguments<'a> = &'a dyn Fn(usize) -> &'a str;

fn attempt<'a>(name: &str, argument: Arguments<'a>) -> io::Result<String> {
    let families = [
        paths::attempt,
        sockets::attempt,
        processes::attempt,
        code::attempt,
        kernel::attempt,
        resources::attempt,
        victim::attempt,
    ];
    let tried = families.into_iter().find_map(|family| family(name, argument));
    tried.unwrap_or_else(|| Err(io::Error::other(format!("no attempt is named {name}"))))
}
