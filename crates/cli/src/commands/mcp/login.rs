//! `toolsmith mcp login|logout|client-metadata`: logs in to servers and out again, and describes this client to
//! authorization servers.

use execution::setup::{configure, server};
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::terminal_host::login;
use terminal::Terminal;

use crate::arguments::{ClientMetadataArguments, LoginArguments, NameArguments};

/// Runs `mcp login` and returns the exit code.
pub(crate) async fn login(arguments: &LoginArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let config = configure(&arguments.place.options())?;
    let connection = &server(&config, &arguments.name)?.connection;
    let done = if arguments.no_browser {
        login::from_anywhere(connection, &terminal.prompt(), &terminal.notifier()).await
    } else {
        login::at(connection, &terminal.notifier()).await
    };
    if done.is_ok() {
        terminal.note(&format!("logged in to {}", arguments.name));
    }
    terminal.flush().await.map_err(Failure::output)?;
    Ok(done.map(|()| exit_code::OK)?)
}

/// Runs `mcp client-metadata` and returns the exit code.
pub(crate) async fn client_metadata(arguments: &ClientMetadataArguments) -> Result<u8, Failure> {
    let document = mcp::ClientMetadata::at(&arguments.address).map_err(Failure::command_line)?;
    let terminal = Terminal::new(false, false);
    terminal.print(&serde_json::to_string_pretty(&document).map_err(Failure::system)?);
    terminal.flush().await.map_err(Failure::output)?;
    Ok(exit_code::OK)
}

/// Runs `mcp logout` and returns the exit code.
pub(crate) async fn logout(arguments: &NameArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let config = configure(&arguments.place.options())?;
    let had_tokens = mcp::logout(&server(&config, &arguments.name)?.connection).await?;
    let name = &arguments.name;
    terminal.note(&if had_tokens {
        format!("deleted the tokens of {name}")
    } else {
        format!("there are no tokens for {name}")
    });
    terminal.flush().await.map_err(Failure::output)?;
    Ok(exit_code::OK)
}
