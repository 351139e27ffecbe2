//! A recording as tracks and events, and its files as they are.

use super::Rfr;
use super::files::{Kind, Part};
use super::scan;
use super::select::{self, stated};
use super::sites::Sites;
use crate::status::{Failure, Result};
use crate::trace::{DamageExt as _, Events, Outcome, Part as Extracted, Parts, Untold, begin_before};
use std::mem;
use traceglass::event::rfr::{Registry, Timeline};
use traceglass::event::{EventKind, Item, Source, Window};
use traceglass::{ErrorKind, Format, Severity};

/// Groups of chunks that overlap in time: only those of one group are open at the same time.
fn groups<'p, 'a>(chunks: impl Iterator<Item = &'p Part<'a>>) -> Vec<Vec<&'p Part<'a>>>
where
    'a: 'p,
{
    let mut chunks: Vec<_> =
        chunks.filter_map(|part| part.header().map(|header| (stated(&header), part))).collect();
    chunks.sort_by_key(|&((start, _), _)| start);
    let mut groups: Vec<Vec<&Part<'_>>> = Vec::new();
    let mut last = 0;
    for ((start, end), part) in chunks {
        match groups.last_mut() {
            Some(group) if start < last => group.push(part),
            _ => groups.push(vec![part]),
        }
        last = last.max(end);
    }
    groups
}

impl Rfr<'_> {
    /// The begin of the chunks that have so many bytes before a time. Streams, which have no chunks, are read as a whole.
    pub(super) fn begin_of_chunks(&self, time: i128, bytes: u64) -> Option<i128> {
        let begin = |header| i128::try_from(stated(&header).0).unwrap_or(i128::MAX).saturating_mul(1_000);
        let chunks = self.files.chunks();
        begin_before(chunks.filter_map(|part| Some((begin(part.header()?), part.size))), time, bytes)
    }

    pub(super) fn export_events(&self, window: Window, events: &mut dyn Events) -> Result<Outcome> {
        let mut damage = scan::unopened(&self.files);
        for part in self.files.of(Kind::Meta).chain(self.files.of(Kind::Callsites)) {
            scan::errors(part, &mut damage)?;
        }
        let content = |error| Failure::content(Format::Rfr, error);
        let (sites, mut entries) = (Sites::open(&self.files)?, Vec::new());
        let table = sites.table(&mut entries).map_err(content)?;
        let mut registry = Registry::new(Vec::new());
        let streams = self.files.of(Kind::Stream).map(|part| vec![part]);
        for group in groups(self.files.chunks()).into_iter().chain(streams) {
            let data = group.iter().map(|part| part.data()).collect::<Result<Vec<_>>>()?;
            let mut timeline = Timeline::new(&mut registry, Vec::new(), Vec::new());
            timeline.set_window(window);
            if !select::is_large(&self.files) {
                timeline.read_all();
            }
            if let Some(table) = table {
                timeline.set_callsites(table);
            }
            for (input, data) in data.iter().enumerate() {
                timeline.add(input, data.bytes()).map_err(content)?;
            }
            while let Some(item) = timeline.next_item().map_err(content)? {
                if let Item::Event(event) = &item
                    && let EventKind::Gap(gap) = event.kind()
                {
                    let path = group.get(event.input()).and_then(|part| part.path.as_deref());
                    damage.add_in(path, gap.cause());
                }
                events.item(&item)?;
            }
            events.advance(group.iter().map(|part| part.size).fold(0, u64::saturating_add));
        }
        Ok(damage.into())
    }

    /// Times that have no place on the time axis: their records are events all the same.
    pub(super) fn tell_untold(&self, tell: &mut Untold<'_>) -> Result<()> {
        for part in self.files.chunks().chain(self.files.of(Kind::Stream)) {
            scan::check(part, |finding| {
                let cause = finding.cause();
                if finding.severity() == Severity::Error && matches!(cause.kind(), ErrorKind::Overflow { .. })
                {
                    tell(part.path.as_deref(), cause);
                }
            })?;
        }
        Ok(())
    }

    pub(super) fn extract_files(&self, parts: &mut dyn Parts) -> Result<Outcome> {
        let mut damage = scan::unopened(&self.files);
        let mut numbers = [0_u64; 4];
        for part in &self.files.parts {
            scan::errors(part, &mut damage)?;
            let [chunk, stream, callsites, meta] = &mut numbers;
            let (kind, number) = match part.kind {
                Kind::Chunk(_) => ("chunk", chunk),
                Kind::Stream => ("stream", stream),
                Kind::Callsites => ("callsites", callsites),
                Kind::Meta => ("meta", meta),
            };
            let next = number.saturating_add(1);
            let number = mem::replace(number, next);
            let path = part.path.as_deref();
            let extracted = Extracted { kind, number, path, offset: Some(0), ..Extracted::default() };
            parts.whole(&extracted, part.data()?.bytes())?;
        }
        Ok(damage.into())
    }
}
