//! The open questions of this process's executions and their servers, for a local page that shows and answers them.
//!
//! The page answers only questions to clients that can't ask their user. Other questions are shown, too, but have one
//! place to be answered: the client.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use gateway::permission::{Answer, Question};
use mcp::form::Field;
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

/// The action that sends the content of a form.
pub const ACCEPT: &str = "accept";

/// The asker, for the person who answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asker {
    /// The client's claim about itself: its name and version.
    pub client: Option<String>,
    /// Its connection: `stdio` or `http`.
    pub transport: &'static str,
    /// Its subject, if it has shown who it is.
    pub subject: Option<String>,
    /// The execution, if it is not a direct call.
    pub execution: Option<String>,
}

/// An available answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// The word that [`OpenQuestions::answer`] takes.
    pub word: &'static str,
    /// Its activity, for the person who answers.
    pub label: &'static str,
    /// The permission; `None` for an answer to a server's form, whose word is the action.
    answer: Option<Answer>,
}

/// An open question.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenQuestion {
    /// Its number; no other question of this process has it.
    pub number: u64,
    /// When it was asked.
    pub asked: SystemTime,
    /// The asker.
    pub asker: Arc<Asker>,
    /// The text, as at a terminal: safe to show, and bounded.
    pub text: String,
    /// The answers that can be given here; none if the client's user is asked.
    pub offers: Vec<Offer>,
    /// The fields of a server's form; `None` for a question about a permission.
    pub fields: Option<Vec<Field>>,
}

/// An answer on its way to the execution.
#[derive(Debug)]
enum Given {
    Permission(Answer),
    /// MCP's `ElicitResult`.
    Form(Value),
}

/// The reason why an answer was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAccepted {
    /// The question is not open.
    #[error("the question is no longer open: it was answered or withdrawn, or its time was over")]
    Closed,
    /// The question does not offer this answer.
    #[error("the question does not offer this answer")]
    NotOffered,
}

/// The answers that a client's question can have, beside yes and no.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lasting {
    /// For the rest of the client's session.
    pub(crate) session: bool,
    /// From now on, for all clients of this user.
    pub(crate) always: bool,
}

/// The open questions of this process.
#[derive(Debug, Default)]
pub struct OpenQuestions {
    is_answered_here: bool,
    open: Mutex<BTreeMap<u64, Open>>,
    next: AtomicU64,
    changes: AtomicU64,
}

#[derive(Debug)]
struct Open {
    question: OpenQuestion,
    answer: Option<oneshot::Sender<Given>>,
}

/// A question that is shown until this is dropped.
pub(crate) struct Shown<'a> {
    questions: &'a OpenQuestions,
    number: u64,
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.questions.open().remove(&self.number);
        self.questions.changes.fetch_add(1, Ordering::Relaxed);
    }
}

impl OpenQuestions {
    /// No questions. `is_answered_here` says whether the page that shows them answers those whose client can't.
    #[must_use]
    pub fn new(is_answered_here: bool) -> Arc<Self> {
        Arc::new(OpenQuestions { is_answered_here, ..OpenQuestions::default() })
    }

    /// Whether questions whose client can't ask its user are answered on the page.
    #[must_use]
    pub fn is_answered_here(&self) -> bool {
        self.is_answered_here
    }

