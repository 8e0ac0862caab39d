//! The helper's side: what `entry` turns the re-executed process into. It applies the layers in order to
//! itself and executes the command.
//!
//! Leaves each layer to its module. A step that fails is reported to the parent and nothing is executed.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use super::control::{self, Handover, Status};
use super::exec::Executable;
use super::{BROKER_DESCRIPTOR, FIRST_PRIVATE_DESCRIPTOR, HELPER_NAME, is_supervised};
use super::{filesystem, limits, privileges, probe, seccomp, supervise};
use crate::{Failure, Policy, Report, Step};

/// The helper's exit code when it could not apply the policy.
pub(super) const EXIT_REFUSED: i32 = 125;

/// Call this first in `main`, before any thread is started. In an ordinary start it returns at once; in a helper
/// that [`Sandbox::spawn`](crate::Sandbox::spawn) started it applies the policy, executes the command and never returns.
pub fn entry() {
    let mut arguments = std::env::args_os();
    if arguments.next().is_none_or(|name| name != HELPER_NAME) {
        return;
    }
    let _ = run(arguments.collect());
    // SAFETY: ends the process without running destructors or handlers, which is the intention.
    unsafe { libc::_exit(EXIT_REFUSED) }
}

/// Returns only when the command was not executed, after having said so.
fn run(command: Vec<OsString>) -> io::Result<()> {
    let mut channel = File::from(private(&io::stdin())?);
    let failure = match control::receive_handover(&channel, &channel) {
        Ok((handover, broker)) => match prepare(&handover, broker, command, &mut channel) {
            Ok(never) => match never {},
            Err(failure) => failure,
        },
        Err(error) => failed(Step::Handover, "the parent's socket")(error),
    };
    channel.write_all(&control::frame(&Status::Failed(failure))?)
}

/// A copy of a descriptor, clear of the numbers that the child's own descriptors have.
pub(super) fn private(descriptor: &impl AsFd) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(descriptor, FIRST_PRIVATE_DESCRIPTOR)?)
}

/// Turns an operating system's error into a failure of this step.
pub(super) fn failed<E: Into<io::Error>>(
    step: Step,
    subject: impl Into<String>,
) -> impl FnOnce(E) -> Failure {
    move |error| Failure::new(step, subject, error.into().raw_os_error().unwrap_or(0))
}

/// What needs the rights of the host still: descriptors, session, folder, the executable. `channel` is where to report,
/// from the fork on to the supervisor.
fn prepare(
    handover: &Handover,
    broker: Option<OwnedFd>,
    command: Vec<OsString>,
    channel: &mut File,
) -> Result<Infallible, Failure> {
    let policy = &handover.policy;
    let supervised = is_supervised(policy.profile);
    let parent = i32::try_from(handover.parent).ok().and_then(Pid::from_raw);
    if !supervised {
        die_with(parent)?;
    } else if getppid() != parent {
        return Err(Failure::new(Step::ParentDeath, "the starting process", libc::ESRCH));
    }
    rustix::process::setsid().map_err(failed(Step::Session, "a new session"))?;
    let has_broker = place_descriptors(handover, broker)?;
    let folder = &policy.working_folder;
    rustix::process::chdir(folder).map_err(failed(Step::WorkingFolder, folder.display().to_string()))?;
    let executable = Executable::open(command, policy)?;
    privileges::drop_capabilities()?;
    if supervised {
        supervise::fork(channel)?;
    }
    confine(policy, &executable, has_broker, channel)
}

/// Ties this process to the one that started it, which may have ended in the meantime.
pub(super) fn die_with(parent: Option<Pid>) -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(failed(Step::ParentDeath, "the parent death signal"))?;
    if getppid() == parent && parent.is_some() {
        return Ok(());
    }
    Err(Failure::new(Step::ParentDeath, "the starting process", libc::ESRCH))
}

/// `/dev/null` as standard input, the broker at its number.
fn place_descriptors(handover: &Handover, broker: Option<OwnedFd>) -> Result<bool, Failure> {
    let null = File::open("/dev/null").map_err(failed(Step::Descriptors, "/dev/null"))?;
    place(null.as_raw_fd(), 0, "standard input")?;
    match broker {
        Some(broker) => {
            // It may have been received at the very number it is to have, where dup3 would refuse it.
            let aside = private(&broker).map_err(failed(Step::Descriptors, "the broker"))?;
            drop(broker);
            place(aside.as_raw_fd(), BROKER_DESCRIPTOR, "the broker")?;
            Ok(true)
        }
        None if handover.broker => {
            Err(Failure::new(Step::Descriptors, "the broker, which did not arrive", libc::EBADF))
        }
        None => Ok(false),
    }
}

fn place(from: i32, to: i32, subject: &str) -> Result<(), Failure> {
    // SAFETY: `from` is open; nothing in this process owns `to` (0, or 3, which private descriptors stay clear of).
    if unsafe { libc::dup3(from, to, 0) } == to {
        return Ok(());
    }
    Err(failed(Step::Descriptors, subject)(io::Error::last_os_error()))
}

/// Applies the layers to this process and executes the command. What allocates comes before the limits.
fn confine(
    policy: &Policy,
    executable: &Executable,
    has_broker: bool,
    channel: &mut File,
) -> Result<Infallible, Failure> {
    privileges::no_new_privileges()?;
    let tasks = limits::tasks_on_machine();
    let abi = probe::landlock_abi().map_err(failed(Step::Landlock, "the kernel's ABI"))?;
    filesystem::restrict(policy, executable, abi)?;
    filesystem::canary(policy)?;
    let first = BROKER_DESCRIPTOR + i32::from(has_broker);
    close_on_exec_from(first)?;
    let filters = seccomp::Filters::new(policy.profile, executable, abi)?;
    let report = report(abi);
    let report = control::frame(&Status::Confined(report)).map_err(failed(Step::Handover, "the report"))?;
    executable.reset_signals();
    limits::apply(&policy.limits, tasks)?;
    filters.apply()?;
    seccomp::canary(policy.profile)?;
    channel.write_all(&report).map_err(failed(Step::Handover, "the report"))?;
    Err(executable.execute())
}

/// Every layer is required: where this is sent, each has been applied.
fn report(landlock_abi: u32) -> Report {
    let layers = ["capabilities", "no_new_privs", "landlock", "descriptors", "rlimits", "seccomp"];
    Report { tier: probe::TIER.to_owned(), layers: layers.map(str::to_owned).to_vec(), landlock_abi }
}

fn close_on_exec_from(first: i32) -> Result<(), Failure> {
    // SAFETY: only sets a flag on descriptors (close_range(2), CLOSE_RANGE_CLOEXEC).
    let answer = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if answer == 0 {
        Ok(())
    } else {
        Err(failed(Step::Descriptors, "close_range")(io::Error::last_os_error()))
    }
}
