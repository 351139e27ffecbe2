//! Verifying everything.

use crate::bytes::Bytes;
use crate::error::{Element, Error, ErrorKind, Finding, Severity};
use crate::room::Room;
use crate::rtc::element::{INDEX, META, PAYLOAD, UNIT};
use crate::rtc::frame::id;
use crate::rtc::index::leads_to_frame;
use crate::rtc::recover::Frames;
use crate::rtc::slot::StreamSlot;
use crate::rtc::{ClockLink, CrcStatus, Frame, Index, Meta, Streams, crc_ieee};
use crate::{Gap, Result};

/// The number of pieces of a Meta that are compared with those of the one before; others are taken to be what these are.
const PIECES: usize = 8;

/// Looks at [`Frames`] and reports what is wrong with them.
///
/// [`check`] does it all; this is for programs that do something else with the frames in the same pass.
#[derive(Clone, Debug)]
pub struct Checker<'a> {
    ieee: fn(&[u8]) -> u32,
    meta: Option<Meta<'a>>,
    /// True if the Meta at hand differs from the one before it, so far: that one was reported upon.
    is_new: bool,
    /// True if an object of it is damaged at a limit of 1,024 bytes, as the deployed writer does it.
    is_cut: bool,
    /// The number of the next piece of it.
    place: usize,
    /// The first pieces of the last Meta.
    pieces: [&'a [u8]; PIECES],
    /// The session whose streams were looked at, and how many of them.
    streams: (u64, usize),
    /// Offset of the unit that has no Crc yet.
    open: Option<u64>,
    /// True if something was lost, to which an index may lead.
    is_disturbed: bool,
    /// True if a missing Crc was reported in this session.
    missing: Option<u64>,
}

