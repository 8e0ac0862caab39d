//! `/resources` and `/resource`: the servers' resources, for the user.

use gateway::resources::fits_query;
use report::{Kind, Report};
use serde_json::Value;
use terminal::table::table;

use super::chat_session::ChatSession;
use super::slash_commands::unserved;

/// Maximum size of a resource that is shown, in bytes (1 MiB).
const RESOURCE_LIMIT: usize = 1 << 20;

/// Maximum number of rows in a list.
const ROW_LIMIT: usize = 500;

impl ChatSession {
    /// Lists the resources and templates of all servers that have each word of the query.
    ///
    /// # Errors
    /// If they can't be listed.
    pub(super) async fn resources(&self, query: &str) -> Result<(), Report> {
        let session = &self.tools.inside().session;
        let (resources, templates) =
            tokio::join!(session.list_resources(), session.list_resource_templates());
        let (resources, templates) = (resources.map_err(unserved)?, templates.map_err(unserved)?);
        let warnings = resources.warnings.iter().chain(&templates.warnings);
        warnings.for_each(|warning| self.terminal.note(warning));
        let all = resources.items.iter().chain(&templates.items);
        let fitting: Vec<&Value> = all.filter(|item| fits_query(server(item), item, query)).collect();
        if fitting.is_empty() {
            let which = if query.is_empty() { "" } else { " with these words" };
            self.terminal.print(&format!("no server has a resource{which}"));
            return Ok(());
        }
        let rows = fitting.iter().take(ROW_LIMIT).map(|item| row(item));
        self.terminal.print(&table(&["server", "resource", "type", "name"], rows));
        if let Some(more) = fitting.len().checked_sub(ROW_LIMIT).filter(|more| *more > 0) {
            self.terminal.note(&format!("{more} more; /resources WORDS lists those with these words"));
        }
        Ok(())
    }

    /// Shows a resource.
    ///
    /// # Errors
    /// If it can't be read.
    pub(super) async fn resource(&self, uri: &str) -> Result<(), Report> {
        let read = self.tools.inside().session.read_resource(uri).await.map_err(unserved)?;
        if read.get().len() > RESOURCE_LIMIT {
            let message = format!("the resource {uri} has more than {RESOURCE_LIMIT} bytes");
            return Err(
                Report::new(Kind::Server, message).hint("`toolsmith mcp read-resource SERVER URI` prints it")
            );
        }
        let read: Value = serde_json::from_str(read.get()).map_err(unserved)?;
        let contents = read["contents"].as_array().into_iter().flatten();
        let texts: Vec<String> = contents.map(text).collect();
        self.terminal.print(&texts.join("\n"));
        Ok(())
    }
}

fn server(item: &Value) -> &str {
    item["server"].as_str().unwrap_or_default()
}

fn row(item: &Value) -> Vec<String> {
    let text = |member: &str| item[member].as_str().unwrap_or_default().to_owned();
    let address = if item["uri"].is_string() { text("uri") } else { text("uriTemplate") };
    vec![text("server"), address, text("mimeType"), text("name")]
}

/// A content of a resource: its text, or what it is.
fn text(content: &Value) -> String {
    let text = content["text"].as_str().map(|text| text.trim_end().to_owned());
    text.unwrap_or_else(|| {
        let bytes = content["blob"].as_str().unwrap_or_default().len() / 4 * 3;
        format!("[{}, about {bytes} bytes]", content["mimeType"].as_str().unwrap_or("binary data"))
    })
}
