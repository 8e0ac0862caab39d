//! A helper that ends when it waits for its policy, as its name says. On demand, it is the helper beside it.

use std::env::{args_os, current_exe};
use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, exit};

fn main() {
    let mut arguments = args_os();
    let name = arguments.next().unwrap();
    let arguments: Vec<_> = arguments.collect();
    let program = current_exe().unwrap();
    // A helper that waits does not know its command.
    if !arguments.is_empty()
        || !name.to_str().is_some_and(|name| name.ends_with(":ahead") || name.ends_with(":confine"))
    {
        let helper = program.with_file_name("helper");
        panic!("{}", Command::new(helper).arg0(name).args(arguments).exec());
    }
    // SAFETY: nothing else uses standard input.
    let mut input = unsafe { File::from_raw_fd(0) };
    let mut length = [0; 4];
    match program.file_name().unwrap().to_str().unwrap() {
        "ends-before-it-reads" => {
            // The socket closes, and the process is still there.
            drop(input);
            loop {
                std::thread::park();
            }
        }
        "ends-while-it-reads" => input.read_exact(&mut length).unwrap(),
        "ends-after-it-has-read" => {
            input.read_exact(&mut length).unwrap();
            let mut policy = vec![0; u32::from_le_bytes(length) as usize];
            input.read_exact(&mut policy).unwrap();
        }
        other => panic!("no helper is called {other}"),
    }
    exit(1);
}
