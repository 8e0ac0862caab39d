//! Other kinds of stores: a folder, and an HTTP server.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use end_to_end::page::normal;
use insta::assert_snapshot;
use parking_lot::Mutex;
use remote_cache::Settings;

use crate::fixture::{Found, Key, Machine, at};

const AUTHORIZATION: &str = "Bearer secret-of-the-store";

type Objects = Arc<Mutex<HashMap<String, Bytes>>>;

/// An HTTP server that keeps what is put, like nginx with its module for WebDAV, for clients with the right header.
async fn http_server() -> (String, Objects) {
    let objects = Objects::default();
    let router = Router::new().fallback(answer).with_state(objects.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (format!("http://{address}/cache/of/toolsmith"), objects)
}

async fn answer(
    State(objects): State<Objects>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, Bytes) {
    if headers.get("authorization").is_none_or(|value| value != AUTHORIZATION) {
        return (StatusCode::UNAUTHORIZED, Bytes::new());
    }
    let (mut objects, path) = (objects.lock(), uri.path().to_owned());
    match method {
        Method::PUT => {
            objects.insert(path, body);
            (StatusCode::CREATED, Bytes::new())
        }
        Method::DELETE => {
            (objects.remove(&path).map_or(StatusCode::NOT_FOUND, |_| StatusCode::NO_CONTENT), Bytes::new())
        }
        _ => objects
            .get(&path)
            .map_or((StatusCode::NOT_FOUND, Bytes::new()), |body| (StatusCode::OK, body.clone())),
    }
}

#[tokio::test]
async fn an_http_server_shares_entries_without_leases() {
    let (url, objects) = http_server().await;
    let key = Key::new();
    let mut settings = Settings { key: Some(key.source()), ..at(&url) };
    settings.headers.insert("Authorization".to_owned(), AUTHORIZATION.to_owned());
    let (first, second) = (Machine::new(&settings), Machine::new(&settings));
    // HTTP servers have no conditional writes that all of them agree on, so both build.
    assert!(matches!(first.want("a").await, Found::Missing(None)));
    assert!(matches!(second.want("a").await, Found::Missing(None)));
    first.share("a", "the program", None).await;
    assert_eq!(second.look("a").await.program(), "the program");
    assert!(objects.lock().keys().all(|path| path.starts_with("/cache/of/toolsmith/v1/entries/")));
    assert!(first.state().await.answered_ms.is_some());
    assert!(first.notes().is_empty(), "{:?}", first.notes());
}

#[tokio::test]
async fn an_http_server_that_refuses_the_header_is_left_alone() {
    let (url, _objects) = http_server().await;
    let key = Key::new();
    let machine = Machine::new(&Settings { key: Some(key.source()), ..at(&url) });
    for _ in 0..3 {
        machine.look("a").await.expect_missing();
    }
    let notes = machine.notes();
    assert_snapshot!(normal(&notes[0]), @r"
    the remote cache http://127.0.0.1:[port] can't be read: it does not accept the credentials; snippets are compiled here, and it is tried again after 5 s or more (this is reported once)
    ");
}

#[tokio::test]
async fn a_folder_shares_entries_with_leases() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("file://{}", folder.path().join("shared").display());
    let key = Key::new();
    let settings = Settings { key: Some(key.source()), ..at(&url) };
    let (first, second) = (Machine::new(&settings), Machine::new(&settings));
    let claim = first.want("a").await.claim();
    let build = async {
        first.share("a", "the program", Some(claim)).await;
    };
    let (found, ()) = tokio::join!(second.want("a"), build);
    assert_eq!(found.program(), "the program");
}
