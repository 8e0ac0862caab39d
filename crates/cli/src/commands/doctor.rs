//! `toolsmith doctor`: reports whether snippets can run on this machine, what is missing, and how to install it.
//!
//! Without `--fix` it changes nothing: it only names what the first use would install or build. The runner and the
//! sandbox do the checks; this module reports them, and `fix` runs the commands.

mod bundle;
mod clients;
mod fix;
mod grants;
mod line;
mod servers;

use std::path::Path;

use config::CodeMode;
use execution::setup;
use gateway::cache::{self, RemoteError, StoreState};
use gateway::exit_code;
use gateway::failure::Failure;
use report::Kind;
use runner::{Inspection, SandboxReport};
use sandbox::{Confinement, Layers, Mechanism, Support};
use serde::Serialize;
use terminal::Terminal;

use crate::arguments::DoctorArguments;

use self::clients::ClientFinding;
use bundle::bundle;
use grants::WriteGrant;
use line::{Line, line};
use servers::ServerFinding;

/// Runs the command and returns the exit code.
pub(crate) async fn doctor(arguments: &DoctorArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let config = setup::configure(&arguments.place.options())?;
    let folder = config::cache_folder()?;
    if let Some(warning) = config.code_mode.warning() {
        terminal.eprint(warning);
    }
    let look =
        || (runner::inspect(&folder, config.code_mode.install_target, arguments.verify), sandbox::probe());
    let (mut machine, mut support) = look();
    let (mut problems, mut tried) = examine(&machine, &support, &config.code_mode).await;
    if arguments.fix && fix::fix(&machine, &support, problems.is_empty(), arguments, &terminal).await? {
        (machine, support) = look();
        (problems, tried) = examine(&machine, &support, &config.code_mode).await;
    }
    let remote = cache::remote_state(&config.cache).await.unwrap_or_else(|error| {
        problems.push(Problem::from(error));
        None
    });
    let cache = CacheFindings { folder: &machine.cache, size: config.cache.size, remote };
    let mut findings = Findings::new((&machine, cache), &support, &config.code_mode, problems, tried);
    findings.servers = ServerFinding::all(&config);
    findings.clients = ClientFinding::all().await;
    if arguments.output.json {
        terminal.print_json(&serde_json::to_string(&findings).map_err(Failure::system)?);
    } else {
        lines(&findings).iter().for_each(|line| terminal.print(line));
    }
    terminal.flush().await.map_err(Failure::output)?;
    Ok(if findings.ok { exit_code::OK } else { exit_code::HOST })
}

/// The findings, as `--json` prints them. Fields may be added, but not renamed.
#[derive(Serialize)]
struct Findings<'a> {
    /// Whether snippets can run.
    ok: bool,
    /// The best tier available on the machine, or the one that the configuration sets, such as `off`.
    tier: Option<&'static str>,
    /// The lowest tier that the configuration accepts.
    minimum: Option<&'static str>,
    mechanisms: &'a [Mechanism],
    /// The program that confines others; `None` if this program does that itself.
    helper: Option<&'a Path>,
    toolchain: &'a runner::Tools,
    kernel: &'a str,
    cache: CacheFindings<'a>,
    /// The bundle that this program is part of, if there is one.
    bundle: Option<&'a runner::bundle::Integrity>,
    /// The layers enforced on an empty program, if it was tried.
    tried: Option<Tried>,
    /// Places that programs may write to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    write_grants: Vec<WriteGrant>,
    /// The servers that are local programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    servers: Vec<ServerFinding>,
    /// The clients that `toolsmith setup` has set up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clients: Vec<ClientFinding>,
    problems: Vec<Problem>,
    /// Whether the tier is at least the minimum.
    #[serde(skip)]
    suffices: bool,
}

/// The cache and its limit.
#[derive(Serialize)]
struct CacheFindings<'a> {
    #[serde(flatten)]
    folder: &'a runner::CacheFolder,
    /// Maximum size, in bytes (`cache.size`).
    size: u64,
    /// The store that it is shared through (`cache.remote`), if there is one.
    remote: Option<StoreState>,
}

/// A problem that prevents snippets from running.
#[derive(Serialize)]
struct Problem {
    kind: Kind,
    what: String,
    advice: Option<String>,
}

#[derive(Serialize)]
struct Tried {
    compiler: SandboxReport,
    program: SandboxReport,
}

