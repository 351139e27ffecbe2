//! A record: what was written at once.

use crate::ByteOrder;
use crate::bytes::to_u64;
use crate::error::Result;
use crate::rtc::class::Scale;
use crate::rtc::pieces::{Joined, Pieces, Pool};
use crate::rtc::{Annotation, Frame, Sample, Samples, Stream, Streams, Time};
use core::fmt;

/// A record: what was written at once, of which stream, and when.
#[derive(Clone)]
pub struct Record<'r, 'a> {
    pub(super) streams: Streams<'r, 'a>,
    pub(super) stream: &'r Stream<'a>,
    pub(super) slot: usize,
    pub(super) time: Option<Time>,
    pub(super) session: u64,
    pub(super) order: ByteOrder,
    pub(super) data: &'a [u8],
    /// The last frame, which is all of it if it is in one piece.
    pub(super) frame: Frame<'a>,
    /// The record and its pieces, if it has several.
    pub(super) joined: Option<(&'r Joined, &'r Pool<'r>)>,
}

impl<'r, 'a> Record<'r, 'a> {
    /// The stream.
    pub const fn stream(&self) -> &'r Stream<'a> {
        self.stream
    }

    /// The slot of its stream in the table, as in [`Streams::at`].
    pub const fn slot(&self) -> usize {
        self.slot
    }

    /// The number of its session, from 0.
    pub const fn session(&self) -> u64 {
        self.session
    }

    /// Offset of its first frame in the input.
    pub fn offset(&self) -> u64 {
        self.joined.map_or(self.frame.offset(), |(joined, _)| joined.offset())
    }

    /// Offset of its first byte in the input.
    pub fn payload_offset(&self) -> u64 {
        let of = |joined: &Joined| joined.offset().saturating_add(joined.header.into());
        self.joined.map_or(self.frame.payload_offset(), |(joined, _)| of(joined))
    }

    /// The number of bytes it has; at least one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        to_u64(self.joined.map_or(self.frame.payload().len(), |(joined, _)| joined.len))
    }

    /// The last frame.
    pub const fn frame(&self) -> &Frame<'a> {
        &self.frame
    }

    /// The time at which it was written, on its stream's clock; `None` if that has not been stamped, or if there is none.
    ///
    /// The time of a stamp is what it says itself.
    #[inline]
    pub const fn time(&self) -> Option<Time> {
        self.time
    }

    /// The slot of its stream's clock.
    fn clock_slot(&self) -> Option<usize> {
        Some(self.streams.slots().get(self.slot)?.clock.of.into())
    }

    /// The stream's clock; the stream itself, if the record is a stamp.
    pub fn clock(&self) -> Option<&'r Stream<'a>> {
        self.streams.at(self.clock_slot()?)
    }

    /// True if it is a stamp of a clock.
    pub fn is_stamp(&self) -> bool {
        self.clock_slot() == Some(self.slot)
    }

    /// The stream that it annotates: that which its stream names, if it has the format of an annotation.
    pub fn annotated(&self) -> Option<&'r Stream<'a>> {
        self.streams.at(self.streams.annotated(self.slot)?)
    }

    /// The streams of the session, as far as they have been declared.
    pub const fn streams(&self) -> Streams<'r, 'a> {
        self.streams
    }

    /// The bytes: borrowed from the input if the record is in one piece, else from the lent buffer.
    ///
    /// # Errors
    ///
    /// [`CapacityExceeded`](crate::ErrorKind::CapacityExceeded) with the size of a buffer that suffices.
    #[inline]
    pub fn bytes(&self) -> Result<&'r [u8]> {
        self.joined.map_or(Ok(self.frame.payload()), |(joined, pool)| pool.bytes(joined))
    }

    /// The pieces, in order: offset and payload of each frame.
    ///
    /// A record whose [`bytes`](Self::bytes) are an error may have fewer here.
    pub fn pieces(&self) -> Pieces<'r, 'a> {
        self.joined.map_or(Pieces::one(&self.frame), |(joined, pool)| pool.pieces(joined, self.data))
    }

    /// The samples, by the stream's format.
    ///
    /// # Errors
    ///
    /// As for [`bytes`](Self::bytes).
    pub fn samples(&self) -> Result<Samples<'r>> {
        Ok(Samples::new(self.bytes()?, self.payload_offset(), self.stream.format(), self.order))
    }

    /// The samples with their numbers after gain and offset, `None` for text and bytes. Those of an annotation are what
    /// follows its time.
    ///
    /// A gain that cannot be read counts as absent, as does an offset.
    ///
    /// # Errors
    ///
    /// As for [`bytes`](Self::bytes), or an annotation is too short for its time.
    pub fn values(&self) -> Result<impl Iterator<Item = Result<(Sample<'r>, Option<f64>)>> + use<'r>> {
        let scale = Scale::of(self.stream);
        let samples = match self.annotation() {
            Some(annotation) => annotation?.samples,
            None => self.samples()?,
        };
        let scaled = move |sample: Sample<'r>| (sample, sample.scaled(scale.gain, scale.offset));
        Ok(samples.map(move |sample| sample.map(scaled)))
    }

    /// The annotation that it is; `None` if its stream has not the format of one.
    ///
    /// # Errors
    ///
    /// As for [`bytes`](Self::bytes), or it is too short for a time.
    pub fn annotation(&self) -> Option<Result<Annotation<'r>>> {
        match self.bytes() {
            Ok(bytes) => Annotation::parse(bytes, self.payload_offset(), self.stream.format(), self.order),
            Err(error) => Some(Err(error)),
        }
    }
}

impl fmt::Debug for Record<'_, '_> {
    /// The place of the record; never its content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({} {:#x}, {} bytes)", self.stream.id(), self.offset(), self.len())
    }
}
