//! A recording's file as it was written, then damaged at one place: what precedes is delivered as it was, and text that
//! is not UTF-8 costs the item that it is in, and no more.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/common/rfr.rs"]
mod build;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use traceglass::rfr::{Callsites, Chunk, Directory, DirectoryEntry, Item, StreamData, Streaming};
use traceglass::{Error, ErrorKind, Severity};
use traceglass_fuzz::damage::{Damage, Damaged};
use traceglass_fuzz::rfr::{describe, describe_field, describe_object};
use traceglass_fuzz::{found, lies_in, located_in};

#[derive(Arbitrary, Debug)]
struct Recipe {
    file: File,
    damage: Damage,
    /// True if a text is made invalid UTF-8 instead of applying the damage.
    not_text: bool,
}

#[derive(Arbitrary, Debug)]
enum File {
    Chunk { base: u64, sequences: Vec<Sequence> },
    Callsites(Vec<Place>),
    Streaming(Vec<(u64, u32, Data)>),
}

#[derive(Arbitrary, Debug)]
struct Sequence {
    id: u64,
    things: Vec<Thing>,
    records: Vec<(u64, Data)>,
}

#[derive(Arbitrary, Debug)]
enum Thing {
    Span { iid: u64, callsite: u64, parent: Above, values: Vec<Value>, fields: Vec<(String, Value)> },
    Task { iid: u64, callsite: u64, id: u64, name: String, kind: Kind, context: Option<u64> },
}

#[derive(Arbitrary, Debug)]
enum Kind {
    Known(u8),
    Other(String),
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Above {
    Current,
    Root,
    Explicit(u64),
}

#[derive(Arbitrary, Debug)]
enum Data {
    /// A kind from 0 to 12, except those of events and wakers.
    About {
        kind: u8,
        iid: u64,
    },
    Waker {
        kind: u8,
        task: u64,
        context: Option<u64>,
    },
    Event {
        callsite: u64,
        parent: Above,
        values: Vec<Value>,
        fields: Vec<(String, Value)>,
    },
}

#[derive(Arbitrary, Debug)]
enum Value {
    F64(f64),
    I64(i64),
    U64(u64),
    I128(i128),
    U128(u128),
    Bool(bool),
    Str(String),
}

#[derive(Arbitrary, Debug)]
struct Place {
    id: u64,
    level: u8,
    is_event: bool,
    fields: Vec<(String, Value)>,
    names: Vec<String>,
}

/// The text of what was read, and the offset of its end.
#[derive(Clone, Debug, PartialEq)]
struct Read {
    end: usize,
    said: String,
}

/// The largest number of sequences, objects, fields and so on that a recipe makes.
const MOST: usize = 8;

fuzz_target!(|recipe: Recipe| {
    let (whole, written) = recipe.file.write();
    let mut texts = Vec::new();
    let (all, error) = recipe.file.read(&whole, false, &mut texts);
    assert_eq!(error, Vec::new());
    let said: Vec<&String> = all.iter().map(|read| &read.said).collect();
    assert_eq!(said, written.iter().collect::<Vec<_>>());
    if recipe.not_text {
        let Some(&at) = texts.get(usize::from(recipe.damage.byte()) * texts.len() / 256) else { return };
        recipe.file.without_text(&whole, at, &all);
        return;
    }
    let marks: Vec<usize> = all.iter().map(|read| read.end).chain(texts).collect();
    let damaged = recipe.damage.apply(&whole, &marks);
    recipe.file.damaged(&damaged, &all, recipe.damage.is_cut());
});

impl File {
    /// The file, and what it says.
    fn write(&self) -> (Vec<u8>, Vec<String>) {
        let mut said = Vec::new();
        let file = match self {
            Self::Chunk { base, sequences } => {
                let mut chunk = build::Chunk::new(base % (1 << 40));
                for sequence in sequences.iter().take(MOST) {
                    let things = &sequence.things[..sequence.things.len().min(MOST)];
                    let records = &sequence.records[..sequence.records.len().min(2 * MOST)];
                    said.push(format!("sequence {} of {}", sequence.id, things.len()));
                    let mut written = build::Sequence::new(sequence.id);
                    for thing in things {
                        let (kind, writer, line) = thing.write();
                        written = written.object(kind, &writer);
                        said.push(line);
                    }
                    for (time, data) in records {
                        let (kind, writer, line) = data.write();
                        written = written.record(*time, kind, &writer);
                        said.push(format!("{time} {line}"));
                    }
                    chunk = chunk.sequence(written);
                }
                chunk.bytes()
            }
            Self::Callsites(places) => {
                let written = places.iter().take(MOST).map(|place| {
                    let (writer, line) = place.write();
                    said.push(line);
                    writer
                });
                build::callsites(&written.collect::<Vec<_>>())
            }
            Self::Streaming(records) => {
                let written = records.iter().take(2 * MOST).map(|(secs, micros, data)| {
                    let (kind, writer, line) = data.write();
                    said.push(format!("{secs} {micros} {line}"));
                    // In a stream, four kinds come first, and that of an event among them.
                    let kind = match kind {
                        4 => 3,
                        0..=3 => kind + 5,
                        _ => kind + 4,
                    };
                    (*secs, *micros, kind, writer)
                });
                build::stream(&written.collect::<Vec<_>>())
            }
        };
        (file, said)
    }

