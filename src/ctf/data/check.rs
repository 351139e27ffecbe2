//! Reading everything, to see whether it can be read.

use super::element::{DISCARDED, PAYLOAD, SEQUENCE_NUMBER, TIMESTAMP};
use super::fields::Fields;
use super::loss::Losses;
use super::packet::Packet;
use super::packets::Packets;
use super::program::Programs;
use super::record::Record;
use super::stream::Open;
use super::value::Value;
use crate::ctf::schema::{Schema, Scope};
use crate::error::{Error, ErrorKind, Finding, Result, Severity};
use crate::record::{self, Class, Head, Listener, Slot, Text, Wants};
use core::cell::Cell;

/// The contents of a data stream, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    packets: u64,
    records: u64,
    lost_packets: u64,
    lost_records: u64,
}

impl Summary {
    /// The number of packets that were read.
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// The number of event records that were read.
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// The number of packets that are missing, by their sequence numbers.
    pub const fn lost_packets(&self) -> u64 {
        self.lost_packets
    }

    /// The number of event records the tracer discarded, by its counter.
    pub const fn lost_records(&self) -> u64 {
        self.lost_records
    }
}

/// Reads every field of a data stream, and reports what is wrong or odd, in file order.
///
/// Errors: what [`Packets`] and [`Records`](super::Records) cannot read; after a record, the packet's rest is lost, and
/// the next packet goes on. Warnings: text that is not valid in its encoding, a time stamp that lies before the one it
/// should follow, records after the end of their packet, packets that are missing, event records that were discarded.
///
/// The programs are those of the schema, or [none](Programs::NONE), which takes longer.
pub fn check(
    data: &[u8],
    schema: &Schema<'_, '_>,
    programs: Programs<'_>,
    report: &mut dyn FnMut(Finding),
) -> Summary {
    check_packets(Packets::new(data, schema), programs, report)
}

/// As [`check`], of packets in any order: those of a track of a [capture](super::wire::Capture).
pub fn check_packets(
    packets: Packets<'_, '_>,
    programs: Programs<'_>,
    report: &mut dyn FnMut(Finding),
) -> Summary {
    check_some(packets, u64::MAX, Losses::default(), None, programs, report).summary
}

/// The result of checking a [share](super::Share) of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked {
    summary: Summary,
    first: Option<First>,
    last: Option<u64>,
}

/// The first time of a share, the offset that it is at, and the number of findings before it.
#[derive(Clone, Copy, Debug)]
struct First {
    value: u64,
    offset: u64,
    told: u64,
}

impl Checked {
    /// The contents of the share, counted.
    pub const fn summary(&self) -> Summary {
        self.summary
    }

    /// The last time in it, if it has any.
    pub const fn last(&self) -> Option<u64> {
        self.last
    }

    /// A finding where the share before it ended with a later time than this one begins with, and the number of
    /// findings that come before it: for a share that was checked before that time was known.
    pub fn seam(&self, last: Option<u64>) -> Option<(u64, Finding)> {
        let (First { value, offset, told }, previous) = (self.first?, last?);
        (previous > value).then(|| (told, descends(previous, value, offset)))
    }
}

/// Checks so many packets of a stream.
pub(super) fn check_some(
    mut packets: Packets<'_, '_>,
    count: u64,
    mut losses: Losses,
    last: Option<u64>,
    programs: Programs<'_>,
    report: &mut dyn FnMut(Finding),
) -> Checked {
    let told = Cell::new(0_u64);
    let report = &mut |finding| {
        told.set(told.get().saturating_add(1));
        report(finding);
    };
    let mut summary = Summary::default();
    let mut times = Times { first: None, last, told: &told };
    for _ in 0..count {
        let packet = match packets.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => break,
            Err(error) => {
                report(Finding::new(Severity::Error, error));
                break;
            }
        };
        summary.packets = summary.packets.saturating_add(1);
        let loss = losses.observe(&packet);
        for (element, count, sum) in [
            (SEQUENCE_NUMBER, loss.packets(), &mut summary.lost_packets),
            (DISCARDED, loss.records(), &mut summary.lost_records),
        ] {
            if let Some(count) = count.filter(|count| *count > 0) {
                *sum = sum.saturating_add(count);
                report(Finding::warning(Error::new(
                    packet.offset(),
                    element,
                    ErrorKind::Discarded { count },
                )));
            }
        }
        times.follow(packet.begin(), packet.offset(), report);
        let latest = check_records(&packet, programs, &mut summary, &mut times, report);
        if let (Some(latest), Some(end)) = (packet.begin().max(latest), packet.end())
            && end < latest
        {
            let kind = ErrorKind::NotAscending { previous: latest, value: end };
            report(Finding::warning(Error::new(packet.offset(), TIMESTAMP, kind)));
        }
    }
    Checked { summary, first: times.first, last: times.last }
}