impl Default for Checker<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Checker<'a> {
    /// A checker of frames of which none has been read yet.
    pub const fn new() -> Self {
        Self::by(crc_ieee)
    }

    /// A checker with the document's checksum from `ieee`: a faster one than [`crc_ieee`], which needs neither
    /// `std` nor instructions of one processor.
    pub const fn by(ieee: fn(&[u8]) -> u32) -> Self {
        Self {
            ieee,
            meta: None,
            is_new: false,
            is_cut: false,
            place: 0,
            pieces: [&[]; PIECES],
            streams: (0, 0),
            open: None,
            is_disturbed: false,
            missing: None,
        }
    }

    /// Looks at a frame: each one, right when it is delivered. Gives the status of the unit's checksum with its Crc.
    pub fn frame<R: Room<StreamSlot<'a>>>(
        &mut self,
        frames: &Frames<'a, R>,
        frame: &Frame<'a>,
        mut report: impl FnMut(Finding),
    ) -> Option<CrcStatus> {
        if frame.is_user() {
            return None;
        }
        match frame.id() {
            id::MARKER => {
                self.end_unit(frames.session(), &mut report);
                self.open = Some(frame.offset());
                if let Some(Err(error)) = frames.unit().map(|unit| unit.check()) {
                    report(Finding::new(Severity::Warning, error));
                }
            }
            id::INDEX | id::MINOR_INDEX => {
                if let Some(index) = Index::from_frame(frame) {
                    self.index(frames.data(), index, &mut report);
                }
            }
            id::META | id::MINOR_META => self.meta(frames, frame, &mut report),
            id::PLATFORM if super::value::platform_byte_order(frame.payload()).is_none() => {
                report(warning(frame.offset(), PAYLOAD, ErrorKind::bad_magic(frame.payload())));
            }
            id::CRC => {
                self.open = None;
                let status = frames.crc_status_by::<16>(self.ieee);
                status.finding(frame.offset()).into_iter().for_each(report);
                return Some(status);
            }
            _ => {}
        }
        None
    }

    /// Looks at a gap.
    pub fn gap(&mut self, gap: &Gap, mut report: impl FnMut(Finding)) {
        self.meta = None;
        self.is_disturbed = true;
        report(Finding::new(Severity::Error, gap.cause()));
        if gap.len() > 0 {
            let kind = ErrorKind::Lost { size: gap.len() };
            report(Finding::new(Severity::Error, Error::new(gap.offset(), UNIT, kind)));
        }
    }

    /// The frames have ended.
    pub fn end(&mut self, session: u64, mut report: impl FnMut(Finding)) {
        self.end_unit(session, &mut report);
    }

    /// A unit without a Crc is reported once a session: there are writers without.
    fn end_unit(&mut self, session: u64, report: &mut impl FnMut(Finding)) {
        if let Some(unit) = self.open.take().filter(|_| self.missing != Some(session)) {
            self.missing = Some(session);
            CrcStatus::Missing.finding(unit).into_iter().for_each(report);
        }
    }

    fn index(&mut self, data: &'a [u8], index: Result<Index<'a>>, report: &mut impl FnMut(Finding)) {
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
                        report(warning(index.offset(), INDEX, kind));
                        astray = true;
                    }
                    // The entries of an Index for 3 and 4 are sizes.
                    let leads = entry.target().filter(|_| entry.id() > id::MINOR_INDEX && !self.is_disturbed);
                    if leads.is_some() && !astray && !leads_to_frame(whole, &entry, 0) {
                        astray = true;
                        report(warning(index.offset(), INDEX, ErrorKind::Misplaced));
                    }
                }
                // Its last entry goes on in the next frame.
                Err(error) if index.more() && error.is_truncation() => break,
                Err(error) => return report(Finding::new(Severity::Error, error)),
            }
        }
    }

    fn meta<R: Room<StreamSlot<'a>>>(
        &mut self,
        frames: &Frames<'a, R>,
        frame: &Frame<'a>,
        report: &mut impl FnMut(Finding),
    ) {
        let mut meta = match self.meta.take().filter(|_| frame.continues()) {
            Some(meta) => meta,
            None => {
                // A meta is there once.
                (self.is_new, self.is_cut, self.place) = (frame.id() == id::MINOR_META, false, 0);
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
            let (damage, is_split) = match stream {
                Ok(stream) => {
                    highest = highest.max(stream.id());
                    (stream.damage(), stream.object().is_split())
                }
                Err(error) => (Some(error), error.offset() < frame.payload_offset()),
            };
            self.is_cut |= damage.is_some() && is_split;
            if let Some(error) = damage.filter(|_| is_new) {
                let severity = if is_split { Severity::Warning } else { Severity::Error };
                report(Finding::new(severity, error));
            }
        }
        if !frame.more() && is_new {
            let at = frame.payload_offset();
            match (meta.check(), meta.next_id()) {
                (Err(error), _) => {
                    let severity = if self.is_cut { Severity::Warning } else { Severity::Error };
                    report(Finding::new(severity, error));
                }
                (_, None) => report(warning(at, META, ErrorKind::Missing)),
                (_, Some(next)) if next <= highest => {
                    let expected = highest.saturating_add(1);
                    report(warning(at, META, ErrorKind::OutOfSequence { found: next, expected }));
                }
                _ => {}
            }
            if let Some(error) = frames.contradiction().filter(|_| frame.id() == id::META) {
                report(Finding::new(Severity::Error, error));
            }
            self.check_streams(frames.session(), frames.streams(), report);
        }
        if frame.more() {
            self.meta = Some(meta);
        }
    }

    /// Checks what streams say about each other.
    fn check_streams(&mut self, session: u64, streams: Streams<'_, 'a>, report: &mut impl FnMut(Finding)) {
        let from = if self.streams.0 == session { self.streams.1.min(streams.len()) } else { 0 };
        for stream in (from..streams.len()).filter_map(|slot| streams.at(slot)) {
            let at = stream.object().offset();
            if stream.name().is_some_and(|name| !name.is_utf8()) {
                report(warning(at, META, ErrorKind::NotUtf8));
            }
            let clock = match stream.clock() {
                Some(ClockLink::Named(name)) => Some(name),
                _ => None,
            };
            if clock.into_iter().chain(stream.delta()).any(|name| streams.slot_of_clock(name).is_none()) {
                report(warning(at, META, ErrorKind::Missing));
            }
            for unreadable in [stream.gain().err(), stream.offset().err()].into_iter().flatten() {
                report(Finding::new(Severity::Error, unreadable));
            }
        }
        self.streams = (session, streams.len());
    }
}

fn warning(at: u64, element: Element, kind: ErrorKind) -> Finding {
    Finding::new(Severity::Warning, Error::new(at, element, kind))
}

/// The counts of [`check`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of frames that were delivered.
    pub frames: u64,
    /// The number of gaps.
    pub gaps: u64,
    /// The number of bytes that were lost.
    pub lost: u64,
}

/// Reads all that follows, verifies it, and reports what was found.
///
/// Every gap is an error, as are a wrong checksum and what cannot be read of an Index or a Meta.
///
/// # Errors
///
/// No frame could be read; that was reported, too.
pub fn check<'a, R: Room<StreamSlot<'a>>>(
    frames: &mut Frames<'a, R>,
    report: &mut dyn FnMut(Finding),
) -> Result<Summary> {
    let mut checker = Checker::new();
    let mut summary = Summary::default();
    loop {
        while let Ok(Some(frame)) = frames.next_frame() {
            summary.frames = summary.frames.saturating_add(1);
            checker.frame(frames, &frame, &mut *report);
        }
        let Some(gap) = frames.recover() else { break };
        summary.gaps = summary.gaps.saturating_add(1);
        summary.lost = summary.lost.saturating_add(gap.len());
        checker.gap(&gap, &mut *report);
    }
    checker.end(frames.session(), &mut *report);
    if summary.frames == 0 {
        let missing = Error::new(0, UNIT, ErrorKind::Missing);
        report(Finding::new(Severity::Error, missing));
        return Err(missing);
    }
    Ok(summary)
}
