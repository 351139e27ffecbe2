//! Packets and records of a small stream: cut, changed, merged.

use crate::common::{mutations, prefixes};
use crate::samples::{BYTE, metadata, sample};
use crate::tell::by_shares;
use traceglass::ctf::data::{Losses, Merge, MergeSlot, Packets, Programs, Shares, Value, check, element};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass::{ErrorKind, Severity};

/// A packet with ticks at these times, and a record that says something at the last one.
fn packet(sequence: u8, lost: u8, times: &[u8], padding: usize) -> Vec<u8> {
    let mut body = Vec::new();
    for time in times {
        body.extend([1, *time]); //                        id 1, time
    }
    body.extend([2, *times.last().unwrap()]); //           id 2, time
    body.push(2); //                                       n
    body.extend([0x12, 0x3a, 0xbc]); //                    list: 0x123, 0xabc
    body.extend(b"hey\0"); //                              text
    body.push(0x7b); //                                    tag: -5
    body.extend([0xff, 0xf0]); //                          v: a: x; 4 bits to the next byte
    body.extend(b"yes"); //                                o
    let content = (6 + body.len()) as u16 * 8;
    let total = content + padding as u16 * 8;
    let mut packet = [total.to_le_bytes(), content.to_le_bytes()].concat();
    packet.extend([sequence, lost]);
    packet.extend(body);
    packet.resize(packet.len() + padding, 0xee);
    packet
}

fn with_schema(read: impl FnOnce(&Schema<'_, '_>)) {
    let text = sample();
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = [Node::EMPTY; 256];
    read(&Schema::compile(&stream, &mut nodes).unwrap());
}

#[test]
fn fields_are_found_by_their_names() {
    with_schema(|schema| {
        let data = packet(0, 0, &[5, 9], 2);
        let packet = Packets::new(&data, schema).next().unwrap().unwrap();
        assert_eq!((packet.sequence(), packet.discarded(), packet.is_cut()), (Some(0), Some(0), false));
        let record = packet.records().nth(2).unwrap().unwrap();
        assert_eq!((record.cycles(), record.nanoseconds()), (Some(9), Some(7_009_000_000)));
        let field = |path: &str| record.payload().unwrap().find(path).unwrap().map(|field| field.value());
        assert!(matches!(field("n"), Some(Value::Unsigned(2))));
        assert!(matches!(field("list"), Some(Value::Array(2))));
        assert!(matches!(field("v.x"), Some(Value::Unsigned(0xfff))));
        assert!(matches!(field("text"), Some(Value::Text(text)) if text.as_str() == Some("hey")));
        assert!(matches!(field("v"), Some(Value::Variant(0))));
        assert!(field("x").is_none() && field("v.y").is_none() && field("").is_none());
    });
}

#[test]
fn streams_are_merged_by_time() {
    with_schema(|schema| {
        let a = [packet(0, 0, &[1, 5, 9], 0), packet(1, 0, &[20], 0)].concat();
        let b = [packet(0, 0, &[2, 5], 4), packet(3, 6, &[8, 30], 0)].concat();
        let mut slots = [const { MergeSlot::EMPTY }; 2];
        let mut merge = Merge::new(&mut slots);
        merge.add(Packets::new(&a, schema)).unwrap();
        merge.add(Packets::new(&b, schema)).unwrap();
        let kind = merge.add(Packets::new(&a, schema)).unwrap_err().kind();
        assert_eq!(kind, ErrorKind::CapacityExceeded { capacity: 2, needed: 3 });
        let mut found = Vec::new();
        let mut losses = Vec::new();
        while let Some(merged) = merge.next_record().unwrap() {
            found.push((merged.record().cycles().unwrap(), merged.source()));
            if merged.loss().is_some() {
                losses.push((merged.source(), merged.loss().packets(), merged.loss().records()));
            }
        }
        let expected = [
            (1, 0),
            (2, 1),
            (5, 0),
            (5, 1),
            (5, 1),
            (8, 1),
            (9, 0),
            (9, 0),
            (20, 0),
            (20, 0),
            (30, 1),
            (30, 1),
        ];
        assert_eq!(found, expected);
        assert_eq!(losses, [(1, Some(2), Some(6))]);
    });
}

