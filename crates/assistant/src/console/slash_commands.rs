//! Runs the console's commands, except those for servers.

use std::collections::BTreeMap;

use agent::Block;
use report::{Kind, Report};
use runner::Catalog;
use serde_json::Value;
use terminal::table::{short, table};

use super::chat_session::ChatSession;
use super::highlight;
use super::slash_command::{Command, HELP};
use super::style::Style;

/// Maximum size of a filled-in prompt, in bytes (1 MiB).
const PROMPT_LIMIT: usize = 1 << 20;

/// Maximum size of the generated API that is shown, in bytes.
const API_LIMIT: usize = 20_000;

impl ChatSession {
    /// Runs a command, and returns the message to send to the model, if any.
    ///
    /// # Errors
    /// If the command fails.
    pub(super) async fn run_command(&mut self, command: Command) -> Result<Option<Vec<Block>>, Report> {
        match command {
            Command::Help => self.help(),
            Command::Servers(command) => self.servers.run(&command).await?,
            Command::Model(None) => self.models(),
            Command::Model(Some(name)) => {
                self.choose(&name).map_err(|failure| failure.report)?;
                self.terminal.print(&format!("the model is {name} from the next message on"));
            }
            Command::Code => self.code()?,
            Command::Prompts => self.prompts().await?,
            Command::Resources(query) => self.resources(&query).await?,
            Command::Resource(uri) => self.resource(&uri).await?,
            Command::Prompt { name, arguments } => {
                let blocks = self.prompt(&name, &arguments.into_iter().collect()).await?;
                return Ok(Some(blocks));
            }
            Command::Quit => {}
        }
        Ok(None)
    }

    fn help(&self) {
        let width = HELP.iter().map(|(usage, _)| usage.len()).max().unwrap_or_default();
        let lines = HELP.iter().map(|(usage, what)| format!("{usage:width$}  {what}"));
        self.terminal.print(&lines.collect::<Vec<_>>().join("\n"));
        self.terminal.print(
            "A message continues on the next line after a \\ at the end of a line, inside ```, and after an opening \
             bracket at the end of a line.",
        );
    }

    fn models(&self) {
        let settings = self.now();
        let current = &self.model().entry.reference;
        let rows = settings.config.models.iter().map(|model| {
            let mark = if model.reference == *current { "*" } else { "" };
            let name = model.display_name.clone().unwrap_or_default();
            vec![
                mark.to_owned(),
                model.reference.clone(),
                name,
                model.api.name().to_owned(),
                model.id.clone(),
            ]
        });
        self.terminal.print(&table(&["", "ref", "name", "type", "id"], rows));
    }

    fn code(&self) -> Result<(), Report> {
        let code = self
            .screen
            .snippet()
            .ok_or_else(|| Report::new(Kind::Conversation, "no snippet was run in this conversation"))?;
        let style = Style::of_stdout();
        self.terminal.print_painted(&highlight::rust(printable::lines(&code).trim_end(), style));
        let snapshot = self.live.now();
        let api = api(&code, &snapshot.catalog)?;
        if !api.is_empty() {
            self.terminal.print_painted(&format!("\n{}", highlight::rust(&printable::lines(&api), style)));
        }
        Ok(())
    }

    async fn prompts(&self) -> Result<(), Report> {
        let listed = self.tools.inside().session.list_prompts().await;
        let listed = listed.map_err(unserved)?;
        listed.warnings.iter().for_each(|warning| self.terminal.note(warning));
        if listed.items.is_empty() {
            self.terminal.print("no server offers a prompt");
            return Ok(());
        }
        let rows = listed.items.iter().map(|item| {
            let text = |member: &str| item[member].as_str().unwrap_or_default().to_owned();
            vec![text("name"), arguments(item), text("description")]
        });
        self.terminal.print(&table(&["prompt", "arguments", "description"], rows));
        Ok(())
    }

    async fn prompt(&self, name: &str, arguments: &BTreeMap<String, String>) -> Result<Vec<Block>, Report> {
        let filled = self.tools.inside().session.get_prompt(name, arguments).await;
        let filled = filled.map_err(unserved)?;
        if filled.get().len() > PROMPT_LIMIT {
            let message = format!("the prompt {name} has more than {PROMPT_LIMIT} bytes");
            return Err(Report::new(Kind::Server, message));
        }
        let filled: Value = serde_json::from_str(filled.get()).map_err(unserved)?;
        let messages = filled["messages"].as_array();
        let blocks: Vec<Block> = messages.into_iter().flatten().map(block).collect();
        if blocks.is_empty() {
            return Err(Report::new(Kind::Server, format!("the prompt {name} has no messages")));
        }
        // Show the user what is sent in their name.
        for block in &blocks {
            let text = match block {
                Block::Text { text } => printable::lines(text),
                _ => "[media]".to_owned(),
            };
            let lines: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
            self.terminal.print(&lines.join("\n"));
        }
        Ok(blocks)
    }
}

