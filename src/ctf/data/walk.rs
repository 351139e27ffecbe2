//! Steps, taken.

use super::bits::{bits_of, find_nul, load};
use super::class::SCOPES;
use super::code::{Code, with_numbers};
use super::program::{LOOPS, ProgramSlot};
use crate::ctf::schema::node::SLOT_COUNT;
use crate::record::{Listener, Nobody, Slot, Text, Wants};

/// The registers of steps, kept from record to record.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// Lengths of sequences. Each is filled before it is read: the steps were compiled so.
    registers: [u64; SLOT_COUNT],
    loops: [Loop; LOOPS],
}

impl Memory {
    pub(super) const NOTHING: Self =
        Self { registers: [0; SLOT_COUNT], loops: [Loop { first: 0, left: 0 }; LOOPS] };

    #[inline(always)]
    #[allow(clippy::as_conversions)] // A register is below 16.
    fn register(&self, number: u32) -> Option<usize> {
        usize::try_from(*self.registers.get(number as usize)?).ok()
    }
}

/// A list that is being told: the first step of an element, and how many are left.
#[derive(Clone, Copy, Debug)]
struct Loop {
    first: usize,
    left: usize,
}

/// Takes the steps of scopes from byte `at` on, and returns where they end; `None` if the general reader is needed. Scopes
/// that are not wanted are told to nobody.
///
/// If it is known where a record ends, its last scope is `last`: a listener that wants nothing more is told nothing more.
#[inline(never)]
pub(super) fn walk<L: Listener>(
    steps: &[ProgramSlot],
    content: &[u8],
    at: usize,
    memory: &mut Memory,
    wants: Wants,
    is_last: bool,
    to: &mut L,
) -> Option<usize> {
    scopes(steps, content, at, memory, wants, is_last, to)
}

/// As [`walk`], without a call.
#[inline(always)]
#[allow(clippy::as_conversions)] // Counts have 32 bits.
pub(super) fn scopes<L: Listener>(
    mut steps: &[ProgramSlot],
    content: &[u8],
    mut at: usize,
    memory: &mut Memory,
    wants: Wants,
    is_last: bool,
    to: &mut L,
) -> Option<usize> {
    // A header may be all of a record.
    content.get(at..)?;
    while let Some((scope, rest)) = steps.split_first() {
        let (inner, after) = rest.split_at_checked(scope.b as usize)?;
        let (scope, _) = SCOPES.get(scope.a as usize)?;
        let place = Place { at, next: 0, depth: 0 };
        if wants.has(*scope) {
            to.scope(*scope);
            at = fields(inner, content, place, memory, is_last && after.is_empty(), to)?;
            to.end_scope();
        } else {
            at = go_on(inner, content, place, memory)?;
        }
        steps = after;
    }
    Some(at)
}

/// Goes on from a place in a scope, and tells nobody.
#[inline(never)]
fn go_on(steps: &[ProgramSlot], content: &[u8], place: Place, memory: &mut Memory) -> Option<usize> {
    fields(steps, content, place, memory, false, &mut Nobody)
}

/// The place that the steps of a scope have reached.
#[derive(Clone, Copy)]
struct Place {
    /// The next byte and the next step.
    at: usize,
    next: usize,
    /// The number of loops that are open.
    depth: usize,
}

/// Takes the steps of a scope. Those after a listener has all that it x
#[allow(clippy::as_conversions, clippy::cast_lossless)] // Sizes and counts have 32 bits.
#[inline(always)]
fn fields<L: Listener>(
    all: &[ProgramSlot],
    content: &[u8],
    place: Place,
    memory: &mut Memory,
    is_last: bool,
    to: &mut L,
) -> Option<usize> {
    let mut depth = place.depth;
    let mut rest = content.get(place.at..)?;
    let mut steps = all.get(place.next..)?.iter();
    while let Some(step) = steps.next() {
        let slot = Slot(step.slot);
        if to.is_full() {
            let at = content.len().wrapping_sub(rest.len());
            let next = all.len().wrapping_sub(steps.len()).wrapping_sub(1);
            return if is_last { Some(at) } else { go_on(all, content, Place { at, next, depth }, memory) };
        }
        macro_rules! step {
            ($($name:ident $tell:ident $type:ident $from:ident $to:ident),*) => {
                match step.code {
                    $(Code::$name => {
                        let (bytes, after) = rest.split_first_chunk()?;
                        to.$tell(slot, $type::$from(*bytes) as $to);
                        rest = after;
                    })*
                    Code::NulText => {
                        let (text, after) = rest.split_at_checked(find_nul(rest, 1)?)?;
                        to.text(slot, Text::Utf8(text));
                        rest = after.get(1..)?;
                    }
                    Code::Keep => {
                        let end = bits_of(content.len().wrapping_sub(rest.len()));
                        let value = load(content, end.wrapping_sub(step.b.into()), step.b, step.slot != 0);
                        *memory.registers.get_mut(step.a as usize)? = value;
                    }
                    Code::Align => {
                        let at = content.len().wrapping_sub(rest.len());
                        rest = rest.get(at.wrapping_neg() & step.a as usize..)?;
                    }
                    Code::Text | Code::TextSequence | Code::Blob | Code::BlobSequence => {
                        let is_fixed = matches!(step.code, Code::Text | Code::Blob);
                        let len = if is_fixed { step.a as usize } else { memory.register(step.a)? };
                        let (stored, after) = rest.split_at_checked(len)?;
                        if matches!(step.code, Code::Blob | Code::BlobSequence) {
                            to.bytes(slot, stored);
                        } else {
                            let len = find_nul(stored, 1).unwrap_or(stored.len());
                            to.text(slot, Text::Utf8(stored.get(..len)?));
                        }
                        rest = after;
                    }
                    Code::Numbers | Code::NumberSequence => {
                        let is_fixed = step.code == Code::Numbers;
                        let count = if is_fixed { step.a as usize } else { memory.register(step.a)? };
                        let element = steps.next()?;
                        to.list(slot, Some(count as u64));
                        rest = element.code.tell_all(rest, count, Slot(element.slot), to)?;
                        to.end_list();
                    }
                    Code::Array | Code::Sequence => {
                        let is_fixed = step.code == Code::Array;
                        let count = if is_fixed { step.a as usize } else { memory.register(step.a)? };
                        to.list(slot, Some(count as u64));
                        match count.checked_sub(1) {
                            Some(left) => {
                                let first = all.len().wrapping_sub(steps.len());
                                *memory.loops.get_mut(depth)? = Loop { first, left };
                                depth = depth.wrapping_add(1);
                            }
                            None => {
                                to.end_list();
                                steps = steps.as_slice().get(step.b as usize..)?.iter();
                            }
                        }
                    }
                    Code::EndList => {
                        let innermost = memory.loops.get_mut(depth.wrapping_sub(1))?;
                        match innermost.left.checked_sub(1) {
                            // Each element takes a byte at least.
                            Some(left) => {
                                innermost.left = left;
                                steps = all.get(innermost.first..)?.iter();
                            }
                            None => {
                                depth = depth.wrapping_sub(1);
                                to.end_list();
                            }
                        }
                    }
                    Code::Group => to.group(slot),
                    Code::EndGroup => to.end_group(),
                    // No step tells where others are, and no scope is in another one.
                    Code::Steps | Code::Scope => return None,
                }
            };
        }
        with_numbers!(step);
    }
    Some(content.len().wrapping_sub(rest.len()))
}
