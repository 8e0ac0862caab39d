//! The instructions for a client's own prompt. Some clients show a model only their first 247 characters.

use answer::client_profile::ClientProfile;
use config::Config;

/// When to use the tool.
const CODE_MODE: &str = "If a task needs several tool calls, do all of it in one execute_code snippet, from the first \
                         step: it loops, filters and joins, and only what it prints or returns comes back. For just \
                         one call, use that tool directly if you can.";

/// The way from code in `exec` to the tool, whatever name the user gave the server.
const EXECUTE_IN_EXEC: &str = "execute_code: one Rust snippet over all MCP servers (loops, joins, pages). In `exec`: \
                               const t = ALL_TOOLS.find(t => /__execute_code$/.test(t.name)); read t.description \
                               once, then (await tools[t.name]({code})).content[0].text.";

/// The way from code in `exec` to tools that are not for snippets. Their descriptions name their servers.
const TOOLS_IN_EXEC: &str = "Tools of several MCP servers. In `exec`: ALL_TOOLS.filter(t => \
                             t.description.includes(\"(server: \")) lists them with their types; \
                             await tools[t.name](args) returns { content, structuredContent }.";

/// The user's first step, if the session begins without servers.
const NO_SERVERS: &str = "This session begins without MCP servers. The user adds some in a terminal: `toolsmith adopt \
                          CLIENT`, or `toolsmith mcp add NAME -- COMMAND ARGUMENTS…`.";

/// The instructions, if there is anything to say.
pub(crate) fn instructions(client: &ClientProfile, config: &Config) -> Option<String> {
    let usage = match (config.code_mode.enabled, client.has_exec) {
        (true, true) => Some(EXECUTE_IN_EXEC),
        (true, false) => Some(CODE_MODE),
        (false, true) => Some(TOOLS_IN_EXEC),
        // There is no tool that the instructions could describe.
        (false, false) => None,
    };
    let is_empty = config.servers.is_empty() && config.absent.is_empty() && config.access.is_none();
    let first = config.untrusted.as_deref().or(is_empty.then_some(NO_SERVERS));
    let lines: Vec<&str> = usage.into_iter().chain(first).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use answer::client_profile::CLIENTS;

    #[test]
    fn every_client_shows_the_instructions_whole() {
        let shortest =
            CLIENTS.iter().map(|client| client.instructions_shown).filter(|shown| *shown > 0).min();
        for text in [CODE_MODE, EXECUTE_IN_EXEC, TOOLS_IN_EXEC, NO_SERVERS] {
            assert!(text.chars().count() <= shortest.unwrap(), "{}: {text}", text.chars().count());
        }
    }
}
