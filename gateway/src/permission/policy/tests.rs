//! The policy against a person who answers from a script.

use std::collections::VecDeque;

use config::{Rules, Server};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;

/// Answers in turn, and keeps what was asked; with no answers left there is nobody.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<(VecDeque<Answer>, Vec<Question>)>>);

impl Script {
    fn new(answers: &[Answer]) -> Self {
        Script(Arc::new(Mutex::new((answers.iter().copied().collect(), Vec::new()))))
    }

    /// What was asked since the last time: the tools of each question.
    fn asked(&self) -> Vec<Vec<String>> {
        let questions = std::mem::take(&mut self.0.lock().unwrap().1);
        questions.iter().map(|question| question.tools().iter().map(RequestedTool::name).collect()).collect()
    }
}

impl Prompter for Script {
    fn is_there(&self) -> bool {
        !self.0.lock().unwrap().0.is_empty()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        let mut script = self.0.lock().unwrap();
        script.1.push(question.clone());
        std::future::ready(script.0.pop_front().unwrap_or(Answer::Nobody)).boxed()
    }
}

/// Server `s`, whose tools are told by their names what holds for them.
fn config() -> Config {
    let rule = |name: &str, permission| (Glob::new(name), permission);
    let server = Server {
        permissions: Rules {
            rules: vec![
                rule("allow*", Permission::Allow),
                rule("each*", Permission::AskEach),
                rule("deny*", Permission::Deny),
            ],
            otherwise: Permission::Ask,
        },
        ..Server::new(mcp::ServerConfig::stdio("s", "program", [""; 0]), String::new())
    };
    Config { servers: vec![server], deny: vec![Glob::new("s.gone")], ..Config::default() }
}

fn policy(script: &Script, allow: &[&str]) -> Arc<PermissionPolicy> {
    let allow: Vec<String> = allow.iter().map(|glob| (*glob).to_owned()).collect();
    Arc::new(PermissionPolicy::new(&Arc::new(config()), &allow, Some(Remembered::default()), script.clone()))
}

fn wanted(tool: &str) -> RequestedTool {
    let (hash, reached) = ("1".into(), String::new());
    RequestedTool { server: "s".into(), tool: tool.into(), hash, reached, claims: Vec::new() }
}

fn decide(policy: &PermissionPolicy, tools: &[&str], execution: &ExecutionAnswers) -> Result<(), Reason> {
    let manifest: Vec<RequestedTool> = tools.iter().map(|tool| wanted(tool)).collect();
    let decided = policy.decide(&manifest, execution).now_or_never().expect("nobody is waited for");
    decided.map_err(|refusal| refusal.reason)
}

fn call(policy: &PermissionPolicy, tool: &str, execution: &ExecutionAnswers) -> Result<(), Reason> {
    let arguments = to_raw_value(&json!({ "a": 1 })).unwrap();
    let decided = policy.decide_call(("s", tool), || wanted(tool), &arguments, execution);
    decided.now_or_never().expect("nobody is waited for").map_err(|refusal| refusal.reason)
}

#[test]
fn a_program_is_one_question_and_its_calls_are_none() {
    let script = Script::new(&[Answer::Once, Answer::No]);
    let (policy, execution) = (policy(&script, &[]), ExecutionAnswers::default());
    assert_eq!(decide(&policy, &["a", "allow", "b"], &execution), Ok(()));
    assert_eq!(script.asked(), [["s.a", "s.b"]]);
    assert_eq!((call(&policy, "a", &execution), call(&policy, "allow", &execution)), (Ok(()), Ok(())));
    assert_eq!(script.asked().len(), 0);
    // What was granted to one execution is asked of the next.
    assert_eq!(decide(&policy, &["a"], &ExecutionAnswers::default()), Err(Reason::Person));
}

#[test]
fn what_was_not_granted_is_refused_again_at_the_call() {
    let script = Script::new(&[Answer::No, Answer::No]);
    let (policy, execution) = (policy(&script, &[]), ExecutionAnswers::default());
    assert_eq!(decide(&policy, &["a"], &execution), Err(Reason::Person));
    assert_eq!(call(&policy, "a", &execution), Err(Reason::Person));
    assert_eq!(call(&policy, "a", &execution), Err(Reason::NoTerminal));
    assert_eq!(call(&policy, "deny", &execution), Err(Reason::Configuration));
}

#[test]
fn every_call_is_a_question_where_it_must_be() {
    let script = Script::new(&[Answer::Once, Answer::No, Answer::Session, Answer::No]);
    let (policy, execution) = (policy(&script, &[]), ExecutionAnswers::default());
    assert_eq!(decide(&policy, &["each"], &execution), Ok(()));
    assert_eq!(script.asked().len(), 0);
    assert_eq!(call(&policy, "each", &execution), Ok(()));
    assert_eq!(call(&policy, "each", &execution), Err(Reason::Person));
    assert_eq!(call(&policy, "each", &execution), Ok(()));
    assert_eq!(call(&policy, "each", &execution), Ok(()), "for the session");
    let asked = std::mem::take(&mut script.0.lock().unwrap().1);
    assert_eq!(asked.len(), 3);
    assert!(asked[0].text().contains("\"a\": 1") && !asked[0].is_memorable(), "{asked:?}");
}

