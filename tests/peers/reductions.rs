//! What clients leave of answers: the table of reductions, over real answers of `toolsmith serve`.

use end_to_end::reductions::{CONFIG, KINDS, table};
use serde_json::Value;

use crate::{
    first_try::Serving,
    product::{Checked, Product},
    table::Row,
};

/// What chooses this part; `clients` does too.
pub(crate) const PART: &str = "clients: reductions";

/// The line of the table, and the table of reductions.
pub(crate) async fn run(product: &Product) -> (Row, String) {
    let (text, failure) = match answers(product).await {
        Ok(answers) => {
            let (text, is_whole) = table(&answers, codegen::tokens);
            let failure =
                (!is_whole).then(|| "an answer lacks what a model needs; the table says what".to_owned());
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
