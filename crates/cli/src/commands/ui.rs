//! `toolsmith ui`: serves the page of the history to browsers on this machine. `serve --ui` has the same page.

use std::net::SocketAddr;

use config::Needs;
use gateway::exit_code;
use gateway::failure::Failure;
use server::open_questions::OpenQuestions;
use server::options::ServeOptions;
use tokio_util::sync::CancellationToken;
use ui::Page;

use crate::arguments::{ServeArguments, UiArguments};

/// Serves until a signal; returns the exit code.
pub(crate) async fn ui(arguments: &UiArguments, stop: CancellationToken) -> Result<u8, Failure> {
    let configuration = arguments.place.options_with(Needs::Nothing).or_demo();
    let page = bind(arguments.address, "--address", arguments.allow_actions).await?;
    let page = page.with_configuration(configuration, arguments.place.words());
    page.serve(stop).await;
    Ok(exit_code::OK)
}

/// `toolsmith serve`, with the page if it is requested; returns the exit code.
pub(crate) async fn serve(arguments: ServeArguments, stop: CancellationToken) -> Result<u8, Failure> {
    let (page, words) = (arguments.page, arguments.place.words());
    let mut options = ServeOptions::from(arguments);
    let Some(address) = page.ui else { return server::serve::serve(options, stop).await };
    let questions = OpenQuestions::new(page.allow_actions);
    options.questions = Some(questions.clone());
    let page = bind(address, "--ui", page.allow_actions).await?;
    let page = page.with_questions(questions).with_configuration(options.load.clone(), words);
    let closing = CancellationToken::new();
    let serving = async {
        let done = server::serve::serve(options, stop).await;
        closing.cancel();
        done
    };
    let ((), done) = tokio::join!(page.serve(closing.clone()), serving);
    done
}

async fn bind(address: SocketAddr, option: &str, allow_actions: bool) -> Result<Page, Failure> {
    // Not on standard output, which carries the protocol of `serve`.
    let announce = |address: &str| terminal::say(format_args!("open in a browser (works once): {address}\n"));
    let mut page = Page::bind(address, option, history::file()?, announce).await?;
    if allow_actions {
        page.allow_actions()?;
    }
    Ok(page)
}
