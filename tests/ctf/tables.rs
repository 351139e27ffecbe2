//! Schemas as tables: read without their metadata, and from untrusted files.

use crate::common::{mutations, prefixes};
use crate::environment::environment_of;
use crate::numbers::Random;
use crate::samples::sample;
use crate::table::{also_by_table, at_address, in_place, written};
use traceglass::ctf::data::Packets;
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::tsdl::position;
use traceglass::ctf::schema::{FieldClass, Node, Schema, Scope, element};
use traceglass::{Error, ErrorKind};

/// CTF 1.8 with an environment, a clock, enumerations, variants, sequences and a UUID.
const TSDL: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 8; map = clock.c.value; } := stamp;
trace { major = 1; minor = 8; byte_order = be; uuid = "00112233-4455-6677-8899-aabbccddeeff";
    packet.header := struct { u8 uuid[16]; u8 stream_id; }; };
env { hostname = "b\x6fard"; n = -3; };
clock { name = c; freq = 1000; offset_s = 7; absolute = true; };
stream { id = 1; event.header := struct { u8 id; stamp timestamp; }; packet.context := struct { u8 packet_size; }; };
event { name = "one\n"; id = 0; stream_id = 1; fields := struct { u8 _n; u8 _list[_n]; string s;
    enum : u8 { a = 1, b, c = 7 ... 9, a = 20 } _tag;
    variant <_tag> { u8 a; struct { stamp x; } b; } v; }; };
event { name = two; id = 1; stream_id = 1; };
"#;

fn compiled<T>(text: &str, read: impl FnOnce(&Schema<'_, '_>) -> T) -> T {
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    // More than are needed: the nodes that are not used are not written.
    let mut nodes = vec![Node::EMPTY; Schema::needed(&stream).unwrap() as usize + 5];
    read(&Schema::compile(&stream, &mut nodes).unwrap())
}

fn class(out: &mut String, class: FieldClass<'_, '_>) {
    *out += &format!(
        "({:?} {:?} {:?} {:?} {} {} {:?} {:?}",
        class.kind(),
        class.name().map(|name| name.to_string()),
        class.bits(),
        class.byte_order(),
        class.alignment(),
        class.base(),
        class.encoding(),
        class.media_type().map(|name| name.to_string())
    );
    for mapping in class.mappings() {
        let ranges: Vec<_> = mapping.ranges().collect();
        *out += &format!(" {:?}={ranges:?}", mapping.name().unwrap().to_string());
    }
    for child in class.children() {
        self::class(out, child);
    }
    out.push(')');
}

/// All that a schema says.
fn outline(schema: &Schema<'_, '_>) -> String {
    let mut out = format!("{:?} {:?}\n", schema.uuid(), environment_of(schema));
    let name = |name: Option<traceglass::ctf::schema::Name<'_>>| name.map(|name| name.to_string());
    for clock in schema.clocks() {
        out += &format!("{:?} {:?} {}\n", name(clock.name()), name(clock.id()), clock.nanoseconds(1));
    }
    if let Some(header) = schema.packet_header() {
        class(&mut out, header);
    }
    for stream in schema.stream_classes() {
        out += &format!("\nstream {} {:?} {:?}", stream.id(), name(stream.name()), stream.clock().is_some());
        for scope in [Scope::PacketContext, Scope::EventHeader, Scope::CommonContext] {
            stream.scope(scope).into_iter().for_each(|root| class(&mut out, root));
        }
        for event in stream.event_classes() {
            out += &format!("\nevent {} {:?} {:?}", event.id(), name(event.name()), name(event.namespace()));
            for scope in [Scope::SpecificContext, Scope::Payload] {
                event.scope(scope).into_iter().for_each(|root| class(&mut out, root));
            }
        }
    }
    out
}

#[test]
fn a_table_says_what_the_schema_says() {
    for text in [sample().as_str(), TSDL] {
        compiled(text, |schema| {
            let said = also_by_table(schema, outline);
            assert!(said.len() > 500, "{said}");
            // Text of the metadata is not there.
            let table = written(schema);
            in_place(&table, |schema| {
                let stream = schema.stream_classes().next().unwrap();
                assert!(
                    stream.text().is_empty() && stream.event_classes().all(|event| event.text().is_empty())
                );
            });
        });
    }
    assert_eq!(position(MetadataStream::parse(TSDL.as_bytes()).unwrap(), 0).line, 1);
}

#[test]
fn a_table_of_other_metadata_is_told() {
    compiled(TSDL, |schema| {
        let table = written(schema);
        in_place(&table, |from_table| {
            from_table.check_metadata(&MetadataStream::parse(TSDL.as_bytes()).unwrap()).unwrap();
            let other = TSDL.replace("two", "too");
            let error =
                from_table.check_metadata(&MetadataStream::parse(other.as_bytes()).unwrap()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Mismatch { .. }), "{error}");
            assert_eq!(error.element(), element::TABLE);
        });
    });
}

