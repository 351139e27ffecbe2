//! Reads traces from storage that is not memory-mapped, such as a flash chip on SPI: by byte ranges, through buffers of
//! fixed size, without a heap.
//!
//!     cargo run --example flash_pieces -- examples/data/sample.rdf DDEvent
//!     cargo run --example flash_pieces -- examples/data/sample.ctf2
//!
//! Each format says which bytes it wants next; who fetches them, and how, is not its business.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use traceglass::ctf::metadata::{Decoder, ParseOptions, Step};
use traceglass::rdf::{Compression, Header, Identifier, Index};
use traceglass::zstd::{self, Workspace};

/// A driver: it reads so many bytes from an address on.
trait Storage {
    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<()>;
    fn size(&self) -> io::Result<u64>;
}

/// A file stands in for the chip.
impl Storage for File {
    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(at))?;
        self.read_exact(buffer)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let mut flash = File::open(args.next().ok_or("usage: flash_pieces FILE [IDENTIFIER]")?)?;
    let mut out = io::stdout().lock();
    match args.next() {
        Some(identifier) => chunk(&mut flash, Identifier::try_from(identifier.as_str())?, &mut out),
        None => metadata(&mut flash, &mut out),
    }
}

/// One chunk of an RDF file: the header says where the index is, an entry of it where the chunk is.
fn chunk(flash: &mut impl Storage, wanted: Identifier, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut header = [0; Header::SIZE];
    flash.read(0, &mut header)?;
    let index = Header::parse(&header)?.index_range()?;

    // One entry at a time; each knows where it stands, so that errors say offsets in the file.
    for at in index.step_by(Index::ENTRY_SIZE) {
        let mut entry = [0; Index::ENTRY_SIZE];
        flash.read(at, &mut entry)?;
        let entry = Index::parse(&entry, at)?.get(0).ok_or("an empty index")?;
        if entry.identifier() != wanted {
            continue;
        }
        let stored = entry.stored_range()?;
        if entry.compression() == Compression::None {
            return copy(flash, stored, out);
        }
        // Compressed data is fetched as a whole. Its content goes through a window: that may be larger than memory.
        let (mut buffer, mut window) = ([0; 4096], [0; 8192]);
        let size = usize::try_from(stored.end - stored.start)?;
        let buffer =
            buffer.get_mut(..size).ok_or_else(|| format!("stored in {size} bytes: more than the buffer"))?;
        flash.read(stored.start, buffer)?;
        let mut done = Ok(());
        let mut workspace = Workspace::new(); // 16 KiB; on a microcontroller rather a `static`
        zstd::Decoder::new(&mut workspace).stream(buffer, &mut window, |piece| {
            if done.is_ok() {
                done = out.write_all(piece);
            }
        })?;
        return Ok(done?);
    }
    Err("no such chunk".into())
}

/// Raw bytes, of any number, through a buffer of 256.
fn copy(flash: &mut impl Storage, range: Range<u64>, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut buffer = [0; 256];
    for at in range.clone().step_by(buffer.len()) {
        let piece = &mut buffer[..(range.end - at).min(256) as usize];
        flash.read(at, piece)?;
        out.write_all(piece)?;
    }
    Ok(())
}

/// The text of a CTF 2 metadata stream: the decoder is fed, and hands back what of it is text.
fn metadata(flash: &mut impl Storage, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut decoder = Decoder::new(ParseOptions::STRICT);
    let (mut buffer, end) = ([0; 64], flash.size()?);
    while decoder.offset() < end {
        let piece = &mut buffer[..(end - decoder.offset()).min(64) as usize];
        flash.read(decoder.offset(), piece)?;
        let mut fed = &*piece;
        loop {
            match decoder.step(&mut fed)? {
                Step::Content(text) => out.write_all(text)?,
                Step::NeedMore(_) => break,
                _ => {}
            }
        }
    }
    // An error if the stream may not end here.
    decoder.finish()?;
    Ok(())
}
