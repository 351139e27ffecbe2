//! Records told to a listener, beside the fields that the general reader gives.

use crate::common::lies_in;
use crate::common::told::{Checked, told};
use std::collections::{BTreeMap, HashSet};
use traceglass::ctf::data::{Packets, ProgramSlot, Programs, Record, Shares, Stream, Summary, Value, check};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{FieldKind, Node, Schema, Scope};
use traceglass::record::{self, Class, Head, Kind, Listener, Slot, Source, Step, Text, Wants, Wide};
use traceglass::{ErrorKind, Finding};

/// All that a listener is told, as text.
#[derive(Default)]
pub struct Tape {
    pub lines: Vec<String>,
    pub heads: Vec<Head>,
    begun: usize,
    /// The slots that each class has said it has.
    slots: BTreeMap<u32, HashSet<u32>>,
    class: u32,
}

impl Tape {
    fn say(&mut self, slot: Slot, text: &str) {
        assert!(self.slots[&self.class].contains(&slot.0), "{slot:?} is no field of its class: {text}");
        self.lines.push(format!("{} {text}", slot.0));
    }
}

impl Listener for Tape {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        assert_eq!(head.class, class.id());
        self.class = head.class.0;
        self.slots.entry(self.class).or_insert_with(|| {
            let (mut slots, mut open) = (HashSet::new(), 0_u32);
            class.fields(&mut |step| match step {
                Step::Scope(_) => open += 1,
                Step::Field(info) => {
                    slots.insert(info.slot.0);
                    open += u32::from(matches!(info.kind, Kind::Group | Kind::List));
                }
                Step::End => open -= 1,
                _ => {}
            });
            assert_eq!(open, 0, "what begins ends");
            slots
        });
        self.begun = self.lines.len();
        self.lines.push(format!("record at {}.{} of {}", head.offset, head.bit, class.name()));
        self.heads.push(*head);
        Wants::ALL
    }
    fn abandon(&mut self) {
        self.lines.truncate(self.begun);
        self.heads.pop();
    }
    fn scope(&mut self, scope: record::Scope) {
        self.lines.push(scope.name().unwrap().to_owned());
    }
    fn end_scope(&mut self) {
        self.lines.push("end".into());
    }
    fn group(&mut self, slot: Slot) {
        self.say(slot, "{");
    }
    fn end_group(&mut self) {
        self.lines.push("}".into());
    }
    fn list(&mut self, slot: Slot, len: Option<u64>) {
        self.say(slot, &format!("[{}", len.unwrap()));
    }
    fn end_list(&mut self) {
        self.lines.push("]".into());
    }
    fn unsigned(&mut self, slot: Slot, value: u64) {
        self.say(slot, &format!("u{value}"));
    }
    fn signed(&mut self, slot: Slot, value: i64) {
        self.say(slot, &format!("i{value}"));
    }
    fn wide(&mut self, slot: Slot, value: Wide<'_>) {
        self.say(slot, &format!("w{value}"));
    }
    fn boolean(&mut self, slot: Slot, value: bool) {
        self.say(slot, &format!("b{value}"));
    }
    fn float(&mut self, slot: Slot, value: f64) {
        self.say(slot, &format!("f{:x}", value.to_bits()));
    }
    fn text(&mut self, slot: Slot, value: Text<'_>) {
        self.say(slot, &format!("t{:?}", value.to_string()));
    }
    fn bytes(&mut self, slot: Slot, value: &[u8]) {
        self.say(slot, &format!("x{value:?}"));
    }
    fn absent(&mut self, slot: Slot) {
        self.say(slot, "-");
    }
}

