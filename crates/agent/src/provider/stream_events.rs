//! Inspects the events of a stream as they arrive, for what genai ignores.

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use parking_lot::Mutex;
use serde_json::Value;

use super::failure::{Failure, words};
use crate::model::ModelErrorKind;

/// Limit on the events of one reply, in bytes: far beyond any message, and harmless to memory.
const MAX_BYTES: usize = 64 << 20;

/// The events seen in one reply.
#[derive(Debug, Default)]
pub(super) struct StreamEvents(Mutex<StreamState>);

#[derive(Debug, Default)]
struct StreamState {
    bytes: usize,
    malformed: bool,
    refusal: String,
    incomplete: Option<String>,
    blocked: Option<String>,
    failed: Option<Value>,
}

impl ChatFrameSink for StreamEvents {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let mut seen = self.0.lock();
        seen.bytes = seen.bytes.saturating_add(frame.data.len().max(1));
        if frame.data == "[DONE]" {
            return;
        }
        match frame.json() {
            Some(event) => seen.inspect(&event),
            None => seen.malformed = true,
        }
    }
}

impl StreamState {
    fn inspect(&mut self, event: &Value) {
        let text = |place: &str| event.pointer(place).and_then(Value::as_str);
        // Chat Completions, and Responses.
        if let Some(refusal) = text("/choices/0/delta/refusal") {
            self.refusal.push_str(refusal);
        }
        match text("/type") {
            Some("response.refusal.delta") => self.refusal.push_str(text("/delta").unwrap_or_default()),
            Some("response.incomplete") => {
                self.incomplete = text("/response/incomplete_details/reason").map(str::to_owned);
            }
            Some("response.failed") => {
                self.failed = Some(event.pointer("/response/error").cloned().unwrap_or_default());
            }
            _ => {}
        }
        // Gemini.
        if let Some(reason) = text("/promptFeedback/blockReason") {
            self.blocked = Some(words(reason));
        }
    }
}

impl StreamEvents {
    fn seen<T>(&self, read: impl FnOnce(&StreamState) -> T) -> T {
        read(&self.0.lock())
    }

    /// Checks that the reply can still become complete.
    ///
    /// # Errors
    /// Returns an error if the reply can't be used.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.seen(|seen| {
            if seen.malformed {
                Err(Failure::malformed("an event of the answer is not valid JSON"))
            } else if seen.bytes > MAX_BYTES {
                let message = format!("the answer has more than {} MiB", MAX_BYTES >> 20);
                Err(Failure::permanent(ModelErrorKind::Malformed, message))
            } else {
                Ok(())
            }
        })
    }

    /// The failure of a stream that ends too early.
    pub(super) fn cut(&self) -> Failure {
        if self.seen(|seen| seen.bytes == 0) {
            let what = "the answer is not an event stream; check the model's type and base_url";
            return Failure::malformed(what);
        }
        Failure::temporary(ModelErrorKind::Network, "the answer was cut off before its end")
    }

    /// Returns the reason why the provider blocked or failed the reply, if genai reports neither.
    pub(super) fn blocked(&self) -> Option<Failure> {
        self.seen(|seen| {
            if let Some(error) = &seen.failed {
                return Some(Failure::event(error));
            }
            let reason = seen.blocked.as_ref()?;
            let message = format!("the provider does not accept the conversation: {reason}");
            Some(Failure::permanent(ModelErrorKind::Refused, message))
        })
    }

    /// The text of the model's refusal.
    pub(super) fn refusal(&self) -> Option<String> {
        self.seen(|seen| (!seen.refusal.trim().is_empty()).then(|| words(&seen.refusal)))
    }

    /// Returns the reason why a message of the Responses API is incomplete.
    pub(super) fn incomplete(&self) -> Option<String> {
        self.seen(|seen| seen.incomplete.clone())
    }
}
