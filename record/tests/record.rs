//! The records of a recorder, read back by the library.

mod common;

use common::{Everything, Line, Nothing, Random, Wide, add_packet, dump, lines, memory, record, schemas};
use core::sync::atomic::Ordering::Relaxed;
use std::collections::VecDeque;
use traceglass::ctf::data::wire::{Capture, Scan, WireSlot};
use traceglass::ctf::data::{Packets, Value};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass_record::sink::{Flash, Queue, Sink};
use traceglass_record::{Drain, Marks, Pages, Recorder, Trace, events, packet};

#[test]
fn metadata_is_json_text_sequences() {
    let fragments: Vec<_> = Everything::METADATA.split('\u{1e}').filter(|text| !text.is_empty()).collect();
    assert_eq!(fragments.len(), 4 + 5);
    for fragment in &fragments {
        serde_json::from_str::<serde_json::Value>(fragment)
            .unwrap_or_else(|error| panic!("{error}: {fragment}"));
    }
    let wide: serde_json::Value = serde_json::from_str(fragments[6]).expect("is JSON");
    assert_eq!(wide["payload-field-class"]["member-classes"][4]["name"], "type");
    let named: serde_json::Value = serde_json::from_str(fragments[8]).expect("is JSON");
    let classes = &named["payload-field-class"]["member-classes"];
    assert_eq!(classes[0]["field-class"]["mappings"]["Done"], serde_json::json!([[65535, 65535]]));
    assert_eq!(classes[1]["field-class"]["length"], 7);
}

/// After each record, what is in memory is read: all records of the pages that were not overwritten.
#[test]
fn overwriting_keeps_the_newest_records_whenever_it_is_stopped() {
    for seed in 0..6 {
        let mut random = Random(seed);
        let page_words = 24 + random.below(40) as usize;
        let memory = memory(page_words * (2 + random.below(4) as usize) + random.below(10) as usize);
        let pages = Pages::new(&memory, page_words);
        let mut recorder = Recorder::overwriting(pages);
        // The oracle: pages as lists of lines, the oldest one first.
        let (mut kept, mut room) = (VecDeque::<Vec<Line>>::new(), 0);
        let mut time = (1 << 36) - random.below(400) - (random.below(2) << 31);
        for _ in 0..120 {
            // Some pauses are longer than the lower half of a time can tell: a packet has one upper half.
            let pause = match random.below(20) {
                0 => 1 << 32,
                1 => u32::MAX.into(),
                _ => random.below(50),
            };
            time += pause;
            let (is_kept, line, size) = record(&mut recorder, &mut random, time);
            assert!(is_kept, "{line}");
            let words = 2 + size.div_ceil(4);
            if room < words || (time - pause) >> 32 != time >> 32 {
                kept.push_back(Vec::new());
                room = page_words - packet::HEADER;
                if kept.len() > pages.count() {
                    kept.pop_front();
                }
            }
            room -= words;
            kept.back_mut().expect("there is a page").push(line);
            let expected: Vec<_> = kept.iter().flatten().cloned().collect();
            let used = page_words * pages.count() * 4;
            for (found, _) in schemas(|schema| lines(&dump(&memory)[..used], schema)) {
                assert_eq!(found, expected, "seed {seed}");
            }
        }
        assert_eq!(recorder.lost(), 0);
    }
}