    /// All that is in the file, the errors, and where texts begin; after an error, it goes on if that can be.
    fn read(&self, data: &[u8], resumes: bool, texts: &mut Vec<usize>) -> (Vec<Read>, Vec<Error>) {
        let (mut all, mut errors) = (Vec::new(), Vec::new());
        let mut text = |text: &str| {
            lies_in(text.as_bytes(), data);
            if !text.is_empty() {
                texts.push(text.as_ptr() as usize - data.as_ptr() as usize);
            }
        };
        macro_rules! read_all {
            ($parsed:expr, $iterator:ident, $describe:expr) => {
                match $parsed {
                    Err(error) => errors.push(error),
                    Ok(mut iterator) => loop {
                        match iterator.next() {
                            Some(Ok(item)) => {
                                let said = $describe(&item);
                                all.push(Read { end: iterator.offset() as usize, said });
                            }
                            Some(Err(error)) => {
                                errors.push(error);
                                assert!(iterator.next().is_none(), "something after an error");
                                if !resumes || iterator.recover().is_none() {
                                    break;
                                }
                            }
                            None => break,
                        }
                        assert!(all.len() + errors.len() <= data.len(), "more items than bytes");
                    },
                }
            };
        }
        match self {
            Self::Chunk { .. } => {
                read_all!(Chunk::parse(data).map(|chunk| chunk.items()), items, |item: &Item<'_>| {
                    match item {
                        Item::Sequence(header) => {
                            format!("sequence {} of {}", header.seq_id(), header.object_count())
                        }
                        Item::Object(object) => describe_object(object, &mut text),
                        Item::Record(record) => {
                            format!("{} {}", record.micros(), describe(&record.data(), &mut text))
                        }
                        item => panic!("{item:?}"),
                    }
                })
            }
            Self::Callsites(_) => {
                read_all!(Callsites::parse(data), callsites, |callsite: &traceglass::rfr::Callsite<'_>| {
                    let mut line = format!(
                        "{} {} {}:",
                        callsite.id(),
                        callsite.level().number(),
                        callsite.kind().name()
                    );
                    for field in callsite.const_fields() {
                        line += &describe_field(&field, &mut text);
                    }
                    for name in callsite.split_field_names() {
                        text(name);
                        line += &format!(" {name:?}");
                    }
                    line
                })
            }
            Self::Streaming(_) => read_all!(
                Streaming::parse(data).map(|stream| stream.records()),
                records,
                |record: &traceglass::rfr::StreamRecord<'_>| {
                    let time = format!("{} {}", record.secs(), record.subsec_micros());
                    match record.data() {
                        StreamData::Record(data) => format!("{time} {}", describe(&data, &mut text)),
                        _ => format!("{time} another kind: {}", record.kind().name()),
                    }
                }
            ),
        }
        for error in &errors {
            located_in(error, data);
        }
        (all, errors)
    }

    fn damaged(&self, damaged: &Damaged, all: &[Read], is_cut: bool) {
        let data = &damaged.data[..];
        let (read, errors) = self.read(data, false, &mut Vec::new());
        let before: Vec<&Read> = all.iter().take_while(|read| read.end <= damaged.start).collect();
        assert!(read.len() >= before.len() && read.iter().zip(&before).all(|(a, b)| a == *b));
        let proven = before.last().map_or(0, |last| last.end);
        if let Some(error) = errors.first() {
            // No item before the damage is blamed.
            assert!(error.offset() as usize >= proven, "{error}");
        }
        if is_cut {
            assert_eq!(read.len(), before.len());
            // A file without counts may end where an item does, or after its identifier.
            let identifier = data.first().map_or(1, |len| 1 + usize::from(*len));
            let is_counted = matches!(self, Self::Chunk { .. });
            let is_whole = damaged.is_none() || !is_counted && data.len() == proven.max(identifier);
            assert_eq!(errors.first().map(Error::is_truncation), (!is_whole).then_some(true));
        }
        if let Self::Chunk { .. } = self {
            let Ok(chunk) = Chunk::parse(data) else { return };
            let mut reported = 0;
            chunk
                .check(&mut |finding| {
                    found(&finding);
                    reported += u32::from(finding.severity() == Severity::Error);
                })
                .unwrap();
            assert!(reported > 0 || errors.is_empty());
            // Sequences whose end precedes the damage are found at once, too.
            let mut entries = vec![DirectoryEntry::EMPTY; chunk.sequence_count_max().min(1000) as usize];
            if let Ok(directory) = Directory::build(&chunk, &mut entries) {
                let count = before.iter().filter(|read| read.said.starts_with("sequence")).count();
                assert!(directory.entries().len() >= count);
            }
        }
    }

    /// A text at `at` becomes one that is not UTF-8.
    fn without_text(&self, whole: &[u8], at: usize, all: &[Read]) {
        let damaged = Damage::fill(whole, at..at + 1, 0xff);
        let (read, errors) = self.read(&damaged.data, true, &mut Vec::new());
        let [error] = errors[..] else { panic!("{errors:?}") };
        assert_eq!(error.kind(), ErrorKind::NotUtf8);
        // It is located at the length in front of the text.
        let before = all.iter().take_while(|read| read.end <= at).last().map_or(0, |last| last.end);
        assert!((before..at).contains(&(error.offset() as usize)), "{error}");
        let expected: Vec<&Read> = all
            .iter()
            .enumerate()
            .filter(|(number, read)| {
                let start = number.checked_sub(1).map_or(0, |before| all[before].end);
                !(start..read.end).contains(&at)
            })
            .map(|(_, read)| read)
            .collect();
        assert_eq!(read.iter().collect::<Vec<_>>(), expected, "more is lost than what is damaged");
    }
}

