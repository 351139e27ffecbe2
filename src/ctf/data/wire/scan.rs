//! Packets and gaps, found in the bytes of a capture.

use super::content::{Content, Walk};
use super::kind::WireKind;
use super::layout::{Layout, time_bits};
use super::race::Race;
use super::slot::{Owner, WireSlot};
use crate::bytes::to_u64;
use crate::ctf::data::bits::bits_of;
use crate::ctf::data::packet::Packet;
use crate::ctf::schema::Schema;
use crate::ctf::schema::scope::{Scope, root_of};
use crate::error::ErrorKind;

/// The most bytes from a header's first byte to its end.
const HEADER_MAX: usize = 4096;
/// The most bytes to the end of the first record, which confirms a header that the search found.
const CONFIRM_MAX: u64 = 4096;
/// The number of bytes of records that may be read for that: so many for each byte of the capture so far, and so many
/// more.
const CONFIRM_PER_BYTE: u64 = 16;
/// A step of the clock that no record makes.
const LEAP: u64 = 1 << 40;
/// Of growing bytes: how long a packet may claim to be before one that begins within it is believed instead.
const AWAIT_MAX: u64 = 1 << 16;

/// Packets and gaps of a capture, in the order of its bytes: each byte is in one of them.
///
/// A packet begins where the magic number, the UUID, the stream class, the sizes and the times of a header agree. It is
/// whole if the next one begins where it ends. It is so, too, if all of its records can be true and nothing begins
/// within it, and if it ends in one fill or the next one is a multiple of its length away, as in a ring.
///
/// Without a magic number nothing can be found again: the first record that cannot be true ends the reading. Without
/// sizes a packet ends where, after a record, the header of another one stands.
///
/// # Examples
/// ```
/// use traceglass::ctf::data::wire::Scan;
/// # use traceglass::ctf::schema::Schema;
/// /// How many bytes are in no packet.
/// fn lost(data: &[u8], schema: &Schema<'_, '_>) -> u64 {
///     Scan::new(data, schema).filter(|found| found.is_damage()).map(|found| found.len()).sum()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Scan<'a, 's> {
    data: &'a [u8],
    schema: &'s Schema<'a, 's>,
    layout: Layout,
    mark: ScanMark,
    /// More bytes may be added to them.
    is_growing: bool,
    /// More bytes could change what was found last.
    needs_more: bool,
    /// The number of bytes that were looked at in all.
    work: u64,
}

/// The position of a [`Scan`] of growing bytes.
#[derive(Clone, Debug, Default)]
pub struct ScanMark {
    at: usize,
    /// Nothing tells where another packet begins.
    is_lost: bool,
    race: Race,
    /// The number of bytes of records that were read to confirm headers.
    confirmed: u64,
}

impl ScanMark {
    /// The beginning, after as many bytes that are none of the trace's.
    pub fn after(count: u64) -> Self {
        Self { at: usize::try_from(count).unwrap_or(usize::MAX), ..Self::default() }
    }
}

/// The packet or other bytes at an offset.
#[allow(clippy::large_enum_variant)] // It is looked at where it is made.
enum Found<'a, 's> {
    Packet(Packet<'a, 's>),
    Torn,
    Foreign,
    Nothing,
}

impl<'a, 's> Scan<'a, 's> {
    /// The packets and gaps of a capture that lies in `data`.
    pub fn new(data: &'a [u8], schema: &'s Schema<'a, 's>) -> Self {
        Self::from_mark(data, schema, ScanMark::default())
    }

    /// Goes on from where another scan was in the same bytes, or in fewer of them.
    pub fn from_mark(data: &'a [u8], schema: &'s Schema<'a, 's>, mark: ScanMark) -> Self {
        let layout = Layout::of(schema);
        Self { data, schema, layout, mark, is_growing: false, needs_more: false, work: 0 }
    }

    /// Ends before the first packet or gap that more bytes could change: they may still come.
    ///
    /// A packet that claims more than 64 KiB is not waited for if another one begins within what is there of it.
    pub fn growing(mut self) -> Self {
        self.is_growing = true;
        self
    }

