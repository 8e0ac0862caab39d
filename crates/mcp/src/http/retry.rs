//! Decides when to retry requests that a server is too busy for.
//!
//! Only requests without side effects are retried, and only if the server says when (`Retry-After`, RFC 9110, section
//! 10.2.3). A proxy's error does not show whether a call was carried out, so calls are never retried.

use std::time::{Duration, SystemTime};

use httpdate::parse_http_date;
use reqwest::{
    Response, StatusCode,
    header::{DATE, HeaderMap, HeaderName, RETRY_AFTER},
};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};

/// Limit on retries of a request.
const MAX_RETRIES: usize = 2;

/// The longest wait before a retry; requests have more time than that (10 s).
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The requests without side effects, besides those that start a session.
const HARMLESS: [&str; 7] = [
    "ping",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
];

/// The wait before a rejected message is sent again, if it is; `retries` counts those already made.
pub(super) fn wait(message: &ClientJsonRpcMessage, refusal: &Response, retries: usize) -> Option<Duration> {
    let is_busy = refusal.status() == StatusCode::TOO_MANY_REQUESTS || refusal.status().is_server_error();
    if !is_busy || retries >= MAX_RETRIES || !is_harmless(message) {
        return None;
    }
    retry_after(refusal.headers()).filter(|wait| *wait <= MAX_WAIT)
}

/// The wait that a response asks for (`Retry-After`, RFC 9110, section 10.2.3).
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    wait_at(headers, SystemTime::now())
}

/// The wait that a server requests: in seconds, or until a date by its own clock if it sends one (`Date`).
fn wait_at(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    let after = text(RETRY_AFTER)?;
    if let Ok(seconds) = after.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = parse_http_date(after).ok()?;
    let now = text(DATE).and_then(|date| parse_http_date(date).ok()).unwrap_or(now);
    Some(until.duration_since(now).unwrap_or_default())
}

fn is_harmless(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    match &request.request {
        ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_) => true,
        ClientRequest::CustomRequest(request) => HARMLESS.contains(&request.method.as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wait that headers request at 08:49:30.
    fn wait(headers: &[(HeaderName, &str)]) -> Option<u64> {
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        let now = parse_http_date("Sun, 06 Nov 1994 08:49:30 GMT").unwrap();
        wait_at(&headers, now).map(|wait| wait.as_secs())
    }

    #[test]
    fn a_wait_is_a_number_of_seconds_or_ends_at_a_date() {
        assert_eq!(wait(&[(RETRY_AFTER, "7")]), Some(7));
        for date in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            " Sun, 06 Nov 1994 08:49:37 GMT ",
        ] {
            assert_eq!(wait(&[(RETRY_AFTER, date)]), Some(7), "{date}");
        }
        assert_eq!(wait(&[(RETRY_AFTER, "Sun, 06 Nov 1994 08:49:00 GMT")]), Some(0), "it has passed");
        assert_eq!(wait(&[(RETRY_AFTER, "Mon, 07 Nov 1994 08:49:30 GMT")]), Some(24 * 60 * 60));
    }

    #[test]
    fn dates_are_read_by_the_servers_clock() {
        let until = (RETRY_AFTER, "Wed, 21 Oct 2015 07:28:05 GMT");
        assert_eq!(wait(&[until.clone(), (DATE, "Wed, 21 Oct 2015 07:28:00 GMT")]), Some(5));
        assert_eq!(wait(&[(RETRY_AFTER, "5"), (DATE, "Wed, 21 Oct 2015 07:28:00 GMT")]), Some(5));
        assert_eq!(
            wait(&[(RETRY_AFTER, "Sun, 06 Nov 1994 08:49:37 GMT"), (DATE, "lunchtime")]),
            Some(7),
            "by the clock of this machine"
        );
    }

    #[test]
    fn invalid_times_cause_no_wait() {
        for text in ["", "soon", "-1", "1.5", "Sun, 06 Nov 1994", "Sun, 99 Nov 1994 08:49:37 GMT"] {
            assert_eq!(wait(&[(RETRY_AFTER, text)]), None, "{text}");
        }
        assert_eq!(wait(&[]), None);
    }
}
