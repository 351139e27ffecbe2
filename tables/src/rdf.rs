//! RDF's own tables: markers, queues, memory, resources. Their columns are the fields that the records tell.

mod columns;
mod heard;

use crate::error::Result;
use crate::events::OWN;
use crate::query::Wanted;
use crate::rows::Rows;
use crate::sink::{Sink, hand_out, hand_out_rest};
pub(crate) use columns::tables;
use columns::{Columns, Front, MARKERS, MEMORY, QUEUES, RESOURCES};
use foldhash::fast::RandomState;
use heard::{Heard, Value};
use std::collections::HashMap;
use traceglass::event::{Event, EventKind, Label};
use traceglass::record::Record as _;

/// A resource: the number of its track, and its own.
type Resource = (u64, u64);

type Map<K, V> = HashMap<K, V, RandomState>;

/// The rows of a file's own tables.
pub(crate) struct Typed<'t> {
    file: &'t str,
    heard: Heard,
    tables: [Option<(Rows, Columns)>; 4],
    /// The markers that are open on each track, the innermost last.
    markers: Map<u64, Vec<Lasting>>,
    queues: Map<u64, Lasting>,
    resources: Map<Resource, Lasting>,
    /// The numbers that names refer to, and the names.
    ids: Map<Resource, u64>,
    names: Map<u64, String>,
}

/// The place and time at which something was met.
#[derive(Clone, Copy)]
struct Place {
    track: u64,
    offset: u64,
    ns: Option<i128>,
}

/// Something that has begun, and what was told of it so far.
struct Lasting {
    place: Place,
    name: Option<String>,
    depth: u64,
    /// By their columns, the first of each counts.
    values: Vec<(usize, Value)>,
}

impl<'t> Typed<'t> {
    /// The rows of those of the tables that are wanted.
    pub(crate) fn new(file: &'t str, wanted: Wanted<'_>) -> Self {
        let tables = [MARKERS, QUEUES, MEMORY, RESOURCES].map(|number| {
            let table = wanted.all.get(number).filter(|_| wanted.tables.contains(&number))?;
            Some((Rows::new(table, wanted.query), Columns::of(number)))
        });
        Self {
            file,
            heard: Heard::default(),
            tables,
            markers: Map::default(),
            queues: Map::default(),
            resources: Map::default(),
            ids: Map::default(),
            names: Map::default(),
        }
    }

    /// True if any of the tables is read.
    pub(crate) fn any(&self) -> bool {
        self.tables.iter().any(Option::is_some)
    }

    /// The columns of a table, if a record of the class that was heard belongs there.
    fn columns(&self, number: usize) -> Option<&Columns> {
        let (_, columns) = self.tables.get(number.checked_sub(OWN)?)?.as_ref()?;
        columns.has(self.heard.class()?).then_some(columns)
    }

    /// An event, and the number of its track.
    pub(crate) fn event(&mut self, event: &Event<'_>, track: u64, sink: &mut Sink<'_>) -> Result<()> {
        let kind = event.kind();
        if !matches!(kind, EventKind::Instant | EventKind::Begin | EventKind::End) {
            return Ok(());
        }
        self.heard.clear();
        // What cannot be read is a row of `gaps`.
        if event.tell(&mut self.heard).is_err() {
            return Ok(());
        }
        let place = Place { track, offset: event.offset(), ns: event.time().map(|time| time.ns()) };
        self.memory(place, sink)?;
        self.resource(place, sink)?;
        self.queue(kind, place, sink)?;
        self.marker(event, kind, place, sink)
    }

    /// A token is a row.
    fn memory(&mut self, place: Place, sink: &mut Sink<'_>) -> Result<()> {
        if self.columns(MEMORY).is_none() {
            return Ok(());
        }
        let Self { tables, heard, file, .. } = self;
        let Some(Some((rows, columns))) = tables.get_mut(MEMORY.wrapping_sub(OWN)) else { return Ok(()) };
        Front::begin(rows, file, place.track, place.offset, place.ns);
        rows.name(Front::KIND, Some(heard.kind()));
        for (slot, value) in heard.values() {
            if let Some(at) = columns.column(*slot) {
                value.put(rows, at);
            }
        }
        hand_out(MEMORY, rows, sink)
    }

    /// A resource is a row from its creation to its end.
    fn resource(&mut self, place: Place, sink: &mut Sink<'_>) -> Result<()> {
        let Some(columns) = self.columns(RESOURCES) else { return Ok(()) };
        let Some(said) = columns.said(&self.heard) else { return Ok(()) };
        let is_created = said.is_created;
        if let Some((id, name)) = said.name {
            if said.is_own_name {
                self.ids.insert((place.track, id), id);
            }
            self.names.insert(id, name);
            return Ok(());
        }
        let Some(number) = said.resource else { return Ok(()) };
        let key = (place.track, number);
        if let Some(id) = said.name_id {
            self.ids.insert(key, id);
            return Ok(());
        }
        let told = columns.told(&self.heard);
        if is_created {
            // A number that comes back is another resource: the one before it has ended without a word.
            self.ids.remove(&key);
            if let Some(before) = self.resources.remove(&key) {
                self.resource_ended(key, before, None, sink)?;
            }
        }
        let known = self.resources.entry(key).or_insert_with(|| {
            // What is met without its creation began before.
            let place = if is_created { place } else { Place { ns: None, ..place } };
            Lasting::new(place)
        });
        known.add(told);
        if said.is_destroyed
            && let Some(ended) = self.resources.remove(&key)
        {
            self.resource_ended(key, ended, place.ns, sink)?;
            self.ids.remove(&key);
        }
        Ok(())
    }

