//! The bytes that are written before the rest of a unit, so that it is a unit again, the first one of a session.

use crate::status::Result;
use std::rc::Rc;
use traceglass::rtc::recover::Frames;
use traceglass::rtc::{
    ClockLink, Frame, MARKER, MAX_PAYLOAD, Stream, Streams, Unit, check, id, padding, platform,
};
use traceglass::{ByteOrder, Severity};

/// The offset of the Index in a unit, from which the minor units are counted.
pub const INDEX: u64 = MARKER.len() as u64;

/// The largest frame of padding.
pub const LARGEST: u64 = MAX_PAYLOAD + 3;

/// A new beginning of a unit.
pub struct Front {
    /// Marker, Index, Meta and platform.
    head: Rc<[u8]>,
    /// The offset in the unit of what follows; padding leads to it.
    len: u64,
    grid: Grid,
}

impl Front {
    /// A Marker alone: all are alike.
    pub fn marker() -> Self {
        Self { head: MARKER.into(), len: INDEX, grid: Grid { major: INDEX, minor: INDEX } }
    }

    /// The front of what is left of a unit from `len` bytes after its start on. Its Meta is the last one that was read if it
    /// declares the streams that are known, and nothing else; or else it has their declarations, word by word.
    ///
    /// `None` if there is no room for it, or if declarations are damaged.
    pub fn of(
        len: u64,
        unit: &Unit<'_>,
        streams: Streams<'_, '_>,
        meta: &[Frame<'_>],
        order: ByteOrder,
    ) -> Option<Self> {
        let grid = Grid { major: unit.major_size(), minor: unit.minor_size() };
        (len < grid.major).then_some(())?;
        let head = |meta: &[&[u8]]| grid.head(meta, order, len);
        let copied = head(&payloads(meta)).filter(|head| declares(head, streams, Needs::Known));
        let head = copied.or_else(|| {
            let made = declarations(streams, len)?;
            let made: Vec<&[u8]> = made.iter().map(Vec::as_slice).collect();
            head(&made).filter(|head| declares(head, streams, Needs::Known))
        })?;
        let mut end = head.len() as u64;
        // In front of what follows there must be room for a whole frame.
        grid.fill(&mut end, len, &mut |_| Ok(())).ok().filter(|fits| *fits)?;
        Some(Self { head: head.into(), len, grid })
    }

    /// True if a unit with this Meta can be read by itself: it declares the streams that are known, or is sound, so that
    /// others are declared where they begin. If it `must_do`, of a damaged declaration only the length has to be right.
    pub fn is_declared(streams: Streams<'_, '_>, meta: &[Frame<'_>], must_do: bool) -> bool {
        let grid = Grid { major: 1 << 40, minor: 1 << 40 };
        grid.head(&payloads(meta), ByteOrder::Little, u64::MAX).is_some_and(|head| match must_do {
            false => declares(&head, streams, Needs::Known) || declares(&head, streams, Needs::Sound),
            true => declares(&head, streams, Needs::Lengths),
        })
    }

    /// Shares the head with the last one that was made, if it is the same: most of a file are.
    pub fn share(&mut self, last: &mut Rc<[u8]>) {
        if self.head == *last {
            self.head = Rc::clone(last);
        } else {
            *last = Rc::clone(&self.head);
        }
    }

    /// True if there is more in it than a Marker.
    pub fn has_head(&self) -> bool {
        self.len > INDEX
    }

    /// Writes what follows its Marker.
    pub fn put(&self, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        put(self.head.get(MARKER.len()..).unwrap_or_default())?;
        let mut at = self.head.len() as u64;
        self.grid.fill(&mut at, self.len, put).map(drop)
    }
}

/// The sizes of units.
#[derive(Clone, Copy)]
struct Grid {
    major: u64,
    minor: u64,
}

impl Grid {
    /// Marker, Index, Meta and platform of the first unit of a session; `None` if they take more than `limit` bytes.
    fn head(self, meta: &[&[u8]], order: ByteOrder, limit: u64) -> Option<Vec<u8>> {
        let mut head = MARKER.to_vec();
        let mut index = vec![0];
        entry(id::INDEX, self.major, &mut index);
        entry(id::MINOR_INDEX, self.minor, &mut index);
        self.place(&framed(id::INDEX, false, &index), &mut head)?;
        for (piece, left) in meta.iter().zip((0..meta.len()).rev()) {
            self.place(&framed(id::META, left > 0, piece), &mut head)?;
            (head.len() as u64 <= limit).then_some(())?;
        }
        self.place(&platform(order), &mut head)?;
        (head.len() as u64 <= limit).then_some(head)
    }

    /// Adds a frame to a head, after a boundary if it does not fit in front of that.
    fn place(self, frame: &[u8], head: &mut Vec<u8>) -> Option<()> {
        let mut at = head.len() as u64;
        let boundary = self.boundary_after(at);
        if at.saturating_add(frame.len() as u64) > boundary {
            (boundary < self.major).then_some(())?;
            let mut put = |bytes: &[u8]| {
                head.extend(bytes);
                Ok(())
            };
            self.fill(&mut at, boundary, &mut put).ok()?;
            put(&index_at(boundary)).ok()?;
        }
        head.extend(frame);
        Some(())
    }

    /// Fills up with padding, and with indices of minor units in which nothing was written; false if what follows does not
    /// begin where a frame of padding may end.
    fn fill(self, at: &mut u64, to: u64, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        while *at < to {
            let boundary = self.boundary_after(at.saturating_sub(1));
            if *at == boundary {
                let index = index_at(*at);
                *at = at.saturating_add(index.len() as u64);
                put(&index)?;
                continue;
            }
            let room = boundary.min(to).saturating_sub(*at);
            if room == 0 || room == 1 && boundary > to {
                return Ok(false);
            }
            // One byte can only be left before a boundary.
            let len =
                if room == LARGEST.saturating_add(1) { room.saturating_sub(2) } else { room.min(LARGEST) };
            pad(len, put)?;
            *at = at.saturating_add(len);
        }
        Ok(*at == to)
    }

    /// The offset of the next minor unit, or of the next unit.
    fn boundary_after(self, at: u64) -> u64 {
        let next = at.saturating_sub(INDEX).checked_div(self.minor).unwrap_or(0).saturating_add(1);
        let is_inside = at >= INDEX && next < self.major.checked_div(self.minor).unwrap_or(0);
        match is_inside {
            true => next.saturating_mul(self.minor).saturating_add(INDEX),
            false if at < INDEX => INDEX,
            false => self.major,
        }
    }
}

/// Writes so many bytes as padding, at most as many as a frame may have.
pub fn pad(len: u64, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let Some((header, used, payload)) = padding(len) else { return put(&[0]) };
    put(header.get(..used).unwrap_or_default())?;
    let zeros = [0; 1024];
    put(zeros.get(..usize::try_from(payload).unwrap_or(0)).unwrap_or(&zeros))
}

/// The index of a minor unit that begins so far after the start of its unit, and in which nothing was written.
fn index_at(at: u64) -> Vec<u8> {
    let mut index = Vec::new();
    entry(id::INDEX, at.saturating_sub(INDEX), &mut index);
    framed(id::MINOR_INDEX, false, &index)
}

/// An entry of an index.
fn entry(id: u64, distance: u64, to: &mut Vec<u8>) {
    number(id << 1 | 1, to);
    number(distance << 1, to);
}

/// A frame with its length.
fn framed(id: u64, more: bool, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    number(id << 1 | u64::from(more), &mut frame);
    number(payload.len() as u64, &mut frame);
    frame.extend(payload);
    frame
}

/// Adds a number in LEB128.
fn number(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        let [low, ..] = value.to_le_bytes();
        to.push(low | 0x80);
        value >>= 7;
    }
    let [low, ..] = value.to_le_bytes();
    to.push(low);
}

/// The payloads of frames.
fn payloads<'a>(frames: &[Frame<'a>]) -> Vec<&'a [u8]> {
    frames.iter().map(Frame::payload).collect()
}

