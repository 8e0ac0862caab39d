//! Checks of a call before it leaves the host: the tool must be the one that the program was built for, and the
//! arguments must fit its input schema.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use mcp::{InputCheck, SchemaError};
use parking_lot::Mutex;
use runner::{CallFailure, FailureKind};
use serde_json::Value;
use serde_json::value::RawValue;
use system::event_loop::off_loop;

use crate::tool_list::{ToolList, as_declared};

/// The ratio between the time to make a guard and the time to read a text of the tool's size: up to half a second for
/// 32 KiB of a hostile schema.
const MAKING: usize = 32;

/// The bytes of a schema for which a check takes as long as reading the arguments: it costs time for each part of the
/// schema times each part of the arguments.
const READING: usize = 1 << 10;

/// The guards of the tools that an execution has called.
#[derive(Debug, Default)]
pub(crate) struct Guards(Mutex<ByTool>);

/// Guards by server and tool. The first call makes each, which takes up to half a second for a hostile schema.
type ByTool = HashMap<(String, String), Arc<OnceLock<ToolGuard>>>;

/// The checks of one tool's calls.
#[derive(Debug)]
pub(crate) struct ToolGuard {
    /// The reason why the tool must not be called, if there is one.
    refused: Option<String>,
    /// The size of the tool's definition, in bytes.
    bytes: usize,
    /// The check of arguments, or why they can't be checked.
    input: Option<Result<InputCheck, SchemaError>>,
}

impl Guards {
    /// Checks a call; `make` creates the guard of a tool at its first call. One task makes all calls of an execution, so no
    /// other one waits for a guard.
    pub(crate) fn check(
        &self,
        server: &str,
        tool: &str,
        make: impl FnOnce() -> ToolGuard,
        arguments: &RawValue,
    ) -> Result<(), CallFailure> {
        let key = (server.to_owned(), tool.to_owned());
        let guard = self.by_tool(|guards| guards.entry(key).or_default().clone());
        guard.get_or_init(make).check(arguments)
    }

    /// Tools whose arguments could not be checked, with reasons.
    pub(crate) fn unchecked(&self) -> Vec<String> {
        let reason = |guard: &OnceLock<ToolGuard>| guard.get()?.input.as_ref()?.as_ref().err().cloned();
        let mut unchecked: Vec<String> = self.by_tool(|guards| {
            let reasons = guards.iter().filter_map(|(tool, guard)| Some((tool, reason(guard)?)));
            let line = |((server, tool), reason): (&(String, String), SchemaError)| {
                format!("the arguments of {server}.{tool} were sent unchecked: {reason}")
            };
            reasons.map(line).collect()
        });
        unchecked.sort();
        unchecked
    }

    fn by_tool<T>(&self, work: impl FnOnce(&mut ByTool) -> T) -> T {
        work(&mut self.0.lock())
    }
}

impl ToolGuard {
    /// The guard of `tool`, from the tools that the server offers now; the tool must equal the one in `pinned`, if
    /// given, or the user gets the advice beside it.
    pub(crate) fn new(
        tool: &str,
        offered: &ToolList,
        pinned: Option<(&ToolList, &str)>,
        check_input: bool,
    ) -> Self {
        let bytes = offered.bytes(tool);
        off_loop(bytes.saturating_mul(MAKING), || Self::read(tool, offered, pinned, check_input, bytes))
    }

    fn read(
        tool: &str,
        offered: &ToolList,
        pinned: Option<(&ToolList, &str)>,
        check_input: bool,
        bytes: usize,
    ) -> Self {
        let now = offered.tool(tool);
        let schema = now.as_ref().and_then(|tool| tool.get("inputSchema"));
        let input = schema.filter(|_| check_input).map(InputCheck::new);
        let refused = pinned.and_then(|(pinned, advice)| {
            let changes = changes(pinned.tool(tool).as_ref(), now.as_ref())?;
            Some(format!("the tool has changed since the program was built: {changes}; {advice}"))
        });
        ToolGuard { refused, bytes, input }
    }

    /// Blocks the tool if there is a `reason`.
    pub(crate) fn held(mut self, reason: Option<String>) -> Self {
        self.refused = reason.or(self.refused);
        self
    }

    /// Checks a call with these arguments.
    pub(crate) fn check(&self, arguments: &RawValue) -> Result<(), CallFailure> {
        if let Some(message) = &self.refused {
            return Err(CallFailure { kind: FailureKind::Denied, message: message.clone() });
        }
        let Some(Ok(input)) = &self.input else { return Ok(()) };
        let work = arguments.get().len().saturating_mul(1 + self.bytes / READING);
        off_loop(work, || input.check(arguments))
            .map_err(|invalid| CallFailure { kind: FailureKind::InvalidParams, message: invalid.to_string() })
    }
}

