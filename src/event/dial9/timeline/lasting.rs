//! Slices that one event tells of: on tracks of its class, of which each has one open at a time.

use super::Timeline;
use crate::bytes::to_usize;
use crate::dial9::Value;
use crate::dial9::tell::Pools as _;
use crate::error::Result;
use crate::event::dial9::moment::Moment;
use crate::event::dial9::tracks::{Of, Opened, id_of};
use crate::event::dial9::waiting::end_of;
use crate::event::event::Flows;
use crate::event::label::Label;

impl<'a> Timeline<'a, '_> {
    /// The place of a moment that is there.
    fn place_of(&self, wanted: &Moment) -> Option<usize> {
        let moments = self.moments.slots();
        let at = moments.partition_point(|moment| moment.key() < wanted.key());
        moments.get(at).is_some_and(|found| found.key() == wanted.key()).then_some(at)
    }

    /// The name of an event that lasts.
    fn name_of_lasting(&self, moment: &Moment) -> Label<'a> {
        let Some((event, kind, pools)) = self.event(moment) else { return Label::Text("") };
        let text = match kind.lasts.name(&event) {
            Some(Value::PooledString(id)) => pools.string(id),
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        text.map_or(Label::Text(event.name()), Label::of)
    }

    /// Begins the slice of which the event of a later moment tells.
    pub(super) fn lasting_begins(&mut self, of: usize, moment: &Moment, offset: u64) -> Result<()> {
        let class = moment.class();
        let free = self.kinds.slots().get(to_usize(class)).and_then(|kind| kind.free);
        self.track(Of::Kind(class), true, offset)?;
        let lane = match free {
            Some(free) => free,
            None => {
                let number = u32::try_from(self.tracks.len).unwrap_or(u32::MAX);
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
        let name = self.name_of_lasting(moment);
        self.begin(id_of(lane), name, Flows::NONE, of, moment.time);
        self.placing = Some((of, lane));
        Ok(())
    }

    /// Notes on which track that is, once the item of the moment was handed out.
    pub(super) fn place(&mut self) {
        if let Some((of, lane)) = self.placing.take()
            && let Some(slot) = self.moments.slots_mut().get_mut(of)
        {
            slot.place(lane);
        }
    }

    /// Ends the slice of which the event of this moment tells; if it was not seen to begin, it has happened.
    pub(super) fn lasting_ends(&mut self, of: usize, moment: &Moment, offset: u64) -> Result<()> {
        let Some((event, kind, _)) = self.event(moment) else { return Ok(()) };
        let start = kind.lasts.start(&event, &kind.counters, moment.time);
        let begin = start.and_then(|start| self.place_of(&moment.begin(start)));
        let lane = begin.and_then(|begin| self.moments.slots().get(begin)?.placed()).map(to_usize);
        let name = self.name_of_lasting(moment);
        let Some(lane) = lane else {
            let track = self.track(Of::Kind(moment.class()), true, offset)?;
            self.instant(id_of(track), name, of, moment.time);
            return Ok(());
        };
        let free =
            self.kinds.slots_mut().get_mut(to_usize(moment.class())).map(|kind| kind.free.replace(lane));
        if let Some(slot) = self.tracks.slots_mut().get_mut(lane) {
            (slot.open, slot.inner) = (Opened::Nothing, free.flatten());
        }
        self.wait(end_of(id_of(lane), Some(of), name, moment.time));
        Ok(())
    }
}
