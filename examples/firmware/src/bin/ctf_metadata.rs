//! Reads a packetized CTF 2 metadata stream that arrives 64 bytes at a time, as from a serial line.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cortex_m_semihosting::hprintln;
use traceglass::ctf::metadata::{Decoder, ParseOptions, Step};
use traceglass_firmware::finish;

static METADATA: &[u8] = include_bytes!("../../../data/sample.ctf2");

#[entry]
fn main() -> ! {
    finish(read())
}

fn read() -> traceglass::Result<()> {
    let mut decoder = Decoder::new(ParseOptions::STRICT);
    let (mut bytes, mut sum) = (0, 0_u32);
    for mut received in METADATA.chunks(64) {
        loop {
            match decoder.step(&mut received)? {
                Step::Packet(header) => hprintln!("packet: {} bytes of content", header.content_bytes()),
                Step::Content(content) => {
                    bytes += content.len();
                    sum = content.iter().fold(sum, |sum, byte| sum.rotate_left(5) ^ u32::from(*byte));
                }
                _ => break,
            }
        }
    }
    if let Some(warning) = decoder.finish()? {
        hprintln!("{}", warning);
    }
    hprintln!("ctf2: {} bytes of text, sum {:08x}", bytes, sum);
    Ok(())
}
