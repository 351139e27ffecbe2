//! The places of structures of fixed layout in a chunk, for a hex dump or a listing.

use super::layout::{Field, FieldValue};
use super::layouts::{Block, LAYOUTS, Layout, Part};
use super::tell::{CLOCK, after, first_slot};
use super::{FixedText, ticks_to_ns};
use crate::bytes::to_u64;
use crate::error::Result;
use crate::rdf::Identifier;
use crate::record::{
    Any, Class, ClassId, Fact, FieldInfo, Head, Hint, Kind, Listener, Record, Scope, Slot, Step, Text, Time,
};
use core::fmt::Display;
use core::num::NonZeroU64;

/// A structure in a chunk: where it lies, and the table of its fields.
#[derive(Clone, Copy)]
pub struct Structure<'a> {
    part: Part,
    offset: u64,
    bytes: &'a [u8],
    fields: &'static [Field],
}

impl<'a> Structure<'a> {
    /// The part of the chunk in which it lies.
    pub const fn part(&self) -> Part {
        self.part
    }

    /// Offset in that part.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The fields.
    pub const fn fields(&self) -> &'static [Field] {
        self.fields
    }

    /// The structures of fixed layout in a chunk: those of its header, then those of its data, in order. None of a
    /// chunk or a version that is not known; a structure that is cut is left out.
    pub fn of_chunk(
        identifier: Identifier,
        version: u32,
        header: &'a [u8],
        data: &'a [u8],
    ) -> impl Iterator<Item = Structure<'a>> + Clone + use<'a> {
        let layout = Layout::number(identifier, version).and_then(|number| LAYOUTS.get(number));
        layout.map_or(&[][..], |layout| layout.blocks).iter().flat_map(move |block| {
            let bytes = match block.part {
                Part::Header => header,
                Part::Data => data,
            };
            let bytes = bytes.get(block.offset..).unwrap_or_default();
            let most = if block.stride > 0 { usize::MAX } else { 1 };
            // The last record may lack what follows this structure in it.
            bytes.chunks(block.stride.max(block.size).max(1)).take(most).enumerate().filter_map(
                move |(number, bytes)| {
                    let offset = block.offset.saturating_add(number.saturating_mul(block.stride));
                    let bytes = bytes.get(..block.size)?;
                    Some(Structure { part: block.part, offset: to_u64(offset), bytes, fields: block.fields })
                },
            )
        })
    }
}

impl core::fmt::Debug for Structure<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Structure")
            .field("part", &self.part)
            .field("offset", &self.offset)
            .field("len", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

/// The first number of the classes of structures; each layout has two.
const FIRST: u32 = 64;

/// Text that follows the structure of a chunk, as a field of the same record.
const TAILS: [(&str, &str); 2] = [("TraceProcessInfo", "process_path"), ("TraceError", "text")];

/// The structures that lie together in a chunk, as a record: those of its header, or of a place in its data.
#[derive(Clone, Copy)]
pub struct StructureRecord<'a> {
    class: StructureClass,
    offset: u64,
    /// From the first structure on.
    bytes: &'a [u8],
    /// The text that follows it, if the layout has one.
    tail: Option<&'a [u8]>,
    cpu_hz: Option<NonZeroU64>,
}

/// The class of all structures at one place of a layout: the number of the layout, and of the place.
#[derive(Clone, Copy)]
struct StructureClass(u32, u32);

impl StructureClass {
    fn layout(self) -> Option<&'static Layout> {
        LAYOUTS.get(usize::try_from(self.0).ok()?)
    }

    fn blocks(self) -> &'static [Block] {
        let mut places = self.layout().into_iter().flat_map(Layout::places);
        places.nth(usize::try_from(self.1).unwrap_or(usize::MAX)).unwrap_or_default()
    }

    const fn number(self) -> ClassId {
        ClassId(self.0.wrapping_mul(2).wrapping_add(self.1).wrapping_add(FIRST))
    }

    fn name(&self) -> &'static &'static str {
        self.layout().and_then(|layout| layout.identifiers.first()).unwrap_or(&"")
    }

    fn tail(&self) -> Option<&'static &'static str> {
        TAILS.iter().find(|(name, _)| name == self.name()).map(|(_, tail)| tail)
    }

    /// All fields but padding: where the structure of each begins.
    fn fields(&self) -> impl Iterator<Item = (usize, &'static Field)> {
        let start = self.blocks().first().map_or(0, |block| block.offset);
        let fields = self.blocks().iter().flat_map(move |block| {
            block.fields.iter().map(move |field| (block.offset.saturating_sub(start), field))
        });
        fields.filter(|(_, field)| !field.is_padding())
    }
}

/// True if a field says when the record happened, on the CPU's clock.
fn is_time(field: &Field) -> bool {
    field.hint == Hint::Ticks && ["ticks", "cpu_ticks"].contains(&field.name)
}

impl Class for StructureClass {
    fn id(&self) -> ClassId {
        self.number()
    }

