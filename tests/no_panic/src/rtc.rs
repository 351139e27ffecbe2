//! The entries of `traceglass::rtc`.

use traceglass::ByteOrder;
use traceglass::rtc::{
    self, Annotation, Checker, Format, Frames, Grid, Index, Meta, Records, Samples, Step, StreamSlot, Time,
    Unit, WriterCrc, recover,
};

entries! {
    rtc_detect(data) { u64::from(rtc::detect(data)) }
    rtc_frames(data) {
        let mut frames = Frames::new(data, [StreamSlot::EMPTY; 16]);
        let mut sum = 0;
        while let Ok(Some(frame)) = frames.next_frame() {
            sum ^= frame.id() ^ frame.end();
        }
        sum
    }
    rtc_rewrite(data) {
        let mut frames = Frames::new(data, [StreamSlot::EMPTY; 16]);
        let mut sum = 0_u64;
        while let Ok(Some(frame)) = frames.next_frame() {
            sum ^= rtc::padding(frame.end()).map_or(0, |(_, _, payload)| payload);
            let Some(Ok(index)) = rtc::Index::from_frame(&frame) else { continue };
            let mut put = |bytes: &[u8]| if bytes.len() == 7 { Err(()) } else { Ok(()) };
            let keeps = |entry: &rtc::Entry| entry.id() == 9;
            sum ^= u64::from(index.rewrite(frame.payload(), Some(0), keeps, &mut put).is_ok());
        }
        sum
    }
    rtc_write(data) {
        let mut streams = [rtc::NewStream::new("\"name\":\"a\""), rtc::NewStream::new("").length(4)];
        let sizes = data.first_chunk::<2>().map_or(8192, |size| u64::from(u16::from_le_bytes(*size)));
        let Ok(mut writer) = rtc::Writer::new(&mut streams, sizes, 2048, ByteOrder::Big) else { return 0 };
        let mut sum = 0;
        let mut put = |bytes: &[u8]| if bytes.len() == 7 { Err(()) } else { Ok(()) };
        for payload in data.chunks(9) {
            let Ok(record) = writer.record(payload.len() & 1, payload) else { continue };
            sum ^= record.size() ^ u64::from(record.write(&mut put).is_ok());
        }
        sum ^ writer.len() ^ u64::from(writer.end(&mut put).is_ok())
    }
    rtc_recover(data) {
        let mut frames = recover::Frames::new(data, [StreamSlot::EMPTY; 16]);
        let mut sum = 0;
        loop {
            while let Ok(Some(frame)) = frames.next_frame() {
                sum ^= frame.id() ^ frame.end();
            }
            match frames.recover() {
                Some(gap) => sum ^= gap.offset(),
                None => return sum,
            }
        }
    }
    rtc_records(data) {
        let mut buffer = [0; 256];
        let mut records = Records::new(data, [StreamSlot::EMPTY; 16], &mut buffer);
        let mut sum = 0;
        while let Ok(Some(record)) = records.next_record() {
            sum ^= record.len() ^ record.bytes().map_or(0, <[u8]>::len) as u64;
            sum ^= record.pieces().count() as u64 ^ record.samples().map_or(0, |samples| samples.count() as u64);
            sum ^= record.time().map_or(0, |time| time.to_f64().to_bits() ^ (time - Time::ZERO).seconds() as u64);
            sum ^= record.clock().map_or(0, |clock| clock.id()) ^ record.annotated().map_or(0, |stream| stream.id());
            if let Some(Ok(annotation)) = record.annotation() {
                sum ^= annotation.time.to_duration().map_or(0, |duration| duration.as_secs());
            }
        }
        sum ^ records.first_open().unwrap_or(0)
    }
    rtc_index(data) {
        let mut frames = Frames::new(data, [StreamSlot::EMPTY; 16]);
        let mut sum = 0;
        while let Ok(Some(frame)) = frames.next_frame() {
            if let Some(Ok(index)) = Index::from_frame(&frame) {
                sum ^= index.find(9).map_or(0, |entry| entry.target().unwrap_or(0));
                sum ^= index.entries().count() as u64 ^ u64::from(index.check().is_ok());
            }
        }
        sum
    }
    rtc_unit(data) {
        Unit::parse(data, 7).map_or(1, |unit| unit.end() ^ unit.minor_count() ^ u64::from(unit.check().is_ok()))
    }
    rtc_meta(data) {
        let mut meta = Meta::new(data, 7);
        let mut sum = 0;
        while let Some(stream) = meta.next_stream() {
            let Ok(stream) = stream else { continue };
            sum ^= stream.id() ^ stream.length().unwrap_or(0) ^ u64::from(stream.cont());
            sum ^= stream.name().map_or(0, |name| u64::from(name == "clk") ^ name.chars().count() as u64);
            sum ^= stream.gain().ok().flatten().map_or(0, |gain| gain.to_f64().to_bits());
            sum ^= stream.attributes().count() as u64;
        }
        sum ^ meta.next_id().unwrap_or(0)
    }
    rtc_crc(data) { u64::from(WriterCrc::<1>::of(data) ^ WriterCrc::<16>::of(data) ^ rtc::crc_ieee(data)) }
    rtc_steps(data) {
        let mut buffer = [0; 256];
        let mut records = recover::Records::new(data, [StreamSlot::EMPTY; 16], &mut buffer);
        let mut sum = 0;
        loop {
            match records.next_step() {
                Step::Record(record) => {
                    sum ^= record.time().map_or(0, |time| time.seconds() as u64 ^ u64::from(time.nanoseconds()));
                    sum ^= record.values().map_or(0, |values| values.map_while(Result::ok).count() as u64);
                }
                Step::Gap(gap) => sum ^= gap.offset(),
                _ => return sum ^ records.first_open().unwrap_or(0),
            }
        }
    }
    rtc_check(data) {
        let mut found = 0;
        let mut frames = recover::Frames::new(data, [StreamSlot::EMPTY; 16]);
        let summary = rtc::check(&mut frames, &mut |finding| found ^= finding.cause().offset());
        found ^ summary.map_or(0, |summary| summary.frames)
    }
    rtc_crc_status(data) {
        let mut frames = recover::Frames::new(data, [StreamSlot::EMPTY; 16]);
        let mut checker = Checker::new();
        let mut sum = 0;
        while let Ok(Some(frame)) = frames.next_frame() {
            let status = checker.frame(&frames, &frame, |_| ());
            sum ^= status.map_or(0, |status| status.name().len() as u64);
        }
        sum
    }
    rtc_samples(data) {
        let mut sum = 0;
        for name in ["int16", "uint64be", "float32le", "uleb128", "leb128", "timespec", "utf-8", "raw"] {
            for sample in Samples::new(data, 7, Format::from_name(name), ByteOrder::Big) {
                sum ^= sample.map_or(1, |sample| sample.scaled(None, None).map_or(2, f64::to_bits));
            }
            if let Some(Ok(annotation)) = Annotation::parse(data, 7, Format::from_name("annotate/utf-8"), ByteOrder::Little) {
                sum ^= annotation.time.seconds() as u64;
            }
        }
        sum
    }
    rtc_grid(data) {
        let Ok(grid) = Grid::new(data) else { return 1 };
        let mut sum = grid.len() ^ grid.unit(7).map_or(0, |unit| unit.offset());
        sum ^= grid.before(9, 30_000).map_or(0, Option::unwrap_or_default);
        sum ^= grid.after(9, 30_000).map_or(0, Option::unwrap_or_default);
        let mut slots = [StreamSlot::EMPTY; 16];
        sum ^= grid.seek_time(9, Time::ZERO, &mut slots).unwrap_or(0);
        sum ^= grid.seek_all(Time::ZERO, &mut slots).unwrap_or(0);
        let clocks = grid.clocks_before(30_000, &mut slots);
        if let Ok(frames) = grid.frames(30_000, &mut slots) {
            let mut records = Records::of(frames, &mut []);
            records.prime(&clocks);
            sum ^= records.streams().len() as u64;
        }
        sum
    }
}
