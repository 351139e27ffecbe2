//! The event records of all data streams, merged by time; and the streams as they are.

use super::files::Stream;
use super::{Ctf, programs};
use crate::output::{grouped, shown};
use crate::states::{Following, Pairs, Room};
use crate::status::{Failure, Result, Status};
use crate::trace::{Events, Outcome, Part, Parts};
use std::path::Path;
use traceglass::ctf::data::{MergeSlot, check};
use traceglass::ctf::schema::Schema;
use traceglass::event::ctf::{StreamSlot, Timeline};
use traceglass::event::states::{States, Storage};
use traceglass::event::{EventKind, Item, Source, Window};
use traceglass::{Format, Severity};

/// How many gaps are reported one by one.
const SHOWN: u64 = 12;

/// How many bytes are read between reports of progress, so that these cost nothing.
const STEP: u64 = 1 << 16;

impl Ctf<'_> {
    pub(super) fn export_events(
        &self,
        window: Window,
        pairs: Option<&Pairs>,
        events: &mut dyn Events,
    ) -> Result<Outcome> {
        let content = |error| Failure::content(Format::Ctf2, error);
        self.with(|traces, damage| {
            let streams: Vec<_> = traces
                .iter()
                .flat_map(|trace| trace.files.streams.iter().map(move |stream| (stream, &trace.schema)))
                .collect();
            let mut slots = vec![MergeSlot::EMPTY; streams.len()];
            let mut timeline = Timeline::new(&mut slots, Vec::new());
            for (input, (stream, schema)) in streams.iter().enumerate() {
                timeline.add(input, stream.data.data(), schema).map_err(content)?;
            }
            let Some(pairs) = pairs.filter(|pairs| !pairs.are_off) else {
                timeline.set_window(window);
                return read(timeline, &streams, damage, events);
            };
            // What lies before a window is read for what is open when that begins.
            let names: Vec<_> = streams.iter().map(|(stream, _)| name_of(&stream.path)).collect();
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            let mut room = Room::default();
            let table = room.table(pairs)?;
            let mut storage = Storage::default();
            let mut states = States::new(&table, &names, storage.rooms()).map_err(content)?;
            let mut slots = vec![MergeSlot::EMPTY; streams.len()];
            let mut before = Timeline::new(&mut slots, Vec::new());
            for (input, (stream, schema)) in streams.iter().enumerate() {
                before.add(input, stream.data.data(), schema).map_err(content)?;
            }
            while let Some(item) = before.next_item().map_err(content)? {
                if let Item::Event(event) = &item {
                    states.learn(event).map_err(content)?;
                }
            }
            let mut following = Following { states, window, events };
            let outcome = read(timeline, &streams, damage, &mut following)?;
            following.finish()?;
            Ok(outcome)
        })
    }

    pub(super) fn extract_streams(&self, parts: &mut dyn Parts) -> Result<Outcome> {
        // A trace whose metadata says nothing is extracted all the same.
        let damage = self.with(|traces, mut damage| {
            let mut room = programs::room(traces);
            let programs = programs::compile(traces, &mut room)?;
            let streams = traces.iter().zip(programs).flat_map(|(trace, steps)| {
                trace.files.streams.iter().map(move |one| (one, &trace.schema, steps))
            });
            for (stream, schema, programs) in streams {
                let mut errors = 0_u64;
                check(stream.data.data(), schema, programs, &mut |finding| {
                    if finding.severity() == Severity::Error {
                        errors = errors.saturating_add(1);
                        if errors <= SHOWN {
                            damage.push(format!("{}: {}", shown(&stream.path), finding.cause()));
                        }
                    }
                });
                if let Some(more) = errors.checked_sub(SHOWN).filter(|&more| more > 0) {
                    damage.push(format!("{}: and {} more", shown(&stream.path), grouped(more)));
                }
            }
            Ok(damage)
        })?;
        for (number, files) in (0..).zip(&self.found.traces) {
            let of =
                |kind, number, path| Part { kind, name: None, number, path: Some(path), offset: Some(0) };
            let metadata = (&files.metadata_path, &files.metadata);
            let streams = files.streams.iter().map(|stream| (&stream.path, &stream.data));
            let kinds = std::iter::once("metadata").chain(std::iter::repeat("stream"));
            for ((path, data), kind) in std::iter::once(metadata).chain(streams).zip(kinds) {
                let part = parts.part(&of(kind, number, path))?;
                parts.write(part, data.data())?;
                parts.end(part)?;
                parts.advance(data.data().len() as u64);
            }
        }
        Ok(Outcome { status: Status::damaged_if(!damage.is_empty()), damage })
    }
}

/// The name of a stream, for what is known by nothing else.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Reads all of a timeline.
fn read<'a, 's>(
    mut timeline: Timeline<'a, 's, '_, Vec<StreamSlot<'a, 's>>>,
    streams: &[(&Stream, &Schema<'_, '_>)],
    mut damage: Vec<String>,
    events: &mut dyn Events,
) -> Result<Outcome> {
    let content = |error| Failure::content(Format::Ctf2, error);
    // How far each stream has been read.
    let mut read = vec![0_u64; streams.len()];
    let mut gaps = 0_u64;
    while let Some(item) = timeline.next_item().map_err(content)? {
        if let Item::Event(event) = &item {
            if let EventKind::Gap(gap) = event.kind() {
                gaps = gaps.saturating_add(1);
                if let (1..=SHOWN, Some((stream, _))) = (gaps, streams.get(event.input())) {
                    damage.push(format!("{}: {}", shown(&stream.path), gap.cause()));
                }
            }
            if let Some(read) = read.get_mut(event.input()) {
                let ahead = event.offset().saturating_sub(*read);
                if ahead >= STEP {
                    events.advance(ahead);
                    *read = event.offset();
                }
            }
        }
        events.item(&item)?;
    }
    if let Some(more) = gaps.checked_sub(SHOWN).filter(|&more| more > 0) {
        damage.push(format!("and {} more", grouped(more)));
    }
    Ok(Outcome { status: Status::damaged_if(!damage.is_empty()), damage })
}
