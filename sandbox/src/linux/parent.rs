//! Ties a process to its parent (`PR_SET_PDEATHSIG`), so that it dies with it.

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use crate::error::failed;
use crate::{Failure, Step};

/// Ties this process to the one that started it. Fails if that one has already ended.
pub(super) fn die_with(parent: Option<Pid>) -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(failed(Step::ParentDeath, "the parent death signal"))?;
    if getppid() == parent && parent.is_some() {
        return Ok(());
    }
    Err(Failure::new(Step::ParentDeath, "the parent process", libc::ESRCH))
}
