//! The helper, which `entry` makes of the re-executed process. It applies the layers to itself, in order, and
//! executes the command.
//!
//! Each layer is in its own module. If a step fails, the helper reports it to the parent and executes
//! nothing.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::process::{Pid, getppid};

use super::control::{
    self, AHEAD_NAME, EXIT_REFUSED, HELPER_NAME, Handover, PROBE_NAME, SCRATCH_NAME, Status,
};
use super::descriptors::{BROKER_DESCRIPTOR, close_on_exec_from, place_descriptors, private};
use super::exec::Executable;
use super::executable;
use super::oversight::Oversight;
use super::recorder::Recorder;
use super::seccomp::{self, Surroundings};
use super::supervise::Supervised;
use super::{filesystem, limits, namespaces, privileges, probe, scratch, supervise, timings};
use crate::error::failed;
use crate::{Failure, Layers, Policy, Profile, Report, Step};

/// Call this first in `main`, before starting any thread. In an ordinary process it returns at once. In a
/// helper started by [`Sandbox::spawn`](crate::Sandbox::spawn) it applies the policy, executes the command
/// and never returns.
pub fn entry() {
    let mut arguments = std::env::args_os();
    let done = match arguments.next() {
        Some(name) if name == HELPER_NAME => run(arguments.collect(), false),
        Some(name) if name == AHEAD_NAME => run(Vec::new(), true),
        Some(name) if name == PROBE_NAME => probe::answer(),
        Some(name) if name == SCRATCH_NAME => scratch::answer(),
        _ => return executable::note_entry(),
    };
    drop(done);
    // SAFETY: ends the process without running destructors or handlers, which is the intention.
    unsafe { libc::_exit(EXIT_REFUSED) }
}

/// Returns only if the command was not executed, after reporting the failure. A helper that `is_ahead` waits for a
/// policy that is not known yet.
fn run(command: Vec<OsString>, is_ahead: bool) -> io::Result<()> {
    timings::mark("start the helper");
    // Otherwise the kernel names it after the descriptor that it was executed from.
    let _ = rustix::thread::set_name(c"sandbox-helper");
    let mut channel = File::from(private(&io::stdin())?);
    if is_ahead && let Err(failure) = namespaces::separate_ahead() {
        return channel.write_all(&control::frame(&Status::Failed(failure))?);
    }
    let failure = match control::receive_with::<_, Handover>(&channel, &channel) {
        Ok(Some((mut handover, descriptors))) => {
            timings::mark("receive the policy");
            let command = handover.command.take().unwrap_or(command);
            match prepare(&handover, is_ahead, descriptors, command, &mut channel) {
                Ok(never) => match never {},
                Err(failure) => failure,
            }
        }
        Ok(None) => Failure::new(Step::Handover, "the parent's socket, which was closed", libc::EPIPE),
        Err(error) => failed(Step::Handover, "the parent's socket")(error),
    };
    channel.write_all(&control::frame(&Status::Failed(failure))?)
}

/// The steps that still need the host's rights: descriptors, session, the executable, namespaces with their
/// root, the working folder. The first process of the new process namespace builds the root, because only it
/// can mount that namespace's `/proc`. After the fork, `channel` leads to the supervisor.
fn prepare(
    handover: &Handover,
    is_ahead: bool,
    descriptors: Vec<OwnedFd>,
    command: Vec<OsString>,
    channel: &mut File,
) -> Result<Infallible, Failure> {
    let Handover { policy, layers, .. } = handover;
    if getppid() != i32::try_from(handover.parent).ok().and_then(Pid::from_raw) {
        return Err(Failure::new(Step::ParentDeath, "the parent process", libc::ESRCH));
    }
    rustix::process::setsid().map_err(failed(Step::Session, "a new session"))?;
    limits::yield_processors(policy.limits.niceness)?;
    limits::yield_memory();
    let (oversight, recorder) = (Oversight::begin(policy), Recorder::begin(policy));
    let mut descriptors = descriptors.into_iter();
    let broker = if handover.broker { descriptors.next() } else { None };
    // Their descriptors may have the number of standard input or the broker, so this comes first.
    let shared = if handover.scratch { Some(shared_scratch(descriptors.next())?) } else { None };
    let image = if handover.image { Some(received(descriptors.next(), "the image")?) } else { None };
    let input = if handover.input { Some(received(descriptors.next(), "standard input")?) } else { None };
    let has_broker = place_descriptors(input, handover.broker, broker)?;
    timings::mark("session and descriptors");
    let executable = Executable::open(command, image, policy)?;
    timings::mark("prepare the executable");
    let tasks = limits::tasks_on_machine();
    timings::mark("count the tasks");
    match (layers.namespaces, is_ahead) {
        (true, true) => namespaces::separate_rest()?,
        (true, false) => namespaces::separate(policy.network)?,
        // The parent uses such a helper only for policies with namespaces.
        (false, true) => {
            return Err(Failure::new(Step::Namespaces, "a helper that has left them", libc::EINVAL));
        }
        (false, false) => {}
    }
    timings::mark("leave namespaces");
    let is_server = policy.profile == Profile::Server;
    let child = Supervised { namespaces: layers.namespaces, is_server, oversight, recorder };
    supervise::fork(channel, child, || {
        timings::mark("fork from the supervisor");
        if layers.namespaces {
            if let Some(processes) = policy.limits.processes {
                namespaces::limit_tasks(processes);
            }
            namespaces::furnish(policy, &executable, shared)?;
        }
        timings::mark("build the root");
        let folder = &policy.working_folder;
        rustix::process::chdir(folder).map_err(failed(Step::WorkingFolder, folder.display().to_string()))?;
        privileges::drop_capabilities()?;
        timings::mark("working folder and capabilities");
        Ok(())
    })?;
    timings::mark("fork the command");
    Confining { policy, layers: *layers, executable: &executable, tasks, channel }.execute(has_broker)
}

