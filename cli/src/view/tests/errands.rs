//! Errands that are done beside the screen.

use super::super::rows::Place;
use super::*;
use crate::trace::{Level, Node, Plain};
use crate::view::View;
use crate::view::errand::{Errand, Found};
use crate::view::work::{Message, Work};
use std::time::{Duration, Instant};

/// A file of five records, each of which takes a while.
struct Slow {
    files: [FileEntry; 1],
    walks: AtomicUsize,
}

impl Browse for Slow {
    fn format(&self) -> Format {
        Format::Rtc
    }

    fn files(&self) -> &[FileEntry] {
        &self.files
    }

    fn data(&self, _file: usize) -> Result<&[u8], String> {
        Ok(&[])
    }

    fn walk(&self, _file: usize, _from: u64, _depth: Depth, each: Each<'_>) {
        self.walks.fetch_add(1, Ordering::Relaxed);
        let about = Plain { name: "record", text: "wanted".to_owned(), field: None };
        for offset in [0, 10, 20, 30, 40] {
            std::thread::sleep(Duration::from_millis(30));
            if !each(&Node::new(Level::Record, offset, offset + 10, &about)) {
                return;
            }
        }
    }

    fn index(&self, _file: usize, _going: &dyn Fn(u64) -> bool) {}
}

/// Wants an errand as often as frames are drawn, until `is_found`, or for too long.
fn want(work: &mut Work, errand: &Errand, is_found: impl Fn(&Found) -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        work.want(errand.clone());
        let mut found = false;
        for message in work.messages() {
            found |= matches!(&message, Message::Found(told) if is_found(told));
        }
        if found {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// A filter that takes longer than a frame is finished, and so is a step among what it leaves.
#[test]
fn a_slow_errand_is_finished() {
    let files = [FileEntry { path: "slow".into(), size: 50, times: None }];
    let slow = Slow { files, walks: AtomicUsize::new(0) };
    let walks = || slow.walks.swap(0, Ordering::Relaxed);
    let (reading, open) = (Reading::default(), crate::formats::open);
    let view = View { path: Path::new("slow"), reading, color: false, width: None, open };
    let (place, filter) = (Place::at(0, 0), "wanted".to_owned());
    let wanted = Errand::Filter { place, filter: filter.clone(), before: 8, after: 8 };
    // What fails in the scope must not leave its threads waiting: all is looked at after it.
    let (filtered, filter_walks, stepped, step_walks, again) = std::thread::scope(|scope| {
        let mut work = Work::start(scope, &slow, &view);
        let is_filtered = |found: &Found| matches!(found, Found::Filtered(all) if all.window.rows.len() == 5);
        let filtered = want(&mut work, &wanted, is_filtered);
        let filter_walks = walks();
        work.errand(Errand::Step { place, filter, forward: true, times: 1 });
        let is_next = |found: &Found| matches!(found, Found::Place(next) if *next == Place::at(0, 10));
        let stepped = want(&mut work, &wanted, is_next);
        let step_walks = walks();
        // What was done is done again if it is still wanted.
        let again = want(&mut work, &wanted, is_filtered);
        work.stop();
        (filtered, filter_walks, stepped, step_walks, again)
    });
    assert!(filtered && filter_walks == 2, "{filtered}, {filter_walks} walks");
    assert!(stepped && step_walks == 2, "{stepped}, {step_walks} walks");
    assert!(again);
}
