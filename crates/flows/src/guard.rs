//! The decisions about the calls of one execution, or about one direct call.
//!
//! A call is decided twice: before the user may be asked about it, and when it leaves. Answers that were received in
//! between count. A yes to one call is used up by the call with this tool and these arguments.

use std::collections::{BTreeSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};

use config::{FlowAction, FlowScope};
use parking_lot::Mutex;

use crate::flow::{Flow, Pair};
use crate::labels::Labels;
use crate::provenance::Answers;
use crate::rules::Rules;
use crate::state::State;

/// Maximum answers to single calls that are kept until their calls leave: those of all calls that a program can have in
/// flight. Beyond it, the user is asked again about the oldest.
const MAX_PERMITS: usize = 256;

/// Whether a call may leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Allow,
    /// If the user allows these flows.
    Ask(Vec<Flow>),
    /// These flows are denied.
    Deny(Vec<Flow>),
}

/// Decides about the calls of one execution.
#[derive(Debug, Default)]
pub struct Guard {
    rules: Rules,
    state: State,
    /// The flows that the approval of a saved program covers.
    approved: BTreeSet<Pair>,
    permits: Mutex<VecDeque<Permit>>,
    /// Its keys are secret, so no program finds two calls with the same hash.
    hasher: RandomState,
}

/// The user's yes to one call.
#[derive(Debug)]
struct Permit {
    /// The hash of server, tool and arguments.
    call: u64,
    flows: BTreeSet<Pair>,
}

/// A call.
#[derive(Debug, Clone, Copy, Hash)]
pub struct Call<'a> {
    /// The server's name.
    pub server: &'a str,
    /// The tool's name.
    pub tool: &'a str,
    /// The arguments in canonical form.
    pub arguments: &'a str,
}

impl Guard {
    /// The guard of an execution, in a session with this state. `approved` are the flows of a saved program's approval.
    #[must_use]
    pub fn new(rules: Rules, session: &State, approved: BTreeSet<Pair>) -> Self {
        let state = match rules.scope() {
            FlowScope::Session => session.clone(),
            FlowScope::Program => session.fresh(),
        };
        Guard { rules, state, approved, ..Guard::default() }
    }

    /// The flows that a program with these tools can make, except those that the user has allowed.
    #[must_use]
    pub fn possible<'a>(&self, tools: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Flow> {
        let mut flows = self.rules.possible(&self.state, tools);
        flows.retain(|flow| !self.is_allowed(flow));
        flows
    }

    /// The decision about a call of this tool, as of now.
    #[must_use]
    pub fn decide(&self, server: &str, tool: &str) -> Decision {
        self.decided(server, tool, &BTreeSet::new())
    }

    /// The user allows these flows in this one call.
    pub fn permit(&self, call: Call<'_>, flows: &[Flow]) {
        let permit =
            Permit { call: self.hasher.hash_one(call), flows: flows.iter().map(Flow::pair).collect() };
        let mut permits = self.permits.lock();
        if permits.len() >= MAX_PERMITS {
            permits.pop_front();
        }
        permits.push_back(permit);
    }

    /// The user allows these flows to the end of the session.
    pub fn permit_always(&self, flows: &[Flow]) {
        self.state.allow(flows);
    }

    /// The decision about a call that leaves now. It uses up the user's yes to this call.
    #[must_use]
    pub fn leave(&self, call: Call<'_>) -> Decision {
        let hash = self.hasher.hash_one(call);
        let permit = {
            let mut permits = self.permits.lock();
            permits.iter().position(|permit| permit.call == hash).and_then(|index| permits.remove(index))
        };
        let permitted = permit.map(|permit| permit.flows).unwrap_or_default();
        self.decided(call.server, call.tool, &permitted)
    }

    /// An answer of a tool is about to be handed over, with the labels that it carries.
    pub fn receive(&self, server: &str, tool: &str, carried: Labels) {
        self.state.receive(server, tool, carried);
    }

    /// Keeps an answer, a JSON text, to compare arguments with it. Without rules, no question needs it.
    pub fn keep(&self, server: &str, tool: &str, answer: &str) {
        if !self.rules.is_empty() {
            self.state.keep(server, tool, answer);
        }
    }

    /// The kept answers.
    #[must_use]
    pub fn answers(&self) -> Answers {
        self.state.answers()
    }

    /// The time for which answers count as received.
    #[must_use]
    pub fn scope(&self) -> FlowScope {
        self.rules.scope()
    }

    fn decided(&self, server: &str, tool: &str, permitted: &BTreeSet<Pair>) -> Decision {
        let flows = self.rules.into_call(&self.state, server, tool);
        let (denied, mut open): (Vec<Flow>, Vec<Flow>) =
            flows.into_iter().partition(|flow| flow.then == FlowAction::Deny);
        if !denied.is_empty() {
            return Decision::Deny(denied);
        }
        open.retain(|flow| !self.is_allowed(flow) && !permitted.contains(&flow.pair()));
        if open.is_empty() { Decision::Allow } else { Decision::Ask(open) }
    }

    fn is_allowed(&self, flow: &Flow) -> bool {
        flow.then == FlowAction::Ask && (self.approved.contains(&flow.pair()) || self.state.allows(flow))
    }
}
