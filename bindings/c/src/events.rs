//! Tracks and events: what happened, in the order of time, whatever the format.

use crate::arena::{Arena, Grown};
use crate::args::{Args, Names, tg_arg};
use crate::storage::Storage;
use crate::tg_status::{TG_END, TG_ERROR, TG_MISUSE, TG_OK, TG_TOO_SMALL};
use crate::{fail, give, lent, tg_bytes, tg_error, tg_status};
#[cfg(feature = "dial9")]
use traceglass::dial9;
use traceglass::event::{
    self, EventKind, FlowId, Flows, Item, Label, Number, Rooms, Source, Time, Trace, TrackKind, Window,
};
use traceglass::record::Record;
use traceglass::{Element, Error, ErrorKind, Format, Result};

/// The size of a tg_events in bytes.
#[cfg(target_pointer_width = "32")]
pub const TG_EVENTS_SIZE: usize = 16_896;
/// The size of a tg_events in bytes.
#[cfg(not(target_pointer_width = "32"))]
pub const TG_EVENTS_SIZE: usize = 21_504;

/// The tracks and events of a trace that is being read. It must stay where it is: its parts refer to each other.
#[repr(C, align(16))]
pub struct tg_events {
    pub bytes: [u8; TG_EVENTS_SIZE],
}

// SAFETY: bytes of any value.
unsafe impl Storage for tg_events {
    type Value = Reader;
}

/// The state of reading. The trace refers to the rooms, and the item to the trace: fields are used one by one.
pub(crate) struct Reader {
    arena: Arena,
    rooms: AllRooms,
    names: Names,
    trace: Option<Trace<'static, 'static, 'static>>,
    item: Option<Item<'static>>,
    /// The size of the buffer for RTC's records, which is half of the memory that was left; `None` for other formats.
    buffer: Option<usize>,
}

/// The rooms of all formats, which take no memory before they are used.
struct AllRooms {
    #[cfg(feature = "rfr")]
    rfr: RfrRooms,
    #[cfg(feature = "ctf")]
    ctf: CtfRooms,
    #[cfg(feature = "rtc")]
    rtc: RtcRooms,
    #[cfg(feature = "crash")]
    rdf: RdfRooms,
    #[cfg(feature = "dial9")]
    dial9: Dial9Rooms,
}

#[cfg(feature = "rfr")]
struct RfrRooms {
    registry: Grown<event::rfr::RegistrySlot>,
    names: Grown<event::rfr::NameSlot<'static>>,
    lanes: Grown<event::rfr::Lane<'static>>,
}

#[cfg(feature = "rtc")]
struct RtcRooms {
    slots: Grown<traceglass::rtc::StreamSlot<'static>>,
    names: Grown<traceglass::rtc::NameSlot<'static>>,
}

#[cfg(feature = "ctf")]
struct CtfRooms {
    schema: Option<traceglass::ctf::schema::Schema<'static, 'static>>,
    streams: Grown<event::ctf::StreamSlot<'static, 'static>>,
}

#[cfg(feature = "crash")]
struct RdfRooms {
    tracks: Grown<event::rdf::TrackSlot<'static>>,
    lanes: Grown<event::rdf::Lane<'static>>,
}

#[cfg(feature = "dial9")]
struct Dial9Rooms {
    schemas: Grown<dial9::SchemaSlot>,
    classes: Grown<dial9::ClassSlot>,
    layouts: Grown<dial9::LayoutSlot<'static>>,
    runs: Grown<dial9::Run>,
    types: Grown<dial9::TypeSlot>,
    pools: Grown<dial9::PoolPlace>,
    inputs: Grown<dial9::Input<'static>>,
    kinds: Grown<event::dial9::KindSlot<'static>>,
    moments: Grown<event::dial9::Moment>,
    tracks: Grown<event::dial9::TrackSlot<'static>>,
}

