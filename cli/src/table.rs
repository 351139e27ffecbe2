//! Aligned columns for people, within the width of the screen.

use crate::measure::{fit, fit_end, fit_ends, pad, width};
use crate::output::{DIM, Out};
use crate::status::Result;
use anstyle::Style;

/// The number of rows that are looked at before the widths of the columns are fixed, so that memory stays flat.
const LOOK_AHEAD: usize = 1024;

/// The narrowest that a column of text becomes before others are left out.
const NARROW: usize = 20;

/// The widest that a column becomes: a longer cell of text is shortened.
const WIDEST: usize = 512;

/// A column of a [`Table`].
#[derive(Clone, Copy)]
pub struct Column {
    name: &'static str,
    right: bool,
    shown: Shown,
    /// Columns with larger numbers are left out first; none is left out that has 0.
    spare: u8,
}

/// The part of a text that is shown where there is no room for all of it.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    /// Of a number or a date, a part says nothing.
    All,
    Start,
    /// Of a path.
    End,
    /// Of names, of which many begin alike.
    Both,
}

impl Column {
    /// A column that is left out where there is no room for it: the larger the number, the sooner.
    pub const fn spare(mut self, order: u8) -> Self {
        self.spare = order;
        self
    }
}

/// A column of text, which is shortened where there is no room for it.
pub const fn left(name: &'static str) -> Column {
    Column { name, right: false, shown: Shown::Start, spare: 0 }
}

/// A column of names: where there is no room for one, its start and its end are shown.
pub const fn name(name: &'static str) -> Column {
    Column { name, right: false, shown: Shown::Both, spare: 0 }
}

/// A column of paths: where there is no room for one, its end is shown.
pub const fn path(name: &'static str) -> Column {
    Column { name, right: false, shown: Shown::End, spare: 0 }
}

/// A column of dates, which are never shortened.
pub const fn date(name: &'static str) -> Column {
    Column { name, right: false, shown: Shown::All, spare: 0 }
}

/// A column of numbers, which are never shortened.
pub const fn right(name: &'static str) -> Column {
    Column { name, right: true, shown: Shown::All, spare: 0 }
}

