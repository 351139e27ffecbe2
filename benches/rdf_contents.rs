//! Speed of reading what is inside RDF chunks, against a walk over the same bytes.
//!
//!     cargo bench --bench rdf_contents
//!
//! The runs alternate, nine times; what counts is the least time of each.

use std::hint::black_box;
use std::time::{Duration, Instant};
use traceglass::rdf::contents::rmt::{Stream, TokenValue};
use traceglass::rdf::contents::{Content, EventValue};

/// Bytes of each input.
const SIZE: usize = 64 << 20;

/// Memory tokens in the shares of a process's stream: mostly binds, references, and the time between.
fn tokens() -> (Vec<u8>, u64) {
    let mut data = Vec::with_capacity(SIZE + 256);
    let mut count = 0;
    let mut add = |data: &mut Vec<u8>, len: usize, bits: u128| {
        data.extend_from_slice(&bits.to_le_bytes()[..len.min(16)]);
        data.resize(data.len() + len.saturating_sub(16), 0);
        count += 1;
    };
    add(&mut data, 12, 10 << 4 | 10_000_000 << 64);
    let mut number = 0_u128;
    while data.len() < SIZE {
        number = (number + 1) & 0xffff;
        let address = number << 16;
        add(&mut data, 3, 14 | 2 << 4 | number << 8);
        add(&mut data, 12, 12 | 3 << 8 | (address >> 12) << 34);
        add(&mut data, 18, 13 | number << 8 | 1 << 48);
        add(&mut data, 17, 7 | address << 8 | 0x2000 << 56 | number << 104);
        for _ in 0..4 {
            add(&mut data, 8, 6 | address << 9);
            add(&mut data, 14, 1 | number << 8);
        }
        add(&mut data, 2, 5 | 3 << 8);
        add(&mut data, 5, 15 | number << 8);
        add(&mut data, 7, 11 | address << 8);
    }
    (data, count)
}

/// A chunk of a driver's events: markers that begin and end.
fn events() -> (Vec<u8>, u64) {
    let mut data = [&[0, 0, 1, 0, 0, 0, 0, 0][..], &0x5043_4145_u32.to_le_bytes(), &[32, 0, 0, 0]].concat();
    data.extend_from_slice(&100_u64.to_le_bytes());
    data.extend_from_slice(&10_000_000_u64.to_le_bytes());
    let header = data.clone();
    data = [&[0, 0, 1, 0][..], &header].concat();
    let mut count = 0;
    let mut number = 0_u32;
    while data.len() < SIZE {
        number += 1;
        data.extend_from_slice(&[16, 1, 15, 0, 5, 0, 0, 0]);
        data.extend_from_slice(&number.to_le_bytes());
        data.extend_from_slice(b"\x05\0Frame");
        data.extend_from_slice(&[17, 1, 8, 0, 5, 0, 0, 0]);
        data.extend_from_slice(&number.to_le_bytes());
        count += 2;
    }
    (data, count)
}

/// As many `QueueEvent` chunks.
fn queue_events() -> (Vec<u8>, u64) {
    let count = SIZE / 72;
    let words = (0..count as u64).flat_map(|n| [1, 11, n << 32, n, 0, n, n * 10, n * 100, n * 100 + 50]);
    (words.flat_map(u64::to_le_bytes).collect(), count as u64)
}

#[inline(never)]
fn walk(data: &[u8]) -> u64 {
    data.chunks_exact(8).fold(0, |sum, word| sum.wrapping_add(u64::from_le_bytes(word.try_into().unwrap())))
}

#[inline(never)]
fn token_times(data: &[u8]) -> u64 {
    Stream::from_parts(77, 1, (1, 9), data)
        .tokens()
        .map(|token| token.unwrap())
        .fold(0, |sum, token| sum.wrapping_add(token.time()).wrapping_add(u64::from(token.kind().number())))
}

#[inline(never)]
fn token_values(data: &[u8]) -> u64 {
    Stream::from_parts(77, 1, (1, 9), data).tokens().map(|token| token.unwrap()).fold(0, |sum, token| {
        sum.wrapping_add(match token.value() {
            TokenValue::ResourceBind { address, size, .. } => address.wrapping_add(size),
            TokenValue::VirtualAllocate { address, size, .. } => address.wrapping_add(size),
            TokenValue::VirtualFree { address, .. } | TokenValue::ResourceReference { address, .. } => {
                address
            }
            TokenValue::ResourceCreate { resource, .. }
            | TokenValue::ResourceDestroy { resource, .. }
            | TokenValue::ResourceUpdate { resource, .. } => resource.into(),
            TokenValue::TimeDelta { units, .. } => units,
            _ => 0,
        })
    })
}

#[inline(never)]
fn driver_events(data: &[u8]) -> u64 {
    let header = &data[4..36];
    let Content::DriverEvents(events) = Content::parse("DDEvent".into(), 1, header, data).unwrap() else {
        panic!("not events")
    };
    events.events().map(|event| event.unwrap()).fold(0, |sum, event| {
        let value = match event.value().unwrap() {
            EventValue::MarkerBegin { marker, .. } | EventValue::MarkerEnd { marker, .. } => {
                marker.number().into()
            }
            _ => 0,
        };
        sum.wrapping_add(event.ticks().unwrap_or(0)).wrapping_add(value)
    })
}

#[inline(never)]
fn queues(data: &[u8]) -> u64 {
    data.chunks_exact(72).fold(0, |sum, chunk| match Content::parse("QueueEvent".into(), 1, &[], chunk) {
        Ok(Content::QueueEvent(event)) => sum.wrapping_add(event.gpu_ticks().unwrap_or(0)),
        other => panic!("{other:?}"),
    })
}

/// What is read, and what reads it.
type Loop<'a> = (&'a [u8], fn(&[u8]) -> u64);

fn least(loops: [Loop<'_>; 2]) -> [Duration; 2] {
    let mut least = [Duration::MAX; 2];
    for _ in 0..9 {
        for ((data, run), least) in loops.into_iter().zip(&mut least) {
            let start = Instant::now();
            black_box(run(black_box(data)));
            *least = (*least).min(start.elapsed());
        }
    }
    least
}

fn main() {
    let (tokens, events, queue_events) = (tokens(), events(), queue_events());
    println!("{:24} {:>12} {:>12} {:>16}", "", "M items/s", "GB/s", "of a walk's GB/s");
    type Row<'a> = (&'a str, &'a (Vec<u8>, u64), fn(&[u8]) -> u64);
    let rows: [Row<'_>; 4] = [
        ("RmtData, times", &tokens, token_times),
        ("RmtData, values", &tokens, token_values),
        ("DDEvent, values", &events, driver_events),
        ("QueueEvent", &queue_events, queues),
    ];
    for (name, (data, count), run) in rows {
        let [walked, read] = least([(data, walk), (data, run)]).map(|time| time.as_secs_f64());
        let (millions, gigabytes) = (*count as f64 / read / 1e6, data.len() as f64 / read / 1e9);
        println!("{name:24} {millions:12.1} {gigabytes:12.2} {:16.2}", walked / read);
    }
}
