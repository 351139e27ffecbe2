//! A ring of pages, as a reset or a loss of power left it.

use crate::drain::Drain;
use crate::packet::{CONTENT, HEADER, LOST, MAGIC, TOTAL};
use crate::sink::Flash;

/// The packets that lie in a ring of pages, and the page after the newest one: where recording goes on.
///
/// Pages are never written anew before it is their turn, so that all whole packets stay readable. A page that is none, as
/// power was lost while it was written, is the next one to be written.
///
/// For pages in memory, see [`Recorder::reopen`](crate::Recorder::reopen). In flash:
/// ```
/// use core::sync::atomic::AtomicU32;
/// use traceglass_record::{Drain, Marks, Pages, Recorder, Ring, events, packet, sink::Flash};
///
/// events! { trace Pump { clock 1_000; event Started { rpm: u16 } } }
///
/// /// Four slots of 64 words.
/// struct Chip([[u32; 64]; 4]);
///
/// impl Flash for Chip {
///     type Error = ();
///     fn erase(&mut self, slot: u32) -> Result<(), ()> {
///         self.0[slot as usize] = [u32::MAX; 64];
///         Ok(())
///     }
///     fn program(&mut self, slot: u32, offset: u32, words: &[u32; 4]) -> Result<(), ()> {
///         self.0[slot as usize][offset as usize / 4..][..4].copy_from_slice(words);
///         Ok(())
///     }
/// }
///
/// fn boot(chip: &mut Chip) {
///     let header = |slot: u32| *chip.0[slot as usize].first_chunk::<{ packet::HEADER }>().unwrap();
///     let mut ring = Ring::open(4, 64, 0, header);
///     let (memory, marks) = ([const { AtomicU32::new(0) }; 128], Marks::new());
///     let pages = Pages::new(&memory, 64);
///     let mut recorder = Recorder::keeping(pages, &marks).after(&ring);
///     recorder.record(ring.last() + 5, &Started { rpm: 900 }); // a clock that goes on
///     recorder.close();
///     ring.store(&mut Drain::new(pages, &marks), chip).unwrap();
/// }
///
/// let mut chip = Chip([[u32::MAX; 64]; 4]);
/// boot(&mut chip);
/// boot(&mut chip);
/// assert_eq!([chip.0[0][8], chip.0[1][8], chip.0[2][8]], [0, 1, u32::MAX]); // the packets' numbers
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    pages: u32,
    page: u32,
    kept: u32,
    number: u32,
    lost: u32,
    last: u64,
    is_torn: bool,
}

impl Ring {
    /// Looks at the headers of pages of so many words: those with a packet of the stream count.
    pub fn open(
        pages: u32,
        page_words: usize,
        stream: u32,
        mut header: impl FnMut(u32) -> [u32; HEADER],
    ) -> Self {
        let empty = Self { pages, page: 0, kept: 0, number: 0, lost: 0, last: 0, is_torn: false };
        let ring = (0..pages).fold(empty, |ring, page| {
            let words = header(page).map(u32::from_le);
            let Some((number, last)) = packet(&words, page_words, stream) else { return ring };
            let kept = ring.kept.saturating_add(1);
            // Numbers wrap around; those in a ring are close to each other.
            let is_newer = ring.kept == 0 || number.wrapping_sub(ring.number) < 1 << 31;
            if !is_newer {
                return Self { kept, ..ring };
            }
            let next = page.wrapping_add(1);
            let page = if next < pages { next } else { 0 };
            let [.., lost] = words;
            Self { page, kept, number: number.wrapping_add(1), lost, last, ..ring }
        });
        const ERASED: [u32; HEADER] = [u32::MAX; HEADER];
        let mut words = |page: u32| if page < pages { header(page) } else { ERASED };
        let number = |words: [u32; HEADER]| Some(packet(&words.map(u32::from_le), page_words, stream)?.0);
        let next = words(ring.page);
        // Pages are erased just before they are written: where older ones follow, one was to be written here. After the last
        // page, the first one follows; it is an older one if the ring was full, which its number tells.
        let after = ring.page.saturating_add(1);
        let is_older = if after < pages {
            number(words(after)).is_some()
        } else {
            number(words(0)).is_some_and(|number| number >= pages)
        };
        Self { is_torn: if next == ERASED { is_older } else { number(next).is_none() }, ..ring }
    }

    /// The page that is written next.
    pub const fn page(&self) -> u32 {
        self.page
    }

    /// The number of whole packets that were found.
    pub const fn kept(&self) -> u32 {
        self.kept
    }

    /// The time of the newest record that was found. A clock that starts anew with each reset goes on from there if this
    /// is added to it; else readers tell what was recorded after the reset as another session.
    pub const fn last(&self) -> u64 {
        self.last
    }

    /// True if the page after the newest packet was being written when power was lost. In a ring that is not full yet, a
    /// page that was erased, and not yet written to, cannot be told from one that never was.
    pub const fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// The number of the next packet, and how many records were lost before it.
    pub(crate) const fn numbers(&self) -> (u32, u32) {
        (self.number, self.lost)
    }

    /// Programs the oldest page of a drain into the next slot of flash, as [`Drain::store`] does. Returns false if there is
    /// none.
    ///
    /// # Errors
    /// The error of the flash; the page stays the oldest one, and goes to the same slot if it is tried again.
    pub fn store<F: Flash>(&mut self, drain: &mut Drain<'_>, flash: &mut F) -> Result<bool, F::Error> {
        let is_stored = drain.store(flash, self.page)?;
        if is_stored {
            let next = self.page.wrapping_add(1);
            self.page = if next < self.pages { next } else { 0 };
        }
        Ok(is_stored)
    }
}

/// The sequence number and the time of the last record of a packet, if these words begin one.
fn packet(words: &[u32; HEADER], page_words: usize, of: u32) -> Option<(u32, u64)> {
    let &[magic, stream, begin_low, begin_high, end_low, end_high, content, total, number, _] = words;
    let time = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    let (begin, end) = (time(begin_low, begin_high), time(end_low, end_high));
    let room = u64::try_from(page_words).ok()?.checked_mul(32)?;
    let header = u64::try_from(HEADER).ok()?.checked_mul(32)?;
    let (content, total) = (u64::from(content), u64::from(total));
    let is_whole = magic == MAGIC && stream == of && begin <= end;
    (is_whole && header <= content && content <= total && total <= room).then_some((number, end))
}

// As the pattern above has them.
const _: () = assert!(CONTENT == 6 && TOTAL == 7 && LOST == HEADER - 1);
