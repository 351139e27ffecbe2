//! The reasons why tables cannot be made.

use std::fmt;
use std::path::PathBuf;

/// Why tables cannot be made, or not be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The content of a file does not let anything of it be read.
    Content {
        /// The file's name in the trace.
        file: String,
        /// The error, with its place.
        cause: traceglass::Error,
    },
    /// A file cannot be written.
    Write(PathBuf, std::io::Error),
    /// No thread can be started.
    Thread(std::io::Error),
    /// Arrow or Parquet refuses what it was given.
    Arrow(String),
    /// There is no table of that name.
    NoTable(String),
    /// There is no column of that name in any table that is read.
    NoColumn(String),
    /// The receiver of the batches wants no more.
    Stopped,
}

/// The result of making tables.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Content { file, cause } => write!(f, "{file}: {cause}"),
            Self::Write(path, error) => write!(f, "cannot write {}: {error}", path.display()),
            Self::Thread(error) => write!(f, "no thread can be started: {error}"),
            Self::Arrow(message) => f.write_str(message),
            Self::NoTable(name) => write!(f, "no table {name:?}"),
            Self::NoColumn(name) => write!(f, "no column {name:?}"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Error {}

impl From<arrow_schema::ArrowError> for Error {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self::Arrow(error.to_string())
    }
}
