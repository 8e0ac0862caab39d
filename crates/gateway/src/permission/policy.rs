//! Combines the configuration, the command line and the user's answers into one decision.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use config::{Config, Glob, Permission};
use parking_lot::{Mutex, MutexGuard};
use runner::Journal;
use serde_json::value::RawValue;
use terminal::Notifier;

use super::answers::{ExecutionAnswers, SessionAnswers};
use super::approved::{Allowed, ApprovedTools};
use super::prompter::{Answer, Prompter};
use super::question::{QUESTION_TOOLS, Question};
use super::refusal::{Reason, Refusal};
use super::remembered::Remembered;
use super::requested_tool::RequestedTool;
use super::rules;

/// Refusals of one tool to one execution after which its calls are refused without asking: a program must not succeed
/// by repeating the question until the user errs.
const MAX_REFUSALS: u32 = 3;

/// Limit on notes of one execution about refusals.
const NOTES_KEPT: usize = 20;

/// The policy of a process, or of one client's session.
pub struct PermissionPolicy {
    config: Arc<Config>,
    /// Tools that the command line allows, as globs of `server.tool`.
    allow: Vec<Glob>,
    /// The tools that the saved program is approved to call.
    approved: ApprovedTools,
    prompter: Box<dyn Prompter>,
    /// Has the questions and their answers.
    journal: Journal,
    session: SessionAnswers,
    remembered: OnceLock<Mutex<Remembered>>,
    /// Held while a question is open, so that there is only one.
    turn: tokio::sync::Mutex<()>,
    /// Notes to report in addition to the decisions.
    notes: Mutex<Vec<String>>,
    /// Whether refusals that nobody decided are noted: the user does not see the errors of a client's model.
    notes_refusals: bool,
}

/// The policy for a command line.
pub fn policy(
    config: &Arc<Config>,
    Allowed { globs, approved }: Allowed<'_>,
    notifier: &Notifier,
    prompter: impl Prompter + 'static,
    journal: Journal,
) -> Arc<PermissionPolicy> {
    let older = Remembered::retire_older();
    let (remembered, wrong) = Remembered::read();
    older.iter().chain(&wrong).for_each(|wrong| notifier.note(&format!("warning: {wrong}")));
    Arc::new(PermissionPolicy {
        approved,
        journal,
        ..PermissionPolicy::new(config, globs, Some(remembered), prompter)
    })
}

impl PermissionPolicy {
    /// The policy of a configuration, with what the command line allows. Remembered answers are read on first use if
    /// not given.
    pub(crate) fn new(
        config: &Arc<Config>,
        allow: &[String],
        remembered: Option<Remembered>,
        prompter: impl Prompter + 'static,
    ) -> Self {
        PermissionPolicy {
            config: config.clone(),
            allow: allow.iter().map(|glob| Glob::new(glob)).collect(),
            approved: ApprovedTools::default(),
            prompter: Box::new(prompter),
            journal: Journal::default(),
            session: SessionAnswers::default(),
            remembered: remembered.map_or_else(OnceLock::new, |remembered| Mutex::new(remembered).into()),
            turn: tokio::sync::Mutex::default(),
            notes: Mutex::default(),
            notes_refusals: false,
        }
    }

    /// The policy of a session with these earlier answers.
    pub fn of_session(
        config: &Arc<Config>,
        Allowed { globs, approved }: Allowed<'_>,
        session: SessionAnswers,
        prompter: impl Prompter + 'static,
        journal: Journal,
    ) -> Arc<Self> {
        let policy = PermissionPolicy::new(config, globs, None, prompter);
        Arc::new(PermissionPolicy { session, approved, journal, notes_refusals: true, ..policy })
    }

    /// Decides whether a program may run, given `manifest`, the tools that it can call: at most one question, before
    /// it runs. Allowed tools are added to `execution`.
    pub(crate) async fn decide(
        &self,
        manifest: &[RequestedTool],
        execution: &ExecutionAnswers,
    ) -> Result<(), Refusal> {
        self.decided(manifest, execution).await.inspect_err(|refusal| self.note(refusal))
    }

