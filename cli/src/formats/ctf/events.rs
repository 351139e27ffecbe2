//! The event records of a trace's data streams, merged by time.

use super::Ctf2;
use crate::input::Mapped;
use crate::output::{grouped, shown};
use crate::status::{Failure, Result, Status};
use crate::trace::{Events, Growing, Outcome};
use std::fs;
use std::path::{Path, PathBuf};
use traceglass::Format;
use traceglass::ctf::data::MergeSlot;
use traceglass::ctf::schema::{Node, Schema};
use traceglass::event::ctf::{StreamSlot, Timeline};
use traceglass::event::{EventKind, Item, Source};

/// So many gaps are told one by one.
const SHOWN: u64 = 12;

/// The data streams of a trace: the files beside its metadata, by their names.
fn streams(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error| Failure::unreadable(format!("cannot read {}: {error}", shown(folder)));
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        if path.is_file() && name != b"metadata" && !name.starts_with(b".") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

impl Ctf2<'_> {
    pub(super) fn export_events(&self, events: &mut dyn Events) -> Result<Outcome> {
        let content = |error| Failure::content(Format::Ctf2, error);
        let Some(folder) = self.folder else {
            return Err(Failure::unreadable(
                "this is metadata alone; name the directory of the trace to export its events",
            ));
        };
        let errors = self.errors();
        let mut damage = self.damage(&errors);
        let mut status = self.status();
        let needed = usize::try_from(Schema::needed(&self.stream).map_err(content)?).unwrap_or(usize::MAX);
        let mut nodes = vec![Node::EMPTY; needed];
        let schema = Schema::compile(&self.stream, &mut nodes).map_err(content)?;

        let mut data = Vec::new();
        for path in streams(folder)? {
            match Mapped::open(&path) {
                Ok(mapped) => data.push((path, mapped)),
                Err(unreadable) => {
                    damage.push(format!("{}: {}", shown(&path), unreadable.message));
                    status = status.max(Status::Damaged);
                }
            }
        }
        let mut slots = vec![MergeSlot::EMPTY; data.len()];
        let mut timeline = Timeline::new(schema, &mut slots, Growing::new(StreamSlot::EMPTY));
        for (input, (_, mapped)) in data.iter().enumerate() {
            timeline.add(input, mapped.data()).map_err(content)?;
        }
        let mut more = 0_u64;
        // How far each stream has been read.
        let mut read = vec![0_u64; data.len()];
        while let Some(item) = timeline.next_item().map_err(content)? {
            if let Item::Event(event) = &item {
                if let EventKind::Gap(gap) = event.kind() {
                    more = more.saturating_add(1);
                    status = status.max(Status::Damaged);
                    if more <= SHOWN {
                        let name = data.get(event.input()).and_then(|(path, _)| path.file_name());
                        let name = shown(Path::new(name.unwrap_or_default()));
                        damage.push(format!("{name}: {}", gap.cause()));
                    }
                }
                if let Some(read) = read.get_mut(event.input()) {
                    // Seldom enough that it costs nothing.
                    let ahead = event.offset().saturating_sub(*read);
                    if ahead >= 1 << 16 {
                        events.advance(ahead);
                        *read = event.offset();
                    }
                }
            }
            events.item(&item)?;
        }
        if let Some(more) = more.checked_sub(SHOWN).filter(|&more| more > 0) {
            damage.push(format!("and {} more", grouped(more)));
        }
        Ok(Outcome { status, damage })
    }
}
