//! The entries of `traceglass::event`.

use crate::sum::fields;
use traceglass::event::rfr::{Lane, NameSlot, Registry, RegistrySlot, Timeline};
use traceglass::event::{EventKind, Item, Label, Rooms, Source, Trace, Window, ctf, dial9, rdf, rtc};

fn label(label: Label<'_>) -> u64 {
    label.as_str().map_or(1, str::len) as u64
}

/// All that a source yields.
fn drain(mut source: impl Source) -> u64 {
    source.set_window(Window::new(Some(1), None));
    let mut sum = 0_u64;
    loop {
        match source.next_item() {
            Ok(Some(Item::Track(track))) => {
                sum ^= track.id().number() ^ label(track.label()) ^ fields(&track);
            }
            Ok(Some(Item::Event(event))) => {
                sum ^= event.time().map_or(0, |time| time.ns() as u64) ^ event.offset();
                sum ^= label(event.name()) ^ fields(&event) ^ event.ends().count() as u64;
                if let EventKind::Gap(gap) = event.kind() {
                    sum ^= gap.end();
                }
            }
            Ok(Some(_)) => {}
            Ok(None) => return sum,
            Err(error) => return error.offset(),
        }
    }
}

entries! {
    event_rtc(data) {
        let mut buffer = [0; 256];
        drain(rtc::Timeline::new(0, data, [traceglass::rtc::StreamSlot::EMPTY; 8], [traceglass::rtc::NameSlot::EMPTY; 8], &mut buffer))
    }
    event_rdf(data) {
        let mut buffer = [0; 256];
        let mut decoder = traceglass::zstd::Workspace::new();
        let slots = ([const { rdf::TrackSlot::EMPTY }; 8], [const { rdf::Lane::EMPTY }; 8]);
        match rdf::Timeline::new(0, data, &mut buffer, &mut decoder, slots.0, slots.1) {
            Ok(timeline) => drain(timeline),
            Err(error) => error.offset(),
        }
    }
    event_trace(data) {
        let (metadata, stream) = data.split_at_checked(data.len() / 2).unwrap_or_default();
        let (mut registry, mut lanes) = ([RegistrySlot::EMPTY; 8], [const { Lane::EMPTY }; 4]);
        let mut callsites = [traceglass::rfr::Site::EMPTY; 4];
        let mut names = [NameSlot::EMPTY; 8];
        let mut schema = None;
        let mut nodes = [traceglass::ctf::schema::Node::EMPTY; 16];
        let mut merge = [const { traceglass::ctf::data::MergeSlot::EMPTY }; 2];
        let mut streams = [const { ctf::StreamSlot::EMPTY }; 2];
        let (mut slots, mut buffer) = ([traceglass::rtc::StreamSlot::EMPTY; 4], [0; 256]);
        let mut stream_names = [traceglass::rtc::NameSlot::EMPTY; 4];
        let rooms = Rooms::new()
            .rfr(&mut registry, &mut names, &mut lanes, &mut callsites)
            .ctf(&mut schema, &mut nodes, &mut merge, &mut streams)
            .rtc(&mut slots, &mut stream_names, &mut buffer);
        match Trace::open(&[metadata, stream], rooms) {
            Ok(trace) => drain(trace),
            Err(error) => error.offset(),
        }
    }
    event_dial9(data) {
        use traceglass::dial9::{ClassSlot, Input, LayoutSlot, OrderRooms, PoolPlace, Run, SchemaSlot, TypeSlot};
        let (mut schemas, mut classes) = ([SchemaSlot::EMPTY; 8], [ClassSlot::EMPTY; 8]);
        let (mut layouts, mut runs) = ([LayoutSlot::EMPTY; 8], [Run::EMPTY; 64]);
        let (mut types, mut pools) = ([TypeSlot::EMPTY; 16], [PoolPlace::EMPTY; 16]);
        let mut inputs = [Input::EMPTY; 2];
        let order = OrderRooms {
            schemas: &mut schemas,
            classes: &mut classes,
            layouts: &mut layouts,
            runs: &mut runs,
            types: &mut types,
            pools: &mut pools,
            inputs: &mut inputs,
        };
        let (mut kinds, mut moments) = ([dial9::KindSlot::EMPTY; 8], [dial9::Moment::EMPTY; 16]);
        let mut tracks = [dial9::TrackSlot::EMPTY; 16];
        let mut timeline = dial9::Timeline::new(dial9::Rooms {
            order,
            kinds: &mut kinds,
            moments: &mut moments,
            tracks: &mut tracks,
        });
        if timeline.add(0, data).and_then(|()| timeline.add(1, data)).is_err() {
            return 1;
        }
        drain(timeline)
    }
    event_rfr(data) {
        let mut registry = Registry::new([RegistrySlot::EMPTY; 8]);
        let mut timeline = Timeline::new(&mut registry, [NameSlot::EMPTY; 8], [const { Lane::EMPTY }; 4]);
        if timeline.add(0, data).and_then(|()| timeline.add(1, data)).is_err() {
            return 1;
        }
        drain(timeline)
    }
}
