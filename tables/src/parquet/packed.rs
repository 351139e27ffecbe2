//! Numbers as Parquet packs them: by runs and bits, and by their differences.

/// A number of 7 bits a byte, the least significant first.
pub(super) fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push((value & 0x7f | 0x80) as u8);
        value >>= 7;
    }
    to.push(value as u8);
}

/// The same, of a number with a sign.
fn zigzag(value: i64, to: &mut Vec<u8>) {
    varint((value.wrapping_shl(1) ^ (value >> 63)).cast_unsigned(), to);
}

/// The same value so many times.
pub(super) fn run(value: u32, count: usize, width: u32, to: &mut Vec<u8>) {
    varint((count as u64).wrapping_shl(1), to);
    let bytes = usize::try_from(width.div_ceil(8)).unwrap_or(4);
    to.extend_from_slice(value.to_le_bytes().get(..bytes).unwrap_or_default());
}

/// Numbers of `width` bits each: in runs where many in a row are the same, else packed.
pub(super) fn hybrid(keys: &[u32], width: u32, to: &mut Vec<u8>) {
    /// The numbers that are looked at together, a multiple of eight.
    const PIECE: usize = 256;
    let mut same: Option<(u32, usize)> = None;
    for piece in keys.chunks(PIECE) {
        let first = piece.first().copied().unwrap_or_default();
        let is_run = piece.iter().all(|key| *key == first);
        if let Some((value, count)) = same.filter(|(value, _)| !is_run || *value != first) {
            run(value, count, width, to);
            same = None;
        }
        if is_run {
            let count = same.map_or(0, |(_, count)| count);
            same = Some((first, count.saturating_add(piece.len())));
        } else {
            let groups = piece.len().div_ceil(8);
            varint((groups as u64).wrapping_shl(1) | 1, to);
            pack(piece.iter().map(|key| u64::from(*key)), groups.saturating_mul(8), width, to);
        }
    }
    if let Some((value, count)) = same {
        run(value, count, width, to);
    }
}

/// Numbers of so many bits each, filled up with zeros to `count` of them, a multiple of eight.
fn pack(numbers: impl Iterator<Item = u64>, count: usize, width: u32, to: &mut Vec<u8>) {
    let size = count.saturating_mul(usize::try_from(width).unwrap_or(64)) / 8;
    let end = to.len().saturating_add(size);
    if width <= 32 {
        // What is left and the next number fit in 64 bits.
        let (mut bits, mut have) = (0_u64, 0_u32);
        for number in numbers {
            bits |= number.wrapping_shl(have);
            have = have.wrapping_add(width);
            if have >= 32 {
                to.extend_from_slice(&(bits as u32).to_le_bytes());
                bits >>= 32;
                have = have.wrapping_sub(32);
            }
        }
        to.extend_from_slice(&bits.to_le_bytes());
        return to.resize(end, 0);
    }
    let (mut bits, mut have) = (0_u128, 0_u32);
    for number in numbers {
        bits |= u128::from(number).wrapping_shl(have);
        have = have.wrapping_add(width);
        if have >= 64 {
            to.extend_from_slice(&(bits as u64).to_le_bytes());
            bits >>= 64;
            have = have.wrapping_sub(64);
        }
    }
    to.extend_from_slice(&(bits as u64).to_le_bytes());
    to.resize(end, 0);
}

/// The numbers of a block, and of each of its parts that are packed alike.
const BLOCK: usize = 128;
const PART: usize = 32;

