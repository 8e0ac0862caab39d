// Generated from the tools of the MCP server "time". Do not edit: changes are lost.

#![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
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
#[cfg(test)]
impl bridge::convert::FromJson for ConvertTimeInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            source_timezone: bridge::convert::FromJson::from_json(
                reader.take(level, "source_timezone"),
                reader,
            ),
            time: bridge::convert::FromJson::from_json(
                reader.take(level, "time"),
                reader,
            ),
            target_timezone: bridge::convert::FromJson::from_json(
                reader.take(level, "target_timezone"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct TimeConversionResult {
    pub source: TimeResult,
    pub target: TimeResult,
    pub time_difference: String,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for TimeConversionResult {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "TimeConversionResult",
            &[
                ("source", &self.source),
                ("target", &self.target),
                ("time_difference", &self.time_difference),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for TimeConversionResult {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[
                ("source", &self.source),
                ("target", &self.target),
                ("time_difference", &self.time_difference),
            ],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for TimeConversionResult {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            source: bridge::convert::FromJson::from_json(
                reader.take(level, "source"),
                reader,
            ),
            target: bridge::convert::FromJson::from_json(
                reader.take(level, "target"),
                reader,
            ),
            time_difference: bridge::convert::FromJson::from_json(
                reader.take(level, "time_difference"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["source", "target", "time_difference"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    TimeConversionResult = 17027409635769088066
}

#[derive(Clone, PartialEq)]
pub struct TimeResult {
    pub timezone: String,
    pub datetime: String,
    pub day_of_week: String,
    pub is_dst: bool,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for TimeResult {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "TimeResult",
            &[
                ("timezone", &self.timezone),
                ("datetime", &self.datetime),
                ("day_of_week", &self.day_of_week),
                ("is_dst", &self.is_dst),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for TimeResult {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[
                ("timezone", &self.timezone),
                ("datetime", &self.datetime),
                ("day_of_week", &self.day_of_week),
                ("is_dst", &self.is_dst),
            ],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for TimeResult {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            timezone: bridge::convert::FromJson::from_json(
                reader.take(level, "timezone"),
                reader,
            ),
            datetime: bridge::convert::FromJson::from_json(
                reader.take(level, "datetime"),
                reader,
            ),
            day_of_week: bridge::convert::FromJson::from_json(
                reader.take(level, "day_of_week"),
                reader,
            ),
            is_dst: bridge::convert::FromJson::from_json(
                reader.take(level, "is_dst"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["timezone", "datetime", "day_of_week", "is_dst"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    TimeResult = 11136087241454243878
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
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
#[cfg(test)]
impl bridge::convert::FromJson for GetCurrentTimeInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            timezone: bridge::convert::FromJson::from_json(
                reader.take(level, "timezone"),
                reader,
            ),
        }
    }
}

pub type ConvertTimeOutput = TimeConversionResult;
pub type ConvertTimeTimeConversionResult = TimeConversionResult;
pub type ConvertTimeTimeResult = TimeResult;
impl ConvertTimeInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ConvertTimeCall {
        ConvertTimeCall {
            input: self,
            pending: bridge::call::Pending::new("time", "convert_time"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ConvertTimeCall {
    input: ConvertTimeInput,
    pending: bridge::call::Pending,
}
impl ConvertTimeCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ConvertTimeCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.42e1330171911d329275818653087619")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "time",
            name: "convert_time",
            mark: *b"42e1330171911d329275818653087619",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ConvertTimeCall {
    type Output = Result<ConvertTimeOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Convert time between timezones
#[track_caller]
pub fn convert_time(
    source_timezone: impl Into<String>,
    time: impl Into<String>,
    target_timezone: impl Into<String>,
) -> ConvertTimeCall {
    ConvertTimeCall {
        input: ConvertTimeInput {
            source_timezone: source_timezone.into(),
            time: time.into(),
            target_timezone: target_timezone.into(),
        },
        pending: bridge::call::Pending::new("time", "convert_time"),
    }
}

pub type GetCurrentTimeOutput = TimeResult;
pub type GetCurrentTimeTimeResult = TimeResult;
impl GetCurrentTimeInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetCurrentTimeCall {
        GetCurrentTimeCall {
            input: self,
            pending: bridge::call::Pending::new("time", "get_current_time"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetCurrentTimeCall {
    input: GetCurrentTimeInput,
    pending: bridge::call::Pending,
}
impl GetCurrentTimeCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetCurrentTimeCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.565771d599602cf1925a146f4332fc31")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "time",
            name: "get_current_time",
            mark: *b"565771d599602cf1925a146f4332fc31",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetCurrentTimeCall {
    type Output = Result<GetCurrentTimeOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Get current time in a specific timezone
#[track_caller]
pub fn get_current_time(timezone: impl Into<String>) -> GetCurrentTimeCall {
    GetCurrentTimeCall {
        input: GetCurrentTimeInput {
            timezone: timezone.into(),
        },
        pending: bridge::call::Pending::new("time", "get_current_time"),
    }
}
