//! Verification of everything in a file.

use super::callsite::{Callsite, Callsites};
use super::chunk::{Chunk, ChunkHeader, MICROS};
use super::element::{CALLSITE, CHUNK, CHUNK_HEADER, IDENTIFIER, META, RECORD, SEQUENCE, TIMESTAMP};
use super::identifier::{FormatIdentifier, Variant};
use super::item::Item;
use super::meta::Meta;
use super::record::Record;
use super::sequence::SequenceHeader;
use super::streaming::{StreamData, Streaming};
use crate::error::{Element, Error, ErrorKind, Finding, Report, Result, Summary};

/// The least and the greatest of some times.
#[derive(Clone, Copy)]
struct Span {
    least: u64,
    greatest: u64,
}

impl Span {
    const EMPTY: Self = Self { least: u64::MAX, greatest: 0 };

    fn add(&mut self, time: u64) {
        self.least = self.least.min(time);
        self.greatest = self.greatest.max(time);
    }

    fn add_all(&mut self, other: Self) {
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }

    /// Reports times that differ from what a header states. That of something empty states none.
    fn compare(self, earliest: u64, latest: u64, at: u64, element: Element, report: &mut Report<'_>) {
        if self.least > self.greatest {
            return;
        }
        for (stated, found) in [(earliest, self.least), (latest, self.greatest)] {
            if stated != found {
                report.warning(Error::new(at, element, ErrorKind::Mismatch { stated, found }));
            }
        }
    }
}

/// The state of a sequence while it is read.
struct Progress {
    header: SequenceHeader,
    times: Span,
    last: u64,
    stepped_back: bool,
    outside: bool,
    /// Times that are missing cannot be compared.
    is_damaged: bool,
}

impl Progress {
    const fn new(header: SequenceHeader) -> Self {
        Self { header, times: Span::EMPTY, last: 0, stepped_back: false, outside: false, is_damaged: false }
    }

    #[inline(always)]
    fn record(&mut self, record: &Record<'_>, chunk: &ChunkHeader, fits: u64, report: &mut Report<'_>) {
        report.item();
        let value = record.micros();
        let mut warn = |kind| report.warning(Error::new(record.offset(), TIMESTAMP, kind));
        if value < self.last && !core::mem::replace(&mut self.stepped_back, true) {
            warn(ErrorKind::NotAscending { previous: self.last, value });
        }
        let (start, end) = (chunk.start(), chunk.end());
        if !(start..end).contains(&value) && !core::mem::replace(&mut self.outside, true) {
            warn(ErrorKind::OutsideRange { start, end });
        }
        if value > fits
            && let Err(error) = record.unix_micros(chunk)
        {
            report.error(error);
        }
        self.last = value;
        self.times.add(value);
    }

    fn finish(&self, report: &mut Report<'_>) {
        if self.is_damaged {
            return;
        }
        let header = self.header;
        self.times.compare(header.earliest(), header.latest(), header.offset(), SEQUENCE, report);
    }
}

impl Chunk<'_> {
    /// Reads everything and reports what is wrong.
    ///
    /// Errors are records and objects that cannot be delivered, and times that have more than 64 bits. Where the end of
    /// what is damaged can be found, the check goes on after it. Warnings are times that step back, lie outside the
    /// period of the chunk (of both kinds the first in each sequence), or are not what a header states, a period that
    /// ends before it starts, and bytes after the last sequence.
    pub fn check(&self, report: &mut dyn FnMut(Finding)) -> Result<Summary> {
        let report = &mut Report::new(report);
        let header = self.header();
        if let Err(error) = header.base_micros() {
            report.error(error);
        }
        if header.start() > header.end() {
            let kind = ErrorKind::NotAscending { previous: header.start(), value: header.end() };
            report.warning(Error::new(header.offset(), CHUNK_HEADER, kind));
        }
        let mut times = Span::EMPTY;
        let mut sequence: Option<Progress> = None;
        let mut whole = true;
        // The greatest time that has a date; without a base time none has, which was reported.
        let fits = header.base_micros().map_or(u64::MAX, |base| u64::MAX.saturating_sub(base));
        let mut items = self.items();
        loop {
            if let Some(sequence) = &mut sequence
                && let Some(record) = items.take_record()
            {
                sequence.record(&record, &header, fits, report);
                continue;
            }
            match items.next_item() {
                Ok(Some(Item::Sequence(next))) => {
                    report.item();
                    if let Some(sequence) = sequence.replace(Progress::new(next)) {
                        sequence.finish(report);
                        times.add_all(sequence.times);
                    }
                }
                Ok(Some(Item::Object(_))) => report.item(),
                Ok(Some(Item::Record(record))) => {
                    if let Some(sequence) = &mut sequence {
                        sequence.record(&record, &header, fits, report);
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    report.error(error);
                    whole = false;
                    if let Some(sequence) = &mut sequence {
                        sequence.is_damaged = true;
                    }
                    if items.recover().is_none() {
                        return Ok(report.summary());
                    }
                }
            }
        }
        if let Some(sequence) = sequence {
            sequence.finish(report);
            times.add_all(sequence.times);
        }
        if whole {
            times.compare(header.earliest(), header.latest(), header.offset(), CHUNK_HEADER, report);
        }
        trailing(items.offset(), items.left(), CHUNK, report);
        Ok(report.summary())
    }
}

