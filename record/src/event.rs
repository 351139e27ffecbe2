//! The description of an event and its fields.

use crate::metadata::{Digits, Short};
use core::slice::Iter;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

/// A set of events that one metadata describes; [`events!`](crate::events) makes it.
pub trait Trace {
    /// The metadata in CTF 2: what the file `metadata` has to hold.
    const METADATA: &'static str;
    /// The same in CTF 1.8.
    const METADATA_1_8: &'static str;
}

/// An event of a trace; [`events!`](crate::events) makes it.
pub trait Event {
    /// The trace that it is an event of.
    type Trace: Trace;
    /// The number of the event.
    const ID: u32;
    /// The size of its fields in bytes.
    const SIZE: usize;

    /// Writes the fields, in as many bytes.
    fn put(&self, to: &mut Words<'_>);
}

/// A type that fields of events can have.
pub trait Field: Copy {
    /// The size in bytes.
    const SIZE: usize;
    /// The field class in CTF 2.
    const CLASS: &'static str;
    /// The text before and after the name of the field in CTF 1.8.
    const DECLARATION: [&'static str; 2];

    /// Writes it.
    fn put(self, to: &mut Words<'_>);
}

/// The words of a record, and the bytes that do not make one yet.
///
/// The number of these is known when a program is compiled, so that an event of three fields is straight code.
#[derive(Debug)]
pub struct Words<'m> {
    places: Iter<'m, AtomicU32>,
    held: u32,
    bits: u32,
}

impl<'m> Words<'m> {
    #[inline(always)]
    pub(crate) fn new(words: &'m [AtomicU32]) -> Self {
        Self { places: words.iter(), held: 0, bits: 0 }
    }

    /// Writes the lower `bits` of a value, which are 8, 16 or 32, and of which all others are 0. What is too much for
    /// the record is left out.
    #[inline(always)]
    pub fn put(&mut self, value: u32, bits: u32) {
        let held = self.held | value.wrapping_shl(self.bits);
        let end = self.bits.wrapping_add(bits);
        if end < 32 {
            (self.held, self.bits) = (held, end);
            return;
        }
        self.store(held);
        // The bits that went beyond the word; none if the value began with it.
        self.held = if self.bits == 0 { 0 } else { value.wrapping_shr(32_u32.wrapping_sub(self.bits)) };
        self.bits = end.wrapping_sub(32);
    }

    /// Writes the bytes that are held.
    #[inline(always)]
    pub(crate) fn finish(mut self) {
        if self.bits > 0 {
            self.store(self.held);
        }
    }

    #[inline(always)]
    fn store(&mut self, word: u32) {
        if let Some(place) = self.places.next() {
            place.store(word.to_le(), Relaxed);
        }
    }
}

/// The lower and the upper half.
#[allow(clippy::as_conversions)] // Cutting is what is wanted.
pub(crate) const fn halves(value: u64) -> (u32, u32) {
    (value as u32, (value >> 32) as u32)
}

/// Text of at most `N` bytes; in the trace it ends at its first NUL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<const N: usize>([u8; N]);

impl<const N: usize> Text<N> {
    const DIGITS: &'static Digits = &Digits::new(wide(N));
    const SHORT_CLASS: &'static Short =
        &Short::new(&[r#"{"type":"static-length-string","length":"#, Self::DIGITS.as_str(), "}"]);
    const SHORT_LENGTH: &'static Short = &Short::new(&["[", Self::DIGITS.as_str(), "]"]);

    /// As much of the text as has room: whole characters, up to its first NUL.
    pub fn new(text: &str) -> Self {
        let text = text.split('\0').next().unwrap_or_default();
        let mut end = text.len().min(N);
        while !text.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        let mut bytes = [0; N];
        for (to, from) in bytes.iter_mut().zip(text.as_bytes().get(..end).unwrap_or_default()) {
            *to = *from;
        }
        Self(bytes)
    }
}

#[allow(clippy::as_conversions)] // No size has more than 64 bits.
const fn wide(size: usize) -> u64 {
    size as u64
}

impl<const N: usize> Field for Text<N> {
    const SIZE: usize = N;
    const CLASS: &'static str = Self::SHORT_CLASS.as_str();
    const DECLARATION: [&'static str; 2] =
        ["integer { size = 8; align = 8; signed = false; encoding = UTF8; } ", Self::SHORT_LENGTH.as_str()];

    #[inline(always)]
    fn put(self, to: &mut Words<'_>) {
        let (words, rest) = self.0.as_chunks::<4>();
        for bytes in words {
            to.put(u32::from_le_bytes(*bytes), 32);
        }
        for byte in rest {
            to.put((*byte).into(), 8);
        }
    }
}

/// Fields that are numbers: type, class of CTF 2, that of CTF 1.8, and the values of so many bits that it consists of.
macro_rules! numbers {
    ($($type:ty, $class:literal, $length:literal, $tsdl:literal, |$value:ident| $($put:expr, $bits:literal);+)*) => {$(
        impl Field for $type {
            const SIZE: usize = size_of::<$type>();
            const CLASS: &'static str = concat!(r#"{"type":"fixed-length-"#, $class, r#"","length":"#, $length,
                r#","byte-order":"little-endian","alignment":8}"#);
            const DECLARATION: [&'static str; 2] = [concat!($tsdl, " align = 8; byte_order = le; } "), ""];

            #[inline(always)]
            fn put(self, to: &mut Words<'_>) {
                let $value = self;
                $(to.put($put, $bits);)+
            }
        }
    )*};
}

numbers! {
    u8, "unsigned-integer", 8, "integer { size = 8; signed = false;", |value| value.into(), 8
    u16, "unsigned-integer", 16, "integer { size = 16; signed = false;", |value| value.into(), 16
    u32, "unsigned-integer", 32, "integer { size = 32; signed = false;", |value| value, 32
    u64, "unsigned-integer", 64, "integer { size = 64; signed = false;", |value| halves(value).0, 32; halves(value).1, 32
    i8, "signed-integer", 8, "integer { size = 8; signed = true;", |value| value.cast_unsigned().into(), 8
    i16, "signed-integer", 16, "integer { size = 16; signed = true;", |value| value.cast_unsigned().into(), 16
    i32, "signed-integer", 32, "integer { size = 32; signed = true;", |value| value.cast_unsigned(), 32
    i64, "signed-integer", 64, "integer { size = 64; signed = true;", |value|
        halves(value.cast_unsigned()).0, 32; halves(value.cast_unsigned()).1, 32
    bool, "boolean", 8, "integer { size = 8; signed = false;", |value| value.into(), 8
    f32, "floating-point-number", 32, "floating_point { exp_dig = 8; mant_dig = 24;", |value| value.to_bits(), 32
    f64, "floating-point-number", 64, "floating_point { exp_dig = 11; mant_dig = 53;", |value|
        halves(value.to_bits()).0, 32; halves(value.to_bits()).1, 32
}
