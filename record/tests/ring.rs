//! Rings that outlive a reset: what lay in them is kept, and recording goes on after it.

mod common;

use common::{Everything, Line, Random, dump, lines, memory, record, schemas};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use std::collections::VecDeque;
use traceglass::ctf::data::Packets;
use traceglass::ctf::data::wire::{Capture, Scan, WireSlot};
use traceglass_record::sink::Flash;
use traceglass_record::{Drain, Marks, Pages, Recorder, Ring, packet};

const WORDS: usize = 40;
const BYTES: usize = WORDS * 4;

/// Flash that loses power after so many bytes.
struct Chip {
    bytes: Vec<u8>,
    left: usize,
}

impl Flash for Chip {
    type Error = ();

    fn erase(&mut self, slot: u32) -> Result<(), ()> {
        self.bytes[slot as usize * BYTES..][..BYTES].fill(0xff);
        Ok(())
    }

    fn program(&mut self, slot: u32, offset: u32, words: &[u32; 4]) -> Result<(), ()> {
        let at = slot as usize * BYTES + offset as usize;
        for (at, byte) in (at..).zip(words.iter().flat_map(|word| word.to_ne_bytes())) {
            self.left = self.left.checked_sub(1).ok_or(())?;
            assert_eq!(self.bytes[at], 0xff, "is programmed twice");
            self.bytes[at] = byte;
        }
        Ok(())
    }
}

impl Chip {
    fn ring(&self) -> Ring {
        Ring::open((self.bytes.len() / BYTES) as u32, WORDS, 0, |slot| {
            let page = &self.bytes[slot as usize * BYTES..][..packet::HEADER * 4];
            core::array::from_fn(|at| u32::from_ne_bytes(page.as_chunks().0[at]))
        })
    }

    /// Records pages of three records each until power is lost, from the time of the newest record in the flash on;
    /// gives those that were stored.
    fn run(&mut self, pages: usize, random: &mut Random) -> Vec<Vec<Line>> {
        let mut ring = self.ring();
        let (memory, marks) = (memory(WORDS * 2), Marks::new());
        let room = Pages::new(&memory, WORDS);
        let mut recorder = Recorder::keeping(room, &marks).after(&ring);
        let mut drain = Drain::new(room, &marks);
        let (mut time, mut stored) = (ring.last(), Vec::new());
        for _ in 0..pages {
            let mut page = Vec::new();
            for _ in 0..3 {
                time += 1 + random.below(9);
                let (is_kept, line, _) = record(&mut recorder, random, time);
                assert!(is_kept);
                page.push(line);
            }
            recorder.close();
            if ring.store(&mut drain, self).is_err() {
                break;
            }
            stored.push(page);
        }
        stored
    }
}

/// What is read, the sequence numbers of the packets, and of how many sessions they are.
fn read(bytes: &[u8]) -> (Vec<Line>, Vec<u64>, u32) {
    let [read, other] = schemas(|schema| {
        let mut slots = vec![WireSlot::EMPTY; 64];
        let capture = Capture::read(Scan::new(bytes, schema), &mut slots[..]).expect("has room");
        let mut numbers = Vec::new();
        for track in capture.tracks() {
            for packet in Packets::of_track(bytes, schema, track) {
                numbers.extend(packet.expect("is a packet").sequence());
            }
        }
        (lines(bytes, schema).0, numbers, capture.sessions())
    });
    assert_eq!(read, other, "both versions of the metadata say the same");
    read
}