impl AllRooms {
    fn new(arena: *mut Arena) -> Self {
        Self {
            #[cfg(feature = "rfr")]
            rfr: RfrRooms { registry: Grown::new(arena), names: Grown::new(arena), lanes: Grown::new(arena) },
            #[cfg(feature = "ctf")]
            ctf: CtfRooms { schema: None, streams: Grown::new(arena) },
            #[cfg(feature = "rtc")]
            rtc: RtcRooms { slots: Grown::new(arena), names: Grown::new(arena) },
            #[cfg(feature = "crash")]
            rdf: RdfRooms { tracks: Grown::new(arena), lanes: Grown::new(arena) },
            #[cfg(feature = "dial9")]
            dial9: Dial9Rooms {
                schemas: Grown::new(arena),
                classes: Grown::new(arena),
                layouts: Grown::new(arena),
                runs: Grown::new(arena),
                types: Grown::new(arena),
                pools: Grown::new(arena),
                inputs: Grown::new(arena),
                kinds: Grown::new(arena),
                moments: Grown::new(arena),
                tracks: Grown::new(arena),
            },
        }
    }
}

/// The kind of an item.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum tg_item_kind {
    /// Something else.
    TG_ITEM_OTHER = 0,
    /// A track, before the first event on it. It may come again when more is known of it.
    TG_ITEM_TRACK = 1,
    /// Something happened.
    TG_ITEM_INSTANT = 2,
    /// A slice begins. Slices of a track are nested.
    TG_ITEM_BEGIN = 3,
    /// The slice that began last on the track ends.
    TG_ITEM_END = 4,
    /// The track has this value from now on.
    TG_ITEM_COUNTER = 5,
    /// A range of the input cannot be read: offset and len say which.
    TG_ITEM_GAP = 6,
    /// The recorder discarded events before this one.
    TG_ITEM_DISCARDED = 7,
}

/// An arrow from what causes to what is caused: it ends at an event with the same track and number.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_flow {
    /// The track of what is caused.
    pub track: u64,
    /// The number among the flows to this track, from 0.
    pub number: u64,
}

/// A track, or an event on one.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_item {
    pub kind: tg_item_kind,
    /// There is a time; one that is unknown or has more than 63 bits is none.
    pub has_time: bool,
    /// The time counts from the Unix epoch; else from the origin of a clock.
    pub is_absolute: bool,
    /// It was inferred from another record: the end of a slice that was not recorded.
    pub is_inferred: bool,
    /// The track has a parent.
    pub has_parent: bool,
    /// The counter is an integer of 64 bits.
    pub is_integer: bool,
    /// It is known how many events were discarded.
    pub has_count: bool,
    /// A flow begins with it.
    pub has_flow: bool,
    /// Nanoseconds.
    pub time: i64,
    /// The number of the track on which it happened; that of a track itself.
    pub track: u64,
    /// The track that a track belongs to, which was there before it.
    pub parent: u64,
    /// The name: of a task, of what happened. It holds until the next item.
    pub name: tg_bytes,
    /// The kind of a track: "task", "thread", "cpu", "counter".
    pub track_kind: tg_bytes,
    /// The unit of a counter's track; empty if it is not known.
    pub unit: tg_bytes,
    /// The number of the input, and its bytes there: none of a track and of what was inferred.
    pub input: usize,
    pub offset: u64,
    pub len: u64,
    /// The value of a counter; integer has it, too, if is_integer.
    pub value: f64,
    pub integer: i64,
    /// The number of events that were discarded.
    pub count: u64,
    /// The flow that begins with it: a wake, a spawn.
    pub starts: tg_flow,
    /// The flows that end with it: as many as ends_count, with consecutive numbers from this one on.
    pub ends: tg_flow,
    pub ends_count: u64,
    /// Of a gap, what is wrong: "unexpected-end".
    pub cause: tg_bytes,
}

/// Begins to read a trace whose files lie in memory: one of RTC or RDF; those of an RFR recording; the segments of a dial9
/// trace; the metadata of a CTF trace, and then its data streams. The first one tells the format.
///
/// The memory is for tracks, names and all else that grows with the trace. TG_TOO_SMALL, here or later, tells how many
/// bytes are needed to come further: the trace is opened anew with that much, or better with twice as much.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_events_open(
    events: *mut tg_events,
    inputs: *const tg_bytes,
    count: usize,
    memory: *mut u8,
    len: usize,
    error: *mut tg_error,
) -> tg_status {
    let Some(reader) = tg_events::place(events) else { return TG_MISUSE };
    let mut nodes = 0;
    // SAFETY: the storage is writable; each part of the reader is written before it is used. The inputs are readable and
    // stay, the memory is writable and used by nobody else, and the error is NULL or writable.
    unsafe {
        let inputs = lent(inputs, count);
        loop {
            let arena = &raw mut (*reader).arena;
            arena.write(Arena::new(memory, len));
            (&raw mut (*reader).rooms).write(AllRooms::new(arena));
            (&raw mut (*reader).names).write(Names::new(arena));
            (&raw mut (*reader).trace).write(None);
            (&raw mut (*reader).item).write(None);
            (&raw mut (*reader).buffer).write(None);
            let found = match open(reader, inputs, nodes) {
                Ok(trace) => {
                    (*reader).trace = Some(trace);
                    return TG_OK;
                }
                Err(found) => found,
            };
            match found.kind() {
                // Metadata with many aliases needs more nodes than one pass counts: it tells how many when it is compiled.
                ErrorKind::CapacityExceeded { needed, .. }
                    if needed > nodes && (*arena).needed().is_none() =>
                {
                    nodes = needed;
                }
                _ => return refuse(reader, found, error),
            }
        }
    }
}

