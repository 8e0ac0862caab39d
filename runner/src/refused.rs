//! Counts the calls of a program that were refused before they reached a server, in bounded memory.

use std::collections::BTreeMap;

use bridge::wire::FailureKind;
use serde::Serialize;

/// Maximum number of tools whose refused calls are counted by name; others count only in the totals.
const NAMED: usize = 100;

/// The refused calls, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CallsRefused {
    /// With an identity that is not in the program's manifest: its own stubs never make such calls.
    pub forged: u64,
    /// Not permitted: by the configuration, by the user, because the tool has changed, or because of answers that may not
    /// flow into the call. Includes reading resources.
    pub denied: u64,
    /// With arguments that can't be sent or don't match the tool's schema.
    pub invalid: u64,
    /// Frames that broke the protocol. The first one stops the program.
    pub malformed: u64,
    /// The denied and invalid calls, by `server.tool`; at most 100 tools.
    pub tools: BTreeMap<String, u64>,
}

impl CallsRefused {
    /// Whether no call was refused.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == CallsRefused::default()
    }

    /// The number of refused calls.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.forged + self.denied + self.invalid + self.malformed
    }

    /// Counts a call with an identity that is not in the manifest.
    pub fn forge(&mut self) {
        self.forged += 1;
    }

    /// Counts a frame that broke the protocol.
    pub fn malform(&mut self) {
        self.malformed += 1;
    }

    /// Counts a tool call that failed with `kind`, if that is a refusal.
    pub fn fail(&mut self, server: &str, tool: &str, kind: FailureKind) {
        match kind {
            FailureKind::Denied | FailureKind::Flow => self.denied += 1,
            FailureKind::InvalidParams => self.invalid += 1,
            _ => return,
        }
        let name = format!("{server}.{tool}");
        if let Some(count) = self.tools.get_mut(&name) {
            *count += 1;
        } else if self.tools.len() < NAMED {
            self.tools.insert(name, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_refusals_takes_the_same_space() {
        let mut refused = CallsRefused::default();
        assert!(refused.is_empty());
        for number in 0..100_000 {
            refused.forge();
            refused.fail("s", &format!("tool-{}", number % 1_000), FailureKind::Denied);
            refused.fail("s", "one", FailureKind::InvalidParams);
            refused.fail("s", "one", FailureKind::Timeout);
        }
        assert_eq!((refused.forged, refused.denied, refused.invalid), (100_000, 100_000, 100_000));
        assert_eq!((refused.tools.len(), refused.total()), (NAMED, 300_000));
        assert_eq!(refused.tools["s.one"], 100_000);
    }
}
