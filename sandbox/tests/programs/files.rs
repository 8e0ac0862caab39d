//! `files NAME [PATH…]`: operations on files that a program may do, or must not. Prints `done` or `errno N`
//! like `attempts`.
//!
//! Compiled by the tests for musl, without dependencies. The tests judge the result.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

mod numbers;

unsafe extern "C" {
    fn syscall(number: i64, ...) -> i64;
}

fn call<const COUNT: usize>(number: i64, arguments: [i64; COUNT]) -> io::Result<String> {
    value(number, arguments).map(|_| String::new())
}

fn value<const COUNT: usize>(number: i64, arguments: [i64; COUNT]) -> io::Result<i64> {
    let mut all = [0; 6];
    all[..COUNT].copy_from_slice(&arguments);
    let [a, b, c, d, e, f] = all;
    match unsafe { syscall(number, a, b, c, d, e, f) } {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

/// A call that arm64 has in another form.
fn old(form: &numbers::Form, arguments: &[i64]) -> io::Result<String> {
    call(form.number, form.arguments(arguments))
}

#[cfg(target_arch = "x86_64")]
fn symbolic_link(target: i64, path: i64) -> io::Result<String> {
    call(88, [target, path])
}

/// `symlinkat`.
#[cfg(target_arch = "aarch64")]
fn symbolic_link(target: i64, path: i64) -> io::Result<String> {
    call(36, [target, numbers::AT_FDCWD, path])
}

#[cfg(target_arch = "x86_64")]
fn hard_link(file: i64, path: i64) -> io::Result<String> {
    call(86, [file, path])
}

/// `linkat`.
#[cfg(target_arch = "aarch64")]
fn hard_link(file: i64, path: i64) -> io::Result<String> {
    call(37, [numbers::AT_FDCWD, file, numbers::AT_FDCWD, path, 0])
}

#[cfg(target_arch = "x86_64")]
fn create(path: i64, mode: i64) -> io::Result<String> {
    call(85, [path, mode])
}

/// arm64 has no `creat`: with O_CREAT, O_WRONLY and O_TRUNC, `openat` does the same.
#[cfg(target_arch = "aarch64")]
fn create(path: i64, mode: i64) -> io::Result<String> {
    call(numbers::OPENAT, [numbers::AT_FDCWD, path, 0o1101, mode])
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize| arguments.get(index).map_or("", String::as_str);
    match attempt(argument(0), argument(1), argument(2), argument(3)) {
        Ok(detail) => println!("done {detail}"),
        Err(error) => {
            println!("errno {} {error}", error.raw_os_error().unwrap_or(0));
            std::process::exit(1);
        }
    }
}

fn attempt(name: &str, path: &str, second: &str, third: &str) -> io::Result<String> {
    match name {
        "folder" => std::env::current_dir().map(|folder| folder.display().to_string()),
        "read" => fs::read_to_string(path),
        "stat" => fs::metadata(path).map(|status| status.len().to_string()),
        "list" => list(path),
        "create" => fs::write(Path::new(path).join("made"), "made").map(|()| String::new()),
        "truncate" => File::options().write(true).truncate(true).open(path).map(|_| String::new()),
        // The file exists before its content.
        "await" => loop {
            match fs::read_to_string(path) {
                Ok(text) if text.is_empty() => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                done => break done,
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        },
        "rename" => fs::rename(path, second).map(|()| String::new()),
        "make" => fs::create_dir(path).map(|()| String::new()),
        "clear" => clear(Path::new(path)),
        "remove" => fs::remove_file(path).map(|()| String::new()),
        "enter" => std::env::set_current_dir(path).map(|()| String::new()),
        "work" => work(Path::new(path)).map(|()| String::new()),
        "fill" => fill(Path::new(path), second.parse().expect("a count"), third.parse().expect("a size")),
        "move-out" => {
            let path = Path::new(path);
            fs::write(path.join("moved"), "")?;
            let moved = fs::rename(path.join("moved"), path.join("../moved"));
            fs::remove_file(path.join("moved"))?;
            moved.map(|()| String::new())
        }
        "held" => Ok(held()),
        "tcp" => std::net::TcpListener::bind("127.0.0.1:0").map(|_| String::new()),
        "fork" => match value(numbers::FORK.number, numbers::FORK.arguments(&[]))? {
            0 => std::process::exit(0),
            _ => Ok(String::new()),
        },
        "kill-parent" => call(numbers::KILL, [1, 9]),
        _ => in_folder(name, &Path::new(path).join(name)),
    }
}

/// The file types of the descriptors that it inherited.
fn held() -> String {
    let kind = |number: i32| {
        let kind =
            std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(number) }).metadata().ok()?.file_type();
        Some(match (kind.is_fifo(), kind.is_socket()) {
            (true, _) => format!("{number} pipe"),
            (_, true) => format!("{number} socket"),
            _ => format!("{number} {kind:?}"),
        })
    };
    (0..4096).filter_map(kind).collect::<Vec<_>>().join(", ")
}

/// Operations that create a file of their own name.
fn in_folder(name: &str, new: &Path) -> io::Result<String> {
    let path: Vec<u8> = new.as_os_str().as_encoded_bytes().iter().copied().chain([0]).collect();
    let pointer = path.as_ptr() as i64;
    let at = numbers::AT_FDCWD;
    let file = || File::options().create(true).truncate(false).read(true).write(true).open(new);
    match name {
        "execute" => {
            file()?.write_all(b"#!/bin/sh\n")?;
            let nothing = [0_i64];
            call(numbers::EXECVE, [pointer, nothing.as_ptr() as i64, nothing.as_ptr() as i64])
        }
        "map-executable" => {
            let mut file = file()?;
            file.write_all(&[0xc3; 4096])?;
            call(numbers::MMAP, [0, 4096, 5, 2, i64::from(file.as_raw_fd()), 0])
        }
        "symbolic-link" => symbolic_link(c"/etc/passwd".as_ptr() as i64, pointer),
        "hard-link" => {
            file()?;
            hard_link(pointer, c"linked".as_ptr() as i64)
        }
        // A device with the numbers of /dev/mem, and a pipe.
        "device" => old(&numbers::MKNOD, &[pointer, 0o020_600, 0x101]),
        // A whiteout, which remains after a move, is a device.
        "whiteout" => {
            file()?;
            let moved: Vec<u8> = new.with_extension("moved").as_os_str().as_encoded_bytes().to_vec();
            let moved: Vec<u8> = moved.into_iter().chain([0]).collect();
            call(numbers::RENAMEAT2, [at, pointer, at, moved.as_ptr() as i64, 4])
        }
        "lock" => file().and_then(|file| call(numbers::FLOCK, [i64::from(file.as_raw_fd()), 2])),
        "pipe" => old(&numbers::MKNOD, &[pointer, 0o010_600, 0]),
        "socket" => UnixListener::bind(new).map(|_| String::new()),
        "touch" => file().and_then(|_| call(numbers::UTIMENSAT, [at, pointer, 0, 0])),
        "attribute" => {
            file()?;
            call(numbers::SETXATTR, [pointer, c"user.x".as_ptr() as i64, pointer, 1, 0])
        }
        "own" => file().and_then(|_| old(&numbers::CHOWN, &[pointer, 0, 0])),
        "set-user-open" => old(&numbers::OPEN, &[pointer, 0o102, 0o4755]),
        "set-user-openat" => call(numbers::OPENAT, [at, pointer, 0o102, 0o6755]),
        "set-user-temporary" => {
            let folder: Vec<u8> = new
                .parent()
                .expect("a folder")
                .as_os_str()
                .as_encoded_bytes()
                .iter()
                .copied()
                .chain([0])
                .collect();
            call(numbers::OPENAT, [at, folder.as_ptr() as i64, numbers::UNNAMED, 0o4755])
        }
        "set-user-creat" => create(pointer, 0o4755),
        "set-user-mknod" => old(&numbers::MKNOD, &[pointer, 0o104_755, 0]),
        "set-user-mknodat" => call(numbers::MKNODAT, [at, pointer, 0o102_755, 0]),
        "set-user-fchmod" => {
            let file = file()?;
            call(numbers::FCHMOD, [i64::from(file.as_raw_fd()), 0o4755])
        }
        "set-user-chmod" => file().and_then(|_| old(&numbers::CHMOD, &[pointer, 0o4755])),
        "set-user-fchmodat" => file().and_then(|_| call(numbers::FCHMODAT, [at, pointer, 0o4755])),
        "set-user-fchmodat2" => file().and_then(|_| call(numbers::FCHMODAT2, [at, pointer, 0o4755, 0])),
        "set-user-openat2" => {
            let how = [0o102_i64, 0o4755, 0];
            call(numbers::OPENAT2, [at, pointer, how.as_ptr() as i64, 24])
        }
        "set-user-mkdir" => {
            old(&numbers::MKDIR, &[pointer, 0o6755])?;
            use std::os::unix::fs::MetadataExt;
            // The kernel drops these bits from a new folder's mode, except the group bit on some file
            // systems.
            let mode = fs::metadata(new)?.mode();
            fs::remove_dir(new)?;
            if mode & 0o6000 == 0 { Err(io::Error::from_raw_os_error(1)) } else { Ok(format!("{mode:o}")) }
        }
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

fn list(path: &str) -> io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names.join(" "))
}

/// Removes all files of a folder.
fn clear(folder: &Path) -> io::Result<String> {
    for entry in fs::read_dir(folder)? {
        fs::remove_file(entry?.path())?;
    }
    Ok(String::new())
}

/// All usual operations on files in a folder, which is empty again at the end.
fn work(folder: &Path) -> io::Result<()> {
    let (inner, file, copy) = (folder.join("inner"), folder.join("work"), folder.join("inner/copy"));
    fs::create_dir_all(&inner)?;
    fs::write(&file, "written")?;
    let mut open = File::options().read(true).append(true).open(&file)?;
    open.write_all(b" and more")?;
    open.rewind()?;
    let mut text = String::new();
    open.read_to_string(&mut text)?;
    assert_eq!(text, "written and more");
    open.set_len(7)?;
    open.sync_all()?;
    fs::copy(&file, &copy)?;
    fs::rename(&copy, folder.join("renamed"))?;
    assert_eq!(fs::read_to_string(folder.join("renamed"))?, "written");
    assert_eq!(
        fs::read_dir(folder)?.filter_map(Result::ok).filter(|entry| entry.path().starts_with(folder)).count()
            >= 3,
        true
    );
    fs::remove_file(folder.join("renamed"))?;
    fs::remove_file(&file)?;
    fs::remove_dir(&inner)
}

/// Writes files of this size until space runs out, and prints how many bytes were written.
fn fill(folder: &Path, count: u64, each: u64) -> io::Result<String> {
    let mut written = 0;
    let block = [1_u8; 4096];
    for number in 0..count {
        let mut fail = |error: io::Error| {
            println!("errno {} written {written}", error.raw_os_error().unwrap_or(0));
            std::process::exit(1)
        };
        let mut file = File::create(folder.join(number.to_string())).unwrap_or_else(&mut fail);
        for _ in 0..each / 4096 {
            if let Err(error) = file.write_all(&block) {
                println!("errno {} written {written}", error.raw_os_error().unwrap_or(0));
                std::process::exit(1);
            }
            written += 4096;
        }
    }
    Ok(written.to_string())
}
