//! `toolsmith ui`: whose requests are answered, what its pages show, and that nothing of a snippet becomes a script.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run};
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, Serve, Server};
use insta::assert_snapshot;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Client, Response, StatusCode};
use rustix::process::Signal;
use serde_json::Value;
use url::form_urlencoded;

/// Text that would be a script in a page.
const HOSTILE: &str = "<script>alert(1)</script>";

/// The beginning of an image of the format PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

/// A user's state with a page over its history.
pub(crate) struct Site {
    state: tempfile::TempDir,
    pub(crate) process: Server,
    client: Client,
    /// The address of the server, without a path.
    pub(crate) origin: String,
    /// The path that opens the page.
    ticket: String,
}

/// A page that was read.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    async fn of(response: Response) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        Answer { status, headers, body: response.bytes().await.unwrap().to_vec() }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}

/// The addresses that a process has printed.
fn announced(process: &Server) -> Vec<String> {
    let shown = process.stderr();
    let addresses = shown.lines().filter_map(|line| line.split_once("(works once): "));
    addresses.map(|(_, address)| address.trim().to_owned()).collect()
}

impl Site {
    fn start() -> Self {
        Site::of(Serve::in_folder(&["ui"]))
    }

    /// The page of a command that serves it.
    pub(crate) fn of(command: Serve) -> Self {
        let state = tempfile::tempdir().unwrap();
        let process = command.variable("XDG_STATE_HOME", state.path().to_str().unwrap()).start();
        process.wait_until("the address", || !announced(&process).is_empty());
        let address = announced(&process).remove(0);
        let (origin, ticket) = address.split_once("/open/").unwrap();
        // Fails if it is installed already.
        let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
        let client =
            Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let (origin, ticket) = (origin.to_owned(), format!("/open/{ticket}"));
        Site { state, process, client, origin, ticket }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Run {
        Run::new(shared())
            .variable("XDG_STATE_HOME", self.state.path().to_str().unwrap())
            .arguments(arguments)
    }

    pub(crate) fn run(&self, code: &str) -> FinishedRun {
        self.command(&["run", "-"]).input(code).config(DEMO).done()
    }

    fn latest(&self) -> String {
        self.latest_kept()["id"].as_str().unwrap().to_owned()
    }

    /// Everything that is kept of the latest execution. A server writes the first one behind its answer.
    pub(crate) fn latest_kept(&self) -> Value {
        let shown = || self.command(&["history", "show", "--json"]).done();
        self.process.wait_until("an execution in the history", || shown().status.success());
        serde_json::from_str(&shown().exits(0).stdout).unwrap()
    }

    async fn get(&self, path: &str, headers: &[(&'static str, &str)]) -> Answer {
        let mut request = self.client.get(format!("{}{path}", self.origin));
        for (name, value) in headers {
            request = request.header(*name, HeaderValue::from_str(value).unwrap());
        }
        Answer::of(request.send().await.unwrap()).await
    }

    /// Opens the page with the first address.
    pub(crate) async fn open(&self) -> Visitor {
        let answer = self.get(&self.ticket, &[]).await;
        assert_eq!(answer.status, StatusCode::OK);
        let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
        let text = answer.text();
        let to = text.split("0; url=").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let folder = to.strip_suffix("executions").unwrap().to_owned();
        Visitor { client: self.client.clone(), origin: self.origin.clone(), cookie, folder }
    }

    pub(crate) fn end(mut self) {
        self.process.signal(Signal::INT);
        assert_eq!(self.process.end(), Some(0));
    }
}

/// A browser that has the page open.
pub(crate) struct Visitor {
    client: Client,
    pub(crate) origin: String,
    cookie: String,
    folder: String,
}

impl Visitor {
    pub(crate) async fn get(&self, page: &str) -> Answer {
        let request = self.client.get(format!("{}{}{page}", self.origin, self.folder));
        Answer::of(request.header("cookie", &self.cookie).send().await.unwrap()).await
    }

    /// Sends a form with this origin, and the token of a page.
    pub(crate) async fn post(&self, to: &str, origin: &str, fields: &[(&str, &str)]) -> Answer {
        let request = self.client.post(format!("{}{}{to}", self.origin, self.folder));
        let request = request.header("cookie", &self.cookie).header("origin", origin);
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(form);
        Answer::of(request.send().await.unwrap()).await
    }

    pub(crate) async fn page(&self, page: &str) -> String {
        let answer = self.get(page).await;
        assert_eq!(answer.status, StatusCode::OK, "{page}: {}", answer.text());
        answer.text()
    }
}

#[track_caller]
pub(crate) fn contains(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "{part} is not in {page}");
    }
}

#[tokio::test]
async fn the_page_is_only_for_the_browser_that_opened_it() {
    let site = Site::start();
    let visitor = site.open().await;
    let list = format!("{}executions", visitor.folder);
    contains(&visitor.page("executions").await, &["No executions are kept yet."]);
    let refused = StatusCode::FORBIDDEN;
    assert_eq!(site.get(&site.ticket, &[]).await.status, refused, "the address works once");
    assert_eq!(site.get(&list, &[]).await.status, refused);
    assert_eq!(site.get(&list, &[("cookie", "toolsmith-ui=0")]).await.status, refused);
    let cookie = ("cookie", visitor.cookie.as_str());
    for wrong in [
        ("host", "rebound.example"),
        ("host", "127.0.0.1"),
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        assert_eq!(site.get(&list, &[cookie, wrong]).await.status, refused, "{wrong:?}");
    }
    for right in [("origin", site.origin.as_str()), ("sec-fetch-site", "same-origin")] {
        assert_eq!(site.get(&list, &[cookie, right]).await.status, StatusCode::OK, "{right:?}");
    }
    let posted = site.client.post(format!("{}{list}", site.origin)).header("cookie", &visitor.cookie);
    assert_eq!(posted.send().await.unwrap().status(), StatusCode::METHOD_NOT_ALLOWED);
    site.process.wait_until("another address", || announced(&site.process).len() == 2);
    let second = announced(&site.process).remove(1);
    let second = second.strip_prefix(&site.origin).unwrap();
    assert_eq!(site.get(second, &[]).await.status, StatusCode::OK);
    contains(&visitor.page("executions").await, &["No executions are kept yet."]);
    site.end();
}

#[test]
fn the_page_is_not_for_other_machines() {
    let run = Run::new(shared()).arguments(&["ui", "--address", "0.0.0.0:0"]);
    assert_snapshot!(normal(&run.done().exits(2).stderr), @r"
    toolsmith: 0.0.0.0:0 can be reached from other machines, and the page is for this machine only
    help: use a loopback address, such as --address 127.0.0.1:[port]
    ");
}

#[tokio::test]
async fn every_answer_has_a_policy_that_lets_only_its_own_files_run() {
    let site = Site::start();
    let visitor = site.open().await;
    let pages = [
        "executions",
        "savings",
        "questions",
        "compare",
        "execution?id=a",
        "nothing",
        "style.css",
        "script.js",
    ];
    for page in pages {
        let answer = visitor.get(page).await;
        let policy = answer.header("content-security-policy");
        contains(
            policy,
            &["default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'"],
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), value, "{page}");
        }
    }
    let page = visitor.page("executions").await;
    for inline in [" style=", " onclick=", "javascript:", "<style"] {
        assert!(!page.contains(inline), "{inline}");
    }
    assert_eq!(page.matches("<script").count(), 1);
    site.end();
}

