//! The frame of a program: connect, run the snippet, report how it ended.

use std::future::Future;
use std::panic::{self, PanicHookInfo};
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde_json::value::RawValue;

use crate::args::Args;
use crate::client;
use crate::error::ToolError;
use crate::warning;
use crate::wire::{ErrorReport, FRAME_LIMIT, Finish, PanicReport, ToHost, ToolReport, VERSION};
use crate::written::to_raw;

/// A snippet's result as JSON, or how it failed.
pub type Encoded = Result<Box<RawValue>, Failure>;

/// The `Err` that a snippet ended with.
#[derive(Debug)]
pub struct Failure(ErrorReport);

/// Most bytes of the message of an error or a panic that are told (64 KiB).
const MESSAGE_LIMIT: usize = 64 << 10;

/// The file that the snippet's text stands in, as panics name it.
pub(crate) const SNIPPET_FILE: &str = "snippet.rs";

/// Exit code of a program that ended with an `Err`.
const EXIT_ERROR: u8 = 1;
/// Exit code of a program that panicked, as the standard library has it.
const EXIT_PANIC: u8 = 101;
/// Exit code of a program that could not speak with its host.
const EXIT_BROKER: u8 = 102;

/// The snippet's stack, in bytes: what a main thread has by default.
const STACK: usize = 8 << 20;

static LAST_PANIC: Mutex<Option<PanicReport>> = Mutex::new(None);

/// A place where the compiled text differs from the snippet: line, column in the compiled text, characters that are
/// there, and characters of the snippet that they replace.
pub type Edited = (u32, u32, u32, u32);

/// Where the text of a snippet stands in its file.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// Characters before the text in line 1.
    offset: u32,
    /// In the order of the text.
    edits: &'a [Edited],
}

impl<'a> Origin<'a> {
    /// A text with `offset` characters before it in line 1.
    #[must_use]
    pub const fn new(offset: u32) -> Self {
        Origin { offset, edits: &[] }
    }

    /// A text that was edited; `edits` are in the order of the text.
    #[must_use]
    pub const fn edited(mut self, edits: &'a [Edited]) -> Self {
        self.edits = edits;
        self
    }

    /// The column in the snippet of a column in the file; what was put in has the column of its place.
    #[must_use]
    pub fn column(self, line: u32, column: u32) -> u32 {
        let column = if line == 1 { column.saturating_sub(self.offset) } else { column };
        let mut own = column;
        for (_, at, added, removed) in self.edits.iter().filter(|(edited, ..)| *edited == line) {
            if column < *at {
                break;
            }
            // Later edits begin behind this one.
            let behind = column.saturating_sub(at + added);
            let before = own.saturating_sub(column - at);
            own = if column < at + added { before } else { before + removed + behind };
        }
        own
    }
}

/// Runs the snippet behind `entry`, whose text stands at `origin`.
pub fn run(origin: Origin<'static>, entry: fn(Args) -> Pin<Box<dyn Future<Output = Encoded>>>) -> ExitCode {
    panic::set_hook(Box::new(move |panic| note_panic(panic, origin)));
    warning::begin(origin);
    let welcome = match client::connect() {
        Ok(welcome) if welcome.version == VERSION => welcome,
        Ok(welcome) => {
            eprintln!("this program speaks version {VERSION}, its host {}", welcome.version);
            return ExitCode::from(EXIT_BROKER);
        }
        Err(error) => {
            eprintln!("this program runs under `toolsmith run` only, which carries its calls: {error}");
            return ExitCode::from(EXIT_BROKER);
        }
    };
    let args = Args(welcome.args);
    let (finish, code) = match on_main_thread(move || drive(entry, args)) {
        Ok(Ok(result)) if result.get().len() <= FRAME_LIMIT / 2 => (Finish::Ok { result }, 0),
        Ok(Ok(result)) => (Finish::Error(too_large(result.get().len())), EXIT_ERROR),
        Ok(Err(Failure(report))) => (Finish::Error(report), EXIT_ERROR),
        Err(payload) => (Finish::Panic(panic_report(&*payload)), EXIT_PANIC),
    };
    match client::finish(&ToHost::Finish(finish)) {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            eprintln!("the result did not reach the host: {error}");
            ExitCode::from(EXIT_BROKER)
        }
    }
}

/// Runs the snippet on a thread whose stack has known bounds: where the process's own stack ends can't be
/// found out in the sandbox, and an overflow would be a bare SIGSEGV.
fn on_main_thread(work: impl FnOnce() -> Encoded + Send) -> std::thread::Result<Encoded> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("main".to_owned()).stack_size(STACK);
        match builder.spawn_scoped(scope, work) {
            Ok(thread) => thread.join(),
            Err(error) => Ok(Err(failure(&anyhow::Error::new(error)))),
        }
    })
}