    fn name(&self) -> &dyn Display {
        StructureClass::name(self)
    }

    fn clock(&self) -> Option<&dyn Display> {
        let mut fields = StructureClass::fields(self);
        if fields.any(|(_, field)| is_time(field)) { Some(&CLOCK) } else { None }
    }

    fn facts(&self, each: &mut dyn FnMut(&'static str, Fact<'_>)) {
        each("kind", Fact::Text(StructureClass::name(self)));
    }

    fn fields(&self, each: &mut dyn FnMut(Step<'_>)) {
        each(Step::Scope(Scope::Fields));
        let mut slot = first_slot(self.number());
        for (_, field) in StructureClass::fields(self) {
            field.describe(slot, each);
            slot = after(slot, field.places());
        }
        if let Some(name) = self.tail() {
            each(Step::Field(FieldInfo { slot, ..FieldInfo::new(name, Kind::Text) }));
        }
        each(Step::End);
    }
}

impl<'a> StructureRecord<'a> {
    /// The records of the structures in a chunk: one for its header, then those of its data, in order. None of a chunk
    /// or a version that is not known. `cpu_hz` is the rate of the CPU's clock, if that is known.
    pub fn of_chunk(
        identifier: Identifier,
        version: u32,
        header: &'a [u8],
        data: &'a [u8],
        cpu_hz: Option<u64>,
    ) -> impl Iterator<Item = StructureRecord<'a>> + Clone + use<'a> {
        let number = Layout::number(identifier, version);
        let layout = number.and_then(|number| Some((u32::try_from(number).ok()?, LAYOUTS.get(number)?)));
        let tail = match identifier.name() {
            b"TraceProcessInfo" => data.get(8..),
            b"TraceError" if header.get(24) == Some(&1) => Some(data),
            _ => None,
        };
        let cpu_hz = cpu_hz.and_then(NonZeroU64::new);
        layout.into_iter().flat_map(move |(number, layout)| {
            let places = (0_u32..).zip(layout.places());
            places.filter(|(_, blocks)| blocks.iter().all(|block| !block.is_copy)).flat_map(
                move |(place, blocks)| {
                    let (part, start, stride) = blocks
                        .first()
                        .map_or((Part::Data, 0, 0), |block| (block.part, block.offset, block.stride));
                    let bytes = if part == Part::Header { header } else { data };
                    let bytes = bytes.get(start..).unwrap_or_default();
                    let step = if stride > 0 { stride } else { bytes.len().max(1) };
                    bytes.chunks(step).enumerate().map(move |(at, bytes)| {
                        let offset = to_u64(start.saturating_add(at.saturating_mul(stride)));
                        let class = StructureClass(number, place);
                        StructureRecord { class, offset, bytes, tail, cpu_hz }
                    })
                },
            )
        })
    }

    /// Offset in the chunk's header or data.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// True if it lies in the chunk's header.
    pub fn is_in_header(&self) -> bool {
        self.class.blocks().first().is_some_and(|block| block.part == Part::Header)
    }

    /// CPU ticks, if it has a time.
    pub fn ticks(&self) -> Option<u64> {
        let (at, field) = self.class.fields().find(|(_, field)| is_time(field))?;
        match field.values(self.bytes.get(at..)?).next()? {
            FieldValue::Unsigned { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Nanoseconds on the CPU's clock, if it has a time and the rate is known.
    pub fn ns(&self) -> Option<i128> {
        ticks_to_ns(self.ticks()?, self.cpu_hz?.get())
    }

    /// Tells the fields.
    fn tell_all(&self, to: &mut Any<'_>) {
        let time = self.ns().map(Time::since_origin);
        let head = Head { class: self.class.number(), time, offset: self.offset, bit: 0, len: None };
        if super::tell::begin(to, &head, &self.class) {
            let mut slot = first_slot(self.class.number());
            for (at, field) in self.class.fields() {
                if !to.is_full() {
                    self.say(at, field, slot, to);
                }
                slot = after(slot, field.places());
            }
            if self.class.tail().is_some() && !to.is_full() {
                match self.tail {
                    Some(text) => to.text(slot, Text::Utf8(FixedText::new(text).bytes())),
                    None => to.absent(slot),
                }
            }
            to.end_scope();
        }
        to.end();
    }

    /// A field that is cut has no value.
    fn say(&self, at: usize, field: &Field, slot: Slot, to: &mut Any<'_>) {
        let bytes = self.bytes.get(at..).unwrap_or_default();
        let end = field.offset().saturating_add(field.size());
        if bytes.len() < end { to.absent(slot) } else { field.say(bytes, slot, to) }
    }
}

impl Record for StructureRecord<'_> {
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        self.tell_all(&mut Any(to));
        Ok(())
    }
}

impl core::fmt::Debug for StructureRecord<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("StructureRecord")
            .field("kind", StructureClass::name(&self.class))
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}
