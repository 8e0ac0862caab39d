//! Globs, filters and permissions: which tools are available, and which of them may be called.
//!
//! This module holds what the configuration says; the caller of a tool asks the user.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wildmatch::WildMatchPattern;

use super::key_macros::{Kind, Merge, plain};

/// A tool's name in which `*` matches any text. No other character is special.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Glob(String);

plain!(Glob);

impl Glob {
    /// A glob from its text.
    pub fn new(text: &str) -> Self {
        Glob(text.to_owned())
    }

    /// Whether the glob matches the whole name.
    pub fn fits(&self, name: &str) -> bool {
        if !self.0.contains('*') {
            return self.0 == name;
        }
        WildMatchPattern::<'*', '\0'>::new(&self.0).matches(name)
    }

    /// Whether the glob matches a tool's name or `server.tool`.
    pub fn fits_tool(&self, server: &str, tool: &str) -> bool {
        self.fits(tool) || self.fits(&format!("{server}.{tool}"))
    }

    /// Whether the glob matches `server.tool` for some tool of a server.
    pub(crate) fn fits_some_tool(&self, server: &str) -> bool {
        let qualified = format!("{server}.");
        match self.0.split_once('*') {
            // The asterisk matches the rest of the server's name, and a tool can have any name.
            Some((start, _)) => start.starts_with(&qualified) || qualified.starts_with(start),
            None => self.0.len() > qualified.len() && self.0.starts_with(&qualified),
        }
    }

    /// The glob as written.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.0)
    }
}

/// The globs of all layers: a project can't take away what the user lists.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[allow(unreachable_pub, reason = "the types of public records name it")]
pub struct AddedGlobs(Vec<Glob>);

impl Merge for AddedGlobs {
    fn over(self, weaker: Self) -> Self {
        AddedGlobs([weaker.0, self.0].concat())
    }
}

impl Kind for AddedGlobs {
    type Value = Vec<Glob>;

    fn value(self) -> Vec<Glob> {
        self.0
    }
}

/// The selection of a server's available tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Filter {
    /// All.
    #[default]
    All,
    /// The tools that a glob matches (`enabledTools`).
    Only(Vec<Glob>),
    /// The tools that no glob matches (`disabledTools`).
    Without(Vec<Glob>),
}

impl Filter {
    /// Whether a tool is available.
    pub(crate) fn admits(&self, tool: &str) -> bool {
        let fits = |globs: &[Glob]| globs.iter().any(|glob| glob.fits(tool));
        match self {
            Filter::All => true,
            Filter::Only(globs) => fits(globs),
            Filter::Without(globs) => !fits(globs),
        }
    }
}

/// Whether a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// It may be called.
    Allow,
    /// The user is asked once for all tools that a program can call, before it runs.
    #[default]
    Ask,
    /// The user is asked at every call, with its arguments.
    AskEach,
    /// It is listed and typed, but a program that could call it is refused.
    Deny,
}

/// The permissions of a server's tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    /// The first glob that matches a tool decides.
    pub rules: Vec<(Glob, Permission)>,
    /// The permission of all other tools.
    pub otherwise: Permission,
}

impl Rules {
    /// The same permission for all tools.
    pub(crate) fn all(permission: Permission) -> Self {
        Rules { rules: Vec::new(), otherwise: permission }
    }

    /// The permission of a tool.
    pub fn of(&self, tool: &str) -> Permission {
        let rule = self.rules.iter().find(|(glob, _)| glob.fits(tool));
        rule.map_or(self.otherwise, |(_, permission)| *permission)
    }
}

#[cfg(test)]
mod tests {
    use super::{Filter, Glob, Permission, Rules};

    #[test]
    fn only_the_asterisk_is_special() {
        let glob = Glob::new("db.*_all?");
        assert!(glob.fits("db.drop_all?") && !glob.fits("db.drop_allx") && !glob.fits("xdb.drop_all?"));
        assert!(Glob::new("read_file").fits("read_file") && !Glob::new("read_file").fits("read_files"));
        assert!(Glob::new("*").fits("") && Glob::new("*.delete_*").fits_tool("db", "delete_row"));
        assert!(Glob::new("delete_*").fits_tool("db", "delete_row"));
        assert!(!Glob::new("other.delete_*").fits_tool("db", "delete_row"));
    }

    #[test]
    fn a_glob_excludes_servers_whose_tools_it_can_not_match() {
        let fits = |glob: &str| Glob::new(glob).fits_some_tool("db");
        for glob in ["db.*", "db.get_*", "*", "*.get_*", "d*", "db.get", "db*"] {
            assert!(fits(glob), "{glob}");
        }
        for glob in ["", "db", "db.", "dbx.*", "other.*", "get_row", "x*", "dbx*"] {
            assert!(!fits(glob), "{glob}");
        }
    }

    #[test]
    fn filters_admit_what_they_name() {
        let globs = || vec![Glob::new("read_*"), Glob::new("stat")];
        assert!(Filter::Only(globs()).admits("read_file") && !Filter::Only(globs()).admits("write"));
        assert!(!Filter::Without(globs()).admits("stat") && Filter::Without(globs()).admits("write"));
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rule = |glob: &str, permission| (Glob::new(glob), permission);
        let rules = Rules {
            rules: vec![rule("read_secret", Permission::Deny), rule("read_*", Permission::Allow)],
            otherwise: Permission::Ask,
        };
        let of = |tool: &str| rules.of(tool);
        assert_eq!(
            [of("read_secret"), of("read_file"), of("write")],
            [Permission::Deny, Permission::Allow, Permission::Ask]
        );
    }
}
