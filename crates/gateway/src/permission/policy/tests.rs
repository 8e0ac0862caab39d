//! Tests of the policy with scripted answers.

use std::collections::VecDeque;

use config::{Rules, Server};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::super::remembered::AnsweredBy;
use super::*;

/// Gives scripted answers and records the questions; without answers left, no user is available.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<(VecDeque<Answer>, Vec<Question>)>>);

impl Script {
    fn new(answers: &[Answer]) -> Self {
        Script(Arc::new(Mutex::new((answers.iter().copied().collect(), Vec::new()))))
    }

    /// The tools of each question since the last call.
    fn questions(&self) -> Vec<Vec<String>> {
        let questions = std::mem::take(&mut self.0.lock().1);
        questions.iter().map(|question| question.tools().iter().map(RequestedTool::name).collect()).collect()
    }
}

impl Prompter for Script {
    fn is_there(&self) -> bool {
        !self.0.lock().0.is_empty()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        let mut script = self.0.lock();
        script.1.push(question.clone());
        std::future::ready(script.0.pop_front().unwrap_or(Answer::Nobody)).boxed()
    }
}

/// A server `s` whose tools have the permissions that their names say.
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

fn requested(tool: &str) -> RequestedTool {
    let (hash, reached) = ("1".into(), String::new());
    RequestedTool { server: "s".into(), tool: tool.into(), hash, reached, claims: Vec::new() }
}

fn decide(policy: &PermissionPolicy, tools: &[&str], execution: &ExecutionAnswers) -> Result<(), Reason> {
    let manifest: Vec<RequestedTool> = tools.iter().map(|tool| requested(tool)).collect();
    let decided =
        policy.decide(&manifest, Vec::new(), execution).now_or_never().expect("the decision does not wait");
    decided.map_err(|refusal| refusal.reason)
}

fn call(policy: &PermissionPolicy, tool: &str, execution: &ExecutionAnswers) -> Result<(), Reason> {
    let arguments = to_raw_value(&json!({ "a": 1 })).unwrap();
    let decided = policy.decide_call(("s", tool), || requested(tool), &arguments, execution);
    decided.now_or_never().expect("the decision does not wait").map_err(|refusal| refusal.reason)
}

#[test]
fn a_program_needs_one_question_and_its_calls_none() {
    let script = Script::new(&[Answer::Once, Answer::No]);
    let (policy, execution) = (policy(&script, &[]), ExecutionAnswers::default());
    assert_eq!(decide(&policy, &["a", "allow", "b"], &execution), Ok(()));
    assert_eq!(script.questions(), [["s.a", "s.b"]]);
    assert_eq!((call(&policy, "a", &execution), call(&policy, "allow", &execution)), (Ok(()), Ok(())));
    assert_eq!(script.questions().len(), 0);
    // The next execution asks again.
    assert_eq!(decide(&policy, &["a"], &ExecutionAnswers::default()), Err(Reason::Refused));
}

#[test]
fn calls_of_refused_tools_are_refused() {
    let script = Script::new(&[Answer::No, Answer::No]);
    let (policy, execution) = (policy(&script, &[]), ExecutionAnswers::default());
    assert_eq!(decide(&policy, &["a"], &execution), Err(Reason::Refused));
    assert_eq!(call(&policy, "a", &execution), Err(Reason::Refused));
    assert_eq!(call(&policy, "a", &execution), Err(Reason::NoTerminal));
    assert_eq!(call(&policy, "deny", &execution), Err(Reason::Configuration));
}

