//! Any bytes as zstd frames, against the reference implementation.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass_fuzz::zstd::{compare, list};

fuzz_target!(|input: &[u8]| {
    list(input);
    for capacity in [0, 1000, 200_000] {
        compare(input, capacity);
    }
    // Exactly what it takes.
    if let Ok(Some(size)) = traceglass::zstd::content_size(input) {
        if size < 1 << 20 {
            compare(input, size as usize);
        }
    }
});
