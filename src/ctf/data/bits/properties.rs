//! Properties of all bit strings: tried on random ones here, proven by Kani where it is available.

use super::*;

#[test]
#[cfg_attr(kani, kani::proof, kani::unwind(65))]
fn a_load_is_its_bits_one_by_one() {
    bolero::check!().with_type::<([u8; 17], u8, u8, bool)>().for_each(|&(data, start, len, big)| {
        let (start, len) = (u64::from(start % 72), u32::from(len % 65));
        let mut expected = 0_u64;
        for n in 0..len {
            let at = start + u64::from(n);
            let byte = data[(at / 8) as usize];
            if big {
                expected = expected << 1 | u64::from(byte >> (7 - at % 8) & 1);
            } else {
                expected |= u64::from(byte >> (at % 8) & 1) << n;
            }
        }
        assert_eq!(load(&data, start, len, big), expected);
    });
}

#[test]
#[cfg_attr(kani, kani::proof)]
fn a_sign_is_spread() {
    bolero::check!().with_type::<(u64, u8)>().for_each(|&(value, len)| {
        let len = u32::from(len % 64) + 1;
        let value = value >> (64 - len);
        let negative = value >> (len - 1) != 0;
        let expected = i128::from(value) - if negative { 1_i128 << len } else { 0 };
        assert_eq!(i128::from(sign_extend(value, len)), expected);
    });
}

#[test]
#[cfg_attr(kani, kani::proof)]
fn reversed_twice_is_as_before() {
    bolero::check!().with_type::<(u64, u8)>().for_each(|&(value, len)| {
        let len = u32::from(len % 64) + 1;
        let value = value >> (64 - len);
        assert_eq!(reverse(reverse(value, len), len), value);
        assert_eq!(reverse(value, len).count_ones(), value.count_ones());
    });
}

#[test]
#[cfg_attr(kani, kani::proof, kani::unwind(41))]
fn the_first_zero_has_none_before_it() {
    bolero::check!().with_type::<([u8; 40], u8)>().for_each(|(bytes, len)| {
        // Few values, so that there are zeros at many places.
        let bytes = bytes.map(|byte| if byte < 0xf0 { byte | 1 } else { 0 });
        let data = &bytes[..usize::from(*len).min(bytes.len())];
        for unit in [1, 2, 4] {
            let expected = data.chunks_exact(unit).position(|unit| unit.iter().all(|byte| *byte == 0));
            assert_eq!(find_nul(data, unit), expected.map(|at| at * unit));
        }
    });
}
