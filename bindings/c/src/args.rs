//! The arguments of an event: the fields of its record, as a list.

use crate::arena::{Arena, Grown};
use crate::tg_bytes;
use core::fmt::{self, Display, Write};
use core::mem::{align_of, size_of};
use core::slice;
use traceglass::Room;
use traceglass::record::{Class, Head, Listener, Scope, Slot, Step, Text, Wants, Wide};

use tg_arg_kind::*;

/// The kind of an argument.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum tg_arg_kind {
    /// Something else: an integer of more than 64 bits.
    TG_ARG_OTHER = 0,
    /// u.
    TG_ARG_UNSIGNED = 1,
    /// i.
    TG_ARG_SIGNED = 2,
    /// u: 0 or 1.
    TG_ARG_BOOLEAN = 3,
    /// f.
    TG_ARG_FLOAT = 4,
    /// bytes.
    TG_ARG_TEXT = 5,
    /// bytes.
    TG_ARG_BYTES = 6,
    /// Arguments with a name each follow, then TG_ARG_CLOSE.
    TG_ARG_GROUP = 7,
    /// Elements follow, then TG_ARG_CLOSE; u is their number, or 0 if that is not known before.
    TG_ARG_LIST = 8,
    /// The end of what began last.
    TG_ARG_CLOSE = 9,
    /// There is no value.
    TG_ARG_ABSENT = 10,
}

/// An argument of an event, or a fact about a track.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_arg {
    pub kind: tg_arg_kind,
    pub u: u64,
    pub i: i64,
    pub f: f64,
    pub bytes: tg_bytes,
    /// The name; empty if it is an element of a list.
    pub name: tg_bytes,
}

/// The names of fields, by their numbers, and which classes were asked for them: once each.
pub(crate) struct Names {
    names: Grown<Name>,
    classes: Grown<bool>,
}

/// The name of a field.
#[derive(Clone, Copy)]
struct Name(tg_bytes);

impl Default for Name {
    fn default() -> Self {
        Self(tg_bytes::NONE)
    }
}

impl Names {
    pub(crate) fn new(arena: *mut Arena) -> Self {
        Self { names: Grown::new(arena), classes: Grown::new(arena) }
    }

    fn of(&self, slot: Slot) -> tg_bytes {
        self.names.slots().get(slot.index()).map_or(tg_bytes::NONE, |name| name.0)
    }

    /// Learns the names of a class. False if there is no memory for them.
    fn learn(&mut self, class: &dyn Class, arena: *mut Arena) -> bool {
        let number = class.id().index();
        if self.classes.slots().get(number) == Some(&true) {
            return true;
        }
        let mut fits = self.classes.grow(number.saturating_add(1));
        class.fields(&mut |step| {
            let Step::Field(field) = step else { return };
            let Some(name) = field.name.filter(|_| fits) else { return };
            fits = self.names.grow(field.slot.index().saturating_add(1));
            // SAFETY: it stays, and nothing else uses it now.
            let kept = if fits { unsafe { &mut *arena }.keep(name) } else { None };
            match (kept, self.names.slots_mut().get_mut(field.slot.index())) {
                (Some(kept), Some(slot)) => slot.0 = kept,
                _ => fits = false,
            }
        });
        if let Some(known) = self.classes.slots_mut().get_mut(number) {
            *known = fits;
        }
        fits
    }
}

/// Text on its way into memory; it counts what does not fit there.
struct Written<'m> {
    to: &'m mut [u8],
    len: usize,
}

impl Write for Written<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let rest = self.to.get_mut(self.len..).unwrap_or_default();
        for (to, from) in rest.iter_mut().zip(text.as_bytes()) {
            *to = *from;
        }
        self.len = self.len.saturating_add(text.len());
        Ok(())
    }
}

/// The number of bytes of a text.
fn length(text: &dyn Display) -> usize {
    let mut counted = Written { to: &mut [], len: 0 };
    // It counts, which does not fail.
    let _ = write!(counted, "{text}");
    counted.len
}

/// Writes a text to a place that is as long.
///
/// # Safety
/// The place is writable, and nothing else uses it.
unsafe fn write(text: &dyn Display, place: *mut u8, len: usize) -> tg_bytes {
    // SAFETY: the caller says so; bytes need not be initialised by more than this.
    let to = unsafe {
        place.write_bytes(0, len);
        slice::from_raw_parts_mut(place, len)
    };
    let mut written = Written { to, len: 0 };
    let _ = write!(written, "{text}");
    tg_bytes { ptr: place, len: len.min(written.len) }
}

impl Arena {
    /// A text that stays.
    fn keep(&mut self, text: &dyn Display) -> Option<tg_bytes> {
        let len = length(text);
        let place = self.take::<u8>(len)?;
        // SAFETY: it was taken right now.
        Some(unsafe { write(text, place, len) })
    }

    /// A text that holds until the next item.
    pub(crate) fn say(&mut self, text: &dyn Display) -> Option<tg_bytes> {
        let len = length(text);
        let place = self.scratch(len)?;
        // SAFETY: likewise.
        Some(unsafe { write(text, place, len) })
    }

    /// Bytes that hold until the next item.
    fn copy(&mut self, bytes: &[u8]) -> Option<tg_bytes> {
        let place = self.scratch(bytes.len())?;
        // SAFETY: the place is as long, and lies in other memory than what is read.
        unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Some(tg_bytes { ptr: place, len: bytes.len() })
    }
}

/// Makes the list: at the start of what is left of the memory, texts at its end.
pub(crate) struct Args<'n> {
    arena: *mut Arena,
    names: &'n mut Names,
    first: *mut tg_arg,
    count: usize,
    /// The name of the next value of a map.
    key: tg_bytes,
    /// The number of bytes for which there was no room.
    missing: usize,
    fits: bool,
    /// True in a scope that is told as a group.
    is_group: bool,
}

