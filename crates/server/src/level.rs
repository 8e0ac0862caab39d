//! Levels of log messages (RFC 5424, section 6.2.1, as used by MCP).

/// The severity of a log message, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[allow(missing_docs, reason = "names of the standard")]
pub enum Level {
    Debug,
    #[default]
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

const LEVELS: [(Level, &str); 8] = [
    (Level::Debug, "debug"),
    (Level::Info, "info"),
    (Level::Notice, "notice"),
    (Level::Warning, "warning"),
    (Level::Error, "error"),
    (Level::Critical, "critical"),
    (Level::Alert, "alert"),
    (Level::Emergency, "emergency"),
];

impl Level {
    /// Parses the name of a level.
    pub fn of(name: &str) -> Option<Self> {
        LEVELS.iter().find(|(_, known)| *known == name).map(|(level, _)| *level)
    }

    /// The name in MCP.
    pub(crate) fn name(self) -> &'static str {
        LEVELS.iter().find(|(level, _)| *level == self).map_or("info", |(_, name)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::{LEVELS, Level};

    #[test]
    fn levels_are_ordered_and_have_names() {
        assert!(LEVELS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(LEVELS.iter().all(|(level, name)| Level::of(name) == Some(*level) && level.name() == *name));
        assert_eq!(Level::of("loud"), None);
    }
}
