//! A trace whose memory is allocated.

use super::Trace;
use super::element::INPUTS;
use super::rooms::Rooms;
use crate::detect::Format;
use crate::error::{Error, ErrorKind, Result};
use alloc::vec::Vec;

impl Trace<'_, '_, '_> {
    /// Opens a trace in memory that is allocated, and hands it to `read`.
    ///
    /// ```
    /// use traceglass::event::{Item, Source, Trace};
    ///
    /// fn count(inputs: &[&[u8]]) -> traceglass::Result<u64> {
    ///     Trace::read(inputs, |trace| {
    ///         let mut events = 0;
    ///         while let Some(item) = trace.next_item()? {
    ///             events += u64::from(matches!(item, Item::Event(_)));
    ///         }
    ///         Ok(events)
    ///     })
    /// }
    /// # assert!(count(&[b"PK\x03\x04"]).is_err());
    /// ```
    ///
    /// # Errors
    /// Those of [`open`](Self::open), of `read`, and
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) if memory cannot be had.
    pub fn read<T, E: From<Error>>(
        inputs: &[&[u8]],
        read: impl FnOnce(&mut Trace<'_, '_, '_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let first = inputs.first().copied().unwrap_or_default();
        let _ = &first; // In a build without formats.
        match Format::detect(first) {
            #[cfg(feature = "rfr")]
            Some(Format::Rfr) => {
                let callsites = inputs.iter().filter_map(|input| crate::rfr::Callsites::parse(input).ok());
                let count = callsites.map(Iterator::count).max().unwrap_or(0);
                let mut callsites = lend(count, || crate::rfr::Site::EMPTY)?;
                let (mut registry, mut names, mut lanes) = (Vec::new(), Vec::new(), Vec::new());
                let rooms = Rooms::new().rfr(&mut registry, &mut names, &mut lanes, &mut callsites);
                read(&mut Trace::open(inputs, rooms)?)
            }
            #[cfg(feature = "ctf")]
            Some(Format::Ctf1 | Format::Ctf2) => {
                use crate::ctf::{data::MergeSlot, metadata::MetadataStream, schema::Node, schema::Schema};
                let nodes = Schema::needed(&MetadataStream::parse(first)?)?;
                let mut nodes = lend(usize::try_from(nodes).unwrap_or(usize::MAX), || Node::EMPTY)?;
                let (mut schema, mut streams) = (None, Vec::new());
                let mut merge = lend(inputs.len(), || MergeSlot::EMPTY)?;
                let rooms = Rooms::new().ctf(&mut schema, &mut nodes, &mut merge, &mut streams);
                read(&mut Trace::open(inputs, rooms)?)
            }
            #[cfg(feature = "rtc")]
            Some(Format::Rtc) => {
                // A record of several frames; one of 16 MiB or more says how much it needs.
                let mut buffer = lend(first.len().min(1 << 24), || 0)?;
                let (mut slots, mut names) = (Vec::new(), Vec::new());
                let rooms = Rooms::new().rtc(&mut slots, &mut names, &mut buffer);
                read(&mut Trace::open(inputs, rooms)?)
            }
            #[cfg(feature = "dial9")]
            Some(Format::Dial9) => {
                let mut storage = super::dial9::Storage::default();
                read(&mut Trace::open(inputs, Rooms::new().dial9(storage.rooms()))?)
            }
            #[cfg(all(feature = "rdf-contents", feature = "zstd"))]
            Some(Format::Rdf) => {
                let size = super::rdf::needed(&crate::rdf::File::parse(first)?);
                let mut buffer = lend(usize::try_from(size).unwrap_or(usize::MAX), || 0)?;
                let mut decoder = lend(1, crate::zstd::Workspace::new)?;
                let decoder = decoder.first_mut().ok_or(NO_MEMORY)?;
                let (mut tracks, mut lanes) = (Vec::new(), Vec::new());
                let rooms = Rooms::new().rdf(&mut buffer, decoder, &mut tracks, &mut lanes);
                read(&mut Trace::open(inputs, rooms)?)
            }
            _ => read(&mut Trace::open(inputs, Rooms::new())?),
        }
    }
}

#[cfg(all(feature = "rdf-contents", feature = "zstd"))]
const NO_MEMORY: Error = Error::new(0, INPUTS, ErrorKind::CapacityExceeded { capacity: 0, needed: 1 });

/// This many values; an error if there is no memory for them.
#[allow(dead_code)] // In a build without formats.
fn lend<T>(count: usize, value: impl FnMut() -> T) -> Result<Vec<T>> {
    let mut all = Vec::new();
    let needed = crate::bytes::to_u64(count);
    let kind = ErrorKind::CapacityExceeded { capacity: 0, needed };
    all.try_reserve_exact(count).map_err(|_| Error::new(0, INPUTS, kind))?;
    all.resize_with(count, value);
    Ok(all)
}
