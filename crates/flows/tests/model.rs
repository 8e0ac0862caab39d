//! Random orders of calls, questions, answers and cancellations against a simple reference: a list of what was received,
//! and rules about numbers. Each call that leaves must be one that the reference allows, and the other way round.

#![allow(clippy::print_stderr, reason = "the counts are the result")]

use std::collections::BTreeSet;

use flows::{Call, Decision, Flow, FlowAction, FlowScope, Guard, Labels, Rules, State};

/// The sequences that are tried.
const SEQUENCES: u64 = 100_000;
/// The steps of each.
const STEPS: usize = 40;
/// The calls that are open at once.
const OPEN: usize = 4;
/// The tools: `s.t0` to `s.t3`.
const TOOLS: usize = 4;
/// The executions of one session.
const EXECUTIONS: usize = 2;

/// Random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(bits).unwrap_or_default() % below
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.next(100) < percent
    }

    fn set(&mut self, percent: usize) -> [bool; TOOLS] {
        std::array::from_fn(|_| self.chance(percent))
    }

    fn action(&mut self) -> FlowAction {
        [FlowAction::Allow, FlowAction::Ask, FlowAction::Deny][self.next(3)]
    }
}

/// A pair of tools: whose answers were received, and which is called.
type Pair = (usize, usize);

/// Rules about the numbers of tools.
struct Model {
    private: [bool; TOOLS],
    untrusted: [bool; TOOLS],
    external: [bool; TOOLS],
    actions: [FlowAction; 2],
    rules: Vec<([bool; TOOLS], [bool; TOOLS], FlowAction)>,
    is_session: bool,
    approved: BTreeSet<Pair>,
    /// Each answer, with the execution that received it and the labels that it carried.
    received: Vec<(usize, usize, Labels)>,
    /// The user's answers for the session.
    allowed: BTreeSet<Pair>,
    /// The user's answers about one call: its execution, tool, arguments and flows.
    permits: Vec<(usize, usize, usize, BTreeSet<Pair>)>,
}

impl Model {
    fn new(random: &mut Random) -> Self {
        let rule = |random: &mut Random| (random.set(50), random.set(50), random.action());
        Model {
            private: random.set(40),
            untrusted: random.set(40),
            external: random.set(50),
            // Most are the defaults.
            actions: std::array::from_fn(|_| match random.chance(60) {
                true => FlowAction::Ask,
                false => random.action(),
            }),
            rules: (0..random.next(3)).map(|_| rule(random)).collect(),
            is_session: random.chance(50),
            approved: (0..random.next(3)).map(|_| (random.next(TOOLS), random.next(TOOLS))).collect(),
            received: Vec::new(),
            allowed: BTreeSet::new(),
            permits: Vec::new(),
        }
    }

    fn configuration(&self) -> config::Flows {
        let globs = |set: &[bool; TOOLS]| {
            let names = (0..TOOLS).filter(|tool| set[*tool]);
            names.map(|tool| config::Glob::new(&format!("s.t{tool}"))).collect()
        };
        let rule = |(from, to, then): &([bool; TOOLS], [bool; TOOLS], FlowAction)| config::FlowRule {
            from: globs(from),
            to: globs(to),
            then: *then,
        };
        config::Flows {
            private: globs(&self.private),
            untrusted: globs(&self.untrusted),
            external: globs(&self.external),
            private_to_external: self.actions[0],
            untrusted_to_external: self.actions[1],
            scope: if self.is_session { FlowScope::Session } else { FlowScope::Program },
            rules: self.rules.iter().map(rule).collect(),
        }
    }

    fn action(&self, from: usize, carried: Labels, to: usize) -> FlowAction {
        let mut action = FlowAction::Allow;
        let of_pair = || self.rules.iter().filter(|(sources, targets, _)| sources[from] && targets[to]);
        if self.external[to] && !of_pair().any(|(_, _, then)| *then == FlowAction::Allow) {
            if self.private[from] || carried.private {
                action = action.max(self.actions[0]);
            }
            if self.untrusted[from] || carried.untrusted {
                action = action.max(self.actions[1]);
            }
        }
        of_pair().fold(action, |action, (_, _, then)| action.max(*then))
    }

