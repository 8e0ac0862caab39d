//! Flows through the policy and the journal: what is asked, and what leaves, in random orders of many calls at once.

#![allow(clippy::print_stderr, reason = "the counts are the result")]

use std::collections::BTreeSet;

use config::{FlowRule, Glob, Permission, Rules as Permissions, Server};
use flows::FlowAction;
use futures::future::{join_all, select};
use parking_lot::Mutex;
use runner::{FailureKind, Journal};
use serde_json::json;
use serde_json::value::to_raw_value;
use tokio::task::yield_now;

use super::*;
use crate::permission::{
    Allowed, Answer as Answered, ExecutionAnswers, PermissionPolicy, Prompter, Question, SessionAnswers,
};

/// A pair of tools of the server `s`: whose answers were received, and which is called.
type Pair = (String, String);

/// The flows that need an answer. `s.hook` may not be called after `s.keys`; other pairs are free.
const ASKED: [(&str, &str); 3] = [("s.mail", "s.post"), ("s.page", "s.post"), ("s.page", "s.page")];
const TOOLS: [&str; 5] = ["mail", "page", "post", "keys", "hook"];

fn globs(names: &[&str]) -> Vec<Glob> {
    names.iter().map(|name| Glob::new(name)).collect()
}

fn config(permission: Permission) -> Config {
    let rule = |from, to, then| FlowRule { from: globs(&[from]), to: globs(&[to]), then };
    let flows = Flows {
        private: globs(&["s.mail"]),
        untrusted: globs(&["page"]),
        external: globs(&["s.page", "s.post"]),
        rules: vec![rule("s.mail", "s.page", FlowAction::Allow), rule("s.keys", "s.hook", FlowAction::Deny)],
        ..Flows::default()
    };
    let permissions =
        Permissions { rules: vec![(Glob::new("post"), permission)], otherwise: Permission::Allow };
    let server = Server {
        permissions,
        ..Server::new(mcp::ServerConfig::stdio("s", "program", [""; 0]), String::new())
    };
    Config { servers: vec![server], flows, ..Config::default() }
}

/// Random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % below
    }
}

/// The events so far, as a reference that knows nothing of the gate.
#[derive(Default)]
struct World {
    received: BTreeSet<String>,
    /// The flows that the user has allowed for the session.
    allowed: BTreeSet<Pair>,
    /// The flows that the user has allowed in one call, by its arguments, which are unique.
    once: BTreeSet<(String, Pair)>,
    left: usize,
    left_with_consent: usize,
    refused: usize,
    questions: usize,
    cancelled: usize,
}

impl World {
    /// A call leaves: it must be one that the rules and the user's answers allow.
    fn leaves(&mut self, tool: &str, arguments: &RawValue) {
        let to = format!("s.{tool}");
        assert!(to != "s.hook" || !self.received.contains("s.keys"), "a denied call has left");
        for (from, _) in ASKED.iter().filter(|(from, asked)| *asked == to && self.received.contains(*from)) {
            let pair = ((*from).to_owned(), to.clone());
            let one = (arguments.get().to_owned(), pair.clone());
            assert!(self.allowed.contains(&pair) || self.once.contains(&one), "{pair:?} was not allowed");
            self.left_with_consent += 1;
        }
        self.left += 1;
    }
}

/// A user who answers at random, sooner or later.
#[derive(Clone)]
struct User(Arc<Mutex<(World, Random)>>);

impl User {
    fn new(seed: u64) -> Self {
        User(Arc::new(Mutex::new((World::default(), Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)))))
    }

    fn with<T>(&self, work: impl FnOnce(&mut World) -> T) -> T {
        work(&mut self.0.lock().0)
    }

    fn next(&self, below: u64) -> u64 {
        self.0.lock().1.next(below)
    }

    async fn wait(&self, most: u64) {
        for _ in 0..self.next(most) {
            yield_now().await;
        }
    }
}

