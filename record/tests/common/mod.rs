//! Events of all types, recorded at random, and read back by the library.
#![allow(dead_code)] // Each file of tests uses some of it.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use traceglass::ctf::data::wire::{Capture, Scan, WireSlot};
use traceglass::ctf::data::{Packets, Value};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass_record::{Recorder, Text, Trace, events, labels};

labels! {
    /// A phase.
    pub enum Phase: u16 { Idle = 0, Busy = 1_000, Done = 0xffff }
}

events! {
    /// All types of fields.
    pub trace Everything {
        clock 1_000_000;
        event Nothing {}
        event Small { a: u8, b: i8, c: bool, d: u16, e: i16 }
        event Wide { lead: u8, u: u64, i: i64, w: i32, r#type: u32 }
        event Real { half: f32, whole: f64 }
        event Named { phase: Phase, name: Text<7>, after: u16 }
    }
}

/// Numbers in an order that a seed decides.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// A record as text: time, name, fields.
pub type Line = String;

/// Records something, and says what a reader must say of it.
pub fn record(
    recorder: &mut Recorder<'_, Everything>,
    random: &mut Random,
    time: u64,
) -> (bool, Line, usize) {
    let n = random.next();
    match random.below(5) {
        0 => (recorder.record(time, &Nothing {}), format!("{time} Nothing"), 0),
        1 => {
            let small = Small {
                a: n as u8,
                b: (n >> 8) as i8,
                c: n & 1 << 40 != 0,
                d: (n >> 16) as u16,
                e: (n >> 24) as i16,
            };
            let Small { a, b, c, d, e } = small;
            (
                recorder.record(time, &small),
                format!("{time} Small a={a} b={b} c={} d={d} e={e}", u8::from(c)),
                7,
            )
        }
        2 => {
            let wide = Wide {
                lead: n as u8,
                u: n,
                i: n.rotate_left(9) as i64,
                w: n as i32,
                r#type: (n >> 32) as u32,
            };
            let Wide { lead, u, i, w, r#type } = wide;
            (
                recorder.record(time, &wide),
                format!("{time} Wide lead={lead} u={u} i={i} w={w} type={type}"),
                25,
            )
        }
        3 => {
            let real = Real { half: n as f32 / 7.0, whole: -(n as f64) / 3.0 };
            (
                recorder.record(time, &real),
                format!("{time} Real half={} whole={}", f64::from(real.half), real.whole),
                12,
            )
        }
        _ => {
            let phase = [Phase::Idle, Phase::Busy, Phase::Done][n as usize % 3];
            let name = &"gemüse and more"[..[0, 1, 3, 5, 7, 8][n as usize / 3 % 6]];
            let kept = if name.len() == 8 { "gemüse" } else { name };
            let named = Named { phase, name: Text::new(name), after: (n >> 20) as u16 };
            (
                recorder.record(time, &named),
                format!("{time} Named phase={} name={kept} after={}", phase as u16, named.after),
                11,
            )
        }
    }
}

pub fn schemas<R>(read: impl Fn(&Schema<'_, '_>) -> R) -> [R; 2] {
    [Everything::METADATA, Everything::METADATA_1_8].map(|metadata| {
        let mut nodes = vec![Node::EMPTY; 512];
        let stream = MetadataStream::parse(metadata.as_bytes()).expect("is metadata");
        read(&Schema::compile(&stream, &mut nodes).unwrap_or_else(|error| panic!("{error}\n{metadata}")))
    })
}

/// The records of a capture, and how many of its bytes are damage; records of a damaged packet are marked by a `?`.
pub fn lines(data: &[u8], schema: &Schema<'_, '_>) -> (Vec<Line>, u64) {
    let mut slots = vec![WireSlot::EMPTY; 256];
    let capture = Capture::read(Scan::new(data, schema), &mut slots[..]).expect("has room");
    let mut lines = Vec::new();
    for track in capture.tracks() {
        for packet in Packets::of_track(data, schema, track) {
            add_packet(&packet.unwrap_or_else(|error| panic!("{error}")), &mut lines);
        }
    }
    let damage = capture.slots().iter().filter(|slot| slot.is_damage());
    (lines, damage.map(|slot| slot.lost().map_or(0, |(start, end)| end - start)).sum())
}

pub fn add_packet(packet: &traceglass::ctf::data::Packet<'_, '_>, lines: &mut Vec<Line>) {
    let doubt = if packet.is_doubtful() { "?" } else { "" };
    for record in packet.records() {
        let record = record.expect("is a record");
        let mut line = format!(
            "{doubt}{} {}",
            record.cycles().expect("has a time"),
            record.class().name().expect("has a name")
        );
        for field in record.payload().expect("has fields") {
            let field = field.expect("is a field");
            let value = match field.value() {
                Value::Unsigned(value) => value.to_string(),
                Value::Signed(value) => value.to_string(),
                Value::Boolean(value) => u8::from(value).to_string(),
                Value::Float(value) => value.to_f64().expect("has a value").to_string(),
                Value::Text(text) => text.chars().map(|c| c.unwrap_or('?')).collect(),
                // What is in it follows.
                _ => continue,
            };
            line += &format!(" {}={value}", field.name().expect("has a name"));
        }
        lines.push(line);
    }
}

pub fn memory(words: usize) -> Vec<AtomicU32> {
    (0..words).map(|_| AtomicU32::new(0)).collect()
}

pub fn dump(memory: &[AtomicU32]) -> Vec<u8> {
    memory.iter().flat_map(|word| word.load(Relaxed).to_ne_bytes()).collect()
}