#[test]
fn ask_each_asks_at_every_call() {
    let script = Script::new(&[Answer::Once, Answer::No, Answer::Session, Answer::No]);
    let (policy, execution) = (policy(&script, &[]), ExecutionAnswers::default());
    assert_eq!(decide(&policy, &["each"], &execution), Ok(()));
    assert_eq!(script.questions().len(), 0);
    assert_eq!(call(&policy, "each", &execution), Ok(()));
    assert_eq!(call(&policy, "each", &execution), Err(Reason::Refused));
    assert_eq!(call(&policy, "each", &execution), Ok(()));
    assert_eq!(call(&policy, "each", &execution), Ok(()), "for the session");
    let questions = std::mem::take(&mut script.0.lock().1);
    assert_eq!(questions.len(), 3);
    assert!(questions[0].text().contains("\"a\": 1") && !questions[0].is_memorable(), "{questions:?}");
}

#[test]
fn repeated_calls_stop_asking_after_three_refusals() {
    let script = Script::new(&[Answer::No, Answer::No, Answer::No, Answer::Once]);
    let (policy, execution) = (policy(&script, &[]), ExecutionAnswers::default());
    for _ in 0..10 {
        assert_eq!(call(&policy, "each", &execution), Err(Reason::Refused));
    }
    assert_eq!(script.questions().len(), 3);
    assert_eq!(call(&policy, "each", &ExecutionAnswers::default()), Ok(()), "another execution asks again");
}

#[test]
fn session_answers_do_not_cover_changed_tools() {
    let script = Script::new(&[Answer::Session, Answer::No]);
    let policy = policy(&script, &[]);
    assert_eq!(decide(&policy, &["a"], &ExecutionAnswers::default()), Ok(()));
    assert_eq!(decide(&policy, &["a"], &ExecutionAnswers::default()), Ok(()));
    assert_eq!(script.questions().len(), 1);
    let changed = RequestedTool { hash: "2".into(), ..requested("a") };
    let decided = policy.decide(&[changed], Vec::new(), &ExecutionAnswers::default()).now_or_never().unwrap();
    assert_eq!(decided.unwrap_err().reason, Reason::Refused);
}

#[test]
fn session_answers_do_not_cover_changed_servers() {
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
    assert_eq!(script.questions().len(), 1);
    let other = of(|command| command.cwd = Some("/usr".into()));
    assert_eq!(decide(&other, &tools, &ExecutionAnswers::default()), Ok(()));
    assert_eq!(script.questions().len(), 1, "another folder is another server");
    let other = of(|command| drop(command.env.insert("A".into(), "1".into())));
    assert_eq!(decide(&other, &tools, &ExecutionAnswers::default()), Err(Reason::Refused));
}

#[test]
fn without_a_user_only_allowed_tools_may_be_called() {
    let no_user = Script::default();
    let open = policy(&no_user, &[]);
    let (manifest, execution) =
        ([requested("a"), requested("each"), requested("allow")], ExecutionAnswers::default());
    let refusal = open.decide(&manifest, Vec::new(), &execution).now_or_never().unwrap().unwrap_err();
    assert_eq!(refusal.reason, Reason::NoTerminal);
    assert_eq!(refusal.evidence(), json!({ "tools": ["s.a", "s.each"], "reason": "no_terminal" }));
    for phrase in ["--allow 's.a' --allow 's.each'", "trust: true", "no terminal"] {
        let told = refusal.report().for_model();
        assert!(told.contains(phrase), "{told}");
    }
    for allow in [&["s.a", "s.each"][..], &["s.*"], &["*"]] {
        let (policy, execution) = (policy(&no_user, allow), ExecutionAnswers::default());
        assert_eq!(decide(&policy, &["a", "each"], &execution), Ok(()), "{allow:?}");
        assert_eq!((call(&policy, "a", &execution), call(&policy, "each", &execution)), (Ok(()), Ok(())));
    }
    for other in ["a", "t.a", "s.b", ""] {
        assert_eq!(
            decide(&policy(&no_user, &[other]), &["a"], &ExecutionAnswers::default()),
            Err(Reason::NoTerminal)
        );
    }
}

#[test]
fn a_denial_overrides_everything() {
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
    assert_eq!(script.questions().len(), 0);
}

