//! A walk over a file, which finds its units.

use super::super::clocks::Clocks;
use super::super::front::{Front, INDEX};
use super::super::pieces::Pieces;
use super::exact::{Exact, Tail, Waiting};
use super::{Unit, Units};
use crate::formats::rtc::scan::time_of;
use crate::formats::rtc::session::{Rtc, Slots};
use crate::formats::rtc::value::of_ns;
use crate::progress::Progress;
use crate::trace::{Bounds, Digest, Rewritten, widen};
use std::rc::Rc;
use traceglass::rtc::recover::{Found, Records};
use traceglass::rtc::{Checker, CrcStatus, Format, Frame, Index, NameSlot, Names, Record, Stream, Time, id};
use traceglass::{ByteOrder, Finding, Gap, Severity};

/// The time of the record that was seen last: those between two stamps have the same.
struct LastTime {
    time: Option<Time>,
    is_wanted: bool,
}

/// So many times the size of the file may be written before rests of units: a unit that was hit several times is written as
/// often.
const GROWTH: u64 = 4;

/// A look at the records of a slot since the last frame of a default stream.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The number of that frame, from 1 on.
    at: u64,
    says: Says,
}

/// The times that the records of a stream say themselves.
#[derive(Clone, Copy, Default, PartialEq)]
enum Says {
    /// None: they have that of the clock.
    #[default]
    Nothing,
    /// That of their own clock.
    Stamp,
    /// Each its own, as an annotation.
    Own,
}

/// Records in one frame each whose time is that of one before them, in the unit in which reading is: most are such.
#[derive(Default)]
struct Plain {
    end: u64,
    records: u64,
    digest: Digest,
}

impl Plain {
    #[inline(always)]
    fn add(&mut self, frame: &Frame<'_>) {
        self.end = frame.end();
        self.records = self.records.saturating_add(1);
        self.digest.add_pair(frame.id(), frame.payload().len() as u64);
    }
}

/// A walk over a file, and what was met.
struct Walk<'d, 'a> {
    done: &'d mut Rewritten,
    /// The size of the file.
    size: u64,
    units: Vec<Unit>,
    /// True if reading is in the last of them; after a gap it is in none.
    is_inside: bool,
    /// The bytes that the rest of a unit lacks that follows a gap.
    front: Option<Rc<Front>>,
    /// The head of the last front.
    head: Rc<[u8]>,
    /// The number of bytes that may still be written before such rests: so that many of them do not make a file far larger.
    room: u64,
    /// The pieces of the last Meta.
    meta: Vec<Frame<'a>>,
    /// True from a gap on, up to the first record: what streams there are may be known from elsewhere.
    is_anew: bool,
    run: u64,
    clocks: Clocks,
    pieces: Pieces,
    /// The range of time: there are far more records to compare with it than times to convert.
    times: Bounds<Time>,
    names: Names<'a, Vec<NameSlot<'a>>>,
    last: LastTime,
    /// By their slots, the streams. Only what begins a time, or is the first one after a frame of a default stream, can
    /// have a time that is not known of its unit.
    seen: Vec<Seen>,
    /// Frames of default streams and gaps so far.
    others: u64,
    /// True if something told a time, of this file or of those before.
    has_told: bool,
    marks: Vec<Frame<'a>>,
    errors: u64,
    sums: Vec<(u64, CrcStatus)>,
    is_ieee: Option<bool>,
    is_clean: bool,
    /// Given if records are kept one by one.
    exact: Option<Exact>,
    /// The end of the last unit that is wanted, and its run.
    kept: Option<(u64, u64)>,
}

