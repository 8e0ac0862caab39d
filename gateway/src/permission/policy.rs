//! What the configuration says, what the command line allows, and what a person answers, put together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use config::{Config, Glob, Permission};
use serde_json::value::RawValue;
use terminal::Notifier;

use super::answers::{ExecutionAnswers, SessionAnswers};
use super::prompter::{Answer, Prompter};
use super::question::{QUESTION_TOOLS, Question};
use super::refusal::{Reason, Refusal};
use super::remembered::Remembered;
use super::requested_tool::RequestedTool;
use super::rules;

/// How often calls of one tool are refused to an execution before nobody is asked about it any more: a program must not
/// win by asking until somebody errs.
const REFUSALS_HEEDED: u32 = 3;

/// The policy of a process, or of a client's session in it.
pub struct PermissionPolicy {
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
) -> Arc<PermissionPolicy> {
    let older = Remembered::retire_older();
    let (remembered, wrong) = Remembered::read();
    older.iter().chain(&wrong).for_each(|wrong| notifier.note(wrong));
    Arc::new(PermissionPolicy::new(config, allow, Some(remembered), prompter))
}

impl PermissionPolicy {
    /// The policy of a configuration, with what the command line allows. What a person has answered before is read where
    /// it matters first, if it is not given.
    pub(crate) fn new(
        config: &Arc<Config>,
        allow: &[String],
        remembered: Option<Remembered>,
        prompter: impl Prompter + 'static,
    ) -> Self {
        PermissionPolicy {
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
        Arc::new(PermissionPolicy { session, ..PermissionPolicy::new(config, allow, None, prompter) })
    }

    /// Whether a program may call `manifest`, all that it can call: one question, before it runs. What the
    /// answer allows goes into `execution`.
    pub(crate) async fn decide(
        &self,
        manifest: &[RequestedTool],
        execution: &ExecutionAnswers,
    ) -> Result<(), Refusal> {
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
        self.settle(answer, question.tools(), |wanted| execution.allow(wanted))
    }

    /// Whether a call may be made with these arguments: for a nested call after [`PermissionPolicy::decide`], with the same
    /// `execution`; for a direct call alone. `wanted` is looked up only where it matters.
    pub async fn decide_call(
        &self,
        (server, tool): (&str, &str),
        wanted: impl FnOnce() -> RequestedTool,
        arguments: &RawValue,
        execution: &ExecutionAnswers,
    ) -> Result<(), Refusal> {
        let permission = self.holds(server, tool);
        match permission {
            Permission::Allow => return Ok(()),
            Permission::Ask if execution.allows(server, tool) => return Ok(()),
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
        if execution.refusals(&wanted) >= REFUSALS_HEEDED {
            return Err(Refusal::of(&[wanted], Reason::Person));
        }
        let memorable = permission == Permission::Ask;
        let question = Question::call(wanted.clone(), arguments, memorable);
        let answer = self.prompter.ask(&question).await;
        if answer == Answer::No {
            execution.refuse(&wanted);
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
        mut allow: impl FnMut(&RequestedTool),
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
        tools.iter().for_each(&mut allow);
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

    /// What holds for a tool before anybody is asked. What the command line allows is not asked about; what is denied
    /// stays so.
    pub(crate) fn holds(&self, server: &str, tool: &str) -> Permission {
        rules::holds(&self.config, &self.allow, server, tool)
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

#[cfg(test)]
mod tests;
