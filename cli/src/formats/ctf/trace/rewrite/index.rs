//! The index of a stream, as LTTng writes it beside the stream.

use super::super::files::index;
use super::streams::Streams;
use crate::status::Result;
use std::path::Path;
use traceglass::ctf::data::Packet;

/// The magic number, the version, and the size of an entry: as all numbers in it, of big endian.
const FRONT: [u32; 4] = [0xc1f1_dcc1, 1, 1, 72];

/// The begin and the end of a packet, if it says both.
pub fn times(packet: &Packet<'_, '_>) -> Option<(u64, u64)> {
    packet.begin().zip(packet.end())
}

/// The packets of a stream that is written.
#[derive(Default)]
pub struct Index {
    entries: Vec<[u64; 9]>,
    /// The number of bytes of the packets so far.
    size: u64,
    /// True if a packet does not say what an entry has.
    lacks: bool,
}

impl Index {
    /// Adds the next packet, with its begin and its end, so many bytes, and so many bits of content.
    pub fn add(&mut self, packet: &Packet<'_, '_>, times: Option<(u64, u64)>, bytes: u64, content: u64) {
        let Some((begin, end)) = times else {
            self.lacks = true;
            return;
        };
        let number = |number: Option<u64>| number.unwrap_or(0);
        self.entries.push([
            self.size,
            bytes.saturating_mul(8),
            content,
            begin,
            end,
            number(packet.discarded()),
            packet.stream_class().id(),
            number(packet.stream_id()),
            number(packet.sequence()),
        ]);
        self.size = self.size.saturating_add(bytes);
    }

    /// Writes it, if there are packets, and all say what belongs in it. Readers do without it, but believe one that is
    /// wrong.
    pub fn write(&self, stream: &Path, to: &mut Streams<'_>) -> Result<()> {
        if self.lacks || self.entries.is_empty() {
            return Ok(());
        }
        to.file(&index(stream))?;
        let front: Vec<u8> = FRONT.iter().flat_map(|number| number.to_be_bytes()).collect();
        to.put(&front)?;
        self.entries.iter().try_for_each(|entry| {
            let entry: Vec<u8> = entry.iter().flat_map(|number| number.to_be_bytes()).collect();
            to.put(&entry)
        })
    }
}
