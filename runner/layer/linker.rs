//! The linker that rustc starts: links a program against the base, or as a whole if that is not possible.
//!
//! It is compiled with the layer and runs confined, between rustc and rust-lld. It changes rustc's own command line, so
//! both ways link the same objects, and errors are those of linking as a whole.
//!
//! Its own options begin with `--base-`; all others are rust-lld's. With `--base-create` it links the base itself.
//!
//! Two things make it fast. rust-lld gets only those symbols of the base that the program's objects name, about a
//! hundred of 20 000. And with `--base-start` this program starts rust-lld, which takes as long to load as it does to
//! link, and then becomes rustc: rust-lld waits for its command line, a named pipe as its response file.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

mod mapping;
mod object_file;

use mapping::Mapping;
use object_file::{Global, Object};

/// Objects of the C library around a program: constructors and destructors, which the base has.
const AROUND: [&str; 4] = ["crti.o", "crtbegin.o", "crtend.o", "crtn.o"];
/// The C library's entry point, which calls `main`: it belongs to the program.
const ENTRY: &str = "crt1.o";
/// The libraries of C that rustc names; the base has what programs use of them.
const C_LIBRARIES: [&str; 2] = ["-lunwind", "-lc"];

/// Beginning of the names of symbols that each object defines weakly for unwinding, all alike.
const UNWINDING: &[u8] = b"DW.ref.";

/// This linker's own options.
#[derive(Default)]
struct Options {
    /// rust-lld.
    linker: OsString,
    /// Whether to link the base.
    create: bool,
    /// The object file with the base's symbols; none to link as a whole.
    symbols: Option<OsString>,
    /// The address of programs.
    address: OsString,
    /// Folders whose libraries are in the base.
    folders: Vec<OsString>,
    /// Names that rust-lld defines itself, for each image.
    own_names: Vec<OsString>,
    /// The pipe of the rust-lld that waits, if there may be one.
    waiting: Option<PathBuf>,
}

/// The option of [`start`].
const START: &str = "--base-start";

fn main() -> ExitCode {
    let mut options = Options::default();
    let mut arguments = Vec::new();
    let mut given = std::env::args_os().skip(1).peekable();
    if given.next_if(|first| first == START).is_some() {
        return start(&given.collect::<Vec<_>>());
    }
    for argument in given {
        if !options.read(&argument) {
            arguments.push(argument);
        }
    }
    let waiting = options.waiting.as_deref().and_then(Waiting::take);
    let whole = if options.create { base(&arguments) } else { arguments };
    if let Some(all) = &options.symbols {
        let mut arguments = program(&whole, &options);
        if let Some(named) = symbols_named(&arguments, all, &options.own_names) {
            arguments.insert(place_of_symbols(&arguments), named.into());
            // Linking as a whole reports what is wrong.
            let linked = waiting.and_then(|waiting| waiting.link(&arguments));
            if linked.unwrap_or_else(|| link(&options.linker, &arguments)) {
                return ExitCode::SUCCESS;
            }
        }
    }
    executed(&options.linker, &whole)
}

/// Becomes another program.
fn executed(program: &OsStr, arguments: &[OsString]) -> ExitCode {
    let error = Command::new(program).args(arguments).exec();
    eprintln!("{} can't be executed: {error}", Path::new(program).display());
    ExitCode::FAILURE
}

/// Links with a new rust-lld, and returns whether that worked.
fn link(linker: &OsStr, arguments: &[OsString]) -> bool {
    let mut linked = Command::new(linker);
    linked.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    linked.status().is_ok_and(|status| status.success())
}

/// Starts the rust-lld that will wait, and becomes rustc. The arguments: rust-lld, the pipe, rustc and its arguments.
///
/// Only for processes in a namespace of their own: if rustc fails before it links, rust-lld still waits, and ends with the
/// namespace (pid_namespaces(7)).
fn start(arguments: &[OsString]) -> ExitCode {
    let [linker, pipe, rustc, arguments @ ..] = arguments else { return ExitCode::FAILURE };
    let mut response = OsString::from("@");
    response.push(pipe);
    // With the machine as an option of its own, rust-lld does not look for it in the response file, which it can read
    // only once.
    let mut waiting = Command::new(linker);
    waiting.args([OsStr::new("-flavor"), "gnu".as_ref(), "-m".as_ref(), MACHINE.as_ref(), &response]);
    // Nobody else has this file locked.
    let lock = File::create(lock_of(Path::new(pipe))).ok().filter(|lock| lock.try_lock().is_ok());
    if let Some(lock) = lock {
        // Without a rust-lld that waits, another one links.
        let _ = waiting.stdin(Stdio::null()).stdout(lock).stderr(Stdio::null()).spawn();
    }
    executed(rustc, arguments)
}

