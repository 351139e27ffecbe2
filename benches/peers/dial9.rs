//! dial9: the reader of the crate that defined the format.

use dial9_trace_format::decoder::Decoder;
use dial9_trace_format::types::FieldValueRef;

/// The sum of `common::dial9::told`, by its visitor.
pub fn visited(data: &[u8]) -> u64 {
    let mut sum = 0_u64;
    let mut decoder = Decoder::new(data).expect("a header");
    let read = decoder.for_each_event(|event| {
        sum = sum.wrapping_add(event.timestamp_ns);
        for field in event.fields {
            sum = sum.wrapping_add(match field {
                FieldValueRef::Varint(value) => *value,
                FieldValueRef::PooledString(id) => {
                    event.string_pool.get(*id).map_or(0, |text| text.len() as u64)
                }
                FieldValueRef::PooledStackFrames(id) => {
                    let stack = event.stack_pool.get(*id).unwrap_or_default();
                    stack.iter().fold(0_u64, |sum, address| sum.wrapping_add(*address))
                }
                FieldValueRef::None => 0,
                other => panic!("{other:?}"),
            });
        }
    });
    read.expect("no damage");
    sum
}