/// Rows of aligned columns, written as they come.
pub struct Table {
    columns: Vec<Column>,
    /// Of each column that is shown.
    widths: Vec<Option<usize>>,
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
        let widths = columns.iter().map(|column| Some(width(column.name))).collect();
        Self { columns: columns.to_vec(), widths, waiting: Vec::new(), fixed: false }
    }

    /// A row in the plain style.
    pub fn row(&mut self, out: &mut Out, cells: Vec<String>) -> Result<()> {
        self.styled_row(out, Style::new(), cells)
    }

    /// A row of a table that is given as lines.
    pub fn add(&mut self, cells: Vec<String>) {
        self.widen(&cells);
        self.waiting.push((Style::new(), Row::Cells(cells)));
    }

    fn widen(&mut self, cells: &[String]) {
        for (column, cell) in self.widths.iter_mut().zip(cells) {
            *column = column.map(|widest| widest.max(width(cell).min(WIDEST)));
        }
    }

    pub fn styled_row(&mut self, out: &mut Out, style: Style, cells: Vec<String>) -> Result<()> {
        if !self.fixed {
            self.widen(&cells);
        }
        self.push(out, style, Row::Cells(cells))
    }

    /// A line about the row before it.
    pub fn note(&mut self, out: &mut Out, style: Style, text: String) -> Result<()> {
        self.push(out, style, Row::Note(text))
    }

    fn push(&mut self, out: &mut Out, style: Style, row: Row) -> Result<()> {
        if self.fixed {
            let line = self.line(&row);
            return out.line(out.paint(style, line));
        }
        self.waiting.push((style, row));
        if self.waiting.len() >= LOOK_AHEAD { self.fix(out) } else { Ok(()) }
    }

    /// Writes what is still held back.
    pub fn finish(mut self, out: &mut Out) -> Result<()> {
        if self.fixed || self.waiting.is_empty() { Ok(()) } else { self.fix(out) }
    }

    fn fix(&mut self, out: &mut Out) -> Result<()> {
        let hidden = self.lay_out(out.width());
        self.fixed = true;
        out.line(out.paint(DIM, self.header()))?;
        for (style, row) in std::mem::take(&mut self.waiting) {
            let line = self.line(&row);
            out.line(out.paint(style, line))?;
        }
        if !hidden.is_empty() {
            out.hidden_columns(&hidden);
        }
        Ok(())
    }

    /// All lines, the header first, at most `columns` wide; and the names of the columns that are left out.
    pub fn lines(mut self, columns: usize) -> (Vec<String>, Vec<&'static str>) {
        let hidden = self.lay_out(columns);
        let rows = std::mem::take(&mut self.waiting);
        let lines = std::iter::once(self.header()).chain(rows.iter().map(|(_, row)| self.line(row)));
        (lines.collect(), hidden)
    }

    /// Makes the columns fit; gives the names of those that are left out.
    fn lay_out(&mut self, available: usize) -> Vec<&'static str> {
        let mut hidden = Vec::new();
        loop {
            let shown = self.widths.iter().flatten();
            let total = shown
                .clone()
                .sum::<usize>()
                .saturating_add(shown.count().saturating_sub(1).saturating_mul(2));
            let Some(excess) = total.checked_sub(available).filter(|&excess| excess > 0) else {
                return hidden;
            };
            // First what is narrowed a little, then what is left out, then what is narrowed more.
            if self.narrow(excess, NARROW) {
                continue;
            }
            let spare = self.columns.iter().zip(&mut self.widths).filter(|(_, width)| width.is_some());
            if let Some((column, width)) =
                spare.filter(|(column, _)| column.spare > 0).max_by_key(|(column, _)| column.spare)
            {
                hidden.push(column.name);
                *width = None;
            } else if !self.narrow(excess, 4) {
                self.narrow(usize::MAX, 4);
                return hidden;
            }
        }
    }

    /// Narrows the widest columns of text, none below a width; gives whether all of the excess is gone.
    fn narrow(&mut self, mut excess: usize, least: usize) -> bool {
        let room: usize = self.texts().map(|(_, width)| width.saturating_sub(least)).sum();
        if excess > room && excess != usize::MAX {
            return false;
        }
        while excess > 0 {
            let Some((_, widest)) = self.texts().max_by_key(|(_, width)| **width) else { return false };
            if *widest <= least {
                return false;
            }
            *widest = widest.saturating_sub(1);
            excess = excess.saturating_sub(1);
        }
        true
    }

    /// The widths of the columns of text that are shown.
    fn texts(&mut self) -> impl Iterator<Item = (&Column, &mut usize)> {
        let all = self.columns.iter().zip(&mut self.widths);
        all.filter(|(column, _)| column.shown != Shown::All)
            .filter_map(|(column, width)| Some((column, width.as_mut()?)))
    }

    fn header(&self) -> String {
        self.line(&Row::Cells(self.columns.iter().map(|column| column.name.to_owned()).collect()))
    }

    fn line(&self, row: &Row) -> String {
        let cells = match row {
            Row::Cells(cells) => cells,
            Row::Note(text) => return format!("  {text}"),
        };
        let mut line = String::new();
        let mut first = true;
        for ((column, width), cell) in self.columns.iter().zip(&self.widths).zip(cells) {
            let Some(width) = *width else { continue };
            if !std::mem::take(&mut first) {
                line.push_str("  ");
            }
            let cell = match column.shown {
                Shown::All => cell.as_str().into(),
                Shown::Start => fit(cell, width),
                Shown::End => fit_end(cell, width),
                Shown::Both => fit_ends(cell, width),
            };
            pad(&mut line, &cell, width, column.right);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table =
            Table::new(&[path("file"), right("bytes"), left("kind").spare(1), right("records").spare(2)]);
        for (file, bytes) in [("2026-11/21-01/chunk-41-54.rfr", "1,234,567"), ("a", "1")] {
            table.add([file, bytes, "chunk", "12"].map(str::to_owned).to_vec());
        }
        table
    }

    #[test]
    fn columns_fit() {
        for columns in [1, 20, 24, 34, 40, 56, 80] {
            let (lines, _) = table().lines(columns);
            let widest = lines.iter().map(|line| width(line)).max().unwrap();
            assert!(widest <= columns.max(15), "{columns}: {lines:?}");
        }
        for (columns, line, left_out) in [
            (80, "2026-11/21-01/chunk-41-54.rfr  1,234,567  chunk       12", &[][..]),
            (40, "…21-01/chunk-41-54.rfr  1,234,567  chunk", &["records"]),
            (26, "…hunk-41-54.rfr  1,234,567", &["records", "kind"]),
        ] {
            let (lines, hidden) = table().lines(columns);
            assert_eq!((lines[1].as_str(), &hidden[..]), (line, left_out));
        }
    }
}
