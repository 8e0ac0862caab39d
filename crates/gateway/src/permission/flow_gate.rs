//! The place where calls leave and answers arrive, in the journal of an execution or of a direct call.
//!
//! `policy` asks the user before a call, in one question about its permission and its flows. Here the call is decided
//! again when it leaves, because answers may have been received since. That is seldom a question.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, OnceLock, Weak};

use config::{Config, FlowScope, Flows};
use flows::{Call, Decision, Flow, Guard, Labels, Rules, State};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use runner::{Answer, AnsweredCall, Begin, CallFailure, Refused, SentCall, Sink};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use system::event_loop::off_loop;

use super::approved::ApprovedTools;
use super::refusal::{Reason, Refusal};
use super::requested_tool::RequestedTool;

/// The member of an answer's `_meta` with the labels of what a subagent has received.
pub const FLOWS_META: &str = "io.toolsmith/flows";

/// The flows between the tools of a manifest that are asked about or denied, in lines.
pub fn possible_flows(rules: &config::Flows, manifest: &[String]) -> Vec<String> {
    flows::lines(&Rules::new(rules).of_manifest(manifest))
}

/// Asks the user about the flows of a call that leaves.
pub(super) trait FlowAsker: Send + Sync {
    /// Decides about the flows of this call; an answer of the user is in the gate then.
    fn decide_flows<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: &'a RawValue,
    ) -> BoxFuture<'a, Result<(), Refusal>>;
}

/// The flows of one execution, or of one direct call.
#[derive(Debug, Default)]
pub struct FlowGate {
    guard: Guard,
    asker: OnceLock<Weak<dyn FlowAsker>>,
}

impl FlowGate {
    /// The gate of an execution in a session with this state; `approved` is the approval of a saved program.
    pub fn new(config: &Config, session: &State, approved: &ApprovedTools) -> Arc<Self> {
        let guard = Guard::new(Rules::new(&config.flows), session, approved.flows().clone());
        Arc::new(FlowGate { guard, asker: OnceLock::new() })
    }

    /// The gate of a command, which runs one program.
    pub fn of_command(config: &Config, approved: &ApprovedTools) -> Arc<Self> {
        let rules = Rules::new(&Flows { scope: FlowScope::Program, ..config.flows.clone() });
        let guard = Guard::new(rules, &State::default(), approved.flows().clone());
        Arc::new(FlowGate { guard, asker: OnceLock::new() })
    }

    /// The refusal of a call that is denied, whatever the user says.
    pub(crate) fn denied(&self, server: &str, tool: &str) -> Option<CallFailure> {
        let Decision::Deny(flows) = self.guard.decide(server, tool) else { return None };
        Some(self.refusal(server, tool, Reason::Configuration, flows).into())
    }

    fn refusal(&self, server: &str, tool: &str, reason: Reason, flows: Vec<Flow>) -> Refused {
        let tool = RequestedTool::new(server, tool, None);
        refused(&Refusal::of_flows(&tool, reason, flows, self.guard.scope()))
    }

    /// Asks the user through this asker.
    pub(super) fn ask_through(&self, asker: Weak<dyn FlowAsker>) {
        // A gate has one execution, and an execution one asker.
        let _ = self.asker.set(asker);
    }

    /// Describes the parts of earlier answers in the arguments of a call.
    pub(super) fn marks(&self, arguments: &RawValue) -> Vec<String> {
        let answers = self.guard.answers();
        off_loop(answers.bytes() + arguments.get().len(), || answers.marks(arguments.get()).lines())
    }

    async fn leave(&self, call: &SentCall<'_>, arguments: &RawValue) -> Result<(), Refused> {
        let leaving = Call { server: call.server, tool: call.tool, arguments: arguments.get() };
        loop {
            let (flows, reason) = match self.guard.leave(leaving) {
                Decision::Allow => return Ok(()),
                Decision::Ask(flows) => (flows, Reason::NoTerminal),
                Decision::Deny(flows) => (flows, Reason::Configuration),
            };
            let Some(asker) = self.asker.get().and_then(Weak::upgrade) else {
                return Err(self.refusal(call.server, call.tool, reason, flows));
            };
            let decided = asker.decide_flows(call.server, call.tool, arguments).await;
            decided.map_err(|refusal| refused(&refusal))?;
        }
    }

    /// An answer is about to be handed over.
    pub(crate) fn receive_answer(&self, server: &str, tool: &str, answer: &Result<Answer, CallFailure>) {
        let carried = match answer {
            Err(failure) if failure.kind.is_refusal() => return,
            // Its message may be the server's.
            Err(failure) => {
                self.guard.keep(server, tool, &Value::from(&*failure.message).to_string());
                Labels::default()
            }
            Ok(answer) => {
                self.guard.keep(server, tool, answer.result.get());
                carried(&answer.result)
            }
        };
        self.guard.receive(server, tool, carried);
    }
}

fn refused(refusal: &Refusal) -> Refused {
    Refused { kind: refusal.kind(), reason: "flow", message: refusal.report_of_call().for_model() }
}

impl Deref for FlowGate {
    type Target = Guard;

    fn deref(&self) -> &Guard {
        &self.guard
    }
}

impl Sink for FlowGate {
    fn begin<'a>(&'a self, begin: &'a mut Begin<'_>) -> BoxFuture<'a, Result<(), Refused>> {
        match begin {
            Begin::Call { call, arguments, .. } => return self.leave(call, arguments).boxed(),
            // Nobody is left to receive the answer of a call that was cancelled.
            Begin::Answer(AnsweredCall { call, answer: Some(answer), .. }) => {
                self.receive_answer(call.server, call.tool, answer);
            }
            _ => {}
        }
        ready(Ok(())).boxed()
    }
}

/// The labels that an answer carries. They only tighten, so they count from any server.
fn carried(answer: &RawValue) -> Labels {
    #[derive(Deserialize)]
    struct Marked {
        #[serde(rename = "_meta")]
        meta: BTreeMap<String, Value>,
    }
    // Most answers have no such member, and may be long.
    if !answer.get().contains(FLOWS_META) {
        return Labels::default();
    }
    let marked = serde_json::from_str::<Marked>(answer.get()).ok();
    let Some(labels) = marked.and_then(|mut marked| marked.meta.remove(FLOWS_META)) else {
        return Labels::default();
    };
    // What can't be read may be anything.
    serde_json::from_value(labels).unwrap_or(Labels { private: true, untrusted: true })
}

#[cfg(test)]
mod tests;
