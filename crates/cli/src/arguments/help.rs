//! Snapshots of the help of every command, as `--help` and `-h` print it.

use clap::CommandFactory as _;

use super::Arguments;

/// The width of the terminal, in columns.
const WIDTH: usize = 100;

/// The words of every command, this one's first.
fn commands(command: &clap::Command, words: &[String]) -> Vec<Vec<String>> {
    let words = [words, &[command.get_name().to_owned()]].concat();
    let below = command.get_subcommands().flat_map(|below| commands(below, &words));
    std::iter::once(words.clone()).chain(below).collect()
}

/// Returns the output of a command for `option`.
fn printed(words: &[String], option: &str) -> String {
    let words = words.iter().map(String::as_str).chain([option]);
    let root = Arguments::command().term_width(WIDTH);
    root.try_get_matches_from(words).unwrap_err().to_string()
}

#[test]
fn the_help_of_every_command() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let commands = commands(&Arguments::command(), &[]);
    assert!(commands.len() > 30, "{commands:?}");
    for words in commands {
        let [long, short] = ["--help", "-h"].map(|option| printed(&words, option));
        let text = if long == short { long } else { format!("{long}\n==== -h ====\n\n{short}") };
        settings.bind(|| insta::assert_snapshot!(words.join("-"), text));
    }
}
