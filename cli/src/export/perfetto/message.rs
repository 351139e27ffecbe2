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

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            // The low seven bits, and one that says that more follow.
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn tag(&mut self, field: u32, kind: u32) {
        self.varint(u64::from(field << 3 | kind));
    }

    pub fn uint(&mut self, field: u32, value: u64) -> &mut Self {
        self.tag(field, VARINT);
        self.varint(value);
        self
    }

    /// An `int64`: two's complement, no zigzag.
    pub fn int(&mut self, field: u32, value: i64) -> &mut Self {
        self.uint(field, value.cast_unsigned())
    }

    pub fn fixed64(&mut self, field: u32, value: u64) -> &mut Self {
        self.tag(field, FIXED64);
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
    pub fn nested(&mut self, field: u32, message: &[u8]) -> &mut Self {
        self.tag(field, BYTES);
        self.varint(message.len() as u64);
        self.0.extend_from_slice(message);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
