//! The library's writer against the tests' own, which grows a vector, and against the reader.

use crate::*;
use std::convert::Infallible;
use traceglass::ByteOrder;
use traceglass::rtc::{NewStream, Writer as New};

/// Attributes of streams, and the length of their records: 0 for any.
const STREAMS: [(&str, u64); 4] = [
    (r#""name":"clk","clock":true,"format":"uint32le","gain":1e-6"#, 4),
    (r#""name":"log","clock":"clk","format":"utf-8""#, 0),
    (r#""name":"wide","format":"uint8""#, 300),
    (r#""name":"blob""#, 0),
];

/// Streams beyond the first ones have ids of two bytes, and their Meta takes several frames.
fn attributes(count: usize) -> Vec<(String, u64)> {
    let some = |number: usize| match STREAMS.get(number) {
        Some((attributes, length)) => ((*attributes).to_owned(), *length),
        None => {
            (format!(r#""name":"stream {number}","unit":"{}""#, "x".repeat(number)), number as u64 % 3 * 4)
        }
    };
    (0..count).map(some).collect()
}

fn random(state: &mut u32) -> u32 {
    *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    *state >> 8
}

/// Records of random streams, of lengths around those at which something changes.
fn records(streams: &[(String, u64)], count: usize, seed: u32) -> Vec<(usize, Vec<u8>)> {
    let mut state = seed;
    let record = |_| {
        let stream = random(&mut state) as usize % streams.len();
        let any = [1, 2, 20, 126, 127, 128, 129, 700, 1023, 1024, 1025, 2100, 9000];
        let len = match streams[stream].1 {
            0 if random(&mut state).is_multiple_of(8) => any[random(&mut state) as usize % any.len()],
            0 => 1 + random(&mut state) as usize % 90,
            length => length as usize,
        };
        (stream, (0..len).map(|_| random(&mut state) as u8).collect())
    };
    (0..count).map(record).collect()
}

fn put(file: &mut Vec<u8>) -> impl FnMut(&[u8]) -> Result<(), Infallible> {
    |bytes| {
        file.extend_from_slice(bytes);
        Ok(())
    }
}

/// Writes records with the library, and asserts that each one takes what was said before.
fn written(
    streams: &[(String, u64)],
    (major, minor): (u64, u64),
    order: ByteOrder,
    records: &[(usize, Vec<u8>)],
) -> Vec<u8> {
    let mut slots: Vec<_> =
        streams.iter().map(|(attributes, length)| NewStream::new(attributes).length(*length)).collect();
    let mut writer = New::new(&mut slots, major, minor, order).unwrap();
    assert!(writer.is_empty());
    let mut file = Vec::new();
    for (stream, payload) in records {
        let record = writer.record(*stream, payload).unwrap();
        let end = file.len() as u64 + record.size();
        record.write(&mut put(&mut file)).unwrap();
        assert_eq!((file.len() as u64, writer.len()), (end, end));
    }
    writer.end(&mut put(&mut file)).unwrap();
    file
}

#[test]
fn sessions_are_those_of_the_other_writer() {
    for (seed, sizes) in (1..).zip([(8192, 2048), (16_384, 4096), (65_536, 65_536), (65_536, 1 << 20)]) {
        for count in [1, 4, 20] {
            if count == 20 && sizes.0 < 16_384 {
                continue;
            }
            let streams = attributes(count);
            let records = records(&streams, 3000, seed);
            let big_endian = seed % 2 == 0;
            let mut other = Writer::new(Options { big_endian, ..Options::sizes(sizes.0, sizes.1) });
            for (attributes, length) in &streams {
                let length = if *length > 0 { format!(r#""length":{length},"#) } else { String::new() };
                other.stream(&format!("{length}{attributes}"));
            }
            for (stream, payload) in &records {
                other.write(9 + *stream as u64, payload);
            }
            let expected = other.stop();
            let order = if big_endian { ByteOrder::Big } else { ByteOrder::Little };
            let file = written(&streams, sizes, order, &records);
            let differs = file.iter().zip(&expected).position(|(one, other)| one != other);
            assert_eq!((file.len(), differs), (expected.len(), None), "{sizes:?} {count}");
        }
    }
}

#[test]
fn each_record_is_read_as_it_was_written() {
    // Ids of two bytes, and a Meta of several frames.
    let streams = attributes(New::STREAMS);
    let records = records(&streams, 4000, 7);
    // The smallest unit that is allowed: most of it is the Meta.
    let mut slots: Vec<_> =
        streams.iter().map(|(attributes, length)| NewStream::new(attributes).length(*length)).collect();
    let is_allowed = |major: &u64| New::new(&mut slots, *major, 2048, ByteOrder::Little).is_ok();
    let major = (12..).map(|bits| 1 << bits).find(is_allowed).unwrap();
    let file = written(&streams, (major, 2048), ByteOrder::Little, &records);
    let mut buffer = vec![0; 1 << 16];
    let mut read = rtc::Records::new(&file, [StreamSlot::EMPTY; 64], &mut buffer);
    for (number, (stream, payload)) in records.iter().enumerate() {
        let record = read.next_record().unwrap().expect("another one");
        assert_eq!(record.stream().id(), 9 + *stream as u64, "record {number}");
        assert_eq!(record.bytes().unwrap(), payload, "record {number}");
    }
    assert!(read.next_record().unwrap().is_none());
    let mut findings = Vec::new();
    let mut frames = rtc::recover::Frames::new(&file, [StreamSlot::EMPTY; 64]);
    rtc::check(&mut frames, &mut |finding| findings.push(finding)).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
}

/// What a full page refuses leaves no trace in what follows.
#[test]
fn a_record_that_is_refused_was_never_there() {
    let streams = attributes(4);
    let records = records(&streams, 600, 3);
    let expected: Vec<_> = records
        .iter()
        .enumerate()
        .filter(|(number, _)| number % 3 > 0)
        .map(|(_, record)| record.clone())
        .collect();
    let expected = written(&streams, (8192, 2048), ByteOrder::Little, &expected);
    let mut slots: Vec<_> =
        streams.iter().map(|(attributes, length)| NewStream::new(attributes).length(*length)).collect();
    let mut writer = New::new(&mut slots, 8192, 2048, ByteOrder::Little).unwrap();
    let mut file = Vec::new();
    for (number, (stream, payload)) in records.iter().enumerate() {
        let record = writer.record(*stream, payload).unwrap();
        if number % 3 > 0 {
            record.write(&mut put(&mut file)).unwrap();
            continue;
        }
        let mut room = record.size() - 1;
        let full = record.write(&mut |bytes: &[u8]| {
            room = room.checked_sub(bytes.len() as u64).ok_or("full")?;
            Ok(())
        });
        assert_eq!(full, Err("full"));
    }
    writer.end(&mut put(&mut file)).unwrap();
    assert!(file == expected);
}

#[test]
fn what_cannot_be_written_is_refused() {
    let kind = |major, minor, count| {
        let mut streams = vec![NewStream::new(r#""name":"a""#); count];
        New::new(&mut streams, major, minor, ByteOrder::Little).map(|_| ()).map_err(|error| error.kind())
    };
    assert_eq!(kind(4096, 2048, 0), Err(ErrorKind::UnderLimit { value: 4096, limit: 4096 + 3 * 4 }));
    assert_eq!(kind(8192, 2048, 1), Ok(()));
    assert_eq!(kind(8192, 2047, 1), Err(ErrorKind::Invalid { value: 2047 }));
    assert_eq!(kind(1 << 41, 2048, 1), Err(ErrorKind::Invalid { value: 1 << 41 }));
    assert_eq!(kind(1 << 40, 2048, 64), Ok(()));
    assert_eq!(kind(8000, 2048, 1), Err(ErrorKind::NotMultiple { value: 8000, of: 8192 }));
    assert_eq!(kind(1 << 20, 2048, 65), Err(ErrorKind::CapacityExceeded { capacity: 64, needed: 65 }));
    let mut streams = [NewStream::new(""), NewStream::new("").length(4)];
    let mut writer = New::new(&mut streams, 8192, 2048, ByteOrder::Little).unwrap();
    let refused = |writer: &mut New<'_, '_>, stream, payload: &[u8]| {
        writer.record(stream, payload).map(|_| ()).map_err(|error| error.kind())
    };
    assert_eq!(refused(&mut writer, 0, b""), Err(ErrorKind::UnderLimit { value: 0, limit: 1 }));
    assert_eq!(refused(&mut writer, 1, b"abc"), Err(ErrorKind::SizeMismatch { stated: 4, found: 3 }));
    assert_eq!(refused(&mut writer, 2, b"abc"), Err(ErrorKind::Missing));
    assert_eq!(refused(&mut writer, 1, b"abcd"), Ok(()));
    assert!(writer.is_empty());
}

/// Padding is a frame, whatever its length; there is none that is longer than a frame may be.
#[test]
fn padding_is_a_frame_that_can_be_read() {
    for len in (0..1100).chain([16_386, 16_387, u64::MAX]) {
        let Some((header, header_len, payload)) = rtc::padding(len) else {
            assert!(!(2..=1027).contains(&len), "{len}");
            continue;
        };
        assert_eq!(header_len as u64 + payload, len);
        let bits = |byte: u8, place: u32| u64::from(byte & 0x7f) << (7 * place);
        let stated: u64 = header[1..header_len].iter().zip(0..).map(|(byte, place)| bits(*byte, place)).sum();
        assert_eq!((header[0], stated), (2, payload));
        assert!(payload <= 1024, "{len}");
    }
}

/// A session of units that no reader takes is not begun.
#[test]
fn sizes_of_units_are_those_that_are_read() {
    let mut slots = [NewStream::new(r#""name":"a","format":"uint8""#)];
    let mut is_allowed = |minor: u64| New::new(&mut slots, 8192, minor, ByteOrder::Little).is_ok();
    let allowed: Vec<u32> = (0..64).filter(|bits| is_allowed(1 << bits)).collect();
    assert_eq!(allowed, (11..=40).collect::<Vec<_>>());
}
