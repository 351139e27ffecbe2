//! What files say, wherever that lies in them.

use super::super::files::{Kind, Part};
use super::runs::range;
use crate::status::Result;
use crate::trace::Digest;
use traceglass::rfr::{Callsites, Chunk, Item, Streaming};

/// Where an object or a record begins.
pub fn start(item: &Item<'_>) -> Option<u64> {
    match item {
        Item::Object(object) => Some(object.offset()),
        Item::Record(record) => Some(record.offset()),
        _ => None,
    }
}

/// Adds the bytes of a record, an object or a callsite.
pub fn hash(data: &[u8], start: u64, end: u64, digest: &mut Digest) {
    digest.add(&[], range(data, start, end));
}

/// Adds all that can be read of a file.
pub fn hash_all(part: &Part<'_>, digest: &mut Digest) -> Result<()> {
    let data = part.data()?;
    let data = data.bytes();
    // What cannot be read was told.
    match part.kind {
        Kind::Chunk(_) => {
            let Ok(chunk) = Chunk::parse(data) else { return Ok(()) };
            let mut items = chunk.items();
            loop {
                match items.next_item() {
                    Ok(Some(item)) => {
                        if let Some(start) = start(&item) {
                            hash(data, start, items.offset(), digest);
                        }
                    }
                    Err(_) if items.recover().is_some() => {}
                    Ok(None) | Err(_) => return Ok(()),
                }
            }
        }
        Kind::Stream => {
            let Ok(stream) = Streaming::parse(data) else { return Ok(()) };
            let mut records = stream.records();
            loop {
                let at = records.offset();
                match records.next_record() {
                    Ok(Some(_)) => hash(data, at, records.offset(), digest),
                    Err(_) if records.recover().is_some() => {}
                    Ok(None) | Err(_) => return Ok(()),
                }
            }
        }
        Kind::Callsites => {
            let Ok(mut callsites) = Callsites::parse(data) else { return Ok(()) };
            loop {
                let at = callsites.offset();
                match callsites.next_callsite() {
                    Ok(Some(_)) => hash(data, at, callsites.offset(), digest),
                    Err(_) if callsites.recover().is_some() => {}
                    Ok(None) | Err(_) => return Ok(()),
                }
            }
        }
        Kind::Meta => Ok(()),
    }
}
