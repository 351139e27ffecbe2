//! The functions as C calls them, on samples that are small enough for Miri: what the programs in `tests/` check under
//! valgrind and the sanitizers, it checks by Rust's own rules for pointers.

use crate::tg_status::{TG_END, TG_ERROR, TG_MISUSE, TG_OK, TG_TOO_SMALL};
use crate::{crash::*, ctf::*, dial9::*, events::*, rdf::*, record::*, rfr::*, rtc::*};
use crate::{tg_bytes, tg_error, tg_status};
use core::ptr::{null, null_mut};
use std::alloc::{Layout, alloc};

/// Storage that was never written, as that of C is.
struct Raw<T>(*mut T);

impl<T> Raw<T> {
    fn new() -> Self {
        // SAFETY: it has a size.
        Self(unsafe { alloc(Layout::new::<T>()) }.cast())
    }
}

impl<T> Drop for Raw<T> {
    fn drop(&mut self) {
        // SAFETY: it was allocated so, and what lies in it owns nothing.
        unsafe { std::alloc::dealloc(self.0.cast(), Layout::new::<T>()) };
    }
}

/// The value that a function wrote.
fn out<T>(call: impl FnOnce(*mut T) -> tg_status) -> Result<T, tg_status> {
    let place = Raw::<T>::new();
    match call(place.0) {
        // SAFETY: it says that it wrote it.
        TG_OK => Ok(unsafe { place.0.read() }),
        status => Err(status),
    }
}

fn text(bytes: tg_bytes) -> String {
    if bytes.len == 0 {
        return String::new();
    }
    // SAFETY: the library lent it.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(bytes.ptr, bytes.len) }).into_owned()
}

fn input(data: &[u8]) -> tg_bytes {
    tg_bytes { ptr: data.as_ptr(), len: data.len() }
}

const RDF: &[u8] = include_bytes!("../../../examples/data/sample.rgp");
const RTC: &[u8] = include_bytes!("../../../examples/data/sample.rtc");
const RFR: &[u8] = include_bytes!("../../../examples/data/stream.rfr");
const CHUNK: &[u8] = include_bytes!("../../../examples/data/sample.rfr/2026-11/21-01/chunk-41-54.rfr");
const CALLSITES: &[u8] = include_bytes!("../../../examples/data/sample.rfr/callsites.rfr");
const JSON: &[u8] = include_bytes!("../../../examples/data/sample.ctf/metadata");
const TSDL: &[u8] = include_bytes!("../../../examples/data/sample.ctf1/metadata");
const STREAM: &[u8] = include_bytes!("../../../examples/data/sample.ctf/stream");
const STREAM1: &[u8] = include_bytes!("../../../examples/data/sample.ctf1/data");
const TABLE: &[u8] = include_bytes!("../../../examples/data/sample.ctf.schema");
const DIAL9: &[u8] = include_bytes!("../../../examples/data/trace.0.bin");

#[test]
fn chunks_of_rdf() {
    let (rdf, zstd) = (Raw::<tg_rdf>::new(), Raw::<tg_zstd>::new());
    // SAFETY: the storage is writable, the data stays.
    unsafe {
        zstd.0.write_bytes(0, 1);
        assert!(tg_rdf_open(rdf.0, RDF.as_ptr(), RDF.len(), null_mut()) == TG_OK);
        let mut count = 0;
        while let Ok(entry) = out(|entry| tg_rdf_entry_at(rdf.0, count, entry, null_mut())) {
            let mut buffer = vec![0; usize::try_from(entry.size).expect("is small")];
            let (to, len) = (buffer.as_mut_ptr(), buffer.len());
            let data = out(|data| tg_rdf_data(rdf.0, count, zstd.0, to, len, data, null_mut()));
            let data = data.unwrap_or_else(|_| panic!("chunk {count}"));
            assert_eq!(data.len as u64, entry.size);
            let name = entry.name;
            let found = out(|number| tg_rdf_find(rdf.0, name.as_ptr(), 16, 0, number));
            assert!(found.is_ok_and(|number| number <= count));
            let header =
                out(|header| tg_rdf_header(rdf.0, count, header, null_mut())).unwrap_or(tg_bytes::NONE);
            let crash = Raw::<tg_crash>::new();
            // Whatever it is, it is taken for events of a driver.
            if tg_crash_open(crash.0, entry.version, header, data, null_mut()) == TG_OK {
                while out(|event| tg_crash_next(crash.0, event, null_mut())).is_ok() {}
            }
            count += 1;
        }
        assert!(count > 3);
    }
}

