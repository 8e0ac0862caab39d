//! Names of tools that every provider accepts: letters, digits, `_` and `-`, at most 64.

use std::collections::BTreeMap;

/// Maximum length of a name in characters (the smallest limit in the providers' documentation).
const LONGEST: usize = 64;

/// Maps names for models to tools. The names do not depend on the order of the tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    pub(super) fn of<'a>(tools: impl IntoIterator<Item = &'a str>) -> Self {
        let mut tools: Vec<&str> = tools.into_iter().collect();
        // Tools with a valid name keep it and come first.
        tools.sort_unstable_by_key(|tool| (safe(tool) != *tool, *tool));
        let mut names = BTreeMap::new();
        for tool in tools {
            let base = safe(tool);
            let mut name = base.clone();
            for number in 2.. {
                if !names.contains_key(&name) {
                    break;
                }
                let suffix = format!("_{number}");
                let kept: String = base.chars().take(LONGEST - suffix.len()).collect();
                name = kept + &suffix;
            }
            names.insert(name, tool.to_owned());
        }
        Names(names)
    }

    /// The tool with this name.
    pub(super) fn tool(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The name of a tool.
    pub(super) fn name(&self, tool: &str) -> Option<&str> {
        self.0.iter().find(|(_, known)| *known == tool).map(|(name, _)| name.as_str())
    }
}

fn safe(tool: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let name: String = tool.chars().take(LONGEST).map(plain).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_distinct_and_do_not_depend_on_the_order() {
        let long = "x".repeat(80);
        let tools = ["a@b", "a.b", "a_b", "plain-1", &long, "ü"];
        let names = Names::of(tools);
        assert_eq!(names.tool("a_b"), Some("a_b"));
        assert_eq!((names.tool("a_b_2"), names.tool("a_b_3")), (Some("a.b"), Some("a@b")));
        assert_eq!((names.name("plain-1"), names.name("ü")), (Some("plain-1"), Some("_")));
        assert_eq!(names.name(&long).map(str::len), Some(64));
        assert_eq!(names, Names::of(tools.into_iter().rev()));
    }
}
