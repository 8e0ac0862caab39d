//! A service over HTTP that runs snippets over its own functions: `curl --data '6 * 7' ADDRESS`. A client that goes
//! away ends its execution.

#![allow(clippy::print_stdout, missing_docs, reason = "it prints where it listens")]

use std::error::Error;
use std::io;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use tokio::net::TcpListener;
use toolsmith::Toolsmith;

/// Returns the price of an article, in cents.
#[toolsmith::tool(server = "shop", read_only)]
async fn price(article: String) -> Result<u64, io::Error> {
    match article.as_str() {
        "tea" => Ok(450),
        _ => Err(io::Error::other(format!("there is no article {article}"))),
    }
}

/// The text of an answer, with its status if it is not 200.
type Answer = Result<String, (StatusCode, String)>;

/// Runs the body of a request: the answer is the result as JSON, or the reason why there is none.
async fn execute(State(toolsmith): State<Toolsmith>, code: String) -> Answer {
    let outcome = toolsmith.execute(&code).await;
    let outcome = outcome.map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    match outcome.error {
        Some(error) => {
            Err((StatusCode::UNPROCESSABLE_ENTITY, format!("{}: {}", outcome.status, error.message)))
        }
        None => Ok(outcome.result.map_or_else(String::new, |result| result.get().to_owned())),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    toolsmith::helper();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let toolsmith = Toolsmith::builder().tool(price).allow("shop.price").build().await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/", listener.local_addr()?);
    axum::serve(listener, Router::new().route("/", post(execute)).with_state(toolsmith)).await?;
    Ok(())
}