/// The fields of a record by the general reader, in the same words.
fn slow(record: &Record<'_, '_, '_>, data: &[u8], lines: &mut Vec<String>) {
    let class = record.class();
    let name = class.to_string();
    let bit = record.packet().offset() * 8 + record.start();
    lines.push(format!("record at {}.{} of {name}", bit / 8, bit % 8));
    for (name, scope) in [
        ("header", Scope::EventHeader),
        ("common_context", Scope::CommonContext),
        ("specific_context", Scope::SpecificContext),
        ("payload", Scope::Payload),
    ] {
        let Some(fields) = record.fields(scope) else { continue };
        lines.push(name.into());
        let mut open = Vec::new();
        for field in fields {
            let field = field.unwrap();
            let class = field.class();
            let mut key = class.key();
            let said = match field.value() {
                Value::Unsigned(value) => format!("u{value}"),
                Value::Signed(value) => format!("i{value}"),
                Value::Boolean(value) => format!("b{value}"),
                Value::Bits(bits) => match bits.to_u64() {
                    Some(value) => format!("u{value}"),
                    None => format!("w{}", bits.to_u128().unwrap()),
                },
                Value::Wide(bits) => {
                    let (value, unused) = (bits.to_u128().unwrap(), 128 - bits.len());
                    match class.kind() {
                        FieldKind::Signed => format!("w{}", (value as i128) << unused >> unused),
                        _ => format!("w{value}"),
                    }
                }
                Value::Float(float) => format!("f{:x}", float.to_f64().unwrap().to_bits()),
                Value::Text(text) => format!("t{:?}", text.to_string()),
                Value::Blob(bytes) => {
                    assert!(lies_in(bytes, data));
                    format!("x{bytes:?}")
                }
                Value::Structure => {
                    open.push("}");
                    "{".into()
                }
                Value::Array(len) => {
                    open.push("]");
                    format!("[{len}")
                }
                Value::Optional(true) | Value::Variant(_) => {
                    open.push("");
                    continue;
                }
                Value::Optional(false) => {
                    let mut content = class;
                    while matches!(content.kind(), FieldKind::Optional | FieldKind::Variant) {
                        content = content.children().next().unwrap();
                    }
                    key = content.key();
                    "-".into()
                }
                Value::End => {
                    let end = open.pop().unwrap();
                    lines.extend((!end.is_empty()).then(|| end.to_owned()));
                    continue;
                }
                other => panic!("{other:?}"),
            };
            lines.push(format!("{key} {said}"));
        }
        lines.push("end".into());
    }
}

/// The steps of a schema.
pub fn slots(schema: &Schema<'_, '_>) -> Vec<ProgramSlot> {
    vec![ProgramSlot::EMPTY; usize::try_from(Programs::needed(schema)).unwrap()]
}

