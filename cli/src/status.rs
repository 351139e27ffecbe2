//! The outcome of a run.

use std::fmt;
use std::io;
use traceglass::{Error, Format};

/// The outcome of a verb, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Nothing is wrong.
    Clean,
    /// The input is damaged or incomplete; what could be read was delivered.
    Damaged,
    /// Nothing could be delivered.
    Failed,
}

impl Status {
    /// [`Damaged`](Self::Damaged) if something is.
    pub fn damaged_if(damaged: bool) -> Self {
        if damaged { Self::Damaged } else { Self::Clean }
    }

    /// The exit status.
    pub fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Failed => 1,
            Self::Damaged => 3,
        }
    }

    /// The verdict that JSON output gives.
    pub fn verdict(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Damaged => "damaged",
            Self::Failed => "unreadable",
        }
    }
}

/// Why a verb could not go on.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for something that does not go together.
    Usage(String),
    /// A path cannot be read, or not be understood.
    Unreadable(Unreadable),
    /// stdout cannot be written.
    Output(io::Error),
    /// A file cannot be written: which one, and why.
    Write(String),
    /// Nothing failed: who takes what is read wants no more.
    Stopped,
}

/// Why a path cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// The format, if that could be told.
    pub format: Option<Format>,
    /// The located error, if it comes from the input's content.
    pub error: Option<Error>,
    /// For people: a line, after which the part of the input that it is about may be shown in further ones.
    pub message: String,
}

impl Unreadable {
    /// The same, with the path that cannot be read, as it is shown.
    pub fn of(self, path: &str) -> Self {
        Self { message: format!("{path}: {}", self.message), ..self }
    }

    pub fn new(message: impl Into<String>) -> Self {
        Self { format: None, error: None, message: message.into() }
    }

    /// An error in the input because of which nothing could be delivered.
    pub fn content(format: Format, error: Error) -> Self {
        Self { format: Some(format), error: Some(error), message: error.to_string() }
    }

    /// The message, and the lines that follow it.
    pub fn parts(&self) -> (&str, &str) {
        self.message.split_once('\n').unwrap_or((&self.message, ""))
    }
}

impl Failure {
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// Nothing of what was asked for could be delivered.
    pub fn unreadable(message: impl Into<String>) -> Self {
        Self::Unreadable(Unreadable::new(message))
    }

    /// An error in the input because of which nothing could be delivered.
    pub fn content(format: Format, error: Error) -> Self {
        Self::Unreadable(Unreadable::content(format, error))
    }

    /// True if who read stdout wants no more.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The exit status.
    pub fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Unreadable(_) | Self::Output(_) | Self::Write(_) => 1,
            Self::Stopped => 0,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Unreadable(Unreadable { format: None, error: Some(error), message: error.to_string() })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Write(message) => f.write_str(message),
            Self::Unreadable(unreadable) => f.write_str(unreadable.parts().0),
            Self::Output(error) => write!(f, "cannot write: {error}"),
            Self::Stopped => f.write_str("no more is wanted"),
        }
    }
}

impl From<Unreadable> for Failure {
    fn from(unreadable: Unreadable) -> Self {
        Self::Unreadable(unreadable)
    }
}

/// Only writing to stdout uses `?` on I/O; reading says which path it was.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

pub type Result<T, E = Failure> = std::result::Result<T, E>;
