//! Events in the order of time, against all of them sorted.

use crate::common::dial9::{POOLED_STRING, VARINT, Writer, recording, sample};
use crate::common::random::Random;
use traceglass::ErrorKind;
use traceglass::dial9::{
    ClassSlot, Frame, Frames, Input, LayoutSlot, Order, OrderRooms, PoolPlace, PoolSlot, Run, SchemaSlot,
    Storage, TypeSlot, Value,
};

/// An event: when it was, its input, where it stands, its name, and its first text.
type Seen = (u64, usize, u64, String, Option<Vec<u8>>);

/// The events of inputs as they are read, and the number of runs in which times do not go back.
fn as_read(inputs: &[Vec<u8>]) -> (Vec<Seen>, usize) {
    let (mut found, mut runs, mut last) = (Vec::new(), 0, 0);
    for (number, data) in inputs.iter().enumerate() {
        let mut schemas = [SchemaSlot::EMPTY; 64];
        let mut strings = [PoolSlot::EMPTY; 64];
        let mut frames = Frames::new(data, Storage::new(&mut schemas).strings(&mut strings));
        // Nothing joins what stands before a header, and what has no time of its own.
        let mut joins = false;
        loop {
            match frames.next_frame() {
                Ok(Some(Frame::Event(event))) => {
                    let time = event.nanoseconds().unwrap_or(last);
                    runs += usize::from(!(joins && event.nanoseconds().is_some() && time >= last));
                    (joins, last) = (event.nanoseconds().is_some(), time);
                    let text = event.fields().find_map(|field| match field.value() {
                        Some(Value::PooledString(id)) => frames.string(id).map(<[u8]>::to_vec),
                        _ => None,
                    });
                    found.push((time, number, event.offset(), event.name().to_owned(), text));
                }
                Ok(Some(Frame::Header(_))) => joins = false,
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => drop(frames.recover()),
            }
        }
    }
    // Inputs are in the order of their batches, and those in the order in which they stand.
    found.sort_by_key(|(time, input, offset, ..)| (*time, *input, *offset));
    (found, runs)
}

/// The same by an order with room for so many runs.
fn as_ordered(inputs: &[Vec<u8>], runs: usize) -> Result<Vec<Seen>, traceglass::Error> {
    let (mut schemas, mut classes) = ([SchemaSlot::EMPTY; 64], [ClassSlot::EMPTY; 64]);
    let (mut layouts, mut types) = ([LayoutSlot::EMPTY; 256], [TypeSlot::EMPTY; 1024]);
    let (mut pools, mut lent) = ([PoolPlace::EMPTY; 1024], [Input::EMPTY; 8]);
    let mut runs = vec![Run::EMPTY; runs];
    let mut runs = &mut runs[..];
    let mut order = Order::new(OrderRooms {
        schemas: &mut schemas,
        classes: &mut classes,
        layouts: &mut layouts,
        runs: &mut runs,
        types: &mut types,
        pools: &mut pools,
        inputs: &mut lent,
    });
    for (number, data) in inputs.iter().enumerate() {
        order.add(10 + number, data)?;
    }
    loop {
        match order.next_frame() {
            Ok(Some(frame)) => assert!(order.next_event().is_none(), "{frame:?} is read first"),
            Ok(None) => break,
            Err(error) if matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) => {
                assert!(order.next_frame().unwrap().is_none() && order.next_event().is_none());
                return Err(error);
            }
            Err(_) => drop(order.recover()),
        }
    }
    let (mut found, mut batch) = (Vec::new(), 0);
    while let Some(event) = order.next_event() {
        let seen = event.event();
        assert_eq!(order.schema(event.class()).unwrap().name(), seen.name());
        assert!(seen.nanoseconds().is_none_or(|time| time == event.nanoseconds()));
        batch = batch.max(event.batch());
        let text = seen.fields().find_map(|field| match field.value() {
            Some(Value::PooledString(id)) => order.string(&event, id).map(<[u8]>::to_vec),
            _ => None,
        });
        let input = order.input_of(&event) - 10;
        found.push((event.nanoseconds(), input, seen.offset(), seen.name().to_owned(), text));
    }
    assert!(order.next_event().is_none() && order.next_frame().unwrap().is_none());
    Ok(found)
}

/// A segment of batches that overlap; in each, times go back, and schemas and text come again.
fn random_segment(random: &mut Random) -> Vec<u8> {
    let mut writer = Writer::new();
    for batch in 0..1 + random.next() % 4 {
        writer = writer.header();
        let first = random.next() % 3;
        let schema = |writer: Writer, number: u64| {
            // The same number is of another class in another batch.
            let name = format!("E{}", (number + first) % 4);
            match number {
                0 => writer.schema_timed(0, &name, 0, &[("n", VARINT)]),
                _ => writer.schema(number as u16, &name, &[("place", POOLED_STRING), ("n", VARINT)]),
            }
        };
        writer = (0..3).fold(writer, schema).strings(&[(0, "first")]);
        if random.next().is_multiple_of(2) {
            writer = writer.reset(1_000 + random.next() % 500);
        }
        for event in 0..random.next() % 30 {
            let number = random.next() % 3;
            writer = match random.next() % 12 {
                0 => writer.reset(1_000 + random.next() % 500),
                1 => schema(writer, number),
                2 => writer.strings(&[(0, &format!("{batch}-{event}"))]),
                3 => writer.stacks(&[(0, &[1, 2])]).annotations(1, &[(1, "unit", "ns")]),
                _ if number == 0 => writer.untimed(0).varint(event),
                _ => {
                    let delta = (random.next() % 20) as u32;
                    writer.event(number as u16, delta).u32(0).varint(event << (random.next() % 40))
                }
            };
        }
        if random.next().is_multiple_of(5) {
            writer = writer.raw(&[0xee, 1, 2]);
        }
    }
    writer.0
}

#[test]
fn events_are_in_order_as_if_sorted() {
    let mut random = Random(0x6f72_6465_7265_6421);
    let mut most = 0;
    for _ in 0..400 {
        let inputs: Vec<Vec<u8>> = (0..1 + random.next() % 3).map(|_| random_segment(&mut random)).collect();
        let (expected, runs) = as_read(&inputs);
        assert_eq!(as_ordered(&inputs, runs).unwrap(), expected);
        most = most.max(expected.len());
    }
    assert!(most > 100, "{most}");
    for inputs in
        [vec![sample()], vec![recording(), sample(), recording()], vec![Vec::new(), sample()], vec![]]
    {
        let (expected, runs) = as_read(&inputs);
        assert_eq!(as_ordered(&inputs, runs).unwrap(), expected);
    }
}

/// Memory is that of the places where times go back, not of the events.
#[test]
fn a_run_takes_one_slot_however_long_it_is() {
    let mut writer = Writer::new().header().schema(1, "E", &[("n", VARINT)]).reset(5);
    for number in 0..10_000_u64 {
        // Going on later is no step back.
        writer = if number % 100 == 0 { writer.reset(1_000 * number + 5) } else { writer };
        writer = writer.event(1, 3).varint(number);
    }
    let back = writer.clone().reset(7).event(1, 0).varint(1);
    assert_eq!(as_ordered(&[writer.0], 1).unwrap().len(), 10_000);
    assert_eq!(as_ordered(std::slice::from_ref(&back.0), 2).unwrap().len(), 10_001);
    let error = as_ordered(&[back.0], 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 1, needed: 2 });
}
