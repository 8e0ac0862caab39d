//! Why a request over HTTP has no answer.

use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::text::shown;

/// How much of a cause is told, in bytes.
const CAUSE_BYTES: usize = 500;

/// Why a request over HTTP has no answer. Its text holds no headers and no tokens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HttpFailure {
    /// There is no connection, or it broke.
    #[error("{0}")]
    Unreachable(String),
    /// The server does not let this client in, or not with the scopes of its token.
    #[error("it answered with HTTP {status}{}", after(.body))]
    Unauthorized {
        status: u16,
        /// The header `WWW-Authenticate`.
        challenge: Option<String>,
        body: String,
        /// Whether a login may help.
        by_login: bool,
    },
    /// Another status than success.
    #[error("it answered with HTTP {status}{}{}", after(.body), status_advice(*.status))]
    Status { status: u16, body: String },
    /// A redirect that is not followed.
    #[error("{}", redirect(.target.as_deref()))]
    Redirect { target: Option<String> },
    /// An answer that is neither JSON nor an event stream.
    #[error(
        "it answered {} in place of JSON or an event stream{}; check that `url` is the address of an MCP server's endpoint",
        content(.content_type), after(.body)
    )]
    ContentType { content_type: String, body: String },
    /// Nothing came within the time for it.
    #[error("it did not answer in time")]
    Unanswered,
    /// The protocol is broken.
    #[error("{0}")]
    Protocol(String),
    /// Tokens can't be got, renewed or stored.
    #[error("{0}")]
    OAuth(String),
}

/// The same, as the library takes it.
pub(super) type Failed = StreamableHttpError<HttpFailure>;

impl HttpFailure {
    /// Whether something is there that did not answer as it should, and neither asks for a login nor sends elsewhere.
    pub(crate) fn is_an_answer(&self) -> bool {
        matches!(self, Self::Status { .. } | Self::ContentType { .. } | Self::Protocol(_) | Self::Unanswered)
    }

    /// Whether the server has taken note of a message, and complains.
    pub(crate) fn is_a_refusal(&self) -> bool {
        matches!(self, Self::Status { .. } | Self::ContentType { .. })
    }

    pub(crate) fn unreachable(error: &reqwest::Error) -> Self {
        let what = if error.is_connect() {
            "no connection"
        } else if error.is_timeout() {
            "no answer in time"
        } else {
            "the connection broke"
        };
        // The error's own text names the whole address, whose query may hold secrets; its causes don't.
        let place = error.url().map(|url| format!(" ({})", url.origin().ascii_serialization()));
        let cause = std::error::Error::source(error).map_or_else(|| "it ended too early".to_owned(), chain);
        let help = if is_distrusted(error) { DISTRUSTED } else { "" };
        Self::Unreachable(format!("{what}{}: {cause}{help}", place.unwrap_or_default()))
    }
}

/// What to do about a certificate that nobody known has signed.
const DISTRUSTED: &str = "; if the server's authority is one that you trust, add its certificate to the system's, or \
                          name a file in PEM form with all that you trust in SSL_CERT_FILE";

/// Whether the reason is that the server's certificate comes from an unknown authority.
fn is_distrusted(error: &(dyn std::error::Error + 'static)) -> bool {
    let unknown = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
    std::iter::successors(Some(error), |error| {
        // What an I/O error wraps is not its source.
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        wrapped.map_or_else(|| error.source(), |wrapped| Some(wrapped))
    })
    .any(|error| error.downcast_ref::<rustls::Error>() == Some(&unknown))
}

/// An error with its causes, in one line.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let cause = error.to_string();
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
        source = error.source();
    }
    shown(&text, CAUSE_BYTES)
}

fn redirect(target: Option<&str>) -> String {
    match target {
        Some(target) => format!(
            "it redirects to {target}, which is not followed; if that is the server, write that address as `url`"
        ),
        None => "it redirects nowhere else, or in circles; check `url`".to_owned(),
    }
}

fn content(content_type: &str) -> String {
    match content_type {
        "" => "without a content type".to_owned(),
        known => format!("with the content type `{known}`"),
    }
}

fn after(body: &str) -> String {
    if body.is_empty() { String::new() } else { format!(": {body}") }
}

fn status_advice(status: u16) -> &'static str {
    match status {
        403 => "; check that the configured headers or scopes let you in",
        404 | 405 => {
            "; check that `url` is the address of the server's MCP endpoint, and that `type` fits it"
        }
        429 => "; it limits how often it may be asked, try again later",
        _ => "",
    }
}