impl Thing {
    fn write(&self) -> (u32, build::Writer, String) {
        match self {
            Self::Span { iid, callsite, parent, values, fields } => {
                let (values, fields) = (most(values), most(fields));
                let line = format!("span {iid} {callsite} {parent:?}:{}", lines(values, fields));
                let writer = build::span(
                    *iid,
                    *callsite,
                    parent.write(),
                    &write_values(values),
                    &write_fields(fields),
                );
                (0, writer, line)
            }
            Self::Task { iid, callsite, id, name, kind, context } => {
                let name = short(name);
                let (kind, kind_name) = match kind {
                    Kind::Known(number) => {
                        let number = usize::from(number % 4);
                        (Ok(number as u32), number.to_string())
                    }
                    Kind::Other(name) => (Err(short(name)), format!("{:?}", short(name))),
                };
                let line = format!("task {iid} {callsite} {id} {name:?} {kind_name} {context:?}");
                (1, build::task(*iid, *callsite, *id, name, kind, *context), line)
            }
        }
    }
}

impl Data {
    fn write(&self) -> (u32, build::Writer, String) {
        match self {
            Self::About { kind, iid } => {
                // Neither 4, an event, nor 9 to 12, wakers.
                let kind = [0, 1, 2, 3, 5, 6, 7, 8][usize::from(kind % 8)];
                (kind, build::Writer::new().ints([*iid]), format!("{kind} about {iid}"))
            }
            Self::Waker { kind, task, context } => {
                let kind = 9 + u32::from(kind % 4);
                (kind, build::waker(*task, *context), format!("{kind} waker {task} {context:?}"))
            }
            Self::Event { callsite, parent, values, fields } => {
                let (values, fields) = (most(values), most(fields));
                let writer =
                    build::event(*callsite, parent.write(), &write_values(values), &write_fields(fields));
                (4, writer, format!("event {callsite} {parent:?}:{}", lines(values, fields)))
            }
        }
    }
}

impl Above {
    fn write(self) -> build::Parent {
        match self {
            Self::Current => build::Parent::Current,
            Self::Root => build::Parent::Root,
            Self::Explicit(iid) => build::Parent::Explicit(iid),
        }
    }
}

impl Value {
    fn write(&self) -> build::Value<'_> {
        match self {
            Self::F64(value) => build::Value::F64(*value),
            Self::I64(value) => build::Value::I64(*value),
            Self::U64(value) => build::Value::U64(*value),
            Self::I128(value) => build::Value::I128(*value),
            Self::U128(value) => build::Value::U128(*value),
            Self::Bool(value) => build::Value::Bool(*value),
            Self::Str(value) => build::Value::Str(short(value)),
        }
    }
}

impl Place {
    fn write(&self) -> (build::Writer, String) {
        let fields = most(&self.fields);
        let names: Vec<&str> = most(&self.names).iter().map(|name| short(name)).collect();
        let kind = if self.is_event { (1, "Event") } else { (2, "Span") };
        let mut line = format!("{} {} {}:", self.id, self.level, kind.1);
        line += &lines(&[], fields);
        names.iter().for_each(|name| line += &format!(" {name:?}"));
        (build::callsite(self.id, self.level, kind.0, &write_fields(fields), &names), line)
    }
}

fn most<T>(all: &[T]) -> &[T] {
    &all[..all.len().min(MOST)]
}

/// The front of a text, so that an input holds many.
fn short(text: &str) -> &str {
    &text[..text.floor_char_boundary(40)]
}

fn write_values(values: &[Value]) -> Vec<build::Value<'_>> {
    values.iter().map(Value::write).collect()
}

fn write_fields(fields: &[(String, Value)]) -> Vec<(&str, build::Value<'_>)> {
    fields.iter().map(|(name, value)| (short(name), value.write())).collect()
}

/// Values and fields as text; of a number every bit counts.
fn lines(values: &[Value], fields: &[(String, Value)]) -> String {
    let value = |value: &Value| match value.write() {
        build::Value::F64(value) => format!(" f{:x}", value.to_bits()),
        value => format!(" {value:?}"),
    };
    let values = values.iter().map(value);
    values.chain(fields.iter().map(|(name, field)| format!(" {:?}={}", short(name), value(field)))).collect()
}
