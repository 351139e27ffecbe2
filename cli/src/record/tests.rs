//! Records of each kind of value, as text and as JSON.

use super::text::Text;
use super::{Buffer, Json, Place};
use std::fmt::Display;
use traceglass::record::{
    self, Class, ClassId, EachLabel, Fact, FieldInfo, Fixed, FixedClass, Head, Hint, Kind, Listener, Record,
    Scope, Slot, Step, Time, Wants, Wide,
};

const NUMBER: Kind = Kind::Unsigned { bits: 64 };
const STATES: EachLabel<'static> = &|each| {
    each(&"IDLE", 0, 0);
    each(&"BUSY\x1b", 1, 9);
    each(&"HOT", 5, 5);
};
static ALL: Fixed = Fixed::new(
    "al\u{1b}l",
    &[
        FieldInfo::new(&"count", NUMBER),
        FieldInfo::new(&"hash", NUMBER).hint(Hint::Address),
        FieldInfo::new(&"state", NUMBER).labels(STATES),
        FieldInfo::new(&"owner", NUMBER).labels(STATES).hint(Hint::Label),
        FieldInfo::new(&"flags", Kind::Flags { bits: 8 }).labels(STATES),
        FieldInfo::new(&"delta", Kind::Signed { bits: 64 }),
        FieldInfo::new(&"wide", Kind::Signed { bits: 100 }).labels(STATES),
        FieldInfo::new(&"wider", Kind::Unsigned { bits: 192 }),
        FieldInfo::new(&"ok", Kind::Boolean),
        FieldInfo::new(&"ratio", Kind::Float { bits: 64 }),
        FieldInfo::new(&"text", Kind::Text),
        FieldInfo::new(&"raw", Kind::Bytes),
        FieldInfo::new(&"none", NUMBER),
        FieldInfo::new(&"list", Kind::List),
        FieldInfo::unnamed(NUMBER),
        Fixed::END,
        FieldInfo::new(&"group", Kind::Group),
        FieldInfo::new(&"span", NUMBER).hint(Hint::Duration),
        Fixed::END,
        FieldInfo::new(&"map", Kind::Map),
        FieldInfo::unnamed(Kind::Any),
        Fixed::END,
    ],
);

/// A record of all kinds of values; its number makes each differ, and it may break off.
struct All<'t> {
    number: u64,
    text: record::Text<'t>,
    breaks: bool,
}

impl Record for All<'_> {
    fn tell<L: Listener>(&self, to: &mut L) -> traceglass::Result<()> {
        let class = FixedClass::new(1, &ALL);
        let time = Some(Time::since_epoch(1_500_000_000_000_000_007));
        let wants = to.begin(&class.head(time, self.number), &class);
        if wants.has(Scope::Fields) {
            let number = self.number;
            to.scope(Scope::Fields);
            (0..5).for_each(|place| to.unsigned(class.slot(place), number));
            to.signed(class.slot(5), -number.cast_signed());
            let words = [1, 2, number];
            to.wide(class.slot(6), Wide { low: u128::from(number), words: &[], is_signed: true });
            to.wide(class.slot(7), Wide { low: 1 | 2 << 64, words: &words, is_signed: false });
            to.boolean(class.slot(8), number > 0);
            to.float(class.slot(9), 0.5);
            to.text(class.slot(10), self.text);
            to.bytes(class.slot(11), &[0xde, 0xad]);
            to.absent(class.slot(12));
            to.list(class.slot(13), Some(2));
            to.unsigned(class.slot(14), 1);
            to.absent(class.slot(14));
            to.end_list();
            to.group(class.slot(16));
            to.unsigned(class.slot(17), 1_500);
            to.end_group();
            to.group(class.slot(19));
            to.key(record::Text::new("a\"b"));
            to.text(class.slot(20), self.text);
            to.key(record::Text::new("c"));
            to.unsigned(class.slot(20), 2);
            to.end_group();
            if self.breaks {
                to.abandon();
                return Ok(());
            }
            to.end_scope();
        }
        to.end();
        Ok(())
    }
}

