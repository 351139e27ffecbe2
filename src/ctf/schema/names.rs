//! The members of structures and the options of variants by their names, which differ.

use super::Name;
use super::builder::Builder;
use super::element::NAME;
use super::node::{Kind, LAST, NONE, Node};
use super::order::sort;
use super::table::Table;
use super::trie;
use super::work;
use crate::ctf::metadata::MetadataStream;
use crate::error::{Error, ErrorKind, Result};
use core::cmp::Ordering;

/// A class with more members, options or ranges than these has an index: a table of the first two in the order of their
/// names, then one of the ranges with their options, in ascending order.
///
/// It says how far a member or an option follows the class, so that copies of the class share it.
pub(crate) const FEW: u32 = 16;

impl Builder<'_> {
    /// Checks that the names of the `count` members or options of a class differ, and lets each be found by its name.
    /// Of options that exclude each other, makes room for the order of their `ranges`.
    ///
    /// # Errors
    /// `Repeated`, at the second one of a name. `CapacityExceeded`.
    pub(crate) fn index_names(
        &mut self,
        stream: &MetadataStream<'_>,
        class: u32,
        count: u32,
        ranges: u32,
    ) -> Result<()> {
        if count.max(ranges) <= FEW {
            return if self.counting { Ok(()) } else { self.compare_names(stream, class) };
        }
        let mut base = NONE;
        for _ in 0..count.div_ceil(4).saturating_add(ranges.div_ceil(2)) {
            base = self.side(Node::new(Kind::Table))?;
        }
        if self.counting {
            return Ok(());
        }
        let table = Table::at(base, count);
        let (mut at, mut child) = (0_u32, class.saturating_add(1));
        while at < count {
            table.set(self, at, child.saturating_sub(class));
            child = self.view().end(child);
            at = at.saturating_add(1);
        }
        let entry = |builder: &Builder<'_>, at: u32| table.get(builder.view(), at);
        let compare = |builder: &Builder<'_>, a: u32, b: u32| {
            let (a, b) = (class.saturating_add(a), class.saturating_add(b));
            builder.compare(stream, builder.name_at(stream, a).as_ref(), b)
        };
        let is_less = |builder: &Builder<'_>, a: u32, b: u32| {
            let (a, b) = (entry(builder, a), entry(builder, b));
            compare(builder, a, b).then(a.cmp(&b)) == Ordering::Less
        };
        sort(self, count, &is_less, &|builder, a, b| table.swap(builder, a, b));
        let second = (1..count)
            .map(|at| (entry(self, at.saturating_sub(1)), entry(self, at)))
            .filter(|(a, b)| compare(self, *a, *b) == Ordering::Equal)
            .filter_map(|(_, b)| self.node(class.saturating_add(b)).place())
            .min_by_key(|place| place.offset);
        if let Some(place) = second {
            return Err(Error::new(place.offset.into(), NAME, ErrorKind::Repeated));
        }
        self.update(base, |node| {
            node.set_count(count);
            node.set(LAST, ranges > 0);
        });
        self.update(class, |node| node.b = base);
        Ok(())
    }

    /// Compares each of few names with those before it.
    fn compare_names(&self, stream: &MetadataStream<'_>, class: u32) -> Result<()> {
        for (position, child) in self.view().children(class).enumerate() {
            let Some(place) = self.node(child).place() else { continue };
            let name = Name::at(stream, place);
            let mut before = self.view().children(class).take(position);
            if before.any(|other| self.compare(stream, Some(&name), other) == Ordering::Equal) {
                return Err(Error::new(place.offset.into(), NAME, ErrorKind::Repeated));
            }
        }
        Ok(())
    }

    /// The member of a structure, or the option of a variant, of this name.
    pub(crate) fn child_named(
        &self,
        stream: &MetadataStream<'_>,
        class: u32,
        name: &Name<'_>,
    ) -> Option<u32> {
        let base = self.node(class).b;
        if base == NONE {
            // There are few: see `index_names`.
            let mut children = self.view().children(class);
            return children.find(|child| self.compare(stream, Some(name), *child) == Ordering::Equal);
        }
        let (mut low, mut high) = (0, self.node(base).count());
        let table = Table::at(base, high);
        while low < high {
            let middle = low.midpoint(high);
            let child = class.saturating_add(table.get(self.view(), middle));
            match self.compare(stream, Some(name), child) {
                Ordering::Equal => return Some(child),
                Ordering::Less => high = middle,
                Ordering::Greater => low = middle.saturating_add(1),
            }
        }
        None
    }

    fn name_at<'a>(&self, stream: &MetadataStream<'a>, index: u32) -> Option<Name<'a>> {
        self.node(index).place().map(|place| Name::at(stream, place))
    }

    /// Compares a name with that of a node. What has no name is before all that have one, and equal to nothing.
    fn compare(&self, stream: &MetadataStream<'_>, name: Option<&Name<'_>>, index: u32) -> Ordering {
        work::count(1);
        match (name, self.name_at(stream, index)) {
            (Some(a), Some(b)) => trie::compare(&mut a.spelled(), &mut b.spelled()),
            (Some(_), None) => Ordering::Greater,
            (None, _) => Ordering::Less,
        }
    }
}
