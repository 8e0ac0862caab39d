//! Typical mistakes: each message says what is wrong, where, and what to do, in a few lines.

use std::fmt::Write as _;
use std::fs;

use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, FinishedRun, Run};
use end_to_end::page::{Page, normal};
use end_to_end::services::Service;
use tempfile::TempDir;

/// Maximum number of lines of a message, without the excerpts of files and signatures.
const LINES: usize = 5;

/// Beginnings of a clause that says what to do.
const ADVICE: [&str; 23] = [
    "write ",
    "check ",
    "correct ",
    "keep ",
    "set ",
    "raise ",
    "install ",
    "create ",
    "did you mean ",
    "add ",
    "indent ",
    "close ",
    "put ",
    "mark it ",
    "handle ",
    "hold less ",
    "call a tool",
    "if you ",
    "remove ",
    "use ",
    "run ",
    "start ",
    "compute less",
];

/// Phrases that name the values that are right.
const RIGHT: [&str; 5] = [
    ", such as ",
    " must have ",
    " is more than the maximum ",
    "arguments were not provided:",
    ": expected `",
];

const DEMO: &str = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], trust: true }\n";

/// Mistakes with their messages, in a folder of their own.
struct Mistakes {
    page: Page,
    folder: TempDir,
    wrong: String,
    count: usize,
}

impl Mistakes {
    fn new(subject: &'static str) -> Self {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        fs::create_dir_all(folder.path().join("home/toolsmith")).unwrap();
        let mistakes = Mistakes { page: Page::new(subject), folder, wrong: String::new(), count: 0 };
        // One second of processor time, for the endless loop.
        let config = format!("{DEMO}codeMode: {{ sandbox: {{ cpu: 1 }} }}\n");
        mistakes.write("home/toolsmith/config.yaml", &config);
        mistakes
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let home = self.folder.path().join("home");
        let run = Run::new(shared()).arguments(arguments).working_folder(self.folder.path());
        run.variable("XDG_CONFIG_HOME", home.to_str().unwrap())
    }

    /// Adds what a run of a mistake prints, and checks its form.
    fn add(&mut self, title: &str, run: Run) {
        let done = run.done();
        self.check_form(title, &done);
        self.page.ended(title, &done);
        self.count += 1;
    }

    fn check_form(&mut self, title: &str, done: &FinishedRun) {
        let text = normal(&format!("{}\n{}", done.stdout, done.stderr));
        let lines: Vec<&str> = text.lines().filter(|line| is_of_message(line)).collect();
        let mut complain = |what: &str| writeln!(self.wrong, "{title}: {what}:\n{text}").unwrap();
        if done.code() == 0 {
            complain("it succeeds");
        }
        if lines.is_empty() || lines.len() > LINES {
            complain(&format!("{} lines", lines.len()));
        }
        if !lines.iter().any(|line| has_advice(line)) {
            complain("nothing says what to do");
        }
    }

    /// A command line.
    fn command(&mut self, arguments: &[&str]) {
        self.add(&format!("toolsmith {}", arguments.join(" ")), self.run(arguments));
    }

    /// A configuration.
    fn configuration(&mut self, title: &str, text: &str) {
        self.write("toolsmith.yaml", text);
        self.add(title, self.run(&["config", "check", "toolsmith.yaml"]));
    }

    /// A snippet, with the demo server.
    fn snippet(&mut self, title: &str, code: &str) {
        let run = self.run(&["run", "-"]).input(code);
        self.add(&with_code(title, code), run);
    }

    /// A snippet whose own logic fails: the message says what and where, because only its author knows what to do.
    fn failure(&mut self, title: &str, code: &str) {
        let done = self.run(&["run", "-"]).input(code).done().exits(1);
        if !done.stderr.contains("line ") {
            writeln!(self.wrong, "{title}: no place:\n{}", done.stderr).unwrap();
        }
        self.page.ended(&with_code(title, code), &done);
        self.count += 1;
    }

    /// A server's entry.
    fn server(&mut self, title: &str, entry: &str) {
        self.write("given.yaml", &format!("mcpServers:\n  shop: {entry}\n"));
        self.add(title, self.run(&["mcp", "test", "shop", "--quiet", "--config", "given.yaml"]));
    }

    #[track_caller]
    fn check(self, count: usize) {
        assert!(self.wrong.is_empty(), "{}", self.wrong);
        assert!(self.count >= count, "only {} mistakes", self.count);
        self.page.check();
    }
}

/// A title, and the code that it is about.
fn with_code(title: &str, code: &str) -> String {
    format!("{title}\n\n    {}", code.replace('\n', "\n    "))
}

