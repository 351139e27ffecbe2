//! Looking back: as much before a range of time is read as is wanted, for slices that are open when it begins.

use crate::output::{Out, bytes};
use crate::states::Pairs;
use crate::trace::{LookBack, Trace, aligned};
use traceglass::event::Window;

/// Looks no farther back from a range of time than is wanted, and says so.
pub fn look_back(pairs: &mut Pairs, window: Window, trace: &dyn Trace, out: &mut Out) {
    pairs.since = None;
    let Some(from) = window.from() else { return };
    if !trace.has_slices() {
        pairs.since = Some(from);
        return;
    }
    pairs.since = match pairs.back {
        LookBack::All => None,
        LookBack::Time(back) => Some(from.saturating_sub(back)),
        LookBack::Bytes(size) => trace.time_before(from, size),
    };
    let Some(since) = pairs.since else { return };
    let size = match pairs.back {
        LookBack::Bytes(size) => format!(" ({})", bytes(size)),
        _ => String::new(),
    };
    let back = aligned(from.saturating_sub(since));
    out.message(&format!(
        "looked back {}{size} from the range: what began earlier has no begin, or is left out; --look-back all \
         reads everything before it",
        back.trim()
    ));
}
