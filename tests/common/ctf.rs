//! Builds CTF 2 metadata streams.

/// The UUID that packets have unless they state another one.
pub const UUID: [u8; 16] = [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31];

/// A packet to be written; sizes that are not set are right.
#[derive(Clone)]
pub struct Packet {
    pub big: bool,
    pub uuid: [u8; 16],
    pub checksum: u32,
    pub schemes: [u8; 3],
    pub version: [u8; 2],
    /// Bytes of the header that is written; 37 leaves out what version 2 has added.
    pub header_len: usize,
    pub content: Vec<u8>,
    pub padding: Vec<u8>,
    /// In bits.
    pub header_size: Option<u32>,
    pub content_size: Option<u32>,
    pub total_size: Option<u32>,
}

impl Packet {
    /// A packet of version 2.0, little-endian.
    pub fn v2(content: &[u8]) -> Self {
        Self {
            big: false,
            uuid: UUID,
            checksum: 0,
            schemes: [0; 3],
            version: [2, 0],
            header_len: 44,
            content: content.to_vec(),
            padding: Vec::new(),
            header_size: None,
            content_size: None,
            total_size: None,
        }
    }

    /// A packet of version 1.8, little-endian.
    pub fn v1(content: &[u8]) -> Self {
        Self { version: [1, 8], header_len: 37, ..Self::v2(content) }
    }

    pub fn big(self, big: bool) -> Self {
        Self { big, ..self }
    }

    pub fn padding(self, padding: &[u8]) -> Self {
        Self { padding: padding.to_vec(), ..self }
    }

    pub fn write(&self) -> Vec<u8> {
        let u32 = |n: u32| if self.big { n.to_be_bytes() } else { n.to_le_bytes() };
        let content_size = (self.header_len + self.content.len()) as u32 * 8;
        let total_size = content_size + self.padding.len() as u32 * 8;
        let mut bytes = Vec::from(u32(0x75d1_1d57)); //                      0 magic
        bytes.extend(self.uuid); //                                          4 UUID
        bytes.extend(u32(self.checksum)); //                                20 checksum
        bytes.extend(u32(self.content_size.unwrap_or(content_size))); //    24 content size
        bytes.extend(u32(self.total_size.unwrap_or(total_size))); //        28 total size
        bytes.extend(self.schemes); //                                      32 compression, encryption, checksum
        bytes.extend(self.version); //                                      35 major, minor
        if self.header_len > 37 {
            bytes.extend([0xaa; 3]); //                                     37 reserved
            let header_size = self.header_len as u32 * 8;
            bytes.extend(u32(self.header_size.unwrap_or(header_size))); //  40 header size
            bytes.resize(self.header_len, 0xbb); //                         44 what is not known
        }
        bytes.extend(&self.content);
        bytes.extend(&self.padding);
        bytes
    }
}

/// A stream whose packets have these contents.
pub fn stream<'c>(
    contents: impl IntoIterator<Item = &'c [u8]>,
    mut packet: impl FnMut(&[u8]) -> Packet,
) -> Vec<u8> {
    contents.into_iter().flat_map(|content| packet(content).write()).collect()
}

/// A fragment of the text sequence.
pub fn fragment(json: &str) -> String {
    format!("\x1e{json}\n")
}

/// A text with everything in it that is awkward to split: UTF-8, escapes, nesting, two separators in a row.
pub fn text() -> String {
    let bytes: Vec<String> = UUID.iter().map(u8::to_string).collect();
    let preamble = format!(r#"{{"type": "preamble", "uuid": [{}], "version": 2}}"#, bytes.join(","));
    let trace = r#"{"environment": {"hostname": "höst 😀", "tracer\u005fname": "lttng-\u0075st\n", "tracer_major": 2,
        "odd": [1, {"a": null}], "negative": -170}, "name": "s1", "namespace": "lttng.org,2009", "type": "trace-class",
        "uid": "1c145c2f"}"#;
    let clock = r#"{"description": "Monotonic", "frequency": 1000000000, "id": "monotonic", "name": "monotonic",
        "offset-from-origin": {"cycles": 589261740, "seconds": -1795224663}, "origin": "unix-epoch", "precision": 1,
        "type": "clock-class", "uid": "d2f302bc"}"#;
    let other = r#"{"type": "data-stream-class", "id": 7, "x": [true, false, 1.5e-3, "\ud83d\ude00\\"]}"#;
    [&preamble, trace, clock, other, r#"{"type": "event-record-class"}"#, r#"{"type": "user\u002ddefined"}"#]
        .map(fragment)
        .join("\x1e")
}

/// A small file with everything in it: three packets with padding, of which the first ends inside a character.
pub fn sample() -> Vec<u8> {
    let text = text();
    let cut = text.find('ö').expect("the host's name") + 1;
    let (a, b) = text.as_bytes().split_at(cut);
    let (b, c) = b.split_at(b.len() / 2);
    stream([a, b, c], |content| Packet::v2(content).padding(&[0; 20]))
}

/// A stream of `packets` packets of 4 KiB, for measuring; the last fragment is cut.
pub fn large(packets: usize) -> Vec<u8> {
    let mut all = Vec::with_capacity(packets << 12);
    for packet in full_packets().take(packets) {
        all.extend(packet);
    }
    all
}

/// Packets of 4 KiB without end, full of fragments across them.
pub fn full_packets() -> impl Iterator<Item = Vec<u8>> {
    const CONTENT: usize = 4096 - 44;
    let class = r#"{"type": "event-record-class", "data-stream-class-id": 0, "id": 17, "name": "app:tick",
        "payload-field-class": {"type": "structure", "member-classes": [{"name": "n", "field-class":
        {"type": "fixed-length-unsigned-integer", "length": 32, "byte-order": "little-endian"}}]}}"#;
    let class = fragment(class).into_bytes();
    let twice = [class.as_slice(), &class.repeat(CONTENT / class.len() + 1)].concat();
    (0..).map(move |packet: usize| {
        let from = packet * CONTENT % class.len();
        Packet::v2(&twice[from..from + CONTENT]).write()
    })
}