/// Whether a line says what to do or what is right.
fn has_advice(line: &str) -> bool {
    let is_whole =
        ["help: ", "tip: ", "[possible values: "].iter().any(|start| line.trim_start().starts_with(start));
    let mut clauses = ["; ", ": ", " ("].into_iter().flat_map(|mark| line.split(mark).skip(1));
    is_whole
        || RIGHT.iter().any(|phrase| line.contains(phrase))
        || clauses.any(|clause| ADVICE.iter().any(|advice| clause.starts_with(advice)))
}

/// Whether a line belongs to the message: not to an excerpt of a file, a list of signatures, or quoted output.
fn is_of_message(line: &str) -> bool {
    let start = line.trim_start();
    let number = start.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_excerpt = start.starts_with("--> ") || start.starts_with('|') || number.starts_with(" | ");
    !start.is_empty() && !is_excerpt && !line.starts_with("      ") && start != "|"
}

#[test]
fn mistakes_in_commands() {
    let mut mistakes = Mistakes::new("mistakes-commands");
    mistakes.write("one.rs", "1");
    mistakes.write("list.json", "[1]");
    fs::write(mistakes.folder.path().join("latin.rs"), b"\"caf\xe9\"").unwrap();
    fs::create_dir(mistakes.folder.path().join("folder")).unwrap();
    let lines: [&[&str]; 62] = [
        &["rum", "one.rs"],
        &["one.rs"],
        &["run"],
        &["run", "absent.rs"],
        &["run", "folder"],
        &["run", "latin.rs"],
        &["run", "one.rs", "city=Uppsala"],
        &["run", "one.rs", "--arg", "Uppsala"],
        &["run", "-e", "1 + 1"],
        &["run", "one.rs", "--jsn"],
        &["run", "one.rs", "--timeout", "soon"],
        &["run", "one.rs", "--config", "absent.yaml"],
        &["run", "--crate", "folder"],
        &["mcp", "call", "list_orders"],
        &["mcp", "call", "demo", "list_orders"],
        &["mcp", "call", "demo.list_order"],
        &["mcp", "call", "dem.list_orders"],
        &["mcp", "call", "demo.get_customer"],
        &["mcp", "call", "demo.get_customer", "c-01"],
        &["mcp", "call", "demo.get_customer", "id:=1"],
        &["mcp", "call", "demo.get_customer", "ids=c-01"],
        &["mcp", "add", "shop"],
        &["mcp", "add", "my shop", "--", "x"],
        &["mcp", "remove", "absent"],
        &["mcp", "import"],
        &["mcp", "login", "demo"],
        &["serve", "--http", "8080"],
        &["trust", "folder"],
        &["mcp", "tool", "demo"],
        &["mcp", "tools", "dem"],
        &["mcp", "test", "dem"],
        &["mcp", "call", "demo.echo", "--args", "{message:hi}"],
        &["mcp", "call", "demo.echo", "--args", "[1]"],
        &["mcp", "call", "demo.echo", "message:=hi"],
        &["mcp", "call", "demo.echo", "message=a", "message=b"],
        &["mcp", "enable", "absent"],
        &["mcp", "add", "shop", "--url", "nowhere"],
        &["mcp", "add", "shop", "--url", "https://x.example", "--header", "X-Key: abc"],
        &["mcp", "add", "shop", "-y", "npx"],
        &["mcp", "import", "list.json"],
        &["mcp", "import", "--from", "emacs"],
        &["setup", "emacs"],
        &["program", "run", "absent"],
        &["program", "delete", "absent"],
        &["history", "show", "1234"],
        &["run", "--replay", "1234"],
        &["conversation", "delete", "absent"],
        &["chat"],
        &["ask"],
        &["ask", "Hello?"],
        &["ask", "Hello?", "--model", "opus"],
        &["explain", "E9999"],
        &["explain", "nonsense"],
        &["config", "sho"],
        &["secret", "set", "TOKEN"],
        &["cache", "clear"],
        &["cache", "prune", "--older-than", "30"],
        &["codegen", "--server", "absent"],
        &["codegen", "--tools", "list.json"],
        &["serve", "--http", "0.0.0.0:8080"],
        &["stats", "--since", "soon"],
        &["trust", "absent"],
    ];
    for line in lines {
        mistakes.command(line);
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    mistakes.add("a port in use", mistakes.run(&["serve", "--http", &address]));
    let file = mistakes.folder.path().join("one.rs");
    let run = mistakes.run(&["run", "-"]).input("1").variable("TOOLSMITH_CACHE_DIR", file.to_str().unwrap());
    mistakes.add("a cache folder that is a file", run);
    mistakes.check(64);
}

#[test]
fn mistakes_in_configurations() {
    let mut mistakes = Mistakes::new("mistakes-configuration");
    let entry = |entry: &str| format!("mcpServers:\n  shop: {entry}\n");
    for (title, text) in [
        ("a key with a typing error", &entry("{ comand: x }")),
        ("a key of another client", &entry("{ command: x, includeTools: [a] }")),
        ("a section of another client", &"servers:\n  shop: { command: x }\n".to_owned()),
        ("a text instead of a number", &entry("{ command: x, timeout: soon }")),
        ("a text instead of a list", &entry("{ command: npx, args: \"-y shop-mcp\" }")),
        ("a list instead of a mapping", &"mcpServers:\n  - { name: shop, command: x }\n".to_owned()),
        ("an unknown permission", &entry("{ command: x, permission: yes }")),
        ("neither a command nor a URL", &entry("{ trust: true }")),
        ("a command and a URL", &entry("{ command: x, url: \"https://shop.example/mcp\" }")),
        ("a URL without a scheme", &entry("{ url: localhost:8080/mcp }")),
        ("two filters", &entry("{ command: x, enabledTools: [a], disabledTools: [b] }")),
        ("a variable that is not set", &entry("{ command: x, env: { TOKEN: \"${NO_SUCH_TOKEN}\" } }")),
        ("the same server twice", &format!("{}  shop: {{ command: y }}\n", entry("{ command: x }"))),
        ("a tab", &"mcpServers:\n\tshop: { command: x }\n".to_owned()),
        ("an open bracket", &entry("{ command: x")),
        ("a grant of a missing path", &format!("{DEMO}codeMode: {{ sandbox: {{ read: [/nowhere] }} }}\n")),
        ("a negative time", &entry("{ command: x, timeout: -1 }")),
        ("a list as command", &entry("{ command: [npx, -y, shop-mcp] }")),
        ("headers for a command", &entry("{ command: x, headers: { X-Key: a } }")),
        ("a variable that is not closed", &entry("{ command: x, env: { A: \"${HOME\" } }")),
        ("an unknown kind of session", &entry("{ command: x, session: sharde }")),
        ("a name with a space", &"mcpServers:\n  my shop: { command: x }\n".to_owned()),
        ("a missing space", &"mcpServers:\n  shop: { command:x }\n".to_owned()),
        ("a quotation that is not closed", &"mcpServers:\n  shop: { command: \"x }\n".to_owned()),
        ("servers that are not indented", &"mcpServers:\nshop: { command: x }\n".to_owned()),
        ("a model without an id", &"models: [{ ref: opus, type: anthropic }]\n".to_owned()),
        ("an unknown provider", &"models: [{ ref: opus, id: x, type: antropic }]\n".to_owned()),
        ("too little memory", &format!("{DEMO}codeMode: {{ sandbox: {{ memory: 512 }} }}\n")),
    ] {
        mistakes.configuration(title, text);
    }
    mistakes.add("a project that is not trusted", mistakes.run(&["mcp", "list"]));
    let models = "models: [{ ref: opus, id: x, type: anthropic, api_key_env: NO_SUCH_KEY }]\n";
    for (title, model) in [("an unknown model", "opsu"), ("a model without its key", "opus")] {
        mistakes.write("model.yaml", &format!("{DEMO}{models}defaults: {{ model: {model} }}\n"));
        mistakes.add(title, mistakes.run(&["ask", "Hello?", "--config", "model.yaml"]));
    }
    mistakes.check(31);
}

#[test]
fn mistakes_in_snippets() {
    let mut mistakes = Mistakes::new("mistakes-snippets");
    for (title, code) in [
        ("an unknown tool", "demo::list_order().await?"),
        ("an unknown module", "dmeo::list_orders().await?"),
        ("an unknown crate", "reqwest::get(\"https://example.com\").await?;"),
        ("a missing argument", "demo::get_customer().await?"),
        ("an argument of another type", "demo::get_customer(1).await?"),
        ("a named argument", "demo::list_orders(limit: 10).await?"),
        ("an unknown field", "demo::get_customer(\"c-01\").await?.mail"),
        ("Python", "```python\norders = await demo.list_orders()\nprint(len(orders))\n```"),
        ("another language", "```toml\na = 1\n```"),
        ("no code", "// nothing yet"),
        ("a value that is not JSON", "struct A;\nA"),
        ("a wrong argument at run time", "demo::list_orders().limit(1_000).await?"),
        ("an endless loop", "loop {}"),
        ("a text for a number", "demo::list_orders().limit(\"10\").await?"),
        ("an unknown optional argument", "demo::list_orders().page(2).await?"),
        (
            "an unknown field in a closure",
            "demo::list_orders().await?.orders.iter().map(|o| o.total).sum::<i64>()",
        ),
        ("a value after its move", "let a = demo::list_orders().await?; let b = a; a.orders.len()"),
        ("an output that can't be printed", "println!(\"{}\", demo::get_customer(\"c-01\").await?)"),
        ("an argument by index", "args[\"city\"].to_string()"),
        ("the tools of another language", "tools.demo.list_orders()"),
        ("a snippet in a snippet", "execute_code(\"1\")"),
        ("JavaScript", "const orders = await demo.list_orders();\nconsole.log(orders.length);"),
        ("a brace that is not closed", "for o in demo::list_orders().await?.orders { println!(\"{}\", o.id)"),
        ("a file", "std::fs::read_to_string(\"/etc/passwd\")?"),
        ("the network", "std::net::TcpStream::connect(\"192.0.2.1:80\")?; 1"),
        ("too much memory", "let v: Vec<u8> = vec![0; 3_000_000_000]; v.len()"),
    ] {
        mistakes.snippet(title, code);
    }
    for (title, code) in [
        ("a customer that does not exist", "demo::get_customer(\"c-99\").await?"),
        ("a missing argument of the run", "args.require(\"city\")?"),
        ("an index that does not exist", "demo::list_orders().await?.orders[100].id.clone()"),
        ("a text that is no number", "let x: u32 = \"a\".parse()?; x"),
        ("a variable of the environment", "std::env::var(\"HOME\")?"),
        ("a panic", "panic!(\"no orders\")"),
    ] {
        mistakes.failure(title, code);
    }
    let entries =
        "mcpServers:\n  shop: { command: x, enabled: false }\n  gone: { command: no-such-mcp-server }\n";
    mistakes
        .write("others.yaml", &format!("{entries}  demo: {{ command: toolsmith, args: [demo-server] }}\n"));
    for (title, code) in [
        ("a server that is disabled", "shop::find(\"a\").await?"),
        ("a server that does not start", "gone::find(\"a\").await?"),
        ("a name like that of a server that does not start", "gon::find(\"a\").await?"),
    ] {
        let run = mistakes.run(&["run", "-", "-q", "--config", "others.yaml"]).input(code);
        mistakes.add(&with_code(title, code), run);
    }
    let denied = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server] }\n";
    mistakes.write("ask.yaml", denied);
    let run =
        mistakes.run(&["run", "-", "-q", "--config", "ask.yaml"]).input("demo::echo(\"a\").await?.text()");
    mistakes.add("a tool that needs permission", run);
    mistakes.check(36);
}

