//! Virtual memory that is reserved, counted along a memory trace.

use super::fields::RdfData;
use super::lane::{Content, Head, Lane, Rank, Reserved};
use super::timeline::Timeline;
use super::tracks::{Key, Known, Place, Space, TrackSlot};
use crate::error::Result;
use crate::event::label::Label;
use crate::event::track::TrackKind;
use crate::rdf::contents::rmt::TokenValue;
use crate::room::Room;

impl<'s, T: Room<TrackSlot<'s>>, L: Room<Lane<'s>>> Timeline<'s, T, L> {
    /// Counts what the next token of a lane reserves or gives back; gives the new sum if that is another one.
    ///
    /// An address that is reserved again before it was freed counts once. What was reserved before the trace begins is
    /// not known, and so is not given back either.
    pub(super) fn reserve(&mut self, first: Rank, place: (u64, u64)) -> Result<Option<Reserved>> {
        let Some(lane) = self.lanes.slots_mut().get_mut(first.slot) else { return Ok(None) };
        let Content::Tokens { rest, head: Head::Record(()), process, stream, reserved, .. } =
            &mut lane.content
        else {
            return Ok(None);
        };
        let Some(token) = self.pieces.token(rest) else { return Ok(None) };
        let number = u32::try_from(first.slot).unwrap_or(u32::MAX);
        let of = |address| Key(Space::Allocation, number, address);
        let (before, bytes) = match token.value() {
            TokenValue::VirtualAllocate { size, address, .. } => {
                let known = self.tracks.add(of(address), place.0, Known::Bytes(0))?;
                let Some(Known::Bytes(bytes)) = known else { return Ok(None) };
                (core::mem::replace(bytes, size), size)
            }
            TokenValue::VirtualFree { address } => match self.tracks.get(of(address)) {
                Some(Known::Bytes(bytes)) => (core::mem::take(bytes), 0),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        if before == bytes {
            return Ok(None);
        }
        *reserved = reserved.saturating_sub(before).saturating_add(bytes);
        let key = Key(Space::Reserved, number, 0);
        let counter = Place {
            id: None,
            parent: Some(Key(Space::Memory, *stream, (*process).into())),
            kind: TrackKind::Counter { unit: Some("B") },
            label: Label::Text("virtual memory"),
            data: RdfData::None,
            open: 0,
        };
        let reserved = Reserved { key, bytes: *reserved, ns: first.ns, place };
        self.tracks.add(key, place.0, Known::Track(counter))?;
        Ok(Some(reserved))
    }
}
