//! Tools that run as tasks of the client (MCP extension `io.modelcontextprotocol/tasks`), with the protocol library's own
//! runtime of tasks.

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolResponse, CallToolResult, ClientCapabilities, CreateTaskResult, InputRequest},
    service::RequestContext,
    task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions},
};
use serde_json::{Map, Value, json};

use crate::{
    content,
    server::{complete, is_stateless, parsed},
};

/// The time that a job takes before it fails.
const JOB: Duration = Duration::from_secs(1);
/// The longest computation, in seconds.
const LONGEST: f64 = 600.0;
/// The interval at which clients poll, in milliseconds.
const POLL: u64 = 300;

/// The tool that asks before it becomes a task.
pub(crate) const ASKS_FIRST: &str = "test_tool_with_task";

/// The tools: most may run as tasks, some only so.
pub(crate) fn list() -> Vec<Value> {
    let tool = |name: &str, description: &str, properties: Value| {
        let schema = json!({ "type": "object", "properties": properties });
        json!({ "name": name, "description": description, "inputSchema": schema })
    };
    let mut tools = vec![
        tool(
            "slow_compute",
            "Computes for some seconds.",
            json!({
                "seconds": { "type": "number" }, "label": { "type": "string" },
            }),
        ),
        tool("failing_job", "Fails after a second.", json!({})),
        tool("protocol_error_job", "Fails after a second, with an error of the protocol.", json!({})),
        tool("confirm_delete", "Asks before it deletes a file.", json!({ "filename": { "type": "string" } })),
        tool("multi_input", "Asks two things at the same time.", json!({})),
        tool(ASKS_FIRST, "Asks for a name, and greets in the background.", json!({})),
    ];
    for tool in &mut tools {
        let is_required = matches!(tool["name"].as_str(), Some("failing_job" | ASKS_FIRST));
        tool["execution"] = json!({ "taskSupport": if is_required { "required" } else { "optional" } });
    }
    let mut greet = tool("greet", "Greets at once.", json!({ "name": { "type": "string" } }));
    greet["inputSchema"]["required"] = json!(["name"]);
    tools.push(greet);
    tools
}

/// The answer of a tool that may run as a task; `None` for other tools. `answers` are those to its first questions.
pub(crate) async fn answer(
    manager: &TaskManager,
    name: &str,
    arguments: &Map<String, Value>,
    answers: &Map<String, Value>,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallToolResponse>, ErrorData> {
    let Some(job) = Job::of(name, arguments, answers) else { return Ok(None) };
    let runs_tasks =
        is_stateless(context) && context.client_capabilities().is_some_and(|able| able.supports_tasks());
    if runs_tasks && name != "greet" {
        let options = TaskOptions::new().with_poll_interval_ms(POLL).with_status_message("started");
        let task = manager.spawn(options, |context| Box::pin(async move { job.run(Some(&context)).await }));
        return Ok(Some(CallToolResponse::Task(CreateTaskResult::new(task))));
    }
    if is_stateless(context) && !matches!(job, Job::Compute { .. }) && name != "greet" {
        let required = ClientCapabilities::builder().enable_tasks().build();
        return Err(ErrorData::missing_required_client_capability(required));
    }
    match job.run(None).await {
        Ok(result) => Ok(Some(CallToolResponse::Complete(result))),
        Err(TaskExit::Error(error)) => Err(error),
        Err(TaskExit::Cancelled) => Err(ErrorData::internal_error("cancelled", None)),
    }
}

/// What a tool does.
enum Job {
    Greet(String),
    Compute {
        time: Duration,
        label: String,
    },
    Fail {
        as_protocol: bool,
    },
    /// Asks these questions at the same time, by key.
    Ask(Vec<(&'static str, String)>),
}

impl Job {
    fn of(name: &str, arguments: &Map<String, Value>, answers: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(match name {
            "greet" => Job::Greet(text("name")),
            ASKS_FIRST => {
                let name = answers.get("user_name").and_then(|answer| answer["content"]["name"].as_str());
                Job::Greet(name.unwrap_or("stranger").to_owned())
            }
            "slow_compute" => {
                let seconds = arguments.get("seconds").and_then(Value::as_f64).unwrap_or_default();
                let time = Duration::from_secs_f64(seconds.clamp(0.0, LONGEST));
                Job::Compute { time, label: text("label") }
            }
            "failing_job" => Job::Fail { as_protocol: false },
            "protocol_error_job" => Job::Fail { as_protocol: true },
            "confirm_delete" => Job::Ask(vec![("confirm", format!("Delete {}?", text("filename")))]),
            "multi_input" => {
                Job::Ask(vec![("first", "The first?".to_owned()), ("second", "The second?".to_owned())])
            }
            _ => return None,
        })
    }

    async fn run(self, task: Option<&TaskContext>) -> Result<CallToolResult, TaskExit> {
        match self {
            Job::Greet(name) => said(&format!("Hello, {name}!")),
            Job::Compute { time, label } => {
                if let Some(task) = task {
                    task.set_status_message(format!("computing {label}"));
                }
                let computed = tokio::time::sleep(time);
                match task {
                    Some(task) => tokio::select! {
                        () = computed => {}
                        () = task.cancelled() => return Err(TaskExit::Cancelled),
                    },
                    None => computed.await,
                }
                said(&format!("computed {label} in {} s", time.as_secs_f64()))
            }
            Job::Fail { as_protocol } => {
                tokio::time::sleep(JOB).await;
                if as_protocol {
                    return Err(ErrorData::internal_error("the job broke", None).into());
                }
                let text = content::text("the job failed");
                Ok(complete(json!({ "content": [text], "isError": true }))?)
            }
            Job::Ask(questions) => {
                let Some(task) = task else { return said("nobody was asked") };
                let asking = questions.into_iter().map(|(key, message)| async move {
                    let answer = task.request_input(key, confirmation(&message)?).await?;
                    Ok::<_, TaskExit>(format!("{key}: {}", answer["action"].as_str().unwrap_or_default()))
                });
                let answers = futures::future::try_join_all(asking).await?;
                said(&answers.join(", "))
            }
        }
    }
}

fn said(text: &str) -> Result<CallToolResult, TaskExit> {
    Ok(complete(json!({ "content": [content::text(text)] }))?)
}

fn confirmation(message: &str) -> Result<InputRequest, ErrorData> {
    let fields = json!({ "confirm": { "type": "boolean" } });
    let schema = json!({ "type": "object", "properties": fields });
    parsed(
        json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } }),
    )
}
