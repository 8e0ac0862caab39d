//! The code of a snippet, parsed once for everyone who asks about it.

mod recent;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::lexical::is_of_word;
use crate::program_file::about::About;
use crate::program_file::compose::{self, ProgramModule};
use crate::program_file::flaw::Flaw;
use crate::purpose::Purpose;
use crate::snippet::{self, CalledProgram, Composed, Snippet};
use crate::syntax_depth::on_parser_stack;
use crate::syntax_error::{SyntaxError, count};
use crate::tokens::{Kind, Tokens};

use recent::{Recent, Source};

/// The code of a snippet. Clones share the result of parsing it.
#[derive(Debug, Clone)]
pub struct Code {
    parsed: Arc<Parsed>,
    time: Duration,
}

#[derive(Debug)]
struct Parsed {
    text: String,
    snippet: Result<Snippet, SyntaxError>,
    path_heads: BTreeSet<String>,
}

impl Parsed {
    /// The same text for a purpose, with these programs.
    fn again(&self, purpose: Purpose, composed: Option<Composed>) -> Self {
        let snippet = Snippet::read_for(&self.text, purpose);
        Parsed {
            text: self.text.clone(),
            snippet: snippet.map(|snippet| Snippet { composed, ..snippet }),
            path_heads: self.path_heads.clone(),
        }
    }
}

impl Code {
    /// Parses `text`, on a stack large enough for its deepest expression.
    #[must_use]
    pub fn parse(text: String) -> Self {
        Code::parse_for(text, Purpose::Snippet)
    }

    /// Parses `text`, which is compiled for this `purpose`.
    pub(crate) fn parse_for(text: String, purpose: Purpose) -> Self {
        Code::parse_source(Source { subject: None, text, purpose })
    }

    fn parse_source(source: Source) -> Self {
        let started = Instant::now();
        let parsed = recent().find(&source);
        let parsed = parsed.unwrap_or_else(|| parse(source));
        Code { parsed, time: started.elapsed() }
    }

    /// Parses `text`, which may call these saved programs as `programs::NAME(…)`. The programs that it calls, also
    /// through others, become part of it: one program with one manifest. If there are subjects, `subject` is the one that
    /// has sent it.
    #[must_use]
    pub fn parse_with(subject: Option<&str>, text: String, programs: &BTreeMap<String, ProgramText>) -> Self {
        let subject = subject.map(Arc::from);
        Code::parse_source(Source { subject, text, purpose: Purpose::Snippet }).with(programs)
    }

    /// The same code, with the programs that it calls.
    #[must_use]
    pub(crate) fn with(self, programs: &BTreeMap<String, ProgramText>) -> Self {
        let Ok(snippet) = self.snippet() else { return self };
        let called = called(&snippet.identifiers, programs);
        if called.is_empty() {
            return self;
        }
        let mut identifiers = BTreeSet::new();
        let mut path_heads = self.parsed.path_heads.clone();
        let mut text = compose::index(called.keys().map(|name| name.as_str()));
        let mut programs = Vec::new();
        for (name, program) in &called {
            text.push('\n');
            programs.push(CalledProgram {
                name: (*name).clone(),
                text: program.text.clone(),
                before: newlines(&text),
                lines: newlines(&program.module.text) + 1,
            });
            text.push_str(&program.module.text);
            identifiers.extend(program.module.identifiers.iter().cloned());
            path_heads.extend(program.path_heads.iter().cloned());
        }
        let composed = Some(Composed { text, programs, identifiers });
        let purpose = snippet.purpose;
        let parsed = Arc::new(Parsed { path_heads, ..self.parsed.again(purpose, composed) });
        Code { parsed, time: self.time }
    }

    /// The modules of the programs that it calls; empty if there are none.
    #[must_use]
    pub fn composed(&self) -> &str {
        let composed = self.snippet().ok().and_then(|snippet| snippet.composed.as_ref());
        composed.map_or("", |composed| composed.text.as_str())
    }

