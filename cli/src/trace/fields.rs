//! The fields of a hex dump.

use crate::output::{DIM, Out};
use crate::status::Result;
use anstyle::{AnsiColor, Style};
use std::collections::HashMap;
use traceglass::HexDump;

/// A field, and what it says.
#[derive(Clone)]
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
    /// The next byte to be shown, and the one after the last.
    next: u64,
    end: u64,
    to: To<'d, 'o>,
}

/// Where fields go.
enum To<'d, 'o> {
    Dump(Dump<'d, 'o>),
    List(&'o mut Vec<Field>),
}

/// A dump of bytes, each with its field.
struct Dump<'d, 'o> {
    data: &'d [u8],
    out: &'o mut Out,
    legend: Legend,
}

/// Which colour fields of a name have: they are given in turn, to each name that is new.
#[derive(Default)]
struct Legend {
    places: HashMap<String, usize>,
    names: Vec<String>,
}

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
        let next = self.names.len();
        let place = *self.places.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        });
        Self::color(place)
    }

    fn color(place: usize) -> Style {
        Self::COLORS.iter().cycle().nth(place % 10).map_or(Style::new(), |color| color.on_default())
    }
}

impl<'d, 'o> Fields<'d, 'o> {
    /// The fields of `data` in a range of it, to be printed.
    pub fn new(data: &'d [u8], range: std::ops::Range<u64>, out: &'o mut Out) -> Self {
        let dump = Dump { data, out, legend: Legend::default() };
        Self { next: range.start, end: range.end, to: To::Dump(dump) }
    }

    /// The fields in a range, as a list.
    #[cfg(feature = "view")]
    pub fn list(range: std::ops::Range<u64>, list: &'o mut Vec<Field>) -> Self {
        Self { next: range.start, end: range.end, to: To::List(list) }
    }

    /// Shows what no field covered; and which colour stands for which field, where there is colour.
    pub fn finish(self) -> Result<()> {
        match self.to {
            To::Dump(mut dump) => {
                dump.rows(self.next..self.end, "", "")?;
                dump.legend()
            }
            To::List(_) => Ok(()),
        }
    }

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
        let start = self.next;
        self.next = end;
        match &mut self.to {
            To::Dump(dump) => {
                if field.offset > start {
                    dump.rows(start..field.offset, "", "")?;
                }
                dump.rows(start.max(field.offset)..end, &field.name, &field.value)
            }
            To::List(list) => {
                list.push(field.clone());
                Ok(())
            }
        }
    }
}

impl Dump<'_, '_> {
    /// Shows the bytes of a range, which belong to the field of that name, or to none.
    fn rows(&mut self, range: std::ops::Range<u64>, name: &str, value: &str) -> Result<()> {
        /// Of a row of 16 bytes.
        const WIDTH: usize = 78;
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(self.data.len());
        let part = self.data.get(place(range.start)..place(range.end)).unwrap_or_default();
        let style = match name {
            "" => DIM,
            _ if self.out.is_colored() => self.legend.style(name),
            _ => Style::new(),
        };
        for (number, row) in HexDump::new(part, range.start).rows().enumerate() {
            let row = row.to_string();
            let (offset, shown) = row.split_once("  ").unwrap_or(("", &row));
            // Only the first row of a field is labelled: padded, so that the labels stand in a column.
            if number == 0 && !name.is_empty() {
                let width = WIDTH.saturating_sub(offset.len()).saturating_sub(2);
                let shown = self.out.paint(style, format_args!("{shown:<width$} {name:<24}"));
                self.out.line(
                    format_args!("{}  {shown} {value}", self.out.paint(DIM, offset)).to_string().trim_end(),
                )?;
            } else {
                let (offset, shown) = (self.out.paint(DIM, offset), self.out.paint(style, shown));
                self.out.line(format_args!("{offset}  {shown}"))?;
            }
        }
        Ok(())
    }

    /// Which colour stands for which field, where there is colour.
    fn legend(&mut self) -> Result<()> {
        if !self.out.is_colored() || self.legend.names.is_empty() {
            return Ok(());
        }
        let names = self.legend.names.iter().enumerate();
        let names: Vec<String> =
            names.map(|(place, name)| self.out.paint(Legend::color(place), name)).collect();
        self.out.line("")?;
        self.out.line(format_args!("fields: {}", names.join(", ")))
    }
}