#[test]
fn mistakes_with_servers() {
    let mut mistakes = Mistakes::new("mistakes-servers");
    let fault = |mode: &str, more: &str| format!("{{ command: {FAULT_SERVER:?}, args: [{mode}]{more} }}");
    let demo = Service::demo();
    let elsewhere = demo.first.trim().replace("/mcp", "/elsewhere");
    for (title, entry) in [
        ("a command that is not installed", "{ command: no-such-mcp-server }".to_owned()),
        ("a whole command line as command", "{ command: \"no-such-mcp-server --fast\" }".to_owned()),
        ("a path without a file", "{ command: /nowhere/server }".to_owned()),
        ("a missing folder", "{ command: x, cwd: /nowhere }".to_owned()),
        ("a program that is no server", "{ command: \"true\" }".to_owned()),
        ("a server that ends", fault("exits-at-once", "")),
        ("a server that does not answer", fault("silent-initialize", ", timeout: 1")),
        ("a closed port", "{ url: \"http://127.0.0.1:1/mcp\" }".to_owned()),
        ("a path that is not MCP", format!("{{ url: {elsewhere:?} }}")),
        ("a server that is disabled", "{ command: x, enabled: false }".to_owned()),
    ] {
        mistakes.server(title, &entry);
    }
    let empty = mistakes.folder.path().join("empty");
    let run = mistakes.run(&["run", "-", "-q"]).input("1").variable("PATH", "");
    let run = run.variable("RUSTUP_HOME", empty.to_str().unwrap()).variable("HOME", empty.to_str().unwrap());
    mistakes.add("no Rust compiler", run.variable("TOOLSMITH_CACHE_DIR", empty.to_str().unwrap()));
    mistakes.check(11);
}