    /// The flows of a call: those that are denied, and those that need an answer.
    fn flows(&self, execution: usize, to: usize) -> (BTreeSet<Pair>, BTreeSet<Pair>) {
        let (mut denied, mut open) = (BTreeSet::new(), BTreeSet::new());
        for (by, from, carried) in &self.received {
            if !self.is_session && *by != execution {
                continue;
            }
            match self.action(*from, *carried, to) {
                FlowAction::Allow => {}
                FlowAction::Ask => drop(open.insert((*from, to))),
                FlowAction::Deny => drop(denied.insert((*from, to))),
            }
        }
        open.retain(|pair| {
            !denied.contains(pair) && !self.approved.contains(pair) && !self.allowed.contains(pair)
        });
        (denied, open)
    }

    /// Uses up the user's answer about a call.
    fn take_permit(&mut self, call: &OpenCall) -> BTreeSet<Pair> {
        let is_of = |(execution, tool, arguments, _): &(usize, usize, usize, BTreeSet<Pair>)| {
            (*execution, *tool, *arguments) == (call.execution, call.tool, call.arguments)
        };
        let found = self.permits.iter().position(is_of);
        found.map(|index| self.permits.remove(index).3).unwrap_or_default()
    }
}

enum Stage {
    New,
    /// The user is asked about flows, after others of the call were allowed.
    Asked(Vec<Flow>, Vec<Flow>),
    Ready,
    InFlight,
    Done,
}

struct OpenCall {
    execution: usize,
    tool: usize,
    arguments: usize,
    stage: Stage,
}

/// Counts of all sequences.
#[derive(Debug, Default)]
struct Counts {
    steps: u64,
    left: u64,
    left_after_answers: u64,
    questions: u64,
    asked_again_when_leaving: u64,
    denied: u64,
    denied_when_leaving: u64,
    refused_by_user: u64,
    cancelled: u64,
    answers: u64,
}

struct Trial {
    random: Random,
    model: Model,
    guards: Vec<Guard>,
    calls: Vec<OpenCall>,
}

fn pairs(flows: &[Flow]) -> BTreeSet<Pair> {
    let number = |name: &str| name.trim_start_matches("s.t").parse().expect("a tool of the model");
    flows.iter().map(|flow| (number(&flow.from), number(&flow.to))).collect()
}

