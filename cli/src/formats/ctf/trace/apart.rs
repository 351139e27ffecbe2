//! The event records of large traces: runs of packets are printed apart, on all cores, and their lines are merged.

use super::parts::{Parts, Span, tell_loss};
use super::place::Places;
use super::window;
use super::wire::Lane;
use crate::output::Out;
use crate::parallel::{Feed, ahead, pays};
use crate::progress::Progress;
use crate::record::{Lines, Shape};
use crate::status::Result;
use crate::trace::{Bounds, Selection};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use traceglass::Error;
use traceglass::ctf::data::{Loss, Packet, Packets, Programs, Share, Shares, Stream};
use traceglass::record::{Nobody, Source, Time};

/// The number of bytes of packets that are printed as a part, and the least if there are many streams.
const SHARE: u64 = 1 << 18;
const SHARE_MIN: u64 = 1 << 12;

/// The number of bytes of the parts of all streams together.
const SHARES: u64 = 1 << 22;

/// The number of streams whose lines are merged: of each of them, some wait in memory.
const STREAMS: usize = 256;

/// The number of bytes of lines of a part: the rest is printed when these are used up.
const PAGE: usize = 1 << 22;

/// Lines are moved to their page when there are as many bytes of them.
const FULL: usize = 1 << 16;

/// Streams that are printed apart.
pub struct Apart<'c> {
    lanes: &'c [Lane<'c>],
    programs: &'c [Programs<'c>],
    bounds: &'c Bounds,
    args: &'c Selection,
    shape: Shape,
    parts: Parts<'c>,
    is_colored: bool,
    bytes: u64,
    /// The pages that were used up.
    used: Mutex<Vec<Page>>,
}

/// A part of a stream.
enum Part<'c> {
    Share(usize, Share<'c, 'c>),
    Rest(usize, Box<Stream<'c, 'c, 'c>>),
}

/// The lines of a part.
#[derive(Default)]
struct Page {
    text: Vec<u8>,
    entries: VecDeque<Entry>,
    /// The bytes of packets.
    bytes: u64,
    /// The loss after its last record.
    loss: Loss,
}

/// Lines that belong together.
struct Entry {
    /// The time that they are merged by: never less than that of those before them.
    time: i128,
    /// The end of the lines.
    end: usize,
    /// The error or the loss that is said before them.
    note: Option<Note>,
}

enum Note {
    Error(Error),
    /// The loss before the end of a packet.
    Loss(Loss, Span),
}

/// The tools of a thread.
struct Printer<'c> {
    lines: Lines,
    /// The stream whose places are known.
    places: Option<(usize, Places)>,
    apart: &'c Apart<'c>,
}

impl<'c> Apart<'c> {
    /// The streams, if that is worth it and they can be printed so: a line does not tell how long after another it is.
    pub fn of(
        lanes: &'c [Lane<'c>],
        programs: &'c [Programs<'c>],
        bounds: &'c Bounds,
        args: &'c Selection,
        out: &Out,
    ) -> Option<Self> {
        let bytes = lanes.iter().map(Lane::bytes).sum();
        let shape = args.shape();
        let is_plain =
            !shape.delta && lanes.len() <= STREAMS && lanes.iter().all(|lane| lane.track().is_none());
        (pays(bytes) && is_plain).then(|| Self {
            lanes,
            programs,
            bounds,
            args,
            shape,
            parts: Parts::new(args.select.stream.as_deref(), &args.select.cpu),
            is_colored: out.is_colored(),
            bytes,
            used: Mutex::new(Vec::new()),
        })
    }

    /// Prints all records, and returns how many errors were met.
    pub fn print(&self, out: &mut Out) -> Result<u64> {
        let share = (SHARES / self.lanes.len().max(1) as u64).clamp(SHARE_MIN, SHARE);
        let mut total = 0_u64;
        let lanes = self.lanes.iter().enumerate().map(|(number, lane)| {
            let packets: Packets<'c, 'c> = window::packets(lane, self.bounds);
            total = total.saturating_add(lane.bytes().saturating_sub(packets.offset()));
            Shares::new(packets, share).map(move |share| Part::Share(number, share))
        });
        let lanes: Vec<_> = lanes.collect();
        let state =
            || Printer { lines: Lines::with(&self.shape, self.is_colored), places: None, apart: self };
        ahead(self.bytes, lanes, state, Printer::page, |feed| {
            let lines = Lines::new(&self.shape, out);
            let heads = self.lanes.iter().map(|_| Head::default()).collect();
            Merge { apart: self, lines, heads, damage: 0, progress: Progress::new(total) }.all(feed, out)
        })
    }

    fn path(&self, lane: usize) -> &'c Path {
        self.lanes.get(lane).map_or(Path::new(""), |lane| &lane.stream.path)
    }
}

