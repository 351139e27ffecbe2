//! Slices that one event tells of: on tracks of its class, of which each has one open at a time.

use super::Timeline;
use crate::bytes::to_usize;
use crate::dial9::{Key, OrderedEvent, Value};
use crate::error::Result;
use crate::event::dial9::tracks::{Of, Opened, id_of};
use crate::event::dial9::waiting::{Name, end_of};
use crate::event::event::Flows;

impl<'a> Timeline<'a, '_> {
    /// The place of the moment with this key.
    fn place_of(&self, wanted: Key) -> Option<usize> {
        let moments = self.moments.slots();
        let at = moments.partition_point(|moment| moment.key() < wanted);
        moments.get(at).is_some_and(|found| found.key() == wanted).then_some(at)
    }

    /// The name of an event that lasts.
    fn name_of_lasting(&self, current: &OrderedEvent<'a>) -> Name<'a> {
        let Some(kind) = self.kinds.slots().get(to_usize(current.class())) else { return Name::Text("") };
        let text = match kind.lasts.name(current.event()) {
            Some(Value::PooledString(id)) => self.order.string(current, id),
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        text.map_or(Name::Text(current.event().name()), Name::of)
    }

    /// Begins the slice of which the event of the moment at this place tells.
    pub(super) fn lasting_begins(&mut self, begin: usize, current: &OrderedEvent<'a>) -> Result<()> {
        let (class, offset) = (current.class(), current.event().offset());
        let free = self.kinds.slots().get(to_usize(class)).and_then(|kind| kind.free);
        self.track(Of::Kind(class), true, offset)?;
        let lane = match free {
            Some(free) => free,
            None => {
                let number = u32::try_from(self.tracks.len()).unwrap_or(u32::MAX);
                self.track(Of::Lane(class, number), true, offset)?
            }
        };
        let next = self.tracks.slots_mut().get_mut(lane).and_then(|slot| {
            slot.open = Opened::Life;
            slot.inner.take()
        });
        if let Some(kind) = self.kinds.slots_mut().get_mut(to_usize(class)) {
            kind.free = next;
        }
        self.begin(id_of(lane), self.name_of_lasting(current), Flows::NONE, current.nanoseconds());
        if let Some(moment) = self.moments.slots_mut().get_mut(begin) {
            moment.place(lane);
        }
        Ok(())
    }

    /// Ends the slice of which an event tells; if it was not seen to begin, it has happened.
    pub(super) fn lasting_ends(&mut self, current: &OrderedEvent<'a>) -> Result<()> {
        let (class, time) = (current.class(), current.nanoseconds());
        let Some(kind) = self.kinds.slots().get(to_usize(class)) else { return Ok(()) };
        let start = kind.lasts.start(current.event(), &kind.counters, time);
        let (_, batch, at) = current.key();
        let begin = start.and_then(|start| self.place_of((start, batch, at)));
        let lane = begin.and_then(|begin| self.moments.slots().get(begin)?.placed()).map(to_usize);
        let name = self.name_of_lasting(current);
        let Some(lane) = lane else {
            let track = self.track(Of::Kind(class), true, current.event().offset())?;
            self.instant(id_of(track), name, time);
            return Ok(());
        };
        let free = self.kinds.slots_mut().get_mut(to_usize(class)).map(|kind| kind.free.replace(lane));
        if let Some(slot) = self.tracks.slots_mut().get_mut(lane) {
            (slot.open, slot.inner) = (Opened::Nothing, free.flatten());
        }
        self.wait(end_of(id_of(lane), true, name, time));
        Ok(())
    }
}