/// The error of a server that did not do what was requested.
pub(super) fn unserved(error: impl std::error::Error + Send + Sync + 'static) -> Report {
    Report::new(Kind::Server, error.to_string()).caused_by(error)
}

/// The arguments of a prompt; optional ones are marked with a question mark.
fn arguments(prompt: &Value) -> String {
    let arguments = prompt["arguments"].as_array().into_iter().flatten();
    let name = |argument: &Value| {
        let mark = if argument["required"] == true { "" } else { "?" };
        argument["name"].as_str().map(|name| format!("{name}{mark}"))
    };
    arguments.filter_map(name).collect::<Vec<_>>().join(", ")
}

/// Converts a message of a prompt (MCP, `PromptMessage`) to a block of the user's message. Messages of the assistant
/// are marked as such.
fn block(message: &Value) -> Block {
    let content = &message["content"];
    let member = |of: &Value, member: &str| of[member].as_str().map(str::to_owned);
    let text = match (content["type"].as_str(), &content["resource"]) {
        (Some("image" | "audio"), _) => {
            let media_type = member(content, "mimeType").unwrap_or_default();
            return Block::Media {
                media_type,
                data: member(content, "data").unwrap_or_default(),
                name: None,
            };
        }
        (Some("resource"), resource) => member(resource, "text").unwrap_or_else(|| resource.to_string()),
        _ => member(content, "text").unwrap_or_else(|| content.to_string()),
    };
    match message["role"].as_str() {
        Some("assistant") => Block::text(format!("[assistant] {text}")),
        _ => Block::text(text),
    }
}

/// The API that a snippet uses: the signatures of the modules that it names.
fn api(code: &str, catalog: &Catalog) -> Result<String, runner::Error> {
    let mut text = String::new();
    for (module, bindings) in catalog.modules() {
        if !names(code, module) {
            continue;
        }
        text.push_str(&format!("// {}: module {module}\n", short(&bindings.server, 100)));
        let mut once = codegen::Once::default();
        for tool in bindings.tools().iter().filter(|tool| !bindings.is_denied(tool)) {
            let signature = once.signature(&bindings.signature(tool)?);
            if text.len() + signature.len() > API_LIMIT {
                text.push_str("// … and more; `toolsmith codegen` shows all\n");
                return Ok(text);
            }
            text.push_str(signature.trim_end());
            text.push('\n');
        }
    }
    Ok(text)
}

/// Whether a snippet names a module, as a whole word before `::`.
fn names(code: &str, module: &str) -> bool {
    code.match_indices(module).any(|(place, _)| {
        let before = code.get(..place).and_then(|before| before.chars().next_back());
        let after = code.get(place + module.len()..).unwrap_or_default();
        before.is_none_or(|before| !before.is_alphanumeric() && before != '_')
            && after.trim_start().starts_with("::")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_module_is_found_as_a_word_before_a_path_separator() {
        assert!(names("let x = shop::find()", "shop"));
        assert!(names("shop ::find()", "shop"));
        assert!(!names("workshop::find()", "shop"));
        assert!(!names("shop.find(); shopping::x()", "shop"));
    }

    #[test]
    fn prompts_become_the_users_message() {
        let message = |role: &str, content: Value| json!({ "role": role, "content": content });
        assert_eq!(block(&message("user", json!({ "type": "text", "text": "a" }))), Block::text("a"));
        let said = block(&message("assistant", json!({ "type": "text", "text": "b" })));
        assert_eq!(said, Block::text("[assistant] b"));
        let embedded = json!({ "type": "resource", "resource": { "uri": "x:y", "text": "c" } });
        assert_eq!(block(&message("user", embedded)), Block::text("c"));
        let image = json!({ "type": "image", "mimeType": "image/png", "data": "AA==" });
        assert!(matches!(block(&message("user", image)), Block::Media { .. }));
        let prompt = json!({ "arguments": [{ "name": "a", "required": true }, { "name": "b" }] });
        assert_eq!(arguments(&prompt), "a, b?");
    }
}
