//! Checks of single values of a layer, and what was found wrong: every broken rule is told, not only the first.

use std::cell::RefCell;
use std::time::Duration;

use super::decode::{At, Lookup, Problem};
use super::kinds;
use super::origin::Source;
use super::policy::Glob;

/// Most seconds of a time-out: a day.
const LONGEST_SECONDS: f64 = 86_400.0;

/// Most servers, and most entries of each list and mapping of one.
pub(super) const MOST_ENTRIES: usize = 1_000;

/// Checks the values of one layer.
pub(super) struct Checker<'a> {
    pub(super) source: &'a Source,
    pub(super) lookup: Lookup,
    problems: RefCell<Vec<Problem>>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(source: &'a Source, lookup: Lookup) -> Self {
        Checker { source, lookup, problems: RefCell::default() }
    }

    /// What was wrong.
    pub(super) fn done(self) -> Vec<Problem> {
        self.problems.into_inner()
    }

    /// What is right; what is wrong is kept to be told.
    pub(super) fn keep<T>(&self, checked: Result<T, Problem>) -> Option<T> {
        checked.map_err(|problem| self.problems.borrow_mut().push(problem)).ok()
    }

    pub(super) fn wrong<T>(&self, value: &At<T>, message: &str) -> Problem {
        Problem { place: value.place, message: message.to_owned() }
    }

    /// Keeps what is wrong, to be told.
    pub(super) fn tell<T>(&self, value: &At<T>, message: &str) {
        self.problems.borrow_mut().push(self.wrong(value, message));
    }

    pub(super) fn seconds(&self, value: &At<f64>) -> Result<Duration, Problem> {
        let seconds = Some(value.value).filter(|seconds| *seconds <= LONGEST_SECONDS);
        // What is shorter than a nanosecond becomes nothing.
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        time.filter(|time| !time.is_zero()).ok_or_else(|| {
            // The debug form is the short one: 1e300, not 301 digits.
            let message =
                format!("{:?} is out of range: more than 0, at most {LONGEST_SECONDS} seconds", value.value);
            self.wrong(value, &message)
        })
    }

    /// With the values of variables. They stand in no message.
    pub(super) fn expand(&self, value: &At<String>) -> Result<String, Problem> {
        kinds::expanded(&value.value, self.lookup).map_err(|message| self.wrong(value, &message))
    }

    /// An absolute address of a server, variables expanded.
    pub(super) fn address(&self, value: &At<String>) -> Result<url::Url, Problem> {
        kinds::address(&self.expand(value)?).map_err(|message| self.wrong(value, message))
    }

    /// The name of an environment variable; it is told with the place of its value.
    pub(super) fn variable(&self, name: &str, value: &At<String>) -> Result<String, Problem> {
        kinds::variable(name.to_owned()).map_err(|message| self.wrong(value, &message))
    }
}

pub(super) fn globs(names: &[String]) -> Vec<Glob> {
    names.iter().map(|name| Glob::new(name)).collect()
}

/// Whether a server may have the name.
pub(crate) fn check_server_name(name: &str) -> Result<(), String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_word) {
        return Err("a server's name has 1 to 64 letters, digits, `_` and `-`".to_owned());
    }
    Ok(())
}
