//! The newest release, as the site that hosts the repository describes it.

use std::time::Duration;

use gateway::failure::Failure;
use report::Kind;
use reqwest::header::ACCEPT;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use semver::Version;
use serde::Deserialize;

use crate::download::{NETWORK, reasons};

/// The variable with the address of the newest release's description.
const ADDRESS: &str = "TOOLSMITH_RELEASES";

/// Time limit of the request.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Maximum size of the response, in bytes (1 MiB): a release with a hundred files has about 150 KB.
const LARGEST: usize = 1 << 20;

/// A release.
#[derive(Debug)]
pub(super) struct Release {
    pub(super) version: Version,
    /// The address of its page.
    pub(super) page: Option<String>,
}

/// The members that are read, of the description that GitHub, Gitea and Forgejo give of a release.
#[derive(Deserialize)]
struct Description {
    tag_name: String,
    html_url: Option<String>,
}

impl Release {
    /// Requests the newest release of this repository, or of the address in the environment.
    ///
    /// # Errors
    /// If there is no address, no response, or no version in it.
    pub(super) async fn newest(repository: Option<&str>) -> Result<Self, Failure> {
        let address = address(std::env::var(ADDRESS).ok(), repository)?;
        let text = request(&address).await?;
        Release::parse(&text).map_err(|what| {
            failed(&address, &format!("the response does not describe a release: {what}"))
                .hint(format!("if {ADDRESS} is set, check the address in it"))
        })
    }

    /// Reads a description.
    fn parse(text: &[u8]) -> Result<Self, NoRelease> {
        let description: Description =
            strict_json::from_slice(text).map_err(|error| NoRelease(error.to_string()))?;
        let tag = &description.tag_name;
        let version = tag.strip_prefix('v').unwrap_or(tag).parse();
        let version = version
            .map_err(|error| NoRelease(format!("`tag_name` is {tag:?}, which is no version: {error}")))?;
        let is_web = |page: &String| page.starts_with("https://") || page.starts_with("http://");
        Ok(Release { version, page: description.html_url.filter(is_web) })
    }
}

/// The reason why a response does not describe a release.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NoRelease(String);

fn failed(address: &Url, what: &str) -> Failure {
    // The address may contain a password.
    let shown = format!("{}{}", address.origin().ascii_serialization(), address.path());
    Failure::new(Kind::Update, format!("the newest release can't be read from {shown}: {what}"))
}

/// The address of the description: the one in the environment, or GitHub's for the repository.
fn address(given: Option<String>, repository: Option<&str>) -> Result<Url, Failure> {
    let hint = format!(
        "set {ADDRESS} to an address such as https://api.github.com/repos/OWNER/NAME/releases/latest"
    );
    if let Some(given) = given.filter(|given| !given.is_empty()) {
        let parsed = Url::parse(&given).ok().filter(|url| matches!(url.scheme(), "https" | "http"));
        return parsed.ok_or_else(|| {
            Failure::new(Kind::Update, format!("{ADDRESS} has no http or https address")).hint(hint)
        });
    }
    let Some(repository) = repository else {
        let message = "this program was built from sources, without the address of its releases";
        return Err(Failure::new(Kind::Update, message).hint(hint));
    };
    let path = repository.strip_prefix("https://github.com/").map(|path| path.trim_end_matches(".git"));
    path.and_then(|path| Url::parse(&format!("https://api.github.com/repos/{path}/releases/latest")).ok())
        .ok_or_else(|| {
            let message = format!("the address of the newest release is unknown for {repository}");
            Failure::new(Kind::Update, message).hint(hint)
        })
}

/// Requests the description. It follows no redirects.
async fn request(address: &Url) -> Result<Vec<u8>, Failure> {
    let offline = |error: reqwest::Error| failed(address, &reasons(error)).hint(NETWORK);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .user_agent(concat!("toolsmith/", env!("CARGO_PKG_VERSION")))
        .timeout(TIMEOUT)
        .redirect(Policy::none())
        .build()
        .map_err(offline)?;
    let sent = client.get(address.clone()).header(ACCEPT, "application/json").send().await;
    let mut response = sent.map_err(offline)?;
    match response.status() {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND => {
            return Err(failed(address, "there is no release")
                .hint(format!("if {ADDRESS} is set, check the address in it")));
        }
        StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS => {
            return Err(failed(address, &format!("the server refuses with status {}", response.status()))
                .hint("it limits the requests of an address in an hour: try again later"));
        }
        status => {
            return Err(failed(address, &format!("the server answers with status {status}"))
                .hint(format!("try again later, or set {ADDRESS} to another address")));
        }
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(offline)? {
        if bytes.len() + chunk.len() > LARGEST {
            return Err(failed(address, &format!("the response has more than {LARGEST} bytes"))
                .hint(format!("if {ADDRESS} is set, check the address in it")));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_the_given_one_or_that_of_the_repository() {
        let of = |given: Option<&str>, repository| {
            address(given.map(str::to_owned), repository)
                .map(|url| url.to_string())
                .map_err(|failure| (failure.report.message(), failure.report.hints.len()))
        };
        let github = Some("https://github.com/owner/name");
        assert_eq!(of(None, github).unwrap(), "https://api.github.com/repos/owner/name/releases/latest");
        assert_eq!(of(Some("http://127.0.0.1:1/a"), github).unwrap(), "http://127.0.0.1:1/a");
        for (given, repository) in [
            (None, None),
            (Some(""), None),
            (Some("file:///etc/passwd"), github),
            (None, Some("https://a/b")),
        ] {
            assert_eq!(of(given, repository).unwrap_err().1, 1, "{given:?} {repository:?}");
        }
    }

    #[test]
    fn a_description_has_a_version_in_its_tag() {
        let release =
            Release::parse(br#"{"tag_name":"v1.2.3","html_url":"https://a/b","assets":[]}"#).unwrap();
        assert_eq!(
            (release.version.to_string().as_str(), release.page.as_deref()),
            ("1.2.3", Some("https://a/b"))
        );
        let plain = Release::parse(br#"{"tag_name":"1.2.3-rc.1","html_url":"javascript:alert()"}"#).unwrap();
        assert_eq!((plain.version.to_string().as_str(), plain.page), ("1.2.3-rc.1", None));
        for wrong in [r#"{"tag_name":"nightly"}"#, "{}", "<html>", r#"{"tag_name":"v1"}"#] {
            Release::parse(wrong.as_bytes()).unwrap_err();
        }
    }
}
