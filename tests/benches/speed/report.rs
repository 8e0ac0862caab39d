//! The report, as a table and as JSON.

use serde_json::{Value, json};

use super::definitions::Definitions;
use super::figures::{Figures, Row};
use super::runs::{self, CALLS, Calls, HELLO_ROW};
use super::served::{self, AT_ONCE, Load, Memory};
use super::tools::Tools;

/// Everything that was measured.
pub(super) struct Report {
    pub(super) figures: Figures,
    pub(super) load: Load,
    pub(super) memory: Memory,
    pub(super) calls: Calls,
    pub(super) tools: Tools,
    pub(super) definitions: Vec<Definitions>,
}

/// All rows with a ratio, in the order of the table.
fn rows() -> impl Iterator<Item = Row> {
    let [hello, cc, rest @ ..] = runs::ROWS;
    [hello, cc].into_iter().chain(served::rows()).chain(rest)
}

impl Report {
    /// The figures as one JSON object.
    pub(super) fn json(&self) -> Value {
        let floor = self.figures.median(HELLO_ROW);
        let Calls { broker, direct } = self.calls;
        let rows = rows().map(|(name, _)| {
            let median = self.figures.median(name);
            (name.to_owned(), json!({ "ms": median, "ratio": median / floor }))
        });
        let calls = json!({ "broker_us": broker, "direct_us": direct, "over_us": broker - direct });
        let tools = json!({
            "tools": self.tools.count, "generate_ms_per_schema": self.tools.generate,
            "compile_cpu_ms_per_tool": self.tools.compile,
        });
        let Load { per_second, median, slowest } = self.load;
        let Memory { resident, file } = self.memory;
        json!({
            "rows": rows.collect::<serde_json::Map<_, _>>(),
            "load": { "per_second": per_second, "median_ms": median, "p99_ms": slowest },
            "memory": { "resident_bytes": resident, "file_bytes": file },
            "calls": calls, "tools": tools, "definitions": self.definitions,
        })
    }

    /// The figures as a table.
    pub(super) fn table(&self) -> String {
        let floor = self.figures.median(HELLO_ROW);
        let mut lines = vec![format!("{:>9}  {:>6}", "median", "ratio")];
        for (name, meaning) in rows() {
            let median = self.figures.median(name);
            if median.is_finite() {
                lines.push(format!("{median:>6.1} ms  {:>5.2}x  {meaning}", median / floor));
            }
        }
        let Load { per_second, median, slowest } = self.load;
        lines.push(format!(
            "{per_second:>7.0}/s          serve: one tool call, repeat, {AT_ONCE} at once (median {median:.1} ms, 99th percentile {slowest:.1} ms)"
        ));
        let Memory { resident, file } = self.memory;
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let [own, file] =
            [resident.saturating_sub(file), file].map(|bytes| bytes as f64 / f64::from(1 << 20));
        lines.push(format!(
            "{own:>5.1} MiB          serve: idle memory of its process, apart from {file:.1} MiB of pages of its file, which its processes share"
        ));
        let Calls { broker, direct } = self.calls;
        lines.push(format!("{broker:>6.0} us          one call through the broker, the average of {CALLS} in a snippet (best of 3)"));
        lines.push(format!("{direct:>6.0} us          the same call without snippet and broker"));
        let Tools { count, generate, compile } = self.tools;
        lines.push(format!("{generate:>6.2} ms          generating the code of one schema, the average of {count} tools (best round)"));
        lines.push(format!(
            "{compile:>6.2} ms          CPU time of compiling the bindings of one tool, the average of {count}"
        ));
        for Definitions { tools, o200k, characters } in &self.definitions {
            lines.push(format!(
                "{o200k:>6} tokens      tool definitions for a client's model with {tools} tools, in o200k_base (estimated as characters / 4: {characters})"
            ));
        }
        lines.join("\n")
    }
}
