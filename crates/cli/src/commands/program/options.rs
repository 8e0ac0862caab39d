//! The command line of one program: an option for each argument that it declares.

use std::collections::BTreeSet;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches as _};
use gateway::failure::Failure;
use serde_json::value::RawValue;
use snippet::{Argument, ArgumentKind, ProgramFile};

use super::values;
use crate::arguments::RunProgramOptions;

/// The values of the words after a program's name.
pub(super) struct Given {
    /// The options of `program run`.
    pub(super) options: RunProgramOptions,
    matches: ArgMatches,
}

/// Prefix of the ids of a program's own options, so that none is that of another option.
const OWN: &str = "program.";

/// The command line of the program `name`.
pub(super) fn command(name: &str, program: &ProgramFile) -> Command {
    let command = Command::new(kept(format!("toolsmith program run {name}")))
        .no_binary_name(true)
        .next_help_heading("Options of `program run`");
    let command = RunProgramOptions::augment_args(command);
    let longs = command.get_arguments().filter_map(|argument| argument.get_long().map(str::to_owned));
    let mut taken: BTreeSet<String> = longs.chain(["help".to_owned()]).collect();
    let about = printable::lines(&program.about().description);
    let command = command.next_help_heading("Arguments of the program").about(about);
    program.arguments().iter().enumerate().fold(command, |command, (place, argument)| {
        match name_of_option(&argument.name, &mut taken) {
            Some(long) => command.arg(option(argument, long, place)),
            // It can be given with `--args`.
            None => command,
        }
    })
}

/// clap needs names for the life of the process, which reads one command line.
fn kept(text: String) -> &'static str {
    text.leak()
}

/// The name of the option for an argument; with `arg-` before it if another option has the name.
fn name_of_option(argument: &str, taken: &mut BTreeSet<String>) -> Option<String> {
    let plain = argument.replace('_', "-");
    let is_usable = plain.starts_with(|first: char| first.is_ascii_alphabetic())
        && plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let candidates = [plain.clone(), format!("arg-{plain}")];
    let free = candidates.into_iter().find(|name| is_usable && !taken.contains(name))?;
    taken.insert(free.clone());
    Some(free)
}

/// The option for an argument.
fn option(argument: &Argument, long: String, place: usize) -> Arg {
    let mut about = printable::lines(&argument.about);
    if let Some(form) = form(&argument.kind) {
        about = if about.is_empty() { form.to_owned() } else { format!("{about} ({form})") };
    }
    let id = kept(format!("{OWN}{}", argument.name));
    // Also as it is declared, with underscores.
    let alias =
        (long == argument.name.replace('_', "-") && long != argument.name).then(|| argument.name.clone());
    let option = Arg::new(id).long(kept(long)).display_order(place).help(about);
    let option = if argument.is_required { option.required_unless_present("args") } else { option };
    let option = alias.into_iter().fold(option, |option, alias| option.alias(kept(alias)));
    with_values(option, &argument.kind)
}

fn with_values(option: Arg, kind: &ArgumentKind) -> Arg {
    let option = option.value_name(value_name(kind));
    match kind {
        ArgumentKind::Flag => option
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(PossibleValuesParser::new(["true", "false"])),
        ArgumentKind::Choice(values) => {
            let values = values.iter().map(|value| kept(value.clone()));
            option.value_parser(PossibleValuesParser::new(values))
        }
        ArgumentKind::List(inner) => with_values(option, inner).action(ArgAction::Append),
        ArgumentKind::Text => option,
        ArgumentKind::Integer | ArgumentKind::Number => option.allow_negative_numbers(true),
        ArgumentKind::Json => option.allow_hyphen_values(true),
    }
}

fn value_name(kind: &ArgumentKind) -> &'static str {
    match kind {
        ArgumentKind::Text => "TEXT",
        ArgumentKind::Choice(_) => "CHOICE",
        ArgumentKind::Integer => "INTEGER",
        ArgumentKind::Number => "NUMBER",
        ArgumentKind::Flag => "true|false",
        ArgumentKind::List(inner) => value_name(inner),
        ArgumentKind::Json => "JSON",
    }
}

/// Returns the form of a value if its name does not show it.
fn form(kind: &ArgumentKind) -> Option<&'static str> {
    matches!(kind, ArgumentKind::List(_)).then_some("repeatable")
}

impl Given {
    /// Reads the words after a program's name.
    ///
    /// # Errors
    /// clap's, which may be help.
    pub(super) fn read(name: &str, program: &ProgramFile, words: &[String]) -> Result<Self, clap::Error> {
        let matches = command(name, program).try_get_matches_from(words)?;
        let options = RunProgramOptions::from_arg_matches(&matches)?;
        Ok(Given { options, matches })
    }

