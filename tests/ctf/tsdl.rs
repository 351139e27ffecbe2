//! CTF 1.8: metadata in TSDL, and small traces that are read with it.

use crate::common::{mutations, prefixes};
use crate::forms;
use traceglass::ctf::data::{Packets, Value};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::element::SCHEMA;
use traceglass::ctf::schema::tsdl::{
    NameEntry, Needed, TypeNode, Workspace, compile, element, needed, position,
};
use traceglass::ctf::schema::{FieldKind, Node, Schema, Scope};
use traceglass::{Error, ErrorKind};

/// As an RTOS on a microcontroller describes its trace: one stream without anything but event headers, no clock.
const KERNEL: &str = "/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = true; encoding = ASCII; } := ascii_t;
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
struct event_header {
\tuint32_t timestamp;
\tuint8_t id;
};
trace {
\tmajor = 1;
\tminor = 8;
\tbyte_order = le;
};
stream {
\tevent.header := struct event_header;
};
event {
\tname = thread_switched;
\tid = 0x10;
\tfields := struct {
\t\tuint32_t thread_id;
\t\tascii_t name[6];
\t};
};
event { name = isr_enter; id = 0x1B; };
";

/// As a tracer of Linux describes a stream: bit-packed headers, identifiers that outgrow them, sequences and tags.
const TRACER: &str = "/* CTF 1.8 */

typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
typealias integer { size = 27; align = 1; signed = false; } := uint27_t;
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;