#[tokio::test]
async fn an_execution_is_shown_with_its_timeline_calls_and_output() {
    let site = Site::start();
    let visitor = site.open().await;
    let before = visitor.page("version").await;
    let code = "// Fifty orders\nlet calls = (1..=50).map(|n| async move { demo::list_orders().limit(n).await });\n\
                let all = futures::future::join_all(calls).await;\nprintln!(\"printed\");\nall.len()";
    site.run(code).exits(0);
    assert_ne!(visitor.page("version").await, before);
    let id = site.latest();
    let list = visitor.page("executions").await;
    contains(
        &list,
        &["1 in all.", &format!("execution?id={id}"), "Fifty orders", "demo.list_orders", "data-live"],
    );
    let page = visitor.page(&format!("execution?id={}", &id[..6])).await;
    let parts = [
        "running</span>",
        "compiling",
        "id=\"call-49\"",
        "printed",
        "demo.list_orders",
        "Sandbox",
        "seccomp",
        "Manifest",
    ];
    contains(&page, &parts);
    contains(
        &page,
        &["<span class=\"keyword\">let</span>", "<span class=\"comment\">// Fifty orders</span>"],
    );
    assert_eq!(page.matches("<summary class=\"row\" id=\"call-").count(), 50);
    contains(&page, &["demo.list_orders</bdi> <strong>×50</strong>", "50 different arguments"]);
    // The missing parts, with the line that keeps it.
    contains(
        &page,
        &[
            "The arguments and results of these calls are not kept",
            "history: { recordings: true }",
            "config.yaml",
        ],
    );
    let zoomed = visitor.page(&format!("execution?id={id}&from=1&to=2.5")).await;
    contains(&zoomed, &["1.00 ms to 2.50 ms of ", "id=\"zoom-all\" href="]);
    assert_eq!(visitor.get(&format!("execution?id={id}&from=soon")).await.status, StatusCode::BAD_REQUEST);
    let json = visitor.get(&format!("json?id={id}")).await;
    assert_eq!(json.header("content-disposition"), "attachment");
    let shown = site.command(&["history", "show", "--json", &id]).done().exits(0).stdout;
    let (json, shown): (Value, Value) =
        (serde_json::from_slice(&json.body).unwrap(), serde_json::from_str(&shown).unwrap());
    assert_eq!(json, shown);
    contains(&visitor.page("savings").await, &["In 1 execution with 50 calls", "<rect", "direct calls"]);
    assert_eq!(visitor.get("execution?id=zzz").await.status, StatusCode::NOT_FOUND);
    assert_eq!(visitor.get("execution").await.status, StatusCode::BAD_REQUEST);
    site.end();
}

