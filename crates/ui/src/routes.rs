//! The routes: the page that answers each request.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Path, RawQuery, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use history::Reader;
use server::http::local;

use crate::access::Visitor;
use crate::action::{Action, done};
use crate::configured::Configured;
use crate::error::PageError;
use crate::layout::Document;
use crate::query::Query;
use crate::site::Site;
use crate::{
    again, checking, compare, execution, headers, layout, list, output, permissions, programs, programs_one,
    questions, saving, savings, servers, servers_one, servers_tool, try_call,
};

/// The path before a ticket.
pub(crate) const OPEN: &str = "/open/";

/// The header with the version of what a page shows.
const VERSION: &str = "toolsmith-version";

/// The header with the number of open questions.
const OPEN_QUESTIONS: &str = "toolsmith-open-questions";

/// The policy of an image: it is opened alone, and nothing in it runs.
const IMAGE_POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; sandbox; frame-ancestors 'none'");

/// The files of pages, which are part of the program.
const STYLE: &str = include_str!("../assets/style.css");
const SCRIPT: &str = include_str!("../assets/script.js");
const ICON: &str = include_str!("../assets/icon.svg");

/// All routes. Those that change something take a form, as an [`Action`]; all others only read.
pub(crate) fn routes(site: Arc<Site>) -> Router {
    let at = |page: &str| format!("/{}/{page}", site.access.folder());
    let pages = Router::new()
        .route(&at("executions"), get(list_page))
        .route(&at("execution"), get(execution_page))
        .route(&at("json"), get(json))
        .route(&at("image"), get(image))
        .route(&at("compare"), get(compare_page))
        .route(&at("questions"), get(questions_page))
        .route(&at("answer"), post(answer))
        .route(&at("again"), get(again_page).post(run_again))
        .route(&at("check"), post(check))
        .route(&at("save"), get(save_form).post(save))
        .route(&at("savings"), get(savings_page))
        .route(&at("servers"), get(servers_page))
        .route(&at("server"), get(server_page))
        .route(&at("tool"), get(tool_page))
        .route(&at("programs"), get(programs_page))
        .route(&at("program"), get(program_page))
        .route(&at("permissions"), get(permissions_page))
        .route(&at("take-back"), post(take_back))
        .route(&at("try"), post(call_page))
        .route(&at("version"), get(version))
        .route(&at("style.css"), get(|| async { file("text/css; charset=utf-8", STYLE) }))
        .route(&at("script.js"), get(|| async { file("text/javascript; charset=utf-8", SCRIPT) }))
        .route(&at("icon.svg"), get(|| async { file("image/svg+xml", ICON) }))
        .layer(middleware::from_fn_with_state(site.clone(), unless_unknown));
    Router::new()
        .route(&format!("{OPEN}{{ticket}}"), get(open))
        .merge(pages)
        .fallback(|| async { (StatusCode::NOT_FOUND, "there is no such page\n") })
        .with_state(site)
        .layer(middleware::from_fn(headers::add))
}

