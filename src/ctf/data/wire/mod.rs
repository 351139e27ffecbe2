//! Captures: packets as they came over a link, or as they lay in a ring in memory.
//!
//! A folder of CTF has a file for each stream. Off a wire comes one file for all of them: packets of several streams and
//! processors, in the order in which they were sent, with what a boot loader printed before them, bytes that were lost,
//! and the packets after a restart. A dump of a ring has the same packets in the order of its slots, one of which may have
//! been written just then.
//!
//! # Layout
//!
//! ```text
//! capture: banner | packet | packet | pac| packet | log line | packet | …      UART, RTT, USB
//! ring:    packet 9 | packet 10 | torn | packet 4 | … | packet 8               memory
//! ```
//!
//! # Reading
//!
//! [`Scan`] finds packets and gaps in the order of the bytes, without any storage. [`Capture`] sorts them into tracks, in
//! room that the caller lends: by session, stream class, and stream or processor.
//!
//! ```
//! use traceglass::ctf::data::Packets;
//! use traceglass::ctf::data::wire::{Capture, Scan, WireSlot};
//! # use traceglass::ctf::schema::Schema;
//! # fn read(data: &[u8], schema: &Schema<'_, '_>) -> traceglass::Result<()> {
//! let mut slots = [WireSlot::EMPTY; 64];
//! let capture = Capture::read(Scan::new(data, schema), &mut slots[..])?;
//! for track in capture.tracks() {
//!     for packet in Packets::of_track(data, schema, track) {
//!         let packet = packet?;
//!         println!("{} records, doubtful: {}", packet.records().count(), packet.is_doubtful());
//!     }
//! }
//! for gap in capture.slots().iter().filter(|slot| slot.is_damage()) {
//!     println!("{}: {:?}", gap.kind().name(), gap.lost());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Rules
//!
//! - A packet begins where magic number, UUID, stream class, sizes and times of a header agree. It is whole if another one
//!   begins where it ends. It is so, too, if all of its records can be true and no other packet begins within it, and if
//!   it ends in one fill or the next packet is a multiple of its length away, as in a ring.
//! - Records of a packet that lost or gained bytes are delivered up to the first one that cannot be true, and
//!   [marked](super::Packet::is_doubtful): one of them may consist of two halves.
//! - Packets of a track are ordered by their sequence numbers, else by time: the oldest slot of a ring is found. A number
//!   or a time that goes back in any other way is a restart, from which on all tracks are of another session. Times of
//!   two sessions are never compared.
//! - A time of fewer than 64 bits goes on from packet to packet of a track and session. Nothing tells the upper bits of
//!   the first one: they are 0.
//! - Where there are no packets, a short clock that steps back by less than a thousandth of its range has not wrapped:
//!   processors race between taking the time and writing. Their records are sorted by time.
//! - The same packet twice is read once.
//! - Fill to the end of a capture is no damage. Anything else between packets is.
//!
//! # Captures that grow
//!
//! A scan of [growing](Scan::growing) bytes ends before the first packet or gap that more bytes could change; another one
//! [goes on from there](Scan::from_mark). What was found so far is [sorted](Capture::of_growing) as often as is wanted.
//!
//! # Limits
//!
//! - A slot is needed for each packet and each gap.
//! - A header reaches no further than 4 KiB, and neither does the first record that confirms one after damage.
//! - Without a magic number nothing is found again after damage: the first record that cannot be true ends the reading,
//!   and some records before it may be wrong. Bytes that are none of the trace's are [skipped](Scan::skip_bytes).
//! - No more than 16 processors race with each other.
//! - A packet is put no further than 1024 places from where it came.
//! - Bytes that changed within a field, and bytes that were lost where the records still make sense, are not noticed: no
//!   writer has a checksum.

mod capture;
mod content;
mod detect;
mod kind;
mod layout;
mod order;
mod race;
mod scan;
pub(super) mod slot;

pub use capture::Capture;
pub use detect::{is_bare, is_capture};
pub use kind::WireKind;
pub use scan::{Scan, ScanMark};
pub use slot::WireSlot;
