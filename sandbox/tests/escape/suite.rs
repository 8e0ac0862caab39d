//! Runs every attempt of the table: without a sandbox, where it must work, and under every tier and every
//! single layer, where it must fail as the table says.
//!
//! The attempts are in `table`, their targets in `world`.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sandbox::{Access, Command, Layers, Policy, Profile, Sandbox};

use crate::common::{self, Output, SIGKILL, SIGSYS, SIGXCPU, exactly};
use crate::table::{Argument, EXCUSED, Proof, ROWS, Row, SERVERS_MAY, Tree, WITHOUT_NAMESPACES};
use crate::world::{Effects, SECRET, World};

/// The user, and the executables.
pub(crate) struct Suite {
    pub(crate) user: &'static str,
    pub(crate) helper: PathBuf,
    pub(crate) program: PathBuf,
}

/// The end of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    Worked,
    /// The error number or signal that stopped it.
    Stopped(String),
    /// Neither worked nor stopped: the attempt failed before it reached what should stop it.
    Strange(String),
    /// The table does not claim that these layers stop it.
    NotClaimed,
    /// Tried only to see whether it works without layers.
    Compared(bool),
}

/// The results of a row.
pub(crate) struct Tried {
    pub(crate) row: &'static Row,
    pub(crate) control: Ending,
    /// The results with their layers, in the order of [`Suite::combinations`].
    pub(crate) confined: Vec<(Layers, Ending)>,
}

/// No layer, for comparison, and the single layers.
const SINGLE: [Layers; 4] = [
    Layers::OFF,
    Layers { seccomp: true, ..Layers::OFF },
    Layers { landlock: true, ..Layers::OFF },
    Layers { namespaces: true, ..Layers::OFF },
];

/// Set to try the tiers, but not the single layers: on an emulated machine, these take most of the time.
const TIERS_ONLY: &str = "SANDBOX_TEST_TIERS_ONLY";

/// Number of parallel attempts.
const WORKERS: usize = 3;

impl Suite {
    /// As the user of this process.
    pub(crate) fn new() -> Self {
        let user = if rustix::process::getuid().is_root() { "root" } else { "ordinary user" };
        Self { user, helper: common::helper(), program: crate::program() }
    }

    fn sandbox(&self, policy: Policy) -> Sandbox {
        Sandbox::new(policy).helper(&self.helper)
    }

    /// The combinations to try: the tiers that this machine supports, then the single layers that it
    /// supports.
    fn combinations(&self) -> Vec<Layers> {
        let supported = self.sandbox(Policy::program()).support().layers;
        let single = if std::env::var_os(TIERS_ONLY).is_some() { &SINGLE[..1] } else { &SINGLE };
        Layers::TIERS.iter().chain(single).filter(|layers| supported.include(**layers)).copied().collect()
    }

