//! The entries of `traceglass::rtc`.

use traceglass::rtc::{
    self, Annotation, ByteOrder, Checker, Clocks, Format, Grid, Index, Meta, Samples, Time, Unit, Walk,
    WriterCrc,
};

entries! {
    rtc_detect(data) { u64::from(rtc::detect(data)) }
    rtc_walk(data) {
        let mut walk = Walk::<16>::new(data);
        let mut sum = 0;
        loop {
            while let Some(frame) = walk.next_frame() {
                sum ^= frame.map_or(0, |frame| frame.id() ^ frame.end());
            }
            match walk.resync() {
                Some(gap) => sum ^= gap.offset(),
                None => return sum,
            }
        }
    }
    rtc_records(data) {
        let mut walk = Walk::<16>::new(data);
        let mut sum = 0;
        while let Some(Ok(frame)) = walk.next_frame() {
            let record = walk.record(frame);
            sum ^= record.len().unwrap_or(0) ^ record.join(&mut [0; 64]).map_or(0, <[u8]>::len) as u64;
            sum ^= record.pieces().count() as u64;
        }
        sum
    }
    rtc_index(data) {
        let mut walk = Walk::<16>::new(data);
        let mut sum = 0;
        while let Some(Ok(frame)) = walk.next_frame() {
            if let Some(Ok(index)) = Index::of_frame(&frame) {
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
            sum ^= stream.name().map_or(0, |name| u64::from(name.is("clk")) ^ name.chars().count() as u64);
            sum ^= stream.gain().map_or(0, |gain| gain.to_f64().to_bits());
            sum ^= stream.attributes().count() as u64;
        }
        sum ^ meta.next_id().unwrap_or(0)
    }
    rtc_crc(data) { u64::from(WriterCrc::<1>::of(data) ^ WriterCrc::<16>::of(data) ^ rtc::crc_ieee(data)) }
    rtc_clocks(data) {
        let mut walk = Walk::<16>::new(data);
        let mut clocks = Clocks::<16>::new();
        let mut sum = 0;
        while let Some(Ok(frame)) = walk.next_frame() {
            clocks.observe(walk.streams(), walk.byte_order(), &frame);
            sum ^= clocks.time(&frame).map_or(0, |time| time.seconds() as u64 ^ u64::from(time.nanoseconds()));
        }
        sum
    }
    rtc_check(data) {
        let mut found = 0;
        let sessions = Walk::<16>::new(data).check(|finding| found ^= finding.cause().offset());
        found ^ sessions
    }
    rtc_verdict(data) {
        let mut walk = Walk::<16>::new(data);
        let mut checker = Checker::new();
        let mut sum = 0;
        while let Some(Ok(frame)) = walk.next_frame() {
            let verdict = checker.frame(&walk, &frame, |_| ());
            sum ^= verdict.map_or(0, |verdict| verdict.name().len() as u64);
        }
        sum
    }
    rtc_samples(data) {
        let mut sum = 0;
        for name in ["int16", "uint64be", "float32le", "uleb128", "leb128", "timespec", "utf-8", "raw"] {
            for sample in Samples::new(data, 7, Format::of(name), ByteOrder::Big) {
                sum ^= sample.map_or(1, |sample| sample.scaled(None, None).map_or(2, f64::to_bits));
            }
            if let Some(Ok(annotation)) = Annotation::parse(data, 7, Format::of("annotate/utf-8"), ByteOrder::Little) {
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
        if let Ok(walk) = grid.walk::<16>(30_000) {
            sum ^= grid.seek(walk.streams(), 9, Time::ZERO).unwrap_or(0);
        }
        sum
    }
}
