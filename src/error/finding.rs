//! What a format's `check` reports.

use super::Error;
use core::fmt;

/// How much a [`Finding`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Severity {
    /// Against the document or unusual, yet everything can be read.
    Warning,
    /// Something cannot be delivered.
    Error,
}

/// One thing that a format's `check` has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Finding {
    severity: Severity,
    error: Error,
}

impl Finding {
    /// A finding that leaves everything readable.
    pub const fn warning(error: Error) -> Self {
        Self { severity: Severity::Warning, error }
    }

    /// A finding because of which something cannot be delivered.
    pub const fn error(error: Error) -> Self {
        Self { severity: Severity::Error, error }
    }

    /// How much it matters.
    pub const fn severity(&self) -> Severity {
        self.severity
    }

    /// What was found, and where.
    pub const fn cause(&self) -> Error {
        self.error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.severity {
            Severity::Warning => "warning: ",
            Severity::Error => "error: ",
        })?;
        self.error.fmt(f)
    }
}
