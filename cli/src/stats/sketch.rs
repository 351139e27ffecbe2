//! Durations in a few buckets: how they are spread, in memory that does not grow with their number.

use std::collections::BTreeMap;

/// Bits of a duration that are kept after its highest one: a bucket is 1/32 of its values wide, and a quantile, given as
/// the middle of its bucket, is off by 1/64 at most.
const BITS: u32 = 5;

/// Durations: how many, and how they are spread. Count, total, least and greatest are exact, up to 292 years. Of many
/// names, which are met at random, what takes less memory takes less time: most touch two lines of the cache.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Sketch {
    pub count: u64,
    /// As an integer of 128 bits, without a gap before it.
    total: [u8; 16],
    min: i64,
    max: i64,
    /// The counts of buckets, for many durations.
    rows: Rows,
    /// The buckets of the first ones.
    few: Few,
}

/// The buckets of durations, in as many lines as are full.
type Few = [[u16; 4]; FEW / 4];

/// The counts of buckets by rows; where there are none, the row need not be there.
type Rows = Option<Box<[Option<Box<[u64; ROW]>>; ROWS]>>;

/// The number of durations of which the buckets are kept one by one.
const FEW: usize = 52;

/// The buckets of a power of two.
const ROW: usize = 1 << BITS;

/// The rows of all buckets.
const ROWS: usize = 60;

/// The bucket of a duration.
fn bucket(duration: u64) -> u32 {
    let high = 63_u32.saturating_sub(duration.leading_zeros());
    match high.checked_sub(BITS) {
        // Each has a bucket of its own.
        None | Some(0) => u32::try_from(duration).unwrap_or(u32::MAX),
        Some(shift) => {
            let rest = u32::try_from(duration.checked_shr(shift).unwrap_or(0)).unwrap_or(u32::MAX);
            (shift << BITS).saturating_add(rest)
        }
    }
}

/// The least and the greatest duration of a bucket.
fn range(bucket: u32) -> (u64, u64) {
    let shift = (bucket >> BITS).saturating_sub(1);
    let rest = u64::from(bucket.saturating_sub(shift << BITS));
    let width = 1_u64.checked_shl(shift).unwrap_or(u64::MAX);
    let least = rest.saturating_mul(width);
    (least, least.saturating_add(width.saturating_sub(1)))
}

impl Sketch {
    /// Adds a duration; true if it is greater than all before.
    pub fn add(&mut self, duration: i128) -> bool {
        let bound = if duration < 0 { i64::MIN } else { i64::MAX };
        let short = i64::try_from(duration).unwrap_or(bound);
        let is_greatest = self.count == 0 || short > self.max;
        self.min = if self.count == 0 { short } else { self.min.min(short) };
        self.max = if is_greatest { short } else { self.max };
        self.count = self.count.saturating_add(1);
        self.total = self.total().saturating_add(duration).to_ne_bytes();
        let bucket = bucket(u64::try_from(duration.max(0)).unwrap_or(u64::MAX));
        let place = self.count.checked_sub(1).and_then(|place| usize::try_from(place).ok()).unwrap_or(FEW);
        match (self.few.as_flattened_mut().get_mut(place), u16::try_from(bucket)) {
            (Some(place), Ok(short)) if self.rows.is_none() => *place = short,
            _ => {
                if self.rows.is_none() {
                    let few = self.few;
                    few.as_flattened().iter().take(place).for_each(|first| self.count_in((*first).into()));
                }
                self.count_in(bucket);
            }
        }
        is_greatest
    }

    /// Counts one more in a bucket.
    fn count_in(&mut self, bucket: u32) {
        let bucket = usize::try_from(bucket).unwrap_or(0);
        let rows = self.rows.get_or_insert_with(|| Box::new([const { None }; ROWS]));
        let row = rows.get_mut(bucket / ROW).map(|row| row.get_or_insert_with(|| Box::new([0; ROW])));
        if let Some(place) = row.and_then(|row| row.get_mut(bucket % ROW)) {
            *place = place.saturating_add(1);
        }
    }

    /// The buckets that have any, in order, each with how many; of a few, perhaps in several parts.
    fn buckets(&self) -> impl Iterator<Item = (u32, u64)> {
        let count = if self.rows.is_some() { 0 } else { usize::try_from(self.count).unwrap_or(FEW) };
        let mut few: Vec<_> = self.few.as_flattened().iter().take(count).copied().collect();
        few.sort_unstable();
        few.into_iter().map(|bucket| (bucket.into(), 1)).chain(self.buckets_of_many())
    }

