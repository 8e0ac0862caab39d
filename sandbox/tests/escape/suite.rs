//! Runs every attempt of the table: without a sandbox, where it must work, and under every tier and every single layer, where
//! it must fail by what the table says.
//!
//! Leaves what is tried to the table and what it is tried on to the world.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sandbox::{Command, Layers, Policy, Profile, Sandbox};

use crate::common::{self, Output, SIGKILL, SIGSYS, SIGXCPU, exactly};
use crate::table::{Argument, EXCUSED, Proof, ROWS, Row, Tree};
use crate::world::{Effects, SECRET, World};

/// Who tries, with what.
pub(crate) struct Suite {
    pub(crate) user: &'static str,
    pub(crate) helper: PathBuf,
    pub(crate) program: PathBuf,
}

/// How one run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    Worked,
    /// By what: an error number or a signal.
    Stopped(String),
    /// Neither: the attempt did not get to where it was to be stopped.
    Strange(String),
    /// The table does not claim that it is stopped.
    NotClaimed,
    /// Tried only to see whether it works without any layer.
    Compared(bool),
}

/// What became of a row.
pub(crate) struct Tried {
    pub(crate) row: &'static Row,
    pub(crate) control: Ending,
    /// By the names of the layers, in the order of [`Suite::combinations`].
    pub(crate) confined: Vec<(Layers, Ending)>,
}

/// The layers one by one, and none.
const SINGLE: [Layers; 4] = [
    Layers::OFF,
    Layers { seccomp: true, ..Layers::OFF },
    Layers { landlock: true, ..Layers::OFF },
    Layers { namespaces: true, ..Layers::OFF },
];

/// How many attempts are made at a time.
const WORKERS: usize = 3;

impl Suite {
    fn sandbox(&self, policy: Policy) -> Sandbox {
        Sandbox::new(policy).helper(&self.helper)
    }

    /// What is tried: the tiers that this machine has, then what it has of the single layers.
    fn combinations(&self) -> Vec<Layers> {
        let offered = self.sandbox(Policy::program()).support().layers;
        Layers::TIERS.into_iter().chain(SINGLE).filter(|layers| offered.include(*layers)).collect()
    }

