use super::fields::Fields;
use super::packet::Packet;
use super::reader::Reader;
use super::record::Record;
use crate::error::Result;
use crate::gap::Gap;
use core::iter::FusedIterator;

impl<'a, 's> Packet<'a, 's> {
    /// The event records.
    pub fn records(&self) -> Records<'_, 'a, 's> {
        Records::new(self)
    }
}

/// The event records of a packet.
///
/// A record is delivered when all of it is known to be readable. After an error there is none.
#[derive(Clone)]
pub struct Records<'p, 'a, 's> {
    packet: &'p Packet<'a, 's>,
    reader: Reader<'a, 's>,
}

impl<'p, 'a, 's> Records<'p, 'a, 's> {
    pub(super) fn new(packet: &'p Packet<'a, 's>) -> Self {
        Self { packet, reader: packet.reader() }
    }

    /// The next record; `None` at the end of the packet's content, and after an error.
    ///
    /// # Errors
    /// The element is that of the scope in which a field cannot be read.
    ///
    /// | kind | |
    /// |---|---|
    /// | `UnexpectedEnd` | the stream ends before the content, or (`PADDING`) before the packet: it may still grow |
    /// | `CrossesBoundary` | a field does not end within the packet's content |
    /// | `NoSuchClass` | `EVENT_CLASS_ID` |
    /// | `NoSuchOption` | no option of a variant is selected |
    /// | `ByteOrderChanged` | within a byte |
    /// | `IntegerTooWide` | a variable-length integer has more than 64 bits |
    /// | `OverLimit` | an array of elements that may be empty is longer than the content |
    /// | `Empty` | a record has no bits |
    #[inline(always)]
    pub fn next_record(&mut self) -> Result<Option<Record<'p, 'a, 's>>> {
        let parts = self.reader.next(self.packet)?;
        Ok(parts.map(|parts| Record { packet: self.packet, parts }))
    }

    /// The fields of the payload of the record that was delivered last; `None` if it has none, or there is no such record.
    ///
    /// They are those of [`Record::payload`], and are read where the records are: that is faster than to begin anew for
    /// each record.
    ///
    /// ```
    /// # use traceglass::ctf::data::{Packet, Value};
    /// # fn sum(packet: &Packet<'_, '_>) -> traceglass::Result<u64> {
    /// let mut sum = 0_u64;
    /// let mut records = packet.records();
    /// while let Some(record) = records.next_record()? {
    ///     if let Some(fields) = records.payload() {
    ///         fields.each_field(|field| {
    ///             if let Value::Unsigned(value) = field.value() {
    ///                 sum = sum.wrapping_add(value);
    ///             }
    ///         })?;
    ///     }
    /// }
    /// # Ok(sum)
    /// # }
    /// ```
    #[inline]
    pub fn payload(&mut self) -> Option<&mut Fields<'a, 's>> {
        self.reader.payload(self.packet)
    }

    /// The bit that is read next, or that could not be read.
    ///
    /// # Units
    /// Bits, from the start of the packet.
    pub fn position(&self) -> u64 {
        self.reader.at()
    }

    /// The range lost to an error: the rest of the packet's content, from the record that could not be read.
    ///
    /// Reading goes on with the next packet.
    pub fn gap(&self, cause: crate::Error) -> Gap {
        let start = cause.offset();
        let end = self.packet.offset().saturating_add(self.packet.content.div_ceil(8));
        Gap::new(start, end.saturating_sub(start), cause)
    }
}

impl<'p, 'a, 's> Iterator for Records<'p, 'a, 's> {
    type Item = Result<Record<'p, 'a, 's>>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_record().transpose()
    }
}

impl FusedIterator for Records<'_, '_, '_> {}

impl core::fmt::Debug for Records<'_, '_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Records").field("position", &self.reader.at()).finish_non_exhaustive()
    }
}