/// Tells all records of a stream, and reads them in the general way: both say the same, and meet the same errors.
/// Returns how many there are, if all classes have steps.
pub fn compare(data: &[u8], schema: &Schema<'_, '_>, what: &str) -> u64 {
    let mut slots = slots(schema);
    let programs = Programs::compile(schema, &mut slots).unwrap();
    let mut stream = Stream::new(Packets::new(data, schema), programs);
    let (mut tape, mut errors) = (Tape::default(), Vec::new());
    let mut ends = Vec::new();
    // Each peek goes forward or meets an error.
    loop {
        match stream.peek() {
            Ok(None) => break,
            Ok(Some(head)) => {
                let head = *head;
                assert_eq!(stream.peek().unwrap(), Some(&head), "{what}: looking does not go on");
                match stream.tell(&mut tape) {
                    Ok(()) => {
                        let record = stream.record().unwrap();
                        assert_eq!(record.offset(), head.offset, "{what}");
                        ends.push((record.start(), record.end(), record.nanoseconds()));
                    }
                    Err(error) => errors.push(error),
                }
            }
            Err(error) => errors.push(error),
        }
    }
    assert!(matches!(stream.peek(), Ok(None)));
    // The rules of listeners hold.
    let mut checked = Checked::default();
    let mut stream = Stream::new(Packets::new(data, schema), programs);
    while let Ok(Some(_)) | Err(_) = stream.peek() {
        if stream.head().is_some() {
            let _ = stream.tell(&mut checked);
        }
    }
    assert_eq!(checked.lines.len(), tape.heads.len(), "{what}");
    for packet in Packets::new(data, schema).map_while(Result::ok) {
        told(&packet).unwrap();
    }
    let (mut lines, mut expected_errors, mut expected_ends) = (Vec::new(), Vec::new(), Vec::new());
    for packet in Packets::new(data, schema) {
        match packet {
            Err(error) => expected_errors.push(error),
            Ok(packet) => {
                for record in packet.records() {
                    match record {
                        Ok(record) => {
                            slow(&record, data, &mut lines);
                            expected_ends.push((record.start(), record.end(), record.nanoseconds()));
                        }
                        Err(error) => expected_errors.push(error),
                    }
                }
            }
        }
    }
    let differ = tape.lines.iter().zip(&lines).position(|(told, read)| told != read);
    let at = differ.unwrap_or(tape.lines.len().min(lines.len()));
    assert_eq!(tape.lines.get(at), lines.get(at), "line {at}: {what}");
    assert_eq!(ends, expected_ends, "{what}");
    assert_eq!(errors, expected_errors, "{what}");
    let [by_steps, in_general] = [programs, Programs::NONE].map(|programs| {
        let mut findings = Vec::new();
        let summary = check(data, schema, programs, &mut |finding| findings.push(finding));
        (summary, findings)
    });
    assert_eq!(by_steps, in_general, "{what}");
    for size in [1, 100, 1 << 20] {
        assert_eq!(by_shares(data, schema, programs, size), in_general, "shares of {size} bytes, {what}");
    }
    let times: Vec<_> = tape.heads.iter().map(|head| head.time.map(record::Time::ns)).collect();
    assert_eq!(times, ends.iter().map(|end| end.2).collect::<Vec<_>>(), "{what}");
    if programs.classes_with_steps()
        == schema.stream_classes().flat_map(|of| of.event_classes()).count() as u64
    {
        ends.len() as u64
    } else {
        0
    }
}

/// The report of [`check`], put together of shares that were checked without knowing of each other.
pub fn by_shares(
    data: &[u8],
    schema: &Schema<'_, '_>,
    programs: Programs<'_>,
    size: u64,
) -> (Summary, Vec<Finding>) {
    let (mut sum, mut all, mut last) = ([0; 4], Vec::new(), None);
    for share in Shares::new(Packets::new(data, schema), size) {
        let mut findings = Vec::new();
        let checked = share.check(programs, None, &mut |finding| findings.push(finding));
        if let Some((at, finding)) = checked.seam(last) {
            findings.insert(at as usize, finding);
        }
        let mut anew = Vec::new();
        let with_last = share.check(programs, last, &mut |finding| anew.push(finding));
        assert_eq!((&anew, with_last.last()), (&findings, checked.last().or(last)));
        all.append(&mut findings);
        let of = checked.summary();
        let counts = [of.packets(), of.records(), of.lost_packets(), of.lost_records()];
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        last = checked.last().or(last);
    }
    let whole = check(data, schema, programs, &mut |_| {});
    let of_whole = [whole.packets(), whole.records(), whole.lost_packets(), whole.lost_records()];
    assert_eq!(sum, of_whole);
    (whole, all)
}

/// Reads a trace of one class of records in both ways: what is told of each, and what cannot be read.
fn lines(metadata: &str, data: &[u8]) -> (Vec<String>, Vec<traceglass::Error>) {
    let stream = MetadataStream::parse(metadata.as_bytes()).unwrap();
    let mut nodes = vec![Node::EMPTY; Schema::needed(&stream).unwrap() as usize];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    compare(data, &schema, metadata);
    let mut slots = slots(&schema);
    let mut stream =
        Stream::new(Packets::new(data, &schema), Programs::compile(&schema, &mut slots).unwrap());
    let (mut checked, mut errors) = (Checked::default(), Vec::new());
    loop {
        match stream.peek() {
            Ok(None) => return (checked.lines, errors),
            Ok(Some(_)) => errors.extend(stream.tell(&mut checked).err()),
            Err(error) => errors.push(error),
        }
    }
}

