//! The meanings of fields of headers and contexts.

use crate::ctf::schema::node::{Kind, Node, role};

/// The meanings of the fields of a header or a context, as far as they have been read.
#[derive(Clone, Copy, Default)]
pub(super) struct Meaning {
    pub(super) clock: u64,
    pub(super) event_class: Option<u64>,
    pub(super) stream_class: Option<u64>,
    pub(super) stream: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) content: Option<u64>,
    pub(super) begin: Option<u64>,
    pub(super) end: Option<u64>,
    pub(super) discarded: Option<u64>,
    pub(super) sequence: Option<u64>,
}

impl Meaning {
    /// Nothing yet but the value of the clock.
    pub(super) fn new(clock: u64) -> Self {
        Self { clock, ..Self::default() }
    }

    /// Records an integer of `len` bits that has roles. The last one of a role counts.
    #[inline(always)]
    pub(super) fn note(&mut self, roles: u16, value: u64, len: u32) {
        if roles & role::EVENT_CLASS_ID != 0 {
            self.event_class = Some(value);
        }
        if roles & role::TIMESTAMP != 0 {
            self.clock = update(self.clock, value, len);
            self.begin = Some(self.clock);
        }
        if roles & !(role::EVENT_CLASS_ID | role::TIMESTAMP) != 0 {
            self.note_packet(roles, value, len);
        }
    }

    #[cold]
    fn note_packet(&mut self, roles: u16, value: u64, len: u32) {
        let set = |role: u16, to: &mut Option<u64>, value| {
            if roles & role != 0 {
                *to = Some(value);
            }
        };
        set(role::STREAM_CLASS_ID, &mut self.stream_class, value);
        set(role::STREAM_ID, &mut self.stream, value);
        set(role::TOTAL_LENGTH, &mut self.total, value);
        set(role::CONTENT_LENGTH, &mut self.content, value);
        set(role::END_TIMESTAMP, &mut self.end, update(self.clock, value, len));
        set(role::DISCARDED, &mut self.discarded, value);
        set(role::SEQUENCE, &mut self.sequence, value);
    }
}

/// The value of a clock after a time stamp of `len` bits: the next one with these lower bits.
#[inline(always)]
pub(super) fn update(clock: u64, value: u64, len: u32) -> u64 {
    let Some(step) = 1_u64.checked_shl(len) else { return value };
    let mask = step.wrapping_sub(1);
    let clock = if value & mask < clock & mask { clock.wrapping_add(step) } else { clock };
    (clock & !mask) | (value & mask)
}

/// The number of bits an integer that was read has for the clock.
#[inline(always)]
pub(super) fn clock_bits(node: &Node, start: u64, end: u64) -> u32 {
    match node.kind {
        Kind::Unsigned => node.a,
        // 7 of each 8 bits.
        _ => u32::try_from(end.saturating_sub(start) / 8).map_or(64, |bytes| bytes.saturating_mul(7)),
    }
}

#[cfg(test)]
mod tests {
    use super::update;

    #[test]
    fn a_clock_goes_on_with_the_lower_bits() {
        assert_eq!(update(0x1_0005, 7, 16), 0x1_0007);
        assert_eq!(update(0x1_0005, 5, 16), 0x1_0005);
        assert_eq!(update(0x1_0005, 4, 16), 0x2_0004);
        assert_eq!(update(0x1_0005, 4, 64), 4);
        assert_eq!(update(0x1_0005, 4, 70), 4);
        assert_eq!(update(u64::MAX, 0, 16), 0);
    }
}
