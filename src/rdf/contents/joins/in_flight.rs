//! Command buffers that the GPU was working on.

use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::rdf::contents::element::IN_FLIGHT_STORAGE;
use crate::rdf::contents::{BufferState, DriverEvents, EventValue, Marker};
use crate::work;

/// The GPU's progress in each command buffer, in the order of the file.
pub fn buffer_states<'a>(events: DriverEvents<'a>) -> impl Iterator<Item = BufferState> + Clone + use<'a> {
    events.events().map_while(Result::ok).filter_map(|event| match event.value() {
        Ok(EventValue::BufferState(state)) => Some(state),
        _ => None,
    })
}

/// A marker that the GPU began or ended.
#[derive(Clone, Copy, Debug)]
pub struct SeenMarker<'a> {
    marker: Marker,
    name: Option<&'a [u8]>,
    offset: u64,
}

impl<'a> SeenMarker<'a> {
    /// The marker.
    pub const fn marker(&self) -> Marker {
        self.marker
    }

    /// Offset in the chunk's data of the event that says so.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The name; `None` if the marker's begin is not in the file.
    pub const fn name(&self) -> Option<&'a [u8]> {
        self.name
    }
}

/// A marker that the GPU began and did not end.
#[derive(Clone, Copy, Debug)]
pub struct OpenMarker<'a> {
    marker: Marker,
    name: &'a [u8],
}

impl<'a> OpenMarker<'a> {
    /// A place for the storage that is lent.
    pub const EMPTY: Self = Self { marker: Marker::from_stored(0), name: &[] };

    /// The marker.
    pub const fn marker(&self) -> Marker {
        self.marker
    }

    /// The name.
    pub const fn name(&self) -> &'a [u8] {
        self.name
    }
}

default_is_empty!(OpenMarker<'_>);

/// The markers that the GPU was working on in a command buffer.
#[derive(Clone, Copy, Debug)]
pub struct BufferMarkers<'a, 's> {
    begun: Option<SeenMarker<'a>>,
    ended: Option<SeenMarker<'a>>,
    open: &'s [OpenMarker<'a>],
}

impl<'a, 's> BufferMarkers<'a, 's> {
    /// Finds the markers of one command buffer in flight.
    ///
    /// The GPU notes the last marker that it began and the last that it ended; the order of the events says which
    /// were begun and ended before. A GPU works on several at once: markers that the program ended may be open.
    /// `storage` takes a place for each marker that is open at once.
    ///
    /// # Errors
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with a number that suffices. Fewer may do: which marker an end
    /// belongs to is not known once some have no place.
    pub fn find(
        events: DriverEvents<'a>,
        state: BufferState,
        storage: &'s mut [OpenMarker<'a>],
    ) -> Result<Self> {
        let same = |marker: Marker, number: u32| marker.counter() == Marker::from_stored(number).counter();
        let (mut begun, mut ended): (Option<SeenMarker<'a>>, Option<SeenMarker<'a>>) = (None, None);
        let mut name_of_end = None;
        for event in events.events().map_while(Result::ok) {
            work::count(1);
            match event.value() {
                Ok(EventValue::MarkerBegin { cmd_buffer, marker, name, .. })
                    if cmd_buffer == state.cmd_buffer() =>
                {
                    if same(marker, state.begin()) && begun.is_none() {
                        begun = Some(SeenMarker { marker, name: Some(name), offset: event.offset() });
                    }
                    if same(marker, state.end()) && name_of_end.is_none() {
                        name_of_end = Some(name);
                    }
                }
                Ok(EventValue::MarkerEnd { cmd_buffer, marker, .. })
                    if cmd_buffer == state.cmd_buffer() && same(marker, state.end()) && ended.is_none() =>
                {
                    ended = Some(SeenMarker { marker, name: name_of_end, offset: event.offset() });
                }
                _ => {}
            }
        }
        let last_begin = begun.map_or(0, |marker| marker.offset);
        let last_end = ended.map_or(0, |marker| marker.offset);
        let capacity = storage.len();
        let mut depth = 0_usize;
        for event in events.events().map_while(Result::ok) {
            work::count(1);
            if event.offset() > last_begin.max(last_end) {
                break;
            }
            match event.value() {
                Ok(EventValue::MarkerBegin { cmd_buffer, marker, name, .. })
                    if cmd_buffer == state.cmd_buffer() && event.offset() <= last_begin =>
                {
                    if let Some(place) = storage.get_mut(depth) {
                        *place = OpenMarker { marker, name };
                    }
                    depth = depth.saturating_add(1);
                }
                Ok(EventValue::MarkerEnd { cmd_buffer, marker, .. })
                    if cmd_buffer == state.cmd_buffer() && event.offset() <= last_end =>
                {
                    // Nothing once the storage is too small.
                    let open = storage.get(..depth).unwrap_or_default();
                    // They nest; one that does not is looked for no deeper than programs nest in practice.
                    let place =
                        open.iter().rev().take(64).position(|one| work::counted(one.marker == marker));
                    if let Some(place) = place {
                        let at = depth.saturating_sub(place).saturating_sub(1);
                        work::count(depth.saturating_sub(at));
                        let mut next = OpenMarker::EMPTY;
                        for place in storage.get_mut(at..depth).unwrap_or_default().iter_mut().rev() {
                            core::mem::swap(place, &mut next);
                        }
                        depth = depth.saturating_sub(1);
                    }
                }
                _ => {}
            }
        }
        if depth > capacity {
            let kind = ErrorKind::CapacityExceeded { capacity: to_u64(capacity), needed: to_u64(depth) };
            return Err(Error::new(0, IN_FLIGHT_STORAGE, kind));
        }
        Ok(Self { begun, ended, open: storage.get(..depth).unwrap_or_default() })
    }

    /// The last marker that the GPU began.
    pub const fn begun(&self) -> Option<SeenMarker<'a>> {
        self.begun
    }

    /// The last marker that the GPU ended.
    pub const fn ended(&self) -> Option<SeenMarker<'a>> {
        self.ended
    }

    /// The markers that it began and did not end, in the order in which it began them: the outermost first.
    pub const fn open(&self) -> &'s [OpenMarker<'a>] {
        self.open
    }
}
