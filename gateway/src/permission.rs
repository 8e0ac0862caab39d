//! Who may call what: what the configuration says, what the command line allows, and what a person answers.
//!
//! One [`Policy`] serves nested calls, which programs make, and direct ones. How a person is reached is left to a
//! [`Prompter`]: a person at the terminal, a client, or nobody.

mod identity;
mod question;
mod remembered;
pub mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use config::{Config, Glob, Permission};
use futures::future::BoxFuture;
use mcp::LockedTool;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use terminal::Notifier;

use crate::resources;
use crate::tool_list::ToolList;

pub use question::Question;
pub use remembered::{Content, Remembered};

/// Most tools that one question names; what can call more is refused unasked, since nobody would read it.
pub(crate) const QUESTION_TOOLS: usize = 100;

/// How often calls of one tool are refused to an execution before nobody is asked about it any more: a program must not
/// win by asking until somebody errs.
const REFUSALS_HEEDED: u32 = 3;

/// Most tools that a refusal's message names; its evidence names all.
const TOOLS_TOLD: usize = 10;

/// A tool that somebody wants to call, as its server offers it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestedTool {
    /// The server's name in the configuration.
    pub server: String,
    /// The tool's name as its server has it.
    pub tool: String,
    /// The hash of the tool as it is offered; a tool that has changed is another one. Empty where it is not offered.
    pub hash: String,
    /// How its server is reached, as a hash with a key. Empty until a [`Policy`] is asked, which knows it.
    pub reached: String,
    /// What the server claims of the tool.
    pub(crate) claims: Vec<&'static str>,
}

/// What a person answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// This once: this program, or this call.
    Once,
    /// As long as this process lives.
    Session,
    /// From now on.
    Always,
    /// No, or no answer.
    No,
    /// There is nobody to ask.
    Nobody,
    /// Nobody answered within this time.
    Late(Duration),
    /// Too many questions are open already.
    Busy,
}

/// Puts questions to a person.
pub trait Prompter: Send + Sync {
    /// Whether there is anybody to ask.
    fn is_there(&self) -> bool;

    /// Why nothing may be called where nobody is there.
    fn absence(&self) -> Reason {
        Reason::NoTerminal
    }

    /// Puts a question, one at a time, and waits as long as the answer takes. Dropping the future withdraws it.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

/// Why a call may not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The tools, as `server.tool`.
    pub(crate) tools: Vec<String>,
    pub(crate) reason: Reason,
}

/// Who refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The configuration denies it.
    Configuration,
    /// Somebody must be asked, and there is nobody.
    NoTerminal,
    /// Somebody must be asked, and the client has no elicitation to do so.
    NoElicitation,
    /// A person said no.
    Person,
    /// There are too many tools for a question.
    TooMany,
    /// Nobody answered within this time.
    Late(Duration),
    /// Too many questions are open already.
    Busy,
}

/// What one execution was granted before it ran, and refused while it did.
#[derive(Debug, Default)]
pub struct Grants {
    granted: Mutex<BTreeSet<(String, String)>>,
    refusals: Mutex<BTreeMap<(String, String), u32>>,
}

/// What was allowed for as long as a session lasts.
pub type SessionAnswers = Arc<Mutex<BTreeSet<RequestedTool>>>;

/// The policy of a process, or of a client's session in it.
pub struct Policy {
    config: Arc<Config>,
    /// What the command line allows, as globs of `server.tool`.
    allow: Vec<Glob>,
    prompter: Box<dyn Prompter>,
    session: SessionAnswers,
    remembered: OnceLock<Mutex<Remembered>>,
    /// One question at a time.
    turn: tokio::sync::Mutex<()>,
    /// What there is to tell beside the answers.
    notes: Mutex<Vec<String>>,
}

/// What may be called from the command line, and who is asked.
pub fn policy(
    config: &Arc<Config>,
    allow: &[String],
    notifier: &Notifier,
    prompter: impl Prompter + 'static,
) -> Arc<Policy> {
    let older = Remembered::retire_older();
    let (remembered, wrong) = Remembered::read();
    older.iter().chain(&wrong).for_each(|wrong| notifier.note(wrong));
    Arc::new(Policy::new(config, allow, Some(remembered), prompter))
}

