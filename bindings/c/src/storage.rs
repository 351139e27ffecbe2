//! Readers in storage of the caller.

use core::mem::{align_of, size_of};

/// Bytes of a caller in which a value lies.
///
/// # Safety
/// The type consists of bytes that may have any value.
pub(crate) unsafe trait Storage: Sized {
    /// The type of the value.
    type Value;

    /// The place of the value, if there is storage; compiles only if it fits.
    fn place(storage: *mut Self) -> Option<*mut Self::Value> {
        const { assert!(size_of::<Self::Value>() <= size_of::<Self>(), "the storage is too small") };
        const { assert!(align_of::<Self::Value>() <= align_of::<Self>(), "the storage is not aligned") };
        let place = storage.cast::<Self::Value>();
        (!place.is_null() && place.is_aligned()).then_some(place)
    }

    /// Puts a value there; what was there before is forgotten, as it owns nothing. False if there is no storage.
    ///
    /// # Safety
    /// The storage is NULL or writable.
    unsafe fn open(storage: *mut Self, value: Self::Value) -> bool {
        let Some(place) = Self::place(storage) else { return false };
        // SAFETY: the place is in the storage, which is writable.
        unsafe { place.write(value) };
        true
    }

    /// The value there.
    ///
    /// # Safety
    /// The storage is NULL, or a value was put there, and nothing else uses it.
    unsafe fn get<'a>(storage: *mut Self) -> Option<&'a mut Self::Value> {
        // SAFETY: the caller's promise.
        Self::place(storage).map(|place| unsafe { &mut *place })
    }
}