    /// The position that it has reached.
    pub fn mark(&self) -> ScanMark {
        self.mark.clone()
    }

    /// As [`Self::new`], after as many bytes that are none of the trace's.
    pub fn skip_bytes(mut self, count: u64) -> Self {
        self.mark = ScanMark::after(count);
        self
    }

    /// The capture.
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The number of bytes that were looked at, those that were looked at again included: linear in the size of the
    /// capture.
    pub const fn work(&self) -> u64 {
        self.work
    }

    /// The next packet or gap; `None` at the end, and before what more bytes could change.
    pub fn next_slot(&mut self) -> Option<WireSlot> {
        if self.needs_more {
            return None;
        }
        let before = self.is_growing.then(|| self.mark.clone());
        let slot = self.find();
        match before {
            Some(before) if self.needs_more => {
                self.mark = before;
                None
            }
            _ => {
                self.needs_more = false;
                slot
            }
        }
    }

    fn find(&mut self) -> Option<WireSlot> {
        let start = self.mark.at;
        if start >= self.data.len() {
            return None;
        }
        let found = if self.mark.is_lost { Found::Nothing } else { self.header(start) };
        let mut slot = match found {
            Found::Packet(packet) if !self.layout.has_sizes => self.unsized_packet(packet),
            Found::Packet(packet) => self.packet(packet),
            other => self.gap(start, &other),
        };
        // Each step goes forward.
        let end = usize::try_from(slot.end()).unwrap_or(usize::MAX);
        self.mark.at = end.max(start.saturating_add(1)).min(self.data.len());
        self.mark.is_lost |= self.layout.magic.is_none() && !self.layout.has_sizes && !self.mark.race.is_on;
        slot.is_last = slot.kind == WireKind::Fill && self.mark.at >= self.data.len();
        Some(slot)
    }

    /// The header at an offset, if its parts agree.
    fn header(&mut self, at: usize) -> Found<'a, 's> {
        let Some(data) = self.data.get(at..).filter(|data| !data.is_empty()) else {
            self.needs_more = true;
            return Found::Nothing;
        };
        let near = data.get(..HEADER_MAX).unwrap_or(data);
        let mut bits = 0;
        let read = Packet::read_as_stated(self.schema, near, to_u64(at), 0, 0, &mut bits);
        self.work = self.work.saturating_add(bits / 8);
        let mut packet = match read {
            Ok(packet) => packet,
            Err(error) if matches!(error.kind(), ErrorKind::UuidMismatch { .. }) => return Found::Foreign,
            Err(error) => {
                self.needs_more |= error.is_truncation() && near.len() == data.len();
                return Found::Nothing;
            }
        };
        packet.window.data = data;
        if !packet.is_closed() {
            packet.forget_end();
        }
        if !self.layout.has_sizes {
            packet.bound(to_u64(data.len()), u64::MAX);
            packet.window.is_cut = self.is_growing;
            return Found::Packet(packet);
        }
        let (total, content) = (packet.total_bits(), packet.content_bits());
        let is_size = total % 8 == 0 && packet.header_bits() <= total && content <= total;
        if !is_size || (packet.is_closed() && content < packet.header_bits()) {
            return Found::Nothing;
        }
        let is_back = packet.begin().zip(packet.end()).is_some_and(|(begin, end)| begin > end);
        if is_back {
            return Found::Torn;
        }
        Found::Packet(packet)
    }

    fn is_header(&mut self, at: usize) -> bool {
        matches!(self.header(at), Found::Packet(_))
    }

    /// True if a packet ends there: another one begins, or the capture ends.
    fn is_end(&mut self, end: u64) -> bool {
        let len = to_u64(self.data.len());
        self.needs_more |= end >= len;
        end == len || (end < len && usize::try_from(end).is_ok_and(|end| self.is_header(end)))
    }