    /// All open questions, the oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<OpenQuestion> {
        self.open().values().map(|open| open.question.clone()).collect()
    }

    /// A number that differs after each change.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// An open question.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<OpenQuestion> {
        self.open().get(&number).map(|open| open.question.clone())
    }

    /// Answers a question with one of the words that it offers, and for a form with the content of its fields.
    ///
    /// # Errors
    /// If the question is not open, or offers no such answer.
    pub fn answer(&self, number: u64, word: &str, content: &Map<String, Value>) -> Result<(), NotAccepted> {
        let mut all = self.open();
        let open = all.get_mut(&number).ok_or(NotAccepted::Closed)?;
        let offer = open.question.offers.iter().find(|offer| offer.word == word);
        let given = match offer.ok_or(NotAccepted::NotOffered)? {
            Offer { answer: Some(answer), .. } => Given::Permission(*answer),
            Offer { word: ACCEPT, .. } => Given::Form(json!({ "action": ACCEPT, "content": content })),
            Offer { word, .. } => Given::Form(json!({ "action": word })),
        };
        let sender = open.answer.take().ok_or(NotAccepted::Closed)?;
        sender.send(given).map_err(|_| NotAccepted::Closed)?;
        all.remove(&number);
        self.changes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Asks on the page, and waits for the answer without a time limit. Dropping the future withdraws the question.
    pub(crate) async fn ask(&self, asker: Arc<Asker>, text: String, offers: Vec<Offer>) -> Answer {
        let (sender, answer) = oneshot::channel();
        let _shown = self.add(asker, text, (offers, None), Some(sender));
        match answer.await {
            Ok(Given::Permission(answer)) => answer,
            // A sender that is dropped has given no consent.
            _ => Answer::No,
        }
    }

    /// Asks on the page for the fields of a form, and waits for MCP's `ElicitResult` as [`OpenQuestions::ask`] does.
    pub(crate) async fn fill_in(&self, asker: Arc<Asker>, text: String, fields: Vec<Field>) -> Value {
        let (sender, answer) = oneshot::channel();
        let _shown = self.add(asker, text, (Offer::of_form(), Some(fields)), Some(sender));
        match answer.await {
            Ok(Given::Form(result)) => result,
            _ => json!({ "action": "cancel" }),
        }
    }

    /// Shows a question that the client's user is asked, until the result is dropped.
    pub(crate) fn show(&self, asker: Arc<Asker>, text: String) -> Shown<'_> {
        self.add(asker, text, (Vec::new(), None), None)
    }

    fn add(
        &self,
        asker: Arc<Asker>,
        text: String,
        (offers, fields): (Vec<Offer>, Option<Vec<Field>>),
        answer: Option<oneshot::Sender<Given>>,
    ) -> Shown<'_> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let question = OpenQuestion { number, asked: SystemTime::now(), asker, text, offers, fields };
        self.open().insert(number, Open { question, answer });
        self.changes.fetch_add(1, Ordering::Relaxed);
        Shown { questions: self, number }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, Open>> {
        self.open.lock()
    }
}

impl Offer {
    /// The answers to the question whether a program may be saved.
    pub(crate) fn to_save() -> Vec<Self> {
        vec![
            Offer { word: "once", label: "Save and approve", answer: Some(Answer::Once) },
            Offer { word: "no", label: "No", answer: Some(Answer::No) },
        ]
    }

    /// The answers to a server's form (MCP, client/elicitation, "Response Actions").
    fn of_form() -> Vec<Self> {
        let answers = [(ACCEPT, "Send the answers"), ("decline", "Decline"), ("cancel", "Cancel")];
        answers.map(|(word, label)| Offer { word, label, answer: None }).to_vec()
    }
}

/// The answers to a question: those of a terminal that can apply to this client.
pub(crate) fn offers(question: &Question, lasting: Lasting) -> Vec<Offer> {
    let all = [
        (true, "once", "Yes, once", Answer::Once),
        (lasting.session, "session", "Yes, for this session", Answer::Session),
        (lasting.always && question.is_memorable(), "always", "Always", Answer::Always),
        (question.offers_choice(), "choose", "Choose for each server", Answer::Choose),
        (true, "no", "No", Answer::No),
    ];
    let offered = all.into_iter().filter(|(is_offered, ..)| *is_offered);
    offered.map(|(_, word, label, answer)| Offer { word, label, answer: Some(answer) }).collect()
}

#[cfg(test)]
mod tests {
    use gateway::permission::RequestedTool;

    use super::*;

    const ALL: Lasting = Lasting { session: true, always: true };

    fn program(servers: &[&str]) -> Question {
        let tools = servers.iter().map(|server| RequestedTool::new(server, "t", None)).collect();
        Question::Program { tools, each: 0, flows: Vec::new() }
    }

    fn call(memorable: bool) -> Question {
        let arguments = "  {}".to_owned();
        Question::Call {
            tool: [RequestedTool::new("a", "t", None)],
            arguments,
            memorable,
            flows: Vec::new(),
            marks: Vec::new(),
        }
    }

