//! `conformance-client ADDRESS`: drives the client of `mcp` for the official conformance suite.
//!
//! The suite passes the scenario and its context in variables. The client itself must meet a scenario's demands on the
//! wire; this driver only does what a user or program would.

mod person;
mod plan;

use std::{collections::BTreeMap, process::ExitCode, sync::Arc};

use end_to_end::browser;
use mcp::{Browser, Challenge, Consent, ErrorKind, Grant, OAuth, Remote, ServerConfig, Session, Transport};
use person::Person;
use plan::Plan;
use serde_json::Value;

/// Limit on logins: one for the first token, and more for other scopes or a new authorization server.
const MAX_LOGINS: usize = 3;

/// The address of a client metadata document. The suite knows the address and never reads the document.
const METADATA: &str = "https://conformance-test.local/client-metadata.json";

/// An error ends the driver with a message; the suite decides whether that was expected.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance-client: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Outcome<()> {
    let address = std::env::args().next_back().ok_or("the address of the server is missing")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO")?;
    let context = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(context) => serde_json::from_str(&context)?,
        Err(_) => Value::Null,
    };
    let plan = Plan::of(&scenario, &context);
    let tokens = tempfile::tempdir()?;
    let text = |name: &str| context[name].as_str().map(str::to_owned);
    let oauth = scenario.starts_with("auth/").then(|| OAuth {
        store: Some(tokens.path().join("tokens.json")),
        client_id: text("client_id"),
        client_secret: text("client_secret"),
        private_key: text("private_key_pem"),
        client_metadata_url: Some(METADATA.to_owned()),
        grant: if scenario.contains("client-credentials") {
            Grant::ClientCredentials
        } else {
            Grant::AuthorizationCode
        },
        ..OAuth::default()
    });
    let remote = Remote { url: address, oauth, ..Remote::default() };
    let config = ServerConfig::new("conformance", Transport::Http(remote));
    for _ in 0..MAX_LOGINS {
        match attempt(&config, &plan).await {
            Ok(()) => return Ok(()),
            Err(error) => match *error.kind {
                ErrorKind::Unauthorized { challenge, .. } => login(&config, &challenge).await?,
                _ => return Err(error.into()),
            },
        }
    }
    Ok(attempt(&config, &plan).await?)
}

async fn login(config: &ServerConfig, challenge: &Challenge) -> Result<(), mcp::Error> {
    mcp::login(config, Some(challenge), Browser::Here, |consent| async move {
        let (Consent::Redirect { address, .. } | Consent::Code { address, .. }) = consent;
        if let Err(error) = browser::visit(&address).await {
            eprintln!("the browser: {error}");
        }
        None
    })
    .await
}

async fn attempt(config: &ServerConfig, plan: &Plan) -> Result<(), mcp::Error> {
    let session = Session::connect_with(config, Arc::new(Person)).await?;
    let done = carry_out(&session, plan).await;
    session.close().await;
    done
}

async fn carry_out(session: &Session, plan: &Plan) -> Result<(), mcp::Error> {
    let listing = session.list_tools().await?;
    for warning in &listing.warnings {
        eprintln!("{warning}");
    }
    for (tool, arguments) in plan.calls(&listing.tools) {
        session.call(&tool, raw(&arguments)).await?;
    }
    if plan.reads_everything() {
        for resource in session.list_resources().await?.items {
            session.read_resource(resource["uri"].as_str().unwrap_or_default()).await?;
        }
        for prompt in session.list_prompts().await?.items {
            session.get_prompt(prompt["name"].as_str().unwrap_or_default(), &BTreeMap::new()).await?;
        }
    }
    Ok(())
}

fn raw(arguments: &Value) -> Box<serde_json::value::RawValue> {
    // A JSON value is always JSON.
    serde_json::value::to_raw_value(arguments).unwrap_or_default()
}
