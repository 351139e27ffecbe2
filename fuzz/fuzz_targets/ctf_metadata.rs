//! Any bytes as metadata packets: as a slice, in place, and in parts. All give the same text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::ctf::metadata::{MetadataStream, ParseOptions, compact};
use traceglass_fuzz::ctf::in_parts;
use traceglass_fuzz::{lies_in, located_in, walk};

fuzz_target!(|data: &[u8]| {
    let Some((&control, data)) = data.split_first() else { return };
    let leniency = if control & 1 == 0 { ParseOptions::STRICT } else { ParseOptions::LENIENT };
    read(data, leniency, usize::from(control >> 1) + 1);
    // Random bytes are seldom a header: one whose sizes are right leads further in.
    let mut packet = Vec::from(0x75d1_1d57_u32.to_le_bytes());
    packet.extend([7; 20]);
    packet.extend([(44 + data.len().min(9)) as u32 * 8; 2].map(u32::to_le_bytes).concat());
    packet.extend([0, 0, 0, 2, 0, 0, 0, 0]);
    packet.extend(352_u32.to_le_bytes());
    packet.extend(data);
    read(&packet, leniency, usize::from(control >> 1) + 1);
});

fn read(data: &[u8], leniency: ParseOptions, size: usize) {
    let parsed = MetadataStream::parse_with(data, leniency);
    let whole = parsed.and_then(|stream| {
        let mut text = Vec::new();
        // The shortest packet has 37 bytes.
        let most = data.len() as u64 / 37 + 1;
        let mut packets = stream.packets();
        let fault = walk(&mut packets, most, data, |packet| {
            lies_in(packet.content(), data);
            lies_in(packet.padding(), data);
            Some(packet.offset())
        });
        let pieces = walk(stream.pieces(), most + 1, data, |piece| {
            lies_in(piece, data);
            assert!(!piece.is_empty());
            text.extend_from_slice(piece);
            None
        });
        assert_eq!(fault, pieces);
        let (readable, also) = stream.text_until_error();
        assert_eq!((readable.len(), also), (text.len() as u64, fault));
        assert_eq!(readable.copy_to(&mut vec![0; text.len()]).unwrap(), text);
        let mut buffer = data.to_vec();
        let compacted = compact(&mut buffer, leniency).unwrap();
        assert_eq!((compacted.text(), compacted.error()), (&text[..], fault));
        let mut last = packets.offset();
        while let Some(gap) = packets.recover() {
            let found = gap.end();
            assert!(found > last && found < data.len() as u64);
            last = found;
            assert!(packets.next().unwrap().is_ok());
            while let Some(Ok(packet)) = packets.next() {
                last = packet.offset();
            }
        }
        fault.map_or(Ok(text), Err)
    });
    if let Err(error) = &whole {
        located_in(error, data);
    }
    match (&whole, in_parts(data, leniency, size)) {
        // A lenient decoder cannot know that a header of 37 bytes is the last thing that comes.
        (Ok(_), Err(error)) if leniency == ParseOptions::LENIENT && error.is_truncation() => {}
        (Err(_), Err(error)) if leniency == ParseOptions::LENIENT && error.is_truncation() => {}
        (whole, found) => assert_eq!(*whole, found),
    }
}
