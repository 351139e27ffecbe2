//! The note of the compiler in a code object: MessagePack, read on demand.

use super::hash::Hash128;
use core::fmt;

/// The metadata of a pipeline in the note of a code object.
///
/// Each lookup reads the MessagePack from the front; nothing is stored, and nesting takes no recursion.
#[derive(Clone, Copy)]
pub struct PipelineNote<'a> {
    data: &'a [u8],
}

impl<'a> PipelineNote<'a> {
    pub(super) const fn new(data: &'a [u8]) -> Self {
        Self { data }
    }

    fn pipeline(&self) -> Option<Value<'a>> {
        Value { data: self.data }.get("amdpal.pipelines")?.items()?.next()
    }

    /// The API, such as "DX12" or "Vulkan".
    pub fn api(&self) -> Option<&'a str> {
        self.pipeline()?.get(".api")?.text()
    }

    /// The kind of pipeline, such as "Ngg" or "Cs".
    pub fn kind(&self) -> Option<&'a str> {
        self.pipeline()?.get(".type")?.text()
    }

    /// The pipeline's hash, which is that of the code object.
    pub fn hash(&self) -> Option<Hash128> {
        let mut halves = self.pipeline()?.get(".internal_pipeline_hash")?.items()?;
        let (lower, upper) = (halves.next()?.unsigned()?, halves.next()?.unsigned()?);
        Some(Hash128::new(upper, lower))
    }

    /// The hardware stages, such as ".gs" and ".ps".
    pub fn stages(&self) -> impl Iterator<Item = Stage<'a>> + use<'a> {
        let stages = self.pipeline().and_then(|pipeline| pipeline.get(".hardware_stages")?.members());
        stages.into_iter().flatten().filter_map(|(name, value)| Some(Stage { name: name.text()?, value }))
    }
}

impl fmt::Debug for PipelineNote<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipelineNote").field("len", &self.data.len()).finish()
    }
}

/// A hardware stage of a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    name: &'a str,
    value: Value<'a>,
}

impl<'a> Stage<'a> {
    /// The name, such as ".ps".
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// The function that it begins with.
    pub fn entry_point(&self) -> Option<&'a str> {
        self.value.get(".entry_point")?.text()
    }

    /// Scalar registers.
    pub fn sgprs(&self) -> Option<u64> {
        self.value.get(".sgpr_count")?.unsigned()
    }

    /// Vector registers.
    pub fn vgprs(&self) -> Option<u64> {
        self.value.get(".vgpr_count")?.unsigned()
    }

    /// Threads of a wave.
    pub fn wave_size(&self) -> Option<u64> {
        self.value.get(".wavefront_size")?.unsigned()
    }
}

/// A MessagePack value at the front of `data`.
#[derive(Clone, Copy)]
struct Value<'a> {
    data: &'a [u8],
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Value").finish_non_exhaustive()
    }
}

/// The type of a value, by its first byte.
enum Head<'a> {
    Unsigned(u64),
    Text(&'a [u8]),
    /// This many values follow.
    Array(u64),
    /// This many pairs follow.
    Map(u64),
    Other,
}

impl<'a> Value<'a> {
    /// The head, and what follows it.
    fn head(self) -> Option<(Head<'a>, &'a [u8])> {
        let (&byte, rest) = self.data.split_first()?;
        let number = |len: usize| {
            let (digits, rest) = rest.split_at_checked(len)?;
            Some((digits.iter().fold(0_u64, |value, &digit| value << 8 | u64::from(digit)), rest))
        };
        let skip = |len: u64, rest: &'a [u8]| rest.split_at_checked(usize::try_from(len).ok()?);
        let text = |(len, rest)| skip(len, rest).map(|(text, rest)| (Head::Text(text), rest));
        let other = |(len, rest)| skip(len, rest).map(|(_, rest)| (Head::Other, rest));
        let fixed = |len: u64| other((len, rest));
        match byte {
            0..=0x7f => Some((Head::Unsigned(byte.into()), rest)),
            0x80..=0x8f => Some((Head::Map(u64::from(byte & 0xf)), rest)),
            0x90..=0x9f => Some((Head::Array(u64::from(byte & 0xf)), rest)),
            0xa0..=0xbf => text((u64::from(byte & 0x1f), rest)),
            0xc4 => other(number(1)?),
            0xc5 => other(number(2)?),
            0xc6 => other(number(4)?),
            0xc7 => number(1).and_then(|(len, rest)| other((len.saturating_add(1), rest))),
            0xc8 => number(2).and_then(|(len, rest)| other((len.saturating_add(1), rest))),
            0xc9 => number(4).and_then(|(len, rest)| other((len.saturating_add(1), rest))),
            0xca => fixed(4),
            0xcb => fixed(8),
            0xcc => number(1).map(|(value, rest)| (Head::Unsigned(value), rest)),
            0xcd => number(2).map(|(value, rest)| (Head::Unsigned(value), rest)),
            0xce => number(4).map(|(value, rest)| (Head::Unsigned(value), rest)),
            0xcf => number(8).map(|(value, rest)| (Head::Unsigned(value), rest)),
            0xd0 => fixed(1),
            0xd1 => fixed(2),
            0xd2 => fixed(4),
            0xd3 => fixed(8),
            0xd4 => fixed(2),
            0xd5 => fixed(3),
            0xd6 => fixed(5),
            0xd7 => fixed(9),
            0xd8 => fixed(17),
            0xd9 => text(number(1)?),
            0xda => text(number(2)?),
            0xdb => text(number(4)?),
            0xdc => number(2).map(|(count, rest)| (Head::Array(count), rest)),
            0xdd => number(4).map(|(count, rest)| (Head::Array(count), rest)),
            0xde => number(2).map(|(count, rest)| (Head::Map(count), rest)),
            0xdf => number(4).map(|(count, rest)| (Head::Map(count), rest)),
            0xc0..=0xc3 | 0xe0..=0xff => Some((Head::Other, rest)),
        }
    }

