//! Whether many names differ.

use super::Name;
use super::builder::Builder;
use super::element::NAME;
use super::node::{Kind, NONE, Node};
use crate::ctf::metadata::MetadataStream;
use crate::error::{Error, ErrorKind, Result};

/// How many names are looked at in one go.
const TABLE: usize = 256;

impl Builder<'_> {
    /// The names of the members of a structure, or of the options of a variant, must differ.
    ///
    /// # Errors
    /// `Repeated`, at the second one.
    pub(crate) fn check_names(&mut self, stream: &MetadataStream<'_>, index: u32) -> Result<()> {
        let count = self.view().children(index).take(17).count();
        if count <= 16 {
            for (position, a) in self.view().children(index).enumerate() {
                let Some(name) = self.node(a).place() else { continue };
                for b in self.view().children(index).take(position) {
                    let other = self.node(b).place();
                    if other.is_some_and(|other| Name::at(stream, other).same(&Name::at(stream, name))) {
                        return Err(Error::new(name.offset.into(), NAME, ErrorKind::Repeated));
                    }
                }
            }
            return Ok(());
        }
        check(self, stream, index)
    }
}

/// Checks that the names of the children of `index` differ.
///
/// A table of hashes is kept where free nodes are, if there are enough; each name is then looked at about once. With
/// fewer, a smaller table on the stack takes several passes.
fn check(builder: &mut Builder<'_>, stream: &MetadataStream<'_>, index: u32) -> Result<()> {
    let count = u32::try_from(builder.view().children(index).count()).unwrap_or(NONE);
    // Twice as many places as names, four to a node.
    let room = count.saturating_mul(2).next_power_of_two();
    let first = builder.front;
    let capacity = u32::try_from(builder.nodes.len()).unwrap_or(NONE);
    let free = capacity.saturating_sub(builder.tail).saturating_sub(first);
    if free < room {
        return in_passes(builder, stream, index, count);
    }
    for at in 0..room {
        builder.update(first.saturating_add(at), |node| *node = Node::EMPTY);
    }
    let mask = room.saturating_sub(1);
    let mut next = index.saturating_add(1);
    let end = builder.view().end(index);
    while next < end {
        let child = next;
        next = builder.view().end(child).max(next.saturating_add(1));
        let Some(place) = builder.node(child).place() else { continue };
        let name = Name::at(stream, place);
        let hash = name.hash(0);
        let mut at = hash & mask;
        loop {
            let slot = first.saturating_add(at);
            let entry = builder.node(slot);
            if entry.kind == Kind::Empty {
                builder.update(slot, |node| *node = Node { a: child, b: hash, ..Node::new(Kind::More) });
                break;
            }
            if entry.b == hash && is_named(builder, stream, entry.a, &name) {
                return Err(Error::new(place.offset.into(), NAME, ErrorKind::Repeated));
            }
            at = at.wrapping_add(1) & mask;
        }
    }
    Ok(())
}

fn is_named(builder: &Builder<'_>, stream: &MetadataStream<'_>, child: u32, name: &Name<'_>) -> bool {
    builder.node(child).place().is_some_and(|place| Name::at(stream, place).same(name))
}

/// Each pass looks at the names whose hash belongs to it.
fn in_passes(builder: &Builder<'_>, stream: &MetadataStream<'_>, index: u32, count: u32) -> Result<()> {
    let passes = count.div_ceil(u32::try_from(TABLE / 2).unwrap_or(1)).max(1);
    for pass in 0..passes {
        let mut table = [(NONE, 0_u32); TABLE];
        for child in builder.view().children(index) {
            let Some(place) = builder.node(child).place() else { continue };
            let name = Name::at(stream, place);
            let hash = name.hash(0);
            if hash.checked_rem(passes) != Some(pass) {
                continue;
            }
            let start = usize::try_from(hash >> 16).unwrap_or(0);
            let mut probe = (0..TABLE).map(|step| start.wrapping_add(step) % TABLE);
            let repeated = loop {
                let Some(entry) = probe.next().and_then(|at| table.get_mut(at)) else {
                    // A table that is full: the names that are in it are compared, and others with them.
                    break builder
                        .view()
                        .children(index)
                        .take_while(|other| *other < child)
                        .any(|other| is_named(builder, stream, other, &name));
                };
                if entry.0 == NONE {
                    *entry = (child, hash);
                    break false;
                }
                if entry.1 == hash && is_named(builder, stream, entry.0, &name) {
                    break true;
                }
            };
            if repeated {
                return Err(Error::new(place.offset.into(), NAME, ErrorKind::Repeated));
            }
        }
    }
    Ok(())
}
