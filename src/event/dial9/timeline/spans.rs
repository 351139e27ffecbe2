//! Spans: each time that a task is in one is a slice, those of a task one within the other.

use super::Timeline;
use crate::error::Result;
use crate::event::dial9::tracks::{Of, Opened, id_of};
use crate::event::dial9::waiting::{Name, end_of};
use crate::event::event::Flows;

/// The fields that say that a span was entered or left.
pub(super) struct Lane<'a> {
    pub(super) span: u64,
    pub(super) task: Option<u64>,
    pub(super) name: Name<'a>,
}

impl<'a> Timeline<'a, '_> {
    /// The track of the spans of a task; outside of tasks, of the span alone, since nothing says which thread it was.
    fn lane(&mut self, said: &Lane<'a>, offset: u64) -> Result<usize> {
        let Some(task) = said.task else { return self.track(Of::Span(said.span), true, offset) };
        self.track(Of::Task(task), true, offset)?;
        self.track(Of::TaskSpans(task), true, offset)
    }

    /// A span is entered. One that is entered twice is still entered once.
    pub(super) fn enter(&mut self, said: &Lane<'a>, time: u64, offset: u64) -> Result<()> {
        let lane = self.lane(said, offset)?;
        let span = self.track(Of::Entered(said.span), false, offset)?;
        let around = self.tracks.slots().get(lane).and_then(|lane| lane.inner);
        let slot = self.tracks.slots_mut().get_mut(span).filter(|slot| slot.open == Opened::Nothing);
        let Some(slot) = slot else {
            self.instant(id_of(lane), said.name, time);
            return Ok(());
        };
        (slot.open, slot.of_lane, slot.inner) = (Opened::Span, Some(lane), around);
        if let Some(lane) = self.tracks.slots_mut().get_mut(lane) {
            lane.inner = Some(span);
        }
        self.begin(id_of(lane), said.name, Flows::NONE, time);
        Ok(())
    }

    /// A span is left. What was entered in it and not left ends with it: one at a time, and then the event is read
    /// again.
    pub(super) fn exit(&mut self, said: &Lane<'a>, time: u64, offset: u64) -> Result<()> {
        let span = self.track(Of::Entered(said.span), false, offset)?;
        let entered = self.tracks.slots().get(span).filter(|slot| slot.open == Opened::Span);
        let Some(lane) = entered.and_then(|slot| slot.of_lane) else {
            let lane = self.lane(said, offset)?;
            self.instant(id_of(lane), said.name, time);
            return Ok(());
        };
        let inner = self.tracks.slots().get(lane).and_then(|lane| lane.inner).unwrap_or(span);
        let Some(slot) = self.tracks.slots_mut().get_mut(inner) else { return Ok(()) };
        slot.open = Opened::Nothing;
        let around = slot.inner.take();
        if let Some(lane) = self.tracks.slots_mut().get_mut(lane) {
            lane.inner = around;
        }
        if inner == span {
            self.wait(end_of(id_of(lane), true, said.name, time));
        } else {
            self.wait(end_of(id_of(lane), false, Name::Text(""), time));
            self.is_again = true;
        }
        Ok(())
    }
}