trace {
\tmajor = 1;
\tminor = 8;
\tuuid = \"01020304-0506-0708-090A-0b0c0d0e0f10\";
\tbyte_order = le;
\tpacket.header := struct {
\t\tuint32_t magic;
\t\tuint8_t uuid[16];
\t\tuint32_t stream_id;
\t};
};
env { domain = \"kernel\"; tracer_name = \"lttng-modules\"; tracer_major = 2; };
clock {
\tname = \"monotonic\";
\tdescription = \"Monotonic Clock\";
\tfreq = 1000000000; /* Frequency, in Hz */
\toffset = 1500000000000000000;
};
typealias integer {
\tsize = 27; align = 1; signed = false;
\tmap = clock.monotonic.value;
} := uint27_clock_t;
typealias integer { size = 64; align = 8; map = clock.monotonic.value; } := uint64_clock_t;
struct packet_context {
\tuint64_clock_t timestamp_begin;
\tuint64_clock_t timestamp_end;
\tuint64_t content_size;
\tuint64_t packet_size;
};
struct event_header_compact {
\tenum : uint5_t { compact = 0 ... 30, extended = 31 } id;
\tvariant <id> {
\t\tstruct { uint27_clock_t timestamp; } compact;
\t\tstruct { uint32_t id; uint64_clock_t timestamp; } extended;
\t} v;
} align(8);
stream {
\tid = 7;
\tevent.header := struct event_header_compact;
\tpacket.context := struct packet_context;
};
event {
\tname = \"sched:note\"; // a quoted name
\tid = 1; stream_id = 7;
\tloglevel = 13;
\tfields := struct {
\t\tunsigned long _addr;
\t\tuint8_t __text_length;
\t\tinteger { size = 8; align = 8; encoding = UTF8; } _text[ __text_length ];
\t\tenum : uint8_t { _none = 0, \"_int\" = 1, _many = 2 ... 9, _int = 20 } _tag;
\t\tvariant <_tag> { struct {} _none; uint32_t _int; uint8_t _many[2][2]; } _value;
\t};
};
event { name = \"late\"; id = 70000; stream_id = 7; fields := struct { floating_point { exp_dig = 8; mant_dig = 24; align = 8; } _ratio; }; };
";

/// An outline of a schema, in a form that can be compared.
fn outline(schema: &Schema<'_, '_>) -> String {
    let mut outline = String::new();
    for stream in schema.stream_classes() {
        outline += &format!("stream {} {:?}", stream.id(), stream.clock().map(|clock| clock.frequency()));
        for event in stream.event_classes() {
            let fields = event.scope(Scope::Payload).map(|payload| payload.children().count());
            let name = event.name().map(|name| name.to_string());
            outline += &format!("; event {} {name:?} {fields:?}", event.id());
        }
    }
    outline
}

/// Compiles with as much storage as is needed, and no more.
fn with_schema<T>(metadata: &[u8], read: impl FnOnce(&Schema<'_, '_>) -> T) -> Result<(Needed, T), Error> {
    let stream = MetadataStream::parse_text(metadata)?;
    let (mut types, mut names) = (vec![TypeNode::default(); 300], vec![NameEntry::default(); 300]);
    let needed = needed(stream, Workspace { nodes: &mut types, names: &mut names })?;
    types.truncate(needed.workspace_nodes as usize);
    names.truncate(needed.workspace_names as usize);
    let mut nodes = vec![Node::EMPTY; needed.nodes as usize];
    let schema = compile(stream, &mut nodes, Workspace { nodes: &mut types, names: &mut names })?;
    Ok((needed, read(&schema)))
}

/// All values of a stream, one line a record.
fn values(schema: &Schema<'_, '_>, data: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut packets = Packets::new(data, schema);
    while let Some(packet) = packets.next_packet().unwrap() {
        let mut records = packet.records();
        while let Some(record) = records.next_record().unwrap() {
            let name = record.class().name().map(|name| name.to_string()).unwrap_or_default();
            let mut line = format!("{name} @{:?}", record.nanoseconds().unwrap_or(-1));
            let mut fields = record.payload();
            while let Some(field) = fields.as_mut().and_then(|fields| fields.next_field().unwrap()) {
                line += &match (field.name(), field.value()) {
                    (_, Value::End) => " .".into(),
                    (Some(name), Value::Text(text)) => {
                        format!(" {name}={}", text.chars().map(Result::unwrap).collect::<String>())
                    }
                    (Some(name), Value::Unsigned(value)) => format!(" {name}={value}"),
                    (None, Value::Unsigned(value)) => format!(" {value}"),
                    (Some(name), Value::Float(value)) => format!(" {name}={:?}", value.to_f64()),
                    (Some(name), Value::Variant(index)) => format!(" {name}:{index}"),
                    (Some(name), Value::Structure) => format!(" {name}{{"),
                    _ => " …".into(),
                };
            }
            lines.push(line);
        }
    }
    lines
}

#[test]
fn escapes_of_c_are_bytes() {
    let name = |escaped: &str| {
        let metadata = format!(
            "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }}; event {{ name = \"{escaped}\"; }};"
        );
        with_schema(metadata.as_bytes(), |schema| {
            let event = schema.stream_classes().next().unwrap().event_classes().next().unwrap();
            let name = event.name().unwrap();
            let mut room = [0; 64];
            assert_eq!(name.decode(&mut room).unwrap(), name.to_string());
            name.to_string()
        })
        .unwrap()
        .1
    };
    assert_eq!(name(r"a\\b\'c\?"), "a\\b'c?");
    assert_eq!(name(r"\a\b\f\n\r\t\v"), "\u{7}\u{8}\u{c}\n\r\t\u{b}");
    // At most three octal digits, and two hexadecimal ones.
    assert_eq!(name(r"\1018\0x\x41f\x9z"), "A8\0xAf\tz");
    // Bytes of UTF-8, and one that is none.
    assert_eq!(name(r"\xc3\xa9\303\251\xff!"), "éé\u{fffd}!");
    assert_eq!(name("\u{e9}\\n\u{1f600}"), "é\n\u{1f600}");
}

#[test]
fn a_stream_without_packets_is_read() {
    let data: &[&[u8]] = &[
        &100_u32.to_le_bytes(), // timestamp
        &[0x10],                // id
        &7_u32.to_le_bytes(),   // thread_id
        b"main\0\0",            // name
        &250_u32.to_le_bytes(),
        &[0x1b], // isr_enter has no fields
    ];
    let (_, lines) = with_schema(KERNEL.as_bytes(), |schema| values(schema, &data.concat())).unwrap();
    assert_eq!(lines, ["thread_switched @100 thread_id=7 name=main", "isr_enter @250"]);
}

#[test]
fn a_stream_with_packed_headers_is_read() {
    let mut data = Vec::from(0xc1fc_1fc1_u32.to_le_bytes());
    data.extend(1..=16); // uuid
    data.extend(7_u32.to_le_bytes()); // stream_id
    data.extend(1_000_u64.to_le_bytes()); // timestamp_begin
    data.extend(9_000_u64.to_le_bytes()); // timestamp_end
    let sizes = data.len();
    data.extend([0; 16]);
    let note = |data: &mut Vec<u8>, time: u32, text: &[u8], tag: &[u8]| {
        data.extend((time << 5 | 1).to_le_bytes()); // id 1 in 5 bits, then 27 bits of the time
        data.extend(0xdead_u64.to_le_bytes());
        data.push(text.len() as u8);
        data.extend(text);
        data.extend(tag);
    };
    note(&mut data, 2_000, b"", &[0]);
    note(&mut data, 3_000, b"hi", &[20, 5, 0, 0, 0]);
    note(&mut data, 500, b"\xc3\xa9", &[9, 1, 2, 3, 4]); // the 27 bits have started anew
    data.push(31); // extended; the variant's structure is aligned
    data.extend(70_000_u32.to_le_bytes());
    data.extend(0x1000_0000_0000_u64.to_le_bytes());
    data.extend(1.5_f32.to_le_bytes());
    let bits = data.len() as u64 * 8;
    data[sizes..sizes + 8].copy_from_slice(&bits.to_le_bytes());
    data[sizes + 8..sizes + 16].copy_from_slice(&bits.to_le_bytes());
    let (_, lines) = with_schema(TRACER.as_bytes(), |schema| {
        let stream = schema.stream_class(7).unwrap();
        assert!(stream.clock().unwrap().is_unix(), "as the tracer is known to mean");
        let header = stream.scope(Scope::EventHeader).unwrap();
        assert_eq!(header.kind(), FieldKind::Structure);
        values(schema, &data)
    })
    .unwrap();
    let second = 1_500_000_000_000_000_000_i128;
    assert_eq!(
        lines,
        [
            format!("sched:note @{} addr=57005 _text_length=0 text= tag=0 value:0 … . .", second + 2_000),
            format!("sched:note @{} addr=57005 _text_length=2 text=hi tag=20 value:1 5 .", second + 3_000),
            format!(
                "sched:note @{} addr=57005 _text_length=2 text=é tag=9 value:2 … … 1 2 . … 3 4 . . .",
                second + 500 + (1 << 27)
            ),
            format!("late @{} ratio=Some(1.5)", second + 0x1000_0000_0000),
        ]
    );
}

#[test]
fn packets_of_any_size_give_the_same() {
    for text in [KERNEL, TRACER] {
        let (needed, wanted) = with_schema(text.as_bytes(), outline).unwrap();
        for size in [1, 2, 3, 7, 16, 61, 4096] {
            for form in forms(text.as_bytes(), size).into_iter().skip(1).step_by(2).take(1) {
                assert_eq!(
                    with_schema(&form, outline).unwrap(),
                    (needed, wanted.clone()),
                    "packets of {size}"
                );
            }
        }
    }
}

#[test]
fn storage_that_is_too_small_is_told() {
    let stream = MetadataStream::parse(TRACER.as_bytes()).unwrap();
    let (needed, _) = with_schema(TRACER.as_bytes(), outline).unwrap();
    let limits = [needed.nodes as usize, needed.workspace_nodes as usize, needed.workspace_names as usize];
    for (which, element) in [SCHEMA, element::NODES, element::NAMES].into_iter().enumerate() {
        for less in 0..limits[which] {
            let mut sizes = limits;
            sizes[which] = less;
            let mut nodes = vec![Node::EMPTY; sizes[0]];
            let (mut types, mut names) =
                (vec![TypeNode::default(); sizes[1]], vec![NameEntry::default(); sizes[2]]);
            let workspace = Workspace { nodes: &mut types, names: &mut names };
            let error = compile(stream, &mut nodes, workspace).unwrap_err();
            let ErrorKind::CapacityExceeded { capacity, needed } = error.kind() else { panic!("{error}") };
            assert_eq!((error.element(), capacity), (element, less as u64));
            assert!(needed > capacity && error.offset() <= TRACER.len() as u64, "{error}");
        }
    }
}

#[test]
fn prefixes_are_refused_where_they_end_or_before() {
    for text in [KERNEL, TRACER] {
        let mut accepted = 0;
        for prefix in prefixes(text.as_bytes()) {
            match with_schema(prefix, outline) {
                Ok(_) => accepted += 1,
                Err(error) => assert!(error.offset() <= prefix.len() as u64, "{error}"),
            }
        }
        // Between two events, and where white space follows the last one.
        assert!((1..200).contains(&accepted), "{accepted}");
    }
}

#[test]
fn damage_is_located() {
    let mut kinds = std::collections::BTreeSet::new();
    for text in [KERNEL, TRACER] {
        mutations(text.as_bytes(), |_, mutant| match with_schema(mutant, outline) {
            Ok((_, outline)) => assert!(outline.starts_with("stream"), "{outline}"),
            Err(error) => {
                assert!(error.offset() <= mutant.len() as u64, "{error}");
                kinds.insert(error.kind().code());
            }
        });
    }
    for kind in ["unexpected", "undeclared", "unexpected-end", "missing", "invalid"] {
        assert!(kinds.contains(kind), "{kinds:?}");
    }
}

/// A text in a trace whose other parts are right.
fn fault(text: &str) -> String {
    let text = format!("/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = be; }};\n{text}");
    let error = with_schema(text.as_bytes(), outline).unwrap_err();
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let at = position(stream, error.offset());
    assert_eq!(at.text.borrowed(), text.lines().nth(at.line as usize - 1).map(str::as_bytes));
    format!("{}:{} {}: {}", at.line - 1, at.column, error.element(), error.kind())
}

#[test]
fn each_rule_is_told_with_its_place() {
    let u8 = "typealias integer { size = 8; } := u8;\n";
    let event = |fields: &str| fault(&format!("{u8}event {{ name = e; fields := struct {{ {fields} }}; }};"));
    let faults = [
        (fault("evnt { };"), "1:1 TSDL block: found 'e', expected a block or the declaration of a type"),
        (fault("/* no end"), "1:1 TSDL comment: input ends, 2 more bytes needed"),
        (fault("env { a = \"no end; };"), "1:11 TSDL string: input ends, 1 more byte needed"),
        (fault("env { a = \"\\q\"; };"), "1:13 TSDL string: found 'q', expected an escape sequence"),
        (fault("env { a = 08; };"), "1:12 TSDL integer: found '8', expected a digit"),
        (fault("env { a = 18446744073709551616; };"), "1:11 TSDL integer: integer wider than 64 bits"),
        (fault("trace { major = 1; minor = 8; byte_order = le; };"), "1:1 TSDL trace block: occurs again"),
        (fault("clock { freq = 1; };"), "1:1 TSDL clock block: missing"),
        (fault("clock { name = c; freq = 0; };"), "1:26 TSDL attribute: 0 is not allowed"),
        (fault("event { id = 1; id = 2; };"), "1:17 TSDL attribute: occurs again"),
        (fault("stream { id = 1; }; stream { id = 1; };"), "1:1 TSDL field with a meaning: missing"),
        (
            fault("event { fields := struct { }; stream_id = 3; };"),
            "1:1 TSDL stream block: not declared before it is used",
        ),
        (
            fault("event { name = a; id = 1; }; event { name = b; id = 2; };"),
            "1:30 TSDL field with a meaning: missing",
        ),
        (fault("typealias integer { size = 65; } := a;"), "1:28 TSDL attribute: 65 is not allowed"),
        (fault("typealias integer { align = 8; } := a;"), "1:11 TSDL type: missing"),
        (fault("typealias integer { size = 8; align = 3; } := a;"), "1:39 TSDL alignment: 3 is not allowed"),
        (
            fault("typealias integer { size = 8; map = clock.c.value; } := a;"),
            "1:43 TSDL attribute: not declared before it is used",
        ),
        (
            fault("typealias floating_point { exp_dig = 5; mant_dig = 11; } := a;"),
            "1:11 TSDL type: 16 is not supported",
        ),
        (fault("typealias string := a; typealias string := a;"), "1:44 TSDL type name: occurs again"),
        (event("u16 a;"), "2:38 TSDL type name: not declared before it is used"),
        (event("u8 a; u8 a;"), "2:47 TSDL member: occurs again"),
        (event("u8 a:4;"), "2:42 TSDL member: found ':', expected ';'"),
        (event("u8 a[-1];"), "2:43 TSDL attribute: negative: -1"),
        (event("u8 a[env.n];"), "2:43 TSDL array length: not declared before it is used"),
        (event("u8 a[b]; u8 b;"), "2:43 TSDL field path: not declared before it is used"),
        (
            event("string n; u8 a[n];"),
            "2:53 TSDL field path: found 'n', expected the path of an unsigned integer",
        ),
        (
            event("u8 t; variant <t> { u8 a; } v;"),
            "2:53 TSDL field path: found 't', expected the path of an enumeration",
        ),
        (event("enum : u8 { } e;"), "2:50 TSDL enumerator: missing"),
        (event("enum : u8 { A = 2 ... 1 } e;"), "2:50 TSDL enumerator: 1 after 2"),
        (event("struct { u8 a; } align(12) s;"), "2:61 TSDL alignment: 12 is not allowed"),
        (event("variant v { u8 a; } ;  variant v w;"), "2:72 TSDL field path: missing"),
    ];
    let wrong: Vec<_> = faults.iter().filter(|(found, wanted)| found != wanted).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth: usize| {
        let (open, close) = ("struct { ".repeat(depth), "} s; ".repeat(depth - 1));
        format!(
            "trace {{ major = 1; minor = 8; byte_order = le; }};\nevent {{ fields := {open}{close} }}; }};"
        )
    };
    assert!(with_schema(nested(32).as_bytes(), outline).is_ok());
    let error = with_schema(nested(33).as_bytes(), outline).unwrap_err();
    assert_eq!((error.element(), error.kind()), (element::TYPE, ErrorKind::TooDeep { limit: 32 }));
}

#[test]
fn blocks_stand_in_any_order() {
    let text = "event { name = e; stream_id = 2; id = 0; fields := struct { u8 a[env.n]; struct q b; }; };
        stream { id = 2; event.header := struct { u8 id; }; };
        typealias integer { size = 8; } := u8;";
    let rest = "env { n = 3; };
        trace { major = 1; minor = 8; byte_order = network; packet.header := struct { u8 stream_id; }; };";
    // A name is declared before it is used; all else may follow.
    let declared = format!("typealias integer {{ size = 8; }} := u8; struct q {{ u8 x; }};{text}{rest}");
    let error = with_schema(declared.as_bytes(), outline).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Repeated);
    let (front, _) = text.rsplit_once("typealias").unwrap();
    let right = format!("typealias integer {{ size = 8; }} := u8; struct q {{ u8 x; }};{front}{rest}");
    let (_, outline_found) = with_schema(right.as_bytes(), outline).unwrap();
    assert_eq!(outline_found, "stream 2 None; event 0 Some(\"e\") Some(2)");
    let late = format!("{text}{rest}");
    let error = with_schema(late.as_bytes(), outline).unwrap_err();
    assert_eq!((error.element(), error.kind()), (element::TYPE_NAME, ErrorKind::Undeclared));
}
