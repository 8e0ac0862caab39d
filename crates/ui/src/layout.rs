//! The frame of every page: head, navigation, landmarks.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use history::Summary;
use maud::{DOCTYPE, Markup, html};

/// The parts of the site that the navigation names. A page of something new gets its place here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// The executions.
    Executions,
    /// The servers and their tools.
    Servers,
    /// The saved programs.
    Programs,
    /// The permissions.
    Permissions,
    /// The open questions about permissions.
    Questions,
    /// The savings of code mode.
    Savings,
    /// A page of no part.
    None,
}

/// The parts in the navigation: the section, its address and its name.
const SECTIONS: &[(Section, &str, &str)] = &[
    (Section::Executions, "executions", "Executions"),
    (Section::Questions, "questions", "Questions"),
    (Section::Servers, "servers", "Servers"),
    (Section::Programs, "programs", "Programs"),
    (Section::Permissions, "permissions", "Permissions"),
    (Section::Savings, "savings", "Savings"),
];

/// A page without its surroundings, which show how many questions are open.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    title: String,
    section: Section,
    body: Markup,
}

/// A page. All addresses are relative to the folder of the pages.
pub(crate) fn page(title: &str, section: Section, body: Markup) -> Document {
    Document { title: title.to_owned(), section, body }
}

impl Document {
    /// The whole page, when this number of questions is open.
    pub(crate) fn whole(&self, open: usize) -> Markup {
        let Document { title, section, body } = self;
        let title = format!("{title} – Toolsmith");
        let shown = if open > 0 { format!("({open}) {title}") } else { title.clone() };
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title data-page=(title) { (shown) }
                    link rel="icon" type="image/svg+xml" href="icon.svg";
                    link rel="stylesheet" href="style.css";
                    // Not deferred: no button of the page works before it.
                    script src="script.js" {}
                }
                body {
                    a.skip href="#main" { "Skip to the content" }
                    header {
                        a.brand href="executions" { "Toolsmith" }
                        nav aria-label="Pages" {
                            ul {
                                @for (of, address, name) in SECTIONS {
                                    li {
                                        a href=(address) aria-current=[(of == section).then_some("page")] {
                                            (name)
                                            @if *of == Section::Questions { (count_badge(open)) }
                                        }
                                    }
                                }
                            }
                        }
                        p #connection role="status" {}
                        p #news .hidden role="status" {}
                    }
                    main #main tabindex="-1" { (body) }
                }
            }
        }
    }
}

/// A page in an answer. The routes put its surroundings around it.
impl IntoResponse for Document {
    fn into_response(self) -> Response {
        let mut response = [(header::CONTENT_TYPE, "text/html; charset=utf-8")].into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// The number of open questions in the navigation. The script changes it in open pages.
fn count_badge(open: usize) -> Markup {
    html! {
        span #open-count .count hidden[open == 0] { " " span { (open) } span.hidden { " waiting for you" } }
    }
}

/// A page that goes on to the first page of this folder by itself.
pub(crate) fn forward(folder: &str) -> Markup {
    let to = format!("/{folder}/executions");
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content=(format!("0; url={to}"));
                title { "Toolsmith" }
                link rel="icon" type="image/svg+xml" href=(format!("/{folder}/icon.svg"));
            }
            body { p { a href=(to) { "Open Toolsmith" } } }
        }
    }
}

/// The status of an execution in the history.
pub(crate) fn status(summary: &Summary) -> Markup {
    if summary.is_waiting {
        return html! { span class="badge busy" { "waiting for you" } };
    }
    badge(&summary.status)
}

/// A status. Its class chooses a colour; the word says the same.
pub(crate) fn badge(status: &str) -> Markup {
    let class = match status {
        "ok" => "good",
        "running" | "input_required" => "busy",
        "cancelled" | "interrupted" | "busy" => "idle",
        _ => "bad",
    };
    html! { span class=(format!("badge {class}")) { (crate::text::line(&status.replace('_', " "))) } }
}