impl Policy {
    /// The policy of a configuration, with what the command line allows. What a person has answered before is read where
    /// it matters first, if it is not given.
    pub(crate) fn new(
        config: &Arc<Config>,
        allow: &[String],
        remembered: Option<Remembered>,
        prompter: impl Prompter + 'static,
    ) -> Self {
        Policy {
            config: config.clone(),
            allow: allow.iter().map(|glob| Glob::new(glob)).collect(),
            prompter: Box::new(prompter),
            session: SessionAnswers::default(),
            remembered: remembered.map_or_else(OnceLock::new, |remembered| Mutex::new(remembered).into()),
            turn: tokio::sync::Mutex::default(),
            notes: Mutex::default(),
        }
    }

    /// The policy of a session in which this was answered before.
    pub fn of_session(
        config: &Arc<Config>,
        allow: &[String],
        session: SessionAnswers,
        prompter: impl Prompter + 'static,
    ) -> Arc<Self> {
        Arc::new(Policy { session, ..Policy::new(config, allow, None, prompter) })
    }

    /// Whether a program may call `manifest`, all that it can call: one question, before it runs. What is granted by
    /// the answer goes into `grants`.
    pub(crate) async fn decide(&self, manifest: &[RequestedTool], grants: &Grants) -> Result<(), Refusal> {
        let manifest = self.identified(manifest);
        let those = |permission: Permission| {
            manifest.iter().filter(move |wanted| self.holds(&wanted.server, &wanted.tool) == permission)
        };
        let denied: Vec<RequestedTool> = those(Permission::Deny).cloned().collect();
        if !denied.is_empty() {
            return Err(Refusal::of(&denied, Reason::Configuration));
        }
        let each = || those(Permission::AskEach).filter(|wanted| !self.session().contains(wanted)).cloned();
        if !self.prompter.is_there() {
            let open: Vec<RequestedTool> =
                self.open(those(Permission::Ask)).into_iter().chain(each()).collect();
            return if open.is_empty() { Ok(()) } else { Err(Refusal::of(&open, self.prompter.absence())) };
        }
        let _turn = self.turn.lock().await;
        let open = self.open(those(Permission::Ask));
        if open.is_empty() {
            return Ok(());
        }
        if open.len() > QUESTION_TOOLS {
            return Err(Refusal::of(&open, Reason::TooMany));
        }
        let question = Question::Program { tools: open, each: each().count() };
        let answer = self.prompter.ask(&question).await;
        self.settle(answer, question.tools(), |wanted| grants.add(wanted))
    }

    /// Whether a call may be made with these arguments: for a nested call after [`Policy::decide`], with the same
    /// `grants`; for a direct call alone. `wanted` is looked up only where it matters.
    pub async fn decide_call(
        &self,
        (server, tool): (&str, &str),
        wanted: impl FnOnce() -> RequestedTool,
        arguments: &RawValue,
        grants: &Grants,
    ) -> Result<(), Refusal> {
        let permission = self.holds(server, tool);
        match permission {
            Permission::Allow => return Ok(()),
            Permission::Ask if grants.has(server, tool) => return Ok(()),
            Permission::Deny => return Err(Refusal::of(&[wanted()], Reason::Configuration)),
            Permission::Ask | Permission::AskEach => {}
        }
        let wanted = wanted();
        let wanted = self.identified(std::slice::from_ref(&wanted)).pop().unwrap_or(wanted);
        let is_open = || match permission {
            Permission::Ask => !self.open([&wanted]).is_empty(),
            _ => !self.session().contains(&wanted),
        };
        if !is_open() {
            return Ok(());
        }
        if !self.prompter.is_there() {
            return Err(Refusal::of(&[wanted], self.prompter.absence()));
        }
        let _turn = self.turn.lock().await;
        // Another call of the same tool may have been answered for the whole session.
        if !is_open() {
            return Ok(());
        }
        if grants.refusals(&wanted) >= REFUSALS_HEEDED {
            return Err(Refusal::of(&[wanted], Reason::Person));
        }
        let memorable = permission == Permission::Ask;
        let question = Question::call(wanted.clone(), arguments, memorable);
        let answer = self.prompter.ask(&question).await;
        if answer == Answer::No {
            grants.refuse(&wanted);
        }
        self.settle(answer, question.tools(), |_| {})
    }

