//! Reading everything of a stream, on all cores.

use super::wire::Lane;
use crate::parallel;
use crate::status::Result;
use crate::trace::Findings;
use traceglass::ctf::data::{Programs, Share, Shares};

/// The number of bytes that are checked as a part.
const SHARE: u64 = 1 << 19;

/// The number of findings of a part that wait for their turn; one with more is read once more when that comes.
const KEPT: usize = 1 << 10;

/// Reads all of a stream.
pub fn check(lane: &Lane<'_>, programs: Programs<'_>, findings: &mut Findings<'_>) -> Result<()> {
    let check = |(): &mut (), share: &Share<'_, '_>| {
        let (mut found, mut count) = (Vec::new(), 0_usize);
        let checked = share.check(programs, None, &mut |finding| {
            count = count.saturating_add(1);
            if count <= KEPT {
                found.push(finding);
            }
        });
        (checked, found, count)
    };
    let mut last = None;
    let path = Some(lane.stream.path.as_path());
    parallel::in_order(
        lane.bytes(),
        Shares::new(lane.packets(), SHARE),
        || (),
        check,
        |share, (checked, mut found, count)| {
            if count > KEPT {
                share.check(programs, last, &mut |finding| findings.report_in(path, finding));
            } else {
                if let Some((at, finding)) = checked.seam(last) {
                    let at = usize::try_from(at).unwrap_or(usize::MAX).min(found.len());
                    found.insert(at, finding);
                }
                found.into_iter().for_each(|finding| findings.report_in(path, finding));
            }
            let summary = checked.summary();
            findings.count(summary.packets(), summary.records());
            last = checked.last().or(last);
            Ok(())
        },
    )
}
