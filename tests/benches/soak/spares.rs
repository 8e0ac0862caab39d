//! Counts how often executions adopted spare sessions, and how often spare compilers were used.

use std::fs;
use std::path::PathBuf;

use crate::options::Options;
use crate::served::Served;

/// The minimum share, in percent, of the executions that run alone and adopt a spare session, and of those with a new
/// text that find a spare compiler. `serve` was idle before, so normally all of them do. The rest is for a machine that
/// is so busy that `serve` looks idle before it has started them.
const SHARE: u64 = 75;

/// The line that `serve` logs for each snippet that a spare compiler has compiled.
const COMPILED: &str = "a spare compiler has compiled a snippet";

/// The number of executions, and of those that adopted a spare session.
#[derive(Default)]
struct Adoptions {
    executions: u64,
    adopted: u64,
}

/// The spares that were used so far.
pub(crate) struct Spares {
    /// The server's file, which has one byte for each session that was initialised.
    record: PathBuf,
    /// Of executions that ran alone on an idle `serve`.
    alone: Adoptions,
    /// Of executions that ran with others. Spare sessions are opened behind them, so only some adopt one.
    together: Adoptions,
    /// Executions that ran alone with a new text.
    alone_new: u64,
}

impl Spares {
    pub(crate) fn new(record: PathBuf) -> Self {
        Spares { record, alone: Adoptions::default(), together: Adoptions::default(), alone_new: 0 }
    }

    /// Returns the number of sessions that have been initialised.
    pub(crate) fn opened(&self) -> u64 {
        fs::metadata(&self.record).map_or(0, |record| record.len())
    }

    /// Records an execution that used the session with this number. `opened` is [`Spares::opened`] before it was
    /// requested: a session among these was open already, and no other execution had it.
    pub(crate) fn add(&mut self, session: u64, opened: u64, is_alone: bool, is_new: bool) {
        let adoptions = if is_alone { &mut self.alone } else { &mut self.together };
        adoptions.executions += 1;
        adoptions.adopted += u64::from(session <= opened);
        self.alone_new += u64::from(is_alone && is_new);
    }

    /// The cells of a row: adopted sessions alone and together, and used compilers.
    pub(crate) fn cells(&self, served: &Served) -> String {
        let cell = |part: &Adoptions| format!("{} of {}", part.adopted, part.executions);
        format!("{} | {} | {}", cell(&self.alone), cell(&self.together), served.logged(COMPILED))
    }

    /// Lists the spares that were used less than they must be.
    pub(crate) fn problems(&self, options: &Options, served: &Served) -> Vec<String> {
        let mut problems = Vec::new();
        let Adoptions { executions, adopted } = self.alone;
        let is_too_few = |count: u64, of: u64| count == 0 || count * 100 < of * SHARE;
        if options.has_spares() {
            if is_too_few(adopted, executions) {
                problems.push(format!(
                    "only {adopted} of {executions} executions that ran alone adopted a spare session; {SHARE} % must"
                ));
            }
        } else if adopted + self.together.adopted > 0 {
            problems
                .push("executions used sessions that were opened earlier, without spare sessions".to_owned());
        }
        let used = served.logged(COMPILED);
        if is_too_few(used, self.alone_new) {
            problems.push(format!(
                "spare compilers compiled only {used} snippets; executions that ran alone had {} new ones, and {SHARE} % \
                 of these must find a spare compiler",
                self.alone_new
            ));
        }
        problems
    }
}