impl From<&runner::Error> for Problem {
    fn from(error: &runner::Error) -> Self {
        Problem {
            kind: error.kind.into(),
            what: error.to_string(),
            advice: error.advice().map(str::to_owned),
        }
    }
}

/// The settings of the remote cache can't be used, so nothing starts.
impl From<RemoteError> for Problem {
    fn from(error: RemoteError) -> Self {
        Problem { kind: Kind::Cache, what: error.to_string(), advice: Some(error.advice().to_owned()) }
    }
}

/// The tier that a run would have.
fn tier(support: &Support, code_mode: &CodeMode) -> Option<Layers> {
    match code_mode.confinement {
        Confinement::Exactly(layers) => Some(layers),
        Confinement::AtLeast(_) => Layers::TIERS.into_iter().find(|tier| support.layers.include(*tier)),
    }
}

/// Finds what prevents snippets from running. Tries an empty program only if no problem is known.
async fn examine(
    machine: &Inspection,
    support: &Support,
    code_mode: &CodeMode,
) -> (Vec<Problem>, Option<Tried>) {
    let mut problems: Vec<Problem> = machine.problems.iter().map(Problem::from).collect();
    if let Confinement::AtLeast(minimum) = code_mode.confinement
        && let Err(sandbox::Unsupported { missing, advice }) = support.choose(minimum)
    {
        problems.push(Problem { kind: Kind::Sandbox, what: missing, advice: Some(advice) });
    }
    if !problems.is_empty() {
        return (problems, None);
    }
    let CodeMode { confinement, limits, grants, .. } = code_mode;
    match machine.try_out(*confinement, limits, grants).await {
        Ok(None) => (problems, None),
        Ok(Some([compiler, program])) => {
            let promised = tier(support, code_mode).map(Layers::name).unwrap_or_default();
            for (what, enforced) in [("a compiler", &compiler), ("a program", &program)] {
                if enforced.tier != promised {
                    let what = format!("{what} was confined in `{}`, not in `{promised}`", enforced.tier);
                    problems.push(Problem { kind: Kind::Sandbox, what, advice: None });
                }
            }
            (problems, Some(Tried { compiler, program }))
        }
        Err(error) => {
            problems.push(Problem::from(&error));
            (problems, None)
        }
    }
}

impl<'a> Findings<'a> {
    fn new(
        (machine, cache): (&'a Inspection, CacheFindings<'a>),
        support: &'a Support,
        code_mode: &CodeMode,
        problems: Vec<Problem>,
        tried: Option<Tried>,
    ) -> Self {
        let minimum = match code_mode.confinement {
            Confinement::AtLeast(minimum) => Some(minimum.name()),
            Confinement::Exactly(_) => None,
        };
        Findings {
            ok: problems.is_empty(),
            tier: tier(support, code_mode).map(Layers::name),
            minimum,
            mechanisms: &support.mechanisms,
            helper: ::sandbox::helper_beside(),
            toolchain: &machine.tools,
            kernel: &machine.kernel,
            cache,
            bundle: machine.bundle.as_ref(),
            tried,
            write_grants: WriteGrant::all(&code_mode.grants),
            servers: Vec::new(),
            clients: Vec::new(),
            problems,
            suffices: match code_mode.confinement {
                Confinement::AtLeast(minimum) => support.choose(minimum).is_ok(),
                Confinement::Exactly(_) => true,
            },
        }
    }
}

/// Formats the findings as text: a line for each item, then the problems and what to do about them.
fn lines(findings: &Findings<'_>) -> Vec<String> {
    let mut sections = vec![("toolchain", toolchain(findings.toolchain))];
    sections.extend(findings.bundle.map(|integrity| ("bundle", bundle(integrity))));
    sections.extend([("cache", cache(findings)), ("sandbox", sandbox(findings))]);
    if !findings.write_grants.is_empty() {
        sections.push(("grants", findings.write_grants.iter().map(WriteGrant::line).collect()));
    }
    if !findings.servers.is_empty() {
        sections.push(("servers", servers::lines(&findings.servers)));
    }
    if !findings.clients.is_empty() {
        sections.push(("clients", findings.clients.iter().map(ClientFinding::line).collect()));
    }
    let width = sections.iter().flat_map(|(_, lines)| lines).map(|line| line.name.len()).max().unwrap_or(0);
    let mut text = Vec::new();
    for (name, lines) in &sections {
        text.push((*name).to_owned());
        for Line { ok, name, text: details } in lines {
            let word = if *ok { "ok" } else { "missing" };
            text.push(format!("  {word:<7}  {name:<width$}  {details}"));
        }
    }
    text.push(String::new());
    if findings.ok {
        text.push("Snippets can run.".to_owned());
    } else {
        text.push("Snippets can't run:".to_owned());
        for Problem { what, advice, .. } in &findings.problems {
            text.push(format!("  {what}"));
            text.extend(advice.iter().map(|advice| format!("    help: {advice}")));
        }
    }
    text
}

