//! Speed of going through the event records of a CTF trace, against a loop written by hand for the one layout.
//!
//! `cargo bench --bench ctf_events -- METADATA STREAM [--by-hand]`, with a stream as LTTng writes it, of the classes `my:ev`
//! (0) and `my:small` (1). Without `--by-hand` any trace does.
//!
//! The runs alternate, nine times; what counts is the least CPU time of each (Linux).

use memmap2::Mmap;
use std::fs::File;
use std::hint::black_box;
use traceglass::ctf::data::{Packets, Value};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};

/// Class and time of every record; returns their number.
#[inline(never)]
fn heads(data: &[u8], schema: &Schema<'_, '_>) -> (u64, u64) {
    let (mut count, mut sum) = (0, 0_u64);
    for packet in Packets::new(data, schema) {
        let packet = packet.unwrap();
        let mut records = packet.records();
        while let Some(record) = records.next_record().unwrap() {
            count += 1;
            sum = sum.wrapping_add(record.cycles().unwrap_or(0)).wrapping_add(record.class().key().into());
        }
    }
    (count, sum)
}

/// Every field of every payload as well.
#[inline(never)]
fn fields(data: &[u8], schema: &Schema<'_, '_>) -> (u64, u64) {
    let (mut count, mut sum) = (0, 0_u64);
    for packet in Packets::new(data, schema) {
        let packet = packet.unwrap();
        let mut records = packet.records();
        while let Some(record) = records.next_record().unwrap() {
            count += 1;
            sum = sum.wrapping_add(record.cycles().unwrap_or(0)).wrapping_add(record.class().key().into());
            let Some(fields) = records.payload() else { continue };
            fields.each_field(|field| sum = sum.wrapping_add(number(field.value()))).unwrap();
        }
    }
    (count, sum)
}

/// The same, one field after the other.
#[inline(never)]
fn pulled(data: &[u8], schema: &Schema<'_, '_>) -> (u64, u64) {
    let (mut count, mut sum) = (0, 0_u64);
    for packet in Packets::new(data, schema) {
        let packet = packet.unwrap();
        let mut records = packet.records();
        while let Some(record) = records.next_record().unwrap() {
            count += 1;
            sum = sum.wrapping_add(record.cycles().unwrap_or(0)).wrapping_add(record.class().key().into());
            let Some(fields) = records.payload() else { continue };
            while let Some(field) = fields.next_field().unwrap() {
                sum = sum.wrapping_add(number(field.value()));
            }
        }
    }
    (count, sum)
}

/// The same, with fields of each record of their own.
#[inline(never)]
fn apart(data: &[u8], schema: &Schema<'_, '_>) -> (u64, u64) {
    let (mut count, mut sum) = (0, 0_u64);
    for packet in Packets::new(data, schema) {
        let packet = packet.unwrap();
        let mut records = packet.records();
        while let Some(record) = records.next_record().unwrap() {
            count += 1;
            sum = sum.wrapping_add(record.cycles().unwrap_or(0)).wrapping_add(record.class().key().into());
            let Some(fields) = &mut record.payload() else { continue };
            while let Some(field) = fields.next_field().unwrap() {
                sum = sum.wrapping_add(number(field.value()));
            }
        }
    }
    (count, sum)
}

fn number(value: Value<'_>) -> u64 {
    match value {
        Value::Unsigned(value) => value,
        Value::Signed(value) => value.cast_unsigned(),
        Value::Text(text) => text.bytes().len() as u64,
        Value::Float(float) => float.to_f64().unwrap_or(0.0) as u64,
        Value::Array(len) => len,
        _ => 0,
    }
}

fn take<'a, const N: usize>(data: &mut &'a [u8]) -> &'a [u8; N] {
    let (first, rest) = data.split_first_chunk().unwrap();
    *data = rest;
    first
}

