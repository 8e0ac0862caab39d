//! The tasks that every peer carries out, written in the language of each.
//!
//! Each text contains a number, so that it is new to every cache, and the answer depends on it.

/// The task that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// `a + 1`.
    Sum,
    /// One tool call.
    Call,
    /// Ten tool calls in parallel.
    Calls,
    /// A loop of three million steps.
    Loop,
}

/// All tasks, in the order of the table.
pub(crate) const TASKS: [Task; 4] = [Task::Sum, Task::Call, Task::Calls, Task::Loop];

/// The language in which a peer expects code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// Toolsmith: Rust statements.
    Rust,
    /// FastMCP: Python with `call_tool`.
    Python,
    /// UTCP: the body of a JavaScript function, tools are synchronous functions of a manual.
    Utcp,
    /// Cloudflare: an asynchronous arrow function.
    Cloudflare,
    /// executor: the body of an asynchronous function.
    Executor,
    /// No code: tools are called directly.
    Direct,
}

impl Task {
    /// Its name in the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Task::Sum => "`a + 1`",
            Task::Call => "one tool call",
            Task::Calls => "ten parallel calls",
            Task::Loop => "3 M-step loop",
        }
    }

    /// Returns the text that the answer must contain.
    pub(crate) fn expected(self, number: u64) -> String {
        match self {
            Task::Sum => (number + 1).to_string(),
            Task::Call => format!("Echo: {number}"),
            Task::Calls => format!("Echo: {number}-9"),
            Task::Loop => (0..3_000_000).fold(number, |x, step| (x * 31 + step) % 1_000_003).to_string(),
        }
    }

    /// The code in a language; empty for direct calls.
    pub(crate) fn code(self, language: Language, number: u64) -> String {
        match language {
            Language::Rust => self.rust(number),
            Language::Python => self.python(number),
            Language::Utcp => self.script(number, "bench.upstream_echo", ""),
            Language::Cloudflare => {
                format!("async () => {{ {} }}", self.script(number, "codemode.echo", "await "))
            }
            Language::Executor => self.script(number, "tools.upstream.user.main.echo", "await "),
            Language::Direct => String::new(),
        }
    }

    fn rust(self, number: u64) -> String {
        match self {
            Task::Sum => format!("let a: u64 = {number};\na + 1"),
            Task::Call => format!("upstream::echo(\"{number}\").await?.text()"),
            Task::Calls => format!(
                "let answers = concurrently(10, 0..10, |n| async move {{ upstream::echo(format!(\"{number}-{{n}}\")).await }})\
                 .await?;\nanswers.iter().map(|answer| answer.text()).collect::<Vec<_>>()"
            ),
            Task::Loop => format!(
                "let mut x: u64 = {number};\nfor step in 0..3_000_000 {{ x = (x * 31 + step) % 1_000_003; }}\nx"
            ),
        }
    }

    fn python(self, number: u64) -> String {
        match self {
            Task::Sum => format!("a = {number}\nreturn a + 1"),
            Task::Call => format!("return await call_tool('echo', {{'message': '{number}'}})"),
            Task::Calls => format!(
                "import asyncio\nreturn await asyncio.gather(*[call_tool('echo', \
                 {{'message': f'{number}-{{n}}'}}) for n in range(10)])"
            ),
            Task::Loop => format!(
                "x = {number}\nfor step in range(3000000):\n    x = (x * 31 + step) % 1000003\nreturn x"
            ),
        }
    }

    fn script(self, number: u64, echo: &str, wait: &str) -> String {
        match self {
            Task::Sum => format!("const a = {number}; return a + 1;"),
            Task::Call => format!("return {wait}{echo}({{ message: \"{number}\" }});"),
            Task::Calls => format!(
                "return await Promise.all([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => \
                 {echo}({{ message: \"{number}-\" + n }})));"
            ),
            Task::Loop => format!(
                "let x = {number}; for (let step = 0; step < 3000000; step++) x = (x * 31 + step) % 1000003; return x;"
            ),
        }
    }
}
