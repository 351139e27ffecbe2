//! One C function per public entry of traceglass, each of which must link although the panic handler cannot.
//!
//! The handler calls a function that does not exist, so that the linker fails if any path to a panic is left in what
//! an entry reaches. Entries take their slices by address and length. `.ci/no-panic.sh` links each.
#![no_std]

/// Entries that read one slice: a name, and what is done with the slice, which must give a `u64` of all that was read
/// so that nothing is optimised away.
macro_rules! entries {
    ($($name:ident($data:ident) $body:block)*) => {$(
        /// # Safety
        ///
        /// As `slice`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(data: *const u8, len: usize) -> u64 {
            let $data = unsafe { crate::slice(data, len) };
            $body
        }
    )*};
}

mod ctf;
mod detect;
mod dial9;
mod event;
mod rdf;
mod record;
mod rfr;
mod rtc;
mod sum;
mod zstd;

unsafe extern "C" {
    /// Exists nowhere.
    safe fn a_panic_is_reachable() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    a_panic_is_reachable()
}

/// The slice of a caller.
///
/// # Safety
///
/// As `core::slice::from_raw_parts`.
pub(crate) unsafe fn slice<'a>(data: *const u8, len: usize) -> &'a [u8] {
    unsafe { core::slice::from_raw_parts(data, len) }
}

/// The mutable slice of a caller.
///
/// # Safety
///
/// As `core::slice::from_raw_parts_mut`.
pub(crate) unsafe fn slice_mut<'a>(data: *mut u8, len: usize) -> &'a mut [u8] {
    unsafe { core::slice::from_raw_parts_mut(data, len) }
}

/// The negative control: it does not link.
///
/// # Safety
///
/// As [`slice`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn control(data: *const u8, len: usize) -> u8 {
    let data = unsafe { slice(data, len) };
    data[0]
}
