//! What the Metas of other units say: whether a unit belongs to another session, and which of two counts.

use super::anchor::Anchor;
use crate::rtc::Unit;
use crate::rtc::declared::Declared;
use crate::rtc::reader::Reader;
use crate::rtc::unit::signed;

/// Gets to know the streams of the unit after damage, which may be of another session.
pub(super) fn learn_around<'a, const N: usize>(reader: &mut Reader<'a, N>, anchor: &Anchor<'a>) {
    if let Some(last) = reader.unit
        && is_other_session(&mut reader.known, &last, anchor)
    {
        reader.new_session();
    }
    let known = &mut reader.known;
    // What does not fit is reported where the Meta is delivered.
    let _ = known.learn_at(if anchor.begins { anchor.at } else { anchor.unit.offset() });
    if anchor.begins {
        return;
    }
    // Its own Meta may be lost, and it may have had a meta; the next one tells of both.
    let _ = known.learn_at(anchor.unit.end());
}

/// True if a unit after damage belongs to another session than the last one before it.
fn is_other_session<'a, const N: usize>(
    known: &mut Declared<'a, N>,
    last: &Unit<'a>,
    anchor: &Anchor<'a>,
) -> bool {
    let unit = &anchor.unit;
    let is_resized = (unit.major_size(), unit.minor_size()) != (last.major_size(), last.minor_size());
    if is_resized || anchor.begins && unit.number() == 0 {
        return true;
    }
    let by = unit.position().saturating_sub(last.position());
    let units = signed(unit.number()).saturating_sub(signed(last.number()));
    if units.checked_mul(signed(unit.major_size())) == Some(by) {
        return false;
    }
    // The Meta of the unit, or of the next one if that is lost, may declare most streams in other words.
    let said = known.compare(unit.offset()).or_else(|| known.compare(unit.end()));
    let has_other_meta = said.is_some_and(|(same, others)| others > same);
    has_other_meta || unit.number() < last.number() && !last.shares_grid(unit)
}

/// The Meta of a unit says something new, contradictory or damaged: if the next one says otherwise, and its unit is
/// proven while this one is not, that counts.
pub(super) fn compare_next<'a, const N: usize>(known: &mut Declared<'a, N>, unit: &Unit<'a>) {
    let next = Unit::parse(known.data, unit.end())
        .ok()
        .filter(|next| next.number() == unit.number().saturating_add(1) && unit.shares_grid(next));
    let Some(next) = next else { return };
    // Objects that are damaged here are replaced by those that are not.
    let order = known.order;
    let _ = known.learn_at(next.offset());
    known.order = order;
    let contradicts = known.compare(next.offset()).is_some_and(|(_, others)| others > 0);
    if contradicts && !known.is_proven(unit) && known.is_proven(&next) {
        known.replace_by(&next);
    }
}