/// Opens the trace.
///
/// # Safety
/// All of the reader but the trace is written, lies where it stays, and is used by nobody else; as are the inputs and the memory.
unsafe fn open(
    reader: *mut Reader,
    inputs: &[tg_bytes],
    nodes: u64,
) -> Result<Trace<'static, 'static, 'static>> {
    // SAFETY: as the caller says; the rooms have the arena when they grow, which is after this.
    let (arena, rooms) = unsafe { (&mut (*reader).arena, &mut (*reader).rooms) };
    // SAFETY: the memory is the caller's.
    let list = unsafe { arena.slots::<&'static [u8]>(inputs.len()) }.ok_or(NO_MEMORY)?;
    for (to, from) in list.iter_mut().zip(inputs) {
        // SAFETY: the inputs are readable, and stay.
        *to = unsafe { lent(from.ptr, from.len) };
    }
    let list: &'static [&'static [u8]] = list;
    let first = list.first().copied().unwrap_or_default();
    let lent = Rooms::new();
    let lent = match Format::detect(first) {
        #[cfg(feature = "rfr")]
        Some(Format::Rfr) => {
            let callsites = list.iter().filter_map(|input| traceglass::rfr::Callsites::parse(input).ok());
            let count = callsites.map(Iterator::count).max().unwrap_or(0);
            // SAFETY: the memory is the caller's.
            let callsites = unsafe { arena.slots(count) }.ok_or(NO_MEMORY)?;
            let RfrRooms { registry, names, lanes } = &mut rooms.rfr;
            lent.rfr(registry, names, lanes, callsites)
        }
        #[cfg(feature = "ctf")]
        Some(Format::Ctf1 | Format::Ctf2) => {
            let metadata = traceglass::ctf::metadata::MetadataStream::parse(first)?;
            let count = traceglass::ctf::schema::Schema::needed(&metadata)?.max(nodes);
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            // SAFETY: the memory is the caller's.
            let (nodes, merge) = unsafe { (arena.slots(count).ok_or(NO_MEMORY)?, arena.slots(list.len())) };
            let CtfRooms { schema, streams } = &mut rooms.ctf;
            lent.ctf(schema, nodes, merge.ok_or(NO_MEMORY)?, streams)
        }
        #[cfg(feature = "rtc")]
        Some(Format::Rtc) => {
            let half = arena.left() / 2;
            // SAFETY: the memory is the caller's, and the reader's.
            let buffer = unsafe {
                (*reader).buffer = Some(half);
                arena.slots::<u8>(half)
            };
            let RtcRooms { slots, names } = &mut rooms.rtc;
            lent.rtc(slots, names, buffer.ok_or(NO_MEMORY)?)
        }
        #[cfg(feature = "dial9")]
        Some(Format::Dial9) => {
            let Dial9Rooms { schemas, classes, layouts, runs, types, pools, inputs, kinds, moments, tracks } =
                &mut rooms.dial9;
            let order = dial9::OrderRooms { schemas, classes, layouts, runs, types, pools, inputs };
            lent.dial9(event::dial9::Rooms { order, kinds, moments, tracks })
        }
        #[cfg(feature = "crash")]
        Some(Format::Rdf) => {
            let size = event::rdf::needed(&traceglass::rdf::File::recover(first)?.0);
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            // SAFETY: the memory is the caller's.
            let (buffer, decoder) = unsafe { (arena.slots(size).ok_or(NO_MEMORY)?, arena.slots(1)) };
            let decoder = decoder.and_then(<[traceglass::zstd::Workspace]>::first_mut).ok_or(NO_MEMORY)?;
            let RdfRooms { tracks, lanes } = &mut rooms.rdf;
            lent.rdf(buffer, decoder, tracks, lanes)
        }
        _ => lent,
    };
    Trace::open(list, lent)
}

