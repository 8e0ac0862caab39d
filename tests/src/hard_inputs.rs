//! Inputs that take long to read, for the test and the bench of the event loop, and a client that sends them.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::iter::repeat_with;
use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value, json};

/// The protocol version without sessions: each request is complete.
const STATELESS: &str = "2026-07-28";

/// The sizes of the inputs, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    arguments: usize,
    snippet: usize,
    /// Of answers of servers, results of programs, and arguments that programs send.
    answer: usize,
    /// Of the output of programs.
    output: usize,
}

impl Sizes {
    /// A little less than the limits.
    pub const LIMITS: Self = Sizes {
        arguments: (4 << 20) - 4_096,
        snippet: (1 << 20) - 4_096,
        answer: 15 << 20,
        output: (8 << 20) - 4_096,
    };

    /// An eighth of that, which a build without optimization reads in the same time.
    pub const EIGHTH: Self = Sizes {
        arguments: Self::LIMITS.arguments / 8,
        snippet: Self::LIMITS.snippet / 8,
        answer: Self::LIMITS.answer / 8,
        output: Self::LIMITS.output / 8,
    };
}

/// The size of the longest requests that are read on the loop, less their other members.
const BRIEF: usize = (64 << 10) - 1_024;

/// Nested lists of this size, in bytes, have almost as many values as a message may have.
const MANY_VALUES: usize = 380_000;