    /// The tools that nobody has been asked about.
    fn open<'a>(&self, tools: impl IntoIterator<Item = &'a RequestedTool>) -> Vec<RequestedTool> {
        let (session, remembered) = (self.session(), self.remembered());
        let known = |wanted: &RequestedTool| session.contains(wanted) || remembered.has(wanted);
        tools.into_iter().filter(|wanted| !known(wanted)).cloned().collect()
    }

    fn settle(
        &self,
        answer: Answer,
        tools: &[RequestedTool],
        mut grant: impl FnMut(&RequestedTool),
    ) -> Result<(), Refusal> {
        match answer {
            Answer::Once => {}
            Answer::Session => self.session().extend(tools.iter().cloned()),
            Answer::Always => {
                self.session().extend(tools.iter().cloned());
                if let Err(why) = self.remembered().add(tools) {
                    self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(why);
                }
            }
            Answer::No => return Err(Refusal::of(tools, Reason::Person)),
            Answer::Nobody => return Err(Refusal::of(tools, self.prompter.absence())),
            Answer::Late(limit) => return Err(Refusal::of(tools, Reason::Late(limit))),
            Answer::Busy => return Err(Refusal::of(tools, Reason::Busy)),
        }
        tools.iter().for_each(&mut grant);
        Ok(())
    }

    /// The same tools, with how the servers are reached of those that somebody may be asked about.
    fn identified(&self, tools: &[RequestedTool]) -> Vec<RequestedTool> {
        let mut known: BTreeMap<&str, String> = BTreeMap::new();
        let asks = |wanted: &RequestedTool| {
            matches!(self.holds(&wanted.server, &wanted.tool), Permission::Ask | Permission::AskEach)
        };
        let identified = tools.iter().map(|wanted| {
            let server = self.config.server(&wanted.server).filter(|_| asks(wanted));
            let Some(server) = server else { return wanted.clone() };
            let reached = known.entry(&wanted.server).or_insert_with(|| self.remembered().identity(server));
            RequestedTool { reached: reached.clone(), ..wanted.clone() }
        });
        identified.collect()
    }

    /// What there is to tell: answers that could not be written down.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn session(&self) -> MutexGuard<'_, BTreeSet<RequestedTool>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        // What can't be read is asked again.
        let remembered = self.remembered.get_or_init(|| Mutex::new(Remembered::read().0));
        remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Grants {
    fn add(&self, wanted: &RequestedTool) {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner).insert(wanted.key());
    }

    fn refuse(&self, wanted: &RequestedTool) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        *refusals.entry(wanted.key()).or_default() += 1;
    }

    fn refusals(&self, wanted: &RequestedTool) -> u32 {
        let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.get(&wanted.key()).copied().unwrap_or_default()
    }

    fn has(&self, server: &str, tool: &str) -> bool {
        let key = (server.to_owned(), tool.to_owned());
        self.granted.lock().unwrap_or_else(PoisonError::into_inner).contains(&key)
    }
}

impl RequestedTool {
    /// A tool among those that its server offers.
    pub fn new(server: &str, tool: &str, offered: Option<&ToolList>) -> Self {
        let raw = offered.and_then(|list| list.tool(tool));
        RequestedTool {
            server: server.to_owned(),
            tool: tool.to_owned(),
            hash: raw.map(|raw| LockedTool::new(raw.clone()).hash).unwrap_or_default(),
            reached: String::new(),
            claims: raw.map(claims).unwrap_or_default(),
        }
    }

    /// To read resources of a server, which is as if it were a tool that never changes.
    pub fn reading(server: &str) -> Self {
        let (tool, hash) = (resources::READ.to_owned(), "resources".to_owned());
        RequestedTool { server: server.to_owned(), tool, hash, reached: String::new(), claims: Vec::new() }
    }

