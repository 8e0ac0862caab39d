//! One run of a linked program: sandbox, broker and output together.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitStatus;

use tokio::net::UnixStream as AsyncStream;

use crate::broker::{Broker, Violation};
use crate::confined::{Captured, Confined};
use crate::error::{Error, ErrorKind, Result};
use crate::outcome::SandboxReport;
use crate::policies::{self, Limits};

/// How a program's run came to its end.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The process ended by itself, or by a signal of the kernel's.
    Exited(ExitStatus),
    /// It was killed for printing too much.
    Output,
    /// It was killed for breaking the protocol.
    Violation(Violation),
}

/// What a program leaves behind, also when its run is dropped in the middle.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    pub(crate) sandbox: SandboxReport,
}

/// Runs `program` to its end. Dropping the future kills it.
pub(crate) async fn run(
    program: &Path,
    limits: &Limits,
    broker: &Broker<'_>,
    traces: &mut Traces,
) -> Result<Ended> {
    let (ours, theirs) = UnixStream::pair().map_err(|error| socket_error(&error))?;
    ours.set_nonblocking(true).map_err(|error| socket_error(&error))?;
    let ours = AsyncStream::from_std(ours).map_err(|error| socket_error(&error))?;
    let command = sandbox::Command::new(program).broker(theirs);
    let mut process = Confined::spawn(policies::program(limits), command)?;
    traces.sandbox = process.report();
    let observer = broker.observer;
    let (out, err) = (&mut process.stdout, &mut process.stderr);
    let stdout = async {
        traces.stdout.read(out, limits.output, true, |bytes| observer.stdout(bytes)).await;
        if traces.stdout.exceeded { Err(Ended::Output) } else { Ok(()) }
    };
    let stderr = async {
        traces.stderr.read(err, limits.output, true, |bytes| observer.stderr(bytes)).await;
        if traces.stderr.exceeded { Err(Ended::Output) } else { Ok(()) }
    };
    let calls = async { broker.serve(ours).await.map_err(Ended::Violation) };
    // All three end when the process does; only trouble ends them before.
    match tokio::try_join!(stdout, stderr, calls) {
        Ok(_) => Ok(Ended::Exited(process.wait().await?)),
        Err(ended) => {
            process.kill()?;
            Ok(ended)
        }
    }
}

fn socket_error(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Sandbox, format!("the broker's socket can't be made: {error}"))
}