impl Units<'_> {
    /// Reads a file; what cannot be kept of it is told.
    pub fn read<'a>(rtc: &Rtc<'a>, bounds: &Bounds, exact: bool, done: &mut Rewritten) -> Units<'a> {
        let mut buffer = rtc.buffer();
        let mut records = Records::new(rtc.data, Slots::new(), &mut buffer);
        let mut checker = Checker::by(crc32fast::hash);
        let times = bounds.map(of_ns);
        let size = rtc.data.len() as u64;
        let mut walk = Walk {
            has_told: done.span.is_some(),
            done,
            size,
            units: Vec::new(),
            is_inside: false,
            front: None,
            head: Rc::default(),
            room: size.saturating_mul(GROWTH).saturating_add(1 << 20),
            meta: Vec::new(),
            is_anew: false,
            run: 0,
            clocks: Clocks::default(),
            pieces: Pieces::default(),
            last: LastTime { time: None, is_wanted: times.wants(None) },
            times,
            names: Names::new(Vec::new()),
            seen: Vec::new(),
            others: 1,
            marks: Vec::new(),
            errors: 0,
            sums: Vec::new(),
            is_ieee: None,
            is_clean: true,
            exact: (exact && !bounds.is_everything()).then(Exact::default),
            kept: None,
        };
        let mut found = Vec::new();
        let progress = Progress::new(size);
        let mut told = 0;
        loop {
            let mut plain = Plain::default();
            while let Some((frame, is_complete)) = records.take_user() {
                if walk.is_plain(&frame) {
                    plain.add(&frame);
                    continue;
                }
                walk.settle(&mut plain);
                walk.user(&records, &frame, is_complete);
            }
            walk.settle(&mut plain);
            match records.advance() {
                Found::Record(frame) => walk.user(&records, &frame, true),
                Found::Frame(frame) if frame.is_user() => walk.user(&records, &frame, false),
                Found::Frame(frame) => {
                    progress.advance(frame.offset().saturating_sub(told));
                    told = told.max(frame.offset());
                    let status = checker.frame(records.frames(), &frame, |finding| found.push(finding));
                    walk.other(frame);
                    status.into_iter().for_each(|status| walk.sum(frame.offset(), status));
                    found.drain(..).for_each(|finding| walk.finding(&finding));
                }
                Found::Gap(gap) => {
                    checker.gap(&gap, |_| ());
                    walk.gap(&gap);
                    walk.front = walk.front(&records, gap.end());
                }
                _ => break,
            }
        }
        checker.end(records.frames().session(), |finding| walk.finding(&finding));
        walk.finish(records.frames().byte_order())
    }
}