    fn key(&self) -> (String, String) {
        (self.server.clone(), self.tool.clone())
    }

    /// As `server.tool`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.server, self.tool)
    }
}

/// What a server claims of a tool (MCP's `ToolAnnotations`): shown, never believed.
fn claims(raw: &Value) -> Vec<&'static str> {
    let hint = |name: &str| raw["annotations"][name].as_bool();
    let claims = [
        (hint("readOnlyHint") == Some(true), "only reads"),
        (hint("readOnlyHint") == Some(false), "changes things"),
        (hint("destructiveHint") == Some(true), "may destroy"),
        (hint("openWorldHint") == Some(true), "reaches beyond its own data"),
    ];
    claims.into_iter().filter(|(is_claimed, _)| *is_claimed).map(|(_, words)| words).collect()
}

impl Refusal {
    fn of(tools: &[RequestedTool], reason: Reason) -> Self {
        Refusal { tools: tools.iter().map(RequestedTool::name).collect(), reason }
    }

    /// In words for a person or a model, with what to do.
    pub fn message(&self) -> String {
        let shown: Vec<String> =
            self.tools.iter().take(TOOLS_TOLD).map(|name| printable::name(name)).collect();
        let more = self.tools.len().saturating_sub(TOOLS_TOLD);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = format!("{}{more}", shown.join(", "));
        let allow: Vec<String> = shown.iter().map(|name| format!("--allow '{name}'")).collect();
        let help = format!(
            "\nhelp: allow it with {}{}, or in the configuration with `trust: true` or `permissions` of the server",
            allow.join(" "),
            if more.is_empty() { "" } else { " …" }
        );
        match self.reason {
            Reason::Configuration => format!("the configuration denies {names}"),
            Reason::NoTerminal => {
                format!("{names}: permission must be asked for, and there is no terminal to ask on{help}")
            }
            Reason::NoElicitation => {
                let entries = self.entries();
                format!(
                    "{names}: permission must be asked for, and this client has no elicitation to ask a person by\n\
                     help: if you agree to it, add to the configuration:\n{entries}\n\
                     help: or start the server with {}",
                    allow.join(" ")
                )
            }
            Reason::Person => format!("permission to call {names} was refused"),
            Reason::Late(limit) => format!(
                "{names}: nobody answered the question for permission within {} s (serve.questionTimeout)\n\
                 help: try again when somebody can answer, set serve.questionTimeout to more seconds, or allow it in \
                 the configuration with `trust: true` or `permissions` of the server",
                limit.as_secs_f64()
            ),
            Reason::Busy => format!(
                "{names}: busy: permission must be asked for, and too many questions are open already; answer those, or \
                 try again later"
            ),
            Reason::TooMany => {
                format!(
                    "{names}: more than {QUESTION_TOOLS} tools need permission, too many for a question{help}"
                )
            }
        }
    }

    /// The lines of a configuration that allow the tools.
    pub(crate) fn entries(&self) -> String {
        let mut servers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for name in self.tools.iter().take(TOOLS_TOLD) {
            // Names of servers have no dots.
            let (server, tool) = name.split_once('.').unwrap_or((name, "*"));
            servers.entry(server).or_default().push(format!("{}: allow", json!(tool)));
        }
        let lines = servers.iter().map(|(server, tools)| {
            format!("  {server}: {{ permissions: {{ {} }} }}", printable::exact(&tools.join(", ")))
        });
        format!("mcpServers:\n{}", lines.collect::<Vec<_>>().join("\n"))
    }

    /// The same for programs.
    pub(crate) fn evidence(&self) -> Value {
        let reason = match self.reason {
            Reason::Configuration => "configuration",
            Reason::NoTerminal => "no_terminal",
            Reason::NoElicitation => "no_elicitation",
            Reason::Person => "refused",
            Reason::TooMany => "too_many",
            Reason::Late(_) => "unanswered",
            Reason::Busy => "busy",
        };
        json!({ "tools": self.tools, "reason": reason })
    }
}

#[cfg(test)]
mod tests;
