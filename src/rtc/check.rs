//! Verifying everything.

use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Finding, Severity};
use crate::rtc::frame::id;
use crate::rtc::{
    ClockOf, Frame, Gap, INDEX, Index, META, Meta, PAYLOAD, Stream, Streams, UNIT, Verdict, Walk, search,
};

/// How many pieces of a Meta are compared with those of the one before; others are taken to be what these are.
const PIECES: usize = 8;

/// Looks at the frames of a [`Walk`] and reports what is wrong with them.
///
/// [`Walk::check`] does it all; this is for programs that do something else with the frames in the same pass.
#[derive(Clone, Debug, Default)]
pub struct Checker<'a> {
    meta: Option<Meta<'a>>,
    /// Whether the Meta at hand differs from the one before it, so far: that one was reported upon.
    is_new: bool,
    /// Which piece of it comes next.
    place: usize,
    /// The first pieces of the last Meta.
    pieces: [&'a [u8]; PIECES],
    /// The session whose streams were looked at, and how many of them.
    streams: (u64, usize),
    /// Where the unit is that has no Crc yet.
    open: Option<u64>,
    /// Whether something was lost, to which an index may lead.
    is_disturbed: bool,
    /// Whether a missing Crc was reported in this session.
    missing: Option<u64>,
}

impl<'a> Checker<'a> {
    /// A checker of a walk that has not begun yet.
    pub const fn new() -> Self {
        Self {
            meta: None,
            is_new: false,
            place: 0,
            pieces: [&[]; PIECES],
            streams: (0, 0),
            open: None,
            is_disturbed: false,
            missing: None,
        }
    }

    /// Looks at a frame: each one that the walk delivers, right when it does. Gives the verdict on the unit's
    /// checksum with its Crc.
    pub fn frame<const N: usize>(
        &mut self,
        walk: &Walk<'a, N>,
        frame: &Frame<'a>,
        mut report: impl FnMut(Finding),
    ) -> Option<Verdict> {
        if frame.is_user() {
            return None;
        }
        let warning = |element, kind| Finding::warning(Error::new(frame.offset(), element, kind));
        match frame.id() {
            id::MARKER => {
                self.end_unit(walk.session(), &mut report);
                self.open = Some(frame.offset());
                if let Some(Err(error)) = walk.unit().map(|unit| unit.check()) {
                    report(Finding::warning(error));
                }
            }
            id::INDEX | id::MINOR_INDEX => {
                if let Some(index) = Index::of_frame(frame) {
                    self.index(walk.data(), index, &mut report);
                }
            }
            id::META | id::MINOR_META => self.meta(walk, frame, &mut report),
            id::PLATFORM if super::value::platform_byte_order(frame.payload()).is_none() => {
                let mut found = [0; 8];
                found.iter_mut().zip(frame.payload()).for_each(|(to, &byte)| *to = byte);
                report(warning(PAYLOAD, ErrorKind::BadMagic { found }));
            }
            id::CRC => {
                self.open = None;
                let verdict = walk.verdict::<16>();
                verdict.finding(frame.offset()).into_iter().for_each(report);
                return Some(verdict);
            }
            _ => {}
        }
        None
    }

    /// Takes notice of a gap.
    pub fn gap(&mut self, gap: &Gap, mut report: impl FnMut(Finding)) {
        self.meta = None;
        self.is_disturbed = true;
        report(Finding::new(Severity::Error, gap.cause()));
        if gap.len() > 0 {
            let kind = ErrorKind::Lost { size: gap.len() };
            report(Finding::new(Severity::Error, Error::new(gap.offset(), UNIT, kind)));
        }
    }

    /// The walk has ended.
    pub fn end(&mut self, session: u64, mut report: impl FnMut(Finding)) {
        self.end_unit(session, &mut report);
    }

    /// A unit without a Crc is reported once a session: there are writers without.
    fn end_unit(&mut self, session: u64, report: &mut impl FnMut(Finding)) {
        if let Some(unit) = self.open.take().filter(|_| self.missing != Some(session)) {
            self.missing = Some(session);
            Verdict::Missing.finding(unit).into_iter().for_each(report);
        }
    }

