//! Records told to a listener, beside the fields that the general reader gives.

use crate::common::lies_in;
use std::collections::{BTreeMap, HashSet};
use traceglass::ctf::data::{Packets, ProgramSlot, Programs, Record, Stream, Value, check};
use traceglass::ctf::schema::{FieldKind, Schema, Scope};
use traceglass::record::{self, Class, Head, Kind, Listener, Slot, Source, Step, Text, Wants, Wide};

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

/// What the general reader says of a record, in the same words.
fn slow(record: &Record<'_, '_, '_>, data: &[u8], lines: &mut Vec<String>) {
    let class = record.class();
    let name = class.name().map_or_else(|| format!("#{}", class.id()), |name| name.to_string());
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
