//! When an issuer's keys are read, and what is used if they can't be.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::extract::State as Shared;
use axum::http::StatusCode;
use axum::routing::get;
use config::SignatureAlgorithm;
use terminal::Terminal;
use tokio::net::TcpListener;

use super::*;

const KEYS: &str =
    r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

/// An issuer's keys, how often they were read, and whether they can be read.
#[derive(Default)]
struct Issuer {
    readings: AtomicUsize,
    is_down: AtomicBool,
    /// Whether a request gets no answer.
    is_silent: AtomicBool,
}

async fn keys(Shared(issuer): Shared<Arc<Issuer>>) -> Result<&'static str, StatusCode> {
    issuer.readings.fetch_add(1, Ordering::Relaxed);
    if issuer.is_silent.load(Ordering::Relaxed) {
        std::future::pending::<()>().await;
    }
    if issuer.is_down.load(Ordering::Relaxed) { Err(StatusCode::SERVICE_UNAVAILABLE) } else { Ok(KEYS) }
}

struct Fixture {
    issuer: Arc<Issuer>,
    auth: Auth,
    keys: IssuerKeys,
}

impl Fixture {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let issuer = Arc::new(Issuer::default());
        let routes = axum::Router::new().route("/keys", get(keys)).with_state(issuer.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let auth = Auth {
            jwks: Some(format!("{address}/keys")),
            issuer: address,
            resource: "https://tools.example.com/mcp".to_owned(),
            audiences: None,
            algorithms: vec![SignatureAlgorithm::EdDSA],
            clock_tolerance: 0,
            required_scopes: None,
            scopes: None,
        };
        let keys = IssuerKeys::new(Terminal::new(true, false).notifier());
        Fixture { issuer, auth, keys }
    }

    /// The number of readings after a request that needs the key `id`, and whether there were keys.
    async fn get(&self, id: &str) -> (usize, bool) {
        let sufficient =
            |keys: &KeySet| !keys.candidates(Some(id), jsonwebtoken::Algorithm::EdDSA).is_empty();
        let found = self.keys.get(&self.auth, sufficient).await;
        (self.issuer.readings.load(Ordering::Relaxed), found.is_ok())
    }

    /// Lets time pass for the keys; the clock of requests is real.
    fn age(&self, time: Duration) {
        let mut state = self.keys.state.lock();
        if let Some((_, read)) = &mut state.keys {
            *read = read.checked_sub(time).unwrap();
        }
        for reading in &mut state.readings {
            *reading = reading.checked_sub(time).unwrap();
        }
    }
}

#[tokio::test]
async fn keys_are_read_when_they_are_old_or_a_key_is_unknown() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.get("a").await, (1, true));
    assert_eq!(fixture.get("a").await, (1, true));
    assert_eq!(fixture.get("unknown").await, (2, true));
    fixture.age(MAX_AGE + Duration::from_secs(1));
    assert_eq!(fixture.get("a").await, (3, true));
}

#[tokio::test]
async fn unknown_keys_cause_few_readings() {
    let fixture = Fixture::new().await;
    for _ in 0..100 {
        fixture.get("unknown").await;
    }
    assert_eq!(fixture.get("a").await, (MAX_READINGS, true));
    fixture.age(PERIOD);
    assert_eq!(fixture.get("unknown").await.0, MAX_READINGS + 1);
}

#[tokio::test]
async fn the_last_keys_are_used_for_a_limited_time() {
    let fixture = Fixture::new().await;
    fixture.issuer.is_down.store(true, Ordering::Relaxed);
    assert_eq!(fixture.get("a").await, (1, false));
    fixture.issuer.is_down.store(false, Ordering::Relaxed);
    assert_eq!(fixture.get("a").await, (2, true));
    fixture.issuer.is_down.store(true, Ordering::Relaxed);
    fixture.age(MAX_STALE - Duration::from_secs(60));
    assert_eq!(fixture.get("a").await, (3, true));
    fixture.age(Duration::from_secs(120));
    assert_eq!(fixture.get("a").await, (4, false));
}

#[tokio::test]
async fn keys_belong_to_their_issuer() {
    let mut fixture = Fixture::new().await;
    assert_eq!(fixture.get("a").await, (1, true));
    fixture.auth.issuer = "https://other.example.com".to_owned();
    fixture.issuer.is_down.store(true, Ordering::Relaxed);
    assert_eq!(fixture.get("a").await, (2, false));
}

#[tokio::test]
async fn requests_at_the_same_time_cause_one_reading() {
    let fixture = Fixture::new().await;
    let all = futures::future::join_all((0..20).map(|_| fixture.get("a"))).await;
    assert!(all.iter().all(|(_, found)| *found));
    assert_eq!(fixture.issuer.readings.load(Ordering::Relaxed), 1);
}

/// Requests that wait for a failed reading fail with it, instead of one after the other.
#[tokio::test]
async fn a_silent_issuer_is_waited_for_once() {
    let mut fixture = Fixture::new().await;
    fixture.issuer.is_silent.store(true, Ordering::Relaxed);
    fixture.keys.max_reading = Duration::from_millis(300);
    let all = futures::future::join_all((0..20).map(|_| fixture.get("a"))).await;
    assert!(all.iter().all(|(_, found)| !*found));
    assert_eq!(fixture.issuer.readings.load(Ordering::Relaxed), 1);
    // The next request tries again.
    fixture.issuer.is_silent.store(false, Ordering::Relaxed);
    assert_eq!(fixture.get("a").await, (2, true));
}
