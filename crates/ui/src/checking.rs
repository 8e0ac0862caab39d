//! Checks saved programs against the current tools of the servers, by `toolsmith program check`.

use std::time::Duration;

use axum::response::Response;
use gateway::exit_code;
use maud::{Markup, html};

use crate::access::Visitor;
use crate::action::{Action, done};
use crate::configured::address;
use crate::error::PageError;
use crate::site::Site;

/// The time that the page waits for the compiler: for one program, and for all.
const LONGEST: [Duration; 2] = [Duration::from_secs(120), Duration::from_secs(900)];

/// The button that checks a program, or all of them; nothing if the page only reads.
pub(crate) fn button(name: Option<&str>, visitor: &Visitor) -> Markup {
    html! {
        @if visitor.may_act() {
            form.actions action="check" method="post" {
                (visitor.field())
                @if let Some(name) = name { input type="hidden" name="name" value=(name); }
                button type="submit" { (if name.is_some() { "Check" } else { "Check all" }) }
            }
        }
    }
}

/// Checks the program in the form, or all, and opens the page with the result.
///
/// # Errors
/// If `program check` can't be run, fails, or takes too long.
pub(crate) async fn check(site: &Site, action: &Action) -> Result<Response, PageError> {
    let name = action.form.get("name").filter(|name| !name.is_empty());
    let names: Vec<&str> = name.into_iter().collect();
    let checking = site.commands.run(&["program", "check", "--json"], &names, String::new())?;
    let longest = LONGEST[usize::from(name.is_none())];
    let checked = tokio::time::timeout(longest, checking)
        .await
        .map_err(|_| PageError::failed("the compiler did not finish in time; try again"))??;
    let codes = [exit_code::OK, exit_code::COMPILE].map(i32::from);
    match (checked.code, name) {
        (Some(code), None) if codes.contains(&code) => Ok(done("programs")),
        (Some(code), Some(name)) if codes.contains(&code) => {
            Ok(done(&format!("{}#check", address("program", &[("name", name)]))))
        }
        _ => Err(PageError::wrong(checked.messages)),
    }
}
