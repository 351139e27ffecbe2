//! Packets with some of their records: these move, and what frames them is made new.

use super::bits::load;
use super::cursor::Cursor;
use super::extent::aligned;
use super::meaning::Meaning;
use super::packet::Packet;
use super::record::Record;
use super::write::Patches;
use crate::bytes::to_u64;
use crate::ctf::schema::node::{BIG, Kind, NONE, Node};
use crate::ctf::schema::scope::{Scope, root_of};
use crate::error::Result;
use core::convert::Infallible;
use core::fmt;

/// A packet with some of its records alone, to be written.
///
/// Header and context are unchanged, except for the fields that hold lengths and times. Records have the bytes that
/// they had. Between their fields is as much padding as alignment needs where they lie now.
#[derive(Clone)]
pub struct Reframed<'p, 'a, 's, F> {
    packet: &'p Packet<'a, 's>,
    keep: F,
    patches: Patches,
    content: u64,
    times: Option<(u64, u64)>,
}

impl<'a, 's> Packet<'a, 's> {
    /// The packet with the records that `keep` is true of, and without padding. `keep` must always say the same of one.
    ///
    /// The packet begins and ends with its first and its last time, or as before where its context has no room for
    /// these. Counters and sequence numbers stay. What follows a record that cannot be read is left out. `None` if this
    /// cannot be: lengths are no integers of whole bytes, the packet ends where its stream does and its records in the
    /// middle of a byte, the time of a record could not be told from its lower bits any more, or byte orders would meet
    /// within a byte.
    ///
    /// # Examples
    /// ```
    /// # use traceglass::ctf::data::Packet;
    /// /// The bytes of a packet with its records from a time on.
    /// fn from(packet: &Packet<'_, '_>, begin: u64) -> traceglass::Result<Option<Vec<u8>>> {
    ///     let reframed = packet.with_records(|record| record.cycles().is_some_and(|time| time >= begin))?;
    ///     Ok(reframed.map(|reframed| {
    ///         let mut bytes = Vec::new();
    ///         let Ok(()) = reframed.write(&mut |more: &[u8]| {
    ///             bytes.extend_from_slice(more);
    ///             Ok::<_, std::convert::Infallible>(())
    ///         });
    ///         bytes
    ///     }))
    /// }
    /// ```
    ///
    /// # Errors
    /// A field of the context that cannot be read.
    pub fn with_records<'p, F: Fn(&Record<'_, 'a, 's>) -> bool>(
        &'p self,
        keep: F,
    ) -> Result<Option<Reframed<'p, 'a, 's, F>>> {
        let mut span: Option<(u64, u64)> = None;
        let mut layout = Layout::new(self);
        for record in self.records().map_while(Result::ok).filter(&keep) {
            if layout.record(&record, &mut |_| Ok::<_, Infallible>(())).is_err() {
                return Ok(None);
            }
            if let Some(time) = record.cycles() {
                let (first, last) = span.unwrap_or((time, time));
                span = Some((first.min(time), last.max(time)));
            }
        }
        let content = layout.to;
        for times in [span, None] {
            if let Some(patches) = self.patches(content, times)? {
                let begin = times.filter(|_| patches.has_begin).map(|(begin, _)| begin);
                let clock = begin.unwrap_or(self.clock);
                if self.keeps_times(&keep, clock) {
                    return Ok(Some(Reframed { packet: self, keep, patches, content, times }));
                }
            }
        }
        Ok(None)
    }

    /// True if the records that are kept have the times that they had, after a clock with this value.
    fn keeps_times(&self, keep: &impl Fn(&Record<'_, 'a, 's>) -> bool, mut clock: u64) -> bool {
        // A record after the one that it followed before has its time.
        let mut follows = false;
        for record in self.records().map_while(Result::ok) {
            if !keep(&record) {
                follows = false;
                continue;
            }
            if !follows && record.time_after(clock) != Some(record.parts.clock) {
                return false;
            }
            (follows, clock) = (true, record.parts.clock);
        }
        true
    }
}

impl Record<'_, '_, '_> {
    /// The time that its header tells after a clock with this value.
    fn time_after(&self, clock: u64) -> Option<u64> {
        let packet = self.packet;
        let mut meaning = Meaning::new(clock);
        let mut cursor = Cursor::new(packet.window, packet.schema, 0, &packet.slots);
        if self.begin_scope(&mut cursor, Scope::EventHeader) {
            Packet::read_roles(&mut cursor, &mut meaning).ok()?;
        }
        Some(meaning.clock)
    }
}

