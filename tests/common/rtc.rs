//! A writer of RTC files, by the rules of the deployed one but without its faults.

use std::collections::BTreeMap;

/// How a file is written.
#[derive(Clone)]
pub struct Options {
    pub major: u64,
    pub minor: u64,
    pub crc: Crc,
    pub big_endian: bool,
    /// The longest piece of a record.
    pub piece: usize,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Crc {
    None,
    Writer,
    Ieee,
}

impl Default for Options {
    fn default() -> Self {
        Self { major: 8192, minor: 2048, crc: Crc::Writer, big_endian: false, piece: 1024 }
    }
}

impl Options {
    pub fn sizes(major: u64, minor: u64) -> Self {
        Self { major, minor, ..Self::default() }
    }
}

/// Where a stream's frames begin that an index leads to.
#[derive(Clone, Copy)]
struct Target {
    offset: u64,
    /// The minor unit, counted over all units.
    interval: u64,
}

pub struct Writer {
    pub out: Vec<u8>,
    /// How many bytes were taken from the front of `out`.
    taken: u64,
    options: Options,
    /// Where the session begins.
    base: u64,
    streams: Vec<(u64, String, Option<u64>)>,
    targets: BTreeMap<u64, Target>,
    next_id: u64,
    unit: u64,
    interval: u64,
    /// Where the Index of this unit is.
    origin: u64,
    /// The streams of the first unit are known before it begins.
    begun: bool,
}

impl Writer {
    pub fn new(options: Options) -> Self {
        Self::append_to(Vec::new(), options)
    }

    /// Another session after what is in `out`.
    pub fn append_to(out: Vec<u8>, options: Options) -> Self {
        Self {
            base: out.len() as u64,
            out,
            taken: 0,
            options,
            streams: Vec::new(),
            targets: BTreeMap::new(),
            next_id: 9,
            unit: 0,
            interval: 0,
            origin: 0,
            begun: false,
        }
    }

    /// A stream; `attributes` is JSON, such as `"name":"a"`. Written as a meta once the first unit has begun.
    pub fn stream(&mut self, attributes: &str) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let length = attributes.split("\"length\":").nth(1).map(|rest| {
            rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("a number")
        });
        let object = format!("{{\"id\":{id},{attributes}}}");
        if self.begun {
            let meta = format!("[{object},{}]", self.next_id);
            self.record(6, None, meta.as_bytes(), false);
        }
        self.streams.push((id, object, length));
        id
    }

    /// A record.
    pub fn write(&mut self, id: u64, data: &[u8]) {
        self.write_more(id, data, false);
    }

    /// A part of a record that goes on.
    pub fn write_more(&mut self, id: u64, data: &[u8], more: bool) {
        self.begin();
        let length = self.streams.iter().find(|stream| stream.0 == id).and_then(|stream| stream.2);
        self.record(id, length, data, more);
    }

    /// The end of the file: a Crc, if there is one and room for it.
    pub fn stop(mut self) -> Vec<u8> {
        self.begin();
        if self.options.crc != Crc::None && self.boundary() - self.at() >= 5 {
            self.crc();
        }
        self.out
    }

    pub fn begin(&mut self) {
        if !self.begun {
            self.begun = true;
            self.begin_major();
        }
    }

    /// Hands out all of the units that are done; a file need not fit into memory.
    pub fn take(&mut self) -> Vec<u8> {
        let done = (self.base + self.origin).saturating_sub(self.taken + 1025) as usize;
        self.taken += done as u64;
        let rest = self.out.split_off(done);
        std::mem::replace(&mut self.out, rest)
    }

    fn at(&self) -> u64 {
        self.taken + self.out.len() as u64 - self.base
    }

    fn reserve(&self) -> u64 {
        if self.options.crc == Crc::None { 0 } else { 5 }
    }

    fn end(&self) -> u64 {
        self.origin - 1025 + self.options.major
    }

