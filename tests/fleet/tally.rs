//! The results of a load: a row of the table, and whether anything happened that must not happen.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::client::Ending;
use crate::load::{Load, Sample};

/// Limit on examples of what must not happen, for each load.
const EXAMPLES: usize = 3;

/// A replica that was killed during a load.
#[derive(Clone, Copy)]
pub(crate) struct Killed {
    pub(crate) replica: &'static str,
    pub(crate) at: Instant,
}

/// The columns of the table.
pub(crate) const HEAD: &str = "\
| trial | sent/s | good/s | p50 ms | p99 ms | sent | good | busy | other errors | cut by the kill | lost | new sessions | effects twice | compiled twice |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

/// The results of one load.
pub(crate) struct Tally {
    name: String,
    rate: f64,
    pub(crate) goodput: f64,
    times: Vec<Duration>,
    sent: usize,
    pub(crate) good: usize,
    busy: usize,
    errors: usize,
    cut: usize,
    lost: usize,
    sessions: usize,
    twice: usize,
    compiled_twice: usize,
    /// Refusals that say when to try again.
    says_when: usize,
    /// The forbidden events, with examples.
    pub(crate) wrong: Vec<String>,
    /// Other errors, with their number.
    pub(crate) reasons: Vec<(String, usize)>,
}

fn is_cut_by(sample: &Sample, killed: Option<Killed>) -> bool {
    let Some(Killed { replica, at }) = killed else { return false };
    // The proxy does not name a replica that has not answered yet.
    let is_its = sample.seen.replica.as_deref().is_none_or(|name| name == replica);
    is_its && sample.began <= at && sample.ended >= at
}

impl Tally {
    /// Counts a load; `effects` are the calls that the server has received, by mark.
    pub(crate) fn of(
        name: &str,
        load: &Load,
        effects: &HashMap<String, usize>,
        killed: Option<Killed>,
    ) -> Self {
        let mut tally = Tally {
            name: name.to_owned(),
            rate: load.rate,
            goodput: 0.0,
            times: Vec::new(),
            sent: load.samples.len(),
            good: 0,
            busy: 0,
            errors: 0,
            cut: 0,
            lost: 0,
            sessions: 0,
            twice: 0,
            compiled_twice: 0,
            says_when: 0,
            wrong: Vec::new(),
            reasons: Vec::new(),
        };
        let (end, mut in_time) = (load.began + load.time, 0_u32);
        for sample in &load.samples {
            tally.add(sample, killed);
            if sample.seen.ending == Ending::Good && sample.ended <= end {
                in_time += 1;
            }
            tally.count_effects(sample, effects);
        }
        tally.goodput = f64::from(in_time) / load.time.as_secs_f64();
        tally.count_compiles(&load.samples);
        tally.times.sort();
        tally
    }

    fn wrong(&mut self, what: &str) {
        if self.wrong.len() < EXAMPLES {
            self.wrong.push(format!("{}: {what}", self.name));
        }
    }

    fn error(&mut self, reason: String) {
        self.errors += 1;
        match self.reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.reasons.push((reason, 1)),
        }
    }

    fn add(&mut self, sample: &Sample, killed: Option<Killed>) {
        let seen = &sample.seen;
        self.sessions += seen.sessions_lost;
        self.says_when += usize::from(seen.ending == Ending::Busy && seen.says_when);
        match &seen.ending {
            Ending::Good => {
                self.good += 1;
                self.times.push(sample.ended - sample.began);
            }
            Ending::Busy => self.busy += 1,
            // The proxy's answer for a replica that breaks the connection before its answer.
            Ending::Refused(502) | Ending::Cut(_) if is_cut_by(sample, killed) => self.cut += 1,
            Ending::Refused(status) => self.error(format!("HTTP {status}")),
            Ending::Failed(why) => self.error(why.clone()),
            Ending::Cut(why) | Ending::Lost(why) => {
                self.lost += 1;
                let replica = seen.replica.as_deref().unwrap_or("no replica");
                self.wrong(&format!("no answer from {replica} to {}: {why}", sample.work.mark));
            }
        }
    }

    fn count_effects(&mut self, sample: &Sample, effects: &HashMap<String, usize>) {
        let mark = &sample.work.mark;
        let count = effects.get(mark).copied().unwrap_or_default();
        if count > 1 {
            self.twice += 1;
            self.wrong(&format!("{mark} ran {count} times"));
        }
        if count > 0 && sample.seen.ending == Ending::Busy {
            self.twice += 1;
            self.wrong(&format!("{mark} was refused and ran"));
        }
    }

    fn count_compiles(&mut self, samples: &[Sample]) {
        let mut compiles: HashMap<&str, usize> = HashMap::new();
        for sample in samples.iter().filter(|sample| sample.seen.compiled) {
            *compiles.entry(&sample.work.code).or_default() += 1;
        }
        self.compiled_twice = compiles.values().filter(|count| **count > 1).count();
    }

    fn quantile(&self, quantile: f64) -> String {
        let last = self.times.len().saturating_sub(1);
        let index = (quantile * last as f64).round() as usize;
        self.times.get(index).map_or_else(|| "–".to_owned(), |time| time.as_millis().to_string())
    }

    /// The row of the table.
    pub(crate) fn row(&self) -> String {
        let Tally {
            name, goodput, sent, good, busy, errors, cut, lost, sessions, twice, compiled_twice, ..
        } = self;
        let rate = if self.rate > 0.0 { format!("{:.1}", self.rate) } else { "–".to_owned() };
        let (median, high) = (self.quantile(0.5), self.quantile(0.99));
        format!(
            "| {name} | {rate} | {goodput:.1} | {median} | {high} | {sent} | {good} | {busy} | {errors} | {cut} | {lost} \
             | {sessions} | {twice} | {compiled_twice} |"
        )
    }

    /// Counts the refusals that do not give a time to try again.
    pub(crate) fn silent_refusals(&self) -> usize {
        self.busy - self.says_when
    }
}
