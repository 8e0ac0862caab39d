//! The table of reductions: the parts of real `toolsmith serve` answers that clients pass to models.

use end_to_end::reductions::{CONFIG, KINDS, table};
use serde_json::Value;

use crate::{
    first_try::Serving,
    product::{Checked, Product},
    table::Row,
};

/// The name that selects this part; `clients` does too.
pub(crate) const PART: &str = "clients: reductions";

/// The row, and the table of reductions.
pub(crate) async fn run(product: &Product) -> (Row, String) {
    let (text, failure) = match answers(product).await {
        Ok(answers) => {
            let (text, is_whole) = table(&answers, codegen::tokens);
            let failure =
                (!is_whole).then(|| "an answer lacks something that a model needs; see the table".to_owned());
            (format!("\n{text}"), failure)
        }
        Err(error) => (String::new(), Some(error)),
    };
    let row = Row {
        peer: PART.to_owned(),
        version: "-".to_owned(),
        transport: "stdio",
        protocol: "2025-11-25".to_owned(),
        tools: "-".to_owned(),
        failure,
    };
    (row, text)
}

async fn answers(product: &Product) -> Checked<Vec<Value>> {
    let mut serving = Serving::of(product, CONFIG).await?;
    let mut answers = Vec::new();
    for kind in &KINDS {
        let mut last = Value::Null;
        for call in kind.calls() {
            last = serving.call("execute_code", &call).await?.answer;
        }
        answers.push(last);
    }
    serving.end().await?;
    Ok(answers)
}