    fn index(&mut self, data: &'a [u8], index: crate::Result<Index<'a>>, report: &mut impl FnMut(Finding)) {
        let index = match index {
            Ok(index) => index,
            Err(error) => return report(Finding::new(Severity::Error, error)),
        };
        let whole = Bytes::new(data);
        let mut last = None;
        let mut astray = false;
        for entry in index.entries() {
            match entry {
                Ok(entry) => {
                    let previous = last.replace(entry.id()).filter(|last| *last >= entry.id());
                    if let (Some(previous), false) = (previous, astray) {
                        let kind = ErrorKind::NotAscending { previous, value: entry.id() };
                        report(Finding::warning(Error::new(index.offset(), INDEX, kind)));
                        astray = true;
                    }
                    // The entries of an Index for 3 and 4 are sizes.
                    let leads = entry.target().filter(|_| entry.id() > id::MINOR_INDEX && !self.is_disturbed);
                    if leads.is_some() && !astray && !search::leads_to_frame(whole, &entry, 0) {
                        astray = true;
                        report(Finding::warning(Error::new(index.offset(), INDEX, ErrorKind::Misplaced)));
                    }
                }
                // Its last entry goes on in the next frame.
                Err(error) if index.more() && error.is_truncation() => break,
                Err(error) => return report(Finding::new(Severity::Error, error)),
            }
        }
    }

    fn meta<const N: usize>(
        &mut self,
        walk: &Walk<'a, N>,
        frame: &Frame<'a>,
        report: &mut impl FnMut(Finding),
    ) {
        let mut meta = match self.meta.take().filter(|_| frame.continues()) {
            Some(meta) => meta,
            None => {
                // A meta is there once.
                (self.is_new, self.place) = (frame.id() == id::MINOR_META, 0);
                Meta::in_pieces(frame.payload_offset())
            }
        };
        if let (id::META, Some(known)) = (frame.id(), self.pieces.get_mut(self.place)) {
            self.is_new |= *known != frame.payload();
            *known = frame.payload();
            self.place = self.place.saturating_add(1);
        }
        meta.push(frame.payload(), frame.payload_offset(), frame.more());
        let is_new = self.is_new;
        let mut highest = 0;
        while let Some(stream) = meta.next_stream() {
            match stream.map(|stream| (stream.id(), stream.damage())) {
                Ok((_, Some(error))) | Err(error) if is_new => report(Finding::new(Severity::Error, error)),
                Ok((id, _)) => highest = highest.max(id),
                Err(_) => {}
            }
        }
        if !frame.more() && is_new {
            let warning = |kind| Finding::warning(Error::new(frame.payload_offset(), META, kind));
            match (meta.check(), meta.next_id()) {
                (Err(error), _) => report(Finding::new(Severity::Error, error)),
                (_, None) => report(warning(ErrorKind::Missing)),
                (_, Some(next)) if next <= highest => {
                    let expected = highest.saturating_add(1);
                    report(warning(ErrorKind::OutOfSequence { found: next, expected }));
                }
                _ => {}
            }
            self.check_streams(walk.session(), walk.streams(), report);
        }
        if frame.more() {
            self.meta = Some(meta);
        }
    }

    /// Checks what streams say about each other.
    fn check_streams<const N: usize>(
        &mut self,
        session: u64,
        streams: &Streams<'a, N>,
        report: &mut impl FnMut(Finding),
    ) {
        let from = if self.streams.0 == session { self.streams.1.min(streams.len()) } else { 0 };
        for stream in (from..streams.len()).filter_map(|place| streams.at(place)) {
            let at = stream.object().offset();
            if stream.name().is_some_and(|name| !name.is_utf8()) {
                report(Finding::warning(Error::new(at, META, ErrorKind::NotUtf8)));
            }
            let clock = match stream.clock() {
                Some(ClockOf::Named(name)) => Some(name),
                _ => None,
            };
            let of_clock = |other: &Stream<'a>| other.clock() == Some(ClockOf::Own);
            let lacks_clock = [clock, stream.delta()]
                .into_iter()
                .flatten()
                .any(|name| !streams.iter().any(|other| of_clock(other) && other.name() == Some(name)));
            if lacks_clock {
                report(Finding::warning(Error::new(at, META, ErrorKind::Missing)));
            }
        }
        self.streams = (session, streams.len());
    }
}

impl<'a, const N: usize> Walk<'a, N> {
    /// Reads all that follows, verifies it, and reports what was found; gives how many frames there were.
    ///
    /// Every gap is an error, as are a wrong checksum and what cannot be read of an Index or a Meta.
    pub fn check(&mut self, mut report: impl FnMut(Finding)) -> u64 {
        let mut checker = Checker::new();
        let mut frames = 0_u64;
        loop {
            while let Some(Ok(frame)) = self.next_frame() {
                frames = frames.saturating_add(1);
                checker.frame(self, &frame, &mut report);
            }
            let Some(gap) = self.resync() else { break };
            checker.gap(&gap, &mut report);
        }
        checker.end(self.session(), &mut report);
        if frames == 0 {
            report(Finding::new(Severity::Error, Error::new(0, UNIT, ErrorKind::Missing)));
        }
        frames
    }
}
