//! The lengths of waits, counted by size: memory does not grow with their number.

/// The number of sizes between one power of two and the next, as a power of two. What is told of waits of one size is
/// their mean, which is off by 1/1024 at most: people compare these few numbers, and read them as exact.
const FINE: u32 = 10;

/// The number of sizes.
const SIZES: usize = (64 - FINE as usize + 1) << FINE;

/// Waits of a size: their number, and their sum.
#[derive(Clone, Copy, Default)]
struct Size {
    count: u64,
    sum: u128,
}

/// The lengths of waits, by size.
#[derive(Default)]
pub struct Waits {
    sizes: Vec<Size>,
    count: u64,
}

impl Waits {
    pub fn add(&mut self, ns: u64) {
        if self.sizes.is_empty() {
            self.sizes = vec![Size::default(); SIZES];
        }
        if let Some(size) = self.sizes.get_mut(size_of(ns)) {
            size.count = size.count.saturating_add(1);
            size.sum = size.sum.saturating_add(ns.into());
        }
        self.count = self.count.saturating_add(1);
    }

    /// The number of them.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The time that so many of a hundred waits do not exceed.
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        let last = self.count.checked_sub(1)?;
        let place = u64::try_from(u128::from(last).saturating_mul(percent.into()).div_ceil(100)).ok()?;
        let mut before = 0_u64;
        let size = self.sizes.iter().find(|size| {
            before = before.saturating_add(size.count);
            before > place
        })?;
        u64::try_from(size.sum.checked_div(size.count.into())?).ok()
    }
}

/// The place of a length's size: below 2 to the power of `FINE` each has its own.
const fn size_of(ns: u64) -> usize {
    let high = 63_u32.saturating_sub((ns | 1).leading_zeros());
    let shift = high.saturating_sub(FINE);
    let low = ns.wrapping_shr(shift) as usize;
    (shift as usize).wrapping_shl(FINE).saturating_add(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_order_and_all_have_a_place() {
        let mut last = 0;
        for shift in 0..64 {
            for near in [-1_i128, 0, 1] {
                let Ok(ns) = u64::try_from((1_i128 << shift) + near) else { continue };
                assert!(size_of(ns) >= last || near == -1, "{ns}");
                last = last.max(size_of(ns));
                assert!(size_of(ns) < SIZES);
            }
        }
        assert_eq!(size_of(u64::MAX), SIZES - 1);
        assert!((0..1 << FINE).all(|ns| size_of(ns) as u64 == ns));
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_waits() {
        let mut seed = 5_u64;
        for round in 0..60 {
            let (mut waits, mut all) = (Waits::default(), Vec::new());
            for _ in 0..1 + round * 7 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let ns = seed >> (seed % 50);
                waits.add(ns);
                all.push(ns);
            }
            all.sort_unstable();
            assert_eq!(waits.count(), all.len() as u64);
            for percent in [0, 50, 99, 100] {
                let exact = all[((all.len() - 1) * percent).div_ceil(100)];
                let told = waits.percentile(percent as u64).unwrap();
                assert!(told.abs_diff(exact) <= exact >> (FINE - 1), "{told} {exact}");
            }
        }
        let mut waits = Waits::default();
        assert_eq!(waits.percentile(50), None);
        (0..5).for_each(|_| waits.add(900_100));
        assert_eq!(waits.percentile(99), Some(900_100));
    }
}
