//! Lists an RDF file that is linked into flash and reads its chunks, raw and compressed.

#![no_std]
#![no_main]

use core::cell::RefCell;
use cortex_m::interrupt::Mutex;
use cortex_m_rt::entry;
use cortex_m_semihosting::hprintln;
use traceglass::rdf::File;
use traceglass::zstd::Workspace;
use traceglass_firmware::finish;

static TRACE: &[u8] = include_bytes!("../../../data/sample.rdf");

/// zstd's tables, and room for the largest chunk that this device wants to see decompressed.
static DECODING: Mutex<RefCell<(Workspace, [u8; 1024])>> =
    Mutex::new(RefCell::new((Workspace::new(), [0; 1024])));

#[entry]
fn main() -> ! {
    finish(read())
}

fn read() -> traceglass::Result<()> {
    let file = File::parse(TRACE)?;
    hprintln!("rdf: {} chunks", file.index().len());
    for entry in file.entries() {
        let Some(chunk) = file.chunk_at(entry.number()) else { continue };
        cortex_m::interrupt::free(|section| {
            let (workspace, buffer) = &mut *DECODING.borrow(section).borrow_mut();
            match chunk.data(buffer, workspace) {
                Ok(data) => {
                    let sum = data.iter().fold(0_u32, |sum, byte| sum.rotate_left(5) ^ u32::from(*byte));
                    hprintln!(
                        "{} {}: {} bytes, sum {:08x}",
                        entry.identifier(),
                        entry.compression(),
                        data.len(),
                        sum
                    );
                }
                // Too large for this device: reports it and continues.
                Err(error) => hprintln!("{}: {}", entry.identifier(), error),
            }
        });
    }
    Ok(())
}