fn both() -> (String, String) {
    let (mut text, mut json) = (Text::new(false), Json::default());
    text.set_place("cpu_0\x1b");
    let place = Place { json: br#","path":"a""#.to_vec(), ..Place::default() };
    json.set_place(&place.json);
    let show = |buffer: &Buffer| String::from_utf8(buffer.text().to_vec()).unwrap();
    let all = |number, text, breaks| All { number, text, breaks };
    for one in [
        all(5, record::Text::new("x"), false),
        all(0, record::Text::Utf8(b"\xff"), true),
        all(77, record::Text::Utf8(b"\"\xff"), false),
    ] {
        one.tell(&mut text).unwrap();
        one.tell(&mut json).unwrap();
    }
    (show(&text.buffer), show(&json.buffer))
}

#[test]
fn each_kind_of_value_has_its_form() {
    let (text, json) = both();
    assert_eq!(
        text,
        "2017-07-14T02:40:00.000000007Z  cpu_0\\u{1b}  al\\u{1b}l  count=5 hash=0x5 state=5(BUSY\\u{1b}|HOT) \
         owner=BUSY\\u{1b}|HOT flags=0x5(IDLE|BUSY\\u{1b}) delta=-5 wide=5(BUSY\\u{1b}|HOT) \
         wider=0x500000000000000020000000000000001 ok=true ratio=0.5 text=\"x\" raw=dead list=[1 -] \
         group={span=1.500 µs} map={a\"b=\"x\" c=2}\n\
         2017-07-14T02:40:00.000000007Z  cpu_0\\u{1b}  al\\u{1b}l  count=77 hash=0x4d state=77 owner=77 \
         flags=0x4d(IDLE|BUSY\\u{1b}) delta=-77 wide=77 wider=0x4d00000000000000020000000000000001 ok=true ratio=0.5 \
         text=\"\\\"\u{fffd}\" raw=dead list=[1 -] group={span=1.500 µs} map={a\"b=\"\\\"\u{fffd}\" c=2}\n"
    );
    let lines: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = serde_json::json!({
        "kind": "al\u{1b}l", "path": "a", "offset": 5, "time_ns": 1_500_000_000_000_000_007_i64,
        "time": "2017-07-14T02:40:00.000000007Z", "clock": null,
        "count": 5, "hash": "0x5", "state": 5, "state_labels": ["BUSY\u{1b}", "HOT"], "owner": "BUSY\u{1b}|HOT",
        "flags": 5, "flags_labels": ["IDLE", "BUSY\u{1b}"], "delta": -5, "wide": "5",
        "wide_labels": ["BUSY\u{1b}", "HOT"], "wider": "0x500000000000000020000000000000001", "ok": true,
        "ratio": 0.5, "text": "x", "raw": "dead", "none": null, "list": [1, null], "group": {"span": 1500},
        "map": {"a\"b": "x", "c": 2},
    });
    assert_eq!(&lines[0], &expected);
    // `serde` says the same, but for what the command adds.
    let text = record::Text::new("x");
    let told = record::Told::of(&All { number: 5, text, breaks: false }).unwrap();
    let mut without = expected;
    for name in ["path", "time"] {
        without.as_object_mut().unwrap().remove(name);
    }
    assert_eq!(serde_json::to_value(&told).unwrap(), without);
    assert_eq!((told.name(), told.names().count(), told.names().last()), ("al\u{1b}l", 16, Some("map")));
    assert!(json.starts_with("{\"kind\":\"al\\u001bl\",\"path\":\"a\",\"offset\":5,\"time_ns\""), "{json}");
    assert_eq!(lines.len(), 2);
    let odd = &lines[1];
    assert_eq!((&odd["text"], &odd["text_hex"]), (&serde_json::Value::Null, &"22ff".into()));
    let text = record::Text::Utf8(b"\"\xff");
    let told = record::Told::of(&All { number: 77, text, breaks: false }).unwrap();
    let mut without = odd.clone();
    for name in ["path", "time"] {
        without.as_object_mut().unwrap().remove(name);
    }
    assert_eq!(serde_json::to_value(&told).unwrap(), without);
    assert_eq!(odd["map"], serde_json::json!({"a\"b": null, "a\"b_hex": "22ff", "c": 2}));
    assert_eq!((odd.get("state_labels"), &odd["owner"]), (None, &77.into()));
}

/// A class with scopes, of which a record tells some.
struct Scoped;

impl Class for Scoped {
    fn id(&self) -> ClassId {
        ClassId(0)
    }
    fn name(&self) -> &dyn Display {
        &"sched"
    }
    fn clock(&self) -> Option<&dyn Display> {
        Some(&"mono")
    }
    fn facts(&self, each: &mut dyn FnMut(&'static str, Fact<'_>)) {
        each("kind", Fact::Text(&"event"));
        each("namespace", Fact::Absent);
        each("id", Fact::Number(7));
    }
    fn fields(&self, each: &mut dyn FnMut(Step<'_>)) {
        for (scope, slot) in [(Scope::Header, 0), (Scope::SpecificContext, 1), (Scope::Payload, 2)] {
            each(Step::Scope(scope));
            each(Step::Field(FieldInfo { slot: Slot(slot), ..FieldInfo::new(&"a", NUMBER) }));
            each(Step::End);
        }
    }
}

struct InScopes;

impl Record for InScopes {
    fn tell<L: Listener>(&self, to: &mut L) -> traceglass::Result<()> {
        let head =
            Head { class: ClassId(0), time: Some(Time::since_origin(-1)), offset: 9, bit: 3, len: Some(2) };
        let wants = to.begin(&head, &Scoped);
        for (scope, slot) in [(Scope::Header, 0), (Scope::SpecificContext, 1), (Scope::Payload, 2)] {
            if wants.has(scope) {
                to.scope(scope);
                to.unsigned(Slot(slot), slot.into());
                to.end_scope();
            }
        }
        to.end();
        Ok(())
    }
}

#[test]
fn scopes_are_objects_or_braces() {
    let (mut text, mut json) = (Text::new(false), Json::default());
    InScopes.tell(&mut text).unwrap();
    InScopes.tell(&mut json).unwrap();
    assert_eq!(text.buffer.text(), b"        -0.000000001  sched  {a=1}  a=2\n");
    assert_eq!(
        std::str::from_utf8(json.buffer.text()).unwrap(),
        "{\"kind\":\"event\",\"offset\":9,\"bit\":3,\"len\":2,\"time_ns\":-1,\"time\":null,\"clock\":\"mono\",\
         \"namespace\":null,\"id\":7,\"header\":{\"a\":0},\"common_context\":null,\"specific_context\":{\"a\":1},\
         \"payload\":{\"a\":2}}\n"
    );
}

/// Every second and every fraction as the slow way has it.
#[test]
fn times_are_those_of_stamps() {
    let seconds =
        [0, 1, 59, 1_500_000_000, 253_402_300_799, 253_402_300_800, 9_223_372_035, 9_223_372_037, -1];
    for ns in
        seconds.iter().flat_map(|second| [second * 1_000_000_000_i128, second * 1_000_000_000 + 123_456_789])
    {
        for time in [Time::since_epoch(ns), Time::since_origin(ns)] {
            let (mut text, mut json) = (Text::new(false), Json::default());
            for _ in 0..2 {
                let class = FixedClass::new(1, &ALL);
                let tell = |to: &mut dyn FnMut(&Head)| to(&class.head(Some(time), 0));
                tell(&mut |head| {
                    text.begin(head, &class);
                });
                text.end();
                tell(&mut |head| {
                    assert_eq!(json.begin(head, &class), Wants::ALL);
                });
                json.end();
            }
            let mut shown = String::new();
            crate::trace::Stamps::default().push(&mut shown, ns, time.is_absolute());
            let line = format!("{shown:>20}  al\\u{{1b}}l\n");
            assert_eq!(std::str::from_utf8(text.buffer.text()).unwrap(), line.repeat(2));
            for line in std::str::from_utf8(json.buffer.text()).unwrap().lines() {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                assert_eq!(line["time_ns"], crate::trace::time_json(Some(ns)));
                let date = crate::trace::rfc3339(ns).filter(|_| time.is_absolute());
                assert_eq!(line["time"], serde_json::to_value(date).unwrap());
            }
        }
    }
}
