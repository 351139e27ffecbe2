//! The findings of a format's `check`.

use super::Error;
use core::fmt;

/// The severity of a [`Finding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Severity {
    /// Unusual or not allowed by the document, but everything can be read.
    Warning,
    /// Something cannot be read.
    Error,
}

/// One thing that a format's `check` has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Finding {
    severity: Severity,
    cause: Error,
}

impl Finding {
    /// Makes a finding.
    #[must_use]
    pub const fn new(severity: Severity, cause: Error) -> Self {
        Self { severity, cause }
    }

    /// Makes a finding that leaves everything readable.
    #[must_use]
    pub const fn warning(cause: Error) -> Self {
        Self::new(Severity::Warning, cause)
    }

    /// The severity.
    pub const fn severity(&self) -> Severity {
        self.severity
    }

    /// The error that was found, with its place.
    pub const fn cause(&self) -> Error {
        self.cause
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.severity {
            Severity::Warning => "warning: ",
            Severity::Error => "error: ",
        })?;
        self.cause.fmt(f)
    }
}

/// The result of a `check`: how much was read, and how much of it was wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Summary {
    items: u64,
    errors: u64,
    warnings: u64,
}

impl Summary {
    /// Number of elements that were read whole; each `check` says of which kind.
    pub const fn items(&self) -> u64 {
        self.items
    }

    /// Number of findings of [`Severity::Error`].
    pub const fn errors(&self) -> u64 {
        self.errors
    }

    /// Number of findings of [`Severity::Warning`].
    pub const fn warnings(&self) -> u64 {
        self.warnings
    }

    /// True if there were no findings.
    pub const fn is_clean(&self) -> bool {
        self.errors == 0 && self.warnings == 0
    }
}

/// Hands findings to the caller's closure and counts them.
pub(crate) struct Report<'r> {
    sink: &'r mut dyn FnMut(Finding),
    summary: Summary,
}

impl<'r> Report<'r> {
    pub(crate) fn new(sink: &'r mut dyn FnMut(Finding)) -> Self {
        Self { sink, summary: Summary::default() }
    }

    pub(crate) fn finding(&mut self, finding: Finding) {
        let count = match finding.severity {
            Severity::Warning => &mut self.summary.warnings,
            Severity::Error => &mut self.summary.errors,
        };
        *count = count.saturating_add(1);
        (self.sink)(finding);
    }

    pub(crate) fn error(&mut self, cause: Error) {
        self.finding(Finding::new(Severity::Error, cause));
    }

    pub(crate) fn warning(&mut self, cause: Error) {
        self.finding(Finding::warning(cause));
    }

    /// Counts an element that was read whole.
    #[inline]
    pub(crate) fn item(&mut self) {
        self.summary.items = self.summary.items.saturating_add(1);
    }

    pub(crate) const fn summary(&self) -> Summary {
        self.summary
    }
}