/// The first packet of a stream counts from 0; where reading begins later, nothing is known of what was before.
#[test]
fn losses_count_from_the_start_of_the_stream() {
    with_schema(|schema| {
        let data = [packet(0, 4, &[1], 0), packet(1, 6, &[2], 0), packet(2, 9, &[3], 0)].concat();
        let packets: Vec<_> = Packets::new(&data, schema).map(Result::unwrap).collect();
        let records = |from: usize| {
            let mut losses = Losses::default();
            packets[from..].iter().map(|packet| losses.observe(packet).records()).collect::<Vec<_>>()
        };
        assert_eq!(records(0), [Some(4), Some(2), Some(3)]);
        assert_eq!(records(1), [None, Some(3)]);
    });
}

#[test]
fn a_fault_costs_the_rest_of_a_packet() {
    with_schema(|schema| {
        let mut a = [packet(0, 0, &[1, 2, 3], 0), packet(1, 0, &[4], 0)].concat();
        a[6 + 2] = 77; // The second record's class.
        let b = packet(0, 0, &[2], 0);
        let mut packets = Packets::new(&a, schema);
        let first = packets.next_packet().unwrap().unwrap();
        let mut records = first.records();
        assert_eq!(records.next().unwrap().unwrap().cycles(), Some(1));
        let error = records.next_record().unwrap_err();
        assert_eq!(
            (error.element(), error.kind()),
            (element::EVENT_CLASS_ID, ErrorKind::NoSuchClass { id: 77 })
        );
        assert_eq!(error.offset(), 10);
        assert!(records.next_record().unwrap().is_none());
        assert_eq!(records.gap(error).end(), first.end_offset());
        assert_eq!(packets.next_packet().unwrap().unwrap().records().count(), 2);

        let mut slots = [const { MergeSlot::EMPTY }; 2];
        let mut merge = Merge::new(&mut slots);
        for data in [&a, &b] {
            merge.add(Packets::new(data, schema)).unwrap();
        }
        let mut found = Vec::new();
        loop {
            match merge.next_record() {
                Ok(Some(merged)) => found.push(merged.record().cycles()),
                Ok(None) => break,
                Err(found) => {
                    assert_eq!(found, error);
                    assert!(merge.next_record().unwrap().is_none());
                    assert_eq!((merge.failed(), merge.recover()), (Some(0), Some(0)));
                }
            }
        }
        assert_eq!(found, [Some(1), Some(2), Some(2), Some(4), Some(4)]);
    });
}

#[test]
fn check_tells_what_is_lost_and_odd() {
    with_schema(|schema| {
        let data = [packet(0, 2, &[9, 3], 0), packet(4, 5, &[4], 1)].concat();
        let mut found = Vec::new();
        let summary = check(&data, schema, Programs::NONE, &mut |finding| {
            assert_eq!(finding.severity(), Severity::Warning);
            found.push((finding.cause().element(), finding.cause().kind()));
        });
        assert_eq!((summary.packets(), summary.records()), (2, 5));
        assert_eq!((summary.lost_packets(), summary.lost_records()), (3, 5));
        let expected = [
            (element::DISCARDED, ErrorKind::Discarded { count: 2 }),
            // The clock of 8 bits went on to the next round.
            (element::SEQUENCE_NUMBER, ErrorKind::Discarded { count: 3 }),
            (element::DISCARDED, ErrorKind::Discarded { count: 3 }),
            (element::TIMESTAMP, ErrorKind::NotAscending { previous: 259, value: 4 }),
        ];
        assert_eq!(found, expected);
    });
}

#[test]
fn shares_say_what_the_whole_says() {
    with_schema(|schema| {
        // Times go back within packets, between them, and at the end of a packet that says another one.
        let packets = [[9, 3, 7], [4, 8, 1], [2, 2, 2], [250, 1, 0]];
        let data = (0_u8..)
            .zip(packets.iter().cycle().take(40))
            .map(|(number, times)| packet(number * 2, number, times, usize::from(number % 3)));
        let data = data.collect::<Vec<_>>().concat();
        let compare = |data: &[u8]| {
            let mut findings = Vec::new();
            let summary = check(data, schema, Programs::NONE, &mut |finding| findings.push(finding));
            for size in [1, 50, 200, 1 << 20] {
                let (of_shares, all) = by_shares(data, schema, Programs::NONE, size);
                assert_eq!((of_shares, &all), (summary, &findings), "shares of {size} bytes");
            }
            findings.len()
        };
        assert!(compare(&data) > 100);
        let mut count = 0;
        mutations(&data, |_, mutant| {
            count += 1;
            if count % 97 == 0 {
                compare(mutant);
            }
        });
        let shares = Shares::new(Packets::new(&data, schema), 100);
        assert!(shares.clone().all(|share| (1..200).contains(&share.bytes())) && shares.count() > 5);
    });
}

