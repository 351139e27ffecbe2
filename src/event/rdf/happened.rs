//! The next item of a lane, as an event.

use super::fields::{RdfData, label};
use super::lane::Happened;
use super::lane::{Content, Head, Lane};
use super::timeline::Timeline;
use super::tracks::{Key, Known, Place, Space, TrackSlot};
use crate::bytes::to_u64;
use crate::error::{Error, Result};
use crate::event::event::{EventKind, Number};
use crate::event::label::Label;
use crate::event::track::TrackKind;
use crate::gap::Gap;
use crate::rdf::Identifier;
use crate::rdf::contents::rmt::{TokenKind, TokenValue};
use crate::rdf::contents::{
    EventValue, LoadEvents, LoadFields, MarkerHistory, MarkerOp, QueueEvent, StructureRecord,
};
use crate::room::Room;

/// The number of tracks a queue has for submissions that overlap; those that find none free become instants.
const OVERLAPPING: u8 = 4;

/// The number of bytes of a string that become the name of a marker: each marker reads them again.
const NAME: usize = 1024;

/// The label of a text of which no more than [`NAME`] bytes were read: a character that was cut is left out.
fn beginning(text: &[u8]) -> Label<'_> {
    match core::str::from_utf8(text) {
        Err(error) if text.len() == NAME && error.error_len().is_none() => {
            label(text.get(..error.valid_up_to()).unwrap_or_default())
        }
        _ => label(text),
    }
}

