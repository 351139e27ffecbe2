//! The axis of the timeline: round times since the first record, as they can be typed.

/// A unit that a time can be typed in, and how many nanoseconds it has.
const UNITS: [(&str, i128); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];

/// The columns between two labels, at least.
const APART: i128 = 14;

/// Times in a window that are round when they are counted from `origin`, with their labels.
pub fn ticks((from, to): (i128, i128), origin: i128, width: u16) -> Vec<(i128, String)> {
    let span = to.saturating_sub(from).max(1);
    let columns = i128::from(width.max(1));
    let least = span.saturating_mul(APART).saturating_add(columns).saturating_sub(1);
    let least = least.checked_div(columns).unwrap_or(span).max(1);
    let step = round(least);
    let first = from.saturating_sub(origin);
    let last = to.saturating_sub(origin);
    let largest = first.unsigned_abs().max(last.unsigned_abs());
    // The largest unit that the times have some of.
    let (unit, len) = UNITS.into_iter().find(|(_, len)| largest >= len.unsigned_abs()).unwrap_or(("ns", 1));
    let mut ticks = Vec::new();
    let mut at = first.div_euclid(step).saturating_mul(step);
    // More than there are columns cannot be seen.
    while at < last && ticks.len() < usize::from(width) {
        if at >= first {
            ticks.push((origin.saturating_add(at), label(at, step, (unit, len))));
        }
        at = at.saturating_add(step);
    }
    ticks
}

/// The next of 1, 2, 5, 10, 20, ...
fn round(least: i128) -> i128 {
    let mut scale = 1_i128;
    loop {
        for factor in [1, 2, 5] {
            let step = scale.saturating_mul(factor);
            if step >= least {
                return step;
            }
        }
        scale = scale.saturating_mul(10);
    }
}

/// A time in a unit, with as many digits as tell it from the ones beside it.
fn label(ns: i128, step: i128, (unit, len): (&str, i128)) -> String {
    let sign = if ns < 0 { "-" } else { "+" };
    let ns = ns.unsigned_abs();
    let len = len.unsigned_abs().max(1);
    let whole = ns.checked_div(len).unwrap_or(0);
    let mut part = ns.checked_rem(len).unwrap_or(0);
    let mut text = format!("{sign}{whole}");
    let (mut place, step) = (len, step.unsigned_abs());
    if step < len {
        text.push('.');
    }
    while place > step && place > 1 {
        place /= 10;
        let digit = part.checked_div(place).unwrap_or(0);
        part = part.checked_rem(place).unwrap_or(0);
        text.push_str(&digit.to_string());
    }
    text.push_str(unit);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Time;

    #[test]
    fn labels_are_times_that_can_be_typed() {
        let origin = 1_700_000_000_000_000_000;
        for span in [16_i128, 999, 22_000_000, 27_000_000_000, 86_400_000_000_000 * 400] {
            for start in [0, 45_500_000_120, 7] {
                let from = origin + start;
                let ticks = ticks((from, from + span), origin, 84);
                assert!((1..=7).contains(&ticks.len()), "{span} {start}: {ticks:?}");
                for (at, label) in &ticks {
                    assert!((from..from + span).contains(at));
                    assert_eq!(Time::parse(label), Ok(Time::SinceStart(at - origin)), "{label}");
                }
                let apart: Vec<_> = ticks.windows(2).map(|two| two[1].0 - two[0].0).collect();
                assert!(apart.windows(2).all(|two| two[0] == two[1]), "{ticks:?}");
            }
        }
        assert_eq!(ticks((0, 22_000_000), 0, 84)[1].1, "+5ms");
        assert_eq!(ticks((45_500_000_000, 45_500_001_000), 0, 84)[1].1, "+45.5000002s");
        // Before the first record, too, where a window begins.
        assert_eq!(ticks((-50, 50), 0, 84)[0].1, "-40ns");
    }
}