    fn words(question: &Question, lasting: Lasting) -> Vec<&'static str> {
        offers(question, lasting).iter().map(|offer| offer.word).collect()
    }

    #[test]
    fn only_answers_that_can_apply_are_offered() {
        assert_eq!(words(&program(&["a", "b"]), ALL), ["once", "session", "always", "choose", "no"]);
        assert_eq!(words(&call(false), ALL), ["once", "session", "no"]);
        let neither = Lasting { session: false, always: false };
        assert_eq!(words(&call(true), neither), ["once", "no"]);
        assert_eq!(words(&program(&["a"]), Lasting { session: true, ..neither }), ["once", "session", "no"]);
    }

    #[tokio::test]
    async fn an_answer_reaches_its_question_once() {
        let questions = OpenQuestions::new(true);
        let before = questions.version();
        let (first, second) = (program(&["a"]), call(true));
        let asking = async {
            tokio::join!(
                questions.ask(Arc::default(), first.text(), offers(&first, ALL)),
                questions.ask(Arc::default(), second.text(), offers(&second, ALL)),
            )
        };
        let answering = async {
            let open = questions.list();
            assert_eq!(
                open.iter().map(|open| open.text.clone()).collect::<Vec<_>>(),
                [first.text(), second.text()]
            );
            let [first, second] = [0, 1].map(|place| open[place].number);
            assert_eq!(questions.answer(second, "choose", &Map::new()), Err(NotAccepted::NotOffered));
            assert_eq!(questions.answer(second, "no", &Map::new()), Ok(()));
            assert_eq!(questions.answer(second, "once", &Map::new()), Err(NotAccepted::Closed));
            assert_eq!(questions.answer(first, "always", &Map::new()), Ok(()));
            assert_eq!(questions.answer(7, "once", &Map::new()), Err(NotAccepted::Closed));
        };
        let (answers, ()) = tokio::join!(asking, answering);
        assert_eq!(answers, (Answer::Always, Answer::No));
        assert!(questions.list().is_empty() && questions.version() != before);
    }

    #[tokio::test]
    async fn a_withdrawn_question_is_closed() {
        let questions = OpenQuestions::new(true);
        let question = program(&["a"]);
        let mut asking = Box::pin(questions.ask(Arc::default(), question.text(), offers(&question, ALL)));
        tokio::select! {
            biased;
            answer = &mut asking => panic!("{answer:?}"),
            () = std::future::ready(()) => assert_eq!(questions.list().len(), 1),
        }
        drop(asking);
        assert_eq!(
            (questions.list(), questions.answer(0, "once", &Map::new())),
            (Vec::new(), Err(NotAccepted::Closed))
        );
    }

    #[tokio::test]
    async fn the_answers_of_a_form_are_those_of_mcp() {
        let questions = OpenQuestions::new(true);
        let fields = mcp::form::fields(&json!({ "properties": { "n": { "type": "integer" } } })).unwrap();
        let asks = || questions.fill_in(Arc::default(), "How many?".to_owned(), fields.clone());
        let content = Map::from_iter([("n".to_owned(), json!(7))]);
        let accepted = json!({ "action": "accept", "content": { "n": 7 } });
        for (number, word, result) in
            [(0, "accept", accepted), (1, "decline", json!({ "action": "decline" }))]
        {
            let answering = async {
                assert_eq!(questions.get(number).unwrap().fields.as_ref(), Some(&fields));
                let once = questions.answer(number, "once", &content);
                assert_eq!(once, Err(NotAccepted::NotOffered));
                questions.answer(number, word, &content)
            };
            assert_eq!(tokio::join!(asks(), answering), (result, Ok(())));
        }
    }

    #[test]
    fn a_question_to_the_client_is_only_shown() {
        let questions = OpenQuestions::new(true);
        let shown = questions.show(Arc::default(), program(&["a"]).text());
        let open = questions.list();
        assert!(open[0].offers.is_empty());
        assert_eq!(questions.answer(open[0].number, "once", &Map::new()), Err(NotAccepted::NotOffered));
        drop(shown);
        assert!(questions.list().is_empty());
    }
}
