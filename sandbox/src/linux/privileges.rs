//! Capabilities and `no_new_privs`.
//!
//! User ids stay, because files that a build writes must belong to the user.

use std::io;

use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::error::failed;
use crate::{Failure, Step};

/// Gives up every capability in every set. An ordinary user has only the bounding set, which `no_new_privs`
/// makes ineffective.
pub(super) fn drop_capabilities() -> Result<(), Failure> {
    let sets = rustix::thread::capabilities(None).map_err(failed(Step::Capabilities, "the current sets"))?;
    if sets.effective.contains(CapabilitySet::SETPCAP) {
        drop_bounding_set()?;
    }
    rustix::thread::clear_ambient_capability_set().map_err(failed(Step::Capabilities, "the ambient set"))?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none).map_err(failed(Step::Capabilities, "the permitted set"))
}

/// Capability numbers have no gaps up to the kernel's last one. Above it, PR_CAPBSET_READ is EINVAL
/// (capabilities(7)).
fn drop_bounding_set() -> Result<(), Failure> {
    for capability in 0..64 {
        // SAFETY: reads or drops one bit of this thread's bounding set (prctl(2)).
        let dropped = unsafe {
            match libc::prctl(libc::PR_CAPBSET_READ, capability, 0, 0, 0) {
                0 => continue,
                1 => libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0),
                _ => break,
            }
        };
        if dropped != 0 {
            return Err(failed(Step::Capabilities, format!("capability {capability} of the bounding set"))(
                io::Error::last_os_error(),
            ));
        }
    }
    Ok(())
}

/// Prevents later execs from gaining privileges. Unprivileged Landlock and seccomp also require this.
pub(super) fn no_new_privileges() -> Result<(), Failure> {
    rustix::thread::set_no_new_privs(true).map_err(failed(Step::NoNewPrivileges, "this process"))
}

/// Protects the memory and the environment of this process from other processes of the same user: no tracing,
/// no `/proc/PID/environ` and no core dump (`PR_SET_DUMPABLE`). For a host that holds secrets. Programs that
/// it executes are not affected.
///
/// # Errors
/// Returns the error of `prctl(2)`.
pub fn hide_from_others() -> io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?)
}
