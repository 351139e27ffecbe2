//! Records, in the order in which they begin.

use super::scan::{Event, Pass};
use super::session::Rtc;
use super::window::AROUND;
use crate::output::{Out, bytes};
use crate::record::{Lines, Place, Shape};
use crate::status::{Failure, Result, Status};
use crate::trace::{Cursor, Selection};
use std::collections::BTreeMap;
use std::path::PathBuf;
use traceglass::rtc::{NameSlot, Names, Stream, Streams};
use traceglass::{ErrorKind, Format, Severity};

/// The number of bytes of finished records that wait for an earlier one that is not finished yet.
const WAITING: usize = 16 << 20;

/// The number of streams that are spelled once, over all sessions; after that, all are spelled anew.
const CLASSES: u32 = 1 << 14;

impl Rtc<'_> {
    pub(super) fn print(&self, args: &Selection, cursor: &mut Cursor, out: &mut Out) -> Result<Status> {
        let wanted = args.select.stream.as_deref();
        let bounds = self.range(&args.window)?;
        let mut records = Records::new(args.shape(), self.grid().is_none(), out);
        let mut names = Names::new(Vec::new());
        let mut choice = Choice { wanted, revision: None, slot: None };
        let mut lost = None;
        // The offset up to which a growing file was printed, and the one from which it is read again.
        let place = cursor.places.entry(PathBuf::new()).or_default();
        let printed = *place;
        let again = cursor.kept.take().and_then(|kept| kept.downcast::<u64>().ok()).map_or(0, |again| *again);
        let sought = if cursor.follows { None } else { self.sought(&bounds) };
        let (is_sought, from) = (sought.is_some(), sought.map(|place| place.saturating_sub(AROUND)));
        let start =
            Some(again).filter(|&again| again > 0 && self.can_go_on()).or(from.filter(|&from| from > 0));
        // Of a range, whole records are printed.
        let wants_frames = args.raw && bounds.is_everything();
        // The offset of the first record that comes after the range and after the last record in it.
        let mut after: Option<u64> = None;
        let pass = Pass { start, follows: cursor.follows, ..Pass::default() };
        let (mut end, mut open) = (printed, None);
        let status = self.scan(&pass, |event| {
            match event {
                Event::Frame(frame, streams) => {
                    let is_new = wants_frames && frame.offset() >= printed;
                    if wanted.is_some() && frame.is_user() && choice.has(frame.slot(), streams) && is_new {
                        end = frame.end();
                        return out.raw(frame.payload());
                    }
                }
                Event::Record(record) => {
                    let is_chosen = wanted.is_none() || choice.has(Some(record.slot()), record.streams());
                    if !is_chosen && !is_sought {
                        return Ok(());
                    }
                    let offset = record.offset();
                    records.begin(&mut names, record.session(), out)?;
                    // Its vector grows.
                    let named = names.record(record).map_err(|error| Failure::content(Format::Rtc, error))?;
                    let time = named.time().map(|time| time.ns());
                    if is_sought && let Some(time) = time {
                        if bounds.is_past(time) {
                            let after = *after.get_or_insert(offset);
                            pass.stop.set(offset > after.saturating_add(AROUND));
                        } else if bounds.wants(Some(time)) {
                            after = None;
                        }
                    }
                    if !is_chosen || offset < printed || wants_frames || !bounds.wants(time) {
                        return Ok(());
                    }
                    let told = match args.raw {
                        false => records.lines.record(&named),
                        true => match record.bytes() {
                            Ok(data) => {
                                end = end.max(offset.saturating_add(1));
                                return out.raw(data);
                            }
                            Err(error) => Err(error),
                        },
                    };
                    match told {
                        Ok(()) => records.take(offset, out)?,
                        Err(error) => {
                            records.lines.settle(out)?;
                            out.warn(&args.path, error);
                        }
                    }
                }
                Event::Open(first) => {
                    open = first;
                    records.print_before(first, out)?;
                }
                Event::Gap(gap, _) => {
                    records.lines.settle(out)?;
                    out.warn(&args.path, format_args!("{}; {} lost", gap.cause(), bytes(gap.len())));
                    lost = Some(gap.cause());
                }
                // The gap reports what was lost.
                Event::Finding(finding) => {
                    let cause = finding.cause();
                    let is_told = matches!(cause.kind(), ErrorKind::Lost { .. }) || lost == Some(cause);
                    if finding.severity() == Severity::Error && !is_told {
                        records.lines.settle(out)?;
                        out.warn(&args.path, cause);
                    }
                }
                Event::Session(_) => {
                    if !cursor.follows {
                        records.print_before(None, out)?;
                    }
                }
                Event::Unit(_) => {}
            }
            Ok(())
        })?;
        records.lines.settle(out)?;
        if cursor.follows {
            *place = records.last.map_or(end, |last| last.saturating_add(1)).max(end);
            // The minor unit of the first record that is not finished, or of the last one that was printed.
            let from = open.unwrap_or(u64::MAX).min(*place);
            cursor.kept = Some(Box::new(if args.raw { *place } else { from }));
        }
        Ok(status)
    }
}

