//! Flows: answers of tools that may not go into calls of other tools.
//!
//! This module holds what the configuration says; the crate `flows` decides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::key_macros::{Kind, Merge, plain, record, section};
use super::permissions::{AddedGlobs, Glob};
use super::placed::At;

section! {
    /// The answers that may not flow into the calls of other tools.
    #[serde(rename_all = "camelCase")]
    Flows from FlowsForm {
        /// Tools whose answers must not leave, as `tool` or `server.tool`; `*` matches any text.
        private: AddedGlobs,
        /// Tools whose answers may contain instructions, as `tool` or `server.tool`.
        untrusted: AddedGlobs,
        /// Tools whose calls leave or change the world, as `tool` or `server.tool`.
        external: AddedGlobs,
        /// Whether a call of an external tool is allowed after an answer of a private tool.
        private_to_external: FlowAction = FlowAction::Ask,
        /// Whether a call of an external tool is allowed after an answer of an untrusted tool.
        untrusted_to_external: FlowAction = FlowAction::Ask,
        /// How long an answer counts as received.
        scope: FlowScope = FlowScope::Session,
        /// Rules about single tools. An `allow` rule exempts its tools from the labels above. Of everything else that
        /// matches, the strictest decides.
        rules: FlowRules,
    }
}

/// The decision about a call after certain answers, the strictest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowAction {
    /// The call may be made.
    #[default]
    Allow,
    /// The user is asked, with the call's arguments.
    Ask,
    /// The call fails.
    Deny,
}

/// The time for which answers count as received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowScope {
    /// Until the execution ends.
    Program,
    /// Until the client's session ends: what an execution returned has gone through the client's model.
    #[default]
    Session,
}

plain!(FlowAction, FlowScope);

record! {
    /// A rule about calls of some tools after answers of others.
    #[serde(rename_all = "camelCase")]
    FlowRule from FlowRuleForm {
        /// The tools whose answers it is about, as `tool` or `server.tool`; `*` matches any text.
        from: Vec<Glob>,
        /// The tools whose calls it is about, as `tool` or `server.tool`.
        to: Vec<Glob>,
        /// Whether the calls are allowed.
        then: At<FlowAction>,
    }
}

/// The rules of all layers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(inline)]
#[allow(unreachable_pub, reason = "the types of public records name it")]
pub struct FlowRules(pub(super) Vec<FlowRuleForm>);

impl Merge for FlowRules {
    fn over(self, weaker: Self) -> Self {
        FlowRules([weaker.0, self.0].concat())
    }
}

impl Kind for FlowRules {
    type Value = Vec<FlowRule>;

    fn value(self) -> Vec<FlowRule> {
        self.0.value()
    }
}