/// Memory is missing; the arena knows how much.
const NO_MEMORY: Error = Error::new(
    0,
    Element::new(&"memory of tg_events"),
    ErrorKind::CapacityExceeded { capacity: 0, needed: 0 },
);

/// Says what is wrong: with what is read, or how much memory is needed.
///
/// # Safety
/// The reader is open, and `to` is NULL or writable.
unsafe fn refuse(reader: *mut Reader, found: Error, to: *mut tg_error) -> tg_status {
    let ErrorKind::CapacityExceeded { capacity, needed } = found.kind() else {
        // SAFETY: it is NULL or writable.
        return unsafe { fail(found, to) };
    };
    // SAFETY: it is open, and nothing else uses these parts of it.
    let (arena, buffer) = unsafe { (&mut (*reader).arena, (*reader).buffer) };
    if let Some(size) = buffer {
        let missing = match arena.missing() {
            0 if usize::try_from(capacity) == Ok(size) => {
                usize::try_from(needed.saturating_sub(capacity)).unwrap_or(usize::MAX)
            }
            missing => missing,
        };
        // The buffer takes half of what is added, and what comes after it has to be aligned.
        let added = if missing > 0 { missing.saturating_add(align_of::<tg_events>()) } else { 0 };
        arena.lack(added.saturating_mul(2));
    }
    let status = if arena.needed().is_some() { TG_TOO_SMALL } else { TG_ERROR };
    let kind = ErrorKind::CapacityExceeded { capacity, needed: arena.needed().unwrap_or(0) };
    // SAFETY: it is NULL or writable.
    unsafe { fail(Error::new(found.offset(), found.element(), kind), to) };
    status
}

/// Leaves out events that did not happen from one time on, in nanoseconds, and before another. To be called before the
/// first item. What lies outside is not read, where the format has a way around it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_events_window(events: *mut tg_events, from: i64, to: i64) -> tg_status {
    let Some(reader) = tg_events::place(events) else { return TG_MISUSE };
    // SAFETY: it is open; of the reader, this is another part than the rooms.
    let Some(trace) = (unsafe { (*reader).trace.as_mut() }) else { return TG_MISUSE };
    trace.set_window(Window::new(Some(from.into()), Some(to.into())));
    TG_OK
}

/// The next track or event. Damage is no error: it is an item, and reading goes on where it can.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_events_next(
    events: *mut tg_events,
    item: *mut tg_item,
    error: *mut tg_error,
) -> tg_status {
    let Some(reader) = tg_events::place(events) else { return TG_MISUSE };
    // SAFETY: it is open. Of the reader, the trace uses the rooms, which nothing else does; the item of before is gone.
    unsafe {
        (*reader).item = None;
        (*reader).arena.begin_item();
        let Some(trace) = (*reader).trace.as_mut() else { return TG_MISUSE };
        match trace.next_item() {
            Ok(None) => TG_END,
            Ok(Some(found)) => {
                (*reader).item = Some(found);
                match said(&found, &mut (*reader).arena) {
                    Ok(found) => {
                        (*reader).arena.end_item();
                        give(Ok(Some(found)), item, error)
                    }
                    Err(found) => refuse(reader, found, error),
                }
            }
            Err(found) => refuse(reader, found, error),
        }
    }
}

/// The arguments of the event that was read last, or what is known of the track: a list, which holds until the next call
/// for this reader. What has none, has an empty one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_events_args(
    events: *mut tg_events,
    args: *mut *const tg_arg,
    count: *mut usize,
    error: *mut tg_error,
) -> tg_status {
    let Some(reader) = tg_events::place(events) else { return TG_MISUSE };
    if args.is_null() || count.is_null() {
        return TG_MISUSE;
    }
    // SAFETY: it is open; these are other parts of it than the trace, which the item refers to.
    unsafe {
        (*reader).arena.begin_args();
        let mut list = Args::new(&raw mut (*reader).arena, &mut (*reader).names);
        let told = match &(*reader).item {
            Some(Item::Track(track)) => track.tell(&mut list),
            Some(Item::Event(event)) => event.tell(&mut list),
            _ => Ok(()),
        };
        let found = told.and_then(|()| list.finish().ok_or(NO_MEMORY));
        match found {
            Ok(found) => {
                args.write(found.0);
                count.write(found.1);
                TG_OK
            }
            Err(found) => refuse(reader, found, error),
        }
    }
}

