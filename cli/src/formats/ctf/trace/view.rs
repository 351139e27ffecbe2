//! A trace, looked at piece by piece: packets and event records, and metadata.

use super::{Compiled, Ctf, wire};
use crate::output::{printable, shortened};
use crate::record::{NAME_SHOWN, ROW, Text};
use crate::status::Result;
use crate::trace::{About, Browse, Depth, Each, Field, Fields, FileEntry, Level, Lost, Marks, Node, Plain};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use traceglass::ctf::data::wire::WireSlot;
use traceglass::ctf::data::{Packet, Packets, Record};
use traceglass::ctf::schema::Schema;
use traceglass::event::Time;
use traceglass::record::{Any, Record as _};
use traceglass::{Format, Gap};

/// Looks at the traces in a folder, or at a data stream with the metadata beside it.
pub fn browse(ctf: &Ctf<'_>, look: &mut dyn FnMut(&dyn Browse)) -> Result<()> {
    ctf.with(|traces, _| {
        let mut files = Vec::new();
        let mut entries = Vec::new();
        let entry =
            |path: &PathBuf, size: usize| FileEntry { path: path.clone(), size: size as u64, times: None };
        for (found, compiled) in ctf.found.traces.iter().zip(traces) {
            if ctf.named.is_none() {
                entries.push(entry(&found.metadata_path, found.metadata.data().len()));
                let (data, slots) = (found.metadata.data(), OnceLock::new());
                files.push(File { data, stream: None, slots, text: Mutex::default() });
            }
            for (number, stream) in found.streams.iter().enumerate() {
                entries.push(entry(&stream.path, stream.data.data().len()));
                let (data, stream) = (stream.data.data(), Some((compiled, number)));
                files.push(File { data, stream, slots: OnceLock::new(), text: Mutex::default() });
            }
        }
        look(&View { ctf, files, entries, marks: Mutex::new(Marks::new()) });
        Ok(())
    })
}

struct File<'v> {
    data: &'v [u8],
    /// Of a data stream, its trace and its number there.
    stream: Option<(&'v Compiled<'v>, usize)>,
    /// Of a capture, what stands in it in the order of its bytes.
    slots: OnceLock<Option<Vec<WireSlot>>>,
    /// The maker of the rows of its records.
    text: Mutex<Option<Box<Text>>>,
}

impl File<'_> {
    fn slots(&self) -> Option<&[WireSlot]> {
        let (compiled, number) = self.stream?;
        self.slots.get_or_init(|| compiled.capture(number).map(wire::in_order)).as_deref()
    }
}

struct View<'v> {
    ctf: &'v Ctf<'v>,
    files: Vec<File<'v>>,
    entries: Vec<FileEntry>,
    /// Packets by where they begin: their numbers, and when they begin.
    marks: Mutex<Marks<(u64, Option<i128>)>>,
}

impl View<'_> {
    fn marks(&self) -> MutexGuard<'_, Marks<(u64, Option<i128>)>> {
        // The marks are sound even if a thread panicked.
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stream(&self, number: usize, from: u64, depth: Depth, note: bool, each: Each<'_>) {
        let Some(file) = self.files.get(number) else { return };
        let File { data, stream: Some((compiled, _)), text, .. } = file else { return };
        if let Some(slots) = file.slots() {
            return self.capture(file, &compiled.schema, slots, from, depth, note, each);
        }
        let begin =
            if note { None } else { self.marks().before(number, from).map(|&(at, (place, _))| (at, place)) };
        let mut packets = match begin {
            Some((at, place)) => Packets::from_packet(data, &compiled.schema, at, place),
            None => Packets::new(data, &compiled.schema),
        };
        let mut last = begin.map_or(0, |(at, _)| at);
        loop {
            match packets.next_packet() {
                Ok(Some(packet)) => {
                    if note {
                        let time = begin_of(&packet).map(Time::ns);
                        self.marks().note(packet.offset(), (packet.number(), time));
                    }
                    last = packet.end_offset();
                    if !packet_rows(&packet, text, depth, each) {
                        return;
                    }
                }
                Ok(None) => {
                    if note {
                        self.marks().done = data.len() as u64;
                    }
                    return;
                }
                Err(error) => {
                    let len = (data.len() as u64).saturating_sub(last);
                    each(&Lost::new(Gap::new(last, len, error)).node());
                    return;
                }
            }
        }
    }
}