impl<'s, T: Room<TrackSlot<'s>>, L: Room<Lane<'s>>> Timeline<'s, T, L> {
    /// The next item of the lane that is first in the heap.
    pub(super) fn happened(&mut self, at: usize) -> Result<Option<Happened<'s>>> {
        let Some(lane) = self.lanes.slots().get(at) else { return Ok(None) };
        let whole = (lane.offset, lane.len);
        let instant =
            |key, name, data, place| Happened { key: Some(key), kind: EventKind::Instant, name, data, place };
        let lost = |key, gap: Gap, position: u64| {
            let (offset, len) = lane.place(position, lane.len.saturating_sub(position));
            let cause = gap.cause();
            let at = lane.place(cause.offset(), 0).0;
            let gap = Gap::new(offset, len, Error::new(at, cause.element(), cause.kind()));
            let name = Label::Text(gap.cause().element().name());
            Happened { key, kind: EventKind::Gap(gap), name, data: RdfData::None, place: (offset, len) }
        };
        let whole_gap = |gap: Gap| Happened {
            key: None,
            kind: EventKind::Gap(gap),
            name: Label::Text(gap.cause().element().name()),
            data: RdfData::None,
            place: (gap.offset(), gap.len()),
        };
        Ok(Some(match lane.content {
            Content::None => return Ok(None),
            Content::Gap(gap) => whole_gap(gap),
            Content::Queue { event, record, on } => return self.queue(&event, record, on, whole).map(Some),
            Content::Snapshot { snapshot, record } => {
                let name = label(snapshot.name().bytes());
                let data = RdfData::Structure(record);
                instant(Key(Space::Snapshots, 0, 0), name, data, whole)
            }
            Content::Tokens { ref rest, ref head, process, stream, .. } => {
                let key = Key(Space::Memory, stream, process.into());
                match *head {
                    Head::End => return Ok(None),
                    Head::Gap(gap) => lost(Some(key), gap, gap.offset()),
                    Head::Lost(gap) => whole_gap(gap),
                    Head::Record(()) => {
                        let Some(token) = self.pieces.token(rest) else { return Ok(None) };
                        let mut name = token.kind().name().unwrap_or("token");
                        if let (TokenKind::Misc, TokenValue::Misc(event)) = (token.kind(), token.value()) {
                            name = event.name().unwrap_or(name);
                        }
                        let place = lane.place(rest.offset(), to_u64(token.bytes().len()));
                        // Its fields are read from its lane when it is handed out.
                        instant(key, Label::Text(name), RdfData::None, place)
                    }
                }
            }
            Content::Driver { ref head, provider, hz, .. } => {
                let key = Key(Space::Driver, provider, 0);
                match *head {
                    Head::End => return Ok(None),
                    Head::Gap(gap) | Head::Lost(gap) => lost(Some(key), gap, gap.offset()),
                    Head::Record(event) => {
                        let place =
                            lane.place(event.offset(), to_u64(event.payload().len()).saturating_add(4));
                        if let Err(error) = event.value() {
                            return Ok(Some(lost(
                                Some(key),
                                Gap::new(place.0, place.1, error),
                                event.offset(),
                            )));
                        }
                        return self.driver(&event, hz.unwrap_or(0), key, place).map(Some);
                    }
                }
            }
            Content::Loads { rest, version, read } => {
                let bytes = rest.get(..LoadFields::SIZE).unwrap_or_default();
                // Parsed as a chunk with this event alone.
                let events = LoadEvents::parse(version, &[1, 0, 0, 0], bytes).ok();
                let event = events.and_then(|events| events.events().next());
                let name = event.and_then(|event| event.kind().name()).unwrap_or("code object");
                let place = lane.place(read, to_u64(bytes.len()));
                let record = |id| StructureRecord::of_chunk(id, version, &[], bytes, self.cpu_hz).last();
                let record = Identifier::new("COLoadEvent").and_then(record);
                let data = record.map_or(RdfData::None, RdfData::Structure);
                instant(Key(Space::CodeObjects, 0, 0), Label::Text(name), data, place)
            }
            Content::Samples { rest, width, number, read, .. } => {
                let value = match rest {
                    [a, b, ..] if width == 2 => u16::from_le_bytes([*a, *b]).into(),
                    [a, b, c, d, ..] => u32::from_le_bytes([*a, *b, *c, *d]),
                    _ => 0,
                };
                let place = lane.place(read, width.into());
                let kind = EventKind::Counter(Number::Integer(value.into()));
                let key = Some(Key(Space::Counter, 0, number));
                Happened { key, kind, name: Label::Text("sample"), data: RdfData::None, place }
            }
            Content::Markers { rest, cmd_buffer, table, read } => {
                let place = lane.place(read, 4);
                let op = rest.get(..4).unwrap_or_default();
                return Ok(Some(self.user_marker(op, cmd_buffer, table, place)));
            }
        }))
    }

    fn queue(
        &mut self,
        event: &QueueEvent<'s>,
        record: StructureRecord<'s>,
        on: Option<u64>,
        place: (u64, u64),
    ) -> Result<Happened<'s>> {
        let (pci, queue) = (event.pci().number(), event.queue());
        let kind = event.event();
        let name = kind.name().map_or(Label::Numbered("queue event", kind.number().into()), Label::Text);
        let data = RdfData::Structure(record);
        let of = |lane: u8| Key(Space::Queue(lane), pci, queue);
        let mut happened = Happened { key: Some(of(0)), kind: EventKind::Instant, name, data, place };
        if let Some(lane) = on {
            happened.key = Some(of(u8::try_from(lane).unwrap_or(0)));
            happened.kind = EventKind::End;
            return Ok(happened);
        }
        let is_slice = event.gpu_ticks().is_some() && self.clocks(Some(pci)).is_some();
        for lane in (0..OVERLAPPING).filter(|_| is_slice) {
            let main = of(0);
            let of_main = self.tracks.track(main).copied();
            let new = Place {
                id: None,
                parent: Some(main),
                kind: TrackKind::Queue,
                label: Label::Numbered("queue", queue),
                data: of_main.map_or(RdfData::None, |place| place.data),
                open: 0,
            };
            if let Some(Known::Track(track)) = self.tracks.add(of(lane), place.0, Known::Track(new))?
                && track.open == 0
            {
                happened.key = Some(of(lane));
                happened.kind = EventKind::Begin;
                break;
            }
        }
        Ok(happened)
    }

    fn driver(
        &mut self,
        event: &crate::rdf::contents::Event<'s>,
        hz: u64,
        key: Key,
        place: (u64, u64),
    ) -> Result<Happened<'s>> {
        let name = event.kind_name().map_or(Label::Numbered("event", event.id().into()), Label::Text);
        let data = RdfData::Driver(*event, hz);
        let mut happened = Happened { key: Some(key), kind: EventKind::Instant, name, data, place };
        let cmd_buffer = match event.value() {
            Ok(EventValue::MarkerBegin { cmd_buffer, name, .. }) => {
                happened.kind = EventKind::Begin;
                happened.name = label(name);
                cmd_buffer
            }
            Ok(EventValue::MarkerEnd { cmd_buffer, .. }) => {
                happened.kind = EventKind::End;
                cmd_buffer
            }
            Ok(EventValue::MarkerInfo(info)) => info.cmd_buffer(),
            _ => return Ok(happened),
        };
        let key = Key(Space::CmdBuffer, cmd_buffer, 0);
        let new = Place {
            id: None,
            parent: None,
            kind: TrackKind::Thread,
            label: Label::Numbered("command buffer", cmd_buffer.into()),
            data: RdfData::None,
            open: 0,
        };
        self.tracks.add(key, place.0, Known::Track(new))?;
        happened.key = Some(key);
        Ok(happened)
    }

    fn user_marker(&mut self, op: &[u8], cmd_buffer: u32, table: u32, place: (u64, u64)) -> Happened<'s> {
        // Parsed as a chunk with this operation alone.
        let history = MarkerHistory::parse(1, &[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0], op).ok();
        let (op, string) = history.and_then(|history| history.ops().next()).unwrap_or((MarkerOp::Invalid, 0));
        let number = usize::try_from(string).unwrap_or(usize::MAX);
        let text = match (self.tracks.get(Key(Space::Strings, table, 0)), number.checked_sub(1)) {
            (Some(Known::Strings(strings)), Some(number)) => strings.beginning(number, NAME),
            _ => None,
        };
        let name = text.map_or(Label::Numbered("string", to_u64(number)), |text| beginning(text.bytes()));
        let kind = match op {
            MarkerOp::Push => EventKind::Begin,
            MarkerOp::Pop => EventKind::End,
            _ => EventKind::Instant,
        };
        let data = RdfData::Marker(op, string);
        Happened { key: Some(Key(Space::History, cmd_buffer, 0)), kind, name, data, place }
    }
}