#[test]
fn too_many_tools_for_a_question_are_refused() {
    let script = Script::new(&[Answer::Once]);
    let many: Vec<String> = (0..=QUESTION_TOOLS).map(|number| format!("t{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(decide(&policy(&script, &[]), &many, &ExecutionAnswers::default()), Err(Reason::TooMany));
    assert_eq!(script.questions().len(), 0);
    assert_eq!(decide(&policy(&script, &[]), &many[1..], &ExecutionAnswers::default()), Ok(()));
}

#[test]
fn an_answer_for_always_is_valid_in_the_next_session() {
    let home = tempfile::tempdir().unwrap();
    let next = |answers: &[Answer]| {
        let (remembered, _) = Remembered::read_in(home.path(), Some(home.path()));
        PermissionPolicy::new(&Arc::new(config()), &[], Some(remembered), Script::new(answers))
    };
    assert_eq!(decide(&next(&[Answer::Always]), &["a"], &ExecutionAnswers::default()), Ok(()));
    let without_a_user = next(&[]);
    assert_eq!(decide(&without_a_user, &["a"], &ExecutionAnswers::default()), Ok(()));
    assert_eq!(call(&without_a_user, "a", &ExecutionAnswers::default()), Ok(()));
    assert_eq!(call(&without_a_user, "b", &ExecutionAnswers::default()), Err(Reason::NoTerminal));
    assert_eq!(call(&without_a_user, "each", &ExecutionAnswers::default()), Err(Reason::NoTerminal));
}

#[test]
fn an_answer_that_cannot_be_saved_is_reported() {
    let script = Script::new(&[Answer::Always]);
    let policy = policy(&script, &[]);
    assert_eq!(decide(&policy, &["a"], &ExecutionAnswers::default()), Ok(()));
    let notes = policy.take_notes();
    assert!(matches!(&notes[..], [note] if note.contains("for this time only")), "{notes:?}");
    assert!(policy.take_notes().is_empty());
}

#[test]
fn refusals_that_nobody_decided_are_noted_once_for_the_user_of_a_client() {
    for (answer, notes) in [(Answer::No, 0), (Answer::Declined, 1), (Answer::Nobody, 1)] {
        let script = Script::new(&[answer; 2]);
        let policy = PermissionPolicy::of_session(
            &Arc::new(config()),
            Allowed::default(),
            SessionAnswers::default(),
            script,
            Journal::default(),
            Arc::default(),
        );
        for _ in 0..2 {
            assert!(decide(&policy, &["a"], &ExecutionAnswers::default()).is_err());
        }
        let noted = policy.take_notes();
        assert_eq!(noted.len(), notes, "{noted:?}");
        assert!(noted.iter().all(|note| note.contains("s.a")), "{noted:?}");
    }
}

/// An answer that the user gave before, or that was given for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Earlier {
    None,
    /// `--allow` on the command line.
    CommandLine,
    /// "For this session".
    Session,
    /// "Always", in another process.
    Always,
    /// The approval of a saved program.
    Program,
    /// The answer about the execution that the call belongs to.
    Execution,
}

/// The decisions about a program with one tool, and about a call of that tool, with one earlier answer.
fn decided(
    tool: &str,
    earlier: Earlier,
    answers: &[Answer],
) -> (Result<(), Reason>, Result<(), Reason>, usize) {
    let home = tempfile::tempdir().unwrap();
    let (mut remembered, _) = Remembered::read_in(home.path(), Some(home.path()));
    let identity = remembered.identity(&config().servers[0]);
    let identified = requested(tool).on(identity);
    let (script, execution) = (Script::new(answers), ExecutionAnswers::default());
    let (mut allow, mut approved, session) =
        (Vec::new(), ApprovedTools::default(), SessionAnswers::default());
    match earlier {
        Earlier::None => {}
        Earlier::CommandLine => allow.push("s.*".to_owned()),
        Earlier::Session => drop(session.lock().insert(identified)),
        Earlier::Always => remembered.add(&[identified], AnsweredBy::Terminal).unwrap(),
        Earlier::Program => approved = ApprovedTools::of(&[identified]),
        Earlier::Execution => execution.allow(&identified),
    }
    let policy = PermissionPolicy::new(&Arc::new(config()), &allow, Some(remembered), script.clone());
    let policy = PermissionPolicy { session, approved, ..policy };
    let program = decide(&policy, &[tool], &ExecutionAnswers::default());
    let call = call(&policy, tool, &execution);
    (program, call, script.questions().len())
}

/// Each permission with each earlier answer, when nobody can be asked: the program, then the call.
#[test]
fn an_earlier_answer_counts_only_for_the_permission_it_is_about() {
    use Earlier::{Always, CommandLine, Execution, Program, Session};
    let (open, denied) = (Err(Reason::NoTerminal), Err(Reason::Configuration));
    for (tool, earlier, program, call) in [
        ("allow", Earlier::None, Ok(()), Ok(())),
        ("allow", Always, Ok(()), Ok(())),
        ("ask", Earlier::None, open, open),
        ("ask", CommandLine, Ok(()), Ok(())),
        ("ask", Session, Ok(()), Ok(())),
        ("ask", Always, Ok(()), Ok(())),
        ("ask", Program, Ok(()), Ok(())),
        ("ask", Execution, open, Ok(())),
        ("each", Earlier::None, open, open),
        ("each", CommandLine, Ok(()), Ok(())),
        ("each", Session, Ok(()), Ok(())),
        ("each", Always, open, open),
        ("each", Program, open, open),
        ("each", Execution, open, open),
        ("deny", Earlier::None, denied, denied),
        ("deny", CommandLine, denied, denied),
        ("deny", Session, denied, denied),
        ("deny", Always, denied, denied),
        ("deny", Program, denied, denied),
        ("deny", Execution, denied, denied),
        ("gone", CommandLine, denied, denied),
        ("gone", Program, denied, denied),
    ] {
        assert_eq!(decided(tool, earlier, &[]), (program, call, 0), "{tool} {earlier:?}");
    }
}

/// Each permission with each earlier answer, when the user refuses: the program, the call, and the questions.
#[test]
fn the_user_is_asked_where_no_earlier_answer_counts() {
    use Earlier::{Always, CommandLine, Execution, Program, Session};
    let no = Err(Reason::Refused);
    for (tool, earlier, program, call, questions) in [
        ("ask", Earlier::None, no, no, 2),
        ("ask", CommandLine, Ok(()), Ok(()), 0),
        ("ask", Session, Ok(()), Ok(()), 0),
        ("ask", Always, Ok(()), Ok(()), 0),
        ("ask", Program, Ok(()), Ok(()), 0),
        ("ask", Execution, no, Ok(()), 1),
        // The program is not asked about, each call is.
        ("each", Earlier::None, Ok(()), no, 1),
        ("each", CommandLine, Ok(()), Ok(()), 0),
        ("each", Session, Ok(()), Ok(()), 0),
        ("each", Always, Ok(()), no, 1),
        ("each", Program, Ok(()), no, 1),
        ("each", Execution, Ok(()), no, 1),
        ("deny", Earlier::None, Err(Reason::Configuration), Err(Reason::Configuration), 0),
    ] {
        let answers = [Answer::No, Answer::No, Answer::No];
        assert_eq!(decided(tool, earlier, &answers), (program, call, questions), "{tool} {earlier:?}");
    }
}

/// Each answer about a program: the decision, whether its calls need no question, and whether the next program needs
/// none.
#[test]
fn an_answer_covers_what_it_says() {
    let late = std::time::Duration::from_secs(3);
    for (answer, decision, covers_calls, covers_next) in [
        (Answer::Once, Ok(()), true, false),
        (Answer::Session, Ok(()), true, true),
        (Answer::Always, Ok(()), true, true),
        (Answer::No, Err(Reason::Refused), false, false),
        (Answer::Declined, Err(Reason::Declined), false, false),
        (Answer::Nobody, Err(Reason::NoTerminal), false, false),
        (Answer::Late(late), Err(Reason::Late(late)), false, false),
        (Answer::Busy, Err(Reason::Busy), false, false),
    ] {
        // An open question is answered with `Busy`.
        let script = Script::new(&[answer, Answer::Busy, Answer::Busy, Answer::Busy]);
        let (policy, execution) = (policy(&script, &[]), ExecutionAnswers::default());
        assert_eq!(decide(&policy, &["a"], &execution), decision, "{answer:?}");
        let open = |is_covered| if is_covered { Ok(()) } else { Err(Reason::Busy) };
        assert_eq!(call(&policy, "a", &execution), open(covers_calls), "{answer:?}: a call");
        let next = decide(&policy, &["a"], &ExecutionAnswers::default());
        assert_eq!(next, open(covers_next), "{answer:?}: the next program");
    }
}

/// A policy for the servers `s` and `t`, whose tools need a question.
fn policy_of_two(script: &Script) -> PermissionPolicy {
    let mut config = config();
    let connection = mcp::ServerConfig::stdio("t", "program", [""; 0]);
    config.servers.push(Server { connection, ..config.servers[0].clone() });
    PermissionPolicy::new(&Arc::new(config), &[], Some(Remembered::default()), script.clone())
}

/// The answers about the servers `s` and `t`, the decision, and the decisions about a call of each.
#[test]
fn each_server_can_be_decided_about() {
    let no = Err(Reason::Refused);
    let late = std::time::Duration::from_secs(3);
    for (answers, decision, calls) in [
        ([Answer::Once, Answer::Once], Ok(()), [Ok(()), Ok(())]),
        ([Answer::Once, Answer::No], Ok(()), [Ok(()), no]),
        ([Answer::No, Answer::Session], Ok(()), [no, Ok(())]),
        ([Answer::No, Answer::No], no, [no, no]),
        ([Answer::No, Answer::Choose], no, [no, no]),
        ([Answer::Declined, Answer::Once], Ok(()), [Err(Reason::Declined), Ok(())]),
        ([Answer::Late(late), Answer::No], Err(Reason::Late(late)), [no, no]),
    ] {
        // Another question is answered with no, and counted.
        let script = Script::new(&[&[Answer::Choose][..], &answers, &[Answer::No; 4]].concat());
        let (policy, execution) = (policy_of_two(&script), ExecutionAnswers::default());
        let tools = ["s", "t"].map(|server| RequestedTool { server: server.into(), ..requested("a") });
        let decided = policy.decide(&tools, Vec::new(), &execution).now_or_never().unwrap();
        let reason = decided.as_ref().err().map(|refusal| refusal.reason);
        assert_eq!(reason, decision.err(), "{answers:?}");
        let is_late = matches!(answers[0], Answer::Late(_));
        if decision == no {
            assert_eq!(decided.unwrap_err().tools, ["s.a", "t.a"], "the refusal names all");
        }
        let asked = script.questions();
        assert_eq!(asked.len(), if is_late { 2 } else { 3 }, "{answers:?}");
        let arguments = to_raw_value(&json!({})).unwrap();
        for (tool, expected) in tools.into_iter().zip(calls) {
            let named = (tool.server.clone(), tool.tool.clone());
            let called = policy.decide_call((&named.0, &named.1), || tool, &arguments, &execution);
            let called = called.now_or_never().unwrap().map_err(|refusal| refusal.reason);
            assert_eq!(called, expected, "{answers:?} {named:?}");
        }
        // A refused server is not asked about again; after a late answer, each call is.
        assert_eq!(script.questions().len(), if is_late { 2 } else { 0 }, "{answers:?}");
    }
}