    /// Replaces the line of an error by the called program and its own line, if the error is in one.
    pub fn name_program(&self, evidence: &mut Value) {
        let (Ok(snippet), Some(line)) = (self.snippet(), evidence["line"].as_u64()) else { return };
        let lines = u64::from(newlines(&snippet.text)) + 1;
        let programs = snippet.composed.iter().flat_map(|composed| &composed.programs);
        let own = |program: &CalledProgram| {
            let own = line.checked_sub(lines + u64::from(program.before))?;
            (1..=u64::from(program.lines)).contains(&own).then_some(own)
        };
        let found = programs.filter_map(|program| Some((program, own(program)?))).next();
        if let (Some((program, own)), Some(evidence)) = (found, evidence.as_object_mut()) {
            evidence.insert("program".to_owned(), program.name.clone().into());
            evidence.insert("line".to_owned(), own.into());
            evidence.remove("column");
        }
    }

    /// The same code for another purpose, with the programs that it calls.
    #[must_use]
    pub(crate) fn for_purpose(&self, purpose: Purpose) -> Self {
        let composed = self.snippet().ok().and_then(|snippet| snippet.composed.clone());
        Code { parsed: Arc::new(self.parsed.again(purpose, composed)), time: self.time }
    }

    /// The text, as it was sent.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.parsed.text
    }

    /// The names before `::` or `(`, and those in `use` declarations: before anything is compiled, they say which servers
    /// the snippet may need. Empty if its syntax is wrong: then names do not matter.
    #[must_use]
    pub fn path_heads(&self) -> &BTreeSet<String> {
        &self.parsed.path_heads
    }

    /// Whether it, or a program that it calls, may mean a module by a word: outside comments and literals, also in a slip
    /// such as `demo.echo("a")`; anywhere if its syntax is wrong.
    #[must_use]
    pub fn may_name(&self, module: &str) -> bool {
        if self.path_heads().contains(module) {
            return true;
        }
        match self.snippet() {
            Ok(_) if !self.text().contains(module) => false,
            Ok(_) => Tokens::read(self.text()).words().any(|(_, word)| word == module),
            Err(_) => {
                let mut words = self.text().split(|c| !is_of_word(c));
                words.any(|word| word == module)
            }
        }
    }

    /// Whether it ends with an expression and a `;`, so that its value, if any, is not the result. Calls without a value
    /// (`emit(…);`, `list.push(…);`) are not distinguished, except those that print or emit.
    #[must_use]
    pub fn discards_value(&self) -> bool {
        self.parsed.snippet.as_ref().is_ok_and(|snippet| snippet.discards)
    }

    /// The snippet, ready for the compiler.
    ///
    /// # Errors
    /// The first error in its syntax.
    pub fn snippet(&self) -> Result<&Snippet, &SyntaxError> {
        self.parsed.snippet.as_ref()
    }

    /// Returns the time that parsing took.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.time
    }
}

/// A saved program that other texts can call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramText {
    /// The first line of its description.
    title: String,
    tags: Vec<String>,
    /// Its own text.
    text: String,
    module: ProgramModule,
    path_heads: BTreeSet<String>,
}

impl ProgramText {
    /// The program `name` with this code.
    ///
    /// # Errors
    /// Returns the reason if it can't be called from other texts.
    pub(crate) fn new(name: &str, code: &Code, about: &About) -> Result<Self, Flaw> {
        let snippet = code.snippet()?;
        let module = on_parser_stack(|| compose::module(name, code.text(), snippet));
        let module = module.unwrap_or_else(|| Err(Flaw::new("it can't be parsed")))?;
        let (title, tags) = (about.title().to_owned(), about.tags.clone());
        let (text, path_heads) = (code.text().to_owned(), code.path_heads().clone());
        Ok(ProgramText { title, tags, text, module, path_heads })
    }

