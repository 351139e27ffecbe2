//! Protocol Buffers' wire format, as far as it is needed to write.

/// A message that is being written: fields in any order, as the format allows.
#[derive(Default)]
pub struct Message(Vec<u8>);

/// The wire types of fields.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;

impl Message {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Fields that have been written.
    pub fn append(&mut self, fields: &[u8]) {
        self.0.extend_from_slice(fields);
    }

    /// Puts a tag and a number. A copy of fixed length is faster; what is too much is taken back.
    #[inline(always)]
    fn put(&mut self, field: u32, kind: u32, value: u64) {
        let ((tag, front), (number, len)) = (varint(u64::from(field << 3 | kind)), varint(value));
        let end = self.0.len().saturating_add(front.saturating_add(len) as usize);
        self.0.extend_from_slice(&(tag | number.wrapping_shl(front.saturating_mul(8))).to_le_bytes());
        self.0.truncate(end);
    }

    #[inline(always)]
    pub fn uint(&mut self, field: u32, value: u64) -> &mut Self {
        self.put(field, VARINT, value);
        self
    }

    /// An `int64`: two's complement, no zigzag.
    pub fn int(&mut self, field: u32, value: i64) -> &mut Self {
        self.uint(field, value.cast_unsigned())
    }

    pub fn fixed64(&mut self, field: u32, value: u64) -> &mut Self {
        let (tag, len) = varint(u64::from(field << 3 | FIXED64));
        self.0.extend(tag.to_le_bytes().into_iter().take(len as usize));
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub fn double(&mut self, field: u32, value: f64) -> &mut Self {
        self.fixed64(field, value.to_bits())
    }

    pub fn text(&mut self, field: u32, text: &str) -> &mut Self {
        self.nested(field, text.as_bytes())
    }

    /// A message that has been written.
    #[inline(always)]
    pub fn nested(&mut self, field: u32, message: &[u8]) -> &mut Self {
        self.put(field, BYTES, message.len() as u64);
        self.0.extend_from_slice(message);
        self
    }
}

/// A number in groups of seven bits, the low ones first, and how many there are. All but the last have a bit that says that
/// more follow. Most numbers are small, or of many groups: times and tracks. Those are spread without a loop.
#[inline(always)]
fn varint(value: u64) -> (u128, u32) {
    if value < 0x80 {
        return (value.into(), 1);
    }
    let low = value & 0x0fff_ffff | (value & 0x00ff_ffff_f000_0000) << 4;
    let low = low & 0x0000_3fff_0000_3fff | (low & 0x0fff_c000_0fff_c000) << 2;
    let low = low & 0x007f_007f_007f_007f | (low & 0x3f80_3f80_3f80_3f80) << 1;
    let high = value >> 56 & 0x7f | value >> 63 << 8;
    let len = 64_u32.saturating_sub(value.leading_zeros()).div_ceil(7);
    let more =
        u128::from_le_bytes([0x80; 16]) & !u128::MAX.wrapping_shl(len.saturating_sub(1).saturating_mul(8));
    (u128::from(low) | u128::from(high) << 64 | more, len)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of every length, against one byte after the other.
    #[test]
    fn numbers_have_seven_bits_a_byte() {
        let powers =
            (0..64).flat_map(|bit| [(1_u64 << bit).wrapping_sub(1), 1 << bit, 0xaaaa_aaaa_aaaa_aaaa >> bit]);
        for value in powers.chain([u64::MAX, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210]) {
            let (mut expected, mut left) = (Vec::new(), value);
            while left >= 0x80 {
                expected.push(left as u8 | 0x80);
                left >>= 7;
            }
            expected.push(left as u8);
            for field in [1, 15, 16, 30] {
                let mut message = Message::default();
                message.uint(2, 3).uint(field, value);
                let tag: &[u8] = match field {
                    1 => &[0x08],
                    15 => &[0x78],
                    16 => &[0x80, 0x01],
                    _ => &[0xf0, 0x01],
                };
                assert_eq!(message.bytes(), [&[0x10, 3], tag, &expected].concat(), "{value:#x}");
            }
        }
    }

    /// The examples of the encoding's documentation, and the edges.
    #[test]
    fn fields_are_encoded_as_documented() {
        let mut message = Message::default();
        message.uint(1, 150).text(2, "testing").nested(3, &[0x08, 0x96, 0x01]);
        assert_eq!(message.bytes(), b"\x08\x96\x01\x12\x07testing\x1a\x03\x08\x96\x01");
        message.clear();
        message.int(1, -2);
        assert_eq!(message.bytes(), [0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
        message.clear();
        message.fixed64(47, 1).double(5, 1.0).uint(16, 0);
        let fixed = [0xf9, 0x02, 1, 0, 0, 0, 0, 0, 0, 0];
        let double = [0x29, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f];
        assert_eq!(message.bytes(), [&fixed[..], &double, &[0x80, 0x01, 0]].concat());
    }
}
