//! Memory that is lent: a number in each of its first places, and slots in the bits or the places that are left.

/// Where in a storage slots lie. They hold numbers, as its first places do.
///
/// A number takes as many bits as the number of entries has: 17 of 32 for 100,000. Of the bits above, the lowest is a
/// mark for sorting, and the others are free: a slot takes those of as many places as it needs. Slots may also lie in
/// places after the numbers, and take one each; the mark is the highest bit then.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    /// The place at which the first one begins.
    start: usize,
    len: usize,
    /// How many places one takes: 0 if two share one.
    width: usize,
    /// The lower bits of a place that are not a slot's. Products move the others down and up: processors without BMI
    /// take longer to shift by what is not a constant.
    below: u32,
    /// 2³² / (`below` + 1).
    down: u64,
    /// The bits of a place that are its number's.
    mask: u32,
}

impl Slots {
    /// None, in a storage of as many numbers.
    pub(super) fn none(numbers: usize) -> Self {
        let mask = if i32::try_from(numbers).is_ok() { u32::MAX >> 1 } else { u32::MAX };
        Self { start: 0, len: 0, width: 1, below: 0, down: 1 << 32, mask }
    }

    /// Those in `len` places after the numbers.
    pub(super) fn after(numbers: usize, len: usize) -> Self {
        Self { start: numbers, len, ..Self::none(numbers) }
    }

    /// Those in the free bits of the numbers: none from 2²⁷ on, which leave too few.
    pub(super) fn above(numbers: usize) -> Self {
        let unused = u32::try_from(numbers).map_or(0, u32::leading_zeros);
        Self::above_bits(numbers, u32::BITS.saturating_sub(unused))
    }

    /// Those above numbers of as many `bits`.
    fn above_bits(numbers: usize, bits: u32) -> Self {
        let none = Self::none(numbers);
        let free = u32::BITS.saturating_sub(bits.saturating_add(1));
        let Some(width) = (1..=8_u8).find(|&width| u32::from(width).saturating_mul(free) >= bits) else {
            return none;
        };
        let width = usize::from(width);
        let mask = !u32::MAX.wrapping_shl(bits);
        let below = mask.wrapping_shl(1) | 1;
        let len = numbers.checked_div(width).unwrap_or(0);
        Self { len, width, below, down: 1_u64.wrapping_shl(free), mask, ..none }
    }

    /// The same, but two in each place, if those have room for as many bits: below 2¹⁰.
    pub(super) fn most_above(numbers: usize) -> Self {
        let above = Self::above(numbers);
        if above.down > u64::from(above.mask).saturating_mul(above.mask.into()) {
            return Self { len: numbers.saturating_mul(2), width: 0, ..above };
        }
        above
    }

    /// Those from `first` on, `len` at most.
    pub(super) fn part(self, first: usize, len: usize) -> Self {
        let first = first.min(self.len);
        let start = self.start.saturating_add(first.saturating_mul(self.width));
        Self { start, len: len.min(self.len.saturating_sub(first)), ..self }
    }

    /// Those that leave the first places whole, as many as a third of them.
    pub(super) fn leave_a_third(self) -> Self {
        // Those after the numbers leave as many places as there are numbers, and nothing needs more.
        let first = match self.start {
            0 => self.len.div_ceil(self.width.saturating_mul(3).saturating_add(1)),
            _ => 0,
        };
        self.part(first, self.len)
    }

    #[inline]
    pub(super) const fn len(self) -> usize {
        self.len
    }

    /// The bits of a place that are its number's.
    #[inline]
    pub(super) const fn mask(self) -> u32 {
        self.mask
    }

    /// The places of all, unless two share one.
    pub(super) fn places(self, storage: &mut [u32]) -> Option<&mut [u32]> {
        storage.get_mut(self.start..)?.get_mut(..self.len.checked_mul(self.width)?)
    }

    /// What a slot holds, where that is asked for each entry.
    #[inline(always)]
    pub(super) fn get_fast(self, storage: &[u32], slot: usize) -> Option<u32> {
        let places = storage.get(self.start.wrapping_add(slot.wrapping_mul(self.width))..)?;
        match (self.width, places) {
            (0, _) => {
                let both = upper_half(u64::from(*storage.get(slot / 2)?).wrapping_mul(self.down))?;
                let upper = upper_half(u64::from(both).wrapping_mul(self.down).wrapping_mul(2))?;
                Some(if slot.is_multiple_of(2) { both } else { upper } & self.mask)
            }
            (1, [place, ..]) => upper_half(u64::from(*place).wrapping_mul(self.down)),
            (2, [upper, lower, ..]) => {
                let [upper, lower] = [upper, lower].map(|place| u64::from(place & !self.below));
                upper_half(upper.wrapping_mul(self.down).wrapping_add(lower).wrapping_mul(self.down))
            }
            _ => self.get_wide(places),
        }
    }

    #[inline(never)]
    fn get_wide(self, places: &[u32]) -> Option<u32> {
        let value = places.get(..self.width)?.iter().fold(0_u64, |value, place| {
            let bits = u64::from(*place).wrapping_mul(self.down) >> 32;
            value.wrapping_mul(self.down).wrapping_add(bits)
        });
        u32::try_from(value).ok()
    }

