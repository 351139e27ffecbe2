//! One model above the formats: a trace has tracks, and on them events with a time, a name and fields.
//!
//! A viewer, an exporter and a table all want *the things that happened, in the order of time, on which track, with
//! which fields*, whatever the format. Each format's adaptor is a [`Source`]; what it yields is the same for all.
//!
//! # Layout
//! ```text
//! Trace ──▸ Source     a file, or the files of a recording: one `Timeline` for each format
//!             │
//!             ▼        in the order of time
//!           Item ──┬─▸ Track    a task, a sequence, a stream …: announced before its first event
//!                  │     └─▸ parent, kind, label, clock, fields
//!                  └─▸ Event    instant, begin, end, counter, gap, discarded
//!                        └─▸ input, offset, len, time, track, name, flows, fields
//! ```
//! Nothing is copied: labels, names and records borrow from the input. An event and a track tell a
//! [`Listener`](crate::record::Listener) what they say ([`Record`](crate::record::Record)). A range that cannot be read
//! is an event, too ([`EventKind::Gap`]), at the place in the order where reading met it.
//!
//! If a format has no slices, such as CTF, [`states`] finds them: a table says which events begin and end one.
//!
//! # Units
//! Times are nanoseconds in 128 bits: of a clock that is absolute since the Unix epoch, of any other since that clock's
//! own origin. A time that is not known is `None`, never zero.
//!
//! # Memory
//! All state lies in slots that the caller lends: a [`Room`] is a slice or an array, or one that can grow, such as a `Vec`
//! with the feature `alloc`. One that is full and cannot grow is [`CapacityExceeded`](crate::ErrorKind::CapacityExceeded).
//! With that feature, `Trace::read` allocates all of it.
//!
//! # A format of one's own
//! Whoever implements [`Source`] can use everything that takes one. [`Track::new`] and [`Event::new`] make what it yields;
//! [`with_record`](Event::with_record) gives an event the fields that listeners are told. `examples/own_format.rs` is such
//! a format, in a hundred lines.
//!
//! # Examples
//! A program that reads whatever it is given lends what each format takes, and has one loop:
//! ```
//! # #[cfg(all(feature = "rfr", feature = "rtc"))] {
//! use traceglass::event::{Item, Rooms, Source, Trace, Window, rfr};
//! use traceglass::rtc;
//!
//! fn print(inputs: &[&[u8]]) -> traceglass::Result<()> {
//!     let mut registry = [rfr::RegistrySlot::EMPTY; 64];
//!     let mut names = [rfr::NameSlot::EMPTY; 64];
//!     let mut lanes = [const { rfr::Lane::EMPTY }; 16];
//!     let (mut slots, mut stream_names) = ([rtc::StreamSlot::EMPTY; 16], [rtc::NameSlot::EMPTY; 16]);
//!     let mut buffer = [0; 4096];
//!     let rooms = Rooms::new()
//!         .rfr(&mut registry, &mut names, &mut lanes, &mut [])
//!         .rtc(&mut slots, &mut stream_names, &mut buffer);
//!     let mut trace = Trace::open(inputs, rooms)?;
//!     // Nanoseconds; what lies before is not read where the format has a way around it.
//!     trace.set_window(Window::new(Some(1_700_000_000_000_000_000), None));
//!     while let Some(item) = trace.next_item()? {
//!         match item {
//!             Item::Track(track) => println!("{}: {}", track.id(), track.label()),
//!             Item::Event(event) => {
//!                 let bytes = event.offset()..event.end_offset();
//!                 println!("{:?} {} {bytes:?}", event.time(), event.name());
//!             }
//!             _ => {}
//!         }
//!     }
//!     Ok(())
//! }
//! # assert!(print(&[b"PK\x03\x04"]).is_err());
//! # }
//! ```
//! Of one format:
//! ```
//! # #[cfg(feature = "rfr")] {
//! use traceglass::event::{EventKind, Item, Source, rfr};
//! # let file = b"\x0brfr-c/0.0.2\x80\xe2\xcf\xaa\x06\0\xc0\x84\x3d\x04\x09\x01\x01\x04\x09\x01\x01\x05\x07\x63\x04main\0\0\x02\x04\x06\x05\x09\x07\x05";
//!
//! let mut registry = rfr::Registry::new([rfr::RegistrySlot::EMPTY; 16]);
//! let mut timeline = rfr::Timeline::new(&mut registry, [rfr::NameSlot::EMPTY; 16], [const { rfr::Lane::EMPTY }; 16]);
//! timeline.add(0, file)?;
//! let mut polled = 0;
//! while let Some(item) = timeline.next_item()? {
//!     match item {
//!         Item::Track(track) => println!("{} is called {}", track.id(), track.label()),
//!         Item::Event(event) => match (event.kind(), event.time()) {
//!             (EventKind::Begin, Some(time)) => polled -= time.ns(),
//!             (EventKind::End, Some(time)) => polled += time.ns(),
//!             _ => {}
//!         },
//!         _ => {}
//!     }
//! }
//! assert_eq!(polled, 5_000); // ns
//! # }
//! # Ok::<(), traceglass::Error>(())
//! ```

mod data;
pub mod element;
// The noun of the module's name.
#[allow(clippy::module_inception)]
mod event;
mod label;
#[cfg(feature = "alloc")]
mod owned;
mod rank;
mod rooms;
pub mod states;
mod tell;
mod time;
mod trace;
mod track;

#[cfg(feature = "ctf")]
pub mod ctf;
#[cfg(feature = "dial9")]
pub mod dial9;
#[cfg(feature = "rdf-contents")]
pub mod rdf;
#[cfg(feature = "rfr")]
pub mod rfr;
#[cfg(feature = "rtc")]
pub mod rtc;

pub use event::{Event, EventKind, FlowId, Flows, Number};
pub use label::Label;
pub use rooms::Rooms;
pub use time::{Time, Window};
pub use trace::Trace;
pub use track::{Clock, Track, TrackId, TrackKind};

pub use crate::room::Room;

use crate::error::Result;

/// A part of a trace, in the order of time.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Item<'a> {
    /// A track, before the first event on it. It may come again when more is known of it.
    Track(Track<'a>),
    /// Something that happened.
    Event(Event<'a>),
    /// The end of a track: there is no event on it from here on. Most tracks last as long as the trace, and have none.
    Ended(TrackId),
}

/// The adaptor of a format: yields the tracks and the events of what it reads. It can be implemented outside of this crate.
///
/// A track comes before the first event on it, and its parent before that. Slices of a track are nested.
pub trait Source {
    /// The next track or event.
    ///
    /// Damage is no error: it is an event, and reading goes on where it can.
    ///
    /// # Errors
    /// `CapacityExceeded`, if lent room is full and does not grow. From then on there is none.
    fn next_item(&mut self) -> Result<Option<Item<'_>>>;

    /// Leaves out events that are not in this window, and does not read what lies outside of it where the format tells:
    /// RTC is sought by its indices, of CTF packets are skipped, of RFR chunks, and what comes after the window ends it.
    /// To be set before the first item.
    ///
    /// An event whose time is not known is in no window but [`Window::ALL`]; damage that is met while a window is read is
    /// told.
    fn set_window(&mut self, window: Window);
}
