//! `traceglass info`

use crate::input::Input;
use crate::output::{ERROR, GOOD, HEADING, LABEL, Out, bytes, insert_path, shown};
use crate::status::{Failure, Result, Status, Unreadable};
use crate::trace::{Open, Reading};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use traceglass::Format;

/// What a file is: format, version, size, time range, parts, damage
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// One JSON object a path
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
    /// Show the computer's name and its list of processes as well
    #[arg(long)]
    private: bool,
    /// Files or directories; - for stdin
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass info trace.rtc
  traceglass info recording/                  an RFR recording, or a CTF 2 trace
  gzip -dc a.rmv.gz | traceglass info -
  traceglass info --json *.rmv | jq -r 'select(.verdict != \"clean\").path'";

pub fn run(args: &Args, open: Open, out: &mut Out) -> Result<Status> {
    let mut worst = Status::Clean;
    for (number, path) in args.paths.iter().enumerate() {
        if number > 0 && !args.json {
            out.line("")?;
        }
        let status = match one(args, path, open, out) {
            Ok(status) => status,
            Err(Failure::Unreadable(unreadable)) => {
                if args.json {
                    refuse(path, &unreadable, out)?;
                }
                out.complain_of(path, &unreadable.into());
                Status::Failed
            }
            Err(failure) => return Err(failure),
        };
        worst = worst.max(status);
    }
    Ok(worst)
}

/// The object of a path that cannot be read.
fn refuse(path: &Path, unreadable: &Unreadable, out: &mut Out) -> Result<()> {
    let mut object = Map::new();
    insert_path(&mut object, path);
    object.insert("format".into(), unreadable.format.map(Format::name).into());
    object.insert("bytes".into(), Value::Null);
    object.insert("error".into(), unreadable.message.as_str().into());
    object.insert("verdict".into(), Status::Failed.verdict().into());
    out.json(&object.into())
}

fn one(args: &Args, path: &Path, open: Open, out: &mut Out) -> Result<Status> {
    let input = Input::open(path)?;
    let trace = open(&input, Reading { private: args.private, ..args.reading })?;
    let info = trace.info()?;
    if args.json {
        let mut object = Map::new();
        insert_path(&mut object, path);
        object.insert("format".into(), trace.format().name().into());
        object.insert("bytes".into(), info.bytes.into());
        object.extend(info.fields);
        object.insert("verdict".into(), info.status.verdict().into());
        out.json(&object.into())?;
        return Ok(info.status);
    }
    out.line(out.paint(HEADING, shown(path)))?;
    let width = info.lines.iter().map(|(label, _)| label.len()).max().unwrap_or(0).max("format".len());
    let mut line = |label: &str, value: &str| {
        let label = out.paint(LABEL, format_args!("{label:<width$}"));
        out.line(format_args!("  {label}  {value}"))
    };
    line("format", &info.title)?;
    line("size", &bytes(info.bytes))?;
    for (label, value) in &info.lines {
        line(label, value)?;
    }
    let label = out.paint(LABEL, format_args!("{:<width$}", "damage"));
    if info.damage.is_empty() && info.status == Status::Clean {
        out.line(format_args!("  {label}  {}", out.paint(GOOD, "none seen")))?;
    }
    for damage in &info.damage {
        out.line(format_args!("  {label}  {}", out.paint(ERROR, damage)))?;
    }
    Ok(info.status)
}