    async fn decided(&self, manifest: &[RequestedTool], execution: &ExecutionAnswers) -> Result<(), Refusal> {
        let manifest = self.identified(manifest);
        let those = |permission: Permission| {
            manifest
                .iter()
                .filter(move |requested| self.holds(&requested.server, &requested.tool) == permission)
        };
        let denied: Vec<RequestedTool> = those(Permission::Deny).cloned().collect();
        if !denied.is_empty() {
            return Err(Refusal::of(&denied, Reason::Configuration));
        }
        let each =
            || those(Permission::AskEach).filter(|requested| !self.session().contains(requested)).cloned();
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
        let answer = self.ask(&question).await;
        if answer == Answer::Choose {
            return self.decide_by_server(question.tools(), execution).await;
        }
        self.apply(answer, question.tools(), |requested| execution.allow(requested))
    }

    /// Asks about the tools of each server separately. If the user allows any, the program runs, and its calls of
    /// other tools are refused.
    async fn decide_by_server(
        &self,
        tools: &[RequestedTool],
        execution: &ExecutionAnswers,
    ) -> Result<(), Refusal> {
        let mut servers: BTreeMap<&str, Vec<RequestedTool>> = BTreeMap::new();
        tools.iter().for_each(|tool| servers.entry(&tool.server).or_default().push(tool.clone()));
        let (mut is_any_allowed, mut reason) = (false, Reason::Refused);
        for tools in servers.into_values() {
            let question = Question::Program { tools, each: 0 };
            let answer = self.ask(&question).await;
            match self.apply(answer, question.tools(), |requested| execution.allow(requested)) {
                Ok(()) => is_any_allowed = true,
                Err(refusal) if matches!(refusal.reason, Reason::Refused | Reason::Declined) => {
                    reason = refusal.reason;
                    question.tools().iter().for_each(|tool| execution.refuse(tool, MAX_REFUSALS, reason));
                }
                Err(refusal) => return Err(refusal),
            }
        }
        if is_any_allowed { Ok(()) } else { Err(Refusal::of(tools, reason)) }
    }

    /// Decides about a call with these arguments: a nested call after `decide` with the same
    /// `execution`, or a direct call. `requested` is called only if needed.
    pub async fn decide_call(
        &self,
        (server, tool): (&str, &str),
        requested: impl FnOnce() -> RequestedTool,
        arguments: &RawValue,
        execution: &ExecutionAnswers,
    ) -> Result<(), Refusal> {
        let decided = self.decided_call((server, tool), requested, arguments, execution).await;
        decided.inspect_err(|refusal| self.note(refusal))
    }

    async fn decided_call(
        &self,
        (server, tool): (&str, &str),
        requested: impl FnOnce() -> RequestedTool,
        arguments: &RawValue,
        execution: &ExecutionAnswers,
    ) -> Result<(), Refusal> {
        let permission = self.holds(server, tool);
        match permission {
            Permission::Allow => return Ok(()),
            Permission::Ask if execution.allows(server, tool) => return Ok(()),
            Permission::Deny => return Err(Refusal::of(&[requested()], Reason::Configuration)),
            Permission::Ask | Permission::AskEach => {}
        }
        let requested = requested();
        let requested = self.identified(std::slice::from_ref(&requested)).pop().unwrap_or(requested);
        let is_open = || match permission {
            Permission::Ask => !self.open([&requested]).is_empty(),
            _ => !self.session().contains(&requested),
        };
        if !is_open() {
            return Ok(());
        }
        if !self.prompter.is_there() {
            return Err(Refusal::of(&[requested], self.prompter.absence()));
        }
        let _turn = self.turn.lock().await;
        // Another call of the same tool may have been allowed for the whole session.
        if !is_open() {
            return Ok(());
        }
        if let Some(reason) = execution.refused(&requested, MAX_REFUSALS) {
            return Err(Refusal::of(&[requested], reason));
        }
        let memorable = permission == Permission::Ask;
        let question = Question::call(requested.clone(), arguments, memorable);
        let answer = self.ask(&question).await;
        let decided = self.apply(answer, question.tools(), |_| {});
        if let Err(Refusal { reason: reason @ (Reason::Refused | Reason::Declined), .. }) = decided {
            execution.refuse(&requested, 1, reason);
        }
        decided
    }

