//! CTF: runs of packets of a data stream are pieces. An event record is a row of the table that is named as it is.

mod class;

use crate::error::Result;
use crate::events::{Common, Part, Place};
use crate::file::File;
use crate::query::Wanted;
use crate::sink::Sink;
use crate::table::Table;
use class::{Classes, Records};
use traceglass::ctf::data::wire::WireSlot;
use traceglass::ctf::data::{MergeSlot, Packet, Packets, ProgramSlot, Programs};
use traceglass::ctf::schema::Schema;
use traceglass::event::ctf::{StreamSlot, Timeline};
use traceglass_open::time::READ_WHOLE;

/// The number of bytes of packets that make a piece.
const PIECE: u64 = 8 << 20;

/// The file of a data stream, or of several streams: then it is a capture, whose tracks are known.
pub struct DataStream<'t> {
    file: &'t dyn File,
    tracks: Option<Vec<&'t [WireSlot]>>,
    gaps: Vec<(WireSlot, String)>,
}

impl<'t> From<&'t dyn File> for DataStream<'t> {
    fn from(file: &'t dyn File) -> Self {
        Self { file, tracks: None, gaps: Vec::new() }
    }
}

impl<'t> DataStream<'t> {
    /// A capture, as it was sorted into tracks; its gaps, each with a line for people, become rows of `gaps`.
    pub fn capture(file: &'t dyn File, tracks: Vec<&'t [WireSlot]>, gaps: Vec<(WireSlot, String)>) -> Self {
        Self { file, tracks: Some(tracks), gaps }
    }
}

/// The data streams.
pub(crate) struct Ctf<'t> {
    streams: Vec<(DataStream<'t>, Schema<'t, 't>)>,
    pieces: Vec<Piece>,
    classes: Classes,
}

/// A run of packets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    stream: usize,
    /// Of a capture: the number of the track that it is, and whether it tells the gaps.
    track: Option<usize>,
    has_gaps: bool,
    /// The start of the packet before it: it tells how much was discarded in between.
    before: u64,
    begin: u64,
    end: u64,
    /// The number of its first packet.
    number: u64,
    /// From when to when it is, where all its packets say so, of a stream that is not read as a whole for a range.
    period: Option<(i128, i128)>,
}

/// The times of a packet, and whether they are absolute.
fn period(packet: &Packet<'_, '_>) -> (Option<i128>, Option<i128>, bool) {
    let clock = packet.stream_class().clock();
    let ns = |cycles: Option<u64>| Some(clock.as_ref()?.nanoseconds(cycles?));
    let (begin, end) = packet.period();
    (ns(begin), ns(end), clock.as_ref().is_some_and(|clock| clock.is_unix()))
}

impl<'t> Ctf<'t> {
    pub(crate) fn new<S: Into<DataStream<'t>>>(
        traces: Vec<(Schema<'t, 't>, Vec<S>)>,
        tables: &mut Vec<Table>,
    ) -> Self {
        let classes = Classes::new(traces.iter().map(|(schema, _)| schema), tables);
        let mut ctf = Self { streams: Vec::new(), pieces: Vec::new(), classes };
        for (schema, files) in traces {
            for stream in files.into_iter().map(Into::into) {
                let (number, file) = (ctf.streams.len(), stream.file);
                match &stream.tracks {
                    Some(tracks) => ctf.pieces.extend(pieces_of(tracks, number)),
                    None => split(file, &schema, number, &mut ctf.pieces),
                }
                ctf.streams.push((stream, schema));
            }
        }
        ctf
    }

    pub(crate) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    pub(crate) fn piece_bytes(&self, piece: usize) -> u64 {
        self.pieces.get(piece).map_or(0, |piece| piece.end.saturating_sub(piece.begin))
    }

    pub(crate) fn read(
        &self,
        piece: usize,
        wanted: Wanted<'_>,
        common: &mut Common<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let Wanted { tables, all, query } = wanted;
        let Some(piece) = self.pieces.get(piece) else { return Ok(()) };
        let Some((stream, schema)) = self.streams.get(piece.stream) else { return Ok(()) };
        let file = stream.file;
        for (slot, message) in stream.gaps.iter().filter(|_| piece.has_gaps) {
            common.lost(file.name(), slot, message, sink)?;
        }
        let window = query.window;
        let is_outside = piece.period.is_some_and(|(begin, end)| {
            window.to().is_some_and(|to| to <= begin) || window.from().is_some_and(|from| from > end)
        });
        let mut records = Records::new(&self.classes, tables, all, query, file.name());
        let needs_events = !is_outside && (common.needs_events() || records.any());
        if !needs_events && !common.needs_parts() {
            return Ok(());
        }
        let data = match file.open() {
            Ok(data) => data,
            Err(message) => return common.problem(file.name(), None, &message, sink),
        };
        let data = (*data).as_ref();
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(data.len());
        let track = piece.track.map(|track| {
            stream.tracks.as_ref().and_then(|tracks| tracks.get(track)).copied().unwrap_or_default()
        });
        let run = match track {
            Some(_) => data,
            None => data.get(place(piece.before)..place(piece.end)).unwrap_or_default(),
        };
        let skipped = piece.begin.saturating_sub(piece.before);
        let packets = match track {
            Some(track) => Packets::of_track(run, schema, track),
            None => {
                let number = if skipped > 0 { piece.number.saturating_sub(1) } else { piece.number };
                Packets::from_packet(run, schema, 0, number)
            }
        };
        if common.needs_parts() {
            parts(packets.clone(), piece, file.name(), common, sink)?;
        }
        if needs_events {
            // Without steps, all can be read as well.
            let needed = usize::try_from(Programs::needed(schema)).unwrap_or(0);
            let mut steps = vec![ProgramSlot::EMPTY; needed];
            let programs = Programs::compile(schema, &mut steps).unwrap_or(Programs::NONE);
            let mut slots = [MergeSlot::EMPTY];
            let mut timeline = Timeline::new(&mut slots, [const { StreamSlot::EMPTY }]);
            timeline.set_programs(programs);
            let mut tracks = stream.tracks.iter().flatten().filter_map(|track| track.first());
            let has_restarts = tracks.any(|slot| slot.session() > 0);
            let session = track.filter(|_| has_restarts).and_then(|track| Some(track.first()?.session()));
            if let Err(error) = timeline.add_packets(piece.stream, run, schema, packets, session) {
                return common.problem(file.name(), Some(&error), &error.to_string(), sink);
            }
            let (file_name, base) = (file.name(), piece.before);
            let place = Place { file: file_name, base, skipped, seed: file_name, ..Place::default() };
            common.drive(
                &mut timeline,
                &place,
                Some(&mut |event, track, sink| records.event(event, piece.before, track, sink)),
                sink,
            )?;
        }
        records.finish(sink)
    }
}