/// Goes through everything; no field of a record that was delivered fails.
fn walk(data: &[u8], schema: &Schema<'_, '_>) -> (usize, Vec<traceglass::Error>) {
    let (mut records, mut errors) = (0, Vec::new());
    let mut losses = Losses::default();
    let mut packets = Packets::new(data, schema);
    let mut last = 0;
    loop {
        let packet = match packets.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => break,
            Err(error) => {
                assert!(packets.next_packet().unwrap().is_none());
                errors.push(error);
                break;
            }
        };
        assert!(packet.offset() >= last && packet.end_offset() > packet.offset());
        last = packet.end_offset();
        losses.observe(&packet);
        for record in packet.records() {
            match record {
                Ok(record) => {
                    records += 1;
                    assert!(record.end() > record.start());
                    for fields in [record.header(), record.payload()].into_iter().flatten() {
                        fields.for_each(|field| assert!(field.is_ok()));
                    }
                }
                Err(error) => errors.push(error),
            }
        }
    }
    assert!(errors.iter().all(|error| error.offset() <= data.len() as u64));
    (records, errors)
}

/// The number of fields of a stream's records, read one after the other; and the error that ends it.
fn fields_of(members: &str, more: &[&str], data: &[u8]) -> (usize, Option<traceglass::Error>) {
    let event = format!(
        r#"{{"type": "event-record-class", "payload-field-class": {{"type": "structure", "member-classes": [{members}]}}}}"#
    );
    let text = metadata(&[more, &[r#"{"type": "data-stream-class"}"#, &event]].concat());
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = vec![Node::EMPTY; Schema::needed(&stream).unwrap() as usize * 100];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    let (mut count, mut end) = (0, None);
    for packet in Packets::new(data, &schema) {
        let packet = packet.unwrap();
        let mut records = packet.records();
        loop {
            match records.next_record() {
                Ok(Some(record)) => {
                    let mut here = 0;
                    for field in record.payload().into_iter().flatten() {
                        field.expect("a field of a record that was delivered");
                        here += 1;
                    }
                    let mut again = 0;
                    records.payload().unwrap().each_field(|_| again += 1).unwrap();
                    assert_eq!(here, again);
                    count += here;
                }
                Ok(None) => break,
                Err(error) => end = Some(error),
            }
        }
    }
    (count, end)
}

#[test]
fn check_says_where_a_text_is_none() {
    let event = format!(
        r#"{{"type": "event-record-class", "payload-field-class": {{"type": "structure", "member-classes": [{}]}}}}"#,
        member("text", r#"{"type": "null-terminated-string"}"#)
    );
    let text = metadata(&[r#"{"type": "data-stream-class"}"#, &event]);
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = vec![Node::EMPTY; 256];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    let mut found = Vec::new();
    let summary = check(b"one\0tw\xff\0three\0", &schema, Programs::NONE, &mut |finding| {
        found.push((finding.cause().offset(), finding.severity(), finding.cause().kind()));
    });
    assert_eq!((summary.records(), found), (3, vec![(4, Severity::Warning, ErrorKind::NotUtf8)]));
}

fn member(name: &str, class: &str) -> String {
    format!(r#"{{"name": "{name}", "field-class": {class}}}"#)
}

#[test]
fn fields_that_take_no_bits_are_bounded_by_those_that_do() {
    let (key, byte) = (member("k", BYTE), member("n", BYTE));
    let many = |class: &str| {
        let members: Vec<String> = (0..4000).map(|at| member(&format!("m{at}"), class)).collect();
        format!("{},{byte}", members.join(","))
    };
    let optional = |located: &str| {
        format!(
            r#"{{"type": "optional", "selector-field-location": {{"path": ["{located}"]}},
            "selector-field-ranges": [[1, 1]], "field-class": {BYTE}}}"#
        )
    };
    let list = |located: &str| {
        format!(
            r#"{{"type": "dynamic-length-array", "length-field-location": {{"path": ["{located}"]}},
            "element-field-class": {BYTE}}}"#
        )
    };
    let array = |length: u64, of: &str| {
        format!(r#"{{"type": "static-length-array", "length": {length}, "element-field-class": {of}}}"#)
    };
    let structure = r#"{"type": "structure"}"#;
    let blob = r#"{"type": "static-length-blob", "length": 0}"#;
    let huge = array(1 << 31, &array(1 << 31, blob));
    let pairs: Vec<String> = (0..12)
        .map(|at| {
            let of = if at == 0 { structure.to_owned() } else { format!("\"a{}\"", at - 1) };
            let both = [member("x", &of), member("y", &of)].join(",");
            format!(
                r#"{{"type": "field-class-alias", "name": "a{at}", "field-class":
                    {{"type": "structure", "member-classes": [{both}]}}}}"#
            )
        })
        .collect();
    let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
    let cases: [(String, &[&str]); 9] = [
        (many(structure), &[]),
        (many(blob), &[]),
        (many(&array(0, BYTE)), &[]),
        (many(&array(1, structure)), &[]),
        (format!("{key},{}", many(&optional("k"))), &[]),
        (format!("{key},{}", many(&list("k"))), &[]),
        (format!("{},{byte}", member("h", &huge)), &[]),
        (format!("{},{byte}", member("h", &array(1 << 40 >> 9, blob))), &[]),
        (format!("{},{byte}", member("p", "\"a11\"")), &pairs),
    ];
    for (members, more) in &cases {
        for len in [100, 20_000] {
            let (count, end) = fields_of(members, more, &vec![0; len]);
            assert!(count <= 8000 + len * 8 * 9, "{count} of {}", &members[..80]);
            let kind = end.expect("an error").kind();
            assert!(matches!(kind, ErrorKind::OverLimit { .. }), "{kind:?}");
        }
    }
    // A few in each record are fine, and so are those that bits are spread over.
    let few = (0..30).map(|at| member(&format!("m{at}"), structure)).collect::<Vec<_>>().join(",");
    assert_eq!(fields_of(&format!("{few},{byte}"), &[], &[0; 1000]), (1000 * 61, None));
    let nested = (0..60).fold(BYTE.to_owned(), |class, _| {
        format!(r#"{{"type": "structure", "member-classes": [{}]}}"#, member("s", &class))
    });
    assert_eq!(fields_of(&member("s", &nested), &[], &[0; 1000]), (1000 * 121, None));
}

#[test]
fn selectors_are_found_among_many_ranges() {
    let signed = BYTE.replace("unsigned", "signed");
    // In no order, and some of them within others.
    let cases: [(&str, &[(i64, i64)]); 4] = [
        (BYTE, &[(9, 9), (1, 1), (200, 255), (5, 7), (3, 3), (6, 6), (5, 5), (210, 220), (0, 0)]),
        (&signed, &[(3, 3), (-1, 1), (-128, -100), (50, 127), (-50, -40), (-45, -30), (60, 61)]),
        (BYTE, &[(7, 7)]),
        (&signed, &[(-7, -6)]),
    ];
    for (key, ranges) in cases {
        let list: Vec<String> = ranges.iter().map(|(low, high)| format!("[{low}, {high}]")).collect();
        let optional = format!(
            r#"{{"type": "optional", "selector-field-location": {{"path": ["k"]}}, "selector-field-ranges": [{}],
                "field-class": {BYTE}}}"#,
            list.join(",")
        );
        let members = format!("{},{}", member("k", key), member("o", &optional));
        for byte in 0..=255_u8 {
            let value = if key == BYTE { i64::from(byte) } else { i64::from(byte.cast_signed()) };
            let is_in = ranges.iter().any(|(low, high)| (*low..=*high).contains(&value));
            // The key and the optional; and if that is there, what is in it and its end.
            let expected = if is_in { 4 } else { 2 };
            let data = [byte, 9];
            let data = &data[..1 + usize::from(is_in)];
            assert_eq!(fields_of(&members, &[], data), (expected, None), "{value} in {ranges:?}");
        }
    }
}

#[test]
fn any_prefix_and_any_change_is_read_or_refused() {
    with_schema(|schema| {
        let first = packet(0, 0, &[1, 2, 3], 3);
        let data = [first.clone(), packet(1, 0, &[4], 1)].concat();
        assert_eq!(walk(&data, schema), (6, vec![]));
        for prefix in prefixes(&data) {
            let (records, errors) = walk(prefix, schema);
            let is_whole = [0, first.len(), data.len()].contains(&prefix.len());
            assert_eq!(errors.len(), usize::from(!is_whole), "{}", prefix.len());
            assert!(errors.iter().all(|error| error.is_truncation()), "{errors:?}");
            assert!(records <= 6);
        }
        mutations(&data, |_, data| drop(walk(data, schema)));
    });
}

#[test]
fn a_header_may_be_all_of_a_record() {
    let wide = BYTE.replace("\"length\": 8", "\"length\": 64, \"alignment\": 8");
    let id =
        BYTE.replace("\"length\"", "\"roles\": [\"event-record-class-id\"], \"alignment\": 8, \"length\"");
    // With an identifier, and without one: then the only class is meant, whatever its identifier is.
    for (first, number) in [(id.as_str(), 1), (BYTE, 9)] {
        let stream = format!(
            r#"{{"type": "data-stream-class", "event-record-header-field-class": {{"type": "structure", "member-classes": [
                {}, {}, {}], "minimum-alignment": 8}}}}"#,
            member("first", first),
            member("second", &wide),
            member("third", &wide),
        );
        let event = format!(r#"{{"type": "event-record-class", "id": {number}}}"#);
        let text = metadata(&[&stream, &event]);
        let stream = MetadataStream::parse(text.as_bytes()).unwrap();
        let mut nodes = [Node::EMPTY; 64];
        let schema = Schema::compile(&stream, &mut nodes).unwrap();
        let data = [1; 3 * 17];
        for len in 0..=data.len() {
            let (records, errors) = walk(&data[..len], &schema);
            assert_eq!((records, errors.len()), (len / 17, usize::from(len % 17 > 0)), "{len} bytes");
            if let Some(error) = errors.first() {
                let needed = (17 - len % 17).min(8) as u64;
                assert_eq!(error.element(), element::EVENT_HEADER);
                assert!(
                    matches!(error.kind(), ErrorKind::UnexpectedEnd { needed: found } if found <= needed),
                    "{error}"
                );
            }
            assert_eq!(crate::tell::compare(&data[..len], &schema, "long headers"), records as u64);
        }
    }
}

