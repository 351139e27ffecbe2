//! Any bytes as an RTC file: frames and gaps tile it, and every way of reading it ends within a constant times the input.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::rtc::{
    self, Frame, Frames, Grid, Index, Meta, Record, Records, Sample, Step, StreamSlot, Time, recover,
};
use traceglass_fuzz::{found, lies_in, located, located_in};

/// The size of the buffer that is lent.
const LENT: usize = 2048;

fuzz_target!(|data: &[u8]| {
    let _ = rtc::detect(data);
    let mut frames = recover::Frames::new(data, [StreamSlot::EMPTY; 16]);
    let (mut at, mut steps) = (0, 0);
    loop {
        loop {
            let frame = match frames.next_frame() {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(error) => {
                    located(&error);
                    assert!(error.offset() <= data.len() as u64, "{error}");
                    assert!(matches!(frames.next_frame(), Ok(None)), "a frame after an error");
                    break;
                }
            };
            assert_eq!(frame.offset(), at, "frames and gaps tile the input");
            at = frame.end();
            steps += 1;
            lies_in(frame.payload(), data);
            if let Some(Ok(index)) = Index::from_frame(&frame) {
                for entry in index.entries().map_while(Result::ok) {
                    let _ = index.find(entry.id());
                }
            }
        }
        let Some(gap) = frames.recover() else { break };
        assert_eq!(gap.offset(), at, "frames and gaps tile the input");
        assert!(gap.end() <= data.len() as u64);
        at = gap.end();
        steps += 1;
        assert!(steps <= data.len() as u64 + 1, "more frames and gaps than bytes");
    }
    assert!(data.is_empty() || at == data.len() as u64, "all is read or lost: {at} of {}", data.len());

    // The strict reader ends for good at the first fault, or at the end. Until then both find the same.
    let mut strict = Frames::new(data, [StreamSlot::EMPTY; 16]);
    let mut recovering = recover::Frames::new(data, [StreamSlot::EMPTY; 16]);
    loop {
        let (found, other) = (strict.next_frame().map(told), recovering.next_frame().map(told));
        match (found, other) {
            // Frames that what follows does not prove are not delivered by what recovers.
            (Ok(Some(_)), Err(_)) => break,
            (_, Ok(Some(frame))) if found != other => {
                // It may know a stream from a later Meta, if the first one is damaged.
                let [strict, recovering] = [strict.streams().get(frame.2), recovering.streams().get(frame.2)]
                    .map(|stream| stream.map(|stream| stream.object().offset()));
                assert_ne!(strict, recovering, "what is strict, and what recovers: {found:?} {other:?}");
                break;
            }
            // So that what it cannot read is something else.
            (Err(_), Err(_)) if found != other => {
                let [strict, recovering] = [strict.streams(), recovering.streams()].map(|streams| {
                    streams.iter().map(|stream| (stream.id(), stream.object().offset())).collect::<Vec<_>>()
                });
                assert_ne!(strict, recovering, "what is strict, and what recovers: {found:?} {other:?}");
                break;
            }
            _ => assert_eq!(found, other, "what is strict, and what recovers"),
        }
        if !matches!(found, Ok(Some(_))) {
            break;
        }
    }
    while let Ok(Some(frame)) = strict.next_frame() {
        lies_in(frame.payload(), data);
    }
    assert!(matches!(strict.next_frame(), Ok(None)), "a frame after the end");
    linear(data, || {
        let mut buffer = [0; LENT];
        let mut records = recover::Records::new(data, [StreamSlot::EMPTY; 16], &mut buffer);
        loop {
            match records.next_step() {
                Step::Record(one) => record(&one, data),
                Step::End => break,
                _ => {}
            }
        }
    });
    linear(data, || {
        let mut buffer = [0; LENT];
        let mut records = Records::new(data, [StreamSlot::EMPTY; 16], &mut buffer);
        while let Ok(Some(one)) = records.next_record() {
            record(&one, data);
        }
    });
    linear(data, || {
        let _ = rtc::check(&mut recover::Frames::new(data, [StreamSlot::EMPTY; 16]), &mut |finding| {
            found(&finding)
        });
    });
    let mut meta = Meta::new(data, 0);
    let mut objects = 0;
    while let Some(stream) = meta.next_stream() {
        if let Ok(stream) = stream {
            let _ = (stream.gain(), stream.clock(), stream.attributes().count());
        }
        objects += 1;
        assert!(objects <= data.len() + 1);
    }
    if let Ok(grid) = Grid::new(data) {
        let middle = data.len() as u64 / 2;
        if let Ok(Some(before)) = grid.before(9, middle) {
            assert!(before <= middle);
        }
        if let Ok(Some(after)) = grid.after(9, middle) {
            assert!(after > middle);
        }
        if let Ok(unit) = grid.unit_at(middle) {
            assert_eq!(grid.unit(unit.number()).map(|unit| unit.position()), Ok(unit.position()));
        }
        for offset in [0, middle] {
            let Ok(frames) = grid.frames(offset, [StreamSlot::EMPTY; 16]) else { continue };
            for stream in frames.streams().iter() {
                match grid.seek_time(stream.id(), Time::new(1_700_000_000, 0), &mut [StreamSlot::EMPTY; 16]) {
                    // Reading can begin where seeking leads, unless what goes on there begins in damage.
                    Ok(found) => {
                        assert!(found <= data.len() as u64);
                        assert!(
                            grid.frames(found, [StreamSlot::EMPTY; 16])
                                .err()
                                .is_none_or(|error| error.offset() < found)
                        );
                    }
                    Err(error) => located_in(&error, data),
                }
            }
            let mut buffer = [0; 64];
            let clocks = grid.clocks_before(frames.offset(), &mut [StreamSlot::EMPTY; 16]);
            let mut records = Records::of(frames, &mut buffer);
            records.prime(&clocks);
            let _ = records.next_record();
        }
    }
});

