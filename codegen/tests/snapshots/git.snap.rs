// Generated from the tools of the MCP server "git". Do not edit: changes are lost.

#![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GitAddInput {
    pub repo_path: String,
    pub files: Vec<String>,
}
impl bridge::convert::ToJson for GitAddInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("repo_path", &self.repo_path), ("files", &self.files)],
            &[],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GitAddInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            repo_path: bridge::convert::FromJson::from_json(
                reader.take(level, "repo_path"),
                reader,
            ),
            files: bridge::convert::FromJson::from_json(
                reader.take(level, "files"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GitBranchInput {
    /// The path to the Git repository.
    pub repo_path: String,
    /// Whether to list local branches ('local'), remote branches ('remote') or all branches('all').
    pub branch_type: String,
    /// The commit sha that branch should contain. Do not pass anything to this param if no commit sha is specified
    pub contains: Option<Option<String>>,
    /// The commit sha that branch should NOT contain. Do not pass anything to this param if no commit sha is specified
    pub not_contains: Option<Option<String>>,
}
impl bridge::convert::ToJson for GitBranchInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(
                &[("repo_path", &self.repo_path), ("branch_type", &self.branch_type)],
                &[],
            ),
            &[
                (
                    "contains",
                    self
                        .contains
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "not_contains",
                    self
                        .not_contains
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GitBranchInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            repo_path: bridge::convert::FromJson::from_json(
                reader.take(level, "repo_path"),
                reader,
            ),
            branch_type: bridge::convert::FromJson::from_json(
                reader.take(level, "branch_type"),
                reader,
            ),
            contains: bridge::convert::read_nullable(
                reader.take(level, "contains"),
                reader,
            ),
            not_contains: bridge::convert::read_nullable(
                reader.take(level, "not_contains"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GitCheckoutInput {
    pub repo_path: String,
    pub branch_name: String,
}
impl bridge::convert::ToJson for GitCheckoutInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("repo_path", &self.repo_path), ("branch_name", &self.branch_name)],
            &[],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GitCheckoutInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            repo_path: bridge::convert::FromJson::from_json(
                reader.take(level, "repo_path"),
                reader,
            ),
            branch_name: bridge::convert::FromJson::from_json(
                reader.take(level, "branch_name"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GitCommitInput {
    pub repo_path: String,
    pub message: String,
}
impl bridge::convert::ToJson for GitCommitInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("repo_path", &self.repo_path), ("message", &self.message)],
            &[],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GitCommitInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            repo_path: bridge::convert::FromJson::from_json(
                reader.take(level, "repo_path"),
                reader,
            ),
            message: bridge::convert::FromJson::from_json(
                reader.take(level, "message"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GitCreateBranchInput {
    pub repo_path: String,
    pub branch_name: String,
    pub base_branch: Option<Option<String>>,
}
impl bridge::convert::ToJson for GitCreateBranchInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(
                &[("repo_path", &self.repo_path), ("branch_name", &self.branch_name)],
                &[],
            ),
            &[
                (
                    "base_branch",
                    self
                        .base_branch
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GitCreateBranchInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            repo_path: bridge::convert::FromJson::from_json(
                reader.take(level, "repo_path"),
                reader,
            ),
            branch_name: bridge::convert::FromJson::from_json(
                reader.take(level, "branch_name"),
                reader,
            ),
            base_branch: bridge::convert::read_nullable(
                reader.take(level, "base_branch"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GitDiffInput {
    pub repo_path: String,
    pub target: String,
    pub context_lines: Option<i64>,
}
impl bridge::convert::ToJson for GitDiffInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("repo_path", &self.repo_path), ("target", &self.target)],
            &[("context_lines", &self.context_lines)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GitDiffInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            repo_path: bridge::convert::FromJson::from_json(
                reader.take(level, "repo_path"),
                reader,
            ),
            target: bridge::convert::FromJson::from_json(
                reader.take(level, "target"),
                reader,
            ),
            context_lines: bridge::convert::FromJson::from_json(
                reader.take(level, "context_lines"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GitDiffStagedInput {
    pub repo_path: String,
    pub context_lines: Option<i64>,
}
impl bridge::convert::ToJson for GitDiffStagedInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("repo_path", &self.repo_path)],
            &[("context_lines", &self.context_lines)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GitDiffStagedInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            repo_path: bridge::convert::FromJson::from_json(
                reader.take(level, "repo_path"),
                reader,
            ),
            context_lines: bridge::convert::FromJson::from_json(
                reader.take(level, "context_lines"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GitDiffUnstagedInput {
    pub repo_path: String,
    pub context_lines: Option<i64>,
}
impl bridge::convert::ToJson for GitDiffUnstagedInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("repo_path", &self.repo_path)],
            &[("context_lines", &self.context_lines)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GitDiffUnstagedInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            repo_path: bridge::convert::FromJson::from_json(
                reader.take(level, "repo_path"),
                reader,
            ),
            context_lines: bridge::convert::FromJson::from_json(
                reader.take(level, "context_lines"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GitLogInput {
    pub repo_path: String,
    pub max_count: Option<i64>,
    /// Start timestamp for filtering commits. Accepts: ISO 8601 format (e.g., '2024-01-15T14:30:25'), relative dates (e.g., '2 weeks ago', 'yesterday'), or absolute…
    pub start_timestamp: Option<Option<String>>,
    /// End timestamp for filtering commits. Accepts: ISO 8601 format (e.g., '2024-01-15T14:30:25'), relative dates (e.g., '2 weeks ago', 'yesterday'), or absolute dates…
    pub end_timestamp: Option<Option<String>>,
}
impl bridge::convert::ToJson for GitLogInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::with_nullable(
            bridge::convert::object(
                &[("repo_path", &self.repo_path)],
                &[("max_count", &self.max_count)],
            ),
            &[
                (
                    "start_timestamp",
                    self
                        .start_timestamp
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
                (
                    "end_timestamp",
                    self
                        .end_timestamp
                        .as_ref()
                        .map(|value| value as &dyn bridge::convert::ToJson),
                ),
            ],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GitLogInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            repo_path: bridge::convert::FromJson::from_json(
                reader.take(level, "repo_path"),
                reader,
            ),
            max_count: bridge::convert::FromJson::from_json(
                reader.take(level, "max_count"),
                reader,
            ),
            start_timestamp: bridge::convert::read_nullable(
                reader.take(level, "start_timestamp"),
                reader,
            ),
            end_timestamp: bridge::convert::read_nullable(
                reader.take(level, "end_timestamp"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GitResetInput {
    pub repo_path: String,
}
impl bridge::convert::ToJson for GitResetInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("repo_path", &self.repo_path)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GitResetInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            repo_path: bridge::convert::FromJson::from_json(
                reader.take(level, "repo_path"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GitShowInput {
    pub repo_path: String,
    pub revision: String,
}
impl bridge::convert::ToJson for GitShowInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("repo_path", &self.repo_path), ("revision", &self.revision)],
            &[],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GitShowInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            repo_path: bridge::convert::FromJson::from_json(
                reader.take(level, "repo_path"),
                reader,
            ),
            revision: bridge::convert::FromJson::from_json(
                reader.take(level, "revision"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GitStatusInput {
    pub repo_path: String,
}
impl bridge::convert::ToJson for GitStatusInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("repo_path", &self.repo_path)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GitStatusInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            repo_path: bridge::convert::FromJson::from_json(
                reader.take(level, "repo_path"),
                reader,
            ),
        }
    }
}

impl GitAddInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GitAddCall {
        GitAddCall {
            input: self,
            pending: bridge::call::Pending::new("git", "git_add"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GitAddCall {
    input: GitAddInput,
    pending: bridge::call::Pending,
}
impl GitAddCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GitAddCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.b0c15a21f215a9b1800ff105bff85c60")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "git",
            name: "git_add",
            mark: *b"b0c15a21f215a9b1800ff105bff85c60",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GitAddCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Adds file contents to the staging area
#[track_caller]
pub fn git_add(
    repo_path: impl Into<String>,
    files: impl bridge::convert::Argument<Vec<String>>,
) -> GitAddCall {
    GitAddCall {
        input: GitAddInput {
            repo_path: repo_path.into(),
            files: bridge::convert::named(
                "files",
                bridge::convert::Argument::into_argument(files),
            ),
        },
        pending: bridge::call::Pending::new("git", "git_add"),
    }
}

impl GitBranchInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GitBranchCall {
        GitBranchCall {
            input: self,
            pending: bridge::call::Pending::new("git", "git_branch"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GitBranchCall {
    input: GitBranchInput,
    pending: bridge::call::Pending,
}
impl GitBranchCall {
    /// The commit sha that branch should contain. Do not pass anything to this param if no commit sha is specified
    pub fn contains<F>(
        mut self,
        contains: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.contains = self
            .pending
            .with(
                "contains",
                Some(bridge::convert::OptionalArgument::into_optional(contains)),
            );
        self
    }
    /// The commit sha that branch should NOT contain. Do not pass anything to this param if no commit sha is specified
    pub fn not_contains<F>(
        mut self,
        not_contains: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.not_contains = self
            .pending
            .with(
                "not_contains",
                Some(bridge::convert::OptionalArgument::into_optional(not_contains)),
            );
        self
    }
}
impl GitBranchCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GitBranchCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.e56778b30a1079a679ff1c51d8f676ac")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "git",
            name: "git_branch",
            mark: *b"e56778b30a1079a679ff1c51d8f676ac",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GitBranchCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// List Git branches
#[track_caller]
pub fn git_branch(
    repo_path: impl Into<String>,
    branch_type: impl Into<String>,
) -> GitBranchCall {
    GitBranchCall {
        input: GitBranchInput {
            repo_path: repo_path.into(),
            branch_type: branch_type.into(),
            contains: None,
            not_contains: None,
        },
        pending: bridge::call::Pending::new("git", "git_branch"),
    }
}

impl GitCheckoutInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GitCheckoutCall {
        GitCheckoutCall {
            input: self,
            pending: bridge::call::Pending::new("git", "git_checkout"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GitCheckoutCall {
    input: GitCheckoutInput,
    pending: bridge::call::Pending,
}
impl GitCheckoutCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GitCheckoutCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.04a1af0c0ddd28516ceddd70a928b87b")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "git",
            name: "git_checkout",
            mark: *b"04a1af0c0ddd28516ceddd70a928b87b",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GitCheckoutCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Switches branches
#[track_caller]
pub fn git_checkout(
    repo_path: impl Into<String>,
    branch_name: impl Into<String>,
) -> GitCheckoutCall {
    GitCheckoutCall {
        input: GitCheckoutInput {
            repo_path: repo_path.into(),
            branch_name: branch_name.into(),
        },
        pending: bridge::call::Pending::new("git", "git_checkout"),
    }
}

impl GitCommitInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GitCommitCall {
        GitCommitCall {
            input: self,
            pending: bridge::call::Pending::new("git", "git_commit"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GitCommitCall {
    input: GitCommitInput,
    pending: bridge::call::Pending,
}
impl GitCommitCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GitCommitCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.337cd63f8006eeb206301d88eb5dd960")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "git",
            name: "git_commit",
            mark: *b"337cd63f8006eeb206301d88eb5dd960",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GitCommitCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Records changes to the repository
#[track_caller]
pub fn git_commit(
    repo_path: impl Into<String>,
    message: impl Into<String>,
) -> GitCommitCall {
    GitCommitCall {
        input: GitCommitInput {
            repo_path: repo_path.into(),
            message: message.into(),
        },
        pending: bridge::call::Pending::new("git", "git_commit"),
    }
}

impl GitCreateBranchInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GitCreateBranchCall {
        GitCreateBranchCall {
            input: self,
            pending: bridge::call::Pending::new("git", "git_create_branch"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GitCreateBranchCall {
    input: GitCreateBranchInput,
    pending: bridge::call::Pending,
}
impl GitCreateBranchCall {
    pub fn base_branch<F>(
        mut self,
        base_branch: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.base_branch = self
            .pending
            .with(
                "base_branch",
                Some(bridge::convert::OptionalArgument::into_optional(base_branch)),
            );
        self
    }
}
impl GitCreateBranchCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GitCreateBranchCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.f87ab5c715f3a253f85cdc499f64b38c")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "git",
            name: "git_create_branch",
            mark: *b"f87ab5c715f3a253f85cdc499f64b38c",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GitCreateBranchCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Creates a new branch from an optional base branch
#[track_caller]
pub fn git_create_branch(
    repo_path: impl Into<String>,
    branch_name: impl Into<String>,
) -> GitCreateBranchCall {
    GitCreateBranchCall {
        input: GitCreateBranchInput {
            repo_path: repo_path.into(),
            branch_name: branch_name.into(),
            base_branch: None,
        },
        pending: bridge::call::Pending::new("git", "git_create_branch"),
    }
}

impl GitDiffInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GitDiffCall {
        GitDiffCall {
            input: self,
            pending: bridge::call::Pending::new("git", "git_diff"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GitDiffCall {
    input: GitDiffInput,
    pending: bridge::call::Pending,
}
impl GitDiffCall {
    pub fn context_lines<F>(
        mut self,
        context_lines: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.context_lines = self
            .pending
            .with(
                "context_lines",
                bridge::convert::OptionalArgument::into_optional(context_lines),
            );
        self
    }
}
impl GitDiffCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GitDiffCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.1538146b117d76726029558d90d85de3")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "git",
            name: "git_diff",
            mark: *b"1538146b117d76726029558d90d85de3",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GitDiffCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Shows differences between branches or commits
#[track_caller]
pub fn git_diff(repo_path: impl Into<String>, target: impl Into<String>) -> GitDiffCall {
    GitDiffCall {
        input: GitDiffInput {
            repo_path: repo_path.into(),
            target: target.into(),
            context_lines: None,
        },
        pending: bridge::call::Pending::new("git", "git_diff"),
    }
}

impl GitDiffStagedInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GitDiffStagedCall {
        GitDiffStagedCall {
            input: self,
            pending: bridge::call::Pending::new("git", "git_diff_staged"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GitDiffStagedCall {
    input: GitDiffStagedInput,
    pending: bridge::call::Pending,
}
impl GitDiffStagedCall {
    pub fn context_lines<F>(
        mut self,
        context_lines: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.context_lines = self
            .pending
            .with(
                "context_lines",
                bridge::convert::OptionalArgument::into_optional(context_lines),
            );
        self
    }
}
impl GitDiffStagedCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GitDiffStagedCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.66703de53a63a017bf8fc35b20dcca6b")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "git",
            name: "git_diff_staged",
            mark: *b"66703de53a63a017bf8fc35b20dcca6b",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GitDiffStagedCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Shows changes that are staged for commit
#[track_caller]
pub fn git_diff_staged(repo_path: impl Into<String>) -> GitDiffStagedCall {
    GitDiffStagedCall {
        input: GitDiffStagedInput {
            repo_path: repo_path.into(),
            context_lines: None,
        },
        pending: bridge::call::Pending::new("git", "git_diff_staged"),
    }
}

impl GitDiffUnstagedInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GitDiffUnstagedCall {
        GitDiffUnstagedCall {
            input: self,
            pending: bridge::call::Pending::new("git", "git_diff_unstaged"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GitDiffUnstagedCall {
    input: GitDiffUnstagedInput,
    pending: bridge::call::Pending,
}
impl GitDiffUnstagedCall {
    pub fn context_lines<F>(
        mut self,
        context_lines: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.context_lines = self
            .pending
            .with(
                "context_lines",
                bridge::convert::OptionalArgument::into_optional(context_lines),
            );
        self
    }
}
impl GitDiffUnstagedCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GitDiffUnstagedCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.1508e9741d6638cc22a777e9311e6954")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "git",
            name: "git_diff_unstaged",
            mark: *b"1508e9741d6638cc22a777e9311e6954",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GitDiffUnstagedCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Shows changes in the working directory that are not yet staged
#[track_caller]
pub fn git_diff_unstaged(repo_path: impl Into<String>) -> GitDiffUnstagedCall {
    GitDiffUnstagedCall {
        input: GitDiffUnstagedInput {
            repo_path: repo_path.into(),
            context_lines: None,
        },
        pending: bridge::call::Pending::new("git", "git_diff_unstaged"),
    }
}

impl GitLogInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GitLogCall {
        GitLogCall {
            input: self,
            pending: bridge::call::Pending::new("git", "git_log"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GitLogCall {
    input: GitLogInput,
    pending: bridge::call::Pending,
}
impl GitLogCall {
    pub fn max_count<F>(
        mut self,
        max_count: impl bridge::convert::OptionalArgument<i64, F>,
    ) -> Self {
        self.input.max_count = self
            .pending
            .with(
                "max_count",
                bridge::convert::OptionalArgument::into_optional(max_count),
            );
        self
    }
    /// Start timestamp for filtering commits. Accepts: ISO 8601 format (e.g., '2024-01-15T14:30:25'), relative dates (e.g., '2 weeks ago', 'yesterday'), or absolute…
    pub fn start_timestamp<F>(
        mut self,
        start_timestamp: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.start_timestamp = self
            .pending
            .with(
                "start_timestamp",
                Some(bridge::convert::OptionalArgument::into_optional(start_timestamp)),
            );
        self
    }
    /// End timestamp for filtering commits. Accepts: ISO 8601 format (e.g., '2024-01-15T14:30:25'), relative dates (e.g., '2 weeks ago', 'yesterday'), or absolute dates…
    pub fn end_timestamp<F>(
        mut self,
        end_timestamp: impl bridge::convert::OptionalArgument<String, F>,
    ) -> Self {
        self.input.end_timestamp = self
            .pending
            .with(
                "end_timestamp",
                Some(bridge::convert::OptionalArgument::into_optional(end_timestamp)),
            );
        self
    }
}
impl GitLogCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GitLogCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.0a11a5aa6127a90b8abc154025dc8410")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "git",
            name: "git_log",
            mark: *b"0a11a5aa6127a90b8abc154025dc8410",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GitLogCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Shows the commit logs
#[track_caller]
pub fn git_log(repo_path: impl Into<String>) -> GitLogCall {
    GitLogCall {
        input: GitLogInput {
            repo_path: repo_path.into(),
            max_count: None,
            start_timestamp: None,
            end_timestamp: None,
        },
        pending: bridge::call::Pending::new("git", "git_log"),
    }
}

impl GitResetInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GitResetCall {
        GitResetCall {
            input: self,
            pending: bridge::call::Pending::new("git", "git_reset"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GitResetCall {
    input: GitResetInput,
    pending: bridge::call::Pending,
}
impl GitResetCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GitResetCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.3c43fdcd266b27a4acc307fe7e70e391")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "git",
            name: "git_reset",
            mark: *b"3c43fdcd266b27a4acc307fe7e70e391",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GitResetCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Unstages all staged changes
#[track_caller]
pub fn git_reset(repo_path: impl Into<String>) -> GitResetCall {
    GitResetCall {
        input: GitResetInput {
            repo_path: repo_path.into(),
        },
        pending: bridge::call::Pending::new("git", "git_reset"),
    }
}

impl GitShowInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GitShowCall {
        GitShowCall {
            input: self,
            pending: bridge::call::Pending::new("git", "git_show"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GitShowCall {
    input: GitShowInput,
    pending: bridge::call::Pending,
}
impl GitShowCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GitShowCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.38614a6c25f9b51d395753ee2681368a")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "git",
            name: "git_show",
            mark: *b"38614a6c25f9b51d395753ee2681368a",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GitShowCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Shows the contents of a commit, or of a file or directory given as <revision>:<path>
#[track_caller]
pub fn git_show(
    repo_path: impl Into<String>,
    revision: impl Into<String>,
) -> GitShowCall {
    GitShowCall {
        input: GitShowInput {
            repo_path: repo_path.into(),
            revision: revision.into(),
        },
        pending: bridge::call::Pending::new("git", "git_show"),
    }
}

impl GitStatusInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GitStatusCall {
        GitStatusCall {
            input: self,
            pending: bridge::call::Pending::new("git", "git_status"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GitStatusCall {
    input: GitStatusInput,
    pending: bridge::call::Pending,
}
impl GitStatusCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GitStatusCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.b36ae80b66c724eee2b7a7d6c70cfe38")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "git",
            name: "git_status",
            mark: *b"b36ae80b66c724eee2b7a7d6c70cfe38",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GitStatusCall {
    type Output = Result<bridge::ToolResult, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll_untyped(context, tool, input)
    }
}
/// Shows the working tree status
#[track_caller]
pub fn git_status(repo_path: impl Into<String>) -> GitStatusCall {
    GitStatusCall {
        input: GitStatusInput {
            repo_path: repo_path.into(),
        },
        pending: bridge::call::Pending::new("git", "git_status"),
    }
}
