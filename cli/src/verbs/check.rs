//! `traceglass check`

use crate::formats;
use crate::input::Input;
use crate::output::{ERROR, GOOD, HEADING, Out, WARNING, counted, insert_path, shown};
use crate::parallel;
use crate::status::{Failure, Result, Status, Unreadable};
use serde_json::{Map, Value, json};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use traceglass::{Finding, Format, Severity};

/// Read everything, verify everything, name every finding with its byte offset
///
/// An error is what cannot be delivered; a warning is unusual, yet all can be read.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// One JSON object a path
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: formats::Reading,
    /// Files or directories; - for stdin
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass check *.rmv
  traceglass check trace.rtc > findings || echo damaged
  traceglass check --json trace.rtc | jq '.findings[].offset'";

/// Where findings go: printed as they come, so that memory stays flat however many there are.
pub struct Findings<'o> {
    out: &'o mut Out,
    json: bool,
    warnings: u64,
    errors: u64,
    /// stdout's failure, told at the end: a format's walk is not to be stopped by each finding.
    failed: Option<Failure>,
}

impl Findings<'_> {
    /// A finding in the file that was named.
    pub fn report(&mut self, finding: Finding) {
        self.report_in(None, finding);
    }

    /// A finding in a file of the directory that was named.
    pub fn report_in(&mut self, file: Option<&Path>, finding: Finding) {
        let first = self.warnings + self.errors == 0;
        match finding.severity() {
            Severity::Warning => self.warnings += 1,
            _ => self.errors += 1,
        }
        if self.failed.is_none() {
            self.failed = self.print(first, file, finding).err();
        }
    }

    fn print(&mut self, first: bool, file: Option<&Path>, finding: Finding) -> Result<()> {
        let cause = finding.cause();
        let (severity, style) = match finding.severity() {
            Severity::Warning => ("warning", WARNING),
            _ => ("error", ERROR),
        };
        if !self.json {
            let file = file.map(|file| format!("{}: ", shown(file))).unwrap_or_default();
            let severity = self.out.paint(style, format_args!("{severity:<7}"));
            return self.out.line(format_args!("  {severity}  {file}{cause}"));
        }
        let mut object = Map::new();
        if let Some(file) = file {
            insert_path(&mut object, file);
        }
        object.insert("offset".into(), cause.offset().into());
        object.insert("severity".into(), severity.into());
        object.insert("what".into(), cause.kind().code().into());
        object.insert("message".into(), cause.to_string().into());
        if !first {
            self.out.text(",")?;
        }
        self.out.text(Value::from(object))
    }

    /// Whether an error was reported.
    pub fn status(&self) -> Status {
        Status::damaged_if(self.errors > 0)
    }
}

pub fn run(args: &Args, out: &mut Out) -> Result<Status> {
    let mut worst = Status::Clean;
    // Several files at once, unless one is a pipe, which can be read only once.
    let sizes = args.paths.iter().map(|path| path.metadata().ok().map(|about| (about.is_dir(), about.len())));
    let bytes: Option<u64> =
        sizes.map(|size| size.filter(|&(folder, len)| folder || len > 0).map(|(_, len)| len)).sum();
    if args.paths.len() == 1 || !bytes.is_some_and(parallel::pays) {
        for path in &args.paths {
            worst = worst.max(one(args, path, out)?);
        }
        return Ok(worst);
    }
    let color = out.is_colored();
    let check = |(): &mut (), path: &&PathBuf| {
        let mut page = Out::page(color);
        one(args, path, &mut page).map(|status| (status, page.into_page()))
    };
    parallel::in_order(
        bytes.unwrap_or(0),
        &args.paths,
        || (),
        check,
        |path, checked| {
            let status = match checked {
                Ok((status, page)) => {
                    out.bytes(&page)?;
                    status
                }
                Err(Failure::Output(error)) if error.kind() == ErrorKind::FileTooLarge => {
                    one(args, path, out)?
                }
                Err(failure) => return Err(failure),
            };
            worst = worst.max(status);
            Ok(())
        },
    )?;
    Ok(worst)
}

fn one(args: &Args, path: &Path, out: &mut Out) -> Result<Status> {
    let input = match Input::open(path) {
        Ok(input) => input,
        Err(unreadable) => return refuse(args, path, &unreadable, out),
    };
    let trace = match formats::open(&input, args.reading) {
        Ok(trace) => trace,
        Err(unreadable) => return refuse(args, path, &unreadable, out),
    };
    if args.json {
        begin(path, Some(trace.format()), out)?;
    } else {
        out.line(out.paint(HEADING, shown(path)))?;
    }
    let mut findings = Findings { out: &mut *out, json: args.json, warnings: 0, errors: 0, failed: None };
    let status = trace.check(&mut findings);
    let (warnings, errors) = (findings.warnings, findings.errors);
    if let Some(failure) = findings.failed.take() {
        return Err(failure);
    }
    let status = status?;
    if args.json {
        end(status, out)?;
    } else {
        let (style, word) = match status {
            Status::Clean => (GOOD, "clean"),
            Status::Damaged => (ERROR, "damaged"),
            Status::Failed => (ERROR, "unreadable"),
        };
        let word = out.paint(style, word);
        let errors = counted(errors, "error", "errors");
        out.line(format_args!("  {word}: {errors}, {}", counted(warnings, "warning", "warnings")))?;
    }
    Ok(status)
}

/// A path of which nothing can be delivered.
fn refuse(args: &Args, path: &Path, unreadable: &Unreadable, out: &mut Out) -> Result<Status> {
    if !args.json {
        out.line(out.paint(HEADING, shown(path)))?;
        out.line(format_args!("  {}: {}", out.paint(ERROR, "unreadable"), unreadable.message))?;
        return Ok(Status::Failed);
    }
    begin(path, unreadable.format, out)?;
    let (offset, what) = match unreadable.error {
        Some(error) => (error.offset(), error.kind().code()),
        None => (0, "unreadable"),
    };
    out.text(json!({"offset": offset, "severity": "error", "what": what, "message": unreadable.message}))?;
    end(Status::Failed, out)?;
    Ok(Status::Failed)
}

/// The object up to its findings; they are streamed.
fn begin(path: &Path, format: Option<Format>, out: &mut Out) -> Result<()> {
    let mut object = Map::new();
    insert_path(&mut object, path);
    object.insert("format".into(), format.map(Format::name).into());
    let text = Value::from(object).to_string();
    out.text(text.trim_end_matches('}'))?;
    out.text(",\"findings\":[")
}

fn end(status: Status, out: &mut Out) -> Result<()> {
    out.line(format_args!("],\"verdict\":\"{}\"}}", formats::verdict(status)))
}