/// Answers a request of a browser that opened the page with a ticket.
async fn unless_unknown(State(site): State<Arc<Site>>, mut request: Request, next: Next) -> Response {
    if headers::is_of_another_site(request.headers()) {
        return (StatusCode::FORBIDDEN, "the request is refused: another page made it\n").into_response();
    }
    let Some(visitor) = site.access.visitor(request.headers()) else {
        let why = "this browser has not opened the page yet: open the address that Toolsmith printed last; each \
                   address opens it once\n";
        return (StatusCode::FORBIDDEN, why).into_response();
    };
    if !local::admit(&request) {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many connections are open; close some pages\n")
            .into_response();
    }
    request.extensions_mut().insert(visitor);
    let mut response = next.run(request).await;
    if let Some(document) = response.extensions_mut().remove::<Document>() {
        let whole = document.whole(site.open_questions().await).into_string();
        *response.body_mut() = whole.into();
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    response
}

/// Exchanges a ticket for a cookie. A redirection would be part of the navigation of a foreign page that links here, for
/// which browsers do not send a strict cookie; so the page goes on by itself.
async fn open(State(site): State<Arc<Site>>, Path(ticket): Path<String>) -> Response {
    let opened = match site.access.open(&ticket) {
        Ok(Some(opened)) => opened,
        Ok(None) => {
            let why = "this address was used before, or is not complete: open the address that Toolsmith printed last\n";
            return (StatusCode::FORBIDDEN, why).into_response();
        }
        Err(error) => return (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    };
    (site.announce)(&opened.ticket);
    let page = layout::forward(site.access.folder()).into_string();
    let cookie = [(header::SET_COOKIE, opened.cookie)];
    (cookie, file("text/html; charset=utf-8", page)).into_response()
}

async fn list_page(site: State<Arc<Site>>, RawQuery(query): RawQuery) -> Result<Response, PageError> {
    read(site, query, list::page).await
}

async fn execution_page(
    site: State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    read(site, query, move |reader, query| execution::page(reader, id(query)?, query, &visitor)).await
}

/// The form that saves the snippet of an execution as a program.
async fn save_form(
    site: State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    read(site, query, move |reader, query| saving::form(reader, id(query)?, &visitor)).await
}

/// Saves a program.
async fn save(State(site): State<Arc<Site>>, action: Action) -> Result<Document, PageError> {
    saving::save(&site, &action).await
}

/// Checks saved programs.
async fn check(State(site): State<Arc<Site>>, action: Action) -> Result<Response, PageError> {
    checking::check(&site, &action).await
}

/// The question whether a snippet is run again.
async fn again_page(
    site: State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    read(site, query, move |reader, query| again::page(reader, id(query)?, &visitor)).await
}

/// Runs a snippet again.
async fn run_again(State(site): State<Arc<Site>>, action: Action) -> Result<Response, PageError> {
    again::run(&site, &action).await
}

async fn compare_page(site: State<Arc<Site>>, RawQuery(query): RawQuery) -> Result<Response, PageError> {
    read(site, query, compare::page).await
}

async fn savings_page(site: State<Arc<Site>>) -> Result<Response, PageError> {
    read(site, None, |reader, _| savings::page(reader)).await
}

async fn servers_page(site: State<Arc<Site>>) -> Result<Response, PageError> {
    read_configured(site, None, |reader, configured, _| servers::page(reader, configured)).await
}

async fn server_page(site: State<Arc<Site>>, RawQuery(query): RawQuery) -> Result<Response, PageError> {
    read_configured(site, query, servers_one::page).await
}

async fn tool_page(
    site: State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    read_configured(site, query, move |reader, configured, query| {
        servers_tool::page(reader, configured, query, &visitor)
    })
    .await
}

/// Calls a tool with the arguments of a form.
async fn call_page(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    action: Action,
) -> Result<Document, PageError> {
    let options = site.configuration.clone();
    let configured = site.store.read(move |_| Configured::read(&options)).await?;
    try_call::page(configured, &action, &visitor).await
}

async fn programs_page(
    site: State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
) -> Result<Response, PageError> {
    read_configured(site, None, move |reader, configured, _| programs::page(reader, configured, &visitor))
        .await
}

async fn program_page(
    site: State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    read_configured(site, query, move |reader, configured, query| {
        programs_one::page(reader, configured, query, &visitor)
    })
    .await
}

async fn permissions_page(
    site: State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
) -> Result<Response, PageError> {
    read_configured(site, None, move |_, configured, _| Ok(permissions::page(configured, &visitor))).await
}

/// Takes back a permanent answer.
async fn take_back(State(site): State<Arc<Site>>, action: Action) -> Result<Response, PageError> {
    site.store.read(move |_| permissions::take_back(&action)).await?;
    Ok(done("permissions"))
}

/// The open questions.
async fn questions_page(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
) -> Result<Response, PageError> {
    let (version, questions) = (site.version(), site.questions.clone());
    let page = site
        .store
        .read(move |reader| match questions {
            Some(questions) => Ok(questions::page(&questions, &visitor)),
            None => questions::elsewhere(reader),
        })
        .await?;
    Ok(([(VERSION, version)], page).into_response())
}

/// Answers a question.
async fn answer(State(site): State<Arc<Site>>, action: Action) -> Result<Response, PageError> {
    questions::answer(site.questions.as_deref(), &action)?;
    Ok(done("questions"))
}

/// Everything that is kept of an execution, as a file.
async fn json(
    State(site): State<Arc<Site>>,
    RawQuery(query): RawQuery,
) -> Result<impl axum::response::IntoResponse, PageError> {
    let query = Query::of(query.as_deref())?;
    let json = site
        .store
        .read(move |reader| {
            let execution = execution::read(reader, id(&query)?)?;
            serde_json::to_vec(&execution).map_err(|error| PageError::failed(error.to_string()))
        })
        .await?;
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CONTENT_DISPOSITION, "attachment")];
    Ok((headers, json))
}

/// An image that a snippet emitted.
async fn image(
    State(site): State<Arc<Site>>,
    RawQuery(query): RawQuery,
) -> Result<impl axum::response::IntoResponse, PageError> {
    let query = Query::of(query.as_deref())?;
    let work = move |reader: Option<&Reader>| {
        let execution = execution::read(reader, id(&query)?)?;
        let part = query.number("part")?.and_then(|part| usize::try_from(part).ok());
        let image = part.and_then(|part| output::image(&execution.outcome["content"][part]));
        image.ok_or_else(|| PageError::missing("this part of the content is no image that can be shown"))
    };
    let output::Image { media_type, bytes } = site.store.read(work).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_SECURITY_POLICY, IMAGE_POLICY),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("inline")),
    ];
    Ok((headers, bytes))
}

/// A text that changes with the history, so that an open page knows when to read itself again; and the open questions.
async fn version(State(site): State<Arc<Site>>) -> Response {
    let open = site.open_questions().await.to_string();
    ([(OPEN_QUESTIONS, open)], site.version()).into_response()
}

async fn read(
    State(site): State<Arc<Site>>,
    query: Option<String>,
    page: impl FnOnce(Option<&Reader>, &Query) -> Result<Document, PageError> + Send + 'static,
) -> Result<Response, PageError> {
    let query = Query::of(query.as_deref())?;
    let version = site.version();
    let document = site.store.read(move |reader| page(reader, &query)).await?;
    Ok(([(VERSION, version)], document).into_response())
}

/// Like [`read`], with the configuration.
async fn read_configured(
    site: State<Arc<Site>>,
    query: Option<String>,
    page: impl FnOnce(Option<&Reader>, &Configured, &Query) -> Result<Document, PageError> + Send + 'static,
) -> Result<Response, PageError> {
    let options = site.configuration.clone();
    read(site, query, move |reader, query| page(reader, &Configured::read(&options)?, query)).await
}

fn id(query: &Query) -> Result<&str, PageError> {
    query.get("id").ok_or_else(|| PageError::wrong("the address names no execution: add ?id=ID"))
}

fn file(media_type: &'static str, content: impl Into<axum::body::Body>) -> Response {
    ([(header::CONTENT_TYPE, media_type)], content.into()).into_response()
}