    /// The selected rows that apply to this profile, in the order of the table.
    pub(crate) fn run(&self, profile: Profile, is_selected: impl Fn(&Row) -> bool) -> Vec<Tried> {
        let rows: Vec<&Row> = ROWS.iter().filter(|row| applies(row, profile) && is_selected(row)).collect();
        let combinations = self.combinations();
        let (next, tried) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let done = self.try_row(row, profile, &combinations);
                        tried.lock().unwrap().push(done);
                    }
                });
            }
        });
        let mut tried = tried.into_inner().unwrap();
        tried.sort_by_key(|tried: &Tried| ROWS.iter().position(|row| row.number == tried.row.number));
        tried
    }

    fn try_row(&self, row: &'static Row, profile: Profile, combinations: &[Layers]) -> Tried {
        let confined = combinations.iter().map(|layers| (*layers, self.confined(row, profile, *layers)));
        Tried { row, control: self.control(row), confined: confined.collect() }
    }

    /// Tries the row without a sandbox, where its effect must show.
    fn control(&self, row: &Row) -> Ending {
        if row.proof == Proof::Signalled && self.user == "root" {
            return Ending::NotClaimed;
        }
        let mut world = World::new(row, &self.program);
        let mut command = std::process::Command::new(&self.program);
        command.arg(row.attempt).args(row.on.iter().map(|on| world.text(*on, true)));
        if let Some(passed) = &world.passed {
            command.stdin(passed.end.try_clone().unwrap());
        }
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let output =
            Output { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) };
        let effects = world.effects();
        if !output.is_done() {
            return stopped(&output).unwrap_or_else(|| Ending::Strange(format!("{output:?}")));
        }
        if proves(row, &output, effects) {
            Ending::Worked
        } else {
            Ending::Strange(format!("{output:?} {effects:?}"))
        }
    }

    fn confined(&self, row: &Row, profile: Profile, layers: Layers) -> Ending {
        let abi = self.sandbox(Policy::program()).support().landlock_abi;
        let holders = match row.tree {
            Tree::Differs(held) if profile != Profile::Program => held,
            _ => row.program,
        };
        let is_claimed = holders.by(layers, abi) && !is_exempt_from_limits(row, self);
        // Without layers, all other attempts are tried too: what works then is stopped by the layers alone.
        let is_for_comparison = !is_claimed && layers == Layers::OFF && is_over_at_its_end(row);
        let costs_seconds = is_computing(row) && !Layers::TIERS.contains(&layers);
        if costs_seconds || !is_claimed && !is_for_comparison {
            return Ending::NotClaimed;
        }
        let mut world = World::new(row, &self.program);
        let mut command = Command::new(&self.program).arg(row.attempt);
        command = command.args(row.on.iter().map(|on| world.text(*on, false)));
        if let Some(passed) = &world.passed {
            command = command.broker(passed.end.try_clone().unwrap());
        }
        let sandbox = self.sandbox(exactly(policy(row, profile, &self.program), layers));
        // As `serve` executes programs: by a descriptor, in a helper that was started ahead.
        if profile == Profile::Program {
            command = command.image(common::in_memory(&self.program));
            sandbox.start_helper_ahead().unwrap();
        }
        let output = match sandbox.spawn(command) {
            Ok(child) => common::finish(child),
            Err(error) => return Ending::Strange(error.to_string()),
        };
        let effects = world.effects();
        if is_for_comparison {
            return Ending::Compared(output.is_done() && proves(row, &output, effects));
        }
        let counts_report = !matches!(row.proof, Proof::Ended | Proof::Signalled);
        let counted = Effects { signalled: effects.signalled && row.proof == Proof::Signalled, ..effects };
        if counts_report && row.proof != Proof::Left && output.is_done() || counted != Effects::default() {
            return Ending::Worked;
        }
        if output.stdout.contains(SECRET) {
            return Ending::Worked;
        }
        match stopped(&output) {
            Some(Ending::Stopped(how)) if is_expected(&output, row, layers) => Ending::Stopped(how),
            // The call was allowed and had no effect: signals under Landlock, a daemon that ended with its
            // namespace.
            None if output.is_done() => Ending::Stopped("no effect".to_owned()),
            _ => Ending::Strange(format!("{output:?}")),
        }
    }
}

/// Whether a row is tried under a profile.
fn applies(row: &Row, profile: Profile) -> bool {
    match profile {
        Profile::Program => true,
        Profile::Server => !matches!(row.tree, Tree::Apart) && !SERVERS_MAY.contains(&row.number),
        _ => !matches!(row.tree, Tree::Apart),
    }
}

/// Whether the attempt has no lasting or global effect: without layers, nothing ends a process that leaves
/// its group, and a signal to all reaches all.
fn is_over_at_its_end(row: &Row) -> bool {
    !matches!(row.proof, Proof::Left | Proof::Signalled)
}

fn policy(row: &Row, profile: Profile, program: &Path) -> Policy {
    let policy = match profile {
        Profile::Program => Policy::program(),
        // The program's root contains nothing else.
        Profile::Server => Policy::server().grant(program, Access::ReadExecute),
        _ => Policy::compiler(),
    };
    // One second for the attempt that must exhaust it. Other attempts get more, because an emulated machine
    // needs it for threads. Files are allowed, so that the layers refuse them.
    policy.limits(|limits| {
        limits.cpu_seconds = Some(if is_computing(row) { 1 } else { 10 });
        limits.file_size = Some(1 << 20);
    })
}

