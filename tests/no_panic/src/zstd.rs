//! The entries of `traceglass::zstd`.

use crate::{slice, slice_mut};
use traceglass::zstd::{self, Decoder, Frame, Frames, Workspace};

/// # Safety
///
/// As `slice` and `slice_mut`; the workspace is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zstd_decompress(
    input: *const u8,
    input_len: usize,
    output: *mut u8,
    output_len: usize,
    workspace: &mut Workspace,
) -> isize {
    let (input, output) = unsafe { (slice(input, input_len), slice_mut(output, output_len)) };
    match zstd::decompress(input, output, workspace) {
        Ok(size) => size as isize,
        Err(_) => -1,
    }
}

/// # Safety
///
/// As `slice` and `slice_mut`; the workspace is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zstd_decoder(
    input: *const u8,
    input_len: usize,
    output: *mut u8,
    output_len: usize,
    workspace: &mut Workspace,
) -> isize {
    let (input, output) = unsafe { (slice(input, input_len), slice_mut(output, output_len)) };
    match Decoder::new(workspace).verify_checksums(false).decompress(input, output) {
        Ok(size) => size as isize,
        Err(error) => -(error.offset() as isize) - 1,
    }
}

/// # Safety
///
/// As `slice`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zstd_content_size(input: *const u8, input_len: usize) -> u64 {
    zstd::content_size(unsafe { slice(input, input_len) }).ok().flatten().unwrap_or(u64::MAX)
}

/// # Safety
///
/// As `slice`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zstd_frames(input: *const u8, input_len: usize) -> u64 {
    let mut sum = 0_u64;
    for frame in Frames::new(unsafe { slice(input, input_len) }) {
        match frame {
            Ok(Frame::Data(frame)) => {
                let header = frame.header();
                sum = sum.wrapping_add(header.window_size()).wrapping_add(header.content_size().unwrap_or(0));
                for block in frame.blocks().flatten() {
                    sum = sum.wrapping_add(block.stored_size().into()).wrapping_add(block.offset());
                }
            }
            Ok(Frame::Skippable(frame)) => sum = sum.wrapping_add(frame.user_data().len() as u64),
            Ok(_) => {}
            Err(error) => sum = sum.wrapping_add(error.offset()),
        }
    }
    sum
}

/// A workspace in memory of the caller's.
///
/// # Safety
///
/// The place is good for a workspace.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zstd_workspace(place: *mut Workspace) {
    unsafe { place.write(Workspace::new()) }
}

/// # Safety
///
/// As `slice` and `slice_mut`; the workspace is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zstd_stream(
    input: *const u8,
    input_len: usize,
    window: *mut u8,
    window_len: usize,
    workspace: &mut Workspace,
    piece: extern "C" fn(*const u8, usize),
) -> isize {
    let (input, window) = unsafe { (slice(input, input_len), slice_mut(window, window_len)) };
    let piece = |bytes: &[u8]| piece(bytes.as_ptr(), bytes.len());
    match Decoder::new(workspace).stream(input, window, piece) {
        Ok(size) => size as isize,
        Err(_) => -1,
    }
}