#[tokio::test]
async fn arguments_and_results_of_recorded_calls_are_shown() {
    let site = Site::start();
    let visitor = site.open().await;
    let code = format!(
        "for text in [\"one\", \"{HOSTILE}\"] {{ demo::echo(text).await?; }}\ndemo::list_orders().limit(1).await?.orders.len()"
    );
    let config = |history: &str| format!("{DEMO}history: {{ {history} }}\n");
    let run = async |history: &str| {
        site.command(&["run", "-"]).input(&code).config(&config(history)).done().exits(0);
        visitor.page(&format!("execution?id={}", site.latest())).await
    };
    let recorded = run("recordings: true").await;
    contains(
        &recorded,
        &[
            "{&quot;message&quot;:&quot;one&quot;}",
            "aria-label=\"Result\"><bdi>one</bdi>",
            "aria-label=\"Result\"><bdi>&lt;script&gt;",
            "{&quot;limit&quot;:1}",
            "&quot;id&quot;: &quot;o-1001&quot;",
        ],
    );
    assert!(!recorded.contains("not kept") && recorded.matches("<script").count() == 1, "{recorded}");
    let full = run("arguments: full").await;
    contains(&full, &["{&quot;limit&quot;:1}", "The results of these calls are not kept"]);
    assert!(!full.contains("o-1001"), "{full}");
    site.end();
}

#[tokio::test]
async fn executions_are_filtered_and_compared() {
    let site = Site::start();
    let visitor = site.open().await;
    site.run("demo::list_orders().limit(1).await?.orders.len()").exits(0);
    let first = site.latest();
    site.run("demo::list_orders().limit(2).await?.orders.len()").exits(0);
    let second = site.latest();
    site.run("let a = 1;\nno_such_name").exits(3);
    let failed = site.latest();
    let list = visitor.page("executions?status=compile_error").await;
    assert!(list.contains(&failed) && !list.contains(&first), "{list}");
    let list = visitor.page("executions?tool=demo.list_orders&text=").await;
    contains(&list, &["2 in all.", &first, &second]);
    contains(&list, &["Filter: <bdi>tool demo.list_orders</bdi>", "All executions"]);
    contains(&visitor.page("executions?text=unmistakable").await, &["No execution fits."]);
    contains(&visitor.page("executions?since=2999-01-01").await, &["No execution fits."]);
    assert_eq!(visitor.get("executions?since=yesterday").await.status, StatusCode::BAD_REQUEST);
    let page = visitor.page(&format!("execution?id={failed}")).await;
    let (line, message) = (page.find("line-2\"").unwrap(), page.find("error E0425").unwrap());
    assert!(line < message && page.contains("cannot find value"), "{page}");
    let compared = visitor.page(&format!("compare?of={second}&of={first}")).await;
    contains(
        &compared,
        &["-demo::list_orders().limit(1)", "+demo::list_orders().limit(2)", "demo.list_orders"],
    );
    assert_eq!(visitor.get(&format!("compare?of={first}")).await.status, StatusCode::BAD_REQUEST);
    site.end();
}

#[tokio::test]
async fn nothing_of_a_snippet_is_a_script_in_a_page() {
    let site = Site::start();
    let visitor = site.open().await;
    let svg = STANDARD.encode(format!("<svg xmlns='http://www.w3.org/2000/svg'>{HOSTILE}</svg>"));
    let png = STANDARD.encode(PNG);
    let code = format!(
        "// {HOSTILE}\nprintln!(\"{HOSTILE}\");\neprintln!(\"\\u{{202e}}{HOSTILE}\");\n\
         emit(Content::image({svg:?}, \"image/svg+xml\"));\nemit(Content::image({png:?}, \"image/png\"));\n\
         Err::<(), _>(anyhow!(\"{HOSTILE}\"))"
    );
    site.run(&code).exits(1);
    let id = site.latest();
    for page in ["executions".to_owned(), format!("execution?id={id}"), format!("compare?of={id}&of={id}")] {
        let page = visitor.page(&page).await;
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        assert!(page.contains("&lt;script&gt;") && !page.contains('\u{202e}'), "{page}");
    }
    let page = visitor.page(&format!("execution?id={id}")).await;
    contains(
        &page,
        &["A part that is not shown: <bdi>image/svg+xml</bdi>", &format!("image?id={id}&amp;part=1")],
    );
    let svg = visitor.get(&format!("image?id={id}&part=0")).await;
    assert_eq!(svg.status, StatusCode::NOT_FOUND);
    let png = visitor.get(&format!("image?id={id}&part=1")).await;
    assert_eq!((png.status, png.header("content-type")), (StatusCode::OK, "image/png"));
    assert_eq!(png.body, PNG);
    contains(png.header("content-security-policy"), &["default-src 'none'; sandbox"]);
    site.end();
}