const PREAMBLE: &str = "\x1e{\"type\": \"preamble\", \"version\": 2}";

/// A trace with this payload and nothing else.
fn payload(members: &str) -> String {
    format!(
        "{PREAMBLE}\x1e{{\"type\": \"data-stream-class\"}}\x1e{{\"type\": \"event-record-class\", \
         \"payload-field-class\": {{\"type\": \"structure\", \"member-classes\": [{members}]}}}}"
    )
}

fn unsigned(bits: u32, more: &str) -> String {
    let kind = "fixed-length-unsigned-integer";
    format!("{{\"type\": \"{kind}\", \"length\": {bits}, \"byte-order\": \"little-endian\"{more}}}")
}

/// As LTTng writes on processors that want natural alignment: the time is aligned more than the header that it is in, so
/// that its place in the header differs from record to record.
#[test]
fn a_time_that_is_aligned_more_than_its_header() {
    let (short, long) = (
        unsigned(16, ", \"alignment\": 16, \"roles\": [\"event-record-class-id\"]"),
        unsigned(32, ", \"alignment\": 32, \"roles\": [\"default-clock-timestamp\"]"),
    );
    let header = format!(
        "{{\"type\": \"structure\", \"member-classes\": [{{\"name\": \"id\", \"field-class\": {short}}}, \
         {{\"name\": \"v\", \"field-class\": {{\"type\": \"variant\", \
         \"selector-field-location\": {{\"path\": [\"id\"]}}, \"options\": [{{\"selector-field-ranges\": [[0, 65534]], \
         \"field-class\": {{\"type\": \"structure\", \"member-classes\": [{{\"name\": \"t\", \"field-class\": {long}}}]}}}}]}}}}]}}"
    );
    let metadata = format!(
        "{PREAMBLE}\x1e{{\"type\": \"clock-class\", \"id\": \"c\", \"frequency\": 1000000000}}\
         \x1e{{\"type\": \"data-stream-class\", \"default-clock-class-id\": \"c\", \
         \"event-record-header-field-class\": {header}}}\x1e{{\"type\": \"event-record-class\", \"id\": 1, \"name\": \"e\", \
         \"payload-field-class\": {{\"type\": \"structure\", \"member-classes\": [{{\"name\": \"x\", \"field-class\": {}}}]}}}}",
        unsigned(8, "")
    );
    let mut data = vec![1, 0, 0xee, 0xee]; // id, two bytes before the time
    data.extend(1000_u32.to_le_bytes());
    data.extend([7, 0xee]); //                x, and a byte before the next header
    data.extend([1, 0]); //                   id: the time follows at once
    data.extend(2000_u32.to_le_bytes());
    data.extend([8, 0xee]); //                x, and a byte before the next header
    // At the time of the second record, if the first one's place held for all, there are bytes, too.
    data.extend([1, 0]);
    data.extend(3000_u32.to_le_bytes());
    data.push(9);
    let (lines, errors) = lines(&metadata, &data);
    assert_eq!(errors, []);
    assert_eq!(
        lines,
        [
            "e @1000 { id=1 v={ t=1000}} { x=7}",
            "e @2000 { id=1 v={ t=2000}} { x=8}",
            "e @3000 { id=1 v={ t=3000}} { x=9}"
        ]
    );
}