/// A clone of the shared scratch space for this child.
fn shared_scratch(namespace: Option<OwnedFd>) -> Result<OwnedFd, Failure> {
    let subject = "shared scratch space, which was not received";
    let namespace = namespace.ok_or_else(|| Failure::new(Step::Descriptors, subject, libc::EBADF))?;
    scratch::clone_from(&namespace)
}

/// A received descriptor, away from the numbers of the child's own descriptors.
fn received(descriptor: Option<OwnedFd>, what: &str) -> Result<OwnedFd, Failure> {
    let missing = || Failure::new(Step::Descriptors, format!("{what}, which was not received"), libc::EBADF);
    private(&descriptor.ok_or_else(missing)?).map_err(failed(Step::Descriptors, what))
}

/// The process that becomes the command.
struct Confining<'a> {
    policy: &'a Policy,
    layers: Layers,
    executable: &'a Executable,
    tasks: u64,
    channel: &'a File,
}

impl Confining<'_> {
    /// Applies the layers to this process and executes the command. Steps that allocate come before the
    /// limits.
    fn execute(mut self, has_broker: bool) -> Result<Infallible, Failure> {
        privileges::no_new_privileges()?;
        let abi = self.restrict_files()?;
        timings::mark("Landlock");
        close_on_exec_from(BROKER_DESCRIPTOR + i32::from(has_broker))?;
        let surroundings = Surroundings {
            executable: self.executable,
            channel: self.channel.as_raw_fd(),
            namespaces: self.layers.namespaces,
            scopes: abi >= probe::ABI_SCOPES,
        };
        let filters = match self.layers.seccomp {
            true => Some(seccomp::Filters::new(self.policy, &surroundings)?),
            false => None,
        };
        timings::mark("compile the seccomp filters");
        self.executable.reset_signals();
        limits::apply(&self.policy.limits, self.tasks)?;
        timings::mark("signals and limits");
        let mut listening = false;
        if let Some(filters) = filters {
            listening = filters.apply(self.channel)?;
            seccomp::canary(self.policy)?;
        }
        timings::mark("install the seccomp filters");
        timings::send(self.channel)?;
        let report = control::frame(&Status::Confined(self.report(abi, listening)));
        let report = report.map_err(failed(Step::Handover, "the report"))?;
        self.channel.write_all(&report).map_err(failed(Step::Handover, "the report"))?;
        Err(self.executable.execute())
    }

    /// Landlock's ABI, or 0 if Landlock is not applied.
    fn restrict_files(&self) -> Result<u32, Failure> {
        if !self.layers.landlock {
            return Ok(0);
        }
        let abi = probe::landlock_abi().map_err(failed(Step::Landlock, "the kernel's ABI"))?;
        filesystem::restrict(self.policy, self.layers, self.executable, abi)?;
        filesystem::canary(self.policy)?;
        Ok(abi)
    }

    /// The report. Every layer is required, so all of them have been applied when it is sent.
    fn report(&self, landlock_abi: u32, listening: bool) -> Report {
        let layers = [
            (self.layers.namespaces, "namespaces"),
            (true, "capabilities"),
            (true, "no_new_privs"),
            (self.layers.landlock, "landlock"),
            (true, "descriptors"),
            (true, "rlimits"),
            (self.layers.seccomp, "seccomp"),
            (listening, "seccomp-notify"),
        ];
        let layers = layers.into_iter().filter(|(applied, _)| *applied);
        Report {
            tier: self.layers.to_string(),
            layers: layers.map(|(_, name)| name.to_owned()).collect(),
            landlock_abi,
        }
    }
}
