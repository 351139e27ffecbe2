//! Properties of all payloads: tried on random ones here, proven by Kani where it is to be had.

use super::*;

#[test]
#[cfg_attr(kani, kani::proof, kani::unwind(13))]
fn leb128_of_either_sign_is_read_by_the_rule() {
    bolero::check!().with_type::<([u8; 12], u8, bool)>().for_each(|(bytes, len, signed)| {
        let data = &bytes[..usize::from(*len).min(bytes.len())];
        let format = if *signed { Format::Leb128 } else { Format::Uleb128 };
        let Some(end) = data.iter().position(|byte| *byte < 0x80) else { return };
        // The rule: 7 bits a byte, the last one's second highest is the sign.
        let mut expected = 0_i128;
        for (n, byte) in data[..=end].iter().enumerate() {
            expected |= i128::from(byte & 0x7f) << (7 * n);
        }
        let width = 7 * (end + 1);
        if *signed && expected >> (width - 1) != 0 {
            expected -= 1_i128 << width;
        }
        let fits = if *signed { i64::try_from(expected).is_ok() } else { u64::try_from(expected).is_ok() };
        match Samples::new(data, 0, format, ByteOrder::Little).next() {
            Some(Ok(Sample::Signed(value))) => assert!(*signed && i128::from(value) == expected),
            Some(Ok(Sample::Unsigned(value))) => assert!(!*signed && i128::from(value) == expected),
            Some(Err(_)) => assert!(!fits || end >= 10),
            other => panic!("{other:?}"),
        }
        assert!(
            end >= 10
                || fits == matches!(Samples::new(data, 0, format, ByteOrder::Little).next(), Some(Ok(_)))
        );
    });
}