    /// The same in less code.
    #[inline(never)]
    pub(super) fn get(self, storage: &[u32], slot: usize) -> Option<u32> {
        self.get_fast(storage, slot)
    }

    #[inline(never)]
    pub(super) fn set(self, storage: &mut [u32], slot: usize, mut value: u32) -> Option<()> {
        let up = self.below.wrapping_add(1);
        if self.width == 0 {
            let place = storage.get_mut(slot / 2)?;
            let up = if slot.is_multiple_of(2) { up } else { up.wrapping_mul(self.mask.wrapping_add(1)) };
            *place = *place & !self.mask.wrapping_mul(up) | value.wrapping_mul(up);
            return Some(());
        }
        let places = storage.get_mut(self.start.wrapping_add(slot.wrapping_mul(self.width))..)?;
        for place in places.get_mut(..self.width)?.iter_mut().rev() {
            *place = *place & self.below | value.wrapping_mul(up);
            value = upper_half(u64::from(value).wrapping_mul(up.into()))?;
        }
        Some(())
    }
}

/// The upper 32 bits.
#[inline(always)]
fn upper_half(n: u64) -> Option<u32> {
    u32::try_from(n >> 32).ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    /// Slots of each width, above as many numbers.
    pub(in super::super) fn of_all_widths(numbers: usize) -> Vec<Slots> {
        [15, 20, 23, 24, 25, 26, 27].map(|bits| Slots::above_bits(numbers, bits)).into()
    }

    /// A slot takes as many places as a number needs of their free bits, and so many entries have few.
    #[test]
    fn widths_are_those_of_the_numbers() {
        let width = |numbers: usize| {
            let slots = Slots::above(numbers);
            assert_eq!(slots.len, numbers / slots.width);
            slots.width
        };
        let last = [0x7fff, 0xf_ffff, 0xff_ffff, 0x1ff_ffff, 0x3ff_ffff, 0x7ff_ffff];
        assert_eq!(last.map(width), [1, 2, 4, 5, 6, 7]);
        assert_eq!(last.map(|last| Slots::above(last + 1)).map(|slots| slots.width), [2, 3, 5, 6, 7, 1]);
        assert_eq!([0, 1 << 27, usize::MAX].map(|numbers| Slots::above(numbers).len()), [0; 3]);
        assert_eq!(
            of_all_widths(99).iter().map(|slots| slots.width).collect::<Vec<_>>(),
            [1, 2, 3, 4, 5, 6, 7]
        );
        let most = [0, 1, 1023, 1024, 1 << 27, usize::MAX].map(Slots::most_above);
        assert_eq!(
            most.map(|slots| (slots.len, slots.width)),
            [(0, 0), (2, 0), (2046, 0), (1024, 1), (0, 1), (0, 1)]
        );
        assert_eq!([0, 0x7fff_ffff].map(|numbers| Slots::none(numbers).mask()), [0x7fff_ffff; 2]);
        assert_eq!(Slots::none(0x8000_0000).mask(), u32::MAX);
    }

    /// What is set is what one gets, whatever was there, and nothing beside it changes.
    #[test]
    fn slots_keep_their_numbers() {
        let mut all = of_all_widths(60);
        all.extend([Slots::after(60, 30), Slots::most_above(60), Slots::most_above(90)]);
        all.extend(of_all_widths(60).into_iter().map(|slots| slots.part(2, 5)));
        for slots in all {
            for before in [0, u32::MAX, 0x5555_5555] {
                let mut storage = vec![before; 90];
                let value = |slot: usize| (slots.mask() / 7).wrapping_mul(slot as u32) & slots.mask();
                for slot in 0..slots.len() {
                    slots.set(&mut storage, slot, value(slot)).unwrap();
                }
                for slot in 0..slots.len() {
                    assert_eq!(slots.get(&storage, slot), Some(value(slot)));
                    slots.set(&mut storage, slot, slots.mask()).unwrap();
                    assert_eq!(slots.get(&storage, slot), Some(slots.mask()));
                    slots.set(&mut storage, slot, value(slot)).unwrap();
                }
                let places = if slots.width == 0 { slots.len / 2 } else { slots.len * slots.width };
                let its = slots.start..slots.start + places;
                for (place, now) in storage.iter().enumerate() {
                    let unchanged = if its.contains(&place) { slots.below } else { u32::MAX };
                    assert_eq!(now & unchanged, before & unchanged);
                }
            }
            assert_eq!(slots.get(&[0; 90], 180), None);
            assert_eq!((slots.set(&mut [0; 90], 180, 0), slots.part(999, 9).len()), (None, 0));
        }
    }

    /// A third of what is left has as many places before it.
    #[test]
    fn the_first_places_suffice() {
        for numbers in 0..500 {
            for slots in of_all_widths(numbers) {
                let left = slots.leave_a_third();
                assert!(left.start >= left.len() / 3);
                // Not one more slot could be left.
                let more = slots.part((slots.len() - left.len()).saturating_sub(1), slots.len());
                assert!(left.len() == slots.len() || more.start < more.len().div_ceil(3));
            }
        }
        assert_eq!(Slots::after(9, 40).leave_a_third().len(), 40);
    }
}
