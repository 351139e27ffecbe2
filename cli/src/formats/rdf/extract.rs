//! Every chunk with its header, decompressed.

use super::decoder::Decoder;
use super::{Rdf, name};
use crate::status::{Result, Status};
use crate::trace::{Outcome, Part, Parts};

impl Rdf<'_> {
    pub(super) fn extract_chunks(&self, parts: &mut dyn Parts) -> Result<Outcome> {
        let mut damage: Vec<String> = self.damage.iter().map(ToString::to_string).collect();
        let mut decoder = Decoder::new();
        for entry in self.file.entries() {
            let Some(chunk) = self.file.chunk_at(entry.number()) else { continue };
            let id = name(entry.identifier());
            let number = entry.number() as u64;
            let of =
                |kind, range: Option<u64>| Part { kind, name: Some(&id), number, path: None, offset: range };
            if entry.header_size() != 0 {
                let header = parts.part(&of("header", entry.header_range().ok().map(|range| range.start)))?;
                match chunk.header() {
                    Ok(data) => parts.write(header, data)?,
                    Err(error) => {
                        parts.cut(header, &error.to_string());
                        damage.push(error.to_string());
                    }
                }
                parts.end(header)?;
            }
            let part = parts.part(&of("chunk", entry.stored_range().ok().map(|range| range.start)))?;
            let mut written = Ok(());
            let read = decoder.read(chunk, |piece| {
                if written.is_ok() {
                    written = parts.write(part, piece);
                }
            });
            written?;
            if let Err(error) = read {
                parts.cut(part, &error.to_string());
                damage.push(error.to_string());
            }
            parts.end(part)?;
            parts.advance(u64::try_from(entry.stored_size()).unwrap_or(0));
        }
        Ok(Outcome { status: Status::damaged_if(!damage.is_empty()), damage })
    }
}