fn drive(entry: fn(Args) -> Pin<Box<dyn Future<Output = Encoded>>>, args: Args) -> Encoded {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| failure(&anyhow::Error::new(error)))?;
    let result = runtime.block_on(entry(args));
    // Blocking work that nobody waits for ends with the process.
    runtime.shutdown_background();
    result
}

/// A snippet's result as JSON.
///
/// # Errors
/// The snippet's own, or that of serialising its value.
pub fn encode<T: Serialize>(result: anyhow::Result<T>) -> Encoded {
    result.and_then(|value| to_raw(&value).map_err(unserialisable)).map_err(|error| failure(&error))
}

fn unserialisable(error: serde_json::Error) -> anyhow::Error {
    anyhow::Error::new(error).context("the snippet's result cannot be turned into JSON")
}

fn failure(error: &anyhow::Error) -> Failure {
    let tool = error.downcast_ref::<ToolError>().map(|error| ToolReport {
        kind: error.kind.to_string(),
        server: error.server.clone(),
        tool: error.tool.clone(),
    });
    Failure(ErrorReport { message: shortened(format!("{error:#}")), tool })
}

/// A message of at most [`MESSAGE_LIMIT`] bytes.
fn shortened(mut message: String) -> String {
    if message.len() > MESSAGE_LIMIT {
        let whole = message.len();
        message.truncate(message.floor_char_boundary(MESSAGE_LIMIT));
        message.push_str(&format!("… ({whole} bytes in all)"));
    }
    message
}

fn too_large(length: usize) -> ErrorReport {
    let limit = FRAME_LIMIT / 2;
    let message = format!(
        "the result is {length} bytes of JSON, over the limit of {limit}; return a part or a summary"
    );
    ErrorReport { message, tool: None }
}

/// Runs a snippet that is not `async` on a thread of its own, where it may block and start runtimes.
///
/// # Errors
/// The snippet's own.
pub async fn on_thread(work: fn() -> Encoded) -> Encoded {
    match tokio::task::spawn_blocking(work).await {
        Ok(encoded) => encoded,
        Err(error) if error.is_panic() => panic::resume_unwind(error.into_panic()),
        Err(error) => Err(failure(&anyhow::Error::new(error))),
    }
}

/// Prints a panic as the standard library does, in the snippet's own lines and columns, and keeps it.
fn note_panic(panic: &PanicHookInfo<'_>, origin: Origin<'_>) {
    let message = panic.payload_as_str().unwrap_or("a panic without a message").to_owned();
    let place = panic.location().filter(|place| place.file() == SNIPPET_FILE);
    let line = place.map(panic::Location::line);
    let column = place.map(|place| origin.column(place.line(), place.column()));
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("unnamed");
    match (line, column) {
        (Some(line), Some(column)) => {
            eprintln!("thread '{name}' panicked at line {line}, column {column}:\n{message}");
        }
        _ => eprintln!("thread '{name}' panicked:\n{message}"),
    }
    let mut last = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner);
    *last = Some(PanicReport { message: shortened(message), line, column });
}

fn panic_report(payload: &(dyn std::any::Any + Send)) -> PanicReport {
    let kept = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    kept.unwrap_or_else(|| {
        let text = payload.downcast_ref::<&str>().copied();
        let message = text.unwrap_or("a panic without a message").to_owned();
        PanicReport { message, line: None, column: None }
    })
}

#[cfg(test)]
mod tests {
    use super::Origin;

    #[test]
    fn columns_are_those_of_the_snippet() {
        // `f(n).x(5, 6)` became `f(&n).await?.x(5.0, 6)`, then `y[0]` became `y.0`.
        let edits = [(2, 3, 1, 0), (2, 6, 7, 0), (2, 17, 2, 0), (3, 2, 2, 3)];
        let origin = Origin::new(10).edited(&edits);
        let columns = |line, columns: &[u32]| {
            columns.iter().map(|column| origin.column(line, *column)).collect::<Vec<_>>()
        };
        assert_eq!(columns(1, &[1, 11, 15]), [0, 1, 5]);
        assert_eq!(
            columns(2, &[1, 2, 3, 4, 5, 6, 12, 13, 14, 16, 17, 18, 19, 22]),
            [1, 2, 3, 3, 4, 5, 5, 5, 6, 8, 9, 9, 9, 12]
        );
        assert_eq!(columns(3, &[1, 2, 3, 4, 5]), [1, 2, 2, 5, 6]);
        assert_eq!(columns(4, &[7]), [7]);
    }
}
