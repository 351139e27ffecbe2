//! Steps, taken.

use super::bits::find_nul;
use super::program::{Code, LOOPS, ProgramSlot};
use crate::ctf::schema::node::SLOT_COUNT;
use crate::record::{Listener, Nobody, Slot, Text};

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

/// The place that the steps have reached.
#[derive(Clone, Copy)]
struct Place {
    /// The next byte and the next step.
    at: usize,
    next: usize,
    /// The number of loops that are open.
    depth: usize,
    /// The last integer.
    last: u64,
}

/// Takes the steps of a scope that begins at byte `at`, and returns where it ends; `None` if the general reader is
/// needed.
pub(super) fn walk<L: Listener>(
    steps: &[ProgramSlot],
    content: &[u8],
    at: usize,
    memory: &mut Memory,
    to: &mut L,
) -> Option<usize> {
    go_on(steps, content, Place { at, next: 0, depth: 0, last: 0 }, memory, true, to)
}

/// The same of the last scope of a record of which it is known where it ends: a listener that wants nothing more is
/// told nothing more. `None` if the general reader is needed.
pub(super) fn walk_last<L: Listener>(
    steps: &[ProgramSlot],
    content: &[u8],
    at: usize,
    memory: &mut Memory,
    to: &mut L,
) -> Option<()> {
    go_on(steps, content, Place { at, next: 0, depth: 0, last: 0 }, memory, false, to).map(drop)
}

#[allow(clippy::as_conversions)] // Sizes and counts have 32 bits.
fn go_on<L: Listener>(
    steps: &[ProgramSlot],
    content: &[u8],
    place: Place,
    memory: &mut Memory,
    needs_end: bool,
    to: &mut L,
) -> Option<usize> {
    let Place { mut at, mut next, mut depth, mut last } = place;
    while let Some(step) = steps.get(next) {
        if to.is_full() {
            if !needs_end {
                return Some(at);
            }
            return go_on(steps, content, Place { at, next, depth, last }, memory, true, &mut Nobody);
        }
        next = next.wrapping_add(1);
        let slot = Slot(step.slot);
        match step.code {
            Code::Number(number) => (at, last) = number.tell(content, at, slot, to)?,
            Code::NulText => {
                let rest = content.get(at..)?;
                let len = find_nul(rest, 1)?;
                to.text(slot, Text::Utf8(rest.get(..len)?));
                at = at.wrapping_add(len).wrapping_add(1);
            }
            Code::Keep => *memory.registers.get_mut(step.a as usize)? = last,
            Code::Align => at = at.wrapping_add(step.a as usize) & !(step.a as usize),
            Code::Text | Code::TextSequence | Code::Blob | Code::BlobSequence => {
                let is_fixed = matches!(step.code, Code::Text | Code::Blob);
                let len = if is_fixed { step.a as usize } else { memory.register(step.a)? };
                let end = at.checked_add(len)?;
                let stored = content.get(at..end)?;
                if matches!(step.code, Code::Blob | Code::BlobSequence) {
                    to.bytes(slot, stored);
                } else {
                    let len = find_nul(stored, 1).unwrap_or(stored.len());
                    to.text(slot, Text::Utf8(stored.get(..len)?));
                }
                at = end;
            }
            Code::Numbers | Code::NumberSequence => {
                let is_fixed = step.code == Code::Numbers;
                let count = if is_fixed { step.a as usize } else { memory.register(step.a)? };
                let ProgramSlot { code: Code::Number(number), slot: element, .. } = *steps.get(next)? else {
                    return None;
                };
                to.list(slot, Some(count as u64));
                at = number.tell_all(content, at, count, Slot(element), to)?;
                to.end_list();
                next = next.wrapping_add(1);
            }
            Code::Array | Code::Sequence => {
                let is_fixed = step.code == Code::Array;
                let count = if is_fixed { step.a as usize } else { memory.register(step.a)? };
                to.list(slot, Some(count as u64));
                match count.checked_sub(1) {
                    Some(left) => {
                        *memory.loops.get_mut(depth)? = Loop { first: next, left };
                        depth = depth.wrapping_add(1);
                    }
                    None => {
                        to.end_list();
                        next = next.wrapping_add(step.b as usize);
                    }
                }
            }
            Code::EndList => {
                let innermost = memory.loops.get_mut(depth.wrapping_sub(1))?;
                match innermost.left.checked_sub(1) {
                    // Each element takes a byte at least.
                    Some(left) => {
                        innermost.left = left;
                        next = innermost.first;
                    }
                    None => {
                        depth = depth.wrapping_sub(1);
                        to.end_list();
                    }
                }
            }
            Code::Group => to.group(slot),
            Code::EndGroup => to.end_group(),
            // There is no scope in a scope.
            Code::Scope => return None,
        }
    }
    Some(at)
}