    fn resource_ended(
        &mut self,
        key: Resource,
        mut resource: Lasting,
        end: Option<i128>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        resource.name = self.ids.get(&key).and_then(|id| self.names.get(id)).cloned();
        self.row(RESOURCES, resource, end, sink)
    }

    /// Work on a queue is a row. Of work that began before the window, its end is an instant.
    fn queue(&mut self, kind: EventKind, place: Place, sink: &mut Sink<'_>) -> Result<()> {
        let Some(columns) = self.columns(QUEUES) else { return Ok(()) };
        let mut met = Lasting::new(place);
        met.add(columns.told(&self.heard));
        let (ended, end) = match kind {
            EventKind::Begin => (self.queues.insert(place.track, met), None),
            EventKind::End => (self.queues.remove(&place.track).or(Some(met)), place.ns),
            _ => (Some(met), None),
        };
        ended.map_or(Ok(()), |of| self.row(QUEUES, of, end, sink))
    }

    fn marker(
        &mut self,
        event: &Event<'_>,
        kind: EventKind,
        place: Place,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let Some(columns) = self.columns(MARKERS) else { return Ok(()) };
        let (told, number) = (columns.told(&self.heard), columns.marker(&self.heard));
        let open = self.markers.entry(place.track).or_default();
        match kind {
            EventKind::Begin => {
                let depth = open.len() as u64;
                let mut met = Lasting { name: text_of(event), depth, ..Lasting::new(place) };
                met.add(told);
                open.push(met);
                Ok(())
            }
            EventKind::End => match open.pop() {
                Some(mut ended) => {
                    ended.add(told);
                    self.row(MARKERS, ended, place.ns, sink)
                }
                None => {
                    let mut met = Lasting::new(Place { ns: None, ..place });
                    met.add(told);
                    self.row(MARKERS, met, place.ns, sink)
                }
            },
            _ => {
                // What more is told about a marker, before the next one begins, is a part of its row.
                let same = |marker: &&mut Lasting| {
                    number.as_ref().is_some_and(|number| marker.values.contains(number))
                };
                if let Some(marker) = open.last_mut().filter(same) {
                    marker.add(told);
                    return Ok(());
                }
                let depth = open.len() as u64;
                // Those of a history have a name in any case.
                let name = if number.is_none() { text_of(event) } else { None };
                let mut met = Lasting { name, depth, ..Lasting::new(place) };
                met.add(told);
                self.row(MARKERS, met, None, sink)
            }
        }
    }

    /// The row of something that has ended.
    fn row(&mut self, number: usize, of: Lasting, end: Option<i128>, sink: &mut Sink<'_>) -> Result<()> {
        let Some(Some((rows, columns))) =
            number.checked_sub(OWN).and_then(|number| self.tables.get_mut(number))
        else {
            return Ok(());
        };
        let Place { track, offset, ns } = of.place;
        Front::begin(rows, self.file, track, offset, ns);
        Front::end(rows, ns, end);
        if let Some(at) = columns.depth() {
            rows.u64(at, Some(of.depth));
        }
        for (at, value) in &of.values {
            value.put(rows, *at);
        }
        if let (Some(at), Some(name)) = (columns.name(), &of.name)
            && !rows.has(at)
        {
            rows.name(at, Some(name));
        }
        hand_out(number, rows, sink)
    }

    /// Writes the rest: what has not ended.
    pub(crate) fn finish(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        let in_order =
            |left: &mut Vec<Lasting>| left.sort_by_key(|of| (of.place.ns, of.place.offset, of.depth));
        let mut markers: Vec<_> = std::mem::take(&mut self.markers).into_values().flatten().collect();
        let mut queues: Vec<_> = std::mem::take(&mut self.queues).into_values().collect();
        in_order(&mut markers);
        in_order(&mut queues);
        markers.into_iter().try_for_each(|of| self.row(MARKERS, of, None, sink))?;
        queues.into_iter().try_for_each(|of| self.row(QUEUES, of, None, sink))?;
        let mut resources: Vec<_> = std::mem::take(&mut self.resources).into_iter().collect();
        resources.sort_by_key(|(key, of)| (of.place.ns, of.place.offset, *key));
        resources.into_iter().try_for_each(|(key, of)| self.resource_ended(key, of, None, sink))?;
        for (number, table) in self.tables.iter_mut().enumerate() {
            if let Some((rows, _)) = table {
                hand_out_rest(number.saturating_add(OWN), rows, sink)?;
            }
        }
        Ok(())
    }
}

impl Lasting {
    const fn new(place: Place) -> Self {
        Self { place, name: None, depth: 0, values: Vec::new() }
    }

    /// Adds what is told later; the first value of a column counts.
    fn add(&mut self, told: Vec<(usize, Value)>) {
        for (at, value) in told {
            if !self.values.iter().any(|(known, _)| *known == at) {
                self.values.push((at, value));
            }
        }
    }
}

/// The name of an event, if it is text.
fn text_of(event: &Event<'_>) -> Option<String> {
    match event.name() {
        Label::Bytes(_) => None,
        name => Some(name.to_string()),
    }
}
