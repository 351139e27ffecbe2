//! Protocol Buffers' wire format, as far as it is needed to write.

/// A message that is being written: fields in any order, as the format allows.
pub struct Message {
    /// Room for what comes before it, and the fields.
    bytes: Vec<u8>,
    /// The offset of the fields.
    start: usize,
}

/// The room for tags and lengths that are known only when all after them is: up to three, each as a copy of 16 bytes.
const ROOM: usize = 48;

/// The wire types of fields.
pub const VARINT: u32 = 0;
pub const FIXED64: u32 = 1;
pub const BYTES: u32 = 2;

impl Default for Message {
    fn default() -> Self {
        Self { bytes: vec![0; ROOM], start: ROOM }
    }
}

impl Message {
    pub fn clear(&mut self) {
        self.bytes.truncate(ROOM);
        self.start = ROOM;
    }

    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// Fields that have been written.
    pub fn append(&mut self, fields: &[u8]) {
        self.bytes.extend_from_slice(fields);
    }

    /// Puts a tag and a number. A copy of fixed length is faster; what is too much is taken back.
    #[inline(always)]
    fn put(&mut self, field: u32, kind: u32, value: u64) {
        let (word, len) = tagged(field, kind, value);
        let end = self.bytes.len().saturating_add(len);
        self.bytes.extend_from_slice(&word.to_le_bytes());
        self.bytes.truncate(end);
    }

    /// Puts them before all fields: with what else is in the room, which is of no use.
    #[inline(always)]
    fn put_before(&mut self, field: u32, kind: u32, value: u64) -> &mut Self {
        let (word, len) = tagged(field, kind, value);
        let word = word.wrapping_shl(128_u32.saturating_sub((len as u32).saturating_mul(8)));
        if let Some(room) = self.bytes.get_mut(..self.start).and_then(|room| room.last_chunk_mut()) {
            *room = word.to_le_bytes();
            self.start = self.start.saturating_sub(len);
        }
        self
    }

    /// Makes all fields so far the content of a field.
    #[inline(always)]
    pub fn enclose(&mut self, field: u32) -> &mut Self {
        let len = self.bytes().len() as u64;
        self.put_before(field, BYTES, len)
    }

    /// A number before all fields.
    #[inline(always)]
    pub fn uint_before(&mut self, field: u32, value: u64) -> &mut Self {
        self.put_before(field, VARINT, value)
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
        self.bytes.extend(tag.to_le_bytes().into_iter().take(len as usize));
        self.bytes.extend_from_slice(&value.to_le_bytes());
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
        self.bytes.extend_from_slice(message);
        self
    }
}

/// A tag and a number, and how many bytes they have.
#[inline(always)]
fn tagged(field: u32, kind: u32, value: u64) -> (u128, usize) {
    let ((tag, front), (number, len)) = (varint(u64::from(field << 3 | kind)), varint(value));
    (tag | number.wrapping_shl(front.saturating_mul(8)), front.saturating_add(len) as usize)
}

/// A number in groups of seven bits, the low ones first, and how many there are. All but the last have a bit that says that
/// more follow. Most numbers are small, or of many groups: times and tracks. Those are spread without a loop.
#[inline(always)]
pub fn varint(value: u64) -> (u128, u32) {
    if value < 0x80 {
        return (value.into(), 1);
    }
    let low = value & 0x0fff_ffff | (value & 0x00ff_ffff_f000_0000) << 4;
    let low = low & 0x0000_3fff_0000_3fff | (low & 0x0fff_c000_0fff_c000) << 2;
    let low = low & 0x007f_007f_007f_007f | (low & 0x3f80_3f80_3f80_3f80) << 1;
    // The last group of the highest ones has no more after it.
    let high = value >> 56 & 0x7f | (value >> 63).wrapping_mul(0x180);
    let highest = 63_u32.wrapping_sub(value.leading_zeros());
    let len = highest.wrapping_mul(9).wrapping_add(73) >> 6;
    let before =
        if len > 8 { u64::MAX } else { 1_u64.wrapping_shl(len.wrapping_sub(1) << 3).wrapping_sub(1) };
    (u128::from(low | before & u64::from_ne_bytes([0x80; 8])) | u128::from(high) << 64, len)
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

    #[test]
    fn what_is_put_before_leaves_all_else() {
        for len in [0, 1, 3, 12, 15, 16, 40, 300] {
            let mut message = Message::default();
            let inner: Vec<_> = (0..len).map(|byte| byte as u8).collect();
            message.append(&inner);
            message.enclose(11).uint_before(8, u64::MAX).enclose(1);
            let mut nested = [Message::default(), Message::default()];
            nested[0].uint(8, u64::MAX).nested(11, &inner);
            let event = nested[0].bytes().to_vec();
            nested[1].nested(1, &event);
            assert_eq!(message.bytes(), nested[1].bytes());
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
