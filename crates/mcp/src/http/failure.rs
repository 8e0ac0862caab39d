//! Failures of HTTP requests.

use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::text::shown;

/// Maximum length of a cause in a message, in bytes.
const CAUSE_BYTES: usize = 500;

/// The failure of an HTTP request. Its text contains no headers and no tokens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HttpFailure {
    /// There is no connection, or it broke.
    #[error("{0}")]
    Unreachable(String),
    /// The server requires a login, or a token with a wider scope.
    #[error("it answered with HTTP {status}{}", after(.body))]
    Unauthorized {
        status: u16,
        /// The header `WWW-Authenticate`.
        challenge: Option<String>,
        body: String,
        /// Whether a login may help.
        login: LoginHelp,
    },
    /// Another error status.
    #[error("it answered with HTTP {status}{}{}", after(.body), status_advice(*.status))]
    Status { status: u16, body: String },
    /// A redirect that is not followed.
    #[error("{}", redirect(.target.as_deref()))]
    Redirect { target: Option<String> },
    /// A response that is neither JSON nor an event stream.
    #[error(
        "it answered {} instead of JSON or an event stream{}; check that `url` is the endpoint of an MCP server",
        content(.content_type), after(.body)
    )]
    ContentType { content_type: String, body: String },
    /// No response came within the time limit.
    #[error("it did not answer in time")]
    Unanswered,
    /// The server broke the protocol.
    #[error("{0}")]
    Protocol(String),
    /// A token can't be obtained, renewed or stored.
    #[error("{0}")]
    OAuth(String),
}

/// Whether a login may help after a rejected request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoginHelp {
    /// The server may accept a login.
    Possible,
    /// Tokens are exchanged for those of users.
    Exchanged,
    /// The configuration has headers instead, or disables logins.
    Disabled,
    /// The server does not publish how to log in.
    Unpublished,
}

/// The library's error type with this failure.
pub(super) type Failed = StreamableHttpError<HttpFailure>;

impl HttpFailure {
    /// Whether the server was reached and gave an invalid response, rather than asking for a login or redirecting.
    pub(crate) fn is_an_answer(&self) -> bool {
        matches!(self, Self::Status { .. } | Self::ContentType { .. } | Self::Protocol(_) | Self::Unanswered)
    }

    /// Whether a server that was expected to open an event stream may use another transport.
    pub(crate) fn is_of_another_transport(&self) -> bool {
        match self {
            Self::Status { status, .. } => (400..500).contains(status) && *status != 429,
            Self::ContentType { .. } | Self::Protocol(_) => true,
            _ => false,
        }
    }

    /// Whether the server received a message and rejected it.
    pub(crate) fn is_a_refusal(&self) -> bool {
        matches!(self, Self::Status { .. } | Self::ContentType { .. })
    }

    pub(crate) fn unreachable(error: &reqwest::Error) -> Self {
        if let Some(url) = error.url().filter(|_| is_refused(error)) {
            let place = url.origin().ascii_serialization();
            let proxy =
                if has_proxy() { ", or at the proxy of HTTP_PROXY, HTTPS_PROXY or ALL_PROXY" } else { "" };
            let help = "start the server, or check the address";
            return Self::Unreachable(format!("nothing answers at {place}{proxy}; {help}"));
        }
        let what = if error.is_connect() {
            "no connection"
        } else if error.is_timeout() {
            "no answer in time"
        } else {
            "the connection broke"
        };
        // The error's own text contains the whole URL, whose query may contain secrets; its causes don't.
        let place = error.url().map(|url| format!(" ({})", url.origin().ascii_serialization()));
        let below = match error.is_connect() {
            // The causes in between only say that it happened while connecting.
            true => std::iter::successors(std::error::Error::source(error), |error| error.source()).last(),
            false => std::error::Error::source(error),
        };
        let cause = below.map_or_else(|| "it ended too early".to_owned(), chain);
        let help = advice(error);
        Self::Unreachable(format!("{what}{}: {cause}{help}", place.unwrap_or_default()))
    }
}

/// Advice for a certificate from an unknown authority.
const DISTRUSTED: &str = "; if you trust the server's certificate authority, add its certificate to the system's, or \
                          set SSL_CERT_FILE to a PEM file with all authorities that you trust";

/// Whether the environment names a proxy.
fn has_proxy() -> bool {
    let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    names.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Whether no process listens at the address.
fn is_refused(error: &(dyn std::error::Error + 'static)) -> bool {
    causes(error).any(|error| {
        let io = error.downcast_ref::<std::io::Error>();
        io.is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    })
}

/// Advice on a failed request.
fn advice(error: &(dyn std::error::Error + 'static)) -> &'static str {
    let certificate = |error: &(dyn std::error::Error + 'static)| match error.downcast_ref() {
        Some(rustls::Error::InvalidCertificate(reason)) => Some(reason.clone()),
        _ => None,
    };
    match causes(error).find_map(certificate) {
        Some(rustls::CertificateError::UnknownIssuer) => DISTRUSTED,
        Some(
            rustls::CertificateError::NotValidForName
            | rustls::CertificateError::NotValidForNameContext { .. },
        ) => "; write a name or address in `url` that the certificate is for",
        // The library has no type for this error.
        _ if causes(error).any(|error| error.to_string() == "dns error") => {
            "; check the host in `url`, and the network"
        }
        _ => "",
    }
}

/// An error and its causes.
fn causes<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| {
        // An error wrapped in an I/O error is not its source.
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        wrapped.map_or_else(|| error.source(), |wrapped| Some(wrapped))
    })
}

/// An error with its causes, on one line.
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
            "it redirects to {target}, which is not followed; if that is the server, set `url` to that address"
        ),
        None => "it redirects without a target, or in a loop; check `url`".to_owned(),
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
        404 | 405 => "; check that `url` is the server's MCP endpoint, and that `type` is its transport",
        429 => "; it limits the rate of requests, try again later",
        _ => "",
    }
}

impl From<HttpFailure> for Failed {
    fn from(failure: HttpFailure) -> Self {
        StreamableHttpError::Client(failure)
    }
}
