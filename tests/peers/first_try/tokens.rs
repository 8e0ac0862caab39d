//! Measures the tokens that the stored snippets put into a model's context, and those of the same calls made directly.

use std::fmt::Write as _;

use end_to_end::reductions::OUTCOME;
use serde_json::{Value, json};

use super::{
    serving::{Serving, entries},
    site, stored_snippet,
    taking::attempt,
    tasks::{RunResult, Task},
    workspace::Workspace,
};
use crate::{
    product::{Checked, Product},
    servers::Installed,
};

/// Characters per token (an estimate).
const CHARACTERS: usize = 4;

const HEAD: &str = "\
## Tokens

Characters divided by 4. **direct**: the answers of the calls that the snippet makes, each as its server sends it, which is
what would pass through the model's context if it made the same calls itself (the arguments of these calls are not
counted; of many calls the first 20 are recorded, and the rest counts as their mean). **snippet**: the snippet, its answer,
and what `describe_tools` says of every tool in it.

";

/// A task's number of calls, and its tokens by direct calls and by the snippet.
struct Sizes {
    calls: u64,
    direct: usize,
    snippet: usize,
}

/// The section of the results page about tokens: a row for each task, and the totals.
pub(super) async fn section() -> Checked<String> {
    let (installed, product) = (Installed::find()?, Product::find()?);
    let workspace = Workspace::take()?;
    site::serve().await?;
    let mut serving = Serving::start(&installed, &product).await?;
    let listed = tokens(&serving.tools.to_string());
    let mut text = HEAD.to_owned();
    text.push_str("| task | calls | direct | snippet |\n| --- | --- | --- | --- |\n");
    let mut sum = Sizes { calls: 0, direct: 0, snippet: 0 };
    for task in Task::all()? {
        let sizes = measure(&mut serving, &workspace, &task).await?;
        sum = Sizes {
            calls: sum.calls + sizes.calls,
            direct: sum.direct + sizes.direct,
            snippet: sum.snippet + sizes.snippet,
        };
        text.push_str(&row(&task.id, &sizes));
    }
    serving.end().await?;
    text.push_str(&row("**all**", &sum));
    let direct = direct_list(&installed, &product).await?;
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "\nThe list of tools that is in every context: {direct} direct, {listed} for snippets."
    );
    Ok(text)
}

async fn measure(serving: &mut Serving, workspace: &Workspace, task: &Task) -> Checked<Sizes> {
    let snippet = stored_snippet(&task.id)?;
    let (came, checked) = attempt(serving, workspace, task, &snippet).await?;
    checked.map_err(|error| format!("{}: {error}", task.id))?;
    let outcome = &came.answer["_meta"][OUTCOME];
    let records = outcome["calls"].as_array().map_or(&[][..], Vec::as_slice);
    let calls = outcome["calls_total"].as_u64().unwrap_or_default();
    let bytes: u64 = records.iter().filter_map(|call| call["bytes"].as_u64()).sum();
    // An outcome records only the first calls, so the total is an estimate from their mean.
    let bytes = bytes * calls / (records.len() as u64).max(1);
    let described = described(serving, &outcome["manifest"]).await?;
    Ok(Sizes {
        calls,
        direct: usize::try_from(bytes).unwrap_or(usize::MAX) / CHARACTERS,
        snippet: tokens(&snippet) + tokens(&came.text()) + described,
    })
}

async fn described(serving: &mut Serving, manifest: &Value) -> Checked<usize> {
    let names = manifest.as_array().map_or(&[][..], Vec::as_slice);
    if names.is_empty() {
        return Ok(0);
    }
    let names: Vec<_> = names.iter().filter_map(|name| Some(name.as_str()?.replacen('.', "::", 1))).collect();
    let RunResult { answer, .. } = serving.call("describe_tools", &json!({ "tools": names })).await?;
    if answer["isError"] == true {
        return Err(format!("describe_tools of {names:?}: {answer}"));
    }
    let parts = answer["content"].as_array().map_or(&[][..], Vec::as_slice);
    Ok(parts.iter().filter_map(|part| part["text"].as_str()).map(tokens).sum())
}

/// The tokens of the tool list if all tools are direct.
async fn direct_list(installed: &Installed, product: &Product) -> Checked<usize> {
    let mut servers = entries(installed);
    if let Some(servers) = servers.as_object_mut() {
        servers.values_mut().for_each(|server| server["codeMode"] = json!(false));
    }
    let serving = Serving::with(product, servers).await?;
    let listed = tokens(&serving.tools.to_string());
    serving.end().await?;
    Ok(listed)
}

fn tokens(text: &str) -> usize {
    text.chars().count() / CHARACTERS
}

fn row(name: &str, sizes: &Sizes) -> String {
    format!("| {name} | {} | {} | {} |\n", sizes.calls, sizes.direct, sizes.snippet)
}