impl Callsites<'_> {
    /// Reads all callsites from here on and reports what is wrong.
    ///
    /// Errors are callsites that cannot be delivered, one that the file ends in among them. Levels without a name are
    /// warnings.
    pub fn check(&self, report: &mut dyn FnMut(Finding)) -> Result<Summary> {
        let report = &mut Report::new(report);
        let mut callsites = self.clone();
        loop {
            match callsites.next_callsite() {
                Ok(Some(callsite)) => {
                    report.item();
                    check_callsite(&callsite, report);
                }
                Ok(None) => return Ok(report.summary()),
                Err(error) => {
                    report.error(error);
                    if callsites.recover().is_none() {
                        return Ok(report.summary());
                    }
                }
            }
        }
    }
}

fn check_callsite(callsite: &Callsite<'_>, report: &mut Report<'_>) {
    if callsite.level().name().is_none() {
        let kind = ErrorKind::Invalid { value: callsite.level().number().into() };
        report.warning(Error::new(callsite.offset(), CALLSITE, kind));
    }
}

impl Meta<'_> {
    /// Reads everything and reports what is wrong.
    ///
    /// Errors are identifiers that cannot be delivered, and a time of more than 64 bits. Warnings are microseconds of a
    /// second or more, a format of chunks that is not read here, and bytes after the end.
    pub fn check(&self, report: &mut dyn FnMut(Finding)) -> Result<Summary> {
        let report = &mut Report::new(report);
        let created = self.created_at();
        check_subsec(created.offset, created.subsec_micros, report);
        if let Err(error) = self.created() {
            report.error(error);
        }
        let mut formats = self.formats();
        let mut first = true;
        loop {
            match formats.next_format() {
                Ok(Some(text)) => {
                    report.item();
                    if core::mem::take(&mut first)
                        && let Err(kind) = FormatIdentifier::supported(text, Variant::Chunk)
                    {
                        report.warning(Error::new(formats.last_offset(), IDENTIFIER, kind));
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    report.error(error);
                    return Ok(report.summary());
                }
            }
        }
        trailing(formats.offset(), formats.left(), META, report);
        Ok(report.summary())
    }
}

impl Streaming<'_> {
    /// Reads all records and reports what is wrong.
    ///
    /// Errors are records that cannot be delivered, and times of more than 64 bits. Warnings are microseconds of a
    /// second or more, records after an end, levels without a name, and the first time that steps back.
    pub fn check(&self, report: &mut dyn FnMut(Finding)) -> Result<Summary> {
        let report = &mut Report::new(report);
        let mut last = 0;
        let (mut stepped_back, mut ended, mut after_end) = (false, false, false);
        let mut records = self.records();
        let mut time = |offset, value, report: &mut Report<'_>| {
            let previous = core::mem::replace(&mut last, value);
            if value < previous && !core::mem::replace(&mut stepped_back, true) {
                report.warning(Error::new(offset, TIMESTAMP, ErrorKind::NotAscending { previous, value }));
            }
        };
        loop {
            if !ended && let Some(record) = records.take_plain() {
                report.item();
                time(record.offset(), record.unix_micros(), report);
                continue;
            }
            let record = match records.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(report.summary()),
                Err(error) => {
                    report.error(error);
                    if records.recover().is_some() {
                        continue;
                    }
                    return Ok(report.summary());
                }
            };
            report.item();
            if ended && !core::mem::replace(&mut after_end, true) {
                let count = records.left().saturating_add(records.offset()).saturating_sub(record.offset());
                report.warning(Error::new(record.offset(), RECORD, ErrorKind::TrailingBytes { count }));
            }
            check_subsec(record.offset(), record.subsec_micros(), report);
            match record.unix_micros() {
                Ok(value) => time(record.offset(), value, report),
                Err(error) => report.error(error),
            }
            match record.data() {
                StreamData::End => ended = true,
                StreamData::Callsite(callsite) => check_callsite(&callsite, report),
                _ => {}
            }
        }
    }
}

fn check_subsec(offset: u64, micros: u32, report: &mut Report<'_>) {
    let value = u64::from(micros);
    if value >= MICROS {
        report.warning(Error::new(offset, TIMESTAMP, ErrorKind::OutsideRange { start: 0, end: MICROS }));
    }
}

fn trailing(offset: u64, count: u64, element: Element, report: &mut Report<'_>) {
    if count > 0 {
        report.warning(Error::new(offset, element, ErrorKind::TrailingBytes { count }));
    }
}