impl<'a> Walk<'_, 'a> {
    /// A frame of a default stream.
    fn other(&mut self, frame: Frame<'a>) {
        self.others = self.others.saturating_add(1);
        if frame.id() == id::MARKER || !self.is_inside {
            self.begin(&frame);
        }
        if frame.id() == id::META {
            if !frame.continues() {
                self.meta.clear();
            }
            self.meta.push(frame);
        }
        let Some(unit) = self.units.last_mut() else { return };
        unit.end = frame.end();
        unit.has_crc |= frame.id() == id::CRC;
        if is_zero(&frame) {
            begin(&mut self.units, &mut self.run, &mut self.clocks, &mut self.pieces);
            self.exact.iter_mut().for_each(Exact::interrupt);
        }
        if matches!(frame.id(), id::MARKER | id::INDEX | id::MINOR_INDEX | id::CRC) && !frame.continues() {
            self.marks.push(frame);
        }
    }

    /// A unit begins, or the rest of one.
    #[cold]
    fn begin(&mut self, frame: &Frame<'_>) {
        self.leave();
        self.forget();
        let (needs, front) = (self.clocks.first(), self.front.take());
        self.units.push(Unit {
            start: frame.offset(),
            run: self.run,
            needs: needs.unwrap_or(self.units.len()),
            is_damaged: frame.id() != id::MARKER && front.is_none(),
            front: front.filter(|_| frame.id() != id::MARKER),
            ..Unit::default()
        });
        self.is_inside = true;
    }

    /// The last unit ends: a rest in which nothing was written is none.
    fn leave(&mut self) {
        if let Some(unit) = self.units.last_mut().filter(|_| self.is_inside) {
            let is_rest = unit.front.as_ref().is_some_and(|front| front.has_head());
            unit.is_damaged |= is_rest && !unit.has_user_frames;
        }
    }

    /// True if nothing about a frame of a user's stream is new but that it is there.
    #[inline(always)]
    fn is_plain(&self, frame: &Frame<'_>) -> bool {
        let seen = frame.slot().and_then(|slot| self.seen.get(slot));
        seen.is_some_and(|seen| seen.at == self.others && seen.says == Says::Nothing)
            && self.exact.is_none()
            && !frame.more()
            && !frame.continues()
            && !self.pieces.is_open()
    }

    /// Adds such records to their unit.
    #[inline(always)]
    fn settle(&mut self, plain: &mut Plain) {
        if plain.records > 0
            && let Some(unit) = self.units.last_mut()
        {
            let Plain { end, records, digest } = std::mem::take(plain);
            unit.end = end;
            unit.records = unit.records.saturating_add(records);
            unit.digest.join(digest);
        }
    }

    /// A frame of a user's stream.
    fn user(&mut self, records: &Records<'a, '_, Slots<'a>>, frame: &Frame<'a>, is_complete: bool) {
        if !self.is_inside {
            self.begin(frame);
        }
        if self.is_anew {
            self.prove(records, frame);
        }
        let Some(unit) = self.units.last_mut() else { return };
        unit.end = frame.end();
        unit.has_user_frames = true;
        self.pieces.frame(frame, unit.start);
        if !is_complete {
            return;
        }
        if self.exact.is_some() {
            return self.exactly(records, frame);
        }
        if frame.continues() {
            return self.joined(records, frame);
        }
        let Some(slot) = frame.slot() else { return };
        unit.records = unit.records.saturating_add(1);
        unit.digest.add_pair(frame.id(), frame.payload().len() as u64);
        match self.seen.get(slot) {
            // It may come while another one is open.
            Some(seen) if seen.at == self.others => self.says(records, frame, slot, seen.says),
            _ => self.first(records, frame, slot),
        }
    }

    /// A record of a stream that was met since a frame of a default stream.
    #[inline]
    fn says(&mut self, records: &Records<'a, '_, Slots<'a>>, frame: &Frame<'a>, slot: usize, says: Says) {
        match says {
            Says::Nothing => {}
            Says::Stamp => self.stamp(records, slot),
            Says::Own => {
                let time = records.record(*frame).and_then(|record| time_of(&mut self.names, &record));
                self.meet_here(time);
            }
        }
    }

    /// The first record of a stream since a frame of a default stream.
    #[cold]
    fn first(&mut self, records: &Records<'a, '_, Slots<'a>>, frame: &Frame<'a>, slot: usize) {
        let format = records.streams().at(slot).map(Stream::format);
        let says = match format {
            _ if records.streams().is_clock(slot) => Says::Stamp,
            Some(Format::Annotate(_)) => Says::Own,
            _ => Says::Nothing,
        };
        if says == Says::Own {
            judge(self.done, &mut self.has_told, records, slot);
        }
        if self.seen.len() <= slot {
            self.seen.resize(slot.saturating_add(1), Seen::default());
        }
        self.seen.get_mut(slot).into_iter().for_each(|seen| *seen = Seen { at: self.others, says });
        if says != Says::Nothing {
            return self.says(records, frame, slot, says);
        }
        self.meet_here(records.time_at(slot));
    }

    /// A time that a clock says, in the last unit.
    #[inline]
    fn stamp(&mut self, records: &Records<'_, '_, Slots<'_>>, slot: usize) {
        let begun = self.units.len().saturating_sub(1);
        self.clock(records, slot, begun);
        self.meet_here(records.time_at(slot));
    }

    /// A clock tells the time in a unit.
    #[inline]
    fn clock(&mut self, records: &Records<'_, '_, Slots<'_>>, slot: usize, unit: usize) {
        let (done, has_told) = (&mut *self.done, &mut self.has_told);
        self.clocks.stamp(slot, unit, || {
            judge(done, has_told, records, slot);
            is_delta(records, slot)
        });
    }

    /// A record that is kept for its own sake, as a stamp, or not at all.
    #[cold]
    fn exactly(&mut self, records: &Records<'a, '_, Slots<'a>>, frame: &Frame<'a>) {
        let Some(record) = records.record(*frame) else { return };
        let (begun, own) = self.place(records, &record);
        let time = time_of(&mut self.names, &record);
        let Some(exact) = &mut self.exact else { return };
        let (whole, pieces) = ([(frame.offset(), frame.end())], self.pieces.ended());
        let frames = if frame.continues() { &pieces[..] } else { &whole };
        let (is_wanted, slot) = (self.times.wants(time), record.slot());
        let last = self.units.len().saturating_sub(1);
        match (is_wanted, record.is_stamp()) {
            (false, false) => return exact.leave(frames),
            (false, true) if !frame.continues() && !exact.is_base(records.streams(), slot) => {
                return exact.wait(slot, Waiting { frame: whole[0], unit: last, digest: own });
            }
            (false, true) => {}
            (true, is_stamp) => exact.keep(is_stamp.then_some(slot), |stamp| {
                self.units.get_mut(stamp.unit).into_iter().for_each(|unit| unit.count(stamp.digest));
            }),
        }
        if begun < last {
            self.pieces.note(own);
        }
        let Some(units) = self.units.get_mut(begun..) else { return };
        if is_wanted {
            // The stamps that count now are needed, and not those that did when the unit began.
            let first = self.clocks.first().unwrap_or(last);
            for (unit, number) in units.iter_mut().zip(begun..).filter(|(unit, _)| !unit.is_wanted) {
                (unit.is_wanted, unit.needs) = (true, if number == last { first } else { number });
            }
        }
        let Some(unit) = units.last_mut() else { return };
        unit.count(own);
        if is_wanted {
            unit.tail = Tail::default();
            time.into_iter().for_each(|time| widen(&mut unit.span, time, time));
        } else if unit.is_wanted {
            unit.tail.push(frames, own);
        }
    }

    /// The number of the unit in which a record begins, and what it adds to the digest of the last one. Notes it if it is a
    /// stamp.
    fn place(&mut self, records: &Records<'_, '_, Slots<'_>>, record: &Record<'_, '_>) -> (usize, Digest) {
        let (at, slot) = (record.offset(), record.slot());
        let begun = match self.units.last() {
            Some(unit) if at < unit.start => self.units.partition_point(|unit| unit.start <= at),
            _ => self.units.len(),
        };
        let begun = begun.saturating_sub(1);
        if record.is_stamp() {
            self.clock(records, slot, begun);
        }
        let mut own = Digest::default();
        own.add_pair(record.stream().id(), record.len());
        (begun, own)
    }

    /// Forgets the records left out of units that are not kept: those before the first one of a run that is wanted, unless
    /// it needs them.
    fn forget(&mut self) {
        let Some(exact) = &mut self.exact else { return };
        if let Some(unit) = self.units.last().filter(|unit| unit.is_wanted) {
            self.kept = Some((unit.end, unit.run));
        }
        if self.kept.is_some_and(|(_, run)| run == self.run) {
            return;
        }
        let needed = self.clocks.first().and_then(|first| self.units.get(first)).map(|unit| unit.start);
        // The unit in which a record begins is kept with it.
        let open = self.pieces.first_open().map(|at| self.units.partition_point(|unit| unit.start <= at));
        let open = open.and_then(|after| self.units.get(after.checked_sub(1)?)).map(|unit| unit.start);
        let kept_from = [needed, open].into_iter().flatten().min();
        exact.forget(self.kept.map_or(0, |(end, _)| end), kept_from.unwrap_or(u64::MAX));
    }

    /// A record in several frames.
    #[cold]
    fn joined(&mut self, records: &Records<'a, '_, Slots<'a>>, frame: &Frame<'a>) {
        let Some(record) = records.record(*frame) else { return };
        let (begun, own) = self.place(records, &record);
        if begun.saturating_add(1) < self.units.len() {
            self.pieces.note(own);
        }
        self.units.last_mut().into_iter().for_each(|unit| unit.count(own));
        let time = time_of(&mut self.names, &record);
        self.meet(time, begun);
    }

    /// The time of a record that begins in a unit, and ends in the last one.
    fn meet(&mut self, time: Option<Time>, begun: usize) {
        self.meet_here(time);
        if self.last.is_wanted
            && let Some(unit) = self.units.get_mut(begun)
        {
            unit.is_wanted = true;
        }
    }

    /// The time of a record in the last unit.
    fn meet_here(&mut self, time: Option<Time>) {
        if time != self.last.time {
            self.last = LastTime { time, is_wanted: self.times.wants(time) };
        }
        let Some(unit) = self.units.last_mut() else { return };
        unit.is_wanted |= self.last.is_wanted;
        time.into_iter().for_each(|time| widen(&mut unit.span, time, time));
    }

    fn gap(&mut self, gap: &Gap) {
        self.is_clean = false;
        self.others = self.others.saturating_add(1);
        if let Some(unit) = self.units.last_mut().filter(|unit| self.is_inside && !unit.has_crc) {
            // It has all that is before the cut.
            unit.is_damaged |= !unit.has_user_frames;
            unit.end = unit.end.min(gap.offset());
        }
        self.leave();
        self.done.lose(None, gap.offset(), gap.len(), gap.cause());
        (self.is_inside, self.is_anew, self.run) = (false, true, self.run.saturating_add(1));
        self.clocks.clear();
        self.pieces.interrupt();
        self.exact.iter_mut().for_each(Exact::interrupt);
    }

    /// The first frame of a user's stream after a gap: the Meta of its unit must say by itself how it was read.
    #[cold]
    fn prove(&mut self, records: &Records<'_, '_, Slots<'_>>, frame: &Frame<'_>) {
        self.is_anew = false;
        let Some(unit) = self.units.last() else { return };
        let has_head = unit.front.as_ref().is_some_and(|front| front.has_head());
        let own = self.meta.first().is_some_and(|meta| meta.offset() >= unit.start);
        if unit.is_damaged || has_head || own && Front::is_declared(records.streams(), &self.meta, false) {
            return;
        }
        let front = self.front(records, frame.offset());
        if front.is_none() && own && Front::is_declared(records.streams(), &self.meta, true) {
            return;
        }
        if let Some(unit) = self.units.last_mut() {
            let len = frame.offset().saturating_sub(unit.start);
            self.done.lose(None, unit.start, len, "a Meta that does not declare all that is read");
            (unit.start, unit.is_damaged, unit.front) = (frame.offset(), front.is_none(), front);
        }
    }

    /// The bytes that are lacking before the rest of a unit that begins at `at`.
    fn front(&mut self, records: &Records<'_, '_, Slots<'_>>, at: u64) -> Option<Rc<Front>> {
        let frames = records.frames();
        let unit = frames.unit().filter(|_| at < self.size)?;
        let at = i128::from(at).saturating_sub(unit.position().into());
        let mut front = match u64::try_from(at) {
            Ok(INDEX) => Some(Front::marker()),
            Ok(at) if at > INDEX && at <= self.room => {
                self.room = self.room.saturating_sub(at);
                Front::of(at, unit, records.streams(), &self.meta, frames.byte_order())
            }
            _ => None,
        };
        front.iter_mut().for_each(|front| front.share(&mut self.head));
        front.map(Rc::new)
    }

    /// Something is wrong in a frame that was read.
    fn finding(&mut self, finding: &Finding) {
        if finding.severity() != Severity::Error {
            return;
        }
        self.is_clean = false;
        if finding.cause().element() != traceglass::rtc::element::CRC {
            self.errors = self.errors.saturating_add(1);
        }
    }

    /// A checksum was compared.
    fn sum(&mut self, at: u64, status: CrcStatus) {
        if let CrcStatus::Ieee | CrcStatus::Writer = status {
            self.is_ieee.get_or_insert(status == CrcStatus::Ieee);
        }
        // That of a rest covered more.
        let front = self.units.last().and_then(|unit| unit.front.as_ref());
        if !front.is_some_and(|front| front.has_head()) {
            self.sums.push((at, status));
        }
    }

    fn finish(mut self, order: ByteOrder) -> Units<'a> {
        self.leave();
        self.pieces.interrupt();
        for unit in self.units.iter().filter(|unit| unit.is_damaged && unit.has_user_frames) {
            let len = unit.end.saturating_sub(unit.start);
            self.done.lose(None, unit.start, len, "frames of a unit of which the beginning is lost");
        }
        self.done.lost.sort_by_key(|lost| lost.offset);
        Units {
            all: self.units,
            pieces: self.pieces,
            marks: self.marks,
            errors: self.errors,
            sums: self.sums,
            is_ieee: self.is_ieee == Some(true),
            order,
            is_clean: self.is_clean,
            left: self.exact.map(Exact::into_left).unwrap_or_default(),
        }
    }
}