#[test]
fn a_form_in_a_form_of_a_header_holds_for_the_identifiers_of_both() {
    let id =
        BYTE.replace("\"length\"", "\"roles\": [\"event-record-class-id\"], \"alignment\": 8, \"length\"");
    let sized = |bits: u32| BYTE.replace("\"length\": 8", &format!("\"length\": {bits}, \"alignment\": 8"));
    let variant = |small: (&str, &str), large: (&str, &str)| {
        let option = |(class, range): (&str, &str)| {
            format!(r#"{{"field-class": {class}, "selector-field-ranges": [{range}]}}"#)
        };
        let location = r#""selector-field-location": {"origin": "event-record-header", "path": ["id"]}"#;
        format!(r#"{{"type": "variant", {location}, "options": [{}, {}]}}"#, option(small), option(large))
    };
    let inner = variant((&sized(8), "[0, 99]"), (&sized(16), "[100, 255]"));
    let inner = format!(r#"{{"type": "structure", "member-classes": [{}]}}"#, member("inner", &inner));
    let outer = variant((&inner, "[0, 9]"), (&sized(32), "[10, 255]"));
    let stream = format!(
        r#"{{"type": "data-stream-class", "event-record-header-field-class": {{"type": "structure", "member-classes": [{}, {}]}}}}"#,
        member("id", &id),
        member("outer", &outer),
    );
    let [first, second] = [7, 50].map(|id| format!(r#"{{"type": "event-record-class", "id": {id}}}"#));
    let text = metadata(&[&stream, &first, &second]);
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = [Node::EMPTY; 64];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    let data = [7, 1, 50, 50, 50, 50, 50, 7, 7, 7, 1, 50, 1, 1, 1, 1, 7, 0];
    let packet = Packets::new(&data, &schema).next().unwrap().unwrap();
    let records = packet.records().map(Result::unwrap);
    let found: Vec<_> = records.map(|record| (record.class().id(), record.end() / 8)).collect();
    assert_eq!(found, [(7, 2), (50, 7), (7, 9), (7, 11), (50, 16), (7, 18)]);
    crate::tell::compare(&data, &schema, "forms in forms");
}

#[test]
fn fields_that_begin_together_take_bits_at_last() {
    // Fifty structures in each other and a bit in the innermost, 104 times.
    let bit = BYTE.replace("\"length\": 8", "\"length\": 1");
    let nested = (0..50).fold(bit, |class, _| {
        format!(r#"{{"type": "structure", "member-classes": [{}]}}"#, member("m", &class))
    });
    let list =
        format!(r#"{{"type": "static-length-array", "length": 104, "element-field-class": {nested}}}"#);
    let (count, error) = fields_of(&member("list", &list), &[], &[0; 13]);
    // Of each element the beginnings and ends of structures and the bit; of the list its beginning and end.
    assert_eq!((count, error), (104 * (2 * 50 + 1) + 2, None));
}

#[test]
fn byte_orders_do_not_meet_within_a_byte_of_a_list() {
    let big = BYTE.replace("little", "big");
    let four = BYTE.replace("\"length\": 8", "\"length\": 4");
    let element = format!(
        r#"{{"type": "structure", "member-classes": [{}, {}]}}"#,
        member("first", &big),
        member("second", &four)
    );
    let list = format!(
        r#"{{"type": "dynamic-length-array", "length-field-location": {{"path": ["n"]}}, "element-field-class": {element}}}"#
    );
    let members = [member("n", BYTE), member("list", &list)].join(",");
    // After one, four bits are left, which are no other record.
    let (count, error) = fields_of(&members, &[], &[1, 0, 0]);
    let error = error.unwrap();
    assert_eq!((count, error.kind()), (7, ErrorKind::UnexpectedEnd { needed: 1 }));
    let (_, error) = fields_of(&members, &[], &[2, 0, 0, 0, 0]);
    let error = error.unwrap();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::ByteOrderChanged, 2));
}

#[test]
fn a_record_has_bits() {
    let stream = r#"{"type": "data-stream-class",
        "event-record-header-field-class": {"type": "structure", "member-classes": [], "minimum-alignment": 8}}"#;
    let text = metadata(&[stream, r#"{"type": "event-record-class"}"#]);
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = [Node::EMPTY; 64];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    let (records, errors) = walk(&[0; 20], &schema);
    assert_eq!((records, errors.len()), (0, 1));
    assert_eq!((errors[0].kind(), errors[0].element()), (ErrorKind::Empty, element::EVENT_RECORD));
    assert_eq!(crate::tell::compare(&[0; 20], &schema, "empty records"), 0);
    // One that is aligned has the bits before it; that after it has none.
    let context = format!(
        r#""packet-context-field-class": {{"type": "structure", "member-classes": [{}]}}"#,
        member("n", BYTE)
    );
    let text = text.replace("\"minimum-alignment\": 8}", &format!("\"minimum-alignment\": 16}}, {context}"));
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = [Node::EMPTY; 64];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    let packet = Packets::new(&[0; 20], &schema).next().unwrap().unwrap();
    let mut records = packet.records();
    let ends = |record: Option<traceglass::ctf::data::Record<'_, '_, '_>>| {
        record.map(|record| (record.start(), record.end()))
    };
    assert_eq!(records.next_record().map(ends), Ok(Some((8, 16))));
    let error = records.next_record().map(ends).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Empty, 2));
}

#[test]
fn a_content_holds_its_header() {
    with_schema(|schema| {
        let mut data = packet(0, 0, &[5], 2);
        data[2..4].copy_from_slice(&40_u16.to_le_bytes());
        let error = Packets::new(&data, schema).next().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnderLimit { value: 40, limit: 48 });
        assert_eq!(error.element(), element::CONTENT_LENGTH);
    });
}

#[test]
fn identifiers_need_not_count_from_0() {
    let id =
        BYTE.replace("\"length\"", "\"roles\": [\"event-record-class-id\"], \"alignment\": 8, \"length\"");
    let stream = format!(
        r#"{{"type": "data-stream-class", "event-record-header-field-class": {{"type": "structure", "member-classes": [{}]}}}}"#,
        member("id", &id),
    );
    let byte = BYTE.replace("\"length\"", "\"alignment\": 8, \"length\"");
    let event = |id: u32, count: u32| {
        let members: Vec<String> = (0..count).map(|at| member(&format!("m{at}"), &byte)).collect();
        format!(
            r#"{{"type": "event-record-class", "id": {id}, "payload-field-class": {{"type": "structure", "member-classes": [{}]}}}}"#,
            members.join(",")
        )
    };
    let text = metadata(&[&stream, &event(1, 1), &event(2, 2), &event(9, 9)]);
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = [Node::EMPTY; 64];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    let data = [&[1, 0, 2, 0, 0, 9][..], &[0; 9], &[2, 1, 1, 1, 2, 1, 0, 1, 0, 1, 0, 1, 0]].concat();
    assert_eq!(crate::tell::compare(&data, &schema, "other identifiers"), 9);
}