/// Recorders of one trace, as of several contexts: what they wrote is told apart in one capture.
#[test]
fn streams_of_one_capture_are_told_apart() {
    let memories = [memory(48 * 3), memory(48 * 3)];
    let mut random = Random(11);
    let mut expected = Vec::new();
    for (number, memory) in (5..).zip(&memories) {
        let mut recorder = Recorder::overwriting(Pages::new(memory, 48)).stream(number);
        let mut count = 0;
        while recorder.state().number < 4 {
            let (is_kept, line, _) = record(&mut recorder, &mut random, 1_000 + count * 7);
            assert!(is_kept);
            // The first page is overwritten by the fourth one.
            if recorder.state().number > 1 {
                expected.push(line);
            }
            count += 1;
        }
    }
    let mut capture = dump(&memories[0]);
    capture.extend(dump(&memories[1]));
    schemas(|schema| {
        let mut slots = vec![WireSlot::EMPTY; 256];
        let capture_of = Capture::read(Scan::new(&capture, schema), &mut slots[..]).expect("has room");
        let mut found = Vec::new();
        let mut streams = Vec::new();
        for track in capture_of.tracks() {
            for packet in Packets::of_track(&capture, schema, track) {
                let packet = packet.expect("is a packet");
                streams.push(packet.stream_id());
                add_packet(&packet, &mut found);
            }
        }
        assert_eq!(found, expected);
        assert_eq!(streams, [Some(5), Some(5), Some(5), Some(6), Some(6), Some(6)]);
    });
}

/// A link that takes bytes now and then, and a recorder that loses what it has no room for.
#[test]
fn keeping_sends_each_record_or_counts_it() {
    for seed in 0..40 {
        let mut random = Random(seed);
        let (memory, marks) = (memory(48 * 3), Marks::new());
        let pages = Pages::new(&memory, 48);
        let mut recorder = Recorder::keeping(pages, &marks).stream(3);
        let mut drain = Drain::new(pages, &marks);
        let (mut sent, mut expected, mut lost, mut time) = (Vec::new(), Vec::new(), 0, 0);
        for _ in 0..300 {
            time += random.below(9);
            let (is_kept, line, _) = record(&mut recorder, &mut random, time);
            if is_kept {
                expected.push(line)
            } else {
                lost += 1
            }
            assert_eq!(recorder.lost(), lost);
            if random.below(3) == 0 {
                let mut room = [0; 100];
                let len = random.below(101) as usize;
                let mut sink = &mut room[..len];
                drain.send(&mut sink);
                let rest = sink.len();
                sent.extend_from_slice(&room[..len - rest]);
            }
        }
        assert!(lost > 0, "seed {seed}");
        recorder.close();
        let mut rest = vec![0; 4096];
        let mut sink = &mut rest[..];
        assert!(drain.send(&mut sink));
        let left = sink.len();
        sent.extend_from_slice(&rest[..4096 - left]);
        // One more packet tells of all losses.
        assert!(recorder.record(time, &Nothing {}));
        expected.push(format!("{time} Nothing"));
        recorder.close();
        // Where it lies, too, a page can end where its content does.
        let page = drain.page().expect("is closed");
        let short: Vec<u32> = page.short().collect();
        assert_ne!(page.words().take(short.len()).collect::<Vec<_>>(), short);
        page.shorten();
        assert_eq!(page.words().take(short.len()).collect::<Vec<_>>(), short);
        let mut rest = [0; 256];
        let mut sink = &mut rest[..];
        assert!(drain.send(&mut sink) && drain.page().is_none());
        let left = sink.len();
        sent.extend_from_slice(&rest[..256 - left]);
        schemas(|schema| {
            let (mut found, mut number, mut discarded) = (Vec::new(), 0, 0);
            for packet in Packets::new(&sent, schema) {
                let packet = packet.expect("is a packet");
                assert_eq!((packet.sequence(), packet.stream_id()), (Some(number), Some(3)));
                number += 1;
                discarded = packet.discarded().expect("is counted");
                add_packet(&packet, &mut found);
            }
            assert_eq!(found, expected, "seed {seed}");
            assert_eq!(discarded, u64::from(lost));
        });
    }
}

