//! What a Meta declares, and the clocks it ties together.

use crate::*;

fn streams(text: &str) -> (StreamTable<'_, [StreamSlot<'_>; 16]>, Vec<(u64, &'static str)>) {
    let mut meta = Meta::new(text.as_bytes(), 100);
    let mut streams = StreamTable::new([StreamSlot::EMPTY; 16]);
    let mut errors = Vec::new();
    while let Some(stream) = meta.next_stream() {
        match stream {
            Ok(stream) => streams.insert(stream).unwrap(),
            Err(error) => errors.push((error.offset(), error.kind().code())),
        }
    }
    errors.extend(meta.check().err().map(|error| (error.offset(), error.kind().code())));
    (streams, errors)
}

#[test]
fn a_meta_is_read_leniently() {
    let ids = |text| streams(text).0.streams().iter().map(rtc::Stream::id).collect::<Vec<_>>();
    assert_eq!(ids(r#"[{"id":9,"name":"a"},{"id":10},11]"#), [9, 10]);
    // Two arrays, the first one unfinished.
    let (table, errors) = streams(r#"[{"id":9},{"id":10},[{"id":9},{"id":10},{"id":11},12]"#);
    assert_eq!((table.streams().len(), errors), (3, vec![]));
    // An object that breaks off: the next one is read.
    let (table, errors) = streams(r#"[{"id":9,"na"name":"b"},{"id":10,"name":"c"},11]"#);
    assert_eq!((table.streams().len(), errors), (2, vec![]));
    assert!(
        table.streams().get(9).unwrap().damage().is_some()
            && table.streams().get(10).unwrap().damage().is_none()
    );
    // No array, no id, ids of other types, nesting without end.
    assert_eq!(streams(r#"{"id":9}"#).1[0], (100, "unexpected"));
    assert_eq!(streams(r#"[{"name":"a"},11]"#).1, [(101, "missing")]);
    assert_eq!(streams(r#"[{"id":"9"},11]"#).1, [(107, "unexpected")]);
    assert_eq!(streams(r#"[{"id":9.5},11]"#).1, [(107, "unexpected")]);
    assert_eq!(streams(r#"[{"id":8},11]"#).1, [(101, "invalid")]);
    assert_eq!(streams("").1, [(100, "unexpected-end")]);
    assert_eq!(streams(&"[".repeat(10_000)).1, [(101, "unexpected")]);
    let nested = format!(r#"[{{"id":9,"a":{}}},{{"id":10}},11]"#, "[".repeat(10_000));
    let (table, _) = streams(&nested);
    assert_eq!(table.streams().get(9).unwrap().damage().unwrap().kind().code(), "too-deep");
    assert!(table.streams().get(10).is_some());
}

#[test]
fn attributes_have_their_defaults_and_synonyms() {
    let (table, errors) = streams(
        r#"[{"id":9,"name":"a\u0062\"c","type":"uint16le","length":null,"x":{"y":[1,2]}},
            {"id":10,"format":"utf-8","type":"raw","length":3,"clock":true,"gain":-1.5e-3,"offset":7},
            {"id":11,"clock":"ab\"c","delta":null,"length":-1,"format":5,"cont":true},12]"#,
    );
    assert_eq!(errors, []);
    let (a, b, c) =
        (table.streams().get(9).unwrap(), table.streams().get(10).unwrap(), table.streams().get(11).unwrap());
    assert!(a.name().unwrap() == "ab\"c" && a.name().unwrap().borrowed().is_none());
    assert_eq!(
        (a.format(), a.length(), a.clock(), a.cont()),
        (rtc::Format::from_name("uint16le"), None, None, false)
    );
    assert_eq!(a.attribute("x").unwrap().text().as_slice(), Some(&br#"{"y":[1,2]}"#[..]));
    assert_eq!(a.attributes().count(), 5);
    assert_eq!((b.name(), b.length(), b.format()), (None, Some(3), rtc::Format::Utf8));
    assert_eq!((b.gain().unwrap().unwrap().digits(), b.gain().unwrap().unwrap().exponent()), (-15, -4));
    assert_eq!(b.clock(), Some(rtc::ClockLink::IsClock));
    assert!(matches!(c.clock(), Some(rtc::ClockLink::Named(name)) if name == a.name().unwrap()));
    assert_eq!(c.damage().unwrap().kind(), ErrorKind::Negative { value: -1 });
    assert_eq!((c.delta(), c.length(), c.format(), c.cont()), (None, None, rtc::Format::Raw, true));
}

/// The writer's fault: at a limit of 1024 bytes, the chunk that it was writing begins once more.
#[test]
fn a_meta_in_pieces_is_read_over_its_limits() {
    let objects: Vec<String> = (9..120)
        .map(|id| format!("{{\"id\":{id},\"name\":\"stream {id}\",\"length\":4,\"format\":\"uint32le\"}}"))
        .collect();
    let text = format!("[{},120]", objects.join(","));
    for piece in [1024, 1000, 77, 64] {
        let mut meta = Meta::in_pieces(0);
        let mut table = StreamTable::new([StreamSlot::EMPTY; 128]);
        let count = text.len().div_ceil(piece);
        for (n, part) in text.as_bytes().chunks(piece).enumerate() {
            meta.push(part, (n * piece) as u64, n + 1 < count);
            while let Some(stream) = meta.next_stream() {
                table.insert(stream.unwrap()).unwrap();
            }
        }
        meta.check().unwrap();
        assert_eq!(meta.next_id(), Some(120));
        let table = table.streams();
        assert_eq!(table.len(), objects.len(), "pieces of {piece}");
        let sound = |s: &&rtc::Stream| {
            s.damage().is_none() && s.name().is_some_and(|n| n == format!("stream {}", s.id()).as_str())
        };
        assert_eq!(table.iter().filter(sound).count(), objects.len(), "pieces of {piece}");
        assert!(table.iter().all(|stream| stream.length() == Some(4)));
    }
}

/// The writer's other fault there: it begins `{"id":` once more, wherever in it the limit lies. The number follows.
#[test]
fn an_id_is_read_that_was_begun_twice() {
    let first = r#"[{"id":9,"name":"a"},"#;
    let ids = |head: &str, tail: &str| {
        let head = format!("{first}{head}");
        let mut meta = Meta::in_pieces(0);
        meta.push(head.as_bytes(), 0, true);
        let mut table = StreamTable::new([StreamSlot::EMPTY; 16]);
        let mut errors = 0;
        for is_last in [false, true] {
            if is_last {
                meta.push(tail.as_bytes(), head.len() as u64, false);
            }
            while let Some(stream) = meta.next_stream() {
                match stream {
                    Ok(stream) => table.insert(stream).unwrap(),
                    Err(_) => errors += 1,
                }
            }
        }
        let ids: Vec<_> =
            table.streams().iter().map(|stream| (stream.id(), stream.damage().is_none())).collect();
        (ids, errors)
    };
    let begin = r#"{"id":"#;
    for len in 1..begin.len() {
        let again = &begin[..len];
        let tail = |rest: &str| format!("{again}{rest}");
        let rest = r#"193,"length":4},{"id":194},195]"#;
        assert_eq!(ids(again, &tail(rest)), (vec![(9, true), (193, false), (194, true)], 0), "{again}");
        // What else follows is no id.
        for rest in [r#"193"length":4},{"id":194},195]"#, r#","length":4},{"id":194},195]"#] {
            assert_eq!(ids(again, &tail(rest)), (vec![(9, true), (194, true)], 1), "{again} {rest}");
        }
    }
    // A number that stands for another attribute is none, either.
    assert_eq!(ids(r#"{"le"#, r#"193,"length":4},{"id":194},195]"#), (vec![(9, true), (194, true)], 1));
}

#[test]
fn deltas_are_latched() {
    let mut writer = Writer::new(Options::sizes(16384, 16384));
    let clk = writer.stream(r#""name":"clk","clock":true,"format":"timespec""#);
    let delta = writer.stream(r#""name":"d","clock":true,"format":"uleb128","gain":1e-3,"delta":"clk""#);
    let deeper = writer.stream(r#""name":"dd","clock":true,"format":"uleb128","gain":1e-9,"delta":"d""#);
    let a = writer.stream(r#""name":"a","clock":"d""#);
    let b = writer.stream(r#""name":"b","clock":"dd""#);
    let c = writer.stream(r#""name":"c","clock":"round""#);
    let none = writer.stream(r#""name":"none","clock":"nowhere""#);
    let round = writer.stream(r#""name":"round","clock":true,"format":"uint8","delta":"round""#);
    let stamp = |seconds: u64, nanoseconds: u32| {
        let mut stamp = seconds.to_le_bytes().to_vec();
        stamp.extend(nanoseconds.to_le_bytes());
        stamp
    };
    let mut expected = Vec::new();
    let mut event = |writer: &mut Writer, id, time: Option<&str>| {
        writer.write(id, b"x");
        expected.push(time.map(str::to_owned));
    };
    event(&mut writer, a, None);
    writer.write(delta, &[100]);
    event(&mut writer, a, None);
    // In two pieces, as one program writes it.
    writer.write_more(clk, &stamp(1000, 556_000_000)[..8], true);
    event(&mut writer, a, None);
    writer.write(clk, &stamp(1000, 556_000_000)[8..]);
    event(&mut writer, a, None);
    writer.write(delta, &[100]);
    event(&mut writer, a, Some("1000.656"));
    writer.write(deeper, &[7]);
    event(&mut writer, b, Some("1000.656000007"));
    writer.write(clk, &stamp(2000, 0));
    event(&mut writer, a, Some("1000.656"));
    event(&mut writer, b, Some("1000.656000007"));
    writer.write(delta, &[1]);
    event(&mut writer, a, Some("2000.001"));
    event(&mut writer, b, Some("1000.656000007"));
    writer.write(round, &[1]);
    event(&mut writer, c, None);
    event(&mut writer, none, None);
    let data = writer.stop();
    let mut buffer = [0; 128];
    let mut records = rtc::Records::new(&data, [StreamSlot::EMPTY; 16], &mut buffer);
    let mut times = Vec::new();
    while let Some(record) = records.next_record().unwrap() {
        if [a, b, c, none].contains(&record.stream().id()) {
            times.push(record.time().map(|time| time.to_string()));
        }
    }
    assert_eq!(times, expected);
    let warnings = findings(&data);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!((warnings[0].severity(), warnings[0].cause().kind()), (Severity::Warning, ErrorKind::Missing));
}

/// The stream that another one names, which need not be the first one; of several with a name it is the first.
#[test]
fn streams_are_found_that_others_name() {
    let (table, errors) = streams(
        r#"[{"id":9,"name":"a"},{"id":10,"name":"b"},{"id":11,"name":"b"},{"id":12,"stream":"b"},
            {"id":13,"stream":"a"},{"id":14,"stream":"nowhere"},15]"#,
    );
    assert_eq!(errors, []);
    let named = |id| {
        let name = table.streams().get(id).unwrap().stream().unwrap();
        let slot = table.streams().slot_of_name(name)?;
        table.streams().at(slot).map(rtc::Stream::id)
    };
    assert_eq!([12, 13, 14].map(named), [Some(10), Some(9), None]);
}

/// A gain or an offset moves the origin of a clock: what it then says is no date.
#[test]
fn only_plain_timespecs_are_dates() {
    let (table, _) = streams(
        r#"[{"id":9,"name":"a","clock":true,"format":"timespec"},{"id":10,"clock":"a"},
            {"id":11,"name":"b","clock":true,"format":"timespec","gain":2},{"id":12,"clock":"b"},
            {"id":13,"name":"c","clock":true,"format":"timespec","offset":-5},
            {"id":14,"name":"d","clock":true,"format":"uint8","gain":0.5,"delta":"a"},{"id":15,"clock":"d"},
            {"id":16,"name":"e","clock":true,"format":"uint8","delta":"b"},
            {"id":17,"name":"f","clock":true,"format":"uint64"},
            {"id":18,"format":"annotate/utf-8"},{"id":19,"format":"utf-8"},
            {"id":20,"name":"g","clock":true,"format":"uint8","delta":"g"},21]"#,
    );
    let table = table.streams();
    let dates: Vec<u64> = (9..=20).filter(|&id| table.is_absolute(table.slot(id).unwrap())).collect();
    assert_eq!(dates, [9, 10, 14, 15, 18]);
}
