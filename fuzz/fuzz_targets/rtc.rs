//! Any bytes as an RTC file: frames and gaps tile it, and every way of reading it ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::rtc::{self, Clocks, Grid, Index, Meta, Sample, Time, Walk};
use traceglass_fuzz::{found, lies_in, located, located_in};

fuzz_target!(|data: &[u8]| {
    let _ = rtc::detect(data);
    let mut walk = Walk::<16>::new(data);
    let mut clocks = Clocks::<16>::new();
    let (mut at, mut steps) = (0, 0);
    loop {
        while let Some(item) = walk.next_frame() {
            let frame = match item {
                Ok(frame) => frame,
                Err(error) => {
                    located(&error);
                    assert!(error.offset() <= data.len() as u64, "{error}");
                    assert!(walk.next_frame().is_none(), "a frame after an error");
                    break;
                }
            };
            assert_eq!(frame.offset(), at, "frames and gaps tile the input");
            at = frame.end();
            steps += 1;
            lies_in(frame.payload(), data);
            clocks.observe(walk.streams(), walk.byte_order(), &frame);
            if let Some(time) = clocks.time(&frame) {
                shown_exactly(time);
            }
            if let Some(stream) = frame.place().and_then(|place| walk.streams().at(place)) {
                let mut rest = frame.payload().len() + 1;
                for sample in stream.samples(frame.payload(), frame.payload_offset(), walk.byte_order()) {
                    rest = rest.checked_sub(1).expect("no more samples than bytes, or an empty text");
                    match sample {
                        Ok(Sample::Text(text) | Sample::Json(text)) => lies_in(text.as_bytes(), data),
                        Ok(Sample::Bytes(bytes)) => lies_in(bytes, data),
                        Ok(number) => assert!(number.scaled(None, None).is_some()),
                        Err(error) => located_in(&error, data),
                    }
                }
            }
            let record = walk.record(frame);
            let mut buffer = [0; 2048];
            match (record.len(), record.join(&mut buffer)) {
                (Ok(len), Ok(joined)) => assert_eq!(len, joined.len() as u64),
                (_, Err(error)) | (Err(error), _) => located(&error),
            }
            if let Some(Ok(index)) = Index::of_frame(&frame) {
                for entry in index.entries().map_while(Result::ok) {
                    let _ = index.find(entry.id());
                }
            }
        }
        let Some(gap) = walk.resync() else { break };
        assert_eq!(gap.offset(), at, "frames and gaps tile the input");
        assert!(gap.end() <= data.len() as u64);
        at = gap.end();
        steps += 1;
        assert!(steps <= data.len() as u64 + 1, "more frames and gaps than bytes");
    }
    assert!(data.is_empty() || at == data.len() as u64, "all is read or lost: {at} of {}", data.len());

    Walk::<16>::new(data).check(|finding| found(&finding));
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
        if let Ok(walk) = grid.walk::<16>(middle) {
            for stream in walk.streams().iter() {
                match grid.seek(walk.streams(), stream.id(), Time::new(1_700_000_000, 0)) {
                    Ok(found) => assert!(found <= data.len() as u64),
                    Err(error) => located_in(&error, data),
                }
            }
        }
    }
});

/// What a time is written as is what it is.
fn shown_exactly(time: Time) {
    let shown = time.to_string();
    let (whole, fraction) = shown.split_once('.').unwrap_or((&shown, ""));
    assert!(fraction.len() <= 18 && !fraction.ends_with('0'));
    assert_eq!(format!("{whole}{fraction:0<18}").parse(), Ok(time.attoseconds()), "{shown}");
}