/// Power is lost after each byte; then it comes back, is lost again, and comes back for good.
#[test]
fn a_ring_in_flash_goes_on_after_a_loss_of_power_at_each_byte() {
    const SLOTS: usize = 4;
    // The first pieces of a page are whole before its magic number is.
    let begins_with_magic = BYTES - 16..BYTES;
    for stop in 0..=6 * BYTES {
        let mut random = Random(stop as u64);
        let mut chip = Chip { bytes: vec![0xff; SLOTS * BYTES], left: 0 };
        // The oracle: what was stored last, and the numbers of those pages. One is missing after a page that was torn.
        let mut kept = VecDeque::<(u64, Vec<Line>)>::new();
        for left in [stop, (stop * 7) % (3 * BYTES), usize::MAX] {
            let ring = chip.ring();
            assert_eq!(ring.kept() as usize, kept.len(), "stopped after {stop} bytes");
            let next = kept.back().map_or(0, |(number, _)| number + 1) + u64::from(ring.is_torn());
            chip.left = left;
            let (pages, torn) = (chip.run(6, &mut random), left % BYTES);
            kept.extend((next..).zip(pages));
            let is_lost = left < 6 * BYTES;
            while kept.len() > if is_lost { SLOTS - 1 } else { SLOTS } {
                kept.pop_front();
            }
            let (found, numbers, sessions) = read(&chip.bytes);
            let sure: Vec<_> = found.iter().filter(|line| !line.starts_with('?')).cloned().collect();
            let expected: Vec<_> = kept.iter().flat_map(|(_, page)| page).cloned().collect();
            // Within the last piece, words are there that may be taken for a header, of a packet that is not whole.
            if !is_lost || !begins_with_magic.contains(&torn) {
                assert_eq!(sure, expected, "stopped after {stop} bytes, {left}");
                let of_kept: Vec<_> = kept.iter().map(|(number, _)| *number).collect();
                assert_eq!(numbers, of_kept, "stopped after {stop} bytes, {left}");
                assert_eq!(sessions, 1);
            } else {
                assert!(
                    expected.iter().all(|line| sure.contains(line)),
                    "stopped after {stop} bytes, {left}"
                );
            }
        }
    }
}

/// Memory that outlives a reset: after each record, and after each word of a header that is written.
#[test]
fn a_ring_in_memory_goes_on_after_a_reset_at_any_time() {
    for seed in 0..4 {
        let mut random = Random(seed);
        let memory = memory(WORDS * 3);
        let mut recorder = Recorder::<Everything>::overwriting(Pages::new(&memory, WORDS)).stream(9);
        let mut time = 0;
        for _ in 0..60 {
            time += 1 + random.below(9);
            assert!(record(&mut recorder, &mut random, time).0);
            let before = recorder.state();
            let (was_there, numbers, _) = read(&dump(&memory));
            for cut in 0..=packet::HEADER {
                // Of what `turn` writes to the next page: its magic number is 0 first, and is written last.
                let memory: Vec<_> = memory.iter().map(|word| AtomicU32::new(word.load(Relaxed))).collect();
                let old_number = memory[before.next + 8].load(Relaxed);
                let has_old = memory[before.next].load(Relaxed) != 0;
                for word in 0..cut {
                    memory[before.next + word].store(if word == 0 { 0 } else { 0x5555_5555 }, Relaxed);
                }
                let pages = Pages::new(&memory, WORDS);
                let mut again = Recorder::<Everything>::overwriting(pages).stream(9).reopen();
                assert_eq!((again.state().next, again.state().number), (before.next, before.number));
                assert_eq!(again.lost(), 0);
                let mut expected: Vec<_> = was_there.clone();
                // The page that is overwritten now is the oldest one.
                let mut kept = numbers.clone();
                if has_old && numbers.contains(&old_number.into()) {
                    let all = dump(&memory);
                    let others = [&all[(before.next + WORDS) * 4..], &all[..before.next * 4]].concat();
                    (expected, kept, _) = read(&others);
                }
                let mut other = Random(seed);
                let (is_kept, line, _) = record(&mut again, &mut other, time + 1);
                assert!(is_kept);
                expected.push(line);
                kept.push(before.number.into());
                let (found, numbers, sessions) = read(&dump(&memory));
                assert_eq!((found, numbers, sessions), (expected, kept, 1), "cut after {cut} words");
            }
        }
    }
}

