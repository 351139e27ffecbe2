//! The limit up to which a packet's records can be valid.

use crate::ctf::data::element::TIMESTAMP;
use crate::ctf::data::packet::Packet;
use crate::ctf::data::reader::Reader;
use crate::error::{Error, ErrorKind};

/// The limit up to which a packet's records can be valid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    /// The first bit after the last of them.
    pub(super) end: u64,
    pub(super) records: u64,
    /// The times of the first and the last of them.
    pub(super) first: Option<u64>,
    pub(super) last: Option<u64>,
    /// Why there are no more; `None` if they end where the content does.
    pub(super) cause: Option<Error>,
}

/// Goes from record to record of a packet, as long as they can be true.
///
/// Each has a class that the metadata knows, lies in the content, and has a time that neither falls nor lies outside of
/// the packet.
#[derive(Clone)]
pub(super) struct Walk<'p, 'a, 's> {
    packet: &'p Packet<'a, 's>,
    reader: Reader<'a, 's>,
    pub(super) content: Content,
}

impl<'p, 'a, 's> Walk<'p, 'a, 's> {
    pub(super) fn new(packet: &'p Packet<'a, 's>) -> Self {
        let content = Content { end: packet.records_at, records: 0, first: None, last: None, cause: None };
        Self { packet, reader: packet.reader(), content }
    }

    /// Goes over the next record; false if there is none, or it cannot be true.
    pub(super) fn step(&mut self) -> bool {
        let Content { end, last, .. } = self.content;
        let parts = match self.reader.next(self.packet) {
            Ok(Some(parts)) => parts,
            Ok(None) => return false,
            Err(error) => {
                self.content.cause = Some(error);
                return false;
            }
        };
        if self.packet.has_clock {
            let time = parts.clock;
            let earliest = last.or(self.packet.begin()).unwrap_or(0);
            let error = |kind| Some(self.packet.window.error(end, TIMESTAMP, kind));
            if time < earliest {
                self.content.cause = error(ErrorKind::NotAscending { previous: earliest, value: time });
                return false;
            }
            if let Some(latest) = self.packet.end().filter(|latest| time > *latest) {
                let end = latest.saturating_add(1);
                self.content.cause = error(ErrorKind::OutsideRange { start: earliest, end });
                return false;
            }
            self.content.first = self.content.first.or(Some(time));
            self.content.last = Some(time);
        }
        self.content.end = parts.end;
        self.content.records = self.content.records.saturating_add(1);
        true
    }

    /// All records that can be true.
    pub(super) fn finish(mut self) -> Content {
        while self.step() {}
        self.content
    }
}