/// The times that were met.
struct Times<'t> {
    first: Option<First>,
    last: Option<u64>,
    /// The number of findings so far.
    told: &'t Cell<u64>,
}

impl Times<'_> {
    /// Compares a time with the one before it.
    #[inline(always)]
    fn follow(&mut self, time: Option<u64>, offset: u64, report: &mut dyn FnMut(Finding)) {
        let Some(value) = time else { return };
        if let Some(previous) = self.last.filter(|last| *last > value) {
            report(descends(previous, value, offset));
        }
        if self.first.is_none() {
            self.first = Some(First { value, offset, told: self.told.get() });
        }
        self.last = Some(value);
    }
}

fn descends(previous: u64, value: u64, offset: u64) -> Finding {
    Finding::warning(Error::new(offset, TIMESTAMP, ErrorKind::NotAscending { previous, value }))
}

/// Looks at the texts of a record.
struct Texts {
    wants: Wants,
    are_valid: bool,
}

impl Listener for Texts {
    #[inline(always)]
    fn begin(&mut self, _head: &Head, _class: &dyn Class) -> Wants {
        self.wants
    }

    #[inline(always)]
    fn text(&mut self, _slot: Slot, value: Text<'_>) {
        self.are_valid &= match value {
            Text::Utf8(bytes) => bytes.is_ascii() || core::str::from_utf8(bytes).is_ok(),
            Text::Other { is_valid, .. } => is_valid,
        };
    }
}

/// The time of the packet's latest record.
fn check_records(
    packet: &Packet<'_, '_>,
    programs: Programs<'_>,
    summary: &mut Summary,
    times: &mut Times<'_>,
    report: &mut dyn FnMut(Finding),
) -> Option<u64> {
    let mut latest = None;
    for mut fields in [packet.header(), packet.context()].into_iter().flatten() {
        if let Err(error) = check_fields(packet, &mut fields, report) {
            report(Finding::new(Severity::Error, error));
        }
    }
    let mut open = Open::new(packet.clone(), programs);
    let mut place = None;
    loop {
        let checked = open.next().and_then(|is_there| {
            if !is_there {
                return Ok(false);
            }
            // A header that is read at once has no text.
            let wants = Wants::ALL;
            let wants = if open.is_by_steps() { wants.without(record::Scope::Header) } else { wants };
            let mut texts = Texts { wants, are_valid: true };
            let (offset, cycles) = (open.head().offset, open.cycles());
            open.tell(&mut texts)?;
            summary.records = summary.records.saturating_add(1);
            times.follow(cycles, offset, report);
            latest = latest.max(cycles);
            if let Some(record) = open.record().filter(|_| !texts.are_valid) {
                check_record(packet, &record, &mut place, report)?;
            }
            Ok(true)
        });
        match checked {
            Ok(true) => {}
            Ok(false) => return latest,
            Err(error) => {
                report(Finding::new(Severity::Error, error));
                return latest;
            }
        }
    }
}

/// Reports the texts of a record that are not valid.
fn check_record<'a, 's>(
    packet: &Packet<'a, 's>,
    record: &Record<'_, 'a, 's>,
    place: &mut Option<Fields<'a, 's>>,
    report: &mut dyn FnMut(Finding),
) -> Result<()> {
    for scope in [Scope::EventHeader, Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
        if let Some(fields) = record.fields_in(scope, place) {
            check_fields(packet, fields, report)?;
        }
    }
    Ok(())
}

fn check_fields(
    packet: &Packet<'_, '_>,
    fields: &mut Fields<'_, '_>,
    report: &mut dyn FnMut(Finding),
) -> Result<()> {
    fields.each_field(|field| {
        if let Value::Text(text) = field.value()
            && !text.is_valid()
        {
            let offset = packet.offset().saturating_add(field.start() / 8);
            report(Finding::warning(Error::new(offset, PAYLOAD, ErrorKind::NotUtf8)));
        }
    })
}