/// The payloads of a Meta of declarations, word by word; `None` if one is damaged, or they take more than `limit` bytes.
fn declarations(streams: Streams<'_, '_>, limit: u64) -> Option<Vec<Vec<u8>>> {
    let max = usize::try_from(MAX_PAYLOAD).ok()?;
    let next = streams.iter().map(Stream::id).max().unwrap_or(8).saturating_add(1);
    let (mut pieces, mut piece) = (Vec::new(), b"[".to_vec());
    let mut left = limit;
    for stream in streams.iter() {
        let object: Vec<u8> = stream.object().bytes().chain([b',']).collect();
        left = left.checked_sub(object.len() as u64).filter(|_| stream.damage().is_none())?;
        if piece.len().saturating_add(object.len()) > max {
            pieces.push(std::mem::take(&mut piece));
        }
        piece.extend(object);
        if piece.len() > max {
            let rest = piece.split_off(max);
            pieces.push(std::mem::replace(&mut piece, rest));
        }
    }
    let end = format!("{next}]");
    if piece.len().saturating_add(end.len()) > max {
        pieces.push(std::mem::take(&mut piece));
    }
    piece.extend(end.as_bytes());
    pieces.push(piece);
    Some(pieces)
}

/// The relation of a head's Meta to the streams that are known.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    /// It declares them all, word by word.
    Known,
    /// It is sound, and declares no others.
    Sound,
    /// It declares them all: of damaged ones the lengths, of clocks all.
    Lengths,
}

