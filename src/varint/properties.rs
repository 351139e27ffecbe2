//! Properties that hold for all bytes: tried on random ones here, proven by Kani where it is to be had.

use super::*;

/// An integer of groups of 7 bits, of at most `most` bytes and `bits` bits: the rule, with no trick.
fn plain(data: &[u8], most: usize, bits: u32) -> Decoded<u128> {
    let mut value = 0_u128;
    for (at, &byte) in data.iter().enumerate() {
        let group = u128::from(byte & 0x7f);
        let shift = 7 * at as u32;
        // 19 groups are 133 bits: of the last one, two may be set.
        if at == most - 1 && (byte >= 0x80 || group >> (bits - shift).min(7) != 0) {
            return Err(Fault::TooWide);
        }
        value |= group << shift;
        if byte < 0x80 {
            return Ok((value, at + 1));
        }
    }
    Err(Fault::Truncated)
}

fn wide<T: Into<u128>>(decoded: Decoded<T>) -> Decoded<u128> {
    decoded.map(|(value, len)| (value.into(), len))
}

#[test]
#[cfg_attr(kani, kani::proof, kani::unwind(22))]
fn every_integer_is_read_by_the_rule() {
    bolero::check!().with_type::<([u8; 20], u8)>().for_each(|(bytes, len)| {
        let data = &bytes[..usize::from(*len).min(bytes.len())];
        assert_eq!(wide(read_u32(data)), plain(data, 5, 32));
        assert_eq!(wide(read_u64(data)), plain(data, 10, 64));
        assert_eq!(read_u128(data), plain(data, 19, 128));
        let (value, taken) = plain(data, 10, 64).unwrap_or((0, 0));
        assert_eq!(read_u64_long(data), (value as u64, taken));
        assert_eq!(len_u64_long(data), taken);
    });
}

#[test]
#[cfg_attr(kani, kani::proof, kani::unwind(12))]
fn what_is_written_is_read() {
    bolero::check!().with_type::<u64>().for_each(|&number| {
        let mut room = [0xff; 10];
        let written = write_u64(number, &mut room);
        assert_eq!(read_u64(written), Ok((number, written.len())));
        // No shorter form exists.
        assert!(written.len() == 1 || written.last() != Some(&0));
    });
}

#[test]
#[cfg_attr(kani, kani::proof)]
fn zigzag_has_one_code_for_each_number() {
    bolero::check!().with_type::<i64>().for_each(|&number| {
        let code = (number as u64) << 1 ^ (number >> 63) as u64;
        assert_eq!(zigzag64(code), number);
        assert_eq!(zigzag128(code.into()), number.into());
    });
}