#[test]
fn integers_of_variable_length_have_no_more_than_64_bits() {
    let metadata =
        payload("{\"name\": \"n\", \"field-class\": {\"type\": \"variable-length-unsigned-integer\"}}");
    let number = |tail: &[u8]| [&[0x81][..], &[0x80; 9], tail].concat();
    // Redundant groups are fine; any bit above 64 is not, whatever follows it.
    assert_eq!(lines(&metadata, &number(&[0x80, 0])).0, ["event 0 { n=1}"]);
    for tail in [&[1][..], &[0x81, 0], &[0x80, 1]] {
        let (lines, errors) = lines(&metadata, &number(tail));
        assert_eq!((lines.len(), errors.len()), (0, 1));
        assert_eq!((errors[0].offset(), errors[0].kind()), (0, ErrorKind::IntegerTooWide { bits: 64 }));
    }
    let metadata = metadata.replace("unsigned", "signed");
    let number = |last: u8| [&[0xff][..], &[0xff; 8], &[last]].concat();
    assert_eq!(lines(&metadata, &[number(0xff), vec![0x7f]].concat()).0, ["event 0 { n=-1}"]);
    assert_eq!(lines(&metadata, &[number(0xff), vec![0x3f]].concat()).1.len(), 1);
}

/// A length of 128 bits is one if its value has 64, with its sign.
#[test]
fn wide_lengths_keep_their_sign() {
    let kind = "fixed-length-signed-integer";
    let key = format!("{{\"type\": \"{kind}\", \"length\": 128, \"byte-order\": \"little-endian\"}}");
    let metadata = payload(&format!(
        "{{\"name\": \"k\", \"field-class\": {key}}}, {{\"name\": \"o\", \"field-class\": {{\"type\": \"optional\", \
         \"selector-field-location\": {{\"path\": [\"k\"]}}, \"selector-field-ranges\": [[-9, -1]], \"field-class\": {}}}}}",
        unsigned(8, "")
    ));
    let data = |key: i128| [&key.to_le_bytes()[..], &[5]].concat();
    assert_eq!(lines(&metadata, &data(-3)).0, ["event 0 { k=-3 o=5}"]);
    assert_eq!(lines(&metadata, &data(4)[..16]).0, ["event 0 { k=4 o=-}"]);
    // 2⁶⁴ - 1 is no -1.
    let (lines, errors) = lines(&metadata, &data(i128::from(u64::MAX)));
    assert_eq!((lines.len(), errors[0].kind()), (0, ErrorKind::IntegerTooWide { bits: 64 }));
}

/// Integers of any width are told with their sign: in words up to a width, then as digits.
#[test]
fn wide_integers_keep_their_sign() {
    for bits in [65_u32, 100, 128, 192, 1024, 1032] {
        let bytes = bits.div_ceil(8) as usize;
        let metadata = payload(&format!("{{\"name\": \"w\", \"field-class\": {}}}", unsigned(bits, "")));
        let metadata = metadata.replace("unsigned", "signed");
        let stream = MetadataStream::parse(metadata.as_bytes()).unwrap();
        let mut nodes = vec![Node::EMPTY; Schema::needed(&stream).unwrap() as usize];
        let schema = Schema::compile(&stream, &mut nodes).unwrap();
        let data = vec![0xff; bytes];
        let packet = Packets::new(&data, &schema).next().unwrap().unwrap();
        let record = packet.records().next().unwrap().unwrap();
        let all = match bits {
            0..=128 => "-1".to_owned(),
            129..=1024 => format!("0x{}", "ff".repeat(bytes)),
            _ => format!("0x{:0>16}{}", "ff", "ff".repeat(bytes - 1)),
        };
        let said = told(&record).unwrap().unwrap();
        assert_eq!(said.replace('"', ""), format!("event 0 {{ w={all}}}"), "{bits}");
    }
}

/// Too little room is told, and asking again with that much works.
#[test]
fn room_for_programs_is_asked_for() {
    let text = crate::samples::sample();
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = vec![Node::EMPTY; Schema::needed(&stream).unwrap() as usize];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    let needed = Programs::needed(&schema);
    let mut slots = slots(&schema);
    assert!(Programs::compile(&schema, &mut slots).is_ok());
    for capacity in 0..needed {
        let error = Programs::compile(&schema, &mut slots[..capacity as usize]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity, needed });
    }
}
