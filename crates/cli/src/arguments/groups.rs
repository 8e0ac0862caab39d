//! Groups the commands in `toolsmith --help` by what they are for.

use clap::Command;
use clap::builder::styling::Styles;

/// The headings, each with its commands in the order of the help.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Run and keep", &["run", "ask", "chat", "program", "conversation"]),
    ("Servers", &["mcp", "config", "trust", "permission", "secret", "codegen", "demo-server"]),
    ("Clients", &["setup", "adopt", "serve", "token"]),
    ("Look", &["history", "stats", "ui", "explain"]),
    ("Maintain", &["doctor", "cache", "update", "bundle", "completions", "man", "help"]),
];

/// Returns the template of `toolsmith --help` for a program with these commands: clap has headings for options only.
pub(super) fn template(program: Command) -> String {
    let (styles, commands) = (Styles::styled(), with_help(program));
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or(0);
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (heading, names) in GROUPS {
        text.push_str(&format!("\n{header}{heading}:{header:#}\n"));
        for name in names {
            let about = commands.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("  {literal}{name:width$}{literal:#}  {about}\n"));
        }
    }
    text + &format!("\n{header}Options:{header:#}\n{{options}}{{after-help}}")
}

/// Adds the command that clap adds when it parses.
fn with_help(program: Command) -> Command {
    program.subcommand(Command::new("help").about("Print the help of a command"))
}

#[cfg(test)]
mod tests {
    use clap::{Command, Subcommand as _};

    use super::{GROUPS, with_help};

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.sort_unstable();
        let program = with_help(crate::arguments::Command::augment_subcommands(Command::new("toolsmith")));
        let mut all: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }
}