#[test]
fn a_program_does_not_win_by_asking_on_and_on() {
    let script = Script::new(&[Answer::No, Answer::No, Answer::No, Answer::Once]);
    let (policy, execution) = (policy(&script, &[]), ExecutionAnswers::default());
    for _ in 0..10 {
        assert_eq!(call(&policy, "each", &execution), Err(Reason::Person));
    }
    assert_eq!(script.asked().len(), 3);
    assert_eq!(call(&policy, "each", &ExecutionAnswers::default()), Ok(()), "another execution asks anew");
}

#[test]
fn an_answer_for_the_session_is_about_the_tool_as_it_was() {
    let script = Script::new(&[Answer::Session, Answer::No]);
    let policy = policy(&script, &[]);
    assert_eq!(decide(&policy, &["a"], &ExecutionAnswers::default()), Ok(()));
    assert_eq!(decide(&policy, &["a"], &ExecutionAnswers::default()), Ok(()));
    assert_eq!(script.asked().len(), 1);
    let changed = RequestedTool { hash: "2".into(), ..wanted("a") };
    let decided = policy.decide(&[changed], &ExecutionAnswers::default()).now_or_never().unwrap();
    assert_eq!(decided.unwrap_err().reason, Reason::Person);
}

#[test]
fn an_answer_for_the_session_is_about_the_server_as_it_is_started() {
    let script = Script::new(&[Answer::Session, Answer::Session, Answer::No]);
    let answers = SessionAnswers::default();
    let of = |change: fn(&mut mcp::Command)| {
        let mut config = config();
        if let mcp::Transport::Stdio(command) = &mut config.servers[0].connection.transport {
            change(command);
        }
        let policy =
            PermissionPolicy::new(&Arc::new(config), &[], Some(Remembered::default()), script.clone());
        PermissionPolicy { session: answers.clone(), ..policy }
    };
    let tools = ["a"];
    assert_eq!(decide(&of(|_| {}), &tools, &ExecutionAnswers::default()), Ok(()));
    assert_eq!(decide(&of(|_| {}), &tools, &ExecutionAnswers::default()), Ok(()));
    assert_eq!(script.asked().len(), 1);
    let other = of(|command| command.cwd = Some("/usr".into()));
    assert_eq!(decide(&other, &tools, &ExecutionAnswers::default()), Ok(()));
    assert_eq!(script.asked().len(), 1, "another folder is another server");
    let other = of(|command| drop(command.env.insert("A".into(), "1".into())));
    assert_eq!(decide(&other, &tools, &ExecutionAnswers::default()), Err(Reason::Person));
}

#[test]
fn without_a_person_only_what_is_allowed_may_be_called() {
    let nobody = Script::default();
    let open = policy(&nobody, &[]);
    let (manifest, execution) = ([wanted("a"), wanted("each"), wanted("allow")], ExecutionAnswers::default());
    let refusal = open.decide(&manifest, &execution).now_or_never().unwrap().unwrap_err();
    assert_eq!(refusal.reason, Reason::NoTerminal);
    assert_eq!(refusal.evidence(), json!({ "tools": ["s.a", "s.each"], "reason": "no_terminal" }));
    for phrase in ["--allow 's.a' --allow 's.each'", "trust: true", "no terminal"] {
        assert!(refusal.message().contains(phrase), "{}", refusal.message());
    }
    for allow in [&["s.a", "s.each"][..], &["s.*"], &["*"]] {
        let (policy, execution) = (policy(&nobody, allow), ExecutionAnswers::default());
        assert_eq!(decide(&policy, &["a", "each"], &execution), Ok(()), "{allow:?}");
        assert_eq!((call(&policy, "a", &execution), call(&policy, "each", &execution)), (Ok(()), Ok(())));
    }
    for other in ["a", "t.a", "s.b", ""] {
        assert_eq!(
            decide(&policy(&nobody, &[other]), &["a"], &ExecutionAnswers::default()),
            Err(Reason::NoTerminal)
        );
    }
}

#[test]
fn a_denial_holds_whatever_else_allows_it() {
    let script = Script::new(&[Answer::Always, Answer::Always]);
    let policy = policy(&script, &["*"]);
    for tools in [&["deny"][..], &["gone"], &["a", "deny"]] {
        assert_eq!(
            decide(&policy, tools, &ExecutionAnswers::default()),
            Err(Reason::Configuration),
            "{tools:?}"
        );
        assert_eq!(
            call(&policy, tools[tools.len() - 1], &ExecutionAnswers::default()),
            Err(Reason::Configuration)
        );
    }
    assert_eq!(script.asked().len(), 0);
}

#[test]
fn nobody_reads_a_question_of_a_thousand_tools() {
    let script = Script::new(&[Answer::Once]);
    let many: Vec<String> = (0..=QUESTION_TOOLS).map(|number| format!("t{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(decide(&policy(&script, &[]), &many, &ExecutionAnswers::default()), Err(Reason::TooMany));
    assert_eq!(script.asked().len(), 0);
}

#[test]
fn an_answer_that_cannot_be_kept_is_told() {
    let script = Script::new(&[Answer::Always]);
    let policy = policy(&script, &[]);
    assert_eq!(decide(&policy, &["a"], &ExecutionAnswers::default()), Ok(()));
    assert_eq!(policy.take_notes().len(), 1);
}
