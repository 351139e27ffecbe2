//! Damage and recovery: what is delivered of a broken file.
//!
//! Two rules hold for every format. *Nothing is lost that can be read*: what lies before and after the damage is
//! delivered. *Nothing is invented*: where it is not certain what bytes mean, they are reported, not guessed.
//!
//! # Opening
//!
//! `parse` checks what is needed to navigate and nothing else: a bad size in one entry of a table does not keep the
//! others from opening. Where the table itself is damaged, `recover` opens what is left, and says what was lost:
//!
//! ```
//! use traceglass::rdf::File;
//!
//! # let whole = [&b"AMD_RDF \x03\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0"[..], &[0; 128]].concat();
//! let cut = &whole[..whole.len() - 1];
//! assert!(File::parse(cut).is_err());
//! let (file, gap) = File::recover(cut)?;
//! assert_eq!(file.index().len(), 1); // of two entries, the one that is whole
//! let message = "RDF chunk index at 0x20: input ends, 1 more byte needed";
//! assert_eq!(gap.unwrap().cause().to_string(), message);
//! # Ok::<(), traceglass::Error>(())
//! ```
//!
//! # Iterating
//!
//! An iterator returns what it can read, then one error, then nothing. Continuing is an explicit call, because only the
//! caller knows whether it wants what follows. It returns the [`Gap`](crate::Gap) that was lost, or `None` if there is
//! nothing to continue with:
//!
//! - RTC: [`recover::Frames::recover`](crate::rtc::recover::Frames::recover) goes on at the next Marker or index,
//!   whichever comes first. Frames and gaps tile the input. [`rtc::Frames`](crate::rtc::Frames) stops at the first fault.
//! - CTF: [`Packets::recover`](crate::ctf::metadata::Packets::recover) looks for the next packet of the same stream.
//! - RFR: [`Records::recover`](crate::rfr::Records::recover) skips a record whose end can be found, such as one with text
//!   that is not UTF-8. Nothing in RFR has a length in bytes, so other damage ends the file.
//! - dial9: [`Frames::recover`](crate::dial9::Frames::recover) goes on at the next header of a batch that a whole frame
//!   follows. Frames have no mark: the rest of a damaged batch is lost.
//!
//! The loop is the same everywhere:
//!
//! ```
//! # fn read(data: &[u8]) {
//! use traceglass::rtc::{StreamSlot, recover::Frames};
//!
//! let mut frames = Frames::new(data, [StreamSlot::EMPTY; 64]);
//! loop {
//!     while let Ok(Some(frame)) = frames.next_frame() {
//!         // What can be read. What was read before a gap stays true.
//!         # let _ = frame;
//!     }
//!     let Some(gap) = frames.recover() else { break };
//!     eprintln!("{} bytes lost at {:#x}: {}", gap.len(), gap.offset(), gap.cause());
//! }
//! # }
//! # read(b"");
//! ```
//!
//! # What a fault costs
//!
//! | format | one wrong byte | the end is missing |
//! |---|---|---|
//! | RDF | one chunk at most, if it is in an entry or in compressed data; in raw data it goes unnoticed: RDF has no checksum | the index, which stands last: whole entries are read, chunks without one are not found |
//! | RTC | the frames up to the next index or Marker, less than a minor unit as a rule; in a payload none, but the unit's checksum tells | the last frame |
//! | CTF metadata | in the text, a fragment; in a header, the text up to the next packet | the last packet |
//! | RFR | possibly all that follows in the file, since nothing has a length; other chunk files stay readable | the last record |
//!
//! # Checking
//!
//! `check` reads everything, verifies what can be verified, and reports every [`Finding`](crate::Finding) with its
//! offset; the `traceglass check` command prints them. The command's exit status is 3 wherever something was damaged and
//! the rest was delivered, and standard error says what is missing.
