//! Builds what is inside RDF chunks: small chunks of each kind.

use super::rdf::Chunk;

/// Appends numbers in little-endian order: `bytes![u32 7, u64 1]`.
macro_rules! bytes {
    ($($ty:ident $value:expr),* $(,)?) => {{
        let mut bytes: Vec<u8> = Vec::new();
        $(bytes.extend(($value as $ty).to_le_bytes());)*
        bytes
    }};
}

/// Text, filled with NULs.
fn padded(text: &str, len: usize) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(len, 0);
    bytes
}

/// A token of the bits of a number.
pub fn token(len: usize, bits: u128) -> Vec<u8> {
    let mut bytes = bits.to_le_bytes().to_vec();
    bytes.resize(len.max(16), 0);
    bytes.truncate(len);
    bytes
}

/// An event of a driver.
pub fn event(id: u8, delta: u8, payload: &[u8]) -> Vec<u8> {
    [&[id, delta][..], &(payload.len() as u16).to_le_bytes(), payload].concat()
}

/// A `DDEvent` chunk of these events.
pub fn driver_events(provider: u32, base: u64, events: &[u8]) -> Chunk {
    let header = bytes![u16 0, u16 1, u32 0, u32 provider, u32 32, u64 base, u64 10_000_000];
    let data = [&bytes![u16 0, u16 1][..], &header, events].concat();
    Chunk::raw("DDEvent", &data).header(&header)
}

/// An `RmtData` chunk of these tokens.
pub fn rmt(process: u32, stream: u32, tokens: &[u8]) -> Chunk {
    let header = bytes![u32 process, u32 0, u64 tokens.len(), u32 stream, u16 1, u16 9];
    Chunk::raw("RmtData", tokens).header(&header)
}

pub const UMD: u32 = 0x5043_4145;
pub const KMD: u32 = 0xe43c_9c8e;

/// The tokens of a process that binds a named texture to memory at 0x10000 and frees it at 3,200 ticks.
pub fn process_tokens() -> Vec<u8> {
    [
        // 32 × 10 ticks, 10 MHz
        token(12, 10 << 4 | 10_000_000 << 64),
        // 16 KiB at 0x10000, allocated by the application
        token(12, 12 | 3 << 8 | 0x10000 << 34 | 0b11_11_11_10 << 82),
        // resource 7: an image, with 39 bytes of payload
        token(46, 13 | 7 << 8),
        token(17, 7 | 0x10000 << 8 | 0x2000 << 56 | 7 << 104),
        // resource 7 has the name number 99
        token(12, 4 | 4 << 8 | 8 << 12 | 7 << 32 | 99 << 64),
        // 90 units later
        token(2, 14 | 1 << 4 | 90 << 8),
        token(5, 15 | 7 << 8),
        token(7, 11 | 0x10000 << 8),
    ]
    .concat()
}

/// The tokens that name number 99.
pub fn name_tokens() -> Vec<u8> {
    let text = b"shadow map\0";
    let name = [&text[..], &bytes![u32 99, u64 5]].concat();
    [token(12, 10 << 4 | 10_000_000 << 64), token(4, 4 | 6 << 8 | (name.len() as u128) << 12), name].concat()
}

/// A crash: one command buffer in flight, in `Frame > Draw`.
pub fn markers() -> Vec<u8> {
    let begin = |delta: u8, marker: u32, name: &str| {
        let payload = [&bytes![u32 5, u32 marker, u16 name.len()][..], name.as_bytes()].concat();
        event(16, delta, &payload)
    };
    let end = |delta: u8, marker: u32| event(17, delta, &bytes![u32 5, u32 marker]);
    let info = [&bytes![u32 5, u32 4, u16 13, u8 2, u32 1][..], &0xabcd_u64.to_le_bytes()].concat();
    [
        event(18, 0, &bytes![u32 5, u32 4, u32 3]),
        begin(1, 1, "Frame"),
        begin(1, 2, "Clear"),
        begin(1, 3, "Barrier"),
        end(2, 3),
        end(2, 2),
        begin(2, 4, "Draw"),
        event(19, 3, &info),
        event(0, 0, &bytes![u64 300]),
        end(0, 4),
        event(0, 0, &bytes![u64 301]),
        end(0, 1),
    ]
    .concat()
}

/// A page fault at an address.
pub fn page_fault(address: u64) -> Vec<u8> {
    let payload = [&bytes![u32 12, u32 77, u64 address, u16 8][..], b"game.exe"].concat();
    event(16, 0, &payload)
}

/// A crash with so many page faults at an address that so many resources held.
pub fn held(resources: usize, faults: usize) -> Vec<Chunk> {
    let mut tokens = token(12, 5 << 4 | 10_000_000 << 64);
    for resource in 1..=resources as u128 {
        tokens.extend(token(46, 13 | resource << 8));
        tokens.extend(token(17, 7 | 0x10000 << 8 | 0x2000 << 56 | resource << 104));
    }
    vec![rmt(77, 1, &tokens), driver_events(KMD, 110, &page_fault(0x10010).repeat(faults))]
}

