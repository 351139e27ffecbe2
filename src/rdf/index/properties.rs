//! Properties of all entries: tried on random ones here, proven by Kani where it is available.

use super::*;

/// A number next to where arithmetic ends, or any.
fn near_an_end(number: i64) -> i64 {
    match number & 3 {
        0 => number >> 56,
        1 => i64::MAX - (number >> 56 & 0x7f),
        2 => i64::MIN + (number >> 56 & 0x7f),
        _ => number,
    }
}

#[test]
#[cfg_attr(kani, kani::proof)]
fn ranges_never_wrap() {
    bolero::check!().with_type::<([u8; 32], [i64; 5])>().for_each(|(head, numbers)| {
        let mut bytes = [0; Index::ENTRY_SIZE];
        let (first, rest) = bytes.split_at_mut(24);
        first.copy_from_slice(&head[..24]);
        for (to, number) in rest.chunks_exact_mut(8).zip(numbers) {
            to.copy_from_slice(&near_an_end(*number).to_le_bytes());
        }
        let index = Index::parse(&bytes, 0).unwrap();
        let entry = index.get(0).unwrap();
        for (range, offset, size) in [
            (entry.header_range(), entry.header_offset(), entry.header_size()),
            (entry.stored_range(), entry.data_offset(), entry.stored_size()),
        ] {
            match range {
                Ok(range) => {
                    assert_eq!(i128::from(range.start), i128::from(offset));
                    assert_eq!(i128::from(range.end), i128::from(offset) + i128::from(size));
                }
                Err(error) => {
                    let end = i128::from(offset) + i128::from(size);
                    assert!(offset < 0 || size < 0 || end > i128::from(u64::MAX), "{error}");
                    assert!(error.offset() < Index::ENTRY_SIZE as u64);
                }
            }
        }
        assert_eq!(entry.output_size().is_ok(), entry.data_size() >= 0);
    });
}
