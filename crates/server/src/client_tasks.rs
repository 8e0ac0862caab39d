//! Requests of clients about their tasks (MCP extension `io.modelcontextprotocol/tasks`, SEP-2663): `tasks/get`,
//! `tasks/update`, `tasks/cancel`.

use rmcp::model::{ClientCapabilities, ErrorCode};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use super::caller::client_of;
use super::definitions;
use super::session::{ClientSession, is_stateless, runs_tasks};
use super::state::ServerState;

/// Answers a request about a task of the client.
///
/// # Errors
/// If the client does not declare the extension, or has no such task.
pub async fn answer(
    state: &ServerState,
    session: &ClientSession,
    (method, mut parameters): (&str, Map<String, Value>),
    context: &RequestContext<RoleServer>,
) -> Result<Value, ErrorData> {
    if !is_stateless(context) {
        return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method {method}"), None));
    }
    if !runs_tasks(context) {
        let required = ClientCapabilities::builder().enable_tasks().build();
        return Err(ErrorData::missing_required_client_capability(required));
    }
    let Some(Value::String(id)) = parameters.remove("taskId") else {
        return Err(ErrorData::invalid_params("params.taskId must be the id of a task", None));
    };
    let (held, owner) = (&state.held, session.owner());
    let mut done = json!({});
    match method {
        "tasks/update" => {
            let Some(Value::Object(responses)) = parameters.remove("inputResponses") else {
                return Err(ErrorData::invalid_params("params.inputResponses must be an object", None));
            };
            held.update_task(&id, &owner, &responses).await?;
        }
        "tasks/cancel" => held.cancel_task(&id, &owner).await?,
        _ => {
            done = held.task(&id, &owner).await?;
            if let Some(result) = done.get_mut("result") {
                let serve = &state.settings.borrow().config.serve;
                let given = ::answer::for_client(result.take(), client_of(context), serve);
                *result = definitions::of_era("tools/call", given, true);
            }
        }
    }
    Ok(definitions::of_era(method, done, true))
}