    /// The packet whose header stands at the offset that has been reached, and which says how long it is.
    fn packet(&mut self, mut packet: Packet<'a, 's>) -> WireSlot {
        let size = to_u64(self.data.len());
        let (start, end, stated) = (packet.offset(), packet.end_offset(), packet.content_bits());
        let is_open = !packet.is_closed();
        let mut is_framed = self.is_end(end);
        // If more bytes are to come, the packet is looked at as if it were something else.
        let is_awaited = self.is_growing && self.needs_more;
        if is_awaited {
            (is_framed, self.needs_more) = (false, false);
        }
        let begun = self.mark.at.saturating_add(1);
        let within = match is_framed || self.layout.magic.is_none() {
            true => None,
            false => self.search(begun, usize::try_from(end.min(size)).unwrap_or(usize::MAX)),
        };
        if is_awaited {
            let is_long = end.saturating_sub(start) > AWAIT_MAX;
            self.needs_more |= if end > size { within.is_none() || !is_long } else { within.is_some() };
        }
        let end = within.map_or(end.min(size), to_u64);
        let len = end.saturating_sub(start);
        let is_cut = within.is_none() && packet.end_offset() > size;
        packet.bound(len, if is_open { u64::MAX } else { stated });
        let content = self.walk(&packet);
        let is_right = content.cause.is_none() && !is_open && !is_cut;
        let is_there = is_framed
            || (is_right && self.is_filled(&packet))
            || (!is_open && !is_cut && self.is_slot(&packet));
        let kind = match () {
            () if is_open => WireKind::Open,
            () if is_cut => WireKind::Cut,
            () if is_right && is_there && within.is_none() => WireKind::Packet,
            () => WireKind::Damaged,
        };
        // Its total length is wrong, or bytes of it have changed: none is missing. In fill there is no sign of that.
        let in_fill = !is_there && within.is_none() && fill_at(&packet, &content) == WireKind::Fill;
        let is_certain = kind == WireKind::Damaged && (is_there || in_fill);
        let certain = if is_certain { before_fill(&packet, &content) } else { 0 };
        let kind = if kind == WireKind::Packet && content.records == 0 { WireKind::Empty } else { kind };
        WireSlot { certain, in_fill, ..self.slot(kind, &packet, len, &content) }
    }

    /// The packet at the offset that has been reached, which ends where another one begins.
    fn unsized_packet(&mut self, packet: Packet<'a, 's>) -> WireSlot {
        let start = packet.offset();
        let mut walk = Walk::new(&packet);
        let mut is_right = true;
        let bits = if self.layout.is_bare { time_bits(self.schema, packet.event_header) } else { 0 };
        if bits == 64 {
            walk.content.last = self.mark.race.last();
        }
        self.mark.race.is_on = false;
        let end = loop {
            let Content { end, last, .. } = walk.content;
            let at = start.saturating_add(end.div_ceil(8));
            let place = usize::try_from(at).unwrap_or(usize::MAX);
            let is_begin = end.is_multiple_of(8) && at > start && self.is_magic(place);
            if is_begin && self.layout.has_uuid && self.is_header(place) {
                break at;
            }
            let here = is_begin.then(|| walk.clone());
            let before = walk.content;
            let is_record = walk.step();
            if end.is_multiple_of(8) && Race::is_step_back(last, walk.content.last, bits) {
                (walk.content, self.mark.race.is_on) = (before, true);
                break at;
            }
            let is_leap = last.zip(walk.content.last).is_some_and(|(a, b)| b.saturating_sub(a) > LEAP);
            if let (Some(here), true) = (here, !is_record || is_leap)
                && self.is_header(place)
            {
                walk = here;
                break at;
            }
            if !is_record {
                is_right = walk.content.cause.is_none();
                if self.is_growing && walk.content.cause.is_none_or(|cause| cause.is_truncation()) {
                    // Without packets, those that come later go on from here.
                    is_right = true;
                    self.mark.race.is_on = self.layout.is_bare && at > start && end.is_multiple_of(8);
                    self.needs_more |= !self.mark.race.is_on;
                }
                break at;
            }
        };
        if end == start {
            self.mark.is_lost = true;
            return self.gap(self.mark.at, &Found::Nothing);
        }
        let content = Content { cause: None, ..walk.content };
        self.work = self.work.saturating_add(content.end / 8);
        if is_right || self.layout.magic.is_none() {
            // The rest cannot be told from records: it is a gap of its own.
            let slot = self.slot(WireKind::Packet, &packet, end.saturating_sub(start), &content);
            return if bits > 0 { self.mark.race.run(slot, bits) } else { slot };
        }
        let end = usize::try_from(end).unwrap_or(usize::MAX).max(self.mark.at.saturating_add(1));
        let next = self.search(end, self.data.len());
        self.needs_more |= next.is_none();
        let end = next.unwrap_or(self.data.len());
        self.slot(WireKind::Damaged, &packet, to_u64(end).saturating_sub(start), &content)
    }

