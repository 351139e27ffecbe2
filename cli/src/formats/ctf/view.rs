//! Metadata, looked at piece by piece.

use super::{Ctf2, header_fields, kind, label};
use crate::output::shortened;
use crate::status::Result;
use crate::trace::{About, Browse, Depth, Each, Field, Fields, FileEntry, Level, Node, Plain, Trace};
use std::path::Path;
use traceglass::Format;
use traceglass::ctf::metadata::{Fragment, Language, Packet};

/// Text longer than this is not split into fragments: that takes reading it from the start.
const MOST: u64 = 8 << 20;

/// The most of a fragment's text that is shown.
const SHOWN: usize = 400;

/// Looks at a metadata stream.
pub fn browse(ctf: &Ctf2<'_>, path: &Path, look: &mut dyn FnMut(&dyn Browse)) {
    let entry = FileEntry { path: path.to_owned(), size: ctf.data.len() as u64, times: None };
    look(&View { ctf, entries: [entry] });
}

struct View<'a> {
    ctf: &'a Ctf2<'a>,
    entries: [FileEntry; 1],
}

impl Browse for View<'_> {
    fn format(&self) -> Format {
        self.ctf.format()
    }

    fn files(&self) -> &[FileEntry] {
        &self.entries
    }

    fn data(&self, _file: usize) -> Result<&[u8], String> {
        Ok(self.ctf.data)
    }

    fn walk(&self, _file: usize, _from: u64, depth: Depth, each: Each<'_>) {
        self.ctf.walk(depth, each);
    }

    fn index(&self, _file: usize, _going: &dyn Fn(u64) -> bool) {}
}

impl Ctf2<'_> {
    /// Hands out packets and fragments, by where they begin.
    pub(super) fn walk(&self, depth: Depth, each: Each<'_>) {
        let mut packets = self.packets().enumerate().peekable();
        let is_tsdl = self.stream.language() == Language::Tsdl;
        let told_apart = depth == Depth::All && !is_tsdl && self.data.len() as u64 <= MOST;
        let mut fragments = self.fragments().take(if told_apart { usize::MAX } else { 0 }).peekable();
        if packets.peek().is_none() {
            let (name, text) = ("text", String::new());
            let field = is_tsdl.then(|| Field::new(0, self.data.len() as u64, "TSDL", ""));
            let about = Plain { name, text, field };
            let end = self.data.len() as u64;
            if !each(&Node::new(Level::Part, 0, end, &about)) {
                return;
            }
        }
        loop {
            let packet = packets.peek().map(|(_, packet)| packet.header().offset());
            let fragment = fragments.peek().map(|(_, fragment)| fragment.offset());
            let goes_on = match (packet, fragment) {
                (None, None) => return,
                (Some(packet), fragment) if fragment.is_none_or(|fragment| packet <= fragment) => {
                    packets.next().is_some_and(|(number, packet)| tell_packet(number, &packet, is_tsdl, each))
                }
                _ => {
                    fragments.next().is_some_and(|(number, fragment)| tell_fragment(number, &fragment, each))
                }
            };
            if !goes_on {
                return;
            }
        }
    }
}

fn tell_packet(number: usize, packet: &Packet<'_>, is_tsdl: bool, each: Each<'_>) -> bool {
    let header = packet.header();
    let offset = header.offset();
    let end = offset.saturating_add(header.total_bytes().into());
    each(&Node::new(Level::Part, offset, end, &Whole { number, packet, is_tsdl }))
}

fn tell_fragment(number: usize, fragment: &Fragment<'_>, each: Each<'_>) -> bool {
    let offset = fragment.offset();
    let mut pieces = fragment.text().pieces();
    let mut end = offset;
    loop {
        let start = pieces.offset();
        let Some(piece) = pieces.next() else { break };
        end = start.saturating_add(piece.len() as u64);
    }
    let about = Text { number, fragment };
    each(&Node::new(Level::Record, offset, end, &about))
}

struct Whole<'w> {
    number: usize,
    packet: &'w Packet<'w>,
    is_tsdl: bool,
}

impl About for Whole<'_> {
    fn text(&self) -> (String, String) {
        let header = self.packet.header();
        let text = format!("{} bytes, {} of text", header.total_bytes(), header.content_bytes());
        (format!("packet {}", self.number), text)
    }

    fn fields(&self, fields: &mut Fields<'_, '_>) -> Result<()> {
        let mut list = Vec::new();
        header_fields(self.number, self.packet.header(), &mut list);
        let (start, len) = (self.packet.content_offset(), self.packet.content().len() as u64);
        if self.is_tsdl {
            list.push(Field::new(start, len, "TSDL", ""));
        }
        let padding = format!("packet {} padding", self.number);
        list.push(Field::new(start.saturating_add(len), self.packet.padding().len() as u64, padding, ""));
        list.iter().try_for_each(|field| fields.field(field))
    }
}

struct Text<'t> {
    number: usize,
    fragment: &'t Fragment<'t>,
}

impl About for Text<'_> {
    fn text(&self) -> (String, String) {
        let mut json = Vec::new();
        crate::json::minify(self.fragment.text().pieces().flatten().copied().take(4 * SHOWN), &mut json);
        let text = String::from_utf8_lossy(&json);
        (kind(self.fragment), shortened(&text, SHOWN).into_owned())
    }

    fn fields(&self, fields: &mut Fields<'_, '_>) -> Result<()> {
        let mut pieces = self.fragment.text().pieces();
        let name = label(self.fragment, "name").or_else(|| label(self.fragment, "id"));
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        loop {
            let start = pieces.offset();
            let Some(piece) = pieces.next() else { return Ok(()) };
            let what = format!("{}{name}", kind(self.fragment));
            fields.field(&Field::new(
                start,
                piece.len() as u64,
                format!("fragment {}", self.number),
                what,
            ))?;
        }
    }
}