/// The number of no field.
const NO_SLOT: Slot = Slot(u32::MAX);

impl<'n> Args<'n> {
    pub(crate) fn new(arena: *mut Arena, names: &'n mut Names) -> Self {
        let first = core::ptr::null_mut();
        Self { arena, names, first, count: 0, key: tg_bytes::NONE, missing: 0, fits: true, is_group: false }
    }

    /// The list, and how many there are; `None` if the memory is too small.
    pub(crate) fn finish(self) -> Option<(*const tg_arg, usize)> {
        if self.missing > 0 {
            // SAFETY: it stays, and nothing else uses it now.
            unsafe { &mut *self.arena }.lack(self.missing);
        }
        (self.fits && self.missing == 0).then_some((self.first.cast_const(), self.count))
    }

    /// Bytes for a value: as they are, or as a text is shown.
    fn put(&mut self, size: usize, put: impl FnOnce(&mut Arena) -> Option<tg_bytes>) -> tg_bytes {
        // SAFETY: the arena stays, and nothing else uses it now.
        let arena = unsafe { &mut *self.arena };
        let list = self.count.saturating_mul(size_of::<tg_arg>());
        // The list lies in what is left.
        let room = list.saturating_add(size).saturating_add(align_of::<tg_arg>());
        if self.missing > 0 || arena.left() < room {
            let more = if self.missing > 0 { size } else { room.saturating_sub(arena.left()) };
            self.missing = self.missing.saturating_add(more);
            return tg_bytes::NONE;
        }
        put(arena).unwrap_or(tg_bytes::NONE)
    }

    fn add(&mut self, slot: Slot, kind: tg_arg_kind, set: impl FnOnce(&mut tg_arg)) {
        let key = core::mem::replace(&mut self.key, tg_bytes::NONE);
        let name = if key.ptr.is_null() { self.names.of(slot) } else { key };
        let mut arg = tg_arg { kind, u: 0, i: 0, f: 0.0, bytes: tg_bytes::NONE, name };
        set(&mut arg);
        self.push(arg);
    }

    fn push(&mut self, arg: tg_arg) {
        // SAFETY: the arena stays; nothing else uses it now.
        let (first, room) = unsafe { &*self.arena }.rest::<tg_arg>();
        self.first = first;
        if self.missing > 0 || self.count >= room {
            // What follows has to be aligned, too.
            let more = if self.missing > 0 { 0 } else { align_of::<tg_arg>() };
            self.missing = self.missing.saturating_add(size_of::<tg_arg>()).saturating_add(more);
            return;
        }
        // SAFETY: there is room for it in what is left of the memory.
        unsafe { first.add(self.count).write(arg) };
        self.count = self.count.saturating_add(1);
    }

    fn close(&mut self) {
        self.add(NO_SLOT, TG_ARG_CLOSE, |_| {});
    }
}

impl Listener for Args<'_> {
    fn begin(&mut self, _: &Head, class: &dyn Class) -> Wants {
        self.fits = self.names.learn(class, self.arena);
        if self.fits { Wants::ALL.without(Scope::Header) } else { Wants::NOTHING }
    }

    fn scope(&mut self, scope: Scope) {
        // The fields of a record stand by themselves; a context is a group.
        let name = scope.name().filter(|_| scope != Scope::Payload);
        self.is_group = name.is_some();
        if let Some(name) = name {
            self.key = tg_bytes::new(name.as_bytes());
            self.add(NO_SLOT, TG_ARG_GROUP, |_| {});
        }
    }

    fn end_scope(&mut self) {
        if self.is_group {
            self.close();
        }
    }

    fn group(&mut self, slot: Slot) {
        self.add(slot, TG_ARG_GROUP, |_| {});
    }

    fn end_group(&mut self) {
        self.close();
    }

    fn list(&mut self, slot: Slot, len: Option<u64>) {
        self.add(slot, TG_ARG_LIST, |arg| arg.u = len.unwrap_or(0));
    }

    fn end_list(&mut self) {
        self.close();
    }

    fn key(&mut self, name: Text<'_>) {
        self.key = self.put(length(&name), |arena| arena.say(&name));
    }

    fn unsigned(&mut self, slot: Slot, value: u64) {
        self.add(slot, TG_ARG_UNSIGNED, |arg| arg.u = value);
    }

    fn signed(&mut self, slot: Slot, value: i64) {
        self.add(slot, TG_ARG_SIGNED, |arg| arg.i = value);
    }

    fn wide(&mut self, slot: Slot, _: Wide<'_>) {
        self.add(slot, TG_ARG_OTHER, |_| {});
    }

    fn boolean(&mut self, slot: Slot, value: bool) {
        self.add(slot, TG_ARG_BOOLEAN, |arg| arg.u = value.into());
    }

    fn float(&mut self, slot: Slot, value: f64) {
        self.add(slot, TG_ARG_FLOAT, |arg| arg.f = value);
    }

    fn text(&mut self, slot: Slot, value: Text<'_>) {
        let bytes = match value {
            Text::Utf8(bytes) => self.put(bytes.len(), |arena| arena.copy(bytes)),
            text => self.put(length(&text), |arena| arena.say(&text)),
        };
        self.add(slot, TG_ARG_TEXT, |arg| arg.bytes = bytes);
    }

    fn bytes(&mut self, slot: Slot, value: &[u8]) {
        let bytes = self.put(value.len(), |arena| arena.copy(value));
        self.add(slot, TG_ARG_BYTES, |arg| arg.bytes = bytes);
    }

    fn absent(&mut self, slot: Slot) {
        self.add(slot, TG_ARG_ABSENT, |_| {});
    }
}