/// A sink that has room for a part of the number of lost records, which goes on before the rest of it is sent.
#[test]
fn a_number_of_losses_is_sent_as_of_one_moment() {
    for part in 36..=40 {
        let (memory, marks) = (memory(20), Marks::new());
        let pages = Pages::new(&memory, 20);
        let mut recorder = Recorder::<Everything>::keeping(pages, &marks);
        let mut drain = Drain::new(pages, &marks);
        assert!(recorder.record(0, &Nothing {}));
        recorder.close();
        let mut sent = Vec::new();
        for (losses, room) in [(255, part), (1, 100)] {
            (0..losses).for_each(|_| assert!(!recorder.record(1, &Nothing {})));
            let mut bytes = vec![0; room];
            let mut sink = &mut bytes[..];
            drain.send(&mut sink);
            let left = sink.len();
            sent.extend_from_slice(&bytes[..room - left]);
        }
        let lost = u32::from_le_bytes(*sent[36..].first_chunk().expect("is a header"));
        assert_eq!(lost, if part == 36 { 256 } else { 255 }, "after {part} bytes");
    }
}

/// Flash that loses power in the middle of a write, after so many words.
struct Torn {
    bytes: Vec<u8>,
    left: usize,
}

impl Flash for Torn {
    type Error = ();

    fn erase(&mut self, slot: u32) -> Result<(), ()> {
        let at = slot as usize * 256;
        self.bytes[at..at + 256].fill(0xff);
        Ok(())
    }

    fn program(&mut self, slot: u32, offset: u32, words: &[u32; 4]) -> Result<(), ()> {
        assert_eq!(offset % 16, 0);
        let at = slot as usize * 256 + offset as usize;
        for (at, word) in (at..).step_by(4).zip(words) {
            self.left = self.left.checked_sub(1).ok_or(())?;
            let place = &mut self.bytes[at..at + 4];
            assert_eq!(place, [0xff; 4], "is programmed twice");
            place.copy_from_slice(&word.to_ne_bytes());
        }
        Ok(())
    }
}

#[test]
fn after_a_loss_of_power_all_stored_pages_are_read_and_a_torn_one_is_a_gap() {
    // Six pages into four slots: power is lost after each number of words.
    for stop in 0..=6 * 64 {
        let (memory, marks) = (memory(64 * 8), Marks::new());
        let pages = Pages::new(&memory, 64);
        let mut recorder = Recorder::keeping(pages, &marks);
        let mut drain = Drain::new(pages, &marks);
        let mut flash = Torn { bytes: vec![0xff; 4 * 256], left: stop };
        let mut random = Random(7);
        let mut stored = Vec::<Vec<Line>>::new();
        for number in 0..6_u32 {
            let mut page = Vec::new();
            for n in 0..4 {
                let time = u64::from(number * 10 + n);
                let (is_kept, line, _) = record(&mut recorder, &mut random, time);
                assert!(is_kept);
                page.push(line);
            }
            recorder.close();
            if drain.store(&mut flash, number % 4).is_err() {
                break;
            }
            stored.push(page);
        }
        let whole = stored.len();
        assert_eq!(whole, stop / 64);
        // The slot that was erased for the page that is torn had the one four pages before.
        let first = if whole < 6 { (whole + 1).saturating_sub(4) } else { 2 };
        let expected: Vec<_> = stored[first..].iter().flatten().cloned().collect();
        schemas(|schema| {
            // The magic number is the first word of the last piece: four words before the end, the page is there but for
            // words that are no header yet.
            let (found, _) = lines(&flash.bytes, schema);
            let sure: Vec<_> = found.iter().filter(|line| !line.starts_with('?')).cloned().collect();
            if stop % 64 < 61 {
                assert_eq!(sure, expected, "stopped after {stop} words");
            } else {
                assert!(sure.starts_with(&expected), "stopped after {stop} words");
            }
        });
    }
}

#[test]
fn queue_gives_what_it_was_given() {
    let memory: Vec<_> = (0..20).map(|_| core::sync::atomic::AtomicU8::new(0)).collect();
    let queue = Queue::new(&memory);
    let (mut model, mut random) = (VecDeque::new(), Random(1));
    for _ in 0..2_000 {
        let bytes: Vec<u8> = (0..random.below(12)).map(|_| random.next() as u8).collect();
        let taken = (&mut &queue).put(&bytes);
        assert_eq!(taken, bytes.len().min(16 - model.len()));
        model.extend(&bytes[..taken]);
        for _ in 0..random.below(12) {
            assert_eq!(queue.take(), model.pop_front());
        }
    }
}