    /// The records of a packet that can be true.
    fn walk(&mut self, packet: &Packet<'a, 's>) -> Content {
        let content = Walk::new(packet).finish();
        self.work = self.work.saturating_add(content.end / 8);
        content
    }

    /// True if there is nothing but one byte, again and again, between a packet's content and its end.
    fn is_filled(&self, packet: &Packet<'a, 's>) -> bool {
        let content = usize::try_from(packet.content_bits().div_ceil(8)).unwrap_or(usize::MAX);
        let padding = packet.window.data.get(content..).unwrap_or_default();
        padding.split_first().is_none_or(|(first, rest)| rest.iter().all(|byte| byte == first))
    }

    /// True if the next packet is as long, and as many of its lengths away: then no byte of a ring's slot is missing,
    /// though what is in the slots between is none.
    fn is_slot(&mut self, packet: &Packet<'a, 's>) -> bool {
        let (start, end, size) = (packet.offset(), packet.end_offset(), to_u64(self.data.len()));
        let next = usize::try_from(end).ok().and_then(|end| self.search(end, self.data.len()));
        self.needs_more |= next.is_none();
        let is_like = next.is_none_or(|next| match self.header(next) {
            Found::Packet(next) => {
                next.end_offset().saturating_sub(next.offset()) == end.saturating_sub(start)
            }
            _ => false,
        });
        let away = next.map_or(size, to_u64).saturating_sub(start);
        is_like && away.is_multiple_of(end.saturating_sub(start).max(1))
    }

    /// The gap from an offset at which there is no packet to the next packet.
    fn gap(&mut self, start: usize, found: &Found<'a, 's>) -> WireSlot {
        let size = self.data.len();
        let next = self.search(start.saturating_add(1), size);
        self.needs_more |= next.is_none();
        let end = next.unwrap_or(size);
        let mut bytes = self.data.get(start..end).unwrap_or_default();
        let mut kind = match found {
            Found::Torn => WireKind::Torn,
            Found::Foreign => WireKind::Foreign,
            _ => WireKind::of(bytes),
        };
        // Erased bytes are told apart from those before them.
        if let (WireKind::Bytes | WireKind::Text, Some(last), true) = (kind, bytes.last(), end == size) {
            let filled = bytes.iter().rev().take_while(|byte| *byte == last).count();
            if matches!(last, 0 | 0xff) && filled >= FILL_MIN {
                bytes = bytes.get(..bytes.len().saturating_sub(filled)).unwrap_or_default();
                kind = WireKind::of(bytes);
            }
        }
        self.work = self.work.saturating_add(to_u64(bytes.len()));
        WireSlot { kind, offset: to_u64(start), len: to_u64(bytes.len()), ..WireSlot::EMPTY }
    }

    fn is_magic(&mut self, at: usize) -> bool {
        let Some(magic) = &self.layout.magic else { return false };
        let data = self.data.get(at..).unwrap_or_default();
        self.needs_more |= data.len() < magic.len() && magic.starts_with(data);
        data.starts_with(magic)
    }

    /// The first offset in a range at which a packet begins: a header of which all parts agree, and after which another
    /// one follows, or one of its own records.
    fn search(&mut self, start: usize, end: usize) -> Option<usize> {
        let magic = self.layout.magic?;
        let mut at = start;
        while at < end {
            let rest = self.data.get(at..end)?;
            let Some(ahead) = memchr::memchr(magic[0], rest) else {
                self.work = self.work.saturating_add(to_u64(rest.len()));
                return None;
            };
            self.work = self.work.saturating_add(to_u64(ahead).saturating_add(1));
            at = at.saturating_add(ahead);
            if self.is_magic(at)
                && let Found::Packet(packet) = self.header(at)
                && self.is_confirmed(packet)
            {
                return Some(at);
            }
            at = at.saturating_add(1);
        }
        None
    }

