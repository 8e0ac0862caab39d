//! Serves the pages that tasks read, at a fixed address, because stored snippets contain it.

use axum::{
    Router,
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use tokio::net::TcpListener;

use crate::product::Checked;

/// The host: a loopback address that no other program is likely to use.
pub(super) const HOST: &str = "127.71.7.1";
/// The address of the pages, without a trailing slash.
pub(super) const SITE: &str = "http://127.71.7.1:8737";
/// Number of pages, including the missing one.
const PAGES: u32 = 12;
/// The number of the missing page.
const MISSING: u32 = 9;

/// Serves pages until the program ends.
pub(super) async fn serve() -> Checked<()> {
    let robots = get(|| async { text("User-agent: *\nDisallow:\n".to_owned()) });
    let site = Router::new().route("/robots.txt", robots).route("/items/{number}", get(item));
    let address = SITE.trim_start_matches("http://");
    let listener = TcpListener::bind(address).await.map_err(|error| format!("{SITE}: {error}"))?;
    tokio::spawn(async move { axum::serve(listener, site).await });
    Ok(())
}

async fn item(Path(number): Path<u32>) -> Response {
    if number == 0 || number > PAGES || number == MISSING {
        return StatusCode::NOT_FOUND.into_response();
    }
    let cents = 1_000 + number * 377 % 900;
    text(format!("item: {number}\nprice: {}.{:02}\nstock: {}\n", cents / 100, cents % 100, number * 5 % 7))
}

fn text(body: String) -> Response {
    ([(header::CONTENT_TYPE, "text/plain")], body).into_response()
}
