//! The demo server: a small shop as an MCP server, for first steps, examples, tests and measurements.
//!
//! It depends only on the protocol library, not on the rest of the program.

mod data;
pub(crate) mod http;
mod schema;
mod shop;

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    handler::server::{
        router::tool::ToolRouter,
        wrapper::{Json, Parameters},
    },
    model::{CallToolResult, ContentBlock, Implementation, IntoContents, ServerCapabilities, ServerConfig},
    service::{RequestContext, ServerInitializeError},
    tool, tool_handler, tool_router,
    transport::stdio_pipes,
};
use schemars::JsonSchema;
use serde::Deserialize;

use schema::{
    CreateNote, Customer, GetCustomer, ListOrders, NoteCreated, OrderPage, ProductList, SearchProducts,
};
use shop::{Failed, Shop};

/// Its name in configurations and snippets.
pub(crate) const NAME: &str = "demo";

/// Advice for a user who names it although other servers are configured.
pub(crate) const INSTEAD: &str = "to use the built-in demo server instead of the configured ones: --demo";

/// Maximum wait that `slow` accepts, in seconds.
const MAX_SLOW_SECONDS: f64 = 3600.0;

/// An error that stopped the server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    /// The handshake failed.
    #[error("no MCP session could be opened on standard input and output: {0}")]
    Handshake(#[source] Box<ServerInitializeError>),
    /// The session's task failed.
    #[error("the MCP session failed: {0}")]
    Session(#[from] tokio::task::JoinError),
    /// The server can't listen at the address.
    #[error("can't serve at {0}: {1}")]
    Listen(std::net::SocketAddr, #[source] std::io::Error),
}

impl ServeError {
    /// Returns a remedy, if one is known.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        matches!(self, ServeError::Listen(..))
            .then_some("name a free port, such as --http 127.0.0.1:0 for any")
    }
}

/// Serves the shop on standard input and output until the input ends, with each tool under `copies` further names.
pub(crate) async fn serve_stdio(copies: u32) -> Result<(), ServeError> {
    let server = Demo { shop: Shop::new(), router: router(copies) };
    let session =
        server.serve(stdio_pipes()).await.map_err(|error| ServeError::Handshake(Box::new(error)))?;
    session.waiting().await?;
    Ok(())
}

/// One session with the shop.
struct Demo {
    shop: Shop,
    router: ToolRouter<Self>,
}

/// All tools; the copies of `echo` are `echo_1`, `echo_2` and so on.
fn router(copies: u32) -> ToolRouter<Demo> {
    let mut router = Demo::tool_router();
    let routes: Vec<_> = router.map.values().cloned().collect();
    for (route, number) in routes.iter().flat_map(|route| (1..=copies).map(move |number| (route, number))) {
        let mut copy = route.clone();
        copy.attr.name = format!("{}_{number}", route.attr.name).into();
        router.add_route(copy);
    }
    router
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Echo {
    /// The text to send back.
    message: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fail {
    /// What the error should say.
    #[serde(default = "default_failure")]
    message: String,
}

fn default_failure() -> String {
    "this tool always fails".to_owned()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Slow {
    /// How long to wait, in seconds.
    #[schemars(range(min = 0, max = 3600))]
    seconds: f64,
}

impl IntoContents for Failed {
    fn into_contents(self) -> Vec<ContentBlock> {
        self.0.into_contents()
    }
}

#[tool_router]
impl Demo {
    /// List the shop's orders, oldest first, page by page: pass `next_cursor` of one page as `cursor` of the next.
    #[tool(annotations(read_only_hint = true))]
    async fn list_orders(
        &self,
        Parameters(request): Parameters<ListOrders>,
    ) -> Result<Json<OrderPage>, Failed> {
        self.shop.list_orders(&request).map(Json)
    }

    /// Get one customer by id. An unknown id is an error.
    #[tool(annotations(read_only_hint = true))]
    async fn get_customer(
        &self,
        Parameters(request): Parameters<GetCustomer>,
    ) -> Result<Json<Customer>, Failed> {
        self.shop.get_customer(&request).map(Json)
    }

    /// Search the shop's products by a part of their name or stock-keeping unit, optionally up to a price.
    #[tool(annotations(read_only_hint = true))]
    async fn search_products(&self, Parameters(request): Parameters<SearchProducts>) -> Json<ProductList> {
        Json(self.shop.search_products(&request))
    }

    /// Write a note. Notes last as long as the session; their numbers start at 1.
    #[tool(annotations(destructive_hint = false))]
    async fn create_note(
        &self,
        Parameters(note): Parameters<CreateNote>,
    ) -> Result<Json<NoteCreated>, Failed> {
        self.shop.create_note(note).map(Json)
    }

    /// Answer with exactly the text that was sent.
    #[tool(annotations(read_only_hint = true))]
    async fn echo(&self, Parameters(request): Parameters<Echo>) -> String {
        request.message
    }

    /// Always fail, with the given message.
    #[tool(annotations(read_only_hint = true))]
    async fn fail(&self, Parameters(request): Parameters<Fail>) -> Result<String, Failed> {
        Err(Failed(request.message))
    }

    /// Wait for some seconds, then answer. Ends early if the request is cancelled.
    #[tool(annotations(read_only_hint = true))]
    async fn slow(
        &self,
        Parameters(request): Parameters<Slow>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, Failed> {
        let seconds = request.seconds;
        if !(0.0..=MAX_SLOW_SECONDS).contains(&seconds) {
            return Err(Failed(format!("seconds must be from 0 to {MAX_SLOW_SECONDS}, not {seconds}")));
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs_f64(seconds)) => Ok(format!("waited {seconds} seconds")),
            () = context.ct.cancelled() => Err(Failed("cancelled".to_owned())),
        }
    }

    /// Answer with a JSON document as text: statistics of the shop, and the notes of this session.
    #[tool(annotations(read_only_hint = true))]
    async fn json_response(&self) -> Result<String, ErrorData> {
        serde_json::to_string(&self.shop.summary())
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Answer with a small picture and a text.
    #[tool(annotations(read_only_hint = true))]
    async fn image(&self) -> CallToolResult {
        CallToolResult::success(vec![
            ContentBlock::image(data::HOUSE_PNG, "image/png"),
            ContentBlock::text("A house, 16 by 16 pixels."),
        ])
    }
}

#[tool_handler(router = self.router)]
impl ServerHandler for Demo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
            .with_server_info(Implementation::new("toolsmith-demo", env!("CARGO_PKG_VERSION")))
            .with_instructions("A small shop with orders, customers, products and notes. The data is the same in every session; notes last as long as the session.")
    }
}
