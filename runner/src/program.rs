//! Runs a linked program: sandbox, broker and output.

use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use sandbox::Policy;
use tokio::task::spawn_blocking;

use crate::base::Image;
use crate::broker::{Broker, Socket, Violation};
use crate::confined::{Captured, Confined, drop_behind};
use crate::error::{Error, ErrorKind, Result};
use crate::journal::{Event, Sink as _};
use crate::outcome::SandboxReport;
use crate::sandbox_policies::{self, Grants, Limits};

/// The end of a program's run.
#[derive(Debug)]
pub(crate) enum ProgramEnd {
    /// The process exited, or was ended by a signal.
    Exited(ExitStatus),
    /// It was killed for printing too much.
    Output,
    /// It was killed for breaking the protocol.
    Violation(Violation),
}

/// The traces that are recorded of a program, even if its run is dropped early.
#[derive(Debug, Default)]
pub(crate) struct ProgramTraces {
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    pub(crate) sandbox: SandboxReport,
    pub(crate) evidence: sandbox::Evidence,
    /// The files in its grants that other programs obey, from before it started.
    pub(crate) obeyed: BTreeSet<PathBuf>,
}

/// A program to run, with its limits.
pub(crate) struct Job<'a> {
    pub(crate) program: &'a Path,
    /// Its executable in memory, if it was linked against a base.
    pub(crate) image: Option<Image>,
    pub(crate) limits: &'a Limits,
    pub(crate) grants: &'a Grants,
    pub(crate) confinement: sandbox::Confinement,
}

/// A started program. However its run ends, it is killed, and the sandbox's evidence is kept.
struct Running<'a> {
    process: Option<Confined>,
    evidence: &'a mut sandbox::Evidence,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        // The run has reported failures itself.
        let _ = process.kill();
        *self.evidence = process.evidence().clone();
        drop_behind(process, ());
    }
}

/// Runs a program to its end. Dropping the future kills it.
pub(crate) async fn run(job: Job<'_>, broker: &Broker<'_>, traces: &mut ProgramTraces) -> Result<ProgramEnd> {
    let limits = job.limits;
    let (ours, theirs) = UnixStream::pair().map_err(socket_error)?;
    let ours = Socket::new(ours).map_err(socket_error)?;
    let mut command = sandbox::Command::new(job.program).broker(theirs);
    let mut base_size = 0;
    if let Some(image) = job.image {
        base_size = image.base_size;
        command = command.image(image.file);
    }
    let policy = policy(limits, job.grants, base_size).await?;
    traces.obeyed = policy.read_only.iter().cloned().collect();
    let mut running = Running { process: None, evidence: &mut traces.evidence };
    let process = running.process.insert(Confined::spawn(policy, job.confinement, command)?);
    traces.sandbox = process.report();
    let journal = broker.journal;
    let (out, err) = (&mut process.stdout, &mut process.stderr);
    let stdout = async {
        traces
            .stdout
            .read_for(journal, out, limits.output, true, |bytes: &[u8]| journal.note(&Event::Stdout(bytes)))
            .await;
        if traces.stdout.exceeded { Err(ProgramEnd::Output) } else { Ok(()) }
    };
    let stderr = async {
        traces
            .stderr
            .read_for(journal, err, limits.output, true, |bytes: &[u8]| journal.note(&Event::Stderr(bytes)))
            .await;
        if traces.stderr.exceeded { Err(ProgramEnd::Output) } else { Ok(()) }
    };
    let calls = async { broker.serve(ours).await.map_err(ProgramEnd::Violation) };
    // All three end with the process; only errors end them earlier.
    match tokio::try_join!(stdout, stderr, calls) {
        Ok(_) => Ok(ProgramEnd::Exited(process.wait().await?)),
        Err(ended) => Ok(ended),
    }
}

/// The program's policy. Searching what is granted for writing blocks.
async fn policy(limits: &Limits, grants: &Grants, base_size: u64) -> Result<Policy> {
    if grants.write.is_empty() {
        return Ok(sandbox_policies::program(limits, grants, base_size));
    }
    let (limits, grants) = (limits.clone(), grants.clone());
    let searching = spawn_blocking(move || sandbox_policies::program(&limits, &grants, base_size));
    searching.await.map_err(|error| {
        let message = format!("what is granted for writing can't be searched: {error}");
        Error::new(ErrorKind::Sandbox, message).caused_by(error)
    })
}

fn socket_error(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Sandbox, format!("the broker's socket can't be created: {error}")).caused_by(error)
}
