//! `toolsmith doctor --fix`: runs the commands that the report names, after a question for each.
//!
//! A command that needs root is run only after its own question, never with `--yes`.

use std::process::Stdio;

use gateway::failure::Failure;
use gateway::terminal_prompter;
use report::{Kind, Report};
use runner::Inspection;
use sandbox::Support;
use terminal::{Terminal, say_note};

use crate::arguments::DoctorArguments;

/// A command that fixes something.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Remedy {
    /// The program and its arguments.
    words: Vec<String>,
    /// Its effect.
    why: &'static str,
}

impl Remedy {
    fn new(words: &[&str], why: &'static str) -> Self {
        Remedy { words: words.iter().map(|word| (*word).to_owned()).collect(), why }
    }

    fn needs_root(&self) -> bool {
        self.words.first().is_some_and(|program| program == "sudo")
    }

    fn line(&self) -> String {
        let (program, arguments) = self.words.split_first().map_or(("", &[][..]), |(one, rest)| (one, rest));
        config::command_line(program, arguments.iter().map(String::as_str))
    }
}

/// Runs what fixes the machine, and returns whether anything was run. Another inspection finds what is left.
pub(super) async fn fix(
    machine: &Inspection,
    support: &Support,
    can_build: bool,
    arguments: &DoctorArguments,
    terminal: &Terminal,
) -> Result<bool, Failure> {
    let mut remedies = of_machine(machine);
    remedies.extend(of_sandbox(support.mechanisms.iter().filter_map(|one| one.advice.as_deref())));
    if remedies.is_empty() && can_build && !machine.tools.layer_built {
        remedies.push(warm(arguments)?);
    }
    let mut has_run = false;
    for remedy in &remedies {
        if is_wanted(remedy, arguments.yes, terminal).await? {
            run(remedy).await?;
            has_run = true;
        }
    }
    if remedies.is_empty() {
        terminal.note("there is nothing that a command can fix");
    }
    Ok(has_run)
}

/// Installs a toolchain or its target with rustup.
fn of_machine(machine: &Inspection) -> Vec<Remedy> {
    let Some(rustup) = runner::rustup() else { return Vec::new() };
    let rustup = rustup.display().to_string();
    let is_of_toolchain = |error: &runner::Error| error.kind == runner::ErrorKind::Toolchain;
    if machine.tools.rustc.is_none() && machine.problems.iter().any(is_of_toolchain) {
        let words = [&rustup, "toolchain", "install", "stable", "--profile", "minimal"];
        return vec![Remedy::new(&words, "installs the current Rust toolchain")];
    }
    let target = machine.tools.target_line.as_deref().and_then(|line| line.strip_prefix("rustup "));
    let target = target.map(|line| {
        let words: Vec<&str> = std::iter::once(rustup.as_str()).chain(line.split(' ')).collect();
        Remedy::new(&words, "adds the target that snippets are compiled for")
    });
    target.into_iter().collect()
}

/// The commands among the advice of the sandbox, each once: they change settings of the kernel.
fn of_sandbox<'a>(advice: impl Iterator<Item = &'a str>) -> Vec<Remedy> {
    let mut remedies: Vec<Remedy> = Vec::new();
    for line in advice.filter(|line| line.starts_with("sudo sysctl -w ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let remedy = Remedy::new(&words, "allows a mechanism of the sandbox until the next boot");
        if !remedies.contains(&remedy) {
            remedies.push(remedy);
        }
    }
    remedies
}

/// Compiles what the first run would compile.
fn warm(arguments: &DoctorArguments) -> Result<Remedy, Failure> {
    let program = std::env::current_exe().map_err(Failure::system)?.display().to_string();
    let mut words = vec![program, "cache".to_owned(), "warm".to_owned()];
    if let Some(file) = &arguments.place.config {
        words.extend(["--config".to_owned(), file.display().to_string()]);
    }
    Ok(Remedy {
        words,
        why: "compiles the crates for snippets, and starts your servers to compile their bindings",
    })
}

/// Whether to run it: the user says so, or has said so for all with `--yes`.
async fn is_wanted(remedy: &Remedy, yes: bool, terminal: &Terminal) -> Result<bool, Failure> {
    let line = remedy.line();
    if yes && !remedy.needs_root() {
        return Ok(true);
    }
    if yes {
        terminal.eprint(&format!("run this yourself, because it needs root: {line}"));
        return Ok(false);
    }
    let user = terminal_prompter::of_command().ok_or_else(|| {
        Failure::from(Report::new(Kind::CommandLine, "there is no terminal to ask on"))
            .hint("to run everything that needs no root without a question: toolsmith doctor --fix --yes")
    })?;
    terminal.flush().await.map_err(Failure::output)?;
    Ok(user.confirm(&format!("Run `{line}`? It {}.", remedy.why)).await)
}

async fn run(remedy: &Remedy) -> Result<(), Failure> {
    let line = remedy.line();
    say_note(format_args!("toolsmith: running {line}\n"));
    let Some((program, arguments)) = remedy.words.split_first() else { return Ok(()) };
    let mut command = tokio::process::Command::new(program);
    // A selected toolchain of this folder must not decide what is installed.
    command.args(arguments).env_remove("RUSTUP_TOOLCHAIN").stdin(Stdio::inherit()).kill_on_drop(true);
    let failed = |why: String| {
        Failure::from(Report::new(Kind::System, format!("`{line}` failed: {why}")))
            .hint("run it yourself to see more")
    };
    let status = command.status().await.map_err(|error| failed(error.to_string()))?;
    if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_among_the_advice_are_run_and_each_once() {
        let sysctl = "sudo sysctl -w user.max_user_namespaces=10000";
        let advice = [sysctl, "boot a kernel with Landlock", sysctl, "sudo rm -rf /"];
        let remedies = of_sandbox(advice.into_iter());
        assert_eq!(remedies.iter().map(Remedy::line).collect::<Vec<_>>(), [sysctl]);
        assert!(remedies[0].needs_root());
    }

    #[tokio::test]
    async fn a_command_that_needs_root_is_not_run_with_yes() {
        let terminal = Terminal::new(true, false);
        let root = Remedy::new(&["sudo", "true"], "does nothing");
        assert!(!is_wanted(&root, true, &terminal).await.unwrap());
        assert!(is_wanted(&Remedy::new(&["true"], "does nothing"), true, &terminal).await.unwrap());
    }

    #[tokio::test]
    async fn a_command_that_fails_is_an_error() {
        run(&Remedy::new(&["true"], "")).await.unwrap();
        let failure = run(&Remedy::new(&["false", "x"], "")).await.unwrap_err();
        assert!(failure.report.message().starts_with("`false x` failed: "), "{failure}");
    }
}
