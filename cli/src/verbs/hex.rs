//! `traceglass hex`

use crate::formats;
use crate::input::Input;
use crate::output::{DIM, Out};
use crate::status::{Failure, Result, Status};
use anstyle::{AnsiColor, Style};
use std::path::PathBuf;
use traceglass::HexDump;

/// Annotated hex dump: which field each byte belongs to
///
/// Numbers are decimal, or hexadecimal as 0x400. With colour, fields of one name have one colour.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Offset of the first byte
    #[arg(long, value_name = "OFFSET", value_parser = number, default_value = "0")]
    at: u64,
    /// Number of bytes
    #[arg(long, value_name = "N", value_parser = number, default_value = "512")]
    len: u64,
    #[command(flatten)]
    reading: formats::Reading,
    /// A file; - for stdin
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass hex a.rmv
  traceglass hex --at 0x3f0 --len 64 trace.rtc   what `check` complained of
  traceglass hex --color always a.rmv | less -R";

fn number(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| format!("{error}; a number is decimal, or hexadecimal as 0x400"))
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
    legend: Legend,
}

/// Which colour fields of a name have: they are given in turn, to each name that is new.
#[derive(Default)]
struct Legend(Vec<String>);

impl Legend {
    const COLORS: [AnsiColor; 10] = [
        AnsiColor::Cyan,
        AnsiColor::Green,
        AnsiColor::Yellow,
        AnsiColor::Magenta,
        AnsiColor::Blue,
        AnsiColor::BrightCyan,
        AnsiColor::BrightGreen,
        AnsiColor::BrightYellow,
        AnsiColor::BrightMagenta,
        AnsiColor::BrightBlue,
    ];

    /// The style of a field. Names that differ in a number alone, such as that of a packet, are one.
    fn style(&mut self, name: &str) -> Style {
        let words = name.split(' ').filter(|word| word.parse::<u64>().is_err());
        let name = words.collect::<Vec<_>>().join(" ");
        let place = self.0.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.0.push(name);
            self.0.len() - 1
        });
        Self::color(place)
    }

    fn color(place: usize) -> Style {
        Self::COLORS[place % Self::COLORS.len()].on_default()
    }
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

    /// Shows the bytes up to `end`, which belong to the field of that name, or to none.
    fn rows(&mut self, end: u64, name: &str, value: &str) -> Result<()> {
        /// Of a row of 16 bytes.
        const WIDTH: usize = 78;
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(self.data.len());
        let part = &self.data[place(self.next)..place(end)];
        let style = if name.is_empty() { DIM } else { self.legend.style(name) };
        for (number, row) in HexDump::new(part, self.next).rows().enumerate() {
            let row = row.to_string();
            let (offset, shown) = row.split_once("  ").unwrap_or(("", &row));
            // Only the first row of a field is labelled: padded, so that the labels stand in a column.
            if number == 0 && !name.is_empty() {
                let width = WIDTH.saturating_sub(offset.len() + 2);
                let shown = self.out.paint(style, format_args!("{shown:<width$} {name:<24}"));
                self.out.line(
                    format_args!("{}  {shown} {value}", self.out.paint(DIM, offset)).to_string().trim_end(),
                )?;
            } else {
                let (offset, shown) = (self.out.paint(DIM, offset), self.out.paint(style, shown));
                self.out.line(format_args!("{offset}  {shown}"))?;
            }
        }
        self.next = end;
        Ok(())
    }

    /// Which colour stands for which field, where there is colour.
    fn legend(&mut self) -> Result<()> {
        if !self.out.is_colored() || self.legend.0.is_empty() {
            return Ok(());
        }
        let names = self.legend.0.iter().enumerate();
        let names: Vec<String> =
            names.map(|(place, name)| self.out.paint(Legend::color(place), name)).collect();
        self.out.line(format_args!("\nfields: {}", names.join(", ")))
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
        return fail(Failure::unreadable("a directory; name one of the files in it"), out);
    };
    let data = mapped.data();
    let end = args.at.saturating_add(args.len).min(data.len() as u64);
    if args.at > data.len() as u64 {
        let message = format!("ends at {:#x}, before the offset asked for", data.len());
        return fail(Failure::unreadable(message), out);
    }
    let trace = formats::open(&input, args.reading);
    let mut fields = Fields { data, out, next: args.at, end, legend: Legend::default() };
    let done = match &trace {
        Ok(trace) => trace.hex(&mut fields),
        Err(_) => Ok(Status::Failed),
    };
    fields.rows(end, "", "")?;
    fields.legend()?;
    match trace {
        Err(unreadable) => fail(unreadable.into(), out),
        Ok(_) => {
            if matches!(done, Ok(Status::Damaged)) {
                out.warn(&args.path, "damaged; `traceglass check` says where");
            }
            done
        }
    }
}
