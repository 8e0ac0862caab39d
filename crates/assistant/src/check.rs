//! Checks what a configuration names besides servers: prompts, schemas of answers, and the export of traces.

use config::Checked;
use gateway::failure::Failure;
use report::Problem;
use telemetry::unsupported;

use crate::assistant::Prompt;
use crate::subagent::read_output_schema;

/// Every file that the configuration names and that can't be used, and an export that this build does not have. Each is
/// reported at the place of its key.
#[must_use]
pub fn problems(checked: &Checked) -> Vec<Problem> {
    let Some(config) = &checked.config else { return Vec::new() };
    let prompt = config.system_prompt.as_deref().and_then(|file| Prompt::read(Some(file)).err());
    let schema = config.subagent.as_ref().and_then(|subagent| subagent.output_schema.as_deref());
    let schema = schema.and_then(|file| read_output_schema(file).err());
    let telemetry = config.serve.telemetry.as_ref().and_then(|_| unsupported()).map(Failure::from);
    let all: [(&[&str], Option<Failure>); 3] = [
        (&["defaults", "systemPromptPath"], prompt),
        (&["subagent", "outputSchemaPath"], schema),
        (&["serve", "telemetry"], telemetry),
    ];
    let wrong = all.into_iter().filter_map(|(key, failure)| {
        let report = failure?.report;
        let message = std::iter::once(report.message()).chain(report.hints).collect::<Vec<_>>().join("; ");
        Some(match checked.layers.place(key) {
            Some(place) => Problem::at(place, message),
            None => Problem::new(message),
        })
    });
    let mut wrong: Vec<Problem> = wrong.collect();
    checked.layers.sort(&mut wrong);
    wrong
}
