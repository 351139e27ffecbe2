//! RTC: a walk that knows the file's streams beforehand, and the writer's checksum in its simplest form.

use crate::common::rtc::{MAJOR, MINOR};

/// Reads the id and the length of each frame and skips its payload, without streams or checks. The lengths of records
/// of fixed length are built in, and a cut record is recognized by its `more` bit.
pub fn naive(data: &[u8]) -> u64 {
    let mut at = 0;
    let mut frames = 0;
    let int = |at: &mut usize| {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let byte = data[*at];
            *at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    };
    let mut got = [0; 32];
    while at < data.len() {
        let header = int(&mut at);
        let length = match header >> 1 {
            0 => 0,
            2 => 1024,
            7 | 8 => 4,
            id @ (9 | 11) => {
                let whole = if id == 9 { 12 } else { 2 } - got[id as usize];
                let unit = at as u64 / MAJOR * MAJOR;
                let next = unit + 1025 + ((at as u64 - unit).saturating_sub(1025) / MINOR + 1) * MINOR;
                let next = next.min(unit + MAJOR - 5);
                let length = if header & 1 == 1 { next - at as u64 } else { whole };
                got[id as usize] = if header & 1 == 1 { length } else { 0 };
                length
            }
            _ => int(&mut at),
        };
        at += length as usize;
        frames += 1;
    }
    frames
}

/// The table of the writer's checksum.
pub fn writer_table() -> [u32; 256] {
    std::array::from_fn(|byte| {
        (0..8).fold((byte as u32) << 24, |value, _| {
            (value << 1) ^ if value >> 31 == 1 { 0x04c1_1db7 } else { 0 }
        })
    })
}

/// The writer's checksum, byte by byte.
pub fn bytewise(table: &[u32; 256], data: &[u8]) -> u64 {
    u64::from(
        !data
            .iter()
            .fold(u32::MAX, |crc, &byte| (crc >> 8) ^ table[((crc ^ u32::from(byte)) & 255) as usize]),
    )
}