    /// Describes its call and its purpose in one line for models.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{}  // {}", self.module.signature, self.title)
    }

    /// Whether each of these words, in lower case, is in its signature, its title or its tags.
    #[must_use]
    pub fn has(&self, words: &[String]) -> bool {
        let text = format!("{} {} {}", self.module.signature, self.title, self.tags.join(" ")).to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

/// The texts that were parsed last.
fn recent() -> MutexGuard<'static, Recent<Parsed>> {
    static RECENT: Mutex<Recent<Parsed>> = Mutex::new(Recent::new());
    RECENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Parses a text, and keeps the result.
fn parse(source: Source) -> Arc<Parsed> {
    let text = source.text.clone();
    let parsed = on_parser_stack(|| {
        let snippet = Snippet::parse(&text, source.purpose);
        let path_heads = snippet.as_ref().map(|snippet| path_heads(&snippet.text)).unwrap_or_default();
        (snippet, path_heads)
    });
    // Without memory for the stack, nothing is known about the text.
    let is_known = parsed.is_some();
    let (snippet, path_heads) = parsed.unwrap_or_else(|| (Err(snippet::unreadable()), BTreeSet::new()));
    let parsed = Arc::new(Parsed { text, snippet, path_heads });
    if is_known {
        recent().keep(source, &parsed);
    }
    parsed
}

fn newlines(text: &str) -> u32 {
    count(text.matches('\n').count())
}

/// The programs that a text with these identifiers calls, also through other programs.
fn called<'a>(
    identifiers: &BTreeSet<String>,
    programs: &'a BTreeMap<String, ProgramText>,
) -> BTreeMap<&'a String, &'a ProgramText> {
    let mut called: BTreeMap<&String, &ProgramText> = BTreeMap::new();
    let mut waiting = vec![identifiers];
    while let Some(identifiers) = waiting.pop() {
        if !identifiers.contains(compose::PROGRAMS) {
            continue;
        }
        for (name, program) in programs.iter().filter(|(name, _)| identifiers.contains(*name)) {
            if called.insert(name, program).is_none() {
                waiting.push(&program.module.identifiers);
            }
        }
    }
    called
}

fn path_heads(text: &str) -> BTreeSet<String> {
    let tokens = Tokens::of_this_thread(text);
    let mut heads = BTreeSet::new();
    let mut imports = false;
    for at in 0..tokens.len() {
        let word = tokens.word(at);
        imports = match word {
            "use" => true,
            _ => imports && !tokens.is_sign(at, ';'),
        };
        let is_path = tokens.is_sign(at + 1, ':') && tokens.is_sign(at + 2, ':');
        let is_call = tokens.kind(at + 1) == Some(Kind::Open('('));
        if !word.is_empty() && (imports || is_path || is_call) {
            heads.insert(word.to_owned());
        }
    }
    heads
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[track_caller]
    fn check(code: &str, expected: &[&str]) {
        let parsed = Code::parse(code.to_owned());
        let heads = parsed.path_heads();
        assert_eq!(heads.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{code}");
    }

    #[test]
    fn only_names_with_a_path_or_call_count() {
        check("let files = 1; files + 1", &[]);
        check("let memory = shop::list().await?; memory.orders", &["list", "shop"]);
        check("use {demo, shop as s}; s::list().await?", &["as", "demo", "list", "s", "shop", "use"]);
        check("vec![r#move::go(1)]", &["go", "move"]);
        check("search_tools(\"files\").await?", &["search_tools"]);
        check("```rust\nshop::list().await?\n```", &["list", "shop"]);
        check("let x = ;", &[]);
    }

    #[test]
    fn a_comment_or_a_string_names_no_module() {
        for (code, expected) in [
            ("demo::list_orders().await?", true),
            ("demo::list_orders(", true),
            ("demo.list_orders().await?", true),
            ("// demo\nshop::list().await?", false),
            ("shop::find(\"demo\").await?", false),
        ] {
            assert_eq!(Code::parse(code.to_owned()).may_name("demo"), expected, "{code}");
        }
    }

    #[test]
    fn errors_of_a_text_that_is_cut_are_at_lines_that_it_has() {
        let texts = [
            include_str!("../../../examples/top_customers.rs"),
            include_str!("../../../examples/programs/revenue.rs"),
        ];
        for text in texts {
            for end in 1..text.len() {
                let cut = &text[..end];
                let code = Code::parse(cut.to_owned());
                let Err(error) = code.snippet() else { continue };
                let lines = u32::try_from(cut.lines().count()).unwrap();
                assert!((1..=lines).contains(&error.line), "{error:?} of {lines} lines:\n{cut}");
            }
        }
    }
}
