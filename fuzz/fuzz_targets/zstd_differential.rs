//! Frames of the reference implementation, damaged a little, against it.
//!
//! The input is a recipe: settings, places to damage, and the data to compress.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use traceglass_fuzz::zstd::{compare, list};
use zstd_safe::{CCtx, CParameter};

thread_local! {
    static CONTEXT: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
}

fuzz_target!(|recipe: &[u8]| {
    let Some((&[level, flags, window, repeats, a, b, c, d, e, f], data)) = recipe.split_first_chunk() else {
        return;
    };
    // Short recipes, long data.
    let data = data.repeat(1 + usize::from(repeats & 63).pow(2) / 4);
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(data.len()));
    CONTEXT.with_borrow_mut(|context| {
        context.set_parameter(CParameter::CompressionLevel(i32::from(level % 30) - 7)).unwrap();
        context.set_parameter(CParameter::WindowLog(u32::from(window % 10) + 10)).unwrap();
        context.set_parameter(CParameter::ChecksumFlag(flags & 7 == 7)).unwrap();
        context.set_parameter(CParameter::ContentSizeFlag(flags & 8 != 0)).unwrap();
        context.compress2(&mut frame, &data[..]).unwrap();
    });
    let exact = data.len();
    let capacity = [
        exact,
        exact,
        exact.saturating_sub(1),
        exact + 1,
        exact + 100,
        exact + 300_000,
        exact * 2,
        exact / 2,
    ][usize::from(flags >> 4 & 7)];
    // Often undamaged, sometimes two places.
    for (at, how) in [(a, b), (c, d), (e, f)] {
        if frame.is_empty() || how & 3 == 0 {
            continue;
        }
        // Near the front, where the headers are, or anywhere.
        let at = if how & 4 == 0 { usize::from(at) } else { usize::from(at) * frame.len() / 256 };
        let at = at.min(frame.len() - 1);
        match how & 3 {
            1 => frame[at] ^= 1 << (how >> 5),
            2 => frame[at] = how ^ at as u8,
            _ if how & 8 == 0 => frame.insert(at, how),
            _ => {
                frame.remove(at);
            }
        }
    }
    list(&frame);
    compare(&frame, capacity);
});
