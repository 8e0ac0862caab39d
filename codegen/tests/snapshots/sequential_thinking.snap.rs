// Generated from the tools of the MCP server "sequential-thinking". Do not edit: changes are lost.

#![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct SequentialthinkingInput {
    /// Your current thinking step
    pub thought: String,
    /// Whether another thought step is needed
    pub next_thought_needed: bridge::Scalar,
    /// Current thought number (numeric value, e.g., 1, 2, 3)
    pub thought_number: i64,
    /// Estimated total thoughts needed (numeric value, e.g., 5, 10)
    pub total_thoughts: i64,
    /// Whether this revises previous thinking
    pub is_revision: Option<bridge::Scalar>,
    /// Which thought is being reconsidered
    pub revises_thought: Option<i64>,
    /// Branching point thought number
    pub branch_from_thought: Option<i64>,
    /// Branch identifier
    pub branch_id: Option<String>,
    /// If more thoughts are needed
    pub needs_more_thoughts: Option<bridge::Scalar>,
}
impl bridge::convert::ToJson for SequentialthinkingInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[
                ("thought", &self.thought),
                ("nextThoughtNeeded", &self.next_thought_needed),
                ("thoughtNumber", &self.thought_number),
                ("totalThoughts", &self.total_thoughts),
            ],
            &[
                ("isRevision", &self.is_revision),
                ("revisesThought", &self.revises_thought),
                ("branchFromThought", &self.branch_from_thought),
                ("branchId", &self.branch_id),
                ("needsMoreThoughts", &self.needs_more_thoughts),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for SequentialthinkingInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            thought: bridge::convert::FromJson::from_json(
                reader.take(level, "thought"),
                reader,
            ),
            next_thought_needed: bridge::convert::FromJson::from_json(
                reader.take(level, "nextThoughtNeeded"),
                reader,
            ),
            thought_number: bridge::convert::FromJson::from_json(
                reader.take(level, "thoughtNumber"),
                reader,
            ),
            total_thoughts: bridge::convert::FromJson::from_json(
                reader.take(level, "totalThoughts"),
                reader,
            ),
            is_revision: bridge::convert::FromJson::from_json(
                reader.take(level, "isRevision"),
                reader,
            ),
            revises_thought: bridge::convert::FromJson::from_json(
                reader.take(level, "revisesThought"),
                reader,
            ),
            branch_from_thought: bridge::convert::FromJson::from_json(
                reader.take(level, "branchFromThought"),
                reader,
            ),
            branch_id: bridge::convert::FromJson::from_json(
                reader.take(level, "branchId"),
                reader,
            ),
            needs_more_thoughts: bridge::convert::FromJson::from_json(
                reader.take(level, "needsMoreThoughts"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct SequentialthinkingOutput {
    pub thought_number: f64,
    pub total_thoughts: f64,
    pub next_thought_needed: bool,
    pub branches: Vec<String>,
    pub thought_history_length: f64,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for SequentialthinkingOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "SequentialthinkingOutput",
            &[
                ("thought_number", &self.thought_number),
                ("total_thoughts", &self.total_thoughts),
                ("next_thought_needed", &self.next_thought_needed),
                ("branches", &self.branches),
                ("thought_history_length", &self.thought_history_length),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for SequentialthinkingOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[
                ("thoughtNumber", &self.thought_number),
                ("totalThoughts", &self.total_thoughts),
                ("nextThoughtNeeded", &self.next_thought_needed),
                ("branches", &self.branches),
                ("thoughtHistoryLength", &self.thought_history_length),
            ],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for SequentialthinkingOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            thought_number: bridge::convert::FromJson::from_json(
                reader.take(level, "thoughtNumber"),
                reader,
            ),
            total_thoughts: bridge::convert::FromJson::from_json(
                reader.take(level, "totalThoughts"),
                reader,
            ),
            next_thought_needed: bridge::convert::FromJson::from_json(
                reader.take(level, "nextThoughtNeeded"),
                reader,
            ),
            branches: bridge::convert::FromJson::from_json(
                reader.take(level, "branches"),
                reader,
            ),
            thought_history_length: bridge::convert::FromJson::from_json(
                reader.take(level, "thoughtHistoryLength"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader
                    .rest(
                        level,
                        &[
                            "thoughtNumber",
                            "totalThoughts",
                            "nextThoughtNeeded",
                            "branches",
                            "thoughtHistoryLength",
                        ],
                    ),
                reader,
            ),
        }
    }
}
bridge::generated! {
    SequentialthinkingOutput = 12308665552425968071
}

impl SequentialthinkingInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> SequentialthinkingCall {
        SequentialthinkingCall {
            input: self,
            pending: bridge::call::Pending::new(
                "sequential-thinking",
                "sequentialthinking",
            ),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct SequentialthinkingCall {
    input: SequentialthinkingInput,
    pending: bridge::call::Pending,
}
impl SequentialthinkingCall {
    /// Whether this revises previous thinking
    pub fn is_revision<F>(
        mut self,
        is_revision: impl bridge::convert::OptionalArgument<bridge::Scalar, F>,
    ) -> Self {
        self.input.is_revision = self
            .pending
            .with(
                "isRevision",
                bridge::convert::OptionalArgument::into_optional(is_revision),
            );
        self
    }
    /// Which thought is being reconsidered
    pub fn revises_thought<F>(
        mut self,
        revises_thought: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.revises_thought = self
            .pending
            .with(
                "revisesThought",
                bridge::convert::OptionalArgument::into_optional(revises_thought),
            );
        self
    }
    /// Branching point thought number
    pub fn branch_from_thought<F>(
        mut self,
        branch_from_thought: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.branch_from_thought = self
            .pending
            .with(
                "branchFromThought",
                bridge::convert::OptionalArgument::into_optional(branch_from_thought),
            );
        self
    }
    /// Branch identifier
    pub fn branch_id<F>(
        mut self,
        branch_id: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.branch_id = self
            .pending
            .with(
                "branchId",
                bridge::convert::OptionalArgument::into_optional(branch_id),
            );
        self
    }
    /// If more thoughts are needed
    pub fn needs_more_thoughts<F>(
        mut self,
        needs_more_thoughts: impl bridge::convert::OptionalArgument<bridge::Scalar, F>,
    ) -> Self {
        self.input.needs_more_thoughts = self
            .pending
            .with(
                "needsMoreThoughts",
                bridge::convert::OptionalArgument::into_optional(needs_more_thoughts),
            );
        self
    }
}
impl SequentialthinkingCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for SequentialthinkingCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.241133785c44f64032eadde3fcc48d93")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "sequential-thinking",
            name: "sequentialthinking",
            mark: *b"241133785c44f64032eadde3fcc48d93",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for SequentialthinkingCall {
    type Output = Result<SequentialthinkingOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// A detailed tool for dynamic and reflective problem-solving through thoughts. This tool helps analyze problems through a flexible thinking process that can adapt…
#[track_caller]
pub fn sequentialthinking(
    thought: impl Into<String>,
    next_thought_needed: impl bridge::convert::Argument<bridge::Scalar>,
    thought_number: impl bridge::convert::Argument<i64>,
    total_thoughts: impl bridge::convert::Argument<i64>,
) -> SequentialthinkingCall {
    SequentialthinkingCall {
        input: SequentialthinkingInput {
            thought: thought.into(),
            next_thought_needed: bridge::convert::named(
                "nextThoughtNeeded",
                bridge::convert::Argument::into_argument(next_thought_needed),
            ),
            thought_number: bridge::convert::named(
                "thoughtNumber",
                bridge::convert::Argument::into_argument(thought_number),
            ),
            total_thoughts: bridge::convert::named(
                "totalThoughts",
                bridge::convert::Argument::into_argument(total_thoughts),
            ),
            is_revision: None,
            revises_thought: None,
            branch_from_thought: None,
            branch_id: None,
            needs_more_thoughts: None,
        },
        pending: bridge::call::Pending::new("sequential-thinking", "sequentialthinking"),
    }
}