/// A chunk of each kind.
pub fn chunks() -> Vec<Chunk> {
    let asic = |version: u32| {
        let mut data = if version > 1 { bytes![u32 0x0c0000, u32 0] } else { Vec::new() };
        data.extend(bytes![u64 1, u64 2, u64 100_000_000]);
        data.resize(data.len() + 128, 3);
        data.extend(padded("gfx", 256));
        data.resize([568, 576, 608][version as usize - 1], 1);
        Chunk::raw("AsicInfo", &data).version(version)
    };
    let hash = bytes![u64 1, u64 2];
    let load = [&bytes![u32 1, u32 0, u64 0x1000][..], &hash, &bytes![u64 9]].concat();
    let pipeline = [&bytes![u32 1, u32 0, u64 5][..], &hash, &padded("gbuffer", 64)].concat();
    let elf = {
        let mut elf = b"\x7fELF\x02\x01\x01\x41".to_vec();
        elf.resize(16, 0);
        elf.extend(bytes![u16 1, u16 224, u32 1, u64 0, u64 0, u64 64, u32 0x41]);
        elf.extend(bytes![u16 64, u16 0, u16 0, u16 64, u16 1, u16 0]);
        // One section of notes: 20 bytes after the table.
        elf.extend(bytes![u32 0, u32 7, u64 0, u64 0, u64 128, u64 20, u32 0, u32 0, u64 4, u64 0]);
        elf.extend(bytes![u32 4, u32 4, u32 32]);
        elf.extend(b"AMD\0\x81\xa1a\x01");
        elf
    };
    let one = bytes![u32 1];
    let json = br#"{"version":{"major":2},"cpus":[{"name":"cpu \u00e4","cpuTimeClockFreq":10000000}],"gpus":[{}],"processes":[{"processId":7,"path":"p"}]}"#;
    let overrides = br#"{"IsDriverExperiments":true,"Components":[{"Component":"c","Structures":{"s":[{"SettingName":"n","Current":1,"UserOverride":1}]}}]}"#;
    vec![
        Chunk::raw("ApiInfo", &bytes![u32 4, u16 1, u16 3]).version(2),
        asic(1),
        asic(2),
        asic(3),
        Chunk::raw("AdapterInfo", &[padded("gpu", 128), vec![1; 44]].concat()),
        Chunk::raw("SystemInfo", json),
        Chunk::raw("DriverOverrides", &[&overrides[..], b"\0"].concat()).version(3),
        Chunk::raw("TraceConfig", b"{}"),
        Chunk::raw("RgdExtendedInfo", br#"{"hcaEnabled":true}"#),
        Chunk::raw("TraceProcessInfo", &[&bytes![u32 77, u32 5][..], b"game\0"].concat()),
        Chunk::raw("GpuMemSegment", &bytes![u32 0, u32 0, u64 0, u64 256, u32 2, u32 0, u64 0, u64 512]),
        Chunk::raw("TraceError", b"lost")
            .header(&[padded("SqttData", 16), bytes![u32 1, i32 -7, u32 1]].concat()),
        Chunk::raw("CodeObject", &elf).version(2).header(&[bytes![u32 1, u32 0], hash.clone()].concat()),
        Chunk::raw("CodeObject", &elf).version(1).header(&hash),
        Chunk::raw("COLoadEvent", &load).version(3).header(&one),
        Chunk::raw("COLoadEvent", &load).version(1),
        Chunk::raw("PsoCorrelation", &pipeline).version(3).header(&one),
        Chunk::raw("PsoCorrelation", &pipeline[8..]).version(1),
        Chunk::raw("COCorrelation", &[hash.clone(), hash.clone(), bytes![u32 1, u32 0]].concat())
            .version(4)
            .header(&one),
        Chunk::raw("QueueInfo", &bytes![u32 1, u32 0, u64 11, u64 0, u8 1, u8 1, u16 0, u32 0]),
        Chunk::raw(
            "QueueEvent",
            &bytes![u32 1, u32 0, u64 11, u32 0, u32 3, u64 1, u32 0, u32 0, u64 9, u64 50, u64 100, u64 250],
        ),
        Chunk::raw("ClockCalibration", &bytes![u64 50, u64 100]).version(1),
        Chunk::raw("ClockCalibration", &bytes![u32 1, u32 0, u64 50, u64 100]).version(2),
        Chunk::raw("SqttData", &bytes![u32 1, u32 7, u32 1, u32 5, u32 0, u32 9]).version(1),
        Chunk::raw("SqttData", b"tokens")
            .version(5)
            .header(&bytes![u32 1, u32 0, u32 12, u32 1, u32 5, u32 0, u64 4096, u32 3, u32 0]),
        Chunk::raw("SpmSession", &bytes![u64 1, u64 2])
            .version(2)
            .header(&bytes![u32 1, u32 0, u32 4096, u32 2, u32 1]),
        Chunk::raw("SpmCounterData", &bytes![u16 3, u16 4])
            .version(2)
            .header(&bytes![u32 1, u32 6, u32 0, u32 4, u32 2]),
        Chunk::raw("StringTable", &[&bytes![u32 8, u32 10][..], b"a\0bc\0"].concat())
            .header(&bytes![u32 1, u32 2]),
        Chunk::raw("UserMarkerHist", &bytes![u32 5, u32 2]).header(&bytes![u32 0, u32 1, u32 2]),
        Chunk::raw("RmvSnapshotData", &[padded("one", 128), bytes![u64 77, u32 3, u32 1]].concat()),
        Chunk::raw("RmvSnapshotIndex", &bytes![u16 0, u16 0xffff]).header(&bytes![u16 2, u16 0xcdcd, u32 1]),
        rmt(77, 1, &process_tokens()),
        rmt(0, 2, &name_tokens()),
        driver_events(UMD, 100, &markers()),
        driver_events(KMD, 110, &page_fault(0x10010)),
        Chunk::raw("RawAccelStruct", &[0; 32])
            .version(0x0010_0003)
            .header(&bytes![u32 0x1000, u32 1, u32 0, u32 16, u32 16, u32 16, u32 1]),
        Chunk::raw("HistoryMetadata", &bytes![u32 4, u32 0, u64 8, u32 7, u32 3]),
    ]
}

/// A small profile of a GPU: two queues, of which one overlaps with itself; a memory trace, a snapshot, markers that a
/// driver noted, and those that a program set, of which no time is known. The sample in `examples/data`.
pub fn sample() -> Vec<Chunk> {
    const GPU: u32 = 0x0c0000;
    let asic = {
        let mut data = bytes![u32 GPU, u32 0, u64 0, u64 0, u64 100_000_000];
        data.resize(data.len() + 128, 0);
        data.extend(padded("Navi 31", 256));
        data.resize(608, 0);
        Chunk::raw("AsicInfo", &data).version(3)
    };
    let queue = |number: u64, kind: u8, engine: u8| {
        Chunk::raw("QueueInfo", &bytes![u32 GPU, u32 0, u64 number, u64 0, u8 kind, u8 engine, u16 0, u32 0])
    };
    // GPU ticks are 10 ns, CPU ticks 100 ns; at 1,000 CPU ticks it was 50,000 GPU ticks.
    let event = |queue: u64, kind: u32, buffer: u32, begin: u64, end: u64| {
        let data = bytes![u32 GPU, u32 0, u64 queue, u32 kind, u32 buffer, u64 1, u32 0, u32 0, u64 9];
        Chunk::raw("QueueEvent", &[data, bytes![u64 1_000, u64 50_000 + begin, u64 end]].concat())
    };
    let submit = |queue, buffer, begin: u64, end: u64| event(queue, 0, buffer, begin, 50_000 + end);
    let json = br#"{"version":{"major":2},"cpus":[{"name":"cpu","cpuTimeClockFreq":10000000}]}"#;
    let snapshot = [padded("level loaded", 128), bytes![u64 1_400, u32 12, u32 1]].concat();
    vec![
        Chunk::raw("SystemInfo", json),
        asic,
        Chunk::raw("ClockCalibration", &bytes![u32 GPU, u32 0, u64 1_000, u64 50_000]).version(2),
        queue(1, 1, 1),
        queue(2, 2, 2),
        submit(1, 1, 100, 900),
        submit(1, 2, 900, 2_500),
        submit(2, 3, 400, 3_000),
        // It begins before the one above has ended.
        submit(2, 4, 2_000, 2_600),
        event(1, 1, 0, 2_500, 0),
        event(1, 3, 0, 3_100, 0),
        Chunk::raw("SpmSession", &bytes![u64 50_100, u64 51_100, u64 52_100])
            .version(2)
            .header(&bytes![u32 GPU, u32 0, u32 4096, u32 3, u32 1]),
        Chunk::raw("SpmCounterData", &bytes![u16 3, u16 700, u16 42])
            .version(2)
            .header(&bytes![u32 GPU, u32 6, u32 0, u32 4, u32 2]),
        Chunk::raw("StringTable", &[&bytes![u32 8, u32 14][..], b"Frame\0Shadows\0"].concat())
            .header(&bytes![u32 1, u32 2]),
        Chunk::raw("UserMarkerHist", &bytes![u32 5, u32 9, u32 2, u32 2])
            .header(&bytes![u32 1, u32 1, u32 4]),
        Chunk::raw("RmvSnapshotData", &snapshot),
        rmt(77, 1, &process_tokens()),
        driver_events(UMD, 35, &markers()),
        driver_events(KMD, 40, &page_fault(0x10010)),
    ]
}