    /// The bytes after the value. Nested values only add to the number that is still to be skipped.
    fn skip(self) -> Option<&'a [u8]> {
        let mut pending = 1_u64;
        let mut data = self.data;
        while pending > 0 {
            let (head, rest) = Value { data }.head()?;
            let more = match head {
                Head::Array(count) => count,
                Head::Map(count) => count.saturating_mul(2),
                _ => 0,
            };
            pending = pending.saturating_sub(1).saturating_add(more);
            data = rest;
        }
        Some(data)
    }

    fn unsigned(self) -> Option<u64> {
        match self.head()?.0 {
            Head::Unsigned(value) => Some(value),
            _ => None,
        }
    }

    fn text(self) -> Option<&'a str> {
        match self.head()?.0 {
            Head::Text(text) => core::str::from_utf8(text).ok(),
            _ => None,
        }
    }

    /// The values of an array.
    fn items(self) -> Option<impl Iterator<Item = Value<'a>> + use<'a>> {
        let (Head::Array(count), data) = self.head()? else { return None };
        Some(values(count, data))
    }

    /// The pairs of a map.
    fn members(self) -> Option<impl Iterator<Item = (Value<'a>, Value<'a>)> + use<'a>> {
        let (Head::Map(count), data) = self.head()? else { return None };
        let mut all = values(count.saturating_mul(2), data);
        Some(core::iter::from_fn(move || Some((all.next()?, all.next()?))))
    }

    fn get(self, name: &str) -> Option<Self> {
        self.members()?.find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value)
    }
}

/// `count` values, one after another.
fn values<'a>(count: u64, data: &'a [u8]) -> impl Iterator<Item = Value<'a>> + use<'a> {
    let mut rest = Some(data);
    let mut left = count;
    core::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        let value = Value { data: rest? };
        rest = value.skip();
        rest.map(|_| value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn note() -> Vec<u8> {
        let text = |text: &str| [&[0xa0 | text.len() as u8], text.as_bytes()].concat();
        let long = |text: &str| [&[0xd9, text.len() as u8], text.as_bytes()].concat();
        [
            &[0x82][..],
            &text("amdpal.version"),
            &[0x92, 2, 6],
            &text("amdpal.pipelines"),
            &[0x91, 0x84],
            &text(".api"),
            &text("DX12"),
            &text(".skipped"),
            &[0x93, 0x81, 1, 0xc3, 0xc4, 2, 9, 9, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0],
            &long(".internal_pipeline_hash"),
            &[0x92, 0xcf, 0, 0, 0, 0, 0, 0, 0, 2, 0xcd, 1, 0],
            &text(".hardware_stages"),
            &[0x81],
            &text(".cs"),
            &[0x82],
            &text(".vgpr_count"),
            &[0xcc, 0x80],
            &text(".entry_point"),
            &text("_amdgpu_cs_main"),
        ]
        .concat()
    }

    #[test]
    fn facts_are_found_by_name() {
        let data = note();
        let note = PipelineNote::new(&data);
        assert_eq!(note.api(), Some("DX12"));
        assert_eq!(note.kind(), None);
        assert_eq!(note.hash(), Some(Hash128::new(256, 2)));
        let stages: Vec<_> = note
            .stages()
            .map(|stage| (stage.name(), stage.vgprs(), stage.sgprs(), stage.entry_point()))
            .collect();
        assert_eq!(stages, [(".cs", Some(128), None, Some("_amdgpu_cs_main"))]);
    }

    #[test]
    fn a_cut_note_gives_what_is_whole() {
        let data = note();
        for len in 0..data.len() {
            let note = PipelineNote::new(&data[..len]);
            let _ = (note.hash(), note.stages().count());
            assert!(note.api().is_none_or(|api| api == "DX12"));
        }
        // Claims of many values end with the data.
        assert_eq!(PipelineNote::new(&[0xdd, 0xff, 0xff, 0xff, 0xff]).api(), None);
        assert_eq!(
            Value { data: &[0xdf, 0xff, 0xff, 0xff, 0xff, 1] }.members().map(Iterator::count),
            Some(0)
        );
    }
}