impl Trial {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let (model, session) = (Model::new(&mut random), State::default());
        let name = |tool: &usize| format!("s.t{tool}");
        let approved: BTreeSet<_> = model.approved.iter().map(|(from, to)| (name(from), name(to))).collect();
        let configuration = model.configuration();
        let guard = |_| Guard::new(Rules::new(&configuration), &session, approved.clone());
        Trial { random, guards: (0..EXECUTIONS).map(guard).collect(), model, calls: Vec::new() }
    }

    fn step(&mut self, counts: &mut Counts) {
        self.calls.retain(|call| !matches!(call.stage, Stage::Done));
        if self.calls.is_empty() || self.calls.len() < OPEN && self.random.chance(30) {
            let (execution, tool) = (self.random.next(EXECUTIONS), self.random.next(TOOLS));
            let arguments = self.random.next(2);
            self.calls.push(OpenCall { execution, tool, arguments, stage: Stage::New });
            return;
        }
        let index = self.random.next(self.calls.len());
        let mut call = self.calls.swap_remove(index);
        let stage = std::mem::replace(&mut call.stage, Stage::Done);
        match self.random.chance(8) {
            true => counts.cancelled += 1,
            false => call.stage = self.advance(&call, stage, counts),
        }
        self.calls.push(call);
    }

    fn advance(&mut self, call: &OpenCall, stage: Stage, counts: &mut Counts) -> Stage {
        match stage {
            Stage::New => self.decide(call, Vec::new(), counts),
            Stage::Asked(flows, given) => self.answer(call, flows, given, counts),
            Stage::Ready => self.leave(call, counts),
            Stage::InFlight => {
                let carried = Labels { private: self.random.chance(5), untrusted: self.random.chance(5) };
                self.guards[call.execution].receive("s", &format!("t{}", call.tool), carried);
                self.model.received.push((call.execution, call.tool, carried));
                counts.answers += 1;
                Stage::Done
            }
            Stage::Done => Stage::Done,
        }
    }

    /// Decides as the policy does: what the user has allowed in this call needs no further answer.
    fn decide(&mut self, call: &OpenCall, given: Vec<Flow>, counts: &mut Counts) -> Stage {
        let decision = self.guards[call.execution].decide("s", &format!("t{}", call.tool));
        let (denied, open) = self.model.flows(call.execution, call.tool);
        match decision {
            Decision::Deny(flows) => {
                assert_eq!(pairs(&flows), denied);
                counts.denied += 1;
                return Stage::Done;
            }
            Decision::Ask(mut flows) => {
                assert!(denied.is_empty());
                assert_eq!(pairs(&flows), open);
                flows.retain(|flow| !given.contains(flow));
                if !flows.is_empty() {
                    counts.questions += 1;
                    return Stage::Asked(flows, given);
                }
            }
            Decision::Allow => assert!(denied.is_empty() && open.is_empty()),
        }
        if !given.is_empty() {
            let name = format!("t{}", call.tool);
            let arguments = call.arguments.to_string();
            let one = Call { server: "s", tool: &name, arguments: &arguments };
            self.guards[call.execution].permit(one, &given);
            self.model.permits.push((call.execution, call.tool, call.arguments, pairs(&given)));
        }
        Stage::Ready
    }

    fn answer(
        &mut self,
        call: &OpenCall,
        flows: Vec<Flow>,
        mut given: Vec<Flow>,
        counts: &mut Counts,
    ) -> Stage {
        match self.random.next(10) {
            // Not yet.
            0..=2 => return Stage::Asked(flows, given),
            3..=6 => {}
            7 => {
                self.guards[call.execution].permit_always(&flows);
                self.model.allowed.extend(pairs(&flows));
            }
            _ => {
                counts.refused_by_user += 1;
                return Stage::Done;
            }
        }
        given.extend(flows);
        self.decide(call, given, counts)
    }

    fn leave(&mut self, call: &OpenCall, counts: &mut Counts) -> Stage {
        let (name, arguments) = (format!("t{}", call.tool), call.arguments.to_string());
        let one = Call { server: "s", tool: &name, arguments: &arguments };
        let decision = self.guards[call.execution].leave(one);
        let (denied, mut open) = self.model.flows(call.execution, call.tool);
        let permitted = self.model.take_permit(call);
        open.retain(|pair| !permitted.contains(pair));
        match decision {
            Decision::Allow => {
                assert!(denied.is_empty() && open.is_empty(), "{denied:?} {open:?}");
                counts.left += 1;
                counts.left_after_answers += u64::from(!self.model.received.is_empty());
                Stage::InFlight
            }
            Decision::Ask(flows) => {
                assert!(denied.is_empty());
                assert_eq!(pairs(&flows), open);
                counts.asked_again_when_leaving += 1;
                Stage::Asked(flows, Vec::new())
            }
            Decision::Deny(flows) => {
                assert_eq!(pairs(&flows), denied);
                counts.denied_when_leaving += 1;
                Stage::Done
            }
        }
    }
}