/// Numbers by the differences from one to the next.
pub(super) fn steps(numbers: &[i64], to: &mut Vec<u8>) {
    varint(BLOCK as u64, to);
    varint((BLOCK / PART) as u64, to);
    varint(numbers.len() as u64, to);
    zigzag(numbers.first().copied().unwrap_or(0), to);
    let mut steps = [0_i64; BLOCK];
    let nexts = numbers.get(1..).unwrap_or_default();
    for (before, after) in numbers.chunks(BLOCK).zip(nexts.chunks(BLOCK)) {
        for ((step, before), after) in steps.iter_mut().zip(before).zip(after) {
            *step = after.wrapping_sub(*before);
        }
        let steps = steps.get(..after.len()).unwrap_or_default();
        let least = steps.iter().copied().min().unwrap_or(0);
        zigzag(least, to);
        // What is above the least one of a block has no sign.
        let above = |step: &i64| step.wrapping_sub(least).cast_unsigned();
        let width = |part: &[i64]| {
            let bits = part.iter().map(above).fold(0, |all, step| all | step);
            64_u32.saturating_sub(bits.leading_zeros())
        };
        let mut widths = [0_u8; BLOCK / PART];
        for (place, part) in widths.iter_mut().zip(steps.chunks(PART)) {
            *place = width(part) as u8;
        }
        to.extend_from_slice(&widths);
        for (width, part) in widths.iter().zip(steps.chunks(PART)) {
            pack(part.iter().map(above), PART, u32::from(*width), to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    fn unpack(bytes: &mut &[u8], count: usize, width: usize) -> Vec<u64> {
        let (packed, rest) = bytes.split_at(count * width / 8);
        *bytes = rest;
        let bit = |at: usize| u64::from(packed[at / 8] >> (at % 8) & 1);
        let of = |number| (0..width).map(|place| bit(number * width + place) << place).sum();
        (0..count).map(of).collect()
    }

    /// The numbers that are stored, as the document of the format says it.
    fn read(mut bytes: &[u8], width: usize, count: usize) -> Vec<u32> {
        let mut found = Vec::new();
        while found.len() < count {
            let head = number(&mut bytes) as usize;
            if head & 1 == 1 {
                found.extend(unpack(&mut bytes, (head >> 1) * 8, width).into_iter().map(|key| key as u32));
            } else {
                let (value, rest) = bytes.split_at(width.div_ceil(8));
                let value = value.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
                found.extend(std::iter::repeat_n(value, head >> 1));
                bytes = rest;
            }
        }
        found.truncate(count);
        assert_eq!(bytes, b"");
        found
    }

    fn read_steps(mut bytes: &[u8]) -> Vec<i64> {
        let signed = |value: u64| (value >> 1).cast_signed() ^ -((value & 1).cast_signed());
        let [block, parts, count] = [0; 3].map(|_| number(&mut bytes) as usize);
        let mut found = vec![signed(number(&mut bytes))];
        while found.len() < count {
            let least = signed(number(&mut bytes));
            let (widths, rest) = bytes.split_at(parts);
            bytes = rest;
            for width in widths {
                if found.len() >= count {
                    assert_eq!(*width, 0);
                    continue;
                }
                for step in unpack(&mut bytes, block / parts, usize::from(*width)) {
                    let last = *found.last().unwrap();
                    found.push(last.wrapping_add(least).wrapping_add(step.cast_signed()));
                }
            }
            found.truncate(count);
        }
        found.truncate(count);
        assert_eq!(bytes, b"");
        found
    }

    fn random() -> impl FnMut() -> u64 {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        move || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        }
    }

    #[test]
    fn numbers_of_every_width_come_back() {
        let mut random = random();
        for width in 0..=32_u32 {
            for count in [1, 7, 8, 9, 255, 256, 257, 1000, 3000] {
                // Runs among others.
                let mut key = |at| if at / 300 % 2 == 0 { 1 } else { random() as u32 };
                let keys: Vec<u32> =
                    (0..count).map(|at| (u64::from(key(at)) & ((1 << width) - 1)) as u32).collect();
                let mut bytes = Vec::new();
                hybrid(&keys, width, &mut bytes);
                assert_eq!(read(&bytes, width as usize, keys.len()), keys, "{width} {count}");
            }
        }
    }

    #[test]
    fn steps_of_every_size_come_back() {
        let mut random = random();
        for shift in 0..64 {
            for count in [0, 1, 2, 32, 33, 34, 128, 129, 130, 300] {
                let numbers: Vec<i64> = (0..count).map(|_| random().cast_signed() >> shift).collect();
                let mut bytes = Vec::new();
                steps(&numbers, &mut bytes);
                assert_eq!(read_steps(&bytes), numbers, "{shift} {count}");
            }
        }
        let mut bytes = Vec::new();
        steps(&[i64::MIN, i64::MAX, 0, i64::MIN], &mut bytes);
        assert_eq!(read_steps(&bytes), [i64::MIN, i64::MAX, 0, i64::MIN]);
    }
}
