//! The mix of texts that clients send: 70 % repeats, 25 % new ones, 5 % errors. A tenth of the first two also calls the
//! slow tool.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

/// The number of texts that are repeated.
const REPEATED: u64 = 20;
/// Of a hundred texts, so many are repeats and new ones; the rest are errors.
const REPEATS: u64 = 70;
const NEW: u64 = 25;
/// One of so many texts also calls the slow tool.
const SLOW_EVERY: u64 = 10;
/// One of so many new texts is sent twice at the same moment.
const TWICE_EVERY: u64 = 4;

/// One execution.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) code: String,
    /// Identifies the execution in its calls.
    pub(crate) mark: String,
    /// The expected status.
    pub(crate) status: &'static str,
}

impl Work {
    /// The expected value.
    pub(crate) fn result(&self) -> Value {
        json!(self.mark)
    }
}

/// Creates executions; the same sequence each time, with texts that no earlier run has sent.
pub(crate) struct Mix {
    /// Identifies this run in texts and marks.
    run: u64,
    next: AtomicU64,
    state: AtomicU64,
}

impl Mix {
    pub(crate) fn new() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let run = since.map_or(0, |since| since.as_secs());
        Mix { run, next: AtomicU64::new(0), state: AtomicU64::new(1) }
    }

    /// A number below `limit` (Knuth's linear congruential generator, of which the upper bits are used).
    fn below(&self, limit: u64) -> u64 {
        let step = |state: u64| {
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
        };
        let before = self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| Some(step(state)));
        (step(before.unwrap_or_default()) >> 33) % limit
    }

    fn mark(&self) -> String {
        format!("{:x}-{}", self.run, self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// One of the repeated texts.
    fn repeat(&self, number: u64) -> Work {
        let slow = if number.is_multiple_of(SLOW_EVERY) { SLOW } else { "" };
        Work { code: format!("{FIRST}{slow}let _ = {number};\nmark"), mark: self.mark(), status: "ok" }
    }

    fn new_text(&self) -> Work {
        let mark = self.mark();
        let slow = if self.below(SLOW_EVERY) == 0 { SLOW } else { "" };
        Work { code: format!("{FIRST}{slow}assert!({mark:?} != \"\");\nmark"), mark, status: "ok" }
    }

    fn error(&self) -> Work {
        let mark = self.mark();
        if self.below(2) == 0 {
            let code = format!("let wrong: u32 = vec![{mark:?}];\nwrong");
            return Work { code, mark, status: "compile_error" };
        }
        let code = format!("{FIRST}\"no number\".parse::<u32>()?;\nmark");
        Work { code, mark, status: "runtime_error" }
    }

    /// The next executions that are sent at the same moment: one, or two of the same text.
    pub(crate) fn next(&self) -> Vec<Work> {
        let chance = self.below(100);
        if chance < REPEATS {
            return vec![self.repeat(self.below(REPEATED))];
        }
        if chance >= REPEATS + NEW {
            return vec![self.error()];
        }
        let new = self.new_text();
        match self.below(TWICE_EVERY) {
            0 => vec![Work { mark: self.mark(), ..new.clone() }, new],
            _ => vec![new],
        }
    }

    /// All repeated texts.
    pub(crate) fn repeats(&self) -> Vec<Work> {
        (0..REPEATED).map(|number| self.repeat(number)).collect()
    }
}

/// The begin of each text: its effect.
const FIRST: &str = "let mark = args.require(\"mark\")?;\nlet mark = up::fast(mark).await?.text();\n";
const SLOW: &str = "up::slow(mark.clone()).await?;\n";
