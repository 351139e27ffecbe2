//! The last steps of building: tables, locations, roles, layout.

use super::builder::Builder;
use super::element::CLASS_ID;
use super::node::{Kind, LAST, NO_SLOT, NONE, Nodes, SLOTS};
use super::resolve::{Known, Level, Owner, Resolver};
use super::scope::{Scope, root_of};
use super::table::Table;
use super::{Schema, layout};
use crate::ctf::metadata::MetadataStream;
use crate::error::{Error, ErrorKind, Result};

impl<'s> Builder<'s> {
    /// Resolves locations, computes sizes, sorts tables: the schema is complete.
    ///
    /// # Errors
    /// `CapacityExceeded`; `Repeated` for an identifier; those of locations and roles.
    pub(crate) fn finish<'a>(mut self, stream: MetadataStream<'a>) -> Result<Schema<'a, 's>> {
        let classes = self.front;
        let (streams, events, clocks) = (self.streams, self.events, self.clocks);
        let streams =
            Table::build(&mut self, Kind::Stream, streams, |builder, at| (0, builder.node(at).y()))?;
        let events = Table::build(&mut self, Kind::Event, events, |builder, at| {
            let stream = builder.node(at.saturating_add(1)).b;
            (stream.into(), builder.node(at).y())
        })?;
        let clocks = Table::build(&mut self, Kind::Clock, clocks, |_, at| (0, at.into()))?;
        self.share_events(streams, events)?;
        self.resolve(&stream, streams, events)?;
        layout::compute(&mut self, classes);
        let header = self.root_of(self.trace, Scope::PacketHeader);
        let Self { nodes, trace, uuid, environment, front, .. } = self;
        let nodes = Nodes(nodes);
        Ok(Schema {
            stream,
            nodes,
            header,
            trace,
            streams,
            events,
            clocks,
            uuid,
            environment,
            front,
            hash: None,
        })
    }

    /// Tells each stream class which entries of the table are its event record classes; identifiers must differ.
    fn share_events(&mut self, streams: Table, events: Table) -> Result<()> {
        let again = |builder: &Self, index: u32| {
            let offset = builder.node(index.saturating_add(1)).a;
            Err(Error::new(offset.into(), CLASS_ID, ErrorKind::Repeated))
        };
        for at in 1..streams.len {
            let before = streams.get(self.view(), at.saturating_sub(1));
            let index = streams.get(self.view(), at);
            if self.node(before).y() == self.node(index).y() {
                return again(self, index.max(before));
            }
        }
        for at in 0..streams.len {
            let info = self.node(streams.get(self.view(), at).saturating_add(1)).b;
            self.update(info, |info| (info.name, info.b) = (0, 0));
        }
        let mut previous = (NONE, 0);
        for at in 0..events.len {
            let index = events.get(self.view(), at);
            let (stream, id) = (self.node(index.saturating_add(1)).b, self.node(index).y());
            if at > 0 && previous == (stream, id) {
                return again(self, index);
            }
            let info = self.stream_info(stream);
            let is_first = previous.0 != stream;
            previous = (stream, id);
            self.update(info, |info| {
                if is_first {
                    info.b = at;
                }
                info.name = info.name.saturating_add(1);
            });
        }
        Ok(())
    }

    /// The root structure of a scope of what begins at `index`; `NONE` if it has none.
    pub(crate) fn root_of(&self, index: u32, scope: Scope) -> u32 {
        root_of(self.view(), index, scope)
    }

    fn resolve(&mut self, stream: &MetadataStream<'_>, streams: Table, events: Table) -> Result<()> {
        let trace = self.trace;
        // Slots for a packet's header first, then for each stream class, then for each event record class, so that no
        // later one takes the slot of an earlier one.
        let mut slots = 0;
        let mut known = Known::new();
        for level in [Level::Packet, Level::Stream, Level::Event] {
            let trace_owner = Owner { trace, stream: NONE, event: NONE };
            let mut resolver = Resolver::new(self, *stream, level, slots, &mut known);
            resolver.owner(trace_owner, trace)?;
            let shared = resolver.slots();
            let mut most = shared;
            for at in 0..streams.len {
                let of = streams.get(self.view(), at);
                let owner = Owner { stream: of, ..trace_owner };
                let info = self.node(self.node(of.saturating_add(1)).b);
                // The slots of streams may be the same: no packet has two of them. On the last level they are known.
                let start = match level {
                    Level::Packet => most,
                    Level::Stream => shared,
                    Level::Event => u8::try_from(info.roles).unwrap_or(SLOTS),
                };
                let mut resolver = Resolver::new(self, *stream, level, start, &mut known);
                resolver.owner(owner, of)?;
                let mut used = resolver.slots();
                for event in info.b..info.b.saturating_add(info.name) {
                    let event = events.get(self.view(), event);
                    let from = if level == Level::Event { start } else { used };
                    let mut resolver = Resolver::new(self, *stream, level, from, &mut known);
                    resolver.owner(Owner { event, ..owner }, event)?;
                    let mut slots = resolver.slots();
                    if slots > SLOTS {
                        self.share_slots(event, start)?;
                        slots = SLOTS;
                    }
                    used = used.max(slots);
                }
                if level == Level::Stream {
                    let info = self.stream_info(of);
                    self.update(info, |info| info.roles = used.into());
                }
                most = most.max(used);
            }
            slots = if level == Level::Packet { most } else { slots };
        }
        Ok(())
    }
}

// A class's flag and that of a list are the same bit, on different kinds of nodes.
const _: () = assert!(LAST != 0 && NO_SLOT > SLOTS);