#[test]
fn what_is_no_packet_of_the_ring_is_not_taken_for_one() {
    let header = |number: u32, change: &dyn Fn(&mut [u32; 10])| {
        let mut words = [packet::MAGIC, 3, 7, 0, 9, 0, 10 * 32, WORDS as u32 * 32, number, 2].map(u32::to_le);
        change(&mut words);
        words
    };
    let open =
        |headers: &[[u32; 10]]| Ring::open(headers.len() as u32, WORDS, 3, |page| headers[page as usize]);
    let none: [fn(&mut [u32; 10]); 7] = [
        |words| words[0] = 0,
        |words| words[1] = 4,
        |words| words[2] = 10,
        |words| words[6] = 9 * 32,
        |words| words[6] = WORDS as u32 * 32 + 1,
        |words| words[7] = WORDS as u32 * 32 + 32,
        |words| *words = [u32::MAX; 10],
    ];
    let whole = |number| header(number, &|_| {});
    for change in none {
        let ring = open(&[whole(5), header(6, &change), whole(3), whole(4)]);
        assert_eq!((ring.page(), ring.kept(), ring.last()), (1, 3, 9));
        // An older packet follows: the page was erased to be written.
        assert!(ring.is_torn());
        let first_round = open(&[whole(5), header(6, &change), [u32::MAX; 10], [u32::MAX; 10]]);
        assert_eq!(first_round.is_torn(), header(6, &change) != [u32::MAX; 10]);
        assert_eq!(open(&[header(0, &change)]).kept(), 0);
    }
    // Numbers that wrap around.
    let ring = open(&[whole(0), whole(1), whole(u32::MAX - 1), whole(u32::MAX)]);
    assert_eq!((ring.page(), ring.is_torn()), (2, false));
    let memory = memory(WORDS);
    let recorder = Recorder::<Everything>::overwriting(Pages::new(&memory, WORDS)).after(&ring);
    assert_eq!((recorder.state().number, recorder.lost()), (2, 2));
    // The last page of a ring that is not full was never written to; that of a full one was erased.
    assert!(!open(&[whole(0), whole(1), [u32::MAX; 10]]).is_torn());
    assert!(!open(&[whole(1), whole(2), [u32::MAX; 10]]).is_torn());
    assert!(open(&[whole(3), whole(4), [u32::MAX; 10]]).is_torn());
    // A ring of no pages, and one of one page.
    assert_eq!((open(&[]).page(), open(&[]).kept()), (0, 0));
    assert_eq!((open(&[whole(8)]).page(), open(&[whole(8)]).kept()), (0, 1));
}

/// A recorder that keeps pages for a sink has all of them again; numbers and losses go on.
#[test]
fn a_keeping_recorder_goes_on_with_numbers_and_losses() {
    let (memory, marks, mut random) = (memory(WORDS * 2), Marks::new(), Random(3));
    let mut recorder = Recorder::<Everything>::keeping(Pages::new(&memory, WORDS), &marks);
    let mut time = 0;
    while recorder.lost() < 3 {
        time += 1;
        record(&mut recorder, &mut random, time);
    }
    recorder.close();
    let marks = Marks::new();
    let mut again = Recorder::<Everything>::keeping(Pages::new(&memory, WORDS), &marks).reopen();
    // No page was open when they were lost.
    assert_eq!((again.state().next, again.state().number, again.lost()), (0, 2, 3));
    assert!(record(&mut again, &mut random, time + 1).0);
    assert_eq!((memory[8].load(Relaxed), memory[9].load(Relaxed)), (2, 3));
}

/// The end of a packet is stored in two halves: a reset between them must not make it another time.
#[test]
fn packets_have_one_upper_half_of_time() {
    let (memory, mut random) = (memory(WORDS * 5), Random(5));
    let mut recorder = Recorder::<Everything>::overwriting(Pages::new(&memory, WORDS));
    let upper = 1_u64 << 32;
    for time in [upper - 3, upper - 1, upper, upper + 7, u64::MAX - 1, 5, 4] {
        assert!(record(&mut recorder, &mut random, time).0);
    }
    let headers: Vec<u64> = (0..5)
        .map(|page| {
            let word = |at: usize| u64::from(memory[page * WORDS + at].load(Relaxed));
            let (begin, end) = (word(2) | word(3) << 32, word(4) | word(5) << 32);
            assert!(begin >> 32 == end >> 32 && begin <= end, "{begin:#x} to {end:#x}");
            begin
        })
        .collect();
    assert_eq!(headers, [upper - 3, upper, u64::MAX - 1, 5, 4]);
}

/// The drain gives back what was closed, while a third context looks.
#[test]
fn no_more_pages_wait_than_there_are() {
    let (memory, marks) = (memory(WORDS * 4), Marks::new());
    let pages = Pages::new(&memory, WORDS);
    let is_done = core::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut recorder = Recorder::<Everything>::keeping(pages, &marks);
            let mut drain = Drain::new(pages, &marks);
            let mut random = Random(7);
            for time in 0..200_000 {
                record(&mut recorder, &mut random, time);
                recorder.close();
                drain.release();
            }
            is_done.store(true, Relaxed);
        });
        while !is_done.load(Relaxed) {
            assert!(marks.waiting() <= 4);
        }
    });
}
