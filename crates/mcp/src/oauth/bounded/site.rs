//! Servers on loopback addresses for logins: a resource, its authorization server, and a third one.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use std::sync::Arc;

use parking_lot::Mutex;
use reqwest::Url;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use super::super::{
    Authorizer,
    failure::explained,
    login::{Login, logout},
};
use super::{LIMITS, Limits};
use crate::{
    http::failure::HttpFailure,
    server_config::{OAuth, ServerConfig, Transport as ServerTransport},
};

/// The answer to one request.
#[derive(Clone)]
pub(super) enum Answer {
    Json(Value),
    Status(u16),
    Redirect(u16, String),
    /// A body without an end.
    Endless,
    /// A body that does not come.
    Stalled,
}

/// A server on a loopback address, with the requests that it has received: method, path, and the rest.
pub(super) struct Server {
    pub(super) address: String,
    pub(super) requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server; `answer` gets its address and the method and path of a request.
    pub(super) async fn start(answer: impl Fn(&str, &str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (own, seen, answer) = (address.clone(), Arc::clone(&requests), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (own, seen, answer) = (own.clone(), Arc::clone(&seen), Arc::clone(&answer));
                tokio::spawn(async move {
                    let request = request(stream).await?;
                    let (stream, text) = request;
                    let target: String = text.split(' ').take(2).collect::<Vec<_>>().join(" ");
                    seen.lock().push(text);
                    respond(stream, answer(&own, &target)).await
                });
            }
        });
        Server { address, requests }
    }

    pub(super) fn count(&self) -> usize {
        self.requests.lock().len()
    }
}

/// Reads a request with its body.
async fn request(mut stream: TcpStream) -> std::io::Result<(TcpStream, String)> {
    let (mut text, mut chunk) = (String::new(), [0; 4096]);
    loop {
        let length = stream.read(&mut chunk).await?;
        text.push_str(&String::from_utf8_lossy(&chunk[..length]));
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let announced = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let is_whole = announced.is_none_or(|announced| body.len() >= announced.parse().unwrap());
            if is_whole {
                return Ok((stream, text));
            }
        }
        if length == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}

async fn respond(mut stream: TcpStream, answer: Answer) -> std::io::Result<()> {
    let head = |status: u16, more: &str| {
        format!("HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nConnection: close\r\n{more}\r\n")
    };
    match answer {
        Answer::Json(value) => {
            let body = value.to_string();
            let head = head(200, &format!("Content-Length: {}\r\n", body.len()));
            stream.write_all(format!("{head}{body}").as_bytes()).await
        }
        Answer::Status(status) => stream.write_all(head(status, "Content-Length: 0\r\n").as_bytes()).await,
        Answer::Redirect(status, to) => {
            stream
                .write_all(head(status, &format!("Content-Length: 0\r\nLocation: {to}\r\n")).as_bytes())
                .await
        }
        Answer::Endless => {
            stream.write_all(head(200, "").as_bytes()).await?;
            loop {
                stream.write_all(&[b' '; 65536]).await?;
            }
        }
        Answer::Stalled => {
            stream.write_all(head(200, "Content-Length: 10\r\n").as_bytes()).await?;
            std::future::pending().await
        }
    }
}

