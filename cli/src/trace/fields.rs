//! The fields of a hex dump.

use crate::measure::{fit, pad, width};
use crate::output::{DIM, Out, digits};
use crate::status::Result;
use anstyle::{AnsiColor, Style};
use std::collections::HashMap;

/// The name of bytes that belong to no field.
const NONE: &str = "(no field)";

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

/// The output of fields.
enum To<'d, 'o> {
    Dump(Dump<'d, 'o>),
    #[cfg(feature = "view")]
    List(&'o mut Vec<Field>),
}

/// A dump of bytes, each with its field.
struct Dump<'d, 'o> {
    data: &'d [u8],
    out: &'o mut Out,
    legend: Legend,
    layout: Layout,
}

/// The layout of a row.
#[derive(Clone, Copy)]
struct Layout {
    /// The number of bytes that are in it.
    bytes: usize,
    /// The columns of the bytes and their text, and of the field's name.
    row: usize,
    name: usize,
}

impl Layout {
    /// As many bytes in a row as leave room for names and values.
    fn of(columns: usize) -> Self {
        match columns {
            112.. => Self { bytes: 16, row: 68, name: 24 },
            64.. => Self { bytes: 8, row: 35, name: 16 },
            _ => Self { bytes: 4, row: 19, name: 8 },
        }
    }
}

/// Appends bytes as hex and as text.
fn write_row(to: &mut String, row: &[u8], bytes: usize) {
    for place in 0..bytes {
        if place > 0 {
            to.push_str(if place == 8 { "  " } else { " " });
        }
        match row.get(place) {
            Some(&byte) => to.extend(digits(byte).map(char::from)),
            None => to.push_str("  "),
        }
    }
    to.push_str("  |");
    to.extend(row.iter().map(
        |&byte| {
            if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '.' }
        },
    ));
    to.push('|');
}

/// The colours of fields, by name: they are given in turn, to each name that is new.
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
        let layout = Layout::of(out.width());
        let dump = Dump { data, out, legend: Legend::default(), layout };
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
                dump.rows(self.next..self.end, NONE, "")?;
                dump.legend()
            }
            #[cfg(feature = "view")]
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
                    dump.rows(start..field.offset, NONE, "")?;
                }
                dump.rows(start.max(field.offset)..end, &field.name, &field.value)
            }
            #[cfg(feature = "view")]
            To::List(list) => {
                list.push(field.clone());
                Ok(())
            }
        }
    }
}

impl Dump<'_, '_> {
    /// Shows the bytes of a range, which belong to the field of that name, or to [`NONE`]. Of rows that repeat in a field,
    /// the first one is shown, then `*`, then the last one, so that its end is seen.
    fn rows(&mut self, range: std::ops::Range<u64>, name: &str, value: &str) -> Result<()> {
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(self.data.len());
        let part = self.data.get(place(range.start)..place(range.end)).unwrap_or_default();
        let style = match name {
            NONE => DIM,
            _ if self.out.is_colored() => self.legend.style(name),
            _ => Style::new(),
        };
        let Layout { bytes, row: columns, name: name_columns } = self.layout;
        let mut previous: Option<&[u8]> = None;
        let mut squeezed = false;
        let rows = part.chunks(bytes).zip((range.start..).step_by(bytes)).enumerate();
        let last = part.len().div_ceil(bytes).saturating_sub(1);
        for (number, (row, offset)) in rows {
            if previous == Some(row) && number < last {
                if !std::mem::replace(&mut squeezed, true) {
                    self.out.line(self.out.paint(DIM, "*"))?;
                }
                continue;
            }
            squeezed = false;
            previous = Some(row);
            let mut shown = String::new();
            write_row(&mut shown, row, bytes);
            let offset = self.out.paint(DIM, format_args!("{offset:08x}"));
            // Only the first row of a field is labelled: padded, so that the labels stand in a column.
            if number > 0 {
                let shown = self.out.paint(style, shown);
                self.out.line(format_args!("{offset}  {shown}"))?;
                continue;
            }
            // The rest of the line, of which a long name takes from the value.
            let room = self.out.width().saturating_sub(columns).saturating_sub(11);
            let name = fit(name, room.max(name_columns));
            let left = room.saturating_sub(width(&name).max(name_columns)).saturating_sub(2);
            let value = if left > 1 { fit(value, left) } else { "".into() };
            let mut label = String::new();
            pad(&mut label, &shown, columns, false);
            label.push(' ');
            pad(&mut label, &name, name_columns, false);
            if width(&name) >= name_columns {
                label.push(' ');
            }
            let label = match value.is_empty() {
                true => label.trim_end().to_owned(),
                false => label,
            };
            let label = self.out.paint(style, label);
            self.out.line(format_args!("{offset}  {label} {value}").to_string().trim_end())?;
        }
        Ok(())
    }

    /// Prints the colour of each field, if there is colour.
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
