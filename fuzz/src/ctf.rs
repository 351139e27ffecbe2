//! CTF 2 metadata as it arrives.

use traceglass::Result;
use traceglass::ctf::metadata::{Decoder, ParseOptions, Step};

/// The text of a stream that arrives in parts of `size` bytes. All of each part is taken.
pub fn in_parts(data: &[u8], leniency: ParseOptions, size: usize) -> Result<Vec<u8>> {
    let mut decoder = Decoder::new(leniency);
    let mut text = Vec::new();
    for mut part in data.chunks(size) {
        loop {
            match decoder.step(&mut part)? {
                Step::Content(content) => text.extend_from_slice(content),
                Step::NeedMore(_) => break,
                _ => {}
            }
        }
        assert!(part.is_empty());
    }
    decoder.finish().map(|_| text)
}
