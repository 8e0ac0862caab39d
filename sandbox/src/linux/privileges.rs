//! Capabilities and `no_new_privs`.
//!
//! Leaves user ids alone: files that a build writes belong to the user who started it.

use std::io;

use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::error::failed;
use crate::{Failure, Step};

/// Gives up every capability in every set. For an ordinary user there is nothing to give up but the bounding
/// set, which `no_new_privs` makes powerless.
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

/// Numbers run without gaps up to the kernel's last one, above which PR_CAPBSET_READ is EINVAL (capabilities(7)).
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

/// No later exec can gain privileges; a condition for unprivileged Landlock and seccomp as well.
pub(super) fn no_new_privileges() -> Result<(), Failure> {
    rustix::thread::set_no_new_privs(true).map_err(failed(Step::NoNewPrivileges, "this process"))
}

/// Keeps the memory and the environment of this process from other processes of the same user: no tracing, no
/// `/proc/PID/environ` and no core dump (`PR_SET_DUMPABLE`). For a host that holds secrets; a program that it executes is not affected.
///
/// # Errors
/// What `prctl(2)` says.
pub fn hide_from_others() -> io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?)
}