/// Notes whether the times of a stream count from the Unix epoch, as those before.
fn judge(done: &mut Rewritten, has_told: &mut bool, records: &Records<'_, '_, Slots<'_>>, slot: usize) {
    let is_absolute = records.streams().is_absolute(slot);
    done.is_mixed |= std::mem::replace(has_told, true) && done.is_absolute != is_absolute;
    done.is_absolute = is_absolute;
}

/// True if a clock counts from another one.
fn is_delta(records: &Records<'_, '_, Slots<'_>>, slot: usize) -> bool {
    records.streams().at(slot).is_some_and(|stream| stream.delta().is_some())
}

/// Numbers begin anew, and with them a session.
fn begin(units: &mut [Unit], run: &mut u64, clocks: &mut Clocks, pieces: &mut Pieces) {
    pieces.interrupt();
    let number = units.len().saturating_sub(1);
    if let Some(unit) = units.last_mut() {
        *run = run.saturating_add(1);
        (unit.is_first, unit.run, unit.needs) = (true, *run, number);
        clocks.clear();
    }
}

/// True if it is the Index of the first unit of a session.
fn is_zero(frame: &Frame<'_>) -> bool {
    let index = Index::from_frame(frame).filter(|_| frame.id() == id::INDEX);
    index.is_some_and(|index| index.is_ok_and(|index| index.number() == Some(0)))
}