#[test]
fn records_of_rtc_and_rfr() {
    let (rtc, rfr) = (Raw::<tg_rtc>::new(), Raw::<tg_rfr>::new());
    let mut buffer = [0; 512];
    // SAFETY: as above.
    unsafe {
        // Not all of it: a megabyte of checks for each record.
        let data = &RTC[..RTC.len().min(6_000)];
        assert!(tg_rtc_open(rtc.0, data.as_ptr(), data.len(), buffer.as_mut_ptr(), 512) == TG_OK);
        let mut names = 0;
        while let Ok(record) = out(|record| tg_rtc_next(rtc.0, record, null_mut())) {
            names += text(record.name).len() + text(record.data).len();
        }
        assert!(names > 0);
        for (data, count) in [(RFR, 13), (CHUNK, 126)] {
            assert!(tg_rfr_open(rfr.0, data.as_ptr(), data.len(), null_mut()) == TG_OK);
            let mut found = 0;
            while let Ok(record) = out(|record| tg_rfr_next(rfr.0, record, null_mut())) {
                assert!(!text(record.kind).is_empty());
                found += 1;
            }
            assert_eq!(found, count);
        }
        assert!(tg_rfr_open(null_mut(), RFR.as_ptr(), RFR.len(), null_mut()) == TG_MISUSE);
    }
}

/// The base of a chunk, and the time of a record after it, may be more than 64 bits have room for.
#[test]
fn a_time_of_rfr_that_is_too_late_is_an_error() {
    let rfr = Raw::<tg_rfr>::new();
    let most = u64::MAX / 1_000_000;
    for (base, micros, is_read) in [(most, 4, true), (most, 600_000, false), (most + 1, 4, false)] {
        let (mut data, mut ends) = (b"\x0brfr-c/0.0.2".to_vec(), Vec::new());
        // Header and sequences; a sequence; a record.
        for mut number in [base, 0, 1_000_000, micros, micros, 1, 1, micros, micros, 0, 1, micros, 6, 5] {
            ends.push(data.len() as u64);
            while number > 0x7f {
                data.push(number as u8 | 0x80);
                number >>= 7;
            }
            data.push(number as u8);
        }
        let mut error = tg_error { offset: 0, element: tg_bytes::NONE, kind: tg_bytes::NONE, needed: 0 };
        // SAFETY: as above.
        let found = unsafe {
            match tg_rfr_open(rfr.0, data.as_ptr(), data.len(), &raw mut error) {
                TG_OK => out(|record| tg_rfr_next(rfr.0, record, &raw mut error)),
                status => Err(status),
            }
        };
        match found {
            Ok(record) => assert!(is_read && record.time == base * 1_000_000 + micros),
            Err(_) => {
                assert!(!is_read);
                let place = if base > most { ends[0] } else { ends[11] };
                assert_eq!((error.offset, text(error.kind)), (place, "overflow".to_string()));
            }
        }
    }
}

