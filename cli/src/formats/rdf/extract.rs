//! Every chunk with its header, decompressed.

use super::Rdf;
use super::decoder::Decoder;
use super::plan::{Part as Stored, Plan, Turn};
use crate::status::Result;
use crate::trace::{Damage, Outcome, Part, Parts};
use traceglass::Error;

impl Rdf<'_> {
    /// Bytes that several entries name are written once.
    pub(super) fn extract_chunks(&self, parts: &mut dyn Parts) -> Result<Outcome> {
        let mut damage: Damage = self.damage().iter().map(ToString::to_string).collect();
        let mut decoder = Decoder::new();
        let (headers, contents) = (Plan::of(&self.file, Stored::Headers), Plan::of(&self.file, Stored::Data));
        for entry in self.file.entries() {
            let Some(chunk) = self.file.chunk_at(entry.number()) else { continue };
            // As it is: the manifest is JSON, of which files are made again.
            let id = entry.identifier();
            let is_text = id.text().is_ok() && !id.has_bytes_after_nul();
            let number = entry.number() as u64;
            let of = |kind, range: Option<u64>| Part {
                version: Some(entry.version()),
                kind,
                name: id.text().ok(),
                name_bytes: (!is_text).then_some(id.bytes()),
                number,
                offset: range,
                ..Part::default()
            };
            if entry.header_size() != 0 || chunk.header().is_err() {
                let header = of("header", entry.header_range().ok().map(|range| range.start));
                write(&header, headers.turn(entry.number()), parts, &mut damage, |piece| {
                    chunk.header().map(piece)
                })?;
            }
            let data = of("chunk", entry.stored_range().ok().map(|range| range.start));
            write(&data, contents.turn(entry.number()), parts, &mut damage, |piece| {
                decoder.read(chunk, piece)
            })?;
            parts.advance(u64::try_from(entry.stored_size()).unwrap_or(0));
        }
        Ok(damage.into())
    }
}

/// Writes a part, or says which one it is the same as.
fn write(
    part: &Part<'_>,
    turn: Turn,
    parts: &mut dyn Parts,
    damage: &mut Damage,
    read: impl FnOnce(&mut dyn FnMut(&[u8])) -> std::result::Result<(), Error>,
) -> Result<()> {
    if let Turn::As(first) = turn {
        return parts.same(part, first as u64);
    }
    let id = parts.part(part)?;
    let mut written = Ok(());
    let done = match turn {
        Turn::Beyond(error) => Err(error),
        _ => read(&mut |piece| {
            if written.is_ok() {
                written = parts.write(id, piece);
            }
        }),
    };
    written?;
    if let Err(error) = done {
        parts.cut(id, &error.to_string());
        damage.add(error.to_string());
    }
    parts.end(id)
}