#[test]
fn what_never_fits_is_counted() {
    for (words, page_words) in [(100, packet::HEADER + packet::RECORD), (20, 21), (0, 0), (64, usize::MAX)] {
        let memory = memory(words);
        let mut recorder = Recorder::<Everything>::overwriting(Pages::new(&memory, page_words));
        assert!(!recorder.record(0, &Nothing {}));
        assert_eq!(recorder.lost(), 1);
    }
    // In a page that has room for less, the loss is written at once.
    let memory = memory(32);
    let mut recorder = Recorder::<Everything>::overwriting(Pages::new(&memory, 16));
    assert!(recorder.record(0, &Nothing {}));
    assert!(!recorder.record(0, &Wide { lead: 0, u: 0, i: 0, w: 0, r#type: 0 }));
    assert!(recorder.record(0, &Nothing {}));
    assert_eq!(memory[9].load(Relaxed), 1);
    assert_eq!(recorder.state().number, 1);
}

#[test]
fn all_threads_record_whole_records_in_order() {
    events! { trace Counts { clock 1; event Count { thread: u8, n: u32 } } }
    static TIME: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(0);
    let memory = memory(64 * 400);
    let shared =
        traceglass_record::Shared::<Counts>::new(Recorder::overwriting(Pages::new(&memory, 64)), || {
            TIME.fetch_add(1, Relaxed)
        });
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let shared = &shared;
            scope.spawn(move || (0..1_000).for_each(|n| assert!(shared.record(&Count { thread, n }))));
        }
    });
    let mut nodes = [Node::EMPTY; 128];
    let stream = MetadataStream::parse(Counts::METADATA.as_bytes()).expect("is metadata");
    let schema = Schema::compile(&stream, &mut nodes).expect("is a schema");
    let data = dump(&memory);
    let (mut next, mut count) = ([0; 4], 0);
    for packet in Packets::new(&data, &schema).take_while(|packet| packet.is_ok()) {
        for record in packet.expect("is a packet").records() {
            let record = record.expect("is a record");
            assert_eq!(record.cycles(), Some(count));
            let values: Vec<_> = record
                .payload()
                .expect("has fields")
                .map(|field| field.expect("is a field").value())
                .collect();
            let values: Vec<_> = values
                .iter()
                .filter_map(|value| if let Value::Unsigned(n) = value { Some(*n) } else { None })
                .collect();
            assert_eq!(values[1], next[values[0] as usize]);
            next[values[0] as usize] += 1;
            count += 1;
        }
    }
    assert_eq!(next, [1_000; 4]);
}

/// A record within `with` is lost, and counted.
#[test]
fn what_is_recorded_while_the_recorder_is_lent_is_counted() {
    events! { trace Counts { clock 1; event Count { n: u32 } } }
    let memory = memory(64 * 4);
    let shared =
        traceglass_record::Shared::<Counts>::new(Recorder::overwriting(Pages::new(&memory, 64)), || 7);
    let done = shared.with(|recorder, time| {
        let outer = recorder.record(time, &Count { n: 1 });
        (outer, shared.record(&Count { n: 2 }), shared.record(&Count { n: 3 }))
    });
    assert_eq!(done, Some((true, false, false)));
    assert_eq!(shared.with(|recorder, _| recorder.lost()), Some(2));
    assert_eq!(memory[9].load(Relaxed), 2);
}

