//! Aligned columns for people.

use crate::output::{DIM, Out, pad};
use crate::status::Result;
use anstyle::Style;

/// How many rows are looked at before the widths of the columns are fixed, so that memory stays flat.
const LOOK_AHEAD: usize = 1024;

/// The widest that a column becomes for one of its cells: a longer one stands out.
const WIDTH_MAX: usize = 64;

/// A column of a [`Table`].
#[derive(Clone, Copy)]
pub struct Column {
    name: &'static str,
    right: bool,
}

/// A column of text.
pub const fn left(name: &'static str) -> Column {
    Column { name, right: false }
}

/// A column of numbers.
pub const fn right(name: &'static str) -> Column {
    Column { name, right: true }
}

/// Rows of aligned columns, written as they come.
pub struct Table {
    columns: Vec<Column>,
    widths: Vec<usize>,
    waiting: Vec<(Style, Row)>,
    fixed: bool,
}

enum Row {
    Cells(Vec<String>),
    /// A line across the columns.
    Note(String),
}

impl Table {
    pub fn new(columns: &[Column]) -> Self {
        let widths = columns.iter().map(|column| column.name.chars().count()).collect();
        Self { columns: columns.to_vec(), widths, waiting: Vec::new(), fixed: false }
    }

    /// A row in the plain style.
    pub fn row(&mut self, out: &mut Out, cells: Vec<String>) -> Result<()> {
        self.styled_row(out, Style::new(), cells)
    }

    pub fn styled_row(&mut self, out: &mut Out, style: Style, cells: Vec<String>) -> Result<()> {
        if !self.fixed {
            for (width, cell) in self.widths.iter_mut().zip(&cells) {
                *width = (*width).max(cell.chars().count().min(WIDTH_MAX));
            }
        }
        self.push(out, style, Row::Cells(cells))
    }

    /// A line about the row before it.
    pub fn note(&mut self, out: &mut Out, style: Style, text: String) -> Result<()> {
        self.push(out, style, Row::Note(text))
    }

    fn push(&mut self, out: &mut Out, style: Style, row: Row) -> Result<()> {
        if self.fixed {
            return self.write(out, style, &row);
        }
        self.waiting.push((style, row));
        if self.waiting.len() >= LOOK_AHEAD { self.fix(out) } else { Ok(()) }
    }

    /// Writes what is still held back.
    pub fn finish(mut self, out: &mut Out) -> Result<()> {
        if self.fixed || self.waiting.is_empty() { Ok(()) } else { self.fix(out) }
    }

    fn fix(&mut self, out: &mut Out) -> Result<()> {
        self.fixed = true;
        let names = self.columns.iter().map(|column| column.name.to_owned()).collect();
        self.write(out, DIM, &Row::Cells(names))?;
        for (style, row) in std::mem::take(&mut self.waiting) {
            self.write(out, style, &row)?;
        }
        Ok(())
    }

    fn write(&self, out: &mut Out, style: Style, row: &Row) -> Result<()> {
        let cells = match row {
            Row::Cells(cells) => cells,
            Row::Note(text) => return out.line(out.paint(style, format_args!("  {text}"))),
        };
        let mut line = String::new();
        for ((column, &width), cell) in self.columns.iter().zip(&self.widths).zip(cells) {
            if !line.is_empty() {
                line.push_str("  ");
            }
            pad(&mut line, cell, width, column.right);
        }
        let line = out.paint(style, line.trim_end());
        out.line(line)
    }
}
