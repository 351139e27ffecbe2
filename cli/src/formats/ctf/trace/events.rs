//! The event records of all data streams, merged by time; and the streams as they are.

use super::window::{self, from};
use super::wire::{self, Lane, lanes};
use super::{Ctf, programs};
use crate::states::{Following, Pairs, Room};
use crate::status::{Failure, Result};
use crate::trace::{Bounds, Damage, DamageExt as _, Events, Outcome, Part, Parts};
use std::path::Path;
use traceglass::ctf::data::{MergeSlot, Packets, Programs, check_packets};
use traceglass::event::ctf::{StreamSlot, Timeline};
use traceglass::event::states::{States, Storage};
use traceglass::event::{EventKind, Item, Source, Window};
use traceglass::{Format, Severity};

/// The number of bytes that are read between reports of progress, so that these cost nothing.
const STEP: u64 = 1 << 16;

/// A timeline of streams.
type Merged<'c, 't> = Timeline<'c, 'c, 't, Vec<StreamSlot<'c, 'c>>>;

impl Ctf<'_> {
    pub(super) fn export_events(
        &self,
        window: Window,
        pairs: Option<&Pairs>,
        events: &mut dyn Events,
    ) -> Result<Outcome> {
        let content = |error| Failure::content(Format::Ctf2, error);
        self.with(|traces, problems| {
            let mut damage: Damage = problems.into_iter().collect();
            let streams: Vec<_> = lanes(traces).into_iter().filter(Lane::has_bytes).collect();
            let mut room = programs::room(traces);
            let steps = programs::compile(traces, &mut room)?;
            let mut slots = vec![MergeSlot::EMPTY; streams.len()];
            let since = pairs.and_then(|pairs| pairs.since);
            let bounds = Bounds { from: since, to: window.to() };
            let mut timeline = merged(&streams, &steps, &|lane| from(lane, &bounds), &mut slots)?;
            damage.append(wire::problems(self, traces));
            let Some(pairs) = pairs.filter(|pairs| !pairs.are_off) else {
                timeline.set_window(window);
                return read(timeline, &streams, damage, events);
            };
            // Events before a window are read for what is open when it begins.
            let names: Vec<_> = streams.iter().map(|lane| name_of(&lane.stream.path)).collect();
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            let mut room = Room::default();
            let table = room.table(pairs)?;
            let mut storage = Storage::default();
            let mut states = States::new(&table, &names, storage.rooms()).map_err(content)?;
            // Streams are read from whole packets on. Where one tells more than others, its ends are not theirs.
            timeline.set_window(Window::new(since, None));
            let (mut may_learn, mut left) = (false, 0_u64);
            timeline.each_class(&mut |class| {
                may_learn |= states.may_learn(class);
                left = left.saturating_add(states.may_pair(class).into());
            });
            if may_learn {
                let mut slots = vec![MergeSlot::EMPTY; streams.len()];
                // An end that comes after the range makes its begin one.
                let bounds = Bounds { to: None, ..bounds };
                let mut before = merged(&streams, &steps, &|lane| from(lane, &bounds), &mut slots)?;
                while let Some(item) = before.next_item().map_err(content)? {
                    if let Item::Event(event) = &item
                        && states.learn(event).map_err(content)?
                    {
                        left = left.saturating_sub(1);
                        if left == 0 {
                            break;
                        }
                    }
                }
            }
            if let Some(since) = since {
                let mut slots = vec![MergeSlot::EMPTY; streams.len()];
                let mut start = merged(&streams, &steps, &|lane| window::start_of(lane, since), &mut slots)?;
                start.set_window(Window::new(None, Some(since)));
                while let Some(item) = start.next_item().map_err(content)? {
                    if let Item::Event(event) = &item {
                        states.learn_names(event).map_err(content)?;
                    }
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
        let mut captured = Vec::new();
        let damage = self.with(|traces, problems| {
            let mut damage: Damage = problems.into_iter().collect();
            let mut room = programs::room(traces);
            let programs = programs::compile(traces, &mut room)?;
            for lane in lanes(traces) {
                let steps = programs.get(lane.trace).copied().unwrap_or(Programs::NONE);
                check_packets(lane.packets(), steps, &mut |finding| {
                    if finding.severity() == Severity::Error {
                        damage.add_in(Some(&lane.stream.path), finding.cause());
                    }
                });
            }
            damage.append(wire::problems(self, traces));
            wire::extract(traces, parts)?;
            captured.extend(wire::captures(traces).map(|(_, stream, _)| stream.path.clone()));
            Ok(damage)
        })?;
        for (number, files) in (0..).zip(&self.found.traces) {
            let are_split = files.streams.iter().all(|stream| captured.contains(&stream.path));
            if are_split && !files.streams.is_empty() {
                continue;
            }
            let metadata = (&files.metadata_path, &files.metadata);
            let streams = files.streams.iter().filter(|stream| !captured.contains(&stream.path));
            let streams = streams.map(|stream| (&stream.path, &stream.data));
            let kinds = std::iter::once("metadata").chain(std::iter::repeat("stream"));
            for ((path, data), kind) in std::iter::once(metadata).chain(streams).zip(kinds) {
                let part = Part { kind, number, path: Some(path), offset: Some(0), ..Part::default() };
                parts.whole(&part, data.data())?;
            }
        }
        Ok(damage.into())
    }
}

/// The timeline of these packets of all streams.
fn merged<'c, 't>(
    streams: &[Lane<'c>],
    steps: &[Programs<'c>],
    packets: &dyn Fn(&Lane<'c>) -> Packets<'c, 'c>,
    slots: &'t mut [MergeSlot<'c, 'c>],
) -> Result<Merged<'c, 't>> {
    let mut timeline = Timeline::new(slots, Vec::new());
    for (input, lane) in streams.iter().enumerate() {
        let data = lane.stream.data.data();
        timeline.set_programs(steps.get(lane.trace).copied().unwrap_or(Programs::NONE));
        let session = lane.session.filter(|_| lane.has_restarts);
        let added = timeline.add_packets(input, data, lane.schema(), packets(lane), session);
        added.map_err(|error| Failure::content(Format::Ctf2, error))?;
    }
    Ok(timeline)
}

/// The name of a stream, for what is known by nothing else.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Reads all of a timeline.
fn read(
    mut timeline: Merged<'_, '_>,
    streams: &[Lane<'_>],
    mut damage: Damage,
    events: &mut dyn Events,
) -> Result<Outcome> {
    let content = |error| Failure::content(Format::Ctf2, error);
    // The number of bytes of each stream that have been read.
    let mut read = vec![0_u64; streams.len()];
    loop {
        // Looked at where it is: an item has some hundred bytes.
        let next = timeline.next_item();
        let item = match &next {
            Ok(Some(item)) => item,
            Ok(None) => break,
            Err(error) => return Err(content(*error)),
        };
        if let Item::Event(event) = item {
            if let EventKind::Gap(gap) = event.kind() {
                let path = streams.get(event.input()).map(|lane| lane.stream.path.as_path());
                damage.add_in(path, gap.cause());
            }
            if let Some(read) = read.get_mut(event.input()) {
                let ahead = event.offset().saturating_sub(*read);
                if ahead >= STEP {
                    events.advance(ahead);
                    *read = event.offset();
                }
            }
        }
        events.item(item)?;
    }
    Ok(damage.into())
}