    /// Whether any argument of the program is given as an option.
    pub(super) fn has_arguments(&self) -> bool {
        self.matches.ids().any(|id| id.as_str().starts_with(OWN))
    }

    /// The program's arguments as a JSON object; those of `--args` are overridden by single ones.
    ///
    /// # Errors
    /// If one of them has another form.
    pub(super) fn arguments(&self, program: &ProgramFile) -> Result<Box<RawValue>, Failure> {
        let mut members = values::Members::of(self.options.args.as_deref())?;
        for argument in program.arguments() {
            let texts = self.matches.get_many::<String>(&format!("{OWN}{}", argument.name));
            let Some(texts) = texts else { continue };
            let texts: Vec<&str> = texts.map(String::as_str).collect();
            members.set(argument, &texts)?;
        }
        members.object()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! Orders of one customer.\n//!\n//! Sorted by date.\n\
        struct Args {\n    /// The customer's id.\n    customer_id: String,\n    since: Option<NaiveDate>,\n    \
        #[serde(default)] most: i32,\n    tags: Vec<String>,\n    exact: bool,\n    order: Option<Order>,\n    \
        json: Option<Value>,\n}\nenum Order { Up, Down }\n\
        async fn run(args: Args) -> Result<()> { Ok(()) }";

    fn program() -> ProgramFile {
        ProgramFile::parse(TEXT.to_owned()).unwrap()
    }

    fn read(words: &[&str]) -> Result<(String, RunProgramOptions), String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let given = Given::read("orders", &program(), &words).map_err(|error| error.to_string())?;
        let object = given.arguments(&program());
        Ok((object.map_err(|error| error.to_string())?.get().to_owned(), given.options))
    }

    #[test]
    fn options_become_the_json_of_their_arguments() {
        let (object, options) = read(&[
            "--customer-id",
            "c-17",
            "--since=2026-01-01",
            "--most",
            "-3",
            "--tags",
            "a",
            "--tags",
            "b",
            "--exact",
            "--order",
            "Down",
            "--arg-json",
            "{\"a\":[1]}",
            "--json",
            "--allow",
            "demo.*",
        ])
        .unwrap();
        let expected = "{\"customer_id\":\"c-17\",\"exact\":true,\"json\":{\"a\":[1]},\"most\":-3,\"order\":\"Down\",\
                        \"since\":\"2026-01-01\",\"tags\":[\"a\",\"b\"]}";
        assert_eq!(object, expected);
        assert!(options.json && options.permission.allow == ["demo.*"]);
    }

    #[test]
    fn all_arguments_can_be_json_with_single_ones_on_top() {
        let whole = "{\"customer_id\":\"c-1\",\"tags\":[],\"exact\":false,\"most\":12345678901234567890}";
        let (object, _) = read(&["--args", whole, "--customer_id", "c-2"]).unwrap();
        assert_eq!(
            object,
            "{\"customer_id\":\"c-2\",\"exact\":false,\"most\":12345678901234567890,\"tags\":[]}"
        );
        assert!(read(&["--args", "[1]"]).unwrap_err().contains("not a JSON object"));
    }

    #[test]
    fn wrong_values_are_refused_with_the_option() {
        for (words, says) in [
            (&["--since", "x"][..], "--customer-id"),
            (
                &["--customer-id", "c", "--tags", "a", "--exact", "--most", "many"],
                "`most` is not an integer: \"many\"",
            ),
            (
                &["--customer-id", "c", "--tags", "a", "--exact", "--order", "Left"],
                "possible values: Up, Down",
            ),
            (&["--customer-id", "c", "--tags", "a", "--exact=no"], "possible values: true, false"),
            (&["--customer-id", "c", "--tags", "a", "--exact", "--arg-json", "{"], "`json` is not JSON"),
            (&["--custmer-id", "c"], "--customer-id"),
        ] {
            let error = read(words).err().unwrap();
            assert!(error.contains(says), "{words:?}: {error}");
        }
    }

    #[test]
    fn options_of_the_command_are_no_arguments_of_the_program() {
        let has = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Given::read("orders", &program(), &words).unwrap().has_arguments()
        };
        assert!(!has(&["--args", "{}", "--demo", "--json"]) && has(&["--args", "{}", "--most", "1"]));
    }

    #[test]
    fn help_is_made_of_the_doc_comments() {
        let help = command("orders", &program()).try_get_matches_from(["--help"]).unwrap_err().to_string();
        for part in [
            "Sorted by date.",
            "--customer-id <TEXT>",
            "The customer's id.",
            "--json",
            "toolsmith program run orders",
        ] {
            assert!(help.contains(part), "{part}: {help}");
        }
    }
}