/// The changes in a tool's schemas, as text; changes of its description are ignored.
fn changes(before: Option<&Value>, now: Option<&Value>) -> Option<String> {
    let schemas = |tool: Option<&Value>| Some(codegen::Tool { description: None, ..as_declared(tool?)? });
    let (before, now) = (schemas(before), schemas(now));
    if before == now {
        return None;
    }
    let Some(now) = now else { return Some("it is gone".to_owned()) };
    let diff = codegen::diff(before.as_slice(), &[now]);
    let changes: Vec<String> =
        diff.changed.into_iter().flat_map(|changed| changed.changes).map(|change| change.line).collect();
    Some(if changes.is_empty() { "its schemas differ".to_owned() } else { changes.join(", ") })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    /// A list with one tool, whose argument `n` has this type.
    fn list(kind: &str, description: &str) -> ToolList {
        let schema = json!({ "type": "object", "properties": { "n": { "type": kind } } });
        ToolList::new(&[json!({ "name": "t", "description": description, "inputSchema": schema })])
    }

    fn checked(guard: &ToolGuard, arguments: &Value) -> Result<(), FailureKind> {
        guard.check(&to_raw_value(arguments).unwrap()).map_err(|failure| failure.kind)
    }

    #[test]
    fn arguments_must_fit_the_schema_if_they_are_checked() {
        let offered = list("integer", "");
        let (right, wrong) = (json!({ "n": 1 }), json!({ "n": "x" }));
        let guard = ToolGuard::new("t", &offered, None, true);
        assert_eq!(checked(&guard, &right), Ok(()));
        assert_eq!(checked(&guard, &wrong), Err(FailureKind::InvalidParams));
        assert_eq!(checked(&ToolGuard::new("t", &offered, None, false), &wrong), Ok(()));
        assert_eq!(checked(&ToolGuard::new("unknown", &offered, None, true), &wrong), Ok(()));
    }

    #[test]
    fn a_tool_must_be_the_one_that_the_program_was_built_for() {
        let none = ToolList::new(&[]);
        let integer = list("integer", "x");
        let refused = |offered: &ToolList, pinned: &ToolList| {
            let guard = ToolGuard::new("t", offered, Some((pinned, "do this")), true);
            let kind = checked(&guard, &json!({}));
            assert_eq!(kind.is_err(), guard.refused.is_some());
            assert!(kind.is_ok() || kind == Err(FailureKind::Denied));
            guard.refused.unwrap_or_default()
        };
        assert_eq!(refused(&integer, &integer), "");
        assert_eq!(refused(&list("integer", "another description"), &integer), "");
        assert_eq!(refused(&none, &none), "");
        assert!(
            refused(&list("string", "x"), &integer).contains("changed since the program was built: input.n")
        );
        assert!(refused(&none, &integer).contains("built: it is gone; do this"));
        assert!(refused(&integer, &none).contains("built: its schemas differ;"));
    }

    #[test]
    fn a_tool_that_is_held_back_is_denied_with_the_reason() {
        let guard = || ToolGuard::new("t", &list("integer", ""), Some((&list("string", ""), "")), true);
        assert_eq!(guard().held(Some("held".to_owned())).refused.as_deref(), Some("held"));
        assert_eq!(guard().held(None).refused, guard().refused);
        let failure =
            guard().held(Some("held".to_owned())).check(&to_raw_value(&json!({})).unwrap()).unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Denied, "held"));
    }

    #[test]
    fn a_guard_is_made_at_the_first_call_of_a_tool() {
        let guards = Guards::default();
        let arguments = to_raw_value(&json!({ "n": "x" })).unwrap();
        let mut made = 0;
        let mut call = |server: &str, kind: &str| {
            let make = || {
                made += 1;
                ToolGuard::new("t", &list(kind, ""), None, true)
            };
            guards.check(server, "t", make, &arguments).is_ok()
        };
        assert_eq!(
            [call("one", "string"), call("one", "integer"), call("other", "integer")],
            [true, true, false]
        );
        assert_eq!(made, 2);
    }

    #[test]
    fn tools_whose_arguments_are_unchecked_are_listed_with_reasons() {
        let guards = Guards::default();
        let arguments = to_raw_value(&json!({})).unwrap();
        let errors = [Some(Err(SchemaError::TooManyNodes)), Some(Err(SchemaError::Inexact)), None];
        for (tool, input) in ["b", "a", "c"].into_iter().zip(errors) {
            guards.check("s", tool, || ToolGuard { refused: None, bytes: 0, input }, &arguments).unwrap();
        }
        guards.check("s", "t", || ToolGuard::new("t", &list("integer", ""), None, true), &arguments).unwrap();
        let unchecked = guards.unchecked();
        assert_eq!(unchecked.len(), 2);
        assert!(unchecked[0].contains("s.a") && unchecked[0].ends_with("no clear meaning"), "{unchecked:?}");
        assert!(unchecked[1].contains("s.b") && unchecked[1].ends_with(" nodes"), "{unchecked:?}");
    }
}
