//! The meaning of tokio's events: what begins, ends or happens on which track.

use super::spans::Lane;
use super::{Counting, Timeline};
use crate::bytes::to_usize;
use crate::dial9::{OrderedEvent, Value};
use crate::error::Result;
use crate::event::dial9::counters::{Counters, runtime_number};
use crate::event::dial9::moment::Role;
use crate::event::dial9::said::{Meaning, Said};
use crate::event::dial9::tracks::{Found, Of, Opened, TrackSlot, id_of};
use crate::event::dial9::waiting::{Count, Name, Waiting, What, end_of};
use crate::event::element::REGISTRY;
use crate::event::event::{FlowId, Flows};
use crate::event::track::TrackId;

impl<'a> Timeline<'a, '_> {
    pub(super) fn wait(&mut self, item: Waiting<'a>) {
        if let Some(slot) = self.waiting.iter_mut().find(|slot| slot.is_none()) {
            *slot = Some(item);
        }
    }

    /// The slot of a track, new or not; a new one is announced if `told`.
    pub(super) fn track(&mut self, of: Of<'a>, told: bool, offset: u64) -> Result<usize> {
        let at = match self.roots.find_again(self.tracks.slots(), of) {
            Found::At(at) => at,
            Found::Nowhere(difference) => {
                self.tracks.push(TrackSlot::new(of), offset, REGISTRY)?;
                self.roots.insert(self.tracks.slots_mut(), of, difference);
                self.tracks.len().saturating_sub(1)
            }
        };
        if let Some(slot) = self.tracks.slots_mut().get_mut(at)
            && told
            && !core::mem::replace(&mut slot.told, true)
        {
            self.wait(Waiting::Track(at));
        }
        Ok(at)
    }

    /// Puts what begins, or nothing, in place of what is open on a track. What was open ends, if it was not said to.
    fn open(&mut self, at: usize, opened: Opened, time: u64) {
        let was = self.tracks.slots_mut().get_mut(at).map(|slot| core::mem::replace(&mut slot.open, opened));
        if was.is_some_and(|was| was != Opened::Nothing) {
            self.wait(end_of(id_of(at), false, Name::Text(""), time));
        }
    }

    /// Ends what is open on a track, if it is that; else something happened.
    fn close(&mut self, at: usize, opened: Opened, name: Name<'a>, time: u64) {
        let slot = self.tracks.slots_mut().get_mut(at).filter(|slot| slot.open == opened);
        match slot {
            Some(slot) => {
                slot.open = Opened::Nothing;
                self.wait(end_of(id_of(at), true, name, time));
            }
            None => self.instant(id_of(at), name, time),
        }
    }

    pub(super) fn instant(&mut self, track: TrackId, name: Name<'a>, time: u64) {
        let (what, ends) = (What::Instant, Flows::NONE);
        self.wait(Waiting::Event { track, what, name, starts: None, ends, is_said: true, time });
    }

    pub(super) fn begin(&mut self, track: TrackId, name: Name<'a>, ends: Flows, time: u64) {
        let what = What::Begin;
        self.wait(Waiting::Event { track, what, name, starts: None, ends, is_said: true, time });
    }

    /// Puts what comes of an event among what waits.
    pub(super) fn happened(&mut self, current: &OrderedEvent<'a>) -> Result<()> {
        let (class, time) = (current.class(), current.nanoseconds());
        let (event, offset) = (current.event(), current.event().offset());
        let kind = self.kinds.slots().get(to_usize(class));
        let (Some(kind), Some(plan)) = (kind, self.order.plan(class)) else { return Ok(()) };
        if kind.lasts.any() {
            return self.lasting_ends(current);
        }
        let pools = self.order.pools_at(current);
        let said = Said::of(event, plan, &kind.known);
        let number = |name| said.number(name);
        let text = |name| said.text(name, &pools);
        let (role, counts) = (kind.role, kind.counters.any());
        let name = Name::Text(kind.name);
        let (worker, task, tid) = (number(Meaning::Worker), number(Meaning::Task), number(Meaning::Thread));
        let place = text(Meaning::SpawnLocation).map(Name::of);
        match (role, worker, task, tid) {
            (Role::PollStart, Some(worker), Some(task), _) => {
                let worker = self.track(Of::Worker(worker), true, offset)?;
                let task = self.track(Of::Task(task), true, offset)?;
                self.open(worker, Opened::Poll, time);
                let ends = self.tracks.slots_mut().get_mut(task).map_or(Flows::NONE, |slot| {
                    let ended = core::mem::replace(&mut slot.ended, slot.flows);
                    Flows::new(id_of(task), ended, slot.flows)
                });
                self.begin(id_of(worker), place.unwrap_or(name), ends, time);
            }
            (Role::PollEnd, Some(worker), ..) => {
                let worker = self.track(Of::Worker(worker), true, offset)?;
                self.close(worker, Opened::Poll, name, time);
            }
            (Role::Park | Role::Unpark, Some(worker), _, tid) => {
                let worker = self.track(Of::Worker(worker), true, offset)?;
                if let Some(tid) = tid {
                    let thread = self.track(Of::Thread(tid), false, offset)?;
                    if let Some(slot) = self.tracks.slots_mut().get_mut(thread) {
                        slot.worker = Some(worker);
                    }
                }
                if role == Role::Park {
                    self.open(worker, Opened::Park, time);
                    self.begin(id_of(worker), Name::Text("parked"), Flows::NONE, time);
                } else {
                    // Who wakes up polls nothing: that end was lost.
                    if self.tracks.slots().get(worker).is_some_and(|slot| slot.open == Opened::Poll) {
                        self.open(worker, Opened::Nothing, time);
                    }
                    self.close(worker, Opened::Park, name, time);
                }
            }
            (Role::Wake, ..) => {
                let woken = number(Meaning::WokenTask).unwrap_or_default();
                let woken = self.track(Of::Task(woken), true, offset)?;
                // The worker that issued it; 255 is none.
                let track = match number(Meaning::TargetWorker).filter(|worker| *worker < 255) {
                    Some(worker) => self.track(Of::Worker(worker), true, offset)?,
                    None => woken,
                };
                let starts = self.tracks.slots_mut().get_mut(woken).map(|slot| {
                    let number = slot.flows;
                    slot.flows = number.saturating_add(1);
                    FlowId::new(id_of(woken), number)
                });
                let (track, what, name) = (id_of(track), What::Instant, Name::Text("wake"));
                let (ends, is_said) = (Flows::NONE, true);
                self.wait(Waiting::Event { track, what, name, starts, ends, is_said, time });
            }
            (Role::Spawn, _, Some(task), _) => {
                let task = self.track(Of::Task(task), true, offset)?;
                self.open(task, Opened::Life, time);
                let name = match place {
                    Some(Name::Text(place)) => Name::Task(place),
                    place => place.unwrap_or(name),
                };
                self.begin(id_of(task), name, Flows::NONE, time);
            }
            (Role::Terminate, _, Some(task), _) => {
                let task = self.track(Of::Task(task), true, offset)?;
                self.close(task, Opened::Life, name, time);
            }
            (Role::Dump, _, Some(task), _) => {
                let task = self.track(Of::Task(task), true, offset)?;
                self.instant(id_of(task), name, time);
            }
            (Role::Sample, _, _, Some(tid)) => {
                let thread = self.track(Of::Thread(tid), false, offset)?;
                let track = match self.tracks.slots().get(thread).and_then(|slot| slot.worker) {
                    Some(worker) => worker,
                    None => self.track(Of::Thread(tid), true, offset)?,
                };
                self.instant(id_of(track), name, time);
            }
            (Role::Symbol, ..) => {}
            (Role::Metrics, ..) => {
                let runtime = self.track(Of::Runtime(pools.runtime_of(event)), true, offset)?;
                self.counting = Some(Counting { parent: runtime, field: 0 });
            }
            (Role::SpanEnter | Role::SpanExit, ..) => {
                let Some(span) = number(Meaning::Span) else {
                    let track = self.track(Of::Kind(class), true, offset)?;
                    self.instant(id_of(track), name, time);
                    return Ok(());
                };
                let named = text(Meaning::SpanName).map_or(name, Name::of);
                let lane = Lane { span, task: number(Meaning::TaskOfSpan), name: named };
                if role == Role::SpanEnter {
                    self.enter(&lane, time, offset)?;
                } else {
                    self.exit(&lane, time, offset)?;
                }
            }
            (Role::Other, ..) if counts => {
                let parent = self.track(Of::Kind(class), true, offset)?;
                self.counting = Some(Counting { parent, field: 0 });
            }
            _ => {
                let track = self.track(Of::Kind(class), true, offset)?;
                self.instant(id_of(track), name, time);
            }
        }
        Ok(())
    }

    /// Puts the next number of an event that counts among what waits, if there is one left.
    pub(super) fn count(&mut self, counting: Counting) -> Result<()> {
        let Some(current) = self.current else { return Ok(()) };
        let Some(kind) = self.kinds.slots().get(to_usize(current.class())) else { return Ok(()) };
        let (event, time) = (current.event(), current.nanoseconds());
        let fields = (0_u16..).zip(event.fields()).take(Counters::MOST).skip(counting.field.into());
        let counted = fields.filter(|(place, _)| kind.counters.has(*place));
        let mut numbers = counted.filter_map(|(place, field)| {
            let number = match field.value()? {
                Value::I64(value) => Count::Signed(value),
                Value::F64(value) => Count::Float(value),
                value => Count::Unsigned(value.unsigned()?),
            };
            Some((place, field.name(), number))
        });
        let Some((place, name, number)) = numbers.next() else {
            // An event without any of its numbers has happened all the same.
            if counting.field == 0 {
                self.instant(id_of(counting.parent), Name::Text(event.name()), time);
            }
            return Ok(());
        };
        // A runtime's numbers are the same in all segments, wherever their schemas have them.
        let at = if kind.role == Role::Metrics { runtime_number(name).unwrap_or(place) } else { place };
        self.counting = Some(Counting { field: place.saturating_add(1), ..counting });
        let parent = u32::try_from(counting.parent).unwrap_or(u32::MAX);
        let track = self.track(Of::Counter(parent, at), true, event.offset())?;
        let (what, name) = (What::Counter(number), Name::Text(name));
        let (track, starts, ends, is_said) = (id_of(track), None, Flows::NONE, true);
        self.wait(Waiting::Event { track, what, name, starts, ends, is_said, time });
        Ok(())
    }
}
