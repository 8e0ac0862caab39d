//! What is around every page: head, navigation, landmarks.

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
    /// What is allowed.
    Permissions,
    /// The open questions about permissions.
    Questions,
    /// What code mode saved.
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

/// A whole page. All addresses are relative to the folder of the pages.
pub(crate) fn page(title: &str, section: Section, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – Toolsmith" }
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
                                li { a href=(address) aria-current=[(*of == section).then_some("page")] { (name) } }
                            }
                        }
                    }
                    p #connection role="status" {}
                }
                main #main tabindex="-1" { (body) }
            }
        }
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

/// The status of an execution. Its class chooses a colour; the word says the same.
pub(crate) fn badge(status: &str) -> Markup {
    let class = match status {
        "ok" => "good",
        "running" | "input_required" => "busy",
        "cancelled" | "interrupted" | "busy" => "idle",
        _ => "bad",
    };
    html! { span class=(format!("badge {class}")) { (crate::text::line(&status.replace('_', " "))) } }
}