/// The same for that one layout.
#[inline(never)]
fn by_hand(data: &[u8]) -> (u64, u64) {
    let (mut count, mut sum) = (0, 0_u64);
    let mut data = data;
    while data.len() >= 84 {
        let number = |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
        let mut clock = number(32);
        let mut rest = &data[84..(number(48) / 8) as usize];
        data = data.get((number(56) / 8) as usize..).unwrap_or_default();
        while !rest.is_empty() {
            let id = u16::from_le_bytes(*take(&mut rest));
            let time = u32::from_le_bytes(*take(&mut rest));
            if time < clock as u32 {
                clock += 1 << 32;
            }
            clock = clock >> 32 << 32 | u64::from(time);
            sum = sum.wrapping_add(clock).wrapping_add(id.into());
            let i = i32::from_le_bytes(*take(&mut rest));
            let u = u64::from_le_bytes(*take(&mut rest));
            sum = sum.wrapping_add(i as u64).wrapping_add(u);
            if id == 1 {
                let [c] = *take(&mut rest);
                let h = i16::from_le_bytes(*take(&mut rest));
                sum = sum.wrapping_add(c.into()).wrapping_add(h as u64);
            }
            let len = memchr::memchr(0, rest).unwrap();
            sum = sum.wrapping_add(len as u64);
            rest = &rest[len + 1..];
            if id == 0 {
                sum = sum.wrapping_add(f64::from_le_bytes(*take(&mut rest)) as u64);
                sum = sum.wrapping_add(i32::from_le_bytes(*take(&mut rest)) as u64);
                let len = u64::from_le_bytes(*take(&mut rest));
                sum = sum.wrapping_add(len);
                for _ in 0..len {
                    sum = sum.wrapping_add(i32::from_le_bytes(*take(&mut rest)) as u64);
                }
                for byte in take::<4>(&mut rest) {
                    sum = sum.wrapping_add(*byte as i8 as u64);
                }
            }
            count += 1;
        }
    }
    (count, sum)
}

/// The seconds of CPU that this thread has used.
fn cpu_time() -> f64 {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    said.split(' ').next().unwrap().parse::<u64>().unwrap() as f64 / 1e9
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [metadata, stream, options @ ..] = &arguments[..] else {
        println!("usage: ctf_events METADATA STREAM [--by-hand]");
        return;
    };
    let metadata = std::fs::read(metadata).unwrap();
    let metadata = MetadataStream::parse(&metadata).unwrap();
    let mut nodes = vec![Node::EMPTY; Schema::needed(&metadata).unwrap().try_into().unwrap()];
    let schema = Schema::compile(&metadata, &mut nodes).unwrap();
    // SAFETY: nothing changes the file.
    let data = unsafe { Mmap::map(&File::open(stream).unwrap()).unwrap() };
    let has_hand = options.iter().any(|option| option == "--by-hand");

    let mut least = [f64::MAX; 5];
    let mut counts = [(0, 0); 5];
    for _ in 0..9 {
        let mut run = |at: usize, walk: &dyn Fn() -> (u64, u64)| {
            let start = cpu_time();
            counts[at] = black_box(walk());
            least[at] = least[at].min(cpu_time() - start);
        };
        run(0, &|| heads(&data, &schema));
        run(1, &|| fields(&data, &schema));
        run(2, &|| pulled(&data, &schema));
        run(3, &|| apart(&data, &schema));
        if has_hand {
            run(4, &|| by_hand(&data));
        }
    }
    let names = ["heads", "fields", "pulled", "apart", "by hand"];
    let [.., limit] = least;
    for ((name, least), (count, sum)) in names.iter().zip(least).zip(counts) {
        if count > 0 {
            let rate = count as f64 / least / 1e6;
            let ratio = if has_hand { format!("{:5.2} of the limit", limit / least) } else { String::new() };
            println!("{name:8} {count:>9} records {rate:7.1} M/s {ratio}  sum {sum}");
        }
    }
}
