//! Landlock: the paths that a child can open; also TCP, signals and abstract sockets, if the kernel's ABI
//! supports them.
//!
//! Everything in the probed ABI is a hard requirement. Accesses that Landlock does not check (`stat`, modes,
//! owners, times, UDP, and those missing in older ABIs) are left to `seccomp`.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};
use rustix::fs::{FileType, Mode, OFlags};

use super::exec::Executable;
use super::probe::ABI_SCOPES;
use super::root;
use crate::error::failed;
use crate::{Access, Failure, Grant, Layers, MemoryFolder, Network, Policy, Profile, SCRATCH, Step};

/// The first ABI that restricts TCP (Linux 6.7).
const ABI_NET: u32 = 4;

/// Restricts this process to the granted paths and the executable.
pub(super) fn restrict(
    policy: &Policy,
    layers: Layers,
    executable: &Executable,
    abi: u32,
) -> Result<(), Failure> {
    let known = known_abi(abi);
    let mut ruleset = ruleset(policy, known, abi)?;
    // Files in memory are in no hierarchy, so Landlock has no rules for them: a descriptor suffices to execute one.
    if !executable.is_image {
        ruleset = add(
            ruleset,
            &executable.descriptor,
            AccessFs::ReadFile | AccessFs::Execute,
            &executable.path.display().to_string(),
        )?;
    }
    let scratch =
        policy.scratch.map(|_| Grant { path: SCRATCH.into(), access: Access::Write, optional: false });
    let own = |folder: &MemoryFolder| {
        [Access::Write, Access::ReadExecute].map(|access| Grant {
            path: folder.path.clone(),
            access,
            optional: false,
        })
    };
    let mut own: Vec<Grant> = policy.memory_folders.iter().flat_map(own).collect();
    if policy.profile == Profile::Server && layers.namespaces {
        own.push(Grant { path: root::PROCESSES.into(), access: Access::Read, optional: false });
    }
    for grant in policy.grants.iter().chain(&scratch).chain(&own) {
        if let Some((opened, rights)) = open(policy.profile, grant, known)? {
            ruleset = add(ruleset, &opened, rights, &grant.path.display().to_string())?;
        }
    }
    let status = ruleset.restrict_self().map_err(|error| refused("restricting this process", &error))?;
    if status.ruleset == RulesetStatus::FullyEnforced {
        return Ok(());
    }
    Err(Failure::new(Step::Landlock, format!("a ruleset of ABI {abi}, which is {:?}", status.ruleset), 0))
}

fn ruleset(policy: &Policy, known: ABI, abi: u32) -> Result<RulesetCreated, Failure> {
    // Rules on TCP know ports and no addresses, so they can only refuse all of it.
    let has_network = policy.profile == Profile::Server && policy.network != Network::None;

    let build = || {
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(known))?;
        if abi >= ABI_NET && !has_network {
            ruleset = ruleset.handle_access(AccessNet::from_all(known))?;
        }
        if abi >= ABI_SCOPES {
            ruleset = ruleset.scope(Scope::from_all(known))?;
        }
        ruleset.create()
    };
    build().map_err(|error: landlock::RulesetError| refused("creating a ruleset", &error))
}

fn add(
    ruleset: RulesetCreated,
    opened: &OwnedFd,
    rights: BitFlags<AccessFs>,
    subject: &str,
) -> Result<RulesetCreated, Failure> {
    ruleset
        .add_rule(PathBeneath::new(opened.as_fd(), rights))
        .map_err(|error| Failure { step: Step::Grant, ..refused(subject, &error) })
}

/// Opens the path, with the rights that apply to it. Returns `None` for an optional path that does not exist.
fn open(profile: Profile, grant: &Grant, abi: ABI) -> Result<Option<(OwnedFd, BitFlags<AccessFs>)>, Failure> {
    let subject = grant.path.display().to_string();
    let opened = match rustix::fs::open(&grant.path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) if grant.optional => return Ok(None),
        other => other.map_err(failed(Step::Grant, &subject))?,
    };
    let status = rustix::fs::fstat(&opened).map_err(failed(Step::Grant, &subject))?;
    let applicable = if FileType::from_raw_mode(status.st_mode).is_dir() {
        AccessFs::from_all(abi)
    } else {
        AccessFs::from_file(abi)
    };
    let mut rights = rights(grant.access);
    if profile == Profile::Server && grant.access == Access::Write {
        rights |= AccessFs::MakeSock | AccessFs::ResolveUnix;
    }
    Ok(Some((opened, rights & applicable)))
}

fn rights(access: Access) -> BitFlags<AccessFs> {
    let read = make_bitflags!(AccessFs::{ReadFile | ReadDir});
    match access {
        Access::Read => read,
        Access::ReadExecute => read | AccessFs::Execute,
        Access::Write => {
            let write = make_bitflags!(AccessFs::{WriteFile | Truncate | RemoveFile | RemoveDir | Refer});
            read | write | make_bitflags!(AccessFs::{MakeReg | MakeDir | MakeSym | MakeFifo})
        }
    }
}

/// The newest ABI that both the kernel and the landlock crate know.
fn known_abi(abi: u32) -> ABI {
    match abi {
        0 => ABI::Unsupported,
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        6 => ABI::V6,
        7 => ABI::V7,
        8 => ABI::V8,
        _ => ABI::V9,
    }
}

fn refused(subject: &str, error: &(dyn std::error::Error + 'static)) -> Failure {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(errno) = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return Failure::new(Step::Landlock, subject, errno);
        }
        cause = error.source();
    }
    Failure::new(Step::Landlock, format!("{subject}: {error}"), 0)
}

/// Checks that opening `/` fails, unless it is granted.
pub(super) fn canary(policy: &Policy) -> Result<(), Failure> {
    if policy.grants.iter().any(|grant| grant.path.components().count() <= 1) {
        return Ok(());
    }
    match rustix::fs::open("/", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
        Err(rustix::io::Errno::ACCESS) => Ok(()),
        Err(errno) => Err(failed(Step::Canary, "listing / under Landlock")(errno)),
        Ok(_) => Err(Failure::new(Step::Canary, "listing / under Landlock", 0)),
    }
}
