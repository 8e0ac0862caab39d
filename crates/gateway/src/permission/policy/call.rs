//! The decision about one call: its permission and its flows, in one question.

use std::sync::atomic::Ordering;

use config::Permission;
use flows::{Call, Decision, Flow};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::value::RawValue;

use super::{MAX_REFUSALS, NOTES_KEPT, PermissionPolicy};
use crate::permission::answers::ExecutionAnswers;
use crate::permission::flow_gate::FlowAsker;
use crate::permission::prompter::Answer;
use crate::permission::question::Question;
use crate::permission::refusal::{Reason, Refusal};
use crate::permission::requested_tool::RequestedTool;

/// The parts of a call that need an answer.
#[derive(Debug, Default, PartialEq)]
struct OpenCall {
    /// The permission to call the tool.
    permission: bool,
    /// The flows.
    flows: Vec<Flow>,
}

/// A call, as its flows are decided.
fn call<'a>(requested: &'a RequestedTool, arguments: &'a RawValue) -> Call<'a> {
    Call { server: &requested.server, tool: &requested.tool, arguments: arguments.get() }
}

impl PermissionPolicy {
    /// Decides about a call with these arguments: a nested call after `decide` with the same
    /// `execution`, or a direct call. `requested` is called only if needed.
    pub async fn decide_call(
        &self,
        (server, tool): (&str, &str),
        requested: impl FnOnce() -> RequestedTool,
        arguments: &RawValue,
        execution: &ExecutionAnswers,
    ) -> Result<(), Refusal> {
        let decide = async {
            let permission = self.holds(server, tool);
            let is_known = match permission {
                Permission::Deny => return Err(Refusal::of(&[requested()], Reason::Configuration)),
                Permission::Allow => true,
                Permission::Ask => execution.allows(server, tool),
                Permission::AskEach => false,
            };
            if is_known && self.flows.decide(server, tool) == Decision::Allow {
                return Ok(());
            }
            let requested = requested();
            let requested = self.identified(std::slice::from_ref(&requested)).pop().unwrap_or(requested);
            let is_open = || match permission {
                _ if is_known => false,
                Permission::Ask => !self.open([&requested]).is_empty(),
                _ => !self.session().contains(&requested),
            };
            let memorable = permission == Permission::Ask;
            self.settle((&requested, arguments, memorable), is_open, execution).await
        };
        decide.await.inspect_err(|refusal| self.note(refusal))
    }

    /// Asks the user about a call until nothing is open: while a question is open, the call may be allowed for the whole
    /// session, and further answers may be received. Each question has something new, so it ends.
    async fn settle(
        &self,
        (requested, arguments, memorable): (&RequestedTool, &RawValue, bool),
        needs_permission: impl Fn() -> bool,
        execution: &ExecutionAnswers,
    ) -> Result<(), Refusal> {
        let (mut given, mut turn) = (OpenCall::default(), None);
        loop {
            let open = self.open_call(requested, needs_permission(), &given).inspect_err(|denied| {
                self.note_flows(requested, arguments, denied, ("denied", "configuration"));
            })?;
            if open == OpenCall::default() {
                if !given.flows.is_empty() {
                    self.flows.permit(call(requested, arguments), &given.flows);
                }
                return Ok(());
            }
            let refused = |reason| match open.permission {
                true => Refusal::of(std::slice::from_ref(requested), reason),
                false => Refusal::of_flows(requested, reason, open.flows.clone(), self.flows.scope()),
            };
            if !self.prompter.is_there() {
                let refusal = refused(self.prompter.absence());
                self.note_flows(requested, arguments, &refusal, ("nobody", "nobody"));
                return Err(refusal);
            }
            if turn.is_none() {
                turn = Some(self.turn.lock().await);
                continue;
            }
            if let Some(reason) = execution.refused(requested, MAX_REFUSALS) {
                return Err(refused(reason));
            }
            let memorable = memorable && open.permission;
            let question = self.question(requested, arguments, memorable, &open.flows);
            let answer = self.ask(&question).await;
            if let Some(reason) = self.refusal(answer) {
                if matches!(reason, Reason::Refused | Reason::Declined) {
                    execution.refuse(requested, 1, reason);
                }
                return Err(refused(reason));
            }
            if open.permission {
                self.keep(answer, question.tools());
            }
            if answer != Answer::Once {
                self.flows.permit_always(&open.flows);
            }
            given.permission |= open.permission;
            given.flows.extend(open.flows);
        }
    }

    /// The open parts of a call, besides those that were `given`.
    fn open_call(
        &self,
        requested: &RequestedTool,
        needs_permission: bool,
        given: &OpenCall,
    ) -> Result<OpenCall, Refusal> {
        let mut flows = match self.flows.decide(&requested.server, &requested.tool) {
            Decision::Allow => Vec::new(),
            Decision::Ask(flows) => flows,
            Decision::Deny(flows) => {
                let scope = self.flows.scope();
                return Err(Refusal::of_flows(requested, Reason::Configuration, flows, scope));
            }
        };
        flows.retain(|flow| !given.flows.contains(flow));
        Ok(OpenCall { permission: needs_permission && !given.permission, flows })
    }

    /// The question about a call. For flows, it has the parts of earlier answers in the call's arguments.
    fn question(
        &self,
        requested: &RequestedTool,
        arguments: &RawValue,
        memorable: bool,
        flows: &[Flow],
    ) -> Question {
        let question = Question::call(requested.clone(), arguments, memorable, flows.to_vec());
        if flows.is_empty() { question } else { question.marked(self.flows.marks(arguments)) }
    }

    /// Notes a call that is refused because of flows and without a question, as if that had been asked.
    fn note_flows(
        &self,
        requested: &RequestedTool,
        arguments: &RawValue,
        refusal: &Refusal,
        (answer, by): (&'static str, &'static str),
    ) {
        if !refusal.flows().is_empty() && self.unasked.fetch_add(1, Ordering::Relaxed) < NOTES_KEPT {
            let question = self.question(requested, arguments, false, refusal.flows());
            self.journaled(&question).answered(answer, by);
        }
    }
}

impl FlowAsker for PermissionPolicy {
    fn decide_flows<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: &'a RawValue,
    ) -> BoxFuture<'a, Result<(), Refusal>> {
        async move {
            let (requested, execution) =
                (RequestedTool::new(server, tool, None), ExecutionAnswers::default());
            let decided = self.settle((&requested, arguments, false), || false, &execution).await;
            decided.inspect_err(|refusal| self.note(refusal))
        }
        .boxed()
    }
}