impl<'c> Printer<'c> {
    /// Prints a part.
    fn page(&mut self, part: &Part<'c>) -> (Page, Option<Part<'c>>) {
        let used = self.apart.used.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut page = used.unwrap_or_default();
        let (number, mut stream) = match part {
            Part::Share(number, share) => {
                page.bytes = share.bytes();
                let lane = self.apart.lanes.get(*number);
                let programs = lane.and_then(|lane| self.apart.programs.get(lane.trace));
                (*number, Box::new(share.stream(programs.copied().unwrap_or(Programs::NONE))))
            }
            Part::Rest(number, stream) => (*number, stream.clone()),
        };
        let path = self.apart.path(number);
        if self.places.as_ref().is_none_or(|(known, _)| *known != number) {
            let is_alone = self.apart.lanes.len() == 1;
            self.places = Some((number, Places::new(path, None, is_alone, self.apart.args)));
        }
        let is_whole = self.records(path, &mut stream, &mut page);
        (page, (!is_whole).then_some(Part::Rest(number, stream)))
    }

    /// Prints the records of a stream until it ends, or the page is full; then false.
    fn records(&mut self, path: &Path, stream: &mut Stream<'c, 'c, 'c>, page: &mut Page) -> bool {
        let Self { lines, places, apart } = self;
        let Page { text, entries, loss: missing, .. } = page;
        let (mut packet, mut is_wanted, mut latest) = (None, true, i128::MIN);
        let mut put = |time: i128, end: usize, note: Option<Note>| {
            latest = latest.max(time);
            match entries.back_mut() {
                // Lines of one time are not parted.
                Some(last) if last.time == latest && note.is_none() => last.end = end,
                _ => entries.push_back(Entry { time: latest, end, note }),
            }
        };
        loop {
            // The room for a few lines stays in the cache.
            if lines.mark() >= FULL {
                lines.move_to(text);
                if text.len() >= PAGE {
                    return false;
                }
            }
            let at = text.len();
            let time = match stream.peek() {
                Ok(Some(head)) => head.time,
                Ok(None) => {
                    lines.move_to(text);
                    *missing = stream.take_loss();
                    return true;
                }
                Err(error) => {
                    put(i128::MIN, at.saturating_add(lines.mark()), Some(Note::Error(error)));
                    continue;
                }
            };
            let ns = time.map(Time::ns);
            if stream.packet().map(Packet::number) != packet {
                let here = stream.packet();
                // Of the first one, losses may add up with those of the part before.
                let (is_first, span) = (packet.is_none(), Span::of(here, time));
                packet = here.map(Packet::number);
                is_wanted = apart.parts.have(path, here);
                if let Some((_, places)) = places {
                    let place = lines.spell_place(places.of(here));
                    lines.set_spelled_place(&place);
                }
                let loss = stream.take_loss();
                if is_first || loss.is_some() {
                    put(
                        ns.unwrap_or(i128::MIN),
                        at.saturating_add(lines.mark()),
                        Some(Note::Loss(loss, span)),
                    );
                }
            }
            let told = if is_wanted && apart.bounds.wants(ns) {
                lines.next_of(stream)
            } else {
                stream.tell(&mut Nobody)
            };
            put(ns.unwrap_or(i128::MIN), at.saturating_add(lines.mark()), told.err().map(Note::Error));
        }
    }
}