#[test]
fn no_order_of_events_lets_a_call_pass_that_a_rule_forbids() {
    let mut counts = Counts::default();
    for seed in 0..SEQUENCES {
        let mut trial = Trial::new(seed + 1);
        for _ in 0..STEPS {
            trial.step(&mut counts);
            counts.steps += 1;
        }
    }
    eprintln!("{SEQUENCES} sequences: {counts:?}");
    let rare = [counts.asked_again_when_leaving, counts.denied_when_leaving, counts.refused_by_user];
    assert!(rare.iter().all(|count| *count > SEQUENCES / 1_000), "each case happens: {counts:?}");
}

/// The labels and the rule of a pair of tools, and what follows.
#[test]
fn the_strictest_decides_and_only_an_allow_rule_exempts_from_labels() {
    use FlowAction::{Allow, Ask, Deny};
    let globs = |texts: &[&str]| texts.iter().map(|text| config::Glob::new(text)).collect::<Vec<_>>();
    let rule = |then| config::FlowRule { from: globs(&["mail.*"]), to: globs(&["post"]), then };
    for (label, rules, expected) in [
        (Ask, vec![], Ask),
        (Deny, vec![], Deny),
        (Allow, vec![], Allow),
        (Deny, vec![Allow], Allow),
        (Deny, vec![Ask], Deny),
        (Ask, vec![Deny], Deny),
        (Ask, vec![Allow, Deny], Deny),
        (Deny, vec![Ask, Allow], Ask),
    ] {
        let flows = config::Flows {
            private: globs(&["mail.read"]),
            external: globs(&["web.post"]),
            private_to_external: label,
            rules: rules.iter().map(|then| rule(*then)).collect(),
            ..config::Flows::default()
        };
        let (rules_of, state) = (Rules::new(&flows), State::default());
        state.receive("mail", "read", Labels::default());
        let found = rules_of.into_call(&state, "web", "post").first().map_or(Allow, |flow| flow.then);
        assert_eq!(found, expected, "{label:?} {rules:?}");
        assert!(rules_of.into_call(&state, "web", "other").is_empty());
    }
}

#[test]
fn further_tools_than_are_told_apart_count_as_any() {
    let globs = |texts: &[&str]| texts.iter().map(|text| config::Glob::new(text)).collect::<Vec<_>>();
    let flows = config::Flows {
        rules: vec![config::FlowRule { from: globs(&["mail.*"]), to: globs(&["*"]), then: FlowAction::Deny }],
        ..config::Flows::default()
    };
    let (rules, state) = (Rules::new(&flows), State::default());
    for number in 0..flows::MAX_SOURCES {
        state.receive("s", &format!("t{number}"), Labels::default());
    }
    assert!(rules.into_call(&state, "web", "post").is_empty());
    state.receive("mail", "read", Labels::default());
    let found = rules.into_call(&state, "web", "post");
    assert_eq!(found.iter().map(|flow| flow.from.as_str()).collect::<Vec<_>>(), ["other tools"]);
}

#[test]
fn a_manifest_names_the_flows_that_a_program_can_make() {
    let globs = |texts: &[&str]| texts.iter().map(|text| config::Glob::new(text)).collect::<Vec<_>>();
    let flows = config::Flows {
        private: globs(&["mail.*"]),
        external: globs(&["web.post", "mail.send"]),
        ..config::Flows::default()
    };
    let rules = Rules::new(&flows);
    let manifest = ["mail.read", "mail.send", "web.post", "web.search"].map(str::to_owned);
    let found: Vec<(String, String)> = rules.of_manifest(&manifest).iter().map(Flow::pair).collect();
    let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    assert_eq!(
        found,
        [
            pair("mail.read", "mail.send"),
            pair("mail.send", "mail.send"),
            pair("mail.read", "web.post"),
            pair("mail.send", "web.post"),
        ]
    );
    let state = State::default();
    state.receive("mail", "list", Labels::default());
    let later = rules.possible(&state, [("web", "post")]);
    assert_eq!(later.iter().map(Flow::pair).collect::<Vec<_>>(), [pair("mail.list", "web.post")]);
    assert!(Rules::default().of_manifest(&manifest).is_empty());
}
