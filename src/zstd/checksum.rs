//! XXH64 with seed 0, of which a frame stores the low 32 bits.

const PRIME_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME_5: u64 = 0x27d4_eb2f_1656_67c5;

/// A running hash.
pub(super) struct Xxh64 {
    lanes: [u64; 4],
    /// Bytes that do not fill a stripe yet.
    pending: [u8; 32],
    size: u64,
}

impl Xxh64 {
    pub(super) const fn new() -> Self {
        let lanes = [PRIME_1.wrapping_add(PRIME_2), PRIME_2, 0, 0_u64.wrapping_sub(PRIME_1)];
        Self { lanes, pending: [0; 32], size: 0 }
    }

    /// Adds `data`.
    #[allow(clippy::as_conversions)]
    pub(super) fn update(&mut self, mut data: &[u8]) {
        let held = (self.size & 31) as usize;
        self.size = self.size.wrapping_add(data.len() as u64);
        if held != 0 {
            let room = self.pending.get_mut(held..).unwrap_or_default();
            let taken = room.len().min(data.len());
            for (to, from) in room.iter_mut().zip(data) {
                *to = *from;
            }
            data = data.get(taken..).unwrap_or_default();
            if held.wrapping_add(taken) < 32 {
                return;
            }
            self.lanes = stripe(self.lanes, &self.pending);
        }
        let mut lanes = self.lanes;
        while let Some((chunk, rest)) = data.split_first_chunk::<32>() {
            lanes = stripe(lanes, chunk);
            data = rest;
        }
        self.lanes = lanes;
        for (to, from) in self.pending.iter_mut().zip(data) {
            *to = *from;
        }
    }

    /// The low half of the hash of all bytes added.
    #[allow(clippy::as_conversions)]
    pub(super) fn low_half(&self) -> u32 {
        let mut hash = if self.size >= 32 {
            let [a, b, c, d] = self.lanes;
            let sum = a
                .rotate_left(1)
                .wrapping_add(b.rotate_left(7))
                .wrapping_add(c.rotate_left(12))
                .wrapping_add(d.rotate_left(18));
            self.lanes
                .iter()
                .fold(sum, |hash, &lane| (hash ^ round(0, lane)).wrapping_mul(PRIME_1).wrapping_add(PRIME_4))
        } else {
            PRIME_5
        };
        hash = hash.wrapping_add(self.size);
        let held = (self.size & 31) as usize;
        let mut data = self.pending.get(..held).unwrap_or_default();
        while let Some((chunk, rest)) = data.split_first_chunk() {
            hash ^= round(0, u64::from_le_bytes(*chunk));
            hash = hash.rotate_left(27).wrapping_mul(PRIME_1).wrapping_add(PRIME_4);
            data = rest;
        }
        if let Some((chunk, rest)) = data.split_first_chunk() {
            hash ^= u64::from(u32::from_le_bytes(*chunk)).wrapping_mul(PRIME_1);
            hash = hash.rotate_left(23).wrapping_mul(PRIME_2).wrapping_add(PRIME_3);
            data = rest;
        }
        for &byte in data {
            hash ^= u64::from(byte).wrapping_mul(PRIME_5);
            hash = hash.rotate_left(11).wrapping_mul(PRIME_1);
        }
        hash = (hash ^ (hash >> 33)).wrapping_mul(PRIME_2);
        hash = (hash ^ (hash >> 29)).wrapping_mul(PRIME_3);
        (hash ^ (hash >> 32)) as u32
    }
}

#[inline(always)]
fn round(lane: u64, input: u64) -> u64 {
    lane.wrapping_add(input.wrapping_mul(PRIME_2)).rotate_left(31).wrapping_mul(PRIME_1)
}

#[inline(always)]
fn stripe(lanes: [u64; 4], chunk: &[u8; 32]) -> [u64; 4] {
    let [mut a, mut b, mut c, mut d] = lanes;
    let mut words =
        chunk.chunks_exact(8).map(|word| word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word)));
    let mut next = || words.next().unwrap_or(0);
    a = round(a, next());
    b = round(b, next());
    c = round(c, next());
    d = round(d, next());
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(data: &[u8], step: usize) -> u32 {
        let mut hash = Xxh64::new();
        data.chunks(step).for_each(|chunk| hash.update(chunk));
        hash.low_half()
    }

    /// Values of the reference implementation.
    #[test]
    fn known_values_in_any_pieces() {
        for (text, value) in [
            (&b""[..], 0x51d8_e999),
            (b"a", 0xa98c_6e5b),
            (b"abc", 0xad77_0999),
            (b"Nobody inspects the spammish repetition", 0x8a37_8bf1),
            (b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdefXYZ", 0x6433_95e4),
        ] {
            for step in [1, 3, 31, 32, 33, 100] {
                assert_eq!(hash(text, step), value, "{text:?} {step}");
            }
        }
    }
}