/// A trace as a small recorder writes it: its metadata, and one data stream of two packets.
pub fn sample_trace() -> Vec<(&'static str, Vec<u8>)> {
    let integer = |bits: u32, roles: &str| {
        format!(
            "{{\"type\": \"fixed-length-unsigned-integer\", \"length\": {bits}, \"byte-order\": \"little-endian\", \
             \"alignment\": 8{roles}}}"
        )
    };
    let role = |role: &str| format!(", \"roles\": [\"{role}\"]");
    let structure = |members: &[(&str, String)]| {
        let members: Vec<_> = members
            .iter()
            .map(|(name, class)| format!("{{\"name\": \"{name}\", \"field-class\": {class}}}"))
            .collect();
        format!("{{\"type\": \"structure\", \"member-classes\": [{}]}}", members.join(", "))
    };
    let context = structure(&[
        ("begin", integer(64, &role("default-clock-timestamp"))),
        ("end", integer(64, &role("packet-end-default-clock-timestamp"))),
        ("content", integer(32, &role("packet-content-length"))),
        ("total", integer(32, &role("packet-total-length"))),
        ("number", integer(32, &role("packet-sequence-number"))),
        ("discarded", integer(32, &role("discarded-event-record-counter-snapshot"))),
    ]);
    let header = structure(&[
        ("id", integer(8, &role("event-record-class-id"))),
        ("time", integer(32, &role("default-clock-timestamp"))),
    ]);
    let switch =
        structure(&[("thread", integer(16, "")), ("name", "{\"type\": \"null-terminated-string\"}".into())]);
    let level = structure(&[("millivolts", integer(16, ""))]);
    let metadata = [
        "{\"type\": \"preamble\", \"version\": 2}".to_owned(),
        "{\"type\": \"trace-class\", \"environment\": {\"tracer_name\": \"sample\", \"board\": \"m4\"}}"
            .into(),
        "{\"type\": \"clock-class\", \"id\": \"ticks\", \"name\": \"ticks\", \"frequency\": 1000000, \
         \"origin\": \"unix-epoch\", \"offset-from-origin\": {\"seconds\": 1795225314}}"
            .into(),
        format!(
            "{{\"type\": \"data-stream-class\", \"default-clock-class-id\": \"ticks\", \
             \"packet-context-field-class\": {context}, \"event-record-header-field-class\": {header}}}"
        ),
        format!(
            "{{\"type\": \"event-record-class\", \"id\": 0, \"name\": \"thread_switched_in\", \"payload-field-class\": {switch}}}"
        ),
        format!(
            "{{\"type\": \"event-record-class\", \"id\": 1, \"name\": \"battery\", \"payload-field-class\": {level}}}"
        ),
    ];
    let metadata: String = metadata.iter().map(|text| fragment(text)).collect();
    let mut stream = Vec::new();
    for packet in 0_u32..2 {
        let begin = packet * 10_000;
        let mut records = Vec::new();
        for record in 0..8_u32 {
            let time = begin + record * 1000;
            records.push(u8::from(record % 4 == 3));
            records.extend(time.to_le_bytes());
            if record % 4 == 3 {
                records.extend((3700 - 5 * (packet * 8 + record) as u16).to_le_bytes());
            } else {
                let (thread, name) = [(1_u16, "idle"), (2, "radio"), (3, "sensor")][record as usize % 3];
                records.extend(thread.to_le_bytes());
                records.extend(name.bytes().chain([0]));
            }
        }
        let content = 32 + records.len() as u32;
        stream.extend(u64::from(begin).to_le_bytes());
        stream.extend(u64::from(begin + 7000).to_le_bytes());
        // One record was discarded between the packets.
        for field in [content * 8, 256 * 8, packet, packet] {
            stream.extend(field.to_le_bytes());
        }
        stream.extend(records);
        stream.resize(256 * (packet as usize + 1), 0);
    }
    vec![("sample.ctf/metadata", metadata.into_bytes()), ("sample.ctf/stream", stream)]
}

/// A CTF 1.8 trace as small tracers write them: no packet header, no context, no clock, names of a fixed length.
pub fn sample_ctf1() -> Vec<(&'static str, Vec<u8>)> {
    let metadata = "/* CTF 1.8 */

typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := text_t;

struct event_header {
    uint32_t timestamp;
    uint8_t id;
};

trace {
    major = 1;
    minor = 8;
    byte_order = le;
};

stream {
    event.header := struct event_header;
};

event {
    name = thread_switched_in;
    id = 0x11;
    fields := struct {
        uint32_t thread_id;
        text_t name[8];
    };
};

event {
    name = battery;
    id = 0x20;
    fields := struct {
        uint16_t millivolts;
    };
};
";
    let mut data = Vec::new();
    for record in 0..16_u32 {
        let is_level = record % 4 == 3;
        data.extend((record * 1000).to_le_bytes());
        data.push(if is_level { 0x20 } else { 0x11 });
        if is_level {
            data.extend((3700 - 5 * record as u16).to_le_bytes());
        } else {
            let (thread, name) =
                [(1_u32, b"idle\0\0\0\0"), (2, b"radio\0\0\0"), (3, b"sensor\0\0")][record as usize % 3];
            data.extend(thread.to_le_bytes());
            data.extend(name);
        }
    }
    vec![("sample.ctf1/metadata", metadata.as_bytes().to_vec()), ("sample.ctf1/data", data)]
}
