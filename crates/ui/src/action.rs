//! A form that changes something: checks that a page of this server sent it, and that it may.
//!
//! ```text
//! .route(&at("take-back"), post(take_back))
//! async fn take_back(State(site): State<Arc<Site>>, action: Action) -> Result<Response, PageError> {
//!     let id = action.required("id")?;
//!     …
//!     Ok(done("permissions"))
//! }
//! ```
//!
//! The page's form has the method POST, the field [`Visitor::field`], and no `enctype`.

use std::sync::Arc;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse as _, Redirect, Response};

use crate::access::{TOKEN, Visitor};
use crate::error::PageError;
use crate::query::Query;
use crate::site::Site;

/// Maximum length of a form, in bytes (1 MiB): the largest fields are arguments and programs.
const LONGEST: usize = 1 << 20;

/// The fields of a form that a visitor may send. As a parameter of a handler, it refuses all other requests.
#[derive(Debug)]
pub(crate) struct Action {
    /// The fields.
    pub(crate) form: Query,
    /// The browser that sent it.
    pub(crate) visitor: Visitor,
}

impl Action {
    /// The value of a field.
    ///
    /// # Errors
    /// If the form does not have it, or it is empty.
    pub(crate) fn required(&self, name: &str) -> Result<&str, PageError> {
        let value = self.form.get(name).filter(|value| !value.is_empty());
        value.ok_or_else(|| PageError::wrong(format!("the form has no {name}")))
    }
}

impl FromRequest<Arc<Site>> for Action {
    type Rejection = PageError;

    async fn from_request(request: Request, _site: &Arc<Site>) -> Result<Self, PageError> {
        let (head, body) = request.into_parts();
        let visitor = head.extensions.get::<Visitor>().cloned().unwrap_or_default();
        check(&head.method, &head.headers, &visitor)?;
        let body = to_bytes(body, LONGEST).await;
        let body =
            body.map_err(|_| PageError::wrong(format!("the form is longer than {LONGEST} bytes, or cut")))?;
        let form = Query::of_form(&body);
        if !form.get(TOKEN).is_some_and(|shown| visitor.has_token(shown)) {
            return Err(PageError::forbidden(
                "the form is not of a page that Toolsmith showed in this browser: open the page again, and repeat it",
            ));
        }
        Ok(Action { form, visitor })
    }
}

/// Checks what precedes the form. The listener has refused a foreign `Host` and `Origin`.
fn check(method: &Method, headers: &HeaderMap, visitor: &Visitor) -> Result<(), PageError> {
    if method != Method::POST {
        return Err(PageError::wrong("this address takes forms only"));
    }
    if !visitor.may_act() {
        return Err(PageError::read_only());
    }
    // Browsers send at least one of these with a form (WHATWG, "Fetch", section 3.1; W3C, "Fetch Metadata").
    let is_own = headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin");
    if !is_own && !headers.contains_key(header::ORIGIN) {
        return Err(PageError::forbidden("the form does not say which page it is of (Origin)"));
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(PageError::wrong("the form must have the type application/x-www-form-urlencoded"));
    }
    Ok(())
}

/// The answer after an action: the browser opens `page`, an address relative to the folder of the pages, so that
/// reloading it does not repeat the action.
pub(crate) fn done(page: &str) -> Response {
    Redirect::to(page).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::StatusCode;

    use super::*;
    use crate::access::Access;
    use crate::command::Commands;
    use crate::store::Store;

    const FORM: &str = "application/x-www-form-urlencoded";
    const OWN: (&str, &str) = ("origin", "http://127.0.0.1:4000");

    /// A site, a browser that has opened it, and that browser's token.
    fn opened(allow: bool) -> (Arc<Site>, Visitor, String) {
        let (mut access, ticket) = Access::new().unwrap();
        if allow {
            access.allow_actions().unwrap();
        }
        let cookie = access.open(&ticket).unwrap().unwrap().cookie;
        let cookie = cookie.split(';').next().unwrap();
        let visitor =
            access.visitor(&HeaderMap::from_iter([(header::COOKIE, cookie.parse().unwrap())])).unwrap();
        let field = visitor.field().0;
        let token =
            field.split("value=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        let token = token.to_owned();
        let store = Store::new(std::path::PathBuf::new());
        (
            Arc::new(Site {
                access,
                store,
                questions: None,
                commands: Commands::new(Vec::new()),
                announce: Box::new(|_| {}),
                configuration: config::LoadOptions::default(),
            }),
            visitor,
            token,
        )
    }

    async fn send(
        (site, visitor): (&Arc<Site>, Option<&Visitor>),
        method: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Result<Action, StatusCode> {
        let mut request = Request::builder().method(method).uri("/x");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::from(body)).unwrap();
        request.extensions_mut().extend(
            visitor
                .cloned()
                .map(|visitor| {
                    let mut extensions = axum::http::Extensions::new();
                    extensions.insert(visitor);
                    extensions
                })
                .unwrap_or_default(),
        );
        Action::from_request(request, site).await.map_err(|refused| refused.into_response().status())
    }

    #[tokio::test]
    async fn a_form_of_the_page_is_accepted() {
        let (site, visitor, token) = opened(true);
        for own in [OWN, ("sec-fetch-site", "same-origin")] {
            let headers = [own, ("content-type", "application/x-www-form-urlencoded; charset=UTF-8")];
            let body = format!("token={token}&name=a+b&empty=");
            let action = send((&site, Some(&visitor)), "POST", &headers, body).await.unwrap();
            assert_eq!(action.required("name").unwrap(), "a b");
            assert!(action.required("empty").is_err() && action.required("other").is_err());
        }
        assert_eq!(done("list?x=1").headers()[header::LOCATION], "list?x=1");
    }

    #[tokio::test]
    async fn other_forms_are_refused() {
        let (site, visitor, token) = opened(true);
        let other = opened(true).2;
        let by = (&site, Some(&visitor));
        let right = [OWN, ("content-type", FORM)];
        let body = || format!("token={token}");
        let forbidden = Some(StatusCode::FORBIDDEN);
        let refused = |sent: Result<Action, StatusCode>| sent.err();
        assert_eq!(refused(send(by, "POST", &right, body()).await), None);
        for wrong in [String::new(), "token=".to_owned(), format!("token={other}"), format!("name={token}")] {
            assert_eq!(refused(send(by, "POST", &right, wrong.clone()).await), forbidden, "{wrong}");
        }
        assert_eq!(refused(send((&site, None), "POST", &right, body()).await), forbidden, "no visitor");
        let nowhere = [("content-type", FORM)];
        assert_eq!(refused(send(by, "POST", &nowhere, body()).await), forbidden, "no origin");
        let wrong = Some(StatusCode::BAD_REQUEST);
        assert_eq!(refused(send(by, "GET", &right, body()).await), wrong);
        assert_eq!(refused(send(by, "POST", &[OWN, ("content-type", "text/plain")], body()).await), wrong);
        let long = format!("{}&text={}", body(), "a".repeat(LONGEST));
        assert_eq!(refused(send(by, "POST", &right, long).await), wrong);
    }

    #[tokio::test]
    async fn a_page_that_only_reads_refuses_forms() {
        let (site, visitor, token) = opened(false);
        assert!(token.is_empty());
        for body in ["token=", ""] {
            let headers = [OWN, ("content-type", FORM)];
            let sent = send((&site, Some(&visitor)), "POST", &headers, body.to_owned()).await;
            assert_eq!(sent.err(), Some(StatusCode::FORBIDDEN));
        }
    }
}