fn toolchain(tools: &runner::Tools) -> Vec<Line> {
    let is_bundled = tools.origin == Some(runner::Origin::Bundle);
    let file = |name: &'static str, path: &Option<std::path::PathBuf>| {
        let shown = path.as_ref().map_or("not found".to_owned(), |path| path.display().to_string());
        line(path.is_some(), name, shown)
    };
    let mut rustc = file("rustc", &tools.rustc);
    if let Some(version) = &tools.version {
        rustc.text = format!("{} ({version})", rustc.text);
    }
    let target = match &tools.target_line {
        Some(line) => format!("{}; to add it: {line}", tools.target),
        None => tools.target.to_owned(),
    };
    let reason = tools.origin.map_or("no compiler was found", runner::Origin::reason);
    let layer = match (tools.layer_built, &tools.whole_link) {
        (true, None) => "compiled and linked".to_owned(),
        (true, Some(reason)) => format!("compiled; linked again for each program, which takes longer: {reason}"),
        (false, _) if is_bundled => "none that fit this program".to_owned(),
        (false, _) => {
            "not compiled yet; the first run or `toolsmith cache warm` compiles them: about a minute, needs network"
                .to_owned()
        }
    };
    let mut cc = file("C linker", &tools.c_linker);
    cc.text.push_str(if tools.layer_built { ", no longer needed" } else { ", needed once, at first use" });
    let mut lines = vec![
        rustc,
        line(tools.origin.is_some(), "chosen", reason),
        file("cargo", &tools.cargo),
        file("rust-lld", &tools.linker),
        line(tools.target_installed, "target", target),
        cc,
        line(tools.layer_built, "crates", layer),
    ];
    // A bundle compiles no crates.
    lines.retain(|line| !is_bundled || !matches!(line.name.as_str(), "cargo" | "C linker"));
    lines
}

fn cache(findings: &Findings<'_>) -> Vec<Line> {
    let CacheFindings { folder: cache, size, remote } = &findings.cache;
    let access = if cache.writable { "writable" } else { "not writable" };
    let free =
        cache.free_bytes.map_or("free space unknown".to_owned(), |free| format!("{} MiB free", free >> 20));
    let used = format!("{} MiB of {} MiB (cache.size)", cache.used_bytes >> 20, size >> 20);
    let mut lines = vec![
        line(cache.writable, "folder", format!("{}: {access}, {free}", cache.folder.display())),
        // Always ok: a cache above its limit is evicted later, and does not prevent snippets from running.
        line(true, "used", used),
    ];
    lines.extend(remote.as_ref().map(remote_line));
    lines
}

/// The store that the cache is shared through. Without it, snippets are compiled here.
fn remote_line(state: &StoreState) -> Line {
    let StoreState { place, signs_with, accepts, answered_ms, trouble } = state;
    let keys = match signs_with {
        Some(key) => format!("signs with the key {key}"),
        None => format!("only read, keys {}", accepts.join(", ")),
    };
    let (is_there, answer) = match (answered_ms, trouble) {
        (Some(time), _) => (true, format!("answered in {time} ms")),
        (None, Some(why)) => (false, format!("{why}; snippets are compiled here")),
        (None, None) => (false, "no answer; snippets are compiled here".to_owned()),
    };
    line(is_there, "remote", format!("{place}: {answer}; {keys}"))
}

