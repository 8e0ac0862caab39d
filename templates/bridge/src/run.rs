//! The program's entry: connects, runs the snippet, and reports how it ended.

use std::future::Future;
use std::panic;
use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::args::Args;
use crate::client;
use crate::origin::{Origin, SNIPPET_FILE};
use crate::size::{shortened, size};
use crate::wire::{ErrorReport, FRAME_LIMIT, Finish, ToHost, ToolReport, VERSION};
use crate::written::to_raw;
use crate::{fault, panics, unmade, unread, warning};

/// A snippet's result as JSON, or its failure. `()` is no result, but `None` is one: `null`.
pub type Encoded = Result<Option<Box<RawValue>>, Failure>;

/// A running snippet.
pub type Running = Pin<Box<dyn Future<Output = Encoded>>>;

/// The `Err` that a snippet ended with.
#[derive(Debug)]
pub struct Failure(ErrorReport);

/// The position of the running snippet's text.
static ORIGIN: OnceLock<Origin<'static>> = OnceLock::new();

/// Exit code of a program that ended with an `Err`.
const EXIT_ERROR: u8 = 1;
/// Exit code of a program that panicked, as in the standard library.
const EXIT_PANIC: u8 = 101;
/// Exit code of a program that could not communicate with its host.
const EXIT_BROKER: u8 = 102;

/// The snippet's stack size in bytes: the usual size of a main thread's stack.
pub const STACK: usize = 8 << 20;

/// Maximum size of a snippet's result, in bytes of JSON (16 MiB).
pub const RESULT_LIMIT: usize = FRAME_LIMIT / 2;

/// Runs the snippet in `entry`, whose text is at `origin`.
pub fn run(origin: Origin<'static>, entry: fn(Args) -> Running) -> ExitCode {
    // A program runs only once.
    let origin = *ORIGIN.get_or_init(|| origin);
    panics::keep(origin);
    warning::begin(origin);
    let welcome = match client::connect() {
        Ok(welcome) if welcome.version == VERSION => welcome,
        Ok(welcome) => {
            eprintln!("this program uses protocol version {VERSION}, its host {}", welcome.version);
            return ExitCode::from(EXIT_BROKER);
        }
        Err(error) => {
            eprintln!("this program only runs under `toolsmith run`, which makes its calls: {error}");
            return ExitCode::from(EXIT_BROKER);
        }
    };
    let args = Args(welcome.args);
    let ended = on_main_thread(move || drive(entry, args));
    unread::report();
    let (finish, code) = match ended {
        Ok(Ok(Some(result))) if result.get().len() > RESULT_LIMIT => {
            (Finish::Error(too_large(result.get().len())), EXIT_ERROR)
        }
        Ok(Ok(result)) => (Finish::Ok { result, unmade: unmade::report(origin) }, 0),
        Ok(Err(Failure(report))) => (Finish::Error(report), EXIT_ERROR),
        Err(payload) => (Finish::Panic(panics::report(&*payload)), EXIT_PANIC),
    };
    match client::finish(&ToHost::Finish(finish)) {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            eprintln!("the result did not reach the host: {error}");
            ExitCode::from(EXIT_BROKER)
        }
    }
}

/// Runs the snippet on a thread whose stack bounds are known: in the sandbox, those of the process's own stack can't be
/// determined, and an overflow would be a bare SIGSEGV.
fn on_main_thread(work: impl FnOnce() -> Encoded + Send) -> std::thread::Result<Encoded> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("main".to_owned()).stack_size(STACK);
        match builder.spawn_scoped(scope, work) {
            Ok(thread) => thread.join(),
            Err(error) => Ok(Err(failure(&anyhow::Error::new(error)))),
        }
    })
}

fn drive(entry: fn(Args) -> Running, args: Args) -> Encoded {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .thread_name("main")
        .thread_stack_size(STACK)
        .build()
        .map_err(|error| failure(&anyhow::Error::new(error)))?;
    let result = runtime.block_on(entry(args));
    // Detached blocking work ends with the process.
    runtime.shutdown_background();
    result
}

/// Runs the snippet in `body`, and serializes its result. Only the type of the result is generic, so that this is
/// instantiated in this crate for the most common types.
pub fn encoding<T: Serialize + 'static>(body: Pin<Box<dyn Future<Output = anyhow::Result<T>>>>) -> Running {
    Box::pin(async move { encode(body.await) })
}

