//! The kinds of errors. Their codes are part of the stable interface: `--json` has them.

macro_rules! kinds {
    ($(#[doc = $doc:literal] $name:ident = $code:literal,)*) => {
        /// The kind of an error.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $(#[doc = $doc] $name,)*
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Kind] = &[$(Kind::$name,)*];

            /// The stable name, in kebab-case.
            pub fn code(self) -> &'static str {
                match self {
                    $(Kind::$name => $code,)*
                }
            }
        }
    };
}

kinds! {
    /// The command line: an option, an argument, or a file that it names.
    CommandLine = "command-line",
    /// A configuration file, or an environment variable that contains a part of the configuration.
    Configuration = "configuration",
    /// A project's configuration is not trusted, or the trust record can't be used.
    Trust = "trust",
    /// A lock file can't be used, or tools differ from it.
    Lock = "lock",
    /// A server can't be reached, or did not do what was requested.
    Server = "server",
    /// A login at a server failed.
    Login = "login",
    /// A call was denied.
    Denied = "denied",
    /// The Rust toolchain is missing or unsuitable.
    Toolchain = "toolchain",
    /// The crates that snippets use could not be downloaded or built.
    Layer = "layer",
    /// The generated bindings of a server do not compile.
    Bindings = "bindings",
    /// The cache folder can't be used.
    Cache = "cache",
    /// The sandbox can't be set up.
    Sandbox = "sandbox",
    /// `codegen --out` can't write a crate, or a folder is not a crate that `codegen --out` has written.
    Export = "export",
    /// A bundle can't be written or used.
    Bundle = "bundle",
    /// A model's settings are unusable.
    Model = "model",
    /// A conversation can't be read or written.
    Conversation = "conversation",
    /// The file of statistics can't be read or written.
    Statistics = "statistics",
    /// The history of executions can't be read or written.
    History = "history",
    /// Traces can't be exported.
    Telemetry = "telemetry",
    /// The audit log can't be written.
    Audit = "audit",
    /// The newest release can't be determined.
    Update = "update",
    /// An address can't be listened on, or its clients can't be served.
    Network = "network",
    /// The output can't be written.
    Output = "output",
    /// The terminal can't be used.
    Terminal = "terminal",
    /// The operating system refused something that every command needs.
    System = "system",
    /// A signal cancelled the command.
    Cancelled = "cancelled",
}

impl serde::Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn codes_are_unique_and_kebab_case() {
        let codes: std::collections::BTreeSet<_> = Kind::ALL.iter().map(|kind| kind.code()).collect();
        assert_eq!(codes.len(), Kind::ALL.len());
        assert!(
            codes.iter().all(|code| code.chars().all(|c| c.is_ascii_lowercase() || c == '-')),
            "{codes:?}"
        );
    }
}