/// True if the Meta of a head says what it has to.
fn declares(head: &[u8], streams: Streams<'_, '_>, needs: Needs) -> bool {
    let mut frames = Frames::new(head, Vec::new());
    let mut is_sound = true;
    let read = check(&mut frames, &mut |finding| is_sound &= finding.severity() != Severity::Error);
    let own = frames.streams();
    let is_same = |own: &Stream<'_>, stream: &Stream<'_>| {
        let is_damaged = own.damage().is_some() || stream.damage().is_some();
        let may_differ = needs == Needs::Lengths && is_damaged && stream.clock() != Some(ClockLink::IsClock);
        own.length() == stream.length()
            && (may_differ
                || own.object().bytes().eq(stream.object().bytes())
                    && own.damage().is_some() == stream.damage().is_some())
    };
    let all = streams.iter().all(|stream| own.get(stream.id()).is_some_and(|own| is_same(own, stream)));
    let others = own.iter().all(|own| streams.get(own.id()).is_some_and(|stream| is_same(own, stream)));
    read.is_ok()
        && match needs {
            Needs::Known => all && others,
            Needs::Sound => is_sound && others,
            Needs::Lengths => all,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames that fill a place; `None` if it cannot be filled.
    fn filled(from: u64, to: u64) -> Option<Vec<u8>> {
        let (mut at, mut bytes) = (from, Vec::new());
        let mut put = |more: &[u8]| {
            bytes.extend(more);
            Ok(())
        };
        let fits = Grid { major: 8192, minor: 2048 }.fill(&mut at, to, &mut put);
        fits.is_ok_and(|fits| fits).then_some(bytes)
    }

    #[test]
    fn all_is_filled_but_a_single_byte() {
        for len in (2..1100).chain([2040, 2054, 2055]) {
            let bytes = filled(1045, 1045 + len).unwrap();
            assert_eq!(bytes.len() as u64, len);
            // No nul: that is damage unless a boundary follows.
            assert!(bytes.first() == Some(&2), "{len}");
        }
        assert_eq!(filled(1045, 1046), None);
        // After the index at 3073, too.
        let index = [0x08, 3, 0x07, 0x80, 0x20];
        assert_eq!(filled(3070, 3078), Some([&[2, 1, 0][..], &index].concat()));
        assert_eq!(filled(3072, 3080), Some([&[0][..], &index, &[2, 0]].concat()));
        // In the place of an index there is no room for anything else.
        assert_eq!(filled(3073, 3075), None);
    }

    #[test]
    fn a_long_frame_is_cut_neither_by_a_boundary_nor_in_a_head() {
        let grid = Grid { major: 8192, minor: 2048 };
        let pieces = [&[b' '; 1024][..], &[b' '; 1024], b"[9]"];
        let head = grid.head(&pieces, ByteOrder::Little, 8192).unwrap();
        // The second piece is after the index of the next minor unit.
        assert_eq!(head[3073..3078], [0x08, 3, 0x07, 0x80, 0x20]);
        assert_eq!(head[3078..3081], [0x0b, 0x80, 0x08]);
        assert!(head.ends_with(&[0x0a, 3, b'[', b'9', b']', 0x0e, 4, 3, 2, 1]));
        assert_eq!(grid.head(&pieces, ByteOrder::Little, head.len() as u64 - 1), None);
        let mut frames = Frames::new(&head, Vec::new());
        while let Ok(Some(_)) = frames.next_frame() {}
        assert_eq!(frames.offset(), head.len() as u64);
    }
}
