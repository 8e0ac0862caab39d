//! System call filters: compiled in the helper, stacked, the deciding one last.
//!
//! A filter has one action, so there are several, and the kernel takes the strictest result. Calls that a
//! program may not make go to its supervisor (`listener`), which refuses and records them. If the kernel
//! accepts no listener because a process above already has one, the filters refuse the calls themselves.
//! Paths are left to `filesystem`.

mod compiler;
mod dangerous;
mod filters;
mod install;
mod old;
mod program;
mod rules;
mod search;
mod server;
mod traced;

use std::fs::File;

use seccompiler::BpfProgram;

use super::exec::Executable;
use crate::error::failed;
use crate::{Failure, Policy, Profile, Step};

pub(super) use dangerous::is_dangerous;
pub(super) use filters::Filters;
use filters::{Context, Deciding};
pub(super) use traced::{Traced, Use, traced};

/// The inputs of the filters besides the policy.
pub(super) struct Surroundings<'a> {
    pub(super) executable: &'a Executable,
    /// The descriptor of the supervisor's socket.
    pub(super) channel: i32,
    /// Whether the child is in namespaces.
    pub(super) namespaces: bool,
    /// Whether Landlock keeps signals and connections to abstract sockets inside.
    pub(super) scopes: bool,
}

impl Filters {
    pub(super) fn new(policy: &Policy, surroundings: &Surroundings<'_>) -> Result<Self, Failure> {
        let (exec_descriptor, exec_path) = surroundings.executable.exec_arguments();
        let context = Context {
            process: std::process::id(),
            exec_descriptor,
            exec_path,
            channel: surroundings.channel,
            signals_scoped: surroundings.namespaces || surroundings.scopes,
            has_paths: policy.has_paths(),
        };
        let built = match policy.profile {
            Profile::Program => program::filters(context),
            Profile::Compiler => compiler::filters(&context, true),
            Profile::Build => compiler::filters(&context, false),
            Profile::Server => {
                let reach = server::Reach::new(policy.network, surroundings.namespaces, surroundings.scopes);
                server::filters(&context, reach, policy.records)
            }
        };
        built.map_err(|error| not_compiled(&error))
    }

    /// Applies all filters to this thread, which is the only one. Returns whether the supervisor is notified
    /// of refused calls. `channel` leads to the supervisor.
    pub(super) fn apply(&self, channel: &File) -> Result<bool, Failure> {
        let failed = |subject: &'static str| failed(Step::Seccomp, subject);
        install::silent(&self.common).map_err(failed("applying a filter"))?;
        let silently = |filters: &[BpfProgram]| {
            filters.iter().try_for_each(install::silent).map_err(failed("applying a filter")).map(|()| false)
        };
        let (filter, after, context) = match &self.deciding {
            Deciding::Silent(filters) => return silently(filters),
            Deciding::Recording { filter, after } => {
                let listener =
                    install::notifying(filter).map_err(failed("applying a filter with a listener"))?;
                install::send_listener(&listener, channel).map_err(failed("sending the listener"))?;
                return silently(std::slice::from_ref(after)).map(|_| true);
            }
            Deciding::Notifying { filter, after, context } => (filter, after, context),
        };
        match install::notifying(filter) {
            Ok(listener) => {
                install::send_listener(&listener, channel).map_err(failed("sending the listener"))?;
                drop(listener);
                install::silent(after).map_err(failed("closing the filter"))?;
                Ok(true)
            }
            // EBUSY: a process above already has a listener (seccomp(2)). EINVAL: Linux before 5.0.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EINVAL)) => {
                silently(&program::silent(context).map_err(|error| not_compiled(&error))?)
            }
            Err(error) => Err(failed("applying a filter with a listener")(error)),
        }
    }
}

fn not_compiled(error: &seccompiler::Error) -> Failure {
    Failure::new(Step::Seccomp, format!("compiling a filter: {error}"), 0)
}

/// Tries once, before anything runs, what must fail under the filters.
pub(super) fn canary(policy: &Policy) -> Result<(), Failure> {
    // SAFETY: both calls take no pointer that they could write through.
    let (subject, result) = unsafe {
        if policy.profile == Profile::Server {
            (
                "a socket of the kernel's ciphers under seccomp",
                libc::socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0),
            )
        } else if policy.profile.is_tree() || policy.has_paths() {
            (
                "a TCP socket under seccomp",
                libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0),
            )
        } else {
            let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
            ("opening / under seccomp", libc::open(c"/".as_ptr(), flags))
        }
    };
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    if result == -1 && errno == libc::EPERM {
        return Ok(());
    }
    Err(Failure::new(Step::Canary, subject, if result == -1 { errno } else { 0 }))
}

#[cfg(test)]
mod tests;