/// What tells a frame from any other.
fn told(frame: Option<Frame<'_>>) -> Option<(u64, u64, u64, bool, &[u8])> {
    frame.map(|frame| (frame.offset(), frame.end(), frame.id(), frame.continues(), frame.payload()))
}

/// Work is at most a constant times the input and the lent buffer, plus a constant for small files.
fn linear(data: &[u8], work: impl FnOnce()) {
    let steps = rtc::work::of(work);
    let most = 64 * (data.len() as u64 + LENT as u64) + (1 << 19);
    assert!(steps <= most, "{steps} steps for {} bytes", data.len());
}

/// The bytes of a record are those of its pieces, and its samples lie in them.
fn record(record: &Record<'_, '_>, data: &[u8]) {
    if let Some(time) = record.time() {
        shown_exactly(time);
    }
    let mut sum = 0;
    for (offset, piece) in record.pieces() {
        assert!(offset < data.len() as u64);
        lies_in(piece, data);
        sum += piece.len() as u64;
    }
    let bytes = match record.bytes() {
        Ok(bytes) => bytes,
        Err(error) => return located_in(&error, data),
    };
    assert_eq!((record.len(), sum), (bytes.len() as u64, bytes.len() as u64));
    let mut rest = bytes.len() + 1;
    for sample in record.samples().expect("it has bytes") {
        rest = rest.checked_sub(1).expect("no more samples than bytes, or an empty text");
        match sample {
            Ok(Sample::Text(text) | Sample::Json(text)) => lies_in(text.as_bytes(), bytes),
            Ok(Sample::Bytes(part)) => lies_in(part, bytes),
            Ok(number) => assert!(number.scaled(None, None).is_some()),
            Err(error) => located(&error),
        }
    }
    if let Ok(values) = record.values() {
        assert!(values.count() <= bytes.len() + 1);
    }
}

/// The text of a time parses back to the same value.
fn shown_exactly(time: Time) {
    let shown = time.to_string();
    let (whole, fraction) = shown.split_once('.').unwrap_or((&shown, ""));
    assert!(fraction.len() <= 18 && !fraction.ends_with('0'));
    assert_eq!(format!("{whole}{fraction:0<18}").parse(), Ok(time.attoseconds()), "{shown}");
}