impl<'v> View<'v> {
    /// Packets and gaps of a capture.
    #[allow(clippy::too_many_arguments)]
    fn capture(
        &self,
        file: &File<'v>,
        schema: &Schema<'_, '_>,
        slots: &[WireSlot],
        from: u64,
        depth: Depth,
        note: bool,
        each: Each<'_>,
    ) {
        let first = slots.partition_point(|slot| slot.end() <= from);
        for slot in slots.get(first..).unwrap_or_default() {
            let (offset, end) = (slot.offset(), slot.end());
            let goes_on = match super::hex::packet_of(file.data, schema, slot) {
                Some(packet) => {
                    if note {
                        self.marks().note(offset, (packet.number(), begin_of(&packet).map(Time::ns)));
                    }
                    packet_rows(&packet, &file.text, depth, each)
                }
                None => {
                    let about = Between { slot, data: file.data };
                    each(&Node::new(Level::Gap, offset, end, &about))
                }
            };
            if !goes_on {
                return;
            }
        }
        if note {
            self.marks().done = file.data.len() as u64;
        }
    }
}

/// A packet, and what is in it; false if enough has been seen.
fn packet_rows(
    packet: &Packet<'_, '_>,
    text: &Mutex<Option<Box<Text>>>,
    depth: Depth,
    each: Each<'_>,
) -> bool {
    let (offset, end) = (packet.offset(), packet.end_offset());
    let about = Whole { packet };
    let time = begin_of(packet);
    if !each(&Node::new(Level::Part, offset, end, &about).at(time)) {
        return false;
    }
    if depth == Depth::Parts {
        return true;
    }
    let is_unix = packet.stream_class().clock().is_some_and(|clock| clock.is_unix());
    let at = |bits: u64| offset.saturating_add(bits.div_ceil(8));
    let mut last = offset;
    let mut records = packet.records();
    loop {
        match records.next_record() {
            Ok(Some(record)) => {
                last = at(record.end());
                let about = Event { text, record: &record };
                let time = record.nanoseconds().map(|ns| moment(ns, is_unix));
                if !each(&Node::new(Level::Record, record.offset(), last, &about).at(time)) {
                    return false;
                }
            }
            Ok(None) => break,
            Err(error) => {
                return each(&Lost::new(records.gap(error)).node());
            }
        }
    }
    let content = at(packet.content_bits()).max(last);
    if content >= end {
        return true;
    }
    let (level, name) =
        if packet.is_doubtful() { (Level::Gap, "(lost)") } else { (Level::Filling, "padding") };
    let field = Some(Field::new(content, end.saturating_sub(content), name, ""));
    each(&Node::new(level, content, end, &Plain { name, text: String::new(), field }))
}

fn moment(ns: i128, is_unix: bool) -> Time {
    if is_unix { Time::since_epoch(ns) } else { Time::since_origin(ns) }
}

/// The begin of a packet.
fn begin_of(packet: &Packet<'_, '_>) -> Option<Time> {
    let clock = packet.stream_class().clock()?;
    Some(moment(clock.nanoseconds(packet.begin()?), clock.is_unix()))
}