/// A stream whose lines are merged.
#[derive(Default)]
struct Head {
    page: Page,
    /// The number of bytes of the page that were taken.
    at: usize,
    /// The time of what was taken last.
    time: Option<i128>,
    /// The loss before the next record.
    loss: Loss,
}

impl Head {
    /// The time of what comes next.
    fn next(&self) -> Option<i128> {
        Some(self.page.entries.front()?.time.max(self.time.unwrap_or(i128::MIN)))
    }
}

struct Merge<'c> {
    apart: &'c Apart<'c>,
    lines: Lines,
    heads: Vec<Head>,
    damage: u64,
    progress: Progress,
}

impl<'c> Merge<'c> {
    /// Merges all lines by time; those of one time in the order of their streams.
    fn all<I: Iterator<Item = Part<'c>>>(
        mut self,
        feed: &mut Feed<'_, I, Printer<'c>, (Page, Option<Part<'c>>)>,
        out: &mut Out,
    ) -> Result<u64> {
        let mut waiting = BinaryHeap::new();
        for lane in 0..self.heads.len() {
            waiting.extend(self.turn(lane, feed, out)?.map(|time| Reverse((time, lane))));
        }
        while let Some(Reverse((_, lane))) = waiting.pop() {
            let other = waiting.peek().map(|Reverse(other)| *other);
            self.take(lane, other, out)?;
            waiting.extend(self.turn(lane, feed, out)?.map(|time| Reverse((time, lane))));
        }
        self.lines.settle(out)?;
        Ok(self.damage)
    }

    /// The time of what comes next of a stream, on another page if need be; `None` at its end.
    fn turn<I: Iterator<Item = Part<'c>>>(
        &mut self,
        lane: usize,
        feed: &mut Feed<'_, I, Printer<'c>, (Page, Option<Part<'c>>)>,
        out: &mut Out,
    ) -> Result<Option<i128>> {
        let Some(head) = self.heads.get_mut(lane) else { return Ok(None) };
        loop {
            if let Some(time) = head.next() {
                return Ok(Some(time));
            }
            head.loss = head.loss.and(std::mem::take(&mut head.page.loss));
            let Some((_, (page, rest))) = feed.next(lane) else {
                let loss = std::mem::take(&mut head.loss);
                if loss.is_some() && self.apart.bounds.is_everything() {
                    self.lines.settle(out)?;
                    tell_loss(self.apart.path(lane), loss, out);
                }
                return Ok(None);
            };
            if let Some(rest) = rest {
                feed.put_back(lane, rest);
            }
            self.progress.advance(page.bytes);
            let mut used = std::mem::replace(&mut head.page, page);
            head.at = 0;
            (used.bytes, used.loss) = (0, Loss::default());
            used.text.clear();
            self.apart.used.lock().unwrap_or_else(PoisonError::into_inner).push(used);
        }
    }

    /// Takes what comes before the next line of another stream.
    fn take(&mut self, lane: usize, other: Option<(i128, usize)>, out: &mut Out) -> Result<()> {
        let Some(head) = self.heads.get_mut(lane) else { return Ok(()) };
        let mut end = head.at;
        while let Some(time) = head.next().filter(|&time| other.is_none_or(|other| (time, lane) < other)) {
            let Some(entry) = head.page.entries.pop_front() else { break };
            head.time = Some(time);
            let message = match entry.note {
                None => None,
                Some(Note::Loss(loss, span)) => {
                    let loss = std::mem::take(&mut head.loss).and(loss);
                    (loss.is_some() && span.is_near(self.apart.bounds)).then_some(Ok(loss))
                }
                Some(Note::Error(error)) => Some(Err(error)),
            };
            if let Some(message) = message {
                self.lines.put(head.page.text.get(head.at..end).unwrap_or_default());
                self.lines.settle(out)?;
                head.at = end;
                match message {
                    Ok(loss) => tell_loss(self.apart.path(lane), loss, out),
                    Err(error) => {
                        self.damage = self.damage.saturating_add(1);
                        out.warn(self.apart.path(lane), error);
                    }
                }
            }
            end = entry.end;
        }
        self.lines.put(head.page.text.get(head.at..end).unwrap_or_default());
        head.at = end;
        self.lines.pass(out)
    }
}