/// Bits that go elsewhere.
struct Piece {
    from: u64,
    to: u64,
    len: u64,
    /// The byte order, if they are not whole bytes.
    big: bool,
}

/// The end of a layout.
enum Stop<E> {
    /// A record cannot lie where it should.
    Impossible,
    Put(E),
}

/// The place where records lie.
struct Layout<'p, 'a, 's> {
    packet: &'p Packet<'a, 's>,
    /// The bit after the last record, and the byte order before it.
    to: u64,
    last_big: bool,
    /// Records that move by a multiple of this many bits less one are the same bits.
    mask: u64,
}

impl<'p, 'a, 's> Layout<'p, 'a, 's> {
    fn new(packet: &'p Packet<'a, 's>) -> Self {
        let widest = packet.schema.nodes.0.iter().map(Node::align_log2).max();
        let step = 1_u64.checked_shl(widest.unwrap_or(0).max(3)).unwrap_or(1 << 63);
        Self { packet, to: packet.records_at, last_big: packet.last_big, mask: step.wrapping_sub(1) }
    }

    /// The next record, in as few pieces as can be.
    fn record<E>(
        &mut self,
        record: &Record<'p, 'a, 's>,
        put: &mut impl FnMut(Piece) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), Stop<E>> {
        let (packet, nodes) = (self.packet, self.packet.schema.nodes);
        let root = |scope| match scope {
            Scope::EventHeader => packet.event_header,
            Scope::CommonContext => packet.common_context,
            _ => root_of(nodes, record.parts.class, scope),
        };
        let scopes = [Scope::EventHeader, Scope::CommonContext, Scope::SpecificContext, Scope::Payload]
            .map(|scope| (scope, root(scope)));
        let mut scopes = scopes.into_iter().filter(|(_, root)| *root != NONE).peekable();
        let Some((_, first)) = scopes.peek() else { return Err(Stop::Impossible) };
        let (from, to) = (aligned(record.start(), nodes.get(*first)), aligned(self.to, nodes.get(*first)));
        if (from ^ to) & self.mask == 0 && (from | record.end()) & 7 == 0 {
            let len = record.end().saturating_sub(from);
            self.to = to.saturating_add(len);
            return put(Piece { from, to, len, big: false }).map_err(Stop::Put);
        }
        let mut cursor = Cursor::new(packet.window, packet.schema, 0, &packet.slots);
        for (scope, root) in scopes {
            if !record.begin_scope(&mut cursor, scope) {
                return Err(Stop::Impossible);
            }
            self.to = aligned(self.to, nodes.get(root));
            while let Some(step) = cursor.step(false).map_err(|_| Stop::Impossible)? {
                if step.index != NONE {
                    let len = cursor.at.saturating_sub(step.start);
                    self.field(nodes.get(step.index), step.start, len, put)?;
                }
            }
        }
        Ok(())
    }

    /// The next field, or what a field with others in it begins with: its alignment.
    fn field<E>(
        &mut self,
        node: &Node,
        from: u64,
        len: u64,
        put: &mut impl FnMut(Piece) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), Stop<E>> {
        let to = aligned(self.to, node);
        self.to = to.saturating_add(len);
        if len == 0 {
            return Ok(());
        }
        let is_fixed = matches!(
            node.kind,
            Kind::Unsigned | Kind::Signed | Kind::BitArray | Kind::BitMap | Kind::Boolean | Kind::Float
        );
        let big = node.has(BIG);
        let is_possible =
            if is_fixed { to & 7 == 0 || big == self.last_big } else { (from | to | len) & 7 == 0 };
        if !is_possible {
            return Err(Stop::Impossible);
        }
        if is_fixed {
            self.last_big = big;
        }
        put(Piece { from, to, len, big }).map_err(Stop::Put)
    }
}

impl<F> Reframed<'_, '_, '_, F> {
    /// The size of the packet in bytes.
    pub const fn size(&self) -> u64 {
        self.content.div_ceil(8)
    }

    /// The length of header, context and records.
    ///
    /// # Units
    /// Bits.
    pub const fn content_bits(&self) -> u64 {
        self.content
    }

    /// The time of its begin.
    ///
    /// # Units
    /// Cycles of the clock of its stream class.
    pub const fn begin(&self) -> Option<u64> {
        match self.times {
            Some((begin, _)) if self.patches.has_begin => Some(begin),
            _ => self.packet.begin(),
        }
    }

    /// The time of its end.
    ///
    /// # Units
    /// Cycles of the clock of its stream class.
    pub const fn end(&self) -> Option<u64> {
        match (self.times, self.packet.end()) {
            (Some((_, end)), Some(_)) => Some(end),
            (_, end) => end,
        }
    }
}

