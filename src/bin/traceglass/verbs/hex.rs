//! `traceglass hex`

use crate::formats;
use crate::input::Input;
use crate::output::{DIM, LABEL, Out};
use crate::status::{Failure, Result, Status};
use std::path::PathBuf;
use traceglass::HexDump;

/// Annotated hex dump: which field each byte belongs to
#[derive(clap::Args)]
pub struct Args {
    /// Offset of the first byte; 0x… for hexadecimal
    #[arg(long, value_parser = offset, default_value = "0")]
    at: u64,
    /// Number of bytes; 0x… for hexadecimal
    #[arg(long, value_parser = offset, default_value = "512")]
    len: u64,
    /// A file; - for stdin
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

fn offset(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| error.to_string())
}

/// A field, and what it says.
pub struct Field {
    pub offset: u64,
    pub len: u64,
    pub name: String,
    pub value: String,
}

impl Field {
    pub fn new(offset: u64, len: u64, name: impl Into<String>, value: impl ToString) -> Self {
        Self { offset, len, name: name.into(), value: value.to_string() }
    }
}

/// The fields that lie, wholly or in part, in the bytes to be shown; they come in ascending order.
pub struct Fields<'d, 'o> {
    data: &'d [u8],
    out: &'o mut Out,
    /// The next byte to be shown, and the one behind the last.
    next: u64,
    end: u64,
}

impl Fields<'_, '_> {
    /// The range to be shown.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.next..self.end
    }

    /// Shows a field, and before it what no field covered. A part of it that was already shown is not shown again.
    pub fn field(&mut self, field: &Field) -> Result<()> {
        let end = field.offset.saturating_add(field.len).min(self.end);
        if field.offset >= self.end || end <= self.next {
            return Ok(());
        }
        if field.offset > self.next {
            self.rows(field.offset, "", "")?;
        }
        self.rows(end, &field.name, &field.value)
    }

    fn rows(&mut self, end: u64, name: &str, value: &str) -> Result<()> {
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(self.data.len());
        let part = &self.data[place(self.next)..place(end)];
        for (number, row) in HexDump::new(part, self.next).rows().enumerate() {
            // Only the first row of a field is labelled: padded, so that the labels stand in a column.
            match number {
                0 if !name.is_empty() => {
                    let name = self.out.paint(LABEL, format_args!("{name:<24}"));
                    self.out.line(
                        format_args!("{:<77} {name} {value}", row.to_string()).to_string().trim_end(),
                    )?;
                }
                _ => {
                    self.out.line(if name.is_empty() { self.out.paint(DIM, row) } else { row.to_string() })?
                }
            }
        }
        self.next = end;
        Ok(())
    }
}

pub fn run(args: &Args, out: &mut Out) -> Result<Status> {
    let fail = |failure: Failure, out: &Out| {
        out.complain_of(&args.path, &failure);
        Ok(Status::Failed)
    };
    let input = match Input::open(&args.path) {
        Ok(input) => input,
        Err(unreadable) => return fail(unreadable.into(), out),
    };
    let Input::File(mapped) = &input else {
        return fail(Failure::unreadable("a directory; name one of its files"), out);
    };
    let data = mapped.data();
    let end = args.at.saturating_add(args.len).min(data.len() as u64);
    if args.at > data.len() as u64 {
        let message = format!("ends at {:#x}, before the offset asked for", data.len());
        return fail(Failure::unreadable(message), out);
    }
    let trace = formats::open(&input);
    let mut fields = Fields { data, out, next: args.at, end };
    let done = match &trace {
        Ok(trace) => trace.hex(&mut fields),
        Err(_) => Ok(Status::Failed),
    };
    let rest = fields.rows(end, "", "");
    match trace {
        Err(unreadable) => rest.and(fail(unreadable.into(), out)),
        Ok(_) => rest.and(done),
    }
}
