//! zstd: the other decoders, each with one context that is used again.

use libzstd_rs_sys::{ZSTD_DCtx, ZSTD_createDCtx, ZSTD_decompressDCtx, ZSTD_freeDCtx};
use traceglass::zstd::{Detected, Workspace};

/// All decoders.
pub struct Decoders {
    pub workspace: Box<Workspace<Detected>>,
    pub baseline: Box<Workspace>,
    pub reference: zstd_safe::DCtx<'static>,
    pub translated: Translated,
    pub mzstd: mzstd::Decompressor,
    pub ruzstd: ruzstd::decoding::FrameDecoder,
}

impl Default for Decoders {
    fn default() -> Self {
        Self {
            workspace: Box::new(Workspace::on(Detected::new())),
            baseline: Box::default(),
            reference: zstd_safe::DCtx::create(),
            translated: Translated::new(),
            mzstd: mzstd::Decompressor::default(),
            ruzstd: ruzstd::decoding::FrameDecoder::new(),
        }
    }
}

/// `libzstd-rs-sys` has C's interface.
pub struct Translated(*mut ZSTD_DCtx);

impl Translated {
    pub fn new() -> Self {
        // SAFETY: no conditions.
        Self(unsafe { ZSTD_createDCtx() })
    }

    pub fn decompress(&mut self, output: &mut [u8], frame: &[u8]) -> usize {
        let (to, from) = (output.as_mut_ptr(), frame.as_ptr());
        // SAFETY: the context is one, and the ranges are slices.
        unsafe { ZSTD_decompressDCtx(self.0, to.cast(), output.len(), from.cast(), frame.len()) }
    }
}

impl Drop for Translated {
    fn drop(&mut self) {
        // SAFETY: it came from ZSTD_createDCtx, and is not used again.
        unsafe { ZSTD_freeDCtx(self.0) };
    }
}

/// Decodes each frame to its place in the output; the number of bytes.
pub fn all(
    frames: &[Vec<u8>],
    chunk: usize,
    output: &mut [u8],
    mut decode: impl FnMut(&mut [u8], &[u8]) -> usize,
) -> u64 {
    frames.iter().zip(output.chunks_mut(chunk)).map(|(frame, output)| decode(output, frame) as u64).sum()
}
