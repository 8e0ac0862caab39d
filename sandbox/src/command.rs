//! A command: an absolute path or an image, its arguments, its standard input, and at most one descriptor to pass on.
//!
//! The policy sets the environment, the working folder and the limits.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// A program, its arguments, and the one descriptor that it may inherit.
#[derive(Debug)]
pub struct Command {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) broker: Option<OwnedFd>,
    pub(crate) image: Option<OwnedFd>,
    pub(crate) input: Option<OwnedFd>,
}

impl Command {
    /// A command without arguments. `program` must be absolute: `PATH` is not searched.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), arguments: Vec::new(), broker: None, image: None, input: None }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds several arguments.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// The program and its arguments.
    pub(crate) fn words(&self) -> impl Iterator<Item = &OsStr> {
        [self.program.as_os_str()].into_iter().chain(self.arguments.iter().map(OsString::as_os_str))
    }

    /// Executes the file in memory behind `descriptor` (memfd_create(2)); the command's path is then only its name.
    /// Only for programs, because trees of processes are executed by path. Seal the file first, so that nothing
    /// changes it.
    #[must_use]
    pub fn image(mut self, descriptor: impl Into<OwnedFd>) -> Self {
        self.image = Some(descriptor.into());
        self
    }

    /// Uses `descriptor` as the child's standard input, which is empty otherwise.
    #[must_use]
    pub fn input(mut self, descriptor: impl Into<OwnedFd>) -> Self {
        self.input = Some(descriptor.into());
        self
    }

    /// Passes `descriptor` to the child as descriptor 3. The child gets no others except 0, 1 and 2.
    #[must_use]
    pub fn broker(mut self, descriptor: impl Into<OwnedFd>) -> Self {
        self.broker = Some(descriptor.into());
        self
    }
}
