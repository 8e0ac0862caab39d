//! Fuzz target `oauth`: a login keeps its secrets for any response of the server and of authorization servers
//! (metadata, registrations, tokens, challenges).
//!
//! Ordinary tests run it as well: see `crates/mcp/tests/oauth_metadata.rs`.

use mcp::OAuth;
use mcp::rehearsal::{Answer, Rehearsed, Request, rehearse};
use url::Url;

/// The server to log in to.
const SERVER: &str = "https://mcp.example/mcp";

/// The code that the browser returns.
const CODE: &str = "code-of-the-browser-1";

/// Separates the parts of an input.
pub const BREAK: &[u8] = b"\n%%\n";

/// Limit on an error's length, in characters: it quotes servers only briefly.
const MAX_ERROR: usize = 2_000;

/// Requests beyond the given answers: each step of the login and of the renewal may make one that gets no answer.
const MAX_UNANSWERED: usize = 8;

/// Splits an input: first the challenge, then one answer per part, whose first line is its status and the address of a
/// redirect.
fn parsed(data: &[u8]) -> (String, Vec<Answer>) {
    let mut parts = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(BREAK.len()).position(|window| window == BREAK) {
        parts.push(&rest[..at]);
        rest = &rest[at + BREAK.len()..];
    }
    parts.push(rest);
    let challenge = String::from_utf8_lossy(parts[0]).into_owned();
    (challenge, parts[1..].iter().map(|part| answer(part)).collect())
}

fn answer(part: &[u8]) -> Answer {
    let end = part.iter().position(|byte| *byte == b'\n').unwrap_or(part.len());
    let head = String::from_utf8_lossy(&part[..end]).into_owned();
    let (status, location) = head
        .split_once(' ')
        .map_or((head.as_str(), None), |(status, location)| (status, Some(location.to_owned())));
    // An invalid status becomes 200, so that the body is read.
    let status = status.parse().ok().filter(|status| (100..600).contains(status)).unwrap_or(200);
    Answer { status, location, body: part.get(end + 1..).unwrap_or_default().to_vec() }
}

/// Logs in and renews with these answers: nothing panics, and secrets go only to the login's token endpoint, over
/// HTTPS, never elsewhere or into an error.
///
/// # Panics
/// If that does not hold.
pub fn oauth(data: &[u8]) -> Rehearsed {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime can be built");
    }
    let (challenge, answers) = parsed(data);
    let count = answers.len();
    let challenge = (!challenge.is_empty()).then_some(challenge);
    let settings = OAuth::default();
    let rehearsal = rehearse(SERVER, &settings, challenge.as_deref(), CODE, answers);
    let rehearsed = RUNTIME.with(|runtime| runtime.block_on(rehearsal)).expect("the address is valid");

    let requests = rehearsed.login.len() + rehearsed.renewal.len();
    assert!(requests <= count + MAX_UNANSWERED, "{requests} requests for {count} answers");
    for request in rehearsed.login.iter().chain(&rehearsed.renewal) {
        check(request, &rehearsed);
    }
    if let Some(address) = &rehearsed.address {
        assert_eq!(Url::parse(address).expect("a valid address").scheme(), "https", "{address}");
    }
    if let Some(error) = &rehearsed.error {
        assert!(error.chars().count() <= MAX_ERROR, "{error}");
        assert!(!error.contains(CODE), "{error}");
    }
    rehearsed
}

fn check(request: &Request, rehearsed: &Rehearsed) {
    let all = format!("{}\n{}\n{}", request.url, request.headers, request.body);
    let token = rehearsed.token.as_deref().filter(|token| token.starts_with("secret-") && token.len() > 16);
    assert!(token.is_none_or(|token| !all.contains(token)), "an access token went to {}", request.url);
    let grants = ["grant_type=authorization_code", "grant_type=refresh_token"];
    let is_grant = grants.iter().any(|grant| request.body.contains(grant));
    assert!(is_grant || !all.contains(CODE), "the code went to {}", request.url);
    if !is_grant {
        return;
    }
    assert!(request.url.starts_with("https://"), "a grant went to {}", request.url);
    // A failed login has no token endpoint.
    if let Some(endpoint) = &rehearsed.token_endpoint {
        let normal = |text: &str| {
            let mut url = Url::parse(text).expect("it was sent to");
            url.set_fragment(None);
            url
        };
        assert_eq!(normal(endpoint), normal(&request.url), "a grant went elsewhere");
    }
}