    /// Where the next index is due, or the Crc.
    fn boundary(&self) -> u64 {
        let next = self.origin + ((self.at() - self.origin) / self.options.minor + 1) * self.options.minor;
        if next < self.end() { next } else { self.end() - self.reserve() }
    }

    fn begin_major(&mut self) {
        self.out.push(4);
        self.out.extend([0xb9; 1024]);
        self.origin = self.at();
        self.interval += 1;
        let mut index = Vec::new();
        int(&mut index, self.unit);
        self.entry(&mut index, 3, self.options.major);
        self.entry(&mut index, 4, self.options.minor);
        let ids: Vec<u64> = [5, 7, 8].into_iter().chain(self.streams.iter().map(|stream| stream.0)).collect();
        for id in ids {
            let distance = self.targets.get(&id).map_or(0, |target| self.at() - target.offset);
            self.entry(&mut index, id, distance);
        }
        self.record(3, None, &index, false);
        let objects: Vec<&str> = self.streams.iter().map(|stream| stream.1.as_str()).collect();
        let comma = if objects.is_empty() { "" } else { "," };
        let meta = format!("[{}{comma}{}]", objects.join(","), self.next_id);
        self.record(5, None, meta.as_bytes(), false);
        self.target(7);
        self.out.push(14);
        self.word(0x0102_0304);
    }

    fn begin_minor(&mut self) {
        self.interval += 1;
        let mut index = Vec::new();
        self.entry(&mut index, 3, self.at() - self.origin);
        for (id, target) in self.targets.clone() {
            if target.offset >= self.origin && id != 3 {
                self.entry(&mut index, id, self.at() - target.offset);
            }
        }
        self.record(4, None, &index, false);
    }

    fn entry(&self, index: &mut Vec<u8>, id: u64, distance: u64) {
        int(index, id << 1 | 1);
        int(index, distance << 1);
    }

    fn target(&mut self, id: u64) {
        let target = Target { offset: self.at(), interval: self.interval };
        let known = self.targets.entry(id).or_insert(target);
        // The first Meta stays where it is.
        if known.interval != target.interval && id != 5 {
            *known = target;
        }
    }

    fn word(&mut self, word: u32) {
        let bytes = if self.options.big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
        self.out.extend(bytes);
    }

    fn crc(&mut self) {
        let covered = &self.out[(self.base + self.origin - self.taken) as usize..];
        let value = match self.options.crc {
            Crc::Ieee => ieee(covered),
            _ => deployed(covered),
        };
        self.target(8);
        self.out.push(16);
        self.word(value);
    }

    /// Whatever is due at the boundary that has been reached.
    fn cross(&mut self) {
        if self.at() + self.reserve() == self.end() {
            if self.options.crc != Crc::None {
                self.crc();
            }
            self.unit += 1;
            self.begin_major();
        } else {
            self.begin_minor();
        }
    }

    /// Fills up to the boundary.
    fn pad(&mut self) {
        let boundary = self.boundary();
        loop {
            match boundary - self.at() {
                0 => return,
                1 => self.out.push(0),
                room => {
                    let len = (room - 2).min(127);
                    self.out.extend([2, len as u8]);
                    self.out.resize(self.out.len() + len as usize, 0);
                }
            }
        }
    }

    fn record(&mut self, id: u64, length: Option<u64>, data: &[u8], more: bool) {
        let mut rest = data;
        let mut begins = true;
        while !rest.is_empty() {
            let room = (self.boundary() - self.at()) as usize;
            let mut head = Vec::new();
            int(&mut head, id << 1);
            let stated = length.is_none();
            let header = head.len() + usize::from(stated);
            if room <= header {
                self.pad();
                self.cross();
                continue;
            }
            let mut len = rest.len().min(self.options.piece).min(room - header);
            if stated && len > 127 {
                len = len.min(room - header - 1).max(127);
            }
            let (piece, after) = rest.split_at(len);
            if begins {
                self.target(id);
                begins = false;
            }
            int(&mut self.out, id << 1 | u64::from(more || !after.is_empty()));
            if stated {
                int(&mut self.out, len as u64);
            }
            self.out.extend(piece);
            rest = after;
            if room == head.len() + usize::from(stated) + usize::from(stated && len > 127) + len {
                self.cross();
            }
        }
    }
}

