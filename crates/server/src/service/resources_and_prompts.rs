//! Handles requests about resources, prompts and completions: finds their server and forwards them.

use gateway::cache::ObjectError;
use rmcp::model::ErrorCode;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::McpService;
use crate::apps;
use crate::journal::Requester;
use crate::level::Level;
use crate::output_store::{BYTES_KEPT, OutputStore};
use crate::resources_and_prompts::List;

impl McpService {
    pub(super) async fn about_resource(
        &self,
        method: &'static str,
        mut parameters: Map<String, Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let Some(uri) = parameters.get("uri").and_then(Value::as_str).map(str::to_owned) else {
            return Err(ErrorData::invalid_params("params.uri must be the address of a resource", None));
        };
        let missing = |message: String| ErrorData::resource_not_found(message, Some(json!({ "uri": uri })));
        if OutputStore::is_address(&uri) {
            if method != "resources/read" {
                return Ok(json!({}));
            }
            self.fetch_output(&uri)
                .await
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            let part = self
                .state
                .kept
                .read(&self.session.owner(), &uri)
                .map_err(|error| missing(error.to_string()))?;
            let meta = json!({ "toolsmith/offset": part.offset, "toolsmith/total": part.total });
            let content = json!({ "uri": uri, "mimeType": "text/plain", "text": part.text, "_meta": meta });
            return Ok(json!({ "contents": [content] }));
        }
        let proxied = self.proxied_request(&context).await;
        let Some((server, own)) = proxied.owner_of_resource(&uri).await else {
            let meant = if self.session.is_agent() { proxied.meant(&uri).await } else { String::new() };
            return Err(missing(format!("no server has the resource {uri}{meant}")));
        };
        if method != "resources/read" {
            return proxied.subscribe(&server, &own, method == "resources/subscribe").await;
        }
        parameters.insert("uri".to_owned(), json!(own));
        let known = proxied.snapshot.config().server(&server);
        // A client reads from a server it uses directly, and views, without a question; other reads need permission.
        let is_direct =
            known.is_some_and(|server| proxied.is_used_directly(server)) || proxied.shows_view(&server, &own);
        let read = if self.session.is_agent() || !is_direct {
            let requester = Requester::of(&self.session, &context);
            proxied.read((&server, &own), requester, parameters).await
        } else {
            proxied.carry(&server, method, parameters).await
        };
        // Each era of the protocol has its own error code for it (MCP 2026-07-28, "Resources", "Error Handling").
        let mut result = read.map_err(|error| match &error.data {
            Some(data) if error.code == ErrorCode::INVALID_PARAMS && data["uri"] == json!(own) => {
                missing(error.message.to_string())
            }
            _ => error,
        })?;
        apps::rename_in_contents(&mut result, &own, &uri);
        Ok(result)
    }

    /// Gets the output at an address from the replica that has kept it, if it is not here.
    ///
    /// # Errors
    /// If the store does not answer.
    async fn fetch_output(&self, uri: &str) -> Result<(), ObjectError> {
        let (state, owner) = (&self.state, self.session.owner());
        let Some(shared) = state.shared.as_ref().filter(|_| !self.session.lasts()) else { return Ok(()) };
        let Some(address) = OutputStore::whole(uri) else { return Ok(()) };
        if state.kept.text(&owner, &address).is_none()
            && let Some((text, left)) = shared.find(&owner, &address, BYTES_KEPT).await?
        {
            state.kept.insert(&owner, &address, &text, Some(Instant::now() + left));
        }
        Ok(())
    }

    pub(super) async fn prompt(
        &self,
        mut parameters: Map<String, Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let Some(name) = parameters.get("name").and_then(Value::as_str).map(str::to_owned) else {
            return Err(ErrorData::invalid_params("params.name must be the name of a prompt", None));
        };
        let proxied = self.proxied_request(&context).await;
        let Some((server, own)) = proxied.owner(List::Prompts, &name).await else {
            return Err(ErrorData::invalid_params(format!("no server has the prompt {name:?}"), None));
        };
        parameters.insert("name".to_owned(), json!(own));
        proxied.carry(&server, "prompts/get", parameters).await
    }

    pub(super) async fn completion(
        &self,
        mut parameters: Map<String, Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let proxied = self.proxied_request(&context).await;
        let reference = parameters.get("ref").cloned().unwrap_or_default();
        let owner = match (reference["name"].as_str(), reference["uri"].as_str()) {
            (Some(name), _) => proxied.owner(List::Prompts, name).await.map(|owner| ("name", owner)),
            (None, Some(uri)) => proxied.owner_of_resource(uri).await.map(|owner| ("uri", owner)),
            (None, None) => None,
        };
        let Some((member, (server, own))) = owner else {
            return Err(ErrorData::invalid_params(
                "params.ref names no prompt and no resource of a server",
                None,
            ));
        };
        if let Some(reference) = parameters.get_mut("ref") {
            reference[member] = json!(own);
        }
        proxied.carry(&server, "completion/complete", parameters).await
    }

    pub(super) async fn log_level(
        &self,
        parameters: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let level = parameters.get("level").and_then(Value::as_str).and_then(Level::of);
        let Some(level) = level else {
            let message =
                "params.level must be debug, info, notice, warning, error, critical, alert or emergency";
            return Err(ErrorData::invalid_params(message, None));
        };
        self.session.set_level(level);
        self.proxied_request(context).await.send_to_all("logging", "logging/setLevel", &parameters).await;
        Ok(json!({}))
    }
}