impl Browse for View<'_> {
    fn format(&self) -> Format {
        crate::trace::Trace::format(self.ctf)
    }

    fn files(&self) -> &[FileEntry] {
        &self.entries
    }

    fn first(&self) -> usize {
        self.file_of_input(0).unwrap_or(0)
    }

    fn data(&self, file: usize) -> Result<&[u8], String> {
        self.files.get(file).map(|file| file.data).ok_or_else(|| "there is no such file".to_owned())
    }

    fn walk(&self, file: usize, from: u64, depth: Depth, each: Each<'_>) {
        match self.files.get(file) {
            Some(File { stream: Some(_), .. }) => self.stream(file, from, depth, false, each),
            Some(File { data, stream: None, .. }) => {
                let lenient = self.ctf.reading.lenient;
                if let Ok(metadata) = super::super::parse(data, lenient) {
                    metadata.walk(depth, each);
                }
            }
            None => {}
        }
    }

    fn index(&self, file: usize, going: &dyn Fn(u64) -> bool) {
        self.marks().reset(file);
        if self.files.get(file).is_some_and(|file| file.stream.is_some()) {
            self.stream(file, 0, Depth::Parts, true, &mut |node| going(node.end));
        }
    }

    fn near(&self, file: usize, ns: i128) -> u64 {
        // Packets of a capture are not in the order of time.
        if self.files.get(file).is_some_and(|file| file.slots().is_some()) {
            return 0;
        }
        let marks = self.marks();
        let begins = marks.of(file).iter().filter_map(|&(offset, (_, begin))| Some((offset, begin?)));
        begins.take_while(|&(_, begin)| begin <= ns).last().map_or(0, |(offset, _)| offset)
    }

    fn file_of_input(&self, input: usize) -> Option<usize> {
        let streams = self.files.iter().enumerate().filter(|(_, file)| file.stream.is_some());
        streams.map(|(number, _)| number).nth(input)
    }
}

/// A packet, with its header and its context.
struct Whole<'w> {
    packet: &'w Packet<'w, 'w>,
}

impl About for Whole<'_> {
    fn text(&self) -> (String, String) {
        let packet = self.packet;
        let bytes = packet.total_bits() / 8;
        let mut text = format!("{bytes} bytes");
        if let Some(id) = packet.stream_id() {
            text.push_str(&format!(", stream {id}"));
        }
        if let Some(discarded) = packet.discarded().filter(|count| *count > 0) {
            text.push_str(&format!(", {discarded} discarded so far"));
        }
        if packet.is_cut() {
            text.push_str(", cut");
        }
        if packet.is_doubtful() {
            text.push_str(", doubtful");
        }
        (format!("packet {}", packet.number()), text)
    }

    fn fields(&self, fields: &mut Fields<'_, '_>) -> Result<()> {
        let (packet, number) = (self.packet, self.packet.number());
        super::hex::scope(packet, packet.header(), &format!("packet {number} header"), fields)?;
        super::hex::scope(packet, packet.context(), &format!("packet {number} context"), fields)
    }
}

struct Event<'e> {
    text: &'e Mutex<Option<Box<Text>>>,
    record: &'e Record<'e, 'e, 'e>,
}

impl About for Event<'_> {
    fn text(&self) -> (String, String) {
        let class = self.record.class();
        let name = class.to_string();
        let mut row = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let row = row.get_or_insert_with(|| Box::new(Text::rows(ROW)));
        row.buffer.clear();
        let said = match self.record.tell(&mut Any(&mut **row)) {
            Ok(()) => {
                let row = String::from_utf8_lossy(row.buffer.text());
                let shown = printable(&shortened(&name, NAME_SHOWN));
                row.strip_prefix(&shown).unwrap_or(&row).trim().to_owned()
            }
            Err(error) => format!("({error})"),
        };
        (name, said)
    }

    fn fields(&self, fields: &mut Fields<'_, '_>) -> Result<()> {
        super::hex::of_record(self.record, "", fields)
    }
}

/// The bytes between the packets of a capture.
struct Between<'b> {
    slot: &'b WireSlot,
    data: &'b [u8],
}

impl About for Between<'_> {
    fn text(&self) -> (String, String) {
        (format!("({})", self.slot.kind().name()), wire::message(self.slot, self.data))
    }

    fn fields(&self, fields: &mut Fields<'_, '_>) -> Result<()> {
        let name = self.slot.kind().element().name();
        fields.field(&Field::new(self.slot.offset(), self.slot.len(), name, ""))
    }
}
