// Generated from the tools of the MCP server "fetch". Do not edit: changes are lost.

#![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct FetchInput {
    /// URL to fetch
    pub url: String,
    /// Maximum number of characters to return.
    pub max_length: Option<i64>,
    /// On return output starting at this character index, useful if a previous fetch was truncated and more context is required.
    pub start_index: Option<i64>,
    /// Get the actual HTML content of the requested page, without simplification.
    pub raw: Option<bool>,
}
impl bridge::convert::ToJson for FetchInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("url", &self.url)],
            &[
                ("max_length", &self.max_length),
                ("start_index", &self.start_index),
                ("raw", &self.raw),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for FetchInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            url: bridge::convert::FromJson::from_json(reader.take(level, "url"), reader),
            max_length: bridge::convert::FromJson::from_json(
                reader.take(level, "max_length"),
                reader,
            ),
            start_index: bridge::convert::FromJson::from_json(
                reader.take(level, "start_index"),
                reader,
            ),
            raw: bridge::convert::FromJson::from_json(reader.take(level, "raw"), reader),
        }
    }
}

impl FetchInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> FetchCall {
        FetchCall {
            input: self,
            pending: bridge::call::Pending::new("fetch", "fetch"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct FetchCall {
    input: FetchInput,
    pending: bridge::call::Pending,
}
impl FetchCall {
    /// Maximum number of characters to return.
    pub fn max_length<F>(
        mut self,
        max_length: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.max_length = self
            .pending
            .with(
                "max_length",
                bridge::convert::OptionalArgument::into_optional(max_length),
            );
        self
    }
    /// On return output starting at this character index, useful if a previous fetch was truncated and more context is required.
    pub fn start_index<F>(
        mut self,
        start_index: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.start_index = self
            .pending
            .with(
                "start_index",
                bridge::convert::OptionalArgument::into_optional(start_index),
            );
        self
    }
    /// Get the actual HTML content of the requested page, without simplification.
    pub fn raw<F>(
        mut self,
        raw: impl bridge::convert::OptionalArgument<bool, F>,
    ) -> Self {
        self.input.raw = self
            .pending
            .with("raw", bridge::convert::OptionalArgument::into_optional(raw));
        self
    }
}
impl FetchCall {
    #[inline]
    pub fn raw_result(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for FetchCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.60d0d73e251e1112e5468fa00287c705")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "fetch",
            name: "fetch",
            mark: *b"60d0d73e251e1112e5468fa00287c705",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for FetchCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Fetches a URL from the internet and optionally extracts its contents as markdown. Although originally you did not have internet access, and were advised to…
#[track_caller]
pub fn fetch(url: impl Into<String>) -> FetchCall {
    FetchCall {
        input: FetchInput {
            url: url.into(),
            max_length: None,
            start_index: None,
            raw: None,
        },
        pending: bridge::call::Pending::new("fetch", "fetch"),
    }
}
