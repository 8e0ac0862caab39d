//! A browser without a user: opens an address and follows every redirect at once.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use url::Url;

/// Maximum number of redirects followed.
const MAX_HOPS: usize = 10;
/// Limit on a response, in bytes.
const MAX_ANSWER: u64 = 64 * 1024;

/// Opens an address; returns the address to which it is redirected, which is not opened.
///
/// # Errors
/// As [`visit`], or without a redirect.
pub async fn redirected(address: &str) -> Result<String, String> {
    let address = Url::parse(address).map_err(|error| format!("{address}: {error}"))?;
    open(&address).await?.ok_or_else(|| format!("{address} does not redirect"))
}

/// Opens an address and follows redirects; returns the addresses opened, in order.
///
/// # Errors
/// An address that is not `http`, an unreachable server, a redirect loop.
pub async fn visit(address: &str) -> Result<Vec<Url>, String> {
    let mut next = Url::parse(address).map_err(|error| format!("{address}: {error}"))?;
    let mut opened = Vec::new();
    for _ in 0..MAX_HOPS {
        let target = open(&next).await?;
        opened.push(next.clone());
        match target {
            Some(target) => next = next.join(&target).map_err(|error| format!("{target}: {error}"))?,
            None => return Ok(opened),
        }
    }
    Err(format!("{address}: redirect loop"))
}

/// Requests a page; returns its redirect, if any.
async fn open(address: &Url) -> Result<Option<String>, String> {
    let failed = |error: std::io::Error| format!("{address}: {error}");
    let (Some(host), Some(port), "http") =
        (address.host_str(), address.port_or_known_default(), address.scheme())
    else {
        return Err(format!("{address} is not opened"));
    };
    let mut stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await.map_err(failed)?;
    let target = &address[url::Position::BeforePath..url::Position::AfterQuery];
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(failed)?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER).read_to_end(&mut answer).await.map_err(failed)?;
    let answer = String::from_utf8_lossy(&answer);
    let mut head = answer.split("\r\n\r\n").next().unwrap_or_default().lines();
    let status = head.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    if !status.starts_with('3') {
        return Ok(None);
    }
    let mut headers = head.filter_map(|line| line.split_once(':'));
    let location = headers.find(|(name, _)| name.eq_ignore_ascii_case("location"));
    Ok(location.map(|(_, value)| value.trim().to_owned()))
}