/// Types may have the names that the macros use, and a trace may have no events.
#[test]
fn names_of_events_are_free() {
    mod own {
        traceglass_record::labels! { pub enum Number: u8 { Digits = 1 } }
        traceglass_record::events! {
            pub trace Trace {
                clock 1;
                event Event { number: Number }
                event Field {}
                event Words as "wörter" {}
            }
        }
        traceglass_record::events! { pub trace Nothing { clock 1; } }
    }
    let stream =
        MetadataStream::parse(<own::Trace as traceglass_record::Trace>::METADATA.as_bytes()).unwrap();
    let mut nodes = [Node::EMPTY; 256];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    let class = schema.stream_classes().next().unwrap();
    let names: Vec<_> = class.event_classes().map(|class| class.to_string()).collect();
    assert_eq!(names, ["Event", "Field", "wörter"]);
    assert!(!<own::Nothing as traceglass_record::Trace>::METADATA.contains(r#""type":"event-record-class""#));
    let memory = memory(64);
    let mut recorder = Recorder::<own::Trace>::overwriting(Pages::new(&memory, 64));
    assert!(recorder.record(0, &own::Event { number: own::Number::Digits }));
    assert!(recorder.record(0, &own::Field {}) && recorder.record(0, &own::Words {}));
}

/// The compiler takes only so many steps for a constant: metadata of 120 kB is not too much.
#[test]
fn a_trace_may_have_many_events_of_many_fields() {
    #[allow(dead_code)]
    mod many {
        macro_rules! of {
            ($($event:ident)*) => {
                traceglass_record::events! {
                    pub trace Many {
                        clock 1;
                        $(event $event {
                            a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64,
                            i: u64, j: u64, k: u64, l: u64, m: u64, n: u64, o: u64, p: u64,
                        })*
                    }
                }
            };
        }
        of! {
            E00 E01 E02 E03 E04 E05 E06 E07 E08 E09 E10 E11 E12 E13 E14 E15
            E16 E17 E18 E19 E20 E21 E22 E23 E24 E25 E26 E27 E28 E29 E30 E31
            E32 E33 E34 E35 E36 E37 E38 E39 E40 E41 E42 E43 E44 E45 E46 E47
            E48 E49 E50 E51 E52 E53 E54 E55 E56 E57 E58 E59 E60 E61 E62 E63
        }
    }
    for metadata in [many::Many::METADATA, many::Many::METADATA_1_8] {
        let stream = MetadataStream::parse(metadata.as_bytes()).unwrap();
        let mut nodes = vec![Node::EMPTY; 4096];
        let schema = Schema::compile(&stream, &mut nodes).unwrap();
        assert_eq!(schema.stream_classes().next().unwrap().event_classes().count(), 64);
    }
}

/// A packet whose context has an end and no begin: what is said of the part is what is written.
#[test]
fn a_part_of_a_packet_without_a_begin_says_its_end() {
    events! { trace Few { clock 1_000; event Count { n: u8 } } }
    let begin = r#""alignment":32,"roles":["default-clock-timestamp"]"#;
    let metadata = Few::METADATA.replacen(begin, r#""alignment":32"#, 1);
    assert_ne!(metadata, Few::METADATA);
    let memory = memory(64);
    let mut recorder = Recorder::<Few>::overwriting(Pages::new(&memory, 64));
    (1..5).for_each(|n| assert!(recorder.record(u64::from(n) * 10, &Count { n })));
    let data = dump(&memory);
    let mut nodes = [Node::EMPTY; 128];
    let stream = MetadataStream::parse(metadata.as_bytes()).expect("is metadata");
    let schema = Schema::compile(&stream, &mut nodes).expect("is a schema");
    let packet = Packets::new(&data, &schema).next_packet().expect("is a packet").expect("is one");
    assert_eq!((packet.begin(), packet.end()), (None, Some(40)));
    let part =
        packet.with_records(|record| record.cycles() <= Some(20)).expect("is read").expect("is possible");
    let mut written = Vec::new();
    part.write(&mut |bytes: &[u8]| {
        written.extend_from_slice(bytes);
        Ok::<_, core::convert::Infallible>(())
    })
    .expect("a vector takes all");
    let again = Packets::new(&written, &schema).next_packet().expect("is a packet").expect("is one");
    assert_eq!((part.begin(), part.end()), (again.begin(), again.end()));
    assert_eq!(again.end(), Some(20));
}