/// A change of the answers: of a request at one of the servers, by its method and path.
pub(super) type Fault = Option<(&'static str, Answer)>;

/// A server that requires a login, its authorization server, and a third one that must never get a request.
pub(super) struct Site {
    pub(super) resource: Server,
    pub(super) authority: Server,
    pub(super) elsewhere: Server,
    pub(super) folder: TempDir,
    pub(super) limits: Limits,
}

impl Site {
    /// With one fault; `ELSEWHERE` and `AUTHORITY` in a redirect stand for the addresses of those servers.
    pub(super) async fn start(fault: Fault) -> Self {
        let elsewhere = Server::start(|_, _| Answer::Json(json!({}))).await;
        let there = elsewhere.address.clone();
        let chosen = fault.clone();
        let authority = Server::start(move |own, target| {
            faulty(&chosen, target, own, &there).unwrap_or_else(|| authority_answer(own, target))
        });
        let authority = authority.await;
        let (named, there) = (authority.address.clone(), elsewhere.address.clone());
        let resource = Server::start(move |own, target| {
            faulty(&fault, target, &named, &there).unwrap_or_else(|| resource_answer(own, target, &named))
        });
        let resource = resource.await;
        Site { resource, authority, elsewhere, folder: tempfile::tempdir().unwrap(), limits: LIMITS }
    }

    fn url(&self) -> Url {
        Url::parse(&format!("{}/mcp", self.resource.address)).unwrap()
    }

    fn settings(&self) -> OAuth {
        OAuth { store: Some(self.folder.path().join("tokens.json")), ..OAuth::default() }
    }

    fn authorizer(&self) -> Arc<Authorizer> {
        let mut authorizer = Authorizer::new(&self.url(), &self.settings());
        authorizer.limits = self.limits;
        Arc::new(authorizer)
    }

    /// Logs in, with a browser that comes back at once.
    pub(super) async fn login(&self) -> Result<(), String> {
        let authorizer = self.authorizer();
        let redirect = "http://127.0.0.1:1/callback".to_owned();
        let prepared = Login::prepare(&authorizer, None, redirect.clone()).await;
        let login = prepared.map_err(|error| explained(&error, &authorizer.refusal).to_string())?;
        let address = Url::parse(login.address()).unwrap();
        let (_, state) = address.query_pairs().find(|(name, _)| name == "state").unwrap();
        let mut back = Url::parse(&redirect).unwrap();
        back.query_pairs_mut()
            .append_pair("code", "code-1")
            .append_pair("state", &state)
            .append_pair("iss", &self.authority.address);
        login.finish(back.as_str()).await.map_err(|failure| failure.to_string())
    }

    pub(super) async fn renew(&self) -> Result<Option<String>, HttpFailure> {
        self.authorizer().renew(Some("access-1"), None).await
    }

    pub(super) async fn logout(&self) -> bool {
        let mut config = ServerConfig::http("s", self.url().as_str());
        if let ServerTransport::Http(remote) = &mut config.transport {
            remote.oauth = Some(self.settings());
        }
        logout(&config).await.unwrap()
    }

    pub(super) fn requests(&self) -> usize {
        self.resource.count() + self.authority.count()
    }

    /// A text in which the servers have their names, with their ports left out.
    pub(super) fn named(&self, text: &str) -> String {
        let text = text.replace(&self.elsewhere.address, "ELSEWHERE");
        text.replace(&self.authority.address, "AUTHORITY").replace(&self.resource.address, "RESOURCE")
    }
}

fn faulty(fault: &Fault, target: &str, authority: &str, elsewhere: &str) -> Option<Answer> {
    let (place, answer) = fault.as_ref().filter(|(place, _)| target.starts_with(place))?;
    Some(match answer {
        Answer::Redirect(status, to) => {
            assert!(!place.is_empty());
            Answer::Redirect(*status, to.replace("ELSEWHERE", elsewhere).replace("AUTHORITY", authority))
        }
        answer => answer.clone(),
    })
}

pub(super) fn resource_answer(own: &str, target: &str, authority: &str) -> Answer {
    match target {
        "GET /.well-known/oauth-protected-resource/mcp" => {
            Answer::Json(json!({ "resource": format!("{own}/mcp"), "authorization_servers": [authority] }))
        }
        "GET /mcp" => Answer::Status(401),
        _ => Answer::Status(404),
    }
}

fn authority_answer(own: &str, target: &str) -> Answer {
    Answer::Json(match target {
        "GET /.well-known/oauth-authorization-server" | "GET /moved" => json!({
            "issuer": own, "authorization_endpoint": format!("{own}/authorize"),
            "token_endpoint": format!("{own}/token"), "registration_endpoint": format!("{own}/register"),
            "revocation_endpoint": format!("{own}/revoke"),
            "code_challenge_methods_supported": ["S256"], "response_types_supported": ["code"],
        }),
        "POST /register" | "POST /moved" => json!({ "client_id": "client", "redirect_uris": [] }),
        "POST /token" => json!({
            "access_token": "access-1", "refresh_token": "refresh-1", "token_type": "bearer", "expires_in": 3600,
        }),
        "POST /revoke" => json!({}),
        _ => return Answer::Status(404),
    })
}
