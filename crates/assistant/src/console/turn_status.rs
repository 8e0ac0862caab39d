//! The status line of a turn: a spinner with seconds, what goes on, and what the user types meanwhile.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use terminal::{Terminal, fitting_columns, masked};
use unicode_width::UnicodeWidthStr as _;

/// The forms of the spinner, and how long each is shown.
const FORMS: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FORM: Duration = Duration::from_millis(150);

/// The status line of the current turn.
pub(crate) struct TurnStatus {
    terminal: Arc<Terminal>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The name of the current activity, and its start; `None` between turns.
    activity: Option<(String, Instant)>,
    /// The progress of the activity.
    progress: String,
    /// The end of the answer's text that is not shown yet.
    preview: String,
    /// The text that the user has typed.
    typed: String,
}

impl TurnStatus {
    pub(crate) fn new(terminal: Arc<Terminal>) -> Arc<Self> {
        Arc::new(TurnStatus { terminal, state: Mutex::default() })
    }

    /// Begins an activity of the turn.
    pub(super) fn begin(&self, activity: String) {
        let mut state = self.state.lock();
        *state = State {
            activity: Some((activity, Instant::now())),
            typed: std::mem::take(&mut state.typed),
            ..State::default()
        };
    }

    /// Ends the turn.
    pub(super) fn end(&self) {
        self.state.lock().activity = None;
        self.terminal.status("");
    }

    /// Sets the progress of the activity.
    pub(super) fn set_progress(&self, progress: &str) {
        // Before it is cut to the width.
        self.state.lock().progress = masked(progress);
        self.show();
    }

    /// Sets the end of the answer's text that is not shown yet.
    pub(super) fn set_preview(&self, text: &str) {
        self.state.lock().preview = printable::prose(text);
    }

    /// Sets the text that the user has typed.
    pub(super) fn set_typed(&self, text: &str) {
        self.state.lock().typed = text.to_owned();
        self.show();
    }

    /// The text that the user has typed in a line that is not complete.
    pub(super) fn typed(&self) -> String {
        self.state.lock().typed.clone()
    }

    /// Takes the text that the user has typed in a line that is not complete.
    pub(super) fn take_typed(&self) -> String {
        std::mem::take(&mut self.state.lock().typed)
    }

    /// Shows the line until this is dropped.
    pub(super) async fn run(&self) -> Infallible {
        loop {
            tokio::time::sleep(FORM).await;
            self.show();
        }
    }

    fn show(&self) {
        if let Some(line) = self.state.lock().line(terminal::columns(std::io::stderr())) {
            self.terminal.status(&line);
        }
    }
}

impl State {
    /// `⠹ 12 s execute_code: 4 of 10 orders`, and what is typed.
    fn line(&self, columns: usize) -> Option<String> {
        let (activity, since) = self.activity.as_ref()?;
        let elapsed = since.elapsed();
        let form = usize::try_from(elapsed.as_millis() / FORM.as_millis()).unwrap_or_default() % FORMS.len();
        let form = FORMS.get(form).copied().unwrap_or(' ');
        let head = format!("{form} {} s ", elapsed.as_secs());
        // The last column stays free: a longer line would continue on a second row.
        let room = columns.saturating_sub(head.width() + 1);
        let text = match (&self.typed[..], &self.preview[..], &self.progress[..]) {
            ("", "", "") => start(activity, room),
            ("", "", progress) => start(&format!("{activity}: {progress}"), room),
            ("", preview, _) => end(preview, room),
            (typed, ..) => format!("> {}", end(&printable::prose(typed), room.saturating_sub(2))),
        };
        Some(format!("{head}{text}"))
    }
}

/// The start of a text that fits into some columns.
fn start(text: &str, columns: usize) -> String {
    fitting_columns(text.chars(), columns).collect()
}

/// The end of a text that fits into some columns.
fn end(text: &str, columns: usize) -> String {
    let reversed: Vec<char> = fitting_columns(text.chars().rev(), columns).collect();
    reversed.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_the_seconds_and_one_of_its_texts() {
        let since = Instant::now() - Duration::from_secs(12);
        let mut state = State { activity: Some(("execute_code".to_owned(), since)), ..State::default() };
        let mut line = |change: fn(&mut State)| {
            change(&mut state);
            state.line(30).unwrap().chars().skip(2).collect::<String>()
        };
        assert_eq!(line(|_| ()), "12 s execute_code");
        assert_eq!(line(|state| state.progress = "4 of 10 orders".to_owned()), "12 s execute_code: 4 of 10 ");
        assert_eq!(
            line(|state| state.preview = "the orders are all paid".to_owned()),
            "12 s he orders are all paid"
        );
        assert_eq!(
            line(|state| state.typed = "and now the totals of all".to_owned()),
            "12 s > ow the totals of all"
        );
        assert_eq!(State::default().line(30), None);
    }

    #[test]
    fn secrets_are_masked_before_the_line_is_cut() {
        terminal::mask(terminal::Masker::new(&["a-secret-of-the-status".to_owned()]));
        let status = TurnStatus::new(Arc::new(Terminal::new(true, false)));
        status.begin("fetch".to_owned());
        status.set_progress("with a-secret-of-the-status");
        let line = status.state.lock().line(30).unwrap();
        assert!(line.ends_with("fetch: with ***"), "{line}");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(start("日本語", 5), "日本");
        assert_eq!(end("日本語", 5), "本語");
    }
}
