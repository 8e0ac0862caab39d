//! The names that every snippet has in scope.

pub use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
pub use std::time::{Duration, Instant};

pub use indexmap::IndexMap;

pub use anyhow::{Context, anyhow, bail, ensure};
// Its methods remain available if a snippet has another `Context`.
pub use anyhow::Context as _;
pub use serde::{Deserialize, Serialize};
pub use serde_json::{Value, json};

pub use crate::tail::{
    FinishAnyhow as _, FinishDebug as _, FinishDisplay as _, FinishError as _, FinishExit as _,
    FinishFault as _, FinishOpaque as _, FinishValue as _, PeelBox as _, PeelOption as _, PeelResult as _,
    PeelValue as _,
};
pub use crate::{
    Args, Content, Result, Scalar, ToolError, ToolErrorKind, ToolResult, concurrently, describe_tools, emit,
    mcp_resource_read, mcp_resources_list, progress, search_tools,
};