impl<'a, 's, F: Fn(&Record<'_, 'a, 's>) -> bool> Reframed<'_, 'a, 's, F> {
    /// Writes it.
    ///
    /// # Errors
    /// The first one of `put`, after which it is not called again.
    pub fn write<E>(
        &self,
        put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        let packet = self.packet;
        let data = packet.window.data;
        let whole = packet.records_at / 8;
        self.patches.write(part(data, 0, whole), put)?;
        let mut out = Bits { put, at: whole.saturating_mul(8), byte: 0 };
        let rest = packet.records_at & 7;
        out.copy(data, Piece { from: out.at, to: out.at, len: rest, big: packet.last_big })?;
        let mut layout = Layout::new(packet);
        for record in packet.records().map_while(Result::ok).filter(|record| (self.keep)(record)) {
            match layout.record(&record, &mut |piece| out.copy(data, piece)) {
                Ok(()) => {}
                Err(Stop::Put(error)) => return Err(error),
                // It was possible before.
                Err(Stop::Impossible) => break,
            }
        }
        out.pad(self.size().saturating_mul(8))
    }
}

impl<F> fmt::Debug for Reframed<'_, '_, '_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reframed")
            .field("packet", self.packet)
            .field("content_bits", &self.content)
            .finish_non_exhaustive()
    }
}

/// So many bytes of `data`.
fn part(data: &[u8], at: u64, len: u64) -> &[u8] {
    let range = usize::try_from(at).ok().zip(usize::try_from(at.saturating_add(len)).ok());
    range.and_then(|(start, end)| data.get(start..end)).unwrap_or_default()
}

/// Zeros, for padding.
const ZEROS: [u8; 64] = [0; 64];

/// Bits that are written one after the other.
struct Bits<'o, P> {
    put: &'o mut P,
    /// The bit that is written next, and the bits before it that do not fill a byte yet.
    at: u64,
    byte: u8,
}

impl<E, P: FnMut(&[u8]) -> core::result::Result<(), E>> Bits<'_, P> {
    /// Writes bits of `data`, after padding.
    fn copy(&mut self, data: &[u8], piece: Piece) -> core::result::Result<(), E> {
        let Piece { mut from, to, mut len, big } = piece;
        self.pad(to)?;
        if (from | to) & 7 == 0 {
            let whole = len / 8;
            (self.put)(part(data, from / 8, whole))?;
            self.at = self.at.saturating_add(whole.saturating_mul(8));
            from = from.saturating_add(whole.saturating_mul(8));
            len &= 7;
        }
        while len > 0 {
            // No more than what is missing from a byte.
            let room = 8_u64.saturating_sub(self.at & 7);
            let taken = room.min(len);
            let bits = u32::try_from(taken).unwrap_or(8);
            let [value, ..] = load(data, from, bits, big).to_le_bytes();
            let shift = if big { room.saturating_sub(taken) } else { self.at & 7 };
            self.byte |= value.checked_shl(u32::try_from(shift).unwrap_or(0)).unwrap_or(0);
            self.advance(taken)?;
            (from, len) = (from.saturating_add(taken), len.saturating_sub(taken));
        }
        Ok(())
    }

    /// Writes zeros up to a bit.
    fn pad(&mut self, to: u64) -> core::result::Result<(), E> {
        if self.at & 7 != 0 {
            let room = 8_u64.saturating_sub(self.at & 7);
            self.advance(room.min(to.saturating_sub(self.at)))?;
        }
        while to.saturating_sub(self.at) >= 8 {
            let len = (to.saturating_sub(self.at) / 8).min(to_u64(ZEROS.len()));
            (self.put)(part(&ZEROS, 0, len))?;
            self.at = self.at.saturating_add(len.saturating_mul(8));
        }
        // Less than a byte, which is zero.
        self.at = self.at.max(to);
        Ok(())
    }

    /// Goes on by bits of the byte, and writes it if it is full.
    fn advance(&mut self, bits: u64) -> core::result::Result<(), E> {
        self.at = self.at.saturating_add(bits);
        if bits > 0 && self.at & 7 == 0 {
            let byte = core::mem::take(&mut self.byte);
            (self.put)(&[byte])?;
        }
        Ok(())
    }
}
