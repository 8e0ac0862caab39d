//! `toolsmith mcp list-resources|list-resource-templates|read-resource|list-prompts|get-prompt`.

use std::sync::Arc;

use config::Config;
use execution::setup::{configure, server};
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::pins::Pins;
use mcp::{Items, Session};
use serde_json::Value;
use serde_json::value::RawValue;
use server::tool_result_files::{RESULT_LIMIT, Results};
use terminal::table::show_table;
use terminal::{Terminal, Wait};

use super::support::{print_json, sessions};
use crate::arguments::{OneArguments, OutputArguments, PromptArguments, ResourceArguments};

/// The kind of list.
#[derive(Clone, Copy)]
pub(super) enum List {
    Resources,
    Templates,
    Prompts,
}

/// Prints a list and returns the exit code.
pub(super) async fn list(arguments: &OneArguments, list: List, terminal: &Terminal) -> Result<u8, Failure> {
    let config = configure(&arguments.place.options())?;
    let response = session_of(&config, &arguments.name, terminal, async |session| match list {
        List::Resources => session.list_resources().await,
        List::Templates => session.list_resource_templates().await,
        List::Prompts => session.list_prompts().await,
    });
    let Items { items, warnings } = response.await?;
    warnings.iter().for_each(|warning| terminal.note(warning));
    if arguments.output.json {
        print_json(&Value::Array(items), terminal);
        return Ok(exit_code::OK);
    }
    if items.is_empty() {
        let what = match list {
            List::Resources => "resources",
            List::Templates => "resource templates",
            List::Prompts => "prompts",
        };
        terminal.note(&format!("{} has no {what}", arguments.name));
        return Ok(exit_code::OK);
    }
    let columns = match list {
        List::Resources => ["uri", "name", "mimeType", "description"],
        List::Templates => ["uriTemplate", "name", "mimeType", "description"],
        List::Prompts => ["name", "title", "arguments", "description"],
    };
    let rows = items.iter().map(|item| columns.iter().map(|column| cell(item, column)).collect());
    show_table(terminal, &columns, rows);
    Ok(exit_code::OK)
}

/// A member as the text of a cell; the table escapes it.
fn cell(item: &Value, member: &str) -> String {
    match item.get(member) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(arguments)) => {
            let name = |argument: &Value| {
                let required = if argument["required"] == true { "" } else { "?" };
                argument["name"].as_str().map(|name| format!("{name}{required}"))
            };
            arguments.iter().filter_map(name).collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    }
}

/// Prints the contents of a resource and returns the exit code.
pub(super) async fn read(arguments: &ResourceArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let OneArguments { name, place, output: OutputArguments { json, .. } } = &arguments.one;
    let config = configure(&place.options())?;
    let response =
        session_of(&config, name, terminal, async |session| session.read_resource(&arguments.uri).await);
    let result = bounded(&response.await?, &config, terminal)?;
    if *json {
        print_json(&result, terminal);
        return Ok(exit_code::OK);
    }
    for content in result["contents"].as_array().into_iter().flatten() {
        match content["text"].as_str() {
            Some(text) => terminal.print(text),
            None => terminal.print(&binary(content)),
        }
    }
    Ok(exit_code::OK)
}

/// Prints the messages of a prompt and returns the exit code.
pub(super) async fn prompt(arguments: &PromptArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let OneArguments { name, place, output: OutputArguments { json, .. } } = &arguments.one;
    let given = arguments.args.iter().cloned().collect();
    let config = configure(&place.options())?;
    let response = session_of(&config, name, terminal, async |session| {
        session.get_prompt(&arguments.prompt, &given).await
    });
    let result = bounded(&response.await?, &config, terminal)?;
    if *json {
        print_json(&result, terminal);
        return Ok(exit_code::OK);
    }
    for message in result["messages"].as_array().into_iter().flatten() {
        let content = &message["content"];
        let text = content["text"].as_str().map_or_else(|| binary(content), str::to_owned);
        terminal.print(&format!("{}: {text}", printable::name(message["role"].as_str().unwrap_or("?"))));
    }
    Ok(exit_code::OK)
}

/// A placeholder for content that is not text.
fn binary(content: &Value) -> String {
    let data = content["blob"].as_str().or_else(|| content["data"].as_str()).unwrap_or_default();
    let mime = content["mimeType"].as_str().unwrap_or("unknown type");
    format!("[{}, about {} bytes; --json prints it]", printable::name(mime), data.len() / 4 * 3)
}

/// Shortens a result to the limit for display; a longer result is saved in full.
fn bounded(raw: &RawValue, config: &Config, terminal: &Terminal) -> Result<Value, Failure> {
    let cache = config::cache_folder()?;
    let bounded =
        Results::new(&cache, config.cache.size).bound(raw, RESULT_LIMIT).map_err(Failure::system)?;
    if let Some(file) = &bounded.file {
        terminal.note(&format!("the full result is in {}", file.display()));
    }
    Ok(bounded.result)
}

/// Sends a request to a server in a separate session.
async fn session_of<T>(
    config: &Arc<Config>,
    name: &str,
    terminal: &Terminal,
    ask: impl AsyncFnOnce(&Session) -> Result<T, mcp::Error>,
) -> Result<T, Failure> {
    let name = &server(config, name)?.connection.name;
    let sessions = sessions(config, Pins::default(), terminal);
    let response = match sessions.start(name).await {
        Ok(opened) => {
            let wait = Wait::answer(name.clone());
            let answer = terminal.notifier().awaiting(&wait, Box::pin(ask(&opened.session))).await;
            answer
                .map_err(|error| error.report(|message| sessions.masker().mask(message).into_owned()).into())
        }
        Err(error) => Err(error.into()),
    };
    sessions.close().await;
    response
}