/// Serializes a snippet's result to JSON.
///
/// # Errors
/// The snippet's own, or that of serializing its value.
pub fn encode<T: Serialize>(result: anyhow::Result<T>) -> Encoded {
    let encoded = result.and_then(|value| encoded(&value, std::any::type_name::<T>()));
    encoded.map_err(|error| failure(&error))
}

/// Serializes a value to JSON; a `Result` inside it is the snippet's, and is unwrapped.
pub(crate) fn to_json<T: Serialize>(value: &T) -> anyhow::Result<Box<RawValue>> {
    let (json, _) = opened(to_raw(value).map_err(unserialisable)?, std::any::type_name::<T>())?;
    Ok(json)
}

fn encoded<T: Serialize>(value: &T, kind: &str) -> anyhow::Result<Option<Box<RawValue>>> {
    let (json, is_unit) = opened(to_raw(value).map_err(unserialisable)?, kind)?;
    Ok((!is_unit).then_some(json))
}

/// Unwraps a serialized `Result`, and returns whether its value is `()`. Its type was not known earlier, or it is
/// behind something that serde does not show.
fn opened(mut json: Box<RawValue>, mut kind: &str) -> anyhow::Result<(Box<RawValue>, bool)> {
    const HIDDEN: [&str; 6] =
        ["&", "mut ", "alloc::boxed::Box<", "alloc::rc::Rc<", "alloc::sync::Arc<", "core::option::Option<"];
    loop {
        while let Some(within) = HIDDEN.iter().find_map(|hidden| kind.strip_prefix(hidden)) {
            kind = within;
        }
        let Some(within) = kind.strip_prefix("core::result::Result<") else {
            // The value's type is at the end, or followed by the error of the `Result` around it.
            let is_unit = kind == "()" || kind.starts_with("(),");
            return Ok((json, is_unit));
        };
        if json.get() == "null" {
            return Ok((json, false));
        }
        json = match serde_json::from_str(json.get())? {
            Written::Ok(value) => value,
            Written::Err(Value::String(message)) => return Err(anyhow::Error::msg(message)),
            Written::Err(error) => return Err(anyhow::Error::msg(error.to_string())),
        };
        kind = within;
    }
}

/// A `Result` as serde writes it.
#[derive(Deserialize)]
enum Written {
    Ok(Box<RawValue>),
    Err(Value),
}

fn unserialisable(error: serde_json::Error) -> anyhow::Error {
    anyhow::Error::new(error).context("the snippet's result cannot be turned into JSON")
}

fn failure(error: &anyhow::Error) -> Failure {
    let tool = fault::tool(error).map(|error| ToolReport {
        kind: error.kind.to_string(),
        server: error.server.clone(),
        tool: error.tool.clone(),
    });
    let place = ORIGIN.get().zip(Some(error.place()).filter(|place| place.file() == SNIPPET_FILE));
    let line = place.map(|(_, place)| place.line());
    let column = place.map(|(origin, place)| origin.column(place.line(), place.column()));
    Failure(ErrorReport { message: shortened(format!("{error:#}")), tool, line, column })
}

fn too_large(length: usize) -> ErrorReport {
    let limit = RESULT_LIMIT;
    let (length, limit) = (size(length), size(limit));
    let message =
        format!("the result is {length} of JSON, over the limit of {limit}; return a part or a summary");
    ErrorReport { message, tool: None, line: None, column: None }
}

/// Runs a snippet on its own thread, where it may block and start runtimes.
///
/// # Errors
/// The snippet's own.
pub async fn on_thread(work: impl FnOnce() -> Encoded + Send + 'static) -> Encoded {
    match tokio::task::spawn_blocking(work).await {
        Ok(encoded) => encoded,
        Err(error) if error.is_panic() => panic::resume_unwind(error.into_panic()),
        Err(error) => Err(failure(&anyhow::Error::new(error))),
    }
}

/// Drives a snippet that blocks on its own runtime, on a thread without one.
///
/// # Errors
/// The snippet's own.
pub async fn outside_runtime<F: Future<Output = Encoded>>(
    entry: impl FnOnce() -> F + Send + 'static,
) -> Encoded {
    on_thread(move || {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut work = pin!(entry());
        loop {
            match work.as_mut().poll(&mut context) {
                Poll::Ready(encoded) => return encoded,
                Poll::Pending => std::thread::park(),
            }
        }
    })
    .await
}

/// Wakes a thread that waits for a future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
