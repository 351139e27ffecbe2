//! `traceglass info`

use crate::input::Input;
use crate::measure::{width, wrap};
use crate::output::{ERROR, GOOD, HEADING, LABEL, Out, bytes, insert_path, shown};
use crate::progress;
use crate::status::{Failure, Result, Status, Unreadable};
use crate::trace::{DamageExt as _, Info, Inquiry, Open, Privacy, Reading};
use anstyle::Style;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use traceglass::Format;

/// Show what a file is: format, version, size, time range, parts, damage
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// One JSON object a path
    #[arg(long)]
    json: bool,
    /// Read, count and verify everything; by default, only what is needed is read of more than 256 MiB
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    reading: Reading,
    /// Show what each task of an RFR recording did: polls, wakes, and whether it ended
    #[arg(long)]
    tasks: bool,
    #[command(flatten)]
    privacy: Privacy,
    /// Files or directories; - for stdin
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass info trace.rtc
  traceglass info recording/                  an RFR recording, or a CTF trace
  traceglass info --tasks recording/          what its tasks did
  gzip -dc a.rmv.gz | traceglass info -
  traceglass info --json *.rmv | jq -r 'select(.verdict != \"clean\").path'";

#[cfg(target_family = "wasm")]
impl Args {
    /// The arguments for a page.
    pub fn of_page(json: bool, path: PathBuf) -> Self {
        let reading = Reading::default();
        Self { json, full: false, reading, tasks: false, privacy: Privacy::default(), paths: vec![path] }
    }
}

pub fn run(args: &Args, open: Open, out: &mut Out) -> Result<Status> {
    let refused = args.privacy.hide_each(&args.paths, args.reading, open)?;
    let mut worst = Status::Clean;
    progress::begin("reading", crate::input::total(&args.paths));
    for (number, path) in args.paths.iter().enumerate() {
        if number > 0 && !args.json {
            out.line("")?;
        }
        let done = match refused.get(path) {
            Some(unreadable) => Err(Failure::unreadable(unreadable.message.as_str())),
            None => one(args, path, open, out),
        };
        let status = match done {
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
    object.insert("complete".into(), false.into());
    object.insert("verdict".into(), Status::Failed.verdict().into());
    out.json(&object.into())
}

fn one(args: &Args, path: &Path, open: Open, out: &mut Out) -> Result<Status> {
    let input = Input::open(path)?;
    let trace = open(&input, args.reading)?;
    let format = trace.format();
    if args.tasks && format != Format::Rfr {
        return Err(Failure::usage(format!(
            "this is {format}, and --tasks is of RFR; `stats` says what its tracks did"
        )));
    }
    let info = trace.info(&Inquiry { full: args.full, tasks: args.tasks })?;
    if args.json {
        let mut object = Map::new();
        insert_path(&mut object, path);
        object.insert("format".into(), trace.format_name().into());
        object.insert("bytes".into(), info.bytes.into());
        object.extend(info.fields);
        object.insert("complete".into(), info.complete.into());
        // A part that was not read may be damaged.
        let known = info.complete || info.status != Status::Clean;
        object.insert("verdict".into(), known.then(|| info.status.verdict()).into());
        out.json(&object.into())?;
        return Ok(info.status);
    }
    show(path, info, out)
}

/// Prints it for people.
fn show(path: &Path, info: Info, out: &mut Out) -> Result<Status> {
    out.line(out.paint(HEADING, shown(path)))?;
    let labels =
        info.lines.iter().map(|(label, _)| *label).chain(info.tables.iter().map(|(label, _)| *label));
    let indent = labels.map(width).max().unwrap_or(0).max("format".len());
    let columns = out.width().saturating_sub(indent).saturating_sub(4);
    let mut lines = |label: &str, style: Option<Style>, text: Vec<String>| {
        for (number, line) in text.iter().enumerate() {
            let label = if number == 0 { label } else { "" };
            let label = out.paint(LABEL, format_args!("{label:<indent$}"));
            let line = style.map_or_else(|| line.clone(), |style| out.paint(style, line));
            out.line(format_args!("  {label}  {line}"))?;
        }
        Ok::<_, Failure>(())
    };
    lines("format", None, wrap(&info.title, columns))?;
    lines("size", None, wrap(&bytes(info.bytes), columns))?;
    for (label, value) in &info.lines {
        lines(label, None, wrap(value, columns))?;
    }
    let mut hidden = Vec::new();
    for (label, table) in info.tables {
        let (text, left_out) = table.lines(columns);
        hidden.extend(left_out);
        lines(label, None, text)?;
    }
    match (info.damage.count() == 0 && info.status == Status::Clean, info.complete) {
        (true, true) => lines("damage", Some(GOOD), vec!["none seen".to_owned()])?,
        (true, false) => lines(
            "damage",
            None,
            wrap("none seen in what was read: not all was, because it is large; --full reads all", columns),
        )?,
        _ => {}
    }
    for damage in &info.damage.lines() {
        lines("damage", Some(ERROR), wrap(damage, columns))?;
    }
    out.hidden_columns(&hidden);
    Ok(info.status)
}
