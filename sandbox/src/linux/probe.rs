//! What this kernel offers, asked of the kernel itself.
//!
//! Leaves applying anything to the layers; a container may still forbid a step, which then fails by name.

use std::io;

use crate::{Support, Unsupported};

/// The tier that every child reaches: Landlock and seccomp are both required.
pub(super) const TIER: &str = "landlock+seccomp";

/// From this ABI on, Landlock keeps signals inside the confined process (Linux 6.12).
pub(super) const ABI_SCOPES: u32 = 6;

/// What this kernel offers.
///
/// # Errors
/// [`Unsupported`] names the missing mechanism: Landlock (Linux 5.13) or seccomp filters.
pub fn probe() -> Result<Support, Unsupported> {
    seccomp()?;
    let landlock_abi = landlock_abi().map_err(|error| without_landlock(&error))?;
    Ok(Support { tier: TIER.to_owned(), landlock_abi })
}

/// Landlock's ABI, at least 1.
pub(super) fn landlock_abi() -> io::Result<u32> {
    // SAFETY: with a null attribute, size 0 and this flag the call only returns a number (landlock_create_ruleset(2)).
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    };
    match u32::try_from(answer) {
        Ok(abi) if abi > 0 => Ok(abi),
        Ok(_) => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// `LANDLOCK_CREATE_RULESET_VERSION` of linux/landlock.h.
const LANDLOCK_CREATE_RULESET_VERSION: u32 = 1;

fn without_landlock(error: &io::Error) -> Unsupported {
    let (missing, advice) = if error.raw_os_error() == Some(libc::EOPNOTSUPP) {
        (
            "Landlock is built into this kernel but not enabled",
            "add `landlock` to the `lsm=` list on the kernel's command line",
        )
    } else {
        (
            "this kernel has no Landlock",
            "use Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK, outside containers that forbid it",
        )
    };
    Unsupported { missing: format!("{missing} ({error})"), advice: advice.to_owned() }
}

fn seccomp() -> Result<(), Unsupported> {
    let action: u32 = libc::SECCOMP_RET_KILL_PROCESS;
    // SAFETY: the operation reads one u32 through the pointer (seccomp(2), SECCOMP_GET_ACTION_AVAIL).
    let answer =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) };
    if answer == 0 {
        return Ok(());
    }
    Err(Unsupported {
        missing: format!("this kernel has no seccomp filters ({})", io::Error::last_os_error()),
        advice: "use Linux 4.14 or newer with CONFIG_SECCOMP_FILTER, outside containers that forbid it"
            .to_owned(),
    })
}