/// Whether the attempt ends only with its limit of processor time.
fn is_computing(row: &Row) -> bool {
    row.attempt.starts_with("compute")
}

/// RLIMIT_NPROC does not apply to root. The other limits of root's threads depend on the kernel, or act a moment later; they
/// have their own test (`sharing`).
fn is_exempt_from_limits(row: &Row, suite: &Suite) -> bool {
    let has_groups = || {
        let support = suite.sandbox(Policy::program()).support();
        support.mechanisms.iter().any(|mechanism| mechanism.name == "control groups" && mechanism.available)
    };
    row.attempt == "threads" && suite.user == "root" && !has_groups()
}

fn proves(row: &Row, output: &Output, effects: Effects) -> bool {
    match row.proof {
        Proof::Reported => true,
        Proof::Secret => output.stdout.contains(SECRET),
        Proof::Changed => effects.changed,
        Proof::Reached => effects.reached,
        Proof::Ended => effects.ended,
        Proof::Signalled => effects.signalled,
        Proof::Left => effects.left,
    }
}

/// The error number or signal of a stopped attempt.
fn stopped(output: &Output) -> Option<Ending> {
    let errno = output.errno().map(|errno| format!("{}", std::io::Error::from_raw_os_error(errno)));
    let signal = output.signal().map(|signal| format!("signal {signal}"));
    signal.or(errno).map(Ending::Stopped)
}

/// Whether the layers refused it, and the attempt itself was not at fault.
fn is_expected(output: &Output, row: &Row, layers: Layers) -> bool {
    // An abandoned notification would return ENOSYS: the program continued after a fatal call.
    if let Some(signal) = output.signal() {
        return signal == SIGSYS && layers.seccomp && output.stdout.is_empty()
            || [SIGXCPU, SIGKILL].contains(&signal) && is_computing(row)
            // The supervisor has counted its threads.
            || signal == SIGKILL && row.attempt == "threads";
    }
    // EPERM; also Landlock's errors for files (EACCES) and for links between folders (EXDEV).
    let common: &[i32] = &[1];
    let landlock: &[i32] = if layers.landlock { &[13, 18] } else { &[] };
    // No files, processes or listeners exist, the root is read-only, and the network is down: ENOENT, ESRCH,
    // EACCES, ENOTDIR, EROFS, ENETUNREACH, ECONNREFUSED.
    let namespaces: &[i32] = if layers.namespaces { &[2, 3, 13, 20, 30, 101, 111] } else { &[] };
    let errno = output.errno().unwrap_or_default();
    [common, landlock, namespaces, row.also].iter().any(|errors| errors.contains(&errno))
}

/// Whether a control may fail even if all must work.
pub(crate) fn is_excused(row: &Row, user: &str) -> bool {
    let lacks_namespaces = common::required_tier().is_some_and(|tier| !tier.namespaces);
    let applies =
        |whom: &str| whom.is_empty() || whom == user || whom == WITHOUT_NAMESPACES && lacks_namespaces;
    EXCUSED.iter().any(|(number, whom, _)| *number == row.number && applies(whom))
}

/// Whether the table says that every tier stops the row, as required for a program.
pub(crate) fn is_held_in_every_tier(row: &Row) -> bool {
    Layers::TIERS.iter().all(|tier| row.program.by(*tier, 1))
}

/// A readable title of a row, with its first argument.
pub(crate) fn title(row: &Row) -> String {
    let on = row.on.first().map(|on| match on {
        Argument::Text(text) => (*text).to_owned(),
        other => format!("{other:?}").to_lowercase(),
    });
    format!("{} {} {}", row.number, row.attempt, on.unwrap_or_default()).trim_end().to_owned()
}