    /// Asks the user. The journal has the question and its answer.
    async fn ask(&self, question: &Question) -> Answer {
        let tools = question.tools().iter().map(RequestedTool::name).collect();
        let (text, short) = (question.text(), question.short_text());
        let asked = self.journal.ask(question.about(), tools, &text, &short);
        let answer = self.prompter.ask(question).await;
        asked.answered(answer.word(), answer.by(self.prompter.answered_by()));
        answer
    }

    /// The tools without an answer yet.
    fn open<'a>(&self, tools: impl IntoIterator<Item = &'a RequestedTool>) -> Vec<RequestedTool> {
        let (session, remembered) = (self.session(), self.remembered());
        let known = |requested: &RequestedTool| {
            session.contains(requested) || remembered.has(requested) || self.approved.has(requested)
        };
        tools.into_iter().filter(|requested| !known(requested)).cloned().collect()
    }

    fn apply(
        &self,
        answer: Answer,
        tools: &[RequestedTool],
        mut allow: impl FnMut(&RequestedTool),
    ) -> Result<(), Refusal> {
        match answer {
            Answer::Once => {}
            Answer::Session => self.session().extend(tools.iter().cloned()),
            Answer::Always => {
                self.session().extend(tools.iter().cloned());
                if let Err(error) = self.remembered().add(tools, self.prompter.answered_by()) {
                    self.notes.lock().push(error.to_string());
                }
            }
            // A single server offers no further choice.
            Answer::No | Answer::Choose => return Err(Refusal::of(tools, Reason::Refused)),
            Answer::Declined => return Err(Refusal::of(tools, Reason::Declined)),
            Answer::Nobody => return Err(Refusal::of(tools, self.prompter.absence())),
            Answer::Late(limit) => return Err(Refusal::of(tools, self.prompter.lateness(limit))),
            Answer::Busy => return Err(Refusal::of(tools, Reason::Busy)),
        }
        tools.iter().for_each(&mut allow);
        Ok(())
    }

    /// Adds the identities of the servers to the tools that the user may be asked about.
    fn identified(&self, tools: &[RequestedTool]) -> Vec<RequestedTool> {
        let mut known: BTreeMap<&str, String> = BTreeMap::new();
        let asks = |requested: &RequestedTool| {
            matches!(self.holds(&requested.server, &requested.tool), Permission::Ask | Permission::AskEach)
        };
        let identified = tools.iter().map(|requested| {
            let server = self.config.server(&requested.server).filter(|_| asks(requested));
            let Some(server) = server else { return requested.clone() };
            let reached =
                known.entry(&requested.server).or_insert_with(|| self.remembered().identity(server));
            RequestedTool { reached: reached.clone(), ..requested.clone() }
        });
        identified.collect()
    }

    /// The permission of a tool before anyone is asked. The command line turns asking into allowing; denials stay.
    pub(crate) fn holds(&self, server: &str, tool: &str) -> Permission {
        rules::holds(&self.config, &self.allow, server, tool)
    }

    /// Notes a refusal that nobody decided, each only once.
    fn note(&self, refusal: &Refusal) {
        let is_decided = matches!(refusal.reason, Reason::Configuration | Reason::Refused | Reason::Busy);
        if self.notes_refusals && !is_decided {
            let note = refusal.report().for_terminal();
            let mut notes = self.notes.lock();
            if notes.len() < NOTES_KEPT && !notes.contains(&note) {
                notes.push(note);
            }
        }
    }

    /// Takes the notes to report: answers that could not be saved, and refusals that nobody decided.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.lock())
    }

    fn session(&self) -> MutexGuard<'_, BTreeSet<RequestedTool>> {
        self.session.lock()
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        // If the file can't be read, the user is asked again.
        let remembered = self.remembered.get_or_init(|| Mutex::new(Remembered::read().0));
        remembered.lock()
    }
}

#[cfg(test)]
mod tests;
