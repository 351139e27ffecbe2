//! Verifying a file by its frames alone: no stamp is read, and no record is put together.

use super::Rtc;
use super::session::Frames;
use crate::progress::Progress;
use crate::trace::{Digest, Findings};
use std::collections::HashMap;
use traceglass::ErrorKind;
use traceglass::rtc::{Checker, Frame, id};

/// The records so far.
#[derive(Default)]
struct Open {
    /// The lengths so far of those that are open, by the slots of their streams.
    lens: HashMap<usize, u64, foldhash::fast::RandomState>,
    records: u64,
    digest: Digest,
}

impl Open {
    /// Counts the record that ends with a frame of a user's stream, if one does.
    #[inline(always)]
    fn count(&mut self, frame: &Frame<'_>) {
        if let Some(len) = self.end(frame) {
            self.records = self.records.saturating_add(1);
            self.digest.add_pair(frame.id(), len);
        }
    }

    /// The length of the record that ends with a frame of a user's stream; `None` if none does.
    #[inline]
    fn end(&mut self, frame: &Frame<'_>) -> Option<u64> {
        let len = frame.payload().len() as u64;
        let is_plain = !frame.more() && !frame.continues();
        if is_plain && self.lens.is_empty() { Some(len) } else { self.piece(frame, len) }
    }

    /// As [`traceglass::rtc::Records`] joins them.
    fn piece(&mut self, frame: &Frame<'_>, len: u64) -> Option<u64> {
        let slot = frame.slot()?;
        let begun = self.lens.remove(&slot);
        let len = match begun.filter(|_| frame.continues()) {
            Some(begun) => begun.saturating_add(len),
            None if frame.continues() => return None,
            None => len,
        };
        if frame.more() {
            self.lens.insert(slot, len);
            return None;
        }
        Some(len)
    }
}

impl Rtc<'_> {
    /// Reads the file once, and reports what is wrong.
    pub(super) fn verify(&self, findings: &mut Findings<'_>) {
        let mut frames = Frames::new(self.data, Vec::new());
        let (mut checker, mut open) = (Checker::by(crc32fast::hash), Open::default());
        let mut session = frames.session();
        let progress = Progress::new(self.data.len() as u64);
        let mut told = 0;
        loop {
            while let Some(frame) = frames.take_user() {
                open.count(&frame);
            }
            match frames.next_frame() {
                Ok(Some(frame)) if frame.is_user() => open.count(&frame),
                Ok(Some(frame)) => {
                    progress.advance(frame.offset().saturating_sub(told));
                    told = told.max(frame.offset());
                    findings.count(u64::from(frame.id() == id::MARKER), 0);
                    if std::mem::replace(&mut session, frames.session()) != session {
                        open.lens.clear();
                    }
                    checker.frame(&frames, &frame, |finding| findings.report(finding));
                }
                Ok(None) | Err(_) => {
                    let Some(gap) = frames.recover() else { break };
                    if !matches!(gap.cause().kind(), ErrorKind::CapacityExceeded { .. }) {
                        open.lens.clear();
                    }
                    checker.gap(&gap, |finding| findings.report(finding));
                }
            }
        }
        checker.end(session, |finding| findings.report(finding));
        findings.count(0, open.records);
        findings.digest().into_iter().for_each(|digest| digest.join(open.digest));
    }
}
