//! The rules of a configuration: the labels of tools, and what follows from them.
//!
//! An explicit rule with `allow` exempts its pairs of tools from the labels. Of everything else that matches a pair,
//! the strictest decides. So the order of rules has no meaning, and a further rule that asks or denies only tightens.

use config::{FlowAction, FlowScope, Flows, Glob};

use crate::flow::Flow;
use crate::labels::Labels;
use crate::state::{Source, State};

/// The rules of a configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules(Flows);

/// A tool as the rules see it.
struct Tool {
    name: String,
    labels: Labels,
    is_external: bool,
    /// The rules about its answers, by index.
    from: Vec<usize>,
    /// The rules about its calls, by index.
    to: Vec<usize>,
}

impl Rules {
    /// The rules of a configuration.
    #[must_use]
    pub fn new(flows: &Flows) -> Self {
        Rules(flows.clone())
    }

    /// Whether no flow is asked about or denied. Answers can carry labels that no tool here has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.rules.is_empty() && self.0.external.is_empty()
    }

    /// The time for which answers count as received.
    #[must_use]
    pub fn scope(&self) -> FlowScope {
        self.0.scope
    }

    /// The labels of a tool's answers.
    #[must_use]
    pub fn labels(&self, server: &str, tool: &str) -> Labels {
        let is_in = |globs: &[Glob]| globs.iter().any(|glob| glob.fits_tool(server, tool));
        Labels { private: is_in(&self.0.private), untrusted: is_in(&self.0.untrusted) }
    }

    /// Whether a tool's calls leave or change the world.
    #[must_use]
    pub fn is_external(&self, server: &str, tool: &str) -> bool {
        self.0.external.iter().any(|glob| glob.fits_tool(server, tool))
    }

    /// Whether a call of this tool can depend on what was received.
    #[must_use]
    pub fn concern(&self, server: &str, tool: &str) -> bool {
        let mut strict = self.0.rules.iter().filter(|rule| rule.then != FlowAction::Allow);
        let fits = |rule: &config::FlowRule| rule.to.iter().any(|glob| glob.fits_tool(server, tool));
        self.is_external(server, tool) || strict.any(fits)
    }

    /// The flows that a program with these tools can make, with what `state` has received: sorted, each once. A carried
    /// label of an answer is not known before the answer.
    #[must_use]
    pub fn possible<'a>(
        &self,
        state: &State,
        tools: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Vec<Flow> {
        if self.is_empty() {
            return Vec::new();
        }
        let tools: Vec<Tool> = tools.into_iter().map(|(server, tool)| self.tool(server, tool)).collect();
        let received: Vec<Tool> = state.sources().iter().map(|source| self.source(source)).collect();
        let from = || tools.iter().chain(&received);
        let into = |to| from().filter_map(move |from| self.flow(from, to));
        let mut flows: Vec<Flow> = tools.iter().flat_map(into).collect();
        flows.sort();
        // A tool of the program may have been called before.
        flows.dedup();
        flows
    }

    /// The flows that a program with this manifest can make by itself, as pairs of `server.tool`. Names of servers have no
    /// dots.
    #[must_use]
    pub fn of_manifest(&self, manifest: &[String]) -> Vec<Flow> {
        self.possible(&State::default(), manifest.iter().filter_map(|name| name.split_once('.')))
    }

    /// The flows that a call of this tool would make now: sorted.
    #[must_use]
    pub fn into_call(&self, state: &State, server: &str, tool: &str) -> Vec<Flow> {
        if self.is_empty() {
            return Vec::new();
        }
        let to = self.tool(server, tool);
        let mut flows: Vec<Flow> =
            state.sources().iter().filter_map(|source| self.flow(&self.source(source), &to)).collect();
        flows.sort();
        flows
    }

    /// The labels of all that was received: an answer that was made of it carries them.
    #[must_use]
    pub fn received(&self, state: &State) -> Labels {
        state.sources().iter().map(|source| self.source(source).labels).fold(Labels::default(), Labels::and)
    }

    fn flow(&self, from: &Tool, to: &Tool) -> Option<Flow> {
        let then = self.action(from, to);
        (then != FlowAction::Allow).then(|| Flow {
            to: to.name.clone(),
            from: from.name.clone(),
            labels: from.labels,
            then,
        })
    }

    fn action(&self, from: &Tool, to: &Tool) -> FlowAction {
        let matching = from.from.iter().filter(|rule| to.to.contains(rule));
        let (mut strictest, mut is_exempt) = (FlowAction::Allow, false);
        for rule in matching.filter_map(|index| self.0.rules.get(*index)) {
            strictest = strictest.max(rule.then);
            is_exempt |= rule.then == FlowAction::Allow;
        }
        if !to.is_external || is_exempt {
            return strictest;
        }
        let of = |is_set, action| if is_set { action } else { FlowAction::Allow };
        let private = of(from.labels.private, self.0.private_to_external);
        let untrusted = of(from.labels.untrusted, self.0.untrusted_to_external);
        strictest.max(private).max(untrusted)
    }

    fn tool(&self, server: &str, tool: &str) -> Tool {
        let rules = |globs: fn(&config::FlowRule) -> &Vec<Glob>| {
            let fits = |rule| globs(rule).iter().any(|glob| glob.fits_tool(server, tool));
            let matching = self.0.rules.iter().enumerate().filter(|(_, rule)| fits(rule));
            matching.map(|(index, _)| index).collect()
        };
        Tool {
            name: format!("{server}.{tool}"),
            labels: self.labels(server, tool),
            is_external: self.is_external(server, tool),
            from: rules(|rule| &rule.from),
            to: rules(|rule| &rule.to),
        }
    }

    fn source(&self, source: &Source) -> Tool {
        match source {
            Source::Tool { server, tool, carried } => {
                let tool = self.tool(server, tool);
                Tool { labels: tool.labels.and(*carried), ..tool }
            }
            // They may be any tools: all labels, and all rules but those that allow.
            Source::Others => {
                let stricter =
                    self.0.rules.iter().enumerate().filter(|(_, rule)| rule.then != FlowAction::Allow);
                Tool {
                    name: source.name(),
                    labels: Labels { private: true, untrusted: true },
                    is_external: false,
                    from: stricter.map(|(index, _)| index).collect(),
                    to: Vec::new(),
                }
            }
        }
    }
}
