//! The ranges of values that select an option.

use super::builder::Builder;
use super::element::RANGE;
use super::node::{BIG, Kind, LAST, NAMED, NONE, Node, REVERSED};
use super::order::sort;
use super::table::Table;
use crate::error::{Element, Error, ErrorKind, Result};

impl Builder<'_> {
    /// An error at a class: at its name, or else at that of one before it.
    #[cold]
    pub(super) fn error_at(&self, index: u32, element: Element, kind: ErrorKind) -> Error {
        let named = (0..=index).rev().find(|at| self.node(*at).has(NAMED));
        let offset = named.map_or(0, |at| self.node(at).name);
        Error::new(offset.into(), element, kind)
    }

    /// Puts the list of ranges that begins at node `first` in ascending order, with those that overlap made one.
    pub(crate) fn order_ranges(&mut self, first: u32) {
        let count = u32::try_from(self.view().list(first).count()).unwrap_or(NONE);
        // Copies of a class share their ranges.
        if count == 0 || self.node(first).count() > 0 {
            return;
        }
        let place = |at: u32| first.saturating_sub(at);
        let ends = |builder: &Builder<'_>, at| builder.node(place(at)).ends();
        let is_less = |builder: &Builder<'_>, a, b| ends(builder, a) < ends(builder, b);
        super::order::sort(self, count, &is_less, &|builder, a, b| builder.swap(place(a), place(b)));
        let mut last = 0_u32;
        for at in 0..count {
            self.update(place(at), |node| node.set(LAST, false));
            let range = self.node(place(at));
            let before = self.node(place(last));
            if at > 0 && range.ends().0 > before.ends().1 {
                last = last.saturating_add(1);
                self.update(place(last), |node| *node = range);
            } else {
                self.extend_range(place(last), &range);
            }
        }
        self.end_list(place(last));
        self.update(first, |node| node.set_count(last.saturating_add(1)));
    }

    /// Makes a range end where another one does that ends after it.
    pub(super) fn extend_range(&mut self, at: u32, by: &Node) {
        self.update(at, |node| {
            if by.ends().1 > node.ends().1 {
                node.set_y(by.y());
                node.set(REVERSED, by.has(REVERSED));
            }
        });
    }

    /// The ranges of a selector must be of its type, and those of different options must not overlap.
    pub(super) fn check_ranges(
        &mut self,
        index: u32,
        node: &Node,
        is_signed: bool,
        may_overlap: bool,
    ) -> Result<()> {
        match node.kind {
            Kind::Optional => self.check_list(index, node.b, is_signed),
            Kind::Variant => {
                let (mut choice, end) = (index.saturating_add(1), self.view().end(index));
                while choice < end {
                    self.check_list(index, self.node(choice).b, is_signed)?;
                    choice = self.view().end(choice).max(choice.saturating_add(1));
                }
                match Table::of_ranges(self.view(), node) {
                    Some(table) => self.order_options(index, table, may_overlap),
                    None if may_overlap => Ok(()),
                    None => self.check_overlap(index),
                }
            }
            _ => Ok(()),
        }
    }

    /// The ranges from node `first` on must be of the selector's type. They are put in order, so that a value is found
    /// among many of them in few steps.
    fn check_list(&mut self, index: u32, first: u32, is_signed: bool) -> Result<()> {
        for at in self.view().list(first) {
            check_range(&self.node(at), is_signed).map_err(|kind| self.error_at(index, RANGE, kind))?;
        }
        self.order_ranges(first);
        Ok(())
    }

    /// Compares each of few ranges with those before it.
    fn check_overlap(&self, variant: u32) -> Result<()> {
        let view = self.view();
        let ranges = || {
            let choices = view.children(variant);
            choices
                .flat_map(|choice| view.list(view.get(choice).b).map(move |at| (choice, view.get(at).ends())))
        };
        for (position, (choice, (lo, hi))) in ranges().enumerate() {
            let mut before = ranges().take(position);
            if before.any(|(other, (from, to))| other != choice && from <= hi && lo <= to) {
                return Err(self.error_at(choice, RANGE, ErrorKind::Repeated));
            }
        }
        Ok(())
    }

    /// Puts the ranges of all options in order, unless a copy of the variant did so before.
    ///
    /// If they may overlap, there is room for as many ranges as options: they stay as they are if they are more, or if
    /// some do overlap.
    fn order_options(&mut self, variant: u32, table: Table, may_overlap: bool) -> Result<()> {
        if self.node(table.base()).count() > 0 {
            return Ok(());
        }
        let mut count = 0_u32;
        let (mut choice, end) = (variant.saturating_add(1), self.view().end(variant));
        while choice < end {
            let mut next = Some(self.node(choice).b).filter(|first| *first != NONE);
            let mut left = next.map_or(0, |first| self.node(first).count());
            if may_overlap && count.saturating_add(left) > self.node(self.node(variant).b).count() {
                return Ok(());
            }
            while let Some(range) = next.filter(|_| left > 0) {
                table.set(self, count.saturating_mul(2), choice.saturating_sub(variant));
                table.set(
                    self,
                    count.saturating_mul(2).saturating_add(1),
                    range.saturating_sub(table.base()),
                );
                count = count.saturating_add(1);
                left = left.saturating_sub(1);
                next = range.checked_sub(1);
            }
            choice = self.view().end(choice).max(choice.saturating_add(1));
        }
        let range = |builder: &Builder<'_>, at: u32| table.range(builder.view(), at).ends();
        let option = |builder: &Builder<'_>, at: u32| table.get(builder.view(), at.saturating_mul(2));
        let swap = |builder: &mut Builder<'_>, a: u32, b: u32| {
            let (a, b) = (a.saturating_mul(2), b.saturating_mul(2));
            table.swap(builder, a, b);
            table.swap(builder, a.saturating_add(1), b.saturating_add(1));
        };
        sort(self, count, &|builder, a, b| range(builder, a) < range(builder, b), &swap);
        // The ranges of one option do not overlap any more.
        for at in 1..count {
            let before = at.saturating_sub(1);
            if range(self, at).0 <= range(self, before).1 {
                if may_overlap {
                    // In order, but not to be used.
                    self.update(table.base(), |node| node.set_count(0));
                    return Ok(());
                }
                let later = option(self, at).max(option(self, before));
                return Err(self.error_at(variant.saturating_add(later), RANGE, ErrorKind::Repeated));
            }
        }
        self.update(table.base(), |node| node.set_count(count));
        Ok(())
    }
}

/// Checks that a range is one of signed, or else of unsigned integers of 64 bits.
pub(crate) fn check_range(range: &Node, signed: bool) -> Result<(), ErrorKind> {
    for (value, negative) in [(range.x(), range.has(BIG)), (range.y(), range.has(REVERSED))] {
        if negative && !signed {
            return Err(ErrorKind::Negative { value: value.cast_signed() });
        }
        if !negative && signed && value > i64::MAX.cast_unsigned() {
            return Err(ErrorKind::Overflow { value });
        }
    }
    Ok(())
}
