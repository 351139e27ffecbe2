use super::packet::Packet;
use super::wire::slot::WireSlot;
use crate::bytes::to_u64;
use crate::ctf::schema::Schema;
use crate::error::Result;
use core::iter::FusedIterator;

/// The packets of a data stream, one after the other.
///
/// A packet's records may be damaged: that does not keep the next packet from being found, as its place follows from
/// the header alone.
#[derive(Clone, Debug)]
pub struct Packets<'a, 's> {
    schema: &'s Schema<'a, 's>,
    data: &'a [u8],
    /// The offset of the next packet.
    offset: u64,
    number: u64,
    /// The bit at which the last packet could not be read.
    fault: Option<u64>,
    /// The rest of a track's slots, for a track of a capture.
    track: Option<&'s [WireSlot]>,
}

impl<'a, 's> Packets<'a, 's> {
    /// The packets of a stream that lies in `data`.
    pub const fn new(data: &'a [u8], schema: &'s Schema<'a, 's>) -> Self {
        Self::from_packet(data, schema, 0, 0)
    }

    /// As [`Self::new`], from the packet that begins at `offset` and is number `number`.
    pub const fn from_packet(data: &'a [u8], schema: &'s Schema<'a, 's>, offset: u64, number: u64) -> Self {
        Self { schema, data, offset, number, fault: None, track: None }
    }

    /// The packets of a track of a [capture](super::wire::Capture) of `data`, or of some slots of it, in the order that
    /// was found for them.
    pub fn of_track(data: &'a [u8], schema: &'s Schema<'a, 's>, track: &'s [WireSlot]) -> Self {
        let offset = track.first().map_or(0, WireSlot::offset);
        Self { schema, data, offset, number: 0, fault: None, track: Some(track) }
    }

    /// True if they are described by this schema.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    pub(crate) fn is_of(&self, schema: &Schema<'_, '_>) -> bool {
        core::ptr::eq(self.schema.nodes.0, schema.nodes.0)
    }

    /// The next packets alone: so many, which end at an offset; all to the end if none is given.
    pub(super) fn first(&self, count: u64, end: Option<u64>) -> Self {
        let Some(end) = end.and_then(|end| usize::try_from(end).ok()) else { return self.clone() };
        let slots = usize::try_from(count).unwrap_or(usize::MAX);
        match self.track {
            Some(track) => Self { track: Some(track.get(..slots).unwrap_or(track)), ..self.clone() },
            None => Self { data: self.data.get(..end).unwrap_or(self.data), ..self.clone() },
        }
    }

    /// Tells all classes of event records that they may have, with numbers from `base` on.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    pub(crate) fn each_class(&self, base: u32, each: &mut dyn FnMut(&dyn crate::record::Class)) {
        super::class::each_class(self.schema, base, each);
    }

    /// Offset of the packet that is read next; after an error, of that with the fault.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// After an error, the first bit from the start of the stream that could not be read.
    pub const fn fault_bit(&self) -> Option<u64> {
        self.fault
    }

    /// The header and the context of the next packet; `None` at the end and after an error.
    ///
    /// # Errors
    ///
    /// | kind | element |
    /// |---|---|
    /// | `UnexpectedEnd` | `PACKET_HEADER`, `PACKET_CONTEXT`: the stream ends; it may still grow |
    /// | `BadMagic` | `MAGIC` |
    /// | `UuidMismatch` | `UUID` |
    /// | `NoSuchClass` | `STREAM_CLASS_ID` |
    /// | `NotMultiple` | `TOTAL_LENGTH`: no whole bytes |
    /// | `OverLimit` | `CONTENT_LENGTH`: more than the total length |
    /// | `UnderLimit` | `TOTAL_LENGTH`, `CONTENT_LENGTH`: less than header and context |
    /// | `ByteOrderChanged`, `NoSuchOption`, `IntegerTooWide`, `OverLimit` | a field |
    pub fn next_packet(&mut self) -> Result<Option<Packet<'a, 's>>> {
        if let Some(track) = self.track {
            return self.next_of_track(track);
        }
        let data = usize::try_from(self.offset).ok().and_then(|offset| self.data.get(offset..));
        let (Some(data), None) = (data.filter(|data| !data.is_empty()), self.fault) else { return Ok(None) };
        let mut at = 0;
        match Packet::read_with(self.schema, data, self.offset, self.number, 0, true, &mut at) {
            Ok(packet) => {
                self.offset = self.offset.saturating_add(packet.total / 8).min(to_u64(self.data.len()));
                self.number = self.number.saturating_add(1);
                Ok(Some(packet))
            }
            Err(error) => {
                self.fault = Some(self.offset.saturating_mul(8).saturating_add(at));
                Err(error)
            }
        }
    }
}

impl<'a, 's> Packets<'a, 's> {
    #[cold]
    #[inline(never)]
    fn next_of_track(&mut self, track: &'s [WireSlot]) -> Result<Option<Packet<'a, 's>>> {
        let Some((slot, rest)) = track.split_first() else { return Ok(None) };
        self.track = Some(rest);
        let packet = Packet::of_slot(self.schema, self.data, slot);
        if packet.is_err() {
            self.track = rest.get(rest.len()..);
            self.fault = Some(slot.offset().saturating_mul(8));
            return packet.map(Some);
        }
        self.offset = rest.first().map_or(slot.end(), WireSlot::offset);
        packet.map(Some)
    }
}

impl<'a, 's> Iterator for Packets<'a, 's> {
    type Item = Result<Packet<'a, 's>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_packet().transpose()
    }
}

impl FusedIterator for Packets<'_, '_> {}
