//! Damage and recovery: what is delivered of a broken file.
//!
//! Two rules hold for every format. *Nothing is lost that can be read*: what lies before and behind the damage is
//! delivered. *Nothing is invented*: where it is not certain what bytes mean, they are reported, not guessed.
//!
//! # Opening
//!
//! `parse` is strict about what is needed to find one's way, and about nothing else: a bad size in one entry of a table
//! does not close the others. Where even the table is damaged, there is a second way in, which gives what is left next
//! to the error that `parse` would have given:
//!
//! ```
//! use traceglass::rdf::File;
//!
//! # let whole = [&b"AMD_RDF \x03\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0"[..], &[0; 128]].concat();
//! let cut = &whole[..whole.len() - 1];
//! assert!(File::parse(cut).is_err());
//! let (file, damage) = File::salvage(cut)?;
//! assert_eq!(file.index().len(), 1); // of two entries, the one that is whole
//! assert_eq!(damage.unwrap().to_string(), "RDF chunk index at 0x20: input ends, 1 more byte needed");
//! # Ok::<(), traceglass::Error>(())
//! ```
//!
//! # Iterating
//!
//! An iterator gives what it can, then one error, then nothing. Going on is explicit, because only the caller knows
//! whether it wants what follows:
//!
//! - RTC: [`Walk::resync`](crate::rtc::Walk::resync) goes on at the next Marker or index, whichever comes first, and
//!   gives the [`Gap`](crate::rtc::Gap) that was lost. Frames and gaps tile the input.
//! - CTF 2: [`Packets::resync`](crate::ctf2::Packets::resync) looks for the next packet of the same stream.
//! - RFR: [`Records::resume`](crate::rfr::Records::resume) goes on behind a record whose end could be found, such as one
//!   with text that is not UTF-8. Nothing in RFR has a length in bytes, so that behind other damage there is no way.
//!
//! # Checking
//!
//! `check` reads everything, verifies what can be verified, and reports every [`Finding`](crate::Finding) with its
//! offset; the `traceglass check` command prints them.