impl Prompter for User {
    fn is_there(&self) -> bool {
        true
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answered> {
        async move {
            self.with(|world| world.questions += 1);
            self.wait(12).await;
            let Question::Call { flows, arguments, .. } = question else { return Answered::No };
            let arguments: String = arguments.split_whitespace().collect();
            let answer =
                [Answered::Once, Answered::Once, Answered::Session, Answered::No][self.next(4) as usize];
            for pair in flows.iter().map(Flow::pair) {
                self.with(|world| match answer {
                    Answered::Once => drop(world.once.insert((arguments.clone(), pair))),
                    Answered::Session => drop(world.allowed.insert(pair)),
                    _ => {}
                });
            }
            answer
        }
        .boxed()
    }
}

/// A sink that takes its time, as the audit log does.
struct Slow(User);

impl Sink for Slow {
    fn begin<'a>(&'a self, _: &'a mut Begin<'_>) -> BoxFuture<'a, Result<(), Refused>> {
        self.0.wait(4).map(Ok).boxed()
    }
}

fn policy(config: Config, user: impl Prompter + 'static, gate: &Arc<FlowGate>) -> Arc<PermissionPolicy> {
    let (allowed, answers) = (Allowed::default(), SessionAnswers::default());
    PermissionPolicy::of_session(&Arc::new(config), allowed, answers, user, Journal::default(), gate.clone())
}

fn tool(name: &str) -> RequestedTool {
    RequestedTool::new("s", name, None)
}

/// Makes one call as the broker does.
async fn call(user: &User, policy: &PermissionPolicy, journal: &Journal, number: u64) -> Result<(), ()> {
    let name = TOOLS[user.next(5) as usize];
    let arguments = to_raw_value(&json!({ "n": number })).unwrap();
    user.wait(20).await;
    let execution = ExecutionAnswers::default();
    let decided = policy.decide_call(("s", name), || tool(name), &arguments, &execution).await;
    decided.map_err(|refusal| assert!(matches!(refusal.kind(), FailureKind::Flow | FailureKind::Denied)))?;
    user.wait(4).await;
    let call = journal.call("s", name, &arguments).await.map_err(|refused| {
        assert_eq!(refused.kind, FailureKind::Flow);
    })?;
    user.with(|world| world.leaves(name, &arguments));
    user.wait(12).await;
    let answer = match user.next(4) {
        0 => Err(CallFailure { kind: FailureKind::Rejected, message: "no".to_owned() }),
        _ => Ok(Answer { result: RawValue::NULL.to_owned(), is_error: false, cached: None }),
    };
    call.end(&answer).await.map_err(drop)?;
    user.with(|world| world.received.insert(format!("s.{name}")));
    Ok(())
}

#[tokio::test]
async fn no_call_leaves_that_a_rule_forbids() {
    const SEQUENCES: u64 = 2_000;
    const CALLS: u64 = 8;
    let mut total = World::default();
    for seed in 1..=SEQUENCES {
        let user = User::new(seed);
        let config = config([Permission::Allow, Permission::AskEach][user.next(2) as usize]);
        let gate = FlowGate::new(&config, &State::default(), &ApprovedTools::default());
        let policy = policy(config, user.clone(), &gate);
        let journal = Journal::new(vec![Arc::new(Slow(user.clone())), gate]);
        let calls = (0..CALLS).map(|number| {
            let (user, policy, journal) = (&user, &policy, &journal);
            async move {
                let made = Box::pin(call(user, policy, journal, number));
                // Some are cancelled: before a question, while it is open, before they leave, or later.
                let most = if user.next(4) == 0 { 40 } else { 10_000 };
                let cancelled = Box::pin(async {
                    for _ in 0..user.next(most) {
                        yield_now().await;
                    }
                });
                match select(made, cancelled).await {
                    futures::future::Either::Left((Ok(()), _)) => {}
                    futures::future::Either::Left((Err(()), _)) => user.with(|world| world.refused += 1),
                    futures::future::Either::Right(_) => user.with(|world| world.cancelled += 1),
                }
            }
        });
        join_all(calls).await;
        user.with(|world| {
            total.left += world.left;
            total.left_with_consent += world.left_with_consent;
            total.refused += world.refused;
            total.questions += world.questions;
            total.cancelled += world.cancelled;
        });
    }
    let World { left, left_with_consent, refused, questions, cancelled, .. } = total;
    eprintln!(
        "{SEQUENCES} sequences of {CALLS} calls: {left} left, {left_with_consent} flows with consent, {refused} refused, \
         {questions} questions, {cancelled} cancelled"
    );
    assert!([left, left_with_consent, refused, questions, cancelled].iter().all(|count| *count > 100));
}