/// The form in which C is told of an item.
fn said(item: &Item<'static>, arena: &mut Arena) -> Result<tg_item> {
    let none = tg_flow { track: 0, number: 0 };
    let mut said = tg_item {
        kind: tg_item_kind::TG_ITEM_OTHER,
        has_time: false,
        is_absolute: false,
        is_inferred: false,
        has_parent: false,
        is_integer: false,
        has_count: false,
        has_flow: false,
        time: 0,
        track: 0,
        parent: 0,
        name: tg_bytes::NONE,
        track_kind: tg_bytes::NONE,
        unit: tg_bytes::NONE,
        input: 0,
        offset: 0,
        len: 0,
        value: 0.0,
        integer: 0,
        count: 0,
        starts: none,
        ends: none,
        ends_count: 0,
        cause: tg_bytes::NONE,
    };
    match item {
        Item::Track(track) => {
            said.kind = tg_item_kind::TG_ITEM_TRACK;
            said.track = track.id().number();
            said.has_parent = track.parent().is_some();
            said.parent = track.parent().map_or(0, |parent| parent.number());
            said.is_absolute = track.clock().is_absolute();
            said.track_kind = tg_bytes::new(track.kind().name().as_bytes());
            if let TrackKind::Counter { unit } = track.kind() {
                said.unit = tg_bytes::text(unit);
            }
            said.name = name(track.label(), arena)?;
        }
        Item::Event(event) => {
            said.track = event.track().number();
            (said.input, said.offset, said.len) = (event.input(), event.offset(), event.len());
            said.is_inferred = event.is_inferred();
            said.is_absolute = event.time().is_some_and(Time::is_absolute);
            let time = event.time().and_then(|time| i64::try_from(time.ns()).ok());
            (said.has_time, said.time) = (time.is_some(), time.unwrap_or(0));
            (said.has_flow, said.starts) = (event.starts().is_some(), event.starts().map_or(none, flow));
            let mut ends = event.ends();
            (said.ends_count, said.ends) = (Flows::count(&ends), ends.next().map_or(none, flow));
            said.name = name(event.name(), arena)?;
            happened(event.kind(), &mut said);
        }
        _ => {}
    }
    Ok(said)
}

fn flow(flow: FlowId) -> tg_flow {
    tg_flow { track: flow.track().number(), number: flow.number() }
}

fn happened(kind: EventKind, said: &mut tg_item) {
    said.kind = match kind {
        EventKind::Instant => tg_item_kind::TG_ITEM_INSTANT,
        EventKind::Begin => tg_item_kind::TG_ITEM_BEGIN,
        EventKind::End => tg_item_kind::TG_ITEM_END,
        EventKind::Counter(value) => {
            match value {
                Number::Float(value) => said.value = value,
                Number::Integer(value) => {
                    said.value = value as f64;
                    let integer = i64::try_from(value).ok();
                    (said.is_integer, said.integer) = (integer.is_some(), integer.unwrap_or(0));
                }
                _ => {}
            }
            tg_item_kind::TG_ITEM_COUNTER
        }
        EventKind::Gap(gap) => {
            (said.offset, said.len) = (gap.offset(), gap.len());
            said.cause = tg_bytes::new(gap.cause().kind().code().as_bytes());
            tg_item_kind::TG_ITEM_GAP
        }
        EventKind::Discarded { count } => {
            (said.has_count, said.count) = (count.is_some(), count.unwrap_or(0));
            tg_item_kind::TG_ITEM_DISCARDED
        }
        _ => tg_item_kind::TG_ITEM_OTHER,
    };
}

/// A name as text: where it stands as such in the input, it is borrowed.
fn name(label: Label<'static>, arena: &mut Arena) -> Result<tg_bytes> {
    match label.as_str() {
        Some(text) => Ok(tg_bytes::text(Some(text))),
        None => arena.say(&label).ok_or(NO_MEMORY),
    }
}
