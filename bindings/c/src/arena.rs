//! Memory of the caller, handed out piece by piece: rooms that grow without an allocator.

use core::mem::{align_of, size_of};
use core::ptr::{self, NonNull};
use core::slice;
use traceglass::Room;

/// Memory of the caller. What stays is handed out from its start, what holds until the next item from its end.
pub(crate) struct Arena {
    start: *mut u8,
    len: usize,
    /// The number of bytes at the start that are in use.
    used: usize,
    /// The start of the bytes at the end that are in use.
    end: usize,
    /// The start of those that the item itself has: its arguments come before them.
    item: usize,
    /// The number of bytes that were missing when something did not fit; 0 if all fitted.
    missing: usize,
}

impl Arena {
    pub(crate) fn new(start: *mut u8, len: usize) -> Self {
        let (start, len) =
            if start.is_null() { (NonNull::<u64>::dangling().as_ptr().cast(), 0) } else { (start, len) };
        Self { start, len, used: 0, end: len, item: len, missing: 0 }
    }

    /// The size of memory that suffices for what did not fit; `None` if all fitted.
    pub(crate) fn needed(&self) -> Option<u64> {
        let needed = self.len.saturating_add(self.missing);
        (self.missing > 0).then(|| u64::try_from(needed).unwrap_or(u64::MAX))
    }

    /// The number of bytes that are left.
    pub(crate) fn left(&self) -> usize {
        self.end.saturating_sub(self.used)
    }

    /// Gives up what was to hold until now.
    pub(crate) fn begin_item(&mut self) {
        (self.end, self.item) = (self.len, self.len);
    }

    /// Keeps what was said of the item until the next one.
    pub(crate) fn end_item(&mut self) {
        self.item = self.end;
    }

    /// Gives up the arguments that were asked for before.
    pub(crate) fn begin_args(&mut self) {
        self.end = self.item;
    }

    /// The offset from which on a value of a type can lie, at `at` or after it.
    fn aligned<T>(&self, at: usize) -> usize {
        let address = self.start.addr().wrapping_add(at);
        at.saturating_add(address.wrapping_neg() & align_of::<T>().saturating_sub(1))
    }

    /// The place of so many values, uninitialised; `None` if they do not fit.
    pub(crate) fn take<T>(&mut self, count: usize) -> Option<*mut T> {
        let at = self.aligned::<T>(self.used);
        let to = at.saturating_add(count.saturating_mul(size_of::<T>()));
        if to > self.end {
            self.missing = to.saturating_sub(self.end);
            return None;
        }
        self.used = to;
        // Within the memory, or at its end if there are none.
        Some(self.start.wrapping_add(at).cast())
    }

    /// So many values, each as it is by default.
    ///
    /// # Safety
    /// The memory is writable, and used by nobody else.
    pub(crate) unsafe fn slots<T: Default>(&mut self, count: usize) -> Option<&'static mut [T]> {
        let first = self.take::<T>(count)?;
        // SAFETY: the place is in the memory, and is aligned; nothing else has it.
        unsafe {
            fill(first, 0, count);
            Some(lent(first, count))
        }
    }

    /// Bytes at the end, which hold until the next item; `None` if they do not fit.
    pub(crate) fn scratch(&mut self, size: usize) -> Option<*mut u8> {
        if size > self.left() {
            self.missing = size.saturating_sub(self.left());
            return None;
        }
        self.end = self.end.saturating_sub(size);
        Some(self.start.wrapping_add(self.end))
    }

    /// The first place for values of a type in what is left, and how many fit there.
    pub(crate) fn rest<T>(&self) -> (*mut T, usize) {
        let at = self.aligned::<T>(self.used);
        let count = self.end.saturating_sub(at).checked_div(size_of::<T>());
        (self.start.wrapping_add(at).cast(), count.unwrap_or(0))
    }

    /// The number of bytes that were missing when something did not fit; 0 if all fitted.
    pub(crate) const fn missing(&self) -> usize {
        self.missing
    }

    /// Notes that so many bytes more than are left are needed.
    pub(crate) fn lack(&mut self, missing: usize) {
        self.missing = missing;
    }
}

/// Writes values from one number up to another, each as it is by default.
///
/// # Safety
/// The places are writable and aligned.
unsafe fn fill<T: Default>(first: *mut T, from: usize, to: usize) {
    for at in from..to {
        // SAFETY: as the caller says.
        unsafe { first.add(at).write(T::default()) };
    }
}

/// The values at a place.
///
/// # Safety
/// They are initialised, and nothing else uses them.
unsafe fn lent<'a, T>(first: *mut T, count: usize) -> &'a mut [T] {
    if count == 0 {
        return &mut [];
    }
    // SAFETY: as the caller says.
    unsafe { slice::from_raw_parts_mut(first, count) }
}

/// A room in an arena, which grows as long as there is memory.
pub(crate) struct Grown<T> {
    arena: *mut Arena,
    first: *mut T,
    len: usize,
}

impl<T: Default> Grown<T> {
    /// An empty room. The arena must stay where it is.
    pub(crate) fn new(arena: *mut Arena) -> Self {
        Self { arena, first: ptr::null_mut(), len: 0 }
    }

    /// Grows to this many; false if they do not fit.
    fn grow_to(&mut self, count: usize) -> bool {
        if self.arena.is_null() {
            return false;
        }
        // SAFETY: the arena stays, and nothing else uses it now.
        let arena = unsafe { &mut *self.arena };
        let more = count.saturating_sub(self.len);
        let end = self.first.wrapping_add(self.len).cast::<u8>();
        if self.len > 0 && end.addr() == arena.start.addr().wrapping_add(arena.used) {
            // It is the last piece: it becomes longer where it lies.
            if arena.take::<T>(more).is_none() {
                return false;
            }
        } else {
            let Some(first) = arena.take::<T>(count) else { return false };
            if self.len > 0 {
                // SAFETY: both are pieces of the memory. The old values are not used any more, and own nothing.
                unsafe { ptr::copy_nonoverlapping(self.first, first, self.len) };
            }
            self.first = first;
        }
        // SAFETY: the places were taken right now.
        unsafe { fill(self.first, self.len, count) };
        self.len = count;
        true
    }
}

impl<T: Default> Room<T> for Grown<T> {
    fn slots(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the values were written when the room grew. Shared, as the room is: others may look at them, too.
        unsafe { slice::from_raw_parts(self.first, self.len) }
    }

    fn slots_mut(&mut self) -> &mut [T] {
        // SAFETY: likewise, and the room is borrowed alone.
        unsafe { lent(self.first, self.len) }
    }

    fn grow(&mut self, needed: usize) -> bool {
        if needed <= self.len {
            return true;
        }
        // SAFETY: it is NULL, or the arena stays, and nothing else uses it now.
        let missing = unsafe { self.arena.as_ref() }.map_or(0, Arena::missing);
        if self.grow_to(needed.max(self.len.saturating_mul(2)).max(8)) {
            return true;
        }
        let fits = self.grow_to(needed);
        if fits {
            // What was missing was more than is needed.
            // SAFETY: it is not NULL, as the room grew.
            unsafe { &mut *self.arena }.lack(missing);
        }
        fits
    }
}
