//! Logins, renewals and logouts against servers on loopback addresses, of which one misbehaves.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use serde_json::json;

use super::site::{Answer, Server, Site, resource_answer};
use super::*;

#[tokio::test]
async fn a_login_a_renewal_and_a_logout_stay_far_below_the_limits() {
    let site = Site::start(None).await;
    site.login().await.unwrap();
    assert!(site.requests() * 4 < LIMITS.requests, "{}", site.requests());
    assert!(site.renew().await.is_ok());
    assert!(site.logout().await);
    assert!(site.authority.requests.lock().last().unwrap().starts_with("POST /revoke"));
    assert_eq!(site.elsewhere.count(), 0);
}

/// The request that is redirected to another origin, and the error of the login.
#[tokio::test]
async fn no_request_of_a_login_follows_a_redirect_to_another_origin() {
    for (place, from) in [
        (
            "GET /.well-known/oauth-protected-resource/mcp",
            "RESOURCE/.well-known/oauth-protected-resource/mcp",
        ),
        ("GET /.well-known/oauth-authorization-server", "AUTHORITY/.well-known/oauth-authorization-server"),
        ("GET /mcp", "RESOURCE/mcp"),
        ("POST /register", "AUTHORITY/register"),
        ("POST /token", "AUTHORITY/token"),
    ] {
        for status in [301, 302, 303, 307, 308] {
            let to = "ELSEWHERE/somewhere?code=secret-code".to_owned();
            let site = Site::start(Some((place, Answer::Redirect(status, to)))).await;
            let error = site.login().await.unwrap_err();
            let expected = format!(
                "{from} redirects to ELSEWHERE/somewhere, which is not followed; configure the right endpoint under \
                 `oauth`"
            );
            assert_eq!(site.named(&error), expected, "{place} {status}");
            assert_eq!(site.elsewhere.count(), 0, "{place} {status}");
        }
    }
}

#[tokio::test]
async fn a_renewal_and_a_revocation_follow_no_redirect() {
    for (to, status) in [("ELSEWHERE/x", 307), ("AUTHORITY/moved", 307), ("AUTHORITY/token", 302)] {
        let mut site = Site::start(None).await;
        site.login().await.unwrap();
        // The same site, which redirects from now on.
        let renewal = Site::start(Some(("POST /token", Answer::Redirect(status, to.to_owned())))).await;
        let (folder, url) = (site.folder, site.resource.address.clone());
        let text = std::fs::read_to_string(folder.path().join("tokens.json")).unwrap();
        let moved = text
            .replace(&url, &renewal.resource.address)
            .replace(&site.authority.address, &renewal.authority.address);
        site = Site { folder, ..renewal };
        std::fs::write(site.folder.path().join("tokens.json"), moved).unwrap();
        let failed = site.renew().await.unwrap_err().to_string();
        let expected = format!(
            "its token can't be renewed: AUTHORITY/token redirects to {to}, which is not followed; configure the right \
             endpoint under `oauth`"
        );
        assert_eq!(site.named(&failed), expected);
        let sent = site.authority.requests.lock().iter().filter(|text| text.contains("refresh-1")).count();
        assert_eq!((sent, site.elsewhere.count()), (1, 0), "{to}");
    }
    for (to, status) in [("ELSEWHERE/x", 307), ("ELSEWHERE/x", 302), ("AUTHORITY/moved", 308)] {
        let site = Site::start(Some(("POST /revoke", Answer::Redirect(status, to.to_owned())))).await;
        site.login().await.unwrap();
        assert!(site.logout().await, "the tokens are removed all the same");
        let seen = site.authority.requests.lock();
        assert!(seen.last().unwrap().starts_with("POST /revoke"), "{to}");
        assert_eq!(site.elsewhere.count(), 0, "{to}");
    }
}

/// A redirect within an origin, and whether the login succeeds.
#[tokio::test]
async fn redirects_within_an_origin_are_followed_where_no_secret_is_sent() {
    for (place, status, to, is_followed) in [
        ("GET /.well-known/oauth-authorization-server", 302, "/moved", true),
        ("GET /.well-known/oauth-authorization-server", 307, "AUTHORITY/moved", true),
        ("POST /register", 307, "/moved", true),
        ("POST /register", 308, "AUTHORITY/moved", true),
        // It would become a request of another kind.
        ("POST /register", 302, "/moved", false),
        ("POST /token", 307, "/moved", false),
    ] {
        let site = Site::start(Some((place, Answer::Redirect(status, to.to_owned())))).await;
        let done = site.login().await;
        assert_eq!(done.is_ok(), is_followed, "{place} {status}: {done:?}");
        assert!(done.err().is_none_or(|error| error.contains("which is not followed")));
    }
}

