//! Any bytes as TSDL, in one piece and in packets; with the dictionary `tsdl.dict`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&size, text)) = data.split_first() else { return };
    traceglass_fuzz::tsdl::check(text, usize::from(size) + 1, data);
});
