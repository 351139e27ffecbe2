//! Files of some major units of another one, or of the sessions of several.
//!
//! Units that follow each other become a session of their own. Where it does not begin with the first unit of its
//! session, the numbers of units, and what leads to units that are left out, are made new in as many bytes; so are
//! checksums. Pieces of records of which a part is left out become padding.

mod clocks;
mod emit;
mod front;
mod pieces;
mod range;
mod units;

use super::session::Rtc;
use crate::status::{Failure, Result};
use crate::trace::{Bounds, By, NewTrace, Rewritten, Wanted, in_order_of_time};
use range::Range;
use std::path::Path;
use traceglass::Format;
use units::Units;

impl Rtc<'_> {
    pub(super) fn write(&self, wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
        wanted.refuse_others(Format::Rtc, &[By::Time])?;
        let bounds = self.range(wanted.window)?;
        let mut done = Rewritten::of("units");
        let units = Units::read(self, &bounds, wanted.exact, &mut done);
        let ranges = units.ranges(&bounds);
        let all = units.count();
        to.file(Path::new(""))?;
        let is_whole = done.lost.is_empty()
            && !units.is_less(&ranges)
            && ranges.iter().map(|range| range.end.saturating_sub(range.start)).fold(0, u64::saturating_add)
                == self.data.len() as u64;
        if is_whole {
            done.carried = units.errors(&ranges, 1);
            done.kept = all;
            done.records = units.records();
            done.is_copy = true;
            units.span(&ranges, &mut done);
            to.put(self.data)?;
            return Ok(done);
        }
        if ranges.is_empty() && done.lost.is_empty() {
            return Err(Failure::usage(
                "no record lies in the range, and a file of RTC without units is none",
            ));
        }
        // A Meta that was judged once may have to be judged again, and each loss may leave one that contradicts another, or
        // ends too early; what is read back tells.
        let cut = done.lost.len() as u64;
        done.carried = units.errors(&ranges, ranges.len() as u64).saturating_add(cut);
        units.span(&ranges, &mut done);
        let plans = units.plans(&ranges);
        for (range, plan) in ranges.iter().zip(&plans) {
            units.count_in(range, plan, &mut done);
        }
        self.emit(&units, &ranges, &plans, to)?;
        done.dropped = all.saturating_sub(done.kept);
        Ok(done)
    }
}

/// Writes files one after the other, in order of time: each is a session of its own, or several.
pub fn merge(files: &[&[u8]], to: &mut dyn NewTrace) -> Result<Rewritten> {
    let mut done = Rewritten::of("units");
    to.file(Path::new(""))?;
    let files: Vec<_> = files.iter().map(|data| Rtc { data }).collect();
    // Clocks that count from somewhere and those that count from the Epoch cannot be compared.
    let kinds = files.iter().map(Rtc::is_absolute).collect::<Result<Vec<_>>>()?;
    let is_alike = kinds.iter().all(|kind| Some(kind) == kinds.first());
    let files = in_order_of_time(files, |rtc| {
        if is_alike { Ok(rtc.first_time()?.map(|time| time.ns())) } else { Ok(None) }
    })?;
    for rtc in files {
        let units = Units::read(&rtc, &Bounds::default(), false, &mut done);
        if !done.lost.is_empty() || !units.is_clean() {
            return Err(Failure::usage("one of the files is damaged: recover it first"));
        }
        let whole = [Range { start: 0, end: rtc.data.len() as u64, front: None, is_as_it_was: true }];
        units.span(&whole, &mut done);
        done.kept = done.kept.saturating_add(units.count());
        done.records = done.records.saturating_add(units.records());
        done.digest.join(units.digest());
        to.put(rtc.data)?;
    }
    Ok(done)
}