/// The parts that answers of servers repeat (the mode `long-answer` of `fault-server`), by server.
const ANSWERS: [(&str, &str); 5] = [
    ("numbers", "1234567.891,-0,1e300"),
    ("texts", r#""a text with \u00e9scapes\n and \"quotes\"""#),
    ("lists", "[[[[[[]]]]]],[]"),
    ("members", r#"{"first":1,"second":null,"third":"text"}"#),
    ("blocks", r#"{"type":"text"},{"type":"image","data":null}"#),
];

/// A request that takes long to read, or whose answer does.
pub struct HardInput {
    /// Its name in tables.
    pub name: String,
    /// Whether the compiler gets a long text.
    pub compiles: bool,
    tool: String,
    body: String,
}

/// The configuration of a server with the tools that the inputs call; `program` is `fault-server`.
#[must_use]
pub fn configuration(program: &str, sizes: Sizes) -> String {
    let mut text = "directNames: at\nserve: { metrics: {} }\nmcpServers:\n".to_owned();
    let mut add = |name: &str, arguments: &[&str], direct: bool| {
        let arguments = json!(arguments);
        let direct = if direct { "codeMode: false, " } else { "" };
        let _ =
            writeln!(text, "  {name}: {{ command: {program:?}, args: {arguments}, {direct}trust: true }}");
    };
    add("faulty", &["flood"], false);
    add("direct", &["sound"], true);
    for (name, part) in ANSWERS {
        add(name, &["long-answer", &format!("{} {part}", sizes.answer)], true);
    }
    text
}

/// All inputs.
#[must_use]
pub fn all(sizes: Sizes) -> Vec<HardInput> {
    let text = json!(repeated("a line\n\"é\" ", sizes.arguments / 2)).to_string();
    let mut all: Vec<HardInput> = lists(sizes.arguments)
        .into_iter()
        .map(|(name, items)| (name, format!(r#"{{"message":"x","more":{items}}}"#)))
        .chain([("a text with escapes", format!(r#"{{"message":{text}}}"#))])
        .map(|(name, arguments)| {
            HardInput::new(&format!("arguments of a direct tool: {name}"), "echo@direct", &arguments)
        })
        .collect();
    let of_execution = [
        ("a text with escapes", format!(r#"{{"code":"args.require(\"a\")?.len()","args":{{"a":{text}}}}}"#)),
        ("members", format!(r#"{{"code":"1","more":{}}}"#, members(sizes.arguments))),
    ];
    all.extend(of_execution.map(|(name, arguments)| {
        HardInput::new(&format!("arguments of execute_code: {name}"), "execute_code", &arguments)
    }));
    all.extend(snippets(sizes.snippet).map(|(name, code, compiles)| {
        let input = HardInput::of_code(&format!("a snippet: {name}"), &code);
        HardInput { compiles, ..input }
    }));
    all.extend(ANSWERS.map(|(name, _)| {
        HardInput::new(&format!("an answer: {name}"), &format!("echo@{name}"), r#"{"message":"x"}"#)
    }));
    all.extend(programs(sizes).map(|(name, code)| HardInput::of_code(&format!("a program: {name}"), &code)));
    all
}

/// Requests that are just short enough to be read on the loop.
#[must_use]
pub fn brief() -> Vec<HardInput> {
    let inputs = lists(BRIEF).into_iter().filter(|(_, value)| value.len() <= BRIEF);
    let inputs = inputs.map(|(name, value)| (name, format!(r#"{{"message":"x","more":{value}}}"#)));
    let named = inputs.map(|(name, arguments)| {
        HardInput::new(&format!("a brief request: {name}"), "echo@direct", &arguments)
    });
    let snippets = snippets(BRIEF).into_iter().filter(|(_, _, compiles)| !compiles);
    named
        .chain(snippets.map(|(name, code, _)| HardInput::of_code(&format!("a brief snippet: {name}"), &code)))
        .collect()
}

/// Programs that send or receive much.
fn programs(Sizes { answer, output, .. }: Sizes) -> [(&'static str, String); 6] {
    let text = |bytes: usize| format!("\"x\\n\".repeat({})", bytes / 3);
    [
        ("a long result", text(answer)),
        ("a result of many numbers", format!("vec![12345.5; {}]", answer / 8)),
        ("much output", format!("print!(\"{{}}\", \"é\\n\".repeat({})); 1", output / 3)),
        ("much content", format!("for _ in 0..15 {{ emit({}); }} 1", text(answer / 16))),
        ("long arguments", format!("faulty::echo().message({}).await.map(|_| 1).unwrap_or(0)", text(answer))),
        ("a long answer", format!("faulty::echo().message(\"answer 1 {answer}\").await?.text().len()")),
    ]
}

/// JSON values of up to this many bytes.
fn lists(bytes: usize) -> Vec<(&'static str, String)> {
    let deep = format!("{}1{}", "[".repeat(60), "]".repeat(60));
    vec![
        ("numbers", list_of("1234567890.12345678901", bytes)),
        ("many small numbers", list_of("1", bytes)),
        ("nested lists", list_of(&deep, MANY_VALUES.min(bytes))),
        ("texts with escapes", list_of(r#""\u00e9\ud83d\ude00\n a text of some words""#, bytes)),
        ("members", members(bytes)),
        ("the corpus of the fuzz target", list_of(&corpus(), bytes / 5)),
    ]
}

/// A list that repeats a part.
fn list_of(part: &str, bytes: usize) -> String {
    format!("[{}]", repeated(&format!("{part},"), bytes).trim_end_matches(','))
}

/// An object with many names.
fn members(bytes: usize) -> String {
    let mut count = 0;
    let member = repeat_with(|| {
        count += 1;
        format!(r#""a name of a member {count:>20}":"x""#)
    });
    format!("{{{}}}", member.take(bytes / 50).collect::<Vec<_>>().join(","))
}

/// The values among the inputs of the fuzz target that a request may have in a list.
fn corpus() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/arguments");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.sort();
    // Their names say what is wrong with them, or that a list would be too much.
    let is_refused =
        |file: &Path| ["twice", "deep", "underflow"].iter().any(|word| file.to_string_lossy().contains(word));
    let texts =
        files.iter().filter(|file| !is_refused(file)).filter_map(|file| fs::read_to_string(file).ok());
    let values: Vec<String> = texts.filter(|text| serde_json::from_str::<Value>(text).is_ok()).collect();
    assert!(values.len() > 5, "{values:?}");
    values.join(",")
}

/// Snippets, and whether the compiler gets them.
fn snippets(bytes: usize) -> [(&'static str, String, bool); 4] {
    let statements = repeated("let x = (1 + 2) * 3;\n", bytes);
    [
        ("a syntax error at the end", format!("{statements})"), false),
        ("another language", repeated("def f(x): return [x for x in range(10)]\n", bytes), false),
        ("one text", format!("\"{}\".len()", repeated("ab\\n", bytes)), true),
        ("statements", statements, true),
    ]
}

fn repeated(part: &str, bytes: usize) -> String {
    part.repeat(bytes / part.len())
}

impl HardInput {
    fn new(name: &str, tool: &str, arguments: &str) -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": { "name": "hard", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","_meta":{meta},"arguments":{arguments}}}}}"#
        );
        HardInput { name: name.to_owned(), compiles: false, tool: tool.to_owned(), body }
    }

    fn of_code(name: &str, code: &str) -> Self {
        HardInput::new(name, "execute_code", &json!({ "code": code }).to_string())
    }

    /// Sends it to a server at this authority; returns the response.
    ///
    /// # Errors
    /// If the connection breaks.
    pub fn send(&self, authority: &str) -> io::Result<String> {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {STATELESS}\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: {}\r\n",
            self.body.len(),
            self.tool
        );
        exchange(authority, &head, &self.body)
    }
}

/// The text of a response to `GET`.
///
/// # Errors
/// If the connection breaks.
pub fn get(authority: &str, path: &str) -> io::Result<String> {
    exchange(authority, &format!("GET {path} HTTP/1.1\r\n"), "")
}

/// The longest stay of the server's event loop since the last call, in seconds.
///
/// # Errors
/// If the server reports none.
pub fn longest_stay(authority: &str) -> io::Result<f64> {
    let text = get(authority, "/metrics")?;
    let value = text.lines().find_map(|line| line.strip_prefix("toolsmith_event_loop_longest_stay_seconds "));
    let value = value.and_then(|value| value.parse().ok());
    value.ok_or_else(|| io::Error::other(format!("no metric of the event loop: {text}")))
}

fn exchange(authority: &str, head: &str, body: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(authority)?;
    stream.write_all(format!("{head}Host: {authority}\r\nConnection: close\r\n\r\n{body}").as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The result of a tool in a response, for a test of the inputs themselves.
#[must_use]
pub fn result_of(response: &str) -> Option<Value> {
    let text = response.lines().rev().find_map(|line| {
        let line = line.strip_prefix("data:").unwrap_or(line).trim();
        serde_json::from_str::<Value>(line).ok().filter(Value::is_object)
    })?;
    text.get("result").cloned()
}
