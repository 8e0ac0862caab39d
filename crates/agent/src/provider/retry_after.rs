//! Parses the wait that a provider requests: the headers `Retry-After` (RFC 9110, section 10.2.3) and `retry-after-ms`.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The wait that the headers of a response request.
pub(super) fn requested_wait(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(milliseconds) = text("retry-after-ms").and_then(|value| value.parse::<f64>().ok()) {
        return duration(milliseconds / 1000.0);
    }
    let value = text(RETRY_AFTER.as_str())?;
    match value.parse::<f64>() {
        Ok(seconds) => duration(seconds),
        Err(_) => {
            let at = httpdate::parse_http_date(value).ok()?;
            Some(at.duration_since(SystemTime::now()).unwrap_or_default())
        }
    }
}

fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())])
    }

    #[test]
    fn waits_are_in_seconds_milliseconds_or_until_a_date() {
        assert_eq!(requested_wait(&headers("retry-after", "3")), Some(Duration::from_secs(3)));
        assert_eq!(requested_wait(&headers("retry-after-ms", "1500")), Some(Duration::from_millis(1500)));
        let past = requested_wait(&headers("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_eq!(past, Some(Duration::ZERO));
        let future = requested_wait(&headers("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")).unwrap();
        assert!(future > Duration::from_secs(365 * 24 * 3600));
        for wrong in ["soon", "-1", "NaN", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08"] {
            assert_eq!(requested_wait(&headers("retry-after", wrong)), None, "{wrong}");
        }
    }
}