/// The stream that was asked for: by name, or by number if none has that name.
struct Choice<'w> {
    wanted: Option<&'w str>,
    /// The state of the table in which it was looked up, and its slot there.
    revision: Option<u32>,
    slot: Option<usize>,
}

impl Choice<'_> {
    fn has(&mut self, slot: Option<usize>, streams: Streams<'_, '_>) -> bool {
        let Some(wanted) = self.wanted else { return false };
        if self.revision != Some(streams.revision()) {
            self.revision = Some(streams.revision());
            let named = streams.by_name(wanted).map(Stream::id);
            self.slot = named.or_else(|| wanted.parse().ok()).and_then(|id| streams.slot(id));
        }
        slot.is_some() && slot == self.slot
    }
}

/// The names of streams that are known.
type Known<'a> = Names<'a, Vec<NameSlot<'a>>>;

/// Lines of records, in the order in which these begin.
struct Records {
    lines: Lines,
    /// The start of the line that was put last.
    mark: usize,
    /// Lines that wait, by where their records begin.
    waiting: BTreeMap<u64, Vec<u8>>,
    /// The number of bytes they have.
    size: usize,
    /// The offset of the first record that is not finished.
    open: Option<u64>,
    /// The offset of the last record that was printed.
    last: Option<u64>,
    /// The session that lines name, if there may be several.
    session: Option<u64>,
    shape: Shape,
}

impl Records {
    fn new(shape: Shape, names_sessions: bool, out: &Out) -> Self {
        Self {
            lines: Lines::new(&shape, out),
            mark: 0,
            waiting: BTreeMap::new(),
            size: 0,
            open: None,
            last: None,
            session: names_sessions.then_some(u64::MAX),
            shape,
        }
    }

    /// A line comes, of a record of this session.
    #[inline]
    fn begin(&mut self, names: &mut Known<'_>, session: u64, out: &mut Out) -> Result<()> {
        if names.count() > CLASSES {
            self.lines.settle(out)?;
            self.lines = Lines::new(&self.shape, out);
            *names = Names::new(Vec::new());
            self.session = self.session.map(|_| u64::MAX);
        }
        if self.session.is_some_and(|named| named != session) {
            self.session = Some(session);
            self.lines.set_place(&Place { shown: format!("session {session}"), json: Vec::new() });
        }
        self.mark = self.lines.mark();
        Ok(())
    }

    /// Takes the line that was put last: it waits if an earlier record is not finished.
    #[inline]
    fn take(&mut self, offset: u64, out: &mut Out) -> Result<()> {
        if self.open.is_none_or(|open| offset < open) && self.waiting.is_empty() {
            // Most are in one piece, and wait for none.
            self.last = Some(offset);
            return self.lines.pass(out);
        }
        let line = self.lines.cut(self.mark);
        self.size += line.len();
        self.waiting.insert(offset, line);
        Ok(())
    }

    /// Prints what begins before the first record that is open.
    fn print_before(&mut self, open: Option<u64>, out: &mut Out) -> Result<()> {
        self.open = open;
        while let Some(entry) = self.waiting.first_entry() {
            // One that never ends must not hold back all others for ever.
            if open.is_some_and(|open| *entry.key() > open) && self.size <= WAITING {
                break;
            }
            self.last = self.last.max(Some(*entry.key()));
            let line = entry.remove();
            self.size -= line.len();
            self.lines.put(&line);
            self.lines.pass(out)?;
        }
        Ok(())
    }
}