/// The fault, and the error of the login.
#[tokio::test]
async fn answers_without_an_end_are_cut_off() {
    let discovery = "GET /.well-known/oauth-authorization-server";
    let at = "AUTHORITY/.well-known/oauth-authorization-server";
    let too_large = "has more than 1048576 bytes, the limit; configure other endpoints under `oauth`";
    for (place, answer, expected) in [
        (discovery, Answer::Endless, format!("the answer of {at} {too_large}")),
        ("POST /register", Answer::Endless, format!("the answer of AUTHORITY/register {too_large}")),
        ("POST /token", Answer::Endless, format!("the answer of AUTHORITY/token {too_large}")),
        (
            discovery,
            Answer::Redirect(302, "AUTHORITY/.well-known/oauth-authorization-server".to_owned()),
            format!("{at} redirects more than 5 times; configure the right endpoint under `oauth`"),
        ),
        (
            "POST /register",
            Answer::Redirect(307, "AUTHORITY/register".to_owned()),
            "AUTHORITY/register redirects more than 5 times; configure the right endpoint under `oauth`"
                .to_owned(),
        ),
    ] {
        let site = Site::start(Some((place, answer))).await;
        let error = site.login().await.unwrap_err();
        assert_eq!(site.named(&error), expected, "{place}");
    }
}

#[tokio::test]
async fn a_discovery_ends_when_its_time_is_over() {
    let stalls = ("GET /.well-known/oauth-authorization-server", Answer::Stalled);
    let mut site = Site::start(Some(stalls)).await;
    site.limits = Limits { time: Duration::from_millis(300), ..LIMITS };
    let error = site.login().await.unwrap_err();
    assert_eq!(
        site.named(&error),
        "AUTHORITY/.well-known/oauth-authorization-server did not answer within the 0.3 s for a discovery; try again \
         later, or configure its endpoints under `oauth`"
    );
}

/// A resource that names this many authorization servers, of which none exists.
async fn naming(count: usize, redirects: bool) -> Site {
    let mut site = Site::start(None).await;
    site.authority = Server::start(move |_, target| match target.matches("/x").count() {
        again @ 0..5 if redirects => {
            Answer::Redirect(302, format!("/x{}{}", "/x".repeat(again), &target[4..]))
        }
        _ => Answer::Status(404),
    })
    .await;
    let authority = site.authority.address.clone();
    site.resource = Server::start(move |own, target| match target {
        "GET /.well-known/oauth-protected-resource/mcp" => {
            let servers: Vec<String> = (0..count).map(|number| format!("{authority}/{number}")).collect();
            Answer::Json(json!({ "resource": format!("{own}/mcp"), "authorization_servers": servers }))
        }
        _ => Answer::Status(404),
    })
    .await;
    site
}

#[tokio::test]
async fn of_many_authorization_servers_few_are_tried() {
    let site = naming(20_000, false).await;
    let error = site.login().await.unwrap_err();
    let tried: Vec<String> = (0..MAX_CANDIDATES).map(|number| format!("AUTHORITY/{number}")).collect();
    assert_eq!(
        site.named(&error),
        format!(
            "no authorization server that its metadata names publishes how to log in (at most 8 are tried); configure \
             the endpoints under `oauth`; tried: {}",
            tried.join(", ")
        )
    );
    assert_eq!(site.authority.count(), 4 * MAX_CANDIDATES);
    assert!(site.requests() <= LIMITS.requests, "{}", site.requests());
    let later = format!("/{MAX_CANDIDATES}");
    assert!(!site.authority.requests.lock().iter().any(|request| request.contains(&later)));
}

#[tokio::test]
async fn a_discovery_ends_after_so_many_requests() {
    let site = naming(MAX_CANDIDATES, true).await;
    let error = site.login().await.unwrap_err();
    assert_eq!(
        error,
        "its authorization server was not found with 48 requests, the limit; configure its endpoints under `oauth`"
    );
    assert_eq!(site.requests(), LIMITS.requests);
}

#[tokio::test]
async fn a_discovery_ends_after_so_many_bytes() {
    let mut site = naming(MAX_CANDIDATES, false).await;
    let body = json!({ "x": "y".repeat(900_000) });
    site.authority = Server::start(move |_, _| Answer::Json(body.clone())).await;
    let authority = site.authority.address.clone();
    site.resource =
        Server::start(move |own, target| resource_answer(own, target, &format!("{authority}/a"))).await;
    site.limits = Limits { bytes: 2_000_000, ..LIMITS };
    let error = site.login().await.unwrap_err();
    assert_eq!(
        error,
        "the answers about its authorization server have more than 2000000 bytes, the limit; configure its endpoints \
         under `oauth`"
    );
    assert_eq!(site.authority.count(), 3);
}