#[test]
fn what_is_no_table_is_told() {
    compiled(TSDL, |schema| {
        let table = written(schema);
        let parse = |table: &[u8]| at_address(table, 0, |table| Schema::parse(table).map(drop).unwrap_err());
        assert!(matches!(parse(b"{\"type\":").kind(), ErrorKind::BadMagic { .. }));
        for prefix in prefixes(&table).filter(|prefix| prefix.len() < table.len()) {
            assert!(matches!(parse(prefix).kind(), ErrorKind::UnexpectedEnd { .. }), "{}", prefix.len());
        }
        let changed = |at: usize, value: u8| {
            let mut table = table.clone();
            table[at] = value;
            parse(&table)
        };
        let error = changed(8, 2);
        assert_eq!(error.kind(), ErrorKind::UnsupportedVersion { found: 2, supported: 1 });
        assert!(matches!(changed(100, 0xab).kind(), ErrorKind::ChecksumMismatch { .. }));
        assert!(matches!(changed(20, 0xab).kind(), ErrorKind::SizeMismatch { .. }));
        at_address(&table, 1, |table| {
            let error = Schema::parse(table).map(drop).unwrap_err();
            let is_little = cfg!(target_endian = "little");
            let in_steps = ErrorKind::NotMultiple { value: 3, of: 4 };
            assert_eq!(error.kind(), if is_little { in_steps } else { ErrorKind::Unsupported { value: 0 } });
        });
        let needed = u64::from(table[20]);
        let error = Schema::load(&table, &mut [Node::EMPTY; 3]).map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 3, needed });
        let error = schema.write(&mut [0; 95]).unwrap_err();
        let needed = table.len() as u64;
        assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 95, needed });
        let mut more = table.clone();
        more.extend([1, 2, 3]);
        in_place(&more, |_| {});
    });
}

/// CRC-32/ISO-HDLC, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

/// A table whose checksum is right.
fn signed(mut table: Vec<u8>) -> Vec<u8> {
    let sum = checksum(&table[16..]);
    table[12..16].copy_from_slice(&sum.to_le_bytes());
    table
}

/// What is skipped after a string is what its structure says.
#[test]
fn a_string_tells_what_follows_it() {
    const STRING: u8 = 9;
    let text = r#"/* CTF 1.8 */
typealias integer { size = 16; align = 8; } := u16;
trace { major = 1; minor = 8; byte_order = le; };
stream { };
event { name = e; fields := struct { string s; u16 a; u16 b; string t; u16 c; }; };
"#;
    let table = compiled(text, written);
    let nodes = (96..96 + table[20] as usize * 24).step_by(24);
    let strings: Vec<usize> = nodes.filter(|at| table[*at] == STRING).collect();
    let words: Vec<&[u8]> = strings.iter().map(|at| &table[at + 16..at + 24]).collect();
    // The number of members, and their bits.
    assert_eq!(words, [[2, 0, 0, 0, 32, 0, 0, 0], [1, 0, 0, 0, 16, 0, 0, 0]]);
    for (at, field) in strings.iter().flat_map(|at| [(*at, 16), (*at, 20)]) {
        let mut changed = table.clone();
        changed[at + field] ^= 1;
        let error = read(&signed(changed), &[]).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Malformed, at as u64));
    }
}

/// Whatever a table says, it is refused, or reading by it ends.
fn read(table: &[u8], data: &[u8]) -> Result<(), Error> {
    let mut nodes = vec![Node::EMPTY; table.len() / 24];
    let schema = Schema::load(table, &mut nodes)?;
    let _ = outline(&schema);
    let mut steps = 0;
    for packet in Packets::new(data, &schema).map_while(Result::ok) {
        let mut records = packet.records();
        while let Ok(Some(record)) = records.next_record() {
            for scope in [Scope::EventHeader, Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
                // A field may fail that was skipped: what chooses it may be any other field.
                steps += record.fields(scope).into_iter().flatten().count();
                assert!(steps < 1 << 20);
            }
        }
    }
    Ok(())
}

#[test]
fn untrusted_tables_are_refused_or_read() {
    let data: Vec<u8> = (0..400_u32).map(|n| (n * 7 % 23) as u8).collect();
    let (mut refused, mut accepted) = (0, 0);
    for text in [sample().as_str(), TSDL] {
        compiled(text, |schema| {
            let table = written(schema);
            mutations(&table, |_, changed| {
                let changed = signed(changed.to_vec());
                match read(&changed, &data) {
                    Ok(()) => accepted += 1,
                    Err(error) => {
                        refused += 1;
                        assert!(error.offset() <= changed.len() as u64, "{error}");
                    }
                }
            });
        });
    }
    assert!(refused > 1_000 && accepted > 100, "{refused} {accepted}");
}

/// The same with several changes: nodes that change places, words of other nodes, small numbers. More of it with
/// `TRACEGLASS_ROUNDS`.
#[test]
fn tables_that_were_mixed_up_are_refused_or_read() {
    let rounds = std::env::var("TRACEGLASS_ROUNDS").map_or(4_000, |rounds| rounds.parse().unwrap());
    let mut random = Random(5);
    let data: Vec<u8> = (0..400_u32).map(|n| (n * 7 % 23) as u8).collect();
    let mut accepted = 0;
    for text in [sample().as_str(), TSDL] {
        let table = compiled(text, written);
        let nodes = u64::from(table[20]);
        for _ in 0..rounds {
            let mut changed = table.clone();
            for _ in 0..=random.next() % 3 {
                let place = |random: &mut Random| 96 + (random.next() % nodes) as usize * 24;
                let (a, b) = (place(&mut random), place(&mut random));
                let field = [0, 1, 2, 3, 4, 6, 8, 12, 16, 20][(random.next() % 10) as usize];
                match random.next() % 5 {
                    0 => changed.copy_within(b..b + 24, a),
                    1 => changed.copy_within(b + field..b + (field + 4).min(24), a + field),
                    2 => changed[a + field] = random.next() as u8,
                    3 => changed[a + field] = (random.next() % 4) as u8,
                    _ => changed[28 + (random.next() % 44) as usize] ^= (random.next() % 8) as u8,
                }
            }
            accepted += usize::from(read(&signed(changed), &data).is_ok());
        }
    }
    assert!(accepted > rounds / 50, "{accepted}");
}
