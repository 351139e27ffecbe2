//! RFR: postcard with borrowed structs, and a bare walk over the integers.

use crate::common::rfr::Input;
use serde::Deserialize;

#[derive(Deserialize)]
struct PostcardRecord<'a> {
    timestamp: u64,
    #[serde(borrow)]
    data: PostcardData<'a>,
}

#[derive(Deserialize)]
enum PostcardData<'a> {
    SpanNew(u64),
    SpanEnter(u64),
    SpanExit(u64),
    SpanClose(u64),
    #[serde(borrow)]
    Event(PostcardEvent<'a>),
    NewTask(u64),
    TaskPollStart(u64),
    TaskPollEnd(u64),
    TaskDrop(u64),
    WakerWake(PostcardWaker),
    WakerWakeByRef(PostcardWaker),
    WakerClone(PostcardWaker),
    WakerDrop(PostcardWaker),
}

#[derive(Deserialize)]
struct PostcardWaker {
    task_iid: u64,
    context: Option<u64>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
enum PostcardParent {
    Current,
    Root,
    Explicit(u64),
}

#[derive(Deserialize)]
struct PostcardEvent<'a> {
    callsite_id: u64,
    #[allow(dead_code)]
    parent: PostcardParent,
    #[serde(borrow)]
    values: Vec<PostcardValue<'a>>,
    #[serde(borrow)]
    fields: Vec<(&'a str, PostcardValue<'a>)>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
enum PostcardValue<'a> {
    F64(f64),
    I64(i64),
    U64(u64),
    I128(i128),
    U128(u128),
    Bool(bool),
    Str(&'a str),
}

impl PostcardValue<'_> {
    fn digest(&self) -> u64 {
        match self {
            Self::U64(value) => *value,
            Self::Str(text) => text.len() as u64,
            _ => 0,
        }
    }
}

impl PostcardRecord<'_> {
    fn digest(&self) -> u64 {
        use PostcardData::*;
        let (kind, rest) = match &self.data {
            SpanNew(iid) => (0, *iid),
            SpanEnter(iid) => (1, *iid),
            SpanExit(iid) => (2, *iid),
            SpanClose(iid) => (3, *iid),
            Event(event) => {
                let sum = event
                    .values
                    .iter()
                    .fold(event.callsite_id, |sum, value| sum.wrapping_add(value.digest()));
                let fields =
                    event.fields.iter().map(|(name, value)| (name.len() as u64).wrapping_add(value.digest()));
                (4, fields.fold(sum, u64::wrapping_add))
            }
            NewTask(iid) => (5, *iid),
            TaskPollStart(iid) => (6, *iid),
            TaskPollEnd(iid) => (7, *iid),
            TaskDrop(iid) => (8, *iid),
            WakerWake(waker) => (9, waker.digest()),
            WakerWakeByRef(waker) => (10, waker.digest()),
            WakerClone(waker) => (11, waker.digest()),
            WakerDrop(waker) => (12, waker.digest()),
        };
        self.timestamp.wrapping_mul(31).wrapping_add(kind).wrapping_add(rest)
    }
}

impl PostcardWaker {
    fn digest(&self) -> u64 {
        self.task_iid.wrapping_add(self.context.unwrap_or(0))
    }
}

/// Each record by itself.
pub fn postcard_borrowed(Input { data, entries }: &Input) -> u64 {
    let mut sum = 0_u64;
    for entry in entries {
        let mut rest = &data[entry.records_offset() as usize..];
        for _ in 0..entry.record_count() {
            let (record, after) = postcard::take_from_bytes::<PostcardRecord<'_>>(rest).unwrap();
            sum = sum.wrapping_add(record.digest());
            rest = after;
        }
    }
    sum
}

/// The length of each integer, and nothing else.
pub fn bare_walk(Input { data, .. }: &Input) -> u64 {
    let mut walk = Walk { data, at: 0 };
    walk.text();
    walk.ints(5);
    let (mut records, sequences) = (0, walk.int());
    for _ in 0..sequences {
        walk.ints(3);
        for _ in 0..walk.int() {
            // Tasks, all of them.
            walk.ints(4);
            walk.text();
            walk.int();
            walk.option();
        }
        let count = walk.int();
        for _ in 0..count {
            walk.int();
            match walk.int() {
                4 => walk.event(),
                9.. => {
                    walk.int();
                    walk.option();
                }
                _ => walk.ints(1),
            }
        }
        records += count;
    }
    records
}

struct Walk<'a> {
    data: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    #[inline(always)]
    fn int(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.data[self.at];
            self.at += 1;
            value |= u64::from(byte & 0x7f) << (shift & 63);
            if byte < 0x80 {
                return value;
            }
            shift += 7;
        }
    }

    #[inline(always)]
    fn ints(&mut self, count: u64) {
        for _ in 0..count {
            self.int();
        }
    }

    #[inline(always)]
    fn text(&mut self) {
        self.at += self.int() as usize;
    }

    #[inline(always)]
    fn option(&mut self) {
        if self.int() == 1 {
            self.int();
        }
    }

    fn value(&mut self) {
        match self.int() {
            0 => self.at += 8,
            6 => self.text(),
            _ => self.ints(1),
        }
    }

    fn event(&mut self) {
        self.int();
        if self.int() == 2 {
            self.int();
        }
        for _ in 0..self.int() {
            self.value();
        }
        for _ in 0..self.int() {
            self.text();
            self.value();
        }
    }
}