/// Gives one answer after the other, and keeps the questions.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<(Vec<Answered>, Vec<String>)>>);

impl Prompter for Script {
    fn is_there(&self) -> bool {
        !self.0.lock().0.is_empty()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answered> {
        let mut script = self.0.lock();
        script.1.push(question.text());
        ready(script.0.remove(0)).boxed()
    }
}

/// Decides about a call of `s.post` after an answer of `s.mail`.
struct Fixture {
    gate: Arc<FlowGate>,
    policy: Arc<PermissionPolicy>,
    script: Script,
}

impl Fixture {
    fn new(permission: Permission, answers: &[Answered]) -> Self {
        let script = Script::default();
        script.0.lock().0.extend(answers);
        let config = config(permission);
        let gate = FlowGate::new(&config, &State::default(), &ApprovedTools::default());
        gate.receive("s", "mail", Labels::default());
        let policy = policy(config, script.clone(), &gate);
        Fixture { gate, policy, script }
    }

    fn decide(&self, name: &str) -> Result<(), Refusal> {
        let arguments = to_raw_value(&json!({ "body": "hello" })).unwrap();
        let execution = ExecutionAnswers::default();
        let decided = self.policy.decide_call(("s", name), || tool(name), &arguments, &execution);
        decided.now_or_never().expect("the decision does not wait")
    }

    /// Whether the call leaves.
    fn leaves(&self) -> bool {
        let journal = Journal::new(vec![self.gate.clone()]);
        let arguments = to_raw_value(&json!({ "body": "hello" })).unwrap();
        journal.call("s", "post", &arguments).now_or_never().expect("it does not wait").is_ok()
    }