    /// All rows that concern this profile, in the order of the table.
    pub(crate) fn run(&self, profile: Profile) -> Vec<Tried> {
        let rows: Vec<&Row> = ROWS.iter().filter(|row| concerns(row, profile)).collect();
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

    /// Without any sandbox; it must really do what it says.
    fn control(&self, row: &Row) -> Ending {
        if row.proof == Proof::Signalled && self.user == "root" {
            return Ending::NotClaimed;
        }
        let mut world = World::new(row, &self.program);
        let mut command = std::process::Command::new(&self.program);
        command.arg(row.attempt).args(row.on.iter().map(|on| world.text(*on, true)));
        if let Some(terminal) = &world.terminal {
            command.stdin(terminal.slave.try_clone().unwrap());
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
        // Without layers, everything else is tried as well: what works then is stopped by the layers and nothing else.
        let is_for_comparison = !is_claimed && layers == Layers::OFF && is_over_at_its_end(row);
        let costs_seconds = row.attempt == "compute" && !Layers::TIERS.contains(&layers);
        if costs_seconds || !is_claimed && !is_for_comparison {
            return Ending::NotClaimed;
        }
        let mut world = World::new(row, &self.program);
        let mut command = Command::new(&self.program).arg(row.attempt);
        command = command.args(row.on.iter().map(|on| world.text(*on, false)));
        if let Some(terminal) = &world.terminal {
            command = command.broker(terminal.slave.try_clone().unwrap());
        }
        let output = match self.sandbox(exactly(policy(row, profile), layers)).spawn(command) {
            Ok(child) => common::finish(child),
            Err(error) => return Ending::Strange(error.to_string()),
        };
        let effects = world.effects();
        if is_for_comparison {
            return Ending::Compared(output.is_done() && proves(row, &output, effects));
        }
        let counts_word = !matches!(row.proof, Proof::Ended | Proof::Signalled);
        let counted = Effects { signalled: effects.signalled && row.proof == Proof::Signalled, ..effects };
        if counts_word && row.proof != Proof::Left && output.is_done() || counted != Effects::default() {
            return Ending::Worked;
        }
        if output.stdout.contains(SECRET) {
            return Ending::Worked;
        }
        match stopped(&output) {
            Some(Ending::Stopped(how)) if is_expected(&output, row, layers) => Ending::Stopped(how),
            // The call went through, and did nothing: signals under Landlock, a daemon that ended with its namespace.
            None if output.is_done() => Ending::Stopped("no effect".to_owned()),
            _ => Ending::Strange(format!("{output:?}")),
        }
    }
}

/// Whether a row is tried under a profile.
fn concerns(row: &Row, profile: Profile) -> bool {
    profile == Profile::Program || !matches!(row.tree, Tree::Apart)
}

/// Without layers, nothing ends what leaves its group, and a signal to all is one to all.
fn is_over_at_its_end(row: &Row) -> bool {
    !matches!(row.proof, Proof::Left | Proof::Signalled)
}

fn policy(row: &Row, profile: Profile) -> Policy {
    let policy = match profile {
        Profile::Program => Policy::program(),
        _ => Policy::compiler(),
    };
    // A second for the attempt that must run out of it. An emulated machine needs more for the threads of others. Files are
    // allowed, so that it is the layers that refuse them.
    policy.limits(|limits| {
        limits.cpu_seconds = Some(if row.attempt == "compute" { 1 } else { 10 });
        limits.file_size = Some(1 << 20);
    })
}

/// RLIMIT_NPROC does not count for root; where no control group can be made, nothing else does.
fn is_exempt_from_limits(row: &Row, suite: &Suite) -> bool {
    let has_groups = || {
        let support = suite.sandbox(Policy::program()).support();
        support.mechanisms.iter().any(|mechanism| mechanism.name == "control groups" && mechanism.available)
    };
    row.attempt == "threads" && suite.user == "root" && !has_groups()
}

fn proves(row: &Row, output: &Output, effects: Effects) -> bool {
    match row.proof {
        Proof::Said => true,
        Proof::Secret => output.stdout.contains(SECRET),
        Proof::Changed => effects.changed,
        Proof::Reached => effects.reached,
        Proof::Ended => effects.ended,
        Proof::Signalled => effects.signalled,
        Proof::Left => effects.left,
    }
}

/// By an error number or a signal, if it was.
fn stopped(output: &Output) -> Option<Ending> {
    let errno = output.errno().map(|errno| format!("{}", std::io::Error::from_raw_os_error(errno)));
    let signal = output.signal().map(|signal| format!("signal {signal}"));
    signal.or(errno).map(Ending::Stopped)
}

/// Whether it is the layers that refused it, and not a mistake of the attempt.
fn is_expected(output: &Output, row: &Row, layers: Layers) -> bool {
    // A notice that nobody answers any more would be ENOSYS: the program went on after what it is ended for.
    if let Some(signal) = output.signal() {
        return signal == SIGSYS && layers.seccomp && output.stdout.is_empty()
            || [SIGXCPU, SIGKILL].contains(&signal) && row.attempt == "compute";
    }
    // EPERM; also what Landlock says of files (EACCES) and of links from elsewhere (EXDEV).
    let common: &[i32] = &[1];
    let landlock: &[i32] = if layers.landlock { &[13, 18] } else { &[] };
    // Neither files, processes nor listeners are there, the root is read-only, and the network is down:
    // ENOENT, ESRCH, EACCES, ENOTDIR, EROFS, ENETUNREACH, ECONNREFUSED.
    let namespaces: &[i32] = if layers.namespaces { &[2, 3, 13, 20, 30, 101, 111] } else { &[] };
    let errno = output.errno().unwrap_or_default();
    [common, landlock, namespaces, row.also].iter().any(|errors| errors.contains(&errno))
}

/// Whether a control need not work, even where all are wanted.
pub(crate) fn is_excused(row: &Row, user: &str) -> bool {
    EXCUSED.iter().any(|(number, whom, _)| *number == row.number && (whom.is_empty() || *whom == user))
}

/// Whether the table says that every tier stops the row, as it must for a program.
pub(crate) fn is_held_in_every_tier(row: &Row) -> bool {
    Layers::TIERS.iter().all(|tier| row.program.by(*tier, 1))
}

/// What is left of a row's arguments, for people.
pub(crate) fn title(row: &Row) -> String {
    let on = row.on.first().map(|on| match on {
        Argument::Text(text) => (*text).to_owned(),
        other => format!("{other:?}").to_lowercase(),
    });
    format!("{} {} {}", row.number, row.attempt, on.unwrap_or_default()).trim_end().to_owned()
}
