//! A channel of RTT, which a probe empties as it likes, read back by the library.
#![cfg(feature = "rtt")]

mod common;

use common::{Random, add_packet, memory, record, schemas};
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::SeqCst;
use rtt_target::rtt::RttChannel;
use rtt_target::{ChannelMode, UpChannel};
use traceglass::ctf::data::Packets;
use traceglass_record::{Drain, Marks, Pages, Recorder};

/// A channel as it lies in memory: name, buffer, size, the places of writer and reader, flags.
struct Probe {
    words: Box<[AtomicUsize; 6]>,
    buffer: *mut u8,
}

impl Probe {
    fn new(size: usize, mode: ChannelMode) -> (Self, UpChannel) {
        let words = Box::new([const { AtomicUsize::new(0) }; 6]);
        let buffer: *mut [u8] = Box::leak(vec![0; size].into_boxed_slice());
        let channel = words.as_ptr().cast::<RttChannel>().cast_mut();
        assert_eq!(size_of::<RttChannel>(), size_of_val(&*words));
        // SAFETY: the channel is all 0, and lies as long as it is used; so does the buffer, which is leaked.
        unsafe {
            (*channel).init(c"packets".as_ptr().cast(), mode, buffer);
            (Self { words, buffer: buffer.cast() }, UpChannel::new(channel))
        }
    }

    /// Takes at most so many bytes out of the channel.
    fn take(&self, most: usize, to: &mut Vec<u8>) {
        let [_, _, size, write, read, _] = &*self.words;
        for _ in 0..most {
            let at = read.load(SeqCst);
            if at == write.load(SeqCst) {
                return;
            }
            // SAFETY: the places lie in the buffer.
            to.push(unsafe { self.buffer.add(at).read() });
            read.store((at + 1) % size.load(SeqCst), SeqCst);
        }
    }
}

/// In whatever mode a channel is: each record arrives, or is counted as lost, and nothing waits.
#[test]
fn a_probe_reads_each_record_or_how_many_were_lost() {
    use ChannelMode::{BlockIfFull, NoBlockSkip, NoBlockTrim};
    for (size, mode) in
        [(2, NoBlockSkip), (17, NoBlockSkip), (100, NoBlockSkip), (100, NoBlockTrim), (100, BlockIfFull)]
    {
        let mut random = Random(size as u64);
        let (memory, marks) = (memory(48 * 3), Marks::new());
        let pages = Pages::new(&memory, 48);
        let mut recorder = Recorder::keeping(pages, &marks);
        let mut drain = Drain::new(pages, &marks);
        let (probe, mut channel) = Probe::new(size, mode);
        let (mut sent, mut expected, mut lost) = (Vec::new(), Vec::new(), 0_u64);
        for time in 0..400 {
            let (is_kept, line, _) = record(&mut recorder, &mut random, time);
            if is_kept {
                expected.push(line)
            } else {
                lost += 1
            }
            drain.send(&mut channel);
            probe.take(random.below(40) as usize, &mut sent);
        }
        recorder.close();
        while !drain.send(&mut channel) {
            probe.take(1, &mut sent);
        }
        probe.take(size, &mut sent);
        assert_eq!(lost, u64::from(recorder.lost()));
        schemas(|schema| {
            let mut found = Vec::new();
            for packet in Packets::new(&sent, schema) {
                add_packet(&packet.expect("is a packet"), &mut found);
            }
            assert_eq!(found, expected, "a channel of {size} bytes");
        });
    }
}