    fn questions(&self) -> Vec<String> {
        std::mem::take(&mut self.script.0.lock().1)
    }
}

#[test]
fn permission_and_flows_are_one_question_that_shows_the_arguments() {
    let fixture = Fixture::new(Permission::AskEach, &[Answered::Once, Answered::No]);
    assert_eq!(fixture.decide("post"), Ok(()));
    assert!(fixture.leaves());
    let questions = fixture.questions();
    assert_eq!(
        questions,
        [
            "A call needs your permission: s.post\n  {\n    \"body\": \"hello\"\n  }\nIt can carry what s.mail (private) \
          answered.\nIts arguments have (a help, no proof):\n  no 24 consecutive characters of earlier answers\nAllow this \
          call?"
        ]
    );
    assert!(fixture.decide("post").is_err(), "the answer was about one call");
}

#[test]
fn an_answer_for_the_session_covers_the_pair_of_tools() {
    let fixture = Fixture::new(Permission::Allow, &[Answered::Session]);
    for _ in 0..2 {
        assert_eq!(fixture.decide("post"), Ok(()));
        assert!(fixture.leaves());
    }
    assert_eq!(fixture.questions().len(), 1);
    fixture.gate.receive("s", "page", Labels::default());
    assert_eq!(fixture.decide("post").unwrap_err().kind(), FailureKind::Flow, "answers of another tool");
}

#[test]
fn an_answer_that_arrives_before_the_call_leaves_is_asked_about() {
    let fixture = Fixture::new(Permission::Allow, &[Answered::Once, Answered::Once]);
    assert_eq!(fixture.decide("post"), Ok(()));
    fixture.gate.receive("s", "page", Labels::default());
    assert!(fixture.leaves());
    let questions = fixture.questions();
    assert!(questions.len() == 2 && questions[1].contains("s.page (untrusted)"), "{questions:?}");
    let fixture = Fixture::new(Permission::Allow, &[Answered::Once]);
    assert_eq!(fixture.decide("post"), Ok(()));
    fixture.gate.receive("s", "page", Labels::default());
    assert!(!fixture.leaves(), "nobody can be asked any more");
}

#[test]
fn without_a_user_a_flow_fails_with_the_rule_that_allows_it() {
    let fixture = Fixture::new(Permission::Allow, &[]);
    let refusal = fixture.decide("post").unwrap_err();
    assert_eq!(refusal.kind(), FailureKind::Flow);
    assert_eq!(
        refusal.report_of_call().for_model(),
        "the session has received answers of s.mail (private), so permission is required, but there is no terminal to \
         ask on\nhelp: call it before those tools, or in a new session that does not call them\nhelp: to allow it without a \
         question, add to the configuration:\nflows: { rules: [{ from: [\"s.mail\"], to: [\"s.post\"], then: allow }] }"
    );
    assert_eq!(refusal.evidence()["flows"], json!([["s.mail", "s.post"]]));
    assert!(!fixture.leaves());
}

#[test]
fn a_denied_flow_is_not_asked_about() {
    let fixture = Fixture::new(Permission::AskEach, &[Answered::Once]);
    fixture.gate.receive("s", "keys", Labels::default());
    let refusal = fixture.decide("hook").unwrap_err();
    assert_eq!((refusal.kind(), refusal.reason), (FailureKind::Flow, Reason::Configuration));
    assert!(refusal.report().for_model().contains("denies it after answers of s.keys, which the session"));
    assert!(fixture.questions().is_empty());
}

#[test]
fn the_labels_of_a_subagents_answer_count() {
    let carried = |answer: serde_json::Value| carried(&to_raw_value(&answer).unwrap());
    let both = Labels { private: true, untrusted: true };
    let private = Labels { private: true, untrusted: false };
    assert_eq!(carried(json!({ "content": [] })), Labels::default());
    assert_eq!(carried(json!({ "content": ["io.toolsmith/flows"] })), Labels::default());
    assert_eq!(carried(json!({ "_meta": { FLOWS_META: { "private": true } } })), private);
    assert_eq!(carried(json!({ "_meta": { FLOWS_META: both } })), both);
    assert_eq!(carried(json!({ "_meta": { FLOWS_META: "private" } })), both, "it can't be read");
    let fixture = Fixture::new(Permission::Allow, &[]);
    let of_agent = |labels| json!({ "_meta": { FLOWS_META: labels } });
    let answer = Answer { result: to_raw_value(&of_agent(private)).unwrap(), is_error: false, cached: None };
    fixture.gate.receive_answer("s", "agent", &Ok(answer));
    let refusal = fixture.decide("post").unwrap_err();
    assert!(refusal.report().for_model().contains("s.agent (private) and s.mail (private)"), "{refusal:?}");
}

#[test]
fn an_approval_of_a_saved_program_covers_its_flows() {
    let config = config(Permission::Allow);
    let approved =
        ApprovedTools::default().with(BTreeSet::from([("s.mail".to_owned(), "s.post".to_owned())]));
    let gate = FlowGate::new(&config, &State::default(), &approved);
    gate.receive("s", "mail", Labels::default());
    assert_eq!(gate.decide("s", "post"), Decision::Allow);
    gate.receive("s", "page", Labels::default());
    assert!(matches!(gate.decide("s", "post"), Decision::Ask(flows) if flows[0].from == "s.page"));
}
