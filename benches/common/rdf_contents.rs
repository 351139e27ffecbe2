//! The content of RDF chunks, as large as wanted.

use traceglass::rdf::contents::rmt::{Stream, TokenValue};
use traceglass::rdf::contents::{Content, EventValue};

/// Memory tokens in the shares of a process's stream: mostly binds, references, and the time between.
pub fn tokens(bytes: usize) -> (Vec<u8>, u64) {
    let mut data = Vec::with_capacity(bytes + 256);
    let mut count = 0;
    let mut add = |data: &mut Vec<u8>, len: usize, bits: u128| {
        data.extend_from_slice(&bits.to_le_bytes()[..len.min(16)]);
        data.resize(data.len() + len.saturating_sub(16), 0);
        count += 1;
    };
    add(&mut data, 12, 10 << 4 | 10_000_000 << 64);
    let mut number = 0_u128;
    while data.len() < bytes {
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
pub fn events(bytes: usize) -> (Vec<u8>, u64) {
    let mut data = [&[0, 0, 1, 0, 0, 0, 0, 0][..], &0x5043_4145_u32.to_le_bytes(), &[32, 0, 0, 0]].concat();
    data.extend_from_slice(&100_u64.to_le_bytes());
    data.extend_from_slice(&10_000_000_u64.to_le_bytes());
    let header = data.clone();
    data = [&[0, 0, 1, 0][..], &header].concat();
    let mut count = 0;
    let mut number = 0_u32;
    while data.len() < bytes {
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
pub fn queue_events(bytes: usize) -> (Vec<u8>, u64) {
    let count = bytes / 72;
    let words = (0..count as u64).flat_map(|n| [1, 11, n << 32, n, 0, n, n * 10, n * 100, n * 100 + 50]);
    (words.flat_map(u64::to_le_bytes).collect(), count as u64)
}

/// Time and kind of every token.
pub fn token_times(data: &[u8]) -> u64 {
    Stream::from_parts(77, 1, (1, 9), data).tokens().map(|token| token.unwrap()).fold(0, |sum, token| {
        sum.wrapping_add(token.ticks().unwrap_or(0)).wrapping_add(u64::from(token.kind().number()))
    })
}

/// The sum of the values of every token.
pub fn token_values(data: &[u8]) -> u64 {
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

/// Time and value of every event.
pub fn driver_events(data: &[u8]) -> u64 {
    let header = &data[4..36];
    let Content::DriverEvents(events) =
        Content::parse("DDEvent".try_into().unwrap(), 1, header, data).unwrap()
    else {
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

/// The time of every queue event.
pub fn queues(data: &[u8]) -> u64 {
    let id = "QueueEvent".try_into().unwrap();
    data.chunks_exact(72).fold(0, |sum, chunk| match Content::parse(id, 1, &[], chunk) {
        Ok(Content::QueueEvent(event)) => sum.wrapping_add(event.gpu_ticks().unwrap_or(0)),
        other => panic!("{other:?}"),
    })
}