/// rust-lld's name for the machine that this linker runs on, which is the programs' too.
const MACHINE: &str = if cfg!(target_arch = "aarch64") { "aarch64linux" } else { "elf_x86_64" };

/// The file beside the pipe that the waiting rust-lld has locked until it ends (flock(2)).
fn lock_of(pipe: &Path) -> PathBuf {
    pipe.with_extension("lock")
}

/// A rust-lld that waits for its command line.
struct Waiting {
    pipe: File,
    lock: File,
}

/// The maximum length of the command line in bytes: what a pipe takes at once (pipe(7)).
const MAX_COMMAND: usize = 64 << 10;

/// See open(2). The same number on x86-64 and arm64.
const O_NONBLOCK: i32 = 0o4000;

impl Waiting {
    /// Opens the pipe and the lock, if a rust-lld waits, and removes both files: this is the only use.
    fn take(path: &Path) -> Option<Self> {
        let lock = File::open(lock_of(path));
        // Fails if no process reads it (fifo(7)).
        let pipe = OpenOptions::new().write(true).custom_flags(O_NONBLOCK).open(path);
        let _ = fs::remove_file(lock_of(path));
        let _ = fs::remove_file(path);
        Some(Waiting { pipe: pipe.ok()?, lock: lock.ok()? })
    }

    /// Links with these arguments, and returns whether that worked; `None` if rust-lld did not get them.
    fn link(mut self, arguments: &[OsString]) -> Option<bool> {
        let output = arguments.iter().skip_while(|argument| *argument != "-o").nth(1)?;
        self.pipe.write_all(&response(arguments)?).ok()?;
        // rust-lld reads to the end, and releases the lock when it ends. The output appears as a whole, or not at all.
        drop(self.pipe);
        self.lock.lock().ok()?;
        Some(Path::new(output).exists())
    }
}

/// The content of a response file without the flavor, which is no option of the linker itself; `None` if it is too long.
fn response(arguments: &[OsString]) -> Option<Vec<u8>> {
    let flavor = arguments.iter().position(|argument| argument == "-flavor");
    let mut text = Vec::new();
    for (number, argument) in arguments.iter().enumerate() {
        if flavor.is_some_and(|flavor| number == flavor || number == flavor + 1) {
            continue;
        }
        text.push(b'"');
        for byte in argument.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(*byte);
        }
        text.extend(b"\"\n");
    }
    (text.len() <= MAX_COMMAND).then_some(text)
}

impl Options {
    /// Reads an argument if it is an own option.
    fn read(&mut self, argument: &OsStr) -> bool {
        let value = |name: &str| {
            argument.as_bytes().strip_prefix(name.as_bytes()).map(|value| OsStr::from_bytes(value).to_owned())
        };
        if let Some(linker) = value("--base-linker=") {
            self.linker = linker;
        } else if let Some(symbols) = value("--base-symbols=") {
            self.symbols = Some(symbols);
        } else if let Some(address) = value("--base-address=") {
            self.address = address;
        } else if let Some(folder) = value("--base-folder=") {
            self.folders.push(folder);
        } else if let Some(names) = value("--base-own-names=") {
            let names = names.as_bytes().split(|byte| *byte == b',');
            self.own_names = names.map(|name| OsStr::from_bytes(name).to_owned()).collect();
        } else if let Some(pipe) = value("--base-waiting=") {
            self.waiting = Some(pipe.into());
        } else if argument == "--base-create" {
            self.create = true;
        } else {
            return false;
        }
        true
    }
}