    fn buckets_of_many(&self) -> impl Iterator<Item = (u32, u64)> {
        let rows = (0_u32..).step_by(ROW).zip(self.rows.iter().flat_map(|rows| rows.iter()));
        let rows = rows.filter_map(|(first, row)| Some((first.., row.as_deref()?)));
        rows.flat_map(|(places, row)| places.zip(row.iter().copied())).filter(|&(_, count)| count > 0)
    }

    pub fn total(&self) -> i128 {
        i128::from_ne_bytes(self.total)
    }

    pub fn min(&self) -> i128 {
        self.min.into()
    }

    pub fn max(&self) -> i128 {
        self.max.into()
    }

    pub fn mean(&self) -> Option<i128> {
        self.total().checked_div(i128::from(self.count))
    }

    /// The duration that so many of a hundred do not exceed.
    pub fn percentile(&self, percent: u64) -> Option<i128> {
        let rank = u128::from(self.count).saturating_mul(percent.into()).div_ceil(100).max(1);
        let mut seen = 0_u128;
        for (bucket, count) in self.buckets() {
            seen = seen.saturating_add(count.into());
            if seen >= rank {
                let (least, greatest) = range(bucket);
                let middle = i128::from(least).saturating_add(i128::from(greatest.saturating_sub(least)) / 2);
                return Some(middle.clamp(self.min(), self.max()));
            }
        }
        None
    }

    /// The number of durations from each power of two up to the next: the powers and the counts.
    pub fn powers(&self) -> BTreeMap<u32, u64> {
        let mut powers = BTreeMap::new();
        for (bucket, count) in self.buckets() {
            let (least, _) = range(bucket);
            let place: &mut u64 =
                powers.entry(63_u32.saturating_sub(least.max(1).leading_zeros())).or_default();
            *place = place.saturating_add(count);
        }
        powers
    }

    /// The same as bars.
    pub fn bars(&self) -> String {
        const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let powers = self.powers();
        let (Some((&first, _)), Some((&last, _))) = (powers.first_key_value(), powers.last_key_value())
        else {
            return String::new();
        };
        let most = powers.values().copied().max().unwrap_or(0).max(1);
        // At most 16 of the last ones.
        let bars = first.max(last.saturating_sub(15))..=last;
        bars.map(|power| match powers.get(&power).copied().unwrap_or(0) {
            0 => ' ',
            count => {
                let height = u128::from(count).saturating_mul(8).div_ceil(most.into()).saturating_sub(1);
                BARS.get(usize::try_from(height).unwrap_or(7)).copied().unwrap_or('█')
            }
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_and_meet() {
        let mut end = 0;
        for number in 0..1920 {
            let (least, greatest) = range(number);
            assert_eq!(least, end, "{number}");
            assert_eq!((bucket(least), bucket(greatest)), (number, number));
            assert!(u128::from(greatest - least) * 32 <= u128::from(least), "{number}");
            end = greatest.wrapping_add(1);
        }
        assert_eq!(end, 0, "the last bucket ends with the last number");
    }

    /// Against all values, sorted.
    #[test]
    fn percentiles_are_as_near_as_is_said() {
        let mut state = 7_u64;
        for round in 1..50_u32 {
            let (mut sketch, mut all) = (Sketch::default(), Vec::new());
            for _ in 0..round * 20 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let value = i128::from(state >> (1 + state % 59));
                assert_eq!(sketch.add(value), all.iter().all(|other| value > *other));
                all.push(value);
            }
            all.sort_unstable();
            assert_eq!((sketch.min(), sketch.max()), (all[0], all[all.len() - 1]));
            assert_eq!(sketch.total(), all.iter().sum::<i128>());
            for percent in [1, 50, 99, 100] {
                let exact = all[(all.len() * percent).div_ceil(100) - 1];
                let near = sketch.percentile(percent as u64).unwrap();
                assert!((near - exact).abs() * 64 <= exact, "{near} {exact}");
            }
            assert_eq!(sketch.powers().values().sum::<u64>(), sketch.count);
            assert!(sketch.bars().chars().count() <= 16);
        }
    }
}