#[test]
fn events_of_ctf() {
    let (schema, ctf) = (Raw::<tg_ctf_schema>::new(), Raw::<tg_ctf>::new());
    let nodes = Raw::<[tg_ctf_node; 128]>::new();
    let table: Vec<u32> = TABLE.as_chunks().0.iter().map(|word| u32::from_ne_bytes(*word)).collect();
    // SAFETY: as above.
    unsafe {
        for way in 0..5 {
            let (slots, none) = (nodes.0.cast(), null_mut());
            let mut error = Err(TG_OK);
            let data = if way < 4 { STREAM } else { STREAM1 };
            let compiled = match way {
                0 => tg_ctf_load(schema.0, table.as_ptr(), TABLE.len(), none),
                1 => tg_ctf_load_trusted(schema.0, table.as_ptr(), TABLE.len(), none),
                2 => {
                    error = out(|error| {
                        match tg_ctf_compile(schema.0, JSON.as_ptr(), JSON.len(), slots, 3, error) {
                            TG_TOO_SMALL => TG_OK,
                            other => other,
                        }
                    });
                    tg_ctf_compile(schema.0, JSON.as_ptr(), JSON.len(), slots, 128, none)
                }
                3 => tg_ctf_compile_json(schema.0, JSON.as_ptr(), JSON.len(), slots, 128, none),
                _ => tg_ctf_compile(schema.0, TSDL.as_ptr(), TSDL.len(), slots, 128, none),
            };
            assert!(compiled == TG_OK);
            assert_eq!(way == 2, error.is_ok_and(|error: tg_error| error.needed > 3));
            assert!(tg_ctf_open(ctf.0, schema.0, data.as_ptr(), data.len()) == TG_OK);
            let (mut events, mut fields) = (0, 0);
            while let Ok(event) = out(|event| tg_ctf_next(ctf.0, event, null_mut())) {
                assert!(!text(event.name).is_empty());
                assert!(out(|time| tg_ctf_nanoseconds(ctf.0, time)).is_ok());
                while let Ok(field) = out(|field| tg_ctf_next_field(ctf.0, field, null_mut())) {
                    let mut buffer = [0; 32];
                    let name = out(|name| tg_ctf_field_name(ctf.0, buffer.as_mut_ptr(), 32, name));
                    assert!(name.is_ok_and(|name| text(name) == text(field.name)));
                    let _ = out(|label| tg_ctf_label(ctf.0, label)).map(text);
                    fields += 1 + text(field.bytes).len();
                }
                events += 1;
            }
            assert_eq!((events, fields > 16), (16, true));
        }
    }
}

#[test]
fn events_of_dial9() {
    let dial9 = Raw::<tg_dial9>::new();
    let (schemas, texts) = (Raw::<[tg_dial9_schema; 32]>::new(), Raw::<[tg_dial9_text; 64]>::new());
    // SAFETY: as above.
    unsafe {
        let (schemas, texts) = (schemas.0.cast(), texts.0.cast());
        assert!(tg_dial9_open(dial9.0, DIAL9.as_ptr(), DIAL9.len(), schemas, 32, texts, 64) == TG_OK);
        let (mut events, mut pooled) = (0, 0);
        while let Ok(event) = out(|event| tg_dial9_next(dial9.0, event, null_mut())) {
            assert!(!text(event.name).is_empty());
            while let Ok(field) = out(|field| tg_dial9_next_field(dial9.0, field)) {
                pooled += text(field.bytes).len();
            }
            events += 1;
        }
        assert_eq!((events, pooled > 0), (97, true));
    }
}

/// Items as text: their kinds, names and arguments.
fn told(inputs: &[&[u8]], memory: &mut [u64]) -> Result<Vec<String>, u64> {
    let events = Raw::<tg_events>::new();
    let inputs: Vec<_> = inputs.iter().map(|data| input(data)).collect();
    let (lent, len) = (memory.as_mut_ptr().cast(), size_of_val(memory));
    let mut error = tg_error { offset: 0, element: tg_bytes::NONE, kind: tg_bytes::NONE, needed: 0 };
    let mut lines = Vec::new();
    // SAFETY: as above.
    unsafe {
        let mut status = tg_events_open(events.0, inputs.as_ptr(), inputs.len(), lent, len, &raw mut error);
        while status == TG_OK {
            let item = match out(|item| tg_events_next(events.0, item, &raw mut error)) {
                Ok(item) => item,
                Err(found) => {
                    status = found;
                    break;
                }
            };
            let mut line = format!("{} {} {}", item.kind as u32, item.track, text(item.name));
            let (mut args, mut count) = (null(), 0);
            status = tg_events_args(events.0, &raw mut args, &raw mut count, &raw mut error);
            for at in 0..if status == TG_OK { count } else { 0 } {
                let arg = *args.add(at);
                line += &format!(" {}={}{}{}", text(arg.name), arg.u, arg.i, text(arg.bytes));
            }
            // The name holds until the next item.
            assert!(line.contains(&text(item.name)));
            lines.push(line);
        }
        match status {
            TG_END => Ok(lines),
            TG_TOO_SMALL => Err(error.needed),
            _ => panic!("{} {}", text(error.element), text(error.kind)),
        }
    }
}

