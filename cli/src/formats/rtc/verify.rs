//! Verifying a file by its frames alone: no stamp is read, and no record is put together.

use super::Rtc;
use super::rewrite::digest;
use super::session::Frames;
use crate::progress::Progress;
use crate::trace::Findings;
use std::collections::HashMap;
use traceglass::ErrorKind;
use traceglass::rtc::{Checker, Frame, id};

/// The lengths so far of records that are open, by the slots of their streams.
#[derive(Default)]
struct Open(HashMap<usize, u64, foldhash::fast::RandomState>);

impl Open {
    /// The length of the record that ends with a frame of a user's stream; `None` if none does.
    #[inline]
    fn end(&mut self, frame: &Frame<'_>) -> Option<u64> {
        let len = frame.payload().len() as u64;
        let is_plain = !frame.more() && !frame.continues();
        if is_plain && self.0.is_empty() { Some(len) } else { self.piece(frame, len) }
    }

    /// As [`traceglass::rtc::Records`] joins them.
    fn piece(&mut self, frame: &Frame<'_>, len: u64) -> Option<u64> {
        let slot = frame.slot()?;
        let begun = self.0.remove(&slot);
        let len = match begun.filter(|_| frame.continues()) {
            Some(begun) => begun.saturating_add(len),
            None if frame.continues() => return None,
            None => len,
        };
        if frame.more() {
            self.0.insert(slot, len);
            return None;
        }
        Some(len)
    }
}

impl Rtc<'_> {
    /// Reads the file once, and reports what is wrong.
    pub(super) fn verify(&self, findings: &mut Findings<'_>) {
        let mut frames = Frames::new(self.data, Vec::new());
        let (mut checker, mut open) = (Checker::new(), Open::default());
        let mut session = frames.session();
        let progress = Progress::new(self.data.len() as u64);
        let mut told = 0;
        loop {
            while let Ok(Some(frame)) = frames.next_frame() {
                if frame.is_user() {
                    if let Some(len) = open.end(&frame) {
                        findings.count(0, 1);
                        findings.digest().into_iter().for_each(|digest| digest::add(frame.id(), len, digest));
                    }
                    continue;
                }
                progress.advance(frame.offset().saturating_sub(told));
                told = told.max(frame.offset());
                findings.count(u64::from(frame.id() == id::MARKER), 0);
                if std::mem::replace(&mut session, frames.session()) != session {
                    open.0.clear();
                }
                checker.frame(&frames, &frame, |finding| findings.report(finding));
            }
            let Some(gap) = frames.recover() else { break };
            if !matches!(gap.cause().kind(), ErrorKind::CapacityExceeded { .. }) {
                open.0.clear();
            }
            checker.gap(&gap, |finding| findings.report(finding));
        }
        checker.end(session, |finding| findings.report(finding));
    }
}
