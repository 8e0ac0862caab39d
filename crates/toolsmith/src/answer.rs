//! A model's call of one of the tools that it is offered, and the answer that it reads.

use std::time::Duration;

use config::Serve;
use gateway::reference::{DescribeTools, ExecuteCode, FOUND_AT_MOST, SearchTools, found_by_default};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use snippet::Code;

use crate::{Error, Toolsmith};

/// The answer to a model's call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The content blocks of MCP's `CallToolResult`: texts, and images that the snippet emits.
    pub content: Vec<Value>,
    /// Whether the call failed. The model can try again.
    pub is_error: bool,
}

impl Answer {
    /// Its texts as one.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| block["text"].as_str());
        texts.collect::<Vec<_>>().join("\n")
    }

    fn of(mut result: Value) -> Self {
        let content = result["content"].as_array_mut().map(std::mem::take).unwrap_or_default();
        Answer { content, is_error: result["isError"] == true }
    }
}

impl From<&str> for Answer {
    /// A failure of the call with this text.
    fn from(failure: &str) -> Self {
        Answer::of(answer::failure(failure))
    }
}

impl Toolsmith {
    /// Answers a model's call of one of its [`definitions`](Toolsmith::definitions): runs the snippet, or looks tools
    /// up. Long texts are cut to head and tail. Wrong arguments, and a snippet that fails, are answers as well.
    ///
    /// ```no_run
    /// # async fn example(toolsmith: toolsmith::Toolsmith) -> Result<(), toolsmith::Error> {
    /// let answer = toolsmith.answer("execute_code", serde_json::json!({ "code": "6 * 7" })).await?;
    /// assert_eq!(answer.text(), "42");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A failure of the host.
    pub async fn answer(&self, tool: &str, arguments: Value) -> Result<Answer, Error> {
        let answer = match tool {
            "execute_code" => match read(tool, arguments) {
                Ok(arguments) => self.executed(arguments).await?,
                Err(wrong) => wrong,
            },
            "search_tools" => match read(tool, arguments) {
                Ok(SearchTools { query, server, limit }) => {
                    let limit = limit.unwrap_or_else(|| found_by_default(&query)).min(FOUND_AT_MOST);
                    text(&self.reference().await?.search_text(&query, server.as_deref(), limit))
                }
                Err(wrong) => wrong,
            },
            "describe_tools" => match read(tool, arguments) {
                Ok(DescribeTools { tools }) => {
                    text(&self.reference().await?.describe_text(&tools, |_, _| None))
                }
                Err(wrong) => wrong,
            },
            _ => format!("unknown tool {tool:?}; call the tools of servers from a snippet with execute_code")
                .as_str()
                .into(),
        };
        Ok(answer)
    }

    async fn executed(&self, arguments: ExecuteCode) -> Result<Answer, Error> {
        let ExecuteCode { code, timeout, check_only, args, execution } = arguments;
        if execution.is_some() {
            return Ok("no execution is under way: leave `execution` out".into());
        }
        let code = Code::parse(code);
        let mut execute = self.execute_code(code.clone());
        if check_only {
            execute = execute.check_only();
        }
        if let Some(seconds) = timeout {
            let longest = self.inner.config.code_mode.max_timeout;
            match Duration::try_from_secs_f64(seconds).ok().filter(|limit| *limit <= longest) {
                Some(limit) => execute = execute.timeout(limit),
                None => {
                    let longest = longest.as_secs_f64();
                    return Ok(format!("the timeout is not between 0 and {longest} seconds").as_str().into());
                }
            }
        }
        execute.args = args;
        let outcome = execute.await?;
        // Nothing is stored: what does not fit is left out.
        Ok(Answer::of(answer::result(outcome, &code, &Serve::default(), &|_, _| String::new())))
    }
}

fn read<T: DeserializeOwned>(tool: &str, arguments: Value) -> Result<T, Answer> {
    serde_json::from_value(arguments)
        .map_err(|error| format!("invalid arguments of {tool}: {error}").as_str().into())
}

fn text(text: &str) -> Answer {
    Answer { content: vec![json!({ "type": "text", "text": text })], is_error: false }
}
