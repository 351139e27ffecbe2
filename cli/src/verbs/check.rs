//! `traceglass check`

use crate::disk;
use crate::input::Input;
use crate::output::{ERROR, GOOD, HEADING, Out, counted, insert_path, shown};
use crate::parallel;
use crate::progress;
use crate::status::{Failure, Result, Status, Unreadable};
use crate::trace::{Findings, Open, Privacy, Reading};
use serde_json::{Map, Value, json};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use traceglass::Format;

/// Read and verify everything; report every finding with its byte offset
///
/// An error means that something cannot be read; a warning means that it is unusual, but readable.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// One JSON object a path
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    privacy: Privacy,
    /// Files or directories; - for stdin
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass check *.rmv
  traceglass check trace.rtc > findings || echo damaged
  traceglass check --json trace.rtc | jq '.findings[].offset'";

#[cfg(target_family = "wasm")]
impl Args {
    /// The arguments for a page.
    pub fn of_page(json: bool, path: PathBuf) -> Self {
        Self { json, reading: Reading::default(), privacy: Privacy::default(), paths: vec![path] }
    }
}

pub fn run(args: &Args, open: Open, out: &mut Out) -> Result<Status> {
    let refused = args.privacy.hide_each(&args.paths, args.reading, open)?;
    let one = |path: &Path, out: &mut Out| match refused.get(path) {
        Some(unreadable) => {
            if args.json {
                refuse(args, path, unreadable, out)?;
            }
            out.failed(path, Failure::unreadable(unreadable.message.as_str()))
        }
        None => one(args, path, open, out),
    };
    let mut worst = Status::Clean;
    // Several files at once, unless one is a pipe, which can be read only once.
    let sizes =
        args.paths.iter().map(|path| disk::metadata(path).ok().map(|about| (about.is_dir(), about.len())));
    progress::begin("checking", crate::input::total(&args.paths));
    let bytes: Option<u64> =
        sizes.map(|size| size.filter(|&(folder, len)| folder || len > 0).map(|(_, len)| len)).sum();
    if args.paths.len() == 1 || !bytes.is_some_and(parallel::pays) {
        for path in &args.paths {
            worst = worst.max(one(path, out)?);
        }
        return Ok(worst);
    }
    let pages = out.page();
    let check = |(): &mut (), path: &&PathBuf| {
        let mut page = pages.page();
        one(path, &mut page).map(|status| (status, page))
    };
    parallel::in_order(
        bytes.unwrap_or(0),
        &args.paths,
        || (),
        check,
        |path, checked| {
            let status = match checked {
                Ok((status, page)) => {
                    out.paste(page)?;
                    status
                }
                Err(Failure::Output(error)) if error.kind() == ErrorKind::FileTooLarge => one(path, out)?,
                Err(failure) => return Err(failure),
            };
            worst = worst.max(status);
            Ok(())
        },
    )?;
    Ok(worst)
}

fn one(args: &Args, path: &Path, open: Open, out: &mut Out) -> Result<Status> {
    let input = match Input::open(path) {
        Ok(input) => input,
        Err(unreadable) => return refuse(args, path, &unreadable, out),
    };
    let trace = match open(&input, args.reading) {
        Ok(trace) => trace,
        Err(unreadable) => return refuse(args, path, &unreadable, out),
    };
    if args.json {
        begin(path, Some(trace.format_name()), out)?;
    } else {
        out.line(out.paint(HEADING, shown(path)))?;
    }
    let mut findings = Findings::new(out, args.json);
    let status = trace.check(&mut findings);
    let (warnings, errors) = findings.finish()?;
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
    let (message, excerpt) = unreadable.parts();
    if !args.json {
        out.line(out.paint(HEADING, shown(path)))?;
        let front = format!("  {}: ", out.paint(ERROR, "unreadable"));
        out.wrapped(&front, message)?;
        for line in excerpt.lines() {
            out.line(format_args!("  {line}"))?;
        }
        return Ok(Status::Failed);
    }
    begin(path, unreadable.format.map(Format::name), out)?;
    let (offset, what) = match unreadable.error {
        Some(error) => (error.offset(), error.kind().code()),
        None => (0, "unreadable"),
    };
    let finding = json!({"offset": offset, "severity": "error", "what": what, "message": message});
    out.json_text(finding.to_string().as_bytes())?;
    end(Status::Failed, out)?;
    Ok(Status::Failed)
}

/// The object up to its findings; they are streamed.
fn begin(path: &Path, format: Option<&str>, out: &mut Out) -> Result<()> {
    let mut object = Map::new();
    insert_path(&mut object, path);
    object.insert("format".into(), format.into());
    let text = Value::from(object).to_string();
    out.json_text(text.trim_end_matches('}').as_bytes())?;
    out.json_text(b",\"findings\":[")
}

fn end(status: Status, out: &mut Out) -> Result<()> {
    out.json_text(format!("],\"verdict\":\"{}\"}}\n", status.verdict()).as_bytes())
}
