//! What a unit begins with, read where it stands.

use crate::bytes::{Bytes, to_u64};
use crate::rtc::frame::{self, id};
use crate::rtc::unit::{MARKER_BYTES, check_marker};
use crate::rtc::{Meta, Stream, Unit};

/// The streams that the Meta of a unit declares; objects that cannot be read are left out.
pub(super) struct Prologue<'a, 'b> {
    rest: Option<Bytes<'a>>,
    /// How many more bytes may be read.
    budget: &'b mut u64,
    meta: Option<Meta<'a>>,
    /// The payload of the platform frame, if one came by.
    pub(super) platform: Option<&'a [u8]>,
}

impl<'a, 'b> Prologue<'a, 'b> {
    /// That of the unit whose Marker or Index is at `at`.
    pub(super) fn new(data: &'a [u8], at: u64, budget: &'b mut u64) -> Self {
        let whole = Bytes::new(data);
        let input = whole.range(at, whole.end_offset().saturating_sub(at));
        let rest = input.and_then(|mut input| {
            if check_marker(input).is_ok() {
                input.advance(MARKER_BYTES);
            }
            Unit::at_index(input).is_ok().then_some(input)
        });
        Self { rest, budget, meta: None, platform: None }
    }

    /// The Meta, as far as it was read.
    pub(super) const fn meta(&self) -> Option<&Meta<'a>> {
        self.meta.as_ref()
    }

    /// Goes on to the next piece of the Meta.
    fn next_piece(&mut self) -> Option<()> {
        loop {
            let input = self.rest.take()?;
            let (parts, rest) = frame::read_default(input).ok()?;
            let read = input.len().saturating_sub(rest.len());
            *self.budget = self.budget.checked_sub(to_u64(read))?;
            self.rest = Some(rest);
            let offset = input.offset().saturating_add(u64::from(parts.header));
            match parts.id {
                id::META => {
                    let meta = self.meta.get_or_insert_with(|| Meta::in_pieces(offset));
                    meta.push(parts.payload, offset, parts.more);
                    return Some(());
                }
                id::PLATFORM => self.platform = Some(parts.payload),
                id::NUL | id::PADDING | id::INDEX | id::MINOR_INDEX => {}
                _ => {
                    self.rest = None;
                    return None;
                }
            }
        }
    }
}

impl<'a> Iterator for Prologue<'a, '_> {
    type Item = Stream<'a>;

    fn next(&mut self) -> Option<Stream<'a>> {
        loop {
            match self.meta.as_mut().and_then(Meta::next_stream) {
                Some(Ok(stream)) => return Some(stream),
                Some(Err(_)) => {}
                None => self.next_piece()?,
            }
        }
    }
}
