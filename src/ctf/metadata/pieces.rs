use super::packet::Packets;
use crate::bytes::Bytes;
use crate::error::Result;
use core::iter::FusedIterator;

/// The contents of a stream, as they lie in the input.
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    plain: Bytes<'a>,
    packets: Packets<'a>,
}

impl<'a> Pieces<'a> {
    /// The contents of `packets`, or `plain` if there are none.
    pub(super) const fn new(plain: Bytes<'a>, packets: Packets<'a>) -> Self {
        Self { plain, packets }
    }

    /// Offset of the packet that is read next; of plain text, where it begins, and its end once it has been read.
    pub fn offset(&self) -> u64 {
        match self.packets.profile() {
            Some(_) => self.packets.offset(),
            None => self.plain.offset(),
        }
    }

    pub(super) const fn packets(&self) -> &Packets<'a> {
        &self.packets
    }

    #[inline]
    pub(super) fn next_piece(&mut self) -> Result<Option<Bytes<'a>>> {
        if !self.plain.is_empty() {
            let piece = self.plain;
            self.plain.advance(piece.len());
            return Ok(Some(piece));
        }
        while let Some(packet) = self.packets.next_packet()? {
            if !packet.content().is_empty() {
                return Ok(Some(packet.content_range()));
            }
        }
        Ok(None)
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Result<&'a [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_piece().map(|piece| piece.map(Bytes::as_slice)).transpose()
    }
}

impl FusedIterator for Pieces<'_> {}
