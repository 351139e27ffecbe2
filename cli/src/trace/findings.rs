//! The output of the findings of a check.

use super::{Anew, Digest, Tally};
use crate::output::{ERROR, Out, WARNING, add, insert_path, shown};
use crate::status::{Failure, Result, Status};
use serde_json::{Map, Value};
use std::ops::Range;
use std::path::Path;
use traceglass::{Finding, Severity};

/// The output of findings: they are printed as they come, so that memory stays flat however many there are.
pub struct Findings<'o> {
    to: To<'o>,
    warnings: u64,
    errors: u64,
    /// The number of units and records that were read.
    tally: Tally,
    /// The digest of the content, if it is asked for, and of which parts.
    digest: Option<(Digest, &'o Anew)>,
    /// True if warnings are not heard.
    only_errors: bool,
    /// stdout's failure, returned at the end, so that a format's walk need not handle it at each finding.
    failed: Option<Failure>,
}

enum To<'o> {
    Out { out: &'o mut Out, json: bool },
    Listener(Listener<'o>),
}

/// Hears of each finding: in which file it is, how bad it is, where, and what it says.
pub type Listener<'o> = &'o mut dyn FnMut(Option<&Path>, Severity, u64, &str);

impl<'o> Findings<'o> {
    pub fn new(out: &'o mut Out, json: bool) -> Self {
        Self::to(To::Out { out, json })
    }

    /// Findings that are not printed.
    pub fn told(listener: Listener<'o>) -> Self {
        Self::to(To::Listener(listener))
    }

    fn to(to: To<'o>) -> Self {
        let (tally, digest, failed) = (Tally::default(), None, None);
        Self { to, warnings: 0, errors: 0, tally, digest, only_errors: false, failed }
    }

    /// The same, of which only errors are heard: a format need not look for warnings.
    pub fn only_errors(self) -> Self {
        Self { only_errors: true, ..self }
    }

    /// True if only errors are heard.
    pub fn are_only_errors(&self) -> bool {
        self.only_errors
    }

    /// The same, and what is read is hashed where it was written anew.
    pub fn hashed(self, anew: &'o Anew) -> Self {
        Self { digest: Some((Digest::default(), anew)), ..self }
    }

    /// The hash of what is read, if that is asked for.
    pub fn digest(&mut self) -> Option<&mut Digest> {
        self.digest.as_mut().map(|(digest, _)| digest)
    }

    /// The parts of a file of which what is read is hashed: of the file that was named, or of one of the directory.
    pub fn hashed_parts(&self, file: Option<&Path>) -> Vec<Range<u64>> {
        let anew = self.digest.as_ref().map(|(_, anew)| anew);
        anew.map(|anew| anew.parts(file.unwrap_or(Path::new("")))).unwrap_or_default()
    }

    /// Counts units that were read, and the records in them.
    pub fn count(&mut self, units: u64, records: u64) {
        add(&mut self.tally.units, units);
        add(&mut self.tally.records, records);
    }

    /// The number of units and records that were read.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// The number of warnings and errors, unless they could not be printed.
    pub fn finish(self) -> Result<(u64, u64)> {
        match self.failed {
            Some(failure) => Err(failure),
            None => Ok((self.warnings, self.errors)),
        }
    }

    /// A finding in the file that was named.
    pub fn report(&mut self, finding: Finding) {
        self.report_in(None, finding);
    }

    /// A finding in a file of the directory that was named.
    pub fn report_in(&mut self, file: Option<&Path>, finding: Finding) {
        let cause = finding.cause();
        let (offset, what) = (cause.offset(), cause.kind().code());
        self.tell(file, finding.severity(), offset, what, &cause.to_string());
    }

    /// A finding that is spelled by the format.
    pub fn tell(&mut self, file: Option<&Path>, severity: Severity, offset: u64, what: &str, message: &str) {
        let first = self.warnings == 0 && self.errors == 0;
        match severity {
            Severity::Warning => self.warnings = self.warnings.saturating_add(1),
            _ => self.errors = self.errors.saturating_add(1),
        }
        if self.failed.is_none() {
            self.failed = self.write(first, file, severity, offset, what, message).err();
        }
    }

    /// A file of the directory that was named, or a folder, which the system does not let be read.
    pub fn unreadable(&mut self, file: Option<&Path>, why: &str) {
        self.tell(file, Severity::Error, 0, "unreadable", why);
    }

    fn write(
        &mut self,
        first: bool,
        file: Option<&Path>,
        severity: Severity,
        offset: u64,
        what: &str,
        message: &str,
    ) -> Result<()> {
        let (out, json) = match &mut self.to {
            To::Out { out, json } => (out, *json),
            To::Listener(listener) => {
                listener(file, severity, offset, message);
                return Ok(());
            }
        };
        let (severity, style) = match severity {
            Severity::Warning => ("warning", WARNING),
            _ => ("error", ERROR),
        };
        if !json {
            let file = file.map(|file| format!("{}: ", shown(file))).unwrap_or_default();
            let severity = out.paint(style, format_args!("{severity:<7}"));
            return out.wrapped(&format!("  {severity}  "), format_args!("{file}{message}"));
        }
        let mut object = Map::new();
        if let Some(file) = file {
            insert_path(&mut object, file);
        }
        object.insert("offset".into(), offset.into());
        object.insert("severity".into(), severity.into());
        object.insert("what".into(), what.into());
        object.insert("message".into(), message.into());
        if !first {
            out.json_text(b",")?;
        }
        out.json_text(Value::from(object).to_string().as_bytes())
    }

    /// True if an error was reported.
    pub fn status(&self) -> Status {
        Status::damaged_if(self.errors > 0)
    }
}
