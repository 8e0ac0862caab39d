//! A small local website for the server that fetches pages.

use axum::{
    Router,
    extract::Path,
    http::header,
    response::{Html, IntoResponse},
    routing::get,
};
use tokio::net::TcpListener;

use crate::product::Checked;

/// Serves pages until the program ends; returns their address without a trailing slash.
pub(crate) async fn serve() -> Checked<String> {
    let site = Router::new()
        .route("/robots.txt", get(|| async { text("User-agent: *\nDisallow: /private\n") }))
        .route(
            "/plain/{number}",
            get(|Path(number): Path<u32>| async move { text(&format!("plain page {number}")) }),
        )
        .route(
            "/page",
            get(|| async { Html("<html><body><h1>Title</h1><p>Some <b>bold</b> words.</p></body></html>") }),
        )
        .route("/private", get(|| async { text("private") }));
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    tokio::spawn(async move { axum::serve(listener, site).await });
    Ok(format!("http://{address}"))
}

fn text(body: &str) -> impl IntoResponse + use<> {
    ([(header::CONTENT_TYPE, "text/plain")], body.to_owned())
}
