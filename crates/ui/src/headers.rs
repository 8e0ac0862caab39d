//! The headers of every answer: no script but ours, no other origin, no copy in a cache.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

/// The policy of pages (W3C, "Content Security Policy Level 3"; "Trusted Types"): files of this server only, nothing
/// inline, no frames, and one place in the script that turns text into a document.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types toolsmith",
);

const OTHERS: [(HeaderName, HeaderValue); 7] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    // With `no-referrer`, browsers send `Origin: null` with the forms of these pages (WHATWG, "Fetch", section 3.1).
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static("camera=(), microphone=(), geolocation=(), clipboard-read=()"),
    ),
];

/// Adds the headers to every answer; an answer can have a stricter policy of its own.
pub(crate) async fn add(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(POLICY);
    headers.extend(OTHERS);
    response
}

/// Whether a browser says that another site, or another port, made a request (W3C, "Fetch Metadata").
pub(crate) fn is_of_another_site(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    site.is_some_and(|site| site != "same-origin" && site != "none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_other_sites_and_ports_are_recognized() {
        let of = |site: &'static str| {
            is_of_another_site(&HeaderMap::from_iter([(
                HeaderName::from_static("sec-fetch-site"),
                HeaderValue::from_static(site),
            )]))
        };
        assert!(!is_of_another_site(&HeaderMap::new()) && !of("same-origin") && !of("none"));
        assert!(of("cross-site") && of("same-site") && of("anything"));
    }
}
