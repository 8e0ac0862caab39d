// Generated from the tools of the MCP server "time". Do not edit: changes are lost.

#![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]

#[derive(Debug, Clone, PartialEq)]
pub struct ConvertTimeInput {
    /// Source IANA timezone name (e.g., 'America/New_York', 'Europe/London'). Use 'UTC' as local timezone if no source timezone provided by the user.
    pub source_timezone: String,
    /// Time to convert in 24-hour format (HH:MM)
    pub time: String,
    /// Target IANA timezone name (e.g., 'Asia/Tokyo', 'America/San_Francisco'). Use 'UTC' as local timezone if no target timezone provided by the user.
    pub target_timezone: String,
}
impl bridge::convert::ToJson for ConvertTimeInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[
                ("source_timezone", &self.source_timezone),
                ("time", &self.time),
                ("target_timezone", &self.target_timezone),
            ],
            &[],
        )
    }
}
impl bridge::convert::FromJson for ConvertTimeInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
    ) -> Result<Self, bridge::convert::Mismatch> {
        let mut fields = bridge::convert::Fields::new(value);
        let (Some(v0), Some(v1), Some(v2)) = (
            fields.take("source_timezone"),
            fields.take("time"),
            fields.take("target_timezone"),
        ) else {
            return Err(fields.mismatch());
        };
        Ok(Self {
            source_timezone: v0,
            time: v1,
            target_timezone: v2,
        })
    }
}
#[derive(Debug, Clone, PartialEq)]
pub struct ConvertTimeOutput {
    pub source: ConvertTimeTimeResult,
    pub target: ConvertTimeTimeResult,
    pub time_difference: String,
}
impl bridge::convert::ToJson for ConvertTimeOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[
                ("source", &self.source),
                ("target", &self.target),
                ("time_difference", &self.time_difference),
            ],
            &[],
        )
    }
}
impl bridge::convert::FromJson for ConvertTimeOutput {
    fn from_json(
        value: bridge::convert::Value,
    ) -> Result<Self, bridge::convert::Mismatch> {
        let mut fields = bridge::convert::Fields::new(value);
        let (Some(v0), Some(v1), Some(v2)) = (
            fields.take("source"),
            fields.take("target"),
            fields.take("time_difference"),
        ) else {
            return Err(fields.mismatch());
        };
        Ok(Self {
            source: v0,
            target: v1,
            time_difference: v2,
        })
    }
}
#[derive(Debug, Clone, PartialEq)]
pub struct ConvertTimeTimeResult {
    pub timezone: String,
    pub datetime: String,
    pub day_of_week: String,
    pub is_dst: bool,
}
impl bridge::convert::ToJson for ConvertTimeTimeResult {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[
                ("timezone", &self.timezone),
                ("datetime", &self.datetime),
                ("day_of_week", &self.day_of_week),
                ("is_dst", &self.is_dst),
            ],
            &[],
        )
    }
}
impl bridge::convert::FromJson for ConvertTimeTimeResult {
    fn from_json(
        value: bridge::convert::Value,
    ) -> Result<Self, bridge::convert::Mismatch> {
        let mut fields = bridge::convert::Fields::new(value);
        let (Some(v0), Some(v1), Some(v2), Some(v3)) = (
            fields.take("timezone"),
            fields.take("datetime"),
            fields.take("day_of_week"),
            fields.take("is_dst"),
        ) else {
            return Err(fields.mismatch());
        };
        Ok(Self {
            timezone: v0,
            datetime: v1,
            day_of_week: v2,
            is_dst: v3,
        })
    }
}
bridge::generated! {
    ConvertTimeOutput ConvertTimeTimeResult
}
impl ConvertTimeInput {
    pub fn call(self) -> ConvertTimeCall {
        ConvertTimeCall {
            input: self,
            pending: bridge::call::Pending::new(),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ConvertTimeCall {
    input: ConvertTimeInput,
    pending: bridge::call::Pending<ConvertTimeOutput>,
}
impl std::future::Future for ConvertTimeCall {
    type Output = Result<ConvertTimeOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        #[unsafe(link_section = ".toolsmith.42e1330171911d329275818653087619")]
        static MARK: bridge::tool::Mark = bridge::tool::Mark(
            *b"42e1330171911d329275818653087619",
        );
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "time",
            name: "convert_time",
            mark: &MARK,
        };
        let call = self.get_mut();
        let input = &call.input;
        call.pending.poll(context, &TOOL, &|| bridge::convert::ToJson::to_json(input))
    }
}
/// Convert time between timezones
#[track_caller]
pub fn convert_time(
    source_timezone: impl Into<String>,
    time: impl Into<String>,
    target_timezone: impl Into<String>,
) -> ConvertTimeCall {
    ConvertTimeInput {
        source_timezone: source_timezone.into(),
        time: time.into(),
        target_timezone: target_timezone.into(),
    }
        .call()
}

#[derive(Debug, Clone, PartialEq)]
pub struct GetCurrentTimeInput {
    /// IANA timezone name (e.g., 'America/New_York', 'Europe/London'). Use 'UTC' as local timezone if no timezone provided by the user.
    pub timezone: String,
}
impl bridge::convert::ToJson for GetCurrentTimeInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("timezone", &self.timezone)], &[])
    }
}
impl bridge::convert::FromJson for GetCurrentTimeInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
    ) -> Result<Self, bridge::convert::Mismatch> {
        let mut fields = bridge::convert::Fields::new(value);
        let (Some(v0),) = (fields.take("timezone"),) else {
            return Err(fields.mismatch());
        };
        Ok(Self { timezone: v0 })
    }
}
#[derive(Debug, Clone, PartialEq)]
pub struct GetCurrentTimeOutput {
    pub timezone: String,
    pub datetime: String,
    pub day_of_week: String,
    pub is_dst: bool,
}
impl bridge::convert::ToJson for GetCurrentTimeOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[
                ("timezone", &self.timezone),
                ("datetime", &self.datetime),
                ("day_of_week", &self.day_of_week),
                ("is_dst", &self.is_dst),
            ],
            &[],
        )
    }
}
impl bridge::convert::FromJson for GetCurrentTimeOutput {
    fn from_json(
        value: bridge::convert::Value,
    ) -> Result<Self, bridge::convert::Mismatch> {
        let mut fields = bridge::convert::Fields::new(value);
        let (Some(v0), Some(v1), Some(v2), Some(v3)) = (
            fields.take("timezone"),
            fields.take("datetime"),
            fields.take("day_of_week"),
            fields.take("is_dst"),
        ) else {
            return Err(fields.mismatch());
        };
        Ok(Self {
            timezone: v0,
            datetime: v1,
            day_of_week: v2,
            is_dst: v3,
        })
    }
}
bridge::generated! {
    GetCurrentTimeOutput
}
impl GetCurrentTimeInput {
    pub fn call(self) -> GetCurrentTimeCall {
        GetCurrentTimeCall {
            input: self,
            pending: bridge::call::Pending::new(),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetCurrentTimeCall {
    input: GetCurrentTimeInput,
    pending: bridge::call::Pending<GetCurrentTimeOutput>,
}
impl std::future::Future for GetCurrentTimeCall {
    type Output = Result<GetCurrentTimeOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        #[unsafe(link_section = ".toolsmith.565771d599602cf1925a146f4332fc31")]
        static MARK: bridge::tool::Mark = bridge::tool::Mark(
            *b"565771d599602cf1925a146f4332fc31",
        );
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "time",
            name: "get_current_time",
            mark: &MARK,
        };
        let call = self.get_mut();
        let input = &call.input;
        call.pending.poll(context, &TOOL, &|| bridge::convert::ToJson::to_json(input))
    }
}
/// Get current time in a specific timezone
#[track_caller]
pub fn get_current_time(timezone: impl Into<String>) -> GetCurrentTimeCall {
    GetCurrentTimeInput {
        timezone: timezone.into(),
    }
        .call()
}
