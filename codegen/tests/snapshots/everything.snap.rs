// Generated from the tools of the MCP server "everything". Do not edit: changes are lost.

#![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct EchoInput {
    /// Message to echo
    pub message: String,
}
impl bridge::convert::ToJson for EchoInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("message", &self.message)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for EchoInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            message: bridge::convert::FromJson::from_json(
                reader.take(level, "message"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GetAnnotatedMessageInput {
    /// Type of message to demonstrate different annotation patterns
    pub message_type: GetAnnotatedMessageMessageType,
    /// Whether to include an example image
    pub include_image: Option<bool>,
}
impl bridge::convert::ToJson for GetAnnotatedMessageInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("messageType", &self.message_type)],
            &[("includeImage", &self.include_image)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetAnnotatedMessageInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            message_type: bridge::convert::FromJson::from_json(
                reader.take(level, "messageType"),
                reader,
            ),
            include_image: bridge::convert::FromJson::from_json(
                reader.take(level, "includeImage"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum GetAnnotatedMessageMessageType {
    Error,
    Success,
    Debug,
}
impl GetAnnotatedMessageMessageType {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Error => "error",
            Self::Success => "success",
            Self::Debug => "debug",
        }
    }
}
impl bridge::convert::GeneratedText for GetAnnotatedMessageMessageType {
    const TEXTS: &'static [&'static str] = &["error", "success", "debug"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "error" => Self::Error,
                "success" => Self::Success,
                "debug" => Self::Debug,
                _ => return Err((Self::Error, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    GetAnnotatedMessageMessageType = 6560893234461302544
}
bridge::generated_text! {
    ; GetAnnotatedMessageMessageType
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GetEnvInput {}
impl bridge::convert::ToJson for GetEnvInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetEnvInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GetResourceLinksInput {
    /// Number of resource links to return (1-10)
    pub count: Option<f64>,
}
impl bridge::convert::ToJson for GetResourceLinksInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[("count", &self.count)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetResourceLinksInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            count: bridge::convert::FromJson::from_json(
                reader.take(level, "count"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GetResourceReferenceInput {
    pub resource_type: Option<GetResourceReferenceResourceType>,
    /// ID of the text resource to fetch
    pub resource_id: Option<f64>,
}
impl bridge::convert::ToJson for GetResourceReferenceInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[],
            &[("resourceType", &self.resource_type), ("resourceId", &self.resource_id)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetResourceReferenceInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            resource_type: bridge::convert::FromJson::from_json(
                reader.take(level, "resourceType"),
                reader,
            ),
            resource_id: bridge::convert::FromJson::from_json(
                reader.take(level, "resourceId"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum GetResourceReferenceResourceType {
    Text,
    Blob,
}
impl GetResourceReferenceResourceType {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text => "Text",
            Self::Blob => "Blob",
        }
    }
}
impl bridge::convert::GeneratedText for GetResourceReferenceResourceType {
    const TEXTS: &'static [&'static str] = &["Text", "Blob"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "Text" => Self::Text,
                "Blob" => Self::Blob,
                _ => return Err((Self::Text, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    GetResourceReferenceResourceType = 13586712030721642351
}
bridge::generated_text! {
    ; GetResourceReferenceResourceType
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GetRootsListInput {}
impl bridge::convert::ToJson for GetRootsListInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetRootsListInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GetStructuredContentInput {
    /// Choose city
    pub location: GetStructuredContentLocation,
}
impl bridge::convert::ToJson for GetStructuredContentInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("location", &self.location)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetStructuredContentInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            location: bridge::convert::FromJson::from_json(
                reader.take(level, "location"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum GetStructuredContentLocation {
    NewYork,
    Chicago,
    LosAngeles,
}
impl GetStructuredContentLocation {
    pub fn as_str(&self) -> &str {
        match self {
            Self::NewYork => "New York",
            Self::Chicago => "Chicago",
            Self::LosAngeles => "Los Angeles",
        }
    }
}
impl bridge::convert::GeneratedText for GetStructuredContentLocation {
    const TEXTS: &'static [&'static str] = &["New York", "Chicago", "Los Angeles"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "New York" => Self::NewYork,
                "Chicago" => Self::Chicago,
                "Los Angeles" => Self::LosAngeles,
                _ => return Err((Self::NewYork, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    GetStructuredContentLocation = 2550487757870865891
}
bridge::generated_text! {
    ; GetStructuredContentLocation
}

#[derive(Clone, PartialEq)]
pub struct GetStructuredContentOutput {
    /// Temperature in celsius
    pub temperature: f64,
    /// Weather conditions description
    pub conditions: String,
    /// Humidity percentage
    pub humidity: f64,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for GetStructuredContentOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "GetStructuredContentOutput",
            &[
                ("temperature", &self.temperature),
                ("conditions", &self.conditions),
                ("humidity", &self.humidity),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for GetStructuredContentOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[
                ("temperature", &self.temperature),
                ("conditions", &self.conditions),
                ("humidity", &self.humidity),
            ],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for GetStructuredContentOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            temperature: bridge::convert::FromJson::from_json(
                reader.take(level, "temperature"),
                reader,
            ),
            conditions: bridge::convert::FromJson::from_json(
                reader.take(level, "conditions"),
                reader,
            ),
            humidity: bridge::convert::FromJson::from_json(
                reader.take(level, "humidity"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["temperature", "conditions", "humidity"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    GetStructuredContentOutput = 12589407178470703137
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GetSumInput {
    /// First number
    pub a: f64,
    /// Second number
    pub b: f64,
}
impl bridge::convert::ToJson for GetSumInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("a", &self.a), ("b", &self.b)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetSumInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            a: bridge::convert::FromJson::from_json(reader.take(level, "a"), reader),
            b: bridge::convert::FromJson::from_json(reader.take(level, "b"), reader),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GetTinyImageInput {}
impl bridge::convert::ToJson for GetTinyImageInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetTinyImageInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GzipFileAsResourceInput {
    /// Name of the output file
    pub name: Option<String>,
    /// URL or data URI of the file content to compress
    pub data: Option<String>,
    /// How the resulting gzipped file should be returned. 'resourceLink' returns a link to a resource that can be read later, 'resource' returns a full resource object.
    pub output_type: Option<GzipFileAsResourceOutputType>,
}
impl bridge::convert::ToJson for GzipFileAsResourceInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[],
            &[
                ("name", &self.name),
                ("data", &self.data),
                ("outputType", &self.output_type),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GzipFileAsResourceInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            name: bridge::convert::FromJson::from_json(
                reader.take(level, "name"),
                reader,
            ),
            data: bridge::convert::FromJson::from_json(
                reader.take(level, "data"),
                reader,
            ),
            output_type: bridge::convert::FromJson::from_json(
                reader.take(level, "outputType"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum GzipFileAsResourceOutputType {
    ResourceLink,
    Resource,
}
impl GzipFileAsResourceOutputType {
    pub fn as_str(&self) -> &str {
        match self {
            Self::ResourceLink => "resourceLink",
            Self::Resource => "resource",
        }
    }
}
impl bridge::convert::GeneratedText for GzipFileAsResourceOutputType {
    const TEXTS: &'static [&'static str] = &["resourceLink", "resource"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "resourceLink" => Self::ResourceLink,
                "resource" => Self::Resource,
                _ => return Err((Self::ResourceLink, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    GzipFileAsResourceOutputType = 11411748821010955445
}
bridge::generated_text! {
    ; GzipFileAsResourceOutputType
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct SimulateResearchQueryInput {
    /// The research topic to investigate
    pub topic: String,
    /// Simulate an ambiguous query that requires clarification (triggers input_required status)
    pub ambiguous: Option<bool>,
}
impl bridge::convert::ToJson for SimulateResearchQueryInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("topic", &self.topic)],
            &[("ambiguous", &self.ambiguous)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for SimulateResearchQueryInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            topic: bridge::convert::FromJson::from_json(
                reader.take(level, "topic"),
                reader,
            ),
            ambiguous: bridge::convert::FromJson::from_json(
                reader.take(level, "ambiguous"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToggleSimulatedLoggingInput {}
impl bridge::convert::ToJson for ToggleSimulatedLoggingInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ToggleSimulatedLoggingInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToggleSubscriberUpdatesInput {}
impl bridge::convert::ToJson for ToggleSubscriberUpdatesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ToggleSubscriberUpdatesInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TriggerElicitationRequestInput {}
impl bridge::convert::ToJson for TriggerElicitationRequestInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for TriggerElicitationRequestInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        reader.object(value);
        Self {}
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TriggerLongRunningOperationInput {
    /// Duration of the operation in seconds
    pub duration: Option<f64>,
    /// Number of steps in the operation
    pub steps: Option<f64>,
}
impl bridge::convert::ToJson for TriggerLongRunningOperationInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[],
            &[("duration", &self.duration), ("steps", &self.steps)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for TriggerLongRunningOperationInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            duration: bridge::convert::FromJson::from_json(
                reader.take(level, "duration"),
                reader,
            ),
            steps: bridge::convert::FromJson::from_json(
                reader.take(level, "steps"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct TriggerSamplingRequestInput {
    /// The prompt to send to the LLM
    pub prompt: String,
    /// Maximum number of tokens to generate
    pub max_tokens: Option<f64>,
}
impl bridge::convert::ToJson for TriggerSamplingRequestInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("prompt", &self.prompt)],
            &[("maxTokens", &self.max_tokens)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for TriggerSamplingRequestInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            prompt: bridge::convert::FromJson::from_json(
                reader.take(level, "prompt"),
                reader,
            ),
            max_tokens: bridge::convert::FromJson::from_json(
                reader.take(level, "maxTokens"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct TriggerUrlElicitationInput {
    /// The URL the user should open
    pub url: String,
    /// Message shown to the user before opening the URL
    pub message: Option<String>,
    /// Optional explicit elicitation ID. Defaults to a random UUID.
    pub elicitation_id: Option<String>,
    /// Controls which elicitation mechanism is used. When false (default), sends an elicitation/create request (request path). When true, throws a…
    pub error_path: Option<bool>,
}
impl bridge::convert::ToJson for TriggerUrlElicitationInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("url", &self.url)],
            &[
                ("message", &self.message),
                ("elicitationId", &self.elicitation_id),
                ("errorPath", &self.error_path),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for TriggerUrlElicitationInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            url: bridge::convert::FromJson::from_json(reader.take(level, "url"), reader),
            message: bridge::convert::FromJson::from_json(
                reader.take(level, "message"),
                reader,
            ),
            elicitation_id: bridge::convert::FromJson::from_json(
                reader.take(level, "elicitationId"),
                reader,
            ),
            error_path: bridge::convert::FromJson::from_json(
                reader.take(level, "errorPath"),
                reader,
            ),
        }
    }
}

impl EchoInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> EchoCall {
        EchoCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "echo"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct EchoCall {
    input: EchoInput,
    pending: bridge::call::Pending,
}
impl EchoCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for EchoCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.a878a101bf47d39d01b68fd1ecacae0e")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "echo",
            mark: *b"a878a101bf47d39d01b68fd1ecacae0e",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for EchoCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Echoes back the input string
#[track_caller]
pub fn echo(message: impl Into<String>) -> EchoCall {
    EchoCall {
        input: EchoInput {
            message: message.into(),
        },
        pending: bridge::call::Pending::new("everything", "echo"),
    }
}

impl GetAnnotatedMessageInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetAnnotatedMessageCall {
        GetAnnotatedMessageCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "get-annotated-message"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetAnnotatedMessageCall {
    input: GetAnnotatedMessageInput,
    pending: bridge::call::Pending,
}
impl GetAnnotatedMessageCall {
    /// Whether to include an example image
    pub fn include_image<F>(
        mut self,
        include_image: impl bridge::convert::OptionalArgument<bool, F>,
    ) -> Self {
        self.input.include_image = self
            .pending
            .with(
                "includeImage",
                bridge::convert::OptionalArgument::into_optional(include_image),
            );
        self
    }
}
impl GetAnnotatedMessageCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetAnnotatedMessageCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.7930f3b0c74d195d175f38c73dc97ed4")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "get-annotated-message",
            mark: *b"7930f3b0c74d195d175f38c73dc97ed4",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetAnnotatedMessageCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Demonstrates how annotations can be used to provide metadata about content.
#[track_caller]
pub fn get_annotated_message(
    message_type: impl bridge::convert::Argument<GetAnnotatedMessageMessageType>,
) -> GetAnnotatedMessageCall {
    GetAnnotatedMessageCall {
        input: GetAnnotatedMessageInput {
            message_type: bridge::convert::named(
                "messageType",
                bridge::convert::Argument::into_argument(message_type),
            ),
            include_image: None,
        },
        pending: bridge::call::Pending::new("everything", "get-annotated-message"),
    }
}

impl GetEnvInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetEnvCall {
        GetEnvCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "get-env"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetEnvCall {
    input: GetEnvInput,
    pending: bridge::call::Pending,
}
impl GetEnvCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetEnvCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.d3bff0c055c5e48e64beb848958b6662")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "get-env",
            mark: *b"d3bff0c055c5e48e64beb848958b6662",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetEnvCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Returns all environment variables, helpful for debugging MCP server configuration
#[inline]
#[track_caller]
pub fn get_env() -> GetEnvCall {
    GetEnvCall {
        input: GetEnvInput {},
        pending: bridge::call::Pending::new("everything", "get-env"),
    }
}

impl GetResourceLinksInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetResourceLinksCall {
        GetResourceLinksCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "get-resource-links"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetResourceLinksCall {
    input: GetResourceLinksInput,
    pending: bridge::call::Pending,
}
impl GetResourceLinksCall {
    /// Number of resource links to return (1-10)
    pub fn count<F>(
        mut self,
        count: impl bridge::convert::OptionalArgument<f64, F>,
    ) -> Self {
        self.input.count = self
            .pending
            .with("count", bridge::convert::OptionalArgument::into_optional(count));
        self
    }
}
impl GetResourceLinksCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetResourceLinksCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.52e8b5fca82bd85664274499c69ba733")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "get-resource-links",
            mark: *b"52e8b5fca82bd85664274499c69ba733",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetResourceLinksCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Returns up to ten resource links that reference different types of resources
#[inline]
#[track_caller]
pub fn get_resource_links() -> GetResourceLinksCall {
    GetResourceLinksCall {
        input: GetResourceLinksInput {
            count: None,
        },
        pending: bridge::call::Pending::new("everything", "get-resource-links"),
    }
}

impl GetResourceReferenceInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetResourceReferenceCall {
        GetResourceReferenceCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "get-resource-reference"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetResourceReferenceCall {
    input: GetResourceReferenceInput,
    pending: bridge::call::Pending,
}
impl GetResourceReferenceCall {
    pub fn resource_type<F>(
        mut self,
        resource_type: impl bridge::convert::OptionalArgument<
            GetResourceReferenceResourceType,
            F,
        >,
    ) -> Self {
        self.input.resource_type = self
            .pending
            .with(
                "resourceType",
                bridge::convert::OptionalArgument::into_optional(resource_type),
            );
        self
    }
    /// ID of the text resource to fetch
    pub fn resource_id<F>(
        mut self,
        resource_id: impl bridge::convert::OptionalArgument<f64, F>,
    ) -> Self {
        self.input.resource_id = self
            .pending
            .with(
                "resourceId",
                bridge::convert::OptionalArgument::into_optional(resource_id),
            );
        self
    }
}
impl GetResourceReferenceCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetResourceReferenceCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.faddb6bf881d1b4e12a696be634941d6")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "get-resource-reference",
            mark: *b"faddb6bf881d1b4e12a696be634941d6",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetResourceReferenceCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Returns a resource reference that can be used by MCP clients
#[inline]
#[track_caller]
pub fn get_resource_reference() -> GetResourceReferenceCall {
    GetResourceReferenceCall {
        input: GetResourceReferenceInput {
            resource_type: None,
            resource_id: None,
        },
        pending: bridge::call::Pending::new("everything", "get-resource-reference"),
    }
}

impl GetRootsListInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetRootsListCall {
        GetRootsListCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "get-roots-list"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetRootsListCall {
    input: GetRootsListInput,
    pending: bridge::call::Pending,
}
impl GetRootsListCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetRootsListCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.4f0f7c2044d44c3d79e46079c5a60f3d")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "get-roots-list",
            mark: *b"4f0f7c2044d44c3d79e46079c5a60f3d",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetRootsListCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Lists the current MCP roots provided by the client. Demonstrates the roots protocol capability even though this server doesn't access files.
#[inline]
#[track_caller]
pub fn get_roots_list() -> GetRootsListCall {
    GetRootsListCall {
        input: GetRootsListInput {},
        pending: bridge::call::Pending::new("everything", "get-roots-list"),
    }
}

impl GetStructuredContentInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetStructuredContentCall {
        GetStructuredContentCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "get-structured-content"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetStructuredContentCall {
    input: GetStructuredContentInput,
    pending: bridge::call::Pending,
}
impl GetStructuredContentCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetStructuredContentCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.78ccf52585f61104a1724b01b9b2667a")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "get-structured-content",
            mark: *b"78ccf52585f61104a1724b01b9b2667a",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetStructuredContentCall {
    type Output = Result<GetStructuredContentOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Returns structured content along with an output schema for client data validation
#[track_caller]
pub fn get_structured_content(
    location: impl bridge::convert::Argument<GetStructuredContentLocation>,
) -> GetStructuredContentCall {
    GetStructuredContentCall {
        input: GetStructuredContentInput {
            location: bridge::convert::named(
                "location",
                bridge::convert::Argument::into_argument(location),
            ),
        },
        pending: bridge::call::Pending::new("everything", "get-structured-content"),
    }
}

impl GetSumInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetSumCall {
        GetSumCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "get-sum"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetSumCall {
    input: GetSumInput,
    pending: bridge::call::Pending,
}
impl GetSumCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetSumCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.502179a809bf24dc08172bf37fb3672c")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "get-sum",
            mark: *b"502179a809bf24dc08172bf37fb3672c",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetSumCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Returns the sum of two numbers
#[track_caller]
pub fn get_sum(
    a: impl bridge::convert::Argument<f64>,
    b: impl bridge::convert::Argument<f64>,
) -> GetSumCall {
    GetSumCall {
        input: GetSumInput {
            a: bridge::convert::named("a", bridge::convert::Argument::into_argument(a)),
            b: bridge::convert::named("b", bridge::convert::Argument::into_argument(b)),
        },
        pending: bridge::call::Pending::new("everything", "get-sum"),
    }
}

impl GetTinyImageInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetTinyImageCall {
        GetTinyImageCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "get-tiny-image"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetTinyImageCall {
    input: GetTinyImageInput,
    pending: bridge::call::Pending,
}
impl GetTinyImageCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetTinyImageCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.0ef13c770770c3b85064eb3379950d18")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "get-tiny-image",
            mark: *b"0ef13c770770c3b85064eb3379950d18",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetTinyImageCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Returns a tiny MCP logo image.
#[inline]
#[track_caller]
pub fn get_tiny_image() -> GetTinyImageCall {
    GetTinyImageCall {
        input: GetTinyImageInput {},
        pending: bridge::call::Pending::new("everything", "get-tiny-image"),
    }
}

impl GzipFileAsResourceInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GzipFileAsResourceCall {
        GzipFileAsResourceCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "gzip-file-as-resource"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GzipFileAsResourceCall {
    input: GzipFileAsResourceInput,
    pending: bridge::call::Pending,
}
impl GzipFileAsResourceCall {
    /// Name of the output file
    pub fn name<F>(
        mut self,
        name: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.name = self
            .pending
            .with("name", bridge::convert::OptionalArgument::into_optional(name));
        self
    }
    /// URL or data URI of the file content to compress
    pub fn data<F>(
        mut self,
        data: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.data = self
            .pending
            .with("data", bridge::convert::OptionalArgument::into_optional(data));
        self
    }
    /// How the resulting gzipped file should be returned. 'resourceLink' returns a link to a resource that can be read later, 'resource' returns a full resource object.
    pub fn output_type<F>(
        mut self,
        output_type: impl bridge::convert::OptionalArgument<
            GzipFileAsResourceOutputType,
            F,
        >,
    ) -> Self {
        self.input.output_type = self
            .pending
            .with(
                "outputType",
                bridge::convert::OptionalArgument::into_optional(output_type),
            );
        self
    }
}
impl GzipFileAsResourceCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GzipFileAsResourceCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.c654a261d69f8d366dfec65d80fc312b")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "gzip-file-as-resource",
            mark: *b"c654a261d69f8d366dfec65d80fc312b",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GzipFileAsResourceCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Compresses a single file using gzip compression. Depending upon the selected output type, returns either the compressed data as a gzipped resource or a resource…
#[inline]
#[track_caller]
pub fn gzip_file_as_resource() -> GzipFileAsResourceCall {
    GzipFileAsResourceCall {
        input: GzipFileAsResourceInput {
            name: None,
            data: None,
            output_type: None,
        },
        pending: bridge::call::Pending::new("everything", "gzip-file-as-resource"),
    }
}

impl SimulateResearchQueryInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> SimulateResearchQueryCall {
        SimulateResearchQueryCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "simulate-research-query"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct SimulateResearchQueryCall {
    input: SimulateResearchQueryInput,
    pending: bridge::call::Pending,
}
impl SimulateResearchQueryCall {
    /// Simulate an ambiguous query that requires clarification (triggers input_required status)
    pub fn ambiguous<F>(
        mut self,
        ambiguous: impl bridge::convert::OptionalArgument<bool, F>,
    ) -> Self {
        self.input.ambiguous = self
            .pending
            .with(
                "ambiguous",
                bridge::convert::OptionalArgument::into_optional(ambiguous),
            );
        self
    }
}
impl SimulateResearchQueryCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for SimulateResearchQueryCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.822e8e77b5620b724c91ddadefba7024")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "simulate-research-query",
            mark: *b"822e8e77b5620b724c91ddadefba7024",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for SimulateResearchQueryCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Simulates a deep research operation that gathers, analyzes, and synthesizes information. Demonstrates MCP task-based operations with progress through multiple…
#[track_caller]
pub fn simulate_research_query(topic: impl Into<String>) -> SimulateResearchQueryCall {
    SimulateResearchQueryCall {
        input: SimulateResearchQueryInput {
            topic: topic.into(),
            ambiguous: None,
        },
        pending: bridge::call::Pending::new("everything", "simulate-research-query"),
    }
}

impl ToggleSimulatedLoggingInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ToggleSimulatedLoggingCall {
        ToggleSimulatedLoggingCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "toggle-simulated-logging"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ToggleSimulatedLoggingCall {
    input: ToggleSimulatedLoggingInput,
    pending: bridge::call::Pending,
}
impl ToggleSimulatedLoggingCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ToggleSimulatedLoggingCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.275688cfbc7708d2aa0a23556c5a9977")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "toggle-simulated-logging",
            mark: *b"275688cfbc7708d2aa0a23556c5a9977",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ToggleSimulatedLoggingCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Toggles simulated, random-leveled logging on or off.
#[inline]
#[track_caller]
pub fn toggle_simulated_logging() -> ToggleSimulatedLoggingCall {
    ToggleSimulatedLoggingCall {
        input: ToggleSimulatedLoggingInput {},
        pending: bridge::call::Pending::new("everything", "toggle-simulated-logging"),
    }
}

impl ToggleSubscriberUpdatesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ToggleSubscriberUpdatesCall {
        ToggleSubscriberUpdatesCall {
            input: self,
            pending: bridge::call::Pending::new(
                "everything",
                "toggle-subscriber-updates",
            ),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ToggleSubscriberUpdatesCall {
    input: ToggleSubscriberUpdatesInput,
    pending: bridge::call::Pending,
}
impl ToggleSubscriberUpdatesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ToggleSubscriberUpdatesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.a199bacfbe7d5b13d451831d13b89ee9")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "toggle-subscriber-updates",
            mark: *b"a199bacfbe7d5b13d451831d13b89ee9",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ToggleSubscriberUpdatesCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Toggles simulated resource subscription updates on or off.
#[inline]
#[track_caller]
pub fn toggle_subscriber_updates() -> ToggleSubscriberUpdatesCall {
    ToggleSubscriberUpdatesCall {
        input: ToggleSubscriberUpdatesInput {},
        pending: bridge::call::Pending::new("everything", "toggle-subscriber-updates"),
    }
}

impl TriggerElicitationRequestInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> TriggerElicitationRequestCall {
        TriggerElicitationRequestCall {
            input: self,
            pending: bridge::call::Pending::new(
                "everything",
                "trigger-elicitation-request",
            ),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct TriggerElicitationRequestCall {
    input: TriggerElicitationRequestInput,
    pending: bridge::call::Pending,
}
impl TriggerElicitationRequestCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for TriggerElicitationRequestCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.d7f570a595d0f26610f7f3d3b4d8122a")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "trigger-elicitation-request",
            mark: *b"d7f570a595d0f26610f7f3d3b4d8122a",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for TriggerElicitationRequestCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Trigger a Request from the Server for User Elicitation
#[inline]
#[track_caller]
pub fn trigger_elicitation_request() -> TriggerElicitationRequestCall {
    TriggerElicitationRequestCall {
        input: TriggerElicitationRequestInput {},
        pending: bridge::call::Pending::new("everything", "trigger-elicitation-request"),
    }
}

impl TriggerLongRunningOperationInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> TriggerLongRunningOperationCall {
        TriggerLongRunningOperationCall {
            input: self,
            pending: bridge::call::Pending::new(
                "everything",
                "trigger-long-running-operation",
            ),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct TriggerLongRunningOperationCall {
    input: TriggerLongRunningOperationInput,
    pending: bridge::call::Pending,
}
impl TriggerLongRunningOperationCall {
    /// Duration of the operation in seconds
    pub fn duration<F>(
        mut self,
        duration: impl bridge::convert::OptionalArgument<f64, F>,
    ) -> Self {
        self.input.duration = self
            .pending
            .with(
                "duration",
                bridge::convert::OptionalArgument::into_optional(duration),
            );
        self
    }
    /// Number of steps in the operation
    pub fn steps<F>(
        mut self,
        steps: impl bridge::convert::OptionalArgument<f64, F>,
    ) -> Self {
        self.input.steps = self
            .pending
            .with("steps", bridge::convert::OptionalArgument::into_optional(steps));
        self
    }
}
impl TriggerLongRunningOperationCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for TriggerLongRunningOperationCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.e6199905880aaeab3c5b7a00548f560f")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "trigger-long-running-operation",
            mark: *b"e6199905880aaeab3c5b7a00548f560f",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for TriggerLongRunningOperationCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Demonstrates a long running operation with progress updates.
#[inline]
#[track_caller]
pub fn trigger_long_running_operation() -> TriggerLongRunningOperationCall {
    TriggerLongRunningOperationCall {
        input: TriggerLongRunningOperationInput {
            duration: None,
            steps: None,
        },
        pending: bridge::call::Pending::new(
            "everything",
            "trigger-long-running-operation",
        ),
    }
}

impl TriggerSamplingRequestInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> TriggerSamplingRequestCall {
        TriggerSamplingRequestCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "trigger-sampling-request"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct TriggerSamplingRequestCall {
    input: TriggerSamplingRequestInput,
    pending: bridge::call::Pending,
}
impl TriggerSamplingRequestCall {
    /// Maximum number of tokens to generate
    pub fn max_tokens<F>(
        mut self,
        max_tokens: impl bridge::convert::OptionalArgument<f64, F>,
    ) -> Self {
        self.input.max_tokens = self
            .pending
            .with(
                "maxTokens",
                bridge::convert::OptionalArgument::into_optional(max_tokens),
            );
        self
    }
}
impl TriggerSamplingRequestCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for TriggerSamplingRequestCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.942ed1bb407e52392b3064f3e4eb405d")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "trigger-sampling-request",
            mark: *b"942ed1bb407e52392b3064f3e4eb405d",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for TriggerSamplingRequestCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Trigger a Request from the Server for LLM Sampling
#[track_caller]
pub fn trigger_sampling_request(
    prompt: impl Into<String>,
) -> TriggerSamplingRequestCall {
    TriggerSamplingRequestCall {
        input: TriggerSamplingRequestInput {
            prompt: prompt.into(),
            max_tokens: None,
        },
        pending: bridge::call::Pending::new("everything", "trigger-sampling-request"),
    }
}

impl TriggerUrlElicitationInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> TriggerUrlElicitationCall {
        TriggerUrlElicitationCall {
            input: self,
            pending: bridge::call::Pending::new("everything", "trigger-url-elicitation"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct TriggerUrlElicitationCall {
    input: TriggerUrlElicitationInput,
    pending: bridge::call::Pending,
}
impl TriggerUrlElicitationCall {
    /// Message shown to the user before opening the URL
    pub fn message<F>(
        mut self,
        message: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.message = self
            .pending
            .with("message", bridge::convert::OptionalArgument::into_optional(message));
        self
    }
    /// Optional explicit elicitation ID. Defaults to a random UUID.
    pub fn elicitation_id<F>(
        mut self,
        elicitation_id: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.elicitation_id = self
            .pending
            .with(
                "elicitationId",
                bridge::convert::OptionalArgument::into_optional(elicitation_id),
            );
        self
    }
    /// Controls which elicitation mechanism is used. When false (default), sends an elicitation/create request (request path). When true, throws a…
    pub fn error_path<F>(
        mut self,
        error_path: impl bridge::convert::OptionalArgument<bool, F>,
    ) -> Self {
        self.input.error_path = self
            .pending
            .with(
                "errorPath",
                bridge::convert::OptionalArgument::into_optional(error_path),
            );
        self
    }
}
impl TriggerUrlElicitationCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for TriggerUrlElicitationCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.3c445104938473ef15c992ad2bb7a264")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "everything",
            name: "trigger-url-elicitation",
            mark: *b"3c445104938473ef15c992ad2bb7a264",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for TriggerUrlElicitationCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Trigger a URL elicitation so the client can direct the user to a browser flow. Supports two mechanisms: the request path (elicitation/create, default) which…
#[track_caller]
pub fn trigger_url_elicitation(url: impl Into<String>) -> TriggerUrlElicitationCall {
    TriggerUrlElicitationCall {
        input: TriggerUrlElicitationInput {
            url: url.into(),
            message: None,
            elicitation_id: None,
            error_path: None,
        },
        pending: bridge::call::Pending::new("everything", "trigger-url-elicitation"),
    }
}