/// The arguments that link a program against the base.
fn program(whole: &[OsString], options: &Options) -> Vec<OsString> {
    let is_in_base = |argument: &OsStr| {
        let folder = Path::new(argument).parent().unwrap_or(Path::new(""));
        let is_library =
            has_suffix(argument, ".rlib") && options.folders.iter().any(|known| folder == Path::new(known));
        is_library
            || AROUND.iter().any(|name| is_file(argument, name))
            || is_allocator(argument)
            || C_LIBRARIES.iter().any(|name| argument == OsStr::new(name))
    };
    let mut arguments: Vec<OsString> =
        whole.iter().filter(|argument| !is_in_base(argument)).cloned().collect();
    let mut address = OsString::from("--image-base=");
    address.push(&options.address);
    arguments.push(address);
    arguments
}

/// Where the base's symbols belong among the inputs. Their section of thread-local variables must be next to the thread
/// pointer: before the program's own variables on arm64, after them on x86-64.
fn place_of_symbols(arguments: &[OsString]) -> usize {
    let first = arguments.iter().position(|argument| has_suffix(argument, ".o"));
    if cfg!(target_arch = "aarch64") { first.unwrap_or(arguments.len()) } else { arguments.len() }
}

/// The arguments that link the base: all libraries as a whole, nothing of the program that names them, all symbols.
fn base(whole: &[OsString]) -> Vec<OsString> {
    let mut arguments = Vec::new();
    for argument in whole {
        let is_of_program = is_object(argument) && !is_allocator(argument) || is_file(argument, "symbols.o");
        if is_of_program
            || is_file(argument, ENTRY)
            || argument == "--gc-sections"
            || argument == "--strip-all"
        {
            continue;
        }
        if has_suffix(argument, ".rlib") {
            arguments.extend([
                OsString::from("--whole-archive"),
                argument.clone(),
                "--no-whole-archive".into(),
            ]);
        } else {
            arguments.push(argument.clone());
        }
    }
    arguments
}

/// Whether it is an object that rustc has just compiled.
fn is_object(argument: &OsStr) -> bool {
    has_suffix(argument, ".rcgu.o")
}

/// Whether it is rustc's object that connects allocation to the default allocator. It is the same in all programs, and
/// the only one that is not named after a part of the crate (`-cgu`).
fn is_allocator(argument: &OsStr) -> bool {
    is_object(argument) && !argument.as_bytes().windows(5).any(|part| part == b"-cgu.")
}

fn is_file(argument: &OsStr, name: &str) -> bool {
    Path::new(argument).file_name() == Some(OsStr::new(name))
}

fn has_suffix(argument: &OsStr, suffix: &str) -> bool {
    argument.as_bytes().ends_with(suffix.as_bytes())
}

/// Writes the symbols of the base that the program's objects name into a file beside rustc's own `symbols.o`. Names that
/// the objects define count as well: they are defined twice, as with all symbols.
///
/// `None` if an object is not understood, or if the snippet's own objects name what would be another thing in a program
/// that is linked as a whole: a symbol of the base that they define weakly, or one that rust-lld defines for each image.
fn symbols_named(arguments: &[OsString], all: &OsStr, own_names: &[OsString]) -> Option<PathBuf> {
    let own = arguments.iter().find(|argument| is_file(argument, "symbols.o"))?;
    let is_input = |argument: &&OsString| [".o", ".rlib", ".a"].iter().any(|end| has_suffix(argument, end));
    // The linker would find the library itself.
    if arguments.iter().any(|argument| argument.as_bytes().starts_with(b"-l")) {
        return None;
    }
    let read = |argument: &OsString| Some((is_object(argument), fs::read(argument).ok()?));
    let inputs = arguments.iter().filter(is_input).map(read).collect::<Option<Vec<_>>>()?;
    let base = Mapping::of(&File::open(all).ok()?)?;
    let base = Object::read(base.bytes())?;
    let mut names = BTreeSet::new();
    for (is_of_snippet, input) in &inputs {
        for object in object_file::objects(input)? {
            for Global { name, is_replaceable } in Object::read(object)?.globals()? {
                let is_own = own_names.iter().any(|own| own.as_bytes() == name && own != "main");
                let is_replaced = is_replaceable && !name.starts_with(UNWINDING) && base.has(name)?;
                if *is_of_snippet && (is_own || is_replaced) {
                    return None;
                }
                names.insert(name);
            }
        }
    }
    let part = base.with_only(&names)?;
    let path = Path::new(own).with_file_name("base.o");
    fs::write(&path, part).ok()?;
    Some(path)
}