/// An unsigned LEB128.
pub fn int(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The checksum of the deployed writer, in its own words.
pub fn deployed(data: &[u8]) -> u32 {
    let table: Vec<u32> = (0..256_u32)
        .map(|byte| {
            (0..8).fold(byte << 24, |value, _| (value << 1) ^ if value >> 31 == 1 { 0x04c1_1db7 } else { 0 })
        })
        .collect();
    !data.iter().fold(u32::MAX, |crc, &byte| (crc >> 8) ^ table[((crc ^ u32::from(byte)) & 255) as usize])
}

/// CRC-32/IEEE, bit by bit.
pub fn ieee(data: &[u8]) -> u32 {
    !data.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

/// A file of 6,000 stamps of a clock, 100 µs apart, of which every `each`th is so many microseconds earlier than the one
/// before.
pub fn stamps_that_step_back(each: u32, back: u32) -> Vec<u8> {
    let mut writer = Writer::new(Options::default());
    let clock = writer.stream(r#""name":"c","clock":true,"format":"uint32le","length":4,"gain":1e-6"#);
    let mut micros = 1_000_000_u32;
    for number in 0..6_000 {
        micros = if number % each == 0 { micros - back } else { micros + 100 };
        writer.write(clock, &micros.to_le_bytes());
    }
    writer.stop()
}

/// A file of `len` bytes or a little more with five streams, 26 bytes a frame: what benches and examples read.
pub fn sample(options: Options, len: usize) -> Vec<u8> {
    let mut file = Vec::with_capacity(len + len / 64);
    write_sample(options, len as u64, |part| file.extend(part));
    file
}

/// The same, part by part.
pub fn write_sample(options: Options, len: u64, mut part: impl FnMut(&[u8])) {
    let mut writer = Writer::new(options);
    let clk = writer.stream(r#""name":"clk","clock":true,"format":"timespec","length":12"#);
    let delta =
        writer.stream(r#""name":"clk delta","clock":true,"format":"uleb128","gain":1e-6,"delta":"clk""#);
    let adc = writer.stream(r#""name":"adc","clock":"clk delta","format":"int16le","gain":0.001,"length":2"#);
    let stdout = writer.stream(r#""name":"stdout","clock":"clk delta","cont":true,"format":"utf-8""#);
    let blob = writer.stream(r#""name":"blob""#);
    let mut random = 1_u32;
    let mut micros = 0_u64;
    let mut seconds = 1_700_000_000_u64;
    let bytes = [0x5a; 200];
    writer.write(clk, &[&seconds.to_le_bytes()[..], &[0; 4]].concat());
    while writer.at() < len {
        if writer.out.len() > 8 << 20 {
            part(&writer.take());
        }
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        match random >> 24 {
            0 => {
                seconds += micros / 1_000_000;
                micros %= 1_000_000;
                let mut stamp = seconds.to_le_bytes().to_vec();
                stamp.extend(0_u32.to_le_bytes());
                writer.write(clk, &stamp);
            }
            1..=80 => {
                micros += u64::from(random >> 8 & 0xff);
                let mut stamp = Vec::new();
                int(&mut stamp, micros);
                writer.write(delta, &stamp);
            }
            81..=150 => writer.write(adc, &(random as i16).to_le_bytes()),
            151..=230 => {
                let len = 20 + (random >> 12 & 31) as usize;
                writer.write(stdout, &b"the quick brown fox jumps over the lazy dog 0123456789"[..len]);
            }
            _ => writer.write(blob, &bytes[..20 + (random >> 10 & 127) as usize]),
        }
    }
    part(&writer.stop());
}