/// The packets of a run as rows of `parts`.
fn parts(
    mut packets: Packets<'_, '_>,
    piece: &Piece,
    file: &str,
    common: &mut Common<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    // Packets after damage are reported with the events.
    while let Ok(Some(packet)) = packets.next_packet() {
        let offset = packet.offset().saturating_add(piece.before);
        if offset >= piece.begin {
            let (begin, end, is_absolute) = period(&packet);
            let bytes = packet.end_offset().saturating_sub(packet.offset());
            let kind = "packet";
            let number = packet.number();
            common.part(
                &Part { file, kind, number, name: None, offset, bytes, begin, end, is_absolute },
                sink,
            )?;
        }
    }
    Ok(())
}

/// The pieces of a capture: its tracks, the first of which tells the gaps. There is one at least, for them.
fn pieces_of(tracks: &[&[WireSlot]], stream: usize) -> impl Iterator<Item = Piece> {
    let sizes: Vec<u64> = tracks.iter().map(|track| track.iter().map(WireSlot::len).sum()).collect();
    (0..tracks.len().max(1)).map(move |track| {
        let end = sizes.get(track).copied().unwrap_or(0);
        let has_gaps = track == 0;
        Piece { stream, track: Some(track), has_gaps, before: 0, begin: 0, end, number: 0, period: None }
    })
}

/// Splits a data stream into runs of packets. What cannot be read belongs to the last one.
fn split(file: &dyn File, schema: &Schema<'_, '_>, stream: usize, pieces: &mut Vec<Piece>) {
    let size = file.size();
    let (track, has_gaps) = (None, false);
    let mut piece =
        Piece { stream, track, has_gaps, before: 0, begin: 0, end: size, number: 0, period: None };
    let Ok(data) = file.open() else { return pieces.push(piece) };
    let data = (*data).as_ref();
    let mut packets = Packets::new(data, schema);
    let mut is_first = true;
    // The packet before the one that is looked at.
    let mut last = 0;
    let mut number = 0_u64;
    while let Ok(Some(packet)) = packets.next_packet() {
        if packet.offset().saturating_sub(piece.begin) >= PIECE {
            pieces.push(Piece { end: packet.offset(), ..piece });
            let (begin, number) = (packet.offset(), number);
            piece = Piece { stream, track, has_gaps, before: last, begin, end: size, number, period: None };
            is_first = true;
        }
        let (begin, end, _) = period(&packet);
        let stated = begin.zip(end).filter(|_| size > READ_WHOLE);
        piece.period = match (stated, piece.period) {
            (Some((begin, end)), Some((first, last))) => Some((first.min(begin), last.max(end))),
            (period, None) if is_first => period,
            _ => None,
        };
        is_first = false;
        last = packet.offset();
        number = number.saturating_add(1);
    }
    // The rest after damage may be of any time.
    if packets.offset() < size {
        piece.period = None;
    }
    pieces.push(piece);
}
