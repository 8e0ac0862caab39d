//! `toolsmith ui`: serves the page of the history to browsers on this machine.

use gateway::exit_code;
use gateway::failure::Failure;
use tokio_util::sync::CancellationToken;
use ui::Page;

use crate::arguments::UiArguments;

/// Serves until a signal; returns the exit code.
pub(crate) async fn ui(arguments: &UiArguments, stop: CancellationToken) -> Result<u8, Failure> {
    let announce = |address: &str| terminal::say(format_args!("open in a browser (works once): {address}\n"));
    let page = Page::bind(arguments.address, "--address", history::file()?, announce).await?;
    page.serve(stop).await;
    Ok(exit_code::OK)
}