/// The server, an address, and whether it may get secrets.
#[test]
fn secrets_go_over_https_or_from_loopback_to_loopback() {
    for (server, target, is_allowed) in [
        ("https://a.example/", "https://b.example/", true),
        ("https://a.example/", "http://b.example/", false),
        ("https://a.example/", "http://a.example/", false),
        ("https://a.example/", "http://127.0.0.1/", false),
        ("https://127.0.0.1/", "http://127.0.0.1/", true),
        ("http://127.0.0.1:1/", "http://127.0.0.1:2/", true),
        ("http://localhost/", "http://127.0.0.2/", true),
        ("http://app.localhost./", "http://LOCALHOST/", true),
        ("http://[::1]/", "http://127.0.0.1/", true),
        ("http://[::ffff:127.0.0.1]/", "http://[::1]/", true),
        ("http://127.0.0.1/", "http://10.0.0.1/", false),
        ("http://127.0.0.1/", "http://localhost.example/", false),
        ("http://127.0.0.1/", "http://notlocalhost/", false),
        ("http://127.0.0.1/", "https://b.example/", true),
        ("http://a.example/", "http://a.example/", false),
        ("http://10.0.0.1/", "http://10.0.0.1/", false),
        ("http://a.example/", "http://127.0.0.1/", false),
        ("http://127.0.0.1/", "ftp://127.0.0.1/", false),
        ("https://a.example/", "data:,", false),
    ] {
        let [parsed, to] = [server, target].map(|url| Url::parse(url).unwrap());
        assert_eq!(is_confidential(&to, &parsed), is_allowed, "{server} {target}");
    }
}

/// The server, the method, an address, and whether a request is refused before it is sent.
#[tokio::test]
async fn only_a_request_without_secrets_to_the_server_itself_may_be_plain() {
    struct Nowhere;
    impl Transport for Nowhere {
        fn send(
            &self,
            _: Request<Vec<u8>>,
        ) -> BoxFuture<'_, Result<Response<Vec<u8>>, OAuthHttpClientError>> {
            Box::pin(async { Ok(Response::new(Vec::new())) })
        }
    }
    for (server, method, target, is_sent) in [
        ("http://a.example/mcp", "GET", "http://a.example/.well-known/x", true),
        ("http://a.example/mcp", "POST", "http://a.example/token", false),
        ("http://a.example/mcp", "GET", "http://a.example:8080/", false),
        ("http://a.example/mcp", "GET", "http://b.example/", false),
        ("http://a.example/mcp", "POST", "https://b.example/", true),
        ("https://a.example/mcp", "GET", "http://a.example/", false),
        ("https://a.example/mcp", "GET", "https://b.example/", true),
        ("https://a.example/mcp", "POST", "http://b.example/", false),
    ] {
        let refusal = LastRefusal::default();
        let bounded = Bounded::new(Arc::new(Nowhere), &Url::parse(server).unwrap(), refusal.clone(), LIMITS);
        let request = Request::builder().method(method).uri(target).body(Vec::new()).unwrap();
        let sent = bounded.send(request, false).await;
        assert_eq!(sent.is_ok(), is_sent, "{server} {method} {target}");
        assert_eq!(refusal.take().is_some(), !is_sent);
        let Err(error) = sent else { continue };
        assert!(error.to_string().contains("is not an https address, so nothing is sent there"), "{error}");
    }
}

#[test]
fn a_document_keeps_its_first_authorization_servers() {
    let names = |count: usize| (0..count).map(|number| format!("https://{number}/")).collect::<Vec<_>>();
    let cut = |document: Value| {
        let cut = with_few_candidates(document.to_string().as_bytes());
        cut.map(|text| serde_json::from_slice::<Value>(&text).unwrap())
    };
    for count in [0, 1, MAX_CANDIDATES] {
        assert_eq!(cut(json!({ "resource": "r", "authorization_servers": names(count) })), None);
    }
    let expected = json!({ "resource": "r", "authorization_servers": names(MAX_CANDIDATES), "x": [1] });
    let long = json!({ "resource": "r", "authorization_servers": names(MAX_CANDIDATES + 1), "x": [1] });
    assert_eq!(cut(long), Some(expected));
    let single =
        json!({ "authorization_server": "https://s/", "authorization_servers": names(MAX_CANDIDATES) });
    let expected =
        json!({ "authorization_server": "https://s/", "authorization_servers": names(MAX_CANDIDATES - 1) });
    assert_eq!(cut(single), Some(expected));
    assert_eq!(cut(json!({ "authorization_servers": "https://s/" })), None);
    assert_eq!(with_few_candidates(br#"{"authorization_servers":[],"authorization_servers":[1]}"#), None);
    assert_eq!(with_few_candidates(b"[]"), None);
}