fn sandbox(findings: &Findings<'_>) -> Vec<Line> {
    let mut lines = vec![line(true, "kernel", findings.kernel)];
    let mut last_advice = None;
    lines.extend(findings.mechanisms.iter().map(|mechanism| {
        let Mechanism { name, available, answer, advice } = mechanism;
        // Namespaces share their advice, which is printed once.
        let is_repeated = last_advice.replace(advice) == Some(advice);
        let help = advice.iter().filter(|_| !is_repeated).map(|advice| format!("; to get it: {advice}"));
        line(*available, *name, help.fold(answer.to_owned(), |text, help| text + &help))
    }));
    let helper = findings.helper.map_or_else(
        || "this program, which starts more slowly than `toolsmith-sandbox` beside it would".to_owned(),
        |path| path.display().to_string(),
    );
    lines.push(line(true, "helper", helper));
    let minimum = findings.minimum.map_or(String::new(), |minimum| format!(" (minimum: {minimum})"));
    lines.push(line(findings.suffices, "tier", format!("{}{minimum}", findings.tier.unwrap_or("none"))));
    lines.push(match &findings.tried {
        Some(Tried { program: SandboxReport { tier, layers, .. }, .. }) => {
            let enforced = if layers.is_empty() { "nothing".to_owned() } else { layers.join(", ") };
            line(
                true,
                "tried",
                format!("an empty program was compiled and run in the tier {tier}, with {enforced}"),
            )
        }
        None => line(false, "tried", "skipped because something is missing"),
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that has everything, or nothing.
    fn report(is_complete: bool) -> String {
        let found = |path: &str| is_complete.then(|| path.into());
        let toolchain = runner::Tools {
            rustc: found("/home/me/.rustup/bin/rustc"),
            version: is_complete.then(|| "rustc 1.95.0".to_owned()),
            origin: is_complete.then_some(runner::Origin::RustupDefault),
            cargo: found("/home/me/.rustup/bin/cargo"),
            linker: found("/home/me/.rustup/bin/rust-lld"),
            target: "x86_64-unknown-linux-musl",
            target_installed: is_complete,
            target_line: (!is_complete).then(|| "rustup target add x86_64-unknown-linux-musl".to_owned()),
            layer_built: is_complete,
            whole_link: None,
            c_linker: found("/usr/bin/cc"),
        };
        let folder = runner::CacheFolder {
            folder: "/home/me/.cache/toolsmith".into(),
            writable: is_complete,
            free_bytes: is_complete.then_some(100 << 30),
            used_bytes: 700 << 20,
        };
        let mechanism = |name, answer: &str, advice: &str| Mechanism {
            name,
            available: is_complete,
            answer: if is_complete { answer } else { "refused" }.to_owned(),
            advice: (!is_complete).then(|| advice.to_owned()),
        };
        let mechanisms = [
            mechanism("landlock", "ABI 7", "boot a kernel with Landlock"),
            mechanism("user namespace", "works", "allow user namespaces"),
            mechanism("mount namespace", "works", "allow user namespaces"),
        ];
        let layers = vec!["landlock".to_owned(), "seccomp".to_owned()];
        let tried = || SandboxReport { tier: "full".to_owned(), layers: layers.clone(), refused: Vec::new() };
        let problem = Problem {
            kind: Kind::Toolchain,
            what: "no Rust compiler was found".to_owned(),
            advice: Some("rustup toolchain install stable".to_owned()),
        };
        let findings = Findings {
            ok: is_complete,
            tier: is_complete.then_some("full"),
            minimum: Some("landlock+seccomp"),
            mechanisms: &mechanisms,
            helper: is_complete.then_some(Path::new("/usr/bin/toolsmith-sandbox")),
            toolchain: &toolchain,
            kernel: "6.18.0",
            cache: CacheFindings {
                folder: &folder,
                size: 5 << 30,
                remote: Some(StoreState {
                    place: "s3://artifacts".to_owned(),
                    signs_with: is_complete.then(|| "0123456789abcdef".to_owned()),
                    accepts: vec!["0123456789abcdef".to_owned()],
                    answered_ms: is_complete.then_some(12),
                    trouble: (!is_complete).then(|| "it did not answer within 5 s".to_owned()),
                }),
            },
            bundle: None,
            tried: is_complete.then(|| Tried { compiler: tried(), program: tried() }),
            write_grants: if is_complete { grants::examples() } else { Vec::new() },
            servers: servers::examples(is_complete),
            clients: clients::examples(is_complete),
            problems: if is_complete { Vec::new() } else { vec![problem] },
            suffices: is_complete,
        };
        lines(&findings).join("\n")
    }

    #[test]
    fn the_report_has_a_line_for_each_finding() {
        insta::assert_snapshot!("complete", report(true));
        insta::assert_snapshot!("incomplete", report(false));
    }
}