    /// True if a header to which the search has led is that of a packet.
    fn is_confirmed(&mut self, mut packet: Packet<'a, 's>) -> bool {
        let known = self.needs_more;
        if self.layout.has_sizes
            && self.is_end(packet.end_offset())
            && (self.needs_more == known || !self.is_growing)
        {
            return true;
        }
        let limit = CONFIRM_PER_BYTE.saturating_mul(packet.offset()).saturating_add(1 << 16);
        if self.mark.confirmed > limit {
            return false;
        }
        let room = packet.header_bits() / 8;
        let len = packet.end_offset().saturating_sub(packet.offset()).min(room.saturating_add(CONFIRM_MAX));
        let stated = if packet.is_closed() { packet.content_bits() } else { u64::MAX };
        packet.bound(len, stated);
        let mut walk = Walk::new(&packet);
        let is_record = walk.step();
        if is_record {
            // The bytes after it do not matter.
            self.needs_more = known;
        } else {
            let is_far = packet.end_offset().saturating_sub(packet.offset()) > AWAIT_MAX;
            let end = packet.offset().saturating_add(len);
            self.needs_more = (self.needs_more && !is_far) || known || end > to_u64(self.data.len());
        }
        let read = if is_record { walk.content.end / 8 } else { len };
        self.mark.confirmed = self.mark.confirmed.saturating_add(read);
        self.work = self.work.saturating_add(read);
        is_record
    }

    fn slot(&self, kind: WireKind, packet: &Packet<'a, 's>, len: u64, content: &Content) -> WireSlot {
        let class = packet.stream_class();
        let owner = match (packet.stream_id(), packet.cpu()) {
            (Some(id), _) => Owner { by: 1, id, class: class.index },
            (None, Some(id)) => Owner { by: 2, id, class: class.index },
            (None, None) => Owner { by: 0, id: 0, class: class.index },
        };
        let begin = packet.begin().or(content.first);
        let context = root_of(self.schema.nodes, class.index, Scope::PacketContext);
        let root = if packet.begin().is_some() { context } else { packet.event_header };
        let width = if begin.is_some() { time_bits(self.schema, root) } else { 0 };
        let begin = begin.unwrap_or(0);
        WireSlot {
            kind,
            offset: packet.offset(),
            len,
            content: content.end,
            records: content.records,
            owner,
            sequence: packet.sequence(),
            begin,
            end: packet.end().or(content.last).unwrap_or(begin),
            last: content.last.unwrap_or(begin),
            time_base: packet.info().a,
            width,
            ..WireSlot::EMPTY
        }
    }
}

/// The least number of fill bytes at the end of a capture that are reported apart.
const FILL_MIN: usize = 16;

/// The kind of the bytes from the fault to the packet's end.
fn fill_at(packet: &Packet<'_, '_>, content: &Content) -> WireKind {
    let at = usize::try_from(content.end.div_ceil(8)).unwrap_or(usize::MAX);
    WireKind::of(packet.window.data.get(at..).unwrap_or_default())
}

/// The number of records that end before the fill that follows them: what ends in it may be none of a record.
fn before_fill(packet: &Packet<'_, '_>, content: &Content) -> u64 {
    let at = usize::try_from(content.end.div_ceil(8)).unwrap_or(usize::MAX);
    let (before, after) = packet.window.data.split_at_checked(at).unwrap_or_default();
    let filled = before.iter().rev().take_while(|byte| after.first() == Some(byte)).count();
    let start = bits_of(before.len().saturating_sub(filled));
    let records = packet.records().map_while(Result::ok);
    to_u64(records.take_while(|record| record.end() <= start).count()).min(content.records)
}

impl Iterator for Scan<'_, '_> {
    type Item = WireSlot;

    fn next(&mut self) -> Option<WireSlot> {
        self.next_slot()
    }
}

impl core::iter::FusedIterator for Scan<'_, '_> {}
