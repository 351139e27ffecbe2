//! Telling the format takes any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::{Format, HexDump, Lookalike};

fuzz_target!(|data: &[u8]| {
    if let Some(format) = Format::detect(data) {
        assert!(!format.to_string().is_empty());
    }
    if let Some(lookalike) = Lookalike::detect(data) {
        assert!(!lookalike.to_string().is_empty());
    }
    let rows = HexDump::new(data, 0).to_string();
    assert_eq!(rows.lines().count(), data.len().div_ceil(HexDump::WIDTH));
});