#[test]
fn tracks_and_events_in_memory_that_is_too_small_at_first() {
    let traces: [(&[&[u8]], usize); 5] = [
        (&[RFR], 13),
        (&[JSON, STREAM], 19),
        (&[TSDL, STREAM1], 18),
        (&[DIAL9], 111),
        (&[CALLSITES, CHUNK], 132),
    ];
    // Miri takes more than a quarter of an hour for all of them.
    let most = if cfg!(miri) { 2 } else { traces.len() };
    for (inputs, count) in traces.into_iter().take(most) {
        let (mut words, mut tries) = (0, 0);
        let lines = loop {
            match told(inputs, &mut vec![0; words]) {
                Ok(lines) => break lines,
                Err(needed) => {
                    let needed = usize::try_from(needed).expect("is small").div_ceil(8);
                    assert!(needed > words, "{needed} words after {words}");
                    words += needed;
                    tries += 1;
                }
            }
        };
        assert_eq!((lines.len(), tries > 1), (count, true));
        assert_eq!(told(inputs, &mut vec![0; 1 << 16]), Ok(lines));
    }
}

/// Half of the memory is for RTC's records: what is needed for anything else is doubled, and is enough soon.
#[test]
#[cfg_attr(miri, ignore = "reads a megabyte for each record")]
fn memory_for_rtc_is_enough_soon() {
    let (mut words, mut tries) = (0, 0);
    while let Err(needed) = told(&[RTC], &mut vec![0; words]) {
        words = usize::try_from(needed).expect("is small").div_ceil(8);
        tries += 1;
    }
    assert!(tries < 50, "{tries}");
}

#[test]
#[cfg_attr(miri, ignore = "asks thousands of times")]
fn arguments_are_asked_for_again_and_again() {
    let (events, inputs, mut memory) = (Raw::<tg_events>::new(), [input(RFR)], vec![0_u64; 8_000]);
    // SAFETY: as above.
    unsafe {
        let memory = (memory.as_mut_ptr().cast(), size_of_val(&memory[..]));
        assert!(tg_events_open(events.0, inputs.as_ptr(), 1, memory.0, memory.1, null_mut()) == TG_OK);
        let mut texts = 0;
        while let Ok(item) = out(|item| tg_events_next(events.0, item, null_mut())) {
            let name = text(item.name);
            for _ in 0..2_000 {
                let (mut args, mut count) = (null(), 0);
                assert!(tg_events_args(events.0, &raw mut args, &raw mut count, null_mut()) == TG_OK);
                texts += (0..count).map(|at| text((*args.add(at)).bytes).len()).sum::<usize>();
            }
            assert_eq!(text(item.name), name);
        }
        assert!(texts > 2_000);
    }
}

#[test]
fn events_of_rdf_and_rtc() {
    let mut memory = vec![0; 1 << 17];
    assert!(told(&[RDF], &mut memory).is_ok_and(|lines| lines.len() > 3));
    assert!(told(&[&RTC[..4_000]], &mut memory).is_ok_and(|lines| lines.len() > 10));
}

#[test]
fn pages_that_are_recorded_and_released() {
    let packet = Raw::<tg_ctf_packet>::new();
    let mut memory = [0_u32; 3 * 32];
    // SAFETY: as above.
    unsafe {
        assert!(tg_ctf_packet_open(packet.0, null_mut(), 96, 32, true, 0) == TG_MISUSE);
        assert!(tg_ctf_packet_open(packet.0, memory.as_mut_ptr(), 96, 32, true, 7) == TG_OK);
        let mut pages = 0;
        for time in 0..40_u64 {
            assert!(tg_ctf_packet_turn(packet.0, time, 4));
            tg_ctf_packet_close(packet.0);
            while let Ok(page) = out(|page| tg_ctf_packet_page(packet.0, page)) {
                let words = std::slice::from_raw_parts(page.words, page.count);
                assert_eq!((words[0], words[1], words[8], words[7]), (0xc1fc_1fc1, 7, pages, 320));
                pages += 1;
                tg_ctf_packet_release(packet.0);
            }
        }
        assert_eq!(pages, 40);
        // Pages that are not taken become full.
        assert_eq!((0..5).filter(|time| tg_ctf_packet_turn(packet.0, 40 + time, 4)).count(), 3);
        assert_eq!((*packet.0).lost, 2);
        assert!(tg_ctf_packet_page(null_mut(), null_mut()) == TG_MISUSE && TG_ERROR != TG_END);
    }
}
