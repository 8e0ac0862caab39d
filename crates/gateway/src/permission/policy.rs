//! Combines the configuration, the command line and the user's answers into one decision. `call` decides about calls.

mod call;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock, Weak};

use config::{Config, Glob, Permission};
use flows::{Decision, Flow};
use parking_lot::{Mutex, MutexGuard};
use runner::{Journal, JournaledQuestion};
use terminal::Notifier;

use super::answers::{ExecutionAnswers, SessionAnswers};
use super::approved::{Allowed, ApprovedTools};
use super::flow_gate::FlowGate;
use super::prompter::{Answer, Prompter};
use super::question::{QUESTION_TOOLS, Question};
use super::refusal::{Reason, Refusal};
use super::remembered::Remembered;
use super::requested_tool::RequestedTool;
use super::rules;

/// Refusals of one tool to one execution after which its calls are refused without asking: a program must not succeed
/// by repeating the question until the user errs.
const MAX_REFUSALS: u32 = 3;

/// Limit on notes of one execution about refusals, and on questions about flows that are noted without being asked: a
/// program can repeat a call that is denied.
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
    /// The flows of its calls.
    flows: Arc<FlowGate>,
    /// The number of questions about flows that were noted without being asked.
    unasked: AtomicUsize,
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
    flows: Arc<FlowGate>,
) -> Arc<PermissionPolicy> {
    let older = Remembered::retire_older();
    let (remembered, wrong) = Remembered::read();
    older.iter().chain(&wrong).for_each(|wrong| notifier.note(&format!("warning: {wrong}")));
    let policy = PermissionPolicy::new(config, globs, Some(remembered), prompter);
    PermissionPolicy { approved, journal, ..policy }.with(flows)
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
            flows: Arc::default(),
            unasked: AtomicUsize::default(),
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
        flows: Arc<FlowGate>,
    ) -> Arc<Self> {
        let policy = PermissionPolicy::new(config, globs, None, prompter);
        PermissionPolicy { session, approved, journal, notes_refusals: true, ..policy }.with(flows)
    }

    /// The policy that also decides about these flows.
    fn with(self, flows: Arc<FlowGate>) -> Arc<Self> {
        let policy = Arc::new(PermissionPolicy { flows, ..self });
        let asker: Weak<PermissionPolicy> = Arc::downgrade(&policy);
        policy.flows.ask_through(asker);
        policy
    }

    /// Decides whether a program may run, given `manifest`, the tools that it can call: at most one question, before
    /// it runs. Allowed tools are added to `execution`. The question names `flows`, which are decided at the calls.
    pub(crate) async fn decide(
        &self,
        manifest: &[RequestedTool],
        flows: Vec<Flow>,
        execution: &ExecutionAnswers,
    ) -> Result<(), Refusal> {
        self.decided(manifest, flows, execution).await.inspect_err(|refusal| self.note(refusal))
    }

    async fn decided(
        &self,
        manifest: &[RequestedTool],
        flows: Vec<Flow>,
        execution: &ExecutionAnswers,
    ) -> Result<(), Refusal> {
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
        let question = Question::Program { tools: open, each: each().count(), flows };
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
            let question = Question::Program { tools, each: 0, flows: Vec::new() };
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

    /// Tells the journal about a question.
    fn journaled(&self, question: &Question) -> JournaledQuestion {
        let tools = question.tools().iter().map(RequestedTool::name).collect();
        let (text, short) = (question.text(), question.short_text());
        self.journal.ask(question.about(), tools, &text, &short).about_flows(question.flow_lines())
    }

    /// Asks the user. The journal has the question and its answer.
    async fn ask(&self, question: &Question) -> Answer {
        let asked = self.journaled(question);
        let answer = self.prompter.ask(question).await;
        asked.answered(answer.word(), answer.by(self.prompter.answered_by()));
        answer
    }

    /// Uses none of the answers that the user has given elsewhere for ever, and keeps none: for a program that is not
    /// this one.
    #[must_use]
    pub fn without_remembered(self: Arc<Self>) -> Arc<Self> {
        let _ = self.remembered.set(Mutex::new(Remembered::default()));
        self
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
        allow: impl FnMut(&RequestedTool),
    ) -> Result<(), Refusal> {
        if let Some(reason) = self.refusal(answer) {
            return Err(Refusal::of(tools, reason));
        }
        self.keep(answer, tools);
        tools.iter().for_each(allow);
        Ok(())
    }

    /// The reason for a refusal, if an answer is one.
    fn refusal(&self, answer: Answer) -> Option<Reason> {
        Some(match answer {
            Answer::Once | Answer::Session | Answer::Always => return None,
            // A single server offers no further choice.
            Answer::No | Answer::Choose => Reason::Refused,
            Answer::Declined => Reason::Declined,
            Answer::Nobody => self.prompter.absence(),
            Answer::Late(limit) => self.prompter.lateness(limit),
            Answer::Busy => Reason::Busy,
        })
    }

    /// Keeps an answer that covers more than this program or call.
    fn keep(&self, answer: Answer, tools: &[RequestedTool]) {
        if matches!(answer, Answer::Session | Answer::Always) {
            self.session().extend(tools.iter().cloned());
        }
        if answer == Answer::Always
            && let Err(error) = self.remembered().add(tools, self.prompter.answered_by())
        {
            self.notes.lock().push(error.to_string());
        }
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

    /// The flows that a program with these tools can make, and that need an answer or are denied.
    pub(crate) fn possible_flows(&self, tools: &[(String, String)]) -> Vec<Flow> {
        self.flows.possible(tools.iter().map(|(server, tool)| (server.as_str(), tool.as_str())))
    }

    /// Whether a call of this tool needs an answer because of what was received.
    pub(crate) fn asks_about_flows(&self, server: &str, tool: &str) -> bool {
        self.flows.decide(server, tool) != Decision::Allow
    }

    /// The program has learned something of a server without a call.
    pub(crate) fn received(&self, server: &str, name: &str) {
        self.flows.receive(server, name, flows::Labels::default());
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
