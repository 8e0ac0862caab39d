// Generated from the tools of the MCP server "filesystem". Do not edit: changes are lost.

#![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct CreateDirectoryInput {
    pub path: String,
}
impl bridge::convert::ToJson for CreateDirectoryInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("path", &self.path)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for CreateDirectoryInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            path: bridge::convert::FromJson::from_json(
                reader.take(level, "path"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct CreateDirectoryOutput {
    pub content: String,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for CreateDirectoryOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "CreateDirectoryOutput",
            &[("content", &self.content)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for CreateDirectoryOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("content", &self.content)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for CreateDirectoryOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            content: bridge::convert::FromJson::from_json(
                reader.take(level, "content"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["content"]), reader),
        }
    }
}
bridge::generated! {
    CreateDirectoryOutput = 4754270697126922739
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct DirectoryTreeInput {
    pub path: String,
    pub exclude_patterns: Option<Vec<String>>,
}
impl bridge::convert::ToJson for DirectoryTreeInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("path", &self.path)],
            &[("excludePatterns", &self.exclude_patterns)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for DirectoryTreeInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            path: bridge::convert::FromJson::from_json(
                reader.take(level, "path"),
                reader,
            ),
            exclude_patterns: bridge::convert::FromJson::from_json(
                reader.take(level, "excludePatterns"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct EditFileInput {
    pub path: String,
    pub edits: Vec<EditFileEdit>,
    /// Preview changes using git-style diff format
    pub dry_run: Option<bool>,
}
impl bridge::convert::ToJson for EditFileInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("path", &self.path), ("edits", &self.edits)],
            &[("dryRun", &self.dry_run)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for EditFileInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            path: bridge::convert::FromJson::from_json(
                reader.take(level, "path"),
                reader,
            ),
            edits: bridge::convert::FromJson::from_json(
                reader.take(level, "edits"),
                reader,
            ),
            dry_run: bridge::convert::FromJson::from_json(
                reader.take(level, "dryRun"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct EditFileEdit {
    /// Text to search for - must match exactly
    pub old_text: String,
    /// Text to replace with
    pub new_text: String,
}
impl bridge::convert::ToJson for EditFileEdit {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("oldText", &self.old_text), ("newText", &self.new_text)],
            &[],
        )
    }
}
impl bridge::convert::FromJson for EditFileEdit {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            old_text: bridge::convert::FromJson::from_json(
                reader.take(level, "oldText"),
                reader,
            ),
            new_text: bridge::convert::FromJson::from_json(
                reader.take(level, "newText"),
                reader,
            ),
        }
    }
}
bridge::generated! {
    EditFileEdit = 15273846194454077549
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct GetFileInfoInput {
    pub path: String,
}
impl bridge::convert::ToJson for GetFileInfoInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("path", &self.path)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for GetFileInfoInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            path: bridge::convert::FromJson::from_json(
                reader.take(level, "path"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListAllowedDirectoriesInput {}
impl bridge::convert::ToJson for ListAllowedDirectoriesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ListAllowedDirectoriesInput {
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
pub struct ListDirectoryInput {
    pub path: String,
}
impl bridge::convert::ToJson for ListDirectoryInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("path", &self.path)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ListDirectoryInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            path: bridge::convert::FromJson::from_json(
                reader.take(level, "path"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct ListDirectoryWithSizesInput {
    pub path: String,
    /// Sort entries by name or size
    pub sort_by: Option<ListDirectoryWithSizesSortBy>,
}
impl bridge::convert::ToJson for ListDirectoryWithSizesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("path", &self.path)], &[("sortBy", &self.sort_by)])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ListDirectoryWithSizesInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            path: bridge::convert::FromJson::from_json(
                reader.take(level, "path"),
                reader,
            ),
            sort_by: bridge::convert::FromJson::from_json(
                reader.take(level, "sortBy"),
                reader,
            ),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub enum ListDirectoryWithSizesSortBy {
    Name,
    Size,
}
impl ListDirectoryWithSizesSortBy {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Name => "name",
            Self::Size => "size",
        }
    }
}
impl bridge::convert::GeneratedText for ListDirectoryWithSizesSortBy {
    const TEXTS: &'static [&'static str] = &["name", "size"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "name" => Self::Name,
                "size" => Self::Size,
                _ => return Err((Self::Name, Self::TEXTS)),
            },
        )
    }
}
bridge::generated! {
    ListDirectoryWithSizesSortBy = 12017562143490547940
}
bridge::generated_text! {
    ; ListDirectoryWithSizesSortBy
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct MoveFileInput {
    pub source: String,
    pub destination: String,
}
impl bridge::convert::ToJson for MoveFileInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("source", &self.source), ("destination", &self.destination)],
            &[],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for MoveFileInput {
    #[inline]
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
            destination: bridge::convert::FromJson::from_json(
                reader.take(level, "destination"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct ReadFileInput {
    pub path: String,
    /// If provided, returns only the last N lines of the file
    pub tail: Option<f64>,
    /// If provided, returns only the first N lines of the file
    pub head: Option<f64>,
}
impl bridge::convert::ToJson for ReadFileInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("path", &self.path)],
            &[("tail", &self.tail), ("head", &self.head)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ReadFileInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            path: bridge::convert::FromJson::from_json(
                reader.take(level, "path"),
                reader,
            ),
            tail: bridge::convert::FromJson::from_json(
                reader.take(level, "tail"),
                reader,
            ),
            head: bridge::convert::FromJson::from_json(
                reader.take(level, "head"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct ReadMediaFileInput {
    pub path: String,
}
impl bridge::convert::ToJson for ReadMediaFileInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("path", &self.path)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ReadMediaFileInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            path: bridge::convert::FromJson::from_json(
                reader.take(level, "path"),
                reader,
            ),
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct ReadMediaFileOutput {
    pub content: Vec<ReadMediaFileContent>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for ReadMediaFileOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "ReadMediaFileOutput",
            &[("content", &self.content)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for ReadMediaFileOutput {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("content", &self.content)],
            &[],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for ReadMediaFileOutput {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            content: bridge::convert::FromJson::from_json(
                reader.take(level, "content"),
                reader,
            ),
            extra: bridge::Extra::kept(reader.rest(level, &["content"]), reader),
        }
    }
}
bridge::generated! {
    ReadMediaFileOutput = 13551361642931129959
}

#[derive(Clone, PartialEq)]
pub struct ReadMediaFileContent {
    pub type_: ReadMediaFileType,
    pub data: Option<String>,
    pub mime_type: Option<String>,
    pub resource: Option<ReadMediaFileResource>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for ReadMediaFileContent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "ReadMediaFileContent",
            &[
                ("type_", &self.type_),
                ("data", &self.data),
                ("mime_type", &self.mime_type),
                ("resource", &self.resource),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for ReadMediaFileContent {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("type", &self.type_)],
            &[
                ("data", &self.data),
                ("mimeType", &self.mime_type),
                ("resource", &self.resource),
            ],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for ReadMediaFileContent {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            type_: bridge::convert::FromJson::from_json(
                reader.take(level, "type"),
                reader,
            ),
            data: bridge::convert::FromJson::from_json(
                reader.take(level, "data"),
                reader,
            ),
            mime_type: bridge::convert::FromJson::from_json(
                reader.take(level, "mimeType"),
                reader,
            ),
            resource: bridge::convert::FromJson::from_json(
                reader.take(level, "resource"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["type", "data", "mimeType", "resource"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    ReadMediaFileContent = 14368443804981671725
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum ReadMediaFileType {
    Image,
    Audio,
    Resource,
    Other(String),
}
impl ReadMediaFileType {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Resource => "resource",
            Self::Other(text) => text,
        }
    }
}
impl bridge::convert::GeneratedText for ReadMediaFileType {
    const TEXTS: &'static [&'static str] = &["image", "audio", "resource"];
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
        Ok(
            match text {
                "image" => Self::Image,
                "audio" => Self::Audio,
                "resource" => Self::Resource,
                _ => Self::Other(text.to_owned()),
            },
        )
    }
}
bridge::generated! {
    ReadMediaFileType = 15759086804431805434
}
bridge::generated_text! {
    ReadMediaFileType;
}

#[derive(Clone, PartialEq)]
pub struct ReadMediaFileResource {
    pub uri: String,
    pub blob: String,
    pub mime_type: Option<String>,
    pub extra: bridge::Extra,
}
impl std::fmt::Debug for ReadMediaFileResource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        bridge::convert::debug(
            formatter,
            "ReadMediaFileResource",
            &[("uri", &self.uri), ("blob", &self.blob), ("mime_type", &self.mime_type)],
            &self.extra,
        )
    }
}
impl bridge::convert::ToJson for ReadMediaFileResource {
    #[inline]
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object_with_extra(
            &[("uri", &self.uri), ("blob", &self.blob)],
            &[("mimeType", &self.mime_type)],
            &self.extra,
        )
    }
}
impl bridge::convert::FromJson for ReadMediaFileResource {
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            uri: bridge::convert::FromJson::from_json(reader.take(level, "uri"), reader),
            blob: bridge::convert::FromJson::from_json(
                reader.take(level, "blob"),
                reader,
            ),
            mime_type: bridge::convert::FromJson::from_json(
                reader.take(level, "mimeType"),
                reader,
            ),
            extra: bridge::Extra::kept(
                reader.rest(level, &["uri", "blob", "mimeType"]),
                reader,
            ),
        }
    }
}
bridge::generated! {
    ReadMediaFileResource = 6406006109173029414
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct ReadMultipleFilesInput {
    /// Array of file paths to read. Each path must be a string pointing to a valid file within allowed directories.
    pub paths: Vec<String>,
}
impl bridge::convert::ToJson for ReadMultipleFilesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("paths", &self.paths)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ReadMultipleFilesInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            paths: bridge::convert::FromJson::from_json(
                reader.take(level, "paths"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct ReadTextFileInput {
    pub path: String,
    /// If provided, returns only the last N lines of the file
    pub tail: Option<f64>,
    /// If provided, returns only the first N lines of the file
    pub head: Option<f64>,
}
impl bridge::convert::ToJson for ReadTextFileInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("path", &self.path)],
            &[("tail", &self.tail), ("head", &self.head)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for ReadTextFileInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            path: bridge::convert::FromJson::from_json(
                reader.take(level, "path"),
                reader,
            ),
            tail: bridge::convert::FromJson::from_json(
                reader.take(level, "tail"),
                reader,
            ),
            head: bridge::convert::FromJson::from_json(
                reader.take(level, "head"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct SearchFilesInput {
    pub path: String,
    pub pattern: String,
    pub exclude_patterns: Option<Vec<String>>,
}
impl bridge::convert::ToJson for SearchFilesInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(
            &[("path", &self.path), ("pattern", &self.pattern)],
            &[("excludePatterns", &self.exclude_patterns)],
        )
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for SearchFilesInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            path: bridge::convert::FromJson::from_json(
                reader.take(level, "path"),
                reader,
            ),
            pattern: bridge::convert::FromJson::from_json(
                reader.take(level, "pattern"),
                reader,
            ),
            exclude_patterns: bridge::convert::FromJson::from_json(
                reader.take(level, "excludePatterns"),
                reader,
            ),
        }
    }
}

#[must_use = "arguments do nothing until they are sent: add `.call().await?`"]
#[derive(Debug, Clone, PartialEq)]
pub struct WriteFileInput {
    pub path: String,
    pub content: String,
}
impl bridge::convert::ToJson for WriteFileInput {
    fn to_json(&self) -> bridge::convert::Value {
        bridge::convert::object(&[("path", &self.path), ("content", &self.content)], &[])
    }
}
#[cfg(test)]
impl bridge::convert::FromJson for WriteFileInput {
    #[inline]
    fn from_json(
        value: bridge::convert::Value,
        reader: &mut bridge::convert::Reader,
    ) -> Self {
        let level = reader.object(value);
        Self {
            path: bridge::convert::FromJson::from_json(
                reader.take(level, "path"),
                reader,
            ),
            content: bridge::convert::FromJson::from_json(
                reader.take(level, "content"),
                reader,
            ),
        }
    }
}

impl CreateDirectoryInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> CreateDirectoryCall {
        CreateDirectoryCall {
            input: self,
            pending: bridge::call::Pending::new("filesystem", "create_directory"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct CreateDirectoryCall {
    input: CreateDirectoryInput,
    pending: bridge::call::Pending,
}
impl CreateDirectoryCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for CreateDirectoryCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.30c86e3470926a756258179f4e0ca84b")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "create_directory",
            mark: *b"30c86e3470926a756258179f4e0ca84b",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for CreateDirectoryCall {
    type Output = Result<CreateDirectoryOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Create a new directory or ensure a directory exists. Can create multiple nested directories in one operation. If the directory already exists, this operation…
#[track_caller]
pub fn create_directory(path: impl Into<String>) -> CreateDirectoryCall {
    CreateDirectoryCall {
        input: CreateDirectoryInput {
            path: path.into(),
        },
        pending: bridge::call::Pending::new("filesystem", "create_directory"),
    }
}

pub type DirectoryTreeOutput = CreateDirectoryOutput;
impl DirectoryTreeInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> DirectoryTreeCall {
        DirectoryTreeCall {
            input: self,
            pending: bridge::call::Pending::new("filesystem", "directory_tree"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct DirectoryTreeCall {
    input: DirectoryTreeInput,
    pending: bridge::call::Pending,
}
impl DirectoryTreeCall {
    pub fn exclude_patterns<F>(
        mut self,
        exclude_patterns: impl bridge::convert::OptionalArgument<Vec<String>, F>,
    ) -> Self {
        self.input.exclude_patterns = self
            .pending
            .with(
                "excludePatterns",
                bridge::convert::OptionalArgument::into_optional(exclude_patterns),
            );
        self
    }
}
impl DirectoryTreeCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for DirectoryTreeCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.e09fc96dfd8c5b44a8483bad41dc3288")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "directory_tree",
            mark: *b"e09fc96dfd8c5b44a8483bad41dc3288",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for DirectoryTreeCall {
    type Output = Result<DirectoryTreeOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Get a recursive tree view of files and directories as a JSON structure. Each entry includes 'name', 'type' (file/directory), and 'children' for directories.…
#[track_caller]
pub fn directory_tree(path: impl Into<String>) -> DirectoryTreeCall {
    DirectoryTreeCall {
        input: DirectoryTreeInput {
            path: path.into(),
            exclude_patterns: None,
        },
        pending: bridge::call::Pending::new("filesystem", "directory_tree"),
    }
}

pub type EditFileOutput = CreateDirectoryOutput;
impl EditFileInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> EditFileCall {
        EditFileCall {
            input: self,
            pending: bridge::call::Pending::new("filesystem", "edit_file"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct EditFileCall {
    input: EditFileInput,
    pending: bridge::call::Pending,
}
impl EditFileCall {
    /// Preview changes using git-style diff format
    pub fn dry_run<F>(
        mut self,
        dry_run: impl bridge::convert::OptionalArgument<bool, F>,
    ) -> Self {
        self.input.dry_run = self
            .pending
            .with("dryRun", bridge::convert::OptionalArgument::into_optional(dry_run));
        self
    }
}
impl EditFileCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for EditFileCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.ce8292238995c399db6430822cdbd41b")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "edit_file",
            mark: *b"ce8292238995c399db6430822cdbd41b",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for EditFileCall {
    type Output = Result<EditFileOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Make line-based edits to a text file. Each edit replaces exact line sequences with new content. Returns a git-style diff showing the changes made. Only works…
#[track_caller]
pub fn edit_file(
    path: impl Into<String>,
    edits: impl bridge::convert::Argument<Vec<EditFileEdit>>,
) -> EditFileCall {
    EditFileCall {
        input: EditFileInput {
            path: path.into(),
            edits: bridge::convert::named(
                "edits",
                bridge::convert::Argument::into_argument(edits),
            ),
            dry_run: None,
        },
        pending: bridge::call::Pending::new("filesystem", "edit_file"),
    }
}

pub type GetFileInfoOutput = CreateDirectoryOutput;
impl GetFileInfoInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> GetFileInfoCall {
        GetFileInfoCall {
            input: self,
            pending: bridge::call::Pending::new("filesystem", "get_file_info"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct GetFileInfoCall {
    input: GetFileInfoInput,
    pending: bridge::call::Pending,
}
impl GetFileInfoCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for GetFileInfoCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.f4d59377c6ceaf84a6ea9b3a77ccf6bf")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "get_file_info",
            mark: *b"f4d59377c6ceaf84a6ea9b3a77ccf6bf",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for GetFileInfoCall {
    type Output = Result<GetFileInfoOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Retrieve detailed metadata about a file or directory. Returns comprehensive information including size, creation time, last modified time, permissions, and type.…
#[track_caller]
pub fn get_file_info(path: impl Into<String>) -> GetFileInfoCall {
    GetFileInfoCall {
        input: GetFileInfoInput {
            path: path.into(),
        },
        pending: bridge::call::Pending::new("filesystem", "get_file_info"),
    }
}

pub type ListAllowedDirectoriesOutput = CreateDirectoryOutput;
impl ListAllowedDirectoriesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ListAllowedDirectoriesCall {
        ListAllowedDirectoriesCall {
            input: self,
            pending: bridge::call::Pending::new("filesystem", "list_allowed_directories"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ListAllowedDirectoriesCall {
    input: ListAllowedDirectoriesInput,
    pending: bridge::call::Pending,
}
impl ListAllowedDirectoriesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ListAllowedDirectoriesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.a1eccbfb788ef752caae7bd66e546551")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "list_allowed_directories",
            mark: *b"a1eccbfb788ef752caae7bd66e546551",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ListAllowedDirectoriesCall {
    type Output = Result<ListAllowedDirectoriesOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Returns the list of directories that this server is allowed to access. Subdirectories within these allowed directories are also accessible. Use this to…
#[inline]
#[track_caller]
pub fn list_allowed_directories() -> ListAllowedDirectoriesCall {
    ListAllowedDirectoriesCall {
        input: ListAllowedDirectoriesInput {},
        pending: bridge::call::Pending::new("filesystem", "list_allowed_directories"),
    }
}

pub type ListDirectoryOutput = CreateDirectoryOutput;
impl ListDirectoryInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ListDirectoryCall {
        ListDirectoryCall {
            input: self,
            pending: bridge::call::Pending::new("filesystem", "list_directory"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ListDirectoryCall {
    input: ListDirectoryInput,
    pending: bridge::call::Pending,
}
impl ListDirectoryCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ListDirectoryCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.1319764f94db6b5c3a4a9e99c6d4ecf5")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "list_directory",
            mark: *b"1319764f94db6b5c3a4a9e99c6d4ecf5",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ListDirectoryCall {
    type Output = Result<ListDirectoryOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Get a detailed listing of all files and directories in a specified path. Results clearly distinguish between files and directories with [FILE] and [DIR]…
#[track_caller]
pub fn list_directory(path: impl Into<String>) -> ListDirectoryCall {
    ListDirectoryCall {
        input: ListDirectoryInput {
            path: path.into(),
        },
        pending: bridge::call::Pending::new("filesystem", "list_directory"),
    }
}

pub type ListDirectoryWithSizesOutput = CreateDirectoryOutput;
impl ListDirectoryWithSizesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ListDirectoryWithSizesCall {
        ListDirectoryWithSizesCall {
            input: self,
            pending: bridge::call::Pending::new(
                "filesystem",
                "list_directory_with_sizes",
            ),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ListDirectoryWithSizesCall {
    input: ListDirectoryWithSizesInput,
    pending: bridge::call::Pending,
}
impl ListDirectoryWithSizesCall {
    /// Sort entries by name or size
    pub fn sort_by<F>(
        mut self,
        sort_by: impl bridge::convert::OptionalArgument<ListDirectoryWithSizesSortBy, F>,
    ) -> Self {
        self.input.sort_by = self
            .pending
            .with("sortBy", bridge::convert::OptionalArgument::into_optional(sort_by));
        self
    }
}
impl ListDirectoryWithSizesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ListDirectoryWithSizesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.51fb048c97e8fe959841fe1d5fa3cdaa")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "list_directory_with_sizes",
            mark: *b"51fb048c97e8fe959841fe1d5fa3cdaa",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ListDirectoryWithSizesCall {
    type Output = Result<ListDirectoryWithSizesOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Get a detailed listing of all files and directories in a specified path, including sizes. Results clearly distinguish between files and directories with [FILE]…
#[track_caller]
pub fn list_directory_with_sizes(path: impl Into<String>) -> ListDirectoryWithSizesCall {
    ListDirectoryWithSizesCall {
        input: ListDirectoryWithSizesInput {
            path: path.into(),
            sort_by: None,
        },
        pending: bridge::call::Pending::new("filesystem", "list_directory_with_sizes"),
    }
}

pub type MoveFileOutput = CreateDirectoryOutput;
impl MoveFileInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> MoveFileCall {
        MoveFileCall {
            input: self,
            pending: bridge::call::Pending::new("filesystem", "move_file"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct MoveFileCall {
    input: MoveFileInput,
    pending: bridge::call::Pending,
}
impl MoveFileCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for MoveFileCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.452574d1807d4fb5499cf8a4728a606b")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "move_file",
            mark: *b"452574d1807d4fb5499cf8a4728a606b",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for MoveFileCall {
    type Output = Result<MoveFileOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Move or rename files and directories. Can move files between directories and rename them in a single operation. If the destination exists, the operation will…
#[track_caller]
pub fn move_file(
    source: impl Into<String>,
    destination: impl Into<String>,
) -> MoveFileCall {
    MoveFileCall {
        input: MoveFileInput {
            source: source.into(),
            destination: destination.into(),
        },
        pending: bridge::call::Pending::new("filesystem", "move_file"),
    }
}

pub type ReadFileOutput = CreateDirectoryOutput;
impl ReadFileInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ReadFileCall {
        ReadFileCall {
            input: self,
            pending: bridge::call::Pending::new("filesystem", "read_file"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ReadFileCall {
    input: ReadFileInput,
    pending: bridge::call::Pending,
}
impl ReadFileCall {
    /// If provided, returns only the last N lines of the file
    pub fn tail<F>(
        mut self,
        tail: impl bridge::convert::OptionalArgument<f64, F>,
    ) -> Self {
        self.input.tail = self
            .pending
            .with("tail", bridge::convert::OptionalArgument::into_optional(tail));
        self
    }
    /// If provided, returns only the first N lines of the file
    pub fn head<F>(
        mut self,
        head: impl bridge::convert::OptionalArgument<f64, F>,
    ) -> Self {
        self.input.head = self
            .pending
            .with("head", bridge::convert::OptionalArgument::into_optional(head));
        self
    }
}
impl ReadFileCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ReadFileCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.ec2592d6d5ab6349752845605186f466")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "read_file",
            mark: *b"ec2592d6d5ab6349752845605186f466",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ReadFileCall {
    type Output = Result<ReadFileOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.
#[track_caller]
pub fn read_file(path: impl Into<String>) -> ReadFileCall {
    ReadFileCall {
        input: ReadFileInput {
            path: path.into(),
            tail: None,
            head: None,
        },
        pending: bridge::call::Pending::new("filesystem", "read_file"),
    }
}

impl ReadMediaFileInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ReadMediaFileCall {
        ReadMediaFileCall {
            input: self,
            pending: bridge::call::Pending::new("filesystem", "read_media_file"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ReadMediaFileCall {
    input: ReadMediaFileInput,
    pending: bridge::call::Pending,
}
impl ReadMediaFileCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ReadMediaFileCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.08ed7e4e2045ce53218f80530327d6bf")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "read_media_file",
            mark: *b"08ed7e4e2045ce53218f80530327d6bf",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ReadMediaFileCall {
    type Output = Result<ReadMediaFileOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Read a file and return it as a base64-encoded content block with its MIME type. Image and audio files are returned as image/audio content; any other file type is…
#[track_caller]
pub fn read_media_file(path: impl Into<String>) -> ReadMediaFileCall {
    ReadMediaFileCall {
        input: ReadMediaFileInput {
            path: path.into(),
        },
        pending: bridge::call::Pending::new("filesystem", "read_media_file"),
    }
}

pub type ReadMultipleFilesOutput = CreateDirectoryOutput;
impl ReadMultipleFilesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ReadMultipleFilesCall {
        ReadMultipleFilesCall {
            input: self,
            pending: bridge::call::Pending::new("filesystem", "read_multiple_files"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ReadMultipleFilesCall {
    input: ReadMultipleFilesInput,
    pending: bridge::call::Pending,
}
impl ReadMultipleFilesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ReadMultipleFilesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.902db035dfd977919e5816b6fa6aee2c")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "read_multiple_files",
            mark: *b"902db035dfd977919e5816b6fa6aee2c",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ReadMultipleFilesCall {
    type Output = Result<ReadMultipleFilesOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Read the contents of multiple files simultaneously. This is more efficient than reading files one by one when you need to analyze or compare multiple files. Each…
#[track_caller]
pub fn read_multiple_files(
    paths: impl bridge::convert::Argument<Vec<String>>,
) -> ReadMultipleFilesCall {
    ReadMultipleFilesCall {
        input: ReadMultipleFilesInput {
            paths: bridge::convert::named(
                "paths",
                bridge::convert::Argument::into_argument(paths),
            ),
        },
        pending: bridge::call::Pending::new("filesystem", "read_multiple_files"),
    }
}

pub type ReadTextFileOutput = CreateDirectoryOutput;
impl ReadTextFileInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> ReadTextFileCall {
        ReadTextFileCall {
            input: self,
            pending: bridge::call::Pending::new("filesystem", "read_text_file"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct ReadTextFileCall {
    input: ReadTextFileInput,
    pending: bridge::call::Pending,
}
impl ReadTextFileCall {
    /// If provided, returns only the last N lines of the file
    pub fn tail<F>(
        mut self,
        tail: impl bridge::convert::OptionalArgument<f64, F>,
    ) -> Self {
        self.input.tail = self
            .pending
            .with("tail", bridge::convert::OptionalArgument::into_optional(tail));
        self
    }
    /// If provided, returns only the first N lines of the file
    pub fn head<F>(
        mut self,
        head: impl bridge::convert::OptionalArgument<f64, F>,
    ) -> Self {
        self.input.head = self
            .pending
            .with("head", bridge::convert::OptionalArgument::into_optional(head));
        self
    }
}
impl ReadTextFileCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for ReadTextFileCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.7574f66a35ef527a89ba35a037ac69c2")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "read_text_file",
            mark: *b"7574f66a35ef527a89ba35a037ac69c2",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for ReadTextFileCall {
    type Output = Result<ReadTextFileOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Read the complete contents of a file from the file system as text. Handles various text encodings and provides detailed error messages if the file cannot be…
#[track_caller]
pub fn read_text_file(path: impl Into<String>) -> ReadTextFileCall {
    ReadTextFileCall {
        input: ReadTextFileInput {
            path: path.into(),
            tail: None,
            head: None,
        },
        pending: bridge::call::Pending::new("filesystem", "read_text_file"),
    }
}

pub type SearchFilesOutput = CreateDirectoryOutput;
impl SearchFilesInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> SearchFilesCall {
        SearchFilesCall {
            input: self,
            pending: bridge::call::Pending::new("filesystem", "search_files"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct SearchFilesCall {
    input: SearchFilesInput,
    pending: bridge::call::Pending,
}
impl SearchFilesCall {
    pub fn exclude_patterns<F>(
        mut self,
        exclude_patterns: impl bridge::convert::OptionalArgument<Vec<String>, F>,
    ) -> Self {
        self.input.exclude_patterns = self
            .pending
            .with(
                "excludePatterns",
                bridge::convert::OptionalArgument::into_optional(exclude_patterns),
            );
        self
    }
}
impl SearchFilesCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for SearchFilesCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.0044590c8ad102ad9affac77023f49a5")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "search_files",
            mark: *b"0044590c8ad102ad9affac77023f49a5",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for SearchFilesCall {
    type Output = Result<SearchFilesOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Recursively search for files and directories matching a pattern. The patterns should be glob-style patterns that match paths relative to the working directory.…
#[track_caller]
pub fn search_files(
    path: impl Into<String>,
    pattern: impl Into<String>,
) -> SearchFilesCall {
    SearchFilesCall {
        input: SearchFilesInput {
            path: path.into(),
            pattern: pattern.into(),
            exclude_patterns: None,
        },
        pending: bridge::call::Pending::new("filesystem", "search_files"),
    }
}

pub type WriteFileOutput = CreateDirectoryOutput;
impl WriteFileInput {
    #[inline]
    #[track_caller]
    pub fn call(self) -> WriteFileCall {
        WriteFileCall {
            input: self,
            pending: bridge::call::Pending::new("filesystem", "write_file"),
        }
    }
}
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct WriteFileCall {
    input: WriteFileInput,
    pending: bridge::call::Pending,
}
impl WriteFileCall {
    #[inline]
    pub fn raw(self) -> bridge::call::Raw<Self> {
        bridge::call::Raw::new(self)
    }
}
impl bridge::call::Call for WriteFileCall {
    fn parts(
        &mut self,
    ) -> (
        &mut bridge::call::Pending,
        &'static bridge::tool::Tool,
        &dyn bridge::convert::ToJson,
    ) {
        #[unsafe(link_section = ".toolsmith.5fac0fda94efcb7fcc810d4cd2414d98")]
        static TOOL: bridge::tool::Tool = bridge::tool::Tool {
            server: "filesystem",
            name: "write_file",
            mark: *b"5fac0fda94efcb7fcc810d4cd2414d98",
        };
        (&mut self.pending, &TOOL, &self.input)
    }
}
impl std::future::Future for WriteFileCall {
    type Output = Result<WriteFileOutput, bridge::ToolError>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
        pending.poll(context, tool, input)
    }
}
/// Create a new file or completely overwrite an existing file with new content. Use with caution as it will overwrite existing files without warning. Handles text…
#[track_caller]
pub fn write_file(path: impl Into<String>, content: impl Into<String>) -> WriteFileCall {
    WriteFileCall {
        input: WriteFileInput {
            path: path.into(),
            content: content.into(),
        },
        pending: bridge::call::Pending::new("filesystem", "write_file"),
    }
}
